// SPDX-License-Identifier: Apache-2.0
#include "erlang/modules.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "erlang/core_modules.hpp"

namespace beamheap::erlang {
namespace {

constexpr std::uint8_t operator|(ModuleRole a, ModuleRole b) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr std::uint8_t operator|(std::uint8_t a, ModuleRole b) {
    return static_cast<std::uint8_t>(a | static_cast<unsigned>(b));
}

using enum ModuleRole;
constexpr ModuleRow module_rows[] = {
#define BH_MODULE(name, roles) {name, static_cast<std::uint8_t>(roles)},
#include "erlang/modules.inc"
#undef BH_MODULE
};
static_assert(std::ranges::is_sorted(module_rows, {}, &ModuleRow::name));

}  // namespace

std::span<const ModuleRow> known_modules() { return module_rows; }

bool is_worker(std::string_view behaviours) {
    constexpr std::string_view of_workers[] = {"gen_server",       "gen_statem",      "gen_fsm",
                                               "gen_event",        "gen_server2",     "supervisor_bridge",
                                               "Elixir.GenServer", "Elixir.GenStage", "Elixir.GenEvent"};
    while (!behaviours.empty()) {
        const std::size_t end = behaviours.find(' ');
        if (std::ranges::find(of_workers, behaviours.substr(0, end)) != std::end(of_workers)) return true;
        behaviours = end == behaviours.npos ? std::string_view{} : behaviours.substr(end + 1);
    }
    return false;
}

bool is_called_after(std::string_view module, std::string_view application) {
    std::string camel = "Elixir.";
    bool capital = true;
    for (const char c : application) {
        if (c != '_') camel += capital && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        capital = c == '_';
    }
    return !application.empty() && (module.starts_with(application) || module.starts_with(camel));
}

bool has_role(std::string_view module, ModuleRole role) {
    const auto found = std::ranges::lower_bound(module_rows, module, {}, &ModuleRow::name);
    return found != std::end(module_rows) && found->name == module && found->has(role);
}

bool is_of_otp(std::string_view module) {
    constexpr std::array<std::string_view, 26> families{
        "application_", "auth",    "code_",    "dets",  "disk_log", "dist_",   "erl_", "erts_",   "file_io_server",
        "file_server",  "global_", "group",    "httpc", "inet",     "inets",   "init", "logger",  "mnesia",
        "net_kernel",   "prim_",   "proc_lib", "ssl",   "standard", "supervi", "tls_", "user_drv"};
    return is_core_module(module) ||
           std::ranges::find(known_modules(), module, &ModuleRow::name) != known_modules().end() ||
           std::ranges::any_of(families, [&](std::string_view family) { return module.starts_with(family); });
}

// Modules of Elixir, and what is below them by name.
constexpr std::string_view elixir_families[] = {
    "Atom",     "Bitwise",       "Calendar", "Collectable",  "Date",       "DateTime",
    "Duration", "EEx",           "ExUnit",   "Exception",    "Function",   "IEx",
    "Inspect",  "JSON",          "Kernel",   "List",         "Macro",      "MapSet",
    "Module",   "NaiveDateTime", "Node",     "OptionParser", "Enumerable", "PartitionSupervisor",
    "Port",     "Protocol",      "Range",    "Record",       "Regex",      "Registry",
    "Stream",   "String",        "StringIO", "Supervisor",   "System",     "Task",
    "Time",     "Tuple",         "Version"};

bool is_library(std::string_view module) {
    constexpr std::string_view prefix = "Elixir.";
    if (module.starts_with(prefix) && std::ranges::any_of(elixir_families, [&](std::string_view family) {
            const std::string_view name = module.substr(prefix.size());
            return name.starts_with(family) && (name.size() == family.size() || name[family.size()] == '.');
        }))
        return true;
    return has_role(module, library) || module == "elixir" || module.starts_with("elixir_") ||
           module.starts_with("Elixir.Config") || module.starts_with("Elixir.Mix.");
}

}  // namespace beamheap::erlang
