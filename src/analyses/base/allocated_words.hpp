// SPDX-License-Identifier: Apache-2.0
// How large the heaps of a process are, for bounds on what is read of them.
#pragma once

#include <cstdint>

#include "analyses/base/sum.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// What both heaps take, used or not, in words; a heap that the input does not tell of counts as none. Never wraps.
inline std::uint64_t allocated_words(const Process& process) {
    return saturating_add(process.heap_words.value_or(0), process.old_heap_words.value_or(0));
}

}  // namespace beamheap::analyses
