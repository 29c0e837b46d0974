// SPDX-License-Identifier: Apache-2.0
// The figures of findings, each on both sides of its threshold: snapshots made by hand whose sums are known.
#include <algorithm>
#include <catch2/catch.hpp>

#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/rules.hpp"
#include "present/spelling.hpp"
#include "support/made_findings.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

struct FigureNode : test::MadeNode {
    std::vector<test::FoundWithText> findings(const std::vector<PinnedBinaries>& pinned = {}) {
        return told([&](Facts& facts) { facts.put(Pinned{pinned}); });
    }
    void allocator(std::string_view name, std::uint64_t block_bytes, std::uint64_t carrier_bytes) {
        AllocatorInstance made;
        made.name = text(name);
        made.instance = 1;
        const auto line = [&](const char* key, std::uint64_t now, std::uint64_t most) {
            made.lines.push_back({text(key), {now, most, most}, TextId::none});
        };
        line("mbcs blocks size", block_bytes, carrier_bytes - test::mebibyte);
        line("mbcs carriers size", carrier_bytes, carrier_bytes);
        line("sbcs blocks size", 0, 0);
        line("sbcs carriers size", 0, 0);
        s.allocators.push_back(made);
    }
};

/// The numbers of its evidence, in order; -1 for what is told in words.
std::vector<double> figures(const Finding& finding) {
    std::vector<double> numbers;
    for (const Evidence& evidence : finding.evidence) numbers.push_back(evidence.number.value_or(-1));
    return numbers;
}

}  // namespace

TEST_CASE("binaries that slices pin: bytes, share and threshold", "[figures]") {
    const auto found = [](PinnedBinaries pinned, std::uint64_t binaries) {
        FigureNode node;
        node.process(1, "cache");
        node.memory("total", 200 * test::mebibyte);
        node.memory("binary", binaries);
        pinned.process = ProcId{0};
        return test::of(node.findings({pinned}), "binary-pinning");
    };
    PinnedBinaries pinned{.slices = 3, .binaries = 2, .seen_bytes = 1000, .pinned_bytes = 20 * test::mebibyte};
    const std::vector<test::FoundWithText> one = found(pinned, 60 * test::mebibyte);
    REQUIRE(one.size() == 1);
    CHECK(one[0].words ==
          "cache: 20.0 MiB of binaries stay because of 3 slices that see 1000 B of them, held by cache <0.1.0>\n"
          "  slices: 3\n"
          "  binaries that they are parts of: 2\n"
          "  bytes that they show: 1000\n"
          "  bytes that nobody sees: 20971520\n"
          "  all binaries of the node: 62914560\n"
          "-> Copy what is to be kept: binary:copy/1 before a slice is stored.\n"
          "-> See which binaries they are: beamheap binaries DUMP --sort pinned_bytes\n"
          "-> See where the slices are kept: beamheap heap DUMP 0.1.0\n"
          "-> For processes that only pass binaries on: hibernate, or a low fullsweep_after.\n");
    CHECK(one[0].bytes == Count(20 * test::mebibyte));
    CHECK(one[0].count == Count(3));
    CHECK(one[0].percent == Approx(10));
    CHECK(one[0].severity == FindingSeverity::medium);
    CHECK(one[0].confidence == Confidence::exact);
    CHECK(one[0].process == ProcId{0});
    const std::vector<double> numbers = figures(one[0]);
    REQUIRE(numbers.size() >= 5);
    CHECK(std::vector(numbers.begin(), numbers.begin() + 5) ==
          std::vector<double>{3, 2, 1000, 20.0 * test::mebibyte, 60.0 * test::mebibyte});

    pinned.by_subtraction = true;
    CHECK(found(pinned, 60 * test::mebibyte)[0].confidence == Confidence::estimate);
    // No more than all binaries have.
    CHECK(found(pinned, 12 * test::mebibyte)[0].bytes == Count(12 * test::mebibyte));
    pinned.pinned_bytes = 8 * test::mebibyte;
    CHECK(found(pinned, 60 * test::mebibyte).size() == 1);
    CHECK(found(pinned, 161 * test::mebibyte).size() ==
          1);  // less than a twentieth of them: only all binaries are told
    CHECK(found(pinned, 161 * test::mebibyte)[0].subject.kind == SubjectKind::binaries);
    pinned.pinned_bytes = 8 * test::mebibyte - 1;
    CHECK(found(pinned, 60 * test::mebibyte).empty());
    pinned.pinned_bytes = 40 * test::mebibyte;
    pinned.seen_bytes = 4 * test::mebibyte;
    CHECK(found(pinned, 60 * test::mebibyte).size() == 1);
    pinned.seen_bytes += 1;
    CHECK(found(pinned, 60 * test::mebibyte).empty());
    pinned = {.slices = 3, .binaries = 2, .seen_bytes = 1000, .pinned_bytes = 64 * test::mebibyte};
    CHECK(found(pinned, 150 * test::mebibyte)[0].severity == FindingSeverity::high);
}

TEST_CASE("that processes keep few binaries is said where their virtual heaps are told", "[figures]") {
    const auto title = [](Count vheap) {
        FigureNode node;
        Process& process = node.process(1, "cache");
        process.bin_vheap_words = process.old_bin_vheap_words = vheap;
        node.memory("total", 200 * test::mebibyte);
        node.memory("binary", 150 * test::mebibyte);
        const auto found = test::of(node.findings({}), "binary-pinning");
        REQUIRE(found.size() == 1);
        return found[0].words.substr(0, found[0].words.find('\n'));
    };
    const std::string all = "binaries: Binaries outside the heaps take 150 MiB (75 % of the node's memory); ";
    CHECK(title(Count(1000)) ==
          all + "processes keep few of them: they are in tables, persistent terms or native code");
    CHECK(title(Count()) == all + "who keeps them this input does not tell");
}

TEST_CASE("binaries that nobody keeps may wait for a node that takes none", "[figures]") {
    const auto title = [](std::string_view flags) {
        FigureNode node;
        Process& process = node.process(1, "sender");
        process.bin_vheap_words = process.old_bin_vheap_words = Count(1000);
        node.memory("total", 200 * test::mebibyte);
        node.memory("binary", 150 * test::mebibyte);
        Port& port = node.s.ports.emplace_back();
        port.port = {0, 10};
        port.state = node.text("CONNECTED|DISTR");
        port.task_flags = node.text(flags);
        node.s.nodes.push_back({.channel = 7, .name = node.text("sink@host2"), .controller = node.text("#Port<0.10>")});
        const auto found = test::of(node.findings({}), "binary-pinning");
        REQUIRE(found.size() == 1);
        return present::plain_text(node.s, found[0].title);
    };
    CHECK(title("IN_RUNQ|BUSY_PORT").find("they wait for sink@host2, whose connection is busy") != std::string::npos);
    CHECK(title("IN_RUNQ").find("sink@host2") == std::string::npos);
}

TEST_CASE("few binaries that are much of a small node are told where one keeps them", "[figures]") {
    const auto told = [](std::uint64_t binaries, std::uint64_t kept) {
        FigureNode node;
        Process& process = node.process(1, "cache");
        process.bin_vheap_words = kept / 8;
        process.old_bin_vheap_words = 0;
        node.memory("total", 20 * test::mebibyte);
        node.memory("binary", binaries);
        return !test::of(node.findings({}), "binary-pinning").empty();
    };
    CHECK(told(8 * test::mebibyte, 4 * test::mebibyte));
    CHECK(!told(8 * test::mebibyte, 4 * test::mebibyte - 8));  // they may be buffers of sockets
    CHECK(!told(8 * test::mebibyte - 1, 4 * test::mebibyte));
}

TEST_CASE("what a process pins is its binaries less what its slices show", "[figures]") {
    FigureNode node;
    Process& listed = node.process(1);
    listed.bin_vheap_words = 1000;
    Process& hidden = node.process(2);
    hidden.bin_vheap_words = 10'000;
    hidden.old_bin_vheap_words = 2'500;
    Process& grown = node.process(3);  // by appending: what is shown is as large as its virtual heap, or larger
    grown.bin_vheap_words = 1000;
    node.seal();
    const auto size_of = [](std::uint64_t address) {
        return address == 0x100 ? Count(5000) : address == 0x200 ? Count(700) : Count();
    };
    const std::vector<HeldBinary> held{
        {{0x100, 0, 100, ProcId{0}}, true},   {{0x100, 50, 100, ProcId{0}}, true},  // 150 bytes of it are seen
        {{0x200, 0, 700, ProcId{0}}, true},                                         // all of it
        {{0x900, 0, 4000, ProcId{1}}, false}, {{0x980, 16, 6000, ProcId{1}}, false},
        {{0x200, 0, 700, ProcId{1}}, true},   {{0xA00, 0, 9000, ProcId{2}}, false},
    };
    const std::vector<PinnedBinaries> found = pinned_binaries(node.s, held, size_of);
    REQUIRE(found.size() == 3);
    CHECK(found[2].process == ProcId{2});
    CHECK(found[2].by_subtraction);
    CHECK(found[2].slices == 1);
    CHECK(found[2].seen_bytes == 9000);
    CHECK(found[2].pinned_bytes == 0);
    // 12,500 words of virtual heap, less the 700 bytes that are listed and the 10,000 that are seen.
    CHECK(found[0].process == ProcId{1});
    CHECK(found[0].by_subtraction);
    CHECK(found[0].slices == 2);
    CHECK(found[0].seen_bytes == 10'000);
    CHECK(found[0].pinned_bytes == 8 * 12'500 - 700 - 10'000);
    CHECK(found[1].process == ProcId{0});
    CHECK_FALSE(found[1].by_subtraction);
    CHECK(found[1].slices == 2);
    CHECK(found[1].binaries == 1);
    CHECK(found[1].seen_bytes == 150);
    CHECK(found[1].pinned_bytes == 4850);
}

TEST_CASE("idle garbage: what a collection would free of a group, by its samples", "[figures]") {
    struct More {
        std::uint32_t processes = 4, times = 1;
        std::uint64_t binary_words = 0;
        bool refused = false;
    };
    const auto found = [](std::uint64_t live, std::uint64_t total, const More& more = {}) {
        FigureNode node;
        const FunctionId start = node.function("my_worker", "init", 1), loop = node.function("gen_server", "loop", 7);
        for (std::uint32_t i = 0; i < more.processes; ++i) {
            Process& p = node.process(10 + i);
            p.initial_call = start;
            p.current_function = loop;
            p.heap_words = 400'000 * more.times;
            p.old_heap_words = 600'000 * more.times;
            p.bin_vheap_words = more.binary_words;
            p.old_bin_vheap_words = 0;
            if (i >= 2) continue;  // two were decoded, two are taken to be like them
            p.has_heap = true;
            p.live_words = live;
            p.garbage_words = 7;
        }
        node.memory("total", total);
        if (more.refused)
            node.s.node.slogan = "eheap_alloc: Cannot allocate 1000000 bytes of memory (of type \"heap\").";
        return test::of(node.findings(), "idle-garbage");
    };
    // A million words each; twice the live words are kept, so eight tenths of 32,000,000 bytes go.
    const std::vector<test::FoundWithText> one = found(100'000, 100'000'000);
    REQUIRE(one.size() == 1);
    CHECK(
        one[0].words ==
        "my_worker:init/1: 4 idle processes (my_worker:init/1, in gen_server:loop/7) keep heaps of 30.5 MiB; a "
        "collection would free 24.4 MiB (26 % of the node's memory)\n"
        "  heaps, as allocated: 32000000\n"
        "  of them, heaps that were looked into: 2\n"
        "  live in those: 200000\n"
        "  garbage in those: 14\n"
        "  allocated in those: 2000000\n"
        "-> Let them hibernate when idle: hibernate_after of gen_server, gen_statem and ssl, or erlang:hibernate/3.\n"
        "-> Or sweep the old heap more often: {fullsweep_after, 20} in spawn options, or ERL_FULLSWEEP_AFTER for all.\n"
        "-> Look at one of them: beamheap proc DUMP 0.10.0\n"
        "-> For exact figures of all of them: beamheap analyze DUMP --full\n");
    CHECK(one[0].count == Count(4));
    CHECK(static_cast<double>(*one[0].bytes) == Approx(25'600'000));
    CHECK(one[0].percent == Approx(25.6));
    CHECK(one[0].severity == FindingSeverity::info);  // of few, and nothing to fear
    CHECK(one[0].confidence == Confidence::estimate);
    CHECK(figures(one[0]) == std::vector<double>{32'000'000, 2, 200'000, 14, 2'000'000});
    CHECK(found(250'000, 100'000'000).size() == 1);  // half of it is garbage
    CHECK(found(251'000, 100'000'000).empty());
    CHECK(found(100'000, 255'000'000).size() == 1);  // a tenth of the node's memory
    CHECK(found(100'000, 257'000'000).empty());
    CHECK(found(600'000, 100'000'000).empty());  // twice that is more than is allocated: nothing to free
    const auto severity = [&](std::uint64_t total, const More& more) {
        return found(100'000, total, more).at(0).severity;
    };
    CHECK(severity(400'000'000, {.processes = 9}) == FindingSeverity::info);
    CHECK(severity(400'000'000, {.processes = 10}) == FindingSeverity::medium);
    CHECK(severity(100'000'000, {.binary_words = 300'000}) == FindingSeverity::medium);
    CHECK(severity(100'000'000, {.binary_words = 200'000}) == FindingSeverity::info);
    CHECK(severity(100'000'000, {.refused = true}) == FindingSeverity::medium);
    CHECK(severity(500'000'000, {.times = 3}) == FindingSeverity::info);
    CHECK(severity(500'000'000, {.times = 4}) == FindingSeverity::medium);
    CHECK(severity(200'000'000, {.times = 4}) == FindingSeverity::high);
}

TEST_CASE("a slow socket: who waits for it, with which queues and memory", "[figures]") {
    const auto found = [](std::uint32_t waiters) {
        FigureNode node;
        node.process(1, "owner").memory_bytes = 1;
        Port port;
        port.port = {0, 5};
        port.connected = {0, 1, 0};
        port.driver = node.text("tcp_inet extra");
        port.queue_bytes = 12'345;
        for (std::uint32_t i = 0; i < waiters; ++i) {
            Process& p = node.process(20 + i);
            p.msgq_len = 7;
            p.memory_bytes = 1000;
            port.suspended.push_back(p.pid);
        }
        node.s.ports.push_back(port);
        return test::of(node.findings(), "slow-socket");
    };
    CHECK(found(1).empty());
    const std::vector<test::FoundWithText> two = found(2);
    REQUIRE(two.size() == 1);
    CHECK(two[0].words ==
          "tcp_inet of owner: 2 processes wait because #Port<0.5> (tcp_inet extra) is busy, with 12.1 KiB that nobody "
          "has taken from it; its owner is owner <0.1.0>\n"
          "  waiting in the port: 12345\n"
          "  messages in the queues of those who wait: 14\n"
          "  memory that they hold: 2000\n"
          "  one of them: <0.20.0>\n"
          "-> Look at the other side: what reads from this socket, pipe or file, and why does it not?\n"
          "-> Bound the wait: {send_timeout, T} with {send_timeout_close, true} on sockets, or gen_tcp:send/2 by a "
          "process of its own, and a bound on what may wait in the sender's mailbox.\n"
          "-> See ports, their queues and owners: beamheap ports DUMP\n"
          "-> See who waits, and where: beamheap proc DUMP 0.20.0\n");
    CHECK(two[0].severity == FindingSeverity::medium);
    CHECK(two[0].count == Count(2));
    CHECK(two[0].bytes == Count(12'345));
    CHECK(two[0].pid == Pid{0, 1, 0});
    CHECK(two[0].process == ProcId{0});
    const std::vector<double> numbers = figures(two[0]);
    REQUIRE(numbers.size() >= 4);
    CHECK(std::vector(numbers.begin(), numbers.begin() + 4) == std::vector<double>{12'345, 14, 2000, -1});
    CHECK(found(9)[0].severity == FindingSeverity::medium);
    CHECK(found(10)[0].severity == FindingSeverity::high);
}

TEST_CASE("allocator loss: carriers less blocks, and the allocator that loses most", "[figures]") {
    const auto found = [](std::uint64_t eheap_blocks, std::uint64_t binary_blocks) {
        FigureNode node;
        node.process(1);
        node.allocator("eheap_alloc", eheap_blocks, 300 * test::mebibyte);
        node.allocator("binary_alloc", binary_blocks, 100 * test::mebibyte);
        return test::of(node.findings(), "allocator-loss");
    };
    const std::vector<test::FoundWithText> one = found(150 * test::mebibyte, 50 * test::mebibyte);
    REQUIRE(one.size() == 1);
    CHECK(one[0].words ==
          "eheap_alloc: The node uses 200 MiB of the 400 MiB that its allocators hold: 200 MiB (50 %) is lost between "
          "blocks, 150 MiB of it in eheap_alloc\n"
          "  carriers of all allocators: 419430400\n"
          "  blocks in them: 209715200\n"
          "  lost in eheap_alloc: 157286400\n"
          "  use of its multiblock carriers now: 50\n"
          "  and at the highest ever: 99.7\n"
          "-> This is no leak of terms: blocks and carriers do not fit each other.\n"
          "-> Let it prefer low addresses, so that high carriers empty (+MHas aobf), or use smaller carriers (+MHlmbcs "
          "512).\n"
          "-> See every allocator and instance, and watch recon_alloc:fragmentation(current): beamheap alloc DUMP\n");
    CHECK(one[0].bytes == Count(200 * test::mebibyte));
    CHECK(one[0].percent == Approx(50));
    CHECK(one[0].severity == FindingSeverity::medium);
    CHECK(one[0].subject.kind == SubjectKind::allocator);
    const std::vector<double> numbers = figures(one[0]);
    REQUIRE(numbers.size() == 5);
    CHECK(numbers[0] == 400.0 * test::mebibyte);
    CHECK(numbers[1] == 200.0 * test::mebibyte);
    CHECK(numbers[2] == 150.0 * test::mebibyte);
    CHECK(numbers[3] == Approx(50));
    CHECK(numbers[4] == Approx(100.0 * 299 / 300));
    CHECK(found(260 * test::mebibyte, 20 * test::mebibyte).size() == 1);  // 120 of 400 MiB: three tenths
    CHECK(found(261 * test::mebibyte, 20 * test::mebibyte).empty());
    CHECK(found(100 * test::mebibyte, 60 * test::mebibyte)[0].severity == FindingSeverity::high);
    CHECK(found(101 * test::mebibyte, 60 * test::mebibyte)[0].severity == FindingSeverity::medium);
}

TEST_CASE("a large table: bytes, objects and share of the node", "[figures]") {
    const auto found = [](std::uint64_t words, std::uint64_t total) {
        FigureNode node;
        node.process(1, "owner");
        EtsTable table;
        table.owner = {0, 1, 0};
        table.name = node.text("sessions");
        table.objects = 77;
        table.words = words;
        node.s.ets.push_back(table);
        node.memory("total", total);
        return test::of(node.findings(), "ets-growth");
    };
    const std::uint64_t words = 10 * test::mebibyte;  // 80 MiB
    const std::vector<test::FoundWithText> one = found(words, 320 * test::mebibyte);
    REQUIRE(one.size() == 1);
    CHECK(one[0].words ==
          "sessions: ETS table sessions holds 80.0 MiB in 77 objects: 25 % of the node's memory; its owner is owner "
          "<0.1.0>\n"
          "  the table: 83886080\n"
          "  objects: 77\n"
          "  all tables: 83886080\n"
          "  the node: 335544320\n"
          "  its owner: sits in an unknown function\n"
          "-> Its objects are few and large (1.0 MiB each on average): look at what one of them collects, and for what "
          "takes something out of it.\n"
          "-> Watch ets:info(Table, memory) and size; words times the word size are the bytes told here.\n"
          "-> See all tables and owners: beamheap ets DUMP\n");
    CHECK(one[0].bytes == Count(80 * test::mebibyte));
    CHECK(one[0].count == Count(77));
    CHECK(one[0].percent == Approx(25));
    CHECK(one[0].severity == FindingSeverity::medium);
    const std::vector<double> numbers = figures(one[0]);
    REQUIRE(numbers.size() >= 4);
    CHECK(std::vector(numbers.begin(), numbers.begin() + 4) ==
          std::vector<double>{80.0 * test::mebibyte, 77, 80.0 * test::mebibyte, 320.0 * test::mebibyte});
    CHECK(found(words, 321 * test::mebibyte).empty());
    CHECK(found(words, 160 * test::mebibyte)[0].severity == FindingSeverity::high);
    CHECK(found(test::mebibyte / 4 * 3 - 1, 10 * test::mebibyte).empty());  // less than 6 MiB
    CHECK(found(test::mebibyte / 4 * 3, 10 * test::mebibyte).size() == 1);
}

TEST_CASE("tables of one name and owner are judged as one", "[figures]") {
    const auto found = [](std::uint32_t tables, std::uint32_t owners, std::uint64_t words) {
        FigureNode node;
        node.process(1, "owner");
        node.process(2, "other");
        for (std::uint32_t i = 0; i < tables; ++i) {
            EtsTable table;
            table.owner = {0, 1 + i % owners, 0};
            table.name = node.text("shard");
            table.objects = 10;
            table.words = words;
            node.s.ets.push_back(table);
        }
        node.memory("total", 400 * test::mebibyte);
        return test::of(node.findings(), "ets-growth");
    };
    const std::vector<test::FoundWithText> one = found(20, 1, test::mebibyte);  // 20 tables of 8 MiB
    REQUIRE(one.size() == 1);
    CHECK(one[0].words ==
          "shard: 20 ETS tables of the name shard hold 160 MiB in 200 objects: 40 % of the node's memory; their owner "
          "is owner <0.1.0>\n"
          "  tables of this name and owner: 20\n"
          "  memory in them: 167772160\n"
          "  the largest of them: 8388608\n"
          "  the node: 419430400\n"
          "-> Look for where they are made, and for what deletes them, or deletes from them.\n"
          "-> See all tables and owners: beamheap ets DUMP\n");
    CHECK(one[0].count == Count(20));
    CHECK(one[0].bytes == Count(160 * test::mebibyte));
    CHECK(one[0].percent == Approx(40));
    CHECK(one[0].severity == FindingSeverity::medium);
    CHECK(figures(one[0]) ==
          std::vector<double>{20, 160.0 * test::mebibyte, 8.0 * test::mebibyte, 400.0 * test::mebibyte});
    CHECK(found(25, 1, test::mebibyte)[0].severity == FindingSeverity::high);
    CHECK(found(12, 1, test::mebibyte).empty());  // 96 of 400 MiB
    CHECK(found(20, 2, test::mebibyte).empty());  // ten each
    // Large ones are summed, too: the sum is what tells.
    const std::vector<test::FoundWithText> large = found(2, 1, 20 * test::mebibyte);
    REQUIRE(large.size() == 1);
    CHECK(large[0].count == Count(2));
    CHECK(large[0].percent == Approx(80));
    CHECK(found(2, 2, 20 * test::mebibyte).size() == 2);  // of two owners
}

TEST_CASE("tables of one owner are judged as one where none of them is most of that", "[figures]") {
    const auto found = [](std::initializer_list<std::uint64_t> mebibytes, std::uint32_t owners, const char* name) {
        FigureNode node;
        node.process(1, name);
        node.process(2, "other");
        std::uint32_t number = 0;
        for (const std::uint64_t size : mebibytes) {
            EtsTable table;
            table.owner = {0, 1 + number % owners, 0};
            table.name = node.text("part_" + std::to_string(++number));
            table.objects = 10;
            table.words = size * test::mebibyte / 8;
            node.s.ets.push_back(table);
        }
        node.memory("total", 400 * test::mebibyte);
        return test::of(node.findings(), "ets-growth");
    };
    const std::vector<test::FoundWithText> three = found({110, 108, 106}, 1, "mnesia_monitor");
    REQUIRE(three.size() == 1);
    CHECK(
        three[0].words.starts_with("tables of mnesia_monitor: 3 ETS tables of mnesia_monitor <0.1.0> hold 324 MiB: "
                                   "81 % of the node's memory; the largest are part_1, part_2, part_3\n"));
    CHECK(three[0].words.find("It is a table of mnesia") != std::string::npos);
    CHECK(three[0].severity == FindingSeverity::high);
    CHECK(three[0].bytes == Count(324 * test::mebibyte));
    // One that is most of its owner's, and tables of two owners, are told by themselves.
    const std::vector<test::FoundWithText> one = found({200, 20, 20}, 1, "shop");
    REQUIRE(one.size() == 1);
    CHECK(one[0].words.starts_with("part_1: ETS table part_1 holds 200 MiB"));
    CHECK(found({150, 150}, 2, "shop").size() == 2);
    CHECK(found({30, 30, 30}, 1, "shop").empty());  // 90 of 400 MiB
}

TEST_CASE("a table is told by itself where its namesakes are small, and mnesia's are not the user's to clean",
          "[figures]") {
    const auto found = [](std::string_view owner, std::string_view name, std::initializer_list<std::uint64_t> sizes) {
        FigureNode node;
        node.process(1, owner);
        for (const std::uint64_t size : sizes) {
            EtsTable table;
            table.owner = {0, 1, 0};
            table.name = node.text(name);
            table.words = size / 8;
            node.s.ets.push_back(table);
        }
        node.memory("total", 400 * test::mebibyte);
        return test::of(node.findings(), "ets-growth");
    };
    constexpr std::uint64_t mib = test::mebibyte;
    const auto begins = [&](std::initializer_list<std::uint64_t> sizes) {
        const auto all = found("owner", "shard", sizes);
        return all.empty() ? std::string() : all[0].words.substr(0, 22);
    };
    CHECK(begins({180 * mib, 19 * mib}) == "shard: ETS table shard");
    CHECK(begins({180 * mib, 20 * mib}) == "shard: 2 ETS tables of");  // a tenth of all of them
    const auto advice = [&](std::string_view owner, std::string_view name, std::string_view words) {
        const auto all = found(owner, name, {60 * mib, 60 * mib, 60 * mib});
        return all.size() == 1 && all[0].words.find(words) != std::string::npos;
    };
    CHECK(advice("mnesia_tm", "mnesia_trans_store", "make transactions smaller"));
    CHECK(advice("mnesia_monitor", "session", "It is a table of mnesia"));
    CHECK(advice("shop", "session", "Look for where they are made"));
}

TEST_CASE("tables of owners of one kind are judged together where no owner has so much", "[figures]") {
    const auto found = [](std::uint64_t each, bool alike) {
        FigureNode node;
        for (std::uint32_t i = 1; i <= 4; ++i) {
            node.process(i, "planner_" + std::to_string(i)).initial_call =
                node.function(alike ? "planner" : "planner_" + std::to_string(i), "init", 1);
            for (const std::string_view name : {"edges", "neighbours", "vertices"}) {
                EtsTable table;
                table.owner = {0, i, 0};
                table.name = node.text(name);
                table.words = each / 8;
                node.s.ets.push_back(table);
            }
        }
        node.memory("total", 100 * test::mebibyte);
        return test::of(node.findings(), "ets-growth");
    };
    CHECK(found(test::mebibyte * 25 / 12, true).empty());
    const auto told = found(test::mebibyte * 26 / 12, true);
    REQUIRE(told.size() == 1);
    CHECK(told[0].severity == FindingSeverity::medium);
    CHECK(told[0].title_alone() ==
          "12 ETS tables of 4 processes of planner:init/1 hold 26.0 MiB: 26 % of the node's memory; of planner_1 "
          "<0.1.0>, who owns 3, the largest are edges, neighbours, vertices");
    CHECK(found(test::mebibyte * 26 / 12, false).empty());
}

TEST_CASE("a big heap: its bytes, its share, and what it is made of", "[figures]") {
    const auto found = [](std::uint64_t bytes) {
        FigureNode node;
        Process& big = node.process(1, "hog");
        big.memory_bytes = bytes;
        big.heap_words = 111;
        big.old_heap_words = 222;
        big.msgq_len = 3;
        node.process(2).memory_bytes = 64 * test::mebibyte;
        return test::of(node.findings(), "big-heap");
    };
    std::vector<test::FoundWithText> all = found(16 * test::mebibyte);
    REQUIRE(all.size() == 2);  // the other one holds four fifths
    CHECK(all[1].bytes == Count(16 * test::mebibyte));
    CHECK(all[1].percent == Approx(20));
    CHECK(all[1].severity == FindingSeverity::medium);
    const std::vector<double> numbers = figures(all[1]);
    REQUIRE(numbers.size() >= 4);
    CHECK(std::vector(numbers.begin(), numbers.begin() + 4) == std::vector<double>{16.0 * test::mebibyte, 111, 222, 3});
    CHECK(found(15 * test::mebibyte).size() == 1);
    all = found(64 * test::mebibyte);
    REQUIRE(all.size() == 2);
    CHECK(all[0].severity == FindingSeverity::high);
}

TEST_CASE("memory that is that of monitors is no big heap", "[figures]") {
    const auto found = [](std::uint32_t monitors, std::uint64_t messages) {
        FigureNode node;
        Process& big = node.process(1, "subscriptions");
        big.memory_bytes = 12 * test::mebibyte;
        big.heap_words = 6'772;
        big.monitors = monitors;
        big.msgq_len = messages;
        return test::of(node.findings(), "big-heap").size();
    };
    CHECK(found(20'000, 0) == 0);
    CHECK(found(9'999, 0) == 1);   // too few to have so much
    CHECK(found(20'000, 1) == 1);  // it may be messages
}

TEST_CASE("a big heap is told of an input that says no memory of processes, be its young heap the smallest",
          "[figures]") {
    FigureNode node;
    for (std::uint32_t i = 1; i <= 6; ++i) {
        Process& small = node.process(i);
        small.heap_words = 3000;
        small.old_heap_words = 610;
    }
    Process& big = node.process(7, "hog");
    big.heap_words = 377;
    big.old_heap_words = 8 * test::mebibyte;
    const std::vector<test::FoundWithText> all = test::of(node.findings(), "big-heap");
    REQUIRE(all.size() == 1);
    CHECK(all[0].bytes == Count((8 * test::mebibyte + 377) * 8));
}

TEST_CASE("every column of a process is its own field", "[figures]") {
    Process p;
    p.msgq_len = 1;
    p.memory_bytes = 2;
    p.heap_words = 300;
    p.old_heap_words = 400;
    p.stack_words = 5;
    p.heap_unused_words = 60;
    p.old_heap_unused_words = 70;
    p.fragment_words = 8;
    p.live_words = 9;
    p.garbage_words = 10;
    p.reductions = 11;
    p.links = 12;
    p.monitors = 13;
    p.refc_bytes = 14;
    p.refc_garbage_bytes = 13;
    p.bin_vheap_words = 15;
    p.old_bin_vheap_words = 160;
    p.fragments = 17;
    const std::vector<std::pair<std::string_view, std::uint64_t>> expected{{"msgq", 1},
                                                                           {"memory", 2},
                                                                           {"heap", 300},
                                                                           {"old_heap", 400},
                                                                           {"stack", 5},
                                                                           {"used", 578},
                                                                           {"live", 9},
                                                                           {"garbage", 10},
                                                                           {"reductions", 11},
                                                                           {"links", 12},
                                                                           {"monitors", 13},
                                                                           {"refc", 14},
                                                                           {"refc_garbage", 13},
                                                                           {"fragments", 17},
                                                                           {"fragment_words", 8},
                                                                           {"bin_vheap", 15},
                                                                           {"old_bin_vheap", 160},
                                                                           {"heap_unused_words", 60},
                                                                           {"old_heap_unused_words", 70}};
    for (const auto& [name, value] : expected) {
        INFO(name);
        const ProcessColumn* const column = find_process_figure(name);
        REQUIRE(column != nullptr);
        CHECK(column->figure(p) == Count(value));
        if (name != "links" && name != "monitors") CHECK_FALSE(column->figure(Process{}).has());
    }
    const auto figures = std::ranges::count_if(process_columns(), [](const ProcessColumn& c) { return c.is_figure(); });
    CHECK(static_cast<std::size_t>(figures) == expected.size());
}
