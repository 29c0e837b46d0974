// SPDX-License-Identifier: Apache-2.0
// How Erlang writes the names of things: pids, ports, atoms, functions.
#pragma once

#include <string>
#include <string_view>

#include "beamheap/snapshot.hpp"

namespace beamheap {

/// "<0.123.0>"; empty for a pid that is none.
std::string pid_text(const Pid& pid);
/// "#Port<0.5>"; empty for a port that is none.
std::string port_text(const PortName& port);
/// An atom's name as Erlang source has it: `ok`, `'odd name'`, `'end'`, `'Elixir.MyApp'` (erl_scan's rule: bare if it
/// begins with a small letter, goes on with letters, digits, _ or @ and is no reserved word). Bytes stay raw but for
/// the escapes \' \\ \n \r \t that a quoted atom needs.
std::string atom_text(std::string_view name);
/// "m:f/a", names quoted as atom_text does; empty for FunctionId::none.
std::string function_text(const Snapshot& snapshot, FunctionId function);
/// The name of a function's module, raw; empty for FunctionId::none.
std::string_view module_of(const Snapshot& snapshot, FunctionId function);

/// Reads one atom, plain or quoted ('...' with Erlang's escapes), from the start of `text`. Returns false, and leaves
/// `name` unspecified, where there is none. A plain one ends before the first byte that no plain name holds; capital
/// letters and dots are taken too, so that `MyApp.Worker` is one name. `used` is what was read, in bytes.
bool read_name(std::string_view text, std::string& name, std::size_t& used, bool& quoted);

}  // namespace beamheap
