// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/processes/live_row.hpp"

#include <algorithm>
#include <vector>

#include "formats/otp/layout/tagged_word.hpp"

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

namespace {

constexpr std::uint64_t element_bytes = 64;      // of a queue, of a tree of links: enough for their first
constexpr std::uint64_t most_ahead = 32 * 1024;  // bytes of one heap or stack that are fetched unasked
constexpr unsigned most_binaries = 16;           // of one process

}  // namespace

void RowBatch::keys(std::vector<std::byte>& rows, std::vector<std::optional<RowKey>>& into) {
    const std::size_t size = layout_.at.process_size;
    rows.resize(processes_.size() * size);
    pieces_.clear();
    for (std::size_t i = 0; i < processes_.size(); ++i)
        pieces_.push_back({processes_[i], std::span(rows).subspan(i * size, size)});
    memory_.view()->read_again(pieces_);
    into.assign(processes_.size(), std::nullopt);
    for (std::size_t i = 0; i < processes_.size(); ++i)
        if (pieces_[i].whole()) into[i] = key_of(layout_.at, pieces_[i].into.data());
}

// What every row's reader looks at, and what `depth` is about. Pointers of a row that moves lead anywhere: what is no
// range there, or is not mapped, is left out.
void RowBatch::add_row(const std::byte* row, Depth depth) {
    const Offsets& at = layout_.at;
    const auto word = [row](std::uint32_t offset) { return load<Word>(row + offset); };
    const auto range = [this](std::uint64_t begin, std::uint64_t end) {
        if (begin != 0 && begin < end && end - begin <= most_ahead) ranges_.push_back({begin, end - begin});
    };
    for (const std::uint32_t offset : {at.process_inner_queue, at.process_outer_queue, at.process_links,
                                       at.process_monitors, at.process_monitored_by, at.process_dictionary,
                                       at.process_fragments, at.process_specific, at.process_registered})
        if (const std::uint64_t there = word(offset); there % 8 == 0) range(there, there + element_bytes);
    if (depth == Depth::row) return;
    range(word(at.process_stop), word(at.process_heap_end));
    if (depth == Depth::stack) return;
    range(word(at.process_heap), word(at.process_htop));
    range(word(at.process_old_heap), word(at.process_old_top));
}

// Objects that keep something outside of the heap are a list: the third word of each leads to the next.
void RowBatch::add_binaries(const std::byte* row) {
    std::uint64_t object = load<Word>(row + layout_.at.process_off_heap);
    for (unsigned i = 0; i < most_binaries && object != 0 && object % 8 == 0; ++i) {
        const std::uint64_t fetches = memory_.view()->fetches();
        const std::byte* words = memory_.probe(object, 40);
        if (words == nullptr || memory_.view()->fetches() != fetches) return;  // beyond what was fetched ahead
        const Tag tag = layout_.tags[header_subtag(load<Word>(words))];
        const bool reference = tag == Tag::binary_reference;
        if (reference || tag == Tag::refc_binary)
            ranges_.push_back({load<Word>(words + (reference ? 8 : 24)), element_bytes});
        object = load<Word>(words + 16);
    }
}

void RowBatch::fetch(std::span<const std::uint64_t> processes, Depth depth) {
    bytes::LiveView& view = *memory_.view();
    memory_.forget();
    processes_.assign(processes.begin(), processes.end());
    keys(rows_, before_);
    ranges_.clear();
    const auto each_row = [&](const auto& add) {
        for (std::size_t i = 0; i < processes_.size(); ++i)
            if (before_[i] && before_[i]->is_process()) add(row(i));
    };
    each_row([&](const std::byte* row) { add_row(row, depth); });
    view.fetch_ahead(ranges_);
    if (depth == Depth::heap) {
        ranges_.clear();
        each_row([&](const std::byte* row) { add_binaries(row); });
        view.fetch_ahead(ranges_);
    }
    fetched_ = view.fetches();
    keys(later_rows_, after_);
}

std::optional<RowKey> RowBatch::after(std::size_t i) {
    if (memory_.view()->fetches() == fetched_) return after_[i];
    return key_now(memory_, layout_.at, processes_[i]);
}

}  // namespace beamheap::otp
