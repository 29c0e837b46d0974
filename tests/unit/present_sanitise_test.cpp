// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "present/sanitise.hpp"

#ifdef BEAMHEAP_UTF8PROC
#include <utf8proc.h>
#endif

using namespace beamheap::present;

namespace {

std::string text(std::string_view raw) { return safe_text(raw); }
std::string json(std::string_view raw) {
    std::string out;
    append_json(raw, out);
    return out;
}
std::string csv(std::string_view raw) {
    std::string out;
    append_csv(raw, out);
    return out;
}
std::string markdown(std::string_view raw) {
    std::string out;
    append_markdown(raw, out);
    return out;
}

// What no output may hold: control characters, invalid UTF-8, characters that reorder or hide text.
bool harmless(std::string_view shown) {
    for (std::size_t i = 0; i < shown.size();) {
        char32_t c = 0;
        const std::size_t length = decode_utf8(shown.substr(i, 4), c);
        if (length == 0 || c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0)) return false;
        if ((c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069)) return false;
        i += length;
    }
    return true;
}

}  // namespace

TEST_CASE("sanitised text keeps what is harmless and escapes the rest", "[present]") {
    CHECK(text("lager_event <0.89.0>") == "lager_event <0.89.0>");
    CHECK(text("Größe 日本 🎉") == "Größe 日本 🎉");
    CHECK(text("a\x1b[31mred") == "a\\x1b[31mred");
    CHECK(text("a\nb\tc\rd") == "a\\nb\\tc\\rd");
    CHECK(text(std::string_view("nul\0end", 7)) == "nul\\x00end");
    CHECK(text("del\x7f") == "del\\x7f");
    CHECK(text("csi \xc2\x9b"
               "2J") == "csi \\x{9b}2J");                   // C1 as a character
    CHECK(text("latin1 \xe5\xe4") == "latin1 \\xe5\\xe4");  // not UTF-8
    CHECK(text("overlong \xc0\xaf") == "overlong \\xc0\\xaf");
    CHECK(text("surrogate \xed\xa0\x80") == "surrogate \\xed\\xa0\\x80");
    CHECK(text("cut \xe6\x97") == "cut \\xe6\\x97");
    CHECK(text("evil\u202etxt.exe") == "evil\\x{202e}txt.exe");
    CHECK(text("iso\u2066late") == "iso\\x{2066}late");
    CHECK(text("zero\u200bwidth") == "zero\\x{200b}width");
    CHECK(text("tag\U000E0041") == "tag\\x{e0041}");
}

TEST_CASE("JSON texts read back as what was written", "[present]") {
    CHECK(json("say \"hi\" \\ there") == "say \\\"hi\\\" \\\\ there");
    CHECK(json("\x1b") == "\\u001b");
    CHECK(json("a\nb") == "a\\nb");
    CHECK(json("\u202e") == "\\u202e");
    CHECK(json("\U000E0041") == "\\udb40\\udc41");
    CHECK(json("\xff") == "\\\\xff");
    for (const std::string_view sample :
         {"plain", "q\"uote", "back\\slash", "nl\n tab\t", "\x01\x1f\x7f", "\u202e\u2066 日本"}) {
        const std::string quoted = '"' + json(sample) + '"';
        CHECK(nlohmann::json::parse(quoted).get<std::string>() == sample);
        CHECK(harmless(quoted));
    }
}

TEST_CASE("CSV cells are quoted and hold no formulas", "[present]") {
    CHECK(csv("plain") == "plain");
    CHECK(csv("a,b") == "\"a,b\"");
    CHECK(csv("say \"hi\"") == "\"say \"\"hi\"\"\"");
    CHECK(csv("=HYPERLINK(\"http://x\",\"y\")") == "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
    CHECK(csv("+1") == "'+1");
    CHECK(csv("-1") == "'-1");
    CHECK(csv("@sum") == "'@sum");
    CHECK(csv(" =1+1") == "\"' =1+1\"");
    CHECK(csv("two\nlines") == "two\\nlines");
    std::string tsv;
    append_tsv("=a\tb", tsv);
    CHECK(tsv == "'=a\\tb");
}

TEST_CASE("Markdown loses its meaning", "[present]") {
    CHECK(markdown("a|b") == "a\\|b");
    CHECK(markdown("`code`") == "\\`code\\`");
    CHECK(markdown("<img src=x>") == "&lt;img src=x>");
    CHECK(markdown("</b> <!-- <?x <") == "&lt;/b> &lt;!-- &lt;?x &lt;");
    CHECK(markdown("<0.79.0> waits, 1 < 2 -> 3") == "<0.79.0> waits, 1 < 2 -> 3");
    CHECK(markdown(" > quoted") == " &gt; quoted");
    CHECK(markdown("<0.1.0@host>") == "<0.1.0&#64;host>");
    CHECK(markdown("@someone") == "&#64;someone");
    CHECK(markdown("[x](http://y)") == "\\[x\\](http://y)");
    CHECK(markdown("a\nb") == "a\\\\nb");
}

TEST_CASE("whatever the bytes, what is shown is harmless", "[present]") {
    std::string all;
    for (int i = 0; i < 256; ++i)
        for (int j = 0; j < 256; j += 3) all += static_cast<char>(i), all += static_cast<char>(j);
    CHECK(harmless(text(all)));
    CHECK(harmless(json(all)));
    CHECK(harmless(csv(all)));
    CHECK(harmless(markdown(all)));
}

TEST_CASE("widths and clipping count columns, not bytes", "[present]") {
    CHECK(display_width("abc") == 3);
    CHECK(display_width("日本") == 4);
    CHECK(display_width("e\u0301") == 1);
    CHECK(display_width("\u0645\u0651") == 1);  // Arabic shadda
    CHECK(display_width("\u0915\u0941") == 1);  // a vowel sign below a Devanagari letter
    CHECK(display_width("\u0e01\u0e34") == 1);  // one above a Thai letter
    CHECK(display_width("\u231a") == 2);        // a watch, an emoji outside the emoji blocks
    CHECK(display_width("\u303f\u25a0") == 2);  // half a space among wide characters; a square
    CHECK(display_width("\U000e0fff") == 1);    // not assigned
    CHECK(clipped("abcdef", 6) == "abcdef");
    CHECK(clipped("abcdef", 4) == "abc…");
    CHECK(clipped("日本語", 4) == "日…");
    CHECK(clipped("abc", 0).empty());
}

#ifdef BEAMHEAP_UTF8PROC
TEST_CASE("each character is as wide as utf8proc has it in the same Unicode", "[present]") {
    if (!std::string_view(utf8proc_unicode_version()).starts_with("15.0")) return;
    std::string differ;
    for (utf8proc_int32_t c = 0x300; c < 0x110000; ++c) {
        if (c >= 0xD800 && c < 0xE000) continue;  // no characters, in no text
        std::array<utf8proc_uint8_t, 4> bytes{};
        const auto size = static_cast<std::size_t>(utf8proc_encode_char(c, bytes.data()));
        // What is no character yet is drawn as a box.
        const int columns = utf8proc_category(c) == UTF8PROC_CATEGORY_CN ? 1 : std::max(0, utf8proc_charwidth(c));
        if (display_width({reinterpret_cast<const char*>(bytes.data()), size}) != static_cast<std::size_t>(columns))
            differ += std::to_string(c) + " ";
    }
    CHECK(differ.empty());
}
#endif
