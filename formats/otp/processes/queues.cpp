// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/processes/queues.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr std::size_t outer_buffers = 64;  // ERTS_PROC_SIG_INQ_BUFFERED_NR_OF_BUFFERS

// A process has one block of eight markers, ErtsRecvMarkerBlock: eight references, the markers, and four bytes.
std::uint64_t marker_bytes(const Offsets& at) {
    constexpr std::uint64_t markers = 8;
    return at.marker_block_size == absent || at.marker_block_size < markers * 8
               ? 0
               : (at.marker_block_size - markers * 8) / markers & ~7ull;
}

}  // namespace

QueueWalk::QueueWalk(Decoder& reader, const std::byte* process) : reader_(reader) {
    const Offsets& at = reader.at;
    // An outer queue is {first, last, ...}; last is the address of the last element's `next`, which is its first member
    // (ErtsSignalInQueue and ErtsMessage in erl_message.h, OTP 23 to 29).
    const bool live = reader.memory.view() != nullptr;
    lists_[lists_count_++] = load<Word>(process + at.process_inner_queue);
    lists_[lists_count_++] = load<Word>(process + at.process_middle_queue);
    if (at.process_queue_buffers != absent) {
        const auto buffers = load<Word>(process + at.process_queue_buffers);
        const std::byte* array =
            buffers == 0 ? nullptr : reader.memory.at(buffers, std::uint64_t{at.buffer_size} * outer_buffers);
        for (std::size_t i = 0; array != nullptr && i < outer_buffers; ++i) {
            if (live && at.buffer_queue + 2 * sizeof(Word) <= at.buffer_size)
                ends_[lists_count_] = load<Word>(array + i * at.buffer_size + at.buffer_queue + sizeof(Word));
            lists_[lists_count_++] = load<Word>(array + i * at.buffer_size + at.buffer_queue);
        }
        cut_ = buffers != 0 && array == nullptr;
    }
    if (live) ends_[lists_count_] = load<Word>(process + at.process_outer_queue + sizeof(Word));
    lists_[lists_count_++] = load<Word>(process + at.process_outer_queue);
    at_ = lists_[0];
}

bool QueueWalk::next_list() {
    if (++list_ >= lists_count_) return false;
    at_ = lists_[list_];
    cycle_ = {};
    return true;
}

// Others append to a queue while it is followed, and change the last element alone: those before it are read with all
// that their pages hold, and the last one is not asked what follows.
bool QueueWalk::next(Signal& signal) {
    for (;;) {
        if (at_ == 0) {
            if (!next_list()) return false;
            continue;
        }
        const std::byte* p = at_ % 8 == 0 ? reader_.memory.at(at_, reader_.at.message_words + 24) : nullptr;
        // What is still encoded has its fragment: neither is there where zero bytes are all that is left of a message.
        if (p == nullptr || (load<Word>(p + reader_.at.message_words) == non_value &&
                             load<Word>(p + reader_.at.message_attached) == 0)) {
            cut_ = true;
            at_ = 0;
            continue;
        }
        signal.address = at_;
        signal.attached = load<Word>(p + reader_.at.message_attached);
        signal.term = load<Word>(p + reader_.at.message_words);
        signal.token = load<Word>(p + reader_.at.message_words + 8);
        signal.sender = load<Word>(p + reader_.at.message_words + 16);
        at_ = signal.address == ends_[list_] ? 0 : load<Word>(p);
        if (at_ != 0 && cycle_.closed_by(at_)) {
            cyclic_ = true;
            at_ = 0;
        }
        return true;
    }
}

Count fragment_words(Decoder& reader, const Signal& signal) {
    const Offsets& at = reader.at;
    std::uint64_t fragment = signal.attached == 1 ? signal.address + at.message_fragment : signal.attached;
    std::uint64_t words = 0;
    Cycle cycle;
    while (fragment != 0 && !cycle.closed_by(fragment)) {
        const std::byte* p = reader.memory.at(fragment, at.fragment_memory);
        if (p == nullptr) return {};
        const auto used = load<Word>(p + at.fragment_used);
        if (used > reader.memory.space().most_bytes() / 8) return {};
        words += used;
        fragment = load<Word>(p + at.fragment_next);
    }
    return words;
}

std::uint64_t least_messages(const Decoder& reader, const std::byte* process) {
    const Offsets& at = reader.at;
    const std::uint32_t where =
        at.process_message_length != absent ? at.process_message_length : at.process_inner_queue_length;
    const auto counted = where == absent ? 0 : static_cast<std::int64_t>(load<Word>(process + where));
    return counted > 0 ? static_cast<std::uint64_t>(counted) : 0;
}

QueueSums sum_queues(Decoder& reader, const std::byte* process) {
    const Offsets& at = reader.at;
    const std::uint64_t block = at.process_marker_block == absent ? 0 : load<Word>(process + at.process_marker_block);
    QueueSums sums;
    QueueWalk walk(reader, process);
    for (Signal signal; walk.next(signal);) {
        if (signal.message()) {
            ++sums.messages;
            if (signal.attached == 0) continue;
            const Count words = fragment_words(reader, signal);
            sums.fragment_words += words.value_or(0);
            sums.fragments_cut |= !words.has();
        } else {
            ++sums.others;
            if (block != 0 && signal.address >= block && signal.address - block < at.marker_block_size)
                sums.marker_bytes += marker_bytes(at);
        }
    }
    sums.cut = walk.cut();
    sums.cyclic = walk.cyclic();
    return sums;
}

}  // namespace beamheap::otp
