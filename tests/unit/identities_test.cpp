// SPDX-License-Identifier: Apache-2.0
#include "erlang/identities.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "analyses/causes/labels.hpp"
#include "erlang/owned_term.hpp"
#include "erlang/term_text.hpp"
#include "formats/compiler_info.hpp"

using namespace beamheap;
using erlang::IdentityRow;

namespace {

std::string written(const std::string& text, std::size_t limit = 60) {
    const auto term = parse_term(text);
    return erlang::term_text(*term, term->term(), limit);
}

// The label that the rows of a module make of a term.
std::string label_of(std::string_view module, const std::string& text) {
    const auto term = parse_term(text);
    for (const IdentityRow& row : erlang::identity_rows()) {
        if (row.module != module) continue;
        const erlang::Match match = row.term.match(*term, term->term());
        const erlang::Match* const matches[] = {&match};
        if (match) return erlang::label_text(row.label, *term, matches);
    }
    return {};
}

}  // namespace

TEST_CASE("a small term is written as it is read back") {
    for (const char* text :
         {"ok", "'odd atom'", "-17", "<0.12.0>", "[]", "{}", "{a,1,<<\"x\">>}", "[1000,[2],{}]", "\"a text\"",
          "<<\"with \\\" and \\\\\">>", "<<1,255>>", "<<>>", "719332837123803780053376128602545548736904298496"})
        CHECK(written(text) == text);
}

TEST_CASE("what a small term leaves out is three dots") {
    CHECK(written("[a|b]") == "[a,...]");
    CHECK(written("#{a => 1}") == "...");
    CHECK(written("{_,a}") == "{...,a}");
    std::string many = "{0";
    for (int i = 1; i < 40; ++i) many += "," + std::to_string(i);
    CHECK(written(many + "}", 1000).ends_with(",31,...}"));
    CHECK(written(many + "}", 20).ends_with("..."));
    CHECK(written(many + "}", 20).size() < 30);
    std::string deep(5000, '[');
    CHECK(written(deep, 40).size() < 50);
}

TEST_CASE("a row keeps of a State what tells who it is, and nothing else") {
    const std::string label = label_of(
        "Elixir.DBConnection.Connection",
        "#{mod => 'Elixir.Postgrex.Protocol',opts => [{password,<<\"hush\">>},{database,<<\"shop\">>}],client => nil}");
    CHECK(label == "{db_connection,'Elixir.Postgrex.Protocol',<<\"shop\">>}");
    CHECK(label_of("Elixir.DBConnection.Connection", "#{mod => m,opts => [],client => nil}") == "{db_connection,m}");
    CHECK(label_of("supervisor", "{state,{<0.1.0>,shop_sup},one_for_one,{[cart,till],#{}},undefined}") ==
          "{supervisor,shop_sup,[cart,till]}");
    CHECK(label_of("supervisor", "{state,{local,shop_sup},one_for_one,{[cart,till],#{}},undefined}").empty());
}

TEST_CASE("a label that was concluded is told in words") {
    CHECK(analyses::known_label("{cowboy_http,api,{{10,0,0,7},52310}}").has_value());
    CHECK(analyses::known_label("{pg,shop_groups,{watchers,7}}").has_value());
    CHECK(analyses::known_label("{supervisor,shop_sup,[]}").has_value());
    CHECK_FALSE(analyses::known_label("{nobody,knows}").has_value());
}

TEST_CASE("the source of a module is what its compiler has noted") {
    // [{version,"8"},{source,"/b/x.erl"}] and damage of it
    std::string info("\x83\x6c\x00\x00\x00\x02", 6);
    info += std::string(
                "\x68\x02\x77\x07"
                "version\x6b\x00\x01",
                14) +
            "8";
    info += std::string(
                "\x68\x02\x77\x06"
                "source\x6b\x00\x08",
                13) +
            "/b/x.erl" + '\x6a';
    CHECK(source_of(info) == "/b/x.erl");
    for (std::size_t cut = 0; cut < info.size(); ++cut) (void)source_of(std::string_view(info).substr(0, cut));
    CHECK(source_of("").empty());
    CHECK(source_of("no term").empty());
}
