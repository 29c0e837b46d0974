// SPDX-License-Identifier: Apache-2.0
// What is read of a giant's heap for a few of its roots, against all of it.
#include "formats/crashdump/part_of_heap.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "analyses/heaps/term_measures.hpp"
#include "bytes/source.hpp"
#include "formats/crashdump/dump_terms.hpp"
#include "present/term_printer.hpp"
#include "support/dump_text.hpp"

using namespace beamheap;
using namespace beamheap::crashdump;

namespace {

constexpr std::uint64_t heap_base = 0x7F0000001000, on_stack = 0x7F5000000000;
constexpr std::size_t queue = 40'000;

std::uint64_t message_address(std::size_t i) { return heap_base + 128 * i; }

/// The sections of a process with a long queue: {job, I, [I, {I}]} each. `first` stands at the front of its heap,
/// `last` at its end.
struct Giant {
    std::string messages, stack, heap;
    explicit Giant(const std::string& first = {}, const std::string& stack_term = fmt::format("H{:X}", on_stack))
        : heap(first) {
        for (std::size_t i = 0; i < queue; ++i) {
            const std::uint64_t at = message_address(i);
            messages += fmt::format("H{:X}:N\n", at);
            heap += fmt::format("{:X}:t3:A3:job,I{},H{:X}\n{:X}:lI{}|H{:X}\n{:X}:lH{:X}|N\n{:X}:t1:I{}\n", at, i,
                                at + 32, at + 32, i, at + 48, at + 48, at + 64, at + 64, i);
        }
        heap += fmt::format("{:X}:t2:A5:state,H{:X}\n{:X}:lI1|N\n", on_stack, on_stack + 32, on_stack + 32);
        stack = "y0:" + stack_term + "\n0x00007fad1c217d74:SReturn addr 0x1C217D74 (gen_server:loop/7 + 596)\n";
    }
    void shorten() {
        messages.clear();
        for (std::size_t i = 0; i < 50; ++i) messages += fmt::format("H{:X}:N\n", message_address(i));
    }
};

struct Read {
    std::unique_ptr<bytes::Source> source;
    std::unique_ptr<TermSections> texts;
    std::unique_ptr<DumpTerms> all, part;
};

Read read(const Giant& giant, const TermsWanted& wanted, std::uint64_t least = 0,
          std::shared_ptr<const Literals> literals = nullptr) {
    Read result;
    result.source = std::make_unique<test::TextFile>(giant.messages + giant.stack + giant.heap);
    result.texts = std::make_unique<TermSections>(*result.source);
    std::uint64_t offset = 0;
    TermExtents sections;
    const auto add = [&](TermSection section, const std::string& text) {
        if (result.texts->keeps()) result.texts->keep(ProcId{0}, section, offset, text);
        else sections.add({offset, text.size(), section});
        offset += text.size();
    };
    add(TermSection::messages, giant.messages);
    add(TermSection::stack, giant.stack);
    add(TermSection::heap, giant.heap);
    if (!result.texts->keeps()) result.texts->add(ProcId{0}, sections);
    HeapDialect dialect;
    dialect.otp = 25;
    dialect.least_in_part = least;
    result.all = *DumpTerms::read(*result.texts, ProcId{0}, {}, dialect);
    result.all->set_literals(literals);
    result.part = *DumpTerms::read_part(*result.texts, ProcId{0}, {}, dialect, wanted, literals);
    return result;
}

/// What is shown of the roots that are wanted, in their order.
std::string shown(DumpTerms& terms, const TermsWanted& wanted) {
    analyses::TermMeasures measures(terms);
    std::string text;
    const RootList& roots = terms.graph().roots();
    for (std::size_t i = 0; i < roots.size(); ++i) {
        const bool message = roots[i].kind == RootKind::message;
        if (message ? roots[i].index >= wanted.messages : !wanted.others) continue;
        const Element term = terms.root(i);
        text +=
            fmt::format("{} {} {} {} {}\n", name_of(roots[i].kind), roots[i].index, present::term_text(terms, term, {}),
                        measures.flat_words(term).value_or(0), measures.shared_words(term).value_or(0));
    }
    return text;
}

void expect_part(const Read& read, const TermsWanted& wanted) {
    REQUIRE(read.part != nullptr);
    CHECK(read.part->in_part());
    CHECK(!read.all->in_part());
    CHECK(read.part->messages() == read.all->messages());
    CHECK(read.part->graph().size() < read.all->graph().size() / 2);
    CHECK(shown(*read.part, wanted) == shown(*read.all, wanted));
}

}  // namespace

TEST_CASE("the first messages and the stack of a giant are shown without the rest of its heap", "[part_of_heap]") {
    const TermsWanted wanted{.messages = 100};
    const Read some = read(Giant(), wanted);
    expect_part(some, wanted);
    CHECK(some.part->messages() == queue);
    CHECK(shown(*some.part, wanted).find("message 99 {job,99,[99,{99}]} ") != std::string::npos);
    CHECK(shown(*some.part, wanted).find("stack 0 {state,[1]} ") != std::string::npos);
    CHECK(read(Giant(), wanted, std::uint64_t{1} << 30).part == nullptr);
    CHECK(read(Giant(), {.messages = queue}).part == nullptr);
}

TEST_CASE("what lies in the midst of a giant's heap has all of it read", "[part_of_heap]") {
    const std::string middle = fmt::format("H{:X}", message_address(queue / 2) + 32);
    CHECK(read(Giant({}, middle), {.messages = 100}).part == nullptr);
    const TermsWanted alone{.messages = 100, .others = false};
    expect_part(read(Giant({}, middle), alone), alone);
    Giant shared;  // the first message has a part of one that is far away
    shared.heap.replace(shared.heap.find(fmt::format("H{:X}\n", message_address(0) + 32)), middle.size(), middle);
    CHECK(read(shared, alone).part == nullptr);
    expect_part(read(shared, {.messages = 0, .others = true}), {.messages = 0, .others = true});
}

TEST_CASE("damage where a giant's heap is read has all of it read", "[part_of_heap]") {
    for (const char* line :
         {"rubbish\n", "7F0000001000:lI1|N\n7F0000001000:lI1|N\n", "7F4000000000:lH7F4000000001|N\n"}) {
        const Read all = read(Giant(line), {.messages = 100});
        CHECK(all.part == nullptr);
        CHECK(all.all->messages() == queue);
    }
    Giant missing;
    missing.stack = "y0:H7F6000000000\n" + missing.stack;
    CHECK(read(missing, {.messages = 100}).part == nullptr);
    const Giant slice("7F4000000000:Ys7F4000001000:0:10\n7F4000000010:lH7F4000000000|N\n", "H7F4000000010");
    CHECK(read(slice, {.messages = 100}).part == nullptr);  // what it is a slice of may be anywhere
}

TEST_CASE("how many messages are kept is said anew for each process", "[part_of_heap]") {
    crashdump::HeapReader reader({});
    const auto kept = [&] {
        reader.feed(TermSection::messages, "H7F00:N\nH7F10:N\nH7F00:N\n", 0, true);
        reader.feed(TermSection::heap, "7F00:lI1|N\n7F10:lI2|N\n", 0, true);
        return fmt::format("{} of {}", reader.finish().roots().size(), reader.messages());
    };
    reader.begin({});
    reader.keep_messages(2);
    CHECK(kept() == "2 of 3");
    reader.begin({});
    CHECK(kept() == "3 of 3");
}

TEST_CASE("literals are no part of a giant's heap", "[part_of_heap]") {
    crashdump::HeapReader reader({});  // cores have one, too
    HeapFacts facts;
    facts.mode = HeapGraph::Mode::values;
    reader.begin(facts);
    auto literals = std::make_shared<Literals>();
    literals->text = "7F6000000000:t1:A4:ours\n";
    reader.feed(TermSection::literals, literals->text, 0, true);
    reader.finish();
    literals->graph = reader.take_graph();
    Giant giant;
    giant.stack = "y1:H7F6000000000\n" + giant.stack;
    const TermsWanted wanted{.messages = 10};
    const Read with = read(giant, wanted, 0, literals);
    expect_part(with, wanted);
    CHECK(shown(*with.part, wanted).find("{ours}") != std::string::npos);
}

TEST_CASE("messages that are not kept are counted, whatever they are", "[part_of_heap]") {
    Giant giant;
    giant.messages = "N:N\nA2:ok:N\nH7F0000001000:H7F0000001080\nI7:I8\n" + giant.messages;
    const TermsWanted wanted{.messages = 3};
    const Read some = read(giant, wanted);
    expect_part(some, wanted);
    CHECK(some.part->messages() == queue + 4);
    giant.shorten();
    CHECK(read(giant, {.messages = 100}).part == nullptr);
}
