// SPDX-License-Identifier: Apache-2.0
// Where the text of terms is: the same answers for a file that can be read again and for a stream of which texts were
// kept.
#include "formats/crashdump/term_sections.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/dump_text.hpp"

using namespace beamheap;
using namespace beamheap::crashdump;

namespace {

// heap of 1, stack of 1, literals, heap of 2, heap of 3, persistent terms
const std::string sections_text = "heap1 stack1 literals heap2 heap3 persistent";

struct TextPlace {
    TermSection section;
    std::uint64_t offset, bytes;
};
constexpr TextPlace heap_1{TermSection::heap, 0, 5}, stack_1{TermSection::stack, 6, 6},
    literals_place{TermSection::literals, 13, 8}, heap_2{TermSection::heap, 22, 5}, heap_3{TermSection::heap, 28, 5},
    persistent_place{TermSection::persistent_terms, 34, 10};

struct MadeSections {
    explicit MadeSections(bool file)
        : stream(sections_text, 7),
          again(sections_text),
          sections(file ? static_cast<const bytes::Source&>(again) : stream) {}
    void of(std::uint32_t process, const TextPlace& place) {
        TermExtents one;
        one.add({place.offset, place.bytes, place.section});
        if (!sections.keeps()) return sections.add(ProcId{process}, one);
        // in two pieces
        sections.keep(ProcId{process}, place.section, place.offset, sections_text.substr(place.offset, 2));
        sections.keep(ProcId{process}, place.section, place.offset + 2,
                      sections_text.substr(place.offset + 2, place.bytes - 2));
    }
    void shared(const TextPlace& place) {
        if (!sections.keeps()) return sections.add_shared({place.offset, place.bytes, place.section});
        sections.keep_shared(place.section, place.offset, sections_text.substr(place.offset, 3));
        sections.keep_shared(place.section, place.offset + 3, sections_text.substr(place.offset + 3, place.bytes - 3));
    }
    test::Trickle stream;
    test::TextFile again;
    TermSections sections;
};

std::vector<std::string> texts_of(const Result<std::vector<SectionText>>& found) {
    REQUIRE(found);
    std::vector<std::string> all;
    for (const SectionText& section : *found)
        all.push_back(std::to_string(section.offset) + " " + std::string(section.text()));
    return all;
}
using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("sections of one process, and those that all share", "[crashdump][sections]") {
    for (const bool file : {true, false}) {
        INFO((file ? "a file" : "a stream"));
        MadeSections made(file);
        CHECK(made.sections.keeps() == !file);
        made.of(1, heap_1);
        made.of(1, stack_1);
        made.shared(literals_place);
        made.of(2, heap_2);
        made.of(4, heap_3);
        made.shared(persistent_place);
        made.sections.seal();
        const TermSections& sections = made.sections;
        CHECK(texts_of(sections.of(ProcId{1})) == Texts{"0 heap1", "6 stack1"});
        CHECK(texts_of(sections.of(ProcId{2})) == Texts{"22 heap2"});
        CHECK(texts_of(sections.of(ProcId{3})).empty());
        CHECK(texts_of(sections.of(ProcId{9})).empty());
        CHECK(texts_of(sections.shared(ProcId{1}, false)) == Texts{"13 literals", "34 persistent"});
        // Of old dumps the heaps of all others, in the order of the file where nothing can be read again.
        const Texts others = texts_of(sections.shared(ProcId{1}, true));
        CHECK(others == (file ? Texts{"13 literals", "34 persistent", "22 heap2", "28 heap3"}
                              : Texts{"13 literals", "22 heap2", "28 heap3", "34 persistent"}));
        const Texts of_nobody = texts_of(sections.shared(ProcId{7}, true));
        CHECK(of_nobody.size() == 5);
        CHECK((sections.extents(ProcId{1}) != nullptr) == file);
        CHECK(sections.extents(ProcId{3}) == nullptr);
        CHECK(sections.extents(ProcId{9}) == nullptr);
    }
}

TEST_CASE("binaries are found by their address, the first of several at one", "[crashdump][sections]") {
    for (const bool file : {true, false}) {
        INFO((file ? "a file" : "a stream"));
        MadeSections made(file);
        TermSections& sections = made.sections;
        sections.add_binary({0x300, 30, 6}, "stack1");
        sections.add_binary({0x100, 10, 13}, "literals");
        sections.add_binary({0x300, 31, 22}, "heap2");
        sections.add_binary({0x200, 20, 28}, "");
        sections.seal();
        REQUIRE(sections.binaries().size() == 3);
        CHECK(sections.binary(0x300)->bytes == 30);
        CHECK(sections.binary(0x100)->bytes == 10);
        CHECK(sections.binary(0x200)->bytes == 20);
        for (const std::uint64_t nobody : {0ull, 0xffull, 0x101ull, 0x301ull})
            CHECK(sections.binary(nobody) == nullptr);
        const auto text = [&](std::uint64_t address, std::uint64_t from, std::size_t characters) {
            const auto found = sections.binary_text(*sections.binary(address), from, characters);
            REQUIRE(found);
            return *found;
        };
        CHECK(text(0x300, 0, 6) == "stack1");
        CHECK(text(0x300, 2, 3) == "ack");
        CHECK(text(0x100, 5, 3) == "als");
        CHECK(text(0x200, 0, 5) == (file ? "heap3" : ""));  // of which nothing was kept
        CHECK(text(0x300, 6, 4) == (file ? " lit" : ""));
        CHECK(text(0x300, 7, 4) == (file ? "lite" : ""));
    }
    // No more than a bound is kept of each.
    MadeSections made(false);
    made.sections.add_binary({0x100, 9000, 0}, std::string(TermSections::kept_binary_text + 1, 'x'));
    made.sections.seal();
    const auto kept = made.sections.binary_text(*made.sections.binary(0x100), 0, 100'000);
    REQUIRE(kept);
    CHECK(kept->size() == TermSections::kept_binary_text);
}
