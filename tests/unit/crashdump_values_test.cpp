// SPDX-License-Identifier: Apache-2.0
// Values as dumps print them: each is read where it is one from its first letter to its last, and left alone where it
// is none.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/crashdump/digits.hpp"
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

TEST_CASE("hexadecimal numbers of any length are read to their last digit", "[crashdump][values]") {
    constexpr std::string_view small = "0123456789abcdef", large = "0123456789ABCDEF";
    for (std::size_t length = 1; length <= 16; ++length)
        for (std::size_t turn = 0; turn < 3; ++turn) {
            std::string digits;
            std::uint64_t value = 0;
            for (std::size_t i = 0; i < length; ++i) {
                const std::size_t digit = (i * 7 + length * 5 + 11) % 16;
                digits += turn == 0 || (turn == 2 && i % 3 == 0) ? small[digit] : large[digit];
                value = value << 4 | digit;
            }
            INFO(digits);
            CHECK(parse_hex(digits) == value);
            for (std::size_t i = 0; i < length; ++i)
                for (const char other : "/:@G`g \x10\xC1"sv) {
                    std::string damaged = digits;
                    damaged[i] = other;
                    CHECK_FALSE(parse_hex(damaged));
                }
        }
}

TEST_CASE("short numbers are read at once, with what ends them", "[crashdump][values]") {
    for (std::uint64_t number : {0ull, 7ull, 10ull, 99ull, 256ull, 1000ull, 46'422ull, 123'456ull, 9'999'999ull})
        for (const char end : "\n\r /:x\x00\x80\xFF"sv) {
            std::string text = std::to_string(number);
            const auto digits = static_cast<unsigned>(text.size());
            (text += end) += "12345678";
            INFO(text);
            const ShortNumber read = read_short_number(text.data());
            CHECK(read.digits == digits);
            CHECK(read.value == number);
        }
    CHECK(read_short_number("x1234567").digits == 0);
    CHECK(read_short_number("12345678").digits == 7);
    CHECK(read_short_number("12345678").value == 1'234'567);
    CHECK(read_short_number("0000017\n").value == 17);
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
