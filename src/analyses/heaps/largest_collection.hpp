// SPDX-License-Identifier: Apache-2.0
// The collection of a process that holds the most elements, and where it is.
//
// Theory. What was put somewhere once for each request, and is never taken out, is many before it is much: entries of
// the process dictionary, keys of a map in the State, handlers of an event manager. So not words are compared, as for
// the accumulation point (accumulation.hpp), but counts: from a server's State, the dictionary and the variables of the
// stack down through records and maps with fields, and not through what collections hold. What is put somewhere for a
// process is to be taken out when that ends: where those that it names have ended, nobody does so.
#pragma once

#include <cstdint>
#include <optional>

#include "analyses/base/sentence.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

struct LargestCollection {
    Sentence where;  ///< "its State > key sessions", "its process dictionary", "its handlers"
    /// "a map of 3,000 reference => {integer, user}", "5,000 entries {span, reference} => integer", "3,000 event
    /// handlers, all of my_handler"
    Sentence what;
    bool handlers = false;  ///< they are the handlers of an event manager
    std::uint64_t count = 0;
    std::uint64_t named = 0;  ///< of some of its elements that were looked at, those that name a process of this node
    std::uint64_t ended = 0;  ///< of these, those who name only processes that have ended; 0 where that is not known
};

/// Nothing where none has at least `least` elements. Looks at a few thousand places, and along the cells of lists.
std::optional<LargestCollection> largest_collection(const Snapshot& snapshot, ProcId process, TermSource& terms,
                                                    std::uint64_t least);

}  // namespace beamheap::analyses
