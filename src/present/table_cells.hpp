// SPDX-License-Identifier: Apache-2.0
// Short forms for the cells of tables_*.cpp. Internal to present.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "analyses/base/sum.hpp"
#include "analyses/processes/inventory.hpp"
#include "beamheap/snapshot.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present::cells {

/// null where there is none.
inline Value text(std::string_view text) { return text.empty() ? Value() : Value(text); }
inline Value text(std::string text) { return text.empty() ? Value() : Value(std::move(text)); }
/// A text of the input as it is.
inline Value raw(const Names& names, TextId id) {
    return id == TextId::none ? Value() : Value(names.snapshot().text(id));
}
/// A term that the input has printed.
inline Value printed(const Names& names, TextId id) {
    return id == TextId::none ? Value() : Value(printed_text(names.snapshot().text(id), names.syntax()));
}
/// An atom without quotes.
inline Value bare(const Names& names, TextId id) { return id == TextId::none ? Value() : Value(names.bare(id)); }
/// What people call a process that stands in the snapshot: its name, its label, what it was started as.
Value called(const Names& names, ProcId id);
inline Value pid(const Names& names, Pid pid) { return text(names.pid(pid)); }
inline Value function(const Names& names, FunctionId id) { return text(names.function(id)); }
inline constexpr std::string_view line_certainty_doc =
    "exact: the VM says it; found: in the module that ran, the only place; one_of: one of several";
/// Where a frame is: its source file, its line where that is one, how sure that is, and all of it in words
/// ("cart.erl:88 or 93").
inline Value frame_file(const Names& names, const Frame& frame) {
    return text(frame.file != TextId::none ? names.snapshot().text(frame.file) : names.snapshot().line_of(frame).file);
}
inline Value frame_line(const Names& names, const Frame& frame) {
    const std::uint32_t line = names.snapshot().line_of(frame).line();
    return line == 0 ? Value() : Value(line);
}
inline Value line_certainty(const Names& names, const Frame& frame) {
    return text(name_of(names.snapshot().line_of(frame).certainty));
}
inline Value frame_place(const Names& names, const Frame& frame) { return text(names.place(frame)); }
inline Value sum(const analyses::Sum& sum) { return sum.value(); }
inline Value flag(const std::optional<bool>& flag) { return flag ? Value(*flag) : Value(); }
/// Percent, two decimals; of less than a hundredth six: a little is not nothing.
inline Value percent(double value) {
    const double parts = std::abs(value) < 0.01 ? 1'000'000 : 100;
    return std::trunc(value * parts + 0.5) / parts;
}
inline Value percent(const std::optional<double>& value) { return value ? percent(*value) : Value(); }
/// A share of 0 to 1 as percent.
inline Value share(const std::optional<double>& value) { return value ? percent(*value * 100) : Value(); }

}  // namespace beamheap::present::cells
