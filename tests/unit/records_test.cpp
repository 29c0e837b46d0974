// SPDX-License-Identifier: Apache-2.0
// Names of records: out of debug information, out of sources, of OTP's own modules; and terms printed with them.
#include "formats/beam/records.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analyses/heaps/record_scope.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "erlang/otp_records.hpp"
#include "erlang/owned_term.hpp"
#include "erlang/record_source.hpp"
#include "present/secrets/redact.hpp"
#include "present/spelling.hpp"
#include "present/term_printer.hpp"
#include "support/made_module.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;

namespace {

// External terms of the few kinds that abstract code is made of.
std::string record_atom(const std::string& name) { return "w" + std::string(1, static_cast<char>(name.size())) + name; }
std::string record_tuple(const std::vector<std::string>& elements) {
    std::string bytes = "h" + std::string(1, static_cast<char>(elements.size()));
    for (const std::string& each : elements) bytes += each;
    return bytes;
}
std::string record_list(const std::vector<std::string>& elements) {
    if (elements.empty()) return "j";
    std::string bytes = "l" + testing::four(static_cast<std::uint32_t>(elements.size()));
    for (const std::string& each : elements) bytes += each;
    return bytes + "j";
}
const std::string anno = record_tuple({std::string("a\x07"), std::string("a\x02")});

std::string field(const std::string& name) {
    return record_tuple(
        {record_atom("record_field"), anno, record_tuple({record_atom("atom"), anno, record_atom(name)})});
}
std::string field_with_default(const std::string& name) {
    return record_tuple({record_atom("record_field"), anno,
                         record_tuple({record_atom("atom"), anno, record_atom(name)}),
                         record_tuple({record_atom("nil"), anno})});
}
std::string typed(const std::string& field) {
    return record_tuple({record_atom("typed_record_field"), field,
                         record_tuple({record_atom("type"), anno, record_atom("list"), "j"})});
}
std::string record_form(const std::string& name, const std::vector<std::string>& fields) {
    return record_tuple({record_atom("attribute"), anno, record_atom("record"),
                         record_tuple({record_atom(name), record_list(fields)})});
}
std::string debug_info(const std::vector<std::string>& forms) {
    return "\x83" + record_tuple({record_atom("debug_info_v1"), record_atom("erl_abstract_code"),
                                  record_tuple({record_list(forms), record_list({record_atom("debug_info")})})});
}
const std::string other_form =
    record_tuple({record_atom("function"), anno, record_atom("f"), std::string("a\0", 2),
                  record_list({std::string("k\0\x02hi", 5), "t" + testing::four(1) + record_atom("k") + "j"})});

std::vector<RecordType> read(const std::string& term) {
    const auto records = beam::records_of_debug_info(term);
    REQUIRE(records);
    return *records;
}

// A module of Elixir: what Record.defrecord makes of its fields, in a macro of two arities, between other definitions.
std::string elixir_macro(const std::string& name, const std::string& function, const std::string& fields) {
    const std::string access =
        record_tuple({record_atom("."), "j", record_list({record_atom("Elixir.Record"), record_atom(function)})});
    const std::string call = record_tuple({access, "j", record_list({record_atom(name), fields, record_atom("args")})});
    return record_tuple({record_tuple({record_atom(name), std::string("a\x01")}), record_atom("defmacrop"), "j",
                         record_list({record_tuple({"j", "j", "j", call})})});
}
std::string elixir_fields(const std::vector<std::string>& names) {
    std::vector<std::string> pairs;
    for (const std::string& each : names) pairs.push_back(record_tuple({record_atom(each), std::string("a\x00", 2)}));
    return record_list(pairs);
}
std::string elixir_info(const std::vector<std::string>& definitions) {
    const std::string module = "t" + testing::four(3) + record_atom("file") +
                               std::string(
                                   "k\0\x01"
                                   "f",
                                   4) +
                               std::string("a\x05") + "j" + record_atom("definitions") + record_list(definitions);
    return "\x83" + record_tuple({record_atom("debug_info_v1"), record_atom("elixir_erl"),
                                  record_tuple({record_atom("elixir_v1"), module, "j"})});
}

const RecordType state{"state", {"socket", "sessions", "password"}};
const RecordType session{"session", {"id", "buffer"}};
const RecordType empty_record{"nothing", {}};

std::vector<RecordType> of_text(std::string_view text) { return erlang::records_of_source(text, "shop").records; }

class MadeRecords final : public RecordNames {
public:
    const RecordType* find(std::string_view module, std::string_view tag, std::uint64_t arity) override {
        if (module != "shop") return nullptr;
        for (const RecordType* each : {&state, &session})
            if (each->name == tag && each->arity() == arity) return each;
        return nullptr;
    }
};

struct Printing {
    test::MadeSnapshot made;
    analyses::RecordScope scope;
    Printing() {
        made.s.records = std::make_shared<MadeRecords>();
        scope = analyses::RecordScope(made.s, "shop");
    }
    std::string print(std::string_view text, present::PrintOptions options = {}, bool as_tuples = false) const {
        const auto term = parse_term(text);
        options.records = &scope;
        options.as_records = !as_tuples;
        options.module = scope.module();
        return present::term_text(*term, term->term(), options);
    }
};

}  // namespace

TEST_CASE("records are read out of abstract code, with defaults and types", "[records]") {
    const std::string info = debug_info(
        {other_form,
         record_form("state", {field("socket"), field_with_default("sessions"), typed(field_with_default("password"))}),
         "j", record_form("nothing", {}), other_form, record_form("session", {typed(field("id")), field("buffer")})});
    CHECK(read(info) == std::vector<RecordType>{state, empty_record, session});

    SECTION("in a module's chunk, before OTP 20 in another one") {
        testing::MadeModule module;
        CHECK(*beam::read_records(module.chunk("Atom", "").chunk("Dbgi", info).bytes()) ==
              std::vector<RecordType>{state, empty_record, session});
        const std::string old =
            "\x83" + record_tuple({record_atom("raw_abstract_v1"),
                                   record_list({record_form("session", {field("id"), field("buffer")})})});
        testing::MadeModule abst;
        CHECK(*beam::read_records(abst.chunk("Abst", old).bytes()) == std::vector<RecordType>{session});
        testing::MadeModule none;
        CHECK(beam::read_records(none.chunk("Atom", "").bytes())->empty());
    }
    SECTION("what is of another form is no record, and hides none") {
        const std::string odd = record_tuple({record_atom("attribute"), anno, record_atom("record"), "j"});
        const std::string odder = record_form("odd", {record_atom("x"), field("a")});
        CHECK(read(debug_info({odd, odder, record_form("session", {field("id"), field("buffer")})})) ==
              std::vector<RecordType>{session});
        CHECK(read("\x83" + record_tuple({record_atom("debug_info_v1"), record_atom("elixir_erl"), "j"})).empty());
        CHECK(read("encrypted bytes").empty());
        CHECK(read("").empty());
    }
    SECTION("a text that ends anywhere is damaged, and no more") {
        for (std::size_t size = 1; size < info.size(); ++size) {
            const auto cut = beam::records_of_debug_info(info.substr(0, size));
            if (cut) CHECK((cut->empty() || cut->size() == 3));  // what stands behind the forms is of no interest
            else CHECK(cut.error().message.find("debug information") != std::string::npos);
        }
    }
    SECTION("random bytes end") {
        std::mt19937 random(7);
        for (int i = 0; i < 2000; ++i) {
            std::string other = info;
            for (int k = 0; k < 3; ++k) other[random() % other.size()] = static_cast<char>(random());
            const auto found = beam::records_of_debug_info(other);
            if (found) CHECK(found->size() <= 4);
        }
    }
    SECTION("deep terms do not recurse, long counts are not believed") {
        std::string nested = "\x83";
        for (int i = 0; i < 500'000; ++i) nested += "h\x01";
        CHECK_FALSE(beam::records_of_debug_info("\x83h\x03" + record_atom("debug_info_v1") +
                                                record_atom("erl_abstract_code") + "h\x02l" + testing::four(1) +
                                                nested.substr(1)));
        const std::string many =
            "\x83h\x03" + record_atom("debug_info_v1") + record_atom("erl_abstract_code") + "h\x02l\xff\xff\xff\xff";
        CHECK_FALSE(beam::records_of_debug_info(many));
        CHECK_FALSE(beam::records_of_debug_info("\x83P\xff\xff\xff\xff"));  // says that it is 4 GiB
    }
}

TEST_CASE("records are read out of sources", "[records]") {
    CHECK(of_text("-record(state, {socket, sessions, password}).") == std::vector<RecordType>{state});
    CHECK(of_text("-record(nothing, {}).") == std::vector<RecordType>{empty_record});
    CHECK(of_text("%% -record(old, {a}).\n-module(shop).\n-record(?MODULE, {id, buffer}).") ==
          std::vector<RecordType>{{"shop", {"id", "buffer"}}});
    CHECK(of_text("-record('odd one', {'a b' = 'x, y' :: atom(), b}).\n") ==
          std::vector<RecordType>{{"odd one", {"a b", "b"}}});
    SECTION("defaults and types hold commas and braces") {
        CHECK(of_text(R"(-record(r, {
            a = {1, [2, 3], "}, x, y"} :: {integer(), list()} | undefined,  % a comment, with b = 1}
            b = fun(X, Y) -> {X, Y} end :: fun((term(), term()) -> tuple()),
            c = fun lists:map/2,
            d = case os:type() of {unix, _} -> 1, 2; _ -> 3 end,
            e = $},
            f = <<"a,b">> :: <<_:8, _:_*8>>,
            g = 1.5 :: float(),
            h = #r2{x = 1, y = 2},
            i = $\},
            j
        }).)") == std::vector<RecordType>{{"r", {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}}});
    }
    SECTION("macros as names are left out, and nothing else with them") {
        CHECK(of_text("-record(?NAME, {a}). -record(r, {?FIELD, b}). -record(session, {id = ?D(1, 2), buffer}).") ==
              std::vector<RecordType>{session});
    }
    SECTION("other uses of the word are none") {
        CHECK(
            of_text("f() -> -record(x, {a}).\n-type record() :: x. -record(session, {id, buffer}). -record.").size() ==
            1);
    }
    SECTION("includes") {
        const auto read =
            erlang::records_of_source("-include(\"shop.hrl\").\n-include_lib(\"shop/include/a.hrl\").\n", "shop");
        CHECK(read.includes == std::vector<std::string>{"shop.hrl", "shop/include/a.hrl"});
    }
    SECTION("any bytes are a source") {
        std::mt19937 random(11);
        const std::string alphabet = "-record(){}[],.'\"$%\\ =:<>fun end case\n";
        for (int i = 0; i < 3000; ++i) {
            std::string text = "-record(r,{a=";
            for (int k = 0; k < 40; ++k) text += alphabet[random() % alphabet.size()];
            CHECK(of_text(text).size() <= 3);
        }
        CHECK(of_text("-record(r, {" + std::string(100'000, '(') + "a}).").empty());
    }
}

TEST_CASE("records of OTP's own modules are known", "[records]") {
    const auto has = [](std::string_view module, std::string_view record, std::string_view wanted,
                        std::uint64_t arity) {
        for (const RecordType& each : erlang::otp_records(module))
            if (each.name == record && each.arity() == arity)
                return std::ranges::find(each.fields, wanted) != each.fields.end();
        return false;
    };
    CHECK(has("supervisor", "state", "children", 11));
    CHECK(has("supervisor", "state", "auto_shutdown", 12));
    CHECK(has("supervisor", "child", "mfargs", 8));
    CHECK(has("supervisor", "child", "significant", 9));
    CHECK(has("gen_event", "handler", "state", 5));
    CHECK(has("gen_statem", "params", "modules", 7));
    CHECK(has("tls_server_connection", "state", "static_env", 12));  // of the family's header
    CHECK(has("mnesia_tm", "state", "coordinators", 7));
    CHECK(erlang::otp_records("shop").empty());
}

TEST_CASE("tuples that are records are printed as such", "[records][terms]") {
    const Printing printing;
    CHECK(printing.print("{state,#Port<0.6>,[],undefined}") ==
          "#state{socket = #Port<0.6>,sessions = [],password = undefined}");
    CHECK(printing.print("{ok,[{session,1,[]}]}") == "{ok,[#session{id = 1,buffer = []}]}");
    CHECK(printing.print("#{a=>{session,1,{session,2,[]}}}") ==
          "#{a => #session{id = 1,buffer = #session{id = 2,buffer = []}}}");
    SECTION("of another size they are tuples") {
        CHECK(printing.print("{state,1,2}") == "{state,1,2}");
        CHECK(printing.print("{session,1,2,3}") == "{session,1,2,3}");
        CHECK(printing.print("{session}") == "{session}");
        CHECK(printing.print("{1,2,3}") == "{1,2,3}");
    }
    SECTION("as Elixir writes them") {
        CHECK(printing.print("{session,1,abc}", {.syntax = present::Syntax::elixir}) == "session(id: 1, buffer: :abc)");
    }
    SECTION("a field whose name is that of a secret") {
        CHECK(printing.print("{state,1,2,<<\"hunter2\">>}", {.hide_secrets = true}) ==
              "#state{socket = 1,sessions = 2,password = '***'}");
        CHECK(printing.print("{state,1,2,undefined}", {.hide_secrets = true}) ==
              "#state{socket = 1,sessions = 2,password = undefined}");
        CHECK(printing.print("{state,1,2,{salted,<<\"hunter2\">>}}", {.hide_secrets = true}) ==
              "#state{socket = 1,sessions = 2,password = '***'}");
        CHECK(printing.print("{state,1,2,hunter2}", {.hide_secrets = true}, true) == "{state,1,2,'***'}");
        const auto term = parse_term("{[{state,1,2,<<\"hunter2\">>}],{session,password,<<\"hunter3\">>}}");
        present::SecretTerms secrets(*term, &printing.scope);
        CHECK(secrets.elements_of(term->term().id).empty());
        ElementCursor cursor = term->elements(term->term().id);
        Element list, record;
        REQUIRE(term->next(cursor, list));
        ElementCursor cell = term->elements(list.id);
        REQUIRE(term->next(cell, record));
        CHECK(secrets.elements_of(record.id) == std::vector<std::uint64_t>{3});
    }
    SECTION("they are cut within the bounds, and closed") {
        const std::string text = "{state,{session,1,[1000,2000,3000]},{session,2,{a,b,c}},undefined}";
        for (const present::Syntax syntax : {present::Syntax::erlang, present::Syntax::elixir})
            for (std::size_t most = 1; most < 200; ++most) {
                const std::string cut = printing.print(text, {.syntax = syntax, .max_bytes = most});
                CHECK(cut.size() < most + 80);
                CHECK(std::ranges::count(cut, '{') == std::ranges::count(cut, '}'));
                CHECK(std::ranges::count(cut, '(') == std::ranges::count(cut, ')'));
            }
        CHECK(printing.print(text, {.max_bytes = 40}).find("...") != std::string::npos);
    }
    SECTION("values are hidden in them as in tuples") {
        present::RedactOptions options;
        options.level = present::RedactLevel::values;
        const present::Redactor values(options);
        const std::string printed = printing.print("{session,<<\"alice\">>,\"her text\"}");
        const std::string hidden = values.apply(printed, present::Content::term);
        CHECK(hidden.starts_with("#session{id = <<5 bytes #"));
        CHECK(hidden.find("alice") == std::string::npos);
        CHECK(hidden.find("her text") == std::string::npos);
        CHECK(hidden.find(",buffer = ") != std::string::npos);
    }
    SECTION("and their shapes say their fields") {
        const auto term = parse_term("[{session,1,[]},{session,2,[]}]");
        const present::Names names(printing.made.s, present::Syntax::erlang);
        const auto words = [&](const analyses::ShapeRecords& records) {
            std::string text;
            for (const auto& piece :
                 present::spell(names, analyses::shape_in_words(*term, term->term(), records)).pieces)
                text += piece.text;
            return text;
        };
        CHECK(words({&printing.scope, "shop"}) == "a list of 2 #session{id, buffer}");
        CHECK(words({}) == "a list of 2 {session, integer, list}");
    }
}

TEST_CASE("records of Elixir are read out of their macros", "[records]") {
    const std::string one = elixir_macro("session", "__access__", elixir_fields({"id", "buffer"}));
    const std::string other = elixir_macro("state", "__access__", elixir_fields({"socket", "sessions", "password"}));
    const std::string plain =
        record_tuple({record_tuple({record_atom("f"), std::string("a\x00", 2)}), record_atom("def"), "j",
                      record_list({record_tuple({"j", "j", "j", record_atom("ok")})})});
    const std::string super = record_tuple(
        {record_tuple({record_atom("session"), std::string("a\x00", 2)}), record_atom("defmacro"), "j",
         record_list({record_tuple({"j", "j", "j", record_tuple({record_atom("super"), "j", record_list({"j"})})})})});
    CHECK(read(elixir_info({plain, one, one, super, plain, other, super})) == std::vector<RecordType>{session, state});

    SECTION("what is of another form is no record, and hides none") {
        const std::string odd_fields = record_list({record_tuple({record_atom("id"), "j"}), record_atom("x")});
        CHECK(read(elixir_info(
                  {elixir_macro("odd", "__access__", odd_fields), elixir_macro("odd", "__access__", "j"),
                   elixir_macro("odd", "other", elixir_fields({"id"})), "j", record_tuple({"j", "j", "j", "j"}),
                   record_tuple({"j", record_atom("defmacro"), "j", record_list({"j", record_tuple({"j", "j"})})}),
                   record_tuple(
                       {"j", record_atom("defmacro"), "j",
                        record_list({record_tuple({"j", "j", "j", record_tuple({"j", "j", "j"})}),
                                     record_tuple({"j", "j", "j", record_tuple({record_tuple({"j"}), "j", one})})})}),
                   one})) == std::vector<RecordType>{session});
    }
    SECTION("what ends early is damaged") {
        const std::string whole = elixir_info({one});
        for (std::size_t size = 60; size < whole.size(); ++size) {
            const auto records = beam::records_of_debug_info(whole.substr(0, size));
            CHECK((!records || records->size() <= 1));
        }
    }
}
