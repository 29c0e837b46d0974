// Figures of a dump's tables, each field a value of its own: who takes one for another is told.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "support/dump_text.hpp"

using namespace beamheap;

namespace {

std::vector<std::int64_t> plain(const std::array<Count, 5>& counts) {
    std::vector<std::int64_t> all;
    for (const Count count : counts) all.push_back(count.has() ? static_cast<std::int64_t>(*count) : -1);
    return all;
}

std::unique_ptr<Artifact> with_areas(const std::string& areas, const std::string& version = "Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp:2:2] [jit:ns]") {
    auto dump = test::load(test::header("test", version) + test::process("<0.2.0>") + "=allocated_areas\n" + areas + "=end\n");
    REQUIRE(dump);
    return dump;
}

}  // namespace

TEST_CASE("each line of a scheduler is what it says", "[crashdump]") {
    const auto dump = test::load(test::header() +
        "=scheduler:3\nScheduler Sleep Info Flags: SLEEPING\nScheduler Sleep Info Aux Work: THR_PRGR\nCurrent Port: #Port<0.7>\n"
        "Run Queue Max Length: 11\nRun Queue High Length: 12\nRun Queue Normal Length: 13\nRun Queue Low Length: 14\nRun Queue Port Length: 15\n"
        "Run Queue Flags: NONEMPTY\nCurrent Process: <0.2.0>\nCurrent Process State: Running\nCurrent Process Internal State: ACTIVE\n"
        "Current Process Program counter: 0x01 (a:first/1 + 8)\nCurrent Process CP: 0x02 (a:second/2 + 16)\nCurrent Process Limited Stack Trace:\n"
        "0x00007f70:SReturn addr 0xD4D1E9C0 (a:third/3 + 24)\n0x00007f78:SReturn addr 0xD4D1E9C0 (<terminate process normally>)\n"
        "=dirty_cpu_scheduler:4\nCurrent Process State: Garbing\n=dirty_cpu_scheduler:5\nCurrent Process State: Exiting\n"
        "=dirty_cpu_run_queue\nRun Queue Normal Length: 21\n=dirty_io_scheduler:6\nCurrent Process State: Waiting\n"
        "=dirty_io_scheduler:7\nCurrent Process State: Scheduled\n=dirty_io_run_queue\nRun Queue Normal Length: 22\n"
        "=scheduler:1\nCurrent Process State: Suspended\n=scheduler:2\nCurrent Process State: Dancing\n" +
        test::process("<0.2.0>") + "=end\n");
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.schedulers.size() == 9);
    const Scheduler& first = s.schedulers[0];
    CHECK(first.id == 3);
    CHECK(plain(first.run_queue) == std::vector<std::int64_t>{11, 12, 13, 14, 15});
    CHECK(s.text(first.sleep_flags) == "SLEEPING");
    CHECK(s.text(first.aux_work) == "THR_PRGR");
    CHECK(s.text(first.run_queue_flags) == "NONEMPTY");
    CHECK(s.text(first.process_internal_state) == "ACTIVE");
    CHECK(first.current_process == Pid{0, 2, 0});
    CHECK(first.current_port.number == 7);
    CHECK_FALSE(first.crashed);
    std::string frames;
    for (const Frame& frame : s.stacks[first.stack])
        if (frame.function != FunctionId::none) frames += fmt::format("{}+{} ", s.text(s.functions[frame.function].name), frame.offset);
    CHECK(frames == "first+8 second+16 third+24 ");
    using Kind = Scheduler::Kind;
    std::vector<Kind> kinds;
    std::vector<ProcessState> states;
    for (const Scheduler& each : s.schedulers) kinds.push_back(each.kind), states.push_back(each.process_state);
    CHECK(kinds == std::vector{Kind::normal, Kind::dirty_cpu, Kind::dirty_cpu, Kind::dirty_cpu_queue, Kind::dirty_io, Kind::dirty_io, Kind::dirty_io_queue, Kind::normal, Kind::normal});
    CHECK(states == std::vector{ProcessState::running, ProcessState::garbage_collecting, ProcessState::exiting, ProcessState::unknown, ProcessState::waiting,
                                ProcessState::runnable, ProcessState::unknown, ProcessState::suspended, ProcessState::unknown});
    CHECK(plain(s.schedulers[3].run_queue) == std::vector<std::int64_t>{-1, -1, 21, -1, -1});
    CHECK(plain(s.schedulers[6].run_queue) == std::vector<std::int64_t>{-1, -1, 22, -1, -1});
    CHECK(s.schedulers[3].id == 0);
}

TEST_CASE("limits of processes and ports are read from the sizes of their tables, where those are laid out so", "[crashdump]") {
    const auto dump = with_areas("atom_space: 131104 124984\nprocess_table: 12288\nport_table: 24600\n");
    const Snapshot& s = dump->snapshot();
    CHECK(s.node.process_limit == Count(1'024));
    CHECK(s.node.port_limit == Count(2'050));
    REQUIRE(s.areas.size() == 3);
    CHECK(s.areas[0].bytes == Count(131'104));
    CHECK(s.areas[0].used_bytes == Count(124'984));
    CHECK_FALSE(s.areas[1].used_bytes.has());
    const auto small = with_areas("process_table: 12288\nport_table: 24600\n", "Erlang/OTP 25 [erts-13.1.5] [source] [32-bit] [smp:2:2]");
    CHECK_FALSE(small->snapshot().node.process_limit.has());
    CHECK_FALSE(small->snapshot().node.port_limit.has());
    const auto old = with_areas("process_table: 12288\n", "Erlang R16B03 (erts-5.10.4) [source] [64-bit] [smp:2:2]");
    CHECK_FALSE(old->snapshot().node.process_limit.has());
}

TEST_CASE("lines of areas that are no figures are left out, and told as what they are", "[crashdump]") {
    const auto dump = with_areas("fine: 1 2 3\nfour: 1 2 3 4\nnone: \nword: many\nno colon\nlast: 5\n");
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.areas.size() == 2);
    CHECK(s.text(s.areas[0].name) == "fine");
    CHECK(s.areas[0].bytes == Count(1));
    CHECK(s.areas[0].used_bytes == Count(2));
    CHECK(s.text(s.areas[1].name) == "last");
    CHECK(s.anomalies[Anomaly::bad_number].count == 3);
    CHECK(s.anomalies[Anomaly::bad_line].count == 1);
}

TEST_CASE("an allocator's instance is the number in its name, where it is one", "[crashdump]") {
    const auto dump = test::load(test::header() +
        "=allocator:a[0]\nmbcs size: 1 2 3\nversion: 3.0\n=allocator:b[1048575]\n=allocator:c[1048576]\n=allocator:d[x]\n=allocator:e[]\n=allocator:f\n=allocator:g[5]x\n" +
        test::process("<0.2.0>") + "=end\n");
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    std::string all;
    for (const AllocatorInstance& each : s.allocators) all += fmt::format("{}:{} ", s.text(each.name), each.instance);
    CHECK(all == "a:0 b:1048575 c[1048576]:-1 d[x]:-1 e[]:-1 f:-1 g[5]x:-1 ");
    REQUIRE(s.allocators[0].lines.size() == 2);
    const AllocatorInstance::Line& size = s.allocators[0].lines[0];
    CHECK((size.numbers[0] == Count(1) && size.numbers[1] == Count(2) && size.numbers[2] == Count(3)));
    CHECK(size.text == TextId::none);
    CHECK(s.text(s.allocators[0].lines[1].text) == "3.0");
    CHECK_FALSE(s.allocators[0].lines[1].numbers[0].has());
}

TEST_CASE("tables of the VM have their members, and only that of atoms their limit", "[crashdump]") {
    const auto dump = test::load(test::header() +
        "=hash_table:atom_tab\nsize: 10\nused: 5\nobjs: 8\ndepth: 2\n=index_table:export_list\nsize: 11\nlimit: 12\nentries: 13\n"
        "=index_table:atom_tab\nsize: 14\nlimit: 15\nentries: 16\n" + test::process("<0.2.0>") + "=end\n");
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.vm_tables.size() == 3);
    CHECK_FALSE(s.vm_tables[0].index);
    CHECK(s.vm_tables[0].size == Count(10));
    CHECK(s.vm_tables[0].used == Count(5));
    CHECK(s.vm_tables[0].objects == Count(8));
    CHECK(s.vm_tables[0].depth == Count(2));
    CHECK(s.vm_tables[1].index);
    CHECK(s.vm_tables[1].size == Count(11));
    CHECK(s.vm_tables[1].limit == Count(12));
    CHECK(s.vm_tables[1].entries == Count(13));
    CHECK(s.node.atom_limit == Count(15));
}
