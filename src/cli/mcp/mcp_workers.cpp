// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/mcp_workers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <new>
#include <utility>
#include <vector>

#include "bytes/process_figures.hpp"
#include "cli/console/terminal.hpp"
#include "present/term_printer.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

// What `find` gives; an answer that takes more than there is, is an error.
Answer found(const std::function<Answer()>& find) {
    try {
        return find();
    } catch (const std::bad_alloc&) {
        return {{}, false, Error{ErrorCode::resource_limit, "out of memory", {}}};
    } catch (const present::AnswerTooLong& error) {
        return {{}, false, Error{ErrorCode::resource_limit, error.what(), {}}};
    }
}

// Whatever happens, the child goes no further: behind it stands the server's own loop, on the same input and output.
[[noreturn]] void work(pid_t server, int pipe, const std::function<Answer()>& find) noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != server) ::_exit(1);  // it ended before that was said
    try {
        ::_exit(write_all(pipe, packed(found(find))) == 0 ? 0 : 1);
    } catch (...) {
        ::_exit(1);  // not even room for the answer that there is none
    }
}

constexpr std::chrono::milliseconds between_measures{400};

// How a child ended.
int end_of(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

std::vector<int> Workers::pipes() const {
    std::vector<int> all;
    for (const Work& each : works_) all.push_back(each.pipe);
    return all;
}

void Workers::find(Connection::Asked& asked, std::string_view name, const std::function<Answer()>& find, Reply reply) {
    int ends[2] = {-1, -1};
    const pid_t server = ::getpid();
    const pid_t child = ::pipe2(ends, O_CLOEXEC) == 0 ? ::fork() : -1;
    if (child == 0) {
        ::close(ends[0]);
        for (const int each : pipes()) ::close(each);  // theirs would never break while we hold them
        for (const auto& each : readers_.all()) each->forget();
        work(server, ends[1], find);
    }
    if (ends[1] >= 0) ::close(ends[1]);
    if (child > 0) {
        works_.push_back({asked, std::string(name), child, ends[0], std::move(reply)});
        return;
    }
    if (ends[0] >= 0) ::close(ends[0]);
    connection_.send(reply(found(find)));
    connection_.finish(asked);
}

void Workers::ask(Connection::Asked& asked, std::string_view name, const std::string& path,
                  const std::vector<std::string>& words, Reply reply) {
    int ends[2] = {-1, -1};
    std::shared_ptr<InputReader> reader;
    if (::pipe2(ends, O_CLOEXEC) == 0) {
        std::vector<int> ours = pipes();
        ours.insert(ours.end(), {ends[0], ends[1]});
        reader = readers_.of(path, ours);
    }
    const std::uint64_t number = ++last_number_;
    const bool asks = reader != nullptr && reader->ask(number, words, ends[1]);
    if (ends[1] >= 0) ::close(ends[1]);
    if (asks) {
        if (!reader->has_read()) asked.doing = fmt::format("reading {}", path);
        works_.push_back({asked, std::string(name), 0, ends[0], std::move(reply), std::move(reader), number});
        return;
    }
    if (ends[0] >= 0) ::close(ends[0]);
    if (reader != nullptr) reader->spend();
    connection_.send(
        reply({{}, false, Error{ErrorCode::resource_limit, "the system gives no process that reads", {}}}));
    connection_.finish(asked);
}

// What a reader's child says first: which process it is, and what it answers about.
void Workers::take(Work& work) {
    char piece[64 * 1024];
    const ssize_t size = ::read(work.pipe, piece, sizeof piece);
    if (size > 0) work.got.append(piece, static_cast<std::size_t>(size));
    work.whole = size == 0 || (size < 0 && errno != EINTR);
    const std::size_t end = work.reader == nullptr || work.child != 0 ? 0 : work.got.find('\n');
    if (end == 0 || end == work.got.npos || work.got.front() != 'P') return;
    std::from_chars(work.got.data() + 1, work.got.data() + end, work.child);
    work.live = work.got[end - 1] == '1';
    work.got.erase(0, end + 1);
    work.reader->note_read();
    work.asked.doing = work.name;
}

// Nobody waits for it any more. A reader that has nothing else to do need not go on reading.
void Workers::stop(Work& work) {
    if (work.reader == nullptr) {
        ::kill(work.child, SIGKILL);
        return;
    }
    const auto others = std::ranges::count(works_, work.reader, &Work::reader);
    if (!work.reader->has_read() && others == 1) work.reader->kill();
    else work.reader->stop(work.number);
}

std::string Workers::failure_of(const Work& work, int status) const {
    if (!work.why_not.empty()) return work.why_not;
    if (work.reader == nullptr)
        return WIFSIGNALED(status) ? fmt::format("{} was ended by signal {}", work.name, WTERMSIG(status))
                                   : work.name + " ended without an answer";
    int signal = 0;
    if (work.got.starts_with('s')) std::from_chars(work.got.data() + 1, work.got.data() + work.got.size(), signal);
    if (signal != 0) return fmt::format("{} was ended by signal {}", work.name, signal);
    const std::optional<int> ended = work.reader->ended();
    if (!ended) return work.name + " ended without an answer";
    return WIFSIGNALED(*ended) ? fmt::format("what reads the input was ended by signal {}", WTERMSIG(*ended))
                               : "what reads the input broke off: it may have become shorter meanwhile";
}

Answer Workers::answer_of(Work& work, int status) {
    std::optional<Answer> answer;
    if (work.why_not.empty() && !work.got.starts_with('s')) answer = unpacked(work.got);
    if (work.reader != nullptr && work.child == 0) work.reader->spend();  // nothing was read: it is tried again
    if (answer) {
        answer->live = work.live;
        return std::move(*answer);
    }
    return {{}, false, Error{ErrorCode::resource_limit, failure_of(work, status), {}}};
}

// Answers the request, but where nobody waits for it any more.
void Workers::end(Work& work) {
    const bool given_up = connection_.given_up(work.asked);
    ::close(work.pipe);
    if (given_up) stop(work);
    const int status = work.reader == nullptr ? end_of(work.child) : 0;
    if (!given_up) try {
            connection_.send(work.reply(answer_of(work, status)));
        } catch (const std::bad_alloc&) {
            connection_.send(work.reply({{}, false, Error{ErrorCode::resource_limit, "out of memory", {}}}));
        }
    connection_.finish(work.asked);
}

// A page that several share is counted once among them.
void Workers::bound_memory() {
    const auto now = Connection::Clock::now();
    if (works_.empty() || now < next_measured_) return;
    next_measured_ = now + between_measures;
    std::uint64_t all = 0, largest = 0;
    Work* worst = nullptr;
    const auto count = [&](pid_t pid, Work* work) {
        const std::uint64_t bytes = bytes::share_of_memory(static_cast<std::uint32_t>(pid)).value_or(0);
        all += bytes;
        if (work == nullptr || bytes < largest) return;
        largest = bytes;
        worst = work;
    };
    for (const auto& each : readers_.all()) {
        const auto reads_for =
            std::ranges::find_if(works_, [&](const Work& work) { return work.reader == each && !each->has_read(); });
        count(each->pid(), reads_for == works_.end() ? nullptr : &*reads_for);
    }
    for (Work& each : works_)
        if (each.child > 0) count(each.child, &each);
    if (all <= most_bytes_ || worst == nullptr) return;
    worst->why_not = fmt::format("all answers together may take {} of memory, and this one took most of it",
                                 present::human_bytes(most_bytes_));
    if (worst->reader != nullptr && worst->child == 0) worst->reader->kill();
    else if (worst->reader != nullptr) worst->reader->stop(worst->number);
    else ::kill(worst->child, SIGKILL);
}

void Workers::look(int milliseconds) {
    std::vector<pollfd> ready;
    for (const Work& each : works_) ready.push_back({each.pipe, POLLIN, 0});
    connection_.look(ready, milliseconds);
    bound_memory();
    auto pipe = ready.begin();
    for (auto each = works_.begin(); each != works_.end();) {
        if ((pipe++)->revents != 0) take(*each);
        if (each->whole || connection_.given_up(each->asked)) {
            end(*each);
            each = works_.erase(each);
        } else {
            ++each;
        }
    }
}

}  // namespace beamheap::cli
