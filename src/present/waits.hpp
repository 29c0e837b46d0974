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
/// One row per target.
Table wait_fan_in_table(const Names& names, const analyses::Waits& waits);
/// Pids, cycle by cycle.
Array wait_cycles(const Names& names, const analyses::Waits& waits);
/// Each chain as one line: "a <0.1.0> -> b <0.2.0> -> c <0.3.0>, which is in timer:sleep/1".
Array wait_chain_lines(const Names& names, const analyses::Waits& waits);
/// Each cycle as one line, with what each process waits in: "a <0.1.0> -[gen_server:call/2]-> b <0.2.0> -[...]-> a".
Array wait_cycle_lines(const Names& names, const analyses::Waits& waits);

}  // namespace beamheap::present
