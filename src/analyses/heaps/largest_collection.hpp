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
#include "analyses/heaps/term_shape.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// Of a collection's elements, how many name a process of this node, and how many of these only such as have ended.
struct NamedProcesses {
    std::uint64_t named = 0, ended = 0;
    /// Nine in ten of thirty and more: what was made for a process is not taken out when that ends.
    bool mostly_ended() const { return named >= 30 && ended * 10 >= named * 9; }
};
/// Looks at each given element, and at the elements of tuples. `ended` is 0 where processes may have been lost.
NamedProcesses named_processes(const Snapshot& snapshot, TermSource& terms, const CollectionShape& collection);

struct LargestCollection {
    Sentence where;  ///< "its State > key sessions", "its process dictionary", "its handlers"
    /// "a map of 3,000 reference => {integer, user}", "5,000 entries {span, reference} => integer", "3,000 event
    /// handlers, all of my_handler"
    Sentence what;
    bool handlers = false;  ///< they are the handlers of an event manager
    bool plain = false;     ///< they are integers in a list
    std::uint64_t count = 0;
    NamedProcesses processes;  ///< that some of its elements name
};

/// Nothing where none has at least `least` elements. Looks at a few thousand places, and along the cells of lists.
std::optional<LargestCollection> largest_collection(const Snapshot& snapshot, ProcId process, TermSource& terms,
                                                    std::uint64_t least);

}  // namespace beamheap::analyses
