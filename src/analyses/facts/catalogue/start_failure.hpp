// SPDX-License-Identifier: Apache-2.0
// Of a node that did not start, or had to stop: what is told of why, and by whom.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyses/causes/told_causes.hpp"
#include "analyses/facts/facts.hpp"
#include "analyses/logs/log_events.hpp"

namespace beamheap::analyses {

/// Empty of any other node.
struct StartFailure {
    std::vector<LogEvent> events;  ///< what its loggers still held
    std::optional<ToldCause> told;
    std::vector<std::string> loader_path;        ///< where its loader looked for modules
    std::vector<std::string> folders_not_found;  ///< those of them that code_server did not find

    const ToldCause* cause() const { return told ? &*told : nullptr; }
};

Result<StartFailure> find_fact(FactOf<StartFailure>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
