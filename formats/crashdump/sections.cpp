// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/sections.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace beamheap::crashdump {

using enum Body;

constexpr SectionTag section_tags[] = {
#define BH_READ(tag, order, part, reader, doc) {tag, order, whole, Part::part, reader, std::nullopt, false, doc},
#define BH_READ_FREE_TEXT(tag, order, part, reader, doc) \
    {tag, order, whole, Part::part, reader, std::nullopt, true, doc},
#define BH_TERMS(tag, order, section, doc) {tag, order, term_lines, Part::terms, nullptr, section, false, doc},
#define BH_SECTION(tag, order, body, part, doc) {tag, order, Body::body, Part::part, nullptr, std::nullopt, false, doc},
#include "formats/crashdump/sections.inc"
#undef BH_READ
#undef BH_READ_FREE_TEXT
#undef BH_TERMS
#undef BH_SECTION
};

namespace {

constexpr std::span tags(section_tags);
static_assert(std::ranges::is_sorted(tags, {}, &SectionTag::tag));
static_assert(std::size(tags) <= most_tags);
// What Scanner takes for the end of a tag is none of its letters.
static_assert(std::ranges::all_of(tags, [](const SectionTag& row) {
    return std::ranges::all_of(row.tag, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}));

// A dump has several sections a process, so tags are looked up by a hash of a few of their letters.
constexpr std::size_t slot_count = 256;
constexpr std::size_t slot_of(std::string_view tag) {
    return (tag.size() * 37 + static_cast<unsigned char>(tag.front()) * 7 +
            static_cast<unsigned char>(tag.back()) * 61 + static_cast<unsigned char>(tag[tag.size() / 2]) * 13) %
           slot_count;
}
constexpr auto slots = [] {
    std::array<std::uint8_t, slot_count> table{};  // row + 1; 0 is free
    for (std::size_t row = 0; row < std::size(tags); ++row) {
        std::size_t slot = slot_of(tags[row].tag);
        while (table[slot] != 0) slot = (slot + 1) % slot_count;
        table[slot] = static_cast<std::uint8_t>(row + 1);
    }
    return table;
}();

}  // namespace

std::uint8_t last_order(Part part) {
    std::uint8_t last = 0;
    for (const SectionTag& row : tags)
        if (row.part == part) last = std::max(last, row.order);
    return last;
}

std::uint8_t order_of(TermSection section) {
    const auto row = std::ranges::find(tags, std::optional(section), &SectionTag::terms);
    return row->order;
}

const SectionTag* find_tag(std::string_view tag) {
    if (tag.empty()) return nullptr;
    for (std::size_t slot = slot_of(tag); slots[slot] != 0; slot = (slot + 1) % slot_count)
        if (tags[slots[slot] - 1].tag == tag) return &tags[slots[slot] - 1];
    return nullptr;
}

}  // namespace beamheap::crashdump
