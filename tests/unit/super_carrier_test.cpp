// SPDX-License-Identifier: Apache-2.0
// A node that may use its super carrier only, against the bounds of the rule and against nodes that may use more.
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/made_findings.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

constexpr std::uint64_t area = 100 * test::mebibyte;

std::vector<test::FoundWithText> told(std::uint64_t used, std::uint64_t refused, bool only,
                                      std::string_view name = "erts_mmap.default_mmap") {
    test::MadeNode node;
    node.process(1, "cache");
    node.memory("total", area);
    AllocatorInstance made;
    made.name = node.text(name);
    const auto line = [&](const char* key, std::uint64_t bytes) {
        made.lines.push_back({node.text(key), {bytes}, TextId::none});
    };
    line("supercarrier total size", area);
    line("supercarrier used size", used);
    if (!only) line("os mmap size used", 0);
    node.s.allocators.push_back(made);
    if (refused > 0)
        node.s.node.slogan =
            "ets_alloc: Cannot allocate " + std::to_string(refused) + " bytes of memory (of type \"db_term\").";
    return test::of(node.told(), "super-carrier");
}

}  // namespace

TEST_CASE("a super carrier that is full is the node's own limit", "[bounds]") {
    CHECK(told(area * 9 / 10 - 1, 0, true).empty());
    CHECK(told(area * 9 / 10, 0, true).at(0).severity == FindingSeverity::medium);
    CHECK(told(area / 2, area / 2, true).empty());  // there was room: another limit refused it
    CHECK(told(area / 2, area / 2 + 1, true).at(0).severity == FindingSeverity::high);
    CHECK(told(area, 1000, false).empty());  // it may take memory outside
    CHECK(told(area, 1000, true, "erts_mmap.literal_mmap").empty());
    CHECK(told(area + 1, 1000, true).empty());  // no area holds more than itself
    CHECK(told(area, 1000, true).at(0).words ==
          "erts_mmap.default_mmap: The node may use a super carrier of 100 MiB only (+MMsco), and all of it is used: "
          "the limit that it met is its own, not the machine's\n"
          "  the super carrier: 104857600\n"
          "  of it used: 104857600\n"
          "  refused: 1000\n"
          "-> Bound what fills the node, or give it more: +MMscs is the area's size in MiB.\n"
          "-> +MMsco false lets the node take memory outside the area once that is full.\n"
          "-> See what each allocator has of it: beamheap alloc DUMP\n");
}
