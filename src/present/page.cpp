// SPDX-License-Identifier: Apache-2.0
#include "present/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "model/characters.hpp"
#include "present/sanitise.hpp"
#include "present/view.hpp"

namespace beamheap::present {

std::string_view PageTable::text(std::size_t row, std::size_t column) const {
    const std::size_t at = row * columns.size() + column;
    if (column >= columns.size() || at >= ends_.size()) return {};
    const std::uint64_t begin = at == 0 ? 0 : ends_[at - 1];
    return std::string_view(texts_).substr(begin, ends_[at] - begin);
}

std::optional<double> PageTable::number(std::size_t row, std::size_t column) const {
    const std::size_t at = row * columns.size() + column;
    if (column >= columns.size() || at >= numbers_.size() || std::isnan(numbers_[at])) return std::nullopt;
    return numbers_[at];
}

std::vector<std::string_view> PageTable::below(std::size_t row) const {
    std::vector<std::string_view> lines;
    for (auto at = std::ranges::lower_bound(below_, row, {}, &Below::row); at != below_.end() && at->row == row; ++at)
        lines.push_back(at->text);
    return lines;
}

std::optional<std::size_t> PageTable::column_of(std::string_view name) const {
    const auto found = std::ranges::find(columns, name, &PageColumn::name);
    if (found == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns.begin());
}

std::vector<std::uint32_t> PageTable::sorted_by(std::size_t column, bool descending) const {
    std::vector<std::uint32_t> order(rows);
    std::iota(order.begin(), order.end(), 0u);
    if (column >= columns.size()) return order;
    const bool figures = columns[column].number;
    const auto missing = [&](std::uint32_t row) {
        return figures ? !number(row, column) : text(row, column).empty() || text(row, column) == "-";
    };
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
        const bool no_a = missing(a);
        const bool no_b = missing(b);
        if (no_a || no_b) return !no_a && no_b;
        if (figures) {
            const double x = *number(a, column);
            const double y = *number(b, column);
            return descending ? x > y : x < y;
        }
        const std::strong_ordering between = natural_order(text(a, column), text(b, column));
        return descending ? between > 0 : between < 0;
    });
    return order;
}

void PageTable::add(std::string_view text, double number) {
    texts_ += text;
    ends_.push_back(texts_.size());
    numbers_.push_back(number);
}

void PageTable::add_below(std::string_view line) {
    const std::size_t begun = columns.empty() ? 0 : (ends_.size() + columns.size() - 1) / columns.size();
    below_.push_back({static_cast<std::uint32_t>(begun == 0 ? 0 : begun - 1), std::string(line)});
}

void PageTable::append_column(PageColumn column, const std::vector<std::string>& cells,
                              const std::vector<double>& figures) {
    const std::size_t before = columns.size();
    column.shape.width = std::max(column.shape.width, display_width(column.title));
    for (const std::string& each : cells) column.shape.width = std::max(column.shape.width, display_width(each));
    column.shape.least = column.shape.best = column.shape.width;
    PageTable whole;
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t c = 0; c < before; ++c) whole.add(text(row, c), numbers_[row * before + c]);
        whole.add(cells[row], figures[row]);
    }
    texts_ = std::move(whole.texts_);
    ends_ = std::move(whole.ends_);
    numbers_ = std::move(whole.numbers_);
    columns.push_back(std::move(column));
}

bool PageTable::operator==(const PageTable& other) const {
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    const auto members = [](const PageTable& t) {
        return std::tie(t.key, t.title, t.empty, t.columns, t.rows, t.total, t.texts_, t.ends_, t.below_);
    };
    return members(*this) == members(other) && std::ranges::equal(numbers_, other.numbers_, same);
}

namespace {

constexpr std::size_t rows_measured = 20'000;  // of a table, for the widths of its columns

// The number that a cell is sorted by.
double sorting_number(const Value& value) {
    if (const auto* n = std::get_if<std::int64_t>(&value.data())) return static_cast<double>(*n);
    if (const auto* n = std::get_if<std::uint64_t>(&value.data())) return static_cast<double>(*n);
    if (const auto* n = std::get_if<double>(&value.data())) return *n;
    return std::numeric_limits<double>::quiet_NaN();
}

// Turns what a View shows people into the parts of a page.
class PageMaker {
public:
    explicit PageMaker(const View& view) : view_(view) {}

    Page make() {
        const Document& document = view_.document();
        Page page;
        page.kind = document.kind;
        for (const bool leads : {true, false})
            for (const Warning& warning : document.warnings)
                if (warning.leads == leads && warning.severity != "info") page.warnings.push_back(line(warning.text));
        for (const Text& sentence : document.lead) page.lead.push_back(line(sentence));
        for (const View::Item& item : view_.items())
            if (view_.for_people(item)) block(item, page.blocks);
        return page;
    }

private:
    PageLine line(const Text& sentence) const {
        PageLine made{safe_text(view_.text(sentence))};
        for (const Text::Piece& piece : sentence.pieces) {
            Text alone;
            alone.pieces.push_back(piece);
            if (piece.command) made.command += safe_text(view_.text(alone));
            else if (made.process.empty() && piece.process != Pid{}) made.process = first_pid(view_.text(alone));
        }
        return made;
    }
    PageLine line(const Value& value, Unit unit, Content content, std::string_view key = {}) const {
        if (const auto* sentence = std::get_if<std::shared_ptr<const Text>>(&value.data())) return line(**sentence);
        PageLine made{people_text(view_, value, unit, content, key)};
        made.process = first_pid(made.text);
        return made;
    }

    void block(const View::Item& item, std::vector<PageBlock>& blocks) const {
        PageBlock made{item.member->key, safe_text(item.member->title), {}, {}};
        if (item.object() || item.adapted == View::Item::Adapted::object) {
            for (std::size_t c = 0; c < item.table.columns(); ++c)
                if (const Column& column = item.table.column(c); !column.wide)
                    pair({std::string(column.name), std::string(column.title)}, item.table.cell(0, c),
                         item.table.unit_of(0, c), column.content, item.table.key_of(0, c), made.lines);
            align(made.lines);
        } else if (item.is_table || item.adapted == View::Item::Adapted::list) {
            made.table = table(item);
        } else {
            value(*item.member, std::get<Value>(item.member->body), made.lines);
        }
        if (!made.lines.empty() || made.table) blocks.push_back(std::move(made));
    }

    void value(const Member& member, const Value& value, std::vector<PageLine>& lines) const {
        if (value.is_null()) return;
        if (const auto* object = std::get_if<std::shared_ptr<const Object>>(&value.data())) {
            for (const auto& [name, each] : **object) pair({name, {}}, each, unit_of(name), member.content, {}, lines);
            return align(lines);
        }
        if (const auto* array = std::get_if<std::shared_ptr<const Array>>(&value.data())) {
            for (const Value& each : **array) lines.push_back(line(each, member.unit, member.content));
            return;
        }
        lines.push_back(line(value, member.unit, member.content));
    }
    struct Called {
        std::string name;   // as in JSON
        std::string title;  // as people read it; empty: made of the name
        std::string said() const { return title.empty() ? label_of(name) : title; }
    };
    // "name\x1fvalue", of which align() makes columns; entries of objects within are lines of their own.
    void pair(const Called& called, const Value& value, Unit unit, Content content, std::string_view key,
              std::vector<PageLine>& lines) const {
        if (value.is_null()) return;
        if (const auto* object = std::get_if<std::shared_ptr<const Object>>(&value.data())) {
            for (const auto& [inner, each] : **object)
                pair({called.name + ' ' + inner, called.said() + ' ' + label_of(inner)}, each, unit_of(inner), content,
                     key, lines);
            return;
        }
        PageLine made = line(value, unit, content, key);
        if (made.text.empty()) return;
        if (unit == Unit::words) made.text += " words";
        made.text = safe_text(called.said()) + glued_blank + made.text;
        made.name = called.name;
        const double number = sorting_number(value);
        made.has_number = numeric(unit) && !std::isnan(number);
        if (made.has_number) made.number = number;
        lines.push_back(std::move(made));
    }
    static void align(std::vector<PageLine>& lines) {
        std::size_t widest = 0;
        for (const PageLine& each : lines)
            widest =
                std::max(widest, display_width(std::string_view(each.text).substr(0, each.text.find(glued_blank))));
        for (PageLine& each : lines) {
            const std::size_t mark = each.text.find(glued_blank);
            const std::size_t width = display_width(std::string_view(each.text).substr(0, mark));
            each.text.replace(mark, 1, widest + 2 - width, ' ');
        }
    }

    // An entry of a list below a row: a slot of a frame is its name and its term, beside each other.
    std::string entry(const Value& value, const Column& column, std::string_view key) const {
        const auto* object = std::get_if<std::shared_ptr<const Object>>(&value.data());
        if (object == nullptr) return line(value, column.unit, column.content, key).text;
        std::string text;
        for (const auto& [name, each] : **object)
            text.append(text.empty() ? "" : "  ").append(people_text(view_, each, unit_of(name), column.content, key));
        return text;
    }

    PageTable table(const View::Item& item) const {
        const TableView& shown = item.table;
        PageTable made;
        made.key = item.member->key;
        made.title = safe_text(item.member->title);
        made.empty = safe_text(shown.empty().empty() ? "nothing" : shown.empty());
        made.rows = std::min(shown.rows(), most_page_rows);
        made.total = std::max(shown.total(), shown.rows());
        std::vector<const Column*> columns;
        for (std::size_t c = 0; c < shown.columns(); ++c) {
            const Column& column = shown.column(c);
            if (column.below) continue;
            columns.push_back(&column);
            made.columns.push_back({std::string(column.name), std::string(column.title), numeric(column.unit),
                                    column.content == Content::term || column.content == Content::message,
                                    column.wide && view_.options().columns.empty()});
        }
        made.reserve(made.rows * made.columns.size());
        for (std::size_t row = 0; row < made.rows; ++row) fill(shown, row, made);
        for (std::size_t c = 0; c < columns.size(); ++c) made.columns[c].shape = shape_of(*columns[c], made, c);
        return made;
    }
    static TextColumn shape_of(const Column& column, const PageTable& table, std::size_t c) {
        std::size_t width = 0;
        bool tells = false;
        for (std::size_t row = 0; row < std::min(table.rows, rows_measured); ++row) {
            const std::string_view text = table.text(row, c);
            width = std::max(width, display_width(text));
            tells = tells || text != "-";
        }
        return text_column(column, width, tells);
    }
    void fill(const TableView& shown, std::size_t row, PageTable& made) const {
        for (std::size_t c = 0; c < shown.columns(); ++c) {
            const Column& column = shown.column(c);
            if (column.below) continue;
            const Value cell = shown.cell(row, c);
            const std::string text =
                people_text(view_, cell, shown.unit_of(row, c), column.content, shown.key_of(row, c));
            const std::size_t depth = std::min<std::size_t>(shown.depth_of(row, c), 40);
            made.add(std::string(2 * depth, ' ') + text,
                     numeric(column.unit) ? sorting_number(cell) : std::numeric_limits<double>::quiet_NaN());
        }
        for (std::size_t c = 0; c < shown.columns(); ++c) {
            const Column& column = shown.column(c);
            if (!column.below) continue;
            const Value cell = shown.cell(row, c);
            if (const auto* array = std::get_if<std::shared_ptr<const Array>>(&cell.data()))
                for (const Value& each : **array) made.add_below(entry(each, column, shown.key_of(row, c)));
        }
    }

    const View& view_;
};

// Who browses is at a terminal, but has all rows and, of one that he looks at closer, all columns.
constexpr Presenter page_presenter{.name = "page", .doc = {}};

}  // namespace

std::string first_pid(std::string_view text) {
    for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
        std::size_t end = at + 1;
        std::size_t numbers = 0;
        while (end < text.size() && is_digit(text[end])) {
            ++numbers;
            while (end < text.size() && is_digit(text[end])) ++end;
            if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) ++end;
        }
        if (numbers == 3 && end < text.size() && text[end] == '>') return std::string(text.substr(at, end + 1 - at));
    }
    return {};
}

Result<Page> page_of(const Document& document, const RenderOptions& options) {
    RenderOptions all = options;
    if (!all.top) all.top = 0;
    BH_TRY(const View view, View::make(document, all, page_presenter));
    return PageMaker(view).make();
}

// One list of members for both directions: what is written is read in the same order.
class PagePacker {
public:
    explicit PagePacker(std::string& out) : out_(&out) {}
    explicit PagePacker(std::string_view in) : in_(in) {}
    bool failed() const { return failed_; }
    bool at_end() const { return in_.empty(); }

    void page(Page& p) {
        text(p.kind);
        list(p.lead, [this](PageLine& each) { line(each); });
        list(p.warnings, [this](PageLine& each) { line(each); });
        list(p.blocks, [this](PageBlock& each) { block(each); });
    }

private:
    void block(PageBlock& b) {
        text(b.key);
        text(b.title);
        list(b.lines, [this](PageLine& each) { line(each); });
        bool has = b.table.has_value();
        plain(has);
        if (!has) return;
        if (!b.table) b.table.emplace();
        table(*b.table);
    }
    void table(PageTable& t) {
        text(t.key);
        text(t.title);
        text(t.empty);
        list(t.columns, [this](PageColumn& each) {
            text(each.name);
            text(each.title);
            plain(each.number);
            plain(each.term);
            plain(each.wide);
            shape(each.shape);
        });
        plain(t.rows);
        plain(t.total);
        text(t.texts_);
        plains(t.ends_);
        plains(t.numbers_);
        list(t.below_, [this](PageTable::Below& each) {
            plain(each.row);
            text(each.text);
        });
        if (out_ != nullptr || failed_) return;
        const bool fits = t.columns.empty() ? t.ends_.empty() : t.ends_.size() / t.columns.size() == t.rows;
        if (!fits || t.ends_.size() != t.numbers_.size() || !std::ranges::is_sorted(t.ends_) ||
            (!t.ends_.empty() && t.ends_.back() != t.texts_.size()))
            failed_ = true;
    }
    void shape(TextColumn& s) {
        plain(s.width);
        plain(s.least);
        plain(s.best);
        plain(s.lesser);
        plain(s.right);
        plain(s.tells);
        plain(s.below);
        kind(s.cut, Cut::end);
        kind(s.spot, Spot::left_out);
    }
    template <class Kind>
    void kind(Kind& value, Kind last) {
        auto number = static_cast<std::uint8_t>(value);
        plain(number);
        if (number > static_cast<std::uint8_t>(last)) failed_ = true;
        else value = static_cast<Kind>(number);
    }
    void line(PageLine& l) {
        text(l.text);
        text(l.process);
        text(l.command);
        text(l.name);
        plain(l.number);
        plain(l.has_number);
    }

    void bytes(void* data, std::size_t size) {
        if (size == 0) return;
        if (out_ != nullptr) {
            out_->append(static_cast<const char*>(data), size);
        } else if (failed_ || in_.size() < size) {
            failed_ = true;
        } else {
            std::memcpy(data, in_.data(), size);
            in_.remove_prefix(size);
        }
    }
    template <class Plain>
    void plain(Plain& value) {
        static_assert(std::is_arithmetic_v<Plain>);
        bytes(&value, sizeof value);
    }
    void plain(bool& value) {
        std::uint8_t number = value ? 1 : 0;
        plain(number);
        if (number > 1) failed_ = true;
        else value = number == 1;
    }
    // How many there are; what could not stand in the bytes that are left is none.
    std::size_t count(std::size_t have, std::size_t least_size) {
        std::uint64_t size = have;
        plain(size);
        if (out_ == nullptr && (failed_ || size > in_.size() / least_size)) {
            failed_ = true;
            return 0;
        }
        return static_cast<std::size_t>(size);
    }
    void text(std::string& value) {
        value.resize(count(value.size(), 1));
        bytes(value.data(), value.size());
    }
    template <class Plain>
    void plains(std::vector<Plain>& values) {
        values.resize(count(values.size(), sizeof(Plain)));
        bytes(values.data(), values.size() * sizeof(Plain));
    }
    template <class Each, class Member>
    void list(std::vector<Each>& values, Member member) {
        const std::size_t size = count(values.size(), 1);
        if (out_ == nullptr) values.clear();
        for (std::size_t i = 0; i < size && !failed_; ++i) {
            if (out_ == nullptr) values.emplace_back();
            member(values[i]);
        }
    }

    std::string* out_ = nullptr;
    std::string_view in_;
    bool failed_ = false;
};

std::string packed(Page page) {
    std::string out;
    std::size_t bytes = 4096;
    for (const PageBlock& each : page.blocks)
        if (each.table) bytes += each.table->bytes();
    out.reserve(bytes);
    PagePacker(out).page(page);
    return out;
}

Result<Page> unpacked(std::string_view bytes) {
    Page page;
    PagePacker packer(bytes);
    packer.page(page);
    if (packer.failed() || !packer.at_end())
        return Error{ErrorCode::unreadable, "the answer came through incompletely", {}};
    return page;
}

}  // namespace beamheap::present
