// SPDX-License-Identifier: Apache-2.0
// What is looked for of single processes in a file against what a whole reading finds.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "support/dump_text.hpp"

using namespace beamheap;

namespace {

struct Made {
    std::string text;
    std::vector<std::string> sections;  // of each process, in its place
};

std::string pid_of(std::size_t i) { return fmt::format("<0.{}.0>", i + 1); }

// Lines of a heap: lists of numbers, `bytes` of them in all.
std::string filler(std::size_t i, std::size_t bytes) {
    std::string text;
    for (std::size_t n = 0; text.size() < bytes; ++n)
        text += fmt::format("{:X}:lI{}|N\n", 0x7F0000000000u + i * 0x10000000u + 0x1000 + n * 16, n);
    return text;
}

/// What a process has beside its initial call.
struct Kind {
    std::size_t before = 0;  ///< bytes of heap in front of the dictionary's tuples
    std::size_t behind = 0;  ///< and behind them
    bool dictionary = true;
    bool literal = false;   ///< its initial call is a literal
    std::string heap = {};  ///< more lines
};

std::string sections_of(std::size_t i, const Kind& kind) {
    const std::string pid = pid_of(i);
    const std::uint64_t base = 0x7F0000000000u + i * 0x10000000u;
    std::string text = "=proc_messages:" + pid + "\n";
    if (kind.dictionary) text += fmt::format("=proc_dictionary:{}\nH{:X}\n", pid, base);
    text += fmt::format(
        "=proc_stack:{}\n0x00007fad1c217d74:SReturn addr 0x1C217D74 (m:f/1 + 596)\ny0:N\n=proc_heap:{}\n", pid, pid);
    text += filler(i, kind.before) + kind.heap;
    const std::uint64_t call = kind.literal ? 0x7A0000000000u + i * 16 : base + 32;
    text += fmt::format("{:X}:t2:AD:$initial_call,H{:X}\n", base, call);
    if (!kind.literal) text += fmt::format("{:X}:t3:A5:mod{:02},A4:init,I1\n", call, i % 100);
    return text + filler(i + 5000, kind.behind);
}

Made made_of(const std::vector<Kind>& kinds) {
    Made made;
    std::string literals = "=literals\n";
    made.text = test::header();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        made.text += test::process(pid_of(i), "Spawned as: proc_lib:init_p/5\n");
        made.sections.push_back(sections_of(i, kinds[i]));
        if (kinds[i].literal)
            literals += fmt::format("{:X}:t3:A5:mod{:02},A4:init,I1\n", 0x7A0000000000u + i * 16, i % 100);
    }
    made.text += "=port:#Port<0.1>\nSlot: 8\n=node:'a@b'\n=mod:m\nCurrent size: 10\n";
    for (const std::string& each : made.sections) made.text += each;
    made.text += literals + "=atoms\nok\n=end\n";
    return made;
}

std::vector<std::string> calls(const Artifact& artifact) {
    std::vector<std::string> all;
    const Snapshot& s = artifact.snapshot();
    for (const Process& process : s.processes) {
        if (process.real_initial_call == FunctionId::none) all.emplace_back();
        else {
            const Function& f = s.functions[process.real_initial_call];
            all.push_back(fmt::format("{}:{}/{}", s.text(f.module), s.text(f.name), f.arity));
        }
    }
    return all;
}

// By a whole reading, and process by process in an order of its own.
std::pair<std::vector<std::string>, std::vector<std::string>> both(const std::string& text, unsigned seed) {
    LoadPlan plan;
    plan.labels = true;
    const auto read = test::load(text, plan);
    const auto searched = test::load(text, LoadPlan{});
    REQUIRE((read != nullptr && searched != nullptr));
    CHECK(searched->can_identify());
    std::vector<std::uint32_t> order(searched->snapshot().processes.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    for (const std::uint32_t i : order) searched->identify(ProcId{i});
    return {calls(*read), calls(*searched)};
}

std::size_t missing(const std::vector<std::string>& read, const std::vector<std::string>& searched) {
    REQUIRE(read.size() == searched.size());
    std::size_t missing = 0;
    for (std::size_t i = 0; i < read.size(); ++i) {
        if (searched[i].empty() && !read[i].empty()) ++missing;
        else CHECK(searched[i] == read[i]);
    }
    return missing;
}

constexpr std::size_t giant_bytes = 600u << 10;

}  // namespace

TEST_CASE("initial calls that are looked for are those of a whole reading", "[identity]") {
    std::vector<Kind> kinds(200);
    for (std::size_t i = 0; i < kinds.size(); ++i)
        kinds[i] = {.before = i * 37 % 900, .behind = i * 91 % 3000, .dictionary = i % 7 != 3, .literal = i % 11 == 5};
    SECTION("small heaps") {}
    SECTION("one giant in the middle") { kinds[100].before = giant_bytes; }
    SECTION("a giant first, whose dictionary is in front") { kinds[0].behind = giant_bytes; }
    SECTION("a giant last") { kinds[199] = {.before = giant_bytes}; }
    SECTION("a giant is nearly all") { kinds[40].before = 20 * giant_bytes; }
    SECTION("giants apart") { kinds[20].behind = kinds[90].before = kinds[160].behind = 4 * giant_bytes; }
    const std::string text = made_of(kinds).text;
    for (unsigned seed = 1; seed <= 5; ++seed) {
        const auto [read, searched] = both(text, seed);
        CHECK(missing(read, searched) == 0);
        std::size_t known = 0;
        for (const std::string& call : searched) known += !call.empty();
        CHECK(known == static_cast<std::size_t>(std::ranges::count_if(kinds, &Kind::dictionary)));
    }
}

TEST_CASE("an initial call that is hard to find is missing, never another's", "[identity]") {
    std::vector<Kind> kinds(60, Kind{.before = 200, .behind = 300});
    SECTION("giants side by side") {
        kinds[30].before = kinds[31].behind = kinds[33].before = 3 * giant_bytes;
        const auto [read, searched] = both(made_of(kinds).text, 1);
        CHECK(missing(read, searched) == 0);
    }
    SECTION("in the middle of a giant") {
        kinds[30].before = kinds[30].behind = giant_bytes;
        const auto [read, searched] = both(made_of(kinds).text, 1);
        CHECK(read[30] == "mod30:init/1");
        CHECK(searched[30].empty());
        CHECK(missing(read, searched) == 1);
    }
    SECTION("an atom that looks like the sections of another process") {
        const std::string forged =
            "\n=proc_dictionary:<0.41.0>\nH7F0000000000\n=proc_heap:<0.41.0>\n7F0000000000:t2:AD:$initial_call,H10\n10:"
            "t3:A3:bad,A3:bad,I1\n";
        kinds[20].heap = fmt::format("7F9900000000:t1:A{:X}:{}\n", forged.size(), forged);
        const auto [read, searched] = both(made_of(kinds).text, 1);
        CHECK(read[40] == "mod40:init/1");
        CHECK(missing(read, searched) == 0);
    }
    SECTION("sections in another order than the table") {
        Made made = made_of(kinds);
        for (unsigned seed = 1; seed <= 20; ++seed) {
            std::string text = made.text;
            const std::size_t at = text.find(made.sections[0]);
            std::vector<std::string> sections = made.sections;
            std::shuffle(sections.begin(), sections.end(), std::mt19937(seed));
            std::string all;
            for (const std::string& each : sections) all += each;
            text.replace(at, all.size(), all);
            const auto [read, searched] = both(text, seed);
            missing(read, searched);
        }
    }
    SECTION("an input that ends anywhere") {
        const Made made = made_of(kinds);
        const std::size_t at = made.text.find(made.sections[0]);
        for (std::size_t end = at + 1; end < made.text.size(); end += 211) {
            const auto [read, searched] = both(made.text.substr(0, end), 1);
            missing(read, searched);
        }
    }
    SECTION("sections of processes that the table lacks") {
        std::string text = made_of(kinds).text;
        for (const std::size_t lost : {5u, 30u, 59u}) {
            const std::size_t at = text.find("=proc:" + pid_of(lost) + "\n");
            text.erase(at, text.find("\n=", at + 1) + 1 - at);
        }
        const auto [read, searched] = both(text, 1);
        CHECK(read.size() == 57);
        CHECK(missing(read, searched) == 0);
    }
}

TEST_CASE("what a dictionary says is the same wherever the lines of its entries stand", "[identity]") {
    // An entry each, with what it refers to; the last one is none that tells anything.
    std::vector<std::string> parts{
        "7F0000000100:t2:AD:$initial_call,H7F0000000200\n7F0000000200:t3:A4:much,A4:init,I1\n",
        "7F0000000300:t2:AA:$ancestors,H7F0000000400\n7F0000000400:lA3:sup|N\n",
        "7F0000000500:t2:AE:$process_label,A5:label\n",
        "7F0000000600:t2:A9:some_thing,H7F0000000700\n7F0000000700:t2:AA:$ancestors,N\n"};
    const std::string dictionary = "H7F0000000100\nH7F0000000300\nH7F0000000500\nH7F0000000600\n";
    std::vector<std::size_t> order{0, 1, 2, 3};
    LoadPlan plan;
    plan.labels = true;
    do {
        for (const std::size_t before : {std::size_t{0}, std::size_t{9000}, giant_bytes})
            for (const std::size_t behind : {std::size_t{0}, std::size_t{700}, std::size_t{9000}}) {
                std::string text = test::header() + test::process("<0.1.0>") + test::process("<0.2.0>");
                for (const std::size_t i : {1u, 2u}) {
                    text += fmt::format(
                        "=proc_dictionary:<0.{0}.0>\n{1}=proc_stack:<0.{0}.0>\ny0:N\n=proc_heap:<0.{0}.0>\n", i,
                        dictionary);
                    text += filler(i, before);
                    for (const std::size_t part : order) text += parts[part];
                    text += filler(i + 10, behind);
                }
                text += "=literals\n=atoms\nok\n=end\n";
                const auto read = test::load(text, plan);
                REQUIRE(read != nullptr);
                CHECK(calls(*read) == std::vector<std::string>{"much:init/1", "much:init/1"});
                const Snapshot& s = read->snapshot();
                for (const Process& process : s.processes) {
                    CHECK(s.text(process.label) == "label");
                    CHECK(s.text(process.application) == "sup");
                }
            }
    } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("of a stream nothing can be looked for; what it was read for is known", "[identity]") {
    const std::string text = made_of(std::vector<Kind>(20)).text;
    const auto passed = test::load(text, LoadPlan{}, 4096);
    REQUIRE(passed != nullptr);
    CHECK_FALSE(passed->can_identify());
    passed->identify(ProcId{0});
    CHECK(calls(*passed)[0].empty());
    LoadPlan plan;
    plan.labels = true;
    const auto read = test::load(text, plan, 4096);
    REQUIRE(read != nullptr);
    CHECK_FALSE(read->can_identify());
    read->identify(ProcId{3});
    CHECK(calls(*read)[3] == "mod03:init/1");
}
