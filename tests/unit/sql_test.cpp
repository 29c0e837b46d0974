// SPDX-License-Identifier: Apache-2.0
// Queries over made-up tables: what SQLite is told of them, how rows are chosen and put in order, and what is refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "sql/functions.hpp"
#include "sql/query.hpp"
#include "sql/regular_expression.hpp"

using namespace beamheap;
using present::PlainValue;

namespace {

const auto open_redactor =
    std::make_shared<const present::Redactor>(present::RedactOptions{.level = present::RedactLevel::none});

/// How often rows were asked for.
struct Asked {
    int all = 0, cells = 0, parts = 0, functions = 0;
};

present::Table numbers(std::size_t rows, Asked* asked) {
    present::Table table;
    table.columns = {{.name = "name", .title = "", .doc = ""},
                     {.name = "n", .title = "", .unit = present::Unit::count, .doc = ""}};
    table.rows = table.total = rows;
    table.cell = [asked](std::size_t row, std::size_t column) -> present::Value {
        ++asked->cells;
        if (column == 0) return "row " + std::to_string(row);
        if (row % 10 == 3) return {};
        return std::uint64_t{row * 7919 % 1000};
    };
    return table;
}

std::vector<sql::Table> tables(Asked* asked, std::size_t rows = 1000) {
    std::vector<sql::Table> all(4);
    all[0].name = "number";
    all[0].columns = numbers(0, asked).columns;
    all[0].all = [=]() -> Result<sql::Rows> {
        return ++asked->all, std::make_shared<const present::PlainTable>(numbers(rows, asked), open_redactor);
    };
    all[1] = all[0];
    all[1].name = "piece";
    all[1].kind = sql::Table::Kind::parts;
    all[1].parts = [] { return std::size_t{5}; };
    all[1].find = [](std::string_view key) { return key == "row 2" ? std::size_t{2} : sql::Table::no_part; };
    all[1].part = [=](std::size_t part) -> Result<sql::Rows> {
        ++asked->parts;
        present::Table piece = numbers(part, asked);  // the piece with number p has p rows
        piece.cell = [part](std::size_t row, std::size_t column) {
            return column == 0 ? present::Value("row " + std::to_string(part)) : present::Value(std::uint64_t{row});
        };
        return std::make_shared<const present::PlainTable>(std::move(piece), open_redactor);
    };
    all[2] = all[0];
    all[2].name = "upto";
    all[2].kind = sql::Table::Kind::function;
    all[2].key = "most";
    all[2].of = [=](std::string_view most) -> Result<sql::Rows> {
        ++asked->functions;
        if (most == "none") return Error{ErrorCode::usage, "none is no number", "say one"};
        return std::make_shared<const present::PlainTable>(numbers(std::stoul(std::string(most)), asked),
                                                           open_redactor);
    };
    all[3] = all[0];
    all[3].name = "secret";
    all[3].columns.push_back({.name = "costly", .title = "", .doc = ""});
    all[3].hidden = {false, false, true};
    return all;
}

Result<sql::Answer> ask(std::string_view statement, Asked* asked, sql::Limits limits = {}, std::size_t rows = 1000) {
    BH_TRY(const auto query, sql::Query::compile(tables(asked, rows), statement, limits));
    return query->run([]() -> Result<std::string> { return std::string("abc"); });
}

std::vector<std::string> texts(const sql::Answer& answer) {
    std::vector<std::string> all;
    for (const PlainValue& value : answer.values)
        if (const auto* text = std::get_if<std::string>(&value)) all.push_back(*text);
        else if (const auto* number = std::get_if<std::int64_t>(&value)) all.push_back(std::to_string(*number));
        else all.emplace_back("null");
    return all;
}

}  // namespace

TEST_CASE("rows behind those that are kept are counted", "[sql]") {
    Asked asked;
    const auto answer = ask("SELECT n FROM number WHERE n IS NOT NULL ORDER BY n", &asked, {.rows = 10, .kept = 3});
    REQUIRE(answer);
    CHECK(texts(*answer) == std::vector<std::string>{"0", "1", "2"});
    CHECK(answer->total == 900);
    const auto all = ask("SELECT n FROM number LIMIT 7", &asked);
    REQUIRE(all);
    CHECK(all->rows() == 7);
    CHECK(all->total == 7);
    CHECK_FALSE(ask("SELECT n FROM number", &asked, {.rows = 10, .kept = 20}));  // of which ten are too many
}

TEST_CASE("a query is told by the columns that it reads what it needs", "[sql]") {
    Asked asked;
    const auto query = sql::Query::compile(tables(&asked), "SELECT n FROM number WHERE n > 5", {});
    REQUIRE(query);
    CHECK((*query)->uses() == std::vector<sql::ColumnUse>{{0, 1}});
    CHECK(asked.all == 0);
    const auto counted = sql::Query::compile(tables(&asked), "SELECT count(*) FROM secret", {});
    INFO((counted ? "" : counted.error().message));
    REQUIRE(counted);
    CHECK((*counted)->uses() == std::vector<sql::ColumnUse>{{3, 0}});
    const auto star = sql::Query::compile(tables(&asked), "SELECT * FROM secret", {});
    REQUIRE(star);
    CHECK((*star)->uses() == std::vector<sql::ColumnUse>{{3, 0}, {3, 1}});
    const auto used = sql::Query::compile(tables(&asked), "SELECT count(*) FROM number JOIN secret USING (n)", {});
    REQUIRE(used);
    CHECK((*used)->uses() == std::vector<sql::ColumnUse>{{0, 1}, {3, 1}});
    const auto behind = sql::Query::compile(tables(&asked), "SELECT dump_id FROM upto('3')", {});
    REQUIRE(behind);
    CHECK((*behind)->uses() == std::vector<sql::ColumnUse>{{2, 2}});
    const auto named = sql::Query::compile(tables(&asked), "SELECT costly, dump_id FROM secret", {});
    REQUIRE(named);
    CHECK((*named)->uses() == std::vector<sql::ColumnUse>{{3, 2}, {3, 3}});
}

TEST_CASE("rows in the order of a number come as SQLite sorts them", "[sql]") {
    for (const char* order : {"n", "n DESC"}) {
        for (const char* limit : {"", " LIMIT 7", " LIMIT 3 OFFSET 1500", " LIMIT 2000"}) {
            Asked asked;
            // An expression is none of the table's columns: SQLite sorts by itself.
            const auto ours = ask(std::string("SELECT n FROM number ORDER BY ") + order + limit, &asked, {}, 3000);
            std::string sorted(order);
            sorted.insert(1, "+0");
            const auto theirs = ask(std::string("SELECT n FROM number ORDER BY ") + sorted + limit, &asked, {}, 3000);
            REQUIRE(ours);
            REQUIRE(theirs);
            CHECK(texts(*ours) == texts(*theirs));
            CHECK(ours->rows() == theirs->rows());
        }
    }
}

TEST_CASE("numbers that differ in their last digit alone are put in order", "[sql]") {
    std::vector<sql::Table> all(1);
    all[0].name = "large";
    all[0].columns = {{.name = "n", .title = "", .unit = present::Unit::count, .doc = ""}};
    all[0].all = []() -> Result<sql::Rows> {
        present::Table table;
        table.columns = {{.name = "n", .title = "", .unit = present::Unit::count, .doc = ""}};
        table.rows = table.total = 3;
        table.cell = [](std::size_t row, std::size_t) -> present::Value {
            return (std::uint64_t{1} << 60) + (row * 2 + 1) % 3;
        };
        return std::make_shared<const present::PlainTable>(std::move(table), open_redactor);
    };
    const auto query = sql::Query::compile(all, "SELECT n - (1 << 60) FROM large ORDER BY n", {});
    REQUIRE(query);
    const auto answer = (*query)->run({});
    REQUIRE(answer);
    CHECK(texts(*answer) == std::vector<std::string>{"0", "1", "2"});
}

TEST_CASE("the first rows of many do not cost a sort of all", "[sql]") {
    Asked asked;
    const auto few = ask("SELECT name FROM number ORDER BY n DESC LIMIT 5", &asked, {}, 100'000);
    REQUIRE(few);
    CHECK(few->rows() == 5);
    CHECK(asked.cells < 100'100);  // a look at each figure, and five names
}

TEST_CASE("rows are found by a text without looking at all of them again", "[sql]") {
    Asked asked;
    const auto joined = ask("SELECT count(*) FROM number AS a JOIN number AS b ON a.name = b.name", &asked);
    REQUIRE(joined);
    CHECK(texts(*joined) == std::vector<std::string>{"1000"});
    CHECK(asked.cells < 10'000);
    for (const char* none : {"SELECT n FROM number WHERE name = 'row 1000'", "SELECT n FROM number WHERE name = NULL",
                             "SELECT n FROM number WHERE name = 5", "SELECT n FROM piece WHERE name = 'row 9'"}) {
        const auto found = ask(none, &asked);
        REQUIRE(found);
        CHECK(found->rows() == 0);
    }
    const auto nocase = ask("SELECT n FROM number WHERE name = 'ROW 7' COLLATE NOCASE", &asked);
    REQUIRE(nocase);
    CHECK(nocase->rows() == 1);
}

TEST_CASE("pieces are asked for as a query gets to them", "[sql]") {
    Asked asked;
    const auto all = ask("SELECT count(*), sum(n) FROM piece", &asked);
    REQUIRE(all);
    CHECK(texts(*all) == std::vector<std::string>{"10", "10"});
    CHECK(asked.parts == 5);
    asked = {};
    const auto one = ask("SELECT n FROM piece WHERE name = 'row 2'", &asked);
    REQUIRE(one);
    CHECK(texts(*one) == std::vector<std::string>{"0", "1"});
    CHECK(asked.parts == 1);
    asked = {};
    const auto first = ask("SELECT n FROM piece LIMIT 1", &asked);
    REQUIRE(first);
    CHECK(asked.parts == 2);  // the first of them has no rows
}

TEST_CASE("a function takes its argument, also from another table's row", "[sql]") {
    Asked asked;
    const auto given = ask("SELECT count(*) FROM upto('12')", &asked);
    REQUIRE(given);
    CHECK(texts(*given) == std::vector<std::string>{"12"});
    const auto joined = ask("SELECT sum(1) FROM piece, upto(piece.n)", &asked);
    REQUIRE(joined);
    CHECK(texts(*joined) == std::vector<std::string>{"10"});  // 0 + (0 1) + (0 1 2) + (0 1 2 3)
    const auto none = ask("SELECT * FROM upto('none')", &asked);
    REQUIRE_FALSE(none);
    CHECK(none.error().message == "none is no number");
    CHECK(none.error().advice == "say one");
    const auto missing = ask("SELECT * FROM upto", &asked);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().message.find("upto(most)") != std::string::npos);
}

TEST_CASE("nothing but reading is allowed", "[sql]") {
    Asked asked;
    for (const char* refused : {"ATTACH 'x.db' AS x",
                                "PRAGMA journal_mode=WAL",
                                "SELECT load_extension('x')",
                                "INSERT INTO number VALUES(1, 2)",
                                "UPDATE number SET n = 1",
                                "DELETE FROM number",
                                "CREATE TABLE t(x)",
                                "CREATE TEMP TABLE t(x)",
                                "DROP TABLE number",
                                "CREATE VIRTUAL TABLE v USING number",
                                "BEGIN",
                                "VACUUM",
                                "VACUUM INTO 'x.db'",
                                "ANALYZE",
                                "SAVEPOINT a",
                                "SELECT * FROM pragma_database_list",
                                "SELECT 1; SELECT 2",
                                "SELECT fts3_tokenizer('simple')",
                                "SELECT sin(n) FROM number",
                                "SELECT ATAN2(1, 2)",
                                "",
                                "-- nothing"}) {
        INFO(refused);
        const auto answer = ask(refused, &asked);
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code == ErrorCode::usage);
        CHECK(answer.error().message.size() > 10);
    }
    CHECK(asked.all == 0);
    const auto comment = ask("SELECT 1 AS x; -- that is all\n /* and this */ ;", &asked);
    CHECK(comment);
}

TEST_CASE("bounds of time, rows, values and memory hold", "[sql]") {
    Asked asked;
    constexpr const char* for_ever = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT ";
    sql::Limits limits;
    limits.time = std::chrono::seconds(0);
    const auto refuses = [&](const std::string& statement, std::string_view what) {
        INFO(statement);
        const auto answer = ask(statement, &asked, limits);
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code == ErrorCode::resource_limit);
        CHECK(answer.error().message.find(what) != std::string::npos);
    };
    refuses(std::string(for_ever) + "count(*) FROM c", "did not end within 0 s");
    limits.time = std::chrono::seconds(600);
    limits.rows = 100;
    refuses(std::string(for_ever) + "x FROM c", "more than 100 rows");
    refuses("SELECT zeroblob(1000000000)", "more than 16777216 bytes");
    refuses("WITH RECURSIVE c(x) AS (SELECT 'abcdefgh' UNION ALL SELECT x || x FROM c) SELECT max(length(x)) FROM c",
            "more than 16777216 bytes");
    limits.memory_bytes = 8u << 20;
    refuses(std::string("WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c) SELECT count(*) FROM c"),
            "more than 8 MiB of memory");
    limits.answer_bytes = 1000;
    refuses("SELECT hex(zeroblob(4000)) FROM number", "more than 0 MiB");
    refuses("SELECT n, n, n, n, n, n, n, n FROM number LIMIT 10", "more than 0 MiB");
    // What was bounded for one query is not for the next.
    limits = {};
    CHECK(ask("SELECT count(DISTINCT a.name || b.n) FROM number a, number b WHERE a.n < 100 AND b.n < 100", &asked,
              limits));
}

TEST_CASE("names that come twice are told apart, and blobs are texts", "[sql]") {
    Asked asked;
    const auto answer = ask("SELECT 1 AS a, 2 AS a, x'00ff' AS a_2, NULL AS b", &asked);
    REQUIRE(answer);
    CHECK(answer->columns == std::vector<std::string>{"a", "a_2", "a_2_2", "b"});
    CHECK(texts(*answer) == std::vector<std::string>{"1", "2", "x'00FF'", "null"});
}

TEST_CASE("a mistyped name is answered with one that there is", "[sql]") {
    Asked asked;
    const auto table = ask("SELECT * FROM numbr", &asked);
    REQUIRE_FALSE(table);
    CHECK(table.error().advice == "did you mean number?");
    const auto column = ask("SELECT number.nam FROM number", &asked);
    REQUIRE_FALSE(column);
    CHECK(column.error().advice == "did you mean name?");
}

TEST_CASE("cells are redacted before a query sees them", "[sql]") {
    present::Table table;
    table.columns = {{.name = "key", .title = "", .doc = "", .content = present::Content::term},
                     {.name = "value", .title = "", .doc = "", .content = present::Content::term, .keyed_by = "key"}};
    table.rows = table.total = 1;
    table.cell = [](std::size_t, std::size_t column) {
        return present::Value(column == 0 ? "password" : "<<\"hunter2-is-mine\">>");
    };
    const present::PlainTable rows(table, std::make_shared<const present::Redactor>(present::RedactOptions{}));
    CHECK(std::get<std::string>(rows.cell(0, 1)).find("hunter2") == std::string::npos);
    CHECK(std::get<std::string>(rows.copy()->cell(0, 1)) == std::get<std::string>(rows.cell(0, 1)));
    // Lists are JSON, bytes that are no UTF-8 are replaced, numbers that no database has are reals.
    const present::Redactor open(present::RedactOptions{.level = present::RedactLevel::none});
    const auto plain = [&](const present::Value& value) {
        return present::plain_value(open, value, present::Content::plain);
    };
    CHECK(std::get<std::string>(plain(present::Array{"a\"b", 1})) == "[\"a\\\"b\",1]");
    CHECK(std::get<std::string>(plain("a\xFFz")) == "a\xEF\xBF\xBDz");
    CHECK(std::get<std::int64_t>(plain(true)) == 1);
    CHECK(std::get<double>(plain(~std::uint64_t{0})) == Approx(1.8446744073709552e19));
    CHECK(plain({}) == PlainValue{});
}

TEST_CASE("a regular expression fits what grep -E says it does", "[sql]") {
    struct Row {
        const char *expression, *text;
        bool fits;
    };
    const auto row = GENERATE(values<Row>({
        {"^log", "log_event", true},
        {"^log", "a log", false},
        {"event$", "log_event", true},
        {"a|bc", "xbcx", true},
        {"^(a|b)c$", "bc", true},
        {"^(a|b)c$", "ac", true},
        {"^(a|b)c$", "abc", false},
        {"^a{2,3}$", "aaa", true},
        {"^a{2,3}$", "aaaa", false},
        {"^a{2,}$", "aaaaa", true},
        {"^a{2}$", "a", false},
        {"^[^a-c]+$", "xyz", true},
        {"^[^a-c]+$", "xbz", false},
        {"^[]a]+$", "]a]", true},
        {"^[a-]+$", "a-a", true},
        {"^\\d+\\.\\d+$", "27.1", true},
        {"^\\D+$", "a1", false},
        {"\\bcat\\b", "a cat", true},
        {"\\bcat\\b", "concat", false},
        {"\\Bcat", "concat", true},
        {"^.$", "\xC3\xA4", true},
        {"^.$", "\n", false},
        {"^[\xC3\xA4-\xC3\xBC]$", "\xC3\xB6", true},
        {"(?i)^GEN_[A-Z]+$", "gen_server", true},
        {"^gen$", "GEN", false},
        {"(?i)^[^a]$", "A", false},
        {"^(?:ab)+?$", "abab", true},
        {"", "anything", true},
        {"^$", "", true},
        {"^(a?){3}a{3}$", "aaa", true},
        {"^[\\w.]+$", "a.b_1", true},
        {"^[^\\s]+$", "a b", false},
        {"x*", "", true},
        {"^(|a)b$", "b", true},
        {"^(a*)*b$", "aaab", true},
        {"\\.beam$", "x.beam", true},
    }));
    CAPTURE(row.expression, row.text);
    const auto made = sql::RegularExpression::compile(row.expression);
    REQUIRE(made);
    CHECK(made->found_in(row.text, [] { return false; }) == row.fits);
}

TEST_CASE("a regular expression that can't be read, or is too large, says why", "[sql]") {
    for (const char* wrong : {"(", ")", "a)", "[a", "*a", "a{", "a{2", "a{3,2}", "\\", "\\q", "(?=a)", "[[:alpha:]]",
                              "[z-a]", "((a{100}){100}){100}"}) {
        CAPTURE(wrong);
        CHECK_FALSE(sql::RegularExpression::compile(wrong));
    }
    CHECK_FALSE(sql::RegularExpression::compile(std::string(200, '(')));
    CHECK_FALSE(sql::RegularExpression::compile(std::string(20'000, 'a')));
    // What takes others for ever.
    const auto nested = sql::RegularExpression::compile("^((a+)+)+$");
    REQUIRE(nested);
    CHECK(nested->found_in(std::string(100'000, 'a') + 'b', [] { return false; }) == false);
    CHECK(nested->found_in(std::string(1'000'000, 'a'), [] { return true; }) == std::nullopt);
}

TEST_CASE("functions that are done here say what SQLite's say", "[sql]") {
    // Where SQLite has its own under another name or form there is nothing to compare with but what is known of it.
    const std::pair<const char*, const char*> rows[] = {{"instr('abc', 'c')", "3"},
                                                        {"instr('abc', '')", "1"},
                                                        {"instr('\xC3\xA4' || 'bc', 'b')", "2"},
                                                        {"instr(x'c3a462', x'62')", "3"},
                                                        {"instr('abc', 'x')", "0"},
                                                        {"instr(NULL, 'x')", "null"},
                                                        {"instr(123, 2)", "2"},
                                                        {"replace('aXbX', 'X', 'yy')", "ayybyy"},
                                                        {"replace('abc', '', 'x')", "abc"},
                                                        {"replace('aaa', 'aa', 'b')", "ba"},
                                                        {"replace('', 'a', 'b')", ""},
                                                        {"'Gen_Server' LIKE 'gen%'", "1"},
                                                        {"'gen' LIKE 'g_n'", "1"},
                                                        {"'gen' LIKE 'g_'", "0"},
                                                        {"'10%' LIKE '10\\%' ESCAPE '\\'", "1"},
                                                        {"'100' LIKE '10\\%' ESCAPE '\\'", "0"},
                                                        {"'a.b.c' LIKE '%.%.%'", "1"},
                                                        {"'' LIKE '%'", "1"},
                                                        {"'' LIKE '_'", "0"},
                                                        {"'\xC3\xA4' LIKE '_'", "1"},
                                                        {"'Gen' GLOB 'gen*'", "0"},
                                                        {"'gen_x' GLOB 'gen_?'", "1"},
                                                        {"'b' GLOB '[a-c]'", "1"},
                                                        {"'d' GLOB '[^a-c]'", "1"},
                                                        {"']' GLOB '[]]'", "1"},
                                                        {"'a' GLOB '[a'", "0"},
                                                        {"NULL LIKE '%'", "null"},
                                                        {"trim('xxaxx', 'x')", "a"},
                                                        {"ltrim('xyxa', 'xy')", "a"},
                                                        {"rtrim('axy', 'yx')", "a"},
                                                        {"trim('  a ')", "a"},
                                                        {"trim('aaa', 'a')", ""},
                                                        {"printf('%d-%s', 7, 'a')", "7-a"},
                                                        {"printf('%s', '')", ""},
                                                        {"printf('')", ""},
                                                        {"printf(NULL)", "null"},
                                                        {"format('%.2f', 1.0/3)", "0.33"},
                                                        {"'log_event' REGEXP '^log'", "1"},
                                                        {"NULL REGEXP 'a'", "null"},
                                                        {"(SELECT group_concat(value) FROM json_each('[1,2]'))", "1,2"},
                                                        {"(SELECT count(*) FROM json_tree('{\"a\":[1,2]}'))", "4"}};
    for (const auto& [expression, wanted] : rows) {
        Asked asked;
        const auto answer = ask(std::string("SELECT ") + expression, &asked);
        CAPTURE(expression);
        REQUIRE(answer);
        CHECK(texts(*answer) == std::vector<std::string>{wanted});
    }
}

TEST_CASE("percentiles are between the nearest values", "[sql]") {
    const std::pair<const char*, const char*> rows[] = {
        {"median(x) = 2.5 FROM (SELECT 1 AS x UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4)", "1"},
        {"percentile(x, 0) = 1 FROM (SELECT 4 AS x UNION ALL SELECT 1)", "1"},
        {"percentile(x, 100) = 4 FROM (SELECT 4 AS x UNION ALL SELECT 1)", "1"},
        {"percentile(x, 25) = 1.75 FROM (SELECT 4 AS x UNION ALL SELECT 1)", "1"},
        {"median(x) FROM (SELECT NULL AS x)", "null"},
        {"median(n) = 500 FROM number WHERE n BETWEEN 490 AND 510", "1"}};
    for (const auto& [query, wanted] : rows) {
        Asked asked;
        const auto answer = ask(std::string("SELECT ") + query, &asked);
        CAPTURE(query);
        REQUIRE(answer);
        CHECK(texts(*answer) == std::vector<std::string>{wanted});
    }
    Asked asked;
    for (const char* wrong : {"percentile(n, 101)", "percentile(n, n)", "median(name)", "percentile(n, 'x')"}) {
        CAPTURE(wrong);
        CHECK_FALSE(ask(std::string("SELECT ") + wrong + " FROM number", &asked));
    }
}

TEST_CASE("no function outlives the time of its query, nor gives more than it may without a word", "[sql]") {
    sql::Limits limits;
    limits.time = std::chrono::seconds(1);
    const std::string large = "hex(zeroblob(4000000))", other = "hex(zeroblob(2000000)) || '1'";
    for (const std::string& query :
         {"instr(" + large + ", " + other + ")", "replace(" + large + ", " + other + ", 'x')",
          large + " LIKE '%0%0%0%0%1'", large + " GLOB '*0*0*0*[^0]'",
          "trim(" + large + " || '1', '" + std::string(900, '0') + "')", large + " REGEXP '^(0|0|0|0|0|0)*1$'",
          "(SELECT sum(length(upper(" + large + " || n))) FROM number)"}) {
        Asked asked;
        CAPTURE(query.substr(0, 60));
        const auto begun = std::chrono::steady_clock::now();
        const auto answer = ask("SELECT " + query, &asked, limits);
        CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(20));  // the machine may be busy
        CHECK((answer || answer.error().message.find("did not end") != std::string::npos));
    }
    for (const std::string query : {"printf('%.100000000d', 1)", "format('%*d', 100000000, 1)",
                                    "replace(hex(zeroblob(4000000)), '0', 'abcdefgh')"}) {
        Asked asked;
        const auto answer = ask("SELECT " + query, &asked, limits);
        CAPTURE(query);
        REQUIRE_FALSE(answer);
        CHECK(answer.error().message.find("more than 16777216 bytes") != std::string::npos);
    }
    Asked asked;
    CHECK_FALSE(ask("SELECT json_patch('{}', '{}')", &asked));
    CHECK_FALSE(ask("SELECT 'a' LIKE '" + std::string(1001, '%') + "'", &asked));
}

TEST_CASE("pids are in their order", "[sql]") {
    using sql::compare_ids;
    const std::vector<std::string> sorted{"#Port<0.9>", "#Port<0.10>", "<0.2.0>",   "<0.10.0>", "<0.10.1>",  "<8.1.0>",
                                          "",           "#Fun",        "<0.010.0>", "<0.2",     "a<0.1.0>b", "name"};
    for (std::size_t i = 0; i < sorted.size(); ++i)
        for (std::size_t j = 0; j < sorted.size(); ++j) {
            CAPTURE(sorted[i], sorted[j]);
            const int order = compare_ids(sorted[i], sorted[j]);
            CHECK((order < 0) == (i < j));
            CHECK((order == 0) == (i == j));
        }
}
