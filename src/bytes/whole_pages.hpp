// SPDX-License-Identifier: Apache-2.0
// Memory for text that is read from files.
//
// Reading is copying out of the page cache, and some processors (AMD's Zen 3, as "rep movsb") take five times as long
// for a copy whose target lies 1 to 31 bytes further into its page than the source: 16 is what memory from `new` does
// to a file that is read from its beginning. So such buffers begin with a page, and what stands at an offset of the
// file is read to the place in a page that it has there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace beamheap::bytes {

inline constexpr std::size_t page_of_files = 4096;

/// The place in a page of what stands at this offset.
inline std::size_t place_in_page(std::uint64_t offset) { return static_cast<std::size_t>(offset % page_of_files); }

/// Bytes that are not initialised, from the start of a page on.
inline std::shared_ptr<char[]> whole_pages(std::size_t bytes) {
    constexpr auto alignment = std::align_val_t{page_of_files};
    return {static_cast<char*>(::operator new[](bytes, alignment)),
            [](char* memory) { ::operator delete[](memory, alignment); }};
}

}  // namespace beamheap::bytes
