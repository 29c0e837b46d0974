// Terms of a core image as text: each kind of object, what is not there, and where a text is cut.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/otp/layout/tagged_word.hpp"
#include "formats/otp/processes/term_format.hpp"
#include "support/made_image.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::MadeImage;

namespace {

/// Objects one behind the other, and atoms by their names.
struct MadeTerms : MadeImage {
    static constexpr std::uint64_t M = MadeImage::memory_at, table = 0x100, segments = 0x400, page = 0x600, atom_structures = 0x8000, names = 0x10000, objects = 0x20000,
                                   lost = 0x7000000;
    static constexpr std::uint64_t first_atom = 16;

    explicit MadeTerms(std::uint32_t release) : MadeImage(release) { memory.resize(0x80000); }
    std::uint64_t atom(std::string_view name) {
        const std::uint64_t index = first_atom + atoms_++, structure = atom_structures + 0x80 * index, bytes = names + 0x100 * index;
        memory.word(page + 8 * index, M + structure);
        memory.put<std::int16_t>(structure + at().atom_length, static_cast<std::int16_t>(name.size()));
        memory.word(structure + at().atom_name, M + bytes);
        memory.text(bytes, name);
        return index << 6 | 0x0b;
    }
    static constexpr std::uint64_t small(std::int64_t value) { return static_cast<std::uint64_t>(value) << 4 | 0xf; }
    std::uint64_t header(Tag tag, std::uint64_t words) const {
        const auto found = std::find(std::begin(vm.layout.tags), std::end(vm.layout.tags), tag);
        REQUIRE(found != std::end(vm.layout.tags));
        return words << 6 | static_cast<std::uint64_t>(found - std::begin(vm.layout.tags)) << 2;
    }
    std::uint64_t words(const std::vector<std::uint64_t>& all, std::uint64_t tag) {
        const std::uint64_t place = objects + 8 * used_;
        for (const std::uint64_t word : all) memory.word(objects + 8 * used_++, word);
        return (M + place) | tag;
    }
    std::uint64_t boxed(Tag tag, std::vector<std::uint64_t> rest) {
        rest.insert(rest.begin(), header(tag, rest.size()));
        return words(rest, 2);
    }
    std::uint64_t tuple(const std::vector<std::uint64_t>& elements) { return boxed(Tag::tuple, elements); }
    std::uint64_t list(const std::vector<std::uint64_t>& elements, std::uint64_t tail) {
        for (std::size_t i = elements.size(); i-- > 0;) tail = words({elements[i], tail}, 1);
        return tail;
    }
    std::uint64_t list(const std::vector<std::uint64_t>& elements) { return list(elements, vm.layout.nil); }
    std::uint64_t text(std::string_view letters) {
        std::vector<std::uint64_t> all;
        for (const char letter : letters) all.push_back(small(static_cast<unsigned char>(letter)));
        return list(all);
    }
    std::uint64_t real(double value) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, 8);
        return boxed(Tag::floating, {bits});
    }
    std::uint64_t flat_map(std::uint64_t keys, const std::vector<std::uint64_t>& values) {
        std::vector<std::uint64_t> all{header(Tag::map, 0), values.size(), keys};
        all.insert(all.end(), values.begin(), values.end());
        return words(all, 2);
    }
    Reader& begin() {
        memory.put<std::uint32_t>(table + at().index_entries, static_cast<std::uint32_t>(first_atom + atoms_));
        memory.put<std::uint32_t>(table + at().index_limit, 1024);
        memory.word(table + at().index_segments, M + segments);
        memory.word(segments, M + page);
        Reader& reader = start();
        vm.atoms = AtomTable(reader.memory, vm.layout, M + table);
        return reader;
    }

private:
    std::uint64_t atoms_ = 0, used_ = 0;
};

}  // namespace

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
        {made.boxed(Tag::reference, {11ull << 32 | 0xffffffff, 13ull << 32 | 12, 15ull << 32 | 14}), "#Ref<0.13.12.11>"},
        {made.boxed(Tag::reference, {lost, 0}), "#Ref<?>"},
        {made.boxed(Tag::external_reference, {lost, 0, 0, 0}), "#Ref<?>"},
        {made.boxed(Tag::external_pid, {lost, 0, 0}), "?"},
        {made.boxed(Tag::fun, {0, 0, 0, 0}), "#Fun<?>"},
        {made.boxed(Tag::export_fun, {0}), "#Fun<?>"},
        {made.words({a}, 2), "?"},  // no object begins there
        {lost | 2, "?"},
    };
    // Binaries: of letters, of others, of sixty-four bytes and of more.
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
    const std::uint64_t magic = made.boxed(Tag::reference, {MadeTerms::M + 0x70000, 0});
    for (std::uint32_t i = 0; i < 3; ++i) made.memory.put<std::uint32_t>(0x70000 + made.at().magic_reference + 4 * i, 31 + i);
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

TEST_CASE("a text is cut at its limit, at a depth, and where a string is long", "[otp][format]") {
    MadeTerms made(25);
    const std::uint64_t a = made.atom("a"), string = made.text(std::string(20, 'x')), long_string = made.text(std::string(5000, 'x'));
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
