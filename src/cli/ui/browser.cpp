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

constexpr std::size_t findings_section = 0, processes_section = 1;  // of the contents
constexpr std::size_t a_page = 15;                                  // lines that a page key moves by, at least
// Rows of a table that are held: so many that keys come to none that is not there, so few that they are there at once.
// Of a running VM those whose figures are followed; beside a table, what is seen.
constexpr std::uint64_t held_rows = 1'000, held_rows_live = 5'000, held_rows_beside = 100;

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
    at.behind = false;
    ask(at, Lane::main);
}

std::uint64_t Browser::rows_held() const { return live_ ? held_rows_live : held_rows; }

void Browser::ask(Place& at, Lane lane) {
    at.number = ++last_number_;
    at.state = State::asked;
    wanted_.push_back(
        {.lane = lane, .number = at.number, .words = at.asked().words, .wish = at.view.wish(rows_held())});
}

// Other rows of the table that is looked at.
void Browser::want_rows() {
    Place& at = place();
    if (at.state == State::failed || at.asked().words.empty() || file_number_ != 0) return;
    auto wish = at.view.wants(rows_held());
    if (!wish) return;
    const std::uint32_t before = std::exchange(at.number, ++last_number_);
    at.state = State::asked;
    wanted_.push_back({.lane = Lane::main,
                       .number = at.number,
                       .words = at.asked().words,
                       .wish = std::move(*wish),
                       .before = before});
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
    findings.behind = true;
    ask(findings, Lane::behind);
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
        case Reply::Kind::piece:
        case Reply::Kind::last_piece: return take_piece(reply);
    }
    const bool failed = reply.kind == Reply::Kind::failed;
    if (failed && reply.question == file_number_) return take_piece(reply);
    if (live_ && !failed) trends_.follow(reply.page, reply.seconds);
    if (reply.question == side_number_) {
        if (failed) side_ = {};
        else side_.take(std::move(reply.page));
        return;
    }
    for (std::vector<Place>& path : paths_)
        for (Place& at : path) {
            if (at.number != reply.question) continue;
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
    ask(at, Lane::main);
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
            if (!view.in_table()) return tell("There is no table under the cursor.");
            mode_ = Mode::file;
            typing_ = fmt::format("{}.csv", place().asked().words.empty() ? "table" : place().asked().words.front());
            return;
        case 'y': {
            if (place().asked().words.empty()) return;
            const std::string command = command_of(place().asked(), input_);
            errands_.push_back({Errand::Kind::copy, command});
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
        if (place().state == State::asked) wanted_.push_back({.lane = Lane::main});  // nobody waits for it any more
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
    words = words_of_question(std::move(words), input_);  // one that `y` or a finding gave
    if (words.empty()) return;
    if (words.front() == "q" || words.front() == "quit") {
        done_ = true;
        return;
    }
    if (typed_before_.empty() || typed_before_.back() != typing_) typed_before_.push_back(typing_);
    errands_.push_back({Errand::Kind::remember, typing_});
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
    const FileForm form = json ? FileForm::json : FileForm::separated;
    Place& at = place();
    const auto block = at.view.asked_for_file();
    if (!block) return errands_.push_back({Errand::Kind::write, at.view.file(form), file});
    if (at.asked().words.empty() || at.state != State::shown) return tell("Its rows are being looked for yet.");
    at.state = State::asked;
    file_ = file;
    file_number_ = ++last_number_;
    wanted_.push_back({.lane = Lane::main,
                       .number = file_number_,
                       .words = at.asked().words,
                       .wish = at.view.wish(rows_held()),
                       .before = std::exchange(at.number, file_number_),
                       .file = WantedFile{*block, form}});
    tell(fmt::format("{} is being written ...", present::safe_text(file)));
}

// Rows of a table as the file gets them.
void Browser::take_piece(const Reply& reply) {
    if (reply.question != file_number_) return;
    if (reply.kind == Reply::Kind::failed) return end_file(reply.text);
    const bool more = reply.kind == Reply::Kind::piece;
    errands_.push_back({Errand::Kind::write, reply.text, file_, more});
    if (more) return;
    file_number_ = 0;
    for (std::vector<Place>& path : paths_)
        for (Place& at : path)
            if (at.number == reply.question) at.state = State::shown;
}

// What is there of a file goes.
void Browser::end_file(std::string_view why) {
    file_number_ = 0;
    errands_.push_back({Errand::Kind::give_up});
    tell(present::safe_text(fmt::format("{}: {}", file_, why)));
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
        marked_.emplace(selected.table->row_alone(selected.row), 0);
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

std::vector<Wanted> Browser::wanted() {
    for (const Wanted& each : wanted_)  // who writes the rows is told to do something else
        if (file_number_ != 0 && each.lane == Lane::main && each.number != file_number_) end_file("is not written.");
    for (std::size_t i = 0; i < wanted_.size();) {  // of what a lane is asked, only the last is of use
        const auto later = std::ranges::find(wanted_.begin() + static_cast<std::ptrdiff_t>(i) + 1, wanted_.end(),
                                             wanted_[i].lane, &Wanted::lane);
        if (later != wanted_.end()) wanted_.erase(wanted_.begin() + static_cast<std::ptrdiff_t>(i));
        else ++i;
    }
    return std::exchange(wanted_, {});
}

std::optional<Errand> Browser::errand() {
    if (errands_.empty()) return std::nullopt;
    Errand next = std::move(errands_.front());
    errands_.pop_front();
    return next;
}

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
    wanted_.push_back(
        {.lane = Lane::side, .number = side_number_, .words = std::move(words), .wish = {.rows = held_rows_beside}});
}

}  // namespace beamheap::cli::ui
