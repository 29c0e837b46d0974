// SPDX-License-Identifier: Apache-2.0
// The shape of a term in words, of terms that io_lib prints.
#include <catch2/catch.hpp>
#include <string>

#include "analyses/heaps/term_shape.hpp"
#include "erlang/owned_term.hpp"
#include "present/spelling.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::string shape(const std::string& text) {
    const auto term = parse_term(text);
    return present::plain_text(Snapshot{}, shape_in_words(*term, term->term()));
}
/// "[one,one,...]", `count` times; %d in it is the number from 0.
std::string list(std::string_view one, int count, std::string_view first = "") {
    std::string text = "[" + std::string(first);
    for (int i = 0; i < count; ++i) {
        if (text.size() > 1) text += ',';
        std::string each(one);
        for (std::size_t at = each.find("%d"); at != each.npos; at = each.find("%d"))
            each.replace(at, 2, std::to_string(i));
        text += each;
    }
    return text + "]";
}

}  // namespace

TEST_CASE("a term that is no collection is its kind, with its size", "[shapes]") {
    CHECK(shape("<<\"abcde\">>") == "a binary of 5 B");
    CHECK(shape("\"some text\"") == "a string of 9 characters");
    CHECK(shape("ok") == "the atom ok");
    CHECK(shape("42") == "an integer");
    CHECK(shape("123456789012345678901234567890") == "an integer");
    CHECK(shape("1.5") == "a float");
    CHECK(shape("[]") == "an empty list");
    CHECK(shape("#{}") == "an empty map");
    CHECK(shape("<0.9.0>") == "a pid");
    CHECK(shape("#Port<0.5>") == "a port");
    CHECK(shape("#Ref<0.1.2.3>") == "a reference");
}

TEST_CASE("a list is told by what its elements have in common", "[shapes]") {
    CHECK(shape("[1,2,3]") == "a list of 3 integers");
    CHECK(shape("[x]") == "a list of 1 x");
    CHECK(shape("[a,b]") == "a list of 2 atoms");
    CHECK(shape("[a,a]") == "a list of 2 a");
    CHECK(shape("[1.5,[],2.5,[]]") == "a list of 4 floats or lists");
    CHECK(shape("[1.5,[],a,<0.1.0>]") == "a list of 4 terms");
    // one of twenty is no exception that is worth a word, one of nineteen is
    CHECK(shape(list("1", 19, "a")) == "a list of 20 integers");
    CHECK(shape(list("1", 18, "a")) == "a list of 19 integers or a");
    CHECK(shape(list("{%d,<<\"x%d\">>}", 200)) == "a list of 200 {integer, <<\"x...\">>}");
    CHECK(shape(list("[%d,a]", 3)) == "a list of 3 [a or integer, ...]");
}

TEST_CASE("a tuple is told by its places, six of them and three levels", "[shapes]") {
    CHECK(shape("{state,1,<<\"key\">>,[]}") == "a tuple {state, integer, binary, list}");
    CHECK(shape("{a,1,2,3,4,5,6}") == "a tuple {a, integer, integer, integer, integer, integer, ...}");
    CHECK(shape("{a,1,2,3,4,5}") == "a tuple {a, integer, integer, integer, integer, integer}");
    CHECK(shape("{a,{b,{c,{d,1}}}}") == "a tuple {a, {b, {c, tuple}}}");
    CHECK(shape("[{a,1},{b,2}]") == "a list of 2 {atom, integer}");
    CHECK(shape("[{a,1},{b,2,3}]") == "a list of 2 tuples");
}

TEST_CASE("binaries are told by how all of them begin, or by their size", "[shapes]") {
    CHECK(shape("[<<\"sess-1\">>,<<\"sess-22\">>]") == "a list of 2 <<\"sess-...\">>");
    CHECK(shape("[<<\"same\">>,<<\"same\">>]") == "a list of 2 <<\"same\">>");
    CHECK(shape("[<<\"abc\">>,<<\"xyz\">>]") == "a list of 2 binaries of 3 B");
    CHECK(shape("[<<\"abc\">>,<<\"wxyz\">>]") == "a list of 2 binaries");
    CHECK(shape("[<<97,98,1>>,<<97,98,2>>]") == "a list of 2 <<\"ab...\">>");
    const std::string twice = "[<<\"0123456789012345678901234567\">>,<<\"0123456789012345678901234567\">>]";
    CHECK(shape(twice) == "a list of 2 <<\"012345678901234567890123...\">>");
    CHECK(shape("{<<\"alone\">>}") == "a tuple {binary}");  // what is in it is no shape
}

TEST_CASE("a map is a record where its keys are atoms, else a collection", "[shapes]") {
    CHECK(shape("#{a => 1,b => x}") == "a map #{a, b}");
    CHECK(shape("#{1 => {a},2 => {a}}") == "a map of 2 integer => {a}");
    CHECK(shape("[#{a => 1,b => 2},#{a => 3,c => 4}]") == "a list of 2 #{a, ...}");
    CHECK(shape("[#{a => 1},#{a => 3}]") == "a list of 2 #{a}");
    CHECK(shape("#{a => 1,b => 1,c => 1,d => 1,e => 1,f => 1,g => 1}") == "a map #{a, b, c, d, e, f, ...}");
    CHECK(shape("#{'__struct__' => 'Elixir.My.App',id => 1}") == "a map #{'__struct__' => Elixir.My.App, id}");
    CHECK(shape("{s,#{1 => 2.5}}") == "a tuple {s, map of 1 integer => float}");
    std::string set = "#{", few = "#{";
    for (int i = 1; i <= 9; ++i) {
        set += (i > 1 ? "," : "") + std::to_string(i) + " => []";
        if (i <= 8) few += (i > 1 ? "," : "") + std::to_string(i) + " => []";
    }
    CHECK(shape(set + "}") == "a set of 9 integers");
    CHECK(shape(few + "}") == "a map of 8 integer => list");
}

TEST_CASE("collections of the standard library are known by their forms", "[shapes]") {
    CHECK(shape("{2,{k,1.5,nil,{m,2.5,nil,nil}}}") == "a gb_tree of 2 atom => float");
    CHECK(shape("{2,{7,nil,{8,nil,nil}}}") == "a gb_set of 2 integers");
    CHECK(shape("{[3],[1,2]}") == "a queue of 3 integers");
    CHECK(shape("{[3],[]}") == "a queue of 1 integer");
    CHECK(shape("{[3,2],[]}") == "a tuple {[integer, ...], list}");  // a queue is never so
    CHECK(shape("{set,12,16,16,8,80,48,{},{}}") == "a set of 12 elements");
    CHECK(shape("{dict,12,16,16,8,80,48,{},{}}") == "a dict of 12 elements");
    CHECK(shape("{array,12,16,undefined,{}}") == "an array of 12 elements");
    CHECK(shape("{state,{2,{k,1.5,nil,{m,2.5,nil,nil}}}}") == "a tuple {state, gb_tree of 2}");
    const auto tree = parse_term("{2,{7,nil,{8,nil,nil}}}"), tuple = parse_term("{a,b}");
    CHECK(is_structure(*tree, tree->term()));
    CHECK_FALSE(is_structure(*tuple, tuple->term()));
}
