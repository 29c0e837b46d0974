// SPDX-License-Identifier: Apache-2.0
// Theory. SQLite looks at the clock between steps of its machine, and a function is one step. What may take the product
// of two long texts (instr, replace, LIKE, GLOB, trim) is done here, by searches that are linear in the text, or look
// at the clock themselves. A percentile is interpolated between the two nearest values, as SQLite's own extension and
// spreadsheets have it.
#include "sql/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/regular_expression.hpp"

namespace beamheap::sql {
namespace {

constexpr std::size_t longest_pattern = 1000;  // bytes, as SQLite has it
constexpr std::size_t characters_between_looks = 1 << 18;

FunctionHost& host_of(sqlite3_context* context) { return *static_cast<FunctionHost*>(sqlite3_user_data(context)); }

std::string_view text_in(sqlite3_value* value) {
    const unsigned char* text = sqlite3_value_text(value);
    if (text == nullptr) return {};
    return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

bool any_null(int count, sqlite3_value** values) {
    return std::any_of(values, values + count, [](auto* each) { return sqlite3_value_type(each) == SQLITE_NULL; });
}

void fail(sqlite3_context* context, const std::string& why) { sqlite3_result_error(context, why.c_str(), -1); }
void end_late(sqlite3_context* context) { sqlite3_result_error_code(context, SQLITE_INTERRUPT); }

void give(sqlite3_context* context, std::string_view text) {
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// SQLite is C: no exception may pass through it.
template <void (*call)(sqlite3_context*, int, sqlite3_value**)>
void guarded(sqlite3_context* context, int count, sqlite3_value** values) {
    try {
        call(context, count, values);
    } catch (const std::bad_alloc&) {
        sqlite3_result_error_nomem(context);
    }
}

// ---- patterns

void regexp(sqlite3_context* context, int, sqlite3_value** values) {
    if (any_null(2, values)) return;
    const auto* known = static_cast<const RegularExpression*>(sqlite3_get_auxdata(context, 0));
    if (known == nullptr) {
        auto made = RegularExpression::compile(text_in(values[0]));
        if (!made) return fail(context, made.error().message);
        sqlite3_set_auxdata(context, 0, new RegularExpression(std::move(*made)),
                            [](void* old) { delete static_cast<RegularExpression*>(old); });
        known = static_cast<const RegularExpression*>(sqlite3_get_auxdata(context, 0));
        if (known == nullptr) return sqlite3_result_error_nomem(context);
    }
    const std::optional<bool> found = known->found_in(text_in(values[1]), host_of(context).late);
    found ? sqlite3_result_int(context, *found ? 1 : 0) : end_late(context);
}

/// LIKE or GLOB, character by character.
class Simple {
public:
    Simple(std::string_view pattern, bool glob, std::optional<char32_t> escape) : glob_(glob) {
        for (std::size_t at = 0; at < pattern.size();) {
            char32_t c = next_character(pattern, at);
            if (!glob && escape && c == *escape) {
                if (at == pattern.size()) never_ = true;
                else parts_.push_back({Part::one, next_character(pattern, at)});
            } else if (c == (glob ? U'*' : U'%')) {
                if (parts_.empty() || parts_.back().kind != Part::some) parts_.push_back({Part::some});
            } else if (c == (glob ? U'?' : U'_')) {
                parts_.push_back({Part::any});
            } else if (glob && c == '[') {
                parts_.push_back({Part::set, 0, set(pattern, at)});
            } else {
                parts_.push_back({Part::one, c});
            }
        }
    }
    // Where a part fails, the last % takes one character more: one before that need not be tried again.
    std::optional<bool> fits(std::string_view text, const std::function<bool()>& late) const {
        if (never_) return false;
        std::size_t at = 0, part = 0, taken = 0;
        std::optional<std::pair<std::size_t, std::size_t>> back;
        for (;;) {
            if (++taken % characters_between_looks == 0 && late()) return std::nullopt;
            if (part < parts_.size() && parts_[part].kind == Part::some) {
                if (++part == parts_.size()) return true;
                back = {part, at};
                continue;
            }
            if (at == text.size() && part == parts_.size()) return true;
            if (at < text.size() && part < parts_.size()) {
                std::size_t next = at;
                if (fits(parts_[part], next_character(text, next))) {
                    at = next, ++part;
                    continue;
                }
            }
            if (!back || back->second == text.size()) return false;
            next_character(text, back->second);
            part = back->first, at = back->second;
        }
    }

private:
    struct Part {
        enum Kind : std::uint8_t { one, any, some, set } kind;
        char32_t character = 0;
        RegularExpression::Set of{};
    };
    RegularExpression::Set set(std::string_view pattern, std::size_t& at) {
        RegularExpression::Set set;
        if (at < pattern.size() && pattern[at] == '^') set.all_but = true, ++at;
        for (bool first = true;; first = false) {
            if (at >= pattern.size()) return never_ = true, set;
            const char32_t from = next_character(pattern, at);
            if (from == ']' && !first) return set;
            char32_t to = from;
            if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']')
                to = next_character(pattern, ++at);
            set.ranges.push_back({from, to});
        }
    }
    bool fits(const Part& part, char32_t c) const {
        if (part.kind == Part::any) return true;
        if (part.kind == Part::set) return part.of.has(c);
        return glob_ ? part.character == c : lower_case(part.character) == lower_case(c);
    }
    bool glob_;
    bool never_ = false;
    std::vector<Part> parts_;
};

template <bool glob>
void like(sqlite3_context* context, int count, sqlite3_value** values) {
    if (any_null(count, values)) return;
    const std::string_view pattern = text_in(values[0]);
    if (pattern.size() > longest_pattern)
        return fail(context, fmt::format("a pattern of LIKE or GLOB has at most {} bytes", longest_pattern));
    std::optional<char32_t> escape;
    if (count == 3) {
        const std::string_view given = text_in(values[2]);
        std::size_t at = 0;
        if (!given.empty()) escape = next_character(given, at);
        if (!escape || at != given.size()) return fail(context, "ESCAPE takes one character");
    }
    const std::optional<bool> fits = Simple(pattern, glob, escape).fits(text_in(values[1]), host_of(context).late);
    fits ? sqlite3_result_int(context, *fits ? 1 : 0) : end_late(context);
}

// ---- texts

std::size_t place_of(std::string_view text, std::string_view what, std::size_t from) {
    const void* found = ::memmem(text.data() + from, text.size() - from, what.data(), what.size());
    return found == nullptr ? text.npos : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::string_view bytes_of(sqlite3_value* value) {
    const void* blob = sqlite3_value_blob(value);
    return {static_cast<const char*>(blob), blob == nullptr ? 0 : static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void instr(sqlite3_context* context, int, sqlite3_value** values) {
    if (any_null(2, values)) return;
    const bool blobs = sqlite3_value_type(values[0]) == SQLITE_BLOB && sqlite3_value_type(values[1]) == SQLITE_BLOB;
    const std::string_view text = blobs ? bytes_of(values[0]) : text_in(values[0]);
    const std::string_view what = blobs ? bytes_of(values[1]) : text_in(values[1]);
    const std::size_t found = what.empty() ? 0 : text.empty() ? text.npos : place_of(text, what, 0);
    if (found == text.npos) return sqlite3_result_int(context, 0);
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    const std::string_view ahead = text.substr(0, found);
    sqlite3_result_int64(context, 1 + (blobs ? static_cast<std::int64_t>(found)
                                             : static_cast<std::int64_t>(std::ranges::count_if(ahead, begins))));
}

void replace(sqlite3_context* context, int, sqlite3_value** values) {
    if (any_null(3, values)) return;
    const std::string_view text = text_in(values[0]), what = text_in(values[1]), by = text_in(values[2]);
    if (what.empty() || text.empty()) return give(context, text);
    const std::uint64_t most = host_of(context).value_bytes;
    std::string out;
    std::size_t at = 0;
    for (std::size_t found = 0; (found = place_of(text, what, at)) != text.npos; at = found + what.size()) {
        out.append(text, at, found - at).append(by);
        if (out.size() > most) return sqlite3_result_error_toobig(context);
    }
    out.append(text, at);
    out.size() > most ? sqlite3_result_error_toobig(context) : give(context, out);
}

// Sides: 1 the beginning, 2 the end.
template <int sides>
void trim(sqlite3_context* context, int, sqlite3_value** values) {
    if (any_null(2, values)) return;
    std::string_view text = text_in(values[0]);
    const std::string_view given = text_in(values[1]);
    if (given.size() > longest_pattern)
        return fail(context,
                    fmt::format("the characters that trim() takes away have at most {} bytes", longest_pattern));
    std::vector<std::string_view> characters;
    for (std::size_t at = 0; at < given.size();) {
        const std::size_t begun = at;
        next_character(given, at);
        characters.push_back(given.substr(begun, at - begun));
    }
    std::size_t taken = 0;
    for (bool more = true; more;) {
        if ((taken += characters.size()) > characters_between_looks && (taken = 0, host_of(context).late()))
            return end_late(context);
        const auto first =
            std::ranges::find_if(characters, [&](auto c) { return (sides & 1) != 0 && text.starts_with(c); });
        if ((more = first != characters.end())) text.remove_prefix(first->size());
        const auto last =
            std::ranges::find_if(characters, [&](auto c) { return (sides & 2) != 0 && text.ends_with(c); });
        if (last != characters.end()) text.remove_suffix(last->size()), more = true;
    }
    give(context, text);
}

// SQLite's printf() gives NULL where its text would be too long, and where it is empty.
void printf_of(sqlite3_context* context, int count, sqlite3_value** values) {
    if (count == 0 || sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    FunctionHost& host = host_of(context);
    if (host.elsewhere == nullptr) {
        sqlite3* opened = nullptr;
        const int code = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr);
        host.elsewhere = {opened, &sqlite3_close};
        if (code != SQLITE_OK) return host.elsewhere.reset(), sqlite3_result_error_nomem(context);
        sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, static_cast<int>(host.value_bytes));
    }
    const auto prepared = [&](std::string_view text) {
        std::string query = fmt::format("SELECT printf({}", text);
        for (int i = 2; i <= count; ++i) query += fmt::format(", ?{}", i);
        sqlite3_stmt* made = nullptr;
        sqlite3_prepare_v2(host.elsewhere.get(), (query + ')').c_str(), -1, &made, nullptr);
        return std::shared_ptr<sqlite3_stmt>(made, &sqlite3_finalize);
    };
    const auto asked = [&](sqlite3_stmt* statement) {
        for (int i = 0; i < count; ++i) sqlite3_bind_value(statement, i + 1, values[i]);
        return statement != nullptr && sqlite3_step(statement) == SQLITE_ROW &&
               sqlite3_column_type(statement, 0) != SQLITE_NULL;
    };
    if (host.printf == nullptr || host.printf_arguments != count) host.printf = prepared("?1");
    host.printf_arguments = count;
    const std::shared_ptr<sqlite3_stmt> with_more = asked(host.printf.get()) ? nullptr : prepared("?1 || 'x'");
    if (with_more == nullptr) sqlite3_result_value(context, sqlite3_column_value(host.printf.get(), 0));
    else if (asked(with_more.get())) give(context, "");
    else sqlite3_result_error_toobig(context);
    sqlite3_reset(host.printf.get());
    sqlite3_clear_bindings(host.printf.get());
}

// ---- percentiles

/// What an aggregate has seen; SQLite gives it as zeros. Its memory is SQLite's, so that the bound of that holds.
struct Values {
    double* numbers;
    std::uint64_t count, room;
    double percent;
    bool asked;
};

void take_value(sqlite3_context* context, int count, sqlite3_value** values) {
    auto* const seen = static_cast<Values*>(sqlite3_aggregate_context(context, sizeof(Values)));
    if (seen == nullptr) return sqlite3_result_error_nomem(context);
    double percent = 50;
    if (count == 2) {
        const int type = sqlite3_value_numeric_type(values[1]);
        percent = sqlite3_value_double(values[1]);
        if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !(percent >= 0 && percent <= 100))
            return fail(context, "percentile() takes a number from 0 to 100 as its second argument");
        if (seen->asked && percent != seen->percent)
            return fail(context, "percentile() takes the same second argument for all rows");
    }
    seen->percent = percent;
    seen->asked = true;
    const int type = sqlite3_value_numeric_type(values[0]);
    if (type == SQLITE_NULL) return;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return fail(context, "median() and percentile() take numbers");
    if (seen->count == seen->room) {
        const std::uint64_t room = std::max<std::uint64_t>(64, seen->room * 2);
        auto* const grown = static_cast<double*>(sqlite3_realloc64(seen->numbers, room * sizeof(double)));
        if (grown == nullptr) return sqlite3_result_error_nomem(context);
        seen->numbers = grown;
        seen->room = room;
    }
    seen->numbers[seen->count++] = sqlite3_value_double(values[0]);
}

void give_percentile(sqlite3_context* context) {
    auto* const seen = static_cast<Values*>(sqlite3_aggregate_context(context, 0));
    if (seen == nullptr || seen->numbers == nullptr) return;
    const double place = seen->percent / 100 * static_cast<double>(seen->count - 1);
    const auto below = static_cast<std::ptrdiff_t>(place);
    double* const end = seen->numbers + seen->count;
    std::nth_element(seen->numbers, seen->numbers + below, end);
    const double low = seen->numbers[below];
    const double part = place - static_cast<double>(below);
    sqlite3_result_double(context,
                          part == 0 ? low : low + part * (*std::min_element(seen->numbers + below + 1, end) - low));
    sqlite3_free(seen->numbers);
    seen->numbers = nullptr;
}

// ---- ids

struct Id {
    std::string_view kind;  // "<", "#Port<"
    std::array<std::uint64_t, 3> numbers{};
    std::size_t count = 0;  // of numbers; 0: it is none
};

Id id_of(std::string_view text) {
    const std::size_t open = text.find('<');
    constexpr std::size_t longest_kind = 8;
    if (open > longest_kind || text.back() != '>') return {};
    Id id{text.substr(0, open), {}, 0};
    const auto digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9'; };
    for (std::size_t at = open + 1;;) {
        const std::size_t begun = at;
        if (id.count == id.numbers.size()) return {};
        for (; digit(at); ++at)
            id.numbers[id.count] = id.numbers[id.count] * 10 + static_cast<std::uint64_t>(text[at] - '0');
        constexpr std::size_t most_digits = 19;
        // Two spellings of a number would be the same number and other bytes.
        if (at == begun || at - begun > most_digits || (text[begun] == '0' && at - begun > 1)) return {};
        ++id.count;
        if (text[at] == '.') ++at;
        else if (at + 1 == text.size()) return id;
        else return {};
    }
}

}  // namespace

int compare_ids(std::string_view a, std::string_view b) {
    const Id one = a.empty() ? Id{} : id_of(a), other = b.empty() ? Id{} : id_of(b);
    if ((one.count != 0) != (other.count != 0)) return one.count != 0 ? -1 : 1;
    if (one.count == 0 || one.kind != other.kind) return a.compare(b);
    const auto order = std::pair(one.numbers, one.count) <=> std::pair(other.numbers, other.count);
    return order < 0 ? -1 : order > 0 ? 1 : 0;
}

int add_functions(sqlite3* connection, FunctionHost& host) {
    constexpr int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    struct Row {
        const char* name;
        int arguments;
        void (*call)(sqlite3_context*, int, sqlite3_value**);
    };
    const Row rows[] = {
        {"regexp", 2, &guarded<&regexp>},     {"like", 2, &guarded<&like<false>>}, {"like", 3, &guarded<&like<false>>},
        {"glob", 2, &guarded<&like<true>>},   {"instr", 2, &guarded<&instr>},      {"replace", 3, &guarded<&replace>},
        {"trim", 2, &guarded<&trim<3>>},      {"ltrim", 2, &guarded<&trim<1>>},    {"rtrim", 2, &guarded<&trim<2>>},
        {"printf", -1, &guarded<&printf_of>}, {"format", -1, &guarded<&printf_of>}};
    for (const Row& row : rows)
        if (const int code = sqlite3_create_function_v2(connection, row.name, row.arguments, flags, &host, row.call,
                                                        nullptr, nullptr, nullptr);
            code != SQLITE_OK)
            return code;
    for (const auto& [name, arguments] : {std::pair("median", 1), std::pair("percentile", 2)})
        if (const int code = sqlite3_create_function_v2(connection, name, arguments, flags, &host, nullptr,
                                                        &guarded<&take_value>, &give_percentile, nullptr);
            code != SQLITE_OK)
            return code;
    return sqlite3_create_collation_v2(
        connection, "PID", SQLITE_UTF8, nullptr,
        [](void*, int a_size, const void* a, int b_size, const void* b) {
            return compare_ids({static_cast<const char*>(a), static_cast<std::size_t>(a_size)},
                               {static_cast<const char*>(b), static_cast<std::size_t>(b_size)});
        },
        nullptr);
}

}  // namespace beamheap::sql
