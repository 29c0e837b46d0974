// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/answer_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "bytes/spool.hpp"
#include "cli/console/sandbox.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/link.hpp"
#include "formats/format.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli::ui {
namespace {

// What both processes write: a head, then so many bytes. Both are of one program, so numbers go as they are.
struct Head {
    std::uint32_t kind = 0;      // of a reply: Reply::Kind; of a question: its lane
    std::uint32_t question = 0;  // 0: take back
    std::uint32_t code = 0;      // ErrorCode
    std::uint32_t more = 0;      // of `size`: bytes of the advice behind the text
    std::uint64_t size = 0;
};

bool send(int descriptor, Head head, std::string_view bytes) {
    head.size = bytes.size();
    std::string all(sizeof head, '\0');
    std::memcpy(all.data(), &head, sizeof head);
    all += bytes;
    return write_all(descriptor, all) == 0;
}

// The head that `bytes` begin with, where all that belongs to it has come.
std::optional<Head> whole_head(std::string_view bytes) {
    Head head;
    if (bytes.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (bytes.size() - sizeof head < head.size) return std::nullopt;
    return head;
}

Head head_of(Reply::Kind kind, std::uint32_t question) { return {static_cast<std::uint32_t>(kind), question, 0, 0, 0}; }

bool send_error(int descriptor, std::uint32_t question, const Error& error) {
    Head head = head_of(Reply::Kind::failed, question);
    const std::string text = present::safe_text(error.message);
    const std::string advice = present::safe_text(error.advice);
    head.code = static_cast<std::uint32_t>(error.code);
    head.more = static_cast<std::uint32_t>(advice.size());
    return send(descriptor, head, text + advice);
}

// Ends with its parent: nobody else would end it.
void end_with(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
}

// Appends what can be read at once; false at the end.
bool read_some(int descriptor, std::string& to) {
    char piece[64 * 1024];
    const ssize_t size = ::read(descriptor, piece, sizeof piece);
    if (size > 0) to.append(piece, static_cast<std::size_t>(size));
    return size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN));
}

// The reading process.
class AnswerServer {
public:
    AnswerServer(const Context& context, int questions, int replies)
        : context_(context), questions_(questions), replies_(replies) {}

    void run() {
        auto loaded = load_for_questions(context_, context_.argument(0), progress());
        if (!loaded) {
            send_error(replies_, 0, loaded.error());
            return;
        }
        loaded_ = &*loaded;
        if (!send(replies_, head_of(Reply::Kind::loaded, 0), {})) return;
        while (wait()) {
        }
        for (Worker& worker : workers_) end(worker);
    }

private:
    struct Worker {
        pid_t process = -1;
        int answer = -1;  // what it writes is read here
        std::uint32_t question = 0;
        std::string got;
    };

    Progress progress() {
        using Clock = std::chrono::steady_clock;
        return [this, start = Clock::now(), next = Clock::now()](std::uint64_t done, std::uint64_t total) mutable {
            const Clock::time_point now = Clock::now();
            if (now < next) return;
            next = now + std::chrono::milliseconds(150);
            const double seconds = std::chrono::duration<double>(now - start).count();
            send(replies_, head_of(Reply::Kind::progress, 0), ProgressLine::describe(done, total, seconds));
        };
    }

    // False where nobody asks any more.
    bool wait() {
        std::array<pollfd, 1 + lanes> fds{};
        fds[0] = {questions_, POLLIN, 0};
        for (std::size_t lane = 0; lane < lanes; ++lane) fds[1 + lane] = {workers_[lane].answer, POLLIN, 0};
        if (::poll(fds.data(), fds.size(), -1) < 0) return errno == EINTR;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            Worker& worker = workers_[lane];
            if (fds[1 + lane].revents == 0 || read_some(worker.answer, worker.got)) continue;
            if (!pass_on(worker)) return false;
        }
        if (fds[0].revents == 0) return true;
        if (!read_some(questions_, asked_)) return false;
        for (std::optional<Head> head = whole_head(asked_); head; head = whole_head(asked_)) {
            const std::string bytes = asked_.substr(sizeof(Head), head->size);
            asked_.erase(0, sizeof(Head) + head->size);
            Worker& worker = workers_[head->kind % lanes];
            end(worker);
            if (head->question != 0) begin(worker, head->question, bytes);
        }
        return true;
    }

    void begin(Worker& worker, std::uint32_t question, std::string_view words) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) {
            send_error(replies_, question, {ErrorCode::resource_limit, std::strerror(errno), {}});
            return;
        }
        const pid_t self = ::getpid();
        const pid_t process = ::fork();
        if (process == 0) {
            end_with(self);
            answer(question, words, ends[1]);
            ::_exit(0);
        }
        ::close(ends[1]);
        if (process < 0) {
            ::close(ends[0]);
            send_error(replies_, question, {ErrorCode::resource_limit, std::strerror(errno), {}});
            return;
        }
        worker = {process, ends[0], question, {}};
    }

    // The worker itself: one reply.
    void answer(std::uint32_t question, std::string_view words, int to) const {
        present::Page page;
        const AnswerTaker take = [&](const present::Document& document,
                                     const present::RenderOptions& options) -> Status {
            BH_TRY(page, present::page_of(document, options));
            return ok();
        };
        Error error{ErrorCode::resource_limit, "there is not enough memory for this answer", {}};
        try {
            const Status status = take_answer(fields_of(words), context_.options(), *loaded_, take);
            if (status) {
                send(to, head_of(Reply::Kind::page, question), present::packed(std::move(page)));
                return;
            }
            error = status.error();
        } catch (const std::bad_alloc&) {  // the error is made
        } catch (const std::exception& what) {
            error.message = what.what();
        }
        send_error(to, question, error);
    }

    // What a worker has written goes to who asked; where it has written nothing whole it has broken down.
    bool pass_on(Worker& worker) {
        ::close(worker.answer);
        int status = 0;
        while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
        }
        const std::string got = std::move(worker.got);
        const std::uint32_t question = worker.question;
        worker = {};
        if (whole_head(got)) return write_all(replies_, got) == 0;
        const std::string how = WIFSIGNALED(status) ? fmt::format(" by signal {}", WTERMSIG(status)) : std::string();
        return send_error(replies_, question,
                          {ErrorCode::resource_limit, fmt::format("the answer was ended{}", how), {}});
    }
    static void end(Worker& worker) {
        if (worker.process < 0) return;
        ::kill(worker.process, SIGKILL);
        ::close(worker.answer);
        while (::waitpid(worker.process, nullptr, 0) < 0 && errno == EINTR) {
        }
        worker = {};
    }

    const Context& context_;
    int questions_;
    int replies_;
    LoadedInput* loaded_ = nullptr;
    std::array<Worker, lanes> workers_;
    std::string asked_;
};

}  // namespace

Result<AnswerProcess> AnswerProcess::start(const Context& context) {
    const auto failed = [] {
        return Error{ErrorCode::resource_limit, fmt::format("no process can be made: {}", std::strerror(errno)), {}};
    };
    int questions[2];
    int replies[2];
    if (::pipe2(questions, O_CLOEXEC) != 0) return failed();
    if (::pipe2(replies, O_CLOEXEC) != 0) return failed();
    const pid_t self = ::getpid();
    const pid_t process = ::fork();
    if (process < 0) return failed();
    if (process == 0) {
        end_with(self);
        ::setpgid(0, 0);  // Ctrl-C and Ctrl-Z are keys for who shows
        ::close(questions[1]);
        ::close(replies[0]);
        const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, standard);
        if (sandbox_allowed()) {
            bytes::reserve_temporary_files(1);
            enter_sandbox({.other_processes = process_named(context.argument(0)).has_value()});
        }
        try {
            AnswerServer(context, questions[0], replies[1]).run();
        } catch (const std::exception& error) {
            send_error(replies[1], 0, {ErrorCode::resource_limit, error.what(), {}});
        }
        ::_exit(0);
    }
    ::close(questions[0]);
    ::close(replies[1]);
    ::fcntl(replies[0], F_SETFL, O_NONBLOCK);
    return AnswerProcess(process, questions[1], replies[0]);
}

AnswerProcess::AnswerProcess(AnswerProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      questions_(std::exchange(other.questions_, -1)),
      replies_(std::exchange(other.replies_, -1)),
      ended_(other.ended_),
      got_(std::move(other.got_)) {}

AnswerProcess::~AnswerProcess() {
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);  // what it is answering ends with it
    ::close(questions_);
    ::close(replies_);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void AnswerProcess::ask(Lane lane, std::uint32_t question, const std::vector<std::string>& words) {
    send(questions_, {static_cast<std::uint32_t>(lane), question, 0, 0, 0}, joined(words));
}

void AnswerProcess::take_back(Lane lane) { send(questions_, {static_cast<std::uint32_t>(lane), 0, 0, 0, 0}, {}); }

std::optional<Reply> AnswerProcess::next() {
    if (ended_) return std::nullopt;
    while (!whole_head(got_)) {
        const std::size_t before = got_.size();
        if (!read_some(replies_, got_)) {
            ended_ = true;
            return Reply{};
        }
        if (got_.size() == before) return std::nullopt;
    }
    const Head head = *whole_head(got_);
    const std::string bytes = got_.substr(sizeof head, head.size);
    got_.erase(0, sizeof head + head.size);
    Reply reply{static_cast<Reply::Kind>(head.kind), head.question};
    if (reply.kind == Reply::Kind::page) {
        auto page = present::unpacked(bytes);
        if (page) {
            reply.page = std::move(*page);
            reply.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
            return reply;
        }
        reply.kind = Reply::Kind::failed;
        reply.text = page.error().message;
        return reply;
    }
    const std::size_t text = bytes.size() - std::min<std::size_t>(head.more, bytes.size());
    reply.text = bytes.substr(0, text);
    reply.advice = bytes.substr(text);
    if (reply.kind == Reply::Kind::failed) reply.code = static_cast<ErrorCode>(head.code);
    return reply;
}

}  // namespace beamheap::cli::ui
