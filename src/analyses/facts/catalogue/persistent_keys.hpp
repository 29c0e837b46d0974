// SPDX-License-Identifier: Apache-2.0
// Which keys of persistent terms hold how much, where these are much of the node.
//
// Theory. A persistent term stays until it is erased. A new key for each version, session or tenant, beside the old
// ones, is a leak: its keys have one form, {geo, ranges, Version}, and many values. So keys are told by their form,
// what is the same in all of them kept.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/facts/facts.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct PersistentFamily {
    Sentence form;  ///< "{geo, ranges, integer}"
    std::uint64_t keys = 0;
    std::uint64_t words = 0;  ///< of their values, flat
};

struct PersistentKeys {
    std::vector<PersistentFamily> families;  ///< most words first
};

Result<PersistentKeys> find_fact(FactOf<PersistentKeys>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
