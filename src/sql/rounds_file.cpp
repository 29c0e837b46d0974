// SPDX-License-Identifier: Apache-2.0
#include "sql/rounds_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace beamheap::sql {
namespace {

constexpr std::size_t most_rows = 320;  // of things in a round: 14 bytes each, 40 MB a day with a round in ten seconds
constexpr std::size_t most_things = 100'000;  // of which the figure that was written last is remembered

constexpr const char* tables = R"(
PRAGMA journal_mode = TRUNCATE;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS watch_vm (id INTEGER PRIMARY KEY, vm TEXT UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS watch_thing (id INTEGER PRIMARY KEY, vm_id INTEGER NOT NULL, what TEXT NOT NULL, key TEXT NOT NULL,
    measure TEXT NOT NULL, unit TEXT NOT NULL, UNIQUE (vm_id, what, key, measure, unit));
CREATE TABLE IF NOT EXISTS watch_round (id INTEGER PRIMARY KEY, vm_id INTEGER NOT NULL, at_ms INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS watch_figure (thing_id INTEGER NOT NULL, round_id INTEGER NOT NULL, value NUMERIC NOT NULL,
    PRIMARY KEY (thing_id, round_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS watch_finding (round_id INTEGER NOT NULL, change TEXT NOT NULL, what TEXT NOT NULL, key TEXT NOT NULL,
    measure TEXT NOT NULL, per_second REAL NOT NULL, text TEXT NOT NULL);
)";

}  // namespace

struct RoundsFile::State {
    struct Statement {
        sqlite3_stmt* made = nullptr;
        ~Statement() { sqlite3_finalize(made); }
    };
    struct Thing {
        std::int64_t id;
        double value;
        bool written;
        std::uint64_t at = 0;  // rounds of this run, when it was written last
    };
    struct Connection {
        sqlite3* open = nullptr;
        ~Connection() { sqlite3_close(open); }
    } connection;
    Statement add_vm, find_vm, add_thing, find_thing, add_round, add_figure, add_finding;
    std::unordered_map<std::string, Thing> things;
    std::uint64_t rounds = 0;
    std::string path;

    Error failed(ErrorCode code) const {
        return Error{code, fmt::format("{}: {}", path, sqlite3_errmsg(connection.open)), {}};
    }
    bool run(const char* sql) const {
        return sqlite3_exec(connection.open, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
    }
    bool prepare(Statement& statement, const char* sql) const {
        return sqlite3_prepare_v2(connection.open, sql, -1, &statement.made, nullptr) == SQLITE_OK;
    }
    static void bind(sqlite3_stmt* to, int at, std::string_view text) {
        sqlite3_bind_text(to, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    }
    static void bind(sqlite3_stmt* to, int at, std::int64_t number) { sqlite3_bind_int64(to, at, number); }
    static void bind(sqlite3_stmt* to, int at, double number) {
        if (number >= 0 && number < 9e15 && number == static_cast<double>(static_cast<std::int64_t>(number)))
            sqlite3_bind_int64(to, at, static_cast<std::int64_t>(number));
        else sqlite3_bind_double(to, at, number);
    }
    /// Runs a statement with these values; a number that it gives, -1 where it gives none. Nothing: it failed.
    template <class... Values>
    std::optional<std::int64_t> step(const Statement& statement, const Values&... values) const {
        sqlite3_stmt* const made = statement.made;
        int at = 0;
        (bind(made, ++at, values), ...);
        const int done = sqlite3_step(made);
        std::optional<std::int64_t> found;
        if (done == SQLITE_ROW) found = sqlite3_column_int64(made, 0);
        if (done == SQLITE_DONE) found = -1;
        sqlite3_reset(made);
        return found;
    }
    template <class... Values>
    std::optional<std::int64_t> id_of(const Statement& add, const Statement& find, const Values&... values) const {
        if (!step(add, values...)) return std::nullopt;
        return step(find, values...);
    }
};

RoundsFile::RoundsFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
RoundsFile::RoundsFile(RoundsFile&&) noexcept = default;
RoundsFile::~RoundsFile() = default;

Result<RoundsFile> RoundsFile::open(const std::string& path) {
    const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (made < 0) return Error{ErrorCode::unreadable, fmt::format("{}: {}", path, std::strerror(errno)), {}};
    ::close(made);
    auto state = std::make_unique<State>();
    state->path = path;
    State& s = *state;
    if (sqlite3_open_v2(path.c_str(), &s.connection.open, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK ||
        sqlite3_busy_timeout(s.connection.open, 2000) != SQLITE_OK || !s.run(tables) ||
        !s.prepare(s.add_vm, "INSERT OR IGNORE INTO watch_vm (vm) VALUES (?)") ||
        !s.prepare(s.find_vm, "SELECT id FROM watch_vm WHERE vm = ?") ||
        !s.prepare(s.add_thing,
                   "INSERT OR IGNORE INTO watch_thing (vm_id, what, key, measure, unit) VALUES (?, ?, ?, ?, ?)") ||
        !s.prepare(
            s.find_thing,
            "SELECT id FROM watch_thing WHERE vm_id = ? AND what = ? AND key = ? AND measure = ? AND unit = ?") ||
        !s.prepare(s.add_round, "INSERT INTO watch_round (vm_id, at_ms) VALUES (?, ?) RETURNING id") ||
        !s.prepare(s.add_figure, "INSERT INTO watch_figure VALUES (?, ?, ?)") ||
        !s.prepare(s.add_finding, "INSERT INTO watch_finding VALUES (?, ?, ?, ?, ?, ?, ?)"))
        return s.failed(ErrorCode::unreadable);
    return RoundsFile(std::move(state));
}

Status RoundsFile::add(std::string_view vm, std::int64_t at_ms, std::span<const RoundFigure> figures,
                       std::span<const RoundFinding> findings) {
    State& s = *state_;
    if (s.things.size() > most_things) s.things.clear();  // their figures are written once more
    const auto write = [&]() -> bool {
        if (!s.run("BEGIN IMMEDIATE")) return false;
        const auto vm_id = s.id_of(s.add_vm, s.find_vm, vm);
        const auto round = vm_id ? s.step(s.add_round, *vm_id, at_ms) : vm_id;
        if (!round) return false;
        ++s.rounds;
        struct Changed {
            std::uint64_t at;
            State::Thing* thing;
            double value;
        };
        std::vector<Changed> changed;  // of things: of too many those whose rows are the oldest
        const auto put = [&](State::Thing& thing, double value) {
            thing.value = value;
            thing.written = true;
            thing.at = s.rounds;
            return s.step(s.add_figure, thing.id, *round, value).has_value();
        };
        for (const RoundFigure& figure : figures) {
            const std::string_view unit = figure.bytes ? "bytes" : "count";
            std::string name = fmt::format("{}\n{}\n{}\n{}\n{}", vm, figure.what, figure.key, figure.measure, unit);
            auto at = s.things.find(name);
            if (at == s.things.end()) {
                const auto id =
                    s.id_of(s.add_thing, s.find_thing, *vm_id, figure.what, figure.key, figure.measure, unit);
                if (!id) return false;
                at = s.things.emplace(std::move(name), State::Thing{*id, 0, false}).first;
            }
            State::Thing& thing = at->second;
            if (thing.written && thing.value == figure.value) continue;
            if (thing.written && !figure.sum) changed.push_back({thing.at, &thing, figure.value});
            else if (!put(thing, figure.value)) return false;
        }
        std::ranges::stable_sort(changed, {}, &Changed::at);
        if (changed.size() > most_rows) changed.resize(most_rows);
        for (const Changed& each : changed)
            if (!put(*each.thing, each.value)) return false;
        for (const RoundFinding& finding : findings)
            if (!s.step(s.add_finding, *round, std::string_view(finding.change), std::string_view(finding.what),
                        std::string_view(finding.key), std::string_view(finding.measure), finding.per_second,
                        std::string_view(finding.text)))
                return false;
        return s.run("COMMIT");
    };
    if (write()) return ok();
    const Error error = s.failed(ErrorCode::resource_limit);
    s.run("ROLLBACK");
    s.things.clear();  // what of it was written is not known any more
    return error;
}

}  // namespace beamheap::sql
