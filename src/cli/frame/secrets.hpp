// SPDX-License-Identifier: Apache-2.0
// What the input itself tells to be secret: the cookie of the node.
//
// The cookie is an atom, so it stands in the clear in the atom table and wherever it was printed. The process `auth`
// (kernel) holds it in its state, {state, OurCookie, OtherCookies} in every release since R10B (auth.erl, record
// state).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "beamheap/artifact.hpp"

namespace beamheap::cli {

/// Asks for the terms of `auth`, besides those of the processes that `also` wants (empty: no other).
void plan_for_secrets(LoadPlan& plan, std::function<bool(const Snapshot&, ProcId)> also = {});

/// The cookies that this node used, after load(). Empty where the input does not tell.
std::vector<std::string> known_secrets(Artifact& artifact);

}  // namespace beamheap::cli
