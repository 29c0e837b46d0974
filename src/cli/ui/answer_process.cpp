// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/answer_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "bytes/spool.hpp"
#include "cli/console/sandbox.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/frame/link.hpp"
#include "formats/format.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli::ui {
namespace {

// What both processes write: a head, then so many bytes. Both are of one program, so numbers go as they are.
struct Head {
    std::uint32_t kind = 0;      // of a reply: Reply::Kind; of a question: its lane
    std::uint32_t question = 0;  // 0: take back
    std::uint32_t code = 0;      // ErrorCode; of a page: whether it comes again, with more rows
    std::uint32_t more = 0;      // of `size`: bytes of the advice behind the text
    std::uint64_t size = 0;
};

bool send(int descriptor, Head head, std::string_view bytes) {
    head.size = bytes.size();
    char first[sizeof head];
    std::memcpy(first, &head, sizeof head);
    return write_all(descriptor, {first, sizeof first}) == 0 && write_all(descriptor, bytes) == 0;
}

constexpr std::uint64_t most_reserved = 1u << 30;  // what is longer grows as it comes

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

// Appends what can be read at once; false at the end. A reply that has begun gets the room that it takes, and no more.
bool read_some(int descriptor, std::string& to) {
    char piece[64 * 1024];
    if (Head head; to.size() >= sizeof head) {
        std::memcpy(&head, to.data(), sizeof head);
        if (head.size < most_reserved) to.reserve(sizeof head + head.size);
    }
    const ssize_t size = ::read(descriptor, piece, sizeof piece);
    if (size > 0) to.append(piece, static_cast<std::size_t>(size));
    return size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN));
}

// Tells how far reading has come, a few times a second.
Progress progress_to(int replies) {
    using Clock = std::chrono::steady_clock;
    return [replies, start = Clock::now(), next = Clock::now()](std::uint64_t done, std::uint64_t total) mutable {
        const Clock::time_point now = Clock::now();
        if (now < next) return;
        next = now + std::chrono::milliseconds(150);
        const double seconds = std::chrono::duration<double>(now - start).count();
        send(replies, head_of(Reply::Kind::progress, 0), ProgressLine::describe(done, total, seconds));
    };
}

// To write tens of thousands of rows takes longer than to find them: what fits some screens is there before.
constexpr std::size_t first_rows = 500;

bool has_more(const present::Page& page) {
    return std::ranges::any_of(page.blocks, [](const present::PageBlock& block) {
        return block.table && block.table->rows < block.table->total;
    });
}

// Answers one question to `to`: on what is loaded, or by reading what it takes.
void answer(const Context& context, LoadedInput* loaded, std::uint32_t question, std::string_view words, int to) {
    present::Page page;
    const AnswerTaker take = [&](const present::Document& document, const present::RenderOptions& options) -> Status {
        if (!options.top) {
            present::RenderOptions few = options;
            few.top = first_rows;
            BH_TRY(page, present::page_of(document, few));
            if (!has_more(page)) return ok();
            Head head = head_of(Reply::Kind::page, question);
            head.code = 1;
            send(to, head, present::packed(std::move(page)));
        }
        BH_TRY(page, present::page_of(document, options));
        return ok();
    };
    Error error{ErrorCode::resource_limit, "there is not enough memory for this answer", {}};
    try {
        const Status status = loaded != nullptr
                                  ? take_answer(fields_of(words), context.options(), *loaded, take)
                                  : take_answer_alone(fields_of(words), context.options(), take, progress_to(to));
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

// A question, and the process that answers it.
class Worker {
public:
    Worker() = default;
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker() { end(); }

    bool busy() const { return process_ >= 0; }
    /// What it writes is read here; -1: nothing is asked.
    int descriptor() const { return answer_; }
    std::uint32_t question() const { return question_; }
    const std::string& words() const { return words_; }

    /// Starts it. Errors (resource_limit): no process can be made.
    Status begin(const Context& context, LoadedInput* loaded, std::uint32_t question, std::string words) {
        int ends[2];
        const auto failed = [] { return Error{ErrorCode::resource_limit, std::strerror(errno), {}}; };
        if (::pipe2(ends, O_CLOEXEC) != 0) return failed();
        const pid_t self = ::getpid();
        const pid_t process = ::fork();
        if (process == 0) {
            end_with(self);
            answer(context, loaded, question, words, ends[1]);
            ::_exit(0);
        }
        ::close(ends[1]);
        if (process < 0) {
            ::close(ends[0]);
            return failed();
        }
        process_ = process;
        answer_ = ends[0];
        question_ = question;
        words_ = std::move(words);
        return ok();
    }
    /// Reads what has come; true: that was all.
    bool read() { return !read_some(answer_, got_); }
    /// The next reply that is not its last, the head with it: of its progress, or the first rows; empty: there is none.
    std::string early() {
        const std::optional<Head> head = whole_head(got_);
        if (!head) return {};
        const auto kind = static_cast<Reply::Kind>(head->kind);
        if (kind != Reply::Kind::progress && (kind != Reply::Kind::page || head->code == 0)) return {};
        std::string told = got_.substr(0, sizeof(Head) + head->size);
        got_.erase(0, told.size());
        return told;
    }
    /// Its answer, the head with it; where it has written nothing whole it has broken down: empty, and how in `how`.
    std::string take(std::string& how) {
        ::close(answer_);
        int status = 0;
        while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        how = WIFSIGNALED(status) ? fmt::format("the answer was ended by signal {}", WTERMSIG(status))
                                  : std::string("the answer was ended");
        std::string answer = whole_head(got_) ? std::move(got_) : std::string();
        forget();
        return answer;
    }
    void end() {
        if (!busy()) return;
        ::kill(process_, SIGKILL);
        ::close(answer_);
        while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
        }
        forget();
    }

private:
    void forget() {
        process_ = answer_ = -1;
        question_ = 0;
        got_.clear();
    }
    pid_t process_ = -1;
    int answer_ = -1;
    std::uint32_t question_ = 0;
    std::string words_;  // of what was asked last
    std::string got_;
};

// The questions that come through a pipe, each to be answered on its lane.
class Questions {
public:
    explicit Questions(int from) : from_(from) {}
    int descriptor() const { return from_; }
    /// Reads what has come; false: nobody asks any more.
    bool read() { return read_some(from_, got_); }
    struct Asked {
        std::size_t lane;
        std::uint32_t number;  // 0: what was asked is taken back
        std::string words;
    };
    std::optional<Asked> next() {
        const std::optional<Head> head = whole_head(got_);
        if (!head) return std::nullopt;
        Asked asked{head->kind % lanes, head->question, got_.substr(sizeof(Head), head->size)};
        got_.erase(0, sizeof(Head) + head->size);
        return asked;
    }

private:
    int from_;
    std::string got_;
};

bool tell_failed(int replies, std::uint32_t question, std::string message) {
    return send_error(replies, question, {ErrorCode::resource_limit, std::move(message), {}});
}

// The process that loads the input, and answers on what it has loaded.
class Loader {
public:
    Loader(const Context& context, int questions, int replies)
        : context_(context), questions_(questions), replies_(replies) {}

    void run() {
        auto loaded = load_for_questions(context_, context_.argument(0), progress_to(replies_));
        if (!loaded) {
            send_error(replies_, 0, loaded.error());
            return;
        }
        loaded_ = &*loaded;
        if (!send(replies_, head_of(Reply::Kind::loaded, 0), {})) return;
        while (wait()) {
        }
    }

private:
    // False where nobody asks any more.
    bool wait() {
        std::array<pollfd, 1 + lanes> fds{};
        fds[0] = {questions_.descriptor(), POLLIN, 0};
        for (std::size_t lane = 0; lane < lanes; ++lane) fds[1 + lane] = {workers_[lane].descriptor(), POLLIN, 0};
        if (::poll(fds.data(), fds.size(), -1) < 0) return errno == EINTR;
        for (std::size_t lane = 0; lane < lanes; ++lane)
            if (fds[1 + lane].revents != 0 && !pass_on(workers_[lane])) return false;
        if (fds[0].revents == 0) return true;
        if (!questions_.read()) return false;
        while (auto asked = questions_.next()) {
            Worker& worker = workers_[asked->lane];
            worker.end();
            if (asked->number == 0) continue;
            if (const Status begun = worker.begin(context_, loaded_, asked->number, std::move(asked->words)); !begun)
                send_error(replies_, asked->number, begun.error());
        }
        return true;
    }
    bool pass_on(Worker& worker) {
        const bool all = worker.read();
        for (std::string told = worker.early(); !told.empty(); told = worker.early())
            if (write_all(replies_, told) != 0) return false;
        if (!all) return true;
        const std::uint32_t question = worker.question();
        std::string how;
        const std::string answer = worker.take(how);
        return answer.empty() ? tell_failed(replies_, question, std::move(how)) : write_all(replies_, answer) == 0;
    }

    const Context& context_;
    Questions questions_;
    int replies_;
    LoadedInput* loaded_ = nullptr;
    std::array<Worker, lanes> workers_;
};

// The process that is asked: it has a question answered by whoever can do so first.
class AnswerServer {
public:
    AnswerServer(const Context& context, int questions, int replies)
        : context_(context),
          questions_(questions),
          replies_(replies),
          live_(process_named(context.argument(0)).has_value()),
          alone_(can_be_opened_again(context.argument(0))) {}
    AnswerServer(const AnswerServer&) = delete;
    AnswerServer& operator=(const AnswerServer&) = delete;
    ~AnswerServer() {
        if (loader_ < 0) return;
        ::kill(loader_, SIGKILL);  // what it is answering ends with it
        while (::waitpid(loader_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }

    void run() {
        if (!alone_) load();
        while (wait()) {
        }
    }

private:
    using Clock = std::chrono::steady_clock;
    // Loading waits as long for a question, and for its answer: both together take longer than one after the other.
    static constexpr std::chrono::milliseconds quiet{50}, patience{1500};

    bool wait() {
        std::array<pollfd, 2 + lanes> fds{};
        fds[0] = {questions_.descriptor(), POLLIN, 0};
        fds[1] = {from_loader_, POLLIN, 0};
        bool busy = false;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            fds[2 + lane] = {workers_[lane].descriptor(), POLLIN, 0};
            busy = busy || workers_[lane].busy();
        }
        int milliseconds = -1;
        if (!live_ && loader_ < 0) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(begun_ + patience - Clock::now());
            milliseconds =
                static_cast<int>(std::clamp<std::int64_t>((busy ? left : std::min(left, quiet)).count(), 0, 10'000));
        }
        const int ready = ::poll(fds.data(), fds.size(), milliseconds);
        if (ready < 0) return errno == EINTR;
        if (ready == 0) {
            load();
            return true;
        }
        for (std::size_t lane = 0; lane < lanes; ++lane)
            if (fds[2 + lane].revents != 0 && !take_answer_of(lane)) return false;
        if (fds[1].revents != 0 && !take_from_loader()) return false;
        if (fds[0].revents == 0) return true;
        if (!questions_.read()) return false;
        while (auto asked = questions_.next())
            if (!ask(std::move(*asked))) return false;
        return true;
    }

    bool ask(Questions::Asked asked) {
        workers_[asked.lane].end();
        waiting_[asked.lane].reset();
        if (loaded_ && !live_) return pass_to_loader(asked);
        if (asked.number == 0) return true;
        if (!alone_) return put_off(std::move(asked));
        const Status begun = workers_[asked.lane].begin(context_, nullptr, asked.number, asked.words);
        return begun || send_error(replies_, asked.number, begun.error());
    }
    bool pass_to_loader(const Questions::Asked& asked) {
        return send(to_loader_, {static_cast<std::uint32_t>(asked.lane), asked.number, 0, 0, 0}, asked.words);
    }
    // Until all is loaded.
    bool put_off(Questions::Asked asked) {
        const std::size_t lane = asked.lane;
        waiting_[lane] = std::move(asked);
        load();
        return true;
    }

    bool take_answer_of(std::size_t lane) {
        Worker& worker = workers_[lane];
        const bool all = worker.read();
        for (std::string told = worker.early(); !told.empty(); told = worker.early()) {
            const bool progress = whole_head(told)->kind == static_cast<std::uint32_t>(Reply::Kind::progress);
            if (!(progress && loader_ >= 0) && write_all(replies_, told) != 0) return false;
        }
        if (!all) return true;
        Questions::Asked asked{lane, worker.question(), worker.words()};
        std::string how;
        const std::string answer = worker.take(how);
        const bool page =
            whole_head(answer) && whole_head(answer)->kind == static_cast<std::uint32_t>(Reply::Kind::page);
        if (!page && !live_) {  // who loads all of it says what is wrong with the input
            if (loaded_) return pass_to_loader(asked);
            return put_off(std::move(asked));
        }
        if (live_ && !std::exchange(loaded_, true)) {
            if (!page) return tell_first_failure(answer, std::move(how));
            if (!send(replies_, head_of(Reply::Kind::loaded, 0), {})) return false;
        }
        return answer.empty() ? tell_failed(replies_, asked.number, std::move(how)) : write_all(replies_, answer) == 0;
    }
    // What of a VM that runs can't be read at first can't be read at all.
    bool tell_first_failure(std::string answer, std::string how) {
        if (answer.empty()) return tell_failed(replies_, 0, std::move(how));
        Head head = *whole_head(answer);
        head.question = 0;
        std::memcpy(answer.data(), &head, sizeof head);
        return write_all(replies_, answer) == 0;
    }

    bool take_from_loader() {
        if (!read_some(from_loader_, said_)) return false;
        for (std::optional<Head> head = whole_head(said_); head; head = whole_head(said_)) {
            std::string rest = said_.substr(sizeof(Head) + head->size);
            said_.resize(sizeof(Head) + head->size);
            const std::string reply = std::exchange(said_, std::move(rest));
            if (write_all(replies_, reply) != 0) return false;
            if (static_cast<Reply::Kind>(head->kind) != Reply::Kind::loaded) continue;
            loaded_ = true;
            for (std::optional<Questions::Asked>& asked : waiting_)
                if (const auto waited = std::exchange(asked, std::nullopt); waited && !pass_to_loader(*waited))
                    return false;
        }
        return true;
    }

    void load() {
        if (loader_ >= 0 || live_) return;
        int questions[2];
        int replies[2];
        const auto fail = [this] {
            begun_ = Clock::now();  // it is tried again, and not at once
            tell_failed(replies_, 0, fmt::format("no process can be made: {}", std::strerror(errno)));
        };
        if (::pipe2(questions, O_CLOEXEC) != 0 || ::pipe2(replies, O_CLOEXEC) != 0) return fail();
        const pid_t self = ::getpid();
        const pid_t process = ::fork();
        if (process < 0) return fail();
        if (process == 0) {
            end_with(self);
            ::close(questions[1]);
            ::close(replies[0]);
            try {
                Loader(context_, questions[0], replies[1]).run();
            } catch (const std::exception& error) {
                tell_failed(replies[1], 0, error.what());
            }
            ::_exit(0);
        }
        ::close(questions[0]);
        ::close(replies[1]);
        loader_ = process;
        to_loader_ = questions[1];
        from_loader_ = replies[0];
    }

    const Context& context_;
    Questions questions_;
    int replies_;
    bool live_;
    bool alone_;
    bool loaded_ = false;  // of a VM that runs: it has answered once
    Clock::time_point begun_ = Clock::now();
    pid_t loader_ = -1;
    int to_loader_ = -1;
    int from_loader_ = -1;
    std::string said_;  // by the loader, not whole yet
    std::array<Worker, lanes> workers_;
    std::array<std::optional<Questions::Asked>, lanes> waiting_;
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
    constexpr int reads_between_keys = 32;
    for (int reads = 0; !whole_head(got_); ++reads) {
        if (reads == reads_between_keys) return std::nullopt;
        const std::size_t before = got_.size();
        if (!read_some(replies_, got_)) {
            ended_ = true;
            return Reply{};
        }
        if (got_.size() == before) return std::nullopt;
    }
    const Head head = *whole_head(got_);
    std::string rest = got_.substr(sizeof head + head.size);
    const std::string all = std::exchange(got_, std::move(rest));
    const std::string_view bytes = std::string_view(all).substr(sizeof head, head.size);
    Reply reply{static_cast<Reply::Kind>(head.kind), head.question};
    if (reply.kind == Reply::Kind::page) {
        auto page = present::unpacked(bytes);
        if (page) {
            reply.page = std::move(*page);
            reply.more = head.code != 0;
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
