// SPDX-License-Identifier: Apache-2.0
// The copy of a dump without its values, line by line: what becomes of each kind of value, and that all else stays.
#include "formats/crashdump/dump_redaction.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "support/dump_text.hpp"

using namespace beamheap;
using namespace beamheap::test;

namespace {

// 1000 is 8 + 16 * 62: a filler begins with "8G", an ASCII character becomes '8', another one the ideograph 1000 places
// on.
constexpr std::uint64_t hash = 1000;

struct Copied {
    std::string text;
    crashdump::RedactionReport report;
};

crashdump::KeyRule rule(std::string_view key) {
    return key == "password" ? crashdump::KeyRule::all
           : key == "pin"    ? crashdump::KeyRule::numbers
                             : crashdump::KeyRule::none;
}
bool common(std::string_view name) { return name == "undefined" || name == "shop"; }

/// The copy of `text`, read as a file or (piece != 0) as a pipe. Free text becomes "T" and its length.
Copied copied(const std::string& text, std::size_t piece = 0, std::vector<std::string> secrets = {"TopSecret", "abc"}) {
    crashdump::RedactionRules rules;
    rules.text = [](std::string_view free) { return "T" + std::to_string(free.size()); };
    rules.hash = [](std::string_view) { return hash; };
    rules.secrets = std::move(secrets);
    rules.term = [](std::string_view term) { return "t" + std::to_string(term.size()); };
    rules.secret_parts = [](std::string_view name) {
        std::vector<std::pair<std::size_t, std::size_t>> parts;
        for (std::size_t at = name.find("ghp_"); at != name.npos; at = name.find("ghp_", at + 1))
            parts.emplace_back(at, at + 8);
        return parts;
    };
    Copied copy;
    std::unique_ptr<bytes::Source> source;
    if (piece != 0) source = std::make_unique<Trickle>(text, piece);
    else source = std::make_unique<test::TextFile>(text);
    crashdump::KeyedValues keyed(rule, common);
    for (int reading = 0; reading < 3; ++reading)
        REQUIRE(crashdump::learn_keyed_values(std::make_unique<test::TextFile>(text), keyed));
    auto report = crashdump::redact_dump(std::move(source), rules, keyed, [&](std::string_view part) {
        copy.text += part;
        return ok();
    });
    REQUIRE(report);
    copy.report = *report;
    return copy;
}

const std::string fields =
    "System version: Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp:2:2]\nTaints: \nAtoms: 8530\n";
const std::string start = "=erl_crash_dump:0.5\nSat Nov 21 00:00:00 2026\nSlogan: test\n" + fields;
const std::string start_copied = "=erl_crash_dump:0.5\nT38" + fields;

/// What is left of a body of one section, as a file and in pieces of all small sizes.
std::string left_of(const std::string& tag, const std::string& body, crashdump::RedactionReport* report = nullptr) {
    const std::string text = start + tag + "\n" + body + "=end\n";
    const Copied whole = copied(text);
    for (const std::size_t piece : {1, 7, 61}) CHECK(copied(text, piece).text == whole.text);
    const std::string before = start_copied + tag + "\n";
    REQUIRE(whole.text.starts_with(before));
    REQUIRE(whole.text.ends_with("=end\n"));
    CHECK(whole.report.complete);
    if (report != nullptr) *report = whole.report;
    return whole.text.substr(before.size(), whole.text.size() - before.size() - 5);
}
std::string heap(const std::string& lines, crashdump::RedactionReport* report = nullptr) {
    return left_of("=proc_heap:<0.1.0>", lines, report);
}

}  // namespace

TEST_CASE("a copy has the header's fields, and its slogan as text", "[redact][dump]") {
    CHECK(copied(start + "=end\n").text == start_copied + "=end\n");
    CHECK(copied(start + "=end\n").report.complete);
    CHECK_FALSE(copied(start).report.complete);
    CHECK_FALSE(copied(start + "=abort:0\n").report.complete);
    CHECK_FALSE(crashdump::redact_dump(std::move(*bytes::memory_source("=proc:<0.1.0>\n")), {},
                                       crashdump::KeyedValues(rule, common), [](std::string_view) { return ok(); }));
}

TEST_CASE("characters are those at the heads of lists", "[redact][dump]") {
    crashdump::RedactionReport report;
    CHECK(heap("100:lI97|H110\n110:lI8364|N\n", &report) == "100:lI56|H110\n110:lI20968|N\n");
    CHECK(report.characters == 2);
    // the first and the last that are printed, and their neighbours
    CHECK(heap("1:lI8|N\n2:lI9|N\n3:lI13|N\n4:lI14|N\n", &report) == "1:lI8|N\n2:lI56|N\n3:lI56|N\n4:lI14|N\n");
    CHECK(heap("1:lI31|N\n2:lI32|N\n3:lI126|N\n4:lI127|N\n") == "1:lI31|N\n2:lI56|N\n3:lI56|N\n4:lI127|N\n");
    CHECK(heap("1:lI159|N\n2:lI160|N\n3:lI1114111|N\n4:lI1114112|N\n") ==
          "1:lI159|N\n2:lI20968|N\n3:lI20968|N\n4:lI1114112|N\n");
    CHECK(heap("1:lI-97|N\n2:t2:I97,I98\n3:lN|I97\n", &report) == "1:lI-97|N\n2:t2:I97,I98\n3:lN|I97\n");
    CHECK(report.characters == 0);
    // the cells of a large map are no list: their heads are keys
    CHECK(heap("100:Mh2:2:H110,H120\n110:lI97|I1\n120:lI98|I2\n130:lI99|N\n") ==
          "100:Mh2:2:H110,H120\n110:lI97|I1\n120:lI98|I2\n130:lI56|N\n");
    CHECK(heap("100:Mn1:H110\n110:lI97|I1\n") == "100:Mn1:H110\n110:lI97|I1\n");
    CHECK(heap("100:Mf1:H110:H110\n110:lI97|I1\n") == "100:Mf1:H110:H110\n110:lI56|I1\n");
}

TEST_CASE("large numbers become others of as many digits", "[redact][dump]") {
    crashdump::RedactionReport report;
    CHECK(heap("1:t2:I4294967295,I4294967296\n", &report) == "1:t2:I4294967295,I1001000100\n");
    CHECK(report.integers == 1);
    CHECK(heap("1:t2:I-123456789,I-12345678\n", &report) == "1:t2:I-100100010,I-12345678\n");
    CHECK(report.integers == 1);
    // two digits stay, and as many words: 18446744073709551616 is the first of two words
    CHECK(heap("1:B12345678901234567\n", &report) == "1:B12000100010001000\n");
    CHECK(report.integers == 1);
    CHECK(heap("1:B-12345678901234567\n") == "1:B-12000100010001000\n");
    CHECK(heap("1:B18446744073709551616\n") == "1:B18999999999999999999\n");
}

TEST_CASE("binaries keep their sizes, and what is equal stays equal", "[redact][dump]") {
    crashdump::RedactionReport report;
    CHECK(heap("1:Yh5:YWJjZGU=\n2:Yh1:YQ==\n3:Yh0:\n4:Yc100:0:5\n", &report) ==
          "1:Yh5:OEd4eHg=\n2:Yh1:OA==\n3:Yh0:\n4:Yc100:0:5\n");
    CHECK(report.binaries == 2);
    CHECK(left_of("=binary:100", "5:YWJjZGU=\n", &report) == "5:OEd4eHg=\n");
    CHECK(report.binaries == 1);
    // longer than what is written at once
    const std::string large = left_of("=binary:100", "C350:" + std::string(66'668, 'Y') + "\n");
    CHECK(large.size() == 5 + 66'668 + 1);
    CHECK(large.starts_with("C350:OEd4eHh4eHh4"));
    CHECK(large.find('Y') == std::string::npos);
    // an integer of one byte and a binary in the external format
    CHECK(heap("1:E8:g20AAAACYWI=\n", &report) == "1:E8:g20AAAACOEc=\n");
    CHECK(report.binaries == 1);
    CHECK(heap("1:E4:AAAAAA==\n") == "1:E4:OEd4eA==\n");  // nothing that can be taken apart
}

TEST_CASE("old releases write bytes as hexadecimal digits", "[redact][dump]") {
    const std::string old = "=erl_crash_dump:0.4\nSat Nov 21 00:00:00 2026\nSlogan: test\n" + fields;
    CHECK(copied(old + "=proc_heap:<0.1.0>\n1:Yh3:616263\n=end\n").text ==
          "=erl_crash_dump:0.4\nT38" + fields + "=proc_heap:<0.1.0>\n1:Yh3:384778\n=end\n");
}

TEST_CASE("names stay, but for secrets, wherever they stand and how often", "[redact][dump]") {
    crashdump::RedactionReport report;
    CHECK(heap("1:t2:A9:TopSecret,AE:my_TopSecret_1\n", &report) == "1:t2:A9:xxxxxxxxx,AE:my_xxxxxxxxx_1\n");
    CHECK(report.atoms == 2);
    CHECK(heap("1:t1:A15:TopSecret_x_TopSecret\n") == "1:t1:A15:xxxxxxxxx_x_xxxxxxxxx\n");
    // a short one is hidden where it is the whole name
    CHECK(heap("1:t2:A3:abc,A4:abcd\n") == "1:t2:A3:xxx,A4:abcd\n");
    CHECK(left_of("=atoms", "TopSecret\nok\nabc\n", &report) == "xxxxxxxxx\nok\nxxx\n");
    CHECK(report.atoms == 2);
    CHECK(left_of("=proc_messages:<0.1.0>", "A9:TopSecret:N\n") == "A9:xxxxxxxxx:N\n");
    CHECK(left_of("=proc_dictionary:<0.1.0>", "H100\n") == "H100\n");
    CHECK(left_of("=proc_stack:<0.1.0>", "y0:A9:TopSecret\n0x1234:SReturn addr 0x1 (m:f/1 + 1)\n") ==
          "y0:A9:xxxxxxxxx\n0x1234:SReturn addr 0x1 (m:f/1 + 1)\n");
}

TEST_CASE("what stands beside a secret key is hidden, wherever the key stands", "[redact][dump]") {
    CHECK(heap("1:t2:A8:password,I47\n2:t3:A3:pin,I4711,I471\n") == "1:t2:A8:password,I10\n2:t3:A3:pin,I1001,I471\n");
    CHECK(heap("1:t2:A4:port,I4711\n2:t2:I4711,A8:password\n") == "1:t2:A4:port,I4711\n2:t2:I4711,A8:password\n");
    // [pin,4711] and [pin|4711]; the pair of a large map, the values of small ones, whose keys many share
    CHECK(heap("1:lI4711|N\n2:lA3:pin|H1\n3:lA3:pin|I-4711\n") == "1:lI20968|N\n2:lA3:pin|H1\n3:lA3:pin|I-1001\n");
    CHECK(heap("1:lI4711555|N\n2:lA3:pin|H1\n") == "1:lI1001000|N\n2:lA3:pin|H1\n");
    CHECK(heap("1:Mh1:1:H2\n2:lA3:pin|I4711\n") == "1:Mh1:1:H2\n2:lA3:pin|I1001\n");
    CHECK(heap("1:Mf2:H9:I4711,I4712\n9:t2:A3:pin,A4:port\n") == "1:Mf2:H9:I1001,I4712\n9:t2:A3:pin,A4:port\n");
    // keys that are binaries: "pin"
    CHECK(heap("1:t2:H8,I4711\n8:Yh3:cGlu\n2:Mf1:H9:I4711\n9:t1:H8\n") ==
          "1:t2:H8,I1001\n8:Yh3:OEd4\n2:Mf1:H9:I1001\n9:t1:H8\n");
    CHECK(left_of("=persistent_terms", "A8:password|I47\n") == "A8:password|I10\n");
    CHECK(left_of("=literals", "1:t2:A8:password,I47\n") == "1:t2:A8:password,I10\n");
    // an atom is another one everywhere; those that are common stay, and keys
    crashdump::RedactionReport report;
    CHECK(heap("1:t3:A8:password,A7:hunter2,A9:undefined\n2:t3:A7:hunter2,A4:shop,A3:pin\n3:t2:A8:password,A4:shop\n",
               &report) ==
          "1:t3:A8:password,A7:8Gxxxxx,A9:undefined\n2:t3:A7:8Gxxxxx,A4:shop,A3:pin\n3:t2:A8:password,A4:shop\n");
    CHECK(report.atoms == 2);
    CHECK(copied(start + "=proc_heap:<0.1.0>\n1:Mf1:H9:A7:Hunter2\n=literals\n9:t1:H8\n8:Yh8:cGFzc3dvcmQ=\n=atoms\n'"
                         "Hunter2'\n=end\n")
              .text == start_copied +
                           "=proc_heap:<0.1.0>\n1:Mf1:H9:A7:8Gxxxxx\n=literals\n9:t1:H8\n8:Yh8:OEd4eHh4eHg=\n=atoms\n'"
                           "8Gxxxxx'\n=end\n");
    CHECK(heap("1:t3:A9:pass,word,I1,I2\n") == "1:t3:A9:pass,word,I1,I2\n");
}

TEST_CASE("tokens in names become others of the same length", "[redact][dump]") {
    CHECK(heap("1:t1:AC:ghp_abcd_end\n") == "1:t1:AC:8Gxxxxxx_end\n");
    CHECK(left_of("=atoms", "x_ghp_1234\n") == "x_8Gxxxxxx\n");
    CHECK(copied(start + "=mod:ghp_abcd\nCurrent size: 1\n=end\n").text ==
          start_copied + "=mod:8Gxxxxxx\nCurrent size: 1\n=end\n");
}

TEST_CASE("free text goes through the rules, line by line; other sections stay", "[redact][dump]") {
    CHECK(left_of("=proc:<0.1.0>", "State: Waiting\nName: a\n") == "T14\nT7\n");
    CHECK(left_of("=timer:<0.1.0>", "Message: {x}\n") == "Message: t3\n");
    CHECK(left_of("=proc:<0.1.0>", "Process Label: \"x\"\n") == "Process Label: t3\n");
    CHECK(left_of("=port:#Port<0.1>", "Slot: 1\n") == "T7\n");
    CHECK(left_of("=memory\ntotal: 1\n=no_such_section", "abc\n") == "T3\n");
    CHECK(left_of("=memory", "total: 1\nTopSecret: 2\n") == "total: 1\nxxxxxxxxx: 2\n");
    CHECK(left_of("=ets:<0.1.0>", "Slot: 1\nTable: 2\nName: ghp_abcd\n") == "Slot: 1\nTable: 2\nName: 8Gxxxxxx\n");
}

TEST_CASE("a line that can't be read is left out, and counted", "[redact][dump]") {
    crashdump::RedactionReport report;
    CHECK(heap("1:lI97|N\n2:?what\n3:lI98|N\n", &report) == "1:lI56|N\n3:lI56|N\n");
    CHECK(report.lines_left_out == 1);
    const Copied torn = copied(start + "=proc_heap:<0.1.0>\n1:lI97|N\n2:Yh5:YWJ");
    CHECK(torn.text == start_copied + "=proc_heap:<0.1.0>\n1:lI56|N\n");
    CHECK_FALSE(torn.report.complete);
    CHECK(torn.report.lines_left_out == 1);
    CHECK(copied(start + "=binary:100\n5:YWJ").report.lines_left_out == 1);
}
