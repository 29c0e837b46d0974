// SPDX-License-Identifier: Apache-2.0
// Wordings of rows: places that are filled with what a pattern's names stand for; and the rows of causes.
#include "analyses/causes/wordings.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "analyses/causes/told_causes.hpp"
#include "erlang/causes.hpp"
#include "erlang/modules.hpp"
#include "erlang/servers.hpp"
#include "present/spelling.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using erlang::Pattern;
using erlang::Wording;

namespace {

std::string filled(const Wording& wording, std::string_view printed, const Pattern& pattern) {
    const std::shared_ptr<OwnedTerm> term = parse_term(printed);
    const erlang::Match match = pattern.match(*term, term->term());
    REQUIRE(match);
    return present::plain_text(Snapshot(), said(wording, match, term));
}

/// The reason's kind and words.
std::string told(std::string_view reason) {
    const auto cause = told_cause(Snapshot(), reason, {});
    if (!cause) return "";
    return std::string(name_of(cause->cause.kind)) + ": " + present::plain_text(Snapshot(), cause->cause.what);
}

}  // namespace

TEST_CASE("places of a wording are filled by the way that they ask for", "[causes]") {
    CHECK(filled("{A} and {A:term}", "'Odd Name'", "A") == "Odd Name and 'Odd Name'");
    CHECK(filled("{A}", "\"a text\"", "A") == "a text");
    CHECK(filled("{A}", "{x,1}", "A") == "{x,1}");
    CHECK(filled("<{A:message 5}>", "\"one  two\"", "A") == "<one t...>");
    CHECK(filled("<{A:vm}>", "<<\"one\\n  two.\">>", "A") == "<one two>");
    CHECK(filled("<{A:name}>", "\"shop.app\"", "A ++ \".app\"") == "<shop>");
    CHECK(filled("<{A}>", "\"shop.app\"", "A ++ \".app\"") == "<shop>");
    CHECK(filled("line {A:number}", "12345", "A") == "line 12345");
    CHECK(filled("{A:atoms 2}", "[a,b,c,d]", "A") == "a, b and 2 more");
    CHECK(filled("{A:atoms}", "[a,b,1]", "A") == "a, b and 1 more");
    CHECK(filled("{A:library}", "\"Failed to load NIF library: '/x.so: no such file'\"", "A") == "/x.so: no such file");
    CHECK(filled("{M:F/A}", "{my,go,[1,2]}", "{M, F, A}") == "my:go/2");
    CHECK(filled("{M:F/A}", "{my,go,3}", "{M, F, A}") == "my:go/3");
    CHECK(filled("{M:init/1}", "my", "M") == "my:init/1");
}

TEST_CASE("what can't be filled is left out, or said otherwise", "[causes]") {
    CHECK(filled("wrong[, line {A:number}][: {B:text}|: a syntax error]", "{7,\"before: x\"}", "{A, B}") ==
          "wrong, line 7: before: x");
    CHECK(filled("wrong[, line {A:number}][: {B:text}|: a syntax error]", "{none,{x}}", "{A, B}") ==
          "wrong: a syntax error");
    CHECK(filled("wrong[, line {A:number}]", "0", "A") == "wrong");
    CHECK(filled("failed[: {B}]", "{a,1}", "{a, _} | B") == "failed");
    CHECK(filled("failed[: {A:message}]", "[]", "A") == "failed");
    CHECK(filled("failed[: {A:atoms}]", "[1]", "A") == "failed");
}

TEST_CASE("a wording's places have names of its pattern", "[causes]") {
    constexpr Pattern pattern("{M, F, A}");
    CHECK(Wording("{M:F/A} of {A:term 20}[, {M}]").fits(pattern));
    CHECK(Wording("{M:init/1}").fits(pattern));
    CHECK(!Wording("{B}").fits(pattern));
    CHECK(!Wording("[{B:term}]").fits(pattern));
    CHECK(!Wording("{M:B/A}").fits(pattern));
    CHECK(!Wording("{M:F/B}").fits(pattern));
}

TEST_CASE("functions of a row are told by module and name", "[causes]") {
    CHECK(erlang::is_function_of("prim_tty:_ | user_drv:start", "prim_tty", "init"));
    CHECK(erlang::is_function_of("prim_tty:_ | user_drv:start", "user_drv", "start"));
    CHECK(!erlang::is_function_of("prim_tty:_ | user_drv:start", "user_drv", "stop"));
    CHECK(!erlang::is_function_of("", "user_drv", "stop"));
}

TEST_CASE("kinds of causes are named as they are written", "[causes]") {
    CHECK(name_of(CauseKind::unknown) == "unknown");
    CHECK(name_of(CauseKind::bad_specification) == "bad_specification");
    CHECK(name_of(CauseKind::message) == "message");
}

TEST_CASE("what stands behind the tags of a match is the reason, where its row says so", "[causes]") {
    CHECK(told("{badmatch,{aborted,{no_exists,[orders,x]}}}") ==
          "no_table: the mnesia table orders does not exist on this node");
    CHECK(told("{badmatch,{error,{3,erl_parse,[\"syntax error before: \",\"x\"]}}}") ==
          "bad_code: it is not valid Erlang: syntax error before: x");
    CHECK(told("{{badmatch,{error,{3,erl_parse,[\"syntax error before: \",\"x\"]}}},[{my,read,1,[]}]}") ==
          "bad_code: a file that it reads is not valid Erlang, line 3: syntax error before: x");
    CHECK(told("{{badmatch,{error,{{3,9},erl_scan,{illegal,x}}}},[{my,read,1,[]}]}") ==
          "bad_code: a file that it reads is not valid Erlang, line 3: a syntax error");
}

TEST_CASE("exceptions of Elixir are told by their message, else by their fields", "[causes]") {
    CHECK(told("#{'__exception__' => true,'__struct__' => 'Elixir.KeyError',key => port,message => nil,term => #{}}") ==
          "bad_value: Elixir.KeyError: key port not found");
    CHECK(told("#{'__exception__' => true,'__struct__' => 'Elixir.Mix.Error',message => <<\"no project\">>}") ==
          "message: Elixir.Mix.Error: no project");
    CHECK(told("#{'__struct__' => 'Elixir.MatchError',term => {error,x}}") ==
          "bad_value: Elixir.MatchError: {error,x}");
    CHECK(told("#{'__struct__' => 'Elixir.FunctionClauseError',arity => 2,function => go,module => 'Elixir.My'}") ==
          "bad_value: Elixir.FunctionClauseError: 'Elixir.My':go/2");
    CHECK(told("#{'__struct__' => 'Elixir.System.EnvError',env => <<\"PORT\">>}") ==
          "bad_value: the environment variable PORT is not set");
}

TEST_CASE("servers are known by their names, and modules by their roles", "[causes]") {
    using erlang::advice_of_server;
    CHECK(advice_of_server("code_server").text().starts_with("Load code before"));
    CHECK(advice_of_server("logger_std_h_default") == advice_of_server("logger"));
    CHECK(advice_of_server("code_server_2").empty());
    CHECK(advice_of_server("").empty());
    using erlang::has_role;
    using erlang::ModuleRole;
    CHECK(has_role("lists", ModuleRole::tool));
    CHECK(has_role("lists", ModuleRole::library));
    CHECK(!has_role("lists", ModuleRole::of_ports));
    CHECK(!has_role("shop", ModuleRole::tool));
    CHECK(erlang::is_library("Elixir.Enum"));
    CHECK(erlang::is_library("elixir_compiler"));
    CHECK(!erlang::is_library("Elixir.Shop"));
}
