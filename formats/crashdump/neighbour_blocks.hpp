// SPDX-License-Identifier: Apache-2.0
// Pieces of a file that stand near each other, read a block at a time.
//
// Theory. Whoever goes through all processes asks for thousands of small pieces in the order of the file, or backwards;
// a call of the system for each is most of what that costs. Whoever asks for one process wants a few pieces, and pages
// of memory for more are lost on it. So, as a kernel reads ahead, a piece near the one before begins a small block, and
// each block that is used up begins one of twice the size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "bytes/source.hpp"

namespace beamheap::crashdump {

class NeighbourBlocks {
public:
    /// Where a block begins: at the piece that is asked for, or so that the piece is in its middle.
    enum class Order : std::uint8_t { forwards, either };
    explicit NeighbourBlocks(Order order) : order_(order) {}

    struct Piece {
        std::shared_ptr<const char[]> block;  ///< keeps `text`
        std::string_view text;
    };
    /// `bytes` at `offset` of the input, where they are small and near what was asked for last; nothing: they are to be
    /// read by themselves. Any thread may call this.
    std::optional<Piece> find(const bytes::Source& source, std::uint64_t offset, std::size_t bytes);

    static constexpr std::size_t largest_piece = 1u << 17;

private:
    bool covers(std::uint64_t offset, std::size_t bytes) const;
    bool read(const bytes::Source& source, std::uint64_t offset, std::size_t bytes);
    const Order order_;
    std::mutex lock_;
    std::shared_ptr<char[]> block_;
    std::uint64_t begin_ = 0;  // of the block in the input
    std::size_t filled_ = 0;   // bytes of it
    std::size_t room_ = 0;     // that it has
    std::uint64_t end_ = 0;    // of the piece that was asked for last
};

}  // namespace beamheap::crashdump
