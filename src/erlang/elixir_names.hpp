// SPDX-License-Identifier: Apache-2.0
// Names of Elixir: modules, structs and registered processes are atoms that begin alike, and are written without that
// beginning.
#pragma once

#include <string>
#include <string_view>

namespace beamheap::erlang {

inline constexpr std::string_view elixir_prefix = "Elixir.";
/// The module that every node with Elixir has.
inline constexpr std::string_view elixir_kernel = "Elixir.Kernel";

constexpr bool is_elixir(std::string_view name) { return name.starts_with(elixir_prefix); }
/// 'Elixir.Shop.Cart' as Shop.Cart; any other name, and the prefix alone, as it is.
constexpr std::string_view without_elixir(std::string_view name) {
    return is_elixir(name) && name.size() > elixir_prefix.size() ? name.substr(elixir_prefix.size()) : name;
}
inline std::string with_elixir(std::string_view name) { return std::string(elixir_prefix).append(name); }

/// Structs by which states and errors are known: what stands under __struct__.
inline constexpr std::string_view struct_of_dynamic_supervisor = "Elixir.DynamicSupervisor";
inline constexpr std::string_view struct_of_undefined_function = "Elixir.UndefinedFunctionError";

/// Elixir's Access, which value[key] calls, and what it calls of a struct's module.
constexpr bool is_access(std::string_view module) { return module == "Elixir.Access"; }
constexpr bool is_access_callback(std::string_view function) {
    return function == "fetch" || function == "get_and_update" || function == "pop";
}

/// Whether a module is that of an exception which tells what it is about: not the one around an error of Erlang, nor
/// that of a term which can't be printed.
constexpr bool is_exception(std::string_view module) {
    return is_elixir(module) && (module.ends_with("Error") || module.ends_with("Exception")) &&
           module != "Elixir.Exception" && module != "Elixir.ErlangError" && module != "Elixir.Inspect.Error" &&
           module != "Elixir.Inspect.Inspect.Error";
}

/// How Elixir calls a function of OTP that it has wrapped in one of its own; empty: it has none.
constexpr std::string_view elixirs_own(std::string_view module, std::string_view function) {
    return module == "gen_server" && function == "reply" ? "GenServer.reply" : std::string_view{};
}

}  // namespace beamheap::erlang
