// SPDX-License-Identifier: Apache-2.0
// Functions that the VM itself makes something of when they are called, or that it calls by itself: what stands above
// such a call on a stack is not what the call names.
#pragma once

#include <cstdint>
#include <string_view>

namespace beamheap::vm_calls {

/// The registered name of the process that keeps the code path.
inline constexpr std::string_view keeper_of_code_path = "code_server";

/// Goes on in whatever function it is given (erlang:apply/2,3, erlang:hibernate/3).
constexpr bool leads_anywhere(std::string_view module, std::string_view function) {
    return module == "erlang" && (function == "apply" || function == "hibernate");
}
/// What the body of a function calls that is written in C, and never comes to.
constexpr bool stands_for_native(std::string_view module, std::string_view function) {
    return module == "erlang" && function == "nif_error";
}
/// Is called in place of functions of modules that are not loaded.
constexpr bool loads_code(std::string_view module) { return module == "error_handler"; }
/// Sleeps and goes on behind the call (OTP 28).
constexpr bool sleeps_in_place(std::string_view module, std::string_view function, std::uint32_t arity) {
    return module == "erlang" && function == "hibernate" && arity == 0;
}

}  // namespace beamheap::vm_calls
