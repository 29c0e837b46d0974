// SPDX-License-Identifier: Apache-2.0
// What is on the screen: a grid of characters with styles, which knows nothing of any terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace beamheap::cli::ui {

enum class Style : std::uint8_t {
    plain,
    bold,      ///< what answers: first sentences
    dim,       ///< what is merely said: hints, what is left out
    bar,       ///< the line at the top and the line of keys
    heading,   ///< of a part, of columns
    chosen,    ///< the line under the cursor, where keys go
    resting,   ///< the line under the cursor of the other side
    critical,  ///< a finding's severity
    high,
    medium,
    grown,  ///< a figure that has grown since the last reading
};

/// A part of the screen, in characters from its top left corner.
struct Area {
    std::size_t x = 0;
    std::size_t y = 0;
    std::size_t width = 0;
    std::size_t height = 0;
};

class Canvas {
public:
    Canvas(std::size_t width, std::size_t height);
    std::size_t width() const { return width_; }
    std::size_t height() const { return height_; }
    Area all() const { return {0, 0, width_, height_}; }

    /// Writes a sanitised text from (x, y) on, at most `width` columns of it; what is outside is not written. Returns
    /// the columns that were taken.
    std::size_t put(std::size_t x, std::size_t y, std::string_view safe, Style style, std::size_t width);
    /// Gives a style to what stands in part of a line.
    void paint(std::size_t x, std::size_t y, std::size_t width, Style style);

    /// Characters of one style that stand beside each other.
    struct Run {
        std::size_t x;
        std::string text;
        Style style;
    };
    std::vector<Run> line(std::size_t y) const;
    /// A line without styles and without blanks at its end, for tests.
    std::string text(std::size_t y) const;

private:
    struct Cell {
        std::string text = " ";  // a character and what combines with it; empty: the right half of a wide one
        Style style = Style::plain;
    };
    std::size_t width_;
    std::size_t height_;
    std::vector<Cell> cells_;
};

}  // namespace beamheap::cli::ui
