// SPDX-License-Identifier: Apache-2.0
// A table that is too long to be held: the browser wishes for the rows that are looked at, and shows them as if it had
// them all.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cli/ui/browser.hpp"
#include "cli/ui/table_file.hpp"
#include "present/page.hpp"
#include "present/sanitise.hpp"

using namespace beamheap;
using namespace beamheap::cli::ui;

namespace ui_rows_test {
namespace {

constexpr int rows_there = 40'000;

/// Who answers in place of the reading process: processes whose queues are as long as their numbers' last digits say.
class Answers {
public:
    Answers() {
        present::Table table;
        table.columns = {{.name = "pid", .title = "PID"},
                         {.name = "name", .title = "NAME", .content = present::Content::name},
                         {.name = "msgq_len", .title = "MSGQ", .unit = present::Unit::count}};
        table.rows = table.total = rows_there;
        table.cell = [](std::size_t row, std::size_t column) -> present::Value {
            if (column == 0) return "<0." + std::to_string(row) + ".0>";
            if (column == 1) return "worker_" + std::to_string(row);
            return static_cast<std::uint64_t>(row * 7 % rows_there);
        };
        document_.kind = "top";
        document_.lead.push_back(present::Text{}.add("40,000 processes."));
        document_.members.push_back({.key = "rows", .title = {}, .body = table});
        auto source = present::PageSource::make(document_, options_);
        REQUIRE(source);
        source_.emplace(std::move(*source));
    }
    /// Answers all that is wanted; how many questions that were.
    int give(Browser& browser) {
        int given = 0;
        for (const Wanted& wanted : browser.wanted()) {
            if (wanted.lane != Lane::main || wanted.number == 0) continue;
            ++given;
            last = wanted;
            Reply reply{Reply::Kind::page, wanted.number};
            auto page = source_->page(wanted.wish);
            REQUIRE(page);
            reply.page = std::move(*page);
            for (const present::PageBlock& block : reply.page.blocks) CHECK(block.table->rows <= 5'000);
            browser.reply(std::move(reply));
        }
        return given;
    }
    Wanted last;

private:
    present::Document document_;
    present::RenderOptions options_;
    std::optional<present::PageSource> source_;
};

std::string screen(Browser& browser) {
    Canvas canvas(80, 24);
    browser.paint(canvas);
    std::string all;
    for (std::size_t y = 0; y < 24; ++y) all += canvas.text(y) + '\n';
    return all;
}
/// The screen when all that it wants has come.
std::string settled(Browser& browser, Answers& answers) {
    screen(browser);
    while (answers.give(browser) != 0) screen(browser);
    return screen(browser);
}
bool shows(const std::string& screen, std::string_view text) { return screen.find(text) != std::string::npos; }
void type(Browser& browser, std::string_view text) {
    for (const char c : text) browser.key({Key::Name::character, static_cast<char32_t>(c)});
}
/// What Enter leads to.
std::string chosen(Browser& browser) {
    browser.key({Key::Name::enter});
    const auto wanted = browser.wanted();
    browser.key({Key::Name::escape});
    browser.wanted();
    return wanted.empty() || wanted[0].words.size() < 2 ? std::string() : wanted[0].words[1];
}

Browser at_processes(Answers& answers, bool live = false) {
    Browser browser("erl_crash.dump", live, true);
    browser.reply({Reply::Kind::loaded});
    settled(browser, answers);
    return browser;
}

}  // namespace

TEST_CASE("who goes down a long table comes by every row", "[ui]") {
    Answers answers;
    Browser browser = at_processes(answers);
    CHECK(answers.last.wish.rows == 1'000);
    CHECK(chosen(browser) == "<0.0.0>");
    for (int row = 1; row <= 1'500; ++row) {
        browser.key({Key::Name::down});
        settled(browser, answers);
        if (row % 100 == 0) CHECK(chosen(browser) == "<0." + std::to_string(row) + ".0>");
        if (row > 30) REQUIRE(shows(screen(browser), "<0." + std::to_string(row - 15) + ".0>"));  // no line jumps
    }
    CHECK(answers.last.before != 0);  // it goes on with the answer that was there
    for (int row = 1'499; row >= 0; --row) {
        browser.key({Key::Name::up});
        settled(browser, answers);
        if (row % 100 == 0) CHECK(chosen(browser) == "<0." + std::to_string(row) + ".0>");
    }
    CHECK(shows(screen(browser), "40,000 processes."));
}

TEST_CASE("keys that come before the rows do go on from where they would have led", "[ui]") {
    Answers answers;
    Browser browser = at_processes(answers);
    for (int page = 0; page < 100; ++page) browser.key({Key::Name::page_down});
    const std::string there = settled(browser, answers);
    CHECK(chosen(browser) == "<0.1800.0>");
    CHECK(shows(there, "<0.1799.0>"));
    CHECK(shows(there, "1,801 of 40,000"));
    browser.key({Key::Name::end});
    CHECK(shows(screen(browser), "40,000 of 40,000"));  // at once
    const std::string end = settled(browser, answers);
    CHECK(shows(end, "<0.39999.0>"));
    CHECK(chosen(browser) == "<0.39999.0>");
    browser.key({Key::Name::up});
    CHECK(chosen(browser) == "<0.39998.0>");
    browser.key({Key::Name::home});
    CHECK(shows(settled(browser, answers), "<0.1.0>"));
    CHECK(chosen(browser) == "<0.0.0>");
}

TEST_CASE("a long table is ordered and filtered as a whole, not by what is held of it", "[ui]") {
    Answers answers;
    Browser browser = at_processes(answers);
    for (int i = 0; i < 3; ++i) browser.key({Key::Name::right});
    type(browser, "s");
    CHECK(shows(settled(browser, answers), "39,999"));
    CHECK(answers.last.wish.parts.at(0).column == "msgq_len");
    CHECK(answers.last.wish.parts.at(0).descending);
    const std::string largest = chosen(browser);
    type(browser, "s");
    settled(browser, answers);
    CHECK(chosen(browser) == "<0.0.0>");
    browser.key({Key::Name::end});
    settled(browser, answers);
    CHECK(chosen(browser) == largest);
    type(browser, "/worker_3999");
    CHECK(shows(screen(browser), "looking through 40,000 rows"));
    const std::string found = settled(browser, answers);
    CHECK(shows(found, "11 of 40,000 rows"));
    for (const char* const each : {"<0.3999.0>", "<0.39990.0>", "<0.39999.0>"}) CHECK(shows(found, each));
    type(browser, "5");
    CHECK(shows(settled(browser, answers), "1 of 40,000 rows"));
    browser.key({Key::Name::enter});
    CHECK(chosen(browser) == "<0.39995.0>");
    browser.key({Key::Name::escape});
    settled(browser, answers);
    CHECK(chosen(browser) == "<0.0.0>");  // in its order, by the queue
    type(browser, "/no such text");
    CHECK(shows(settled(browser, answers), "0 of 40,000 rows"));
}

TEST_CASE("of a running VM a long table stays where it is looked at", "[ui]") {
    Answers answers;
    Browser browser = at_processes(answers, true);
    CHECK(answers.last.wish.rows == 5'000);
    browser.key({Key::Name::end});
    settled(browser, answers);
    browser.read_again();
    settled(browser, answers);
    CHECK(answers.last.before == 0);  // what was found before is no answer any more
    CHECK(answers.last.wish.parts.at(0).from == 35'000);
    CHECK(chosen(browser) == "<0.39999.0>");
}

TEST_CASE("a long table is written whole, piece by piece", "[ui]") {
    Answers answers;
    Browser browser = at_processes(answers);
    const auto begin = [&] {
        type(browser, "e");
        browser.key({Key::Name::enter});
        const auto wanted = browser.wanted();
        REQUIRE(wanted.size() == 1);
        REQUIRE(wanted[0].file);
        CHECK(wanted[0].file->form == FileForm::separated);
        CHECK_FALSE(browser.errand());
        return wanted[0].number;
    };
    std::uint32_t number = begin();
    browser.reply({Reply::Kind::piece, number, "one"});
    browser.reply({Reply::Kind::last_piece, number, "two"});
    auto errand = browser.errand();
    REQUIRE(errand);
    CHECK(errand->text == "one");
    CHECK(errand->more);
    errand = browser.errand();
    REQUIRE(errand);
    CHECK(errand->text == "two");
    CHECK(errand->file == "top.csv");
    CHECK_FALSE(errand->more);
    number = begin();
    browser.reply({Reply::Kind::piece, number, "one"});
    CHECK(browser.errand());
    browser.key({Key::Name::enter});  // something else is asked: what is there of the file goes
    browser.wanted();
    errand = browser.errand();
    REQUIRE(errand);
    CHECK(errand->kind == Errand::Kind::give_up);
    CHECK(shows(screen(browser), "top.csv: is not written"));
    browser.reply({Reply::Kind::piece, number, "late"});
    CHECK_FALSE(browser.errand());
}

TEST_CASE("rows of a table in pieces are a file", "[ui]") {
    present::PageTable table;
    table.columns = {{.name = "pid"}, {.name = "size", .number = true}, {.name = "state", .wide = true}};
    table.rows = 2;
    for (const char* const pid : {"<0.1.0>", "a,b"}) {
        table.add(pid);
        table.add("1.0 KiB", 1024);
        table.add("unseen");
    }
    const std::vector<std::uint32_t> first{0}, second{1};
    for (const auto& [form, text] : {std::pair{FileForm::separated, "pid,size\r\n<0.1.0>,1024\r\n\"a,b\",1024\r\n"},
                                     std::pair{FileForm::json,
                                               "[\n{\"pid\":\"<0.1.0>\",\"size\":1024},\n"
                                               "{\"pid\":\"a,b\",\"size\":1024}\n]\n"}}) {
        TableFile file(form);
        std::string out;
        file.add(table, first, out);
        file.add(table, second, out);
        file.end(out);
        CHECK(out == text);
    }
}

}  // namespace ui_rows_test
