// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/browser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/frame/commands.hpp"
#include "cli/shell/shell_words.hpp"
#include "model/characters.hpp"
#include "present/sanitise.hpp"
#include "present/units.hpp"

namespace beamheap::cli::ui {
namespace {

constexpr std::size_t contents_width = 13;
constexpr std::size_t least_with_contents = 60;  // columns of a screen
constexpr std::size_t least_with_side = 130;
constexpr std::size_t findings_section = 0, processes_section = 1;  // of the contents
constexpr std::size_t a_page = 15;                                  // lines that a page key moves by, at least

// Takes the last character off.
void shorten(std::string& text) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
    if (!text.empty()) text.pop_back();
}

present::Page page_of_lines(std::string_view text) {
    present::Page page;
    present::PageBlock block;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        block.lines.push_back({std::string(text.substr(at, end - at))});
        at = end + 1;
    }
    page.blocks.push_back(std::move(block));
    return page;
}

// Two rows of one table beside each other.
present::Page comparison(const present::PageTable& a, std::size_t row_a, const present::PageTable& b,
                         std::size_t row_b) {
    struct Row {
        std::string what, first, second, difference;
    };
    std::vector<Row> rows;
    for (std::size_t c = 0; c < a.columns.size(); ++c) {
        const auto other = b.column_of(a.columns[c].name);
        if (!other) continue;
        Row row{a.columns[c].title, std::string(a.text(row_a, c)), std::string(b.text(row_b, *other)), {}};
        const auto x = a.number(row_a, c);
        const auto y = b.number(row_b, *other);
        if (x && y && *x != *y)
            row.difference = (*y < *x ? "-" : "+") + present::grouped(static_cast<std::uint64_t>(std::abs(*y - *x)));
        else if (row.first != row.second) row.difference = "differs";
        rows.push_back(std::move(row));
    }
    present::Document document;
    document.kind = "comparison";
    const present::Columns<Row> columns{
        {{.name = "what", .title = "WHAT"}, [](const Row& row) { return row.what; }},
        {{.name = "first", .title = "FIRST", .least = 8}, [](const Row& row) { return row.first; }},
        {{.name = "second", .title = "SECOND", .least = 8}, [](const Row& row) { return row.second; }},
        {{.name = "difference", .title = "DIFFERENCE"}, [](const Row& row) { return row.difference; }}};
    document.members.push_back(
        {.key = "comparison", .title = {}, .body = present::table_of(columns, std::move(rows), "no column in common")});
    present::RenderOptions as_it_is;  // both were redacted when they were shown
    as_it_is.redact.level = present::RedactLevel::none;
    auto page = present::page_of(document, as_it_is);
    return page ? std::move(*page) : present::Page{};
}

}  // namespace

Browser::Browser(std::string input, bool live, bool large)
    : input_(std::move(input)), live_(live), large_(large), paths_(contents().size()) {
    open_section(large ? processes_section : findings_section);
}

void Browser::open(Subject subject) {
    Place next;
    next.subject = std::move(subject);
    paths_[section_].push_back(std::move(next));
    turn_to(0);
}

void Browser::open_section(std::size_t section) {
    section_ = section;
    if (paths_[section_].empty()) return open(contents()[section]);
    if (place().state == State::to_ask || (place().state == State::asked && !place().behind)) turn_to(place().question);
}

// Asks the question of this number about what is looked at.
void Browser::turn_to(std::size_t question) {
    Place& at = place();
    if (question >= at.subject.questions.size()) return;
    if (at.question != question) at.view = {};
    at.question = question;
    at.state = State::to_ask;
    at.error.clear();
    if (at.asked().words.empty()) return;
    at.number = ++last_number_;
    at.state = State::asked;
    at.behind = false;
    wanted_.push_back({Lane::main, at.number, at.asked().words});
}

// Processes have more names then than the process table alone gives.
void Browser::all_is_loaded() {
    loaded_ = true;
    Place& at = place();
    if (live_ || at.state != State::shown || !at.early || at.asked().words.empty()) return;
    const Command* const verb = find_command(at.asked().words.front());
    if (verb != nullptr && verb->of_processes) turn_to(at.question);
}

// What the findings are, while something else is looked at.
void Browser::find_behind() {
    if (!paths_[findings_section].empty()) return;
    Place findings;
    findings.subject = contents()[findings_section];
    findings.number = ++last_number_;
    findings.state = State::asked;
    findings.behind = true;
    wanted_.push_back({Lane::behind, findings.number, findings.asked().words});
    paths_[findings_section].push_back(std::move(findings));
}

void Browser::reply(Reply reply) {
    switch (reply.kind) {
        case Reply::Kind::progress: progress_ = reply.text; return;
        case Reply::Kind::loaded: return all_is_loaded();
        case Reply::Kind::ended:
            if (!failed_) failed_ = Error{ErrorCode::resource_limit, "the process that read the input has ended", {}};
            done_ = true;
            return;
        case Reply::Kind::failed:
            if (reply.question == 0) {
                failed_ = Error{reply.code, reply.text, reply.advice};
                done_ = true;
                return;
            }
            break;
        case Reply::Kind::page: break;
    }
    const bool failed = reply.kind == Reply::Kind::failed;
    if (live_ && !failed && !reply.more) trends_.follow(reply.page, reply.seconds);
    if (reply.question == side_number_) {
        if (failed) side_ = {};
        else if (!reply.more || !side_.has_page()) side_.take(std::move(reply.page));
        return;
    }
    for (std::vector<Place>& path : paths_)
        for (Place& at : path) {
            if (at.number != reply.question) continue;
            if (reply.more) {  // what is there stays until all of it comes
                if (!at.view.has_page()) at.view.take(std::move(reply.page));
                return;
            }
            if (!failed) {
                if (at.behind && section_ != findings_section && !reply.page.lead.empty())
                    tell(fmt::format("Findings (Tab, Home): {}", reply.page.lead.front().text));
                at.view.take(std::move(reply.page));
                at.state = State::shown;
                at.behind = false;
                at.early = !loaded_;
                if (large_) find_behind();
                return;
            }
            at.state = State::failed;
            at.error = reply.advice.empty() ? reply.text : fmt::format("{}\n{}", reply.text, reply.advice);
            return;
        }
}

void Browser::read_again() {
    Place& at = place();
    if (!loaded_ || paused_ || mode_ != Mode::browse || at.state != State::shown || at.asked().words.empty()) return;
    at.number = ++last_number_;
    at.state = State::asked;
    wanted_.push_back({Lane::main, at.number, at.asked().words});
    side_words_.clear();
}

void Browser::key(const Key& key) {
    told_.clear();
    switch (mode_) {
        case Mode::browse: browse(key); break;
        case Mode::filter:
        case Mode::choose:
        case Mode::command:
        case Mode::file: typed(key); break;
        case Mode::help: mode_ = Mode::browse; break;
        case Mode::text:
            if (key.name == Key::Name::up) text_.move(-1);
            else if (key.name == Key::Name::down) text_.move(1);
            else if (key.name == Key::Name::page_down) text_.move(a_page);
            else if (key.name == Key::Name::page_up) text_.move(-static_cast<std::ptrdiff_t>(a_page));
            else mode_ = Mode::browse;
            break;
    }
}

void Browser::browse(const Key& key) {
    const auto step = static_cast<std::ptrdiff_t>(std::max(place_area_.height, a_page + 2) - 2);
    const auto move = [&](std::ptrdiff_t lines) {
        if (!in_contents_) return place().view.move(lines);
        const std::ptrdiff_t last = std::ssize(contents()) - 1;
        open_section(static_cast<std::size_t>(
            std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(section_) + lines, 0, last)));
    };
    switch (key.name) {
        case Key::Name::up: return move(-1);
        case Key::Name::down: return move(1);
        case Key::Name::page_up: return move(-step);
        case Key::Name::page_down: return move(step);
        case Key::Name::wheel_up: return move(-3);
        case Key::Name::wheel_down: return move(3);
        case Key::Name::home: return in_contents_ ? open_section(0) : place().view.to_start();
        case Key::Name::end: return in_contents_ ? open_section(contents().size() - 1) : place().view.to_end();
        case Key::Name::left: return in_contents_ ? void() : place().view.mark_column(-1);
        case Key::Name::right:
            if (in_contents_) in_contents_ = false;
            else place().view.mark_column(1);
            return;
        case Key::Name::enter: return enter();
        case Key::Name::escape:
        case Key::Name::backspace: return back();
        case Key::Name::tab:
        case Key::Name::back_tab: in_contents_ = !in_contents_; return;
        case Key::Name::click: {
            const auto inside = [&](const Area& area) {
                return key.x >= area.x && key.x < area.x + area.width && key.y >= area.y &&
                       key.y < area.y + area.height;
            };
            if (inside(contents_area_) && key.y - contents_area_.y < contents().size()) {
                in_contents_ = true;
                return open_section(key.y - contents_area_.y);
            }
            if (!inside(place_area_)) return;
            in_contents_ = false;
            const Selected before = place().view.selected();
            if (!place().view.choose(key.y - place_area_.y)) return;
            const Selected now = place().view.selected();
            if (key.twice || (before.line == now.line && before.table == now.table && before.row == now.row)) enter();
            return;
        }
        case Key::Name::character: return character(key.character);
    }
}

void Browser::character(char32_t c) {
    PageView& view = place().view;
    if (c >= '1' && c <= '9') return turn_to(c - '1');
    switch (c) {
        case 'q': done_ = true; return;
        case '?': mode_ = Mode::help; return;
        case 'j': return browse({Key::Name::down});
        case 'k': return browse({Key::Name::up});
        case 'g': return browse({Key::Name::home});
        case 'G': return browse({Key::Name::end});
        case 's': return view.sort();
        case '/':
            mode_ = Mode::filter;
            typing_ = view.filter();
            return;
        case ':':
            mode_ = Mode::command;
            typing_.clear();
            recalled_ = typed_before_.size();
            return;
        case 'f':
            if (!can_choose(place().asked()))
                return tell("Processes, tables, ports and the like can be chosen; / filters by a text.");
            mode_ = Mode::choose;
            typing_ = condition_of(place().asked());
            return;
        case 'e':
            if (view.separated().empty()) return tell("There is no table under the cursor.");
            mode_ = Mode::file;
            typing_ = fmt::format("{}.csv", place().asked().words.empty() ? "table" : place().asked().words.front());
            return;
        case 'y': {
            if (place().asked().words.empty()) return;
            const std::string command = command_of(place().asked(), input_);
            errand_ = Errand{Errand::Kind::copy, command};
            return tell(present::safe_text(command));
        }
        case 'm': return mark();
        case 'v': return show_text("The line in full", text_of_selected());
        case 'r':
            if (place().state != State::asked) turn_to(place().question);
            return;
        case ' ':
            if (!live_) return browse({Key::Name::page_down});
            paused_ = !paused_;
            return;
        default: return tell("No such key; ? lists them.");
    }
}

void Browser::enter() {
    if (in_contents_) {
        in_contents_ = false;
        return;
    }
    const Selected selected = place().view.selected();
    const std::string text = text_of_selected();
    if (!place().asked().words.empty())
        if (auto subject = leads_to(selected, place().asked(), input_);
            subject && subject->questions != place().subject.questions)
            return open(std::move(*subject));
    if (!text.empty()) show_text("The line in full", text);
}

// What was typed goes first, then the way that led here, then the contents.
void Browser::back() {
    if (in_contents_) return;
    if (!place().view.filter().empty()) return place().view.filter({});
    if (paths_[section_].size() > 1) {
        paths_[section_].pop_back();
        if (place().state == State::to_ask || place().state == State::asked) turn_to(place().question);
        else if (loaded_) all_is_loaded();
        return;
    }
    in_contents_ = true;
}

void Browser::typed(const Key& key) {
    switch (key.name) {
        case Key::Name::escape:
            if (mode_ == Mode::filter) place().view.filter({});
            mode_ = Mode::browse;
            return;
        case Key::Name::enter: return finish_typing();
        case Key::Name::backspace: shorten(typing_); break;
        case Key::Name::character: append_utf8(typing_, key.character); break;
        case Key::Name::tab:
            if (mode_ == Mode::filter && !typing_.empty()) search(typing_);
            return;
        case Key::Name::up:
        case Key::Name::down:
            if (mode_ == Mode::filter) {
                mode_ = Mode::browse;
                return browse(key);
            }
            if (mode_ == Mode::command) recall(key.name == Key::Name::up);
            return;
        default: return;
    }
    if (mode_ == Mode::filter) place().view.filter(typing_);
}

void Browser::finish_typing() {
    const Mode was = std::exchange(mode_, Mode::browse);
    switch (was) {
        case Mode::file: return write_to(typing_);
        case Mode::choose: return choose(typing_);
        case Mode::filter:  // what is not here may be elsewhere
            if (!typing_.empty() && place().view.has_page() && !place().view.filter_finds()) search(typing_);
            return;
        case Mode::command: break;
        default: return;
    }
    std::vector<std::string> words;
    if (auto query = query_of_line(typing_)) {
        words = {"sql", std::move(*query)};
    } else {
        auto read = words_of_line(typing_);
        if (!read) return tell(read.error().message);
        words = std::move(*read);
    }
    if (!words.empty() && words.front() == "beamheap") words.erase(words.begin());
    if (words.empty()) return;
    if (words.front() == "q" || words.front() == "quit") {
        done_ = true;
        return;
    }
    if (typed_before_.empty() || typed_before_.back() != typing_) typed_before_.push_back(typing_);
    errand_ = Errand{Errand::Kind::remember, typing_};
    const std::string title = present::safe_text(typing_);
    open({title, {{present::safe_text(words.front()), std::move(words)}}});
}

// A line that was typed before, or the empty one behind them all.
void Browser::recall(bool older) {
    if (older ? recalled_ == 0 : recalled_ >= typed_before_.size()) return;
    recalled_ += older ? std::size_t(-1) : 1;
    typing_ = recalled_ < typed_before_.size() ? typed_before_[recalled_] : std::string();
}

void Browser::write_to(const std::string& file) {
    if (file.empty()) return;
    const bool json = file.ends_with(".json");
    if (!json && !file.ends_with(".csv")) return tell("Nothing is written: the name of a file ends in .csv or .json.");
    errand_ = Errand{Errand::Kind::write, json ? place().view.json() : place().view.separated(), file};
}

// What is looked at, with a condition of its reader's: the same question, or one of SQL.
void Browser::choose(const std::string& condition) {
    Question chosen = chosen_by(place().asked(), condition);
    if (chosen.words.front() != place().asked().words.front())
        return open({present::safe_text(condition), {std::move(chosen)}});
    Place& at = place();
    at.subject.questions[at.question] = std::move(chosen);
    at.view = {};
    turn_to(at.question);
}

void Browser::search(const std::string& text) {
    mode_ = Mode::browse;
    place().view.filter({});
    const std::vector<std::string>& words = place().asked().words;
    const bool of_process = words.size() > 1 && (words[0] == "proc" || words[0] == "heap" || words[0] == "msgs");
    open(search_subject(text, of_process ? std::string_view(words[1]) : std::string_view()));
}

// Marks a row; with a second one, of a table with the same columns, both stand beside each other.
void Browser::mark() {
    const Selected selected = place().view.selected();
    if (selected.table == nullptr) return tell("Rows of tables can be marked.");
    if (!marked_) {
        marked_.emplace(*selected.table, selected.row);
        return tell("Marked; m on another row compares the two.");
    }
    present::Page page = comparison(marked_->first, marked_->second, *selected.table, selected.row);
    marked_.reset();
    if (page.blocks.empty() || page.blocks.front().table->rows == 0) return tell("The two have no column in common.");
    Place next;
    next.subject = {"comparison", {{"comparison", {}}}};
    next.view.take(std::move(page));
    next.state = State::shown;
    paths_[section_].push_back(std::move(next));
}

std::string Browser::text_of_selected() {
    const Selected selected = place().view.selected();
    if (selected.line != nullptr) return selected.line->text;
    if (selected.table == nullptr) return {};
    std::string text;
    std::size_t widest = 0;
    for (const present::PageColumn& column : selected.table->columns)
        widest = std::max(widest, present::display_width(column.title));
    for (std::size_t c = 0; c < selected.table->columns.size(); ++c) {
        const std::string& title = selected.table->columns[c].title;
        const std::string_view cell = selected.table->text(selected.row, c);
        text += fmt::format("{}{}{}{}", text.empty() ? "" : "\n", title,
                            std::string(widest + 2 - present::display_width(title), ' '),
                            cell.substr(std::min(cell.find_first_not_of(' '), cell.size())));
    }
    for (const std::string_view line : selected.table->below(selected.row)) text.append("\n  ").append(line);
    return text;
}

void Browser::show_text(std::string title, std::string text) {
    if (text.empty()) return;
    text_title_ = std::move(title);
    text_ = {};
    text_.take(page_of_lines(text));
    mode_ = Mode::text;
}

void Browser::tell(std::string sentence) { told_ = std::move(sentence); }

std::vector<Wanted> Browser::wanted() { return std::exchange(wanted_, {}); }

std::optional<Errand> Browser::errand() { return std::exchange(errand_, std::nullopt); }

// What the chosen row leads to is shown beside the table where there is room for it.
void Browser::want_side() {
    std::vector<std::string> words;
    if (side_shown_ && place().view.has_page() && !place().asked().words.empty())
        if (const auto subject = leads_to(place().view.selected(), place().asked(), input_);
            subject && subject->questions != place().subject.questions)
            words = subject->questions.front().words;
    if (words == side_words_) return;
    side_words_ = words;
    if (words.empty()) {
        side_ = {};
        return;
    }
    side_number_ = ++last_number_;
    wanted_.push_back({Lane::side, side_number_, std::move(words)});
}

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
    canvas.put(area.x, area.y, present::cut_text(way, area.width, present::Cut::middle), Style::dim, area.width);
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
