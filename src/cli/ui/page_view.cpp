// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/page_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "model/characters.hpp"
#include "present/sanitise.hpp"
#include "present/units.hpp"

namespace beamheap::cli::ui {
namespace {

using present::PageBlock;
using present::PageTable;

constexpr std::size_t least_name = 10;                             // columns of a name where there is no room for more
constexpr std::size_t rows_compared = 5'000;                       // of each table, with the reading before
constexpr double none = std::numeric_limits<double>::quiet_NaN();  // neither less than a figure nor more

Style style_of_severity(std::string_view heading) {
    if (heading.starts_with("critical:")) return Style::critical;
    if (heading.starts_with("high:")) return Style::high;
    if (heading.starts_with("medium:")) return Style::medium;
    return Style::plain;
}

}  // namespace

bool PageView::passes(std::string_view text) const { return present::has_text(text, filter_); }

bool PageView::passes(const PageTable& table, std::size_t row) const {
    return filter_.empty() || (!table.whole() && held_filter_ == filter_) || table.row_has(row, filter_);
}

std::string PageView::key_of(const PageTable& table, std::size_t row) {
    return fmt::format("{}\x1f{}\x1f{}", table.key, table.text(row, 0), table.text(row, 1));
}

// What figures were, for the page that takes the place of this one.
void PageView::remember() {
    before_.clear();
    if (!page_) return;
    for (const PageBlock& block : page_->blocks) {
        if (!block.table) continue;
        for (std::size_t row = 0; row < std::min(block.table->rows, rows_compared); ++row) {
            Figures& figures = before_[key_of(*block.table, row)];
            figures.resize(block.table->columns.size());
            for (std::size_t c = 0; c < figures.size(); ++c) figures[c] = block.table->number(row, c).value_or(none);
        }
    }
}

void PageView::take(present::Page page) {
    const Selected was = selected();
    const std::string chosen = was.table != nullptr ? key_of(*was.table, was.row) : std::string();
    const std::size_t line = cursor_;
    const std::size_t above = cursor_ - std::min(top_, cursor_);  // lines of the screen
    remember();
    const bool first = !page_;
    page_ = std::move(page);
    held_filter_ = asked_.filter;
    arrange();
    const auto stay = [&] { top_ = cursor_ - std::min(above, cursor_); };  // lines have other numbers now
    if (reach_goal()) return stay();
    if (first) return to_start();
    cursor_ = std::min(line, lines_.empty() ? 0 : lines_.size() - 1);
    if (!chosen.empty())
        for (std::size_t i = 0; i < lines_.size(); ++i)
            if (lines_[i].kind == Line::Kind::row &&
                key_of(*page_->blocks[lines_[i].block].table, lines_[i].item) == chosen)
                cursor_ = i;
    if (lines_.empty() || !choosable(lines_[cursor_])) return to_start();
    if (lines_[cursor_].kind == Line::Kind::row && part(lines_[cursor_].block) != nullptr) stay();
}

void PageView::wrap(Line::Kind kind, std::string_view text, std::uint32_t block, std::uint32_t item) {
    const std::string whole = present::wrapped(text, std::max<std::size_t>(area_.width, 20), present::hang_of(text));
    std::uint32_t part = 0;
    for (std::size_t at = 0; at <= whole.size();) {
        const std::size_t end = std::min(whole.find('\n', at), whole.size());
        lines_.push_back({part == 0                  ? kind
                          : kind == Line::Kind::text ? Line::Kind::below
                                                     : kind,
                          block, item, part, whole.substr(at, end - at)});
        ++part;
        at = end + 1;
    }
}

// All lines of the page, in the order and through the filter that are wanted.
void PageView::arrange() {
    lines_.clear();
    layouts_.clear();
    if (!page_) return;
    for (std::uint32_t i = 0; i < page_->lead.size(); ++i) wrap(Line::Kind::lead, page_->lead[i].text, 0, i);
    for (const present::PageLine& each : page_->warnings) wrap(Line::Kind::warning, "warning: " + each.text, 0, 0);
    std::uint32_t number = 0;
    for (const PageBlock& block : page_->blocks) arrange(number++, block);
}

void PageView::arrange(std::uint32_t number, const PageBlock& block) {
    if (!lines_.empty()) lines_.push_back({Line::Kind::blank, number});
    if (!block.title.empty()) lines_.push_back({Line::Kind::heading, number, 0, 0, block.title});
    for (std::uint32_t i = 0; i < block.lines.size(); ++i)
        if (passes(block.lines[i].text)) wrap(Line::Kind::text, block.lines[i].text, number, i);
    if (!block.table) return;
    const PageTable& table = *block.table;
    if (table.rows == 0 && table.whole()) {
        lines_.push_back({Line::Kind::note, number, 0, 0, table.empty});
        return;
    }
    lines_.push_back({Line::Kind::columns, number});
    const auto order = orders_.find(number);
    const bool here = order != orders_.end() && order->second.column < table.columns.size() &&
                      !ordered_elsewhere(table, order->second);
    const std::vector<std::uint32_t> rows =
        table.sorted_by(here ? order->second.column : table.columns.size(), here && order->second.descending);
    if (table.from > 0)
        lines_.push_back({Line::Kind::note, number, 0, 0, fmt::format("... {} before", present::grouped(table.from))});
    std::vector<std::uint32_t> lines;  // columns that stand below their row
    for (std::uint32_t c = 0; c < table.columns.size(); ++c)
        if (layout(number, area_.width).columns[c].spot == present::Spot::lines) lines.push_back(c);
    std::size_t shown = 0;
    for (const std::uint32_t row : rows) {
        if (!passes(table, row)) continue;
        ++shown;
        lines_.push_back({Line::Kind::row, number, row});
        for (const std::uint32_t column : lines)
            if (const std::string_view text = table.text(row, column); !text.empty() && text != "-")
                lines_.push_back({Line::Kind::term, number, row, column});
        const std::size_t below = table.below(row).size();
        for (std::uint32_t part = 0; part < below; ++part) lines_.push_back({Line::Kind::below, number, row, part});
    }
    const auto note = [&](std::string text) { lines_.push_back({Line::Kind::note, number, 0, 0, std::move(text)}); };
    const bool sought = !table.whole() && held_filter_ != filter_;
    const std::size_t more = table.whole() ? table.total - table.rows : table.passing - table.end();
    if (more > 0 && !sought) note(fmt::format("... {} more", present::grouped(more)));
    if (sought) note(fmt::format("looking through {} rows ...", present::grouped(table.available)));
    else if (!filter_.empty() && (!table.whole() || shown < table.rows))
        note(fmt::format("{} of {} rows have \"{}\"", present::grouped(table.whole() ? shown : table.passing),
                         present::grouped(table.available), present::safe_text(filter_)));
}

bool PageView::choosable(const Line& line) const {
    if (line.kind == Line::Kind::lead)
        return line.part == 0 && (!page_->lead[line.item].process.empty() || !page_->lead[line.item].command.empty());
    return line.kind == Line::Kind::row || line.kind == Line::Kind::text;
}

void PageView::move(std::ptrdiff_t lines) {
    const std::ptrdiff_t step = lines < 0 ? -1 : 1;
    if (goal_ && goal_->onward) {
        const auto row = static_cast<std::int64_t>(goal_->row) + lines;
        goal_->row = static_cast<std::uint64_t>(std::max<std::int64_t>(row, 0));
        return;
    }
    goal_.reset();
    std::ptrdiff_t last = static_cast<std::ptrdiff_t>(cursor_);
    for (std::ptrdiff_t at = last + step; lines != 0; at += step) {
        const bool inside = at >= 0 && at < std::ssize(lines_);
        if (inside && !choosable(lines_[static_cast<std::size_t>(at)])) continue;
        const auto next = inside ? static_cast<std::size_t>(at) : lines_.size();
        if (passes_beyond(static_cast<std::size_t>(last), next, lines)) {
            cursor_ = static_cast<std::size_t>(last);
            return;
        }
        if (!inside) break;
        last = at;
        lines -= step;
    }
    const bool moved = static_cast<std::size_t>(last) != cursor_;
    cursor_ = static_cast<std::size_t>(last);
    // Where there is nothing more to choose, what stands beyond is shown all the same.
    if (!moved && lines < 0) top_ = 0;
    if (!moved && lines > 0) top_ = lines_.size() > area_.height ? lines_.size() - area_.height : 0;
}

// A table of which not all rows are held; null: all of them are, or it is none.
const PageTable* PageView::part(std::uint32_t block) const {
    if (!page_ || block >= page_->blocks.size()) return nullptr;
    const PageBlock& found = page_->blocks[block];
    return found.table && !found.table->whole() ? &*found.table : nullptr;
}

std::optional<std::uint32_t> PageView::first_part() const {
    for (std::uint32_t block = 0; page_ && block < page_->blocks.size(); ++block)
        if (part(block) != nullptr) return block;
    return std::nullopt;
}

// Whether between two lines, one of them chosen, there are rows that are not held. Then these are where it goes, and
// `left` says how far.
bool PageView::passes_beyond(std::size_t from, std::size_t to, std::ptrdiff_t left) {
    const auto table_of = [&](std::size_t at) {
        return at < lines_.size() && lines_[at].kind == Line::Kind::row ? part(lines_[at].block) : nullptr;
    };
    const PageTable* const leaves = table_of(from);
    const PageTable* const enters = table_of(to);
    if (leaves == enters) return false;
    if (leaves != nullptr) {
        const std::uint64_t row = leaves->from + lines_[from].item;
        if (left > 0 ? leaves->end() < leaves->passing : leaves->from > 0) {
            const auto to_row = static_cast<std::int64_t>(row) + left;
            goal_ = {lines_[from].block, static_cast<std::uint64_t>(std::max<std::int64_t>(to_row, 0)), true};
            return true;
        }
    }
    if (enters == nullptr || (left > 0 ? enters->from == 0 : enters->end() == enters->passing)) return false;
    goal_ = {lines_[to].block, left > 0 ? 0 : enters->passing - 1, true};
    return true;
}

// Puts the cursor on the row that was waited for, or on the one nearest to it.
bool PageView::reach_goal() {
    const auto goal = std::exchange(goal_, std::nullopt);
    const PageTable* const table = goal ? part(goal->block) : nullptr;
    if (table == nullptr || table->rows == 0) return false;
    const std::uint64_t row = std::clamp<std::uint64_t>(goal->row, table->from, table->end() - 1) - table->from;
    for (std::size_t i = 0; i < lines_.size(); ++i)
        if (lines_[i].kind == Line::Kind::row && lines_[i].block == goal->block && lines_[i].item == row) cursor_ = i;
    return true;
}

void PageView::to_start() {
    top_ = 0;
    cursor_ = 0;
    goal_.reset();
    // What a verdict is about is asked next; of another answer, its rows.
    const bool verdict = page_ && page_->kind == "analyze";
    for (const bool sentences : {verdict, true})
        for (std::size_t i = 0; i < lines_.size(); ++i)
            if (choosable(lines_[i]) && (sentences || lines_[i].kind != Line::Kind::lead)) {
                cursor_ = i;
                if (lines_[i].kind == Line::Kind::row && part(lines_[i].block) != nullptr &&
                    part(lines_[i].block)->from > 0)
                    goal_ = {lines_[i].block, 0, true};
                return;
            }
}

void PageView::to_end() {
    goal_.reset();
    for (std::size_t i = lines_.size(); i-- > 0;)
        if (choosable(lines_[i])) {
            cursor_ = i;
            if (const PageTable* const table = part(lines_[i].block);
                table != nullptr && lines_[i].kind == Line::Kind::row && table->end() < table->passing)
                goal_ = {lines_[i].block, table->passing - 1, true};
            return;
        }
}

// Whether a table has this order where all of its rows are. Columns that were added here are not known there: by these
// the rows that are held are ordered.
bool PageView::ordered_elsewhere(const PageTable& table, const Order& order) const {
    return !table.whole() && !table.columns[order.column].added;
}

// The place of the row under the cursor, in the table of a block; elsewhere the first that is held.
std::uint64_t PageView::row_at_cursor(std::uint32_t block) const {
    const PageTable& table = *page_->blocks[block].table;
    const bool there =
        cursor_ < lines_.size() && lines_[cursor_].kind == Line::Kind::row && lines_[cursor_].block == block;
    return table.from + (there ? lines_[cursor_].item : 0);
}

std::string PageView::position() const {
    std::uint32_t block = 0;
    const PageTable* const table = table_at_cursor(block);
    if (table == nullptr || lines_[cursor_].kind != Line::Kind::row || lines_.size() <= area_.height) return {};
    const auto is_row = [&](const Line& line) { return line.kind == Line::Kind::row && line.block == block; };
    std::uint64_t row = table->from + lines_[cursor_].item;
    std::uint64_t rows = table->passing;
    if (table->whole()) {
        row = static_cast<std::uint64_t>(
            std::count_if(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(cursor_), is_row));
        rows = static_cast<std::uint64_t>(std::ranges::count_if(lines_, is_row));
    } else if (held_filter_ != filter_) {
        return {};
    } else if (goal_ && goal_->block == block) {
        row = std::min<std::uint64_t>(goal_->row, rows - 1);
    }
    return fmt::format("{} of {}", present::grouped(row + 1), present::grouped(rows));
}

present::PageWish::Part PageView::wished(std::uint32_t block, std::uint64_t rows) const {
    const PageTable& table = *part(block);
    present::PageWish::Part wish{.block = block};
    if (const auto order = orders_.find(block); order != orders_.end() && order->second.column < table.columns.size() &&
                                                ordered_elsewhere(table, order->second)) {
        wish.column = table.columns[order->second.column].name;
        wish.descending = order->second.descending;
    }
    const present::PageWish::Part before = asked_.part(block);
    if (asked_.filter != filter_ || before.column != wish.column || before.descending != wish.descending) return wish;
    // What is held, or comes, does as long as the cursor is far from its ends.
    const std::uint64_t at = goal_ && goal_->block == block ? goal_->row : row_at_cursor(block);
    const std::uint64_t margin = rows / 5;
    const bool above = before.from == 0 || at >= before.from + margin;
    const bool below = before.from + rows >= table.passing || at + margin < before.from + rows;
    wish.from = before.from;
    if (above && below) return wish;
    wish.from = at > rows / 2 ? at - rows / 2 : 0;
    wish.from = std::min<std::uint64_t>(wish.from, table.passing > rows ? table.passing - rows : 0);
    return wish;
}

present::PageWish PageView::wish(std::uint64_t rows) {
    present::PageWish wish{.rows = rows};
    for (std::uint32_t block = 0; page_ && block < page_->blocks.size(); ++block) {
        if (part(block) == nullptr) continue;
        wish.filter = filter_;
        if (present::PageWish::Part each = wished(block, rows); each != present::PageWish::Part{.block = block})
            wish.parts.push_back(std::move(each));
    }
    asked_ = wish;
    return wish;
}

std::optional<present::PageWish> PageView::wants(std::uint64_t rows) {
    if (!first_part()) return std::nullopt;
    const present::PageWish before = asked_;
    if (present::PageWish now = wish(rows); now.filter != before.filter || now.parts != before.parts) return now;
    return std::nullopt;
}

Selected PageView::selected() const {
    if (cursor_ >= lines_.size() || !choosable(lines_[cursor_])) return {};
    const Line& line = lines_[cursor_];
    if (line.kind == Line::Kind::lead) return {&page_->lead[line.item], nullptr, 0};
    const PageBlock& block = page_->blocks[line.block];
    if (line.kind == Line::Kind::row) return {nullptr, &*block.table, line.item};
    return {&block.lines[line.item], nullptr, 0};
}

bool PageView::choose(std::size_t y) {
    if (y >= area_.height || top_ + y >= lines_.size()) return false;
    std::size_t at = top_ + y;
    while (at > 0 && (lines_[at].kind == Line::Kind::below || lines_[at].kind == Line::Kind::term ||
                      (lines_[at].kind == Line::Kind::lead && lines_[at].part != 0)))
        --at;
    if (!choosable(lines_[at])) return false;
    cursor_ = at;
    return true;
}

const PageTable* PageView::table_at_cursor(std::uint32_t& block) const {
    if (!page_ || cursor_ >= lines_.size()) return nullptr;
    block = lines_[cursor_].block;
    return block < page_->blocks.size() && page_->blocks[block].table ? &*page_->blocks[block].table : nullptr;
}

void PageView::mark_column(std::ptrdiff_t columns) {
    std::uint32_t block = 0;
    const PageTable* const table = table_at_cursor(block);
    if (table == nullptr || table->columns.empty()) return;
    const std::vector<present::TextColumn>& columns_shown = layout(block, area_.width).columns;
    const auto known = marked_.find(block);
    std::ptrdiff_t at = known == marked_.end() ? (columns > 0 ? -1 : std::ssize(columns_shown))
                                               : static_cast<std::ptrdiff_t>(known->second);
    const std::ptrdiff_t step = columns < 0 ? -1 : 1;
    for (at += step; at >= 0 && at < std::ssize(columns_shown); at += step)
        if (columns_shown[static_cast<std::size_t>(at)].spot == present::Spot::in_row) {
            marked_[block] = static_cast<std::size_t>(at);
            return;
        }
}

void PageView::sort() {
    std::uint32_t block = 0;
    const PageTable* const table = table_at_cursor(block);
    if (table == nullptr) return;
    const auto marked = marked_.find(block);
    if (marked == marked_.end()) return mark_column(1);
    const auto order = orders_.find(block);
    if (order != orders_.end() && order->second.column == marked->second)
        order->second.descending = !order->second.descending;
    else orders_[block] = {marked->second, table->columns[marked->second].number};
    arrange();
    to_start();
    for (std::size_t i = 0; i < lines_.size(); ++i)
        if (lines_[i].kind == Line::Kind::row && lines_[i].block == block) {
            cursor_ = i;
            break;
        }
    goal_.reset();
    if (part(block) != nullptr) goal_ = {block, 0, false};
}

void PageView::filter(std::string text) {
    filter_ = std::move(text);
    arrange();
    to_start();
    goal_.reset();
    if (const auto block = first_part()) goal_ = {*block, 0, false};
}

bool PageView::filter_finds() const {
    if (first_part() && held_filter_ != filter_) return true;  // it is not known yet
    return std::ranges::any_of(lines_, [this](const Line& line) { return choosable(line); });
}

bool PageView::in_table() const {
    std::uint32_t block = 0;
    return table_at_cursor(block) != nullptr;
}

std::optional<std::uint32_t> PageView::asked_for_file() const {
    std::uint32_t block = 0;
    if (table_at_cursor(block) == nullptr || part(block) == nullptr) return std::nullopt;
    return block;
}

std::string PageView::file(FileForm form) const {
    std::uint32_t block = 0;
    const PageTable* const table = table_at_cursor(block);
    if (table == nullptr) return {};
    std::vector<std::uint32_t> rows;
    for (const Line& line : lines_)
        if (line.kind == Line::Kind::row && line.block == block) rows.push_back(line.item);
    TableFile file(form);
    std::string out;
    file.add(*table, rows, out);
    file.end(out);
    return out;
}

// As the verbs' tables share a terminal's width. What would begin a second line there has room here, beside the
// contents, by names that are cut further, or is left out.
const PageView::Layout& PageView::layout(std::uint32_t block, std::size_t width) {
    Layout& layout = layouts_[block];
    if (!layout.columns.empty() && layout.for_width == width) return layout;
    // `yields`: of several columns of names only the first need stay.
    const auto laid_out = [&](std::size_t least, bool yields) {
        bool named = false;
        std::vector<present::TextColumn> columns;
        for (const present::PageColumn& column : page_->blocks[block].table->columns) {
            columns.push_back(column.shape);
            present::TextColumn& shape = columns.back();
            if (column.wide) shape.spot = present::Spot::left_out;
            if (shape.cut == present::Cut::nothing) continue;
            shape.least = std::min(shape.least, least);
            if (std::exchange(named, true) && yields) shape.lesser = std::numeric_limits<std::uint8_t>::max();
        }
        present::lay_out(columns, width);
        return columns;
    };
    const auto breaks = [](const present::TextColumn& each) { return each.spot == present::Spot::breaks; };
    layout = {laid_out(width, false), {}, width};
    for (const bool yields : {false, true})
        if (std::ranges::any_of(layout.columns, breaks)) layout.columns = laid_out(least_name, yields);
    for (present::TextColumn& each : layout.columns)
        if (breaks(each)) each.spot = present::Spot::left_out;
    // Texts that would be cut to the same one are cut where they differ.
    const PageTable& table = *page_->blocks[block].table;
    for (std::size_t c = 0; c < layout.columns.size(); ++c) {
        present::ColumnCut& cut = layout.cuts.emplace_back(layout.columns[c]);
        if (layout.columns[c].spot != present::Spot::in_row || layout.columns[c].width >= layout.columns[c].whole)
            continue;
        for (std::size_t row = 0; row < table.rows; ++row) cut.add(table.text(row, c));
    }
    return layout;
}

void PageView::paint_columns(Canvas& canvas, Area area, std::size_t y, const Line& line) {
    const PageTable& table = *page_->blocks[line.block].table;
    const auto order = orders_.find(line.block);
    const auto marked = marked_.find(line.block);
    for (const Cell& cell : cells(line.block, area)) {
        std::string title = table.columns[cell.column].title;
        if (order != orders_.end() && order->second.column == cell.column)
            title += order->second.descending ? "\u2193" : "\u2191";
        const bool chosen = marked != marked_.end() && marked->second == cell.column;
        put(canvas, y, cell, present::clipped(title, cell.shape.width), chosen ? Style::chosen : Style::heading);
    }
}

void PageView::paint_row(Canvas& canvas, Area area, std::size_t y, const Line& line, Style style) {
    const PageTable& table = *page_->blocks[line.block].table;
    const auto found = before_.find(key_of(table, line.item));
    const Figures before = found == before_.end() ? Figures(table.columns.size(), none) : found->second;
    for (const Cell& cell : cells(line.block, area)) {
        const bool grown =
            cell.column < before.size() && before[cell.column] < table.number(line.item, cell.column).value_or(none);
        put(canvas, y, cell, layouts_[line.block].cuts[cell.column](table.text(line.item, cell.column)),
            grown && style == Style::plain ? Style::grown : style);
    }
}

// Where each column of a row stands.
std::vector<PageView::Cell> PageView::cells(std::uint32_t block, Area area) {
    std::vector<Cell> cells;
    std::size_t x = area.x;
    const std::vector<present::TextColumn>& shapes = layout(block, area.width).columns;
    for (std::size_t c = 0; c < shapes.size() && x < area.x + area.width; ++c) {
        if (shapes[c].spot != present::Spot::in_row) continue;
        cells.push_back({c, x, area.x + area.width, shapes[c]});
        x += shapes[c].width + present::column_gap;
    }
    return cells;
}

void PageView::put(Canvas& canvas, std::size_t y, const Cell& cell, std::string_view text, Style style) {
    const std::size_t wide = present::display_width(text);
    const std::size_t x = cell.x + (cell.shape.right && wide < cell.shape.width ? cell.shape.width - wide : 0);
    if (x < cell.end) canvas.put(x, y, text, style, cell.end - x);
}

// The same row or line under the cursor, wherever it stands now.
void PageView::stay_at(const Selected& was) {
    to_start();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const Line& line = lines_[i];
        if (!choosable(line)) continue;
        if (line.kind == Line::Kind::lead) {
            if (was.line == &page_->lead[line.item]) cursor_ = i;
            continue;
        }
        const PageBlock& block = page_->blocks[line.block];
        if (was.table != nullptr
                ? block.table && &*block.table == was.table && line.item == was.row
                : was.line != nullptr && line.item < block.lines.size() && &block.lines[line.item] == was.line)
            cursor_ = i;
    }
}

void PageView::paint(Canvas& canvas, Area area, bool focused) {
    if (area.width != area_.width && page_) {
        const Selected was = selected();
        area_ = area;
        arrange();
        stay_at(was);
    }
    area_ = area;
    if (!page_ || area.height == 0) return;
    if (cursor_ < top_) top_ = cursor_;
    if (cursor_ >= top_ + area.height) top_ = cursor_ + 1 - area.height;
    // The head of a table and what leads to the first row stay in sight.
    std::size_t first = 0;
    while (first < lines_.size() && !choosable(lines_[first])) ++first;
    if (cursor_ == first && cursor_ < area.height) top_ = 0;
    for (std::size_t y = 0; y < area.height && top_ + y < lines_.size(); ++y) {
        Line line = lines_[top_ + y];
        // Of a table that began above, the first line in sight is its head.
        if (y == 0 &&
            (line.kind == Line::Kind::row || line.kind == Line::Kind::term || line.kind == Line::Kind::below) &&
            page_->blocks[line.block].table && top_ != cursor_)
            line = {Line::Kind::columns, line.block};
        const std::size_t at = area.y + y;
        const bool here = top_ + y == cursor_ && choosable(line);
        const Style chosen = focused ? Style::chosen : Style::resting;
        switch (line.kind) {
            case Line::Kind::blank: break;
            case Line::Kind::columns: paint_columns(canvas, area, at, line); break;
            case Line::Kind::row:
                paint_row(canvas, area, at, line, here ? chosen : Style::plain);
                if (here) canvas.paint(area.x, at, area.width, chosen);
                break;
            case Line::Kind::term:
                canvas.put(area.x + 2, at,
                           present::clipped(page_->blocks[line.block].table->text(line.item, line.part),
                                            area.width - std::min<std::size_t>(area.width, 2)),
                           Style::plain, area.width);
                break;
            case Line::Kind::below: {
                const PageBlock& block = page_->blocks[line.block];
                if (block.table) {
                    const auto below = block.table->below(line.item);
                    canvas.put(area.x, at, present::clipped(fmt::format("    {}", below[line.part]), area.width),
                               Style::plain, area.width);
                } else {
                    canvas.put(area.x, at, line.text, Style::plain, area.width);
                }
                break;
            }
            case Line::Kind::lead:
                canvas.put(area.x, at, line.text, here ? chosen : Style::bold, area.width);
                if (here) canvas.paint(area.x, at, area.width, chosen);
                break;
            case Line::Kind::warning: canvas.put(area.x, at, line.text, Style::medium, area.width); break;
            case Line::Kind::heading: {
                const Style severity = style_of_severity(line.text);
                canvas.put(area.x, at, line.text, severity == Style::plain ? Style::heading : severity, area.width);
                break;
            }
            case Line::Kind::text:
            case Line::Kind::note: {
                const Style severity = style_of_severity(line.text);
                const Style plain = line.kind == Line::Kind::note ? Style::dim : severity;
                canvas.put(area.x, at, line.text, here ? chosen : plain, area.width);
                if (here) canvas.paint(area.x, at, area.width, chosen);
                break;
            }
        }
    }
}

}  // namespace beamheap::cli::ui
