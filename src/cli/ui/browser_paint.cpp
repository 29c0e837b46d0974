// SPDX-License-Identifier: Apache-2.0
// How the browser paints itself.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "cli/ui/browser.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli::ui {
namespace {

constexpr std::size_t contents_width = 13;
constexpr std::size_t least_with_contents = 60;  // columns of a screen
constexpr std::size_t least_with_side = 130;

}  // namespace

void Browser::paint(Canvas& canvas) {
    paint_title(canvas);
    if (canvas.height() < 4 || canvas.width() < 20) return;
    Area body{0, 1, canvas.width(), canvas.height() - 2};
    contents_area_ = {};
    if (canvas.width() >= least_with_contents) {
        contents_area_ = {0, 1, contents_width, std::min(contents().size(), body.height)};
        for (std::size_t y = body.y; y < body.y + body.height; ++y)
            canvas.put(contents_width, y, "\u2502", Style::dim, 1);
        body.x = contents_width + 2;
        body.width -= body.x;
        paint_contents(canvas);
    } else {
        in_contents_ = false;
    }
    side_shown_ = canvas.width() >= least_with_side && mode_ != Mode::text && mode_ != Mode::help;
    if (side_shown_) {
        const Area side{body.x + body.width * 3 / 5 + 2, body.y, body.width - body.width * 3 / 5 - 2, body.height};
        body.width = body.width * 3 / 5;
        for (std::size_t y = body.y; y < body.y + body.height; ++y) canvas.put(side.x - 2, y, "\u2502", Style::dim, 1);
        paint_side(canvas, side);
    }
    if (mode_ == Mode::help) paint_help(canvas, body);
    else paint_place(canvas, body);
    paint_keys(canvas);
    want_rows();
    want_side();
}

void Browser::paint_title(Canvas& canvas) {
    std::string title = fmt::format(" beamheap  {}", present::safe_text(input_));
    if (!loaded_) title += progress_.empty() ? "  reading ..." : fmt::format("  reading: {}", progress_);
    else if (live_) title += paused_ ? "  paused" : "  running";
    canvas.put(0, 0, title, Style::bar, canvas.width());
    canvas.paint(0, 0, canvas.width(), Style::bar);
}

void Browser::paint_contents(Canvas& canvas) {
    // Where there are more entries than lines, those around the chosen one are shown.
    const std::size_t rows = contents_area_.height;
    const std::size_t first = section_ < rows ? 0 : section_ + 1 - rows;
    for (std::size_t i = 0; i < rows && first + i < contents().size(); ++i) {
        const bool here = first + i == section_;
        const Style style = !here ? Style::plain : in_contents_ ? Style::chosen : Style::resting;
        canvas.put(0, 1 + i, fmt::format(" {}", contents()[first + i].title), style, contents_width);
        if (here) canvas.paint(0, 1 + i, contents_width, style);
    }
}

void Browser::paint_place(Canvas& canvas, Area area) {
    const Place& at = place();
    std::string way;
    for (const Place& each : paths_[section_])
        way += (way.empty() ? "" : " > ") + present::safe_text(each.subject.title);
    if (mode_ == Mode::text) way += " > " + text_title_;
    const std::string position = mode_ == Mode::text || at.state == State::failed ? std::string() : at.view.position();
    const std::size_t room = area.width - std::min(area.width, position.empty() ? 0 : position.size() + 2);
    canvas.put(area.x, area.y, present::cut_text(way, room, present::Cut::middle), Style::dim, room);
    canvas.put(area.x + area.width - std::min(area.width, position.size()), area.y, position, Style::dim, area.width);
    ++area.y, --area.height;
    if (mode_ == Mode::text) return text_.paint(canvas, area, true);
    if (at.subject.questions.size() > 1 && area.height > 2) {
        std::size_t x = area.x;
        for (std::size_t i = 0; i < at.subject.questions.size() && x < area.x + area.width; ++i) {
            const std::string title = fmt::format("{} {}", i + 1, at.subject.questions[i].title);
            x += canvas.put(x, area.y, title, i == at.question ? Style::bold : Style::dim, area.x + area.width - x) + 2;
        }
        ++area.y, --area.height;
    }
    if (at.state == State::failed) {
        Canvas& c = canvas;
        std::size_t y = area.y;
        const std::string whole =
            present::wrapped(at.error.substr(0, at.error.find('\n')), area.width, 0) +
            (at.error.find('\n') == std::string::npos
                 ? std::string()
                 : "\n" + present::wrapped(at.error.substr(at.error.find('\n') + 1), area.width, 0));
        for (std::size_t from = 0; from < whole.size() && y < area.y + area.height; ++y) {
            const std::size_t end = std::min(whole.find('\n', from), whole.size());
            c.put(area.x, y, std::string_view(whole).substr(from, end - from), y == area.y ? Style::high : Style::plain,
                  area.width);
            from = end + 1;
        }
        place_area_ = {};
        return;
    }
    place_area_ = area;
    if (!at.view.has_page()) {
        const std::string what =
            loaded_ ? fmt::format("{} ...", at.asked().title) : std::string("reading the input ...");
        canvas.put(area.x, area.y, what, Style::dim, area.width);
        return;
    }
    place().view.paint(canvas, area, !in_contents_);
}

void Browser::paint_side(Canvas& canvas, Area area) {
    if (side_.has_page()) side_.paint(canvas, area, false);
}

void Browser::paint_keys(Canvas& canvas) {
    const std::size_t y = canvas.height() - 1;
    std::string line;
    switch (mode_) {
        case Mode::filter:
            line = fmt::format(" / {}_   Enter keeps it, Tab searches everything, Esc shows all",
                               present::safe_text(typing_));
            break;
        case Mode::choose:
            line = fmt::format(" only: {}_   {}", present::safe_text(typing_), example_of_condition(place().asked()));
            break;
        case Mode::command: line = fmt::format(" : {}_   a line of the shell", present::safe_text(typing_)); break;
        case Mode::file: line = fmt::format(" write to: {}_   .csv or .json", present::safe_text(typing_)); break;
        case Mode::help:
        case Mode::text: line = " any key goes back"; break;
        case Mode::browse:
            line = !told_.empty() ? " " + told_
                                  : fmt::format(" Enter open  Esc back  {}  / filter  f only  s sort  ? help  q quit",
                                                live_ ? "Space pause" : "Tab contents");
    }
    if (mode_ == Mode::browse && told_.empty() && !place().view.filter().empty())
        line = fmt::format(" filter: {}  (Esc shows all)", present::safe_text(place().view.filter()));
    canvas.put(0, y, line, Style::bar, canvas.width());
    canvas.paint(0, y, canvas.width(), Style::bar);
}

void Browser::paint_help(Canvas& canvas, Area area) {
    constexpr std::string_view lines[] = {
        "Up Down PgUp PgDn Home End   move (k j g G)",
        "Enter        open what the line or the row leads to",
        "Esc          back; the filter first",
        "Tab          to the contents and back",
        "1 2 3 ...    the other questions about the same thing",
        "Left Right   mark a column",
        "s            sort by the marked column; once more: the other way",
        "/            only rows that have a text, as it is typed; there Tab",
        "             searches all: names, functions, terms of a process",
        "f            only what a condition holds for: msgq>10, running,",
        "             where memory_bytes > 1e6",
        ":            a line of the shell: top -n 5, SELECT ...; Up: earlier",
        "v            the row with all of its columns, the line in full",
        "m            mark a row; on a second row: compare the two",
        "y            copy the command that shows the same",
        "e            write the table as it is shown, as CSV or JSON",
        "r            ask again",
        "Space        of a running VM: pause, go on. Green: it has grown;",
        "             bars: the last readings; /s: by the second",
        "q            quit",
    };
    std::size_t y = area.y;
    canvas.put(area.x, y++, "Keys", Style::heading, area.width);
    for (const std::string_view line : lines)
        if (y < area.y + area.height) canvas.put(area.x, y++, line, Style::plain, area.width);
}

}  // namespace beamheap::cli::ui
