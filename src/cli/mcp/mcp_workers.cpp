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
    if (!ended) return work.name + " ended without an answer: the input may have become shorter meanwhile";
    return WIFSIGNALED(*ended) ? fmt::format("what reads the input was ended by signal {}", WTERMSIG(*ended))
                               : "what reads the input broke off: it may have become shorter meanwhile";
}

Answer Workers::answer_of(Work& work, int status) {
    std::optional<Answer> answer;
    if (work.why_not.empty() && !work.got.starts_with('s')) answer = unpacked(work.got);
    // Nothing was read, or what was read can't be looked at any more (a file that was cut): it is tried again.
    if (work.reader != nullptr && (work.child == 0 || (!answer && work.why_not.empty()))) work.reader->spend();
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

// Ends what finds an answer; a reader that still reads is ended with it.
void Workers::give_up(Work& work, std::string_view why) {
    work.why_not =
        fmt::format("all answers together may take {} of memory, and {}", present::human_bytes(most_bytes_), why);
    if (work.reader == nullptr) ::kill(work.child, SIGKILL);
    else if (work.child == 0) work.reader->kill();
    else work.reader->stop(work.number);
}

// What answers take for themselves is told from the inputs that they are about. Inputs that nobody asks about go first,
// then the answer that takes most; where the inputs are what is too large, the largest one with all that is asked of
// it. A page that several share is counted once among them.
void Workers::bound_memory() {
    const auto now = Connection::Clock::now();
    if (!works_.empty() && now < next_measured_) return;
    next_measured_ = now + between_measures;
    const auto share = [](pid_t pid) { return bytes::share_of_memory(static_cast<std::uint32_t>(pid)).value_or(0); };
    const auto own = [](pid_t pid) { return bytes::own_memory(static_cast<std::uint32_t>(pid)).value_or(0); };
    std::uint64_t all = 0, answers = 0, most_of_answers = 0, most_of_inputs = 0;
    Work* worst = nullptr;
    const auto count_answer = [&](Work& work, std::uint64_t bytes) {
        answers += bytes;
        if (worst != nullptr && bytes < most_of_answers) return;
        most_of_answers = bytes;
        worst = &work;
    };
    std::vector<std::pair<std::shared_ptr<InputReader>, std::uint64_t>> idle;
    std::shared_ptr<InputReader> largest;
    for (const auto& each : readers_.all()) {
        const std::uint64_t bytes = share(each->pid());
        all += bytes;
        const auto work = std::ranges::find(works_, each, &Work::reader);
        if (work == works_.end()) {
            idle.emplace_back(each, bytes);
        } else if (!each->has_read()) {
            count_answer(*work, bytes);
        } else if (bytes >= most_of_inputs) {
            most_of_inputs = bytes;
            largest = each;
        }
    }
    for (Work& each : works_)
        if (each.child > 0) {
            all += share(each.child);
            count_answer(each, own(each.child));
        }
    for (; all > most_bytes_ && !idle.empty(); idle.pop_back()) {  // who was asked last comes first
        all -= std::min(all, idle.back().second);
        readers_.let_go(idle.back().first);
    }
    if (all <= most_bytes_ || worst == nullptr) return;
    if (largest == nullptr || answers >= all - std::min(all, answers))
        return give_up(*worst, "this one took most of it");
    for (Work& each : works_)
        if (each.reader == largest) give_up(each, "the inputs that are open take most of it");
    largest->kill();
}

void Workers::look(int milliseconds) {
    std::vector<pollfd> ready;
    for (const Work& each : works_) ready.push_back({each.pipe, POLLIN, 0});
    connection_.look(ready, milliseconds);
    if (!works_.empty()) bound_memory();
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
    readers_.sweep();
    if (works_.empty() && !ready.empty()) bound_memory();  // inputs that are too large for it are not kept
}

}  // namespace beamheap::cli
