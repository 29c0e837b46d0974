// SPDX-License-Identifier: Apache-2.0
#include "cli/library/arrow_rows.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace beamheap::cli {
namespace {

using present::PlainValue;

enum class Kind : std::uint8_t { nothing, integer, real, text };

// What an ArrowSchema and an ArrowArray of one column, or of all, refer to.
struct HeldSchema {
    std::string format, name;
    std::vector<ArrowSchema> children;
    std::vector<ArrowSchema*> pointers;
};
struct HeldArray {
    std::vector<std::uint8_t> valid;
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    std::vector<std::int32_t> offsets;
    std::string texts;
    std::array<const void*, 3> buffers{};
    std::vector<ArrowArray> children;
    std::vector<ArrowArray*> pointers;
};

// A child that somebody has moved away has no release() any more.
template <class Structure, class Held>
void release(Structure* structure) {
    const std::unique_ptr<Held> held(static_cast<Held*>(structure->private_data));
    for (Structure* child : held->pointers)
        if (child->release != nullptr) child->release(child);
    structure->release = nullptr;
}

Kind kind_of(const PlainValue& value) {
    if (std::holds_alternative<std::int64_t>(value)) return Kind::integer;
    if (std::holds_alternative<double>(value)) return Kind::real;
    return std::holds_alternative<std::string>(value) ? Kind::text : Kind::nothing;
}

std::string text_of(const PlainValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::to_string(*number);
    if (const auto* real = std::get_if<double>(&value)) return fmt::to_string(*real);
    const auto* text = std::get_if<std::string>(&value);
    return text == nullptr ? std::string() : *text;
}

double real_of(const PlainValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
    const auto* real = std::get_if<double>(&value);
    return real == nullptr ? 0 : *real;
}

constexpr const char* format_of(Kind kind) {
    constexpr std::array formats{"n", "l", "g", "u"};
    return formats[static_cast<std::size_t>(kind)];
}

void make_schema(std::unique_ptr<HeldSchema> held, ArrowSchema& schema) {
    schema = {};
    for (ArrowSchema& child : held->children) held->pointers.push_back(&child);
    schema.format = held->format.c_str();
    schema.name = held->name.c_str();
    schema.flags = ARROW_FLAG_NULLABLE;
    schema.n_children = static_cast<std::int64_t>(held->pointers.size());
    schema.children = held->pointers.empty() ? nullptr : held->pointers.data();
    schema.release = &release<ArrowSchema, HeldSchema>;
    schema.private_data = held.release();
}

// `buffers` are how many of the held ones count.
void make_array(std::unique_ptr<HeldArray> held, std::size_t rows, std::size_t nulls, int buffers, ArrowArray& array) {
    array = {};
    for (ArrowArray& child : held->children) held->pointers.push_back(&child);
    array.length = static_cast<std::int64_t>(rows);
    array.null_count = static_cast<std::int64_t>(nulls);
    array.n_buffers = buffers;
    array.buffers = held->buffers.data();
    array.n_children = static_cast<std::int64_t>(held->pointers.size());
    array.children = held->pointers.empty() ? nullptr : held->pointers.data();
    array.release = &release<ArrowArray, HeldArray>;
    array.private_data = held.release();
}

// The values of one column into what an array of its kind refers to; how many there are none of.
Result<std::size_t> fill(const std::vector<PlainValue>& values, Kind kind, HeldArray& held) {
    std::size_t nulls = 0;
    held.valid.assign((values.size() + 7) / 8, 0);
    if (kind == Kind::text) held.offsets.push_back(0);
    for (std::size_t row = 0; row < values.size(); ++row) {
        const PlainValue& value = values[row];
        if (std::holds_alternative<std::monostate>(value)) ++nulls;
        else held.valid[row / 8] = static_cast<std::uint8_t>(held.valid[row / 8] | 1u << row % 8);
        if (kind == Kind::integer) {
            const auto* number = std::get_if<std::int64_t>(&value);
            held.integers.push_back(number == nullptr ? 0 : *number);
        } else if (kind == Kind::real) {
            held.reals.push_back(real_of(value));
        } else if (kind == Kind::text) {
            held.texts += text_of(value);
            if (held.texts.size() > std::numeric_limits<std::int32_t>::max())
                return Error{ErrorCode::resource_limit, "the texts of a column are longer than 2 GiB", "Ask for less."};
            held.offsets.push_back(static_cast<std::int32_t>(held.texts.size()));
        }
    }
    return nulls;
}

Status add_column(const present::PlainTable& table, std::size_t column, HeldSchema& schemas, HeldArray& arrays) {
    std::vector<PlainValue> values;
    values.reserve(table.rows());
    Kind kind = Kind::nothing;  // the widest of all: whole numbers are fractions, too, and all of them have a text
    for (std::size_t row = 0; row < table.rows(); ++row) {
        values.push_back(table.cell(row, column));
        kind = std::max(kind, kind_of(values.back()));
    }
    auto held = std::make_unique<HeldArray>();
    BH_TRY(const std::size_t nulls, fill(values, kind, *held));
    held->buffers[0] = nulls == 0 ? nullptr : held->valid.data();
    if (kind == Kind::integer) held->buffers[1] = held->integers.data();
    if (kind == Kind::real) held->buffers[1] = held->reals.data();
    if (kind == Kind::text) {
        held->buffers[1] = held->offsets.data();
        held->buffers[2] = held->texts.data();
    }
    constexpr std::array buffers{0, 2, 2, 3};
    auto named =
        std::make_unique<HeldSchema>(HeldSchema{format_of(kind), std::string(table.columns()[column].name), {}, {}});
    make_schema(std::move(named), schemas.children[column]);
    make_array(std::move(held), values.size(), nulls, buffers[static_cast<std::size_t>(kind)], arrays.children[column]);
    return ok();
}

}  // namespace

Status to_arrow(const present::PlainTable& table, ArrowSchema& schema, ArrowArray& array) {
    const std::size_t width = table.columns().size();
    auto schemas = std::make_unique<HeldSchema>(HeldSchema{"+s", {}, std::vector<ArrowSchema>(width), {}});
    auto arrays = std::make_unique<HeldArray>();
    arrays->children.resize(width);
    // What was made of the columns before one of them failed.
    const auto give_up = [&] {
        for (ArrowSchema& each : schemas->children)
            if (each.release != nullptr) each.release(&each);
        for (ArrowArray& each : arrays->children)
            if (each.release != nullptr) each.release(&each);
    };
    try {
        for (std::size_t column = 0; column < width; ++column)
            if (Status added = add_column(table, column, *schemas, *arrays); !added) {
                give_up();
                return added;
            }
        schemas->pointers.reserve(width);
        arrays->pointers.reserve(width);
    } catch (...) {
        give_up();
        throw;
    }
    make_schema(std::move(schemas), schema);
    make_array(std::move(arrays), table.rows(), 0, 1, array);
    schema.flags = 0;
    return ok();
}

}  // namespace beamheap::cli
