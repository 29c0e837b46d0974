// SPDX-License-Identifier: Apache-2.0
// How the columns of a text table share the width of a terminal.
//
// In this order, until a row fits: what is the point of the table (a term) gets lines of its own below the row; columns
// of which others tell more are left out as long as the rest would not fit if cut to its best widths; then cells are
// cut to these, the widest first, and last to their least. Figures, pids, addresses and states are never cut, names in
// the middle, where the end tells (functions, paths, who has a pid), terms at their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "present/document.hpp"

namespace beamheap::present {

/// What a cell loses where it is wider than its column.
enum class Cut : std::uint8_t { nothing, middle, end };

/// Where a column is shown.
enum class Spot : std::uint8_t {
    in_row,
    breaks,    ///< begins another line: there is no other way
    lines,     ///< on lines of its own below the row
    entries,   ///< an array, its entries on lines of their own below the row: always
    left_out,  ///< not at all
};

/// A column of a text table. `width` is what its cells and its title need; of those in a row, then what it gets.
struct TextColumn {
    std::size_t width = 0;
    std::size_t whole = 0;    ///< what its cells and its title need, whatever it gets
    std::size_t least = 0;    ///< cells are cut to it where there is nothing more to leave out
    std::size_t best = 0;     ///< not below least: cells are cut to it before lesser columns are left out
    std::uint8_t lesser = 0;  ///< where rows are wider than a terminal, larger ones are left out first; 0: never
    bool right = false;       ///< figures
    bool tells = true;        ///< a row has something in it
    bool below = false;       ///< has lines of its own where rows are too wide
    Cut cut = Cut::nothing;
    Spot spot = Spot::in_row;
    bool operator==(const TextColumn&) const = default;
};

/// A column with the widths that it can do with, told by what it holds and what its row says of itself. `width` is the
/// widest of its cells.
TextColumn text_column(const Column& column, std::size_t width, bool tells);

/// Shares `width` among the columns.
void lay_out(std::vector<TextColumn>& columns, std::size_t width);

/// Blanks between two columns, and what the second line of a row is indented by.
inline constexpr std::size_t column_gap = 2, second_line = 2;

/// A sanitised text in `width` columns, with an ellipsis for what was cut, never within a pid or figure: at its end, or
/// in its middle, where its end stays: the function of m:f/a, the last part of a path, a pid that follows a name. Its
/// leading blanks stay.
std::string cut_text(std::string_view safe, std::size_t width, Cut cut);

/// The cells of one column, which keep apart what differs: "reader of <<"10.0.0.7:41002 -> ...">>" and 200 more of the
/// kind would all be cut to the same text, and are cut around the part in which they differ instead.
class ColumnCut {
public:
    explicit ColumnCut(const TextColumn& column) : width_(column.width), cut_(column.cut) {}
    /// A cell of the column, sanitised; all are added before the first is cut. O(length).
    void add(std::string_view safe);
    std::string operator()(std::string_view safe) const;

private:
    // Those that are cut to one text: what all of them begin and end with, in bytes.
    struct Alike {
        std::string first;
        std::size_t start = 0, end = 0;
    };
    std::size_t width_;
    Cut cut_;
    std::unordered_map<std::string, Alike> alike_;  // by the text that they are cut to
};

/// What the further lines of a sentence are indented by, which stand below the text of the first: behind its blanks,
/// its arrow or its dash.
std::size_t hang_of(std::string_view text);

}  // namespace beamheap::present
