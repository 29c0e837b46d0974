// SPDX-License-Identifier: Apache-2.0
#include "present/plain_table.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "present/json_writer.hpp"
#include "present/sanitise.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

constexpr std::size_t no_key = static_cast<std::size_t>(-1);

// Bytes that are no UTF-8 become U+FFFD: databases take text as UTF-8 without looking. A zero, at which some end a
// text, is spelled as in texts for people.
std::string as_utf8(std::string text) {
    bool ascii = true;
    for (const char c : text) ascii = ascii && static_cast<signed char>(c) > 0;
    if (ascii) return text;
    std::string out;
    for (std::string_view rest = text; !rest.empty();) {
        char32_t code_point = 0;
        const std::size_t size = decode_utf8(rest, code_point);
        if (size == 0) out += "\xEF\xBF\xBD";
        else if (code_point == 0) out += "\\x00";
        else out += rest.substr(0, size);
        rest.remove_prefix(size == 0 ? 1 : size);
    }
    return out;
}

PlainValue of_unsigned(std::uint64_t number) {
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return static_cast<double>(number);
    return static_cast<std::int64_t>(number);
}

}  // namespace

PlainValue plain_value(const Redactor& redactor, const Value& value, Content content, std::string_view key) {
    const Value::Data& data = value.data();
    if (value.is_null()) return {};
    if (const auto* flag = std::get_if<bool>(&data)) return std::int64_t{*flag};
    if (const auto* number = std::get_if<std::int64_t>(&data)) return *number;
    if (const auto* number = std::get_if<std::uint64_t>(&data)) return of_unsigned(*number);
    if (const auto* number = std::get_if<double>(&data)) return *number;
    if (const auto* text = std::get_if<std::string>(&data)) return as_utf8(redactor.apply(*text, content, key));
    if (const auto* text = std::get_if<std::shared_ptr<const Text>>(&data)) return as_utf8(redactor.apply(**text));
    StringSink sink;
    JsonWriter json(sink);
    write_json(redactor, value, content, key, json);
    return sink.text();
}

std::string fit_to_keep(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
        append_text(text.substr(0, end), out);
        if (end < text.size()) out += text[end];
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

PlainKind plain_kind(const Column& column) {
    if (column.holds == Holds::integer) return PlainKind::integer;
    if (column.holds == Holds::real) return PlainKind::real;
    switch (column.unit) {
        case Unit::count:
        case Unit::bytes:
        case Unit::words:
        case Unit::milliseconds:
        case Unit::identifier: return PlainKind::integer;
        case Unit::percent: return PlainKind::real;
        case Unit::none:
        case Unit::address: break;
    }
    return PlainKind::any;
}

PlainTable::PlainTable(Table table, std::shared_ptr<const Redactor> redactor)
    : table_(std::move(table)), redactor_(std::move(redactor)) {
    for (const Column& column : table_.columns) {
        keys_.push_back(no_key);
        for (std::size_t c = 0; c < table_.columns.size() && !column.keyed_by.empty(); ++c)
            if (table_.columns[c].name == column.keyed_by) keys_.back() = c;
    }
}

PlainValue PlainTable::cell(std::size_t row, std::size_t column) const {
    std::string key;
    if (keys_[column] != no_key) {
        const Value held = table_.cell(row, keys_[column]);
        if (const auto* text = std::get_if<std::string>(&held.data())) key = *text;
    }
    return plain_value(*redactor_, table_.cell(row, column), table_.columns[column].content, key);
}

std::optional<long double> PlainTable::number(std::size_t row, std::size_t column) const {
    const Value value = table_.cell(row, column);
    if (const auto* number = std::get_if<std::uint64_t>(&value.data())) return static_cast<long double>(*number);
    if (const auto* number = std::get_if<std::int64_t>(&value.data())) return static_cast<long double>(*number);
    if (const auto* number = std::get_if<double>(&value.data())) return *number;
    return std::nullopt;
}

std::shared_ptr<const PlainTable> PlainTable::copy() const {
    const std::size_t width = table_.columns.size();
    auto values = std::make_shared<std::vector<Value>>();
    values->reserve(width * table_.rows);
    for (std::size_t row = 0; row < table_.rows; ++row)
        for (std::size_t c = 0; c < width; ++c)
            values->push_back(std::visit(
                [](auto&& held) -> Value {
                    if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) return {};
                    else return Value(std::forward<decltype(held)>(held));
                },
                cell(row, c)));
    Table table;
    table.columns = table_.columns;
    for (Column& column : table.columns) column.keyed_by = {};
    table.rows = table.total = table_.rows;
    table.cell = [values, width](std::size_t row, std::size_t column) { return (*values)[row * width + column]; };
    static const auto nothing = std::make_shared<const Redactor>(RedactOptions{.level = RedactLevel::none});
    return std::make_shared<const PlainTable>(std::move(table), nothing);
}

}  // namespace beamheap::present
