// SPDX-License-Identifier: Apache-2.0
// Carriers added up, and those that a few blocks keep.
#include <catch2/catch.hpp>

#include "analyses/memory/carrier_sums.hpp"
#include "analyses/memory/unreferenced_binaries.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

TEST_CASE("carriers add up by allocator", "[carriers]") {
    Carriers all;
    const auto add = [&all](std::uint32_t allocator, std::uint64_t bytes, std::uint64_t blocks, std::uint64_t used) {
        Carrier carrier;
        carrier.address = 0x4000 * (all.carriers.size() + 1);
        carrier.allocator = static_cast<TextId>(allocator);
        carrier.bytes = bytes;
        carrier.blocks = blocks;
        carrier.block_bytes = used;
        carrier.largest_hole = (bytes - used) / 2;
        all.carriers.push_back(carrier);
    };
    add(1, 1000, 5, 900);
    add(1, 1000, 1, 100);  // a tenth: nearly empty
    add(1, 1000, 1, 101);
    add(2, 5000, 2, 20);
    add(2, 500, 0, 0);  // empty: nothing keeps it
    all.carriers[2].pooled = true;
    add(2, 400, 1, 10);
    all.carriers.back().single = true;
    const std::vector<CarrierSum> sums = carrier_sums(all);
    REQUIRE(sums.size() == 2);
    CHECK(sums[0].allocator == static_cast<TextId>(2));
    CHECK(sums[0].carrier_bytes == 5900);
    CHECK(sums[0].single == 1);
    CHECK(sums[0].nearly_empty == 1);
    CHECK(sums[0].nearly_empty_bytes == 5000);
    CHECK(sums[0].largest_hole_bytes == 2490);
    CHECK(sums[1].blocks == 7);
    CHECK(sums[1].pooled == 1);
    CHECK(sums[1].nearly_empty == 1);
    CHECK(nearly_empty_carriers(all) == std::vector<std::uint32_t>{3, 1});
}

TEST_CASE("blocks that nothing refers to are grouped by size", "[carriers]") {
    const std::vector<CarrierBlock> blocks{{8, 100}, {16, 100}, {24, 5000}, {32, 100}, {40, 100}, {48, 700}};
    const std::vector<std::uint64_t> referenced{16, 17, 48};
    const UnheldBinaries unheld = unheld_binaries(blocks, referenced);
    CHECK(unheld.held_bytes == 800);
    CHECK(unheld.blocks == 4);
    CHECK(unheld.bytes == 5300);
    REQUIRE(unheld.groups.size() == 2);
    CHECK(unheld.groups[0].block_bytes == 5000);
    CHECK(unheld.groups[1].blocks == 3);
    CHECK(unheld.groups[1].bytes == 300);
}
