// SPDX-License-Identifier: Apache-2.0
#include "present/text_layout.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "present/sanitise.hpp"

using namespace beamheap::present;

TEST_CASE("a cell loses what tells least", "[present]") {
    const auto cut = [](std::string_view text, std::size_t width) { return cut_text(text, width, Cut::middle); };
    CHECK(cut("rabbit_channel:init/1", 21) == "rabbit_channel:init/1");
    CHECK(cut("rabbit_channel:init/1", 18) == "rabbit_cha\u2026:init/1");
    CHECK(cut("Shop.Cart.Checkout.handle_call/3", 24) == "Shop.Cart\u2026.handle_call/3");
    CHECK(cut(":supervisor_bridge.user_sup/1", 18) == ":super\u2026.user_sup/1");
    CHECK(cut("scenario_waits:client/1 \u00d760", 20) == "scenar\u2026:client/1 \u00d760");
    CHECK(cut("/usr/lib/erlang/lib/stdlib/ebin/lists.beam", 24) == "/usr/lib/erl\u2026/lists.beam");
    CHECK(cut("a_very_long_name_of_a_process <0.4711.0>", 24) == "a_very_long_\u2026 <0.4711.0>");
    CHECK(cut("/srv/builds/shop/apps/src/cart.erl:88", 24) == "/srv/builds\u2026/cart.erl:88");
    CHECK(cut("application_controller", 18) == "applicat\u2026ontroller");
    CHECK(cut("  application_controller", 20) == "  applicat\u2026ontroller");
}

TEST_CASE("no pid and no figure is cut", "[present]") {
    for (const Cut how : {Cut::middle, Cut::end})
        for (const std::string_view text :
             {"{<0.4711.0>,[123456,789],<0.12.0>}", "<0.4711.0> (my_server:init/1)", "name_of_it 123456 <0.4711.0>"})
            for (std::size_t width = 8; width < text.size(); ++width) {
                const std::string cut = cut_text(text, width, how);
                CAPTURE(text, width, cut);
                CHECK(display_width(cut) <= width);
                // What stands beside the ellipsis is no part of a number or pid.
                const std::size_t at = cut.find("\u2026");
                REQUIRE(at != std::string::npos);
                const std::string_view before = std::string_view(cut).substr(0, at);
                const std::string_view after = std::string_view(cut).substr(at + std::string_view("\u2026").size());
                for (const std::string_view whole : {"4711", "123456", "789", "0.12"}) {
                    for (std::size_t n = 1; n < whole.size(); ++n) {
                        if (!before.ends_with(whole.substr(0, n))) continue;
                        const bool complete = text.substr(before.size()).empty() ||
                                              text.substr(before.size() - n).substr(0, whole.size()) != whole;
                        CHECK(complete);
                    }
                }
                CHECK((after.empty() || after.front() != '.'));
            }
}

TEST_CASE("cells that would be cut alike are cut where they differ", "[present]") {
    const auto cuts = [](std::size_t width, const std::vector<std::string>& cells) {
        TextColumn column;
        column.width = width;
        column.cut = Cut::middle;
        ColumnCut cut(column);
        for (const std::string& cell : cells) cut.add(cell);
        std::vector<std::string> shown;
        for (const std::string& cell : cells) {
            shown.push_back(cut(cell));
            CHECK(display_width(shown.back()) <= width);
        }
        return shown;
    };
    using Shown = std::vector<std::string>;
    CHECK(cuts(22, {"reader of <<\"10.0.0.7:41002 -> 10.0.0.1:5672\">>",
                    "reader of <<\"10.0.0.7:41011 -> 10.0.0.1:5672\">>"}) ==
          Shown{"reader of <<\"\u202641002\u2026", "reader of <<\"\u202641011\u2026"});
    // What is behind it has the room that is left.
    CHECK(cuts(25, {"client of <<\"u1@localhost/office\">>", "client of <<\"u22@localhost/office\">>"}) ==
          Shown{"client of <<\"u1@localhos\u2026", "client of <<\"u22@localho\u2026"});
    // One that differs from others anyway is cut as it is alone, and so are cells that are the same.
    CHECK(cuts(18, {"rabbit_channel:init/1", "rabbit_channel:init/1", "rabbit_writer:enter/2"}) ==
          Shown{"rabbit_cha\u2026:init/1", "rabbit_cha\u2026:init/1", "rabbit_wr\u2026:enter/2"});
    // What differs is longer than the column.
    for (const std::string& each :
         cuts(8, {"aaaaaaaaaaaaaaaaaaaa1111111111zzzz", "aaaaaaaaaaaaaaaaaaaa2222222222zzzz"}))
        CHECK(each.ends_with("\u2026"));
    // Characters of more than one byte stay whole.
    for (const std::string& each :
         cuts(9, {"na\u00efve \u00e4\u00e4\u00e4\u00e4 x", "na\u00efve \u00e4\u00e5\u00e4\u00e4 x"}))
        CHECK(safe_text(each) == each);
}

TEST_CASE("a term that is cut keeps its beginning, whatever it differs in", "[present]") {
    const auto cuts = [](std::size_t width, const std::vector<std::string>& cells) {
        TextColumn column;
        column.width = width;
        column.cut = Cut::end;
        ColumnCut cut(column);
        for (const std::string& cell : cells) cut.add(cell);
        std::vector<std::string> shown;
        for (const std::string& cell : cells) shown.push_back(cut(cell));
        return shown;
    };
    using Shown = std::vector<std::string>;
    // All of the room would be a reference's, or the number of a fun.
    CHECK(cuts(26, {"{timeout,#Ref<0.2099730019.1435238401.80437>,{apply,1}}",
                    "{timeout,#Ref<0.2099730019.1435238401.80426>,{apply,1}}"}) ==
          Shown{"{timeout,#Ref\u2026", "{timeout,#Ref\u2026"});
    CHECK(cuts(16, {"#Fun<gen_server2.12.70526638>", "#Fun<gen_server2.13.70526638>"}) ==
          Shown{"#Fun<gen_server\u2026", "#Fun<gen_server\u2026"});
    // There is room for both.
    CHECK(cuts(24, {"{order,<<\"of a customer\">>,41002,[],undefined}",
                    "{order,<<\"of a customer\">>,41011,[],undefined}"}) ==
          Shown{"{order,<<\"of a cu\u202641002\u2026", "{order,<<\"of a cu\u202641011\u2026"});
}

TEST_CASE("columns share a width", "[present]") {
    const auto column = [](std::size_t width, std::size_t least, std::uint8_t lesser = 0) {
        TextColumn made;
        made.width = width;
        made.least = made.best = least;
        made.lesser = lesser;
        made.cut = least == width ? Cut::nothing : Cut::middle;
        return made;
    };
    SECTION("what fits is not cut") {
        std::vector<TextColumn> columns{column(10, 10), column(30, 18), column(20, 20)};
        lay_out(columns, 64);
        CHECK(columns[1].width == 30);
    }
    SECTION("the widest gives way first, down to its least") {
        std::vector<TextColumn> columns{column(10, 10), column(50, 18), column(20, 18)};
        lay_out(columns, 60);
        CHECK(columns[0].width == 10);
        CHECK(columns[1].width == 26);
        CHECK(columns[2].width == 20);
    }
    SECTION("columns are left out before others are cut below their best, and nothing is left out for less") {
        std::vector<TextColumn> columns{column(40, 18), column(10, 10, 1)};
        columns[0].best = 24;
        lay_out(columns, 36);
        CHECK(columns[0].width == 24);
        CHECK(columns[1].spot == Spot::in_row);
        columns[0].width = 40;
        lay_out(columns, 35);
        CHECK(columns[0].width == 35);
        CHECK(columns[1].spot == Spot::left_out);
        std::vector<TextColumn> no_choice{column(40, 18), column(10, 10)};
        no_choice[0].best = 24;
        lay_out(no_choice, 30);
        CHECK(no_choice[0].width == 18);
    }
    SECTION("lesser columns are left out, the least of them first, and come back where there is room") {
        std::vector<TextColumn> columns{column(10, 10), column(30, 30, 1), column(4, 4, 3), column(12, 12, 2)};
        lay_out(columns, 30);
        CHECK(columns[1].spot == Spot::left_out);
        CHECK(columns[2].spot == Spot::in_row);
        CHECK(columns[3].spot == Spot::in_row);
    }
    SECTION("what tells nothing goes first") {
        std::vector<TextColumn> columns{column(10, 10), column(10, 10, 1), column(10, 10, 2)};
        columns[1].tells = false;
        lay_out(columns, 25);
        CHECK(columns[1].spot == Spot::left_out);
        CHECK(columns[2].spot == Spot::in_row);
    }
    SECTION("a term has a line of its own where that leaves something in the row") {
        std::vector<TextColumn> columns{column(10, 10), column(90, 16)};
        columns[1].below = true;
        lay_out(columns, 40);
        CHECK(columns[1].spot == Spot::lines);
        std::vector<TextColumn> alone{column(90, 16)};
        alone[0].below = true;
        lay_out(alone, 40);
        CHECK(alone[0].spot == Spot::in_row);
    }
    SECTION("where nothing else helps, a row goes on in a second line") {
        std::vector<TextColumn> columns{column(30, 30), column(30, 30)};
        lay_out(columns, 40);
        CHECK(columns[1].spot == Spot::breaks);
    }
}
