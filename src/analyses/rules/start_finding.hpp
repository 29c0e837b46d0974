// SPDX-License-Identifier: Apache-2.0
// The finding of a start that failed, or of an end that OTP made itself: shared by the two rules that tell it, one of
// nodes that did not start, one of nodes that ran and whose program did not.
#pragma once

#include <optional>

#include "analyses/rules/rules.hpp"

namespace beamheap::analyses::rule {

/// Nothing where the slogan is about something else.
std::optional<Finding> start_finding(const Facts& facts);

/// Whether the node itself was there when the start failed, so that what -s, -run, -eval, mix or a shell called is what
/// failed: the stack of the failure says who called it, or kernel had started as a whole. `told`: nullptr where nobody
/// knows why.
bool ran_before_it_failed(const Slogan& slogan, const ToldCause* told, const Snapshot& snapshot);

}  // namespace beamheap::analyses::rule
