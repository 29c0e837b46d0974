// SPDX-License-Identifier: Apache-2.0
#include "present/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/characters.hpp"
#include "present/json_writer.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
    using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

Error no_such_column(std::string_view name, const Table& table) {
    std::vector<std::string_view> names;
    for (const Column& column : table.columns) names.push_back(column.name);
    std::string advice = did_you_mean(name, names);
    if (advice.empty()) advice = fmt::format("columns are: {}", fmt::join(names, " "));
    return Error{ErrorCode::usage, fmt::format("there is no column {}", name), std::move(advice)};
}

std::optional<std::uint32_t> index_of_column(const Table& table, std::string_view name) {
    const auto found = std::ranges::find(table.columns, name, &Column::name);
    if (found == table.columns.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - table.columns.begin());
}

// Orders rows by one column. Numbers by value (a long double holds every 64-bit integer exactly on the machines that we
// build for), texts naturally (<0.9.0> before <0.10.0>), missing values always last.
struct SortKey {
    enum class Kind : std::uint8_t { number, text, missing } kind = Kind::missing;
    long double number = 0;
    std::string text;
};

SortKey sort_key(const Value& value) {
    SortKey key;
    const auto number = [&key](auto n) {
        key.kind = SortKey::Kind::number;
        key.number = static_cast<long double>(n);
    };
    std::visit(Overloaded{[](std::monostate) {}, [&](bool b) { number(b ? 1 : 0); }, [&](std::int64_t n) { number(n); },
                          [&](std::uint64_t n) { number(n); }, [&](double n) { number(n); },
                          [&](const std::string& text) {
                              key.kind = SortKey::Kind::text;
                              key.text = text;
                          },
                          [&](const std::shared_ptr<const Array>& array) { number(array->size()); },
                          [&](const std::shared_ptr<const Object>& object) { number(object->size()); },
                          [&](const std::shared_ptr<const Text>& text) {
                              key.kind = SortKey::Kind::text;
                              key.text = text->raw();
                          }},
               value.data());
    return key;
}

std::shared_ptr<Table> one_row(const Object& object, Content content) {
    auto table = std::make_shared<Table>();
    std::vector<Value> values;
    for (const auto& [name, value] : object) {
        const Label label = Label::interned(name);
        table->columns.push_back({.name = label, .title = label, .unit = unit_of(name), .content = content});
        values.push_back(value);
    }
    table->rows = table->total = 1;
    table->cell = [values = std::move(values)](std::size_t, std::size_t column) { return values[column]; };
    return table;
}

// A list as a table: a column for each name that its objects have, or one of the list's own name.
std::shared_ptr<Table> rows_of(const Array& array, const std::string& key, Unit unit, Content content) {
    auto table = std::make_shared<Table>();
    for (const Value& each : array) {
        const auto* object = std::get_if<std::shared_ptr<const Object>>(&each.data());
        if (object == nullptr) continue;
        for (const auto& entry : **object)
            if (!index_of_column(*table, entry.first)) {
                const Label label = Label::interned(entry.first);
                table->columns.push_back({.name = label, .title = label, .unit = unit_of(label), .content = content});
            }
    }
    const Label own = Label::interned(key);
    if (table->columns.empty()) table->columns.push_back({.name = own, .title = own, .unit = unit, .content = content});
    table->rows = table->total = array.size();
    table->empty = "nothing";
    table->cell = [array, columns = table->columns](std::size_t row, std::size_t column) {
        const auto* object = std::get_if<std::shared_ptr<const Object>>(&array[row].data());
        if (object == nullptr) return columns.size() == 1 ? array[row] : Value();
        for (const auto& entry : **object)
            if (entry.first == columns[column].name) return entry.second;
        return Value();
    };
    return table;
}

template <class Kind>
const Kind* held(const Member& member) {
    const auto* value = std::get_if<Value>(&member.body);
    const auto* kind = value == nullptr ? nullptr : std::get_if<std::shared_ptr<const Kind>>(&value->data());
    return kind == nullptr ? nullptr : kind->get();
}

// What CSV prints, unless told otherwise: a table is preferred to a table shown as an object, that to an object.
Result<const Member*> primary_of(const Document& document, const std::string& chosen) {
    const Member* primary = nullptr;
    int best = 0;
    std::vector<std::string_view> names;
    for (const Member& member : document.members) {
        const bool table = std::holds_alternative<Table>(member.body);
        const bool object = held<Object>(member) != nullptr;
        const bool list = held<Array>(member) != nullptr;
        if (!chosen.empty()) {
            if (!member.in_json || !(table || object || list)) continue;
            names.push_back(member.key);
            if (member.key == chosen) return &member;
            continue;
        }
        const int rank = !document.primary.empty() ? (member.key == document.primary && (table || object) ? 4 : 0)
                         : table                   ? (member.object ? 2 : 3)
                         : object                  ? 1
                                                   : 0;
        if (rank > best) best = rank, primary = &member;
    }
    if (chosen.empty()) return primary;
    std::string advice = did_you_mean(chosen, names);
    if (advice.empty()) advice = names.empty() ? std::string() : fmt::format("tables are: {}", fmt::join(names, " "));
    return Error{ErrorCode::usage, fmt::format("{} has no table {}", document.kind, chosen), std::move(advice)};
}

}  // namespace

std::strong_ordering natural_order(std::string_view a, std::string_view b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (!is_digit(a[i]) || !is_digit(b[j])) {
            if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) <=> static_cast<unsigned char>(b[j]);
            ++i, ++j;
            continue;
        }
        while (i < a.size() && a[i] == '0') ++i;
        while (j < b.size() && b[j] == '0') ++j;
        const std::size_t first_i = i;
        const std::size_t first_j = j;
        while (i < a.size() && is_digit(a[i])) ++i;
        while (j < b.size() && is_digit(b[j])) ++j;
        if (i - first_i != j - first_j) return i - first_i <=> j - first_j;
        if (const int order = a.substr(first_i, i - first_i).compare(b.substr(first_j, j - first_j)); order != 0)
            return order <=> 0;
    }
    return a.size() - i <=> b.size() - j;
}

std::string label_of(std::string_view name) {
    for (const std::string_view unit : {"_bytes", "_words", "_ms"})
        if (name.ends_with(unit) && name.size() > unit.size()) name.remove_suffix(unit.size());
    std::string label(name);
    std::ranges::replace(label, '_', ' ');
    return label;
}

std::string main_table(const Document& document) {
    const auto primary = primary_of(document, {});
    return primary && *primary != nullptr ? (*primary)->key : std::string();
}

std::size_t TableView::depth_of(std::size_t row, std::size_t c) const {
    if (indents_[c] == no_column) return 0;
    const Value depth = table_->cell(order_.empty() ? row : order_[row], indents_[c]);
    const auto* number = std::get_if<std::uint64_t>(&depth.data());
    return number == nullptr ? 0 : static_cast<std::size_t>(*number);
}

std::string TableView::key_of(std::size_t row, std::size_t c) const {
    if (keys_[c] == no_column) return {};
    if (table_->key) return table_->key(order_.empty() ? row : order_[row]);
    const Value key = table_->cell(order_.empty() ? row : order_[row], keys_[c]);
    const auto* text = std::get_if<std::string>(&key.data());
    return text == nullptr ? std::string{} : *text;
}

Unit TableView::unit_of(std::size_t row, std::size_t c) const {
    if (units_[c] == no_column) return column(c).unit;
    const Value unit = table_->cell(order_.empty() ? row : order_[row], units_[c]);
    const auto* text = std::get_if<std::string>(&unit.data());
    return text != nullptr && *text == "bytes" ? Unit::bytes : column(c).unit;
}

Result<View> View::make(const Document& document, const RenderOptions& options, const Presenter& presenter) {
    View view(document, options);
    BH_TRY(const Member* const primary, primary_of(document, options.table));
    view.items_.reserve(document.members.size());  // primary_item_ points into it
    for (const Member& member : document.members) {
        Item& item = view.items_.emplace_back();
        item.member = &member;
        if (&member == primary) view.primary_item_ = &item;
        const auto* table = std::get_if<Table>(&member.body);
        if (table == nullptr) {
            if (&member != primary) continue;
            const Object* const object = held<Object>(member);
            view.adapted_ = object != nullptr ? one_row(*object, member.content)
                                              : rows_of(*held<Array>(member), member.key, member.unit, member.content);
            item.adapted = object != nullptr ? Item::Adapted::object : Item::Adapted::list;
            table = view.adapted_.get();
        } else {
            item.is_table = true;
        }
        item.table.table_ = table;
        item.table.total_ = std::max(table->total, table->rows);
        if (&member == primary) {
            BH_CHECK(view.choose_columns(item.table, presenter.for_people));
            if (!options.sort.empty())
                BH_CHECK(view.sort_rows(item.table, view.rows_wanted(*table, presenter.for_people && !member.object)));
            view.has_primary_ = true;
        } else {
            // --columns is meant for every table that has them all.
            const bool fits = !member.object && !options.columns.empty() &&
                              std::ranges::all_of(options.columns, [table](const std::string& name) {
                                  return index_of_column(*table, name).has_value();
                              });
            if (fits) {
                BH_CHECK(view.choose_columns(item.table, presenter.for_people));
            } else {
                view.own_columns(item.table, presenter.for_people);
            }
        }
        view.cut_rows(item.table, presenter.for_people && !member.object);
        for (const std::uint32_t c : item.table.columns_) {
            const auto column_named = [table](std::string_view name) {
                return name.empty() ? TableView::no_column
                                    : index_of_column(*table, name).value_or(TableView::no_column);
            };
            item.table.keys_.push_back(column_named(table->columns[c].keyed_by));
            item.table.indents_.push_back(column_named(table->columns[c].indent_by));
            item.table.units_.push_back(column_named(table->columns[c].unit_by));
        }
        if (&member == primary) view.primary_table_ = item.table;
    }
    if (primary == nullptr && (!options.columns.empty() || !options.sort.empty()))
        return Error{ErrorCode::usage,
                     fmt::format("{} has no table: --columns and --sort mean nothing here", document.kind),
                     {}};
    return view;
}

Status View::choose_columns(TableView& view, bool for_people) const {
    const Table& table = *view.table_;
    if (options_->columns.empty()) {
        own_columns(view, for_people);
        return ok();
    }
    for (const std::string& name : options_->columns) {
        const auto found = index_of_column(table, name);
        if (!found) return no_such_column(name, table);
        view.columns_.push_back(*found);
    }
    return ok();
}

void View::own_columns(TableView& view, bool for_people) const {
    const std::vector<Column>& columns = view.table_->columns;
    for (std::uint32_t c = 0; c < columns.size(); ++c)
        if (!for_people || !columns[c].wide || columns[c].name == options_->sort) view.columns_.push_back(c);
}

Status View::sort_rows(TableView& view, std::size_t wanted) const {
    const Table& table = *view.table_;
    const auto column = index_of_column(table, options_->sort);
    if (!column) return no_such_column(options_->sort, table);
    std::vector<SortKey> keys(table.rows);
    bool numbers = false;
    for (std::size_t row = 0; row < table.rows; ++row) {
        keys[row] = sort_key(table.cell(row, *column));
        numbers = numbers || keys[row].kind == SortKey::Kind::number;
    }
    const bool descending = options_->descending.value_or(numbers);
    const auto before = [&keys, descending](std::uint32_t a, std::uint32_t b) {
        const SortKey& x = keys[a];
        const SortKey& y = keys[b];
        if (x.kind != y.kind) return x.kind < y.kind;
        if (x.kind == SortKey::Kind::number && x.number != y.number) return (x.number < y.number) != descending;
        if (x.kind == SortKey::Kind::text)
            if (const auto order = natural_order(x.text, y.text); order != 0) return (order < 0) != descending;
        return a < b;  // equal keys keep their order
    };
    view.order_.resize(table.rows);
    std::iota(view.order_.begin(), view.order_.end(), 0u);
    if (wanted != 0 && wanted < table.rows / 4)
        std::partial_sort(view.order_.begin(), view.order_.begin() + static_cast<std::ptrdiff_t>(wanted),
                          view.order_.end(), before);
    else std::sort(view.order_.begin(), view.order_.end(), before);
    return ok();
}

std::size_t View::rows_wanted(const Table& table, bool for_people) const {
    const std::size_t usual = table.for_people == 0 ? default_rows : table.for_people;
    return options_->top.value_or(for_people ? usual : 0);
}

void View::cut_rows(TableView& view, bool for_people) const {
    const std::size_t wanted = rows_wanted(*view.table_, for_people);
    view.rows_ = view.table_->rows;
    if (wanted != 0) view.rows_ = std::min(view.rows_, wanted);
}

Unit unit_of(std::string_view name) {
    if (name.ends_with("_bytes") || name == "bytes") return Unit::bytes;
    if (name.ends_with("_words") || name == "words") return Unit::words;
    if (name.ends_with("_ms")) return Unit::milliseconds;
    if (name.ends_with("percent")) return Unit::percent;
    if (name == "pid") return Unit::identifier;
    return Unit::none;
}

bool numeric(Unit unit) { return unit != Unit::none && unit != Unit::address && unit != Unit::identifier; }

std::string people_text(const View& view, const Value& value, Unit unit, Content content, std::string_view key) {
    const auto natural = [unit](std::uint64_t n) -> std::string {
        switch (unit) {
            case Unit::bytes: return human_bytes(n);
            case Unit::milliseconds: return human_duration(n);
            case Unit::percent: return human_percent(static_cast<double>(n));
            case Unit::address: return fmt::format("0x{:x}", n);
            case Unit::identifier: return fmt::format("{}", n);
            default: return grouped(n);
        }
    };
    return std::visit(Overloaded{[](std::monostate) -> std::string { return "-"; },
                                 [](bool b) -> std::string { return b ? "yes" : "no"; },
                                 [&](std::int64_t n) {
                                     return n < 0 ? fmt::format("-{}", natural(0 - static_cast<std::uint64_t>(n)))
                                                  : natural(static_cast<std::uint64_t>(n));
                                 },
                                 [&](std::uint64_t n) { return natural(n); },
                                 [&](double n) {
                                     if (unit == Unit::percent) return human_percent(n);
                                     return fmt::format("{:.2f}{}", n, unit == Unit::milliseconds ? " ms" : "");
                                 },
                                 [&](const std::string& text) { return safe_text(view.text(text, content, key)); },
                                 [&](const std::shared_ptr<const Array>& array) {
                                     std::string joined;
                                     for (const Value& each : *array) {
                                         if (!joined.empty()) joined += ' ';
                                         joined += people_text(view, each, unit, content, key);
                                     }
                                     return joined.empty() ? std::string("-") : joined;
                                 },
                                 [&](const std::shared_ptr<const Object>& object) {
                                     std::string joined;
                                     for (const auto& entry : *object) {
                                         if (!joined.empty()) joined += ", ";
                                         joined += entry.first + ' ' +
                                                   people_text(view, entry.second, unit_of(entry.first), content, key);
                                     }
                                     return joined;
                                 },
                                 [&](const std::shared_ptr<const Text>& text) { return safe_text(view.text(*text)); }},
                      value.data());
}

void write_json(const Redactor& redactor, const Value& value, Content content, std::string_view key, JsonWriter& json) {
    std::visit(Overloaded{[&](std::monostate) { json.null(); }, [&](bool b) { json.boolean(b); },
                          [&](std::int64_t n) { json.number(n); }, [&](std::uint64_t n) { json.number(n); },
                          [&](double n) { json.number(n); },
                          [&](const std::string& text) { json.text(redactor.apply(text, content, key)); },
                          [&](const std::shared_ptr<const Array>& array) {
                              json.begin_array();
                              for (const Value& each : *array) write_json(redactor, each, content, key, json);
                              json.end_array();
                          },
                          [&](const std::shared_ptr<const Object>& object) {
                              json.begin_object();
                              for (const auto& entry : *object) {
                                  json.key(entry.first);
                                  write_json(redactor, entry.second, content, key, json);
                              }
                              json.end_object();
                          },
                          [&](const std::shared_ptr<const Text>& text) { json.text(redactor.apply(*text)); }},
               value.data());
}

void write_json(const View& view, const Value& value, Content content, std::string_view key, JsonWriter& json) {
    write_json(view.redactor(), value, content, key, json);
}

std::string machine_text(const View& view, const Value& value, Content content, std::string_view key) {
    if (const auto* text = std::get_if<std::string>(&value.data())) return view.text(*text, content, key);
    if (const auto* text = std::get_if<std::shared_ptr<const Text>>(&value.data())) return view.text(**text);
    if (value.is_null()) return {};
    StringSink sink;
    JsonWriter json(sink);
    write_json(view, value, content, key, json);
    return sink.text();
}

}  // namespace beamheap::present
