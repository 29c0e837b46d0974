// SPDX-License-Identifier: Apache-2.0
// In which of its states a kind of state machine is that the node has many of.
//
// Theory. A thousand gen_statems of one kind that all wait in their loop look idle; the name of their state says what
// they are there for: `finish`, `connecting`, `drained`. It stands beside their data on the stack
// (heaps/loop_state.hpp). Some of each kind are looked at, evenly spread over those that have the same parent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyses/facts/facts.hpp"

namespace beamheap::analyses {

struct StateOfKind {
    FunctionId kind = FunctionId::none;  ///< first_call of its members
    std::string name;                    ///< of the state that most of those looked at are in, an atom's text
    std::uint64_t looked = 0, in_it = 0;
};

struct StateNames {
    std::vector<StateOfKind> all;
    /// Of a kind of which three in four that were looked at are in one state; nullptr: no such is known.
    const StateOfKind* of(FunctionId kind) const;
};

Result<StateNames> find_fact(FactOf<StateNames>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
