// SPDX-License-Identifier: Apache-2.0
// Terms that no VM made: texts full of escapes cut at every length, and terms that contain themselves.
#include "present/term_printer.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/dump_text.hpp"
#include "support/single_term.hpp"

using namespace beamheap;
using namespace std::string_literals;

namespace {

// What an escape is made of, and what looks like one.
const std::vector<std::string> pieces{"\\",       "{",        "}", "x", "u", "\"",           "#", "#{", "\n", "\x1B",
                                      "\xC3\xA9", "\xC2\x85", "a", " ", "'", "\xE2\x80\xAE", "0", ".",  "\\{"};

std::string random_text(std::mt19937& random, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += pieces[random() % pieces.size()];
    return text;
}

std::string big_endian(std::uint32_t value) {
    return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
            static_cast<char>(value)};
}

std::string binary(const std::string& text) {
    return "\x83m"s + big_endian(static_cast<std::uint32_t>(text.size())) + text;
}
std::string characters(const std::string& text) {
    return "\x83k"s + big_endian(static_cast<std::uint32_t>(text.size())).substr(2) + text;
}
std::string atom(const std::string& text) {
    return "\x83v"s + big_endian(static_cast<std::uint32_t>(text.size())).substr(2) + text;
}

/// Prints with every bound up to beyond the whole, and holds each text against the whole one.
void check_cuts(const std::string& encoded, present::Syntax syntax) {
    test::SingleTerm whole_source(encoded);
    REQUIRE(whole_source.complete());
    present::PrintOptions options;
    options.syntax = syntax;
    options.max_bytes = 0;
    const std::string whole = present::term_text(whole_source, whole_source.term(), options);
    for (std::size_t most = 1; most < whole.size() + 20; ++most) {
        options.max_bytes = most;
        test::SingleTerm source(encoded);
        std::string text;
        const present::Printed printed = present::print_term(source, source.term(), options, text);
        INFO(whole);
        INFO(most << ": " << text);
        if (!printed.cut) {
            CHECK(text == whole);
            continue;
        }
        const std::size_t dots = text.rfind("...");
        REQUIRE(dots != std::string::npos);
        // All that stands before the closing quote stands in the whole text, too, and ends between two characters.
        std::string start = text.substr(0, dots);
        if (start.ends_with("/utf8")) start.resize(start.size() - 5);
        if (start.ends_with('"')) start.pop_back();
        if (start.find('"') == std::string::npos || start.find('"') != whole.find('"'))
            continue;  // printed as bytes or elements
        REQUIRE(whole.starts_with(start));
        std::size_t backslashes = 0;
        while (backslashes < start.size() && start[start.size() - 1 - backslashes] == '\\') ++backslashes;
        CHECK(backslashes % 2 == 0);
    }
}

/// The terms of the only process of a dump whose dictionary has the entry at 7F00.
struct Heap {
    std::unique_ptr<Artifact> artifact;
    std::unique_ptr<TermSource> terms;
    explicit Heap(const std::string& lines) {
        LoadPlan plan = test::everything();
        plan.terms = true;
        artifact = test::load(test::header() + test::process("<0.1.0>") +
                                  "=proc_dictionary:<0.1.0>\nH7F00\n=proc_stack:<0.1.0>\n=proc_heap:<0.1.0>\n" + lines +
                                  "=atoms\n=end\n",
                              plan);
        REQUIRE(artifact != nullptr);
        terms = std::move(*artifact->terms(ProcId{0}));
        REQUIRE(terms->graph().roots().size() == 1);
    }
    std::string text(std::size_t most = 0, present::Syntax syntax = present::Syntax::erlang) {
        present::PrintOptions options;
        options.max_bytes = most;
        options.syntax = syntax;
        std::string out;
        const present::Printed printed = present::print_term(*terms, terms->root(0), options, out);
        if (most == 0) CHECK(printed.cyclic == (out.find("<cyclic term") != std::string::npos));
        return out;
    }
};

}  // namespace

TEST_CASE("texts of nothing but escapes are cut between two characters, at every length") {
    std::mt19937 random(20261122);
    for (int round = 0; round < 60; ++round) {
        const std::string text = random_text(random, 1 + random() % 40);
        for (const present::Syntax syntax : {present::Syntax::erlang, present::Syntax::elixir}) {
            check_cuts(binary(text), syntax);
            check_cuts(characters(text), syntax);
        }
    }
}

TEST_CASE("a text of which nothing is seen is numbers in a sentence, and what the VM's ~p prints elsewhere") {
    const auto printed = [](const std::string& text, bool in_sentence) {
        test::SingleTerm source(characters(text));
        present::PrintOptions options;
        options.visible_strings = in_sentence;
        return present::term_text(source, source.term(), options);
    };
    // io:format("~p", [[9,11]]) prints "\t\v" on 23 to 29.
    CHECK(printed("\t\v", false) == R"("\t\v")");
    CHECK(printed("\t\v", true) == "[9,11]");
    CHECK(printed("\b", true) == "[8]");
    for (const char* text : {"\r\n", "\t", "a\v", " \v"}) CHECK(printed(text, true) == printed(text, false));
}

TEST_CASE("a backslash before an opening brace that nothing closes") {
    for (const char* text : {"\\{", "\\\\{ and more text", "{\\{\\{\\{\\{", "\\x{", "\"\\{"})
        for (const present::Syntax syntax : {present::Syntax::erlang, present::Syntax::elixir}) {
            check_cuts(binary(text), syntax);
            check_cuts(characters(text), syntax);
        }
}

TEST_CASE("names of any bytes are printed whatever the bound") {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const std::string encoded = atom(random_text(random, 1 + random() % 40));
        for (std::size_t most = 1; most < 40; ++most) {
            test::SingleTerm source(encoded);
            present::PrintOptions options;
            options.max_bytes = most;
            CHECK(!present::term_text(source, source.term(), options).empty());
        }
    }
}

TEST_CASE("a term that contains itself is cut where it comes back") {
    CHECK(Heap("7F00:lA1:a|H7F00\n").text() == "[a|<cyclic term 7F00>]");
    CHECK(Heap("7F00:lH7F00|N\n").text() == "[<cyclic term 7F00>]");
    CHECK(Heap("7F00:lI97|H7F10\n7F10:lI98|H7F00\n").text() == "[97,98|<cyclic term 7F00>]");
    CHECK(Heap("7F00:lI97|H7F10\n7F10:lI98|H7F20\n7F20:lI99|H7F10\n").text() == "[97,98,99|<cyclic term 7F10>]");
    CHECK(Heap("7F00:t2:A1:k,H7F00\n").text() == "{k,<cyclic term 7F00>}");
    CHECK(Heap("7F00:t2:A1:k,H7F20\n7F20:t1:H7F30\n7F30:lI1|H7F00\n").text() == "{k,{[1|<cyclic term 7F00>]}}");
    CHECK(Heap("7F00:Mf1:H7F20:H7F00\n7F20:t1:A1:k\n").text() == "#{k => <cyclic term 7F00>}");
    // As long as characters go on it could have been a string.
    CHECK(Heap("7F00:lI97|H7F00\n").text(60).find("cyclic") != std::string::npos);
    // Met twice is not within itself.
    CHECK(Heap("7F00:t2:H7F30,H7F30\n7F30:lA1:x|N\n").text() == "{[x],[x]}");
    CHECK(Heap("7F00:lH7F30|H7F30\n7F30:lA1:x|N\n").text() == "[[x],x]");
}

TEST_CASE("keyword lists that contain themselves") {
    CHECK(Heap("7F00:lH7F20|N\n7F20:t2:A1:k,H7F00\n").text(0, present::Syntax::elixir) == "[k: <cyclic term 7F00>]");
}

TEST_CASE("a large map whose nodes are themselves comes to an end") {
    std::string node = "7F20:Mn10:";
    for (int i = 0; i < 16; ++i) node += (i == 0 ? "" : ",") + "H7F20"s;
    const std::string root = "7F00:Mh28:10:" + node.substr(10) + "\n";
    Heap cyclic(root + node + "\n");
    CHECK(cyclic.text(2000).size() < 5000);
    // Twenty levels, each sixteen times the next, and no pair at the end.
    std::string deep = "7F00:Mh28:10:";
    const auto level = [](int i) { return std::to_string(8000 + i * 10); };
    for (int i = 0; i < 16; ++i) deep += (i == 0 ? "H" : ",H") + level(0);
    deep += '\n';
    for (int i = 0; i < 20; ++i) {
        deep += level(i) + ":Mn10:";
        for (int j = 0; j < 16; ++j) deep += (j == 0 ? "H" : ",H") + level(i + 1);
        deep += '\n';
    }
    deep += level(20) + ":Mn1:N\n";
    CHECK(Heap(deep).text(2000).size() < 5000);
}

namespace {

/// The first entry of the dictionary of a dump's first process.
std::string printed_first(const std::string& dump) {
    LoadPlan plan = test::everything();
    plan.terms = true;
    const auto artifact = test::load(dump, plan);
    REQUIRE(artifact != nullptr);
    const auto terms = std::move(*artifact->terms(ProcId{0}));
    std::string out;
    present::print_term(*terms, terms->root(0), {}, out);
    return out;
}

std::string header_of_r16() { return test::header("test", "Erlang R16B03 (erts-5.10.4) [source] [64-bit]", "0.3"); }

}  // namespace

TEST_CASE("a slice is as many bytes of its binary from its place on, in dumps of hexadecimal data and of base64",
          "[present][binaries]") {
    const std::string terms = test::process("<0.1.0>") +
                              "=proc_dictionary:<0.1.0>\nH7F00\n=proc_stack:<0.1.0>\n=proc_heap:<0.1.0>\n"
                              "7F00:t2:H7F20,H7F40\n7F20:Yc7E00:2:3\n7F40:Yc7E00:1:4\n=binary:7E00\n";
    const std::string slices = "{<<\"cde\">>,<<\"bcde\">>}";
    CHECK(printed_first(test::header() + terms + "6:YWJjZGVm\n=atoms\n=end\n") == slices);
    CHECK(printed_first(header_of_r16() + terms + "6:616263646566\n=atoms\n=end\n") == slices);
}

TEST_CASE("dumps of before 0.4 have literals in whichever heap they were printed with first", "[present][literals]") {
    // The first process names a constant that stands in the heap of the third, and of which a part stands in that of
    // the second.
    CHECK(printed_first(header_of_r16() + test::process("<0.1.0>") + test::process("<0.2.0>") +
                        test::process("<0.3.0>") +
                        "=proc_dictionary:<0.1.0>\nH7F00\n=proc_stack:<0.1.0>\n=proc_heap:<0.1.0>\n7F00:t2:A1:k,H8F00\n"
                        "=proc_stack:<0.2.0>\n=proc_heap:<0.2.0>\n9F00:lI7|N\n=proc_stack:<0.3.0>\n=proc_heap:<0.3.0>"
                        "\n8F00:t2:A1:c,H9F00\n=atoms\n=end\n") == "{k,{c,[7]}}");
}
