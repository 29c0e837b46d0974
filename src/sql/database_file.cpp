// SPDX-License-Identifier: Apache-2.0
#include "sql/database_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <utility>
#include <vector>

#include "sql/virtual_table.hpp"

namespace beamheap::sql {
namespace {

bool is_joined_by(std::string_view column) {
    constexpr std::array<std::string_view, 7> names{"pid",   "address", "waiter",  "target",
                                                    "owner", "parent",  "receiver"};
    return std::ranges::find(names, column) != names.end();
}

// SQLite opens files by their names, and ours has none: where it calls open(), a name in this folder, which does not
// exist, stands for the descriptor of that number. All other names are the system's.
constexpr std::string_view descriptor_folder = "/beamheap-descriptor/";

int open_or_duplicate(const char* path, int flags, int mode) {
    const std::string_view name = path;
    if (!name.starts_with(descriptor_folder)) return ::open(path, flags, mode);
    int descriptor = -1;
    std::from_chars(name.data() + descriptor_folder.size(), name.data() + name.size(), descriptor);
    return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
}

void teach_sqlite_descriptors() {
    static std::once_flag once;
    std::call_once(once, [] {
        sqlite3_vfs* const files = sqlite3_vfs_find(nullptr);
        if (files != nullptr && files->iVersion >= 3)
            files->xSetSystemCall(files, "open", reinterpret_cast<sqlite3_syscall_ptr>(&open_or_duplicate));
    });
}

}  // namespace

struct DatabaseFile::State {
    sqlite3* connection = nullptr;
    std::vector<sqlite3_stmt*> inserts;  // of each table
    std::vector<std::string> indexes;

    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        forget_inserts();
        sqlite3_close(connection);
    }
    void forget_inserts() {
        for (sqlite3_stmt* insert : inserts) sqlite3_finalize(insert);
        inserts.clear();
    }
    Error failure() const {
        return {ErrorCode::resource_limit,
                fmt::format("the database can't be written: {}", sqlite3_errmsg(connection)),
                {}};
    }
    Status run(const std::string& statement) {
        if (sqlite3_exec(connection, statement.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
        return ok();
    }
};

DatabaseFile::DatabaseFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
DatabaseFile::DatabaseFile(DatabaseFile&&) noexcept = default;
DatabaseFile::~DatabaseFile() = default;

Result<DatabaseFile> DatabaseFile::create(int descriptor) {
    teach_sqlite_descriptors();
    const std::string path = fmt::format("{}{}", descriptor_folder, descriptor);
    auto state = std::make_unique<State>();
    const int code = sqlite3_open_v2(path.c_str(), &state->connection,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    if (code != SQLITE_OK) return state->failure();
    BH_CHECK(
        state->run(fmt::format("PRAGMA page_size=65536; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                               "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16384;"
                               "PRAGMA application_id={}; PRAGMA user_version={}; BEGIN",
                               application_id, schema_version)));
    return DatabaseFile(std::move(state));
}

Result<std::size_t> DatabaseFile::begin_table(std::string_view name, std::string_view doc,
                                              std::span<const present::Column> columns) {
    // `.schema` shows the meanings.
    std::string make = fmt::format("CREATE TABLE {}( -- {}\n  dump_id TEXT NOT NULL", quoted_name(name), doc);
    std::string insert = fmt::format("INSERT INTO {} VALUES(?", quoted_name(name));
    std::string meaning = "which input it is of";
    for (const present::Column& column : columns) {
        make += fmt::format(", -- {}\n  {} {}", meaning, quoted_name(column.name), declared_type(column));
        meaning = column.doc.empty() ? column.name : column.doc;
        insert += ",?";
        if (is_joined_by(column.name))
            state_->indexes.push_back(fmt::format("CREATE INDEX {} ON {}({})",
                                                  quoted_name(fmt::format("{}_{}", name, column.name)),
                                                  quoted_name(name), quoted_name(column.name)));
    }
    make += fmt::format(" -- {}\n)", meaning);
    BH_CHECK(state_->run(make));
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(state_->connection, (insert + ')').c_str(), -1, &statement, nullptr) != SQLITE_OK)
        return state_->failure();
    state_->inserts.push_back(statement);
    return state_->inserts.size() - 1;
}

Status DatabaseFile::add(std::size_t table, const present::PlainTable& rows, const std::string& dump_id) {
    sqlite3_stmt* const insert = state_->inserts[table];
    std::vector<std::string> texts(rows.columns().size());  // as long as a row is being written
    sqlite3_bind_text(insert, 1, dump_id.data(), static_cast<int>(dump_id.size()), SQLITE_STATIC);
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        for (std::size_t c = 0; c < texts.size(); ++c) {
            const int place = static_cast<int>(c) + 2;
            const present::PlainValue value = rows.cell(row, c);
            if (const auto* number = std::get_if<std::int64_t>(&value)) sqlite3_bind_int64(insert, place, *number);
            else if (const auto* real = std::get_if<double>(&value)) sqlite3_bind_double(insert, place, *real);
            else if (const auto* text = std::get_if<std::string>(&value)) {
                texts[c] = present::fit_to_keep(*text);
                sqlite3_bind_text64(insert, place, texts[c].data(), texts[c].size(), SQLITE_STATIC, SQLITE_UTF8);
            } else sqlite3_bind_null(insert, place);
        }
        if (sqlite3_step(insert) != SQLITE_DONE) return state_->failure();
        sqlite3_reset(insert);
    }
    sqlite3_clear_bindings(insert);
    return ok();
}

Status DatabaseFile::finish() {
    state_->forget_inserts();
    for (const std::string& index : state_->indexes) BH_CHECK(state_->run(index));
    BH_CHECK(state_->run("COMMIT"));
    if (sqlite3_close(std::exchange(state_->connection, nullptr)) != SQLITE_OK)
        return Error{ErrorCode::resource_limit, "the database can't be closed", {}};
    return ok();
}

}  // namespace beamheap::sql
