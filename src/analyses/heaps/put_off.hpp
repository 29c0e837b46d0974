// SPDX-License-Identifier: Apache-2.0
// Why a server that is idle has not answered those who wait for it, where its own state says so.
//
// A gen_statem that can't take an event in its state postpones it, and sees it again when the state changes: its
// callers wait for a change that may never come, and their requests are no longer in its queue but in its loop's record
// (loop_state.hpp).
//
// A gen_server, or a gen_statem, that answers later keeps `From`, {Pid, Tag}, of those who called in its state until it
// does. Who has what they want stands there as well: as a pid in a list or under a key, with others that were answered,
// or as a field, as the holder of a lock does. So does who is asked for it.
//
// disk_log:block/1 makes a log's process keep all requests but those of who has blocked it, until that one unblocks it
// or ends. The process keeps the record of the log in its dictionary, under `log`: {log, Status, Name, BlockedBy,
// Users, ...}, Status {blocked, Queue} meanwhile (disk_log.hrl of OTP 23 to 29).
//
// mnesia:wait_for_tables/2 has a process of its own wait for each caller, in mnesia_controller:rec_tabs/4, until
// mnesia_controller has loaded the table that is an atom in its frame: at once where this node has the newest copy,
// else when one that has it is up. All that it was asked for stands in its dictionary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/heaps/state_flag.hpp"
#include "beamheap/artifact.hpp"
#include "erlang/functions.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap::analyses {

struct PutOff {
    enum class Why : unsigned char {
        postponed,    ///< `count` events, in the state `what`
        kept,         ///< `count` callers, in its state
        forgotten,    ///< `count` callers: nothing that it has names one of them, nor anybody else who might answer
        log_blocked,  ///< the disk log `what`, by `by`
        tables,       ///< `count` tables are not loaded, one of them `what`
    } why = Why::postponed;
    ProcId server = ProcId::none;
    std::shared_ptr<OwnedTerm> what;
    std::uint64_t count = 0;
    ProcId by = ProcId::none;  ///< none: it is gone, or of another node
    /// Of `kept`: those whom its state names and who do not wait for it: of the kind of those who do, who were answered
    /// and have what the others want, or the only one that is a field of its own, of which it is not known what it is
    /// to the server.
    std::vector<ProcId> named;
    /// Of `kept`: others that are kept to be answered and have ended; 0 where processes may have been lost.
    std::uint64_t ended_callers = 0;
    Pid ended;  ///< of `kept`, where there is none of those: the only process that is such a field, and has ended
    /// Of `kept`, where nobody else is named: the only one of the callers whose pid also stands there by itself, as
    /// that of who has a lock does. Who is served now has a field of its own, and is none.
    ProcId caller_apart = ProcId::none;
    /// Of `kept`: what the state of the server, or of the only one that is named, says of why it does not go on.
    std::optional<StateFlag> flag;
    ProcId flag_of = ProcId::none;  ///< whose state that is
    Sentence where =
        {};  ///< of `kept`: what nearly all of them stand in, in its state: " > key waiters", " > #channel"
};

/// Whether a process may be such a server, an idle one of these kinds that many monitor, or waits for a table. Needs
/// links and stacks.
class MayPutOff {
public:
    bool operator()(const Snapshot& snapshot, ProcId process);

private:
    erlang::RoleHolders awaits_tables_{erlang::FunctionRole::awaits_tables};
};

/// Those that are. Needs LoadPlan::terms with MayPutOff among terms_of.
std::vector<PutOff> put_off(Artifact& artifact);

}  // namespace beamheap::analyses
