// SPDX-License-Identifier: Apache-2.0
// The main table as a graph for GraphViz: an edge a row, from its column `waiter` to its column `target`, with the
// names beside them as labels. Only tables that have both can be drawn (Presenter::needs).
#include <array>
#include <map>

#include "present/sanitise.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

// A quoted identifier or label of the DOT language: only the quote and the backslash mean something in it.
std::string quoted(std::string_view text) {
    std::string safe;
    append_text(text, safe);
    std::string out = "\"";
    for (const char c : safe) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

class Drawing {
public:
    Drawing(const View& view, const TableView& table) : view_(view), table_(table) {
        for (std::size_t c = 0; c < table.columns(); ++c) columns_.emplace(table.column(c).name, c);
    }
    std::string text(std::size_t row, const std::string& name) const {
        const auto column = columns_.find(name);
        if (column == columns_.end()) return {};
        const Value value = table_.cell(row, column->second);
        return machine_text(view_, value, table_.column(column->second).content, table_.key_of(row, column->second));
    }
    void node(Sink& sink, std::size_t row, const std::string& id, const std::string& name, const std::string& runs) {
        const std::string key = text(row, id);
        if (!known_.emplace(key, true).second) return;
        std::string label = text(row, name);
        if (label.empty()) label = text(row, runs);
        sink.write("  " + quoted(key));
        if (!label.empty()) sink.write(" [label=" + quoted(label + ' ' + key) + ']');
        sink.write(";\n");
    }

private:
    const View& view_;
    const TableView& table_;
    std::map<std::string, std::size_t, std::less<>> columns_;
    std::map<std::string, bool> known_;
};

}  // namespace

static void present_dot(const View& view, Sink& sink) {
    sink.write("digraph waits {\n  rankdir=LR;\n  node [shape=box];\n");
    if (const TableView* table = view.primary()) {
        Drawing drawing(view, *table);
        for (std::size_t row = 0; row < table->rows() && !sink.closed(); ++row) {
            drawing.node(sink, row, "waiter", "waiter_name", "waiter_runs");
            drawing.node(sink, row, "target", "target_name", "target_runs");
            const bool exact = drawing.text(row, "confidence") == "exact";
            sink.write("  " + quoted(drawing.text(row, "waiter")) + " -> " + quoted(drawing.text(row, "target")) +
                       " [label=" + quoted(drawing.text(row, "function")) + (exact ? "" : ", style=dashed") + "];\n");
        }
    }
    sink.write("}\n");
}

static constexpr std::array<std::string_view, 2> ends_of_edges{"waiter", "target"};

BH_DEFINE_FORMAT(dot){
    .name = "dot",
    .doc = "the main table as a graph for GraphViz (waits)",
    .needs = ends_of_edges,
    .needs_advice = "Format dot draws who waits for whom: beamheap waits DUMP --format dot",
    .present = &present_dot,
};

}  // namespace beamheap::present
