// SPDX-License-Identifier: Apache-2.0
// The tables of an image beside processes: each reader fills one list of the Snapshot and counts what was damaged.
#pragma once

#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// Source, node name, limits, signal: what the image says of the node as a whole.
void read_node(Reader& reader);
/// Snapshot::atoms, newest first.
void read_atoms(Reader& reader);
/// Snapshot::modules.
void read_modules(Reader& reader);
/// Snapshot::ets, out of the lists that each scheduler keeps.
void read_ets(Reader& reader);
/// Snapshot::ports.
void read_ports(Reader& reader);
/// Snapshot::schedulers, with the stack of what each of them runs. After read_processes.
void read_schedulers(Reader& reader);
/// Snapshot::timers: those of erlang:send_after and start_timer.
void read_timers(Reader& reader);
/// Snapshot::nodes: peers of the distribution.
void read_peers(Reader& reader);
/// Snapshot::allocators, and Snapshot::memory as erlang:memory would give it.
void read_allocators(Reader& reader);

/// A reference as the VM prints it, out of its three numbers as they are stored.
std::string reference_text(const std::array<std::uint32_t, 3>& numbers);

}  // namespace beamheap::otp
