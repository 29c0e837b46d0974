// SPDX-License-Identifier: Apache-2.0
// Pages made of a document, as they are wished for.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "present/page.hpp"
#include "present/page_order.hpp"
#include "present/sanitise.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

constexpr std::size_t rows_measured = 20'000;  // of a page's table, for the widths of its columns
constexpr std::size_t rows_between = 256;      // two looks at whether it is still wanted

// The number that a cell is sorted by.
double sorting_number(const Value& value) {
    if (const auto* n = std::get_if<std::int64_t>(&value.data())) return static_cast<double>(*n);
    if (const auto* n = std::get_if<std::uint64_t>(&value.data())) return static_cast<double>(*n);
    if (const auto* n = std::get_if<double>(&value.data())) return *n;
    return std::numeric_limits<double>::quiet_NaN();
}

// Who browses is at a terminal, but has all rows and, of one that he looks at closer, all columns.
constexpr Presenter page_presenter{.name = "page", .doc = {}};

RenderOptions with_all_rows(RenderOptions options) {
    if (!options.top) options.top = 0;
    return options;
}

}  // namespace

// Turns what a View shows people into the parts of a page.
class PageSource::Impl {
public:
    // What the view refers to stays where it is.
    static Result<std::unique_ptr<Impl>> make(const Document& document, const RenderOptions& options) {
        std::unique_ptr<Impl> made(new Impl(options));
        BH_TRY(View view, View::make(document, made->options_, page_presenter));
        made->view_.emplace(std::move(view));
        return made;
    }

    std::optional<Page> page(const PageWish& wish, const std::function<bool()>& stop) {
        wish_ = &wish;
        stop_ = &stop;
        stopped_ = false;
        Page made = make();
        if (stopped_) return std::nullopt;
        return made;
    }

private:
    // What a column's cells need of a line.
    struct Measured {
        std::size_t width = 0;
        bool tells = false;
    };

    // Rows of a large table, as they were wished for last.
    struct Ordered {
        bool made = false;
        std::string filter;
        std::string column;
        bool descending = false;
        std::vector<std::uint32_t> rows;
    };

    explicit Impl(const RenderOptions& options) : options_(with_all_rows(options)) {}

    // Whether work of a row is the last for now.
    bool stops(std::size_t row) {
        if (row % rows_between == 0 && *stop_ && (*stop_)()) stopped_ = true;
        return stopped_;
    }

    Page make() {
        const Document& document = view_->document();
        Page page;
        page.kind = document.kind;
        for (const bool leads : {true, false})
            for (const Warning& warning : document.warnings)
                if (warning.leads == leads && (warning.severity != "info" || warning.unasked))
                    page.warnings.push_back(line(warning.text));
        for (const Text& sentence : document.lead) page.lead.push_back(line(sentence));
        for (const View::Item& item : view_->items())
            if (view_->for_people(item)) block(item, page.blocks);
        return page;
    }

    PageLine line(const Text& sentence) const {
        PageLine made{safe_text(view_->text(sentence))};
        for (const Text::Piece& piece : sentence.pieces) {
            Text alone;
            alone.pieces.push_back(piece);
            if (piece.command) made.command += safe_text(view_->text(alone));
            else if (made.process.empty() && piece.process != Pid{}) made.process = first_pid(view_->text(alone));
        }
        return made;
    }
    PageLine line(const Value& value, Unit unit, Content content, std::string_view key = {}) const {
        if (const auto* sentence = std::get_if<std::shared_ptr<const Text>>(&value.data())) return line(**sentence);
        PageLine made{people_text(*view_, value, unit, content, key)};
        made.process = first_pid(made.text);
        return made;
    }

    void block(const View::Item& item, std::vector<PageBlock>& blocks) {
        PageBlock made{item.member->key, safe_text(item.member->title), {}, {}};
        if (item.object() || item.adapted == View::Item::Adapted::object) {
            for (std::size_t c = 0; c < item.table.columns(); ++c)
                if (const Column& column = item.table.column(c); !column.wide)
                    pair({std::string(column.name), std::string(column.title)}, item.table.cell(0, c),
                         item.table.unit_of(0, c), column.content, item.table.key_of(0, c), made.lines);
            align(made.lines);
        } else if (item.is_table || item.adapted == View::Item::Adapted::list) {
            made.table = table(item, static_cast<std::uint32_t>(blocks.size()));
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
            text.append(text.empty() ? "" : "  ").append(people_text(*view_, each, unit_of(name), column.content, key));
        return text;
    }

    PageTable table(const View::Item& item, std::uint32_t block) {
        const TableView& shown = item.table;
        PageTable made;
        made.key = item.member->key;
        made.title = safe_text(item.member->title);
        made.empty = safe_text(shown.empty().empty() ? "nothing" : shown.empty());
        made.available = made.passing = shown.rows();
        made.total = std::max(shown.total(), shown.rows());
        std::vector<const Column*> columns;
        for (std::size_t c = 0; c < shown.columns(); ++c) {
            const Column& column = shown.column(c);
            if (column.below) continue;
            columns.push_back(&column);
            made.columns.push_back({std::string(column.name), std::string(column.title), numeric(column.unit),
                                    column.content == Content::term || column.content == Content::message,
                                    column.wide && view_->options().columns.empty()});
        }
        rows(shown, block, made);
        std::vector<Measured>& widths = measured_[block];
        widths.resize(columns.size());
        for (std::size_t c = 0; c < columns.size(); ++c) {
            for (std::size_t row = 0; row < std::min(made.rows, rows_measured); ++row) {
                const std::string_view text = made.text(row, c);
                widths[c].width = std::max(widths[c].width, display_width(text));
                widths[c].tells = widths[c].tells || text != "-";
            }
            made.columns[c].shape = text_column(*columns[c], widths[c].width, widths[c].tells);
        }
        return made;
    }

    // The rows that are wished for.
    void rows(const TableView& shown, std::uint32_t block, PageTable& made) {
        const PageWish::Part part = wish_->part(block);
        const std::vector<std::uint32_t>* order = nullptr;  // null: as they are
        if (shown.rows() > wish_->rows && (!part.column.empty() || !wish_->filter.empty())) {
            order = &ordered(shown, block, part, made);
            made.passing = order->size();
        }
        made.rows = static_cast<std::size_t>(std::min<std::uint64_t>(made.passing, wish_->rows));
        if (!made.whole())
            made.from = static_cast<std::size_t>(std::min<std::uint64_t>(part.from, made.passing - made.rows));
        made.reserve(made.rows * made.columns.size());
        for (std::size_t row = made.from; row < made.end() && !stops(row); ++row)
            fill(shown, order != nullptr ? (*order)[row] : row, made);
    }

    // The rows of a large table that the filter lets through, in the order of a column. Who goes on in it wants the
    // same ones again.
    const std::vector<std::uint32_t>& ordered(const TableView& shown, std::uint32_t block, const PageWish::Part& part,
                                              const PageTable& like) {
        Ordered& known = ordered_[block];
        if (known.made && known.filter == wish_->filter && known.column == part.column &&
            known.descending == part.descending)
            return known.rows;
        known = {false, wish_->filter, part.column, part.descending, {}};
        for (std::size_t row = 0; row < shown.rows() && !stops(row); ++row)
            if (known.filter.empty() || row_has(shown, row, known.filter))
                known.rows.push_back(static_cast<std::uint32_t>(row));
        if (const auto column = like.column_of(part.column)) order(shown, *column, known);
        known.made = !stopped_;
        return known.rows;
    }
    void order(const TableView& shown, std::size_t nth, Ordered& known) {
        std::size_t c = 0;  // of those that are no columns below a row
        for (; c < shown.columns(); ++c)
            if (!shown.column(c).below && nth-- == 0) break;
        if (numeric(shown.column(c).unit)) {
            std::vector<double> figures(shown.rows(), no_figure);
            for (const std::uint32_t row : known.rows) {
                if (stops(row)) return;
                figures[row] = sorting_number(shown.cell(row, c));
            }
            return order_by_figures(known.rows, known.descending, [&](std::uint32_t row) { return figures[row]; });
        }
        std::vector<std::string> texts(shown.rows());
        for (const std::uint32_t row : known.rows) {
            if (stops(row)) return;
            texts[row] = text_of(shown, row, c);
        }
        order_by_texts(known.rows, known.descending, [&](std::uint32_t row) { return std::string_view(texts[row]); });
    }
    bool row_has(const TableView& shown, std::size_t row, std::string_view text) const {
        for (std::size_t c = 0; c < shown.columns(); ++c) {
            if (!shown.column(c).below) {
                if (has_text(text_of(shown, row, c), text)) return true;
                continue;
            }
            bool found = false;
            entries(shown, row, c, [&](const std::string& entry) { found = found || has_text(entry, text); });
            if (found) return true;
        }
        return false;
    }

    std::string text_of(const TableView& shown, std::size_t row, std::size_t c) const {
        return text_of(shown, row, c, shown.cell(row, c));
    }
    std::string text_of(const TableView& shown, std::size_t row, std::size_t c, const Value& cell) const {
        const std::size_t depth = std::min<std::size_t>(shown.depth_of(row, c), 40);
        std::string text =
            people_text(*view_, cell, shown.unit_of(row, c), shown.column(c).content, shown.key_of(row, c));
        return depth == 0 ? text : std::string(2 * depth, ' ') + text;
    }
    template <class Take>
    void entries(const TableView& shown, std::size_t row, std::size_t c, Take take) const {
        const Value cell = shown.cell(row, c);
        if (const auto* array = std::get_if<std::shared_ptr<const Array>>(&cell.data()))
            for (const Value& each : **array) take(entry(each, shown.column(c), shown.key_of(row, c)));
    }
    void fill(const TableView& shown, std::size_t row, PageTable& made) const {
        for (std::size_t c = 0; c < shown.columns(); ++c) {
            if (shown.column(c).below) continue;
            const Value cell = shown.cell(row, c);
            made.add(text_of(shown, row, c, cell), numeric(shown.column(c).unit) ? sorting_number(cell) : no_figure);
        }
        for (std::size_t c = 0; c < shown.columns(); ++c)
            if (shown.column(c).below) entries(shown, row, c, [&](const std::string& entry) { made.add_below(entry); });
    }

    RenderOptions options_;
    std::optional<View> view_;
    const PageWish* wish_ = nullptr;
    const std::function<bool()>* stop_ = nullptr;
    bool stopped_ = false;
    std::map<std::uint32_t, Ordered> ordered_;                 // by block
    std::map<std::uint32_t, std::vector<Measured>> measured_;  // by block and column: of all rows that were given
};

PageSource::PageSource(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PageSource::PageSource(PageSource&&) noexcept = default;
PageSource::~PageSource() = default;

Result<PageSource> PageSource::make(const Document& document, const RenderOptions& options) {
    BH_TRY(std::unique_ptr<Impl> impl, Impl::make(document, options));
    return PageSource(std::move(impl));
}

std::optional<Page> PageSource::page(const PageWish& wish, const std::function<bool()>& stop) {
    return impl_->page(wish, stop);
}

Result<Page> page_of(const Document& document, const RenderOptions& options) {
    BH_TRY(PageSource source, PageSource::make(document, options));
    return std::move(*source.page({}));
}

}  // namespace beamheap::present
