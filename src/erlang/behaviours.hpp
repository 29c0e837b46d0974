// SPDX-License-Identifier: Apache-2.0
// Behaviours: the loops that a process runs in, by the module that a loop is of, and those that are written on one of
// these, by the module that it calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "erlang/elixir_names.hpp"
#include "erlang/ours.hpp"

namespace beamheap::erlang {

/// How a loop keeps its state on the stack.
enum class LoopKind : std::uint8_t { none, server, old_state_machine, state_machine, event_manager };

struct LoopModule {
    std::string_view module;
    LoopKind kind;
};
inline constexpr std::array loop_modules{
    LoopModule{"gen_server", LoopKind::server},
    LoopModule{"gen_fsm", LoopKind::old_state_machine},  // as a server, with the name of its state beside
    LoopModule{"gen_statem", LoopKind::state_machine},
    LoopModule{"gen_event", LoopKind::event_manager},
};
/// Of a module on a stack; none: it is no such loop.
constexpr LoopKind loop_of(std::string_view module) {
    const auto found = std::ranges::find(loop_modules, module, &LoopModule::module);
    return found == loop_modules.end() ? LoopKind::none : found->kind;
}

/// A behaviour that is written on gen_server, by its callback module there.
struct ServerKind {
    std::string_view module;
    Ours words;  ///< what its processes are, with the article
};
inline constexpr std::array server_kinds{
    ServerKind{"Elixir.Agent.Server", "an Agent"},
    ServerKind{"supervisor", "a supervisor"},
    ServerKind{"Elixir.DynamicSupervisor", "a DynamicSupervisor"},
    ServerKind{"Elixir.Phoenix.LiveView.Channel", "a LiveView"},
};
/// Empty: the module is one of the program's own.
constexpr Ours server_kind(std::string_view module) {
    const auto found = std::ranges::find(server_kinds, module, &ServerKind::module);
    return found == server_kinds.end() ? Ours("") : found->words;
}

}  // namespace beamheap::erlang
