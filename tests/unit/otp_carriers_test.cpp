// SPDX-License-Identifier: Apache-2.0
// Allocators and their carriers in made-up memory, every figure by hand.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>

#include "formats/otp/tables/allocators.hpp"
#include "formats/otp/tables/carriers.hpp"
#include "formats/otp/tables/tables.hpp"
#include "support/made_image.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::Blob;
using beamheap::test::MadeImage;

namespace {

constexpr std::uint64_t made_at = MadeImage::memory_at;
constexpr std::uint64_t single_flag = 2, pool_flag = 1, free_flag = 1, last_flag = 4, free_top = 1ull << 63;
constexpr std::uint64_t first_block = 0x40;  // where the blocks of a carrier begin, as its allocator says

// A VM with eheap_ for three threads, ets_ for two, and one binary_ that all threads share.
struct Allocators : MadeImage {
    explicit Allocators(std::uint32_t release = 25) : MadeImage(release) {
        memory.resize(0x200000);
        heaps = {allocator("eheap_"), allocator("eheap_"), allocator("eheap_")};
        tables = {allocator("ets_"), allocator("ets_")};
        binary = allocator("binary_");
        array(0x100, heaps);
        array(0x140, tables);
        statics.word(0x180, binary);
        // What looks like one at a glance: a constant, an odd address, memory without a known name.
        statics.word(0x188, constants_at + 8);
        statics.word(0x190, binary + 1);
        statics.word(0x198, made_at + 0x1f0000);
        // An array whose size is 0, and one whose first element is a known allocator.
        statics.word(0x1a0, 0);
        statics.word(0x1a8, arrays_at);
        statics.word(0x1b0, 1ull << 32);
        statics.word(0x1b8, arrays_at);
    }

    std::uint64_t allocator(std::string_view prefix) {
        const std::uint64_t address = made_at + next_;
        next_ += at().allocator_size;
        memory.word(address - made_at + at().allocator_prefix, constant(prefix));
        memory.word(address - made_at + at().allocator_header_size, first_block);
        return address;
    }
    void leave(std::uint64_t bytes) { next_ += bytes; }  // between allocators
    // ErtsAllocatorThrSpec_t {int enabled, dd, aix, size; Allctr_t** allctr}
    void array(std::size_t place, const std::vector<std::uint64_t>& addresses) {
        const std::uint64_t list = place == 0x100 ? arrays_at : arrays_at + 0x100;
        statics.put<std::int32_t>(place, 1);
        statics.put<std::int32_t>(place + 12, static_cast<std::int32_t>(addresses.size()));
        statics.word(place + 16, list);
        for (std::size_t i = 0; i < addresses.size(); ++i) memory.word(list - made_at + 8 * i, addresses[i]);
    }
    void put(std::uint64_t address, std::uint64_t word) { memory.word(address - made_at, word); }
    // A carrier's header; it goes to the end of its allocator's list where it is not pooled.
    void carrier(std::uint64_t address, std::uint64_t bytes, std::uint64_t owner, bool single = false,
                 bool pooled = false) {
        put(address, bytes | (single ? single_flag : 0));
        put(address + at().carrier_next, 0);
        put(address + at().carrier_allocator, owner | (pooled ? pool_flag : 0));
        if (pooled) return;
        std::uint64_t& last = lists[{owner, single}];
        if (last == 0) put(owner + (single ? at().allocator_single_carriers : at().allocator_carriers), address);
        else put(last + at().carrier_next, address);
        last = address;
    }
    void used(std::uint64_t address, std::uint64_t bytes, std::uint64_t flags = 0) {
        put(address, bytes | flags | 0xabcull << 40);  // above: where the carrier is
    }
    void hole(std::uint64_t address, std::uint64_t bytes, std::uint64_t flags = 0) {
        put(address, bytes | flags | free_flag | free_top);
    }

    static constexpr std::uint64_t arrays_at = made_at + 0x10000;
    std::vector<std::uint64_t> heaps, tables;
    std::uint64_t binary = 0;
    std::map<std::pair<std::uint64_t, bool>, std::uint64_t> lists;

private:
    std::uint64_t next_ = 0x100;
};

const Carrier* carrier_at(const Carriers& all, std::uint64_t address) {
    for (const Carrier& each : all.carriers)
        if (each.address == address) return &each;
    return nullptr;
}

}  // namespace

TEST_CASE("allocators are found by their names, in arrays and alone", "[otp][allocators]") {
    for (const std::uint32_t release : {23u, 25u, 27u}) {
        Allocators made(release);
        Reader& reader = made.start();
        const std::vector<AllocatorAt> found = find_allocators(made.vm, reader.memory);
        REQUIRE(found.size() == 6);
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(found[i].address == made.heaps[i]);
            CHECK(found[i].prefix == "eheap_");
            CHECK(found[i].instance == static_cast<std::int32_t>(i));
        }
        CHECK(found[3].address == made.tables[0]);
        CHECK(found[4].address == made.tables[1]);
        CHECK(found[4].instance == 1);
        CHECK(found[5].address == made.binary);
        CHECK(found[5].prefix == "binary_");
        CHECK(found[5].instance == -1);
    }
}

TEST_CASE("carriers of lists: blocks, holes and what keeps a nearly empty one", "[otp][carriers]") {
    Allocators made;
    const std::uint64_t full = made_at + 0x20000, sparse = made_at + 0x28000;
    made.carrier(full, 0x4000, made.heaps[1]);
    made.used(full + 0x40, 0x1000);
    made.hole(full + 0x1040, 0x100);
    made.used(full + 0x1140, 0x2000);
    made.hole(full + 0x3140, 0x200);
    made.used(full + 0x3340, 0x10);
    made.used(full + 0x3350, 0xc00, last_flag);  // what is left is no block: 0xb0 bytes

    made.carrier(sparse, 0x8000, made.heaps[1]);
    made.used(sparse + 0x40, 0x200);   // the heap of a process
    made.used(sparse + 0x240, 0x100);  // an old heap
    made.hole(sparse + 0x340, 0x7000);
    for (std::uint64_t i = 0; i < 3; ++i) made.used(sparse + 0x7340 + 0x20 * i, 0x20);  // of which two are told
    made.hole(sparse + 0x73a0, 0xc60, last_flag);

    Process process;
    process.pid = {0, 81, 2};
    process.name = made.snapshot.texts.intern("worker");
    process.offset = made_at + 0x180000;
    made.put(process.offset + made.at().process_heap, sparse + 0x48);
    made.put(process.offset + made.at().process_old_heap, sparse + 0x248);
    made.snapshot.processes.push_back(process);

    const Carriers all = read_carriers(made.start());
    CHECK(all.unknown == 0);
    REQUIRE(all.carriers.size() == 2);
    CHECK(std::is_sorted(all.carriers.begin(), all.carriers.end(),
                         [](const auto& a, const auto& b) { return a.address < b.address; }));

    const Carrier& a = all.carriers[0];
    CHECK(a.address == full);
    CHECK(a.bytes == 0x4000);
    CHECK(made.snapshot.text(a.allocator) == "eheap_alloc");
    CHECK(a.instance == 1);
    CHECK_FALSE(a.single);
    CHECK_FALSE(a.pooled);
    CHECK(a.blocks == 4);
    CHECK(a.block_bytes == 0x1000 + 0x2000 + 0x10 + 0xc00);
    CHECK(a.holes == 2);
    CHECK(a.free_bytes == 0x300);
    CHECK(a.largest_hole == 0x200);
    CHECK(a.kept_by.empty());

    const Carrier& b = all.carriers[1];
    CHECK(b.blocks == 5);
    CHECK(b.block_bytes == 0x360);
    CHECK(b.holes == 2);
    CHECK(b.free_bytes == 0x7c60);
    CHECK(b.largest_hole == 0x7000);
    CHECK(b.kept_by == std::vector<std::string>{"heap of worker <0.81.2>, 512 bytes",
                                                "old heap of worker <0.81.2>, 256 bytes", "a block of 32 bytes",
                                                "a block of 32 bytes"});
}

TEST_CASE("carriers of binaries: one large, or many, each with the addresses of its blocks", "[otp][carriers]") {
    Allocators made;
    const std::uint64_t large = made_at + 0x40000, small = made_at + 0x60000;
    made.carrier(large, 0x10000, made.binary, true);
    made.put(large + 32, 0xfe00 | free_top | 7);
    made.carrier(small, 0x2000, made.binary);
    made.used(small + 0x40, 0x80);
    made.put(small + 0x48 + made.at().binary_length, 100);
    made.hole(small + 0xc0, 0x1000);
    made.used(small + 0x10c0, 0x28);
    made.put(small + 0x10c8 + made.at().binary_length, 7);
    made.hole(small + 0x10e8, 0xf18, last_flag);
    const Carriers all = read_carriers(made.start());
    REQUIRE(all.carriers.size() == 2);

    const Carrier& c = all.carriers[0];
    CHECK(made.snapshot.text(c.allocator) == "binary_alloc");
    CHECK(c.instance == -1);
    CHECK(c.single);
    CHECK(c.blocks == 1);
    CHECK(c.block_bytes == 0xfe00);
    CHECK(c.free_bytes == 0x200);
    CHECK(c.holes == 0);

    const Carrier& d = all.carriers[1];
    CHECK_FALSE(d.single);
    CHECK(d.blocks == 2);
    CHECK(d.kept_by == std::vector<std::string>{fmt::format("binary {:X} of 100 bytes", small + 0x48),
                                                fmt::format("binary {:X} of 7 bytes", small + 0x10c8)});
    std::map<std::uint64_t, std::uint64_t> blocks;
    for (const CarrierBlock& each : all.binary_blocks) blocks[each.address] = each.bytes;
    CHECK(blocks ==
          std::map<std::uint64_t, std::uint64_t>{{large + 40, 0xfe00}, {small + 0x48, 0x80}, {small + 0x10c8, 0x28}});
}

TEST_CASE("carriers of the pool lie between the others, and are told from what was given back", "[otp][carriers]") {
    for (const std::uint64_t counted : {0, 2}) {
        Allocators made;
        const std::uint64_t listed = made_at + 0x20000, pooled = made_at + 0x28000, given_back = made_at + 0x30000,
                            other = made_at + 0x34000;
        const auto fill = [&made](std::uint64_t address, std::uint64_t bytes) {
            made.used(address + 0x40, 0x1000);
            made.hole(address + 0x1040, bytes - 0x1040, last_flag);
        };
        made.carrier(listed, 0x8000, made.tables[1]);
        made.carrier(pooled, 0x8000, made.tables[0], false, true);
        made.carrier(other, 0x4000, made.binary, false, true);
        made.put(given_back, 0x4000);
        made.put(given_back + made.at().carrier_allocator, made.tables[0]);
        // Inside of a carrier nothing is looked for.
        made.carrier(listed + 0x4000, 0x4000, made.tables[1], false, true);
        for (const std::uint64_t each : {listed, pooled, other}) fill(each, each == other ? 0x4000 : 0x8000);
        fill(given_back, 0x4000);
        fill(listed + 0x4000, 0x4000);
        made.used(listed + 0x40, 0x7f00, 0);
        made.hole(listed + 0x7f40, 0xc0, last_flag);
        made.put(made.tables[0] + made.at().allocator_pool_carriers, counted);
        const Carriers all = read_carriers(made.start());
        // Nobody looks for them where no allocator has given one up.
        REQUIRE(all.carriers.size() == (counted == 0 ? 1u : 3u));
        CHECK(all.carriers[0].address == listed);
        CHECK_FALSE(all.carriers[0].pooled);
        CHECK(all.carriers[0].block_bytes == 0x7f00);
        if (counted == 0) continue;
        CHECK(all.carriers[1].address == pooled);
        CHECK(all.carriers[1].pooled);
        CHECK(all.carriers[1].instance == 0);
        CHECK(all.carriers[1].bytes == 0x8000);
        CHECK(all.carriers[2].address == other);
        CHECK(made.snapshot.text(all.carriers[2].allocator) == "binary_alloc");
        CHECK(all.binary_blocks.size() == 1);
    }
}

TEST_CASE("carriers whose blocks lead nowhere are counted, not believed", "[otp][carriers]") {
    struct Damage {
        const char* what;
        void (*make)(Allocators&, std::uint64_t);
    };
    constexpr std::uint64_t place = made_at + 0x20000;
    const Damage damages[] = {
        {"no last block", [](Allocators& m, std::uint64_t a) { m.used(a + 0x1040, 0x2fc0); }},
        {"a block of no size", [](Allocators& m, std::uint64_t a) { m.used(a + 0x1040, 8, last_flag); }},
        {"a block beyond the end", [](Allocators& m, std::uint64_t a) { m.used(a + 0x1040, 0x2fc8, last_flag); }},
        {"the last block far from the end",
         [](Allocators& m, std::uint64_t a) { m.used(a + 0x1040, 0x1fc0, last_flag); }},
        {"of nobody", [](Allocators& m, std::uint64_t a) { m.put(a + m.at().carrier_allocator, made_at + 0x100000); }},
        {"a single one in the list of others", [](Allocators& m, std::uint64_t a) { m.put(a, 0x4000 | single_flag); }},
        {"smaller than its header", [](Allocators& m, std::uint64_t a) { m.put(a, 0x40); }},
        {"larger than the image", [](Allocators& m, std::uint64_t a) { m.put(a, 0x4000000); }},
    };
    for (const Damage& damage : damages) {
        INFO(damage.what);
        Allocators made;
        made.carrier(place, 0x4000, made.heaps[0]);
        made.used(place + 0x40, 0x1000);
        made.used(place + 0x1040, 0x1fc8, last_flag);  // 4088 bytes are left: less than a block could use
        made.carrier(place + 0x8000, 0x4000, made.heaps[2]);
        made.used(place + 0x8040, 0x3fc0, last_flag);
        CHECK(read_carriers(made.start()).carriers.size() == 2);
        damage.make(made, place);
        const Carriers all = read_carriers(made.start());
        CHECK(all.unknown == 1);
        CHECK(carrier_at(all, place) == nullptr);
        CHECK(carrier_at(all, place + 0x8000) != nullptr);
    }
}

TEST_CASE("written memory is in carriers, in native stacks or elsewhere", "[otp][carriers]") {
    constexpr std::uint64_t stack_at = 0x8000000;
    Allocators made;
    made.more.emplace_back(stack_at, Blob(0x3000));
    made.more.emplace_back(stack_at + 0x10000, Blob(0x5000));
    Blob status(336);
    status.put<std::uint32_t>(32, 7);
    status.word(112 + 8 * 19, stack_at + 0x2fff);
    made.notes.push_back({"CORE", 1, status});
    made.carrier(made_at + 0x20000, 0x8000, made.heaps[0]);
    made.used(made_at + 0x20040, 0x7fc0, last_flag);
    made.carrier(made_at + 0x40000, 0x4000, made.binary, true);
    made.put(made_at + 0x40020, 0x3fd0);
    const Carriers all = read_carriers(made.start());
    const std::uint64_t whole = 0x200000 + 0x1000 + 0x3000 + 0x5000;
    CHECK(all.mapped_bytes == Count(whole));
    CHECK(all.written_bytes == Count(whole));
    CHECK(all.stack_bytes == Count(0x3000));
    CHECK(all.carrier_bytes == Count(0xc000));
    CHECK(all.other_bytes == Count(whole - 0x3000 - 0xc000));
}

namespace {

// A figure of an allocator's rows: of all instances of a name, by key and column.
std::uint64_t figure(const Snapshot& s, const AllocatorInstance& row, std::string_view key, std::size_t column = 0) {
    for (const AllocatorInstance::Line& line : row.lines)
        if (s.text(line.key) == key) return line.numbers[column].value_or(~0ull);
    return ~1ull;
}

std::uint64_t memory_of(const Snapshot& s, std::string_view name) {
    for (const NamedBytes& each : s.memory)
        if (s.text(each.name) == name) return each.bytes.value_or(~0ull);
    return ~1ull;
}

}  // namespace

TEST_CASE("figures of allocators are what their structures hold, memory what erlang:memory adds up",
          "[otp][allocators]") {
    Allocators made;
    const Offsets& at = made.at();
    // Carriers by kind of segment: {count, size} three times; blocks by allocator: six numbers each, in the order of
    // kinds.
    const std::uint64_t multi = made.heaps[0] + at.allocator_multi, single = made.heaps[0] + at.allocator_single;
    for (std::uint64_t i = 0; i < 3; ++i) {
        made.put(multi + 16 * i, 1 + i);
        made.put(multi + 16 * i + 8, 1000 << i);
        made.put(single + 16 * i, 5 * i);
        made.put(single + 16 * i + 8, 70 * i);
    }
    made.put(multi + at.carrier_stats_max, 9);
    made.put(multi + at.carrier_stats_max + 8, 9000);
    made.put(multi + at.carrier_stats_max_ever, 8);
    made.put(multi + at.carrier_stats_max_ever + 8, 90'000);
    const auto blocks = [&](std::uint64_t stats, std::uint64_t kind, std::array<std::uint64_t, 6> numbers) {
        for (std::uint64_t i = 0; i < 6; ++i) made.put(stats + at.carrier_stats_blocks + 48 * kind + 8 * i, numbers[i]);
    };
    blocks(multi, 5, {11, 1100, 12, 1200, 13, 1150});  // eheap_: the highest ever size was not asked since
    blocks(single, 5, {21, 2100, 20, 2000, 25, 2500});
    blocks(multi, 1, {1, 3, 0, 0, 0, 0});  // temp_ and test_ are no part of the total
    blocks(multi, 11, {1, 5, 0, 0, 0, 0});
    made.put(made.heaps[2] + at.allocator_pool_blocks + 8 * 6, 4);  // ets_ in another's pooled carrier
    made.put(made.heaps[2] + at.allocator_pool_blocks_size + 8 * 6, 400);
    made.put(made.heaps[2] + at.allocator_pool_carriers, 2);
    made.put(made.heaps[2] + at.allocator_pool_carriers_size, 6400);
    blocks(made.binary + at.allocator_multi, 9, {2, 777, 0, 0, 0, 0});
    Reader& reader = made.start();
    made.vm.processes.bytes = 50;
    read_allocators(reader);
    Snapshot& s = made.snapshot;
    REQUIRE(s.allocators.size() == 6);
    const AllocatorInstance& first = s.allocators[0];
    CHECK(s.text(first.name) == "eheap_alloc");
    CHECK(first.instance == 0);
    CHECK(figure(s, first, "mbcs carriers") == 6);
    CHECK(figure(s, first, "mbcs carriers", 1) == 9);
    CHECK(figure(s, first, "mbcs carriers", 2) == 9);
    CHECK(figure(s, first, "mbcs carriers size") == 7000);
    CHECK(figure(s, first, "mbcs carriers size", 1) == 9000);
    CHECK(figure(s, first, "mbcs carriers size", 2) == 90'000);
    CHECK(figure(s, first, "sbcs carriers") == 15);
    CHECK(figure(s, first, "sbcs carriers size") == 210);
    CHECK(figure(s, first, "mbcs blocks[eheap_alloc] count") == 11);
    CHECK(figure(s, first, "mbcs blocks[eheap_alloc] count", 1) == 12);
    CHECK(figure(s, first, "mbcs blocks[eheap_alloc] count", 2) == 13);
    CHECK(figure(s, first, "mbcs blocks[eheap_alloc] size") == 1100);
    CHECK(figure(s, first, "mbcs blocks[eheap_alloc] size", 1) == 1200);
    CHECK(figure(s, first, "mbcs blocks[eheap_alloc] size", 2) == 1200);
    CHECK(figure(s, first, "sbcs blocks[eheap_alloc] size", 2) == 2500);
    CHECK(figure(s, s.allocators[2], "mbcs_pool blocks[ets_alloc] count") == 4);
    CHECK(figure(s, s.allocators[2], "mbcs_pool blocks[ets_alloc] size") == 400);
    CHECK(figure(s, s.allocators[2], "mbcs_pool carriers") == 2);
    CHECK(figure(s, s.allocators[2], "mbcs_pool carriers size") == 6400);
    // The JIT's code is no block: without it there is no total.
    CHECK(memory_of(s, "total") == ~1ull);
    CHECK(memory_of(s, "processes") == 3200 + 50);
    CHECK(memory_of(s, "binary") == 777);

    // With the sum of code before the code ranges, where it is no more than the modules and no less than half.
    s = Snapshot();
    reader.code_bytes = 5000;
    made.vm.roots.code_ranges = MadeImage::statics_at + 0x600;
    made.statics.word(0x600 - 8, 2499);
    made.statics.word(0x600 - 16, 5001);
    made.statics.word(0x600 - 256, 5000);
    Reader& again = made.start();
    again.code_bytes = 5000;
    read_allocators(again);
    CHECK(memory_of(s, "total") == 3200 + 400 + 777 + 5000);
    CHECK(memory_of(s, "processes_used") == 3200 + 50);
    CHECK(memory_of(s, "system") == 400 + 777 + 5000 - 50);
    REQUIRE(s.areas.size() == 2);
    CHECK(s.text(s.areas[0].name) == "process_table");
    CHECK(s.text(s.areas[1].name) == "loaded_code");
    CHECK(s.areas[1].bytes == Count(5000));
}

TEST_CASE("blocks of fixed sizes add to the processes' memory", "[otp][allocators]") {
    const std::uint32_t release = GENERATE(23u, 24u, 27u);
    Allocators made(release);
    const std::uint64_t fixed = made.allocator("fix_"), list = made_at + 0x90000;
    made.statics.word(0x1c0, fixed);
    made.put(fixed + made.at().allocator_fixed, list);
    // ErtsAlcFixList_t of 64 bytes: the size first, allocated at 32, used at 40. Types of processes alone count.
    for (std::uint64_t type = 0; type < 15; ++type) {
        made.put(list + 64 * type, 1ull << type);
        made.put(list + 64 * type + 32, 3);
        made.put(list + 64 * type + 40, 2);
    }
    const bool many = made.vm.layout.fixed_types == FixedTypes::since_24;
    CHECK(many == (release > 23));
    read_allocators(made.start());
    const std::uint64_t sizes =
        many ? 1 + (1 << 11) + (1 << 12) + 4 + 8 + 16 + 32 : 1 + (1 << 8) + (1 << 9) + 2 + 4 + 8 + 16;
    CHECK(memory_of(made.snapshot, "processes") == 3 * sizes);
}

TEST_CASE("the table of named tables is the block that points at them", "[otp][allocators]") {
    for (const unsigned pointers : {1u, 2u}) {
        Allocators made;
        const std::uint64_t block = made_at + 0x98000;
        for (std::uint32_t i = 0; i < 3; ++i) {
            EtsTable table;
            table.name = table.id = made.snapshot.texts.intern("t" + std::to_string(i));
            table.address = made_at + 0x70000 + 0x100 * i;
            made.snapshot.ets.push_back(table);
        }
        made.used(block, 0x2008);
        for (std::uint64_t i = 0; i < pointers; ++i)
            made.put(block + 8 + 0x500 * (i + 1), made_at + 0x70000 + 0x100 * i);
        made.statics.word(0x1d0, block + 8);
        // Another pointer leads to a block of no power of two, one to a free block.
        made.used(made_at + 0xa0000, 0x2018);
        made.hole(made_at + 0xa8000, 0x2008);
        for (const std::uint64_t wrong : {made_at + 0xa0000, made_at + 0xa8000})
            for (std::uint64_t i = 0; i < 3; ++i) made.put(wrong + 8 + 8 * i, made_at + 0x70000 + 0x100 * i);
        made.statics.word(0x1c8, made_at + 0xa0008);
        made.statics.word(0x1d8, made_at + 0xa8008);
        made.put(made.tables[0] + made.at().allocator_multi + made.at().carrier_stats_blocks + 48 * 6 + 8, 10'000);
        read_allocators(made.start());
        CHECK(memory_of(made.snapshot, "ets") == (pointers == 1 ? ~1ull : 10'000 + 0x2000));
    }
}

TEST_CASE("what zeros took of an allocator's counts is told", "[otp][allocators][losses]") {
    Allocators made;
    const Offsets& at = made.at();
    const std::uint64_t fixed = made.allocator("fix_"), list = made_at + 0x90000;
    made.statics.word(0x1c0, fixed);
    made.put(fixed + at.allocator_fixed, list);
    for (std::uint64_t type = 0; type < 15; ++type) made.put(list + 64 * type, 8);
    made.leave(0x4000);
    const std::uint64_t far = made.allocator("ets_");
    made.array(0x140, {made.tables[0], made.tables[1], far});
    made.put(far + at.allocator_size + 0x200, 1);  // something follows
    for (const std::uint64_t heap : {made.heaps[0], made.heaps[1], far}) {
        made.put(heap + at.allocator_carriers, made_at + 0x20000);
        made.put(heap + at.allocator_multi, 1);
    }
    const auto lost = [&](Anomaly kind) {
        made.snapshot = Snapshot();
        read_allocators(made.start());
        return made.snapshot.anomalies[kind].count;
    };
    const std::uint64_t missing = lost(Anomaly::structure_missing);  // kinds that this VM never had
    CHECK(lost(Anomaly::count_mismatch) == 0);
    SECTION("carriers, and counts none") { made.put(made.heaps[0] + at.allocator_multi, 0); }
    SECTION("counts some, and has none") { made.put(made.heaps[1] + at.allocator_single + 16, 2); }
    SECTION("the size of a type of its own size") { made.put(list, 0); }
    SECTION("a page that ends in the blocks of one") {
        for (std::uint64_t i = 0; i < 4096; i += 8) made.put(far + at.allocator_multi + 8 * 24 + i, 0);
    }
    CHECK(lost(Anomaly::count_mismatch) == 1);
    CHECK(lost(Anomaly::structure_missing) == missing);
}
