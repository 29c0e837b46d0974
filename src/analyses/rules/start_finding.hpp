// SPDX-License-Identifier: Apache-2.0
// The finding of a start that failed, or of an end that OTP made itself: shared by the three rules that tell it, one of
// nodes that did not start, one of nodes that ran and whose program did not, one of nodes that ended in the midst of
// their work.
#pragma once

#include <optional>

#include "analyses/rules/rules.hpp"

namespace beamheap::analyses::rule {

/// Nothing where the slogan is about something else.
std::optional<Finding> start_finding(const Facts& facts);

/// Whether a finding is one of those.
bool tells_an_end(const Finding& finding);

/// Whether the node itself was there when the start failed, so that what -s, -run, -eval, mix or a shell called is what
/// failed: the stack of the failure says who called it, or kernel had started as a whole. `told`: nullptr where nobody
/// knows why.
bool ran_before_it_failed(const Slogan& slogan, const ToldCause* told, const Snapshot& snapshot);

/// Whether the node had started, and something ended that it may not run without: a permanent application, a process of
/// kernel's or of the VM's, a helper program. Of kernel's and the VM's processes it is known by what else was there.
bool ended_at_work(const Slogan& slogan, const ToldCause* told, const Snapshot& snapshot);

}  // namespace beamheap::analyses::rule
