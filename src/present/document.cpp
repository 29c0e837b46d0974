// SPDX-License-Identifier: Apache-2.0
#include "present/document.hpp"

#include <mutex>
#include <set>

namespace beamheap::present {

Value::Value() = default;
Value::Value(std::nullptr_t) {}
Value::Value(bool value) : data_(value) {}
Value::Value(int value) : data_(static_cast<std::int64_t>(value)) {}
Value::Value(std::int64_t value) : data_(value) {}
Value::Value(std::uint64_t value) : data_(value) {}
Value::Value(std::uint32_t value) : data_(static_cast<std::uint64_t>(value)) {}
Value::Value(double value) : data_(value) {}
Value::Value(std::string value) : data_(std::move(value)) {}
Value::Value(std::string_view value) : data_(std::string(value)) {}
Value::Value(const char* value) : data_(std::string(value)) {}
Value::Value(Count value) {
    if (value.has()) data_ = *value;
}
Value::Value(Array value) : data_(std::make_shared<const Array>(std::move(value))) {}
Value::Value(Object value) : data_(std::make_shared<const Object>(std::move(value))) {}
Value::Value(Text value) : data_(std::make_shared<const Text>(std::move(value))) {}
// By assignment, which leaves null where a text finds no memory. The copy constructor of libstdc++'s variant can't fail
// where all that it may hold keeps it from being valueless, as here: it destroys what it has not made.
Value::Value(const Value& other) { data_ = other.data_; }
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

Body::Body() = default;
Body::Body(Value value) : variant(std::move(value)) {}
Body::Body(Table table) : variant(std::move(table)) {}
Body::Body(const Body& other) = default;
Body::Body(Body&& other) noexcept = default;
Body& Body::operator=(const Body& other) = default;
Body& Body::operator=(Body&& other) noexcept = default;
Body::~Body() = default;

Label Label::interned(std::string_view text) {
    static std::mutex alone;
    static std::set<std::string, std::less<>> kept;
    const std::lock_guard lock(alone);
    const auto found = kept.find(text);
    return Label(std::string_view(found != kept.end() ? *found : *kept.emplace(text).first));
}

Table table_of_erased(std::vector<ErasedColumn> columns, ErasedRows rows, std::string empty) {
    Table table;
    table.columns.reserve(columns.size());
    for (const ErasedColumn& each : columns) table.columns.push_back(each.column);
    table.rows = table.total = rows.count;
    table.empty = std::move(empty);
    table.cell = [columns = std::make_shared<const std::vector<ErasedColumn>>(std::move(columns)),
                  rows = std::move(rows)](std::size_t row, std::size_t column) {
        const ErasedColumn& of = (*columns)[column];
        return of.get(of.closure.get(), static_cast<const char*>(rows.first) + row * rows.size);
    };
    return table;
}

}  // namespace beamheap::present
