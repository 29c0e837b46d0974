// SPDX-License-Identifier: Apache-2.0
// Where sections begin and where a dump ends: forgeries, damage, cuts, and pieces of any size.
#include <catch2/catch.hpp>
#include <cstdio>

#include "support/dump_text.hpp"

using namespace beamheap;
using test::everything;
using test::header;
using test::load;
using test::process;

namespace {

const std::string whole =
    header() + "=memory\ntotal: 100\n" + process("<0.2.0>", "Name: one\nMessage queue length: 3\n") +
    process("<0.3.0>", "Name: two\n") +
    "=port:#Port<0.5>\nSlot: 8\nConnected: <0.2.0>\n=ets:<0.2.0>\nTable: t\nObjects: 5\n"
    "=proc_messages:<0.2.0>\nH100:N\nA5:a\n=b\n:N\n=proc_stack:<0.2.0>\ny0:H100\n=proc_heap:<0.2.0>\n"
    "100:t2:A16:x\n=proc:<0.99.0>\nState:,H108\n108:Yh4:AAAAAA==\n=proc_stack:<0.3.0>\ny0:N\n=proc_heap:<0.3.0>\n"
    "=literals\n200:t0:\n=binary:300\n4:AAAAAA==\n=atoms\nfoo\n'b\\nar'\n=end\n";

struct Summary {
    std::vector<std::string> names;
    std::size_t ports, ets, atoms, processes_with_heap = 0;
    std::optional<bool> complete;
    bool operator==(const Summary&) const = default;
};

Summary summary(const Snapshot& s) {
    Summary sum{{}, s.ports.size(), s.ets.size(), s.atoms.size(), 0, s.source.complete};
    for (const Process& p : s.processes) {
        sum.names.emplace_back(s.text(p.name));
        sum.processes_with_heap += p.has_heap;
    }
    return sum;
}

}  // namespace

TEST_CASE("the same is read whatever the pieces that the bytes come in", "[scanner]") {
    const auto reference = load(whole);
    REQUIRE(reference);
    const Summary expected = summary(reference->snapshot());
    CHECK(expected.names == std::vector<std::string>{"one", "two"});
    CHECK(expected.processes_with_heap == 2);
    CHECK(expected.atoms == 2);
    CHECK(expected.complete == true);
    CHECK(*reference->snapshot().node.binary_bytes == 4);
    for (const std::size_t piece : {1u, 2u, 3u, 7u, 64u, 1000u}) {
        const auto dump = load(whole, everything(), piece);
        REQUIRE(dump);
        CHECK(summary(dump->snapshot()) == expected);
    }
}

TEST_CASE("a dump cut anywhere loads as far as it goes and says so", "[scanner]") {
    for (std::size_t length = header().size(); length + 1 < whole.size(); ++length) {
        const auto dump = load(whole.substr(0, length));
        REQUIRE(dump);
        const Snapshot& s = dump->snapshot();
        const bool ended = whole.substr(0, length).ends_with("\n=end");
        CHECK(s.source.complete == ended);
        CHECK(s.source.truncation.empty() == ended);
        CHECK(s.processes.size() <= 2);
        if (!ended) CHECK(s.anomalies.seen(Anomaly::truncated));
    }
}

TEST_CASE("a slogan can't forge sections", "[scanner]") {
    const std::string slogan =
        "x\n=proc:<0.666.0>\nState: Waiting\nName: evil\nSystem version: fake\n=memory\ntotal: 1";
    const auto dump = load(header(slogan) + "=memory\ntotal: 77\n" + process("<0.2.0>") + "=end\n");
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    CHECK(s.processes.size() == 1);
    CHECK(*s.memory_bytes("total") == 77);
    CHECK(s.anomalies.seen(Anomaly::forged_section));
    const auto glued = load(
        "=erl_crash_dump:0.5\nSat Nov 21 2026\nSlogan: Crash dump requested by userSystem version: Erlang/OTP 25 "
        "[erts-13] [64-bit]\nAtoms: 1\n=end\n");
    CHECK(glued->snapshot().node.slogan == "Crash dump requested by user");
    CHECK(glued->snapshot().source.otp_release == "25");
}

TEST_CASE("a large heap is searched for names piece by piece, and what looks like a section in it is told once",
          "[scanner]") {
    const auto cell = [](unsigned at) {
        char digits[16];
        std::snprintf(digits, sizeof digits, "%X", at);
        return std::string(digits);
    };
    std::string filler;  // cells of a list, more of them than are looked at together
    for (unsigned i = 0; i < 40000; ++i) filler += cell(0x100000 + 16 * i) + ":lI" + std::to_string(i) + "|N\n";
    const std::string forged = "100:t2:A16:x\n=proc:<0.99.0>\nState:,H108\n";
    const std::string call = "50:t3:A3:lib,A4:init,I1\n", entry = "40:t2:AD:$initial_call,H50\n";
    // The key behind much else, and what it refers to behind it; or in front of it, which takes a second look.
    for (const std::string& heap : {forged + filler + entry + filler + call, forged + call + filler + entry}) {
        const auto dump = load(header() + process("<0.2.0>", "Name: one\n") +
                               "=proc_dictionary:<0.2.0>\nH40\n=proc_stack:<0.2.0>\ny0:H100\n" +
                               "=proc_heap:<0.2.0>\n" + heap + "=end\n");
        REQUIRE(dump);
        const Snapshot& s = dump->snapshot();
        REQUIRE(s.processes.size() == 1);
        REQUIRE(s.processes[0].real_initial_call != FunctionId::none);
        const Function& f = s.functions[s.processes[0].real_initial_call];
        CHECK(s.text(f.module) == "lib");
        CHECK(s.text(f.name) == "init");
        CHECK(s.anomalies[Anomaly::forged_section].count == 1);
        CHECK(s.source.complete == true);
    }
}

TEST_CASE("top reads the process table alone and knows whether it is complete", "[scanner]") {
    LoadPlan plan;
    const auto dump = load(whole, plan);
    CHECK(dump->snapshot().processes.size() == 2);
    CHECK(dump->snapshot().source.complete == true);  // by a look at the end
    CHECK(dump->snapshot().source.process_table_complete);
    CHECK(dump->snapshot().ports.empty());

    const auto cut = load(whole.substr(0, whole.size() - 10), plan);
    CHECK(cut->snapshot().source.complete == false);
    CHECK(cut->snapshot().source.process_table_complete);

    const std::size_t second = whole.find("=proc:<0.3.0>");
    const auto cut_table = load(whole.substr(0, second + 40), plan);
    CHECK_FALSE(cut_table->snapshot().source.process_table_complete);
    CHECK(cut_table->snapshot().anomalies.seen(Anomaly::cut_in_process_table));
}

TEST_CASE("a stream that is read in part does not claim to know its end", "[scanner]") {
    std::string large = whole;
    large.insert(large.find("=literals"), "=proc_heap:<0.3.0>\n" + std::string(2u << 20, '\n'));
    const auto dump = load(large, LoadPlan{}, 4096);
    CHECK(dump->snapshot().processes.size() == 2);
    CHECK_FALSE(dump->snapshot().source.complete.has_value());
}

TEST_CASE("the size limit's mark is told from an ordinary cut", "[scanner]") {
    for (const std::size_t at : {whole.find("=literals") - 30, whole.find("4:AAAA") + 4, whole.find("Objects") + 3}) {
        const auto dump = load(whole.substr(0, at) + "\n=abort:CRASH DUMP SIZE LIMIT REACHED\n");
        REQUIRE(dump);
        CHECK(dump->snapshot().source.complete == false);
        CHECK(dump->snapshot().anomalies.seen(Anomaly::size_limit_reached));
        CHECK(dump->snapshot().source.truncation.find("CRASH DUMP SIZE LIMIT REACHED") != std::string::npos);
    }
}

TEST_CASE("odd dumps are read and the oddity is named", "[scanner]") {
    const std::string start = header() + "=memory\ntotal: 1\n";
    const auto seen = [](const std::string& text, Anomaly anomaly) {
        const auto dump = load(text);
        return dump != nullptr && dump->snapshot().anomalies.seen(anomaly);
    };
    CHECK(seen(start + "=new_thing:1\nwhatever\n" + process("<0.2.0>") + "=end\n", Anomaly::damaged_tag));
    CHECK(seen(header("x", "Erlang/OTP 31 [erts-20] [64-bit]") + "=memory\ntotal: 1\n=new_thing:1\nwhatever\n" +
                   process("<0.2.0>") + "=end\n",
               Anomaly::unknown_section));
    CHECK(seen(start + process("<0.2.0>") + process("<0.2.0>") + "=end\n", Anomaly::duplicate_section));
    std::string ended = process("<0.2.0>");
    ended.replace(ended.find("Waiting"), 7, "Non Existing");
    CHECK(seen(start + process("<0.2.0>") + ended + "=end\n", Anomaly::duplicate_process));
    CHECK(seen(start + process("<0.2.0>", "Colour: blue\n") + "=end\n", Anomaly::bad_line));
    CHECK(seen(start + process("<0.2.0>", "Reductions: many\n") + "=end\n", Anomaly::bad_number));
    CHECK(seen(start + process("<0.2.0>", "Reductions: 99999999999999999999999\n") + "=end\n", Anomaly::bad_number));
    CHECK(seen(start + process("<0.2.0>") + "=proc_heap:<0.7.0>\n=end\n", Anomaly::orphan_section));
    CHECK(seen(start + process("<0.2.0>") + "=end\n" + header(), Anomaly::second_dump));
    CHECK(seen(start + process("<0.2.0>") + header() + "=end\n", Anomaly::second_dump));
    CHECK(seen(start + "=end\nsome words\n", Anomaly::trailing_data));
    CHECK(seen(header("x", "Erlang/OTP 31 [erts-20] [64-bit]", "0.6") + "=end\n", Anomaly::newer_format));
    CHECK(seen(start + "=binary:10\nFFFFFFFFFFFFFFFF:AAAA\n=end\n", Anomaly::bad_line));
    CHECK(seen(start + "=binary:10\nFFFFFFFFFFF:AAAA\n=end\n", Anomaly::truncated));
    CHECK(seen(start + "=scheduler:1\nCurrent Process: <0.1.0>\n** crashed **\n=end\n", Anomaly::crashed_section));
}

TEST_CASE("lines may end with CR LF", "[scanner]") {
    std::string text;
    for (const char c : whole.substr(0, whole.find("=proc_messages")) + "=end\n") {
        if (c == '\n') text += '\r';
        text += c;
    }
    const auto dump = load(text);
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    CHECK(s.source.complete == true);
    CHECK(s.processes.size() == 2);
    CHECK(s.text(s.processes[0].name) == "one");
    CHECK(*s.ets.at(0).objects == 5);
    CHECK(s.source.otp_release == "25");
}

TEST_CASE("sensitive processes are told from those whose heap is elsewhere", "[scanner]") {
    const auto dump = load(header() + process("<0.2.0>") + process("<0.3.0>") +
                           "=proc_stack:<0.2.0>\ny0:N\n=proc_heap:<0.2.0>\n=end\n");
    CHECK(dump->snapshot().processes[0].sensitive == false);
    CHECK(dump->snapshot().processes[1].sensitive == true);
}

// What followed a section the last time is only where the scanner looks first: whatever came before, a tag is what it
// is alone.
TEST_CASE("a section is what its tag says, whatever followed its like before", "[scanner]") {
    const std::string start = header() + process("<0.2.0>") + process("<0.3.0>") + process("<0.4.0>");
    const auto stack = [](const std::string& pid) { return "=proc_stack:" + pid + "\ny0:N\n"; };
    const auto heap = [](const std::string& pid) { return "=proc_heap:" + pid + "\n100:t0:\n"; };
    const std::string learnt = stack("<0.2.0>") + heap("<0.2.0>");  // behind a stack comes a heap
    const auto counts = [&](const std::string& sections) {
        const auto dump = load(start + sections + "=end\n");
        REQUIRE(dump);
        const Snapshot& s = dump->snapshot();
        std::vector<std::uint64_t> told;
        for (const Anomaly anomaly :
             {Anomaly::damaged_tag, Anomaly::forged_section, Anomaly::bad_line, Anomaly::orphan_section,
              Anomaly::duplicate_section, Anomaly::heap_missing, Anomaly::heap_lost})
            told.push_back(s.anomalies[anomaly].count);
        told.push_back(s.source.complete.value_or(false));
        told.push_back(s.processes[1].has_heap);
        told.push_back(s.processes[2].has_heap);
        return told;
    };
    const auto others = stack("<0.3.0>") + heap("<0.3.0>");
    const std::vector<std::string> followers = {
        others,
        "=proc_heap:<0.3.0>\n=proc_stack:<0.3.0>\n",          // in another order
        stack("<0.3.0>") + "=proc_heaps:<0.3.0>\n100:t0:\n",  // tags that begin as the usual one does, or are cut
        stack("<0.3.0>") + "=proc_heap_:<0.3.0>\n100:t0:\n",
        stack("<0.3.0>") + "=proc_hea:<0.3.0>\n100:t0:\n",
        stack("<0.3.0>") + "=proc_heap \n100:t0:\n",
        stack("<0.3.0>") + "=proc_heap\n100:t0:\n",
        stack("<0.3.0>") + "=proc_heap\r\n100:t0:\n",
        stack("<0.3.0>") + "=new_thing:1\n" + heap("<0.3.0>"),
        "=proc_stack:<0.3.0>\ny0:A1A:x\n=proc_heap:<0.99.0>\ny0\n" + heap("<0.3.0>"),  // within an atom
        stack("<0.3.0>") + "=literals\n",
    };
    for (const std::string& sections : followers) {
        INFO(sections);
        // Alone: nothing was learnt. The process that teaches comes behind, where it can teach nothing any more.
        CHECK(counts(learnt + sections) == counts(sections + learnt));
    }
    // And where the usual one is what is there, but the input ends within its tag.
    for (const char* cut : {"=proc_heap", "=proc_hea", "=", "=proc_heap:"}) {
        const auto dump = load(start + learnt + stack("<0.3.0>") + cut);
        REQUIRE(dump);
        CHECK(dump->snapshot().processes[0].has_heap);
        CHECK(dump->snapshot().source.complete == false);
    }
}
