// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "analyses/memory/allocators.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using test::MadeSnapshot;

namespace {

struct Line {
    const char* key;
    std::vector<std::uint64_t> numbers;
    const char* text = "";
};

void allocator(MadeSnapshot& m, const char* name, std::int32_t instance, const std::vector<Line>& lines) {
    AllocatorInstance made;
    made.name = m.text(name);
    made.instance = instance;
    for (const Line& line : lines) {
        AllocatorInstance::Line entry;
        entry.key = m.text(line.key);
        for (std::size_t i = 0; i < line.numbers.size(); ++i) entry.numbers[i] = line.numbers[i];
        entry.text = m.text(line.text);
        made.lines.push_back(entry);
    }
    m.s.allocators.push_back(made);
}

}  // namespace

TEST_CASE("figures up to OTP 22", "[allocators]") {
    MadeSnapshot m;
    allocator(m, "eheap_alloc", 2,
              {{"option e", {}, "true"},
               {"mbcs blocks", {36, 46, 46}},
               {"mbcs blocks size", {735176, 1477944, 1477944}},
               {"mbcs carriers", {3, 4, 4}},
               {"mbcs mseg carriers", {2}},
               {"mbcs carriers size", {1441968, 3539120, 3539120}},
               {"mbcs mseg carriers size", {1310720}},
               {"mbcs_pool blocks", {1}},
               {"mbcs_pool blocks size", {7376}},
               {"mbcs_pool carriers", {1}},
               {"mbcs_pool carriers size", {1000000}},
               {"sbcs blocks", {1, 3, 3}},
               {"sbcs blocks size", {1581921416, 3121963208, 3121963208}},
               {"sbcs carriers", {1, 3, 3}},
               {"sbcs carriers size", {1582301184, 3122348032, 3122348032}},
               {"eheap_alloc calls", {1177}}});
    const AllocatorReport report = allocators(m.seal());
    REQUIRE(report.instances.size() == 1);
    const AllocatorUse& use = report.instances[0];
    CHECK(use.instance == 2);
    CHECK(use.mbcs.blocks == Count(37));
    CHECK(use.mbcs.block_bytes == Count(735176 + 7376));
    CHECK(use.mbcs.carriers == Count(4));
    CHECK(use.mbcs.carrier_bytes == Count(2441968));
    CHECK(use.pool.carrier_bytes == Count(1000000));
    CHECK(use.mbcs.max_block_bytes == Count(1477944));
    CHECK(use.sbcs.block_bytes == Count(1581921416));
    CHECK(use.block_bytes == Count(735176 + 7376 + 1581921416));
    CHECK(use.lost_bytes == Count(2441968 + 1582301184 - 735176 - 7376 - 1581921416));
    CHECK(*use.fragmentation() == Approx(2079184.0 / 1584743152.0));
    CHECK(*use.recon_mbcs_usage() == Approx(742552.0 / 2441968));
    CHECK(*use.recon_mbcs_max_usage() == Approx(1477944.0 / 3539120));
    CHECK(*use.recon_sbcs_max_usage() == Approx(0.99988).epsilon(0.0001));
    CHECK(!use.foreign_block_bytes.has());
}

TEST_CASE("figures since OTP 23 name the blocks' own allocator", "[allocators]") {
    MadeSnapshot m;
    allocator(m, "eheap_alloc", 1,
              {{"mbcs blocks[sys_alloc] count", {2, 2, 2}},
               {"mbcs blocks[sys_alloc] size", {100, 100, 100}},
               {"mbcs blocks[eheap_alloc] count", {10, 20, 20}},
               {"mbcs blocks[eheap_alloc] size", {500, 900, 950}},
               {"mbcs carriers", {1, 1, 1}},
               {"mbcs carriers size", {1000, 1000, 1000}},
               {"mbcs_pool blocks[eheap_alloc] size", {300}},
               {"mbcs_pool carriers size", {1000}},
               {"sbcs blocks[eheap_alloc] size", {0, 0, 5091008}},
               {"sbcs carriers size", {0, 0, 5099520}}});
    const AllocatorReport report = allocators(m.seal());
    const AllocatorUse& use = report.instances[0];
    CHECK(use.mbcs.blocks == Count(12));
    CHECK(use.mbcs.block_bytes == Count(900));
    CHECK(use.foreign_block_bytes == Count(100));
    CHECK(use.lost_bytes == Count(1100));
    CHECK(*use.fragmentation() == Approx(0.55));
    // The two highest figures were not at one time: together at most the carriers.
    CHECK(use.mbcs.max_block_bytes == Count(1000));
    CHECK(*use.recon_sbcs_usage() == 1.0);
    CHECK(!use.sbcs.usage());
}

TEST_CASE("instances add up by allocator and over all", "[allocators]") {
    MadeSnapshot m;
    const std::vector<Line> busy{{"mbcs blocks size", {100, 100, 100}}, {"mbcs carriers size", {1000, 1000, 1000}}};
    const std::vector<Line> full{{"mbcs blocks size", {900, 100, 100}}, {"mbcs carriers size", {1000, 1000, 1000}}};
    allocator(m, "sys_alloc", -1, {{"option e", {}, "true"}, {"option m", {}, "libc"}});
    allocator(m, "binary_alloc", 0, full);
    allocator(m, "binary_alloc", 1, busy);
    allocator(m, "ets_alloc", 1, full);
    allocator(m, "std_alloc", -1, {{"option e", {}, "false"}});
    allocator(m, "sbmbc_alloc", -1, full);  // its blocks are the others' carriers
    allocator(m, "alloc_util", -1, {{"option mmc", {1024}}});
    allocator(m, "mseg_alloc", 0,
              {{"segments", {7, 10, 10}},
               {"segments_size", {21495808, 42246144, 42246144}},
               {"cached_segments", {10}},
               {"cache_hits", {39}},
               {"mseg_alloc calls", {75}}});
    allocator(m, "mseg_alloc", 1, {{"segments_size", {12800000, 16994304, 16994304}}});
    allocator(m, "erts_mmap.literal_mmap", -1,
              {{"supercarrier total size", {1073741824}}, {"supercarrier used size", {1114112}}});
    allocator(m, "erts_mmap.default_mmap", -1, {{"os mmap size used", {101609472}}});
    m.s.memory.push_back({m.text("total"), 5000, Count()});
    const Snapshot& s = m.seal();
    const AllocatorReport report = allocators(s);
    CHECK(report.instances.size() == 6);
    CHECK(s.text(report.instances[0].name) == "binary_alloc");
    CHECK(report.instances[0].instance == 1);
    REQUIRE(report.types.size() == 5);
    CHECK(s.text(report.types[0].name) == "binary_alloc");
    CHECK(report.types[0].instances == 2);
    CHECK(report.types[0].block_bytes == Count(1000));
    CHECK(report.types[0].lost_bytes == Count(1000));
    CHECK(report.total.block_bytes == Count(1900));
    CHECK(report.total.carrier_bytes == Count(3000));
    CHECK(report.memory_total_bytes == Count(5000));
    CHECK(report.segment_bytes == Count(34295808));
    CHECK(report.segments[0].calls == Count(75));
    REQUIRE(report.mmaps.size() == 2);
    CHECK(*report.mmaps[0].supercarrier_percent == Approx(0.1038).epsilon(0.001));
    CHECK(!report.mmaps[1].supercarrier_percent);
    for (const AllocatorUse& type : report.types)
        if (s.text(type.name) == "std_alloc") {
            CHECK(!type.enabled);
            CHECK(!type.carrier_bytes.has());
            CHECK(!type.fragmentation());
        }
}

TEST_CASE("odd and forged figures of allocators", "[allocators]") {
    CHECK(allocators(Snapshot{}).instances.empty());
    CHECK(!allocators(Snapshot{}).total.carrier_bytes.has());
    MadeSnapshot m;
    constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max() - 1;
    for (int i = 0; i < 2; ++i)
        allocator(m, "ets_alloc", i,
                  {{"mbcs blocks size", {huge, huge, huge}},
                   {"mbcs carriers size", {5, 5, 5}},
                   {"mbcs blocks[", {1}},
                   {"mbcs blocks[x]", {1}},
                   {"mbcs ", {1}},
                   {"mbcs blocks sizes", {1}}});
    const AllocatorReport report = allocators(m.seal());
    CHECK(report.total.block_bytes == Count(huge));
    CHECK(!report.total.lost_bytes.has());  // more blocks than carriers: no such thing as a negative loss
    CHECK(!report.total.fragmentation());
}
