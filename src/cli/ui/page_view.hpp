// SPDX-License-Identifier: Apache-2.0
// A page as it is looked at: a list of lines with a cursor, in an order and through a filter of the reader's own.
//
// All parts of an answer stand below each other: sentences, lines, tables with their heads. The cursor stops at what
// can be chosen: a row, a line, or a first sentence that names a process. Of a long table some rows are held; who goes
// beyond them, or wants them otherwise, has others wished for (present::PageWish), and sees these until they come.
// Tables share the width that there is as the verbs' do (present/text_layout.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ui/canvas.hpp"
#include "cli/ui/table_file.hpp"
#include "present/page.hpp"

namespace beamheap::cli::ui {

/// What the cursor is on: a line of the page, or a row of one of its tables.
struct Selected {
    const present::PageLine* line = nullptr;
    const present::PageTable* table = nullptr;
    std::size_t row = 0;
};

class PageView {
public:
    /// Takes a page. One that was there before leaves the cursor on the row of the same name, the order and the filter
    /// as they were, and figures that have grown since are marked.
    void take(present::Page page);
    bool has_page() const { return page_.has_value(); }
    const present::Page& page() const { return *page_; }

    /// Moves the cursor over what can be chosen, as far as there is something.
    void move(std::ptrdiff_t lines);
    void to_start();
    void to_end();
    /// Where the cursor is in a table that is longer than the screen, "1,203 of 40,524", or will be when its rows have
    /// come; empty: it is in none.
    std::string position() const;
    /// Nothing where the page has nothing to choose.
    Selected selected() const;
    /// Puts the cursor on the line that is drawn `y` lines below the top of the area of the last paint(); false: there
    /// is nothing to choose.
    bool choose(std::size_t y);

    /// The column that `sort` orders by is marked; of the table that the cursor is in.
    void mark_column(std::ptrdiff_t columns);
    /// Orders the table by the marked column: first by what is largest (of texts, first), then the other way round.
    void sort();
    /// Shows only rows and lines that have this text, whatever the case; empty: all.
    void filter(std::string text);
    const std::string& filter() const { return filter_; }
    /// Whether a row or a line has its text.
    bool filter_finds() const;
    /// Whether the cursor is in a table.
    bool in_table() const;
    /// Rows of that table, as they are shown, as a file has them. Of a table whose rows are not all held here, its
    /// block instead: who has them all is to be asked.
    std::string file(FileForm form) const;
    std::optional<std::uint32_t> asked_for_file() const;

    /// What is to be held of its tables, from now on; noted as asked for. `rows`: of each table.
    present::PageWish wish(std::uint64_t rows);
    /// The same where what is held or was asked for last will not do: rows are near that are not held, or the order or
    /// the filter has changed.
    std::optional<present::PageWish> wants(std::uint64_t rows);

    /// Draws the page; `focused` when keys go to it.
    void paint(Canvas& canvas, Area area, bool focused);

private:
    struct Line {
        enum class Kind : std::uint8_t { blank, lead, warning, heading, text, columns, row, term, below, note } kind;
        std::uint32_t block = 0;
        std::uint32_t item = 0;  // line of the block, or row of its table
        std::uint32_t part =
            0;  // of what stands below a row, its number or column; of a text, the line it is wrapped into
        std::string text = {};
    };
    struct Order {
        std::size_t column;
        bool descending;
    };
    struct Layout {
        std::vector<present::TextColumn> columns;
        std::vector<present::ColumnCut> cuts;  // by column
        std::size_t for_width = 0;
    };
    // A row that is not held yet, and is under the cursor once it is.
    struct Goal {
        std::uint32_t block;
        std::uint64_t row;  // its place in the table
        bool onward;        // the way to it goes on with each key
    };

    void arrange();
    void arrange(std::uint32_t number, const present::PageBlock& block);
    void wrap(Line::Kind kind, std::string_view text, std::uint32_t block, std::uint32_t item);
    bool passes(std::string_view text) const;
    bool passes(const present::PageTable& table, std::size_t row) const;
    bool choosable(const Line& line) const;
    const Layout& layout(std::uint32_t block, std::size_t width);
    void stay_at(const Selected& was);
    bool reach_goal();
    bool passes_beyond(std::size_t from, std::size_t to, std::ptrdiff_t left);
    std::uint64_t row_at_cursor(std::uint32_t block) const;
    const present::PageTable* part(std::uint32_t block) const;
    std::optional<std::uint32_t> first_part() const;
    bool ordered_elsewhere(const present::PageTable& table, const Order& order) const;
    present::PageWish::Part wished(std::uint32_t block, std::uint64_t rows) const;
    const present::PageTable* table_at_cursor(std::uint32_t& block) const;
    static std::string key_of(const present::PageTable& table, std::size_t row);
    void remember();
    struct Cell {
        std::size_t column;
        std::size_t x;
        std::size_t end;  // of the area
        present::TextColumn shape;
    };
    std::vector<Cell> cells(std::uint32_t block, Area area);
    static void put(Canvas& canvas, std::size_t y, const Cell& cell, std::string_view text, Style style);
    void paint_columns(Canvas& canvas, Area area, std::size_t y, const Line& line);
    void paint_row(Canvas& canvas, Area area, std::size_t y, const Line& line, Style style);

    std::optional<present::Page> page_;
    present::PageWish asked_;  // for what is held, or is to come
    std::string held_filter_;  // of the rows of tables that are not whole
    std::optional<Goal> goal_;
    std::vector<Line> lines_;
    std::size_t cursor_ = 0;
    std::size_t top_ = 0;
    Area area_{0, 0, 80, 20};
    std::string filter_;
    std::map<std::uint32_t, Order> orders_;
    std::map<std::uint32_t, std::size_t> marked_;
    std::map<std::uint32_t, Layout> layouts_;
    using Figures = std::vector<double>;     // of a row, by column; NaN where a cell is no figure
    std::map<std::string, Figures> before_;  // figures of the page before, by block and row
};

}  // namespace beamheap::cli::ui
