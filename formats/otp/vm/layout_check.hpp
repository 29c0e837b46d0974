// SPDX-License-Identifier: Apache-2.0
// Proves a layout on the image itself before anything is read by it.
//
// Structures of another build than the table's would read as plausible nonsense, so each layout is held against what
// must be true in any VM: an element of the process table is in the slot that its identifier names; heap, stack and
// their sizes fit each other in (nearly) every process; the run queue that a process names leads to a scheduler that
// names the same queue, which is the last member of all and so tells of one too many anywhere before it; a process is
// as large as the VM's own table of processes says; functions and atoms are where they are said to be. Parts that moved
// between close releases (code headers, run queues, atoms, types of links) are looked for at each place that is known.
//
// A row of another flavour is never used, and one of another release only where there is none of the VM's own and
// every size agrees. What is used without having been proved by a VM of that very release and flavour is told to the
// user (Vm::unproven), in front of every answer.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "beamheap/error.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// Processes that must be left of an image that is cut, to prove a layout.
inline constexpr std::uint32_t least_of_cut = 8;

/// How well a layout fits, out of processes sampled.
struct LayoutScore {
    std::uint32_t processes = 0;  ///< elements of the process table looked at, and in the image
    std::uint32_t absent = 0;     ///< further ones that the image does not hold
    std::uint32_t slots = 0;      ///< whose identifier belongs to their slot
    std::uint32_t heaps = 0;      ///< whose heap and stack pointers are in order and agree with the heap's size
    std::uint32_t abandoned = 0;  ///< of those: whose heap is a fragment until a collection can be made
    std::uint32_t torn = 0;       ///< not in order, and in a collection at this very moment
    std::uint32_t functions = 0;  ///< whose initial function is one
    std::uint32_t queues = 0;     ///< whose run queue's scheduler has that queue
    std::uint32_t strays = 0;     ///< whose run queue is none; the others' is not in the image
    /// `cut`: the image ends early, so that it may lack processes; a few must be there.
    bool good(bool cut) const {
        const std::uint64_t excused = std::min(torn, processes / 4);
        if (cut ? processes < least_of_cut && absent != 0 : absent * 10ull > processes) return false;
        return processes != 0 && slots * 10ull >= processes * 9ull && heaps * 10ull >= (processes - excused) * 9ull &&
               functions * 10ull >= processes * 9ull && strays * 10ull <= processes;
    }
};

/// Holds a layout against the processes of a table.
LayoutScore score_layout(bytes::MemoryReader& memory, const Layout& layout, const SlotTable& table);

/// Why a compiled-in row can't be the one of the VM whose process table this is: a sentence; empty if it can. `own`:
/// it is the row of the VM's release and flavour, whose Process may have gained or lost members at its end. `cut`: the
/// image ends early.
std::string misfit(const Layout& row, bool own, const SlotTable& table, const LayoutScore& score, bool cut = false);

/// The form in which the links of a table's processes say their type: the layout's own if it holds, else another that
/// does; nothing where the image has no links, or none of the known forms.
std::optional<LinkTypes> link_types_of(bytes::MemoryReader& memory, const Layout& layout, const SlotTable& table);

/// How the flavour of a build is told from its version line.
Flavour flavour_of(const Build& build);

/// Chooses the layout of vm.image and fills the rest of `vm` by it. Errors: not_recognised.
Status choose_layout(Vm& vm);

}  // namespace beamheap::otp
