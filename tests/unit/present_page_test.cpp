// SPDX-License-Identifier: Apache-2.0
// Pages: what somebody who browses sees is what a terminal would be shown, through a pipe and in any order.
#include <catch2/catch.hpp>
#include <string>

#include "present/page.hpp"
#include "present/secrets/redact.hpp"

using namespace beamheap;
using namespace beamheap::present;

namespace {

Table processes() {
    struct Row {
        const char* pid;
        Value name;
        Value memory;
        const char* state;
    };
    static const std::vector<Row> rows{{"<0.9.0>", "b\x1b[31m", std::uint64_t{2048}, "{password,\"hunter2secret\"}"},
                                       {"<0.10.0>", Value(), std::uint64_t{512}, "idle"},
                                       {"<0.2.0>", "a", Value(), "idle"}};
    Table table;
    table.columns = {{.name = "pid", .title = "PID"},
                     {.name = "name", .title = "NAME", .content = Content::name},
                     {.name = "memory_bytes", .title = "MEMORY", .unit = Unit::bytes},
                     {.name = "state", .title = "STATE", .content = Content::term, .wide = true},
                     {.name = "slots", .title = "SLOTS", .content = Content::term, .below = true}};
    table.rows = table.total = rows.size();
    table.cell = [](std::size_t row, std::size_t column) -> Value {
        switch (column) {
            case 0: return rows[row].pid;
            case 1: return rows[row].name;
            case 2: return rows[row].memory;
            case 3: return rows[row].state;
            default: return row == 1 ? Value(Array{"y0 = [1,2]", "y1 = <0.77.0>"}) : Value();
        }
    };
    return table;
}

Document sample() {
    Document document;
    document.kind = "top";
    document.warnings = {{"odd", 1, "info", Text{}.add("not said")},
                         {"cut", 1, "data_loss", Text{}.add("it ends early")}};
    Text lead;
    lead.add("held by ");
    Text::Piece piece{"cart <0.89.0>", Content::plain, false, Pid{1}, false};
    lead.pieces.push_back(piece);
    document.lead = {lead};
    Text step;
    step.add("-> See: ");
    step.pieces.push_back({"beamheap msgs erl_crash.dump 0.89.0", Content::plain, true, {}, false});
    document.members.push_back({.key = "next", .title = "Next", .body = Value(Array{Value(step)}), .prose = true});
    document.members.push_back({.key = "totals",
                                .title = "Totals",
                                .body = Value(Object{{"live_words", std::uint64_t{12345}}, {"lost", nullptr}})});
    document.members.push_back({.key = "hidden", .title = "", .body = Value("in JSON only"), .in_text = false});
    document.members.push_back({.key = "rows", .title = "", .body = processes()});
    return document;
}

Page sample_page(RenderOptions options = {}) {
    auto page = page_of(sample(), options);
    REQUIRE(page);
    return *page;
}

const PageTable& table_of(const Page& page) {
    for (const PageBlock& block : page.blocks)
        if (block.table) return *block.table;
    FAIL("there is no table");
    std::abort();
}

}  // namespace

TEST_CASE("a page has an answer's sentences, lines and rows as people see them", "[page]") {
    const Page page = sample_page();
    CHECK(page.kind == "top");
    REQUIRE(page.lead.size() == 1);
    CHECK(page.lead[0].text == "held by cart <0.89.0>");
    CHECK(page.lead[0].process == "<0.89.0>");
    REQUIRE(page.warnings.size() == 1);
    CHECK(page.warnings[0].text == "it ends early");
    REQUIRE(page.blocks.size() == 3);
    CHECK(page.blocks[0].lines[0].text == "-> See: beamheap msgs erl_crash.dump 0.89.0");
    CHECK(page.blocks[0].lines[0].command == "beamheap msgs erl_crash.dump 0.89.0");
    const PageLine live{"live  12,345 words", {}, {}, "live_words", 12'345, true};
    CHECK(page.blocks[1].lines == std::vector<PageLine>{live});
    const PageTable& table = table_of(page);
    CHECK(table.rows == 3);
    REQUIRE(table.columns.size() == 4);
    CHECK(table.text(0, 1) == "b\\x1b[31m");
    CHECK(table.text(0, 2) == "2.0 KiB");
    CHECK(table.number(0, 2) == 2048);
    CHECK(table.text(2, 2) == "-");
    CHECK_FALSE(table.number(2, 2));
    CHECK(table.columns[3].wide);
    CHECK(table.below(1) == std::vector<std::string_view>{"y0 = [1,2]", "y1 = <0.77.0>"});
    CHECK(table.below(0).empty());
}

TEST_CASE("a page is redacted before anybody has it", "[page]") {
    const Page page = sample_page();
    const std::string bytes = packed(page);
    CHECK(bytes.find("hunter2secret") == std::string::npos);
    CHECK(std::string(table_of(page).text(0, 3)).find("password") != std::string::npos);
}

TEST_CASE("rows of a page in the order of a column", "[page]") {
    const Page page = sample_page();
    const PageTable& table = table_of(page);
    using Order = std::vector<std::uint32_t>;
    CHECK(table.sorted_by(0, false) == Order{2, 0, 1});  // by their numbers, not by their letters
    CHECK(table.sorted_by(2, true) == Order{0, 1, 2});
    CHECK(table.sorted_by(2, false) == Order{1, 0, 2});  // what is missing comes last both times
    CHECK(table.sorted_by(1, false) == Order{2, 0, 1});
    CHECK(table.sorted_by(99, false) == Order{0, 1, 2});
}

TEST_CASE("a page goes through a pipe as it is; half of one is none", "[page]") {
    const Page page = sample_page();
    const std::string bytes = packed(page);
    const auto again = unpacked(bytes);
    REQUIRE(again);
    CHECK(*again == page);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_FALSE(unpacked(std::string_view(bytes).substr(0, size)));
    CHECK_FALSE(unpacked(bytes + "x"));
    // Whatever a byte is changed into: a page or none, never more than the bytes hold.
    for (std::size_t at = 0; at < bytes.size(); ++at)
        for (const int change : {1, 0x7F, 0xFF}) {
            std::string other = bytes;
            other[at] = static_cast<char>(static_cast<unsigned char>(other[at]) ^ change);
            if (const auto read = unpacked(other))
                for (const PageBlock& block : read->blocks)
                    if (block.table)
                        for (std::size_t row = 0; row < block.table->rows; ++row) {
                            static_cast<void>(block.table->below(row));
                            for (std::size_t c = 0; c < block.table->columns.size(); ++c)
                                static_cast<void>(block.table->text(row, c));
                        }
        }
}

TEST_CASE("of a long table a page has the rows that are wished for", "[page]") {
    Table table;
    table.columns = {{.name = "pid", .title = "PID"}, {.name = "objects", .title = "OBJECTS", .unit = Unit::count}};
    table.rows = table.total = 5'000;
    table.cell = [](std::size_t row, std::size_t column) -> Value {
        if (column == 0) return "<0." + std::to_string(row) + ".0>";
        return row % 10 == 3 ? Value() : Value(static_cast<std::uint64_t>(row * 7 % 5'000));
    };
    Document document;
    document.members.push_back({.key = "rows", .title = {}, .body = table});
    const RenderOptions options;
    auto source = PageSource::make(document, options);
    REQUIRE(source);
    const auto wished = [&](PageWish wish) {
        auto page = source->page(wish);
        REQUIRE(page);
        return std::move(*page->blocks.at(0).table);
    };
    const PageTable all = wished({});
    CHECK(all.whole());
    CHECK(all.rows == 5'000);
    const PageTable first = wished({.rows = 100});
    CHECK_FALSE(first.whole());
    CHECK(first.rows == 100);
    CHECK(first.passing == 5'000);
    CHECK(first.available == 5'000);
    CHECK(first.text(99, 0) == "<0.99.0>");
    const PageTable later = wished({.rows = 100, .parts = {{.block = 0, .from = 3'000}}});
    CHECK(later.from == 3'000);
    CHECK(later.text(0, 0) == "<0.3000.0>");
    const PageTable last = wished({.rows = 100, .parts = {{.block = 0, .from = 99'999}}});
    CHECK(last.end() == 5'000);
    CHECK(last.text(99, 0) == "<0.4999.0>");
    // The order and the filter are those of a page that has all rows.
    for (const bool descending : {false, true})
        for (const std::size_t column : {0u, 1u}) {
            const auto order = all.sorted_by(column, descending);
            for (const std::size_t from : {0u, 2'345u, 4'900u}) {
                const PageTable part = wished(
                    {.rows = 100,
                     .parts = {
                         {.block = 0, .column = all.columns[column].name, .descending = descending, .from = from}}});
                REQUIRE(part.from == from);
                for (std::size_t row = 0; row < part.rows; ++row)
                    REQUIRE(part.text(row, 0) == all.text(order[from + row], 0));
            }
        }
    const PageTable found =
        wished({.rows = 100, .filter = ".49", .parts = {{.block = 0, .column = "objects", .from = 0}}});
    CHECK(found.passing == 111);
    CHECK(found.rows == 100);
    for (std::size_t row = 0; row < found.rows; ++row) CHECK(found.row_has(row, ".49"));
    CHECK(wished({.rows = 100, .filter = "no such"}).rows == 0);
    CHECK(wished({.rows = 5'000, .filter = "no such"}).rows == 5'000);  // a whole one is whole
    int asked = 0;
    CHECK_FALSE(source->page({.rows = 100, .filter = "x"}, [&] { return ++asked == 5; }));
    CHECK(asked == 5);
    CHECK(wished({.rows = 100, .filter = "<0.77.0>"}).text(0, 0) == "<0.77.0>");  // who was stopped begins anew
}

TEST_CASE("a wish goes through a pipe as it is; half of one is none", "[page]") {
    const PageWish wish{.rows = 77, .filter = "rabbit", .parts = {{0, "pid", true, 12}, {3, {}, false, 900}}};
    const std::string bytes = packed(wish);
    const auto again = unpacked_wish(bytes);
    REQUIRE(again);
    CHECK(*again == wish);
    CHECK(again->part(3).from == 900);
    CHECK(again->part(7) == PageWish::Part{.block = 7});
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_FALSE(unpacked_wish(std::string_view(bytes).substr(0, size)));
    CHECK_FALSE(unpacked_wish(bytes + "x"));
}

TEST_CASE("the first process that a text names", "[page]") {
    CHECK(first_pid("held by <0.89.0> and <0.90.0>") == "<0.89.0>");
    CHECK(first_pid("#{a => <<1>>, b => <8924.1.0>}") == "<8924.1.0>");
    CHECK(first_pid("<0.1> <..> <1.2.3") == "");
    CHECK(first_pid("") == "");
}
