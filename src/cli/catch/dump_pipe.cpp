// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/dump_pipe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "analyses/base/number_format.hpp"
#include "analyses/selectors/selectors.hpp"
#include "bytes/clock.hpp"
#include "bytes/descriptor.hpp"
#include "cli/catch/death_answers.hpp"
#include "cli/catch/death_folder.hpp"
#include "cli/catch/recording.hpp"
#include "cli/live/sampling.hpp"

namespace beamheap::cli {

using bytes::Descriptor;

namespace {

constexpr double ns_per_second = 1e9;
constexpr std::int64_t answers_ns = 600'000'000'000;  // that all answers about one death may take; no VM waits for them

constexpr unsigned at_a_time = 64;  // pieces of what is read past, before others have their turn

std::int64_t steady_now() { return static_cast<std::int64_t>(bytes::monotonic_ns()); }
std::int64_t unix_now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

Error pipe_error(const std::string& path, std::string_view what) {
    return {ErrorCode::unreadable, fmt::format("{}: {}: {}", path, what, std::strerror(errno)), {}};
}

/// Who is to write to a pipe, where that is another user than this one.
struct Writer {
    uid_t user;
    gid_t group;
};

/// The end at which it is read of the pipe that has the name now.
class NamedPipe {
public:
    /// Takes over a pipe of ours that nobody reads: a VM that waits for its reader is caught.
    static Result<NamedPipe> open(const std::string& path, std::optional<Writer> writer = {}) {
        NamedPipe made(path, ::geteuid() == 0 ? writer : std::nullopt);
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) {
            if (errno != ENOENT) return pipe_error(path, "can't be looked at");
            BH_CHECK(made.renew());
            return made;
        }
        if (!S_ISFIFO(status.st_mode))
            return Error{
                ErrorCode::usage, fmt::format("{}: is there already, and no pipe", path),
                S_ISREG(status.st_mode)
                    ? "If it is a dump that a VM wrote while nobody caught it, `beamheap analyze` reads it; then "
                      "move it away."
                    : ""};
        if (status.st_uid != ::geteuid() && !(made.writer_ && status.st_uid == made.writer_->user))
            return Error{ErrorCode::usage, fmt::format("{}: is a pipe of another user", path), {}};
        if (const Descriptor other(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)); other)
            return Error{ErrorCode::usage, fmt::format("{}: another program reads it already", path), {}};
        ::chmod(path.c_str(), S_IRUSR | S_IWUSR);
        made.end_ = Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
        if (!made.end_) return pipe_error(path, "can't be opened");
        made.note();
        return made;
    }
    NamedPipe(NamedPipe&&) = default;
    NamedPipe& operator=(NamedPipe&&) = delete;
    ~NamedPipe() {
        if (!end_) return;
        struct stat status {};
        if (::lstat(path_.c_str(), &status) == 0 && S_ISFIFO(status.st_mode) && status.st_ino == inode_)
            ::unlink(path_.c_str());
    }

    /// The name goes to a new pipe; who has opened the one before still writes there.
    Status renew() {
        const std::size_t folder = path_.rfind('/') + 1;
        const std::string made = fmt::format("{}.{}.{}", path_.substr(0, folder), path_.substr(folder), ::getpid());
        ::unlink(made.c_str());
        if (::mkfifo(made.c_str(), S_IRUSR | S_IWUSR) != 0 ||
            (writer_ && ::lchown(made.c_str(), writer_->user, writer_->group) != 0))
            return pipe_error(path_, "the pipe can't be made");
        Descriptor end(::open(made.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
        if (!end || ::rename(made.c_str(), path_.c_str()) != 0) {
            const Error error = pipe_error(path_, "the pipe can't be made");
            ::unlink(made.c_str());
            return error;
        }
        end_ = std::move(end);
        note();
        return ok();
    }
    /// The end of the pipe that has been written to; the name has a new one then.
    Result<Descriptor> take() {
        Descriptor written = std::exchange(end_, Descriptor());
        BH_CHECK(renew());
        return written;
    }
    int descriptor() const { return end_.get(); }
    void forget() { end_ = Descriptor(); }  ///< in a process that is not to hold it

private:
    NamedPipe(std::string path, std::optional<Writer> writer) : path_(std::move(path)), writer_(writer) {}
    void note() {
        struct stat status {};
        if (::fstat(end_.get(), &status) == 0) inode_ = status.st_ino;
    }
    std::string path_;
    std::optional<Writer> writer_;
    Descriptor end_;
    ino_t inode_ = 0;
};

/// A death that comes while another one is answered about.
struct Passed {
    Descriptor end;
    std::int64_t until_ns;
    std::uint64_t bytes = 0;
    BeginsCounted begins = {};
};

class DumpCatcher {
public:
    /// What `options` ask for, with the pipe made. `words`: of who watches the VM that is to die.
    static Result<DumpCatcher> open(const Options& options, std::optional<Writer> writer = {},
                                    const LastWords* words = nullptr) {
        if (options.keep_what == "core")
            return Error{ErrorCode::usage, "--keep core: through a pipe of dumps comes no core image", "--keep dump"};
        BH_TRY(const double deadline, parse_seconds(options.deadline));
        BH_TRY(DeathFolder folder, death_folder(options));
        BH_TRY(NamedPipe pipe, NamedPipe::open(options.pipe, writer));
        return DumpCatcher(options, std::move(folder), std::move(pipe),
                           static_cast<std::int64_t>(deadline * ns_per_second), words);
    }
    void forget() { pipe_.forget(); }
    /// How many deaths were answered about so far.
    std::uint64_t answered() const { return answered_; }

    Status run() {
        tell(fmt::format("{}: waiting; ERL_CRASH_DUMP={} leads VMs here, answers are kept in {}", options_.pipe,
                         options_.pipe, folder_.folder()));
        if (!folder_.make_room(0, {}))
            tell(
                fmt::format("{}: {} are free, and {} of them are to stay so (--free): of a death its sentence and "
                            "the smallest answer will be kept, no more",
                            folder_.folder(), analyses::human_bytes(folder_.free_bytes()),
                            analyses::human_bytes(folder_.bounds().free)));
        const StopBySignal stop;
        Status waited = ok();
        while (waited && !StopBySignal::stopped() && !(options_.once && answering_ < 0 && had_its_death())) {
            waited = wait();
            BH_CHECK(look());
        }
        if (StopBySignal::stopped() && answering_ < 0) BH_CHECK(look());  // who wrote just before
        // What is begun is brought to its end; its writer is bound by the deadline.
        while (answering_ > 0) look_after_answers(0);
        if (words_ != nullptr && words_->ended() && answered_ == 0) tell_without_dump();
        BH_CHECK(waited);
        if (options_.once && failed_ + read_past_ != 0)
            return Error{ErrorCode::resource_limit, "", {}};  // it has been said
        return ok();
    }

private:
    DumpCatcher(const Options& options, DeathFolder folder, NamedPipe pipe, std::int64_t deadline_ns,
                const LastWords* words)
        : options_(options),
          folder_(std::move(folder)),
          pipe_(std::move(pipe)),
          deadline_ns_(deadline_ns),
          words_(words) {}

    // A system that lets nothing be waited for is borne with for some seconds.
    Status wait() {
        constexpr int idle_ms = 1000, busy_ms = 50;
        constexpr unsigned most_failed = 100;
        std::vector<pollfd> ends{{pipe_.descriptor(), POLLIN, 0}};
        for (const Passed& each : passed_) ends.push_back({each.end.get(), POLLIN, 0});
        const int waited = ::poll(ends.data(), ends.size(), answering_ > 0 || !passed_.empty() ? busy_ms : idle_ms);
        if (waited >= 0 || errno == EINTR) {
            failed_waits_ = 0;
            return ok();
        }
        if (++failed_waits_ == most_failed)
            return Error{ErrorCode::resource_limit, fmt::format("poll: {}", std::strerror(errno)), {}};
        ::usleep(useconds_t{busy_ms} * 1000);
        return ok();
    }

    // Of one that was only read past, its VM has been let write all.
    bool had_its_death() const { return answered_ != 0 || (read_past_ != 0 && passed_.empty()); }

    Status look() {
        look_after_answers(WNOHANG);
        std::erase_if(passed_, [&](Passed& each) {
            pollfd ready{each.end.get(), POLLIN, 0};
            bool more = true;
            for (unsigned pieces = 0; more && pieces<at_a_time&& ::poll(&ready, 1, 0)> 0; ++pieces)
                more = read_past(each.end.get(), each.bytes, each.begins);
            const bool over = !more || steady_now() >= each.until_ns;
            if (over && each.bytes != 0) passed_by_ += std::max<std::uint64_t>(each.begins.count(), 1);
            return over;
        });
        if (answering_ < 0 && passed_.empty() && passed_by_ != 0)
            tell(fmt::format("{} meanwhile: counted, and not kept",
                             analyses::counted(std::exchange(passed_by_, 0), "node died", "nodes died")));
        pollfd ready{pipe_.descriptor(), POLLIN, 0};
        if (::poll(&ready, 1, 0) <= 0 || (ready.revents & (POLLIN | POLLHUP)) == 0) return ok();
        BH_TRY(Descriptor end, pipe_.take());
        if ((ready.revents & POLLIN) == 0) return ok();  // opened, and left without a word
        if (answering_ < 0) begin(std::move(end));
        else passed_.push_back({std::move(end), steady_now() + deadline_ns_});
        return ok();
    }

    void begin(Descriptor end) {
        const pid_t pid = ::fork();
        if (pid < 0) {
            tell("the system gives no more processes: this death is read past");
            ++read_past_;
            passed_.push_back({std::move(end), steady_now() + deadline_ns_});
            return;
        }
        if (pid > 0) {
            answering_ = pid;
            return;
        }
        pipe_.forget();
        passed_.clear();
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);  // what is begun is finished
        ::_exit(answer(std::move(end)) ? 0 : 1);
    }

    bool answer(Descriptor end) {
        const std::int64_t begin = steady_now();
        const LastWords::Words before = words_ != nullptr ? words_->get() : LastWords::Words{};
        const std::string time = folder_.free_time(unix_now());
        auto file = OutputFile::create(folder_.path(time + "-node.dump.zst"), false);
        if (!file) tell(file.error().message);
        const bool kept = options_.keep_what == "dump";
        Recording recording =
            record(end.get(), begin + deadline_ns_, folder_, time, file ? file->descriptor() : -1, true);
        const bool in_file = !recording.memory;
        end = Descriptor();  // the VM goes on, whatever it still had to say
        if (recording.plain_bytes == 0) {
            if (!recording.cut.empty()) tell(fmt::format("a node dies, and nothing is kept of it: {}", recording.cut));
            return recording.cut.empty();
        }
        if (!recording.cut.empty())
            recording.cut += fmt::format(", after {}", analyses::human_bytes(recording.plain_bytes));
        DeathAnswers answers(
            options_, folder_,
            {.input = fmt::format("/proc/self/fd/{}", in_file ? file->descriptor() : recording.memory.get()),
             .shown = kept && in_file ? folder_.path(time + "-{node}.dump.zst") : options_.pipe,
             .time = time,
             .how = {},
             .cut = recording.cut,
             .before = before,
             .until_ns = steady_now() + answers_ns});
        const bool readable = answers.first();
        if (readable) answers.others();
        // A dump that nothing could be said about is what is needed most.
        if (kept && in_file) answers.keep(std::move(*file), ".dump.zst");
        if (kept && !in_file) answers.leave_out("the dump", std::move(recording.not_in_file));
        return answers.finish() && readable;
    }

    // SIGKILL (the kernel's, when memory is short), or a node that was shut down.
    void tell_without_dump() {
        const LastWords::Words before = words_->get();
        DeathAnswers answers(options_, folder_,
                             {.input = {},
                              .shown = {},
                              .time = folder_.free_time(unix_now()),
                              .how = {},
                              .cut = {},
                              .before = before,
                              .until_ns = steady_now() + answers_ns});
        answers.only_before(before.node);
        (void)answers.finish();
    }

    void look_after_answers(int how) {
        if (answering_ < 0) return;
        int status = 0;
        const pid_t ended = ::waitpid(answering_, &status, how);
        if (ended == 0 || (ended < 0 && errno == EINTR)) return;
        answering_ = -1;
        ++answered_;
        if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) ++failed_;
        if (ended > 0 && WIFSIGNALED(status))
            tell(fmt::format("signal {} ended who answered: what was not yet said to be written is lost",
                             WTERMSIG(status)));
    }

    const Options& options_;
    DeathFolder folder_;
    NamedPipe pipe_;
    std::int64_t deadline_ns_;
    const LastWords* words_;
    pid_t answering_ = -1;  // the process that answers about a death
    std::vector<Passed> passed_;
    std::uint64_t passed_by_ = 0, answered_ = 0, failed_ = 0;
    std::uint64_t read_past_ = 0;  // for want of a process
    unsigned failed_waits_ = 0;    // one after the other
};

Result<std::uint64_t> bytes_of(std::string_view option, const std::string& text) {
    BH_TRY(const analyses::Quantity size, analyses::parse_quantity(text));
    if (size.unit == analyses::Quantity::Unit::percent)
        return Error{ErrorCode::usage, fmt::format("{}: '{}' is no size", option, text), "2GiB, 500MB."};
    return size.value;
}

}  // namespace

Result<DeathFolder> death_folder(const Options& options) {
    if (options.output.empty() || options.output == "-")
        return Error{ErrorCode::usage, "catch: -o DIR says where answers are kept", {}};
    if (options.keep_what.empty())
        return Error{ErrorCode::usage, fmt::format("--keep {}: of a death dump, core or none is kept", options.keep),
                     "--disk bounds what all deaths take; the oldest go."};
    BH_TRY(const std::uint64_t disk, bytes_of("--disk", options.disk));
    BH_TRY(const std::uint64_t free, bytes_of("--free", options.spare));
    if (disk == 0) return Error{ErrorCode::usage, "--disk 0: there would be no room for an answer", {}};
    return DeathFolder::open(options.output, {disk, free});
}

Status catch_dumps(const Context& context) {
    BH_TRY(DumpCatcher catcher, DumpCatcher::open(context.options()));
    return catcher.run();
}

Result<CatcherBeside> CatcherBeside::start(Options options, const RunningNode& node, const LastWords& words) {
    options.once = true;
    BH_TRY(DumpCatcher catcher, DumpCatcher::open(options, Writer{node.user, node.group}, &words));
    const pid_t parent = ::getpid(), pid = ::fork();
    if (pid < 0) return Error{ErrorCode::resource_limit, fmt::format("fork: {}", std::strerror(errno)), {}};
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(1);
        const Status done = catcher.run();
        if (!done && !done.error().message.empty()) tell(done.error().message);
        const bool answered = done && catcher.answered() != 0;
        { const DumpCatcher takes_the_pipe_away = std::move(catcher); }
        ::_exit(answered ? 0 : 1);
    }
    catcher.forget();
    return CatcherBeside(pid);
}

bool CatcherBeside::end() {
    if (pid_ < 0) return false;
    const pid_t pid = std::exchange(pid_, -1);
    ::kill(pid, SIGTERM);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace beamheap::cli
