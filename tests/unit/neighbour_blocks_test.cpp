// SPDX-License-Identifier: Apache-2.0
// Pieces that are read a block at a time: the bytes of the file in any order, and how many reads and bytes that takes.
#include "formats/crashdump/neighbour_blocks.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "support/dump_text.hpp"

using namespace beamheap;
using crashdump::NeighbourBlocks;

namespace {

/// A file that counts what is read of it.
class CountedFile final : public bytes::Source {
public:
    explicit CountedFile(std::string text) : file_(std::move(text)) {}
    Result<std::size_t> read(std::span<char> into) override { return file_.read(into); }
    bool seekable() const override { return true; }
    void seek(std::uint64_t offset) override { file_.seek(offset); }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
        auto got = file_.read_at(offset, into);
        ++reads, bytes += got ? *got : 0;
        return got;
    }
    std::optional<std::uint64_t> size() const override { return file_.size(); }
    std::uint64_t stored_position() const override { return file_.stored_position(); }
    std::uint64_t stored_size() const override { return file_.stored_size(); }
    mutable std::size_t reads = 0, bytes = 0;

private:
    test::TextFile file_;
};

std::string letters(std::size_t size) {
    std::string text(size, ' ');
    std::mt19937 random(7);
    for (char& each : text) each = static_cast<char>('a' + random() % 26);
    return text;
}

}  // namespace

TEST_CASE("pieces of blocks are those of the file, whatever the order", "[blocks]") {
    const std::string text = letters(3'000'000);
    for (const auto order : {NeighbourBlocks::Order::forwards, NeighbourBlocks::Order::either}) {
        const CountedFile file(text);
        NeighbourBlocks blocks(order);
        std::mt19937 random(11);
        std::uint64_t at = 0;
        std::size_t found = 0;
        for (int i = 0; i < 20'000; ++i) {
            const std::size_t bytes = random() % 3000;
            const std::uint64_t step = random() % 20'000;
            at = i % 3 == 0 ? at - std::min<std::uint64_t>(at, step) : at + step / 2;
            if (at + bytes > text.size()) at = random() % 1000;
            const auto piece = blocks.find(file, at, bytes);
            if (!piece) continue;
            ++found;
            REQUIRE(piece->text == std::string_view(text).substr(at, bytes));
        }
        CHECK(found > 10'000);
    }
}

TEST_CASE("who goes through a file reads it in few blocks, who looks at one place reads little", "[blocks]") {
    const std::string text = letters(8'000'000);
    const auto read = [&](bool backwards, NeighbourBlocks::Order order) {
        const CountedFile file(text);
        NeighbourBlocks blocks(order);
        for (std::uint64_t i = 1; i + 1 < text.size() / 1000; ++i)
            (void)blocks.find(file, 1000 * (backwards ? text.size() / 1000 - 1 - i : i), 800);
        return std::pair(file.reads, file.bytes);
    };
    CHECK(read(false, NeighbourBlocks::Order::forwards).first <= 16);
    CHECK(read(false, NeighbourBlocks::Order::forwards).second <= text.size() + (1u << 20));
    CHECK(read(false, NeighbourBlocks::Order::either).first <= 32);
    CHECK(read(true, NeighbourBlocks::Order::either).first <= 32);

    const CountedFile file(text);
    NeighbourBlocks blocks(NeighbourBlocks::Order::forwards);
    for (const std::uint64_t place : {1'000'000u, 4'000'000u, 2'000'000u})
        for (std::uint64_t i = 0; i < 4; ++i) (void)blocks.find(file, place + 1000 * i, 800);
    CHECK(file.reads == 3);
    CHECK(file.bytes <= 3u << 14);
    CHECK_FALSE(blocks.find(file, 2'000'000, NeighbourBlocks::largest_piece + 1));
    CHECK_FALSE(blocks.find(file, text.size() - 10, 20));  // it ends before that
}
