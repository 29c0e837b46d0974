// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/canvas.hpp"

#include <algorithm>

#include "present/sanitise.hpp"

namespace beamheap::cli::ui {
namespace {

// The character that a text begins with, in bytes.
std::size_t first_character(std::string_view text) {
    char32_t code_point = 0;
    return std::max<std::size_t>(present::decode_utf8(text, code_point), 1);
}

}  // namespace

Canvas::Canvas(std::size_t width, std::size_t height) : width_(width), height_(height), cells_(width * height) {}

std::size_t Canvas::put(std::size_t x, std::size_t y, std::string_view safe, Style style, std::size_t width) {
    if (y >= height_ || x >= width_) return 0;
    const std::size_t end = x + std::min(width, width_ - x);
    std::size_t at = x;
    while (!safe.empty()) {
        const std::size_t size = first_character(safe);
        const std::string_view character = safe.substr(0, size);
        const std::size_t columns = present::display_width(character);
        if (columns == 0) {
            if (at > x) cells_[y * width_ + at - 1].text += character;
        } else {
            if (at + columns > end) break;
            cells_[y * width_ + at] = {std::string(character), style};
            for (std::size_t rest = 1; rest < columns; ++rest) cells_[y * width_ + at + rest] = {{}, style};
            at += columns;
        }
        safe.remove_prefix(size);
    }
    return at - x;
}

void Canvas::paint(std::size_t x, std::size_t y, std::size_t width, Style style) {
    if (y >= height_) return;
    for (std::size_t at = x; at < std::min(x + width, width_); ++at) cells_[y * width_ + at].style = style;
}

std::vector<Canvas::Run> Canvas::line(std::size_t y) const {
    std::vector<Run> runs;
    for (std::size_t x = 0; x < width_; ++x) {
        const Cell& cell = cells_[y * width_ + x];
        if (runs.empty() || runs.back().style != cell.style) runs.push_back({x, {}, cell.style});
        runs.back().text += cell.text;
    }
    return runs;
}

std::string Canvas::text(std::size_t y) const {
    std::string all;
    for (const Run& run : line(y)) all += run.text;
    all.resize(all.find_last_not_of(' ') + 1);
    return all;
}

}  // namespace beamheap::cli::ui
