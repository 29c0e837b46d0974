// SPDX-License-Identifier: Apache-2.0
// Ends of lines by the grammar: atoms that hold LF, whole sections within an atom, cut text.
#include <catch2/catch.hpp>
#include <string>

#include "formats/crashdump/term_grammar.hpp"

using namespace beamheap::crashdump;
using namespace std::string_literals;

namespace {
constexpr TermStyle base64{true, false};
constexpr TermStyle hex{false, false};
constexpr TermStyle windows{true, true};

void check_line(TermSection section, TermStyle style, const std::string& line) {
    INFO(line);
    const std::string text = "junk\n" + line + "\nmore";
    CHECK(line_end(section, style, text, 5) == 5 + line.size() + 1);
    if (!style.crlf) CHECK(line_end(section, style, "junk\n" + line + "\r\nmore", 5) == 5 + line.size() + 2);
    for (std::size_t cut = 0; cut <= line.size(); ++cut)
        CHECK(line_end(section, style, std::string_view(text).substr(0, 5 + cut), 5) == line_incomplete);
}
}  // namespace

TEST_CASE("the end of every kind of heap line is found by its lengths") {
    for (const char* line : {"7FEDD8C3E990:lN|H7FEDD8C3DBB0",
                             "7FEDDC284028:lA1:a|A1:b",
                             "7FEDD8C3E138:t2:A1:v,I16",
                             "7FEDDC210188:t0:",
                             "7F00:lI-576460752303423488|I5",
                             "7F0F8164E410:F1A:3.30000000000000026645e+00",
                             "7FED:B-18446744073709551616",
                             "7F00:lA7:nl\natom|A9:a|,:\n=p:x",
                             "7FEDD8C3E7C0:YhA:REVGR0hJSktMTQ==",
                             "7FED:Yh0:",
                             "7FED:Yc55A64FF2B488:0:140",
                             "7F86:Ys56362E1DBBB0:2:C8",
                             "7FED:Mf0:H7FEDDC210188:",
                             "7FED:Mf2:H7FED:P<0.74.0>,AB:standard_io",
                             "7FED:Mh28:F:H7FEDD8C3DF80,H7FEDD8C3DF81",
                             "7FED:Mn3:H7FEDD8C3E738,N,N",
                             "7FED:P<8508.77.2>",
                             "7FED:p<8508.5>",
                             "7FED:E1:gw==",
                             "7FED:Rf7FEDD8C3DF80",
                             "7FED:lp<0.5>|P<0.1.0>",
                             "7FED:lI1|",
                             "7FED:t2:,I1"}) {
        check_line(TermSection::heap, base64, line);
        check_line(TermSection::literals, base64, line);
    }
    check_line(TermSection::heap, hex, "7FEDD8C3E7C0:Yh3:616263");
    check_line(TermSection::heap, hex, "7FEDD8C3E7C0:E2:836A");
    check_line(TermSection::heap, windows, "7F00:lA7:nl\r\natom|A2:\r\r\n");
}

TEST_CASE("the other sections' lines too") {
    check_line(TermSection::messages, base64, "H7FEDD8C3E990:N");
    check_line(TermSection::messages, base64, "A3:a\nb:H7FEDD8C3E990");
    check_line(TermSection::messages, base64, ":N");
    check_line(TermSection::messages, base64, "D0:E0::N");
    check_line(TermSection::messages, base64, "D5:A6:cda@vmA0:A7:sl\neperA6:secondA3:xyzEF:g2gDUgNSBG0AAAADYmlu:N");
    check_line(TermSection::messages, base64, "D0:E4:gwEBAQ==gwEB:N");
    check_line(TermSection::dictionary, base64, "H7FEDD8C3E9B0");
    check_line(TermSection::stack, base64, "y1:H7F0F81658D68");
    check_line(TermSection::stack, base64, "0x00007f0f81659158:A3:\n\n\n");
    check_line(TermSection::stack, base64, "0x00007f86cbf82640:SReturn addr 0x9200C30 (gen_server:'A99:x'/7 + 200)");
    check_line(TermSection::persistent_terms, base64, "AB:code_server|AB:interactive");
    check_line(TermSection::binary, base64, "5:aGVsbG8=");
}

TEST_CASE("what no writer prints is malformed, and no length makes the reader wait for gigabytes") {
    for (const char* line : {"7F00:x1|2\n", "7F00:lA3FD:abc\n", "7F00:lAFFFFFFFFFFFFFFFF0:abc\n", "=proc:<0.1.0>\n",
                             "\n", "7F00:Mx1:N\n", "7F00:F1001:1\n"})
        CHECK(line_end(TermSection::heap, base64, line, 0) == line_malformed);
}

TEST_CASE("a place behind LF starts a line unless an atom covers it") {
    const auto at = [](TermSection section, const std::string& before, bool whole) {
        return line_starts_after(section, base64, before, whole);
    };
    CHECK(at(TermSection::heap, "7F00:lN|N\n", true) == LineStart::yes);
    CHECK(at(TermSection::heap, "7F00:lN|A6:hello\n", true) == LineStart::no);
    CHECK(at(TermSection::heap, "7F00:lN|A5:hello\n", true) == LineStart::yes);
    // An atom that itself looks like the head of an atom: only the walk from a certain place can tell.
    CHECK(at(TermSection::heap, "7F00:lN|A5:A20:.\n", true) == LineStart::yes);
    CHECK(at(TermSection::heap, "7F00:lN|A5:A20:.\n", false) == LineStart::need_more);
    std::string far;
    for (int i = 0; i < 300; ++i) far += "7F00:lN|N\n";
    CHECK(at(TermSection::heap, far + "7F00:lN|A5:A20:.\n", false) == LineStart::yes);
    CHECK(at(TermSection::heap, far + "7F00:lN|A20:.\n", false) == LineStart::no);
    CHECK(at(TermSection::heap, far + "7F00:lN|A20:.\n7F00:lN|N\n", false) == LineStart::no);
    CHECK(at(TermSection::heap, far + "7F00:lN|A20:.\n7F00:lN|N\n00000000000000000001\n", false) == LineStart::yes);
    CHECK(at(TermSection::stack, far + "y0:SReturn addr 0x1 (a:'A20:'/1 + 2)\n", false) == LineStart::yes);
}

TEST_CASE("an atom is found wherever its length stands before the end, and of whatever length its text is") {
    const std::string far(2300, '7');  // more than an atom can reach over
    for (const bool crlf : {false, true})
        for (const std::size_t length : {1u, 9u, 15u, 16u, 17u, 63u, 64u, 200u, 255u, 256u, 257u, 300u, 1000u, 1020u})
            for (const std::size_t shown : {std::size_t{1}, length / 2, length - 1, length, length + 1}) {
                if (shown == 0) continue;
                char head[24];
                std::snprintf(head, sizeof head, "7F00:lN|A%zX:", length);
                // The atom's last characters are not there yet where fewer are shown, and the LF is one of its
                // characters, of which there are 255 at most: more bytes are of wider ones.
                std::string text = head, name;
                while (name.size() < length) name += length > 255 && !crlf ? "\xF0\x9F\x90\x87" : "x";
                if (crlf)
                    for (std::size_t i = 0; i < shown; ++i) text += "\r\n";
                else text += name.substr(0, shown - 1) + '\n';
                TermStyle style = base64;
                style.crlf = crlf;
                CAPTURE(crlf, length, shown);
                const std::size_t characters = crlf ? 2 * shown : shown;
                const bool covered = characters <= (crlf ? 2 * length : length);
                for (const std::string& before : {text, "7F00:lN|N\n" + text, far + '\n' + text}) {
                    const LineStart start = line_starts_after(TermSection::heap, style, before, true);
                    CHECK((start == LineStart::no) == covered);
                }
                // Other sections begin with an element: the letter is the first character of all.
                const std::string first = text.substr(text.find('A'));
                CHECK((line_starts_after(TermSection::dictionary, style, first, true) == LineStart::no) == covered);
            }
}
