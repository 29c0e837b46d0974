// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/vm/young_heap.hpp"

#include "formats/otp/layout/tagged_word.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr std::uint64_t largest_block = 1ull << 42;  // words
// The end of the objects of an abandoned block: what is left of it is a dead bignum, and, where that is longer than its
// header, the block's last word is the number of words before it.
std::uint64_t end_of_objects(bytes::MemoryReader& memory, const Layout& layout, std::uint64_t block,
                             std::uint64_t words) {
    const std::uint64_t end = block + 8 * words;
    if (words < 2) return end;
    const auto used = memory.word(end - 8);
    if (!used || *used > words - 2) return end;
    const auto filler = memory.word(block + 8 * *used);
    const bool ends_here = filler && is_header(*filler) && layout.tags[header_subtag(*filler)] == Tag::positive_big &&
                           header_arity(*filler) == words - *used - 1;
    return ends_here ? block + 8 * *used : end;
}

}  // namespace

YoungHeap read_young_heap(bytes::MemoryReader& memory, const Layout& layout, const std::byte* process) {
    const Offsets& at = layout.at;
    YoungHeap heap;
    heap.start = load<Word>(process + at.process_heap);
    heap.top = load<Word>(process + at.process_htop);
    heap.stop = load<Word>(process + at.process_stop);
    heap.end = load<Word>(process + at.process_heap_end);
    heap.words = load<Word>(process + at.process_heap_words);
    const bool ordered =
        heap.start <= heap.top && heap.top <= heap.stop && heap.stop <= heap.end && heap.words <= largest_block;
    if (!ordered) return heap;
    const auto block = load<Word>(process + at.process_abandoned_heap);
    if (block == 0) {
        heap.fits = heap.start != 0 && heap.words != 0 && heap.end - heap.start == 8 * heap.words;
        return heap;
    }
    // The fragment's own head says how long it is; since OTP 27 a word behind the stack keeps the block's high water
    // mark.
    const std::byte* fragment = heap.start % 8 == 0 && block % 8 == 0
                                    ? memory.probe(heap.start - at.fragment_memory, at.fragment_memory)
                                    : nullptr;
    const std::uint64_t rest =
        fragment == nullptr ? ~0ull : load<Word>(fragment + at.fragment_allocated) - (heap.end - heap.start) / 8;
    heap.fits = rest <= 1 && (heap.end - heap.start) % 8 == 0 && memory.mapped(block);
    if (!heap.fits) return heap;
    heap.block = block;
    heap.block_top = end_of_objects(memory, layout, block, heap.words);
    return heap;
}

}  // namespace beamheap::otp
