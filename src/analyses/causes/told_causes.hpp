// SPDX-License-Identifier: Apache-2.0
// Which of all that a dying node says is the cause: the slogan, what loggers still held, exits that nobody read.
//
// The slogan is told by the last layer, and often cut: older releases print `shutdown` and leave the reason to a report
// that lies in error_logger's buffer, newer ones print the reason to a depth. So each telling is taken apart
// (failure.hpp) and explained (cause.hpp), and the one that says most is believed: a named cause before an exception,
// an exception before a bare word, a whole reason before one that was cut; among equals the slogan, then the earliest.
// Where nobody gives a reason, a text about an error that was to be printed.
#pragma once

#include <optional>
#include <span>

#include "analyses/causes/cause.hpp"

namespace beamheap::analyses {

struct ToldCause {
    Failure failure;
    Cause cause;
    const LogEvent* event = nullptr;  ///< who told it; nullptr: the slogan itself
    bool before_kernel = false;       ///< init held it, which was starting the first processes of the boot script
};

/// `slogan_reason`: as the slogan prints it; empty: it gives none. `had_run`: the slogan is about the end of an
/// application that had started, `application` where its name is known: of one whose supervisor gave up, reports of
/// that supervisor's are believed, and none of who goes on. Nothing where nobody gives any reason.
std::optional<ToldCause> told_cause(const Snapshot& snapshot, std::string_view slogan_reason,
                                    std::span<const LogEvent> events, bool had_run = false,
                                    std::string_view application = {});

}  // namespace beamheap::analyses
