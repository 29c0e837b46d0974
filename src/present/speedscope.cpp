// SPDX-License-Identifier: Apache-2.0
// The file format of speedscope (its file-format-spec): one profile for each weight, of samples that share a list of
// frames.
#include <algorithm>
#include <map>

#include "present/json_writer.hpp"
#include "present/stack_rows.hpp"

namespace beamheap::present {
namespace {

std::string_view name_of_unit(Unit unit) { return unit == Unit::bytes ? "bytes" : "none"; }

}  // namespace

static void present_speedscope(const View& view, Sink& sink) {
    const TableView* table = view.primary();
    if (table == nullptr) return;
    const StackRows rows(view, *table);
    std::map<std::string, std::uint64_t, std::less<>> numbers;
    std::vector<std::string> names;
    std::vector<std::vector<std::uint64_t>> stacks(rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (std::string& frame : rows.frames(row)) {
            const auto [at, is_new] = numbers.emplace(frame, names.size());
            if (is_new) names.push_back(std::move(frame));
            stacks[row].push_back(at->second);
        }
    std::vector<std::size_t> weights = rows.weights();
    if (const auto wanted = rows.wanted_weight())  // what is looked at first
        std::stable_partition(weights.begin(), weights.end(), [&](std::size_t c) { return c == *wanted; });

    JsonWriter json(sink);
    const auto text = [&](std::string_view key, std::string_view value) {
        json.key(key);
        json.text(value);
    };
    json.begin_object();
    text("$schema", "https://www.speedscope.app/file-format-schema.json");
    text("exporter", "beamheap");
    json.key("shared");
    json.begin_object();
    json.key("frames");
    json.begin_array();
    for (const std::string& name : names) {
        json.line();
        json.begin_object();
        text("name", name);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    json.key("profiles");
    json.begin_array();
    for (const std::size_t weight : weights) {
        std::uint64_t all = 0;
        json.line();
        json.begin_object();
        text("type", "sampled");
        text("name", rows.column(weight).name);
        text("unit", name_of_unit(rows.column(weight).unit));
        json.key("startValue");
        json.number(std::uint64_t{0});
        json.key("samples");
        json.begin_array();
        for (std::size_t row = 0; row < rows.size(); ++row) {
            if (rows.weight(row, weight) == 0) continue;
            json.line();
            json.begin_array();
            for (const std::uint64_t frame : stacks[row]) json.number(frame);
            json.end_array();
        }
        json.end_array();
        json.key("weights");
        json.begin_array();
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const std::uint64_t value = rows.weight(row, weight);
            all += value;
            if (value != 0) json.number(value);
        }
        json.end_array();
        json.key("endValue");
        json.number(all);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    sink.write("\n");
}

BH_DEFINE_FORMAT(speedscope){
    .name = "speedscope",
    .doc = "stacks for speedscope, a profile for each of their sums (stacks, profile)",
    .needs = column_of_stacks,
    .or_needs = columns_of_a_function,
    .needs_advice = where_stacks_are,
    .present = &present_speedscope,
};

}  // namespace beamheap::present
