// SPDX-License-Identifier: Apache-2.0
// Which binaries the objects of ETS tables and the persistent terms of an image refer to.
#pragma once

#include "beamheap/stored_binaries.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// Where the tuples {Key, Value} of persistent terms are (erl_bif_persistent.c).
std::vector<std::uint64_t> persistent_tuples(const Vm& vm, Decoder& reader);

/// Needs the tables in the snapshot. Objects are looked at some thousands at a time, so that memory does not grow with
/// a table.
StoredBinaries read_stored_binaries(const Vm& vm, const Snapshot& snapshot, Decoder& reader);

}  // namespace beamheap::otp
