// SPDX-License-Identifier: Apache-2.0
// Values as dumps print them: each is read where it is one from its first letter to its last, and left alone where it
// is none.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "formats/crashdump/text_values.hpp"
#include "model/characters.hpp"

using namespace beamheap;
using namespace beamheap::crashdump;
using namespace std::string_view_literals;

TEST_CASE("numbers of dumps are whole and fit", "[crashdump][values]") {
    CHECK(parse_decimal("0") == Count(0));
    CHECK(parse_decimal("1234567890123456789") == Count(1234567890123456789ull));
    CHECK(parse_decimal("12345678901234567890") == Count(12345678901234567890ull));
    CHECK(parse_decimal("18446744073709551614") == Count(18446744073709551614ull));
    CHECK(parse_decimal("000000000000000000000000017") == Count(17));
    for (const auto none : {""sv, "-1"sv, "+1"sv, " 1"sv, "1 "sv, "1x"sv, "x"sv, "18446744073709551615"sv,
                            "18446744073709551616"sv, "99999999999999999999999"sv}) {
        INFO(none);
        CHECK_FALSE(parse_decimal(none).has());
    }
    CHECK(parse_hex("0") == 0u);
    CHECK(parse_hex("0x1F") == 0x1fu);
    CHECK(parse_hex("0X1f") == 0x1fu);
    CHECK(parse_hex("aAfF09") == 0xaaff09u);
    CHECK(parse_hex("ffffffffffffffff") == ~0ull);
    CHECK(parse_hex("0000000000000000012") == 0x12u);
    for (const auto none : {""sv, "0x"sv, "g"sv, "@"sv, "`"sv, "/"sv, ":"sv, "1 "sv, "10000000000000000"sv, "0x0x1"sv,
                            "0000000000000000001x"sv}) {
        INFO(none);
        CHECK_FALSE(parse_hex(none));
    }
}

TEST_CASE("pids and ports of dumps are read at whatever length they have", "[crashdump][values]") {
    CHECK(parse_pid("<0.1.2>") == Pid{0, 1, 2});
    CHECK(parse_pid("<12.0.0>") == Pid{12, 0, 0});
    CHECK(parse_pid("<999999999.999999999.999999999>") == Pid{999999999, 999999999, 999999999});
    CHECK(parse_pid("<4294967295.4294967294.4294967295>") == Pid{4294967295u, 4294967294u, 4294967295u});
    CHECK(parse_pid("<0.0000000000001.2>") == Pid{0, 1, 2});
    for (const auto none : {""sv,
                            "<"sv,
                            "<0"sv,
                            "<0."sv,
                            "<0.1"sv,
                            "<0.1."sv,
                            "<0.1.2"sv,
                            "<.1.2>"sv,
                            "<0..2>"sv,
                            "<0.1.>"sv,
                            "<0.1.2>>"sv,
                            " <0.1.2>"sv,
                            "x0.1.2>"sv,
                            "#0.1.2>"sv,
                            "<0.1.2.3>"sv,
                            "<0,1.2>"sv,
                            "<0.1,2>"sv,
                            "<0.x.2>"sv,
                            "<0.4294967296.0>"sv,
                            "<0.99999999999999999999.0>"sv,
                            "<0.4294967295.0>"sv,
                            "x0000000000.1.2>"sv}) {
        INFO(none);
        CHECK_FALSE(parse_pid(none));
        std::string_view rest = none;
        if (none != "<0.1.2>>"sv) CHECK_FALSE(take_pid(rest));
        if (none != "<0.1.2>>"sv) CHECK(rest == none);
    }
    std::string_view text = "<0.1.2>,<0.12345678901.3>,<0.4.5>";
    CHECK(take_pid(text) == Pid{0, 1, 2});
    CHECK(text == ",<0.12345678901.3>,<0.4.5>");
    CHECK_FALSE(take_pid(text));
    std::string_view port = "#Port<0.12>rest";
    CHECK(take_port(port)->number == 12);
    CHECK(port == "rest");
    std::string_view far = "#Port<7.18446744073709551614>";
    const auto other = take_port(far);
    REQUIRE(other);
    CHECK((other->node == 7 && other->number == 18446744073709551614ull));
    CHECK(far.empty());
    for (const auto none :
         {""sv, "#Port<>"sv, "#Port<0.>"sv, "#Port<.1>"sv, "#Port<0.1"sv, "#Port0.1>"sv, "Port<0.1>"sv, "#Port<0,1>"sv,
          "#Port<0.18446744073709551616>"sv, "#Port<4294967296.1>"sv}) {
        INFO(none);
        std::string_view rest = none;
        CHECK_FALSE(take_port(rest));
        CHECK(rest == none);
    }
}

TEST_CASE("atoms of dumps end where their quotes do, or before what needs some", "[crashdump][values]") {
    std::string storage;
    const auto taken = [&storage](std::string_view text) {
        const auto atom = take_atom(text, storage);
        return (atom ? std::string(*atom) : std::string("none")) + "|" + std::string(text);
    };
    CHECK(taken("shop:f") == "shop|:f");
    CHECK(taken("aZ09_@\xe4,") == "aZ09_@\xe4|,");
    CHECK(taken("az") == "az|");
    for (const char* other : {"`", "{", "[", "?", "/", ":", "-", " ", "^", "\x7f"})
        CHECK(taken("a" + std::string(other)) == "a|" + std::string(other));
    CHECK(taken("") == "none|");
    CHECK(taken(":f") == "none|:f");
    CHECK(taken("'a b':f") == "a b|:f");
    CHECK(taken("'':f") == "|:f");
    CHECK(taken("'it\\'s':f") == "it's|:f");
    CHECK(taken("'a\\\\b\\'c'") == "a\\b'c|");
    CHECK(taken("'\\n\\t\\r\\f\\b\\v\\q'") == "\n\t\r\f\b\vq|");
    CHECK(taken("'\\101\\7\\1018'") ==
          "A\x07"
          "A8|");
    CHECK(taken("'\\79\\8'") ==
          "\x07"
          "98|");
    CHECK(taken("'\\377'") == "\xff|");
    CHECK(taken("'open") == "none|'open");
    CHECK(taken("'open\\") == "none|'open\\");
    CHECK(taken("'open\\'") == "none|'open\\'");
    CHECK(taken("'\\10") == "none|'\\10");
}

TEST_CASE("functions of dumps are a module, a name and an arity", "[crashdump][values]") {
    FunctionStorage storage;
    const auto taken = [&storage](std::string_view text) {
        const auto function = take_function(text, storage);
        return function ? std::string(function->module) + " " + std::string(function->name) + " " +
                              std::to_string(function->arity) + "|" + std::string(text)
                        : "none|" + std::string(text);
    };
    CHECK(taken("shop:sell/2 + 16") == "shop sell 2| + 16");
    CHECK(taken("'Elixir.Shop':'sell!'/12") == "Elixir.Shop sell! 12|");
    CHECK(taken("'it\\'s':'a\\'b'/0") == "it's a'b 0|");
    for (const char* none : {"shop", "shop:", "shop:sell", "shop:sell/", "shop:sell/x", ":sell/2", "shop:/2",
                             "shop.sell/2", "shop:sell.2", "shop:sell/4294967296"})
        CHECK(taken(none) == std::string("none|") + none);
    std::string utf8 = "<";
    append_latin1(utf8, "a\x7f\x80\xe4\xff");
    CHECK(utf8 == "<a\x7f\xc2\x80\xc3\xa4\xc3\xbf");
}
