// SPDX-License-Identifier: Apache-2.0
#include "erlang/modules.hpp"

#include <algorithm>

namespace beamheap::erlang {
namespace {

constexpr std::uint8_t operator|(ModuleRole a, ModuleRole b) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr std::uint8_t operator|(std::uint8_t a, ModuleRole b) {
    return static_cast<std::uint8_t>(a | static_cast<unsigned>(b));
}

using enum ModuleRole;
constexpr ModuleRow rows[] = {
#define BH_MODULE(name, roles) {name, static_cast<std::uint8_t>(roles)},
#include "erlang/modules.inc"
#undef BH_MODULE
};
static_assert(std::ranges::is_sorted(rows, {}, &ModuleRow::name));

}  // namespace

std::span<const ModuleRow> known_modules() { return rows; }

bool has_role(std::string_view module, ModuleRole role) {
    const auto found = std::ranges::lower_bound(rows, module, {}, &ModuleRow::name);
    return found != std::end(rows) && found->name == module && found->has(role);
}

bool is_library(std::string_view module) {
    return has_role(module, library) || module == "elixir" || module.starts_with("elixir_") ||
           module.starts_with("Elixir.Config") || module.starts_with("Elixir.Mix.");
}

}  // namespace beamheap::erlang
