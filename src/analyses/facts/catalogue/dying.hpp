// SPDX-License-Identifier: Apache-2.0
// Processes that have crashed, or are exiting, and have not ended: what they died of, and what they still hold.
//
// Theory. A process that crashes tells the loggers of it before it ends: it formats its State and the last message
// itself, which takes as long as these are large, and copies of them as text. It looks like one that works and grows.
// What it crashed of stands in that report: a reason with the stack of the exception, in a variable of the frames
// around the function that reports (erlang/crash_reports.hpp). A process that is exiting frees what it has, its tables
// object by object: these are in no list of tables any more, and still count as their memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyses/causes/failure.hpp"
#include "analyses/facts/facts.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct CrashReporting {
    ProcId process = ProcId::none;
    FunctionId reporter = FunctionId::none;  ///< in which it tells the loggers
    std::optional<Failure> failure;          ///< what it crashed of; none: not found
};

struct Dying {
    std::vector<CrashReporting> reporting;  ///< the largest first
    std::vector<ProcId> exiting;            ///< the largest first
    /// Bytes of ETS that are in no listed table, where somebody is exiting; missing: not known.
    Count untold_table_bytes;
    bool reports(ProcId process) const;
};

Result<Dying> find_fact(FactOf<Dying>, const Facts& facts);

}  // namespace beamheap::analyses
