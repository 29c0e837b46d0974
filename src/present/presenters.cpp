#include <algorithm>
#include <array>

#include "present/view.hpp"

namespace beamheap::present {
namespace {

constexpr std::array<Presenter, 6> list{{
    {"table", "text for people: aligned tables, human units", true, &present_text},
    {"json", "one object, schema beamheap/1", false, &present_json},
    {"ndjson", "the main table, one JSON object a line", false, &present_ndjson},
    {"csv", "the main table as comma-separated values", false, &present_csv},
    {"tsv", "the main table as tab-separated values", false, &present_tsv},
    {"md", "Markdown, to paste into an issue", true, &present_markdown},
}};

}  // namespace

std::span<const Presenter> presenters() { return list; }

const Presenter* find_presenter(std::string_view name) {
    const auto found = std::ranges::find(list, name, &Presenter::name);
    return found == list.end() ? nullptr : found;
}

}  // namespace beamheap::present
