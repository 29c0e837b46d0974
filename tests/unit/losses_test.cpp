// SPDX-License-Identifier: Apache-2.0
// What is missing in the middle of a dump is told, with the figures of what was taken away here; and a whole dump tells
// of no loss.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/dump_text.hpp"

using namespace beamheap;
using namespace std::string_literals;

namespace {

std::string pid(int i) { return "<0." + std::to_string(i) + ".0>"; }

std::string entry(int i) {
    return test::process(pid(i),
                         "Program counter: 0x00007f0000000000 (m:f/1 + 8)\narity = 0\nInternal State: ACT_PRIO_NORMAL "
                         "| USR_PRIO_NORMAL | PRQ_PRIO_NORMAL\n");
}
std::string terms(int i, const std::string& heap = "7F00:lI1|H7F10\n7F10:lI2|N\n") {
    return "=proc_stack:" + pid(i) + "\ny0:H7F00\n=proc_heap:" + pid(i) + "\n" + heap;
}

/// Twenty processes; what a test gives stands in place of one of them.
struct Dump {
    std::vector<std::string> entries, heaps;
    std::string between;
    Dump() {
        for (int i = 1; i <= 20; ++i) {
            entries.push_back(entry(i));
            heaps.push_back(terms(i));
        }
    }
    std::string text() const {
        // Of a release that is not known, so that it need not have all that one of each release has.
        std::string all = test::header("test", "[64-bit]");
        all.replace(all.find("Atoms: 8530"), 11, "Atoms: 2");
        for (const std::string& each : entries) all += each;
        all += between;
        for (const std::string& each : heaps) all += each;
        return all + "=literals\n7E00:t1:A2:ok\n=atoms\nok\nfalse\n=end\n";
    }
};

struct Told {
    Anomalies anomalies;
    Source::Loss loss;
    std::uint64_t count(Anomaly kind) const { return anomalies[kind].count; }
};

Told told(const std::string& text) {
    Told result;
    for (const std::size_t piece : {std::size_t{0}, std::size_t{97}, std::size_t{3}}) {
        for (const unsigned workers : {1u, 3u}) {
            HeapRequest request;
            request.workers = workers;
            request.visit = [](const HeapVisit&) {};
            LoadPlan plan = test::everything();
            plan.heaps = &request;
            const auto artifact = test::load(text, plan, piece);
            REQUIRE(artifact != nullptr);
            const Snapshot& s = artifact->snapshot();
            // However the input comes, and whoever decodes it, the same is told.
            if (piece != 0 || workers != 1) {
                CHECK(s.source.loss.processes == result.loss.processes);
                CHECK(s.source.loss.bytes == result.loss.bytes);
                for (std::size_t i = 0; i < anomaly_kinds; ++i)
                    CHECK(s.anomalies[static_cast<Anomaly>(i)].count == result.count(static_cast<Anomaly>(i)));
            }
            result = {s.anomalies, s.source.loss};
        }
    }
    return result;
}

}  // namespace

TEST_CASE("of a whole dump no loss is told") {
    const Told whole = told(Dump().text());
    CHECK(!whole.anomalies.data_lost());
    CHECK(!whole.loss.any());
}

TEST_CASE("a module or a scheduler that is gone is told by the sums and numbers of the others") {
    const std::string mods[] = {"=mod:a\nCurrent size: 10\n", "=mod:b\nCurrent size: 20\nOld size: 5\n"};
    const auto with = [&](const std::string& modules, const std::string& schedulers) {
        Dump dump;
        dump.between = "=loaded_modules\nCurrent code: 30\nOld code: 5\n" + modules;
        std::string text = dump.text();
        const Told all = told(text.insert(text.find("=proc:<0.1.0>"), schedulers));
        CHECK(all.anomalies[Anomaly::count_mismatch].first_offset == 0);  // what is not there has no place
        return all.count(Anomaly::count_mismatch);
    };
    const std::string one = "=scheduler:1\nCurrent Process: \n", two = "=scheduler:2\nCurrent Process: \n",
                      three = "=dirty_cpu_scheduler:3\nCurrent Process: \n",
                      queue = "=dirty_cpu_run_queue\nRun Queue Max Length: 0\n";
    CHECK(with(mods[0] + mods[1], one + two + three + queue) == 0);
    CHECK(with(mods[0] + mods[1], "") == 0);
    CHECK(with(mods[1], one + two + three + queue) == 1);
    CHECK(with("", one) == 1);
    CHECK(with(mods[0] + mods[1], two + three + queue) == 1);
    CHECK(with(mods[0] + mods[1], one + three + queue) == 1);
    CHECK(with(mods[0], one + three) == 2);
}

TEST_CASE("a reference to a literal is no loss, one to nothing is") {
    Dump dump;
    dump.heaps[4] = terms(5, "7F00:t2:H7E00,H7F10\n7F10:lI2|N\n");
    CHECK(!told(dump.text()).anomalies.data_lost());
    dump.heaps[4] = terms(5, "7F00:t2:H7E00,H7F20\n");
    const Told lost = told(dump.text());
    CHECK(lost.count(Anomaly::dangling_reference) == 1);
    CHECK(lost.loss.processes == 1);
    dump.heaps[4] = terms(5, "7F10:lI2|N\n");  // the line that a root refers to
    CHECK(told(dump.text()).count(Anomaly::dangling_reference) == 1);
}

TEST_CASE("what slices are slices of is not in a dump, and no loss") {
    Dump dump;
    dump.heaps[4] = terms(5, "7F00:Ys7F90:0:5\n");
    CHECK(!told(dump.text()).anomalies.data_lost());
}

TEST_CASE("a piece cut out of the process table") {
    const std::string whole = Dump().text();
    for (const char* from : {"State: ", "Spawned as", "Reductions", "ap: 233", "OldHeap: ", "<0.1.0>"}) {
        for (const char* to : {"Spawned by", "nused", "uctions: 10", "OldHeap: 0", "Heap unused", "arity"}) {
            // From somewhere in the fifth entry to somewhere in the ninth.
            const std::size_t begin = whole.find(from, whole.find("=proc:<0.5.0>") + 15);
            const std::size_t end = whole.find(to, whole.find("=proc:<0.9.0>"));
            const Told lost = told(whole.substr(0, begin) + whole.substr(end));
            INFO(from << " to " << to);
            CHECK(lost.anomalies.data_lost());
            CHECK(lost.count(Anomaly::orphan_section) == 8);  // stack and heap of the four that are gone
            CHECK(lost.loss.processes >= 4);
            CHECK(lost.loss.processes <= 5);
        }
    }
}

TEST_CASE("an entry that lacks a field, has one twice, or a piece of a line") {
    const auto torn = [](const std::string& changed) {
        Dump dump;
        dump.entries[7] = changed;
        return told(dump.text()).count(Anomaly::torn_process);
    };
    const std::string sound = entry(8);
    const auto without = [&](const std::string& line) {
        std::string text = sound;
        const std::size_t at = text.find(line);
        return text.erase(at, text.find('\n', at) + 1 - at);
    };
    CHECK(torn(sound) == 0);
    for (const char* line :
         {"State", "Message queue", "Reductions", "Stack+heap", "OldHeap:", "Heap unused", "Internal", "Spawned by"})
        CHECK(torn(without(line)) == 1);
    CHECK(torn(without("arity")) == 0);  // some entries of whole dumps have none
    CHECK(torn(without("Program counter")) == 1);
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = sound;
        return text.replace(text.find(from), from.size(), to);
    };
    CHECK(told([&] {
              Dump dump;
              dump.entries[7] = with("USR_PRIO_NORMAL", "USR_PRIO_NOR");
              return dump.text();
          }())
              .count(Anomaly::bad_line) == 1);
    CHECK(torn(with("State: Waiting", std::string("State: Wai\0ing", 14))) == 1);
    CHECK(torn(sound + "Reductions: 10\n") == 1);
    CHECK(torn(sound + "ductions: 10\n") == 1);
    CHECK(torn(sound + "ductions\n") == 1);
    CHECK(torn(sound + "Field Of Next Year: 10\n") == 0);
}

TEST_CASE("a zeroed page is told with its place and size") {
    std::string text = Dump().text();
    const std::size_t at = text.find("=proc:<0.5.0>") + 40;
    text.replace(at, 700, std::string(700, '\0'));
    const Told lost = told(text);
    CHECK(lost.count(Anomaly::zeroed) == 1);
    CHECK(lost.anomalies[Anomaly::zeroed].first_offset == at);
    CHECK(lost.anomalies[Anomaly::zeroed].first_detail == "700 bytes");
    CHECK(lost.loss.bytes >= 700);
    CHECK(lost.loss.processes >= 1);
    // Behind the end of the dump it is the file system's business.
    CHECK(told(Dump().text() + std::string(5000, '\0')).count(Anomaly::zeroed) == 0);
}

TEST_CASE("a heap, a stack, messages and an entry that are gone") {
    Dump dump;
    dump.heaps[4] = "=proc_stack:<0.5.0>\ny0:N\n";
    dump.heaps[5] = "=proc_heap:<0.6.0>\n";
    dump.entries[9].replace(dump.entries[9].find("length: 0"), 9, "length: 3");
    dump.entries.erase(dump.entries.begin() + 14);
    const Told lost = told(dump.text());
    CHECK(lost.count(Anomaly::heap_lost) == 2);
    CHECK(lost.count(Anomaly::messages_lost) == 1);
    CHECK(lost.count(Anomaly::orphan_section) == 2);
    CHECK(lost.loss.processes == 4);
}

TEST_CASE("who has handled all signals has no link or monitor that the other side has not") {
    const auto one_sided = [](const std::vector<std::pair<int, std::string>>& lists, const char* busy = nullptr) {
        Dump dump;
        for (const auto& [i, list] : lists) {
            std::string& text = dump.entries[static_cast<std::size_t>(i - 1)];
            text.insert(text.find("Reductions"), "Link list: [" + list + "]\n");
            if (busy != nullptr) text.insert(text.rfind('\n'), busy);
        }
        return told(dump.text()).count(Anomaly::torn_process);
    };
    CHECK(one_sided({{3, "<0.4.0>, <0.5.0>"}, {4, "<0.3.0>"}, {5, "<0.3.0>"}}) == 0);
    CHECK(one_sided({{3, "<0.4.0>, <0.5.0>"}, {4, "<0.3.0>"}}) == 1);
    CHECK(one_sided({{3, "<0.4.0>"}}, " | SIG_IN_Q") == 0);
    CHECK(one_sided({{3, "{to,<0.4.0>,#Ref<0.1.2.3>}"}, {4, "{from,<0.3.0>,#Ref<0.1.2.3>}"}}) == 0);
    CHECK(one_sided({{3, "{to,<0.4.0>,#Ref<0.1.2.3>}"}, {4, "{from,<0.3.0>,#Ref<0.1.2.4>}"}}) == 1);
    CHECK(one_sided({{4, "{from,<0.3.0>,#Ref<0.1.2.3>}"}}) == 1);
    CHECK(one_sided({{3, "{to,{boss,nonode@nohost},#Ref<0.1.2.3>}"}, {4, "{from,<0.3.0>,#Ref<0.1.2.3>}"}}) == 0);
    CHECK(one_sided({{3, "<0.77.0>"}}) == 1);  // who ends tells all that it is linked to
    CHECK(one_sided({{3, "#Port<0.77>"}}) == 1);
    CHECK(one_sided({{3, "#Port<0.77>"}}, " | EXITING") == 0);
}

TEST_CASE("processes stand in the order of the VM's table, whatever its size") {
    const auto misplaced = [](const std::vector<std::string>& pids) {
        std::string text = test::header();
        for (const std::string& each : pids) text += test::process("<0." + each + ">");
        return told(text + "=end\n").count(Anomaly::section_misplaced);
    };
    CHECK(misplaced({"1.0", "2.0", "7.0", "90.0"}) == 0);
    CHECK(misplaced({"1.0", "7.0", "2.0", "90.0"}) == 1);
    CHECK(misplaced({"0.0", "896.0", "1.0", "897.0", "2.0", "3.0"}) == 0);  // 1024 places, 8 a line of the cache
    CHECK(misplaced({"0.0", "1.0", "897.0", "2.0", "896.0", "3.0"}) == 1);
    CHECK(misplaced({"0.0", "3.1", "4.0", "5.2"}) == 0);
}

TEST_CASE("bytes of atoms' names are as many as the VM counted") {
    const auto mismatch = [](const std::string& atoms, int used) {
        Dump dump;
        dump.between = "=hash_table:atom_tab\nsize: 4\nused: 1\nobjs: 1\ndepth: 1\n";
        std::string text = dump.text();
        text.insert(text.find("=proc:<0.1.0>"), "=allocated_areas\natom_space: 9 " + std::to_string(used) + "\n");
        text.replace(text.find("=atoms\nok\nfalse\n"), 16, "=atoms\n" + atoms);
        return told(text).count(Anomaly::count_mismatch);
    };
    CHECK(mismatch("ok\nfalse\n", 7) == 0);
    CHECK(mismatch("ok\nfalse\n", 2) == 0);  // the older is of those that the emulator is linked with
    CHECK(mismatch("ok\nfals\n", 7) == 1);
    CHECK(mismatch("'o k'\n'\\n'\n", 4) == 0);
}

TEST_CASE("links to nobody are no loss by themselves, but count where the table is torn") {
    Dump dump;
    const auto link = [&](int i, const std::string& to) {
        std::string& text = dump.entries[static_cast<std::size_t>(i)];
        text.insert(text.find("Reductions"), "Link list: [" + to + "]\n");
        text.insert(text.rfind('\n'), " | SIG_IN_Q");
    };
    link(3, "<0.99.0>, <0.98.0>, <0.2.0>");
    link(4, "<0.99.0>, {to,<0.97.0>,#Ref<0.1.2.3>}");
    Told lost = told(dump.text());
    CHECK(lost.count(Anomaly::linked_to_nobody) == 3);
    CHECK(!lost.anomalies.data_lost());
    CHECK(lost.loss.processes == 0);
    dump.entries[7] += "ductions\n";
    lost = told(dump.text());
    CHECK(lost.loss.processes == 4);
}

TEST_CASE("fewer atoms or registered names than the VM counted") {
    std::string text = Dump().text();
    text.replace(text.find("Atoms: 2"), 8, "Atoms: 3");
    CHECK(told(text).count(Anomaly::count_mismatch) == 1);
    Dump dump;
    dump.entries.front() = "=hash_table:process_reg\nsize: 4\nused: 1\nobjs: 1\ndepth: 1\n" + dump.entries.front();
    CHECK(told(dump.text()).count(Anomaly::count_mismatch) == 1);
    dump.entries[3].insert(dump.entries[3].find("Spawned as"), "Name: boss\n");
    CHECK(told(dump.text()).count(Anomaly::count_mismatch) == 0);
}

TEST_CASE("a field that few entries have is missing in none of the others") {
    const auto torn = [](int with, int all = 12) {
        std::string text = test::header();
        for (int i = 1; i <= all; ++i)
            text +=
                test::process(fmt::format("<0.{}.0>", i),
                              i <= with ? "Internal State: ACT_PRIO_NORMAL | USR_PRIO_NORMAL | PRQ_PRIO_NORMAL\n" : "");
        const auto artifact = test::load(text + "=end\n");
        REQUIRE(artifact);
        return artifact->snapshot().anomalies[Anomaly::torn_process].count;
    };
    CHECK(torn(0) == 0);
    CHECK(torn(1) == 0);
    CHECK(torn(7) == 0);
    CHECK(torn(8) == 4);  // two in three have it
    CHECK(torn(11) == 1);
    CHECK(torn(12) == 0);
    CHECK(torn(1, 2) == 1);  // of a node that died while it started
    CHECK(torn(1, 3) == 0);
}

namespace {

/// A small dump with all that one of OTP 25 has, section by section.
struct WholeNode {
    std::vector<std::string> sections;
    WholeNode() {
        std::string header = test::header("test", "Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp:2:2] [jit:ns]");
        header.replace(header.find("Atoms: 8530"), 11, "Atoms: 2");
        sections.push_back(header);
        for (const char* id : {"1", "2"})
            sections.push_back(
                fmt::format("=scheduler:{}\nScheduler Sleep Info Flags: SLEEPING\nScheduler Sleep Info Aux Work: \n"
                            "Current Port: \nRun Queue Max Length: 0\nRun Queue High Length: 0\nRun Queue Normal "
                            "Length: 0\nRun Queue Low Length: 0\nRun Queue Port Length: 0\nRun Queue Flags: \n"
                            "Current Process: \n",
                            id));
        sections.push_back(
            "=memory\ntotal: 30\nprocesses: 10\nprocesses_used: 9\nsystem: 20\natom: 1\natom_used: "
            "1\nbinary: 1\ncode: 1\nets: 1\n");
        for (const char* name : {"atom_tab", "module_code", "export_list", "export_list", "process_reg", "fun_table",
                                 "node_table", "dist_table"})
            sections.push_back(fmt::format("=hash_table:{}\nsize: 4\nused: 1\nobjs: {}\ndepth: 1\n", name,
                                           std::string_view(name) == "process_reg" ? 0 : 1));
        for (const char* name : {"atom_tab", "module_code", "export_list"})
            sections.push_back(fmt::format("=index_table:{}\nsize: 4\nlimit: 1048576\nentries: 2\n", name));
        std::string areas = "=allocated_areas\n";
        for (const char* key :
             {"sys_misc", "static", "atom_space", "atom_table", "module_table", "export_table", "export_list",
              "register_table", "fun_table", "module_refs", "loaded_code", "dist_table", "node_table", "bits_bufs_size",
              "bif_timer", "process_table", "port_table", "ets_misc", "external_alloc"})
            areas += fmt::format("{}: 12\n", key);
        sections.push_back(areas);
        for (const char* id :
             {"ll_alloc[0]", "ll_alloc[1]", "ll_alloc[2]", "eheap_alloc[0]", "eheap_alloc[1]", "eheap_alloc[2]"}) {
            const bool first = std::string_view(id).ends_with("[0]");  // which has no pool
            sections.push_back(fmt::format("=allocator:{}\noption e: true\nmbcs mseg carriers: 1\n{}", id,
                                           first ? "" : "mbcs_pool carriers: 1\nmbcs_pool carriers size: 8\n"));
        }
        for (const char* id : {"alloc_util", "binary_alloc", "driver_alloc", "ets_alloc", "fix_alloc", "literal_alloc",
                               "sl_alloc", "std_alloc", "sys_alloc", "temp_alloc", "test_alloc"})
            sections.push_back(fmt::format("=allocator:{}\noption e: true\n", id));
        for (const char* id : {"mseg_alloc[0]", "mseg_alloc[1]", "mseg_alloc[2]"})
            sections.push_back(fmt::format("=allocator:{}\nversion: 0.9\nmemory kind: all memory\n", id));
        sections.push_back("=allocator:erts_mmap.default_mmap\noption scs: 0\n");
        std::string mapped = "=allocator:erts_mmap.literal_mmap\n";
        for (const char* option : {"scs", "sco", "scrpm", "scrfsd"}) mapped += fmt::format("option {}: 1\n", option);
        for (const char* line : {"total size", "total sa size", "total sua size", "used size", "used sa size",
                                 "used sua size", "used free segs", "max free segs", "allocated free segs",
                                 "reserved free segs", "sa free segs", "sua free segs"})
            mapped += fmt::format("supercarrier {}: 1\n", line);
        sections.push_back(mapped);
        sections.push_back("=allocator:instr\n");  // which has no lines
        for (int i = 1; i <= 4; ++i) sections.push_back(entry(i));
        sections.push_back(
            "=port:#Port<0.1>\nState: CONNECTED\nSlot: 8\nConnected: <0.1.0>\nPort controls forker "
            "process: forker\nInput: 0\nOutput: 0\nQueue: 0\n");
        sections.push_back(
            "=ets:<0.1.0>\nSlot: 94172794388928\nTable: #Ref<0.1.2.3>\nName: t\nBuckets: 256\nChain Length Avg: 0.1\n"
            "Chain Length Max: 1\nChain Length Min: 0\nChain Length Std Dev: 0.1\nChain Length Expected Std Dev: 0.1\n"
            "Fixed: false\nObjects: 5\nWords: 500\nType: set\nProtection: public\nCompressed: false\nWrite "
            "Concurrency: false\nRead Concurrency: false\n");
        sections.push_back("=timer:<0.1.0>\nMessage: {timeout,#Ref<0.1.2.9>,tick}\nTime left: 100\n");
        sections.push_back("=node:nonode@nohost\n");
        sections.push_back("=no_distribution\n");
        sections.push_back("=loaded_modules\nCurrent code: 30\nOld code: 0\n");
        sections.push_back("=mod:a\nCurrent size: 10\n");
        sections.push_back("=mod:b\nCurrent size: 20\n");
        sections.push_back("=fun\nModule: a\nUniq: 1\nIndex: 0\nAddress: 0x7f00\nRefc: 1\n");
        for (int i = 1; i <= 4; ++i) {
            sections.push_back(
                fmt::format("=proc_stack:{}\ny0:N\n0x00007f0000000100:SReturn addr 0x1 (m:f/1 + "
                            "8)\ny0:H7F00\n0x00007f0000000110:SReturn addr 0x2 (<terminate process>)\n",
                            pid(i)));
            sections.push_back(
                fmt::format("=proc_heap:{}\n7F00:t2:H7F10,H7F20\n7F10:lI2|N\n7F20:YcA000:B000:5\n", pid(i)));
        }
        for (const char* section : {"=persistent_terms\n", "=literals\n7E00:t1:A2:ok\n", "=binary:A000\n5:AAAAAAA=\n",
                                    "=atoms\nok\nfalse\n", "=end\n"})
            sections.push_back(section);
    }
    std::string text() const {
        std::string all;
        for (const std::string& section : sections) all += section;
        return all;
    }
    std::string& of(std::string_view tag) {
        for (std::string& section : sections)
            if (section.starts_with(tag)) return section;
        FAIL("no section " << tag);
        return sections.front();
    }
};

bool loses(const std::string& text) { return told(text).anomalies.data_lost(); }

}  // namespace

TEST_CASE("timers that one process set alike for one instant are no copies", "[losses]") {
    WholeNode node;
    const std::string timer = "=timer:<0.1.0>\nMessage: keepalive\nTime left: 0\n";
    node.of("=timer") += timer + timer;
    CHECK_FALSE(loses(node.text()));
}

TEST_CASE("of a whole node every section that is lost, stands twice, or lost a line is told", "[losses]") {
    const WholeNode whole;
    REQUIRE_FALSE(loses(whole.text()));
    for (std::size_t i = 1; i + 1 < whole.sections.size(); ++i) {
        const std::string& section = whole.sections[i];
        INFO(section);
        // Nothing counts these, and nothing refers to them; nor to a process that nothing else knows.
        const bool untold = section.starts_with("=port") || section.starts_with("=ets") ||
                            section.starts_with("=timer") ||
                            section.starts_with("=memory");  // which is not there where an allocator is switched off
        WholeNode lost = whole;
        lost.sections.erase(lost.sections.begin() + static_cast<std::ptrdiff_t>(i));
        if (!untold) CHECK(loses(lost.text()));
        WholeNode twice = whole;
        twice.sections.insert(twice.sections.begin() + static_cast<std::ptrdiff_t>(i), section);
        CHECK(loses(twice.text()));
        if (section.starts_with("=literals")) continue;
        for (std::size_t at = section.find('\n') + 1; at < section.size();) {
            const std::size_t end = section.find('\n', at) + 1;
            const std::string line = section.substr(at, end - at);
            INFO(line);
            // Not every process has these; what the areas of bits take is of some releases alone.
            const bool optional = line.starts_with("arity") || line.starts_with("bits_bufs_size") ||
                                  line == "y0:N\n";  // the one register of the youngest frame
            if (!optional) {
                WholeNode torn = whole;
                torn.sections[i].erase(at, line.size());
                CHECK(loses(torn.text()));
            }
            at = end;
        }
    }
}

TEST_CASE("allocators of old releases: which there are, and from which number on", "[losses]") {
    constexpr const char* r14 = "Erlang R14B04 (erts-5.8.5) [source] [smp:2:2] [rq:2] [async-threads:0]";
    constexpr const char* r15 = "Erlang R15B01 (erts-5.9.1) [source] [smp:2:2] [async-threads:0]";
    const auto lost = [](const char* version, const std::vector<std::string>& allocators) {
        std::string text = test::header("test", version);
        for (const std::string& id : allocators)
            text += fmt::format("=allocator:{}\noption e: true\n{}", id,
                                id.starts_with("mseg") ? "" : "mbcs mseg carriers: 1\nsbmbcs blocks: 1\n");
        const Told all = told(text + test::process("<0.1.0>") + "=end\n");
        return all.count(Anomaly::count_mismatch) + all.count(Anomaly::section_missing);
    };
    // Up to R14 what is for a moment is numbered from 0 on, all else from 1.
    const std::vector<std::string> all{"sbmbc_alloc", "temp_alloc[0]", "temp_alloc[1]", "temp_alloc[2]",
                                       "sl_alloc[1]", "sl_alloc[2]",   "mseg_alloc"};
    const auto whole = lost(r14, all);
    for (const std::size_t gone : {0u, 1u, 4u, 6u}) {
        std::vector<std::string> others = all;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(gone));
        INFO(all[gone]);
        CHECK(lost(r14, others) == whole + 1);
    }
    std::vector<std::string> from_0 = all;
    from_0.insert(from_0.begin() + 4, "sl_alloc[0]");
    CHECK(lost(r15, all) == lost(r15, from_0) + 1);
}

TEST_CASE("the second table of what is exported is in releases from R12 to R15", "[losses]") {
    const auto missing = [](const char* version, const std::string& more) {
        const auto table = [](const std::string& name) {
            return "=hash_table:" + name + "\nsize: 4\nused: 1\nobjs: 1\ndepth: 1\n";
        };
        return told(test::header("test", version) + table("atom_tab") + (more.empty() ? "" : table(more)) +
                    "=allocator:sys_alloc\noption e: true\n" + test::process("<0.1.0>") + "=end\n")
            .count(Anomaly::section_missing);
    };
    const auto asked_for = [&](const char* version) {
        return missing(version, "") != missing(version, "secondary_export_table");
    };
    CHECK_FALSE(asked_for("Erlang (BEAM) emulator version 5.5 [source] [async-threads:0]"));
    CHECK(asked_for("Erlang (BEAM) emulator version 5.6.4 [async-threads:0]"));
    CHECK(asked_for("Erlang R15B01 (erts-5.9.1) [source] [smp:2:2] [async-threads:0]"));
    CHECK_FALSE(asked_for("Erlang R16B (erts-5.10.1) [source] [64-bit] [smp:4:4] [async-threads:0]"));
}

TEST_CASE("a section that stands elsewhere is told", "[losses]") {
    const WholeNode whole;
    const std::size_t last = whole.sections.size() - 1;
    for (const std::size_t from : {std::size_t{3}, last - 1, last - 2, last - 4})
        for (std::size_t to = 1; to < last; ++to) {
            if (whole.sections[to].substr(0, 5) == whole.sections[from].substr(0, 5)) continue;
            if (to == from + 1) continue;
            WholeNode moved = whole;
            std::string section = moved.sections[from];
            moved.sections.erase(moved.sections.begin() + static_cast<std::ptrdiff_t>(from));
            const std::size_t at = to > from ? to - 1 : to;
            if (at == from) continue;
            moved.sections.insert(moved.sections.begin() + static_cast<std::ptrdiff_t>(at), section);
            INFO(section << " before " << whole.sections[to]);
            CHECK(loses(moved.text()));
        }
}

TEST_CASE("what is lost is missing, and not made up", "[losses]") {
    const auto snapshot_of = [](const std::string& text) { return test::load(text); };
    WholeNode alone;
    alone.of("=no_distribution").clear();
    CHECK_FALSE(snapshot_of(alone.text())->snapshot().node.distributed.has_value());
    CHECK(snapshot_of(WholeNode().text())->snapshot().node.distributed == false);

    WholeNode stacks;
    for (std::string& section : stacks.sections)
        if (section.starts_with("=proc_stack") || section.starts_with("=proc_heap")) section.clear();
    CHECK_FALSE(snapshot_of(stacks.text())->snapshot().processes[1].sensitive.has_value());
    WholeNode hidden;
    hidden.of("=proc_stack:<0.2.0>").clear();
    hidden.of("=proc_heap:<0.2.0>").clear();
    CHECK(snapshot_of(hidden.text())->snapshot().processes[1].sensitive == true);
    hidden.of("=proc_heap:<0.3.0>").clear();
    CHECK_FALSE(snapshot_of(hidden.text())->snapshot().processes[1].sensitive.has_value());
}

TEST_CASE("the process table alone tells what breaks it off", "[losses]") {
    const auto table = [](const std::string& text) { return test::load(text, LoadPlan{}); };
    WholeNode whole;
    CHECK(table(whole.text())->snapshot().source.process_table_complete);
    CHECK(table(whole.text())->snapshot().source.loss.processes == 0);
    CHECK(table(whole.text())->snapshot().source.not_looked_at.size() == 6);
    WholeNode torn;
    torn.of("=proc:<0.2.0>").replace(0, 5, "=prqc");
    CHECK(table(torn.text())->snapshot().anomalies.seen(Anomaly::damaged_tag));
    CHECK(table(torn.text())->snapshot().source.loss.processes == 1);
    WholeNode moved;
    moved.of("=proc:<0.2.0>") = "=timer:<0.1.0>\nMessage: a\nTime left: 1\n" + moved.of("=proc:<0.2.0>");
    CHECK(table(moved.text())->snapshot().processes.size() == 4);
    CHECK(table(moved.text())->snapshot().anomalies.seen(Anomaly::section_misplaced));
    WholeNode cut;
    for (const char* gone : {"=proc:<0.4.0>", "=port", "=ets", "=timer", "=node", "=no_distribution", "=loaded_modules",
                             "=mod:a", "=mod:b"})
        cut.of(gone).clear();
    CHECK_FALSE(table(cut.text())->snapshot().source.process_table_complete);
}
