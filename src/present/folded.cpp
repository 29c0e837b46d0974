// SPDX-License-Identifier: Apache-2.0
// Collapsed stacks, a line each: "oldest;...;youngest WEIGHT". What flamegraph.pl, inferno, speedscope and most others
// read.
#include <fmt/format.h>

#include "present/sanitise.hpp"
#include "present/stack_rows.hpp"

namespace beamheap::present {

static void present_folded(const View& view, Sink& sink) {
    const TableView* table = view.primary();
    if (table == nullptr) return;
    const StackRows rows(view, *table);
    const auto weight = rows.wanted_weight();
    for (std::size_t row = 0; row < rows.size() && !sink.closed(); ++row) {
        const std::uint64_t value = weight ? rows.weight(row, *weight) : 1;
        if (value == 0) continue;
        std::string line;
        for (const std::string& frame : rows.frames(row)) {
            if (!line.empty()) line += ';';
            std::string safe;
            append_text(frame, safe);
            for (const char c : safe) line += c == ';' ? ',' : c;  // it ends a frame; nothing quotes it
        }
        sink.write(fmt::format("{} {}\n", line, value));
    }
}

BH_DEFINE_FORMAT(folded){
    .name = "folded",
    .doc = "stacks for flame graphs, a line each, weighted by the column of --sort (stacks, profile)",
    .needs = column_of_stacks,
    .or_needs = columns_of_a_function,
    .needs_advice = where_stacks_are,
    .present = &present_folded,
};

}  // namespace beamheap::present
