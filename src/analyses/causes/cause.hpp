// SPDX-License-Identifier: Apache-2.0
// What a failure means: the innermost reason in words, with what the rest of the node knows about it.
//
// A reason is a term of somebody's choice, but those that stop nodes at their start come from a small set: a function
// that does not exist, a port or a name that is taken, a file that is not there or can't be read, a name that nobody is
// registered under, an application that is not installed, a value that a match did not expect. Those that are known by
// their form are rows of erlang/causes.cpp; what is looked up elsewhere is a function in cause_*.cpp. What fits none is
// shown as it is.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/causes/failure.hpp"
#include "beamheap/snapshot.hpp"
#include "erlang/causes.hpp"

namespace beamheap::analyses {

using erlang::CauseKind;

struct Cause {
    CauseKind kind = CauseKind::unknown;
    Sentence what;                ///< "port 8081 of listener http is in use", without a full stop
    Sentence aside;               ///< said between these where there is room for it; empty: nothing
    Sentence aside_in_brief;      ///< the same where there is less room
    Sentence where;               ///< ", called in m:f/a (file:3)"; empty: nobody knows
    Sentence where_in_brief;      ///< the same without the line; empty: there is no shorter one
    std::vector<Sentence> hints;  ///< what to do, one sentence each
    /// How many arguments the youngest frame's function was called with is not known: the text leaves them out.
    bool lost_arguments = false;
    /// One of kernel's own processes was gone: the node went down already, of something else.
    bool follows = false;
};

/// What an error of the operating system means, "the disk is full" for enospc; empty where it is none that is known
/// here.
Ours meaning_of_posix(std::string_view atom);

/// Explains a failure. `events` are the log events of the node: the reason of a name that is taken stands in a message
/// of its own, that of a module that can't be loaded, too. With Snapshot::modules it tells misspelt names, with
/// Snapshot::atoms the name that a node was given.
Cause cause_of(const Snapshot& snapshot, const Failure& failure, std::span<const LogEvent> events);

}  // namespace beamheap::analyses
