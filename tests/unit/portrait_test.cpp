// SPDX-License-Identifier: Apache-2.0
// What opens the telling of one process, and small helpers of it, at their bounds.
#include "analyses/diagnosis/portrait.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "analyses/base/number_format.hpp"
#include "analyses/heaps/pid_fields.hpp"
#include "erlang/owned_term.hpp"
#include "formats/crashdump/object_words.hpp"
#include "present/spelling.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

struct Painted : test::MadeSnapshot {
    Accumulation heap;
    Painted() { s.source.word_size = 8; }
    std::string of(std::uint32_t number) {
        seal();
        const auto nothing = parse_term("[]");
        std::string all;
        for (const Sentence& each : portrait(s, s.find({0, number, 0}), waits(s), supervision(s), heap, *nothing))
            all += (all.empty() ? "" : " ") + present::plain_text(s, each);
        return all;
    }
};

std::string fields_of(const std::string& printed) {
    const auto term = parse_term(printed);
    std::string numbers;
    for (const Pid& pid : pid_fields(*term, {term->term()}))
        numbers += (numbers.empty() ? "" : " ") + std::to_string(pid.number);
    return numbers;
}

}  // namespace

TEST_CASE("a process is told by what it does, who has started it, and whom it keeps waiting", "[portrait]") {
    Painted node;
    node.process(1, "boss");
    node.process(2, "clerk", 1).initial_call = node.function("shop", "init", 1);
    node.process(3, "heir", 77).real_initial_call = node.function("shop", "heir", 0);
    node.s.processes.back().initial_call = node.function("proc_lib", "init_p", 5);
    node.process(4, "first", 0);
    node.waiter(5, 2);
    CHECK(node.of(1) == "boss <0.1.0> is a process.");
    CHECK(node.of(2) == "clerk <0.2.0> is a process of shop:init/1, started by boss <0.1.0>. 1 process waits for it.");
    CHECK(node.of(3) == "heir <0.3.0> is a process of shop:heir/0, started by <0.77.0>, which is gone.");
    CHECK(node.of(4) == "first <0.4.0> is a process.");  // of nobody that is a process
    CHECK(node.of(5) == "<0.5.0> is a process. It waits in gen_server:call/3 for clerk <0.2.0>.");
}

TEST_CASE("those who wait for a process are counted with those who wait for them", "[portrait]") {
    Painted node;
    node.process(1, "boss");
    node.waiter(2, 1);
    node.waiter(3, 1);
    CHECK(node.of(1) == "boss <0.1.0> is a process. 2 processes wait for it.");
    node.waiter(4, 3);
    CHECK(node.of(1) ==
          "boss <0.1.0> is a process. 2 processes wait for it, 3 if one counts those who wait for these.");
    CHECK(node.of(3) ==
          "<0.3.0> is a process. It waits in gen_server:call/3 for boss <0.1.0>. 1 process waits for it.");
}

TEST_CASE("what a heap mostly is, is told from 1,000 words and a twentieth of it on", "[portrait]") {
    Painted node;
    node.process(1, "boss");
    node.heap.what.say("a list of 500 integers");
    node.heap.where.say("its State");
    node.heap.words = 1'000;
    node.heap.percent = 5;
    CHECK(node.of(1) ==
          "boss <0.1.0> is a process. Of what is live on its heap, 5.0 % (7.8 KiB) is its State: a list of 500 "
          "integers.");
    node.heap.words = 999;
    CHECK(node.of(1) == "boss <0.1.0> is a process.");
    node.heap.words = 1'000;
    node.heap.percent = 4.99;
    CHECK(node.of(1) == "boss <0.1.0> is a process.");
}

TEST_CASE("pids that are fields: elements of tuples and values of small maps, of no list and no key", "[portrait]") {
    CHECK(fields_of("<0.5.0>") == "5");
    CHECK(fields_of("{a,<0.5.0>,{b,<0.6.0>},[<0.7.0>],#{k=>{c,<0.8.0>},<0.9.0>=>x}}") == "5 6 8");
    CHECK(fields_of("[<0.7.0>]").empty());
    // two thousand fields, the tuple itself among them
    const auto last_of = [](std::size_t elements) {
        std::string printed = "{";
        for (std::size_t i = 1; i < elements; ++i) printed += "a,";
        return fields_of(printed + "<0.5.0>}");
    };
    CHECK(last_of(1'999) == "5");
    CHECK(last_of(2'000).empty());
}

TEST_CASE("figures go on to the next unit, and lose their fraction, before they would be rounded up to it",
          "[portrait]") {
    CHECK(human_bytes(102'348) == "99.9 KiB");
    CHECK(human_bytes(102'349) == "100 KiB");
    CHECK(human_bytes(1'048'063) == "1023 KiB");
    CHECK(human_bytes(1'048'064) == "1.0 MiB");
    CHECK(human_percent(0.0499) == "<0.1 %");
    CHECK(human_percent(0.05) == "0.1 %");
    CHECK(human_percent(-0.0499) == "0 %");
    CHECK(human_percent(-0.05) == "-0.1 %");
    CHECK(human_percent(9.94) == "9.9 %");
    CHECK(human_percent(9.95) == "10 %");
    CHECK(human_percent(std::numeric_limits<double>::infinity()) == "-");
    CHECK(grouped(1'000) == "1,000");
    CHECK(grouped(999'999) == "999,999");
    CHECK(counted(0, "day", "days") == "0 days");
    CHECK(counted(1, "day", "days") == "1 day");
    CHECK(counted(2'000, "day", "days") == "2,000 days");
}

TEST_CASE("a bignum's words are counted at the powers of two where one more begins", "[portrait]") {
    const auto words = [](std::string_view digits, unsigned bits = 64) {
        return crashdump::bignum_words(digits, bits);
    };
    CHECK(words("0") == 1);
    CHECK(words("0001") == 1);
    CHECK(words("18446744073709551615") == 1);
    CHECK(words("018446744073709551616") == 2);
    CHECK(words("4294967295", 32) == 1);
    CHECK(words("4294967296", 32) == 2);
    CHECK(words(std::string(38, '9')) == 2);
    CHECK(words("340282366920938463463374607431768211455") == 2);  // 2^128 - 1
    CHECK(words("340282366920938463463374607431768211456") == 3);
    CHECK(words("340282366920938463463374607431768211455", 32) == 4);
    CHECK(words("340282366920938463463374607431768211456", 32) == 5);
    CHECK(words("6277101735386680763835789423207666416102355444464034512895") == 3);  // 2^192 - 1
    CHECK(words("6277101735386680763835789423207666416102355444464034512896") == 4);
    CHECK(words("1" + std::string(1'000, '0')) == 52);  // 3,322 bits
    CHECK(words("1" + std::string(1'000, '0'), 32) == 104);
}
