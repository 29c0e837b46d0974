// SPDX-License-Identifier: Apache-2.0
// Heaps whose text is too much to be held: workers follow the scanner through them.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "analyses/facts/heap_stats.hpp"
#include "beamheap/flat_array.hpp"
#include "formats/crashdump/heap_pieces.hpp"
#include "support/dump_text.hpp"

using namespace beamheap;

namespace {

constexpr std::uint64_t base = 0x7F0000001000;

/// {Word, I, "..."} for each message, a dictionary and a stack; some atoms hold lines, as no text cut at a line feed
/// could tell.
std::string giant(std::string_view pid, std::size_t messages) {
    std::string queue, heap;
    for (std::size_t i = 0; i < messages; ++i) {
        const std::uint64_t at = base + 64 * i;
        queue += fmt::format("H{:X}:N\n", at);
        heap += fmt::format("{:X}:t3:A{}I{},H{:X}\n{:X}:lI7|N\n", at, i % 100 == 0 ? "C:ab\n7F00:lN|N," : "3:job,", i,
                            at + 32, at + 32);
    }
    return fmt::format(
        "=proc_messages:{0}\n{1}=proc_dictionary:{0}\nH{2:X}\n=proc_stack:{0}\ny0:H{2:X}\n=proc_heap:{0}\n{3}", pid,
        queue, base, heap);
}

std::string dump_of(const std::string& giant_sections) {
    return test::header() + test::process("<0.50.0>") + test::process("<0.51.0>") + test::process("<0.52.0>") +
           "=proc_stack:<0.50.0>\ny0:N\n=proc_heap:<0.50.0>\n7F0000001000:lI1|N\n" + giant_sections +
           "=proc_stack:<0.52.0>\ny0:H7F0000001000\n=proc_heap:<0.52.0>\n7F0000001000:lI1|N\n=end\n";
}

struct Seen {
    std::size_t objects = 0, references = 0, roots = 0;
    std::uint64_t words = 0, messages = 0, missing = 0;
    bool operator==(const Seen&) const = default;
};

/// What visitors are shown of each process, and what is odd in the input.
std::pair<std::map<std::uint32_t, Seen>, std::uint64_t> visits(std::unique_ptr<Artifact> artifact, unsigned workers,
                                                               bool terms) {
    std::map<std::uint32_t, Seen> seen;
    std::mutex mutex;
    HeapRequest demand;
    demand.workers = workers;
    demand.visit = [&](const HeapVisit& visit) {
        const HeapGraph& graph = visit.graph;
        std::size_t roots = 0;
        for (const Root root : graph.roots()) roots += root.target != no_node;
        const std::lock_guard lock(mutex);
        seen[index_of(visit.id)] = {graph.size(),        graph.edges().size(), roots,
                                    graph.total_words(), visit.messages,       graph.foreign_references()};
    };
    LoadPlan plan = test::everything();
    plan.labels = false;
    plan.heaps = &demand;
    plan.terms = terms;
    plan.terms_of = [](const Snapshot&, ProcId) { return true; };
    REQUIRE(artifact->load(plan));
    return {seen, artifact->snapshot().anomalies.total()};
}

/// A file in memory that counts what is read of it besides the pass from its front to its end.
class Counting final : public bytes::Source {
public:
    Counting(const std::string& text, std::atomic<std::uint64_t>& again) : text_(text), again_(again) {}
    Result<std::size_t> read(std::span<char> into) override {
        const std::size_t got = copy(at_, into);
        at_ += got;
        return got;
    }
    bool seekable() const override { return true; }
    void seek(std::uint64_t offset) override { at_ = static_cast<std::size_t>(offset); }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
        again_ += into.size();
        return copy(static_cast<std::size_t>(offset), into);
    }
    std::optional<std::uint64_t> size() const override { return text_.size(); }
    std::uint64_t stored_position() const override { return at_; }
    std::uint64_t stored_size() const override { return text_.size(); }

private:
    std::size_t copy(std::size_t from, std::span<char> into) const {
        const std::size_t got = std::min(into.size(), text_.size() - std::min(from, text_.size()));
        std::copy_n(text_.data() + from, got, into.data());
        return got;
    }
    const std::string& text_;
    std::atomic<std::uint64_t>& again_;
    std::size_t at_ = 0;
};

std::unique_ptr<Artifact> open(std::unique_ptr<bytes::Source> source) {
    return crashdump::open(std::move(source), "test.dump", {});
}

}  // namespace

TEST_CASE("a giant's heap is what a pipe shows of it, however many follow the scanner", "[giant_heap]") {
    const std::string whole = giant("<0.51.0>", 60'000);
    const std::string damaged = [&] {
        std::string text = whole;
        for (std::size_t at = 40'000; at < text.size(); at += 90'000) text[at] = '~';
        return text;
    }();
    for (const std::string& sections :
         {whole, damaged, giant("<0.51.0>", 5), whole.substr(0, whole.size() - 7) + "\n"}) {
        const std::string dump = dump_of(sections);
        const auto expected = visits(open(std::make_unique<test::Trickle>(dump, 100'000)), 1, false);
        REQUIRE(expected.first.size() == 3);
        for (const unsigned workers : {1u, 2u, 5u})
            for (const bool terms : {false, true}) {
                const auto found = visits(open(std::make_unique<test::TextFile>(dump)), workers, terms);
                CHECK(found.first == expected.first);
                CHECK(found.second == expected.second);
            }
    }
}

TEST_CASE("a giant's text is read once", "[giant_heap]") {
    const std::string dump = dump_of(giant("<0.51.0>", 60'000));
    REQUIRE(dump.size() > (std::size_t{4} << 20));
    for (const unsigned workers : {1u, 2u}) {
        std::atomic<std::uint64_t> again = 0;
        visits(open(std::make_unique<Counting>(dump, again)), workers, false);
        CHECK(again < 100'000);
    }
}

TEST_CASE("a visitor that throws in the middle of giants ends the load", "[giant_heap]") {
    const std::string dump = dump_of(giant("<0.51.0>", 60'000));
    for (const unsigned workers : {1u, 2u}) {
        HeapRequest demand;
        demand.workers = workers;
        demand.visit = [](const HeapVisit&) { throw std::bad_alloc(); };
        LoadPlan plan = test::everything();
        plan.heaps = &demand;
        CHECK_THROWS_AS(open(std::make_unique<test::TextFile>(dump))->load(plan), std::bad_alloc);
    }
}

TEST_CASE("pieces with a gap, or without text, are not taken for the whole", "[giant_heap]") {
    using namespace beamheap::crashdump;
    std::string text;
    for (std::uint64_t i = 0; i < 40; ++i) text += fmt::format("{:X}:lI1|N\n", base + 16 * i);
    const std::shared_ptr<const char[]> owner(text.data(), [](const char*) {});
    const auto held = [&](std::size_t from, std::size_t to) {
        return bytes::Window::Held{owner, 1000 + from, std::string_view(text).substr(from, to - from)};
    };
    HeapReader reader{HeapDialect{}};
    const auto whole = [&](const bytes::Window::Held& first, const bytes::Window::Held& second) {
        reader.begin({});
        PieceFeeder feeder;
        feeder.feed(reader, {TermSection::heap, 1000, first, false});
        feeder.feed(reader, {TermSection::heap, 1000, second, true});
        return feeder.whole();
    };
    CHECK(whole(held(0, 400), held(100, text.size())));
    CHECK(reader.finish().size() == 40);
    CHECK_FALSE(whole(held(0, 400), held(399, text.size())));  // within the line that the first ends in
    CHECK_FALSE(whole(held(0, 400), held(500, text.size())));
    CHECK_FALSE(whole(held(0, 400), {}));
}

TEST_CASE("an array keeps what it holds while it grows into huge pages", "[flat_array]") {
    constexpr std::size_t huge = std::size_t{2} << 20;
    FlatArray<std::uint32_t> array;
    for (std::uint32_t i = 0; i < 5'000'000; ++i) array.push(i * 7);
    bool same = true;
    for (std::uint32_t i = 0; i < 5'000'000; ++i) same = same && array[i] == i * 7;
    CHECK(same);
    CHECK(reinterpret_cast<std::uintptr_t>(array.data()) % huge == 0);

    array.clear_and_trim(huge);
    CHECK(array.data() == nullptr);
    array.resize_zeroed_by_caller(1'000'000);
    CHECK(std::ranges::all_of(array, [](std::uint32_t value) { return value == 0; }));
    array.resize_zeroed_by_caller(9'000'000);
    CHECK(std::ranges::all_of(array, [](std::uint32_t value) { return value == 0; }));

    array.clear();
    array.resize(1000);
    const FlatArray<std::uint32_t> moved(std::move(array));
    CHECK(moved.size() == 1000);
    FlatArray<std::uint64_t> impossible;
    CHECK_THROWS_AS(impossible.resize(std::size_t{1} << 50), std::bad_alloc);
}

TEST_CASE("heaps that are visited later are those that a load visits", "[giant_heap]") {
    std::string text = test::header();
    for (int i = 1; i <= 4; ++i) text += test::process(fmt::format("<0.{}.0>", i));
    for (int i = 1; i <= 4; ++i)
        text += fmt::format("=proc_stack:<0.{0}.0>\ny0:H7F00\n=proc_heap:<0.{0}.0>\n7F00:t{0}:{1}\n", i,
                            std::string("I1,I1,I1,I1").substr(0, 3 * static_cast<std::size_t>(i) - 1));
    text += "=end\n";
    for (const std::size_t piece : {std::size_t{0}, std::size_t{50}}) {
        const auto visited = [&](bool while_loading) {
            std::map<std::uint32_t, std::uint64_t> words;
            std::mutex mutex;
            HeapRequest demand;
            demand.workers = 2;
            demand.wanted = [](const Snapshot&, ProcId id) { return index_of(id) != 2; };
            demand.visit = [&](const HeapVisit& visit) {
                const std::lock_guard lock(mutex);
                words[index_of(visit.id)] = visit.graph.total_words();
            };
            LoadPlan plan = test::everything();
            plan.terms = true;
            if (while_loading) plan.heaps = &demand;
            const auto artifact = test::load(text, plan, piece);
            REQUIRE(artifact);
            if (!while_loading) REQUIRE(artifact->visit_heaps(demand));
            return words;
        };
        CHECK(visited(false) == std::map<std::uint32_t, std::uint64_t>{{0, 2}, {1, 3}, {3, 5}});
        CHECK(visited(true) == visited(false));
    }
}

TEST_CASE("each reference that closes a circle is told once", "[heaps]") {
    const auto told = [](const std::string& heap) {
        LoadPlan plan = test::everything();
        analyses::HeapStats stats(1, {});
        stats.demand(plan);
        const auto artifact = test::load(test::header() + test::process("<0.50.0>") +
                                             "=proc_stack:<0.50.0>\ny0:H7F00\n=proc_heap:<0.50.0>\n" + heap + "=end\n",
                                         plan);
        REQUIRE(artifact);
        stats.store(*artifact);
        CHECK(artifact->snapshot().anomalies[Anomaly::cyclic_term].count == stats.cycles());
        return stats.cycles();
    };
    CHECK(told("7F00:lI1|H7F10\n7F10:lI2|N\n") == 0);
    CHECK(told("7F00:lI1|H7F10\n7F10:lI2|H7F00\n") == 1);
    CHECK(told("7F00:lH7F00|H7F10\n7F10:lI2|H7F00\n") == 2);
}
