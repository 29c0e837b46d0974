// SPDX-License-Identifier: Apache-2.0
// The order that rows have on a page, whoever holds them: figures by value, texts naturally, rows that are alike as
// they came, and missing ones last, whichever way the others go.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "present/view.hpp"

namespace beamheap::present {

/// Where a cell is no figure.
inline constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();

/// `figure` gives that of a row, or no_figure.
template <class Figure>
void order_by_figures(std::vector<std::uint32_t>& rows, bool descending, Figure figure) {
    std::ranges::stable_sort(rows, [&](std::uint32_t a, std::uint32_t b) {
        const double x = figure(a);
        const double y = figure(b);
        if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
        return descending ? x > y : x < y;
    });
}

/// `text` gives that of a row; nothing, or "-", is a missing one.
template <class Text>
void order_by_texts(std::vector<std::uint32_t>& rows, bool descending, Text text) {
    const auto missing = [](std::string_view text) { return text.empty() || text == "-"; };
    std::ranges::stable_sort(rows, [&](std::uint32_t a, std::uint32_t b) {
        const std::string_view x = text(a);
        const std::string_view y = text(b);
        if (missing(x) || missing(y)) return !missing(x) && missing(y);
        const std::strong_ordering between = natural_order(x, y);
        return descending ? between > 0 : between < 0;
    });
}

}  // namespace beamheap::present
