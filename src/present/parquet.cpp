// SPDX-License-Identifier: Apache-2.0
#include "present/parquet.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>

#include "beamheap_version.hpp"
#include "bytes/compress.hpp"
#include "present/plain_table.hpp"
#include "present/thrift.hpp"

namespace beamheap::present {
namespace {

// Numbers of parquet.thrift.
namespace parquet {
constexpr std::string_view magic = "PAR1";
namespace type {
constexpr int boolean = 0, int64 = 2, real = 5, bytes = 6;
}
constexpr int optional = 1, repeated = 2;
constexpr int utf8 = 0, list = 3;  // "converted types", which readers of long ago know
constexpr int plain = 0, rle = 3;
constexpr int zstd = 6;
constexpr int data_page = 0;
}  // namespace parquet

// Each table that is being written has a group in memory: packed, but for the page of each column that is being filled.
constexpr std::uint64_t rows_of_a_group = 65'536;
constexpr std::size_t bytes_of_a_group = std::size_t{8} << 20;  // as they are before they are packed
constexpr std::size_t bytes_of_a_page = std::size_t{256} << 10;
constexpr std::size_t longest_bound = 128;  // of a text as the smallest or largest one; longer ones are not told

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

template <class Number>
void append_number(Number value, std::string& out) {
    std::array<char, sizeof value> bytes;
    std::memcpy(bytes.data(), &value, sizeof value);
    out.append(bytes.data(), bytes.size());
}

void append_text_of_size(std::string_view text, std::string& out) {
    append_number(static_cast<std::uint32_t>(text.size()), out);
    out += text;
}

// Levels in the hybrid of runs and packed bits, of which runs alone are used: a varint of twice its length, and its
// value.
std::string levels_as_runs(std::string_view levels) {
    std::string out;
    for (std::size_t at = 0; at < levels.size();) {
        std::size_t end = at + 1;
        while (end < levels.size() && levels[end] == levels[at]) ++end;
        std::uint64_t head = (end - at) << 1;
        for (; head >= 0x80; head >>= 7) out += static_cast<char>((head & 0x7F) | 0x80);
        out += static_cast<char>(head);
        out += levels[at];
        at = end;
    }
    std::string sized;
    append_text_of_size(out, sized);
    return sized;
}

int physical_type(FileType type) {
    switch (type) {
        case FileType::integer: return parquet::type::int64;
        case FileType::real: return parquet::type::real;
        case FileType::flag: return parquet::type::boolean;
        case FileType::text:
        case FileType::texts: break;
    }
    return parquet::type::bytes;
}

std::optional<std::int64_t> integer_of(const Value& value) {
    const Value::Data& data = value.data();
    if (const auto* number = std::get_if<std::int64_t>(&data)) return *number;
    if (const auto* number = std::get_if<std::uint64_t>(&data))
        return static_cast<std::int64_t>(
            std::min(*number, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
    return std::nullopt;
}

std::optional<double> real_of(const Value& value) {
    const Value::Data& data = value.data();
    if (const auto* number = std::get_if<double>(&data))
        return std::isfinite(*number) ? std::optional(*number) : std::nullopt;
    if (const auto* number = std::get_if<std::int64_t>(&data)) return static_cast<double>(*number);
    if (const auto* number = std::get_if<std::uint64_t>(&data)) return static_cast<double>(*number);
    return std::nullopt;
}

std::optional<std::string> text_of(const Redactor& redactor, const Value& value, Content content,
                                   std::string_view key) {
    PlainValue plain = plain_value(redactor, value, content, key);
    if (const auto* text = std::get_if<std::string>(&plain)) return fit_to_keep(*text);
    if (const auto* number = std::get_if<std::int64_t>(&plain)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&plain)) return std::to_string(*number);
    return std::nullopt;
}

}  // namespace

FileType file_type(const Column& column) {
    switch (column.holds) {
        case Holds::flag: return FileType::flag;
        case Holds::texts: return FileType::texts;
        case Holds::integer:
        case Holds::real:
        case Holds::by_unit: break;
    }
    const PlainKind kind = plain_kind(column);
    return kind == PlainKind::integer ? FileType::integer : kind == PlainKind::real ? FileType::real : FileType::text;
}

/// A column's values in the group that is being filled.
struct ParquetFile::Chunk {
    FileType type;
    std::string definitions, repetitions;  // of the page that is being filled: a level each
    std::string values;                    // of that page: plain; flags a byte each
    std::string pages;                     // those before it, packed
    std::uint64_t plain_bytes = 0;         // what these were
    std::uint64_t counted = 0;             // values in them
    std::uint64_t missing = 0;
    std::optional<std::int64_t> least, most;
    std::optional<double> least_real, most_real;
    std::optional<std::string> least_text, most_text;

    explicit Chunk(FileType of) : type(of) {}
    std::size_t page_size() const { return definitions.size() + repetitions.size() + values.size(); }
    std::uint64_t size() const { return plain_bytes + page_size(); }
    void absent() {
        definitions += '\0';
        ++missing;
        if (type == FileType::texts) repetitions += '\0';
    }
    template <class T, class U>
    static void extend(std::optional<T>& lowest, std::optional<T>& highest, const U& value) {
        if (!lowest || value < *lowest) lowest = value;
        if (!highest || *highest < value) highest = value;
    }
    void add(std::int64_t number) {
        definitions += '\1';
        type == FileType::flag ? void(values += static_cast<char>(number != 0)) : append_number(number, values);
        extend(least, most, number);
    }
    void add(double number) {
        definitions += '\1';
        append_number(number, values);
        extend(least_real, most_real, number);
    }
    void add(std::string_view text) {
        definitions += '\1';
        append_text_of_size(text, values);
        extend(least_text, most_text, text);
    }
    /// A list: level 1 is an empty one, 2 a text that is missing in it, 3 a text.
    void add(const Array& array, const Redactor& redactor, Content content, std::string_view key) {
        if (array.empty()) definitions += '\1', repetitions += '\0';
        bool first = true;
        for (const Value& each : array) {
            repetitions += first ? '\0' : '\1';
            first = false;
            const std::optional<std::string> text = text_of(redactor, each, content, key);
            definitions += text ? '\3' : '\2';
            if (text) append_text_of_size(*text, values);
        }
    }
    void add(const Redactor& redactor, const Value& value, Content content, std::string_view key) {
        switch (type) {
            case FileType::integer:
            case FileType::flag: {
                if (const auto* flag = std::get_if<bool>(&value.data())) return add(std::int64_t{*flag});
                const std::optional<std::int64_t> number = integer_of(value);
                return number ? add(*number) : absent();
            }
            case FileType::real: {
                const std::optional<double> number = real_of(value);
                return number ? add(*number) : absent();
            }
            case FileType::texts: {
                const auto* array = std::get_if<std::shared_ptr<const Array>>(&value.data());
                return array != nullptr ? add(**array, redactor, content, key) : absent();
            }
            case FileType::text: break;
        }
        const std::optional<std::string> text = text_of(redactor, value, content, key);
        text ? add(std::string_view(*text)) : absent();
    }
    std::string page() const {
        std::string out;
        if (type == FileType::texts) out = levels_as_runs(repetitions);
        out += levels_as_runs(definitions);
        if (type != FileType::flag) return out += values;
        std::string bits((values.size() + 7) / 8, '\0');
        for (std::size_t i = 0; i < values.size(); ++i)
            bits[i / 8] =
                static_cast<char>(static_cast<unsigned char>(bits[i / 8]) | static_cast<unsigned>(values[i]) << i % 8);
        return out += bits;
    }
    Status end_page() {
        if (definitions.empty()) return ok();
        const std::string plain = page();
        BH_TRY(const std::string stored, bytes::zstd_frame(plain));
        ThriftWriter out;
        out.i32(1, parquet::data_page);
        out.i32(2, static_cast<std::int64_t>(plain.size()));
        out.i32(3, static_cast<std::int64_t>(stored.size()));
        out.begin_struct(5);
        out.i32(1, static_cast<std::int64_t>(definitions.size()));
        out.i32(2, parquet::plain);
        out.i32(3, parquet::rle);
        out.i32(4, parquet::rle);
        out.end_struct();
        const std::string head = out.finish();
        (pages += head) += stored;
        plain_bytes += head.size() + plain.size();
        counted += definitions.size();
        definitions.clear(), repetitions.clear(), values.clear();
        return ok();
    }
    /// The smallest and largest value as plain bytes; empty: not told.
    std::pair<std::optional<std::string>, std::optional<std::string>> bounds() const {
        std::string low, high;
        if (type == FileType::integer && least) {
            append_number(*least, low), append_number(*most, high);
        } else if (type == FileType::flag && least) {
            low = static_cast<char>(*least), high = static_cast<char>(*most);
        } else if (type == FileType::real && least_real) {
            // Zeros of both signs are equal, and readers want the outer ones.
            append_number(*least_real == 0 ? -0.0 : *least_real, low),
                append_number(*most_real == 0 ? 0.0 : *most_real, high);
        } else if (type == FileType::text && least_text) {
            return {least_text->size() > longest_bound ? std::nullopt : least_text,
                    most_text->size() > longest_bound ? std::nullopt : most_text};
        } else {
            return {};
        }
        return {low, high};
    }
    void clear() { *this = Chunk(type); }
};

/// What the end of the file says of a group that was written.
struct ParquetFile::Group {
    struct Column {
        std::uint64_t offset = 0, plain_bytes = 0, stored_bytes = 0, values = 0, missing = 0;
        std::optional<std::string> least, most;
    };
    std::uint64_t rows = 0;
    std::vector<Column> columns;
};

ParquetFile::ParquetFile(std::vector<Column> columns, std::vector<std::pair<std::string, std::string>> about, Take to)
    : columns_(std::move(columns)), about_(std::move(about)), to_(std::move(to)) {
    for (const Column& column : columns_) chunks_.emplace_back(file_type(column));
}
ParquetFile::~ParquetFile() = default;

Status ParquetFile::write(std::string_view bytes) {
    BH_CHECK(to_(bytes));
    written_ += bytes.size();
    return ok();
}

Status ParquetFile::add(const Table& rows, const Redactor& redactor) {
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::vector<std::size_t> place(columns_.size(), none), key(columns_.size(), none);
    for (std::size_t c = 0; c < columns_.size(); ++c)
        for (std::size_t i = 0; i < rows.columns.size(); ++i) {
            if (rows.columns[i].name == columns_[c].name) place[c] = i;
            if (!columns_[c].keyed_by.empty() && rows.columns[i].name == columns_[c].keyed_by) key[c] = i;
        }
    for (std::size_t row = 0; row < rows.rows; ++row) {
        std::uint64_t held = 0;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            Chunk& chunk = chunks_[c];
            std::string filed;
            if (key[c] != none) {
                const Value under = rows.cell(row, key[c]);
                if (const auto* text = std::get_if<std::string>(&under.data())) filed = *text;
            }
            place[c] == none ? chunk.absent()
                             : chunk.add(redactor, rows.cell(row, place[c]), columns_[c].content, filed);
            if (chunk.page_size() >= bytes_of_a_page) BH_CHECK(chunk.end_page());
            held += chunk.size();
        }
        if (++rows_ == rows_of_a_group || held >= bytes_of_a_group) BH_CHECK(end_group());
    }
    return ok();
}

Status ParquetFile::end_group() {
    if (written_ == 0) BH_CHECK(write(parquet::magic));
    if (rows_ == 0) return ok();
    Group group;
    group.rows = std::exchange(rows_, 0);
    for (Chunk& chunk : chunks_) {
        Group::Column column;
        column.offset = written_;
        BH_CHECK(chunk.end_page());
        BH_CHECK(write(chunk.pages));
        column.values = chunk.counted;
        column.missing = chunk.missing;
        std::tie(column.least, column.most) = chunk.bounds();
        column.plain_bytes = chunk.plain_bytes;
        column.stored_bytes = chunk.pages.size();
        chunk.clear();
        group.columns.push_back(std::move(column));
    }
    groups_.push_back(std::move(group));
    return ok();
}

namespace {

void write_schema(const std::vector<Column>& columns, ThriftWriter& out) {
    std::size_t elements = 1;
    for (const Column& column : columns) elements += file_type(column) == FileType::texts ? 3 : 1;
    out.list_of_structs(2, elements);
    out.begin_element();
    out.text(4, "schema");
    out.i32(5, static_cast<std::int64_t>(columns.size()));
    out.end_struct();
    const auto leaf = [&](std::string_view name, FileType type) {
        out.begin_element();
        out.i32(1, physical_type(type));
        out.i32(3, parquet::optional);
        out.text(4, name);
        if (type == FileType::text || type == FileType::texts) {
            out.i32(6, parquet::utf8);
            out.begin_struct(10);
            out.empty_struct(1);  // STRING
            out.end_struct();
        }
        out.end_struct();
    };
    for (const Column& column : columns) {
        const FileType type = file_type(column);
        if (type != FileType::texts) {
            leaf(column.name, type);
            continue;
        }
        out.begin_element();
        out.i32(3, parquet::optional);
        out.text(4, column.name);
        out.i32(5, 1);
        out.i32(6, parquet::list);
        out.begin_struct(10);
        out.empty_struct(3);  // LIST
        out.end_struct();
        out.end_struct();
        out.begin_element();
        out.i32(3, parquet::repeated);
        out.text(4, "list");
        out.i32(5, 1);
        out.end_struct();
        leaf("element", type);
    }
}

}  // namespace

std::string ParquetFile::footer() const {
    ThriftWriter out;
    std::uint64_t rows = 0;
    for (const Group& group : groups_) rows += group.rows;
    out.i32(1, 2);  // version
    write_schema(columns_, out);
    out.i64(3, static_cast<std::int64_t>(rows));
    out.list_of_structs(4, groups_.size());
    for (const Group& group : groups_) {
        out.begin_element();
        out.list_of_structs(1, group.columns.size());
        std::uint64_t plain = 0, stored = 0;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const Group::Column& chunk = group.columns[c];
            const FileType type = file_type(columns_[c]);
            plain += chunk.plain_bytes, stored += chunk.stored_bytes;
            out.begin_element();
            out.i64(2, static_cast<std::int64_t>(chunk.offset));
            out.begin_struct(3);
            out.i32(1, physical_type(type));
            out.list_of_numbers(2, 2);
            out.element(parquet::plain);
            out.element(parquet::rle);
            out.list_of_texts(3, type == FileType::texts ? 3 : 1);
            out.element(std::string_view(columns_[c].name));
            if (type == FileType::texts)
                out.element(std::string_view("list")), out.element(std::string_view("element"));
            out.i32(4, parquet::zstd);
            out.i64(5, static_cast<std::int64_t>(chunk.values));
            out.i64(6, static_cast<std::int64_t>(chunk.plain_bytes));
            out.i64(7, static_cast<std::int64_t>(chunk.stored_bytes));
            out.i64(9, static_cast<std::int64_t>(chunk.offset));
            if (type != FileType::texts) {
                out.begin_struct(12);
                out.i64(3, static_cast<std::int64_t>(chunk.missing));
                if (chunk.most) out.text(5, *chunk.most);
                if (chunk.least) out.text(6, *chunk.least);
                out.end_struct();
            }
            out.end_struct();
            out.end_struct();
        }
        out.i64(2, static_cast<std::int64_t>(plain));
        out.i64(3, static_cast<std::int64_t>(group.rows));
        out.i64(6, static_cast<std::int64_t>(stored));
        out.end_struct();
    }
    out.list_of_structs(5, about_.size());
    for (const auto& [name, value] : about_) {
        out.begin_element();
        out.text(1, name);
        out.text(2, value);
        out.end_struct();
    }
    out.text(6, "beamheap version " + std::string(BEAMHEAP_VERSION) + " (build own)");
    out.list_of_structs(7, columns_.size());  // how bounds are ordered: as the type has it
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        out.begin_element();
        out.empty_struct(1);
        out.end_struct();
    }
    return out.finish();
}

Status ParquetFile::finish() {
    BH_CHECK(end_group());
    std::string end = footer();
    append_number(static_cast<std::uint32_t>(end.size()), end);
    end += parquet::magic;
    return write(end);
}

}  // namespace beamheap::present
