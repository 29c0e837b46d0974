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
#include "present/page_order.hpp"
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
    if (columns[column].number)
        order_by_figures(order, descending, [&](std::uint32_t row) { return number(row, column).value_or(no_figure); });
    else order_by_texts(order, descending, [&](std::uint32_t row) { return text(row, column); });
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
    column.shape.whole = column.shape.least = column.shape.best = column.shape.width;
    PageTable whole;
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t c = 0; c < before; ++c) whole.add(text(row, c), numbers_[row * before + c]);
        whole.add(cells[row], figures[row]);
    }
    texts_ = std::move(whole.texts_);
    ends_ = std::move(whole.ends_);
    numbers_ = std::move(whole.numbers_);
    column.added = true;
    columns.push_back(std::move(column));
}

bool PageTable::operator==(const PageTable& other) const {
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    const auto members = [](const PageTable& t) {
        return std::tie(t.key, t.title, t.empty, t.columns, t.rows, t.from, t.passing, t.available, t.total, t.texts_,
                        t.ends_, t.below_);
    };
    return members(*this) == members(other) && std::ranges::equal(numbers_, other.numbers_, same);
}

bool PageTable::row_has(std::size_t row, std::string_view part) const {
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (has_text(text(row, c), part)) return true;
    return std::ranges::any_of(below(row), [&](std::string_view line) { return has_text(line, part); });
}

PageTable PageTable::row_alone(std::size_t row) const {
    PageTable one;
    one.key = key, one.title = title, one.empty = empty, one.columns = columns;
    one.rows = one.passing = one.available = one.total = 1;
    for (std::size_t c = 0; c < columns.size(); ++c) one.add(text(row, c), number(row, c).value_or(no_figure));
    for (const std::string_view line : below(row)) one.add_below(line);
    return one;
}

PageWish::Part PageWish::part(std::uint32_t block) const {
    const auto found = std::ranges::find(parts, block, &Part::block);
    return found == parts.end() ? Part{.block = block} : *found;
}

bool has_text(std::string_view text, std::string_view part) {
    const auto alike = [](char a, char b) { return to_lower(a) == to_lower(b); };
    return std::search(text.begin(), text.end(), part.begin(), part.end(), alike) != text.end();
}

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

    void wish(PageWish& w) {
        plain(w.rows);
        text(w.filter);
        list(w.parts, [this](PageWish::Part& each) {
            plain(each.block);
            text(each.column);
            plain(each.descending);
            plain(each.from);
        });
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
        for (std::size_t* const each : {&t.rows, &t.from, &t.passing, &t.available, &t.total}) plain(*each);
        text(t.texts_);
        plains(t.ends_);
        plains(t.numbers_);
        list(t.below_, [this](PageTable::Below& each) {
            plain(each.row);
            text(each.text);
        });
        if (out_ != nullptr || failed_) return;
        const bool fits = t.columns.empty() ? t.ends_.empty() : t.ends_.size() / t.columns.size() == t.rows;
        const bool counted = t.from <= t.passing && t.rows <= t.passing - t.from && t.passing <= t.available;
        if (!fits || !counted || t.ends_.size() != t.numbers_.size() || !std::ranges::is_sorted(t.ends_) ||
            (!t.ends_.empty() && t.ends_.back() != t.texts_.size()))
            failed_ = true;
    }
    void shape(TextColumn& s) {
        plain(s.width);
        plain(s.whole);
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

std::string packed(PageWish wish) {
    std::string out;
    PagePacker(out).wish(wish);
    return out;
}

Result<PageWish> unpacked_wish(std::string_view bytes) {
    PageWish wish;
    PagePacker packer(bytes);
    packer.wish(wish);
    if (packer.failed() || !packer.at_end())
        return Error{ErrorCode::unreadable, "the question came through incompletely", {}};
    return wish;
}

}  // namespace beamheap::present
