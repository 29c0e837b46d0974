// SPDX-License-Identifier: Apache-2.0
// Whether no scheduler is in Erlang code, where all of them are in one function.
//
// Native stacks are read for this alone, and only then.
#pragma once

#include "analyses/facts/facts.hpp"

namespace beamheap::analyses {

struct NativeHold {
    bool held = false;
};

Result<NativeHold> find_fact(FactOf<NativeHold>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
