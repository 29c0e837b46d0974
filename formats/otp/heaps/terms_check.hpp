// SPDX-License-Identifier: Apache-2.0
// Proves on the heaps of an image that a layout's terms are this VM's: tags, sizes of objects, where their terms are.
//
// A heap has no gaps. Walked from its start by the sizes that headers tell, the walk ends exactly at its top, and every
// pointer into it leads to the start of an object of the kind that the pointer says. One wrong size or tag breaks both
// at once, for that heap and nearly every other. Layouts that a VM of their release has proved need no such check; of
// others no term is read without it.
#pragma once

#include <cstdint>

#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// What walking some heaps found.
struct TermsFit {
    std::uint32_t heaps = 0;  ///< walked: of processes at rest, neither tiny nor huge
    std::uint32_t whole = 0;  ///< without gap or stray pointer
    std::uint64_t words = 0;  ///< in the whole ones
    bool good() const { return heaps != 0 && whole * 10ull >= heaps * 9ull; }
};

/// Whether the heap whose words begin at address `start` is whole, as above.
bool heap_is_whole(const Layout& layout, bytes::Bytes heap, std::uint64_t start);

/// Walks the young heaps of some processes.
TermsFit check_terms(const Vm& vm);

/// For a layout that is unproven: sets vm.terms_readable by what its heaps show, and tells it to `doctor` and the user.
void prove_terms(Vm& vm);

}  // namespace beamheap::otp
