// SPDX-License-Identifier: Apache-2.0
// ui: a browser for an input, in the terminal.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "cli/console/output_file.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/live/sampling.hpp"
#include "cli/shell/line_history.hpp"
#include "cli/ui/answer_process.hpp"
#include "cli/ui/browser.hpp"
#include "cli/ui/screen.hpp"
#include "formats/format.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli {

#ifdef BEAMHEAP_SCREEN

namespace {

using Clock = std::chrono::steady_clock;

constexpr double usual_seconds = 2;  // between two readings of a VM that runs

volatile std::sig_atomic_t told_to_end = 0;
extern "C" void note_end(int) { told_to_end = 1; }

void end_by_key() {
    struct sigaction action {};
    action.sa_handler = &note_end;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

// One round: waits for keys, replies, or the time of another reading.
class Session {
public:
    Session(ui::AnswerProcess& answers, ui::Screen& screen, ui::Browser& browser, std::chrono::milliseconds every)
        : answers_(answers), screen_(screen), browser_(browser), every_(every), next_(Clock::now() + every) {
        browser_.recall_from(history_.lines());
    }

    void run() {
        while (!browser_.done() && told_to_end == 0) {
            show();
            for (const ui::Wanted& wanted : browser_.wanted()) answers_.ask(wanted);
            if (const auto errand = browser_.errand()) {
                switch (errand->kind) {
                    case ui::Errand::Kind::copy: screen_.copy(errand->text); break;
                    case ui::Errand::Kind::remember: history_.add(errand->text); break;
                    case ui::Errand::Kind::write: write(*errand); break;
                    case ui::Errand::Kind::give_up: file_.reset(); break;
                }
                continue;
            }
            wait();
            while (const auto key = screen_.key()) browser_.key(*key);
            while (auto reply = answers_.next()) {
                const bool ended = reply->kind == ui::Reply::Kind::ended;
                browser_.reply(std::move(*reply));
                if (ended) break;
            }
            if (every_.count() != 0 && Clock::now() >= next_) {
                browser_.read_again();
                next_ = Clock::now() + every_;
            }
        }
    }

private:
    // One piece of a file, which is there when the last one is.
    void write(const ui::Errand& errand) {
        if (refused_ && std::exchange(refused_, errand.more)) return;
        const Status written = [&]() -> Status {
            if (!file_) {
                BH_TRY(OutputFile file, OutputFile::create(errand.file == "-" ? "./-" : errand.file, false));
                file_.emplace(std::move(file));
            }
            BH_CHECK(file_->write(errand.text));
            return errand.more ? ok() : file_->finish();
        }();
        if (written && errand.more) return;
        file_.reset();
        refused_ = !written && errand.more;
        browser_.tell(
            present::safe_text(written ? fmt::format("{} is written.", errand.file) : written.error().message));
    }
    void show() {
        ui::Canvas canvas(screen_.width(), screen_.height());
        browser_.paint(canvas);
        screen_.show(canvas);
    }
    void wait() {
        pollfd fds[2] = {{STDIN_FILENO, POLLIN, 0}, {answers_.descriptor(), POLLIN, 0}};
        int milliseconds = -1;
        if (every_.count() != 0)
            milliseconds = static_cast<int>(std::max<std::int64_t>(
                0, std::chrono::duration_cast<std::chrono::milliseconds>(next_ - Clock::now()).count() + 1));
        static_cast<void>(::poll(fds, 2, milliseconds));
        if ((fds[0].revents & (POLLHUP | POLLERR)) != 0) told_to_end = 1;  // the terminal is gone
    }

    ui::AnswerProcess& answers_;
    ui::Screen& screen_;
    ui::Browser& browser_;
    LineHistory history_ = LineHistory::open();
    std::optional<OutputFile> file_;  // that is being written
    bool refused_ = false;            // what else comes of it goes nowhere
    std::chrono::milliseconds every_;
    Clock::time_point next_;
};

}  // namespace

static Status cmd_ui(const Context& context) {
    const std::string& input = context.argument(0);
    if (input == "-")
        return Error{ErrorCode::usage, "ui: the input can't be standard input, where the keys come from", {}};
    if (!is_terminal(STDIN_FILENO) || !is_terminal(STDOUT_FILENO))
        return Error{ErrorCode::usage, "ui: standard input and output are to be a terminal",
                     "`beamheap shell INPUT` answers lines of a pipe."};
    const bool live = process_named(input).has_value();
    double seconds = usual_seconds;
    if (!context.options().every.empty()) {
        BH_TRY(seconds, parse_seconds(context.options().every));
    }
    const std::chrono::milliseconds every(live ? std::max<std::int64_t>(static_cast<std::int64_t>(seconds * 1000), 100)
                                               : 0);
    BH_TRY(ui::AnswerProcess answers, ui::AnswerProcess::start(context));
    ui::Browser browser(input, live, is_large_dump(input));
    {
        BH_TRY(ui::Screen screen, ui::Screen::open(wants_color(context.options().color, is_terminal(STDOUT_FILENO))));
        end_by_key();
        Session(answers, screen, browser, every).run();
    }
    if (browser.failed()) return *browser.failed();
    return ok();
}

#else

static Status cmd_ui(const Context&) {
    return Error{ErrorCode::usage, "ui: this program was built without ncurses",
                 "`beamheap shell INPUT` answers questions about an input that is loaded once."};
}

#endif

BH_DEFINE_VERB(ui){
    .name = "ui",
    .arguments = {argument::input},
    .options = "--every",
    .summary = "walks through an input in the terminal: findings, processes, heaps, term by term",
    .details =
        "At the left is what there is, beside it the answer, on wide terminals also what the chosen row leads to. "
        "Enter opens what a\n"
        "row or a line leads to, down to the elements of a term; Esc goes back; / shows only rows that have a text, "
        "and then Tab\n"
        "searches everything; f takes a condition, : a line of the shell; ? lists the keys. Answers are those of the "
        "verbs, and y\n"
        "copies the command that gives them. A running VM is read again every two seconds, or as --every says: what "
        "grew is green,\n"
        "and queues, memory and work have their rates and their last readings beside them.",
    .examples = "ui erl_crash.dump\nui core.4711 --exe beam.smp\nui 4711 --every 5s",
    .alone = true,
    .session = true,
    .divided = true,
    .run = &cmd_ui,
};

}  // namespace beamheap::cli
