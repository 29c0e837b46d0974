// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/answer_worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "cli/console/terminal.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/link.hpp"
#include "cli/ui/table_file.hpp"

namespace beamheap::cli::ui {
namespace {

constexpr std::size_t rows_at_once = 500;  // of a file

bool is_whole(const present::Page& page) {
    return std::ranges::all_of(page.blocks,
                               [](const present::PageBlock& block) { return !block.table || block.table->whole(); });
}

// One question after the other about what was found for the first of them.
class Answer {
public:
    // `more_from`: where further questions come; -1: none do.
    Answer(const Asked& asked, int more_from, int to) : now_(asked), more_(more_from), to_(to) {}

    Status give(const present::Document& document, const present::RenderOptions& options) {
        BH_TRY(present::PageSource source, present::PageSource::make(document, options));
        do {
            BH_TRY(const present::PageWish wish, now_.wish());
            if (const auto file = now_.file()) write(source, wish, *file);
            else show(source, wish);
        } while (stays_ && next());
        return ok();
    }
    std::uint32_t question() const { return now_.number(); }

private:
    void show(present::PageSource& source, const present::PageWish& wish) {
        auto page = source.page(wish, [this] { return asked_more(); });
        stays_ = more_ >= 0 && (!page || !is_whole(*page));
        if (!page) return;
        Head head = head_of(Reply::Kind::page, question());
        head.more = stays_ ? 1 : 0;
        if (!send(to_, head, present::packed(std::move(*page)))) stays_ = false;
    }
    void write(present::PageSource& source, present::PageWish wish, const WantedFile& wanted) {
        stays_ = more_ >= 0;
        TableFile file(wanted.form);
        std::string text;
        present::PageWish::Part part = wish.part(wanted.block);
        std::erase_if(wish.parts, [&](const auto& each) { return each.block == wanted.block; });
        wish.rows = rows_at_once;
        part.from = 0;
        for (bool goes_on = true; goes_on; part.from += rows_at_once) {
            wish.parts.push_back(part);
            const auto page = source.page(wish);
            wish.parts.pop_back();
            const bool has_table = page && wanted.block < page->blocks.size() && page->blocks[wanted.block].table;
            goes_on = false;
            if (has_table) {
                const present::PageTable& table = *page->blocks[wanted.block].table;
                std::vector<std::uint32_t> rows(table.rows);
                std::iota(rows.begin(), rows.end(), 0u);
                // The last ones are given from further above.
                rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(
                                                            part.from - table.from, rows.size())));
                file.add(table, rows, text);
                goes_on = table.end() < table.passing;
            }
            if (!goes_on) file.end(text);
            Head head = head_of(goes_on ? Reply::Kind::piece : Reply::Kind::last_piece, question());
            head.more = goes_on || stays_ ? 1 : 0;
            if (!send(to_, head, std::exchange(text, {}))) {
                stays_ = false;
                return;
            }
        }
    }

    bool asked_more() const {
        pollfd fd{more_, POLLIN, 0};
        return more_ >= 0 && ::poll(&fd, 1, 0) > 0;
    }
    // Waits for the next question, of several the last; false: nobody asks any more.
    bool next() {
        ::malloc_trim(0);  // it may rest for long
        std::optional<Asked> newest;
        while (!newest || asked_more()) {
            if (!questions().read()) return false;
            while (auto asked = questions().next()) newest = std::move(asked);
        }
        now_ = std::move(*newest);
        return true;
    }
    Questions& questions() { return questions_; }

    Asked now_;
    int more_;
    int to_;
    bool stays_ = false;
    Questions questions_{more_};
};

// Answers a question, and those that go on with it, to `to`: on what is loaded, or by reading what it takes.
void answer(const Context& context, LoadedInput* loaded, const Asked& asked, int more_from, int to) {
    Answer answer(asked, more_from, to);
    const AnswerTaker take = [&](const present::Document& document, const present::RenderOptions& options) {
        return answer.give(document, options);
    };
    Error error{ErrorCode::resource_limit, "there is not enough memory for this answer", {}};
    try {
        const Status status =
            loaded != nullptr ? take_answer(fields_of(asked.words()), context.options(), *loaded, take)
                              : take_answer_alone(fields_of(asked.words()), context.options(), take, progress_to(to));
        if (status) return;
        error = status.error();
    } catch (const std::bad_alloc&) {  // the error is made
    } catch (const std::exception& what) {
        error.message = what.what();
    }
    send_error(to, answer.question(), error);
}

void close_one(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
}

}  // namespace

void end_with(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
}

Progress progress_to(int replies) {
    using Clock = std::chrono::steady_clock;
    return [replies, start = Clock::now(), next = Clock::now()](std::uint64_t done, std::uint64_t total) mutable {
        const Clock::time_point now = Clock::now();
        if (now < next) return;
        next = now + std::chrono::milliseconds(150);
        const double seconds = std::chrono::duration<double>(now - start).count();
        Head head = head_of(Reply::Kind::progress, 0);
        head.more = 1;
        send(replies, head, ProgressLine::describe(done, total, seconds));
    };
}

Status Worker::begin(const Context& context, LoadedInput* loaded, Asked asked) {
    int ends[2] = {-1, -1};
    int more[2] = {-1, -1};
    const auto failed = [&] {
        const Error error{ErrorCode::resource_limit, std::strerror(errno), {}};
        for (int* const each : {&ends[0], &ends[1], &more[0], &more[1]}) close_one(*each);
        return error;
    };
    const bool may_stay = loaded != nullptr && asked.lane() == static_cast<std::size_t>(Lane::main);
    if (::pipe2(ends, O_CLOEXEC) != 0 || (may_stay && ::pipe2(more, O_CLOEXEC) != 0)) return failed();
    const pid_t self = ::getpid();
    const pid_t process = ::fork();
    if (process < 0) return failed();
    if (process == 0) {
        end_with(self);
        close_one(ends[0]);
        close_one(more[1]);
        answer(context, loaded, asked, more[0], ends[1]);
        ::_exit(0);
    }
    close_one(ends[1]);
    close_one(more[0]);
    if (more[1] >= 0) ::fcntl(more[1], F_SETFL, O_NONBLOCK);
    process_ = process;
    answer_ = ends[0];
    to_ = more[1];
    last_ = asked.number();
    asked_ = std::move(asked);
    return ok();
}

bool Worker::go_on(Asked asked) {
    // A pipe takes so little as one piece, or not at all.
    const std::string& message = asked.message();
    const ssize_t written = message.size() <= PIPE_BUF ? ::write(to_, message.data(), message.size()) : -1;
    if (written != static_cast<ssize_t>(message.size())) return false;
    last_ = asked.number();
    asked_ = std::move(asked);
    return true;
}

std::string Worker::early() {
    const std::optional<Head> head = whole_head(got_);
    if (!head || head->more == 0) return {};
    if (asked_ && head->question == asked_->number() && head->kind != static_cast<std::uint32_t>(Reply::Kind::piece))
        asked_.reset();
    return take_message(got_);
}

std::string Worker::take(std::string& how) {
    close_one(answer_);
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    how = WIFSIGNALED(status) ? fmt::format("the answer was ended by signal {}", WTERMSIG(status))
                              : std::string("the answer was ended");
    std::string answer = whole_head(got_) ? std::move(got_) : std::string();
    forget();
    return answer;
}

void Worker::end() {
    if (!busy()) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    forget();
}

void Worker::forget() {
    close_one(answer_);
    close_one(to_);
    process_ = -1;
    last_ = 0;
    asked_.reset();
    got_.clear();
}

}  // namespace beamheap::cli::ui
