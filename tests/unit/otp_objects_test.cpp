// SPDX-License-Identifier: Apache-2.0
// Objects of heaps as words, of every release: what they are, how long, and which of their words are terms.
#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "formats/otp/heaps/core_terms.hpp"
#include "formats/otp/heaps/heap_objects.hpp"
#include "formats/otp/heaps/heap_reader.hpp"
#include "formats/otp/layout/layout.hpp"
#include "support/made_image.hpp"

using namespace beamheap;
using namespace beamheap::otp;

namespace {

// A header of this kind with this arity, as the release writes it; nothing where it has no such objects.
std::optional<Word> header(const Layout& layout, Tag tag, std::uint64_t arity) {
    for (Word subtag = 0; subtag < layout.tags.size(); ++subtag)
        if (layout.tags[subtag] == tag) return arity << 6 | subtag << 2;
    return std::nullopt;
}

ObjectShape shape(const Layout& layout, const std::vector<Word>& words, std::uint64_t available) {
    return shape_of(layout, reinterpret_cast<const std::byte*>(words.data()), available);
}

// The object is this with all of its words, and none where one of them is missing.
void expect(const Layout& layout, std::vector<Word> words, TermKind kind, std::uint64_t length, std::uint64_t first,
            std::uint64_t terms) {
    INFO(layout.source << ", header " << words[0]);
    words.resize(std::max<std::size_t>(words.size(), length + 2), 0x0f);
    const ObjectShape whole = shape(layout, words, length);
    CHECK(whole.kind == kind);
    CHECK(whole.words == length);
    CHECK(whole.first_term == first);
    CHECK(whole.terms == terms);
    CHECK(shape(layout, words, length + 1).words == length);
    CHECK(shape(layout, words, length - 1).words == 0);
}

}  // namespace

TEST_CASE("objects of heaps have the lengths and the terms that their release gives them", "[otp][objects]") {
    for (const Layout& layout : known_layouts()) {
        for (const std::uint64_t arity : {1, 2, 7}) {
            const std::pair<Tag, TermKind> leaves[] = {{Tag::positive_big, TermKind::bignum},
                                                       {Tag::negative_big, TermKind::bignum},
                                                       {Tag::floating, TermKind::float_number},
                                                       {Tag::reference, TermKind::reference},
                                                       {Tag::export_fun, TermKind::external_fun},
                                                       {Tag::refc_binary, TermKind::refc_binary},
                                                       {Tag::heap_binary, TermKind::heap_binary},
                                                       {Tag::heap_bits, TermKind::heap_binary},
                                                       {Tag::binary_reference, TermKind::binary_reference},
                                                       {Tag::fun_reference, TermKind::fun_reference},
                                                       {Tag::external_pid, TermKind::external_pid},
                                                       {Tag::external_port, TermKind::external_port},
                                                       {Tag::external_reference, TermKind::external_reference}};
            for (const auto& [tag, kind] : leaves)
                if (const auto first = header(layout, tag, arity)) expect(layout, {*first}, kind, 1 + arity, 0, 0);
            for (const Tag tag : {Tag::tuple, Tag::record})
                if (const auto first = header(layout, tag, arity))
                    expect(layout, {*first}, TermKind::tuple, 1 + arity, 1, arity);
        }
        // A slice: its base is the last word. A match context of old keeps its base in the first.
        if (const auto first = header(layout, Tag::sub_binary, 3))
            expect(layout, {*first}, TermKind::sub_binary, 5, 4, 1);
        if (const auto first = header(layout, Tag::match_state, 6))
            expect(layout, {*first}, TermKind::match_context, 7, 1, 1);
        if (const auto first = header(layout, Tag::sub_bits, 4)) {
            // The word behind the header: whether it may move (1), whether it is written to (2).
            for (const Word flags : {0, 2, 3}) expect(layout, {*first, 0x1000 | flags}, TermKind::refc_binary, 5, 4, 1);
            expect(layout, {*first, 0x1001}, TermKind::match_context, 5, 4, 1);
        }
    }
}

TEST_CASE("maps are flat, or nodes of a trie", "[otp][objects]") {
    for (const Layout& layout : known_layouts()) {
        const auto map = [&](Word kind, Word filled) {
            return *header(layout, Tag::map, 0) | kind << 6 | filled << 16;
        };
        // MAP_HEADER_TAG: flat maps have a size and a tuple of keys before the values.
        for (const Word pairs : {0, 1, 32})
            expect(layout, {map(0, 0), pairs}, TermKind::flat_map, 3 + pairs, 2, 1 + pairs);
        expect(layout, {map(1, 0x8005)}, TermKind::hash_node, 4, 1, 3);
        expect(layout, {map(2, 0), 100}, TermKind::hash_map, 18, 2, 16);
        expect(layout, {map(3, 0x7), 4}, TermKind::hash_map, 5, 2, 3);
        CHECK(shape(layout, {map(0, 0), ~0ull >> 8, 0}, 3).words == 0);
    }
}

TEST_CASE("funs carry their environment in each release's form", "[otp][objects]") {
    for (const Layout& layout : known_layouts()) {
        const Word plain = *header(layout, Tag::fun, 0);
        if (layout.release >= 29) {
            expect(layout, {plain | 3 << 16}, TermKind::fun, 5, 2, 3);
            expect(layout, {plain | 1 << 24}, TermKind::external_fun, 2, 2, 0);
        } else if (layout.release >= 27 && layout.fun_carries_reference) {
            expect(layout, {plain | 4 << 16}, TermKind::fun, 6, 2, 4);
            expect(layout, {plain}, TermKind::external_fun, 2, 2, 0);
            CHECK(shape(layout, std::vector<Word>(400, plain | 257 << 16), 400).words == 0);
        } else if (layout.release < 27) {
            // Creator, then the environment; the number of free variables is a byte behind the arity, or a word.
            const std::uint64_t head = layout.release < 25 ? 6 : 5;
            constexpr Word creator = 0x1233, atom = 0x40b;
            for (const Word by : {creator, atom})
                for (const std::uint64_t free : {0, 3, 255}) {
                    std::vector<Word> words(head + free, 0x0f);
                    words[0] = plain;
                    if (layout.release < 25) words[4] = free;
                    else words[3] = free << 8 | 0x7700000000000002;
                    words[head - 1] = by;
                    expect(layout, words, by == atom ? TermKind::external_fun : TermKind::fun, head + free, head - 1,
                           1 + free);
                }
            std::vector<Word> many(400, 0x0f);
            many[0] = plain;
            many[4] = 256;
            many[head - 1] = creator;
            if (layout.release < 25) CHECK(shape(layout, many, 400).words == 0);
            CHECK(shape(layout, many, head - 1).words == 0);
        }
    }
}

TEST_CASE("what is no header is no object", "[otp][objects]") {
    for (const Layout& layout : known_layouts()) {
        const std::vector<Word> words(8, 0x0f);
        CHECK(shape(layout, words, 8).words == 0);
        CHECK(shape(layout, {*header(layout, Tag::tuple, 1), 0}, 0).words == 0);
        CHECK(shape(layout, {*header(layout, Tag::tuple, 1ull << 40), 0}, 1ull << 41).words == 0);
        for (Word subtag = 0; subtag < 16; ++subtag)
            if (layout.tags[subtag] == Tag::unknown) CHECK(shape(layout, {1 << 6 | subtag << 2, 0}, 2).words == 0);
    }
}

TEST_CASE("an object of a core has as many elements as its head says, each of them its own", "[otp][terms]") {
    constexpr std::uint64_t M = test::MadeImage::memory_at;
    const std::uint32_t release = GENERATE(25u, 27u, 29u);
    INFO("OTP " << release);
    test::MadeImage made(release);
    made.memory.resize(0x4000);
    const auto small = [](std::uint64_t value) { return value << 4 | 0xf; };
    const otp::Layout& layout = made.vm.layout;
    const auto header = [&](otp::Tag tag, std::uint64_t arity) {
        for (otp::Word subtag = 0; subtag < layout.tags.size(); ++subtag)
            if (layout.tags[subtag] == tag) return arity << 6 | subtag << 2;
        return otp::Word{0};
    };
    // {1, [2], ExternalFun, Fun of two variables}
    made.memory.word(0, 4 << 6);
    made.memory.word(8, small(1));
    made.memory.word(16, (M + 40) | 1);
    made.memory.word(24, (M + 56) | 2);
    made.memory.word(40, small(2));
    made.memory.word(48, layout.nil);
    const std::uint64_t external = M + 56, entry = M + 0x2000, lost = 0x7f0000000000;
    std::uint64_t words = 0, fun = 0;
    if (release >= 29) {
        made.memory.word(56, header(otp::Tag::fun, 0) | 1 << 24), made.memory.word(64, entry), words = 2;
        fun = external + 8 * words;
        made.memory.word(fun - M, header(otp::Tag::fun, 0) | 2 << 16 | 3 << 8), made.memory.word(fun - M + 8, lost),
            made.memory.word(fun - M + 16, small(7)), made.memory.word(fun - M + 24, small(8)), words = 4;
    } else if (release >= 27) {
        made.memory.word(56, header(otp::Tag::fun, 0)), made.memory.word(64, entry), words = 2;
        fun = external + 8 * words;
        // its variables, then what it shares with others of its kind
        made.memory.word(fun - M, header(otp::Tag::fun, 0) | 3 << 16 | 3 << 8), made.memory.word(fun - M + 8, lost),
            made.memory.word(fun - M + 16, small(7)), made.memory.word(fun - M + 24, small(8)),
            made.memory.word(fun - M + 32, layout.nil), words = 5;
    } else {
        made.memory.word(56, header(otp::Tag::fun, 0)), made.memory.word(64, entry), made.memory.word(88, 0x40b),
            words = 5;
        fun = external + 8 * words;
        made.memory.word(fun - M, header(otp::Tag::fun, 0)), made.memory.word(fun - M + 8, lost),
            made.memory.word(fun - M + 24, 2 << 8 | 3), made.memory.word(fun - M + 32, 0x1233),
            made.memory.word(fun - M + 40, small(7)), made.memory.word(fun - M + 48, small(8)), words = 7;
    }
    made.memory.word(32, fun | 2);
    otp::Reader& reader = made.start();
    (void)reader;
    otp::EtsObjects objects;
    objects.objects = {{M, (fun - M) / 8 + words}};
    otp::CoreTerms terms(made.vm, made.snapshot, objects);
    const auto elements = [&](const Element& term) {
        std::vector<Element> all;
        ElementCursor cursor = terms.elements(term.id);
        CHECK(cursor.left == terms.head(term.id).elements);
        for (Element element; terms.next(cursor, element);) all.push_back(element);
        return all;
    };
    const std::vector<Element> four = elements(terms.root(0));
    REQUIRE(four.size() == 4);
    CHECK(four[0].number == 1);
    REQUIRE(four[1].kind == ElementKind::object);
    CHECK(elements(four[1]).size() == 2);
    CHECK(elements(four[1])[1].kind == ElementKind::nil);
    REQUIRE(four[2].kind == ElementKind::object);
    CHECK(terms.head(four[2].id).kind == TermKind::external_fun);
    CHECK(elements(four[2]).empty());
    REQUIRE(four[3].kind == ElementKind::object);
    const ObjectHead head = terms.head(four[3].id);
    CHECK(head.kind == TermKind::fun);
    CHECK(head.arity == 3);
    CHECK(head.uniq == 0);  // of what the image does not hold
    CHECK(head.index == 0);
    const std::vector<Element> variables = elements(four[3]);
    REQUIRE(variables.size() == 2);
    CHECK(variables[0].number == 7);
    CHECK(variables[1].number == 8);
}

namespace {

/// A process of a VM, and its heap: so many words in use, then ten that are free, then a stack of four.
struct HeapOfWords : test::MadeImage {
    static constexpr std::uint64_t M = memory_at, process = M + 0x1000, heap = M + 0x8000;
    explicit HeapOfWords(std::uint64_t words, std::uint32_t release = 25) : MadeImage(release) {
        memory.resize(0x20000);
        put(process, 5ull << 32 | 5 << 4 | 3);
        put(process + at().process_heap, heap);
        put(process + at().process_htop, heap + 8 * words);
        put(process + at().process_stop, heap + 8 * (words + 10));
        put(process + at().process_heap_end, heap + 8 * (words + 14));
        put(process + at().process_heap_words, words + 14);
        for (std::uint64_t i = 0; i < words + 14; ++i) put(heap + 8 * i, small(i));
        for (std::uint64_t i = words + 10; i < words + 14; ++i) put(heap + 8 * i, vm.layout.nil);
    }
    static std::uint64_t small(std::uint64_t value) { return value << 4 | 0xf; }
    void put(std::uint64_t address, std::uint64_t word) { memory.word(address - M, word); }
    otp::Word header(otp::Tag tag, std::uint64_t arity) const {
        for (otp::Word subtag = 0; subtag < vm.layout.tags.size(); ++subtag)
            if (vm.layout.tags[subtag] == tag) return arity << 6 | subtag << 2;
        return 0;
    }
};

// Where the dead terms of the process stand that no other one holds, in words.
std::vector<std::uint64_t> garbage_of(otp::HeapReader& reader) {
    const HeapGraph& graph = reader.read(HeapOfWords::process, HeapGraph::Mode::values, true);
    std::vector<std::uint64_t> garbage;
    for (const Root root : graph.roots())
        if (root.kind == RootKind::garbage) garbage.push_back((graph.address(root.target) - HeapOfWords::heap) / 8);
    return garbage;
}

}  // namespace

TEST_CASE("dead terms are found by walking a heap, as far as that is whole", "[otp][heap]") {
    const auto read = [](bool torn) {
        HeapOfWords made(20);
        made.put(HeapOfWords::heap, made.header(otp::Tag::tuple, 2));          // live: on the stack
        made.put(HeapOfWords::heap + 8 * 3, made.header(otp::Tag::tuple, 1));  // dead, and holds the next one
        made.put(HeapOfWords::heap + 8 * 4, (HeapOfWords::heap + 8 * 5) | 2);
        made.put(HeapOfWords::heap + 8 * 5, made.header(otp::Tag::tuple, 3));
        made.put(HeapOfWords::heap + 8 * 9,
                 torn ? made.header(otp::Tag::tuple, 1000) : made.header(otp::Tag::tuple, 10));
        made.put(HeapOfWords::heap + 8 * 31, HeapOfWords::heap | 2);
        made.start();
        otp::HeapReader reader(made.vm);
        const std::vector<std::uint64_t> garbage = garbage_of(reader);
        return std::pair{garbage, reader.damage().unwalked};
    };
    CHECK(read(false) == std::pair{std::vector<std::uint64_t>{3, 9}, decltype(otp::HeapDamage::unwalked){0}});
    CHECK(read(true).first == std::vector<std::uint64_t>{3});
    CHECK(read(true).second != 0);
}

TEST_CASE("many zeros in a heap are a loss, but for those of a large number", "[otp][heap]") {
    const auto zeroed = [](std::uint64_t first, std::uint64_t count, otp::Tag tag, std::uint64_t arity) {
        HeapOfWords made(2'000);
        if (first != 0) made.put(HeapOfWords::heap + 8 * (first - 1), made.header(tag, arity));
        for (std::uint64_t i = first; i < first + count; ++i) made.put(HeapOfWords::heap + 8 * i, 0);
        made.start();
        otp::HeapReader reader(made.vm);
        reader.read(HeapOfWords::process, HeapGraph::Mode::sizes);
        return reader.damage().zeroed;
    };
    CHECK(zeroed(300, 600, otp::Tag::positive_big, 600) == 0);
    CHECK(zeroed(300, 600, otp::Tag::negative_big, 700) == 0);
    CHECK(zeroed(300, 600, otp::Tag::positive_big, 599) == 1);
    CHECK(zeroed(300, 600, otp::Tag::tuple, 600) == 1);
    CHECK(zeroed(0, 600, otp::Tag::tuple, 0) == 1);
}

TEST_CASE("pages of zeros are no dead terms, and what stands behind them is found", "[otp][heap]") {
    const auto read = [](std::uint64_t first, std::uint64_t end, std::uint64_t words) {
        HeapOfWords made(words);
        made.memory.resize(0x8000 + 8 * words + 0x1000);
        made.put(HeapOfWords::heap, made.header(otp::Tag::tuple, first - 1));
        if (end < words) made.put(HeapOfWords::heap + 8 * end, made.header(otp::Tag::tuple, words - end - 1));
        for (std::uint64_t i = first; i < end; ++i) made.put(HeapOfWords::heap + 8 * i, 0);
        made.start();
        otp::HeapReader reader(made.vm);
        const std::vector<std::uint64_t> garbage = garbage_of(reader);
        CHECK((end - first < 127 || reader.damage().zeroed == 1));  // one word of 64 is looked at
        return garbage;
    };
    using Places = std::vector<std::uint64_t>;
    // The steps double and halve: each length of zeros ends where it ends.
    for (const std::uint64_t zeros : {16u, 100u, 511u, 512u, 513u, 1'024u, 1'025u, 5'000u, 65'535u, 100'000u}) {
        INFO(zeros);
        CHECK(read(10, 10 + zeros, 200 + zeros) == Places{0, 10 + zeros});
        CHECK(read(10, 10 + zeros, 10 + zeros) == Places{0});
    }
}

TEST_CASE("the last byte of bits says how many of it count", "[otp][binary]") {
    const auto place = [](std::uint64_t bits) {
        HeapOfWords made(20, 29);
        made.put(HeapOfWords::heap, made.header(otp::Tag::heap_bits, 3));
        made.put(HeapOfWords::heap + 8, bits);
        otp::Reader& reader = made.start();
        return otp::binary_place(reader.memory, made.vm.layout, HeapOfWords::heap);
    };
    for (const std::uint64_t bits : {0, 1, 7, 8, 9, 16, 17, 63}) {
        CHECK(place(bits).bytes == (bits + 7) / 8);
        CHECK(place(bits).extra_bits == bits % 8);
        CHECK(place(bits).data == HeapOfWords::heap + 16);
    }
}
