// SPDX-License-Identifier: Apache-2.0
// Lines of processes that are taken as they were expected, against the same lines when each is read. Lines that end
// with CR LF, as some editor or mail program leaves them, are never expected.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/dump_text.hpp"

using namespace beamheap;
using namespace std::string_view_literals;

namespace {

std::string entry(unsigned number, std::string_view reductions) {
    return "=proc:<0." + std::to_string(number) +
           ".0>\nState: Waiting\nSpawned as: proc_lib:init_p/5\nSpawned by: <0.1.0>\nMessage queue length: 2\n"
           "Number of heap fragments: 0\nHeap fragment data: 0\nReductions: " +
           std::string(reductions) +
           "\nStack+heap: 987\nOldHeap: 1598\nHeap unused: 226\nOldHeap unused: 31\nBinVHeap: 34\nOldBinVHeap: 5\n"
           "BinVHeap unused: 46388\nOldBinVHeap unused: 46422\nMemory: 8936\n"
           "Program counter: 0x00007f884b9fc418 (gen_server:loop/7 + 80)\narity = 0\n"
           "Internal State: ACT_PRIO_NORMAL | USR_PRIO_NORMAL | PRQ_PRIO_NORMAL\n";
}

std::string with_returns(std::string_view text) {
    std::string out;
    for (const char c : text) (c == '\n' ? out += '\r' : out) += c;
    return out;
}

// All that lines tell, and what was odd about them.
std::string told(const std::string& text) {
    const auto dump = test::load(text);
    REQUIRE(dump != nullptr);
    const Snapshot& s = dump->snapshot();
    std::string out;
    const auto add = [&](std::uint64_t value) { (out += std::to_string(value)) += ' '; };
    for (const Process& p : s.processes) {
        for (const Count& count :
             {p.msgq_len, p.fragments, p.fragment_words, p.reductions, p.heap_words, p.old_heap_words,
              p.heap_unused_words, p.old_heap_unused_words, p.bin_vheap_words, p.old_bin_vheap_words,
              p.bin_vheap_unused_words, p.old_bin_vheap_unused_words, p.memory_bytes})
            add(count.value_or(~std::uint64_t{0}));
        for (const std::uint64_t value :
             {std::uint64_t{p.pid.number}, std::uint64_t{p.parent.number}, p.program_counter,
              std::uint64_t{p.pc_offset}, std::uint64_t{index_of(p.current_function)},
              std::uint64_t{index_of(p.initial_call)}, std::uint64_t{p.arity}, static_cast<std::uint64_t>(p.state),
              std::uint64_t{p.extra_range.count}})
            add(value);
        (out += s.text(p.internal_state)) += '\n';
    }
    for (const Anomaly kind : {Anomaly::bad_line, Anomaly::bad_number, Anomaly::unknown_field, Anomaly::repeated_field,
                               Anomaly::torn_process, Anomaly::duplicate_process})
        add(s.anomalies[kind].count);
    return out;
}

}  // namespace

TEST_CASE("a number of a process is read at whatever length it has", "[crashdump][lines]") {
    for (std::size_t digits = 1; digits <= 19; ++digits) {
        const std::string number = std::string("1234567890123456789").substr(0, digits);
        const auto dump = test::load(test::header() + entry(1, "7") + entry(2, number) + entry(3, number) + "=end\n");
        REQUIRE(dump != nullptr);
        REQUIRE(dump->snapshot().processes.size() == 3);
        for (const std::size_t i : {1u, 2u})
            CHECK(dump->snapshot().processes[i].reductions == Count(std::stoull(number)));
        CHECK(dump->snapshot().processes[2].memory_bytes == Count(8936));
        CHECK_FALSE(dump->snapshot().anomalies.seen(Anomaly::torn_process));
    }
}

TEST_CASE("lines that are taken as they were expected are what reading each of them gives", "[crashdump][lines]") {
    const std::string head = test::header() + entry(1, "1601"), tail = entry(3, "77") + entry(4, "952") + "=end\n";
    const std::string sound = entry(2, "952");
    const auto compare = [&](const std::string& damaged) {
        const std::string text = head + damaged + tail;
        INFO(damaged);
        CHECK(told(text) == told(with_returns(text)));
    };
    compare(sound);
    SECTION("a byte is another one") {
        for (std::size_t at = sound.find('\n') + 1; at < sound.size(); ++at)
            for (const char other : "x9 \n\0"sv) {
                std::string damaged = sound;
                if (damaged[at] == '\n') continue;
                damaged[at] = other;
                compare(damaged);
            }
    }
    SECTION("lines are gone, stand twice, or have changed places") {
        std::vector<std::string> lines;
        for (std::size_t at = 0, end = 0; (end = sound.find('\n', at)) != sound.npos; at = end + 1)
            lines.push_back(sound.substr(at, end + 1 - at));
        const auto joined = [](const std::vector<std::string>& all) {
            std::string text;
            for (const std::string& line : all) text += line;
            return text;
        };
        for (std::size_t i = 1; i < lines.size(); ++i) {
            std::vector<std::string> damaged = lines;
            damaged.erase(damaged.begin() + static_cast<std::ptrdiff_t>(i));
            compare(joined(damaged));
            for (std::size_t to = 1; to < lines.size(); ++to) {
                damaged = lines;
                damaged.insert(damaged.begin() + static_cast<std::ptrdiff_t>(to), lines[i]);
                compare(joined(damaged));
                damaged = lines;
                std::swap(damaged[i], damaged[to]);
                compare(joined(damaged));
            }
        }
    }
}
