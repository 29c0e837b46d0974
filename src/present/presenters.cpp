// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "present/view.hpp"

namespace beamheap::present {

#define BH_FORMAT(format) extern const Presenter format_##format;
#include "present/formats.inc"
#undef BH_FORMAT

namespace {

constexpr std::array all_formats{
#define BH_FORMAT(format) &format_##format,
#include "present/formats.inc"
#undef BH_FORMAT
};

}  // namespace

std::span<const Presenter* const> presenters() { return all_formats; }

const Presenter* find_presenter(std::string_view name) {
    const auto found = std::ranges::find(all_formats, name, [](const Presenter* each) { return each->name; });
    return found == all_formats.end() ? nullptr : *found;
}

}  // namespace beamheap::present
