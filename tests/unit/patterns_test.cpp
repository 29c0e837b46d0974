// SPDX-License-Identifier: Apache-2.0
// Patterns in Erlang's syntax: what fits them, what their names stand for, and that a slow matcher says the same.
#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "erlang/owned_term.hpp"
#include "erlang/pattern.hpp"
#include "present/term_printer.hpp"
#include "support/dump_text.hpp"

using namespace beamheap;
using erlang::Match;
using erlang::Pattern;

namespace {

/// What the names stand for, in the order of the alphabet: "A=1 Rest=[x]"; "no" where it does not fit.
std::string told(TermSource& terms, const Element& term, const Pattern& pattern) {
    const Match match = pattern.match(terms, term);
    if (!match) return "no";
    std::string text;
    for (const char* name : {"A", "B", "File", "Rest"}) {
        if (!match.has(name)) continue;
        const std::string* piece = match.piece(name);
        text += (text.empty() ? "" : " ") + std::string(name) + "=" +
                (piece != nullptr ? '|' + *piece + '|' : present::term_text(terms, match[name], {.max_bytes = 0}));
    }
    return text;
}

std::string told(std::string_view printed, std::string_view pattern) {
    const auto term = parse_term(printed);
    return told(*term, term->term(), Pattern::of(pattern));
}

std::string mistake(std::string_view pattern) {
    try {
        (void)Pattern::of(pattern);
    } catch (const char* sentence) {
        return sentence;
    }
    return "";
}

}  // namespace

TEST_CASE("a term fits its own form, and names stand for its parts", "[patterns]") {
    CHECK(told("noproc", "noproc").empty());
    CHECK(told("noproc", "'noproc'").empty());
    CHECK(told("noproc", "timeout") == "no");
    CHECK(told("'EXIT'", "'EXIT'").empty());
    CHECK(told("-7", "-7").empty());
    CHECK(told("7", "-7") == "no");
    CHECK(told("{noproc,{gen_server,call,[db,x]}}", "{noproc, {_, call, [A | Rest]}}") == "A=db Rest=[x]");
    CHECK(told("{a,b,c}", "{a, B}") == "no");
    CHECK(told("{a,b,c}", "{a, B, ...}") == "B=b");
    CHECK(told("{a}", "{a, B, ...}") == "no");
    CHECK(told("{}", "{}").empty());
    CHECK(told("{}", "{...}").empty());
    CHECK(told("[]", "[]").empty());
    CHECK(told("[a]", "[]") == "no");
    CHECK(told("[a,b]", "[A, B]") == "A=a B=b");
    CHECK(told("[a,b,c]", "[A, B]") == "no");
    CHECK(told("[a|b]", "[A | B]") == "A=a B=b");
    CHECK(told("[a|b]", "[A]") == "no");
    CHECK(told("#{key => 1,other => 2}", "#{key := A}") == "A=1");
    CHECK(told("#{key => 1}", "#{key := A, other := B}") == "no");
    CHECK(told("{a,a}", "{A, A}") == "A=a");
    CHECK(told("{a,b}", "{A, A}") == "no");
    CHECK(told("{[1,{x}],[1,{x}]}", "{A, A}") == "A=[1,{x}]");
    CHECK(told("{[1,{x}],[1,{y}]}", "{A, A}") == "no");
}

TEST_CASE("alternatives, parts with names, elements that stand somewhere, types", "[patterns]") {
    CHECK(told("{a,1}", "{a | b, A}") == "A=1");
    CHECK(told("{b,1}", "{a | b, A}") == "A=1");
    CHECK(told("{c,1}", "{a | b, A}") == "no");
    CHECK(told("[a]", "[(b | a)]").empty());
    CHECK(told("{x,1}", "{A, 2} | {B, 1}") == "B=x");  // what the first alternative had named is taken back
    CHECK(told("{ok,{a,1}}", "{ok, A = {a, B}}") == "A={a,1} B=1");
    CHECK(told("[x,{port,80},{port,81}]", "[..., {port, A}, ...]") == "A=80");
    CHECK(told("[x]", "[..., {port, A}, ...]") == "no");
    CHECK(told("a", "A :: atom()") == "A=a");
    CHECK(told("1", "A :: atom()") == "no");
    CHECK(told("{<0.9.0>,#Port<0.5>,3,[a],{},#{}}",
               "{_ :: pid(), _ :: port(), _ :: integer(), _ :: list(), _ :: tuple(), _ :: map()}")
              .empty());
    CHECK(told("{_,[_]}", "A :: known()") == "no");
    CHECK(told("{_,[x]}", "A :: known()") == "A={<unknown>,[x]}");
}

TEST_CASE("a text fits however it is held, and is taken apart", "[patterns]") {
    for (const char* held : {"\"Cannot open /x: enoent\"", "<<\"Cannot open /x: enoent\">>",
                             "[\"Cannot open \",<<\"/x\">>,\": enoent\"]"}) {
        CHECK(told(held, "\"Cannot open /x: enoent\"").empty());
        CHECK(told(held, "\"Cannot open \" ++ File") == "File=|/x: enoent|");
        CHECK(told(held, "\"Cannot open \" ++ File ++ \": \" ++ Rest") == "File=|/x| Rest=|enoent|");
        CHECK(told(held, "_ ++ \"open \" ++ File ++ \": enoent\"") == "File=|/x|");
        CHECK(told(held, "_ ++ \"enoent\"").empty());
        CHECK(told(held, "\"open \" ++ _") == "no");
        CHECK(told(held, "\"Cannot open\"") == "no");
        CHECK(told(held, "_ ++ \"Cannot\"") == "no");
        CHECK(told(held, "A :: text()") != "no");
    }
    CHECK(told("[]", "_ :: text()") == "no");
    CHECK(told("'an atom'", "\"an atom\"") == "no");
    CHECK(told("{\"a.app\",\"b.app\"}", "{A ++ \".app\", B ++ \".app\"}") == "A=|a| B=|b|");
    CHECK(told("\"aXb\"", "_ ++ \"a\" ++ A ++ \"b\"") == "A=|X|");
    CHECK(told("\"ab\"", "\"ab\" ++ A ++ \"b\"") == "no");  // texts do not overlap
}

TEST_CASE("what the input does not hold fits nothing that asks for something", "[patterns]") {
    CHECK(told("{badmatch,_}", "{badmatch, A}") != "no");
    CHECK(told("{badmatch,_}", "{badmatch, a}") == "no");
    CHECK(told("{badmatch,_}", "{badmatch, _ :: atom()}") == "no");
    CHECK(told("{_,_}", "{A, A}") == "no");
    CHECK(told("[a|...]", "[a]") == "no");
    CHECK(told("[a|...]", "[a | _]").empty());
    CHECK(told("[a,b", "[a, b | _]").empty());
    CHECK(told("", "_").empty());
}

TEST_CASE("a match ends, whatever the term", "[patterns]") {
    std::string deep, wide = "[";
    for (int i = 0; i < 60; ++i) deep += "{x,";
    for (int i = 0; i < 30'000; ++i) wide += "{key,1},";
    CHECK(told(deep, "{x, {x, A}}") != "no");
    CHECK(told(wide + "{port,1}]", "[..., {port, A}, ...]") == "no");  // only the first of a long list are looked at
    CHECK(told("{" + wide + "a]," + wide + "b]}", "{A, A}") != "no");  // equal as far as terms are compared
}

TEST_CASE("a mistake in a pattern is told", "[patterns]") {
    for (const char* wrong : {"",
                              "{a",
                              "[a|b|c]",
                              "{a b}",
                              "#{1 := a}",
                              "#{a => b}",
                              "\"open",
                              "'open",
                              "A :: wrong()",
                              "A :: atom",
                              "a ++ \"b\"",
                              "\"a\" ++ \"b\"",
                              "A ++ B",
                              "-",
                              "a, b",
                              "[..., a]",
                              "\"\"",
                              "1234567890123456789",
                              "{..., a}",
                              "{A,B,C,D,E,F,G,H,I,J,K,L,M}"})
        CHECK(mistake(wrong) != "");
    CHECK(mistake(std::string(30, '{') + std::string(30, '}')).find("24 levels") != std::string::npos);
    std::string long_one = "{a";
    for (int i = 0; i < 70; ++i) long_one += ",a";
    CHECK(mistake(long_one + "}").find("63 parts") != std::string::npos);
}

namespace {

/// A term, and a pattern that asks for one, as plain trees.
struct Tree {
    enum Kind { atom, number, nil, tuple, cons, map, text, any, name, either, both, somewhere, open, is_atom };
    Kind kind = nil;
    std::string word;  // atom, name, text
    int value = 0;
    std::vector<Tree> parts;
    bool operator==(const Tree& other) const {
        return kind == other.kind && word == other.word && value == other.value && parts == other.parts;
    }
};
const char* const words[] = {"a", "b", "c"};
int pick(int below) { return *rc::gen::inRange(0, below); }

Tree random_term(int depth) {
    switch (pick(depth == 0 ? 4 : 7)) {
        case 0: return {Tree::atom, words[pick(3)], 0, {}};
        case 1: return {Tree::number, "", pick(3), {}};
        case 2: return {Tree::nil, "", 0, {}};
        case 3: return {Tree::text, pick(2) != 0 ? "one two" : "two", 0, {}};
        case 4: {
            Tree made{Tree::tuple, "", 0, {}};
            for (int i = pick(4); i > 0; --i) made.parts.push_back(random_term(depth - 1));
            return made;
        }
        case 5: return {Tree::cons, "", 0, {random_term(depth - 1), random_term(depth - 1)}};
        default: {
            Tree made{Tree::map, "", 0, {}};
            for (int i = 0; i < 3; ++i)
                if (pick(2) != 0) made.parts.push_back({Tree::tuple, words[i], 0, {random_term(depth - 1)}});
            return made;
        }
    }
}

/// A pattern that mostly fits a term.
Tree random_pattern(const Tree& term, int depth) {
    const int choice = pick(14);
    if (choice == 0) return {Tree::any, "", 0, {}};
    if (choice == 1) return {Tree::name, pick(2) != 0 ? "A" : "B", 0, {}};
    if (choice == 2 && depth > 0)
        return {Tree::either,
                "",
                0,
                {random_pattern(pick(2) != 0 ? random_term(1) : term, depth - 1), random_pattern(term, depth - 1)}};
    if (choice == 3) return {Tree::both, "", 0, {{Tree::name, "Rest", 0, {}}, random_pattern(term, 0)}};
    if (choice == 4) return {Tree::is_atom, "", 0, {{Tree::name, "A", 0, {}}}};
    if (choice == 5 && term.kind == Tree::cons)
        return {Tree::somewhere, "", 0, {random_pattern(pick(2) != 0 ? term.parts[0] : random_term(1), 0)}};
    if (choice == 6) return random_pattern(random_term(2), 0);
    Tree made = term;
    for (Tree& part : made.parts)
        if (term.kind == Tree::map) part.parts[0] = random_pattern(part.parts[0], depth);
        else part = random_pattern(part, depth);
    if (term.kind == Tree::map && !made.parts.empty() && pick(2) != 0) made.parts.pop_back();
    if (choice == 7 && term.kind == Tree::tuple) {
        made.kind = Tree::open;
        if (!made.parts.empty()) made.parts.pop_back();
    }
    return made;
}

/// As io_lib prints a term, and as a pattern is written: both have the same forms of lists.
std::string written(const Tree& tree, bool pattern) {
    std::string text;
    for (const Tree& part : tree.parts)
        text += (text.empty()              ? ""
                 : tree.kind == Tree::cons ? "|"
                                           : ",") +
                (tree.kind == Tree::map ? part.word + (pattern ? ":=" : "=>") + written(part.parts[0], pattern)
                                        : written(part, pattern));
    switch (tree.kind) {
        case Tree::atom:
        case Tree::name: return tree.word;
        case Tree::number: return std::to_string(tree.value);
        case Tree::nil: return "[]";
        case Tree::tuple: return "{" + text + "}";
        case Tree::open: return "{" + text + (text.empty() ? "...}" : ",...}");
        case Tree::cons: return "[" + text + "]";
        case Tree::map: return "#{" + text + "}";
        case Tree::text: return pattern ? "\"" + tree.word + "\"" : "<<\"" + tree.word + "\">>";
        case Tree::any: return "_";
        case Tree::either: return "(" + written(tree.parts[0], true) + " | " + written(tree.parts[1], true) + ")";
        case Tree::both: return "(" + written(tree.parts[0], true) + " = " + written(tree.parts[1], true) + ")";
        case Tree::somewhere: return "[..., " + text + ", ...]";
        case Tree::is_atom: return text + " :: atom()";
    }
    return "";
}

using Names = std::map<std::string, Tree>;

/// The text of an iolist of whole texts; nothing where a tree is none.
std::optional<std::string> text_of(const Tree& tree) {
    if (tree.kind == Tree::text) return tree.word;
    if (tree.kind == Tree::nil) return "";
    if (tree.kind != Tree::cons) return std::nullopt;
    const auto head = text_of(tree.parts[0]), rest = text_of(tree.parts[1]);
    return head && rest ? std::optional(*head + *rest) : std::nullopt;
}

/// The slow matcher: on trees, with a copy of all names for each step.
std::optional<Names> slowly(const Tree& pattern, const Tree& term, Names names) {
    const auto all = [&](const Tree& p, const Tree& t, std::size_t count) -> std::optional<Names> {
        std::optional<Names> so_far = names;
        for (std::size_t i = 0; i < count && so_far; ++i) so_far = slowly(p.parts[i], t.parts[i], *so_far);
        return so_far;
    };
    switch (pattern.kind) {
        case Tree::any: return names;
        case Tree::name:
            if (names.count(pattern.word) != 0)
                return names[pattern.word] == term ? std::optional(names) : std::nullopt;
            names[pattern.word] = term;
            return names;
        case Tree::is_atom: return term.kind == Tree::atom ? slowly(pattern.parts[0], term, names) : std::nullopt;
        case Tree::either:
            if (const auto first = slowly(pattern.parts[0], term, names)) return first;
            return slowly(pattern.parts[1], term, names);
        case Tree::both: {
            const auto first = slowly(pattern.parts[0], term, names);
            return first ? slowly(pattern.parts[1], term, *first) : std::nullopt;
        }
        case Tree::somewhere:
            for (const Tree* rest = &term; rest->kind == Tree::cons; rest = &rest->parts[1])
                if (const auto found = slowly(pattern.parts[0], rest->parts[0], names)) return found;
            return std::nullopt;
        case Tree::open:
            if (term.kind != Tree::tuple || term.parts.size() < pattern.parts.size()) return std::nullopt;
            return all(pattern, term, pattern.parts.size());
        case Tree::text: return text_of(term) == pattern.word ? std::optional(names) : std::nullopt;
        case Tree::map: {
            if (term.kind != Tree::map) return std::nullopt;
            std::optional<Names> so_far = names;
            for (const Tree& pair : pattern.parts) {
                const auto found = std::find_if(term.parts.begin(), term.parts.end(),
                                                [&](const Tree& other) { return other.word == pair.word; });
                if (found == term.parts.end()) return std::nullopt;
                so_far = slowly(pair.parts[0], found->parts[0], *so_far);
                if (!so_far) return std::nullopt;
            }
            return so_far;
        }
        default:
            if (pattern.kind != term.kind || pattern.word != term.word || pattern.value != term.value ||
                pattern.parts.size() != term.parts.size())
                return std::nullopt;
            return all(pattern, term, pattern.parts.size());
    }
}

/// The lines of a crash dump's heap that hold a term; what refers to it is given back.
std::string heap_line(const Tree& tree, std::string& lines, std::uint64_t& address) {
    const auto counted = [](const std::string& text) { return fmt::format("{:X}:{}", text.size(), text); };
    if (tree.kind == Tree::atom) return "A" + counted(tree.word);
    if (tree.kind == Tree::number) return "I" + std::to_string(tree.value);
    if (tree.kind == Tree::nil) return "N";
    std::string parts, keys;
    for (const Tree& part : tree.parts) {
        parts += (parts.empty()             ? ""
                  : tree.kind == Tree::cons ? "|"
                                            : ",") +
                 heap_line(tree.kind == Tree::map ? part.parts[0] : part, lines, address);
        keys += (keys.empty() ? "A" : ",A") + counted(part.word);
    }
    const auto place = [&] { return fmt::format("{:X}", address += 64); };
    std::string at = place();
    switch (tree.kind) {
        case Tree::cons: lines += at + ":l" + parts + "\n"; break;
        case Tree::text: lines += at + (tree.word == "two" ? ":Yh3:dHdv\n" : ":Yh7:b25lIHR3bw==\n"); break;
        case Tree::map: {
            lines += at + fmt::format(":t{:X}:{}\n", tree.parts.size(), keys);
            const std::string map = place();
            lines += map + fmt::format(":Mf{:X}:H{}:{}\n", tree.parts.size(), at, parts);
            at = map;
            break;
        }
        default: lines += at + fmt::format(":t{:X}:{}\n", tree.parts.size(), parts);
    }
    return "H" + at;
}

}  // namespace

TEST_CASE("a pattern fits what a slow matcher says, in printed terms and in heaps", "[patterns]") {
    int fitted = 0, not_fitted = 0;
    CHECK(rc::check("patterns and terms", [&] {
        const Tree term = random_term(3);
        const Tree tree = random_pattern(term, 2);
        const std::string pattern = written(tree, true);
        const auto names = slowly(tree, term, {});
        std::string expected = names ? "" : "no";
        const auto told_of = [](const Tree& part) {
            const auto owned = parse_term(written(part, false));
            return present::term_text(*owned, owned->term(), {.max_bytes = 0});
        };
        if (names)
            for (const auto& [name, part] : *names)
                expected += (expected.empty() ? "" : " ") + name + "=" + told_of(part);
        ++(names ? fitted : not_fitted);
        RC_LOG() << written(term, false) << " against " << pattern;
        RC_ASSERT(told(written(term, false), pattern) == expected);

        std::string lines;
        std::uint64_t address = 0x1000;
        const std::string root = heap_line({Tree::tuple, "", 0, {term}}, lines, address);
        LoadPlan plan = test::everything();
        plan.terms = true;
        plan.terms_of = [](const Snapshot&, ProcId) { return true; };
        auto artifact = test::load(test::header() + test::process("<0.5.0>") + "=proc_stack:<0.5.0>\ny0:" + root +
                                       "\n=proc_heap:<0.5.0>\n" + lines + "=end\n",
                                   plan);
        RC_ASSERT(artifact != nullptr);
        auto terms = artifact->terms(ProcId{0});
        RC_ASSERT(static_cast<bool>(terms));
        ElementCursor cursor = (*terms)->elements((*terms)->root(0).id);
        Element element;
        RC_ASSERT((*terms)->next(cursor, element));
        RC_ASSERT(told(**terms, element, Pattern::of(pattern)) == expected);
    }));
    CHECK(fitted > 10);
    CHECK(not_fitted > 0);
}
