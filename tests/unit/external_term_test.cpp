// SPDX-License-Identifier: Apache-2.0
// The external term format, tag by tag, by its description (erts, "External Term Format"): each term stands in a pair
// with a 7, which is read only where the term has taken just its own bytes.
#include <catch2/catch.hpp>
#include <string>

#include "formats/otp/vm/references.hpp"
#include "present/term_printer.hpp"
#include "support/dump_text.hpp"
#include "support/made_image.hpp"
#include "support/single_term.hpp"

using namespace beamheap;
using namespace std::string_literals;

namespace {

std::string raw(std::initializer_list<int> values) {
    std::string text;
    for (const int value : values) text += static_cast<char>(value);
    return text;
}
std::string printed(const std::string& data) {
    test::SingleTerm term(data, "n@h");
    present::PrintOptions whole;
    whole.max_bytes = 0;
    return (term.complete() ? "" : "cut ") + present::term_text(term, term.term(), whole);
}
/// The term, as it is printed beside a 7.
std::string term(const std::string& bytes) {
    const std::string text = printed(raw({131, 104, 2}) + bytes + raw({97, 7}));
    return text.starts_with("{") && text.ends_with(",7}") ? text.substr(1, text.size() - 4) : "not alone: " + text;
}

const std::string own = raw({100, 0, 3}) + "n@h", other = raw({119, 3}) + "x@y";

}  // namespace

TEST_CASE("numbers, atoms, binaries and containers of the external format", "[external]") {
    CHECK(term(raw({97, 255})) == "255");
    CHECK(term(raw({98, 255, 255, 255, 254})) == "-2");
    CHECK(term(raw({98, 0, 1, 0, 0})) == "65536");
    CHECK(term(raw({70, 0xC0, 0x04, 0, 0, 0, 0, 0, 0})) == "-2.5");
    CHECK(term(raw({99}) + "2.50000000000000000000e+00\0\0\0\0\0"s) == "2.5");
    CHECK(term(raw({110, 3, 0, 1, 2, 3})) == "197121");
    CHECK(term(raw({110, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1})) == "-18446744073709551616");
    CHECK(term(raw({111, 0, 0, 0, 2, 0, 0, 1})) == "256");
    CHECK(term(raw({100, 0, 2}) + "ok") == "ok");
    CHECK(term(raw({115, 2}) + "ok") == "ok");
    CHECK(term(raw({118, 0, 2, 0xC3, 0xA4})) == "ä");
    CHECK(term(raw({100, 0, 1, 0xE4})) == "ä");  // latin-1
    CHECK(term(raw({119, 2}) + "ok") == "ok");
    CHECK(term(raw({106})) == "[]");
    CHECK(term(raw({107, 0, 2, 1, 2})) == "[1,2]");
    CHECK(term(raw({107, 0, 2}) + "ab") == "\"ab\"");
    CHECK(term(raw({108, 0, 0, 0, 2, 97, 1, 97, 2, 106})) == "[1,2]");
    CHECK(term(raw({108, 0, 0, 0, 1, 97, 1, 97, 2})) == "[1|2]");
    CHECK(term(raw({104, 2, 97, 1, 97, 2})) == "{1,2}");
    CHECK(term(raw({105, 0, 0, 0, 1, 97, 1})) == "{1}");
    CHECK(term(raw({104, 0})) == "{}");
    CHECK(term(raw({109, 0, 0, 0, 2, 0, 1})) == "<<0,1>>");
    CHECK(term(raw({77, 0, 0, 0, 2, 3, 1, 0xA0})) == "<<1,5:3>>");
    CHECK(term(raw({77, 0, 0, 0, 1, 8, 1})) == "<<1>>");
    CHECK(term(raw({116, 0, 0, 0, 1, 97, 1, 97, 2})) == "#{1 => 2}");
    CHECK(term(raw({116, 0, 0, 0, 0})) == "#{}");
}

TEST_CASE("identifiers and funs of the external format take their own bytes in each form", "[external]") {
    const std::string id = raw({0, 0, 0, 42, 0, 0, 0, 1});
    CHECK(term(raw({88}) + own + id + raw({0, 0, 0, 9})) == "<0.42.1>");
    CHECK(term(raw({103}) + own + id + raw({9})) == "<0.42.1>");
    CHECK(term(raw({89}) + own + raw({0, 0, 1, 2, 0, 0, 0, 9})) == "#Port<0.258>");
    CHECK(term(raw({102}) + own + raw({0, 0, 1, 2, 9})) == "#Port<0.258>");
    CHECK(term(raw({120}) + own + raw({0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 9})) == "#Port<0.4294967298>");
    const std::string words = raw({0, 0, 0, 1, 0, 0, 0, 2});
    const std::string reference = term(raw({90, 0, 2}) + own + raw({0, 0, 0, 9}) + words);
    CHECK(reference == "#Ref<0.2.1>");
    CHECK(term(raw({114, 0, 2}) + own + raw({9}) + words) == reference);
    CHECK(term(raw({101}) + own + raw({0, 0, 0, 3, 9})) == "#Ref<0.3>");
    CHECK(term(raw({90, 0, 5}) + own + raw({0, 0, 0, 9}) + words + words + raw({0, 0, 0, 5})).starts_with("#Ref<0."));
    CHECK(term(raw({90, 0, 6}) + own + raw({0, 0, 0, 9}) + words + words + words).starts_with("not alone"));
    // of another node
    for (const std::string& foreign : {raw({88}) + other + id + raw({0, 0, 0, 9}), raw({103}) + other + id + raw({9}),
                                       raw({120}) + other + raw({0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 9}),
                                       raw({90, 0, 2}) + other + raw({0, 0, 0, 9}) + words})
        CHECK_FALSE(term(foreign).starts_with("not alone"));
    CHECK(term(raw({113}) + raw({119, 5}) + "lists" + raw({119, 3}) + "map" + raw({97, 2})) == "fun lists:map/2");
    // a fun says how long it is; what it closes over is passed over
    const std::string body = raw({1}) + std::string(16, 7) + raw({0, 0, 0, 2, 0, 0, 0, 1, 119, 1}) + "m" +
                             raw({97, 3, 97, 4, 88}) + own + id + raw({0, 0, 0, 9, 97, 5});
    CHECK(term(raw({112, 0, 0, 0, static_cast<int>(body.size() + 4)}) + body) == "#Fun<m.3.4>");
    const std::string large = raw({1}) + std::string(16, 7) + raw({0, 0, 0, 2, 0, 0, 0, 1, 119, 1}) + "m" +
                              raw({98, 0, 0, 1, 1, 98, 127, 255, 255, 255, 88}) + own + id + raw({0, 0, 0, 9, 97, 5});
    CHECK(term(raw({112, 0, 0, 0, static_cast<int>(large.size() + 4)}) + large) == "#Fun<m.257.2147483647>");
    // one of before R15 does not: it is the last thing that is read
    for (const std::string& creator : {raw({88}) + own + id + raw({0, 0, 0, 9}), raw({103}) + own + id + raw({9})})
        CHECK(printed(raw({131, 117, 0, 0, 0, 0}) + creator + raw({119, 1}) + "m" + raw({97, 3, 97, 4})) ==
              "#Fun<m.3.4>");
}

TEST_CASE("the external format cut anywhere is no whole term", "[external]") {
    const std::string whole =
        raw({131, 104, 3, 97, 1, 109, 0, 0, 0, 3}) + "abc" + raw({108, 0, 0, 0, 2, 97, 1, 119, 2}) + "ok" + raw({106});
    CHECK(test::SingleTerm(whole).complete());
    for (std::size_t n = 1; n < whole.size(); ++n) {
        INFO(n);
        CHECK_FALSE(test::SingleTerm(whole.substr(0, n)).complete());
    }
    CHECK_FALSE(test::SingleTerm(raw({131, 108, 0, 0, 0, 0, 106})).complete());  // a list of none is a nil
}

TEST_CASE("no form of the external format is whole without its last byte, or with one that it can't have",
          "[external]") {
    const std::string id = raw({0, 0, 0, 42, 0, 0, 0, 1}), creation = raw({0, 0, 0, 9}),
                      pid = raw({88}) + own + id + creation;
    const std::string fun =
        raw({1}) + std::string(16, 7) + raw({0, 0, 0, 2, 0, 0, 0, 0, 119, 1}) + "m" + raw({97, 3, 97, 4});
    const std::vector<std::string> forms{raw({97, 1}),
                                         raw({98, 0, 0, 1, 0}),
                                         raw({70, 64, 4, 0, 0, 0, 0, 0, 0}),
                                         raw({99}) + "2.50000000000000000000e+00\0\0\0\0\0"s,
                                         raw({110, 2, 0, 1, 1}),
                                         raw({111, 0, 0, 0, 2, 0, 0, 1}),
                                         raw({100, 0, 2}) + "ok",
                                         raw({115, 2}) + "ok",
                                         raw({118, 0, 2}) + "ok",
                                         raw({119, 2}) + "ok",
                                         raw({107, 0, 2, 1, 2}),
                                         raw({108, 0, 0, 0, 1, 97, 1, 106}),
                                         raw({104, 1, 97, 1}),
                                         raw({105, 0, 0, 0, 1, 97, 1}),
                                         raw({109, 0, 0, 0, 2, 0, 1}),
                                         raw({77, 0, 0, 0, 1, 3, 0xA0}),
                                         raw({116, 0, 0, 0, 1, 97, 1, 97, 2}),
                                         pid,
                                         raw({103}) + own + id + raw({9}),
                                         raw({89}) + own + raw({0, 0, 1, 2}) + creation,
                                         raw({102}) + own + raw({0, 0, 1, 2, 9}),
                                         raw({120}) + own + id + creation,
                                         raw({90, 0, 1}) + own + creation + raw({0, 0, 0, 1}),
                                         raw({114, 0, 1}) + own + raw({9, 0, 0, 0, 1}),
                                         raw({101}) + own + raw({0, 0, 0, 3, 9}),
                                         raw({113}) + raw({119, 1}) + "l" + raw({119, 1}) + "m" + raw({97, 2}),
                                         raw({117, 0, 0, 0, 0}) + pid + raw({119, 1}) + "m" + raw({97, 3, 97, 4}),
                                         raw({112, 0, 0, 0, static_cast<int>(fun.size() + 4)}) + fun};
    for (const std::string& form : forms) {
        INFO("tag " << static_cast<int>(static_cast<unsigned char>(form[0])));
        CHECK(test::SingleTerm(raw({131}) + form).complete());
        for (std::size_t n = 0; n < form.size(); ++n)
            CHECK_FALSE(test::SingleTerm(raw({131}) + form.substr(0, n)).complete());
    }
    const auto complete = [](const std::string& form) { return test::SingleTerm(raw({131}) + form).complete(); };
    CHECK_FALSE(complete(raw({117, 0, 0, 0, 0, 97}) + raw({119, 1}) + "m" +
                         raw({97, 3, 97, 4})));  // its creator is no pid, whatever stands behind it
    CHECK_FALSE(complete(raw({113}) + raw({97, 1}) + raw({119, 1}) + "m" + raw({97, 2})));  // its module is no atom
    CHECK_FALSE(
        complete(raw({113}) + raw({119, 1}) + "l" + raw({119, 1}) + "m" + raw({106})));  // its arity is no number
    CHECK_FALSE(complete(raw({88, 106}) + id + creation));                               // a node without a name
    CHECK_FALSE(complete(raw({88, 97, 1}) + id + creation));
    CHECK_FALSE(complete(raw({10})));
    CHECK_FALSE(test::SingleTerm("").complete());
    CHECK_FALSE(test::SingleTerm(raw({131})).complete());
    CHECK_FALSE(test::SingleTerm(raw({130, 97, 1})).complete());
    // Each element takes a byte at least.
    CHECK_FALSE(complete(raw({105, 0, 0, 0, 3, 106, 106})));
    CHECK(complete(raw({105, 0, 0, 0, 2, 106, 106})));
    CHECK_FALSE(complete(raw({116, 0, 0, 0, 2, 106, 106, 106})));
    CHECK(complete(raw({116, 0, 0, 0, 2, 106, 106, 106, 106})));
    CHECK_FALSE(complete(raw({108, 0, 0, 0, 2, 106, 106})));
    CHECK(complete(raw({108, 0, 0, 0, 2, 106, 106, 106})));
}

TEST_CASE("no more elements of one term are read than a bound", "[external]") {
    constexpr std::size_t most = external_term::Terms::max_elements;
    const auto complete = [](const std::string& form) { return test::SingleTerm(raw({131}) + form).complete(); };
    const auto of = [&](int tag, std::size_t n) {
        return complete(raw({tag, static_cast<int>(n >> 24), static_cast<int>(n >> 16 & 255),
                             static_cast<int>(n >> 8 & 255), static_cast<int>(n & 255)}) +
                        std::string(most + 10, 106));
    };
    CHECK(of(105, most));
    CHECK_FALSE(of(105, most + 1));
    CHECK(of(108, most / 2));
    CHECK_FALSE(of(108, most / 2 + 1));
    CHECK(of(116, most / 3));
    CHECK_FALSE(of(116, most / 3 + 1));
    const std::string string = raw({107, 255, 255}) + std::string(65535, 'x');
    CHECK(complete(raw({104, 1}) + string));
    CHECK_FALSE(complete(raw({104, 3}) + string + string + string));  // two elements a character
}

TEST_CASE("large numbers are decimal up to 4096 bytes, hexadecimal from there on", "[external]") {
    const auto digits = [](const std::string& little_endian, bool negative = false) {
        return external_term::integer_digits(
            {reinterpret_cast<const std::uint8_t*>(little_endian.data()), little_endian.size()}, negative);
    };
    CHECK(digits("") == "0");
    CHECK(digits(raw({0, 0}), true) == "0");
    CHECK(digits(raw({5, 0, 0})) == "5");
    CHECK(digits(raw({0, 202, 154, 59})) == "1000000000");
    CHECK(digits(raw({1, 202, 154, 59}), true) == "-1000000001");
    CHECK(digits(raw({255, 201, 154, 59})) == "999999999");
    CHECK(digits(raw({0, 0, 0, 0, 0, 0, 0, 0, 1})) == "18446744073709551616");
    CHECK(digits(raw({1, 0, 0, 0, 1})) == "4294967297");
    const std::string largest = digits(std::string(4096, '\xff'));
    CHECK(largest.size() == 9865);
    CHECK(largest.starts_with("1415461031044954789001553027744951601348"));
    CHECK(largest.ends_with("6280168269958077541122668104633712377855"));
    const std::string hex = digits(std::string(4097, '\x1a'), true);
    CHECK(hex.size() == 1 + 3 + 2 * 4097);
    CHECK(hex.starts_with("-16#1A1A1A"));
}

TEST_CASE("what stands before a mark stays when the rest is forgotten", "[external]") {
    external_term::Terms terms;
    bool complete = false;
    const auto decode = [&](const std::string& letters) {
        const std::string data = raw({131, 104, 1, 109, 0, 0, 0, 2}) + letters;
        return terms.decode({reinterpret_cast<const std::uint8_t*>(data.data()), data.size()}, {}, complete);
    };
    const auto letters_of = [&](const Element& tuple) {
        return terms.bytes(terms.element(tuple.id.number, 0).id.number);
    };
    const Element first = decode("ab");
    const auto mark = terms.mark();
    const Element second = decode("cd");
    CHECK(letters_of(second) == "cd");
    terms.forget_since(mark);
    CHECK(letters_of(first) == "ab");
    const Element third = decode("ef");
    CHECK(third.id == second.id);
    CHECK(letters_of(third) == "ef");
    const Element both[] = {first, third};
    const Element pair = terms.tuple(both);
    CHECK(terms.head(pair.id.number).kind == TermKind::tuple);
    CHECK(terms.head(pair.id.number).elements == 2);
    CHECK(terms.element(pair.id.number, 1).id == third.id);
    terms.clear();
    CHECK(terms.mark().objects + terms.mark().elements + terms.mark().texts == 0);
}

TEST_CASE("pids, ports and references are this node's where they name it, and another's elsewhere", "[external]") {
    const std::string id = raw({0, 0, 0, 42, 0, 0, 0, 1}), creation = raw({0, 0, 0, 9});
    const auto head = [](const std::string& data) {
        test::SingleTerm alone(raw({131}) + data, "n@h");
        REQUIRE(alone.complete());
        REQUIRE(alone.term().kind == ElementKind::object);
        return alone.head(alone.term().id);
    };
    const ObjectHead pid = head(raw({88}) + other + id + creation), port = head(raw({120}) + other + id + creation);
    CHECK(pid.kind == TermKind::external_pid);
    CHECK(pid.pid == Pid{0, 42, 1});
    CHECK(port.kind == TermKind::external_port);
    CHECK(port.port.number == (42ull << 32 | 1));
    const ObjectHead reference = head(raw({90, 0, 3}) + other + creation + raw({0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3})),
                     local = head(raw({90, 0, 1}) + own + creation + raw({0, 0, 0, 7}));
    CHECK(reference.kind == TermKind::external_reference);
    CHECK(reference.numbers == 3);
    CHECK((reference.words[0] == 1 && reference.words[1] == 2 && reference.words[2] == 3));
    CHECK(local.kind == TermKind::reference);
    CHECK(local.numbers == 1);
    CHECK(local.words[0] == 7);
    const ObjectHead bits = head(raw({77, 0, 0, 0, 2, 3, 1, 0xA0})), none = head(raw({77, 0, 0, 0, 0, 3})),
                     whole = head(raw({77, 0, 0, 0, 2, 8, 1, 2}));
    CHECK((bits.size == 1 && bits.extra_bits == 3));
    CHECK((none.size == 0 && none.extra_bits == 0));
    CHECK((whole.size == 2 && whole.extra_bits == 0));
}

TEST_CASE("references of a VM: ordinary, magic, and of another node", "[otp][references]") {
    using namespace otp;
    constexpr std::uint64_t M = test::MadeImage::memory_at;
    test::MadeImage made;
    made.memory.resize(0x1000);
    const auto header_of = [&](Tag tag, std::uint64_t arity) {
        for (unsigned subtag = 0; subtag < 16; ++subtag)
            if (made.vm.layout.tags[subtag] == tag) return arity << 6 | subtag << 2;
        return std::uint64_t{0};
    };
    const auto put32 = [&](std::uint64_t at, std::initializer_list<std::uint32_t> words) {
        for (const std::uint32_t word : words) made.memory.put<std::uint32_t>(at, word), at += 4;
    };
    const std::uint64_t local = header_of(Tag::reference, 2), ordered = header_of(Tag::reference, 3),
                        foreign = header_of(Tag::external_reference, 5);
    put32(0x08, {0xffffffff, 11, 12, 13});          // three numbers
    put32(0x48, {0xffffffff, 21, 22, 23, 24, 25});  // five: of a process alias
    made.memory.word(0x88, M + 0x200);              // a magic one
    put32(0x200 + made.at().magic_reference, {31, 32, 33});
    made.memory.word(0xC8, M + 0x300);  // another node's: its entry, next, and how many
    put32(0xC0 + 24, {3, 41, 42, 43});
    made.memory.word(0x108, M + 0x300);
    put32(0x100 + 24, {77, 51, 52, 53, 54, 55});  // more than it has room for
    Reader& reader = made.start();
    const auto numbers = [&](std::uint64_t at, Word header) {
        const ReferenceNumbers found = reference_numbers(reader.memory, made.vm.layout, M + at, header);
        return std::vector<std::uint32_t>(found.words.begin(), found.words.begin() + found.count);
    };
    using Words = std::vector<std::uint32_t>;
    CHECK(numbers(0, local) == Words{11, 12, 13});
    CHECK(numbers(0x40, ordered) == Words{21, 22, 23, 24, 25});
    CHECK(numbers(0x80, local) == Words{31, 32, 33});
    CHECK(numbers(0xC0, foreign) == Words{41, 42, 43});
    CHECK(reference_numbers(reader.memory, made.vm.layout, M + 0xC0, foreign).node == M + 0x300);
    CHECK(numbers(0x100, foreign) == Words{51, 52, 53, 54, 55});
    CHECK(numbers(0x100, header_of(Tag::external_reference, 4)) == Words{51, 52, 53});
    CHECK(numbers(0x700000, local).empty());
}

TEST_CASE("each kind of line of a dump's heap is the term that it says", "[crashdump][terms]") {
    LoadPlan plan = test::everything();
    plan.terms = true;
    // Terms are read out of the text later, so that it has to last.
    const std::string text = test::header() + test::process("<0.7.0>") +
                             "=proc_dictionary:<0.7.0>\nH1000\n"
                             "=proc_heap:<0.7.0>\n"
                             "1000:t9:H1100,H1200,H1300,H1400,H1500,H1600,H1700,I-7,N\n"
                             "1100:F1A:1.50000000000000000000e+00\n"
                             "1200:lI1|H1210\n1210:lI2|I3\n"
                             "1300:B123456789012345678901234567890\n"
                             "1400:Yh3:YWJj\n"
                             "1500:Mf2:H1580:I1,A1:x\n1580:t2:A1:a,A1:b\n"
                             "1600:Yh2:AAE=\n"
                             "1700:t2:P<0.1.0>,p<0.5>\n"
                             "=end\n";
    const auto artifact = test::load(text, plan);
    REQUIRE(artifact);
    const ProcId id = artifact->snapshot().find({0, 7, 0});
    REQUIRE(id != ProcId::none);
    auto terms = artifact->terms(id);
    REQUIRE(terms);
    REQUIRE((*terms)->graph().roots().size() == 1);
    present::PrintOptions whole;
    whole.max_bytes = 0;
    CHECK(
        present::term_text(**terms, (*terms)->root(0), whole) ==
        "{1.5,[1,2|3],123456789012345678901234567890,<<\"abc\">>,#{a => 1,b => x},<<0,1>>,{<0.1.0>,#Port<0.5>},-7,[]}");
}
