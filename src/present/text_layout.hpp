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

/// What the further lines of a sentence are indented by, which stand below the text of the first: behind its blanks,
/// its arrow or its dash.
std::size_t hang_of(std::string_view text);

}  // namespace beamheap::present
