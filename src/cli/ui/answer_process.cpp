// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/answer_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "bytes/spool.hpp"
#include "cli/console/sandbox.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/ui/answer_wire.hpp"
#include "cli/ui/answer_worker.hpp"
#include "formats/format.hpp"

namespace beamheap::cli::ui {
namespace {

// Reading all of an input gives way to who is at the keys, and to what else the machine has to do.
constexpr int priority_of_reading = 5;

bool is_page(std::string_view message) {
    const auto head = whole_head(message);
    return head && head->kind == static_cast<std::uint32_t>(Reply::Kind::page);
}

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
            Worker& worker = workers_[asked->lane()];
            if (worker.can_go_on(*asked) && worker.go_on(*asked)) continue;
            worker.end();
            const std::uint32_t number = asked->number();
            if (number == 0) continue;
            if (const Status begun = worker.begin(context_, loaded_, std::move(*asked)); !begun)
                send_error(replies_, number, begun.error());
        }
        return true;
    }
    bool pass_on(Worker& worker) {
        const bool all = worker.read();
        for (std::string told = worker.early(); !told.empty(); told = worker.early())
            if (write_all(replies_, told) != 0) return false;
        if (!all) return true;
        const std::uint32_t owed = worker.asked() ? worker.asked()->number() : 0;
        std::string how;
        const std::string answer = worker.take(how);
        if (!answer.empty()) return write_all(replies_, answer) == 0;
        return owed == 0 || tell_failed(replies_, owed, std::move(how));
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

    bool ask(Asked asked) {
        Worker& worker = workers_[asked.lane()];
        worker.end();
        waiting_[asked.lane()].reset();
        if (loaded_ && !live_) return pass_to_loader(asked);
        const std::uint32_t number = asked.number();
        if (number == 0) return true;
        if (!alone_) return put_off(std::move(asked));
        const Status begun = worker.begin(context_, nullptr, std::move(asked));
        return begun || send_error(replies_, number, begun.error());
    }
    bool pass_to_loader(const Asked& asked) { return write_all(to_loader_, asked.message()) == 0; }
    // Until all is loaded.
    bool put_off(Asked asked) {
        const std::size_t lane = asked.lane();
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
        std::optional<Asked> asked = worker.asked();
        std::string how;
        const std::string answer = worker.take(how);
        if (!asked) return true;
        const bool page = is_page(answer);
        const bool failed =
            answer.empty() || whole_head(answer)->kind == static_cast<std::uint32_t>(Reply::Kind::failed);
        if (failed && !live_) {  // who loads all of it says what is wrong with the input
            if (loaded_) return pass_to_loader(*asked);
            return put_off(std::move(*asked));
        }
        if (live_ && !std::exchange(loaded_, true)) {
            if (!page) return tell_first_failure(answer, std::move(how));
            if (!send(replies_, head_of(Reply::Kind::loaded, 0), {})) return false;
        }
        return answer.empty() ? tell_failed(replies_, asked->number(), std::move(how))
                              : write_all(replies_, answer) == 0;
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
        for (std::string reply = take_message(said_); !reply.empty(); reply = take_message(said_)) {
            if (write_all(replies_, reply) != 0) return false;
            if (whole_head(reply)->kind != static_cast<std::uint32_t>(Reply::Kind::loaded)) continue;
            loaded_ = true;
            for (std::optional<Asked>& asked : waiting_)
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
            ::setpriority(PRIO_PROCESS, 0, priority_of_reading);
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
    std::array<std::optional<Asked>, lanes> waiting_;
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

void AnswerProcess::ask(const Wanted& wanted) { write_all(questions_, Asked::of(wanted).message()); }

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
    const std::string message = take_message(got_);
    const Head head = *whole_head(message);
    const std::string_view bytes = std::string_view(message).substr(sizeof head);
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
    if (reply.kind != Reply::Kind::failed) {
        reply.text = bytes;
        return reply;
    }
    reply.text = bytes.substr(0, head.part);
    reply.advice = bytes.substr(reply.text.size());
    reply.code = static_cast<ErrorCode>(head.code);
    return reply;
}

}  // namespace beamheap::cli::ui
