// SPDX-License-Identifier: Apache-2.0
// Rows of the process table from made memory: each member of a process's structure is a field of its own, and sums are
// of the right ones. Cores of VMs show mostly zeros in them.
#include <catch2/catch.hpp>

#include "formats/otp/processes/process_table.hpp"
#include "formats/otp/tables/tables.hpp"
#include "formats/otp/tables/traced.hpp"
#include "support/made_image.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::Blob;
using beamheap::test::MadeImage;

namespace {

constexpr std::uint64_t M = MadeImage::memory_at;

/// A process table of up to 16 processes, each with a heap of 64 words, whose stack has 4.
struct MadeTable : MadeImage {
    static constexpr std::uint64_t table = M + 0x100, slots = M + 0x400, atoms = M + 0x800, code = 0x20000000;

    explicit MadeTable(std::uint32_t release = 25) : MadeImage(release) { memory.resize(0x80000); }
    static std::uint64_t process(std::uint64_t number) { return M + 0x4000 + 0x1000 * number; }
    static std::uint64_t heap(std::uint64_t number) { return M + 0x40000 + 0x1000 * number; }
    void put(std::uint64_t address, std::uint64_t word) { memory.word(address - M, word); }
    static std::uint64_t pid(std::uint64_t number) { return number << 32 | number << 4 | 3; }

    void add(std::uint64_t number) {
        const std::uint64_t p = process(number), words = heap(number);
        put(slots + 8 * number, p);
        put(p, pid(number));
        put(p + at().process_heap, words);
        put(p + at().process_htop, words + 8 * 10);
        put(p + at().process_stop, words + 8 * 60);
        put(p + at().process_heap_end, words + 8 * 64);
        put(p + at().process_heap_words, 64);
        for (std::uint64_t i = 0; i < 64; ++i) put(words + 8 * i, vm.layout.nil);
        ++count;
    }
    const Snapshot& read() {
        memory.put<std::uint32_t>(table + at().table_max - M, 16);
        memory.put<std::uint32_t>(table + at().table_count - M, count);
        put(table + at().table_slots, slots);
        put(table + at().table_element_size, at().process_size);
        vm.roots.process_table = table;
        Reader& reader = start();
        vm.processes = *SlotTable::read(reader.memory, vm.layout, table);
        if (vm.roots.code_ranges != 0) vm.code = Code(reader.memory, vm.layout, vm.roots);
        read_processes(reader, {});
        return snapshot;
    }
    std::uint32_t count = 0;
};

}  // namespace

TEST_CASE("each member of a process's structure is a field of its row", "[otp][rows]") {
    MadeTable made;
    const Offsets& at = made.at();
    made.add(1);
    const std::uint64_t p = MadeTable::process(1), old = M + 0x60000;
    made.put(p + at.process_old_heap, old);
    made.put(p + at.process_old_top, old + 8 * 30);
    made.put(p + at.process_old_end, old + 8 * 100);
    made.put(p + at.process_fragment_words, 7);
    made.put(p + at.process_off_heap_overhead, 11);
    made.put(p + at.process_bin_vheap, 50);
    made.put(p + at.process_old_bin_vheap, 13);
    made.put(p + at.process_old_bin_vheap_size, 60);
    made.put(p + at.process_reductions, 4711);
    made.put(p + at.process_parent, made.pid(9));
    made.put(p + at.process_arity, 3);
    made.put(p + at.process_argument_registers, p + at.process_default_registers);
    made.memory.put<std::uint32_t>(p + at.process_state - M, 0x2a | state::suspended);
    made.add(2);  // has used up what its virtual heaps may have
    made.put(MadeTable::process(2) + at.process_off_heap_overhead, 50);
    made.put(MadeTable::process(2) + at.process_bin_vheap, 50);
    made.put(MadeTable::process(2) + at.process_old_bin_vheap, 60);
    made.put(MadeTable::process(2) + at.process_old_bin_vheap_size, 60);
    made.add(3);  // more than that
    made.put(MadeTable::process(3) + at.process_off_heap_overhead, 51);
    made.put(MadeTable::process(3) + at.process_bin_vheap, 50);
    made.put(MadeTable::process(3) + at.process_old_bin_vheap, 61);
    made.put(MadeTable::process(3) + at.process_old_bin_vheap_size, 60);
    const Snapshot& s = made.read();
    REQUIRE(s.processes.size() == 3);
    const Process& row = s.processes[0];
    CHECK(row.pid == Pid{0, 1, 0});
    CHECK(row.parent == Pid{0, 9, 0});
    CHECK(row.offset == p);
    CHECK(row.state == ProcessState::suspended);
    CHECK(row.heap_words == Count(64));
    CHECK(row.heap_unused_words == Count(54));
    CHECK(row.stack_words == Count(4));
    CHECK(row.old_heap_words == Count(100));
    CHECK(row.old_heap_unused_words == Count(70));
    CHECK(row.fragment_words == Count(7));
    CHECK(row.fragments == Count(0));
    CHECK(row.bin_vheap_words == Count(11));
    CHECK(row.bin_vheap_unused_words == Count(39));
    CHECK(row.old_bin_vheap_words == Count(13));
    CHECK(row.old_bin_vheap_unused_words == Count(47));
    CHECK(row.reductions == Count(4711));
    CHECK(row.arity == 3);
    CHECK(row.msgq_len == Count(0));
    CHECK(row.memory_bytes == Count(at.process_size + 8 * (64 + 7 + 100)));
    CHECK(s.processes[1].bin_vheap_unused_words == Count(0));
    CHECK(s.processes[1].old_bin_vheap_unused_words == Count(0));
    CHECK_FALSE(s.processes[2].bin_vheap_unused_words.has());
    CHECK_FALSE(s.processes[2].old_bin_vheap_unused_words.has());
}

TEST_CASE("arguments that have a block of their own, a dictionary and saved calls are memory", "[otp][rows]") {
    MadeTable made;
    const Offsets& at = made.at();
    const std::uint64_t p = MadeTable::process(1), dictionary = M + 0x60000, specific = M + 0x61000,
                        calls = M + 0x62000;
    made.add(1);
    made.put(p + at.process_arity, 8);
    made.put(p + at.process_argument_registers, M + 0x63000);
    made.put(p + at.process_dictionary, dictionary);
    made.memory.put<std::uint32_t>(dictionary + at.dictionary_slots - M, 10);
    made.put(p + at.process_specific, specific);
    made.put(specific + 8 * 1, calls);
    made.put(specific + 8 * 2, calls);
    const std::uint64_t base =
        at.process_size + 8 * 64 + 8 * 8 + at.dictionary_size + 8 * 10 - 8 + at.process_specific_size;
    CHECK(made.read().processes[0].memory_bytes == Count(base));  // saved calls of no length
}

TEST_CASE("a heap whose pointers are out of order is damage, and no figure", "[otp][rows]") {
    MadeTable made;
    const Offsets& at = made.at();
    made.add(1);
    made.put(MadeTable::process(1) + at.process_htop, MadeTable::heap(1) + 8 * 61);  // above the stack
    made.add(2);
    made.put(MadeTable::process(2) + at.process_old_heap, M + 0x60010);
    made.put(MadeTable::process(2) + at.process_old_top, M + 0x60008);
    made.put(MadeTable::process(2) + at.process_old_end, M + 0x60100);
    const Snapshot& s = made.read();
    REQUIRE(s.processes.size() == 2);
    CHECK_FALSE(s.processes[0].heap_words.has());
    CHECK_FALSE(s.processes[0].stack_words.has());
    CHECK_FALSE(s.processes[0].heap_unused_words.has());
    CHECK_FALSE(s.processes[1].old_heap_words.has());
    CHECK(s.anomalies[Anomaly::inconsistent_state].count >= 1);
}

TEST_CASE("what is larger than all memory is damage, and in no sum", "[otp][rows]") {
    MadeTable made;
    const Offsets& at = made.at();
    const std::uint64_t huge = 1ull << 40, dictionary = M + 0x60000, message = M + 0x61000, fragment = M + 0x62000;
    for (std::uint64_t number = 1; number <= 4; ++number) made.add(number);
    made.put(MadeTable::process(1) + at.process_fragment_words, huge);
    made.put(MadeTable::process(2) + at.process_old_heap, M + 0x60000);
    made.put(MadeTable::process(2) + at.process_old_top, M + 0x60100);
    made.put(MadeTable::process(2) + at.process_old_end, M + 0x60000 + 8 * huge);
    made.put(MadeTable::process(3) + at.process_dictionary, dictionary);
    made.memory.put<std::uint32_t>(dictionary + at.dictionary_slots - M, 0xFFFFFFFF);
    made.put(MadeTable::process(4) + at.process_inner_queue, message);
    made.put(message + at.message_attached, fragment);
    made.put(message + at.message_words, 0x2b);
    made.put(fragment + at.fragment_used, huge);
    const Snapshot& s = made.read();
    REQUIRE(s.processes.size() == 4);
    CHECK_FALSE(s.processes[0].fragment_words.has());
    CHECK_FALSE(s.processes[1].old_heap_words.has());
    CHECK(s.processes[3].msgq_len == Count(1));
    for (const Process& each : s.processes) {
        INFO(each.pid.number);
        CHECK(each.memory_bytes.value_or(0) >= at.process_size + 8 * 64);
        CHECK(each.memory_bytes.value_or(0) < 2 * at.process_size + 8 * 64 + 100);
    }
    CHECK(s.anomalies[Anomaly::inconsistent_state].count ==
          4 + 3);  // none has an initial call; who reads the dictionary tells of it
}

TEST_CASE("a thread's registers are those of the process whose code it runs, and of no other", "[otp][rows]") {
    MadeTable made;
    const Offsets& at = made.at();
    const std::uint64_t ranges = M + 0x1000, modules = M + 0x1100, code = M + 0x2000;
    made.add(1);
    made.add(2);
    for (const std::uint64_t number : {1, 2})
        made.put(MadeTable::process(number) + at.process_pc, code + 0x10 * number);
    made.put(ranges, modules);
    made.put(ranges + 8, 1);
    made.put(ranges + 16, 4);
    made.put(ranges + 24, modules);
    made.put(modules, code);
    made.put(modules + 8, code + 0x1000);
    made.vm.roots.code_ranges = ranges;
    // struct user_regs_struct: r15 has the top of the heap, r13 the process, rsp the stack's
    Blob status(336);
    status.put<std::uint32_t>(32, 7);
    status.word(112 + 8 * 0, MadeTable::heap(2) + 8 * 20);
    status.word(112 + 8 * 2, MadeTable::process(2));
    status.word(112 + 8 * 16, code + 0x80);
    status.word(112 + 8 * 19, MadeTable::heap(2) + 8 * 50);
    made.notes.push_back({"CORE", 1, status});
    const Snapshot& s = made.read();
    REQUIRE(s.processes.size() == 2);
    CHECK(s.processes[0].stack_words == Count(4));
    CHECK(s.processes[0].heap_unused_words == Count(54));
    CHECK(s.processes[0].program_counter == code + 0x10);
    CHECK(s.processes[1].stack_words == Count(14));
    CHECK(s.processes[1].heap_unused_words == Count(44));
    CHECK(s.processes[1].program_counter == code + 0x80);
}

TEST_CASE("a peer is connected where a process or a port serves it, and visible where it is published",
          "[otp][peers]") {
    MadeTable made;
    const Offsets& at = made.at();
    const std::uint64_t table = M + 0x10000, buckets = M + 0x10400;
    constexpr std::uint64_t published = 1;
    made.vm.roots.dist_table = table;
    made.memory.put<std::uint32_t>(table + at.hash_shift - M, 62);  // four buckets
    made.memory.put<std::uint32_t>(table + at.hash_objects - M, 4);
    made.put(table + at.hash_buckets, buckets);
    const auto peer = [&](std::uint64_t number, std::uint64_t controller, std::uint64_t flags) {
        const std::uint64_t entry = M + 0x11000 + 0x1000 * number;
        made.put(buckets + 8 * number, entry);
        made.put(entry + at.entry_name, (4711 - number) << 6 | 0x0b);
        made.put(entry + at.entry_channel, controller);
        made.put(entry + at.entry_flags, flags);
        made.memory.put<std::uint32_t>(entry + at.entry_creation - M, static_cast<std::uint32_t>(1000 + number));
    };
    const std::uint64_t port = 5ull << 32 | 5 << 4 | 7;
    peer(0, made.pid(12), published);
    peer(1, port, published);
    peer(2, made.pid(13), 0);
    peer(3, made.vm.layout.nil, published);
    Reader& reader = made.start();
    read_peers(reader);
    const Snapshot& s = made.snapshot;
    REQUIRE(s.nodes.size() == 4);
    const auto text = [&](TextId id) { return std::string(id == TextId::none ? "" : s.text(id)); };
    // in the order of their channels, the index of their name
    CHECK(s.nodes[0].channel == 4708);
    CHECK(s.nodes[0].kind == DistNode::Kind::not_connected);
    CHECK(text(s.nodes[0].controller).empty());
    CHECK(text(s.nodes[0].creation).empty());
    CHECK(s.nodes[1].kind == DistNode::Kind::hidden);
    CHECK(text(s.nodes[1].controller) == "<0.13.0>");
    CHECK(s.nodes[2].kind == DistNode::Kind::visible);
    CHECK(text(s.nodes[2].controller) == "#Port<0.5>");
    CHECK(text(s.nodes[2].creation) == "1001");
    CHECK(s.nodes[3].channel == 4711);
    CHECK(s.nodes[3].kind == DistNode::Kind::visible);
    CHECK(text(s.nodes[3].controller) == "<0.12.0>");
    CHECK(s.anomalies[Anomaly::count_mismatch].count == 0);
}

TEST_CASE("schedulers have their own queues, dirty ones of a kind one between them", "[otp][rows]") {
    MadeTable made;
    const Offsets& at = made.at();
    made.add(1);
    made.add(2);
    made.memory.put<std::uint32_t>(MadeTable::process(2) + at.process_state - M, 0x2a | state::suspended);
    const auto scheduler = [](std::uint64_t i) { return M + 0x60000 + 0x1000 * i; };
    const auto queue = [](std::uint64_t i) { return M + 0x70000 + 0x1000 * i; };
    constexpr std::uint64_t sleep = M + 0x7F000, port = M + 0x7F100;
    for (std::uint64_t i = 0; i < 5; ++i) {
        // Three queues: of the two normal schedulers, and one for each dirty kind, of which the processors' has two.
        const std::uint64_t of = i < 2 ? i : i < 4 ? 2 : 3;
        made.put(scheduler(i) + at.scheduler_run_queue, queue(of));
        for (std::uint32_t priority = 0; priority < 4; ++priority)
            made.memory.put<std::uint32_t>(queue(of) + at.run_queue_priorities + priority * at.run_queue_info_size - M,
                                           static_cast<std::uint32_t>(10 * of + priority));
        made.memory.put<std::uint32_t>(queue(of) + at.run_queue_ports - M, static_cast<std::uint32_t>(100 + of));
    }
    made.put(scheduler(0) + at.scheduler_process, MadeTable::process(2));
    made.put(scheduler(0) + at.scheduler_port, port);
    made.put(port, 5ull << 32 | 5 << 4 | 7);
    made.put(scheduler(1) + at.scheduler_sleep, sleep);
    made.put(scheduler(3) + at.scheduler_process, MadeTable::process(1) + 8);  // no process begins there
    made.memory.put<std::uint32_t>(sleep + at.sleep_flags - M, 1 | 1 << 2 | 1 << 3);
    made.vm.roots.schedulers = {scheduler(0), scheduler(1)};
    made.vm.roots.dirty_cpu = {scheduler(2), scheduler(3)};
    made.vm.roots.dirty_io = {scheduler(4)};
    made.vm.roots.process_table = MadeTable::table;
    made.read();
    Reader reader(made.vm, made.snapshot);
    read_schedulers(reader);
    const Snapshot& s = made.snapshot;
    using Kind = Scheduler::Kind;
    REQUIRE(s.schedulers.size() == 7);
    const auto row = [&](std::size_t i) { return std::pair(s.schedulers[i].kind, s.schedulers[i].id); };
    CHECK(row(0) == std::pair(Kind::normal, 1u));
    CHECK(row(1) == std::pair(Kind::normal, 2u));
    CHECK(row(2) == std::pair(Kind::dirty_cpu, 3u));
    CHECK(row(3) == std::pair(Kind::dirty_cpu, 4u));
    CHECK(row(4) == std::pair(Kind::dirty_cpu_queue, 0u));
    CHECK(row(5) == std::pair(Kind::dirty_io, 5u));
    CHECK(row(6) == std::pair(Kind::dirty_io_queue, 0u));
    const auto lengths = [](std::uint64_t of) {
        return std::array<Count, 5>{10 * of, 10 * of + 1, 10 * of + 2, 10 * of + 3, 100 + of};
    };
    CHECK(s.schedulers[0].run_queue == lengths(0));
    CHECK(s.schedulers[1].run_queue == lengths(1));
    CHECK(s.schedulers[4].run_queue == lengths(2));
    CHECK(s.schedulers[6].run_queue == lengths(3));
    CHECK_FALSE(s.schedulers[2].run_queue[0].has());
    CHECK(s.schedulers[0].current_process == Pid{0, 2, 0});
    CHECK(s.schedulers[0].process_state == ProcessState::suspended);
    CHECK(s.schedulers[0].current_port.number == 5);
    CHECK(s.schedulers[0].sleep_flags == TextId::none);
    CHECK_FALSE(s.schedulers[1].current_process.has());
    CHECK(s.text(s.schedulers[1].sleep_flags) == "SLEEPING | TSE_SLEEPING | WAITING");
    CHECK_FALSE(s.schedulers[3].current_process.has());
}

TEST_CASE("processes that wait for a busy port are told to the ring's end, or where it is torn", "[otp][ports]") {
    constexpr std::uint64_t M = test::MadeImage::memory_at, table = M + 0x100, slots = M + 0x4000, port = M + 0x1000,
                            driver = M + 0x2000;
    const auto entry = [](std::uint64_t i) { return M + 0x3000 + 0x100 * i; };
    const auto read = [&](std::uint64_t entries, bool torn) {
        test::MadeImage made(25);
        made.memory.resize(0x10000);
        const otp::Offsets& at = made.at();
        const auto put = [&](std::uint64_t address, std::uint64_t word) { made.memory.word(address - M, word); };
        made.memory.put<std::uint32_t>(table + at.table_max - M, 1024);
        made.memory.put<std::uint32_t>(table + at.table_count - M, 1);
        put(table + at.table_slots, slots);
        put(slots + 8 * 5, port);
        put(port, 5ull << 32 | 5 << 4 | 7);
        put(port + at.port_driver, driver);
        put(driver + at.driver_name, made.constant("spawn"));
        put(port + at.port_name, made.constant("cat"));
        for (std::uint64_t i = 0; i < entries; ++i) {
            put(entry(i) + at.process_list_pid, torn && i + 1 == entries ? 0 : (i + 10) << 32 | (i + 10) << 4 | 3);
            put(entry(i) + at.process_list_next, entry((i + 1) % entries));
        }
        if (entries != 0) put(port + at.port_suspended, entry(0));
        made.vm.roots.port_table = table;
        otp::Reader& reader = made.start();
        made.vm.ports = *otp::SlotTable::read(reader.memory, made.vm.layout, table);
        read_ports(reader);
        REQUIRE(made.snapshot.ports.size() == 1);
        CHECK(made.snapshot.text(made.snapshot.ports[0].kind) == "external process");
        CHECK(made.snapshot.anomalies[Anomaly::inconsistent_state].count == (torn ? 1 : 0));
        std::vector<std::uint32_t> numbers;
        for (const Pid& pid : made.snapshot.ports[0].suspended) numbers.push_back(pid.number);
        return numbers;
    };
    using Numbers = std::vector<std::uint32_t>;
    CHECK(read(0, false).empty());
    CHECK(read(1, false) == Numbers{10});
    CHECK(read(3, false) == Numbers{10, 11, 12});
    CHECK(read(3, true) == Numbers{10, 11});
}

TEST_CASE("functions that are traced are told with their calls", "[otp][traced]") {
    constexpr std::uint64_t M = test::MadeImage::memory_at, ranges = M + 0x100, modules = M + 0x200,
                            module = M + 0x1000, infos = M + 0x2000, breakpoint = M + 0x3000;
    const auto read = [&](std::uint32_t flags, bool to_the_end) {
        test::MadeImage made(25);
        const otp::Offsets& at = made.at();
        const std::uint64_t count_at = M + 0x2800;
        made.memory.resize(0x3000);
        const auto put = [&](std::uint64_t address, std::uint64_t word) { made.memory.word(address - M, word); };
        put(ranges, modules);
        put(ranges + 8, 1);
        put(ranges + 16, 4);
        put(ranges + 24, modules);
        put(modules, module);
        put(modules + 8, infos + 0x400);
        put(module, 2);
        for (std::uint64_t i = 0; i <= 2; ++i) put(module + at.code_functions + 8 * i, infos + 0x100 * i);
        for (std::uint64_t i = 0; i < 2; ++i) {
            put(infos + 0x100 * i + at.code_info_mfa, 0x40b);
            put(infos + 0x100 * i + at.code_info_mfa + 8, 0x44b);
            put(infos + 0x100 * i + at.code_info_mfa + 16, i);
        }
        put(infos + at.code_info_breakpoint, breakpoint);
        constexpr std::uint64_t atoms = M + 0x400, segments = M + 0x500, page = M + 0x600, atom = M + 0xa00,
                                name = M + 0xc00;
        made.memory.put<std::uint32_t>(atoms + at.index_entries - M, 18);
        made.memory.put<std::uint32_t>(atoms + at.index_limit - M, 1024);
        put(atoms + at.index_segments, segments);
        put(segments, page);
        made.memory.text(name - M, "shopsell");
        for (std::uint64_t i = 16; i < 18; ++i) {
            put(page + 8 * i, atom + 0x80 * (i - 16));
            put(atom + 0x80 * (i - 16) + at.atom_name, name + 4 * (i - 16));
            made.memory.put<std::int16_t>(atom + 0x80 * (i - 16) + at.atom_length - M, 4);
        }
        put(count_at, 4711);
        // one for each of the two sets, of which the second is active
        const std::uint64_t data = breakpoint + at.breakpoint_data + at.breakpoint_data_size;
        made.memory.put<std::uint32_t>(data + at.breakpoint_flags - M, flags);
        put(data + at.breakpoint_count, count_at);
        made.memory.resize(data + at.breakpoint_data_size - M - (to_the_end ? 0 : 8));
        made.vm.roots.breakpoint_index = 1;
        made.vm.roots.code_ranges = ranges;
        otp::Reader& reader = made.start();
        made.vm.atoms = otp::AtomTable(reader.memory, made.vm.layout, atoms);
        made.vm.code = otp::Code(reader.memory, made.vm.layout, made.vm.roots);
        std::vector<std::pair<std::uint32_t, Count>> rows;
        for (const TracedFunction& row : otp::read_traced(reader)) {
            REQUIRE(row.function != FunctionId::none);
            CHECK(made.snapshot.text(made.snapshot.functions[row.function].module) == "shop");
            CHECK(made.snapshot.text(made.snapshot.functions[row.function].name) == "sell");
            rows.emplace_back(made.snapshot.functions[row.function].arity, row.calls);
        }
        return rows;
    };
    using Rows = std::vector<std::pair<std::uint32_t, Count>>;
    CHECK(read(4, true) == Rows{{0, Count(4711)}});
    CHECK(read(0, true).empty());
    CHECK(read(4, false).empty());  // the image ends within it
}
