// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/mcp_workers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>
#include <vector>

#include "cli/console/terminal.hpp"
#include "present/term_printer.hpp"

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

// How a child ended.
int end_of(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

void Workers::find(Connection::Asked& asked, std::string_view name, const std::function<Answer()>& find, Reply reply) {
    int ends[2] = {-1, -1};
    const pid_t server = ::getpid();
    const pid_t child = ::pipe2(ends, O_CLOEXEC) == 0 ? ::fork() : -1;
    if (child == 0) {
        ::close(ends[0]);
        for (const Work& each : works_) ::close(each.pipe);  // theirs would never break while we hold them
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

void Workers::take(Work& work) {
    char piece[64 * 1024];
    const ssize_t size = ::read(work.pipe, piece, sizeof piece);
    if (size > 0) work.got.append(piece, static_cast<std::size_t>(size));
    work.whole = size == 0 || (size < 0 && errno != EINTR);
}

// Answers the request, but where nobody waits for it any more.
void Workers::end(Work& work) {
    const bool given_up = connection_.given_up(work.asked);
    ::close(work.pipe);
    if (given_up) ::kill(work.child, SIGKILL);
    const int status = end_of(work.child);
    const auto refused = [&](std::string why) {
        return work.reply(Answer{{}, false, Error{ErrorCode::resource_limit, std::move(why), {}}});
    };
    if (!given_up) try {
            auto answer = unpacked(work.got);
            connection_.send(answer ? work.reply(std::move(*answer))
                                    : refused(WIFSIGNALED(status) ? fmt::format("{} was ended by signal {}", work.name,
                                                                                WTERMSIG(status))
                                                                  : work.name + " ended without an answer"));
        } catch (const std::bad_alloc&) {
            connection_.send(refused("out of memory"));
        }
    connection_.finish(work.asked);
}

void Workers::look(int milliseconds) {
    std::vector<pollfd> pipes;
    for (const Work& each : works_) pipes.push_back({each.pipe, POLLIN, 0});
    connection_.look(pipes, milliseconds);
    auto pipe = pipes.begin();
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
