// SPDX-License-Identifier: Apache-2.0
// The state of a process that runs one of OTP's loops: which of its terms is what its callbacks are given.
//
// A behaviour's loop keeps the state of its callback module in its frame, while it waits as well as while a callback
// runs, when the frames of the callback stand above it. Which slot that is, the order of slots says: a compiler saves
// arguments from the last to the first, so that behind the callback module come the state, the server's name and its
// parent. Facts, from stacks of OTP 23 to 29 whose states were known, idle and in callbacks:
//
//     gen_server:loop/7, handle_msg/6      ..., Module, State, Name, Parent     up to OTP 25 (gen_fsm's as well)
//                                          ..., {callback_cache, ...}, State, Name, Parent        OTP 26 and 27
//     gen_server:loop/5, handle_msg/3      {server_data, ...} with the state before or behind it  since OTP 28
//     gen_statem, any loop_...             {state, {StateName, Data}, Postponed, Timers, ...}, of 5 or (since 28) 6
//     gen_event, any                       [{handler, Module, Id, State, Supervised}, ...], or one such tuple
//     suspended by sys:suspend/1            [Name, State, Module, ...] in sys:suspend_loop
//     hibernating, image only              x2 = [Parent, Name, State, Module, ...] of gen_server:wake_hib
//
// Agents, supervisors, Elixir's GenServer, Phoenix's channels and LiveViews are gen_servers, and are found as such.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analyses/base/sentence.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

struct LoopState {
    enum class Loop : unsigned char { server, state_machine, event_handlers };
    Loop loop = Loop::server;
    std::size_t root = 0;  ///< index into the graph's roots: the slot that holds it, or the record that it is in
    Element term;          ///< of a state machine its data; of an event manager the state of its handler that runs or
                           ///< is the only one, else the list of its handlers
    Element postponed;     ///< of a state machine: the list of events that it has put off; else `unknown`
    Element state_name;    ///< of a state machine: the state that it is in; else `unknown`
    Element name;  ///< what it was started as: a registered name, that of {via, _, Name} or {global, Name}, or its
                   ///< pid; `unknown` where it is not told
    std::string module;  ///< of the callbacks, as an atom's text; empty where it is not told, and of several handlers
    /// Whether `term` is the list of an event manager's handlers.
    bool several() const { return loop == Loop::event_handlers && module.empty(); }
};

/// Nothing where the process runs no such loop, where its registers are lost, or where the order of its slots is
/// another one. Looks at the slots of loops' frames only.
std::optional<LoopState> loop_state(const Snapshot& snapshot, ProcId process, TermSource& terms);

/// What it is, with its article: "a gen_server of shop_cart", "an Agent", "a GenServer of Shop.Cart".
Sentence loop_in_words(const LoopState& state);

}  // namespace beamheap::analyses
