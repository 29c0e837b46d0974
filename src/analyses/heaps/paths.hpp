// SPDX-License-Identifier: Apache-2.0
// What keeps a term alive: the shortest way to it from a root.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "beamheap/terms.hpp"

namespace beamheap::analyses {

struct Path {
    std::size_t root = 0;           ///< index into the graph's roots
    std::vector<ObjectId> objects;  ///< from what the root holds to the term itself
};

/// Breadth first over the process's heap and the literals that it refers to; nullopt if no root reaches the object.
/// Time and memory are linear in the graphs.
std::optional<Path> shortest_path(TermSource& source, ObjectId target);

}  // namespace beamheap::analyses
