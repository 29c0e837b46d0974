// SPDX-License-Identifier: Apache-2.0
// Modules of kernel and stdlib, which every node has: a module of such a name that comes from elsewhere is loaded in
// the place of OTP's.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace beamheap::erlang {

inline constexpr auto core_modules = std::to_array<std::string_view>({
#include "erlang/core_modules.inc"
});
static_assert(std::ranges::is_sorted(core_modules));

/// Whether kernel or stdlib has a module of this name, in all of the releases 23 to 29.
constexpr bool is_core_module(std::string_view name) { return std::ranges::binary_search(core_modules, name); }

}  // namespace beamheap::erlang
