// SPDX-License-Identifier: Apache-2.0
// Tables whose references their owners have lost, in dumps of owners with and without them.
#include "analyses/facts/catalogue/forgotten_tables.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "support/dump_text.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

// A reference of this node whose words are 1, 2 and 3, the lowest first: #Ref<0.3.2.1>.
constexpr std::string_view reference_on_heap = "E23:g1oAA3cNbm9ub2RlQG5vaG9zdAAAAAAAAAABAAAAAgAAAAM=";

std::string table(std::string_view id, std::string_view protection, std::uint64_t words) {
    return fmt::format(
        "=ets:<0.10.0>\nSlot: 7\nTable: {}\nName: hashtree\nBuckets: 256\nObjects: 9000\nWords: {}\nType: set\n"
        "Protection: {}\nCompressed: false\n",
        id, words, protection);
}

/// A dump whose one process owns `tables`, and has a tuple with the reference in a slot of its stack, or not.
std::string owner_of(const std::string& tables, bool with_reference,
                     std::string_view state = "State: Waiting\nName: journal\n") {
    std::string text = test::header("asked for by an operator");
    text += test::process("<0.10.0>", std::string(state)) + tables;
    text +=
        "=proc_messages:<0.10.0>\n=proc_dictionary:<0.10.0>\n=proc_stack:<0.10.0>\n"
        "0x00007fad1c217d74:SReturn addr 0x1C217D74 (gen_server:loop/7 + 596)\n"
        "y0:H7F0000000000\n=proc_heap:<0.10.0>\n7F0000000000:t2:I1,";
    text += with_reference ? fmt::format("H7F0000000020\n7F0000000020:{}\n", reference_on_heap) : "I2\n";
    return text + "=atoms\nok\n=end\n";
}

ForgottenTables found_in(const std::string& dump) {
    Facts facts{FactOptions{}};
    LoadPlan plan;
    facts.need(plan);
    const auto loaded = test::load(dump, plan);
    REQUIRE(loaded != nullptr);
    facts.bind(*loaded);
    return facts.get<ForgottenTables>();
}

const std::string kept_table = table("#Ref<0.3.2.1>", "private", 1'000'000);
const std::string other_table = table("#Ref<0.3.2.9>", "protected", 500'000);

}  // namespace

TEST_CASE("a table is forgotten where no term of its owner has its reference", "[forgotten]") {
    const ForgottenTables found = found_in(owner_of(kept_table + other_table, true));
    REQUIRE(found.owners.size() == 1);
    const TablesOfOwner* const owner = found.of(ProcId{0});
    REQUIRE(owner != nullptr);
    CHECK(owner->tables == 2);
    CHECK(owner->forgotten == 1);
    CHECK(owner->bytes == 8 * 500'000);
    CHECK_FALSE(owner->all_private);
    CHECK(found.of(ProcId::none) == nullptr);

    const ForgottenTables without = found_in(owner_of(kept_table, false));
    REQUIRE(without.owners.size() == 1);
    CHECK(without.owners[0].forgotten == 1);
    CHECK(without.owners[0].all_private);
    CHECK(found_in(owner_of(kept_table, true)).owners[0].forgotten == 0);
}

TEST_CASE("tables that others can reach, and little ones, are not looked for", "[forgotten]") {
    CHECK(found_in(owner_of(table("#Ref<0.3.2.1>", "public", 1'000'000), false)).owners.empty());
    CHECK(found_in(owner_of(table("hashtree", "private", 1'000'000), false)).owners.empty());
    CHECK(found_in(owner_of(table("8209", "private", 1'000'000), false)).owners.empty());
    CHECK(found_in(owner_of(table("#Ref<0.3.2>", "private", 1'000'000), false)).owners.empty());
    CHECK(found_in(owner_of(table("#Ref<0.3.2.1>", "private", 1'000), false)).owners.empty());
}

TEST_CASE("an owner whose registers a dump leaves out has forgotten nothing", "[forgotten]") {
    CHECK(found_in(owner_of(kept_table, false, "State: Running\nName: journal\n")).owners.empty());
    CHECK(found_in(owner_of(kept_table, false, "State: Scheduled\nName: journal\n")).owners.empty());
    const std::string hibernates = owner_of(kept_table, false, "State: Waiting\nName: journal\narity = 3\n");
    CHECK(found_in(hibernates).owners.empty());
}

TEST_CASE("forgotten tables are told with how many owners were looked into", "[forgotten]") {
    const auto told = [](std::uint64_t forgotten, bool all_private) {
        test::MadeNode node;
        node.process(10, "journal");
        for (unsigned i = 0; i < 4; ++i) {
            EtsTable& made = node.s.ets.emplace_back();
            made.owner = node.s.processes[0].pid;
            made.name = node.text("hashtree");
            made.words = 2'000'000;
        }
        node.memory("total", 100 * test::mebibyte);
        return test::of(node.told([&](Facts& facts) {
            facts.put(ForgottenTables{{{ProcId{0}, 4, forgotten, 64'000'000, all_private}}});
        }),
                        "ets-growth");
    };
    const auto some = told(3, true);
    REQUIRE(some.size() == 1);
    CHECK(some[0].severity == FindingSeverity::high);
    CHECK(some[0].title_alone().ends_with("; its owner no longer refers to 3 of them"));
    CHECK(some[0].words.find("can neither use nor delete") != std::string::npos);
    CHECK(told(3, false)[0].words.find("Unless another process") != std::string::npos);
    CHECK(told(1, true)[0].title_alone().find("no longer") == std::string::npos);
}
