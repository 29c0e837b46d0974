// SPDX-License-Identifier: Apache-2.0
// The few sentences that a diagnosis begins with.
#pragma once

#include <vector>

#include "analyses/diagnosis/diagnose.hpp"

namespace beamheap::analyses {

/// Fills `summary`, `says_worst` and `next_steps` of a diagnosis that is complete otherwise.
void summarise(const Snapshot& snapshot, Diagnosis& diagnosis);

}  // namespace beamheap::analyses
