// SPDX-License-Identifier: Apache-2.0
#include "sql/virtual_table.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <new>
#include <numeric>
#include <string_view>
#include <vector>

#include "present/term_printer.hpp"

namespace beamheap::sql {
namespace {

// Rows of a whole table by one column of numbers. Queries take the first few most of the time: rows are put into their
// places when they are asked for, the first few by one look at each, then sixteen times as many as before at a time (a
// selection, then a sort of what it chose).
class Order {
public:
    Order(const present::PlainTable& rows, std::size_t column, bool descending) : descending_(descending) {
        keys_.reserve(rows.rows());
        for (std::size_t row = 0; row < rows.rows(); ++row) {
            const std::optional<long double> number = rows.number(row, column);
            // Missing comes first, as SQLite has it, and last where the largest are first.
            keys_.push_back({number.value_or(0), static_cast<std::uint32_t>(row), number.has_value()});
        }
    }
    std::size_t row(std::size_t place) {
        while (place >= sorted_) {
            constexpr std::size_t first_few = 64;
            const std::size_t until = std::min(keys_.size(), std::max(sorted_ * 16, first_few));
            const auto begin = keys_.begin() + static_cast<std::ptrdiff_t>(sorted_);
            const auto end = keys_.begin() + static_cast<std::ptrdiff_t>(until);
            const auto before = [this](const Key& a, const Key& b) { return less(a, b); };
            if (sorted_ == 0) {
                std::partial_sort(begin, end, keys_.end(), before);
            } else {
                if (until < keys_.size()) std::nth_element(begin, end, keys_.end(), before);
                std::sort(begin, end, before);
            }
            sorted_ = until;
        }
        return keys_[place].row;
    }

private:
    struct Key {
        long double number;
        std::uint32_t row;
        bool has;
    };
    bool less(const Key& a, const Key& b) const {
        if (a.has != b.has) return a.has == descending_;
        if (a.number != b.number) return (a.number < b.number) != descending_;
        return a.row < b.row;
    }
    std::vector<Key> keys_;
    std::size_t sorted_ = 0;
    bool descending_;
};

// Rows by the text in one column; several texts may share a hash, so SQLite compares again.
class TextIndex {
public:
    TextIndex(const present::PlainTable& rows, std::size_t column) {
        entries_.reserve(rows.rows());
        for (std::size_t row = 0; row < rows.rows() && texts_only_; ++row) {
            const present::PlainValue value = rows.cell(row, column);
            if (const auto* text = std::get_if<std::string>(&value))
                entries_.push_back({std::hash<std::string_view>{}(*text), static_cast<std::uint32_t>(row)});
            else texts_only_ = std::holds_alternative<std::monostate>(value);
        }
        std::sort(entries_.begin(), entries_.end());
    }
    /// False: the column has numbers, too, which may be equal to texts: every row has to be looked at.
    bool texts_only() const { return texts_only_; }
    std::vector<std::uint32_t> rows(std::string_view text) const {
        std::vector<std::uint32_t> found;
        const std::size_t hash = std::hash<std::string_view>{}(text);
        for (auto at = std::lower_bound(entries_.begin(), entries_.end(), Entry{hash, 0});
             at != entries_.end() && at->first == hash; ++at)
            found.push_back(at->second);
        return found;
    }

private:
    using Entry = std::pair<std::size_t, std::uint32_t>;
    std::vector<Entry> entries_;
    bool texts_only_ = true;
};

struct Module {
    const Table* table;
    TableHost* host;
};

struct VirtualTable : sqlite3_vtab {
    const Table* table = nullptr;
    TableHost* host = nullptr;
    Rows rows;  // of a whole table, once they were asked for
    std::map<std::pair<std::size_t, bool>, std::shared_ptr<Order>> orders;
    std::map<std::size_t, std::shared_ptr<const TextIndex>> indexes;
    std::optional<std::string> dump_id;

    std::size_t width() const { return table->columns.size(); }
    int fail(const Error& error) {
        host->failure = error;
        sqlite3_free(zErrMsg);
        zErrMsg = sqlite3_mprintf("%s", error.message.c_str());
        return SQLITE_ERROR;
    }
};

struct Cursor : sqlite3_vtab_cursor {
    Rows rows;
    std::shared_ptr<Order> order;
    std::optional<std::vector<std::uint32_t>> chosen;
    std::size_t place = 0, count = 0;
    std::size_t part = 0, end_part = 0;  // pieces that are still to come: [part, end_part)
    std::string argument;

    VirtualTable& table() { return static_cast<VirtualTable&>(*pVtab); }
    std::size_t row() const { return chosen ? (*chosen)[place] : order ? order->row(place) : place; }
    void begin(Rows now) {
        rows = std::move(now);
        order = nullptr;
        chosen.reset();
        place = 0;
        count = rows ? rows->rows() : 0;
    }
    /// Goes to the next piece that has rows.
    int settle() {
        while (place >= count && part < end_part) {
            auto next = table().table->part(part++);
            if (!next) return table().fail(next.error());
            begin(std::move(*next));
        }
        return SQLITE_OK;
    }
};

// How a query gets at the rows, in the number that best_index() gives to filter().
struct Way {
    bool by_key = false, by_text = false, ordered = false, descending = false;
    unsigned text_column = 0, order_column = 0;

    int pack() const {
        return static_cast<int>((by_key ? 1u : 0u) | (by_text ? 2u : 0u) | (ordered ? 4u : 0u) |
                                (descending ? 8u : 0u) | text_column << 4 | order_column << 14);
    }
    static Way unpack(int number) {
        const auto bits = static_cast<unsigned>(number);
        return {(bits & 1) != 0, (bits & 2) != 0,   (bits & 4) != 0,
                (bits & 8) != 0, bits >> 4 & 0x3FF, bits >> 14 & 0x3FF};
    }
};

int connect(sqlite3* connection, void* context, int, const char* const*, sqlite3_vtab** out, char**) {
    const auto& module = *static_cast<const Module*>(context);
    std::string declaration = "CREATE TABLE t(";
    for (std::size_t c = 0; c < module.table->columns.size(); ++c) {
        const present::Column& column = module.table->columns[c];
        declaration += quoted_name(column.name) + ' ' + declared_type(column);
        if (c < module.table->hidden.size() && module.table->hidden[c]) declaration += " HIDDEN";
        // What may be a pid is in the order of pids (functions.hpp); equal is what has the same bytes, as by BINARY.
        if (present::plain_kind(column) == present::PlainKind::any) declaration += " COLLATE PID";
        declaration += ", ";
    }
    // Arguments are given to hidden columns in their order: a function's own comes first.
    if (module.table->kind == Table::Kind::function) declaration += quoted_name(module.table->key) + " HIDDEN, ";
    declaration += std::string(dump_id_column) + " HIDDEN)";
    if (const int code = sqlite3_declare_vtab(connection, declaration.c_str()); code != SQLITE_OK) return code;
    sqlite3_vtab_config(connection, SQLITE_VTAB_INNOCUOUS);
    auto* table = new (std::nothrow) VirtualTable();
    if (table == nullptr) return SQLITE_NOMEM;
    table->table = module.table;
    table->host = module.host;
    *out = table;
    return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
    delete static_cast<VirtualTable*>(table);
    return SQLITE_OK;
}

// Costs are guesses: queries are compiled before anything was read.
constexpr double cost_of_rows = 1e6, cost_of_piece = 1e3, cost_of_all_pieces = 1e8, cost_of_lookup = 10;

int best_index(sqlite3_vtab* base, sqlite3_index_info* info) {
    const auto& table = *static_cast<VirtualTable*>(base)->table;
    const auto width = static_cast<int>(table.columns.size());
    if (const auto& host = *static_cast<VirtualTable*>(base)->host; host.planned) host.planned(table, info->colUsed);
    Way way;
    int taken = -1;
    bool unusable_argument = false;
    for (int i = 0; i < info->nConstraint; ++i) {
        const auto& constraint = info->aConstraint[i];
        if (constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        const bool key = table.kind == Table::Kind::function
                             ? constraint.iColumn == width
                             : table.kind == Table::Kind::parts && constraint.iColumn == 0;
        const bool text =
            table.kind == Table::Kind::whole && constraint.iColumn >= 0 && constraint.iColumn < width &&
            present::plain_kind(table.columns[static_cast<std::size_t>(constraint.iColumn)]) == present::PlainKind::any;
        if (!key && !text) continue;
        if (constraint.usable == 0) {
            unusable_argument = unusable_argument || (key && table.kind == Table::Kind::function);
            continue;
        }
        const std::string_view collation = sqlite3_vtab_collation(info, i);
        if ((collation != "BINARY" && collation != "PID") || taken >= 0) continue;
        taken = i;
        way.by_key = key;
        way.by_text = text;
        if (text) way.text_column = static_cast<unsigned>(constraint.iColumn);
    }
    if (table.kind == Table::Kind::function && taken < 0) {
        if (unusable_argument) return SQLITE_CONSTRAINT;
        sqlite3_free(base->zErrMsg);
        base->zErrMsg =
            sqlite3_mprintf("%s needs an argument: %s(%s)", table.name.c_str(), table.name.c_str(), table.key.c_str());
        return SQLITE_ERROR;
    }
    if (taken >= 0) {
        info->aConstraintUsage[taken].argvIndex = 1;
        info->aConstraintUsage[taken].omit = table.kind == Table::Kind::function;
    }
    if (table.kind == Table::Kind::whole && taken < 0 && info->nOrderBy == 1) {
        const int column = info->aOrderBy[0].iColumn;
        if (column >= 0 && column < width &&
            present::plain_kind(table.columns[static_cast<std::size_t>(column)]) != present::PlainKind::any) {
            way.ordered = true;
            way.descending = info->aOrderBy[0].desc != 0;
            way.order_column = static_cast<unsigned>(column);
            info->orderByConsumed = 1;
        }
    }
    info->idxNum = way.pack();
    info->estimatedCost = taken < 0     ? (table.kind == Table::Kind::whole ? cost_of_rows : cost_of_all_pieces)
                          : way.by_text ? cost_of_lookup
                                        : cost_of_piece;
    info->estimatedRows = taken < 0 ? 1'000'000 : way.by_text ? 5 : 1000;
    return SQLITE_OK;
}

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
    auto* cursor = new (std::nothrow) Cursor();
    if (cursor == nullptr) return SQLITE_NOMEM;
    *out = cursor;
    return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
}

std::string text_of(sqlite3_value* value) {
    const unsigned char* text = sqlite3_value_text(value);
    return text == nullptr
               ? std::string()
               : std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

int filter_whole(Cursor& cursor, const Way& way, sqlite3_value* argument) {
    VirtualTable& table = cursor.table();
    if (!table.rows) {
        auto rows = table.table->all();
        if (!rows) return table.fail(rows.error());
        table.rows = std::move(*rows);
    }
    cursor.begin(table.rows);
    if (way.by_text) {
        // No text: nothing is equal to NULL, and with a number SQLite looks at each row.
        if (sqlite3_value_type(argument) == SQLITE_NULL) cursor.count = 0;
        if (sqlite3_value_type(argument) != SQLITE_TEXT) return SQLITE_OK;
        auto& index = table.indexes[way.text_column];
        if (!index) index = std::make_shared<const TextIndex>(*table.rows, way.text_column);
        if (!index->texts_only()) return SQLITE_OK;
        cursor.chosen = index->rows(text_of(argument));
        cursor.count = cursor.chosen->size();
    } else if (way.ordered) {
        auto& order = table.orders[{way.order_column, way.descending}];
        if (!order) order = std::make_shared<Order>(*table.rows, way.order_column, way.descending);
        cursor.order = order;
    }
    return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* base, int number, const char*, int arguments, sqlite3_value** values) {
    auto& cursor = *static_cast<Cursor*>(base);
    VirtualTable& table = cursor.table();
    const Way way = Way::unpack(number);
    sqlite3_value* const argument = arguments > 0 ? values[0] : nullptr;
    cursor.begin(nullptr);
    cursor.part = cursor.end_part = 0;
    if (table.table->kind == Table::Kind::whole) return filter_whole(cursor, way, argument);
    if (way.by_key && sqlite3_value_type(argument) == SQLITE_NULL) return SQLITE_OK;
    if (table.table->kind == Table::Kind::function) {
        cursor.argument = text_of(argument);
        auto rows = table.table->of(cursor.argument);
        if (!rows) return table.fail(rows.error());
        cursor.begin(std::move(*rows));
        return SQLITE_OK;
    }
    cursor.end_part = table.table->parts();
    if (way.by_key) {
        const std::size_t part = table.table->find(text_of(argument));
        if (part == Table::no_part) cursor.end_part = 0;
        else cursor.part = part, cursor.end_part = part + 1;
    }
    return cursor.settle();
}

int next_row(sqlite3_vtab_cursor* base) {
    auto& cursor = *static_cast<Cursor*>(base);
    ++cursor.place;
    return cursor.settle();
}

int at_end(sqlite3_vtab_cursor* base) {
    const auto& cursor = *static_cast<Cursor*>(base);
    return cursor.place >= cursor.count ? 1 : 0;
}

void give_text(sqlite3_context* context, const std::string& text) {
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

int column_of(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
    auto& cursor = *static_cast<Cursor*>(base);
    VirtualTable& table = cursor.table();
    const auto c = static_cast<std::size_t>(column);
    if (c == table.width() && table.table->kind == Table::Kind::function)
        return give_text(context, cursor.argument), SQLITE_OK;
    if (c >= table.width()) {
        if (!table.dump_id) {
            auto id = table.host->dump_id();
            if (!id) return table.fail(id.error());
            table.dump_id = std::move(*id);
        }
        return give_text(context, *table.dump_id), SQLITE_OK;
    }
    const present::PlainValue value = cursor.rows->cell(cursor.row(), c);
    if (const auto* number = std::get_if<std::int64_t>(&value)) sqlite3_result_int64(context, *number);
    else if (const auto* real = std::get_if<double>(&value)) sqlite3_result_double(context, *real);
    else if (const auto* text = std::get_if<std::string>(&value)) give_text(context, *text);
    else sqlite3_result_null(context);
    return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
    const auto& cursor = *static_cast<Cursor*>(base);
    *out = static_cast<sqlite3_int64>(cursor.part) << 32 | static_cast<sqlite3_int64>(cursor.row());
    return SQLITE_OK;
}

// SQLite is C: no exception may pass through it.
template <auto call, class... Arguments>
int guarded(Arguments... arguments) {
    try {
        return call(arguments...);
    } catch (const std::bad_alloc&) {
        return SQLITE_NOMEM;
    } catch (const present::AnswerTooLong&) {
        return SQLITE_TOOBIG;
    }
}

// Without xCreate a table is there by its name, and nobody can make another one of it.
constexpr sqlite3_module module_of_tables = [] {
    sqlite3_module module{};
    module.xConnect = &guarded<&connect>;
    module.xBestIndex = &guarded<&best_index>;
    module.xDisconnect = &disconnect;
    module.xOpen = &guarded<&open_cursor>;
    module.xClose = &close_cursor;
    module.xFilter = &guarded<&filter>;
    module.xNext = &guarded<&next_row>;
    module.xEof = &at_end;
    module.xColumn = &guarded<&column_of>;
    module.xRowid = &row_id;
    return module;
}();

}  // namespace

int add_table(sqlite3* connection, const Table& table, TableHost& host) {
    return sqlite3_create_module_v2(connection, table.name.c_str(), &module_of_tables, new Module{&table, &host},
                                    [](void* module) { delete static_cast<Module*>(module); });
}

const char* declared_type(const present::Column& column) {
    switch (present::plain_kind(column)) {
        case present::PlainKind::integer: return "INTEGER";
        case present::PlainKind::real: return "REAL";
        case present::PlainKind::any: break;
    }
    return "";
}

std::string quoted_name(std::string_view name) {
    std::string out = "\"";
    for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

}  // namespace beamheap::sql
