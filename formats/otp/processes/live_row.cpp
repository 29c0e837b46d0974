// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/processes/live_row.hpp"

#include <algorithm>
#include <vector>

namespace beamheap::otp {

using bytes::load;

std::uint64_t RowKey::version() const {
    std::uint64_t sum = 0xcbf29ce484222325ull;  // FNV-1a, a word at a time, mixed further
    for (const Word word : words) {
        sum = (sum ^ word) * 0x100000001b3ull;
        sum ^= sum >> 29;
    }
    return std::max<std::uint64_t>(sum, 1);
}

RowKey key_of(const Offsets& at, const std::byte* process) {
    const auto word = [process](std::uint32_t offset) { return load<Word>(process + offset); };
    RowKey key;
    key.words = {load<Word>(process),          word(at.process_heap),       word(at.process_htop),
                 word(at.process_stop),        word(at.process_heap_end),   word(at.process_reductions),
                 word(at.process_inner_queue), word(at.process_outer_queue)};
    key.state = load<std::uint32_t>(process + at.process_state);
    return key;
}

std::optional<RowKey> key_now(bytes::MemoryReader& memory, const Offsets& at, std::uint64_t process) {
    std::vector<std::byte> now(at.process_size);
    if (memory.view() == nullptr || !memory.view()->read_again(process, now)) return std::nullopt;
    return key_of(at, now.data());
}

}  // namespace beamheap::otp
