// SPDX-License-Identifier: Apache-2.0
// What is told of a reason that a release printed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyses/causes/told_causes.hpp"
#include "analyses/logs/log_forms.hpp"
#include "present/spelling.hpp"

namespace beamheap::test {

struct ToldFailure {
    std::string kind, what, hint;  ///< the first of the hints
    std::vector<std::string> children;
};
inline ToldFailure told(std::string_view reason, const std::vector<analyses::LogEvent>& events = {},
                        const Snapshot& snapshot = Snapshot()) {
    const auto cause = analyses::told_cause(snapshot, reason, events);
    if (!cause) return {};
    const std::string hint =
        cause->cause.hints.empty() ? "" : present::plain_text(snapshot, cause->cause.hints.front());
    return {std::string(name_of(cause->cause.kind)),
            present::plain_text(snapshot, cause->cause.what) + present::plain_text(snapshot, cause->cause.where), hint,
            cause->failure.children};
}

}  // namespace beamheap::test
