// SPDX-License-Identifier: Apache-2.0
// Who waits for whom, as tables and as drawings in text.
#pragma once

#include <string>
#include <vector>

#include "analyses/processes/waits.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// A target as one text: its pid, "#Port<0.5>", or "{name,'node@host'}" where it is known by name alone.
std::string wait_target(const Names& names, const analyses::WaitTarget& target);

/// One row per blocked call.
Table wait_edge_table(const Names& names, const analyses::Waits& waits);
/// One row per target, those first for whom most wait, directly or not.
Table wait_fan_in_table(const Names& names, const analyses::Waits& waits);
/// The same for people: by name or by what it runs; from `least_alike` on, rows that are alike are one ("...
/// \u00d740"), with the pids of one of them. `waits` must outlive the tables.
Table wait_edges_for_people(const Names& names, const analyses::Waits& waits, std::uint64_t least_alike);
Table wait_fan_in_for_people(const Names& names, const analyses::Waits& waits, std::uint64_t least_alike);
/// Pids, cycle by cycle.
Array wait_cycles(const Names& names, const analyses::Waits& waits);
/// Each chain as one line: "a <0.1.0> -> b <0.2.0> -> c <0.3.0>, which is in timer:sleep/1".
Array wait_chain_lines(const Names& names, const analyses::Waits& waits);
/// Each cycle as one line, with what each process waits in: "a <0.1.0> -[gen_server:call/2]-> b <0.2.0> -[...]-> a".
Array wait_cycle_lines(const Names& names, const analyses::Waits& waits);

}  // namespace beamheap::present
