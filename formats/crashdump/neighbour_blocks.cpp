// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/neighbour_blocks.hpp"

#include <algorithm>
#include <atomic>

namespace beamheap::crashdump {
namespace {

constexpr std::size_t least_block = 1u << 14, most_block = 1u << 20;
constexpr std::uint64_t most_between = 1u << 15;  // bytes that are read for nothing between two pieces

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

}  // namespace

bool NeighbourBlocks::covers(std::uint64_t offset, std::size_t bytes) const {
    return block_ != nullptr && offset >= begin_ && offset + bytes <= begin_ + filled_;
}

bool NeighbourBlocks::read(const bytes::Source& source, std::uint64_t offset, std::size_t bytes) {
    const bool goes_on = room_ != 0 && distance(offset, begin_ + filled_) <= most_between + room_;
    const std::size_t wanted = std::max(goes_on ? std::min(2 * room_, most_block) : least_block, 2 * bytes);
    if (wanted != room_ || block_.use_count() != 1) {  // else nobody has a piece of it
        block_ = std::make_shared_for_overwrite<char[]>(wanted);
        room_ = wanted;
    }
    std::atomic_thread_fence(std::memory_order_acquire);  // who had one last has read it
    begin_ = order_ == Order::forwards ? offset : offset - std::min<std::uint64_t>(offset, (wanted - bytes) / 2);
    filled_ = 0;
    const auto got = source.read_at(begin_, {block_.get(), room_});
    if (!got) return false;
    filled_ = *got;
    return covers(offset, bytes);
}

std::optional<NeighbourBlocks::Piece> NeighbourBlocks::find(const bytes::Source& source, std::uint64_t offset,
                                                            std::size_t bytes) {
    if (bytes > largest_piece) return std::nullopt;
    const std::lock_guard guard(lock_);
    const bool near = end_ != 0 && distance(offset, end_) <= most_between;
    end_ = offset + bytes;
    if (!covers(offset, bytes) && !(near && read(source, offset, bytes))) return std::nullopt;
    return Piece{block_, std::string_view(block_.get() + (offset - begin_), bytes)};
}

}  // namespace beamheap::crashdump
