// Proves a layout on the image itself before anything is read by it.
//
// Structures of another build than the table's would read as plausible nonsense, so each layout is held against what
// must be true in any VM: an element of the process table is in the slot that its identifier names; heap, stack and
// their sizes fit each other in (nearly) every process; functions and atoms are where they are said to be. Parts that
// moved between close releases (code headers, run queues, atoms) are looked for at each place that is known.
#pragma once

#include <algorithm>

#include "beamheap/error.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// How well a layout fits, out of processes sampled.
struct LayoutScore {
    std::uint32_t processes = 0;  ///< elements of the process table looked at
    std::uint32_t slots = 0;      ///< whose identifier belongs to their slot
    std::uint32_t heaps = 0;      ///< whose heap and stack pointers are in order and agree with the heap's size
    std::uint32_t abandoned = 0;  ///< of those: whose heap is a fragment until a collection can be made
    std::uint32_t torn = 0;       ///< not in order, and in a collection at this very moment
    std::uint32_t functions = 0;  ///< whose initial function is one
    bool good() const {
        const std::uint64_t excused = std::min(torn, processes / 4);
        return processes != 0 && slots * 10ull >= processes * 9ull &&
               heaps * 10ull >= (processes - excused) * 9ull && functions * 10ull >= processes * 9ull;
    }
};

/// Chooses the layout of vm.image and fills the rest of `vm` by it. Errors: not_recognised.
Status choose_layout(Vm& vm);

}  // namespace beamheap::otp
