// The accumulation point: the term where what a process keeps alive splits up.
//
// Theory (as of Eclipse MAT). From the root that keeps most words alive, one goes down as long as one element alone
// keeps nearly all of what its container keeps. Where no single element does, the container itself is what accumulated:
// a list of 41 million cells, a map of sessions. The way there tells a person which field it is.
#pragma once

#include <cstdint>

#include "analyses/base/sentence.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

struct Accumulation {
    Sentence what;   ///< "list of 20,000 elements", "map of 312 pairs", "tuple of 5"; empty: nothing stands out
    Sentence where;  ///< "stack of gen_server:loop/7 > element 3 > key pending"
    std::uint64_t words = 0;  ///< that it alone keeps alive
    double percent = 0;       ///< of all that the process's roots reach on its heap
};

/// Nothing where no root keeps at least a third of what is live. Linear in the heap.
Accumulation accumulation(const Snapshot& snapshot, ProcId process, TermSource& terms);

}  // namespace beamheap::analyses
