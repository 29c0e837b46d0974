// SPDX-License-Identifier: Apache-2.0
#include "erlang/functions.hpp"

#include <algorithm>
#include <array>

#include "erlang/name_pattern.hpp"

namespace beamheap::erlang {
namespace {

struct FunctionRow {
    FunctionRole role;
    NamePattern module, function;
};
constexpr FunctionRow function_rows[] = {
#define BH_FUNCTION(role, module, function) {FunctionRole::role, module, function},
#include "erlang/functions.inc"
#undef BH_FUNCTION
};
static_assert(std::ranges::is_sorted(function_rows, {}, &FunctionRow::role));

constexpr std::size_t function_roles = static_cast<std::size_t>(FunctionRole::count);

// Where the rows of each role begin; those of the next one follow.
constexpr auto first_rows = [] {
    std::array<std::uint8_t, function_roles + 1> first{};
    for (const FunctionRow& row : function_rows) ++first[static_cast<std::size_t>(row.role) + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] = static_cast<std::uint8_t>(first[i] + first[i - 1]);
    return first;
}();
static_assert(std::size(function_rows) < 256);

}  // namespace

bool has_role(std::string_view module, std::string_view function, FunctionRole role) {
    const std::size_t at = static_cast<std::size_t>(role);
    const FunctionRow* const end = function_rows + first_rows[at + 1];
    for (const FunctionRow* row = function_rows + first_rows[at]; row != end; ++row)
        if (row->module.fits(module) && row->function.fits(function)) return true;
    return false;
}

void RoleHolders::look_up(const Snapshot& s) {
    for (std::size_t i = known_.size(); i < s.functions.size(); ++i)
        known_.push_back(has_role(s, FunctionId{static_cast<std::uint32_t>(i)}, role_) ? 1 : 0);
}

}  // namespace beamheap::erlang
