// SPDX-License-Identifier: Apache-2.0
// How queues are spread over the processes: one long queue is a slow process, ten thousand short ones a slow node.
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// Processes whose queue has `from` to `to` messages.
struct QueueBin {
    std::uint64_t from = 0, to = 0;
    std::uint64_t processes = 0;
    std::uint64_t messages = 0;  ///< in the queues of all of them; saturates
};

/// Empty queues, then one bin for each power of ten up to the longest queue: 1 to 9, 10 to 99, ... Processes whose
/// queue the input does not tell are in none. O(processes).
std::vector<QueueBin> queue_spread(const Snapshot& snapshot);

}  // namespace beamheap::analyses
