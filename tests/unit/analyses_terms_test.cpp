// SPDX-License-Identifier: Apache-2.0
// Terms that stand by themselves: read from what io_lib prints, copied, looked into, and printed again.
#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <string>

#include "erlang/owned_term.hpp"
#include "erlang/term_reader.hpp"
#include "present/term_printer.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::string again(const std::string& text) {
    const auto term = parse_term(text);
    return present::term_text(*term, term->term(), {.max_bytes = 0});
}

/// A random term as io_lib:write prints it.
rc::Gen<std::string> printed_term(int depth) {
    const auto leaf = rc::gen::element<std::string>("ok", "'odd name'", "42", "-7", "[]", "<0.123.0>", "#Port<0.5>",
                                                    "<<\"bin\">>", "\"text\"", "3.5", "123456789012345678901234567890",
                                                    "'Elixir.My.App'", "{}", "<<>>", "fun lists:map/2");
    if (depth == 0) return leaf;
    return rc::gen::exec([depth, leaf] {
        const int kind = *rc::gen::inRange(0, 4);
        if (kind == 0) return *leaf;
        const auto parts = *rc::gen::container<std::vector<std::string>>(*rc::gen::inRange<std::size_t>(1, 4),
                                                                         printed_term(depth - 1));
        std::string text;
        for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
        if (kind == 1) return "{" + text + "}";
        if (kind == 2) return "[a," + text + "]";
        return "#{key => " + parts[0] + "}";
    });
}

}  // namespace

TEST_CASE("printed terms are read back as they were", "[terms]") {
    for (const char* text : {"{ok,[1,2,3]}", "#{a => 1,b => {x}}", "[a|b]", "[[]|a]", "[[x]|a]",
                             "{'EXIT',<0.9.0>,{shutdown,[]}}", "\"a\\\"b\\n\"", "<<1,2,255>>",
                             "[{file,\"init.erl\"},{line,1098}]", "-1.5e10", "{badmatch,{error,duplicate_name}}"})
        CHECK(again(text) == text);
    CHECK(rc::check("a random term", [] {
        const std::string text = *printed_term(4);
        RC_ASSERT(again(text) == text);
    }));
}

TEST_CASE("a number ends where its text does, and where it is no number any more", "[terms]") {
    const auto first = [](std::string_view text) {
        const auto term = parse_term(text);
        return present::term_text(*term, term->term(), {.max_bytes = 0});
    };
    const std::string_view digits = "-12.5e+307";
    CHECK(first(digits) == "-1.25e308");
    CHECK(first(digits.substr(0, 9)) == "-1.25e31");  // a view that ends before its text does
    CHECK(first(digits.substr(0, 8)) == "-1.25e4");
    CHECK(first(digits.substr(0, 5)) == "-12.5");
    CHECK(first(digits.substr(0, 3)) == "-12");
    CHECK(first("1.5-2") == "1.5");  // a sign belongs to an exponent alone
    CHECK(first("[1,2.0,3]") == "[1,2.0,3]");
    CHECK(first("{7.25,8}") == "{7.25,8}");
    CHECK(first("9223372036854775807") == "9223372036854775807");
    CHECK(first("[9223372036854775808,-99999999999999999999,1]") == "[9223372036854775808,-99999999999999999999,1]");
    CHECK(first("-0.5") == "-0.5");
    CHECK(first("2.5E3") == "2.5e3");
}

TEST_CASE("text that is cut, or is no term, ends somewhere", "[terms]") {
    const std::string whole =
        "{{badmatch,[[7,2,2],#{a => <<\"x\">>}]},[{split,map,3,[{_},{_}]},#Fun<a.1.2>,\"str\",'at om'|...]}";
    for (std::size_t n = 0; n <= whole.size(); ++n) {
        const auto term = parse_term(std::string_view(whole).substr(0, n));
        if (n < whole.size()) CHECK(term->cut());
        CHECK(present::term_text(*term, term->term()).size() < 1000);
    }
    for (const char* text : {"", ")", "}}}}", "{a b c}", "#{a,b}", "#{=>}", "<<,>>", "<0.1", "#Port<", "[|]",
                             "Failed: {x}", "'open", "\"open", "#Ref<x>"})
        CHECK(present::term_text(*parse_term(text), parse_term(text)->term()).size() < 100);
    for (const char* text : {"?", "#{a,b}", "#{a => 1,b}", "<<1,...", "{a"}) {
        INFO(text);
        CHECK(parse_term(text)->cut());
    }
    for (const char* text : {"{}", "#{a => 1}", "<<1>>", "[a|b]"}) CHECK_FALSE(parse_term(text)->cut());
    CHECK(parse_term(std::string(100'000, '{'))->cut());
    CHECK(parse_term(std::string(100'000, '['))->cut());
    CHECK(rc::check("random text", [](const std::string& text) { RC_ASSERT(again(text).size() < 10'000); }));
}

TEST_CASE("a term is looked into as a pattern does", "[terms]") {
    const auto term = parse_term(
        "{report,#{label => {supervisor,start_error},report => [{supervisor,{local,kernel_sup}},{reason,{shutdown,x}},"
        "{offender,[{id,net_sup},{text,[\"a\",[98|<<\"c\">>]]}]}]}}");
    const TermReader terms(*term);
    const auto pair = terms.tagged(term->term(), "report", 2);
    REQUIRE(pair.size() == 2);
    CHECK(terms.tagged(term->term(), "report", 3).empty());
    CHECK(terms.tagged(term->term(), "other", 2).empty());
    const Element report = terms.get(pair[1], "report");
    CHECK(TermReader::is(terms.get(report, {"offender", "id"}), "net_sup"));
    CHECK(terms.text(terms.get(report, {"offender", "text"})) == "abc");
    CHECK(terms.get(report, "nothing").kind == ElementKind::unknown);
    CHECK_FALSE(terms.text(terms.get(report, "reason")));
    CHECK(terms.list(report).size() == 3);
}

TEST_CASE("a copy says the same, and no more than its budget", "[terms]") {
    const std::string text = "{a,[1,2,#{b => {c,<<\"bytes\">>}}],\"text\",-3.5}";
    const auto term = parse_term(text);
    const auto copy = copy_term(*term, term->term());
    CHECK_FALSE(copy->cut());
    CHECK(present::term_text(*copy, copy->term()) == text);
    const auto cut = copy_term(*term, term->term(), {.objects = 3, .bytes = 2});
    CHECK(cut->cut());
    CHECK(present::term_text(*cut, cut->term()).starts_with("{a,[1"));
}

TEST_CASE("terms are read to a depth of 64, and what is deeper is left out", "[terms]") {
    const auto nested = [](std::size_t levels) {
        return parse_term(std::string(levels, '{') + "x" + std::string(levels, '}'));
    };
    CHECK_FALSE(nested(64)->cut());
    CHECK(nested(65)->cut());
    CHECK(nested(100'000)->cut());
}
