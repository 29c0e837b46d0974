// SPDX-License-Identifier: Apache-2.0
// Which binaries of a core image nothing refers to; looked for where binaries are much of the node.
#pragma once

#include <optional>

#include "analyses/facts/facts.hpp"
#include "analyses/memory/unreferenced_binaries.hpp"

namespace beamheap::analyses {

/// Nothing where the input does not hold the allocator's blocks, or has few bytes in binaries.
using Unheld = std::optional<UnheldBinaries>;

Result<Unheld> find_fact(FactOf<Unheld>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
