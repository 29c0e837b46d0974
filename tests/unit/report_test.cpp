// SPDX-License-Identifier: Apache-2.0
// What the report is made of: text that no browser takes for markup, pids that are links, and which processes are
// listed.
#include "present/report.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "analyses/processes/queue_spread.hpp"
#include "analyses/processes/supervision.hpp"
#include "present/html_writer.hpp"
#include "present/report_tables.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;

TEST_CASE("text is text to a browser", "[report]") {
    std::string out = "before ";
    present::append_html("</script><a href=\"x\" title='y'>&amp;", out);
    CHECK(out == "before &lt;/script&gt;&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;");
}

TEST_CASE("a pid of this node is a link, and nothing else is", "[report]") {
    CHECK(present::local_pid("<0.12.3>") == Pid{0, 12, 3});
    CHECK(present::local_pid("#PID<0.12.3>") == Pid{0, 12, 3});
    CHECK(present::process_anchor({0, 12, 3}) == "p0.12.3");
    for (const std::string_view other :
         {"", "<0.12>", "<0.12.>", "<0..3>", "<1.12.3>", "<0.12.3", "<0.12.3> ", "<0.12.3.4>", "<0.-1.3>",
          "<0.99999999999.0>", "<0.1.2><0.1.2>", "PID<0.12.3>", "#Ref<0.12.3>"})
        CHECK(!present::local_pid(other));
}

TEST_CASE("rows that are written side by side are those that one thread writes", "[report]") {
    using present::Value;
    std::vector<std::uint32_t> numbers(7'001);
    for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    present::Columns<std::uint32_t> columns{
        {{.name = "number", .title = "NUMBER", .unit = present::Unit::count},
         [](const std::uint32_t& i) { return i % 5 == 0 ? Value() : Value(i); }},
        {{.name = "own", .title = "OWN", .content = present::Content::name},
         [](const std::uint32_t& i) { return Value("own\x01" + std::to_string(i)); }},
        {{.name = "shared", .title = "SHARED", .content = present::Content::term},
         [](const std::uint32_t& i) { return Value(std::string(i % 7, '<') + "\"shared\""); }},
        {{.name = "list", .title = "LIST", .holds = present::Holds::texts, .content = present::Content::name},
         [](const std::uint32_t& i) {
             return Value(present::Array{std::to_string(i % 900), "always"});
         }},
        {{.name = "below", .title = "BELOW", .unit = present::Unit::count},
         [](const std::uint32_t& i) { return Value(-std::int64_t{i}); }},
    };
    const present::Table table = present::table_of(std::move(columns), numbers, {});
    const auto page = [&](unsigned threads) {
        present::Report report([](Pid) { return false; });
        present::RenderOptions options;
        options.redact.level = present::RedactLevel::values;
        REQUIRE(report.data("first", table, "top", options, 100, threads));
        REQUIRE(report.data("numbers", table, "top", options, 0, threads));
        present::StringSink sink;
        report.finish({.title = "n@h", .input = "dump", .level = "values"}, {}, options, sink);
        return sink.text();
    };
    const std::string alone = page(1);
    CHECK(alone.find("\"own") != std::string::npos);
    for (const unsigned threads : {2u, 3u, 16u}) CHECK(page(threads) == alone);
}

TEST_CASE("queues by powers of ten", "[report]") {
    test::MadeSnapshot made;
    const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() - 1;
    std::uint32_t number = 0;
    for (const Count length : {Count(0), Count(0), Count(1), Count(9), Count(10), Count(99), Count(100), Count()})
        made.process(++number).msgq_len = length;
    auto bins = analyses::queue_spread(made.seal());
    REQUIRE(bins.size() == 4);
    CHECK((bins[0].from == 0 && bins[0].to == 0 && bins[0].processes == 2 && bins[0].messages == 0));
    CHECK((bins[1].from == 1 && bins[1].to == 9 && bins[1].processes == 2 && bins[1].messages == 10));
    CHECK((bins[2].from == 10 && bins[2].to == 99 && bins[2].processes == 2 && bins[2].messages == 109));
    CHECK((bins[3].from == 100 && bins[3].to == 999 && bins[3].processes == 1 && bins[3].messages == 100));
    made.process(++number).msgq_len = largest;
    made.process(++number).msgq_len = largest;
    bins = analyses::queue_spread(made.seal());
    CHECK(bins.size() == 21);
    CHECK((bins.back().processes == 2 && bins.back().messages == largest && bins.back().to >= largest - 1));
    CHECK(analyses::queue_spread(Snapshot()).size() == 1);
}

TEST_CASE("who is listed has all ancestors listed, and is at least as large as who is not", "[report]") {
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
        test::MadeSnapshot made;
        constexpr std::uint32_t count = 400;
        for (std::uint32_t i = 1; i <= count; ++i) {
            Process& process =
                made.process(i, {}, i == 1 ? Pid::none_number : static_cast<std::uint32_t>(random() % (i - 1) + 1));
            process.memory_bytes = random() % 5000;
            process.msgq_len = random() % 40 == 0 ? random() % 100 : 0;
        }
        const analyses::SupervisionTree tree = analyses::supervision(made.seal());
        CHECK(present::processes_to_list(tree, count).size() == count);
        constexpr std::size_t most = 50;
        const std::vector<ProcId> listed = present::processes_to_list(tree, most);
        CHECK(std::ranges::is_sorted(listed));
        REQUIRE(listed.size() >= most);
        std::uint64_t longest = 0, listed_longest = 0;
        for (const analyses::TreeNode& node : tree.nodes) longest = std::max(longest, *node.msgq_len.value());
        for (const ProcId id : listed) {
            listed_longest = std::max(listed_longest, *tree[id].msgq_len.value());
            const ProcId parent = tree[id].parent;
            CHECK((parent == ProcId::none || std::ranges::binary_search(listed, parent)));
        }
        CHECK(longest == listed_longest);
        // By memory: whoever has a larger subtree than the smallest that was listed for it is listed.
        std::vector<std::uint64_t> left;
        for (std::uint32_t i = 0; i < count; ++i)
            if (!std::ranges::binary_search(listed, static_cast<ProcId>(i)))
                left.push_back(*tree.nodes[i].memory_bytes.value());
        std::size_t larger = 0;
        for (const ProcId id : listed)
            larger += *tree[id].memory_bytes.value() >= *std::ranges::max_element(left) ? 1 : 0;
        CHECK(larger >= most / 2);
    }
}
