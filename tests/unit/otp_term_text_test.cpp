// SPDX-License-Identifier: Apache-2.0
// Terms of a core image as text: each kind of object, what is not there, and where a text is cut.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "formats/otp/processes/term_format.hpp"
#include "support/made_terms.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::MadeTerms;

TEST_CASE("each kind of term is printed as the VM prints it", "[otp][format]") {
    MadeTerms made(25);
    const auto small = MadeTerms::small;
    const std::uint64_t a = made.atom("a"), nil = made.vm.layout.nil, lost = MadeTerms::lost;
    const std::uint64_t two_keys = made.tuple({a, small(1)}), no_key = made.tuple({});
    std::vector<std::pair<std::uint64_t, std::string>> rows{
        {small(-7), "-7"},
        {a, "a"},
        {made.atom("a@B_9"), "a@B_9"},
        {made.atom("Able"), "'Able'"},
        {made.atom("9a"), "'9a'"},
        {made.atom("a-b"), "'a-b'"},
        {made.atom("it's\\\n"), "'it\\'s\\\\\\n'"},
        {made.atom("maybe"), "'maybe'"},
        {made.atom("maybes"), "maybes"},
        {made.atom("xor"), "'xor'"},
        {made.atom(""), "''"},
        {made.atom("z{"), "'z{'"},
        {made.atom("azAZ09"), "azAZ09"},
        {99 << 6 | 0x0b, "?"},
        {nil, "[]"},
        {5 << 4 | 3, "<0.5.0>"},
        {(3 << 15 | 5) << 4 | 3, "<0.5.3>"},
        {6 << 4 | 7, "#Port<0.6>"},
        {0, "?"},
        {0x3f & ~0xf, "?"},
        {no_key, "{}"},
        {made.tuple({a}), "{a}"},
        {two_keys, "{a,1}"},
        {made.tuple({lost | 2}), "{?}"},
        {made.list({a, small(300)}), "[a,300]"},
        {made.list({a, small(300)}, a), "[a,300|a]"},
        {made.list({a}, lost | 1), "[a,?]"},
        {lost | 1, "[?]"},
        {made.text("some \"text\\\"\n"), "\"some \\\"text\\\\\\\"\\n\""},
        {made.text(" ~"), "\" ~\""},
        {made.list({small(31)}), "[31]"},
        {made.list({small(127)}), "[127]"},
        {made.list({small('a'), small(-1)}), "[97,-1]"},
        {made.list({small('a')}, small('b')), "[97|98]"},
        {made.list({small('a')}, lost | 1), "[97,?]"},
        {made.real(2.5), "2.5"},
        {made.real(3), "3.0"},
        {made.real(1e300), "1e+300"},
        {made.real(-0.5), "-0.5"},
        {made.boxed(Tag::positive_big, {0xab}), "16#ab"},
        {made.boxed(Tag::negative_big, {0xab, 1}), "-16#100000000000000ab"},
        {made.boxed(Tag::positive_big, {1, 2, 3, 4}), "16#4000000000000000300000000000000020000000000000001"},
        {made.boxed(Tag::positive_big, {1, 2, 3, 4, 5}), "16#4000000000000000300000000000000020000000000000001..."},
        {made.flat_map(two_keys, {small(8), a}), "#{a=>8,1=>a}"},
        {made.flat_map(two_keys, {small(8)}), "#{a=>8}"},
        {made.flat_map(no_key, {}), "#{}"},
        {made.flat_map(0, {}), "#{}"},
        {made.flat_map(0, {a}), "?"},
        {made.words({made.header(Tag::map, 1), 3}, 2), "#{...}"},
        {made.words({made.header(Tag::map, 2), 3}, 2), "#{...}"},
        {made.words({made.header(Tag::map, 3), 3}, 2), "#{...}"},
        {made.boxed(Tag::reference, {11ull << 32 | 0xffffffff, 13ull << 32 | 12}), "#Ref<0.13.12.11>"},
        {made.boxed(Tag::reference, {11ull << 32 | 0xffffffff, 13ull << 32 | 12, 15ull << 32 | 14}),
         "#Ref<0.13.12.11>"},
        {made.boxed(Tag::reference, {lost, 0}), "#Ref<?>"},
        {made.boxed(Tag::external_reference, {lost, 0, 0, 0}), "#Ref<?>"},
        {made.boxed(Tag::external_pid, {lost, 0, 0}), "?"},
        {made.boxed(Tag::fun, {0, 0, 0, 0}), "#Fun<?>"},
        {made.boxed(Tag::export_fun, {0}), "#Fun<?>"},
        {made.words({a}, 2), "?"},  // no object begins there
        {lost | 2, "?"},
    };
    const std::uint64_t magic = made.boxed(Tag::reference, {MadeTerms::M + 0x70000, 0});
    for (std::uint32_t i = 0; i < 3; ++i)
        made.memory.put<std::uint32_t>(0x70000 + made.at().magic_reference + 4 * i, 31 + i);
    rows.emplace_back(magic, "#Ref<0.33.32.31>");
    Reader& reader = made.begin();
    for (const auto& [term, text] : rows) {
        INFO(text);
        CHECK(term_text(reader, term, 1000) == text);
    }
    std::string behind = "before: ";
    append_term(reader, two_keys, 3, behind);
    CHECK(behind == "before: {a,...");  // the limit is of what is appended
}

TEST_CASE("binaries are printed as text or as numbers, up to sixty-four bytes of them", "[otp][format]") {
    MadeTerms made(25);
    std::vector<std::pair<std::uint64_t, std::string>> rows;
    const auto binary = [&](std::string_view bytes) {
        std::vector<std::uint64_t> rest{bytes.size()};
        for (std::size_t i = 0; i < bytes.size(); i += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
            rest.push_back(word);
        }
        return made.boxed(Tag::heap_binary, rest);
    };
    rows.emplace_back(binary("a text"), "<<\"a text\">>");
    rows.emplace_back(binary(" ~"), "<<\" ~\">>");
    rows.emplace_back(binary("a\""), "<<97,34>>");
    rows.emplace_back(binary("a\\"), "<<97,92>>");
    rows.emplace_back(binary("a\x1f"), "<<97,31>>");
    rows.emplace_back(binary("\xff\x7f"), "<<255,127>>");
    rows.emplace_back(binary(""), "<<>>");
    rows.emplace_back(binary(std::string(64, 'x')), "<<\"" + std::string(64, 'x') + "\">>");
    rows.emplace_back(binary(std::string(65, 'x')), "<<...>>");
    Reader& reader = made.begin();
    for (const auto& [term, text] : rows) {
        INFO(text);
        CHECK(term_text(reader, term, 1000) == text);
    }
}

TEST_CASE("a text is cut at its limit, at a depth, and where a string is long", "[otp][format]") {
    MadeTerms made(25);
    const std::uint64_t a = made.atom("a"), string = made.text(std::string(20, 'x')),
                        long_string = made.text(std::string(5000, 'x'));
    std::uint64_t deep = a;
    for (int i = 0; i < 400; ++i) deep = made.tuple({deep, a});
    std::uint64_t shallow = a;
    for (int i = 0; i < 100; ++i) shallow = made.tuple({shallow, a});
    Reader& reader = made.begin();
    CHECK(term_text(reader, string, 20) == "\"" + std::string(20, 'x') + "\"");
    CHECK(term_text(reader, string, 19) == "\"" + std::string(20, 'x') + "\"");
    CHECK(term_text(reader, string, 18) == "\"" + std::string(19, 'x') + "...");
    CHECK(term_text(reader, long_string, 10'000) == "\"" + std::string(4096, 'x') + "...");
    // what is left to print is bounded
    const std::string text = term_text(reader, deep, 100'000);
    CHECK(text.find("...") != text.npos);
    CHECK(text.starts_with(std::string(100, '{')));
    CHECK(text.size() < 3000);
    CHECK(term_text(reader, shallow, 100'000).find("...") == std::string::npos);
}
