#include <algorithm>
#include <array>

#include "present/view.hpp"

namespace beamheap::present {
namespace {

constexpr std::array<std::string_view, 2> ends_of_edges{"waiter", "target"};

constexpr std::array<Presenter, 7> list{{
    {"table", "text for people: aligned tables, human units", true, &present_text},
    {"json", "one object, schema beamheap/1", false, &present_json},
    {"ndjson", "the main table, one JSON object a line", false, &present_ndjson},
    {"csv", "the main table as comma-separated values", false, &present_csv},
    {"tsv", "the main table as tab-separated values", false, &present_tsv},
    {"md", "Markdown, to paste into an issue", true, &present_markdown},
    {"dot", "the main table as a graph for GraphViz (waits)", false, &present_dot, ends_of_edges},
}};

}  // namespace

std::span<const Presenter> presenters() { return list; }

const Presenter* find_presenter(std::string_view name) {
    const auto found = std::ranges::find(list, name, &Presenter::name);
    return found == list.end() ? nullptr : found;
}

}  // namespace beamheap::present
