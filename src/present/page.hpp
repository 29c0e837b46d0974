// SPDX-License-Identifier: Apache-2.0
// An answer as somebody takes it who browses: rows as texts for people, with numbers to sort by.
//
// A Document makes its cells when they are asked for, from an input that is loaded. Whoever browses wants them again
// and again, in other orders, and in another process than the one that found them. So a page is a copy: chosen,
// redacted and sanitised as `render` does it for a terminal, so that a figure on a page is the figure of the verb's
// answer; packed() and unpacked() take it through a pipe.
//
// Of a table of a million rows a page has those that are looked at. A wish says which: so many rows, from here on, in
// the order of this column, through this filter. Who has the document (PageSource) makes pages as they are wished for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "present/document.hpp"
#include "present/render.hpp"
#include "present/text_layout.hpp"

namespace beamheap::present {

struct PageColumn {
    std::string name;       ///< as in JSON
    std::string title;      ///< its head
    bool number = false;    ///< its cells are figures
    bool term = false;      ///< its cells are terms or messages
    bool wide = false;      ///< Column::wide: shown where all of a row is asked for
    bool added = false;     ///< behind those of the document, by append_column()
    TextColumn shape = {};  ///< what it needs, and can do with, of a terminal's width
    bool operator==(const PageColumn&) const = default;
};

/// A line to be read, and where it leads.
struct PageLine {
    std::string text;
    std::string process = {};  ///< the first process that it names, "<0.89.0>"; empty: none
    std::string command = {};  ///< a command that it offers, "beamheap msgs ..."; empty: none
    std::string name = {};     ///< of what it tells, as in JSON, where it is a member of something ("msgq_len")
    double number = 0;         ///< its figure, where `has_number`
    bool has_number = false;
    bool operator==(const PageLine&) const = default;
};

class PageTable {
public:
    std::string key;    ///< as JSON names it
    std::string title;  ///< its heading; may be empty
    std::string empty;  ///< what is said where there is no row
    std::vector<PageColumn> columns;
    std::size_t rows = 0;       ///< that are held here
    std::size_t from = 0;       ///< the place of the first of them, among `passing`
    std::size_t passing = 0;    ///< rows that the wish's filter lets through, in its order
    std::size_t available = 0;  ///< rows that can be wished for
    std::size_t total = 0;      ///< rows that there are, at least `available`

    /// Whether all rows that can be had are held: then they are so in the verb's order, and none is filtered.
    bool whole() const { return rows == available; }
    /// Of a table that is not whole: the place behind the last row that is held.
    std::size_t end() const { return from + rows; }

    std::string_view text(std::size_t row, std::size_t column) const;
    /// The figure behind a text of a column of numbers; none where it is missing, or the column holds texts.
    std::optional<double> number(std::size_t row, std::size_t column) const;
    /// Lines that belong below a row: the terms of a frame.
    std::vector<std::string_view> below(std::size_t row) const;
    /// The number of the column with this name; none: there is none.
    std::optional<std::size_t> column_of(std::string_view name) const;
    /// Whether a text stands in a row, whatever the case: in a cell, or below it.
    bool row_has(std::size_t row, std::string_view text) const;
    /// A table of this row alone.
    PageTable row_alone(std::size_t row) const;
    /// The rows that are held in the order of a column: figures by value, texts naturally (<0.9.0> before <0.10.0>),
    /// rows that are alike as they came, missing ones last.
    std::vector<std::uint32_t> sorted_by(std::size_t column, bool descending) const;

    /// Adds a cell behind the last one, row by row; `number` for columns of numbers.
    void add(std::string_view text, double number = std::numeric_limits<double>::quiet_NaN());
    /// Makes room for so many cells.
    void reserve(std::size_t cells) {
        ends_.reserve(cells);
        numbers_.reserve(cells);
    }
    /// What the cells take of memory, and of a packed page.
    std::size_t bytes() const { return texts_.size() + ends_.size() * sizeof(std::uint64_t) * 2; }
    /// Adds a line below the row that was begun last.
    void add_below(std::string_view line);
    /// Adds a column behind the last, with a text and a figure (NaN: none) for each row. It gets the width that its
    /// widest text has.
    void append_column(PageColumn column, const std::vector<std::string>& cells, const std::vector<double>& figures);
    bool operator==(const PageTable&) const;

private:
    friend class PagePacker;
    struct Below {
        std::uint32_t row;
        std::string text;
        bool operator==(const Below&) const = default;
    };
    std::string texts_;                // of all cells, one behind the other
    std::vector<std::uint64_t> ends_;  // where each ends
    std::vector<double> numbers_;      // of all cells; NaN: none
    std::vector<Below> below_;         // in the order of their rows
};

/// A part of a page: lines, or a table.
struct PageBlock {
    std::string key;    ///< as JSON names it
    std::string title;  ///< its heading; may be empty
    std::vector<PageLine> lines;
    std::optional<PageTable> table;
    bool operator==(const PageBlock&) const = default;
};

struct Page {
    std::string kind;                ///< the verb
    std::vector<PageLine> lead;      ///< the answer in sentences
    std::vector<PageLine> warnings;  ///< what is to be known of the input, what leads an answer first
    std::vector<PageBlock> blocks;
    bool operator==(const Page&) const = default;
};

/// Which rows a page is to have of its tables. A table that has no more than `rows` is whole, whatever is wished.
struct PageWish {
    struct Part {
        std::uint32_t block = 0;  ///< the number of its block
        std::string column = {};  ///< whose order its rows have, as in JSON; empty: that of the verb
        bool descending = false;
        std::uint64_t from = 0;  ///< the place of the first row
        bool operator==(const Part&) const = default;
    };
    std::uint64_t rows = std::numeric_limits<std::uint64_t>::max();  ///< of each table, at most
    std::string filter = {};                                         ///< rows have this text; empty: all
    std::vector<Part> parts = {};  ///< tables that are not shown from their first row in the verb's order
    bool operator==(const PageWish&) const = default;

    /// The part of a block; that of one that is shown as it came.
    Part part(std::uint32_t block) const;
};

/// The pages of one document, which must outlive it, as the options must.
class PageSource {
public:
    /// Errors: render()'s.
    static Result<PageSource> make(const Document& document, const RenderOptions& options);
    PageSource(PageSource&&) noexcept;
    PageSource& operator=(PageSource&&) = delete;
    ~PageSource();

    /// The page of a wish. `stop` is asked now and then where that takes time; once it says yes there is no page.
    std::optional<Page> page(const PageWish& wish, const std::function<bool()>& stop = {});

private:
    class Impl;
    explicit PageSource(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// The page of a document, with all rows. Errors: render()'s.
Result<Page> page_of(const Document& document, const RenderOptions& options);

/// Whether a text stands in another, whatever the case; an empty one does in each.
bool has_text(std::string_view text, std::string_view part);

/// The first process that a text names, "<0.89.0>"; empty: none.
std::string first_pid(std::string_view text);

/// A page as bytes, and back. Errors (unreadable): the bytes are no page.
std::string packed(Page page);
Result<Page> unpacked(std::string_view bytes);
/// The same of a wish.
std::string packed(PageWish wish);
Result<PageWish> unpacked_wish(std::string_view bytes);

}  // namespace beamheap::present
