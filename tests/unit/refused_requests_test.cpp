// SPDX-License-Identifier: Apache-2.0
// Memory that was refused to one request, where nothing had grown: what it was for, and what made it so large.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "analyses/facts/catalogue/lost_sharing.hpp"
#include "analyses/processes/totals.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::string slogan(std::string_view allocator, std::uint64_t bytes, std::string_view type) {
    return fmt::format("{}: Cannot allocate {} bytes of memory (of type \"{}\").", allocator, bytes, type);
}

/// What the rule says of a process that runs, in a node that has so much memory.
std::string asked(std::string_view allocator, std::uint64_t refused, std::string_view type, std::uint64_t total) {
    test::MadeNode node;
    Process& process = node.process(10, "cookies");
    process.state = ProcessState::running;
    process.current_function = node.function("cookies", "decode", 1);
    node.memory("total", total);
    node.s.node.slogan = slogan(allocator, refused, type);
    const auto found = test::of(node.told(), "refused-memory");
    return found.empty() ? "" : found[0].title_alone();
}

/// A dump whose only process runs, and has `levels` tuples {T, T}, each of the one before, in a slot of its stack.
std::string of_levels(std::size_t levels, std::string_view state = "Running") {
    std::string text = test::header(slogan("eheap_alloc", 4'294'967'376, "heap_frag"));
    text += "=scheduler:1\nCurrent Process: <0.10.0>\n";
    text += test::process("<0.10.0>", fmt::format("State: {}\nName: skill_tree\n", state));
    text +=
        "=proc_messages:<0.10.0>\n=proc_dictionary:<0.10.0>\n=proc_stack:<0.10.0>\n"
        "0x00007fad1c217d74:SReturn addr 0x1C217D74 (skill:answer/1 + 596)\n";
    text += fmt::format("y0:H{:X}\n=proc_heap:<0.10.0>\n", 0x7F0000000000u + 32 * (levels - 1));
    for (std::size_t i = 0; i < levels; ++i)
        text += i == 0
                    ? std::string("7F0000000000:t2:I1,I2\n")
                    : fmt::format("{0:X}:t2:H{1:X},H{1:X}\n", 0x7F0000000000u + 32 * i, 0x7F0000000000u + 32 * (i - 1));
    return text + "=atoms\nok\n=end\n";
}

LostSharing found_in(const std::string& dump) {
    Facts facts{FactOptions{}};
    LoadPlan plan;
    facts.need(plan);
    const auto loaded = test::load(dump, plan);
    REQUIRE(loaded != nullptr);
    facts.bind(*loaded);
    return facts.get<LostSharing>();
}

}  // namespace

TEST_CASE("what a refused request was for is told by its type where that is one thing's", "[refused]") {
    const std::uint64_t gibibyte = 1024 * test::mebibyte;
    CHECK(asked("sl_alloc", 3 * gibibyte, "external_term_data", 20 * test::mebibyte) ==
          "cookies <0.10.0> was refused 3.0 GiB for unpacking a compressed term (binary_to_term/1); it is running "
          "cookies:decode/1: one request, 153 times what the node had (20.0 MiB)");
    CHECK(asked("sl_alloc", 3 * gibibyte, "export_tab", 8 * gibibyte) ==
          "cookies <0.10.0> asked for 3.0 GiB of sl_alloc (export_tab) and was refused it; it is running "
          "cookies:decode/1");
}

TEST_CASE("a request that is twice what the node had is told as one", "[refused]") {
    CHECK(asked("binary_alloc", 40 * test::mebibyte, "binary", 20 * test::mebibyte)
              .ends_with(": one request, 2 times what the node had (20.0 MiB)"));
    CHECK(asked("binary_alloc", 39 * test::mebibyte, "binary", 20 * test::mebibyte).ends_with("cookies:decode/1"));
    CHECK(asked("binary_alloc", 1 * test::mebibyte, "binary", 20 * test::mebibyte)
              .ends_with("and is only the one that came last"));
}

TEST_CASE("a small term whose copy is enormous is found in who was refused memory", "[refused]") {
    const LostSharing found = found_in(of_levels(27));
    CHECK(found.process == ProcId{0});
    CHECK(found.shared_words == 27 * 3);
    CHECK(found.flat_words == 3 * ((std::uint64_t{1} << 27) - 1));
    CHECK(present::plain_text(Snapshot(), found.where) == "a term on its stack");
    CHECK(found_in(of_levels(10)).where.empty());
    CHECK(found_in(of_levels(27, "Waiting")).where.empty() == false);  // the scheduler says who called for memory
}

TEST_CASE("who asked for much at once is told with the term that loses its sharing", "[refused]") {
    const auto told = [](std::uint64_t flat_words) {
        test::MadeNode node;
        Process& process = node.process(10, "skill_tree");
        process.state = ProcessState::running;
        process.current_function = node.function("skill_tree", "handle_call", 3);
        process.memory_bytes = 5'800;
        Scheduler& scheduler = node.s.schedulers.emplace_back();
        scheduler.id = 1;
        scheduler.current_process = process.pid;
        node.memory("total", 30 * test::mebibyte);
        node.s.node.slogan = slogan("eheap_alloc", 4'294'967'376, "heap_frag");
        LostSharing lost;
        lost.process = ProcId{0};
        lost.where = Ours("its State");
        lost.flat_words = flat_words;
        lost.shared_words = 140;
        const auto found = test::of(node.told([&](Facts& facts) { facts.put(lost); }), "big-heap");
        REQUIRE(found.size() == 1);
        return found[0].title_alone();
    };
    CHECK(
        told(536'871'168)
            .ends_with("asked for 4.0 GiB at once, having 5.7 KiB; it is running skill_tree:handle_call/3; its State "
                       "has 1.1 KiB, and "
                       "4.0 GiB where it is copied: a message has what is shared in it as often as it is referred to"));
    CHECK(told(134'217'729).find("where it is copied") == std::string::npos);
    CHECK(told(1'073'741'848).find("where it is copied") == std::string::npos);  // twice as large: not that one
    CHECK(told(134'217'732).find("where it is copied") != std::string::npos);
}
