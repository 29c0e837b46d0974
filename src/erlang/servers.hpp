// SPDX-License-Identifier: Apache-2.0
// Servers of OTP and of libraries that others queue up behind, and what the node asks of the world outside: rows of
// servers.cpp, with what to do about each.
#pragma once

#include <span>
#include <string_view>

#include "erlang/ours.hpp"

namespace beamheap::erlang {

/// The application of OTP, or of a library, that registers this name when it starts: "ssl" of ssl_manager; empty:
/// unknown.
std::string_view application_of_server(std::string_view name);
/// Whether a name is that of a process of kernel's, which every node has until it goes down.
bool is_kernel_server(std::string_view name);
/// What to do where many wait for the server of this registered name; empty: nothing is known of it.
Ours advice_of_server(std::string_view name);
/// What to do where its queue is long; empty: nothing is known of it.
Ours advice_on_flood(std::string_view name);
/// Whom outside of the node the server of this registered name asks while others wait for it: "the operating system's
/// resolver of names (DNS)"; empty: nobody.
Ours asked_by_server(std::string_view name);

/// A function of a library that waits, in the process that calls it, for somebody who is no process of the node.
struct OutsideCall {
    std::string_view module, function;  ///< on the stack; no function: any of the module
    Ours what;                          ///< "answers of name servers (DNS)"
    Ours advice;
};
/// The first that fits is told.
std::span<const OutsideCall> outside_calls();

}  // namespace beamheap::erlang
