// SPDX-License-Identifier: Apache-2.0
// Requests that programs have written by hand, by whom they were not answered.
//
// Theory. Who sends a message with its own pid and then receives the answer waits for somebody, and no monitor, and
// often no frame, tells for whom. The one that was asked knows: the request lies in its queue, or it has put the pid of
// who asks into its state, to answer later, as a lock or a pool does. So, where ten or more wait at the same place of
// the same caller, those who hold their pids are looked for. That alone says little: whoever hands out work knows its
// idle workers, whoever sends news its subscribers. They are taken for waiters where
//   - each has one message in the queue of the one that is asked, these are at least half of that queue, and the
//   function that
//     waits was called to do so, or a reference in its frame is in the requests, too;
//   - or the one that is asked is idle, and keeps both the pid of one who waits and the reference in whose frame that
//   waits, in a call;
//   - or the one that is asked is idle, and knows, as a field of its own and not as one of many, exactly one process
//   that is behind
//     that place: in the same caller, at another place of it. That one was answered, and has what the others want: a
//     lock, the only connection. The server waits for it then.
//   - or it knows nobody of those so, but one that has ended, and nobody at all is behind that place: that one had it,
//   and has not
//     given it back.
// A pool keeps those who work as it keeps those who don't, in a list or under keys: that it does is told as what it is,
// no wait.
#pragma once

#include <vector>

#include "analyses/processes/waits.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

/// The processes whose terms are read for that: none in most nodes. Needs the process table; asked of one snapshot
/// only.
class MayBeAsked {
public:
    bool operator()(const Snapshot& snapshot, ProcId process);

private:
    std::vector<bool> chosen_, asked_, tagged_;  // by ProcId; empty: not asked yet, or none
    bool known_ = false;
};

/// Adds those waits, those of circles (asked_by_hand.hpp) and those by tags (tagged_requests.hpp), as estimates
/// ("by_hand"), and the keepers of those of whom that does not tell: one for each function where there is exactly one.
/// Needs what waits() needs and LoadPlan::terms with MayBeAsked among terms_of.
void add_unanswered(Artifact& artifact, Waits& waits);
/// waits() with those.
Waits all_waits(Artifact& artifact);

}  // namespace beamheap::analyses
