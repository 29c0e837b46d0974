// SPDX-License-Identifier: Apache-2.0
// What a State says of itself that explains why nothing goes on.
#include "analyses/heaps/state_flag.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "present/spelling.hpp"
#include "support/dump_text.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

/// Where a gen_server whose State is the term at 2000 says why it does not go on; "" where nowhere.
std::string flag_of(const std::string& heap) {
    LoadPlan plan = test::everything();
    plan.terms = true;
    const auto dump =
        test::load(test::header() +
                       test::process("<0.50.0>",
                                     "Current call: gen_server:loop/7\nProgram counter: 0x00007f0000000000 "
                                     "(gen_server:loop/7 + 100)\n") +
                       "=proc_stack:<0.50.0>\ny0:A7:my_pool\ny1:H2000\ny2:A2:me\ny3:P<0.1.0>\n"
                       "0x00007fad1c217d74:SReturn addr 0x1C217D74 (gen_server:loop/7 + 596)\n=proc_heap:<0.50.0>\n" +
                       heap + "=end\n",
                   plan);
    REQUIRE(dump != nullptr);
    const auto terms = dump->terms(ProcId{0});
    REQUIRE(terms);
    const auto flag = state_flag(dump->snapshot(), ProcId{0}, **terms);
    if (!flag) return {};
    return present::plain_text(dump->snapshot(),
                               sentence("{} is {}", flag->field, PrintedTerm{flag->value, flag->value->term()}));
}

/// {state, 1, {TAG, <<"low on memory">>}}
std::string reason(const std::string& tag, const std::string& text = "YhD:bG93IG9uIG1lbW9yeQ==") {
    return "2000:t3:A5:state,I1,H2100\n2100:t2:" + tag + ",H2200\n2200:" + text + "\n";
}

/// #{KEY => VALUE}
std::string map(const std::string& key, const std::string& value) {
    return "2000:Mf1:H2100:" + value + "\n2100:t1:" + key + "\n";
}

}  // namespace

TEST_CASE("a truth with a text for people, and words of those who are held up, are reasons", "[state_flag]") {
    CHECK(flag_of(reason("A4:true")) == "its State > element 3 is {true,<<\"low on memory\">>}");
    CHECK(flag_of(reason("A7:blocked")) == "its State > element 3 is {blocked,<<\"low on memory\">>}");
    CHECK(flag_of(reason("A2:ok")).empty());
    CHECK(flag_of(reason("A4:true", "Yh5:bG93b24=")).empty());  // <<"lowon">> is a name
    CHECK(flag_of("2000:t3:A5:state,I1,A7:blocked\n") == "its State > element 3 is blocked");
    CHECK(flag_of("2000:t3:A7:blocked,I1,A5:false\n").empty());  // the name of a record
}

TEST_CASE("keys that say what a truth is about are reasons", "[state_flag]") {
    CHECK(flag_of(map("A6:paused", "A4:true")) == "its State > key paused is true");
    CHECK(flag_of(map("A6:paused", "A5:false")).empty());
    CHECK(flag_of(map("AB:flow_active", "A5:false")) == "its State > key flow_active is false");
    CHECK(flag_of(map("AB:flow_active", "A4:true")).empty());
    CHECK(flag_of(map("A8:inactive", "A5:false")).empty());
    CHECK(flag_of(map("A7:verbose", "A5:false")).empty());
}
