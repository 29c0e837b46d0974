// SPDX-License-Identifier: Apache-2.0
// Sentences of typed parts: how they are made, spelled in both languages, and redacted.
#include <catch2/catch.hpp>
#include <string>
#include <type_traits>

#include "analyses/base/sentence.hpp"
#include "analyses/diagnosis/summary.hpp"
#include "present/carriers.hpp"
#include "present/describe.hpp"
#include "present/diff.hpp"
#include "present/findings.hpp"
#include "present/glued_text.hpp"
#include "present/render.hpp"
#include "present/sanitise.hpp"
#include "present/secrets/redact.hpp"
#include "present/spelling.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using namespace beamheap::present;
using test::MadeSnapshot;

namespace {

std::string in(Syntax syntax, const Snapshot& s, const Sentence& text) { return spell(Names(s, syntax), text).raw(); }

std::string fully_redacted(const Snapshot& s, const Sentence& text) {
    return Redactor(redaction(RedactLevel::full, {1, 2}, s, {})).apply(spell(Names(s, Syntax::erlang), text));
}

}  // namespace

// A text of a node is no literal: neither it nor a view of it becomes words of ours.
static_assert(!std::is_convertible_v<std::string, Ours>);
static_assert(!std::is_convertible_v<std::string_view, Ours>);
static_assert(!std::is_constructible_v<Ours, std::string>);
static_assert(!std::is_constructible_v<Ours, std::string_view>);
static_assert(!std::is_constructible_v<Sentence, std::string>);
static_assert(!std::is_constructible_v<Part, std::string>);
static_assert(!std::is_constructible_v<Part, std::string_view>);

TEST_CASE("a sentence is its words and parts, spelled in either language", "[sentence]") {
    MadeSnapshot m;
    m.process(1, "Elixir.MyShop.Carts");
    Process& unnamed = m.process(2);
    unnamed.initial_call = m.function("Elixir.MyShop.Carts", "init", 1);
    const FunctionId call = m.function("gen_server", "call", 3);
    const TextId node = m.text("shop@host");
    const Snapshot& s = m.seal();
    const ProcId carts = s.find({0, 1, 0}), other = s.find({0, 2, 0});
    const Sentence text = sentence("{} has {} ({}, {}) in {} for {} on {}", carts, Counted{1, "message", "messages"},
                                   Percent{1.4}, Amount{1536, AmountUnit::bytes}, call, other, Name{node});
    CHECK(in(Syntax::erlang, s, text) ==
          "Elixir.MyShop.Carts <0.1.0> has 1 message (1.4 %, 1.5 KiB) in gen_server:call/3 for <0.2.0> "
          "('Elixir.MyShop.Carts':init/1) on shop@host");
    CHECK(in(Syntax::elixir, s, text) ==
          "MyShop.Carts #PID<0.1.0> has 1 message (1.4 %, 1.5 KiB) in :gen_server.call/3 for #PID<0.2.0> "
          "(MyShop.Carts.init/1) on shop@host");
    CHECK(in(Syntax::erlang, s, sentence("{}", AnyProcess{{0, 99, 0}})) == "<0.99.0>");
    CHECK(in(Syntax::erlang, s, sentence("{} and {}", FunctionId::none, Atom{"odd name"})) ==
          "an unknown function and 'odd name'");
    CHECK(in(Syntax::elixir, s, sentence("{} {}", Atom{"Elixir.A"}, Atom{"Elixir.A", false})) == "A A");
}

TEST_CASE("terms that the input has printed are told in the reader's language", "[sentence]") {
    MadeSnapshot m;
    const Snapshot& s = m.seal();
    const std::string printed = "{'Elixir.MyApp.Worker',<0.1.0>,lists:map/2}";
    const Sentence text = sentence("messages of the form {}", InputText{printed, InputText::Holds::term});
    CHECK(in(Syntax::elixir, s, text) == "messages of the form {MyApp.Worker, #PID<0.1.0>, :lists.map/2}");
    CHECK(printed_text("#{a=>[1,\"x\"],'odd one'=><<\"b\">>,<<1,2>>=>#Ref<0.1.2.3>}", Syntax::elixir) ==
          "%{:a => [1, ~c\"x\"], :\"odd one\" => \"b\", <<1,2>> => #Ref<0.1.2.3>}");
    CHECK(printed_text("{timeout,#Ref,{_,true,[...]}}", Syntax::elixir) == "{:timeout, #Ref, {_, true, [...]}}");
    CHECK(printed_text("{order,integer(),#{sku=>binary()}}", Syntax::elixir) ==
          "{:order, integer(), %{:sku => binary()}}");
    CHECK(bare_text("Elixir.Shop.Shelf<int>", Syntax::elixir) == "Shop.Shelf<int>");
    CHECK(bare_text("Elixir.shop", Syntax::elixir) == "Elixir.shop");
    CHECK(bare_text("Elixir.Shop.Shelf<int>", Syntax::erlang) == "Elixir.Shop.Shelf<int>");
    for (const char* cut : {"{'Elixir.A", "<<\"b", "#Ref<0.1", "#", "'\\", "<0.1"})
        CHECK(!printed_text(cut, Syntax::elixir).empty());
    CHECK(in(Syntax::erlang, s, text) == "messages of the form " + printed);
}

TEST_CASE("commands take the input as a word of the shell", "[sentence]") {
    MadeSnapshot m;
    m.s.source.path = "it's here.dump";
    const Snapshot& s = m.seal();
    CHECK(in(Syntax::erlang, s, sentence("See: {}", Command{"msgs", Pid{0, 5, 0}, "--by shape"})) ==
          "See: beamheap msgs 'it'\\''s here.dump' 0.5.0 --by shape");
    // In words of ours a command stands between backticks; other code keeps its words.
    const Sentence words = Ours("See `beamheap top DUMP --by memory`, then `ulimit -c`.");
    CHECK(in(Syntax::elixir, s, words) == "See beamheap top 'it'\\''s here.dump' --by memory, then ulimit -c.");
    CHECK(spell(words).raw() == "See beamheap top DUMP --by memory, then ulimit -c.");
    CHECK(!words.names_command("top"));
    CHECK(Sentence(Ours("`beamheap analyze DUMP` tells")).names_command("analyze"));
    const Sentence function = Ours("Copy it: `binary:copy/1`.");
    CHECK(in(Syntax::erlang, s, function) == "Copy it: binary:copy/1.");
    CHECK(in(Syntax::elixir, s, function) == "Copy it: :binary.copy/1.");
    // A node's text that looks like one is none.
    const Sentence text = sentence("{}", InputText{"`beamheap top DUMP`", InputText::Holds::message});
    CHECK(in(Syntax::erlang, s, text) == "`beamheap top DUMP`");
}

TEST_CASE("full redaction hides every private word and none of ours", "[sentence]") {
    MadeSnapshot m;
    // Names of the node that are words of our own sentences, too.
    m.process(1, "culprit");
    m.process(2, "messages");
    const FunctionId call = m.function("user_queue", "token", 3);
    for (const char* word : {"has", "in", "its", "queue", "culprit", "token", "critical", "memory"}) m.text(word);
    const Snapshot& s = m.seal();
    const Sentence text =
        sentence("{} has {} in its queue; it sits in {}: {}", s.find({0, 1, 0}), Counted{7, "message", "messages"},
                 call, InputText{"{culprit,\"secret words\",token}", InputText::Holds::term});
    const std::string shown = fully_redacted(s, text);
    CHECK(shown.find(" <0.1.0> has 7 messages in its queue; it sits in x_") != shown.npos);
    for (const char* word : {"culprit", "token", "user_queue", "secret"}) {
        INFO(shown);
        CHECK(shown.find(word) == shown.npos);
    }
    const std::string free = fully_redacted(
        s, sentence("A node left a crash dump: {}", InputText{"culprit has a token", InputText::Holds::message}));
    CHECK(free.starts_with("A node left a crash dump: x_"));
    CHECK(free.find("token") == free.npos);
}

TEST_CASE("parts of a title are told one by one", "[sentence]") {
    MadeSnapshot m;
    m.process(1, "writer");
    const Snapshot& s = m.seal();
    const Array parts = sentence_parts(Names(s, Syntax::erlang),
                                       sentence("{} has {}", s.find({0, 1, 0}), Counted{2, "message", "messages"}));
    REQUIRE(parts.size() == 3);
    const auto member = [&](std::size_t part, std::size_t at) {
        return (*std::get<std::shared_ptr<const Object>>(parts[part].data()))[at];
    };
    const auto kind = [&](std::size_t part) { return std::get<std::string>(member(part, 0).second.data()); };
    const auto text = [&](std::size_t part) {
        return std::get<std::shared_ptr<const Text>>(member(part, 1).second.data())->raw();
    };
    CHECK(kind(0) == "process");
    CHECK(text(0) == "writer <0.1.0>");
    CHECK(member(0, 2).first == "pid");
    CHECK(kind(1) == "text");
    CHECK(text(1) == " has ");
    CHECK(kind(2) == "count");
    CHECK(text(2) == "2 messages");
    CHECK(std::get<std::uint64_t>(member(2, 2).second.data()) == 2);
}

TEST_CASE("what the slogan means is said once", "[sentence]") {
    MadeSnapshot m;
    m.s.node.slogan = "no more index entries in atom_tab (max=1048576)";
    const Snapshot& s = m.seal();
    Diagnosis diagnosis;
    diagnosis.slogan = read_death(s.node);
    Finding finding;
    finding.severity = FindingSeverity::critical;
    finding.title = diagnosis.slogan.meaning;
    finding.tells_slogan = true;
    finding.next_steps = {diagnosis.slogan.next_steps.front()};
    diagnosis.findings = {finding};
    summarise(s, diagnosis);
    CHECK(diagnosis.says_worst);
    REQUIRE(diagnosis.summary.size() == 1);
    CHECK(diagnosis.summary[0] == diagnosis.slogan.meaning);
    CHECK(diagnosis.next_steps.size() == diagnosis.slogan.next_steps.size() - 1);
    // A finding of its own words stands before it.
    diagnosis.summary.clear();
    diagnosis.next_steps.clear();
    diagnosis.findings[0].title = sentence("The atom table is full");
    diagnosis.findings[0].tells_slogan = false;
    summarise(s, diagnosis);
    REQUIRE(diagnosis.summary.size() == 2);
    CHECK(plain_text(s, diagnosis.summary[0]) == "The atom table is full.");
    CHECK(diagnosis.summary[1] == diagnosis.slogan.meaning);
}

TEST_CASE("who was running is told, but for those who run at every end of its kind", "[sentence]") {
    const auto told = [](const char* slogan, const char* name) {
        MadeSnapshot m;
        m.process(5, name).state = ProcessState::running;
        m.s.node.slogan = slogan;
        const Snapshot& s = m.seal();
        Diagnosis diagnosis;
        diagnosis.slogan = read_death(s.node);
        diagnosis.death.evidence = DeathEvidence::calling_thread;
        diagnosis.death.process = ProcId{0};
        diagnosis.death.pid = s[ProcId{0}].pid;
        diagnosis.death.state = ProcessState::running;
        summarise(s, diagnosis);
        for (const Sentence& sentence : diagnosis.summary)
            if (plain_text(s, sentence).find(" was running") != std::string::npos) return plain_text(s, sentence);
        return std::string();
    };
    const char* const start = "Runtime terminating during boot ({badarg,[{shop,start,2,[]}]})";
    const char* const atoms = "no more index entries in atom_tab (max=1048576)";
    CHECK(told(start, "init").empty());
    CHECK(told(start, "shop").starts_with("shop <0.5.0> was running"));
    CHECK(told(atoms, "init").starts_with("init <0.5.0> was running"));
    CHECK(told(atoms, "erl_signal_server").starts_with("erl_signal_server <0.5.0> was running"));
    CHECK(told("Received SIGUSR1", "erl_signal_server").empty());
    CHECK(told("Received SIGUSR1", "init").starts_with("init <0.5.0> was running when the dump was asked for"));
}

TEST_CASE("what grew is named as names are written", "[sentences]") {
    const auto named = [](GrowthOf what, std::string key) {
        return key_text({.what = what, .key = std::move(key)}, Syntax::elixir);
    };
    CHECK(named(GrowthOf::process, "Elixir.Shop.Cart") == "Shop.Cart");
    CHECK(named(GrowthOf::process, "rex") == "rex");
    CHECK(named(GrowthOf::process_group, "'Elixir.Shop.Cart':init/1") == "Shop.Cart.init/1");
    CHECK(named(GrowthOf::process_group, "{worker,'Elixir.Shop'}") == "{:worker, Shop}");
    CHECK(named(GrowthOf::process_group, "(unknown)") == "(unknown)");
    CHECK(named(GrowthOf::stack, "gen_server:loop/7 < 'Elixir.Shop':run/0") == ":gen_server.loop/7 < Shop.run/0");
    CHECK(named(GrowthOf::ets_table, "Elixir.Shop.Table of Elixir.Shop.Registry") == "Shop.Table of Shop.Registry");
    CHECK(named(GrowthOf::ets_table, "tab of 'Elixir.Shop':init/1") == "tab of Shop.init/1");
    CHECK(named(GrowthOf::timer_receiver, "Elixir.Shop {tick,'Elixir.Shop'}") == "Shop {:tick, Shop}");
    CHECK(named(GrowthOf::atom_family, "Elixir.Shop.Shelf<int>") == "Shop.Shelf<int>");
    CHECK(named(GrowthOf::memory, "processes_used") == "processes_used");
    CHECK(key_text({.what = GrowthOf::process, .key = "Elixir.Shop"}, Syntax::erlang) == "Elixir.Shop");
}

TEST_CASE("a terminal's edge breaks no command", "[sentences]") {
    MadeSnapshot made;
    const Redactor redactor(redaction(RedactLevel::none, {1, 2}, made.s, {}));
    const Sentence step = sentence("See what it holds: {}", Command{"heap", Pid{0, 42, 0}, "--depth 3"});
    const std::string glued = glued_text(spell(Names(made.s, Syntax::erlang), step), redactor);
    for (const std::size_t width : {20u, 40u, 60u}) {
        const std::string folded = wrapped(glued, width, 4);
        CHECK(folded.find("0.42.0 --depth 3") != folded.npos);
        CHECK(folded.find(glued_blank) == folded.npos);
    }
}

TEST_CASE("names in free texts go at `full`, whichever table has them", "[redact]") {
    MadeSnapshot m;
    m.process(1, "orders");
    m.s.atoms = {m.text("cart_store"), m.text("of"), m.text("wishlist"), m.text("Elixir.Wish")};
    m.s.node.slogan = "stop of orders, cart_store, other_store, wishlist Wish";
    const Redactor redactor(redaction(RedactLevel::full, {1, 2}, m.s, {}));
    const std::string shown = redactor.apply(m.s.node.slogan, Content::message);
    for (const char* own : {"orders", "cart_store", "other_store", " Wish"})
        CHECK(shown.find(own) == std::string::npos);
    CHECK(shown.starts_with("stop of x_"));              // "of" is an atom, too
    CHECK(shown.find("wishlist") != std::string::npos);  // and this one a word, which nothing is called by

    Carriers carriers;
    carriers.carriers.push_back({.kept_by = {"heap of orders <0.1.0>, 1872 bytes"}});
    const Table table = carrier_table(Names(m.s, Syntax::erlang), carriers, {0});
    Document document;
    document.members.push_back({.key = "rows", .title = "", .body = table});
    RenderOptions options;
    options.format = "json";
    options.redact = redaction(RedactLevel::full, {1, 2}, m.s, {});
    StringSink sink;
    REQUIRE(render(document, options, sink));
    CHECK(sink.text().find("heap of x_") != std::string::npos);
    CHECK(sink.text().find("orders") == std::string::npos);
}
