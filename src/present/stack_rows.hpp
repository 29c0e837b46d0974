// SPDX-License-Identifier: Apache-2.0
// A table of stacks as programs for flame graphs want it: what formats folded, speedscope and pprof share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "present/render.hpp"
#include "present/view.hpp"

namespace beamheap::present {

/// What such a table can't do without (Presenter::needs).
inline constexpr std::string_view column_of_stacks[] = {"functions"};
inline constexpr std::string_view where_stacks_are =
    "Stacks are in: beamheap stacks DUMP --format folded (or svg, speedscope, pprof)";
/// Or with which it does as well: a row is about a function then, as a stack of one frame.
inline constexpr std::string_view columns_of_a_function[] = {"module", "function", "arity"};

/// Whether a format of this name draws stacks.
inline bool is_of_stacks(std::string_view format) {
    const Presenter* const presenter = find_presenter(format);
    return presenter != nullptr && std::ranges::equal(presenter->needs, column_of_stacks);
}

/// The main table, a stack a row, and its columns that can be the weight of one: counts, bytes, words.
class StackRows {
public:
    StackRows(const View& view, const TableView& table) : view_(view), table_(table) {
        for (std::size_t c = 0; c < table.columns(); ++c) {
            const Column& column = table.column(c);
            if (column.name == column_of_stacks[0]) functions_ = c;
            else if (column.name == "native_function") native_ = c;
            else if (const auto part = std::ranges::find(columns_of_a_function, column.name);
                     part != std::end(columns_of_a_function))
                function_[static_cast<std::size_t>(part - std::begin(columns_of_a_function))] = c;
            else if (adds_up(column)) weights_.push_back(c);
            else if (column.unit != Unit::percent && column.name.find("_per_") == std::string::npos)
                labels_.push_back(c);
        }
    }

    std::size_t size() const { return table_.rows(); }
    const std::vector<std::size_t>& weights() const { return weights_; }
    const Column& column(std::size_t c) const { return table_.column(c); }
    /// The column that the rows are sorted by, where it is a weight; else the first one.
    std::optional<std::size_t> wanted_weight() const {
        for (const std::size_t c : weights_)
            if (column(c).name == view_.options().sort) return c;
        return weights_.empty() ? std::nullopt : std::optional(weights_.front());
    }
    /// 0 where the input does not tell.
    std::uint64_t weight(std::size_t row, std::size_t c) const {
        const Value value = table_.cell(row, c);
        if (const auto* number = std::get_if<std::uint64_t>(&value.data())) return *number;
        const auto* number = std::get_if<std::int64_t>(&value.data());
        return number != nullptr && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
    }
    /// What else the row says, in columns of one value: who it is about.
    std::vector<std::size_t> labels(std::size_t row) const {
        std::vector<std::size_t> said;
        for (const std::size_t c : labels_) {
            const Value value = table_.cell(row, c);
            if (!value.is_null() && !std::holds_alternative<std::shared_ptr<const Array>>(value.data()))
                said.push_back(c);
        }
        return said;
    }
    /// Its frames, oldest first, redacted; the native function that ran, where one did, is the youngest.
    std::vector<std::string> frames(std::size_t row) const {
        std::vector<std::string> names;
        const Value value = functions_ ? table_.cell(row, *functions_) : Value();
        if (const auto* array = std::get_if<std::shared_ptr<const Array>>(&value.data()))
            for (const Value& each : **array)
                names.push_back(machine_text(view_, each, table_.column(*functions_).content));
        std::ranges::reverse(names);
        if (!functions_) names.push_back(function(row));
        if (native_)
            if (std::string name = machine_text(view_, table_.cell(row, *native_), table_.column(*native_).content);
                !name.empty())
                names.push_back(std::move(name));
        if (names.empty()) names.emplace_back("(no stack in the input)");
        return names;
    }

private:
    static bool adds_up(const Column& column) {
        const bool number = column.unit == Unit::count || column.unit == Unit::bytes || column.unit == Unit::words;
        return number && column.name.find("_per_") == std::string::npos;
    }
    // m:f/a, or what stands in the place of a module ("(messages)").
    std::string function(std::size_t row) const {
        std::array<std::string, std::size(columns_of_a_function)> parts;
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (function_[i])
                parts[i] = machine_text(view_, table_.cell(row, *function_[i]), table_.column(*function_[i]).content);
        return parts[1].empty() ? parts[0] : parts[0] + ':' + parts[1] + '/' + parts[2];
    }

    const View& view_;
    const TableView& table_;
    std::optional<std::size_t> functions_, native_;
    std::array<std::optional<std::size_t>, std::size(columns_of_a_function)> function_;
    std::vector<std::size_t> weights_, labels_;
};

}  // namespace beamheap::present
