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
    return test::process(
        pid(i), "Program counter: 0x00007f0000000000 (m:f/1 + 8)\narity = 0\nInternal State: ACT_PRIO_NORMAL\n");
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
        std::string all = test::header();
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
         {"State", "Message queue", "Reductions", "Stack+heap", "OldHeap:", "Heap unused", "Internal"})
        CHECK(torn(without(line)) == 1);
    for (const char* line : {"Spawned by", "arity"})  // some entries of whole dumps have none
        CHECK(torn(without(line)) == 0);
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

TEST_CASE("links to nobody are no loss by themselves, but count where the table is torn") {
    Dump dump;
    const auto link = [&](int i, const std::string& to) {
        std::string& text = dump.entries[static_cast<std::size_t>(i)];
        text.insert(text.find("Reductions"), "Link list: [" + to + "]\n");
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
    const auto torn = [](int with) {
        std::string text = test::header();
        for (int i = 1; i <= 12; ++i)
            text += test::process(fmt::format("<0.{}.0>", i), i <= with ? "Internal State: ACT_PRIO_NORMAL\n" : "");
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
}
