// SPDX-License-Identifier: Apache-2.0
// Lines of =proc sections are read once where processes have them in common: what a row gets must not depend on its
// neighbours.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/dump_text.hpp"

using namespace beamheap;

namespace {

std::string numbers(unsigned seed) {
    std::string lines;
    for (const char* key : {"Reductions", "Stack+heap", "OldHeap", "Heap unused", "OldHeap unused", "BinVHeap",
                            "OldBinVHeap", "BinVHeap unused", "OldBinVHeap unused", "Memory"})
        lines += std::string(key) + ": " + std::to_string(seed = seed * 7 + 1) + "\n";
    return lines;
}

/// Sections that share lines, lack some, have them in another order, or say something odd in them.
std::vector<std::string> bodies() {
    const std::string queue = "Message queue length: 3\nNumber of heap fragments: 0\nHeap fragment data: 0\n";
    const std::string counter = "Program counter: 0x00007f0000000100 (shop:loop/1 + 80)\narity = 0\n";
    const std::string state = "Internal State: ACT_PRIO_NORMAL | USR_PRIO_NORMAL | PRQ_PRIO_NORMAL\n";
    return {
        "State: Waiting\nSpawned as: shop:worker/2\nSpawned by: <0.9.0>\n" + queue + numbers(1) + counter + state,
        "State: Waiting\nSpawned as: shop:worker/2\nSpawned by: <0.9.0>\n" + queue + numbers(2) + counter + state,
        "State: Waiting\nName: shop\nSpawned as: proc_lib:init_p/5\nSpawned by: <0.8.0>\n" + queue + numbers(3) +
            "Program counter: 0x00007f0000000200 (gen_server:loop/7 + 8)\narity = 0\n" + state,
        "State: Running\nSpawned as: shop:worker/2\nLast scheduled in for: shop:loop/1\nSpawned by: <0.9.0>\n" + queue +
            numbers(4) + "arity = 3\nInternal State: RUNNING\n",
        "State: Scheduled\nSpawned as: shop:worker/2\nCurrent call: lists:map/2\nSpawned by: []\n" + queue +
            numbers(5) + state,
        "State: Exiting\nSpawned as: <cp/header:0x1234>\nSpawned by: <0.9.0>\n" + queue + numbers(6) + state,
        "State: Exiting\nSpawned as: <cp/header:0x1234>\nSpawned by: <0.9.0>\n" + queue + numbers(7) + state,
        "State: Waiting\nSpawned as: <cp/header:0x1234>\nSpawned by: nobody\n" + queue + numbers(8) + counter + state,
        "State: Waiting\nSpawned as: <cp/header:0x1234>\nSpawned by: nobody\n" + queue + numbers(9) + counter + state,
        "State: Dreaming\nSpawned by: <0.9.0>\nSpawned as: shop:worker/2\n" + numbers(10) + queue + state,
        "State: Dreaming\nSpawned by: <0.9.0>\nSpawned as: shop:worker/2\n" + numbers(11) + queue + state,
        "State: Garbing\nSpawned as: shop:worker/2\nSpawned by: <0.9.0>\n" + queue + numbers(12) +
            "Program counter: 0x00007f0000000300 (unknown function)\narity = 0\n" + state,
        "State: Scheduled\nSpawned as: shop:worker/2\nCurrent call: re:grun/3\nSpawned by: <0.9.0>\n" + queue +
            numbers(17) + "Program counter: 0x00007f0000000300 (unknown function)\narity = 0\n" + state,
        "State: Scheduled\nSpawned as: shop:worker/2\nCurrent call: re:urun/3\nSpawned by: <0.9.0>\n" + queue +
            numbers(18) + "Program counter: 0x00007f0000000300 (unknown function)\narity = 0\n" + state,
        "State: Waiting\r\nSpawned as: shop:worker/2\r\nSpawned by: <0.9.0>\r\n" + queue + numbers(13) + counter +
            state,
        "State: Waiting\nSpawned as: " + std::string(120, 'm') + ":f/1\nSpawned by: <0.9.0>\n" + queue + numbers(14) +
            counter + state,
        "State: Waiting\nState: Running\nSpawned as: shop:worker/2\nNonsense\nSpawned by: <0.9.0>\nArrived: 5\n" +
            queue + numbers(15) + counter + state,
        "State: Waiting\nSpawned as: shop:worker/2\nSpawned by: <0.9.0>\n" + queue + numbers(16) + counter +
            "Internal State: ACT_PRIO_NORMAL",
    };
}

std::string section(std::size_t i, const std::string& body) {
    return "=proc:<0." + std::to_string(100 + i) + ".0>\n" + body;
}

std::string dump_of(const std::string& sections) {
    return test::header() + sections + (sections.ends_with('\n') ? "" : "\n") + "=end\n";
}

/// All that a section gives, as text: numbers of texts and functions differ from dump to dump.
std::string told(const Snapshot& s, const Process& p) {
    const auto function = [&](FunctionId id) {
        if (id == FunctionId::none) return std::string("-");
        const Function& f = s.functions[id];
        return std::string(s.text(f.module)) + ":" + std::string(s.text(f.name)) + "/" + std::to_string(f.arity);
    };
    const auto text = [&](TextId id) { return id == TextId::none ? std::string("-") : std::string(s.text(id)); };
    std::string all = text(p.name) + " " + function(p.initial_call) + " " + function(p.current_function) + " " +
                      text(p.internal_state) + " " + std::to_string(static_cast<int>(p.state)) + " " +
                      std::to_string(p.parent.has() ? p.parent.number : 0) + " " + std::to_string(p.program_counter) +
                      "+" + std::to_string(p.pc_offset) + " " + std::to_string(p.arity) +
                      (p.registers_lost ? " lost" : "");
    for (const Count count :
         {p.msgq_len, p.reductions, p.memory_bytes, p.heap_words, p.old_heap_words, p.heap_unused_words,
          p.old_heap_unused_words, p.fragments, p.fragment_words, p.bin_vheap_words, p.old_bin_vheap_words,
          p.bin_vheap_unused_words, p.old_bin_vheap_unused_words})
        all += count.has() ? " " + std::to_string(*count) : " -";
    return all;
}

struct ReadRows {
    std::vector<std::string> rows;
    std::vector<std::uint64_t> odd;  // bad lines, unknown fields, odd numbers
};

ReadRows read_rows(const std::vector<std::string>& order) {
    std::string sections;
    for (std::size_t i = 0; i < order.size(); ++i)
        sections += section(i, order[i]) + (order[i].ends_with('\n') ? "" : "\n");
    const auto dump = test::load(dump_of(sections));
    REQUIRE(dump != nullptr);
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.processes.size() == order.size());
    ReadRows all;
    for (const Process& process : s.processes) all.rows.push_back(told(s, process));
    for (const Anomaly each : {Anomaly::bad_line, Anomaly::unknown_field, Anomaly::bad_number})
        all.odd.push_back(s.anomalies[each].count);
    return all;
}

}  // namespace

TEST_CASE("what a line of a process says does not depend on the processes before it", "[crashdump]") {
    const std::vector<std::string> all = bodies();
    std::vector<std::string> alone;
    std::vector<std::uint64_t> odd(3);
    for (const std::string& body : all) {
        const ReadRows one = read_rows({body});
        alone.push_back(one.rows.front());
        for (std::size_t i = 0; i < odd.size(); ++i) odd[i] += one.odd[i];
    }
    CHECK(alone[0] != alone[1]);
    CHECK(alone[2].find("shop proc_lib:init_p/5 gen_server:loop/7") == 0);
    CHECK(odd[0] >= 4);
    for (std::size_t turn = 0; turn < all.size(); ++turn) {  // each behind each other one, and all of them twice
        std::vector<std::string> order, expected;
        for (std::size_t i = 0; i < 2 * all.size(); ++i) {
            const std::size_t which = (i * (turn % 7 + 1) * 2 + i / all.size() + turn) % all.size();
            order.push_back(all[which]);
            expected.push_back(alone[which]);
        }
        CHECK(read_rows(order).rows == expected);
    }
    std::vector<std::string> twice;
    for (const std::string& body : all) twice.insert(twice.end(), {body, body});
    const ReadRows pairs = read_rows(twice);
    for (std::size_t i = 0; i < twice.size(); ++i) CHECK(pairs.rows[i] == alone[i / 2]);
    for (std::size_t i = 0; i < odd.size(); ++i) CHECK(pairs.odd[i] == 2 * odd[i]);
}

TEST_CASE("of a longer line that stood in another process nothing is taken for the next line of this one",
          "[crashdump][processes]") {
    const auto entry = [](int number, std::string_view called) {
        return fmt::format(
            "=proc:<0.{}.0>\nState: Waiting\nSpawned as: {}\nSpawned by: <0.1.0>\nMessage queue length: 0\nReductions: "
            "10\n",
            number, called);
    };
    // the longer name has an S where the next line begins with one behind the shorter name
    const auto dump = test::load(test::header() + entry(10, "m:abcdS/1") + entry(11, "m:f/1") + entry(12, "m:f/1") +
                                 entry(13, "m:f/1") + "=end\n");
    REQUIRE(dump != nullptr);
    const Snapshot& s = dump->snapshot();
    REQUIRE(s.processes.size() == 4);
    for (const Process& process : s.processes) CHECK(process.parent == Pid{0, 1, 0});
    CHECK(s.extras.empty());
}
