// SPDX-License-Identifier: Apache-2.0
// The browser without a terminal and without an input: keys and pages in, questions and a screen out.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cli/shell/line_history.hpp"
#include "cli/shell/shell_words.hpp"
#include "cli/ui/browser.hpp"
#include "cli/ui/places.hpp"
#include "cli/ui/trends.hpp"
#include "present/page.hpp"
#include "present/sanitise.hpp"

using namespace beamheap;
using namespace beamheap::cli::ui;
using beamheap::present::Page;
using beamheap::present::PageBlock;
using beamheap::present::PageTable;

namespace {

/// A table of processes as a verb gives it: `more` is what each has in its queue beyond its number.
PageTable processes(int rows, int more = 0) {
    present::Table table;
    table.columns = {{.name = "pid", .title = "PID"},
                     {.name = "name", .title = "NAME", .content = present::Content::name},
                     {.name = "current_function", .title = "CURRENT FUNCTION", .content = present::Content::name},
                     {.name = "msgq_len", .title = "MSGQ", .unit = present::Unit::count},
                     {.name = "state", .title = "STATE", .content = present::Content::term, .wide = true}};
    table.rows = table.total = static_cast<std::size_t>(rows);
    table.cell = [more](std::size_t row, std::size_t column) -> present::Value {
        switch (column) {
            case 0: return "<0." + std::to_string(row + 1) + ".0>";
            case 1: return row == 0 ? std::string("rabbit_channel_of_a_long_name") : "worker_" + std::to_string(row);
            case 2: return "a_module_with_a_long_name:and_a_function/1";
            case 3: return static_cast<std::int64_t>(row) + more;
            default: return "{state,12}";
        }
    };
    present::Document document;
    document.members.push_back({.key = "rows", .title = {}, .body = table});
    auto page = present::page_of(document, {});
    REQUIRE(page);
    return std::move(*page->blocks.at(0).table);
}

Page page_of(PageTable table, std::string lead) {
    Page page;
    page.kind = "top";
    page.lead = {{std::move(lead)}};
    page.blocks.push_back({table.key, {}, {}, std::move(table)});
    return page;
}

Key key(Key::Name name) { return {name}; }
void type(Browser& browser, std::string_view text) {
    for (const char c : text) browser.key({Key::Name::character, static_cast<char32_t>(c)});
}

std::string screen(Browser& browser, std::size_t width = 80, std::size_t height = 24) {
    Canvas canvas(width, height);
    browser.paint(canvas);
    std::string all;
    for (std::size_t y = 0; y < height; ++y) {
        const std::string line = canvas.text(y);
        CHECK(present::display_width(line) <= width);
        all += line + '\n';
    }
    return all;
}
bool shows(const std::string& screen, std::string_view text) { return screen.find(text) != std::string::npos; }

/// Answers what the browser has asked last on its main lane.
std::vector<std::string> answer(Browser& browser, Page page, double seconds = 0) {
    std::vector<std::string> words;
    std::uint32_t number = 0;
    for (const Wanted& wanted : browser.wanted())
        if (wanted.lane == Lane::main) words = wanted.words, number = wanted.number;
    REQUIRE(number != 0);
    Reply reply{Reply::Kind::page, number};
    reply.page = std::move(page);
    reply.seconds = seconds;
    browser.reply(std::move(reply));
    return words;
}
using Words = std::vector<std::string>;

Browser loaded(bool live = false) {
    Browser browser("erl_crash.dump", live);
    browser.reply({Reply::Kind::loaded});
    return browser;
}

/// On the table of processes.
Browser at_processes(int rows, bool live = false) {
    Browser browser = loaded(live);
    CHECK(answer(browser, page_of(processes(1), "Nothing found.")) == Words{"analyze"});
    browser.key(key(Key::Name::tab));
    browser.key(key(Key::Name::down));
    browser.key(key(Key::Name::tab));
    CHECK(answer(browser, page_of(processes(rows), "many processes.")) == Words{"top"});
    return browser;
}

}  // namespace

TEST_CASE("what can't be shown in a grid is not written outside of it", "[ui]") {
    Canvas canvas(6, 2);
    CHECK(canvas.put(4, 0, "abc", Style::plain, 10) == 2);
    CHECK(canvas.text(0) == "    ab");
    CHECK(canvas.put(0, 1, "\u4e2d\u6587\u5b57\u8a9e", Style::plain, 6) == 6);
    CHECK(canvas.text(1) == "\u4e2d\u6587\u5b57");
    CHECK(canvas.put(5, 1, "\u4e2d", Style::plain, 6) == 0);  // its half has no room
    CHECK(canvas.put(0, 7, "x", Style::plain, 6) == 0);
    CHECK(canvas.put(9, 0, "x", Style::plain, 6) == 0);
    CHECK(canvas.put(0, 0, "e\u0301f", Style::bold, 6) == 2);
    CHECK(canvas.text(0) == "e\u0301f  ab");
}

TEST_CASE("of a large input processes are first, and findings are found behind them", "[ui]") {
    Browser browser("erl_crash.dump", false, true);
    CHECK(answer(browser, page_of(processes(3), "some processes.")) == Words{"top"});
    CHECK(shows(screen(browser), "some processes."));
    const auto behind = browser.wanted();
    REQUIRE(behind.size() == 1);
    CHECK(behind[0].lane == Lane::behind);
    CHECK(behind[0].words == Words{"analyze"});
    browser.key(key(Key::Name::down));
    Reply found{Reply::Kind::page, behind[0].number};
    found.page = page_of(processes(1), "Nothing found.");
    browser.reply(std::move(found));
    CHECK(shows(screen(browser), "Findings (Tab, Home): Nothing found."));
    CHECK(shows(screen(browser), "some processes."));  // who looks at a row is not taken away from it
    browser.reply({Reply::Kind::loaded});
    CHECK(answer(browser, page_of(processes(3), "names of processes.")) == Words{"top"});
    CHECK(shows(screen(browser), "names of processes."));
    browser.key(key(Key::Name::enter));
    CHECK(browser.wanted().at(0).words == Words{"proc", "<0.2.0>"});
    browser.key(key(Key::Name::escape));
    browser.key(key(Key::Name::tab));
    browser.key(key(Key::Name::home));
    CHECK(shows(screen(browser), "Nothing found."));
    const auto back = browser.wanted();
    REQUIRE(back.size() == 1);
    CHECK(back[0].number == 0);  // nobody waits for the process any more
    CHECK(back[0].words.empty());
}

TEST_CASE("what is not wanted any more is not shown", "[ui]") {
    Browser browser("erl_crash.dump", false);
    CHECK(shows(screen(browser), "reading"));
    browser.reply({Reply::Kind::progress, 0, "45 %"});
    CHECK(shows(screen(browser), "45 %"));
    browser.reply({Reply::Kind::loaded});
    const auto wanted = browser.wanted();
    REQUIRE(wanted.size() == 1);
    CHECK(wanted[0].words == Words{"analyze"});
    browser.key(key(Key::Name::tab));
    browser.key(key(Key::Name::down));
    Reply late{Reply::Kind::page, wanted[0].number};
    late.page = page_of(processes(3), "the findings.");
    browser.reply(std::move(late));
    CHECK_FALSE(shows(screen(browser), "the findings."));
    CHECK(answer(browser, page_of(processes(3), "the processes.")) == Words{"top"});
    CHECK(shows(screen(browser), "the processes."));
    browser.key(key(Key::Name::up));
    CHECK(shows(screen(browser), "the findings."));  // it came after all, and is not asked for again
    CHECK(browser.wanted().empty());
}

TEST_CASE("an input that can't be read ends the browser with its reason", "[ui]") {
    Browser browser("erl_crash.dump", false);
    browser.reply(
        {Reply::Kind::failed, 0, "erl_crash.dump: is no crash dump", "Give it another.", ErrorCode::not_recognised});
    CHECK(browser.done());
    REQUIRE(browser.failed());
    CHECK(browser.failed()->code == ErrorCode::not_recognised);
    CHECK(browser.failed()->message == "erl_crash.dump: is no crash dump");
}

TEST_CASE("a row leads to its process, and Esc leads back to the row", "[ui]") {
    Browser browser = at_processes(40);
    for (int i = 0; i < 3; ++i) browser.key(key(Key::Name::down));
    browser.key(key(Key::Name::enter));
    CHECK(answer(browser, page_of(processes(2), "worker_3 is a process.")) == Words{"proc", "<0.4.0>"});
    CHECK(shows(screen(browser), "Processes > worker_3 <0.4.0>"));
    type(browser, "2");
    CHECK(answer(browser, page_of(processes(2), "its heap.")) == Words{"heap", "<0.4.0>"});
    CHECK(shows(screen(browser), "its heap."));
    type(browser, "9");  // there is no such question
    CHECK(browser.wanted().empty());
    browser.key(key(Key::Name::escape));
    CHECK(shows(screen(browser), "many processes."));
    browser.key(key(Key::Name::down));
    browser.key(key(Key::Name::enter));
    CHECK(browser.wanted().at(0).words == Words{"proc", "<0.5.0>"});
}

TEST_CASE("tables fit: figures and pids are whole, names give way", "[ui]") {
    Browser browser = at_processes(12);
    for (const std::size_t width : {62u, 80u, 100u, 128u}) {
        const std::string shown = screen(browser, width);
        INFO(shown);
        CHECK(shows(shown, "<0.12.0>"));
        CHECK(shows(shown, " 11\n"));
        CHECK_FALSE(shows(shown, "{state,12}"));
    }
    CHECK(shows(screen(browser, 120), "a_module_with_a_long_name:and_a_function/1"));
    type(browser, "v");
    CHECK(shows(screen(browser), "{state,12}"));
    browser.key(key(Key::Name::escape));
    for (std::size_t width = 1; width < 70; width += 3)
        for (std::size_t height = 1; height < 12; height += 2) screen(browser, width, height);
}

TEST_CASE("names that would all be cut to the same text are cut where they differ", "[ui]") {
    present::Table table;
    table.columns = {{.name = "pid", .title = "PID"},
                     {.name = "name", .title = "NAME", .content = present::Content::name},
                     {.name = "current_function", .title = "CURRENT FUNCTION", .content = present::Content::name},
                     {.name = "msgq_len", .title = "MSGQ", .unit = present::Unit::count}};
    table.rows = table.total = 3;
    table.cell = [](std::size_t row, std::size_t column) -> present::Value {
        switch (column) {
            case 0: return "<0." + std::to_string(row + 1) + ".0>";
            case 1: return "writer of the connection 10.0.0.7:4100" + std::to_string(row) + " -> 10.0.0.1:5672";
            case 2: return "a_module_with_a_long_name:and_a_function/1";
            default: return static_cast<std::int64_t>(row);
        }
    };
    present::Document document;
    document.members.push_back({.key = "rows", .title = {}, .body = table});
    auto page = present::page_of(document, {});
    REQUIRE(page);
    Browser browser = loaded();
    answer(browser, page_of(processes(1), "Nothing found."));
    browser.key(key(Key::Name::tab));
    browser.key(key(Key::Name::down));
    browser.key(key(Key::Name::tab));
    answer(browser, page_of(std::move(*page->blocks.at(0).table), "three processes."));
    const std::string shown = screen(browser);
    INFO(shown);
    for (const char* port : {"41000", "41001", "41002"}) CHECK(shows(shown, port));
}

TEST_CASE("rows are sorted by the marked column, either way, and filtered as one types", "[ui]") {
    Browser browser = at_processes(30);
    for (int i = 0; i < 4; ++i) browser.key(key(Key::Name::right));
    screen(browser);
    type(browser, "s");
    CHECK(screen(browser).find("<0.30.0>") < screen(browser).find("<0.29.0>"));
    type(browser, "s");
    CHECK(shows(screen(browser), "<0.1.0>"));
    CHECK_FALSE(shows(screen(browser), "<0.30.0>"));
    type(browser, "/WORKER_2");
    std::string shown = screen(browser);
    CHECK(shows(shown, "worker_25"));
    CHECK_FALSE(shows(shown, "worker_3 "));
    CHECK(shows(shown, "11 of 30 rows"));
    type(browser, "9");
    CHECK(shows(screen(browser), "1 of 30 rows"));
    browser.key(key(Key::Name::enter));
    browser.key(key(Key::Name::enter));
    CHECK(browser.wanted().at(0).words == Words{"proc", "<0.30.0>"});
    browser.key(key(Key::Name::escape));  // from the process, then the filter
    browser.key(key(Key::Name::escape));
    CHECK(shows(screen(browser), "worker_3"));
}

TEST_CASE("what is seen is written and copied as it is seen", "[ui]") {
    Browser browser = at_processes(3);
    type(browser, "/worker_2");
    browser.key(key(Key::Name::enter));
    type(browser, "e");
    browser.key(key(Key::Name::enter));
    auto errand = browser.errand();
    REQUIRE(errand);
    CHECK(errand->kind == Errand::Kind::write);
    CHECK(errand->file == "top.csv");
    CHECK(errand->text ==
          "pid,name,current_function,msgq_len\r\n<0.3.0>,worker_2,a_module_with_a_long_name:and_a_function/1,2\r\n");
    type(browser, ":");
    type(browser, "top --procs 'msgq>10' --by memory");
    browser.key(key(Key::Name::enter));
    CHECK(answer(browser, page_of(processes(2), "some.")) == Words{"top", "--procs", "msgq>10", "--by", "memory"});
    type(browser, "y");
    errand = browser.errand();
    REQUIRE(errand);
    CHECK(errand->kind == Errand::Kind::remember);
    CHECK(errand->text == "top --procs 'msgq>10' --by memory");
    errand = browser.errand();
    REQUIRE(errand);
    CHECK(errand->kind == Errand::Kind::copy);
    CHECK(errand->text == "beamheap top erl_crash.dump --procs 'msgq>10' --by memory");
}

TEST_CASE("a verdict's sentence leads to the process that it names; above rows such a one waits", "[ui]") {
    Browser browser = loaded();
    Page found = page_of(processes(3), "Nobody answers.");
    found.kind = "analyze";
    found.lead.push_back(
        {"60 processes wait for queue <0.9.0>, which has been suspended by sys:suspend/1 long ago.", "<0.9.0>"});
    CHECK(answer(browser, found) == Words{"analyze"});
    screen(browser);
    browser.key(key(Key::Name::enter));
    CHECK(answer(browser, page_of(processes(2), "a process.")) == Words{"proc", "<0.9.0>"});
    browser.key(key(Key::Name::escape));
    screen(browser, 60);  // the sentence has more lines there, and is chosen still
    browser.key(key(Key::Name::enter));
    CHECK(browser.wanted().at(0).words == Words{"proc", "<0.9.0>"});
    browser.key(key(Key::Name::escape));
    browser.key(key(Key::Name::down));
    browser.key(key(Key::Name::enter));
    CHECK(browser.wanted().at(0).words == Words{"proc", "<0.1.0>"});

    Browser rows = loaded();
    found.kind = "top";
    answer(rows, found);
    screen(rows);
    rows.key(key(Key::Name::enter));
    CHECK(rows.wanted().at(0).words == Words{"proc", "<0.1.0>"});
    rows.key(key(Key::Name::escape));
    rows.key(key(Key::Name::up));
    rows.key(key(Key::Name::enter));
    CHECK(rows.wanted().at(0).words == Words{"proc", "<0.9.0>"});
    Browser alone = loaded();
    Page sentences;
    sentences.lead = {{"Nothing found."}};
    answer(alone, sentences);
    type(alone, "se");  // no table, no row: nothing to sort, nothing to write
    CHECK(shows(screen(alone), "no table"));
}

TEST_CASE("two rows beside each other", "[ui]") {
    Browser browser = at_processes(5);
    type(browser, "m");
    for (int i = 0; i < 3; ++i) browser.key(key(Key::Name::down));
    type(browser, "m");
    const std::string shown = screen(browser, 100);
    CHECK(shows(shown, "worker_3"));
    CHECK(shows(shown, "rabbit_chan"));
    CHECK(shows(shown, "+3"));
}

TEST_CASE("a VM that runs is read again, the cursor stays with its row", "[ui]") {
    Browser browser = at_processes(5, true);
    browser.key(key(Key::Name::down));
    browser.key(key(Key::Name::down));
    browser.read_again();
    PageTable fewer = processes(4, 2);
    CHECK(answer(browser, page_of(std::move(fewer), "again.")) == Words{"top"});
    CHECK(shows(screen(browser), "again."));
    browser.key(key(Key::Name::enter));
    CHECK(browser.wanted().at(0).words == Words{"proc", "<0.3.0>"});
    browser.key(key(Key::Name::escape));
    CHECK(browser.wanted().at(0).number == 0);
    type(browser, " ");
    browser.read_again();
    CHECK(browser.wanted().empty());
    CHECK(shows(screen(browser), "paused"));
}

TEST_CASE("figures of a VM that runs have their rates and their last readings beside them", "[ui]") {
    Browser browser = at_processes(3, true);
    CHECK(shows(screen(browser, 120), "MSGQ/s"));
    for (int reading = 1; reading < 4; ++reading) {
        browser.read_again();
        answer(browser, page_of(processes(3, 3'000 * reading), "again."), 2.0 * reading);
    }
    const std::string shown = screen(browser, 120);
    INFO(shown);
    CHECK(shows(shown, "\u2581\u2582\u2585\u2588 +1,500"));
    CHECK(shows(screen(browser), "+1,500"));  // at 80 columns, too
    type(browser, "e");
    for (int i = 0; i < 10; ++i) browser.key(key(Key::Name::backspace));
    type(browser, "seen.json");
    browser.key(key(Key::Name::enter));
    const auto errand = browser.errand();
    REQUIRE(errand);
    CHECK(shows(errand->text, "\"msgq_len\":9002,\"msgq_len_per_second\":1500}"));
    Browser dump = at_processes(3);
    CHECK_FALSE(shows(screen(dump, 120), "MSGQ/s"));
}

TEST_CASE("bars show what moves, and nothing where all stands still", "[ui]") {
    const std::vector<double> still{1000, 1001, 1000}, none{0, 0}, grows{0, 4, 8}, high{900, 950, 1000};
    CHECK(bars_of(still).empty());
    CHECK(bars_of(none).empty());
    CHECK(bars_of({}).empty());
    CHECK(bars_of(grows) == "\u2581\u2584\u2588");
    CHECK(bars_of(high) == "\u2584\u2586\u2588");  // the upper part
}

TEST_CASE("a process of a VM that runs has rates behind its figures", "[ui]") {
    Trends trends;
    for (int reading = 0; reading < 3; ++reading) {
        Page page;
        page.kind = "proc";
        page.blocks.push_back({"process", {}, {}, {}});
        page.blocks[0].lines.push_back({"PID   <0.9.0>", "<0.9.0>", {}, "pid"});
        page.blocks[0].lines.push_back({"MEMORY  1 MiB", {}, {}, "memory_bytes", 1048576.0 * (reading + 1), true});
        page.blocks[0].lines.push_back({"REDUCTIONS  7", {}, {}, "reductions", 1000.0 * reading * reading, true});
        trends.follow(page, reading);
        INFO(page.blocks[0].lines[1].text);
        CHECK(shows(page.blocks[0].lines[1].text, "+1.0 MiB/s") == (reading > 0));
        CHECK(shows(page.blocks[0].lines[2].text, "+3,000/s") == (reading == 2));
        CHECK(shows(page.blocks[0].lines[2].text, "\u2582\u2588") == (reading == 2));  // of what was added
    }
}

TEST_CASE("conditions and searches become questions", "[ui]") {
    const Question top{"processes", {"top", "--procs", "running"}}, ets{"tables", {"ets"}};
    CHECK(can_choose(top));
    CHECK(condition_of(top) == "running");
    CHECK(chosen_by(top, " msgq>10 ").words == Words{"top", "--procs", "msgq>10"});
    CHECK(chosen_by(top, "").words == Words{"top"});
    CHECK(shows(chosen_by(top, "where msgq_len > 10").words.at(1), "FROM process where msgq_len > 10"));
    CHECK(shows(chosen_by(ets, "objects > 10").words.at(1), "FROM ets WHERE objects > 10"));
    CHECK_FALSE(can_choose({"doctor", {"doctor"}}));
    const std::string query = search_subject("It's", "<0.9.0>").questions.at(0).words.at(1);
    CHECK(shows(query, "'it''s'"));
    CHECK(shows(query, "terms('<0.9.0>')"));

    Browser browser = at_processes(3);
    type(browser, "fmsgq>10");
    browser.key(key(Key::Name::enter));
    CHECK(answer(browser, page_of(processes(1), "some.")) == Words{"top", "--procs", "msgq>10"});
    type(browser, "/nowhere");
    browser.key(key(Key::Name::enter));  // nothing of it here: it is searched for
    CHECK(browser.wanted().at(0).words.at(0) == "sql");
    CHECK(shows(screen(browser), "search nowhere"));
}

TEST_CASE("a query needs no quotes, and what was typed comes back", "[ui]") {
    using cli::query_of_line;
    CHECK(query_of_line(" SELECT pid FROM process WHERE msgq_len > 1; ") ==
          "SELECT pid FROM process WHERE msgq_len > 1");
    CHECK(query_of_line("with x as (select 1) select * from x"));
    CHECK_FALSE(query_of_line("selector"));
    CHECK_FALSE(query_of_line("select"));
    CHECK_FALSE(query_of_line("top > select x"));
    CHECK(query_of_line("sql select 1") == "select 1");
    CHECK_FALSE(query_of_line("sql convoys"));
    CHECK(cli::words_of_question({"beamheap", "msgs", "a.dump", "0.9.0"}, "a.dump") == Words{"msgs", "0.9.0"});
    CHECK(cli::words_of_question({"beamheap", "top", "--by", "memory", "./a.dump"}, "a.dump") ==
          Words{"top", "--by", "memory"});
    CHECK(cli::words_of_question({"beamheap", "a.dump", "-v"}, "a.dump") == Words{"analyze", "-v"});
    CHECK(cli::words_of_question({"beamheap", "explain", "ledger"}, "a.dump") == Words{"explain", "ledger"});
    CHECK(cli::words_of_question({"proc", "a.dump"}, "a.dump") == Words{"proc", "a.dump"});  // a name
    CHECK(cli::holds_no_value("top --procs 'msgq>10' -n 3"));
    CHECK(cli::holds_no_value("SELECT pid FROM process WHERE msgq_len > 1"));
    CHECK_FALSE(cli::holds_no_value("SELECT pid FROM process WHERE name = 'alice'"));
    CHECK_FALSE(cli::holds_no_value("ets t '{key,1}'"));
    CHECK_FALSE(cli::holds_no_value("msgs 'no end"));

    Browser browser = at_processes(3);
    browser.recall_from({"top -n 3"});
    type(browser, ":SELECT 1 WHERE 2 > 1");
    browser.key(key(Key::Name::enter));
    CHECK(browser.wanted().at(0).words == Words{"sql", "SELECT 1 WHERE 2 > 1"});
    CHECK(browser.errand()->kind == Errand::Kind::remember);
    type(browser, ":beamheap msgs erl_crash.dump 0.9.0 --by sender");  // pasted
    browser.key(key(Key::Name::enter));
    CHECK(browser.wanted().at(0).words == Words{"msgs", "0.9.0", "--by", "sender"});
    browser.key(key(Key::Name::escape));
    CHECK(browser.errand()->kind == Errand::Kind::remember);
    type(browser, ":");
    browser.key(key(Key::Name::up));
    browser.key(key(Key::Name::up));
    CHECK(shows(screen(browser), ": SELECT 1"));
    browser.key(key(Key::Name::up));
    browser.key(key(Key::Name::up));
    CHECK(shows(screen(browser), ": top -n 3"));
    for (int i = 0; i < 3; ++i) browser.key(key(Key::Name::down));
    CHECK(shows(screen(browser), ": _"));
}

TEST_CASE("where rows and lines lead", "[ui]") {
    const Question heap{"heap", {"heap", "<0.9.0>"}};
    PageTable roots;
    roots.key = "rows";
    roots.columns = {{.name = "root", .title = "ROOT"},
                     {.name = "address", .title = "ADDRESS", .wide = true},
                     {.name = "term", .title = "TERM", .term = true}};
    for (const char* cell : {"init:loop/1 y0", "7F00", "{a,<0.1.0>}", "init:loop/1 y1", "-", "<0.1.0>"})
        roots.add(cell);
    roots.rows = roots.total = 2;
    const auto term = leads_to({nullptr, &roots, 0}, heap, "d");
    REQUIRE(term);
    CHECK(term->questions[0].words == Words{"heap", "<0.9.0>", "--into", "7F00"});
    CHECK(term->questions[1].words == Words{"term", "<0.9.0>@7F00", "--term-bytes", "0"});
    CHECK(term->questions[2].words == Words{"why", "<0.9.0>@7F00"});
    CHECK_FALSE(leads_to({nullptr, &roots, 1}, heap, "d"));  // a pid is a term of its own: it is read in full

    const present::PageLine step{"-> See", {}, "beamheap msgs 'my dumps/d' 0.89.0 --by shape"};
    const auto messages = leads_to({&step, nullptr, 0}, {"analyze", {"analyze"}}, "my dumps/d");
    REQUIRE(messages);
    CHECK(messages->questions[0].words == Words{"msgs", "0.89.0", "--by", "shape"});
    const present::PageLine writes{"-> Send", {}, "beamheap redact d out"};
    CHECK_FALSE(leads_to({&writes, nullptr, 0}, {"analyze", {"analyze"}}, "d"));
    const present::PageLine names{"held by cart <0.89.0>", "<0.89.0>", {}};
    CHECK(leads_to({&names, nullptr, 0}, {"analyze", {"analyze"}}, "d")->questions[0].words ==
          Words{"proc", "<0.89.0>"});
    CHECK_FALSE(leads_to({}, {"analyze", {"analyze"}}, "d"));
}

TEST_CASE("words of a line, as sh takes them apart", "[ui]") {
    const auto words = [](std::string_view line) {
        auto read = cli::words_of_line(line);
        REQUIRE(read);
        return *read;
    };
    CHECK(words("  top  --procs 'msgq>10 or running' \"a b\"c ") ==
          Words{"top", "--procs", "msgq>10 or running", "a bc"});
    CHECK(words("a\\ b '' \"c\\\"d\\e\" 'f\\g'") == Words{"a b", "", "c\"d\\e", "f\\g"});
    CHECK(words("").empty());
    CHECK_FALSE(cli::words_of_line("a 'b"));
    CHECK_FALSE(cli::words_of_line("\""));
    cli::ShellWords line("top | grep it's");
    CHECK((*line.next())->text == "top");
    const auto sign = line.next();
    REQUIRE(sign);
    CHECK((*sign)->plain);
    CHECK(line.rest() == " grep it's");
    cli::ShellWords quoted("'|' \\>");
    CHECK_FALSE((*quoted.next())->plain);
    CHECK_FALSE((*quoted.next())->plain);
    // What is printed to be copied is read as what it was made of.
    const Question odd{"top", {"top", "--procs", "it's"}};
    CHECK(command_of(odd, "my dump") == "beamheap top 'my dump' --procs 'it'\\''s'");
    CHECK(words(command_of(odd, "my dump")) == Words{"beamheap", "top", "my dump", "--procs", "it's"});
    CHECK(words(command_of({"q", {"sql", "SELECT \"x\\y\" FROM t"}}, "d")) ==
          Words{"beamheap", "sql", "d", "SELECT \"x\\y\" FROM t"});
}
