// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory/ledger.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "present/spelling.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using test::MadeSnapshot;

namespace ledger_test {
namespace {

using Kind = LedgerOwner::Kind;

constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max() - 1;

void memory(MadeSnapshot& m, const char* key, Count bytes) { m.s.memory.push_back({m.text(key), bytes, {}}); }
void area(MadeSnapshot& m, const char* key, Count bytes) { m.s.areas.push_back({m.text(key), bytes, {}}); }
void module(MadeSnapshot& m, const std::string& name, std::uint64_t bytes) {
    m.s.modules.push_back({m.text(name), bytes, {}});
}
void table(MadeSnapshot& m, std::uint32_t owner, const std::string& name, std::uint64_t words) {
    EtsTable made;
    made.owner = {0, owner, 0};
    made.name = m.text(name);
    made.words = words;
    made.objects = words / 10;
    m.s.ets.push_back(made);
}
void allocator(MadeSnapshot& m, const char* name, std::uint64_t blocks, std::uint64_t carriers) {
    AllocatorInstance made;
    made.name = m.text(name);
    const auto line = [&](const char* key, std::uint64_t number) {
        AllocatorInstance::Line entry;
        entry.key = m.text(key);
        entry.numbers[0] = number;
        made.lines.push_back(entry);
    };
    line("mbcs blocks size", blocks);
    line("mbcs carriers size", carriers);
    m.s.allocators.push_back(made);
}
/// 1,000 words of young heap, 300 of them free or stack, of which the stack has 50: 6,400 bytes more beside the heaps.
Process& worker(MadeSnapshot& m, std::uint32_t number, std::string_view name = {}) {
    Process& p = m.process(number, name);
    p.real_initial_call = m.function("my", "init", 1);
    p.heap_words = 1000;
    p.old_heap_words = 0;
    p.heap_unused_words = 300;
    p.old_heap_unused_words = 0;
    p.fragment_words = 0;
    p.stack_words = 50;
    p.memory_bytes = 8000 + 6400;
    return p;
}

std::uint64_t bytes_of(const Ledger& ledger, LedgerArea area, const LedgerOwner& owner, LedgerItem item) {
    std::uint64_t bytes = 0;
    for (const LedgerRow& row : ledger.rows)
        if (row.area == area && row.owner == owner && row.item == item) bytes += row.bytes;
    return bytes;
}
LedgerOwner modules_named(const char* pattern) { return {.kind = Kind::modules, .pattern = pattern}; }
LedgerOwner vm(const char* name) { return {.kind = Kind::vm, .pattern = name}; }

/// What must hold of every ledger: rows add up to areas, areas to the sum, parts of the total to the total.
void adds_up(const Ledger& ledger) {
    std::array<std::uint64_t, ledger_areas> areas{};
    std::uint64_t sum = 0, told = 0;
    for (const LedgerRow& row : ledger.rows) {
        CHECK(row.bytes != 0);
        std::uint64_t& of = areas[static_cast<std::size_t>(row.area)];
        of = saturating_add(of, row.bytes);
        sum = saturating_add(sum, row.bytes);
        if (row.area <= LedgerArea::vm) told = saturating_add(told, row.bytes);
    }
    for (std::size_t i = 0; i < ledger_areas; ++i) CHECK(areas[i] == ledger.area_bytes[i]);
    CHECK(sum == ledger.sum_bytes);
    CHECK(told == ledger.told_bytes);
    if (ledger.total_bytes.has()) CHECK(told == *ledger.total_bytes + ledger.excess_bytes);
    else CHECK(ledger.excess_bytes == 0);
}

std::string place(MadeSnapshot& m) {
    const Ledger made = ledger({.snapshot = m.seal()});
    adds_up(made);
    return present::plain_text(m.s, largest_place(made).text);
}

/// A node of 1,000,000 bytes.
void node(MadeSnapshot& m, std::uint64_t processes, std::uint64_t binary, std::uint64_t ets, std::uint64_t code) {
    memory(m, "total", 1'000'000);
    memory(m, "processes", processes);
    memory(m, "binary", binary);
    memory(m, "ets", ets);
    memory(m, "code", code);
}

}  // namespace

TEST_CASE("what a process has is told part by part", "[ledger]") {
    MadeSnapshot m;
    node(m, 200'000, 0, 0, 0);
    worker(m, 1);
    worker(m, 2);
    worker(m, 3, "alone");
    const Ledger made = ledger({.snapshot = m.seal()});
    adds_up(made);
    const LedgerOwner group{.kind = Kind::processes, .function = m.function("my", "init", 1), .pattern = {}};
    const auto of = [&](LedgerItem item) { return bytes_of(made, LedgerArea::processes, group, item); };
    CHECK(of(LedgerItem::terms) == 2 * 700 * 8);
    CHECK(of(LedgerItem::stack) == 2 * 50 * 8);
    CHECK(of(LedgerItem::unused) == 2 * 250 * 8);
    CHECK(of(LedgerItem::structure) == 2 * 4096);
    CHECK(of(LedgerItem::beside) == 2 * (6400 - 4096));
    CHECK(of(LedgerItem::live) == 0);
    const LedgerOwner alone{.kind = Kind::process, .process = static_cast<ProcId>(2), .pattern = {}};
    CHECK(bytes_of(made, LedgerArea::processes, alone, LedgerItem::terms) == 5600);
    CHECK(bytes_of(made, LedgerArea::processes, {}, LedgerItem::untold) == 200'000 - 3 * 14400);
}

namespace {

/// A process that others monitor, and who holds 1,000 monitors on it: halves of 72 bytes, beside 800 of each structure.
void monitored(MadeSnapshot& m) {
    constexpr std::uint32_t many = 1000;
    for (const std::uint32_t number : {1u, 2u}) {
        Process& p = worker(m, number, number == 1 ? "watcher" : "watched");
        p.msgq_len = 0;
        p.memory_bytes = 8000 + 800 + 72 * many;
        p.link_range = {static_cast<std::uint32_t>(m.s.links.size()), many};
        p.monitors = number == 1 ? many : 0;
        Link link;
        link.kind = number == 1 ? LinkKind::monitors : LinkKind::monitored_by;
        link.pid = {0, number == 1 ? 2u : 1u, 0};
        m.s.links.insert(m.s.links.end(), many, link);
    }
}

void timer(MadeSnapshot& m, Pid receiver, const char* name, const char* message) {
    Timer made;
    made.receiver = receiver;
    if (name != nullptr) made.receiver_name = m.text(name);
    made.message = m.text(message);
    m.s.timers.push_back(made);
}

}  // namespace

TEST_CASE("both halves of a monitor are of who monitors", "[ledger]") {
    MadeSnapshot m;
    memory(m, "total", 200'000);
    memory(m, "processes", 180'000);
    monitored(m);
    const Ledger made = ledger({.snapshot = m.seal()});
    adds_up(made);
    const auto of = [&](std::uint32_t process, LedgerItem item) {
        return bytes_of(made, LedgerArea::processes,
                        {.kind = Kind::process, .process = static_cast<ProcId>(process), .pattern = {}}, item);
    };
    CHECK(of(0, LedgerItem::monitors) == 2 * 72 * 1000);
    CHECK(of(1, LedgerItem::monitors) == 0);
    CHECK(of(0, LedgerItem::structure) == 800);
    CHECK(of(1, LedgerItem::structure) == 800);
    CHECK(of(0, LedgerItem::beside) == 0);
    CHECK(present::plain_text(m.s, largest_place(made).text) ==
          "Of 195 KiB, 176 KiB (90 %) are in processes: watcher <0.1.0> has 149 KiB, mostly monitors.");
}

TEST_CASE("timers are of whom they will send to, as far as processes have room for them", "[ledger]") {
    MadeSnapshot m;
    node(m, 14'400 + 2 * (152 + 72) + 152 + 100, 0, 0, 0);
    worker(m, 1, "receiver");
    timer(m, {0, 1, 0}, nullptr, "{tick,1}");  // 3 words, 5 of a fragment and the header of its block
    timer(m, {}, "receiver", "{tock,2}");
    timer(m, {}, "nobody", "tick");
    timer(m, {0, 9, 0}, nullptr, "{tick,3}");
    const Ledger made = ledger({.snapshot = m.seal()});
    adds_up(made);
    const LedgerOwner receiver{.kind = Kind::process, .process = static_cast<ProcId>(0), .pattern = {}};
    CHECK(bytes_of(made, LedgerArea::processes, receiver, LedgerItem::timers) == 2 * (152 + 72));
    CHECK(bytes_of(made, LedgerArea::processes, {}, LedgerItem::timers) == 152 + 100);
    CHECK(made.excess_bytes == 0);
}

TEST_CASE("headers of blocks of fixed size types are told apart from the rest of the VM", "[ledger]") {
    MadeSnapshot m;
    node(m, 14'400, 0, 0, 0);
    worker(m, 1);
    allocator(m, "fix_alloc", 6400 + 500, 32768);
    const Ledger made = ledger({.snapshot = m.seal()});
    adds_up(made);
    CHECK(bytes_of(made, LedgerArea::vm, vm("fix_alloc"), LedgerItem::table) == 500);
}

TEST_CASE("decoded heaps tell live terms from garbage", "[ledger]") {
    MadeSnapshot m;
    node(m, 14'400, 0, 0, 0);
    Process& p = worker(m, 1);
    p.live_words = 600;
    p.garbage_words = 100;
    const Ledger made = ledger({.snapshot = m.seal()});
    adds_up(made);
    const LedgerOwner owner{.kind = Kind::process, .process = static_cast<ProcId>(0), .pattern = {}};
    CHECK(bytes_of(made, LedgerArea::processes, owner, LedgerItem::live) == 4800);
    CHECK(bytes_of(made, LedgerArea::processes, owner, LedgerItem::garbage) == 800);
    CHECK(bytes_of(made, LedgerArea::processes, owner, LedgerItem::terms) == 0);
}

TEST_CASE("registered processes whose names differ in numbers are one owner", "[ledger]") {
    MadeSnapshot m;
    node(m, 50'000, 0, 0, 0);
    worker(m, 1, "pool_1");
    worker(m, 2, "pool_2");
    worker(m, 3, "pool2");
    const Ledger made = ledger({.snapshot = m.seal()});
    adds_up(made);
    CHECK(bytes_of(made, LedgerArea::processes, {.kind = Kind::named, .pattern = "pool_<int>"}, LedgerItem::terms) ==
          2 * 5600);
}

TEST_CASE("one of many that has most is an owner of its own", "[ledger]") {
    MadeSnapshot m;
    node(m, 500'000, 0, 0, 0);
    for (std::uint32_t i = 1; i <= 3; ++i) worker(m, i);
    m.s.processes[1].memory_bytes = 400'000;
    CHECK(place(m) ==
          "Of 977 KiB, 488 KiB (50 %) are in processes: <0.2.0> (my:init/1) has 391 KiB, most likely aliases.");
    const Ledger made = ledger({.snapshot = m.s});
    const LedgerOwner others{.kind = Kind::processes, .function = m.function("my", "init", 1), .pattern = {}};
    CHECK(bytes_of(made, LedgerArea::processes, others, LedgerItem::terms) == 2 * 5600);
}

TEST_CASE("modules of one generator are one owner, with their constants", "[ledger]") {
    MadeSnapshot m;
    node(m, 0, 0, 0, 500'000);
    area(m, "loaded_code", 450'000);
    area(m, "export_table", 30'000);
    allocator(m, "literal_alloc", 70'000, 100'000);
    for (int i = 0; i < 50; ++i) module(m, "template_" + std::to_string(i), 9'000);
    module(m, "lists", 20'000);
    m.s.node.persistent_terms = 4;
    const Ledger made = ledger({.snapshot = m.seal()});
    adds_up(made);
    CHECK(bytes_of(made, LedgerArea::code, modules_named("template_<int>"), LedgerItem::code) == 450'000);
    CHECK(bytes_of(made, LedgerArea::code, modules_named("lists"), LedgerItem::code) == 20'000);
    CHECK(bytes_of(made, LedgerArea::code, vm("export_table"), LedgerItem::table) == 30'000);
    CHECK(bytes_of(made, LedgerArea::code, {}, LedgerItem::untold) == 20'000);  // 500,000 and 20,000 of constants
    CHECK(made.bytes_of(LedgerArea::persistent_terms) == 50'000);
    CHECK(made.bytes_of(LedgerArea::carriers) == 30'000);
    CHECK(present::plain_text(m.s, largest_place(made).text) ==
          "Of 977 KiB, 508 KiB (52 %) are code: 50 modules template_<int> have 439 KiB.");
}

TEST_CASE("tables are told by owner and by the form of their names", "[ledger]") {
    MadeSnapshot m;
    node(m, 0, 0, 600'000, 0);
    area(m, "ets_misc", 100'000);
    worker(m, 1, "owner");
    worker(m, 2, "other");
    for (auto& p : m.s.processes) p.memory_bytes = 0;
    table(m, 1, "cache_1", 10'000);
    table(m, 1, "cache_2", 20'000);
    table(m, 2, "cache_3", 5'000);
    table(m, 7, "orphan", 1'000);
    const Ledger made = ledger({.snapshot = m.seal()});
    adds_up(made);
    const auto of = [&](const char* name, ProcId process) {
        return bytes_of(made, LedgerArea::ets, {.kind = Kind::table, .process = process, .pattern = name},
                        LedgerItem::objects);
    };
    CHECK(of("cache_<int>", static_cast<ProcId>(0)) == 240'000);
    CHECK(of("cache_3", static_cast<ProcId>(1)) == 40'000);
    CHECK(of("orphan", ProcId::none) == 8'000);
    const LedgerOwner caches{.kind = Kind::table, .process = static_cast<ProcId>(0), .pattern = "cache_<int>"};
    CHECK(bytes_of(made, LedgerArea::ets, caches, LedgerItem::headers) == 24'000);
    CHECK(bytes_of(made, LedgerArea::ets, {}, LedgerItem::untold) == 500'000 - 288'000 - 28'800);
    CHECK(bytes_of(made, LedgerArea::vm, vm("ets_misc"), LedgerItem::table) == 100'000);
}

TEST_CASE("a binary is its owner's where one refers to it, else it is shared", "[ledger]") {
    MadeSnapshot m;
    node(m, 0, 500'000, 0, 0);
    worker(m, 1, "one");
    worker(m, 2, "two");
    for (auto& p : m.s.processes) p.memory_bytes = 0;
    const auto one = static_cast<ProcId>(0), two = static_cast<ProcId>(1);
    const std::vector<HeldBinary> held{{{0x100, 0, 10, one}}, {{0x100, 5, 10, one}}, {{0x200, 0, 10, one}},
                                       {{0x200, 0, 10, two}}, {{0x300, 0, 10, two}}, {{0x400, 0, 10, two}}};
    const StoredBinaries stored{
        .references = {{0x400, 0, 10, StoredBinary::persistent_term}, {0x500, 0, 10, StoredBinary::persistent_term}}};
    const Ledger made =
        ledger({.snapshot = m.seal(),
                .held = held,
                .size_of = [](std::uint64_t address) { return Count(address == 0x300 ? 1000 : 100'000); },
                .stored = &stored});
    adds_up(made);
    const auto of = [&](const LedgerOwner& owner, LedgerItem item) {
        return bytes_of(made, LedgerArea::binaries, owner, item);
    };
    CHECK(of({.kind = Kind::process, .process = one, .pattern = {}}, LedgerItem::binaries) == 100'000);
    CHECK(of({.kind = Kind::process, .process = two, .pattern = {}}, LedgerItem::binaries) == 1000);
    CHECK(of({}, LedgerItem::shared) == 200'000);
    CHECK(of(vm("persistent terms"), LedgerItem::binaries) == 100'000);
    CHECK(of({}, LedgerItem::untold) == 99'000);
}

TEST_CASE("who has the binaries are so many processes, not so many as there are binaries", "[ledger]") {
    MadeSnapshot m;
    node(m, 0, 500'000, 0, 0);
    for (const std::uint32_t number : {1u, 2u}) worker(m, number);
    std::vector<HeldBinary> held;
    for (std::uint64_t i = 0; i < 5; ++i) held.push_back({{0x100 + i, 0, 10, static_cast<ProcId>(i % 2)}});
    const Ledger made =
        ledger({.snapshot = m.seal(), .held = held, .size_of = [](std::uint64_t) { return Count(100'000); }});
    CHECK(present::plain_text(m.s, largest_place(made).text) ==
          "Of 977 KiB, 488 KiB (50 %) are binaries: 2 processes of my:init/1 have 488 KiB.");
}

TEST_CASE("virtual heaps say whose binaries are, unless these are shared", "[ledger]") {
    MadeSnapshot m;
    node(m, 0, 500'000, 0, 0);
    Process& p = worker(m, 1, "holder");
    p.memory_bytes = 0;
    p.bin_vheap_words = 50'000;
    SECTION("no more than there is") {
        CHECK(place(m) == "Of 977 KiB, 488 KiB (50 %) are binaries: holder <0.1.0> has about 391 KiB.");
    }
    SECTION("of several processes") {
        for (Process& each : m.s.processes) each.name = TextId::none, each.memory_bytes = 8000 + 6400;
        Process& other = worker(m, 2);
        other.bin_vheap_words = 5'000;
        CHECK(place(m) == "Of 977 KiB, 488 KiB (50 %) are binaries: 2 processes of my:init/1 have about 430 KiB.");
    }
    SECTION("counted for several") {
        Process& other = worker(m, 2, "second");
        other.memory_bytes = 0;
        other.bin_vheap_words = 50'000;
        CHECK(place(m) == "Of 977 KiB, 488 KiB (50 %) are binaries.");
    }
}

TEST_CASE("parts that say more than the whole are an excess, not a loss", "[ledger]") {
    MadeSnapshot m;
    memory(m, "total", 10'000);
    memory(m, "processes", 9'000);
    worker(m, 1);
    const Ledger made = ledger({.snapshot = m.seal()});
    adds_up(made);
    CHECK(made.told_bytes == 14'400);
    CHECK(made.excess_bytes == 4'400);
}

TEST_CASE("sums of forged sizes do not wrap", "[ledger]") {
    MadeSnapshot m;
    memory(m, "total", huge);
    memory(m, "processes", huge);
    memory(m, "binary", huge);
    memory(m, "code", huge);
    area(m, "loaded_code", huge);
    area(m, "process_table", huge);
    allocator(m, "literal_alloc", huge, huge);
    allocator(m, "eheap_alloc", 1, huge);
    for (std::uint32_t i = 1; i < 4; ++i) {
        Process& p = worker(m, i);
        p.memory_bytes = p.heap_words = p.old_heap_words = p.stack_words = p.bin_vheap_words = huge;
        p.live_words = huge;
        p.garbage_words = huge;
    }
    module(m, "a1", huge);
    module(m, "a2", huge);
    table(m, 1, "t", huge);
    const Ledger made = ledger({.snapshot = m.seal()});
    CHECK(made.told_bytes == huge);
    CHECK(made.sum_bytes == huge);
    CHECK(!largest_place(made).text.empty());
}

TEST_CASE("without a total the rows are one, from below", "[ledger]") {
    MadeSnapshot m;
    SECTION("nothing at all") { CHECK(place(m).empty()); }
    SECTION("heaps alone") {
        Process& p = worker(m, 1, "old");
        p.memory_bytes = {};
        const Ledger made = ledger({.snapshot = m.seal()});
        adds_up(made);
        CHECK(made.told_bytes == 8000);
        REQUIRE(!made.rows.empty());
        CHECK(made.rows.front().sure == Confidence::lower_bound);
        CHECK(present::plain_text(m.s, largest_place(made).text) ==
              "Of 7.8 KiB that the input tells of, 7.8 KiB (100 %) are in processes: old <0.1.0> has 7.8 KiB, mostly "
              "terms.");
    }
    SECTION("blocks of allocators") {
        worker(m, 1, "old");
        allocator(m, "eheap_alloc", 20'000, 30'000);
        allocator(m, "ll_alloc", 5'000, 6'000);
        const Ledger made = ledger({.snapshot = m.seal()});
        adds_up(made);
        CHECK(made.total_bytes == Count(25'000));
        CHECK(bytes_of(made, LedgerArea::processes, {}, LedgerItem::untold) == 20'000 - 14'400);
        CHECK(made.bytes_of(LedgerArea::carriers) == 11'000);
    }
    SECTION("a total of nothing") {
        memory(m, "total", 0);
        CHECK(place(m).empty());
    }
}

TEST_CASE("atoms take their share of the table", "[ledger]") {
    MadeSnapshot m;
    memory(m, "total", 100'000);
    memory(m, "atom", 90'000);
    for (int i = 0; i < 30; ++i) m.s.atoms.push_back(m.text("session_" + std::to_string(i)));
    for (const char* plain : {"a", "b", "c", "d", "e", "f"}) m.s.atoms.push_back(m.text(plain));
    CHECK(place(m) == "Of 97.7 KiB, 87.9 KiB (90 %) are atoms: 30 atoms session_<int> have 73.2 KiB.");
    CHECK(largest_place(ledger({.snapshot = m.s})).stands_out);
}

TEST_CASE("what nobody is known to have is not called the VM's own", "[ledger]") {
    MadeSnapshot m;
    memory(m, "total", 100'000);
    memory(m, "processes", 30'000);
    area(m, "process_table", 10'000);
    SECTION("in an allocator whose blocks are of all kinds") {
        allocator(m, "std_alloc", 60'000, 60'000);
        CHECK(place(m) ==
              "Of 97.7 KiB, 68.4 KiB (70 %) are in use, and nothing in the input says by whom: 58.6 KiB of it lie in "
              "std_alloc.");
    }
    SECTION("where that has less than half of it") {
        allocator(m, "std_alloc", 34'999, 60'000);
        CHECK(place(m) == "Of 97.7 KiB, 68.4 KiB (70 %) are in use, and nothing in the input says by whom.");
    }
    SECTION("where large tables are told") {
        allocator(m, "ll_alloc", 60'000, 60'000);
        const Ledger made = ledger({.snapshot = m.seal()});
        CHECK(made.untold_bytes(LedgerArea::vm) == 70'000);
        CHECK(made.untold_allocator == "ll_alloc");
        CHECK(made.untold_allocator_bytes == 50'000);  // without the process table
    }
    SECTION("where the VM's tables are most of it") {
        area(m, "port_table", 50'000);
        CHECK(place(m) == "Of 97.7 KiB, 78.1 KiB (80 %) are the VM's own: port_table has 48.8 KiB.");
    }
}

TEST_CASE("carriers are the place where more is free in them than all that is used", "[ledger]") {
    MadeSnapshot m;
    memory(m, "total", 100'000);
    allocator(m, "eheap_alloc", 10'000, 60'000);
    allocator(m, "binary_alloc", 10'000, 40'000);
    SECTION("some") {
        CHECK(place(m) == "Of 97.7 KiB, 78.1 KiB (80 %) are in use, and nothing in the input says by whom.");
    }
    SECTION("most") {
        allocator(m, "ets_alloc", 0, 100'000);
        CHECK(place(m) == "Of 273 KiB, 176 KiB (64 %) are free in carriers, 97.7 KiB of it in those of ets_alloc.");
    }
}

}  // namespace ledger_test
