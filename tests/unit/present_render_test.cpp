// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "present/erlang_text.hpp"
#include "present/render.hpp"
#include "present/sanitise.hpp"
#include "present/units.hpp"

using namespace beamheap;
using namespace beamheap::present;

namespace {

Table sample_table(std::size_t rows) {
    Table table;
    table.columns = {{.name = "pid", .title = "PID", .doc = "process"},
                     {.name = "name", .title = "NAME", .doc = "name", .content = Content::name},
                     {.name = "msgq_len", .title = "QUEUE", .unit = Unit::count, .doc = "queue"},
                     {.name = "memory_bytes", .title = "MEMORY", .unit = Unit::bytes, .doc = "memory"},
                     {.name = "term", .title = "TERM", .doc = "term", .content = Content::term, .wide = true}};
    table.rows = table.total = rows;
    table.cell = [](std::size_t row, std::size_t column) -> Value {
        switch (column) {
            case 0: return "<0." + std::to_string(row) + ".0>";
            case 1: return row % 2 == 0 ? Value("name_" + std::to_string(row)) : Value();
            case 2: return row % 3 == 2 ? Value() : Value(static_cast<std::uint64_t>(row * 7 % 100));
            case 3: return static_cast<std::uint64_t>(row) * 1024;
            default: return "{password,\"hunter2\"}";
        }
    };
    return table;
}

Document sample(std::size_t rows) {
    Document document;
    document.kind = "top";
    document.source = {{"path", "erl\x1b[31m_crash.dump"}, {"complete", true}, {"truncation", nullptr}};
    document.warnings = {{"truncated", 1, "data_loss", Text{}.add("the input ends early")}};
    document.lead = {Text{}.add("lager_event was drowning")};
    document.members.push_back({.key = "totals",
                                .title = "Totals",
                                .body = Value(Object{{"live_words", std::uint64_t{12345}}, {"lost_bytes", nullptr}})});
    document.members.push_back({.key = "rows", .title = "", .body = sample_table(rows)});
    return document;
}

std::string rendered(const Document& document, RenderOptions options) {
    StringSink sink;
    const Status status = render(document, options, sink);
    return status ? sink.text() : "error: " + status.error().message + " | " + status.error().advice;
}
RenderOptions in(std::string format) {
    RenderOptions options;
    options.format = std::move(format);
    return options;
}
std::size_t lines(std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("units as people read them", "[present]") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(12345) == "12,345");
    CHECK(grouped(18446744073709551615ull) == "18,446,744,073,709,551,615");
    CHECK(human_bytes(512) == "512 B");
    CHECK(human_bytes(1023) == "1023 B");
    CHECK(human_bytes(1024) == "1.0 KiB");
    CHECK(human_bytes(1024 * 1024 - 1) == "1.0 MiB");
    CHECK(human_bytes(2040109466) == "1.9 GiB");
    CHECK(human_bytes(123u << 20) == "123 MiB");
    CHECK(human_bytes(~0ull) == "16.0 EiB");
    CHECK(human_percent(87.4) == "87 %");
    CHECK(human_percent(1.44) == "1.4 %");
    CHECK(human_percent(0.001) == "<0.1 %");
    CHECK(human_percent(0) == "0 %");
    CHECK(human_percent(-0.01) == "0 %");
    CHECK(human_percent(-3.21) == "-3.2 %");
    CHECK(human_percent(100) == "100 %");
    CHECK(human_duration(999) == "999 ms");
    CHECK(human_duration(12345) == "12.3 s");
    CHECK(human_duration(7500000) == "2 h 05 min");
    CHECK(counted(1, "process", "processes") == "1 process");
    CHECK(counted(1200, "process", "processes") == "1,200 processes");
}

TEST_CASE("names as Erlang and Elixir write them", "[present]") {
    CHECK(atom_text("lager_event", Syntax::erlang) == "lager_event");
    CHECK(atom_text("a@b_C1", Syntax::erlang) == "a@b_C1");
    CHECK(atom_text("end", Syntax::erlang) == "'end'");
    CHECK(atom_text("maybe", Syntax::erlang) == "'maybe'");
    CHECK(atom_text("hello world", Syntax::erlang) == "'hello world'");
    CHECK(atom_text("quo'te\\", Syntax::erlang) == "'quo\\'te\\\\'");
    CHECK(atom_text("nl\natom", Syntax::erlang) == "'nl\\natom'");
    CHECK(atom_text("", Syntax::erlang) == "''");
    CHECK(atom_text("Upper", Syntax::erlang) == "'Upper'");
    CHECK(atom_text("日本", Syntax::erlang) == "'日本'");
    CHECK(atom_text("nil", Syntax::elixir) == "nil");
    CHECK(atom_text("ok", Syntax::elixir) == ":ok");
    CHECK(atom_text("Elixir.MyApp.Worker", Syntax::elixir) == "MyApp.Worker");
    CHECK(atom_text("Elixir.not an alias", Syntax::elixir) == ":\"Elixir.not an alias\"");
    CHECK(atom_text("hello world", Syntax::elixir) == ":\"hello world\"");
    CHECK(function_text("lists", "map", 2, Syntax::erlang) == "lists:map/2");
    CHECK(function_text("erlang", "+", 2, Syntax::erlang) == "erlang:'+'/2");
    CHECK(function_text("m", "-loop/3-fun-0-", 1, Syntax::erlang) == "m:'-loop/3-fun-0-'/1");
    CHECK(function_text("Elixir.MyApp.Worker", "handle_call", 3, Syntax::erlang) ==
          "'Elixir.MyApp.Worker':handle_call/3");
    CHECK(function_text("Elixir.MyApp.Worker", "handle_call", 3, Syntax::elixir) == "MyApp.Worker.handle_call/3");
    CHECK(function_text("lists", "map", 2, Syntax::elixir) == ":lists.map/2");
    CHECK(function_text("erlang", "+", 2, Syntax::elixir) == ":erlang.+/2");
    CHECK(function_text("Elixir.A", "-init/1-fun-0-", 2, Syntax::elixir) == "anonymous fn/2 in A.init/1");
    CHECK(pid_text({0, 1, 2}, Syntax::erlang) == "<0.1.2>");
    CHECK(pid_text({0, 1, 2}, Syntax::elixir) == "#PID<0.1.2>");
    CHECK(pid_text({}, Syntax::erlang).empty());
}

TEST_CASE("a text table is aligned, human and cut at twenty rows", "[present]") {
    const std::string text = rendered(sample(30), in("table"));
    CHECK(text.find("lager_event was drowning\n\nTotals\nlive  12,345 words\n") == 0);
    CHECK(text.find("PID       NAME     QUEUE    MEMORY\n") != text.npos);
    CHECK(text.find("<0.0.0>   name_0       0       0 B\n") != text.npos);
    CHECK(text.find("<0.2.0>   name_2       -   2.0 KiB\n") != text.npos);
    CHECK(text.find("... 10 more\n") != text.npos);
    CHECK(text.find("TERM") == text.npos);
    CHECK(text.find('\x1b') == text.npos);
    RenderOptions all = in("table");
    all.top = 0;
    CHECK(lines(rendered(sample(300), all)) == 300 + 6);
}

TEST_CASE("on a terminal a row fits into the width", "[present]") {
    Document document = sample(3);
    RenderOptions options = in("table");
    options.columns = {"pid", "term", "msgq_len"};
    options.width = 32;
    options.redact.level = RedactLevel::none;
    const std::string text = rendered(document, options);
    CHECK(text.find("PID      TERM              QUEUE\n") != text.npos);
    CHECK(text.find("<0.0.0>  {password,\"hunt…      0\n") != text.npos);
    options.color = true;
    CHECK(rendered(document, options).find("\x1b[1m") != std::string::npos);
}

TEST_CASE("on a terminal a row goes on in a second line before a name in it is cut, and prose breaks at words",
          "[present]") {
    Document document = sample(3);
    document.lead = {Text{}.add("one two three four five six seven")};
    RenderOptions options = in("table");
    options.columns = {"pid", "name", "msgq_len"};
    options.width = 18;
    const std::string text = rendered(document, options);
    CHECK(text.find("<0.2.0>  name_2\n") != text.npos);
    CHECK(text.find("one two three four\nfive six seven\n") != text.npos);
    CHECK(wrapped("  -> a bcd ef", 8, 5) == "  -> a\n    bcd\n    ef");
    CHECK(wrapped("averylongword b", 6, 2) == "averylongword\n  b");
    CHECK(wrapped("a longword b", 9, 4) == "a\n longword\n    b");
    CHECK(wrapped("see: run\x1f"
                  "that\x1f"
                  "file b",
                  10, 2) == "see:\n  run that file\n  b");
    CHECK(wrapped("run\x1f"
                  "that",
                  0, 2) == "run that");
    // A printed term goes on behind its commas; a command that has some is copied as one.
    CHECK(wrapped("reason ({shutdown,{failed,user,nouser},[x]}) seen", 16, 2) ==
          "reason\n  ({shutdown,\n  {failed,user,\n  nouser},[x]})\n  seen");
    CHECK(wrapped("top\x1f"
                  "--columns\x1f"
                  "a,b,c,d",
                  10, 2) == "top --columns a,b,c,d");
}

TEST_CASE("JSON is one object with the contract's members", "[present]") {
    const nlohmann::json object = nlohmann::json::parse(rendered(sample(100), in("json")));
    CHECK(object["schema"] == "beamheap/1");
    CHECK(object["kind"] == "top");
    CHECK(object["source"]["path"] == "erl\x1b[31m_crash.dump");
    CHECK(object["source"]["truncation"].is_null());
    CHECK(object["warnings"][0]["name"] == "truncated");
    CHECK(object["rows"].size() == 100);
    CHECK(object["total_rows"] == 100);
    CHECK(object["rows"][1]["name"].is_null());
    CHECK(object["rows"][3]["msgq_len"] == 21);
    CHECK(object["rows"][3]["term"] == "{password,\"***\"}");
    CHECK(object["totals"]["live_words"] == 12345);
    const std::string text = rendered(sample(2), in("json"));
    CHECK(text.find("{\"schema\":\"beamheap/1\",\"kind\":\"top\",\n\"source\":{") == 0);
    CHECK(text.find("\x1b") == text.npos);
    CHECK(text == rendered(sample(2), in("json")));
}

TEST_CASE("NDJSON, CSV and TSV print the main table", "[present]") {
    const std::string ndjson = rendered(sample(3), in("ndjson"));
    CHECK(lines(ndjson) == 3);
    CHECK(ndjson.find("{\"pid\":\"<0.0.0>\",\"name\":\"name_0\",\"msgq_len\":0,\"memory_bytes\":0,\"term\":\"{password,"
                      "\\\"***\\\"}\"}\n") == 0);
    const std::string csv = rendered(sample(3), in("csv"));
    CHECK(csv.find(
              "pid,name,msgq_len,memory_bytes,term\n<0.0.0>,name_0,0,0,\"{password,\"\"***\"\"}\"\n<0.1.0>,,7,1024,") ==
          0);
    const std::string tsv = rendered(sample(3), in("tsv"));
    CHECK(tsv.find("pid\tname\tmsgq_len\tmemory_bytes\tterm\n") == 0);
    CHECK(rendered(sample(0), in("csv")) == "pid,name,msgq_len,memory_bytes,term\n");
    CHECK(rendered(sample(0), in("ndjson")).empty());
}

TEST_CASE("Markdown makes a table of twenty rows", "[present]") {
    const std::string text = rendered(sample(21), in("md"));
    CHECK(text.find("| PID | NAME | QUEUE | MEMORY |\n| --- | --- | ---: | ---: |\n| <0.0.0> | name_0 | 0 | 0 B |\n") !=
          text.npos);
    CHECK(text.find("... 1 more") != text.npos);
    CHECK(text.find("### Totals\n\n- live_words: 12,345\n") != text.npos);
}

TEST_CASE("columns are chosen and ordered in every format", "[present]") {
    RenderOptions options = in("csv");
    options.columns = {"memory_bytes", "pid"};
    CHECK(rendered(sample(2), options) == "memory_bytes,pid\n0,<0.0.0>\n1024,<0.1.0>\n");
    options.format = "json";
    CHECK(nlohmann::json::parse(rendered(sample(2), options))["rows"][1] ==
          nlohmann::json({{"memory_bytes", 1024}, {"pid", "<0.1.0>"}}));
    options.columns = {"memory"};
    CHECK(rendered(sample(2), options) == "error: there is no column memory | did you mean memory_bytes?");
    options.columns = {"zzzzzz"};
    CHECK(rendered(sample(2), options) ==
          "error: there is no column zzzzzz | columns are: pid name msgq_len memory_bytes term");
}

TEST_CASE("rows are sorted by any column, missing values last", "[present]") {
    RenderOptions options = in("csv");
    options.columns = {"pid", "msgq_len"};
    options.sort = "msgq_len";
    CHECK(rendered(sample(5), options) == "pid,msgq_len\n<0.4.0>,28\n<0.3.0>,21\n<0.1.0>,7\n<0.0.0>,0\n<0.2.0>,\n");
    options.descending = false;
    CHECK(rendered(sample(5), options) == "pid,msgq_len\n<0.0.0>,0\n<0.1.0>,7\n<0.3.0>,21\n<0.4.0>,28\n<0.2.0>,\n");
    options.sort = "pid";
    options.descending.reset();
    options.top = 3;
    CHECK(rendered(sample(12), options).find("<0.0.0>,0\n<0.1.0>,7\n<0.2.0>,\n") != std::string::npos);
    options.descending = true;
    CHECK(rendered(sample(12), options).find("\n<0.11.0>,\n<0.10.0>,70\n<0.9.0>,63\n") != std::string::npos);
    options.sort = "pidd";
    CHECK(rendered(sample(2), options) == "error: there is no column pidd | did you mean pid?");
}

TEST_CASE("an unknown format is a usage error", "[present]") {
    CHECK(rendered(sample(1), in("xml")) ==
          "error: there is no format xml | formats are: table json ndjson csv tsv md dot folded speedscope pprof svg");
    StringSink sink;
    const Status status = render(sample(1), in("xml"), sink);
    CHECK(status.error().code == ErrorCode::usage);
}

TEST_CASE("a reader that is gone ends the work early", "[present]") {
    struct Pipe {
        std::size_t pieces = 0;
        static bool closed(void* context, std::string_view) { return ++static_cast<Pipe*>(context)->pieces < 2; }
    } pipe;
    std::size_t made = 0;
    Document document = sample(1);
    Table table;
    table.columns = {{.name = "n", .title = "N"}};
    table.rows = table.total = 5'000'000;
    table.cell = [&made](std::size_t row, std::size_t) { return ++made, Value(static_cast<std::uint64_t>(row)); };
    document.members.back().body = std::move(table);
    Sink sink(&Pipe::closed, &pipe);
    CHECK(render(document, in("ndjson"), sink));
    CHECK(sink.closed());
    CHECK(pipe.pieces == 2);
    CHECK(made < 200'000);
}

TEST_CASE("an object table is an object, nested objects are lines below their row", "[present]") {
    Document document;
    document.kind = "proc";
    Table one = sample_table(1);
    document.members.push_back({.key = "process", .title = "", .body = std::move(one), .object = true});
    Table stack;
    stack.columns = {{.name = "function", .title = "FUNCTION"},
                     {.name = "slots", .title = "SLOTS", .content = Content::term, .below = true}};
    stack.rows = stack.total = 1;
    stack.cell = [](std::size_t, std::size_t column) -> Value {
        if (column == 0) return "gen_server:loop/7";
        return Array{Value(Object{{"name", "y(0)"}, {"term", "{token,\"abc\"}"}}),
                     Value(Object{{"name", "y(1)"}, {"term", "[]"}})};
    };
    document.members.push_back({.key = "stack", .title = "Stack", .body = std::move(stack)});
    document.primary = "process";
    const nlohmann::json object = nlohmann::json::parse(rendered(document, in("json")));
    CHECK(object["process"]["pid"] == "<0.0.0>");
    CHECK(object["stack"][0]["slots"][1]["name"] == "y(1)");
    CHECK(rendered(document, in("table"))
              .find("FUNCTION\ngen_server:loop/7\n    y(0)  {token,\"***\"}\n    y(1)  []\n") != std::string::npos);
    CHECK(rendered(document, in("csv")).find("pid,name,msgq_len") == 0);
}

TEST_CASE("an unknown word is answered with what was probably meant", "[present]") {
    const std::vector<std::string_view> verbs{"analyze", "top", "proc", "stacks", "schedulers"};
    CHECK(did_you_mean("analyse", verbs) == "did you mean analyze?");
    CHECK(did_you_mean("stakcs", verbs) == "did you mean stacks?");
    CHECK(did_you_mean("zzz", verbs).empty());
    CHECK(did_you_mean("pro", verbs) == "did you mean proc?");
}

TEST_CASE("what puts all of an answer in doubt stands in front of it, in every format", "[present]") {
    Document document = sample(2);
    document.warnings.insert(document.warnings.begin(),
                             {"layout_unproven", 1, "data_loss",
                              Text{}.add("figures may be wrong (\x1b[31mtable)", Content::message), true});
    const auto rendered = [&](std::string_view format) {
        RenderOptions options;
        options.format = format;
        StringSink sink;
        REQUIRE(render(document, options, sink));
        return sink.text();
    };
    CHECK(rendered("table").starts_with("warning: figures may be wrong ("));
    CHECK(rendered("table").find('\x1b') == std::string::npos);
    CHECK(rendered("md").starts_with("**Warning:** figures may be wrong ("));
    CHECK(nlohmann::json::parse(rendered("json"))["warnings"][0]["name"] == "layout_unproven");
    // The others' answer is data; theirs goes to standard error before it.
    CHECK(rendered("csv").starts_with("pid,"));
    RenderOptions options;
    const auto on_error = [&](auto* print) {
        StringSink sink;
        print(document, options, sink);
        return sink.text();
    };
    CHECK(on_error(&render_leading_warnings).starts_with("warning: figures may be wrong ("));
    CHECK(on_error(&render_leading_warnings).find("ends early") == std::string::npos);
    CHECK(on_error(&render_warnings) == "warning: the input ends early\n");
    options.width = 20;
    CHECK(on_error(&render_warnings) == "warning: the input\n  ends early\n");
    options.color = true;
    CHECK(on_error(&render_warnings) == "\x1b[33mwarning:\x1b[0m the input\n  ends early\n");
}

TEST_CASE("any member of an answer is a table where it is asked for", "[present]") {
    Document document = sample(3);
    document.primary = "rows";
    document.members.push_back(
        {.key = "pairs",
         .body = Value(Array{Object{{"key", "a"}, {"flat_words", std::uint64_t{3}}},
                             Object{{"key", "b"}, {"open", true}, {"pids", Array{"<0.1.0>", "<0.2.0>"}}}})});
    document.members.push_back({.key = "names", .body = Value(Array{"x", "y"})});
    RenderOptions options = in("csv");
    options.table = "totals";
    CHECK(rendered(document, options) == "live_words,lost_bytes\n12345,\n");
    options.table = "pairs";
    CHECK(rendered(document, options) ==
          "key,flat_words,open,pids\na,3,,\nb,,true,\"[\"\"<0.1.0>\"\",\"\"<0.2.0>\"\"]\"\n");
    options.columns = {"open", "key"};
    CHECK(rendered(document, options) == "open,key\n,a\ntrue,b\n");
    options.columns.clear();
    options.table = "names";
    CHECK(rendered(document, options) == "names\nx\ny\n");
    options.table = "row";
    CHECK(rendered(document, options) == "error: top has no table row | did you mean rows?");
    options.format = "ndjson";
    options.table = "pairs";
    CHECK(rendered(document, options) ==
          "{\"key\":\"a\",\"flat_words\":3,\"open\":null,\"pids\":null}\n"
          "{\"key\":\"b\",\"flat_words\":null,\"open\":true,\"pids\":[\"<0.1.0>\",\"<0.2.0>\"]}\n");
    // People get that table alone; JSON stays whole.
    options.format = "table";
    CHECK(rendered(document, options).find("lager_event") == std::string::npos);
    CHECK(rendered(document, options).find("<0.1.0> <0.2.0>") != std::string::npos);
    options.format = "json";
    CHECK(nlohmann::json::parse(rendered(document, options))["rows"].size() == 3);
}

TEST_CASE("one screen holds what ranks first, and says what it leaves out", "[present]") {
    const auto prose = [](std::string title, std::size_t count) {
        Array array;
        for (std::size_t i = 0; i < count; ++i) array.emplace_back("line " + std::to_string(i) + " of " + title);
        return Member{.title = std::move(title), .body = Value(std::move(array)), .in_json = false, .prose = true};
    };
    Document document;
    document.lead = {Text{}.add(std::string(200, 'x'))};
    document.members = {prose("worst", 30), prose("second", 3), prose("fact", 2), prose("third", 30)};
    document.members[0].rank = 1;
    document.members[1].rank = document.members[3].rank = 2;
    document.rest = Text{}.add("All: beamheap x -v");
    document.lines = 20;
    for (const std::size_t width : {std::size_t{0}, std::size_t{80}}) {
        RenderOptions options = in("table");
        options.width = width;
        const std::string text = rendered(document, options);
        CHECK(lines(text) <= 20);
        CHECK(text.find("line 1 of fact") != std::string::npos);
        CHECK(text.find("line 0 of worst") != std::string::npos);
        CHECK(text.find("line 29 of worst") == std::string::npos);
        CHECK(text.find("  ...\n") != std::string::npos);
        CHECK(text.find("Not shown: second, third. All: beamheap x -v") != std::string::npos);
    }
    // What is to be done stands behind what is cut, as long as there is room for the beginning, too.
    for (const std::size_t kept : {std::size_t{2}, std::size_t{20}}) {
        document.members[0].kept = kept;
        const std::string text = rendered(document, in("table"));
        CHECK(lines(text) <= 20);
        CHECK(text.find("line 0 of worst") != std::string::npos);
        CHECK((text.find("  ...\nline 28 of worst\nline 29 of worst\n") != std::string::npos) == (kept == 2));
    }
    document.members[0] = prose("worst", 2);
    document.members[0].rank = 1;
    const std::string text = rendered(document, in("table"));
    CHECK(text.find("line 2 of second") != std::string::npos);
    CHECK(text.find("Not shown: third.") != std::string::npos);
}

TEST_CASE("what is read whole stands below its row where the row is wider than the terminal", "[present]") {
    const auto told = [](std::size_t words, std::size_t width, std::optional<std::size_t> top = {},
                         bool alone = false) {
        Table table;
        table.columns = {{.name = "pid", .title = "PID"},
                         {.name = "what", .title = "WHAT", .content = Content::message, .wraps = true},
                         {.name = "holder", .title = "HELD BY", .content = Content::name}};
        table.rows = table.total = 1;
        table.cell = [words](std::size_t, std::size_t column) -> Value {
            std::string text = "ended";
            for (std::size_t i = 0; i < words; ++i) text += " badmatch";
            return column == 0   ? Value(std::string("<0.10.0>"))
                   : column == 1 ? Value(text)
                                 : Value(std::string("logger"));
        };
        Document document;
        document.members.push_back({.key = "rows", .body = std::move(table)});
        RenderOptions options = in("table");
        options.width = width;
        options.top = top;
        if (alone) options.columns = {"what"};
        return rendered(document, options);
    };
    CHECK(told(1, 32).find("PID       WHAT            HELD BY\n") == std::string::npos);
    CHECK(told(1, 33).find("PID       WHAT            HELD BY\n<0.10.0>  ended badmatch  logger\n") !=
          std::string::npos);
    CHECK(told(3, 32).find("PID       HELD BY\n  WHAT\n<0.10.0>  logger\n  ended badmatch badmatch\n") !=
          std::string::npos);
    CHECK(told(3, 0).find("<0.10.0>  ended badmatch badmatch badmatch  logger\n") != std::string::npos);  // no terminal
    CHECK(told(3, 20, {}, true).find("  WHAT") == std::string::npos);  // it is all that there is
    // Eight lines of it at the most, unless all is asked for: two words fit into one, the first line has "ended", too.
    const std::string line = "  badmatch badmatch\n";
    const auto lines_of_it = [&](const std::string& text) {
        std::size_t found = 0;
        for (std::size_t at = text.find(line); at != text.npos; at = text.find(line, at + 1)) ++found;
        return found;
    };
    CHECK(lines_of_it(told(15, 22)) == 7);
    CHECK(told(15, 22).find("...") == std::string::npos);
    CHECK(lines_of_it(told(17, 22)) == 6);
    CHECK(told(17, 22).find("  ...\n") != std::string::npos);
    CHECK(lines_of_it(told(17, 22, 0)) == 8);
}

TEST_CASE("where rows are too wide, names are cut in their middle and lesser columns are left out", "[present]") {
    Table table;
    table.columns = {{.name = "pid", .title = "PID"},
                     {.name = "function", .title = "FUNCTION", .content = Content::name},
                     {.name = "msgq_len", .title = "QUEUE", .unit = Unit::count},
                     {.name = "group", .title = "GROUP", .content = Content::name, .lesser = 2},
                     {.name = "work", .title = "WORK", .unit = Unit::count, .lesser = 1}};
    table.rows = table.total = 2;
    table.cell = [](std::size_t row, std::size_t column) -> Value {
        switch (column) {
            case 0: return "<0.10.0>";
            case 1: return std::string(row == 0 ? "rabbit_amqqueue_sup_sup:start_queue_process/3" : "short:f/1");
            case 2: return std::uint64_t{7};
            case 3: return std::string(30, 'g');
            default: return std::uint64_t{123456};
        }
    };
    Document document;
    document.members.push_back({.key = "rows", .body = std::move(table)});
    RenderOptions options = in("table");
    for (const std::size_t width : {40u, 50u, 63u, 64u, 80u, 103u}) {
        options.width = width;
        const std::string text = rendered(document, options);
        CAPTURE(width, text);
        std::string_view rest = text;
        std::size_t lines = 0;
        while (!rest.empty()) {
            const std::size_t end = rest.find('\n');
            CHECK(display_width(rest.substr(0, end)) <= width);
            rest.remove_prefix(end + 1);
            ++lines;
        }
        CHECK(text.find("<0.10.0>") != std::string::npos);
        CHECK(text.find("GROUP") != std::string::npos);  // in the head, or in the last line
        if (width < 64) CHECK(text.find("No room for GROUP") != std::string::npos);
        else CHECK(lines == 3);  // nothing has a line of its own
        CHECK((text.find("rabbit_amqqueue_sup_sup:start_queue_process/3") != std::string::npos) == (width == 103));
    }
    options.width = 60;
    options.columns = {"pid", "group", "function"};  // what was asked for stays
    CHECK(rendered(document, options).find("GROUP") != std::string::npos);
    options.columns.clear();
    options.sort = "group";
    options.width = 50;
    CHECK(rendered(document, options).find("No room for GROUP") == std::string::npos);
}

TEST_CASE("a terminal does not show a column in which no row has anything, unless it is asked for", "[present]") {
    Table table;
    table.columns = {
        {.name = "pid", .title = "PID"}, {.name = "sender", .title = "SENDER"}, {.name = "term", .title = "TERM"}};
    table.rows = table.total = 2;
    table.cell = [](std::size_t, std::size_t column) -> Value {
        return column == 0 ? Value("<0.10.0>") : column == 1 ? Value() : Value("{ok,1}");
    };
    Document document;
    document.members.push_back({.key = "rows", .body = std::move(table)});
    RenderOptions options = in("table");
    options.width = 80;
    CHECK(rendered(document, options) == "PID       TERM\n<0.10.0>  {ok,1}\n<0.10.0>  {ok,1}\n");
    options.width = 0;  // a pipe, whose reader may count columns
    CHECK(rendered(document, options) ==
          "PID       SENDER  TERM\n<0.10.0>  -       {ok,1}\n<0.10.0>  -       {ok,1}\n");
    options.width = 80;
    options.columns = {"pid", "sender"};
    CHECK(rendered(document, options).starts_with("PID       SENDER\n<0.10.0>  -\n"));
}

TEST_CASE("a text that is read whole is folded behind its row where there is room for it", "[present]") {
    Table table;
    table.columns = {{.name = "check", .title = "CHECK"},
                     {.name = "detail", .title = "DETAIL", .content = Content::message, .wraps = true}};
    table.rows = table.total = 2;
    table.cell = [](std::size_t row, std::size_t column) -> Value {
        if (column == 0) return Value(row == 0 ? "layout" : "executable");
        return Value(row == 0 ? "table of OTP 25" : "/usr/lib/erlang/bin/beam.smp, loaded at 0x559bd8ae9000: all fit");
    };
    Document document;
    document.members.push_back({.key = "rows", .body = std::move(table)});
    RenderOptions options = in("table");
    options.width = 60;
    CHECK(rendered(document, options) ==
          "CHECK       DETAIL\nlayout      table of OTP 25\n"
          "executable  /usr/lib/erlang/bin/beam.smp, loaded at\n            0x559bd8ae9000: all fit\n");
    options.width = 50;  // too little room: below its row
    CHECK(rendered(document, options).starts_with("CHECK\n  DETAIL\nlayout\n  table of OTP 25\n"));
}

TEST_CASE("rows that would need more than two lines are blocks", "[present]") {
    Table table;
    table.columns = {{.name = "one", .title = "one", .unit = Unit::count},
                     {.name = "two", .title = "two", .unit = Unit::count},
                     {.name = "three", .title = "three", .unit = Unit::count},
                     {.name = "four", .title = "four", .unit = Unit::count}};
    table.rows = 2;
    table.total = 3;
    table.cell = [](std::size_t row, std::size_t column) -> Value {
        return row == 1 && column == 2 ? Value() : Value(std::uint64_t{1234567890123} + row);
    };
    Document document;
    document.members.push_back({.key = "rows", .body = std::move(table)});
    RenderOptions options = in("table");
    options.width = 24;
    CHECK(rendered(document, options) ==
          "one    1,234,567,890,123\ntwo    1,234,567,890,123\nthree  1,234,567,890,123\nfour   1,234,567,890,123\n\n"
          "one    1,234,567,890,124\ntwo    1,234,567,890,124\nfour   1,234,567,890,124\n... 1 more\n");
    options.width = 40;  // two lines
    CHECK(rendered(document, options).starts_with("              one                two\n"));
}
