// SPDX-License-Identifier: Apache-2.0
// Of all figures that grow those that are told: of one thing its cause, of sums those that no thing explains.
#pragma once

#include <string_view>
#include <vector>

#include "analyses/diagnosis/growth.hpp"

namespace beamheap::analyses {

inline constexpr double explained = 0.5;  ///< of a growth: what is at least that much of it is its cause

/// What tells the cause best comes first; 0 is no finding by itself.
unsigned rank_of(std::string_view measure);
bool is_sum(const Figures::Key& key);
/// All memory of the node, as the VM or as the system counts it.
bool is_node_memory(const Figures::Key& key);

/// O(n^2), of the few that grow.
std::vector<Growing> causes_of(const std::vector<Growing>& all);

}  // namespace beamheap::analyses
