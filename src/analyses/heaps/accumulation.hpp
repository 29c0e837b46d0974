// SPDX-License-Identifier: Apache-2.0
// The accumulation point: the term where what a process keeps alive splits up.
//
// Theory (as of Eclipse MAT). From the term that keeps most alive, one goes down as long as one element alone keeps
// nearly all of what its container keeps. Where no single element does, the container itself is what accumulated: a
// list of 41 million cells, a map of sessions. The way there tells a person which field it is. Text that is gathered as
// [Before, More], or a chain of records, has one way down through all of it, on which a little is left at each step:
// such a term is told as a whole, with how deep it is nested.
//
// Where to begin: a server's state, where it reaches a third of what is live (loop_state.hpp); else the events that a
// state machine has postponed; else the term that the roots hold which keeps most; else the one that reaches most.
// Entries of a process dictionary are roots each; a hundred and more that keep a third of what is live together are
// told as one. A server in the middle of a callback has its state and a newer version of it, which share nearly
// everything: neither keeps anything alone, and both reach it. So what an element keeps is asked within that one term
// (Dominators::build_below).
#pragma once

#include <cstdint>
#include <optional>

#include "analyses/base/sentence.hpp"
#include "analyses/heaps/loop_state.hpp"
#include "analyses/heaps/term_measures.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

struct Accumulation {
    Sentence what;            ///< its shape: "a list of 20,000 integers", "a map of 312 ..."; empty: nothing stands out
    Sentence where;           ///< "its State > key pending", "the stack of my_server:loop/1 > element 3"
    Element term;             ///< the accumulation point itself; none where it is a whole dictionary
    std::uint64_t words = 0;  ///< that it reaches and nothing else in the term above it does
    /// The whole dictionary, nearly all of whose keys hold a reference: each was made for one purpose, once.
    bool fresh_keys = false;
    double percent = 0;              ///< of all that the process's roots reach on its heap
    std::optional<LoopState> state;  ///< of a server, also where nothing stands out
};

/// Nothing where no term of the roots, nor a dictionary, has at least a third of what is live. Linear in the heap.
Accumulation accumulation(const Snapshot& snapshot, ProcId process, TermSource& terms, TermMeasures& measures);

}  // namespace beamheap::analyses
