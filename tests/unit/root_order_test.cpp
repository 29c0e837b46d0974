// SPDX-License-Identifier: Apache-2.0
// In which order the roots of a process are told: what reaches most comes first, equals as they stand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "present/tables_terms.hpp"
#include "support/dump_text.hpp"

using namespace beamheap;

TEST_CASE("roots by the thousand come largest first, equals in the order of the queue", "[heap][terms]") {
    // Messages that are tuples of 1 to 5,000 elements, most of them of a few sizes.
    std::mt19937 random(5);
    std::vector<std::uint32_t> elements;
    for (unsigned i = 0; i < 1500; ++i)
        elements.push_back(static_cast<std::uint32_t>(1 + random() % (i % 50 == 0 ? 5000 : 3)));
    constexpr char digits[] = "0123456789ABCDEF";
    const auto hex = [&](std::uint64_t value) {
        std::string text;
        do text.insert(text.begin(), digits[value % 16]);
        while ((value /= 16) != 0);
        return text;
    };
    const auto address = [&](std::size_t i) { return hex(0x7F0000000000 + i * 0x10000); };
    std::string messages = "=proc_messages:<0.9.0>\n", heap = "=proc_heap:<0.9.0>\n";
    for (std::size_t i = 0; i < elements.size(); ++i) {
        messages += "H" + address(i) + ":N\n";
        heap += address(i) + ":t" + hex(elements[i]) + ":I1";
        for (std::uint32_t e = 1; e < elements[i]; ++e) heap += ",N";
        heap += "\n";
    }
    LoadPlan plan = test::everything();
    plan.terms = true;
    const auto artifact = test::load(
        test::header() + test::process("<0.9.0>") + messages + "=proc_stack:<0.9.0>\n" + heap + "=end\n", plan);
    REQUIRE(artifact != nullptr);
    const Snapshot& snapshot = artifact->snapshot();
    const auto terms = artifact->terms(ProcId{0});
    REQUIRE(terms);
    analyses::TermMeasures measures(**terms);
    const present::Names names(snapshot, present::Syntax::erlang);
    const present::TermView view(names, snapshot.processes[0], **terms, measures, 1000);
    const std::vector<std::uint32_t> roots = present::largest_roots(view);

    std::vector<std::uint32_t> wanted(elements.size());
    for (std::uint32_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
    std::ranges::stable_sort(wanted, std::ranges::greater{}, [&](std::uint32_t i) { return elements[i]; });
    CHECK(roots == wanted);
}
