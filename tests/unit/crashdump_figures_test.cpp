// SPDX-License-Identifier: Apache-2.0
// Figures of a dump's tables, each field a value of its own: who takes one for another is told.
#include <fmt/format.h>

#include <catch2/catch.hpp>
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

std::unique_ptr<Artifact> with_areas(
    const std::string& areas,
    const std::string& version = "Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp:2:2] [jit:ns]") {
    auto dump =
        test::load(test::header("test", version) + test::process("<0.2.0>") + "=allocated_areas\n" + areas + "=end\n");
    REQUIRE(dump);
    return dump;
}

}  // namespace

TEST_CASE("each line of a scheduler is what it says", "[crashdump]") {
    const auto dump = test::load(
        test::header() +
        "=scheduler:3\nScheduler Sleep Info Flags: SLEEPING\nScheduler Sleep Info Aux Work: THR_PRGR\nCurrent Port: "
        "#Port<0.7>\n"
        "Run Queue Max Length: 11\nRun Queue High Length: 12\nRun Queue Normal Length: 13\nRun Queue Low Length: "
        "14\nRun Queue Port Length: 15\n"
        "Run Queue Flags: NONEMPTY\nCurrent Process: <0.2.0>\nCurrent Process State: Running\nCurrent Process Internal "
        "State: ACTIVE\n"
        "Current Process Program counter: 0x01 (a:first/1 + 8)\nCurrent Process CP: 0x02 (a:second/2 + 16)\nCurrent "
        "Process Limited Stack Trace:\n"
        "0x00007f70:SReturn addr 0xD4D1E9C0 (a:third/3 + 24)\n0x00007f78:SReturn addr 0xD4D1E9C0 (<terminate process "
        "normally>)\n"
        "=dirty_cpu_scheduler:4\nCurrent Process State: Garbing\n=dirty_cpu_scheduler:5\nCurrent Process State: "
        "Exiting\n"
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
        if (frame.function != FunctionId::none)
            frames += fmt::format("{}+{} ", s.text(s.functions[frame.function].name), frame.offset);
    CHECK(frames == "first+8 second+16 third+24 ");
    using Kind = Scheduler::Kind;
    std::vector<Kind> kinds;
    std::vector<ProcessState> states;
    for (const Scheduler& each : s.schedulers) kinds.push_back(each.kind), states.push_back(each.process_state);
    CHECK(kinds == std::vector{Kind::normal, Kind::dirty_cpu, Kind::dirty_cpu, Kind::dirty_cpu_queue, Kind::dirty_io,
                               Kind::dirty_io, Kind::dirty_io_queue, Kind::normal, Kind::normal});
    CHECK(states == std::vector{ProcessState::running, ProcessState::garbage_collecting, ProcessState::exiting,
                                ProcessState::unknown, ProcessState::waiting, ProcessState::runnable,
                                ProcessState::unknown, ProcessState::suspended, ProcessState::unknown});
    CHECK(plain(s.schedulers[3].run_queue) == std::vector<std::int64_t>{-1, -1, 21, -1, -1});
    CHECK(plain(s.schedulers[6].run_queue) == std::vector<std::int64_t>{-1, -1, 22, -1, -1});
    CHECK(s.schedulers[3].id == 0);
}

TEST_CASE("limits of processes and ports are read from the sizes of their tables, where those are laid out so",
          "[crashdump]") {
    const auto dump = with_areas("atom_space: 131104 124984\nprocess_table: 12288\nport_table: 24600\n");
    const Snapshot& s = dump->snapshot();
    CHECK(s.node.process_limit == Count(1'024));
    CHECK(s.node.port_limit == Count(2'050));
    REQUIRE(s.areas.size() == 3);
    CHECK(s.areas[0].bytes == Count(131'104));
    CHECK(s.areas[0].used_bytes == Count(124'984));
    CHECK_FALSE(s.areas[1].used_bytes.has());
    const auto small = with_areas("process_table: 12288\nport_table: 24600\n",
                                  "Erlang/OTP 25 [erts-13.1.5] [source] [32-bit] [smp:2:2]");
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
                                 "=allocator:a[0]\nmbcs size: 1 2 3\nversion: "
                                 "3.0\n=allocator:b[1048575]\n=allocator:c[1048576]\n=allocator:d[x]\n=allocator:e[]\n="
                                 "allocator:f\n=allocator:g[5]x\n" +
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
                                 "=index_table:atom_tab\nsize: 14\nlimit: 15\nentries: 16\n=hash_table:atom_tab\nsize: "
                                 "10\nused: 5\nobjs: 8\ndepth: 2\n"
                                 "=index_table:export_list\nsize: 11\nlimit: 12\nentries: 13\n" +
                                 test::process("<0.2.0>") + "=end\n");
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.vm_tables.size() == 3);
    CHECK(s.vm_tables[0].entries == Count(16));
    CHECK_FALSE(s.vm_tables[1].index);
    CHECK(s.vm_tables[1].size == Count(10));
    CHECK(s.vm_tables[1].used == Count(5));
    CHECK(s.vm_tables[1].objects == Count(8));
    CHECK(s.vm_tables[1].depth == Count(2));
    CHECK(s.vm_tables[2].index);
    CHECK(s.vm_tables[2].size == Count(11));
    CHECK(s.vm_tables[2].limit == Count(12));
    CHECK(s.vm_tables[2].entries == Count(13));
    CHECK(s.node.atom_limit == Count(15));
}

TEST_CASE("each line of an ETS table is what it says", "[crashdump]") {
    const auto tables = [](std::string_view version) {
        auto dump = test::load(test::header("test", version) + test::process("<0.2.0>") +
                               "=ets:<0.2.0>\nSlot: 4096\nTable: sessions\nName: 'my tab'\nBuckets: 11\nChain Length "
                               "Avg: 0.5\nChain Length Max: 12\nChain Length Min: 13\n"
                               "Chain Length Std Dev: 1.5\nChain Length Expected Std Dev: 2.5\nFixed: false\nObjects: "
                               "14\nWords: 15\nType: bag\nProtection: private\n"
                               "Compressed: false\nWrite Concurrency: auto\nRead Concurrency: true\n"
                               "=ets:<0.3.0>\nTable: 7\nName: old\nOrdered set (AVL tree), Elements: "
                               "3\n{a,1}\n{b,2}\nObjects: 3\nstrange\n=ets:nobody\nObjects: 1\n"
                               "=internal_ets: of the VM\nObjects: 2\nBuckets: x\nChain Length Avg: y\n=end\n");
        REQUIRE(dump);
        return dump;
    };
    const auto dump = tables("Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp:2:2] [jit:ns]");
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.ets.size() == 4);
    const EtsTable& t = s.ets[0];
    CHECK(t.owner == Pid{0, 2, 0});
    CHECK(t.address == 4096);
    CHECK(s.text(t.id) == "sessions");
    CHECK(s.text(t.name) == "my tab");
    CHECK((t.buckets == Count(11) && t.chain_max == Count(12) && t.chain_min == Count(13) && t.objects == Count(14) &&
           t.words == Count(15)));
    CHECK((t.chain_avg == 0.5 && t.chain_std_dev == 1.5 && t.chain_expected_std_dev == 2.5));
    CHECK(t.fixed == Count(0));  // not fixed
    CHECK((s.text(t.type) == "bag" && s.text(t.protection) == "private" && s.text(t.write_concurrency) == "auto" &&
           s.text(t.read_concurrency) == "true"));
    CHECK(t.compressed == std::optional<bool>(false));
    CHECK_FALSE(t.internal);
    CHECK(s.text(s.ets[1].type) == "ordered_set");
    CHECK(s.ets[1].objects == Count(3));
    CHECK_FALSE(s.ets[1].compressed);
    CHECK(s.ets[1].chain_avg < 0);
    CHECK_FALSE(s.ets[2].owner.has());
    CHECK(s.ets[3].internal);
    CHECK_FALSE(s.ets[3].buckets.has());
    CHECK(s.ets[3].chain_avg < 0);
    CHECK(s.anomalies[Anomaly::unknown_field].count == 0);
    CHECK(s.anomalies[Anomaly::bad_line].count == 2);  // and the strange line: what an ordered set holds is none
    CHECK(s.anomalies[Anomaly::bad_number].count == 1);
    const auto slot_of = [&](std::string_view version) { return tables(version)->snapshot().ets[0].address; };
    CHECK(slot_of("Erlang/OTP 21 [erts-10.0] [source] [64-bit] [smp:2:2]") == 4096);
    CHECK(slot_of("Erlang/OTP 20 [erts-9.3] [source] [64-bit] [smp:2:2]") == 0);  // the number of a slot
}

TEST_CASE("each line of a port is what it says", "[crashdump]") {
    const auto dump =
        test::load(test::header() + test::process("<0.2.0>") +
                   "=port:#Port<0.5>\nState: CONNECTED\nTask Flags: CHK_UNSET\nSlot: 8\nConnected: <0.2.0>\nLinks: "
                   "<0.3.0><0.4.0>\n"
                   "Monitors: (<0.9.0>,#Ref<0.1.2.3>)(<0.10.0>,#Ref<0.1.2.4>)\nSuspended: "
                   "<0.7.0><0.8.0><0.11.0>\nRegistered as: 'a port'\n"
                   "Port controls linked-in driver: tcp_inet\nInput: 1\nOutput: 2\nQueue: 3\nPort Data: #Ref<0.1.2.5>\n"
                   "=port:#Port<0.6>\nPort is UNIX fd not opened by emulator: 0/1\n=port:#Port<0.7>\nPort controls "
                   "external process: cat -\n"
                   "=port:#Port<0.8>\nPort controls forker process: forker\n=port:#Port<0.9>\nPort is a file: "
                   "/tmp/log\n=port:none\nInput: 4\n=end\n");
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.ports.size() == 6);
    const Port& p = s.ports[0];
    CHECK(p.port.number == 5);
    CHECK((s.text(p.state) == "CONNECTED" && s.text(p.task_flags) == "CHK_UNSET" && s.text(p.name) == "a port" &&
           s.text(p.data) == "#Ref<0.1.2.5>"));
    CHECK(p.slot == Count(8));
    CHECK(p.connected == Pid{0, 2, 0});
    CHECK(p.links == std::vector{Pid{0, 3, 0}, Pid{0, 4, 0}});
    CHECK(p.monitors == std::vector{Pid{0, 9, 0}, Pid{0, 10, 0}});
    CHECK(p.suspended == std::vector{Pid{0, 7, 0}, Pid{0, 8, 0}, Pid{0, 11, 0}});
    CHECK((p.input_bytes == Count(1) && p.output_bytes == Count(2) && p.queue_bytes == Count(3)));
    std::string kinds;
    for (const Port& each : s.ports)
        if (each.kind != TextId::none) kinds += fmt::format("{}: {}; ", s.text(each.kind), s.text(each.driver));
    CHECK(kinds ==
          "linked-in driver: tcp_inet; fd: 0/1; external process: cat -; forker process: forker; file: /tmp/log; ");
    CHECK(s.anomalies[Anomaly::bad_line].count == 1);
}

TEST_CASE("each line of a peer, a timer, a module and a fun is what it says", "[crashdump]") {
    const auto dump =
        test::load(test::header() + test::process("<0.2.0>") + "=timer:<0.2.0>\nMessage: " + std::string(5'000, 'm') +
                   "\nTime left: 17\n"
                   "=visible_node:8872\nName: 'you@host' (refc=2)\nController: #Port<0.5>\nCreation: 1\nRemote link: "
                   "<8872.9.0> <0.2.0>\n"
                   "Remote monitoring: <0.2.0> <8872.9.0>\nRemote monitoring: <0.3.0> pending\nRemotely monitored by: "
                   "<0.2.0> <8872.9.0>\n"
                   "Remotely monitored by: <0.2.0> <8872.10.0>\nRemotely monitored by: <0.2.0> <8872.11.0>\nError: "
                   "lost\nWarning, stray monitor for: x\n"
                   "=hidden_node:4294967294\nName: 'h@host'\n=not_connected:4294967295\nName: 'n@host'\n"
                   "=loaded_modules\nCurrent code: 10\nOld code: 2\n=mod:shop\nCurrent size: 10\nCurrent attributes: "
                   "8350\nOld size: 2\nOld compilation info: 8350\n"
                   "=fun\nModule: shop\nUniq: 77\nIndex: 2\nAddress: 0x1F\nNative_address: 0x20\nRefc: 3\n=end\n");
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.timers.size() == 1);
    CHECK(s.text(s.timers[0].message).size() == 4'096);
    CHECK((s.timers[0].receiver == Pid{0, 2, 0} && s.timers[0].left_ms == Count(17)));
    REQUIRE(s.nodes.size() == 3);
    const DistNode& n = s.nodes[0];
    CHECK((s.text(n.name) == "you@host" && s.text(n.controller) == "#Port<0.5>" && s.text(n.creation) == "1" &&
           s.text(n.error) == "lost"));
    CHECK((n.remote_links == 1 && n.remote_monitors == 2 && n.remote_monitored_by == 3));
    CHECK(n.spawning == std::vector{Pid{0, 3, 0}});
    CHECK((n.kind == DistNode::Kind::visible && s.nodes[1].kind == DistNode::Kind::hidden &&
           s.nodes[2].kind == DistNode::Kind::not_connected));
    CHECK((n.channel == 8872 && s.nodes[1].channel == 0xFFFFFFFEu && s.nodes[2].channel == 0xFFFFFFFEu));
    CHECK(s.anomalies[Anomaly::bad_number].count == 1);  // a channel that no VM has
    CHECK((s.node.current_code_bytes == Count(10) && s.node.old_code_bytes == Count(2)));
    REQUIRE(s.modules.size() == 1);
    CHECK((s.text(s.modules[0].name) == "shop" && s.modules[0].current_bytes == Count(10) &&
           s.modules[0].old_bytes == Count(2)));
    REQUIRE(s.funs.size() == 1);
    CHECK((s.text(s.funs[0].module) == "shop" && s.text(s.funs[0].uniq) == "77" && s.funs[0].index == Count(2) &&
           s.funs[0].address == Count(0x1F) && s.funs[0].refc == Count(3)));
    CHECK(s.anomalies[Anomaly::unknown_field].count == 0);
}
