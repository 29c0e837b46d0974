// SPDX-License-Identifier: Apache-2.0
// The links and monitors of one process, out of those of all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// They lie one behind the other; a range that leads outside, as damage may leave it, ends where they do.
inline std::span<const Link> links_of(const Snapshot& snapshot, const Process& process) {
    const std::size_t first = std::min<std::size_t>(process.link_range.first, snapshot.links.size());
    const std::size_t count = std::min<std::size_t>(process.link_range.count, snapshot.links.size() - first);
    return std::span(snapshot.links).subspan(first, count);
}

}  // namespace beamheap::analyses
