// SPDX-License-Identifier: Apache-2.0
#include "sql/query.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <set>

#include "present/render.hpp"
#include "sql/functions.hpp"
#include "sql/virtual_table.hpp"

namespace beamheap::sql {
namespace {

struct CloseConnection {
    void operator()(sqlite3* connection) const { sqlite3_close(connection); }
};
struct FinishStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, CloseConnection>;
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

constexpr int steps_between_looks = 250;  // of SQLite's machine; one may be a function of a text of many MiB

// What a statement asked for that queries may not do, in SQL's words.
std::string_view name_of_action(int action) {
    switch (action) {
        case SQLITE_ATTACH: return "ATTACH";
        case SQLITE_DETACH: return "DETACH";
        case SQLITE_PRAGMA: return "PRAGMA";
        case SQLITE_TRANSACTION:
        case SQLITE_SAVEPOINT: return "a transaction";
        case SQLITE_INSERT: return "INSERT";
        case SQLITE_UPDATE: return "UPDATE";
        case SQLITE_DELETE: return "DELETE";
        case SQLITE_ANALYZE: return "ANALYZE";
        case SQLITE_REINDEX: return "REINDEX";
        default: return "changing the schema";
    }
}

// Functions that load code, reach out of the database, or give its insides away; one that takes the product of two
// texts' lengths; and those of angles, which no question
// about a node needs: the static program is without them (cmake/static_program.cpp), so that no build has them.
bool is_refused_function(std::string_view name) {
    constexpr std::string_view refused[] = {"load_extension",
                                            "fts3_tokenizer",
                                            "readfile",
                                            "writefile",
                                            "edit",
                                            "json_patch",
                                            "acos",
                                            "acosh",
                                            "asin",
                                            "asinh",
                                            "atan",
                                            "atan2",
                                            "atanh",
                                            "cos",
                                            "cosh",
                                            "sin",
                                            "sinh",
                                            "tan",
                                            "tanh"};
    return std::any_of(std::begin(refused), std::end(refused), [name](std::string_view each) {
        return sqlite3_strnicmp(each.data(), name.data(), static_cast<int>(each.size())) == 0 &&
               each.size() == name.size();
    });
}

// Nothing but blanks, comments and semicolons.
bool is_empty(std::string_view text) {
    while (!text.empty()) {
        if (std::isspace(static_cast<unsigned char>(text.front())) != 0 || text.front() == ';') {
            text.remove_prefix(1);
        } else if (text.starts_with("--")) {
            text.remove_prefix(std::min(text.find('\n'), text.size()));
        } else if (text.starts_with("/*")) {
            const std::size_t end = text.find("*/", 2);
            text.remove_prefix(end == text.npos ? text.size() : end + 2);
        } else {
            return false;
        }
    }
    return true;
}

std::size_t value_size(const present::PlainValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text == nullptr ? 0 : text->size();
}

present::PlainValue value_of(sqlite3_stmt* statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
        case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(statement, column)};
        case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
        case SQLITE_TEXT: {
            const unsigned char* text = sqlite3_column_text(statement, column);
            if (text == nullptr) return {};
            return std::string(reinterpret_cast<const char*>(text),
                               static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
        }
        case SQLITE_BLOB: {  // as SQL writes it
            const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement, column));
            const int size = sqlite3_column_bytes(statement, column);
            std::string text = "x'";
            for (int i = 0; i < size; ++i) text += fmt::format("{:02X}", bytes[i]);
            return text + '\'';
        }
        default: return {};
    }
}

}  // namespace

struct Query::State {
    std::vector<Table> tables;
    Limits limits;
    TableHost host;
    FunctionHost functions;
    Connection connection;
    Statement statement;
    std::set<ColumnUse> read;
    std::vector<ColumnUse> uses;
    std::string refused;     // what the authorizer refused first
    bool no_memory = false;  // it had none
    std::chrono::steady_clock::time_point end{};
    bool late = false;

    int judge(int action, const char* first, const char* second);
    static int authorize(void* context, int action, const char* first, const char* second, const char*, const char*);
    static int look_at_clock(void* context);
    void lock_down();
    void note_use(const Table& table, std::uint64_t columns);
    Error failure(int code);
    Error no_such_thing(const std::string& message) const;
};

// Asked for everything that a statement does, while it is compiled. SQLite is C: no exception may pass through it.
int Query::State::authorize(void* context, int action, const char* first, const char* second, const char*,
                            const char*) {
    try {
        return static_cast<State*>(context)->judge(action, first, second);
    } catch (const std::bad_alloc&) {
        static_cast<State*>(context)->no_memory = true;  // for which an authorizer has no answer of its own
        return SQLITE_DENY;
    }
}

int Query::State::judge(int action, const char* first, const char* second) {
    const auto refuse = [this](std::string what) {
        if (refused.empty()) refused = std::move(what);
        return SQLITE_DENY;
    };
    switch (action) {
        case SQLITE_SELECT:
        case SQLITE_RECURSIVE: return SQLITE_OK;
        case SQLITE_READ: return SQLITE_OK;
        case SQLITE_FUNCTION:
            if (second != nullptr && is_refused_function(second)) return refuse(fmt::format("{}()", second));
            return SQLITE_OK;
        case SQLITE_INSERT:
        case SQLITE_UPDATE:
        case SQLITE_DELETE:
            // What creates or drops something begins by writing to the schema's own table.
            if (first != nullptr && std::string_view(first).starts_with("sqlite_"))
                return refuse("a table of its own, or of SQLite's,");
            return refuse(std::string(name_of_action(action)));
        default: return refuse(std::string(name_of_action(action)));
    }
}

int Query::State::look_at_clock(void* context) {
    auto& state = *static_cast<State*>(context);
    state.late = std::chrono::steady_clock::now() >= state.end;
    return state.late ? 1 : 0;
}

// The planner knows; the authorizer is not told of columns that JOIN ... USING compares.
void Query::State::note_use(const Table& table, std::uint64_t columns) {
    constexpr std::size_t told_together = 63;
    const auto t = static_cast<std::size_t>(&table - tables.data());
    bool any = false;
    for (std::size_t c = 0; c <= table.columns.size(); ++c) {
        // A function's argument comes before dump_id, which is none of its columns.
        const std::size_t place = c == table.columns.size() && table.kind == Table::Kind::function ? c + 1 : c;
        if ((columns >> std::min(place, told_together) & 1) == 0) continue;
        read.insert({t, c});
        any = true;
    }
    if (!any) read.insert({t, 0});
}

void Query::State::lock_down() {
    sqlite3* const db = connection.get();
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_exec(db, "PRAGMA temp_store=MEMORY", nullptr, nullptr, nullptr);  // nothing of the input goes to a disk
    const std::pair<int, int> bounds[] = {{SQLITE_LIMIT_LENGTH, static_cast<int>(limits.value_bytes)},
                                          {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                                          {SQLITE_LIMIT_COLUMN, 500},
                                          {SQLITE_LIMIT_EXPR_DEPTH, 300},
                                          {SQLITE_LIMIT_COMPOUND_SELECT, 100},
                                          {SQLITE_LIMIT_VDBE_OP, 250'000},
                                          {SQLITE_LIMIT_FUNCTION_ARG, 50},
                                          {SQLITE_LIMIT_ATTACHED, 0},
                                          {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
                                          {SQLITE_LIMIT_VARIABLE_NUMBER, 0},
                                          {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                          {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (const auto& [which, most] : bounds) sqlite3_limit(db, which, most);
    sqlite3_hard_heap_limit64(static_cast<sqlite3_int64>(limits.memory_bytes));
    sqlite3_set_authorizer(db, &State::authorize, this);
    sqlite3_progress_handler(db, steps_between_looks, &State::look_at_clock, this);
}

// "no such table: procs": what there is.
Error Query::State::no_such_thing(const std::string& message) const {
    const std::string_view text(message);
    const std::size_t colon = text.find(": ");
    const std::string_view name = colon == text.npos ? std::string_view() : text.substr(colon + 2);
    std::vector<std::string_view> names;
    if (text.starts_with("no such table")) {
        for (const Table& table : tables) names.push_back(table.name);
    } else if (text.starts_with("no such column")) {
        for (const Table& table : tables)
            for (const present::Column& column : table.columns) names.push_back(column.name);
    }
    std::string advice = names.empty() ? std::string() : present::did_you_mean(name.substr(name.rfind('.') + 1), names);
    if (advice.empty())
        advice =
            "`beamheap sql` without a query lists the tables with their columns, `beamheap recipes` has ready queries.";
    return {ErrorCode::usage, fmt::format("sql: {}", message), std::move(advice)};
}

Error Query::State::failure(int code) {
    if (host.failure) return *host.failure;
    if ((code & 0xFF) == SQLITE_NOMEM || no_memory)
        return {ErrorCode::resource_limit,
                fmt::format("sql: the query needs more than {} MiB of memory", limits.memory_bytes >> 20),
                "Sorting and grouping keep their rows: a WHERE or fewer columns make them less."};
    if (!refused.empty())
        return {
            ErrorCode::usage,
            fmt::format("sql: {} is refused: a query reads the tables of the input, and does nothing else", refused),
            {}};
    if (late)
        return {ErrorCode::resource_limit, fmt::format("sql: the query did not end within {} s", limits.time.count()),
                "--max-seconds N gives it more; a join without a condition, or a recursion without an end, needs for "
                "ever."};
    if ((code & 0xFF) == SQLITE_TOOBIG)
        return {
            ErrorCode::resource_limit,
            fmt::format("sql: a value of the query has more than {} bytes", limits.value_bytes),
            "What replace(), printf(), group_concat() and || make is bounded, too; terms that are shared are written "
            "out each time, which --term-bytes N bounds."};
    return no_such_thing(sqlite3_errmsg(connection.get()));
}

Query::Query(std::unique_ptr<State> state) : state_(std::move(state)) {}
Query::~Query() {
    state_->statement.reset();
    state_->connection.reset();
    sqlite3_hard_heap_limit64(0);
}

Result<std::unique_ptr<Query>> Query::compile(std::vector<Table> tables, std::string_view statement,
                                              const Limits& limits) {
    auto state = std::make_unique<State>();
    state->tables = std::move(tables);
    state->limits = limits;
    sqlite3* connection = nullptr;
    const int opened = sqlite3_open_v2(":memory:", &connection,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY, nullptr);
    state->connection.reset(connection);
    if (opened != SQLITE_OK) return Error{ErrorCode::resource_limit, "sql: there is no memory for a query", {}};
    state->functions.late = [raw = state.get()] { return State::look_at_clock(raw) != 0; };
    state->functions.value_bytes = limits.value_bytes;
    if (add_functions(connection, state->functions) != SQLITE_OK)
        return Error{ErrorCode::resource_limit, "sql: there is no memory for a query", {}};
    for (const Table& table : state->tables)
        if (add_table(connection, table, state->host) != SQLITE_OK)
            return Error{ErrorCode::resource_limit, fmt::format("sql: {}", sqlite3_errmsg(connection)), {}};
    // Tables declare themselves when they are first named, which looks like a change of the schema: before the lock.
    std::vector<std::string> uses{"json_each('[]')", "json_tree('[]')"};  // SQLite's own
    for (const Table& table : state->tables)
        uses.push_back(quoted_name(table.name) + (table.kind == Table::Kind::function ? "('')" : ""));
    for (const std::string& each : uses) {
        sqlite3_stmt* named = nullptr;
        const std::string use = "SELECT 1 FROM " + each;
        const int declared = sqlite3_prepare_v2(connection, use.c_str(), -1, &named, nullptr);
        sqlite3_finalize(named);
        if (declared == SQLITE_NOMEM)
            return Error{ErrorCode::resource_limit, "sql: there is no memory for a query", {}};
    }
    state->host.planned = [raw = state.get()](const Table& table, std::uint64_t used) { raw->note_use(table, used); };
    state->end = std::chrono::steady_clock::now() + limits.time;
    state->lock_down();
    sqlite3_stmt* compiled = nullptr;
    const char* rest = nullptr;
    const int code =
        sqlite3_prepare_v2(connection, statement.data(),
                           static_cast<int>(std::min<std::size_t>(statement.size(), 1u << 30)), &compiled, &rest);
    state->statement.reset(compiled);
    if (code != SQLITE_OK) return state->failure(code);
    if (compiled == nullptr)
        return Error{ErrorCode::usage, "sql: there is no query",
                     "SELECT pid, msgq_len FROM process ORDER BY msgq_len DESC LIMIT 10"};
    if (!is_empty(statement.substr(static_cast<std::size_t>(rest - statement.data()))))
        return Error{ErrorCode::usage, "sql: one statement is what is run; there is another one behind it", {}};
    if (sqlite3_stmt_readonly(compiled) == 0 || sqlite3_column_count(compiled) == 0)
        return Error{ErrorCode::usage,
                     "sql: the statement gives no rows: a query reads the tables of the input, and does nothing else",
                     {}};
    state->uses.assign(state->read.begin(), state->read.end());
    return std::unique_ptr<Query>(new Query(std::move(state)));
}

const std::vector<ColumnUse>& Query::uses() const { return state_->uses; }

Result<Answer> Query::run(std::function<Result<std::string>()> dump_id) {
    State& state = *state_;
    state.host.dump_id = std::move(dump_id);
    state.end = std::chrono::steady_clock::now() + state.limits.time;
    sqlite3_stmt* const statement = state.statement.get();
    Answer answer;
    const int columns = sqlite3_column_count(statement);
    for (int c = 0; c < columns; ++c) {
        const char* const given = sqlite3_column_name(statement, c);
        const std::string name = given == nullptr ? std::string() : given;
        std::string own = name;
        for (int n = 2; std::ranges::find(answer.columns, own) != answer.columns.end(); ++n)
            own = fmt::format("{}_{}", name, n);
        answer.columns.push_back(std::move(own));
    }
    std::uint64_t bytes = 0;
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
        if (++answer.total > state.limits.kept) continue;
        if (answer.total > state.limits.rows)
            return Error{ErrorCode::resource_limit,
                         fmt::format("sql: the answer has more than {} rows", state.limits.rows),
                         "LIMIT bounds it; --max-rows N takes more."};
        for (int c = 0; c < columns; ++c) {
            answer.values.push_back(value_of(statement, c));
            bytes += sizeof(present::PlainValue) + value_size(answer.values.back());
        }
        if (bytes > state.limits.answer_bytes)
            return Error{ErrorCode::resource_limit,
                         fmt::format("sql: the answer has more than {} MiB", state.limits.answer_bytes >> 20),
                         "LIMIT bounds it."};
    }
    if (code != SQLITE_DONE) return state.failure(code);
    return answer;
}

}  // namespace beamheap::sql
