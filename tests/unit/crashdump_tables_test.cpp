// SPDX-License-Identifier: Apache-2.0
// The table sections of a dump: every field, in the forms of all releases.
#include <catch2/catch.hpp>

#include "support/dump_text.hpp"

using namespace beamheap;
using test::header;
using test::load;
using test::process;

namespace {
std::string function_of(const Snapshot& s, FunctionId id) {
    if (id == FunctionId::none) return "none";
    const Function& f = s.functions[id];
    return std::string(s.text(f.module)) + ":" + std::string(s.text(f.name)) + "/" + std::to_string(f.arity);
}
}  // namespace

TEST_CASE("the header tells release, word size and slogan of all generations", "[crashdump]") {
    struct Case {
        const char *version, *otp, *erts;
        std::uint32_t word;
        bool jit;
    };
    const Case cases[] = {
        {"Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp:2:2] [jit:ns]", "25", "13.1.5", 8, true},
        {"Erlang/OTP 26 [RELEASE CANDIDATE 2] [erts-13.2] [source] [64-bit]", "26", "13.2", 8, false},
        {"Erlang/OTP 18 [erts-7.0] [source] [64-bit halfword] [smp:8:8]", "18", "7.0", 4, false},
        {"Erlang R15B03 (erts-5.9.3.1) [source] [64-bit]", "R15B03", "5.9.3.1", 8, false},
        {"Erlang R15B02Emilio (erts-5.9.2) [source] [64-bit]", "R15B02", "5.9.2", 8, false},
        {"Erlang R16B03-1 (erts-5.10.4) [smp:8:2]", "R16B03-1", "5.10.4", 4, false},
        {"Erlang (BEAM) emulator version 5.6.5 [source] [smp:2]", "R12B", "5.6.5", 4, false},
        {"Erlang (BEAM) emulator version 5.4.12 [source]", "R10B", "5.4.12", 4, false},
    };
    for (const Case& c : cases) {
        const auto dump = load(header("boom", c.version) + "=end\n");
        REQUIRE(dump);
        const Source& source = dump->snapshot().source;
        CHECK(source.otp_release == c.otp);
        CHECK(source.erts_version == c.erts);
        CHECK(source.word_size == c.word);
        CHECK(source.jit == c.jit);
        CHECK(dump->snapshot().node.slogan == "boom");
        CHECK(*dump->snapshot().node.atoms == 8530);
        CHECK(source.complete == true);
    }
}

TEST_CASE("of a process in collection, figures count where the addresses of its blocks agree", "[crashdump]") {
    const auto garbing = [](const std::string& pid, const std::string& figures, const std::string& blocks) {
        return "=proc:<0." + pid + ".0>\nState: Garbing\nSpawned as: a:b/0\nMessage queue length: 0\n" + figures +
               blocks + "Program counter: 0x00007fedda2b5208 (basic:sum/1 + 48)\n";
    };
    // Block of 100 words, 40 of them stack, 10 free; old block of 50, 20 of them free.
    const std::string young = "New heap start: 1000\nNew heap top: 1190\nStack top: 11E0\nStack end: 1320\n";
    const std::string old = "Old heap start: 2000\nOld heap top: 20F0\nOld heap end: 2190\n";
    const auto dump = load(
        header() + garbing("1", "Stack+heap: 100\nOldHeap: 50\nHeap unused: 50\nOldHeap unused: 20\n", young + old) +
        garbing("2", "Stack+heap: 377\nOldHeap: 0\nHeap unused: 50\nOldHeap unused: 0\n",
                young + "Old heap start: 0\nOld heap top: 0\nOld heap end: 0\n") +
        garbing("3", "Stack+heap: 100\nOldHeap: 50\nHeap unused: 50\nOldHeap unused: 50\n", "") + "=end\n");
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.processes.size() == 3);
    CHECK(*s.processes[0].stack_words == 40);
    CHECK(*s.processes[0].heap_unused_words == 50);
    CHECK(*s.processes[0].old_heap_unused_words == 20);
    // "Stack+heap" is the size of the block that it left, the rest is of the fragment that it went on in.
    CHECK(*s.processes[1].stack_words == 40);
    CHECK_FALSE(s.processes[1].heap_unused_words.has());
    CHECK(*s.processes[1].old_heap_unused_words == 0);
    CHECK_FALSE(s.processes[2].stack_words.has());
    CHECK_FALSE(s.processes[2].heap_unused_words.has());
    CHECK_FALSE(s.processes[2].old_heap_unused_words.has());
}

TEST_CASE("a process's fields have their units and absent ones stay absent", "[crashdump]") {
    const auto dump =
        load(header() +
             "=proc:<0.42.1>\nState: Garbing\nName: 'my server'\nSpawned as: 'Elixir.My.App':'run!'/2\n"
             "Last scheduled in for: lists:map/2\nSpawned by: <0.1.0>\nMessage queue length: 17\n"
             "Number of heap fragments: 3\nHeap fragment data: 44\n"
             "Link list: [<0.7.0>, #Port<0.5>, {to,<0.49.0>,#Ref<0.1.2.3>}, {from,<8872.9.0>,#Ref<0.4.5.6>}, "
             "{to,{reg,'n@h'},#Ref<0.7.8.9>}, {to,'n@h',[]}]\n"
             "Reductions: 123456\nStack+heap: 233\nOldHeap: 377\nHeap unused: 11\nOldHeap unused: 12\n"
             "BinVHeap: 1\nOldBinVHeap: 2\nBinVHeap unused: 3\nOldBinVHeap unused: overflow\nMemory: 2744\n"
             "New heap start: 7F00\nProgram counter: 0x00007fedda2b5208 (gen_server:loop/7 + 288)\n"
             "arity = 2\nInternal State: ACT_PRIO_NORMAL | USR_PRIO_NORMAL | PRQ_PRIO_NORMAL | GC\n=end\n");
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.processes.size() == 1);
    const Process& p = s.processes[0];
    CHECK(p.pid == Pid{0, 42, 1});
    CHECK(p.state == ProcessState::garbage_collecting);
    CHECK(s.text(p.name) == "my server");
    CHECK(function_of(s, p.initial_call) == "Elixir.My.App:run!/2");
    CHECK(function_of(s, p.current_function) == "gen_server:loop/7");
    CHECK(p.pc_offset == 288);
    CHECK(p.program_counter == 0x7fedda2b5208);
    CHECK(p.parent == Pid{0, 1, 0});
    CHECK(*p.msgq_len == 17);
    CHECK(*p.fragments == 3);
    CHECK(*p.fragment_words == 44);
    CHECK(*p.reductions == 123456);
    CHECK(*p.heap_words == 233);
    CHECK(*p.old_heap_words == 377);
    CHECK_FALSE(p.heap_unused_words.has());  // one address alone does not prove that it is of this block
    CHECK_FALSE(p.old_heap_unused_words.has());
    CHECK(*p.bin_vheap_words == 1);
    CHECK(*p.old_bin_vheap_words == 2);
    CHECK(*p.bin_vheap_unused_words == 3);
    CHECK_FALSE(p.old_bin_vheap_unused_words.has());
    CHECK(*p.memory_bytes == 2744);
    CHECK(p.arity == 2);
    CHECK(p.links == 2);
    CHECK(p.monitors == 3);
    REQUIRE(p.link_range.count == 6);
    const Link* links = &s.links[p.link_range.first];
    CHECK(links[1].port == PortName{0, 5});
    CHECK(links[2].kind == LinkKind::monitors);
    CHECK(links[2].ref == std::array<std::uint32_t, 3>{1, 2, 3});
    CHECK(links[3].kind == LinkKind::monitored_by);
    CHECK(links[3].pid == Pid{8872, 9, 0});
    CHECK(s.text(links[4].name) == "reg");
    CHECK(s.text(links[4].node) == "n@h");
    CHECK(links[5].kind == LinkKind::node_monitor);
    CHECK(s.text(links[5].name) == "n@h");
    CHECK_FALSE(s.anomalies.seen(Anomaly::unknown_field));

    const auto old = load(header("x", "Erlang R13B03 (erts-5.7.4) [64-bit]", "0.1") + process("<0.2.0>") + "=end\n");
    CHECK_FALSE(old->snapshot().processes[0].memory_bytes.has());
}

TEST_CASE("numbers and pids are read at whatever length they have", "[crashdump]") {
    const auto dump =
        load(header() +
             "=proc:<0.999999999.4294967295>\nState: Waiting\nSpawned as: a:b/0\nSpawned by: <0.1000000000.0>\n"
             "Message queue length: 99999999999999\nReductions: 100000000000000\nStack+heap: 18446744073709551614\n"
             "OldHeap: 18446744073709551616\nHeap unused: 12 words\nOldHeap unused: 7\r\nBinVHeap: \n"
             "BinVHeap unused: 281474976710656\nOldBinVHeap unused: overflow\nMemory: 1x\narity = 300\n"
             "=proc:<0.4294967294.0>\nState: Waiting\nSpawned as: a:b/0\nSpawned by: <0.4294967296.0>\n"
             "BinVHeap unused: 46422\nOldBinVHeap unused: 17\narity = 3\n=end\n");
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.processes.size() == 2);
    const Process& p = s.processes[0];
    CHECK(p.pid == Pid{0, 999999999, 4294967295});
    CHECK(p.parent == Pid{0, 1000000000, 0});
    CHECK(*p.msgq_len == 99999999999999);
    CHECK(*p.reductions == 100000000000000);
    CHECK(*p.heap_words == 18446744073709551614u);
    CHECK_FALSE(p.old_heap_words.has());
    CHECK(*p.heap_unused_words == 12);
    CHECK(*p.old_heap_unused_words == 7);
    CHECK_FALSE(p.bin_vheap_words.has());
    CHECK_FALSE(p.bin_vheap_unused_words.has());
    CHECK_FALSE(p.old_bin_vheap_unused_words.has());
    CHECK_FALSE(p.memory_bytes.has());
    CHECK(s.anomalies[Anomaly::bad_number].count == 3);
    CHECK(s.processes[1].pid == Pid{0, 4294967294, 0});
    CHECK_FALSE(s.processes[1].parent.has());
    CHECK(*s.processes[1].bin_vheap_unused_words == 46422);
    CHECK(*s.processes[1].old_bin_vheap_unused_words == 17);
    CHECK(s.processes[1].arity == 3);
}

TEST_CASE("links with one bracket too many and several last calls are read", "[crashdump]") {
    const auto dump = load(header() +
                           process("<0.2.0>",
                                   "Last calls: erlang:halt/1\n timeout\n lists:map/2\n\nLink list: "
                                   "[{to,<0.3.0>,#Ref<0.0.0.1>}}, <0.4.0>]\n") +
                           "=end\n");
    REQUIRE(dump);
    const Process& p = dump->snapshot().processes[0];
    CHECK(p.links == 1);
    CHECK(p.monitors == 1);
    REQUIRE(p.extra_range.count == 1);
    CHECK(dump->snapshot().text(dump->snapshot().extras[p.extra_range.first].value) ==
          "erlang:halt/1 timeout lists:map/2");
    CHECK_FALSE(dump->snapshot().anomalies.seen(Anomaly::bad_line));
}

TEST_CASE("atoms of releases up to R15 are latin-1 and become UTF-8", "[crashdump]") {
    const auto dump = load(header("x", "Erlang R15B01 (erts-5.9.1) [64-bit]", "0.1") +
                           process("<0.2.0>", "Name: '\xE5ke'\n") + "=end\n");
    CHECK(dump->snapshot().text(dump->snapshot().processes[0].name) == "\xC3\xA5ke");
}

TEST_CASE("quoted atoms lose their quotes and escapes", "[crashdump]") {
    const auto dump = load(header() + process("<0.2.0>", "Name: 'a\\'b\\n\\033[0m\\\\'\n") + "=end\n");
    CHECK(dump->snapshot().text(dump->snapshot().processes[0].name) == "a'b\n\x1B[0m\\");
    CHECK(dump->snapshot().find_registered("a'b\n\x1B[0m\\") != ProcId::none);
}

TEST_CASE("ports, tables, timers, nodes, allocators and VM tables are read", "[crashdump]") {
    const auto dump = load(
        header() +
        "=scheduler:1\nScheduler Sleep Info Flags: SLEEPING | WAITING\nCurrent Port: \nRun Queue Max Length: 1\nRun "
        "Queue High Length: 2\n"
        "Run Queue Normal Length: 3\nRun Queue Low Length: 4\nRun Queue Port Length: 5\nRun Queue Flags: EXEC\n"
        "Current Process: <0.2.0>\nCurrent Process State: Running\nCurrent Process Program counter: 0x01 (a:b/1 + 8)\n"
        "Current Process Limited Stack Trace:\n0x00007f70:SReturn addr 0xD4D1E9C0 (erl_eval:expr_list/7 + 200)\n"
        "=memory\ntotal: 100\nbinary: 7\n=hash_table:atom_tab\nsize: 10\nused: 5\nobjs: 8\ndepth: 2\n"
        "=index_table:atom_tab\nsize: 11264\nlimit: 1048576\nentries: 10568\n"
        "=allocated_areas\natom_space: 131104 124984\nprocess_table: 3145728\nport_table: 786432\n"
        "=allocator:eheap_alloc[2]\noption e: true\nmbcs blocks[eheap_alloc] size: 1 2 3\n=allocator:instr\noption m: "
        "false\n" +
        process("<0.2.0>") +
        "=port:#Port<0.5>\nState: CONNECTED|BINARY_IO\nSlot: 8\nConnected: <0.2.0>\nLinks: <0.2.0><0.3.0>\nMonitors: "
        "(<0.9.0>,#Ref<0.1.2.3>)\n"
        "Suspended: <0.7.0>\nRegistered as: p\nPort controls external process: cat\n\n=forged:x\nInput: 1\nOutput: "
        "2\nQueue: 3\n"
        "=ets:<0.2.0>\nSlot: 94172794388928\nTable: #Ref<0.1.2.3>\nName: 'my tab'\nBuckets: 256\nChain Length Avg: "
        "0.25\nChain Length Max: 4\n"
        "Chain Length Min: 0\nFixed: 3\nObjects: 50\nWords: 589\nType: bag\nProtection: public\nCompressed: "
        "true\nWrite Concurrency: auto\nRead Concurrency: false\n"
        "=timer:<0.2.0>\nMessage: tick\nTime left: 17 ms\n=timer:reg\nMessage: {timeout,\"a\"}\nTime left: 18\n"
        "=node:'me@host'\n=visible_node:8872\nName: 'you@host'\nController: #Port<0.5>\nCreation: 1\nRemote link: "
        "<8872.9.0> <0.2.0>\n"
        "=loaded_modules\nCurrent code: 10\nOld code: 2\n=mod:'a:b'\nCurrent size: 5\nOld size: 6\n=fun\nModule: "
        "m\nUniq: 1\nIndex: 2\nAddress: 0x10\nRefc: 3\n=end\n");
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.schedulers.size() == 1);
    CHECK(s.schedulers[0].current_process == Pid{0, 2, 0});
    CHECK(*s.schedulers[0].run_queue[2] == 3);
    REQUIRE(s.stacks[s.schedulers[0].stack].size() == 2);
    CHECK(*s.memory_bytes("binary") == 7);
    CHECK_FALSE(s.memory_bytes("ets").has());
    CHECK(*s.node.atom_limit == 1048576);
    CHECK(*s.node.process_limit == 262144);
    CHECK(*s.node.port_limit == 65536);
    REQUIRE(s.allocators.size() == 2);
    CHECK(s.allocators[0].instance == 2);
    CHECK(*s.allocators[0].lines[1].numbers[2] == 3);
    REQUIRE(s.ports.size() == 1);
    CHECK(s.ports[0].links.size() == 2);
    CHECK(s.ports[0].suspended.size() == 1);
    CHECK(s.text(s.ports[0].driver) == "cat");
    CHECK(*s.ports[0].queue_bytes == 3);
    CHECK(s.anomalies.seen(Anomaly::forged_section));
    REQUIRE(s.ets.size() == 1);
    CHECK(s.text(s.ets[0].name) == "my tab");
    CHECK(s.ets[0].compressed == true);
    CHECK(*s.ets[0].fixed == 3);
    CHECK(s.ets[0].chain_avg == 0.25);
    CHECK(s.ets[0].address == 94172794388928);
    REQUIRE(s.timers.size() == 2);
    CHECK(*s.timers[0].left_ms == 17);
    CHECK(s.text(s.timers[1].receiver_name) == "reg");
    CHECK(s.text(s.node_name(8872)) == "you@host");
    CHECK(s.nodes[0].remote_links == 1);
    CHECK(s.text(s.modules.at(0).name) == "a:b");
    CHECK(*s.funs.at(0).refc == 3);
}

TEST_CASE("the name of a node that is only in the atom table is found by its index", "[crashdump]") {
    const auto dump = load(header() + process("<0.2.0>", "Link list: [{from,<2.9.0>,#Ref<0.4.5.6>}]\n") +
                           "=no_distribution\n=atoms\nnewest\n'other@host'\ntrue\nfalse\n=end\n");
    CHECK(dump->snapshot().text(dump->snapshot().node_name(2)) == "other@host");
    REQUIRE(dump->snapshot().atoms.size() == 4);
    CHECK(dump->snapshot().node.distributed == false);
}

TEST_CASE("stacks are read in both frame layouts and with all labels", "[crashdump]") {
    const auto dump =
        load(header() + process("<0.2.0>", "Program counter: 0x10 (m:loop/1 + 4)\n") +
             "=proc_stack:<0.2.0>\ny0:N\ny1:AE:nl\n=end\nSReturn\n"
             "0x00007f86cbf82640:SReturn addr 0x9200C30 (gen:call/4 + 8)\n0x00007f86cbf82648:I1\n"
             "0x00007f86cbf82650:SReturn addr 0x1 (<terminate process normally>)\n=proc_heap:<0.2.0>\n=end\n");
    const Snapshot& s = dump->snapshot();
    const Process& p = s.processes[0];
    CHECK(*p.stack_words == 5);
    REQUIRE(s.stacks[p.stack].size() == 2);
    CHECK(function_of(s, s.stacks[p.stack][0].function) == "m:loop/1");
    CHECK(function_of(s, s.stacks[p.stack][1].function) == "gen:call/4");
    CHECK(s.stacks[p.stack][1].offset == 8);
    CHECK(s.source.complete == true);

    const auto old = load(header("x", "Erlang/OTP 18 [erts-7.0] [64-bit]", "0.3") +
                          process("<0.2.0>", "Program counter: 0x10 (m:loop/1 + 4)\nCP: 0x20 (m:caller/2 + 8)\n") +
                          "=proc_stack:<0.2.0>\n0x00007f0f81659168:SReturn addr 0x1 (m:outer/0 + 8)\ny0:N\n=end\n");
    const Snapshot& o = old->snapshot();
    REQUIRE(o.stacks[o.processes[0].stack].size() == 3);
    CHECK(function_of(o, o.stacks[o.processes[0].stack][1].function) == "m:caller/2");
    CHECK(o.processes[0].frames_before_returns == 2);
}

TEST_CASE("an initial call that is a literal is found among the literals", "[crashdump]") {
    const auto dump =
        load(header() + process("<0.2.0>") + process("<0.3.0>") +
             "=proc_dictionary:<0.2.0>\nH100\n=proc_stack:<0.2.0>\n=proc_heap:<0.2.0>\n100:t2:AD:$initial_call,H900\n"
             "=proc_dictionary:<0.3.0>\nH100\n=proc_stack:<0.3.0>\n=proc_heap:<0.3.0>\n100:t2:AD:$initial_call,H904\n"
             "=literals\n800:t0:\n900:t3:A9:gen_event,A7:init_it,I6\n904:t2:A1:a,A1:b\n=end\n");
    const Snapshot& s = dump->snapshot();
    CHECK(function_of(s, s.processes[0].real_initial_call) == "gen_event:init_it/6");
    CHECK(s.processes[1].real_initial_call == FunctionId::none);
}

TEST_CASE("what a process is for is found in its dictionary", "[crashdump]") {
    const std::string terms =
        "=proc_dictionary:<0.3.0>\nH100\nH200\nH300\n=proc_stack:<0.3.0>\ny0:N\n=proc_heap:<0.3.0>\n"
        "500:lP<0.2.0>|N\n"  // shared with the stack, so written before the entry that refers to it
        "100:t2:AA:$ancestors,H110\n110:lP<0.9.0>|H500\n"
        "900:t2:AD:$initial_call,H120\n120:t3:A4:evil,A1:f,I1\n"  // not an entry of the dictionary
        "200:t2:AD:$initial_call,H210\n210:t3:A2:my,A4:init,I1\n"
        "300:t2:AE:$process_label,A5:label\n";
    const auto dump = load(header() + process("<0.2.0>", "Name: my_sup\n") + process("<0.3.0>") + terms + "=end\n");
    const Snapshot& s = dump->snapshot();
    const Process& p = s.processes[1];
    CHECK(function_of(s, p.real_initial_call) == "my:init/1");
    CHECK(s.text(p.application) == "my_sup");
    CHECK(s.text(p.label) == "label");
}

TEST_CASE("persistent terms are counted, whatever their keys hold, and only where all were passed", "[crashdump]") {
    const std::string three = "A1:a|I1\nA5:x\ny\nz|H700\nH710|N\n";  // the second key is an atom of two line feeds
    const auto counted = [](const std::string& text, std::size_t piece) {
        const auto dump = load(text, test::everything(), piece);
        return dump->snapshot().node.persistent_terms;
    };
    for (const std::size_t piece : {std::size_t{0}, std::size_t{3}}) {
        CHECK(counted(header() + process("<0.2.0>") + "=persistent_terms\n" + three + "=end\n", piece) == Count(3));
        CHECK(counted(header() + process("<0.2.0>") + "=persistent_terms\nA1:a?\n" + three + "=end\n", piece) ==
              Count(3));
        CHECK(counted(header() + process("<0.2.0>") + "=persistent_terms\n=end\n", piece) == Count(0));
        CHECK_FALSE(counted(header() + process("<0.2.0>") + "=persistent_terms\n" + three, piece).has());
        CHECK_FALSE(counted(header() + process("<0.2.0>") + "=end\n", piece).has());
    }
}

TEST_CASE("a module's source is what its compiler noted", "[crashdump][modules]") {
    const auto source = [](const std::string& version, const std::string& info) {
        const auto dump = load(header("x", "Erlang/OTP 25 [erts-13.1]", version) +
                               "=loaded_modules\nCurrent code: 1\nOld code: 0\n=mod:shop\nCurrent size: 5\n"
                               "Current compilation info: " +
                               info + "\n=end\n");
        REQUIRE(dump);
        REQUIRE(dump->snapshot().modules.size() == 1);
        const Module& module = dump->snapshot().modules[0];
        return std::string(dump->snapshot().text(module.source));
    };
    CHECK(source("0.5", "g2wAAAABaAJ3BnNvdXJjZWsADS9zcnYvc2hvcC5lcmxq") == "/srv/shop.erl");
    CHECK(source("0.3", "836C000000016802640006736F757263656B000D2F7372762F73686F702E65726C6A") == "/srv/shop.erl");
    CHECK(source("0.5", "g2wAAAABaAJ3BnNvdXJjZWsADS9zcnYvc2hv").empty());  // cut within it
    CHECK(source("0.5", "g2o=").empty());
    CHECK(source("0.5", "").empty());
}

TEST_CASE("a timer that is overdue has no time left", "[crashdump][timers]") {
    const auto left = [](const std::string& text) {
        const auto dump = load(header() + "=timer:<0.2.0>\nMessage: tick\nTime left: " + text + "\n=end\n");
        REQUIRE(dump);
        REQUIRE(dump->snapshot().timers.size() == 1);
        return dump->snapshot().timers[0].left_ms;
    };
    CHECK(*left("17") == 17);
    CHECK(*left("17 ms") == 17);
    CHECK(*left("-417") == 0);
    CHECK_FALSE(left("-").has());
    CHECK_FALSE(left("-x").has());
}
