// SPDX-License-Identifier: Apache-2.0
// Files that somebody cuts off while they are mapped.
//
// Large inputs are mapped. Where a file becomes shorter, the system sends SIGBUS to whoever looks at a page that is
// gone, in the middle of everything, and that ends a process. The program says so and ends (console/terminal.hpp); a
// library has no right to. While a CutGuard stands, zeros are put in the place of what is gone, which readers get over
// as over any damage, and whoever stands guard knows that the answer is none.
#pragma once

#include <cstddef>

namespace beamheap::bytes {

/// A file is mapped there, and not any more. Any thread may call this.
void note_mapping(const void* pages, std::size_t bytes) noexcept;
void forget_mapping(const void* pages) noexcept;

/// One at a time. Signals of other memory than what was noted go to whom they went before.
class CutGuard {
public:
    CutGuard() noexcept;
    CutGuard(const CutGuard&) = delete;
    CutGuard& operator=(const CutGuard&) = delete;
    ~CutGuard();
    /// Whether something was missing so far.
    bool cut() const noexcept;
};

}  // namespace beamheap::bytes
