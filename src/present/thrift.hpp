// SPDX-License-Identifier: Apache-2.0
// Structs in Thrift's compact protocol, in which Parquet keeps what it says of a file: what a writer needs of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace beamheap::present {

/// Fields of a struct in the order of their numbers. Whoever opens a struct or a list closes it, or writes its
/// elements.
class ThriftWriter {
public:
    ThriftWriter() : last_{0} {}

    void i32(std::int16_t field, std::int64_t value) { head(field, Type::i32), signed_number(value); }
    void i64(std::int16_t field, std::int64_t value) { head(field, Type::i64), signed_number(value); }
    void flag(std::int16_t field, bool value) { head(field, value ? Type::yes : Type::no); }
    void text(std::int16_t field, std::string_view value) { head(field, Type::binary), element(value); }
    void begin_struct(std::int16_t field) {
        head(field, Type::record);
        last_.push_back(0);
    }
    void end_struct() {
        out_ += '\0';
        last_.pop_back();
    }
    void empty_struct(std::int16_t field) { begin_struct(field), end_struct(); }
    /// Elements follow: element() of numbers and texts, begin_element() and end_struct() of structs.
    void list_of_numbers(std::int16_t field, std::size_t size) { list(field, Type::i32, size); }
    void list_of_texts(std::int16_t field, std::size_t size) { list(field, Type::binary, size); }
    void list_of_structs(std::int16_t field, std::size_t size) { list(field, Type::record, size); }
    void element(std::int32_t value) { signed_number(value); }
    void element(std::string_view value) {
        number(value.size());
        out_ += value;
    }
    void begin_element() { last_.push_back(0); }

    /// The outermost struct, which ends here.
    std::string finish() {
        out_ += '\0';
        return std::move(out_);
    }

private:
    enum class Type : std::uint8_t { yes = 1, no = 2, i32 = 5, i64 = 6, binary = 8, list = 9, record = 12 };
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) out_ += static_cast<char>((value & 0x7F) | 0x80);
        out_ += static_cast<char>(value);
    }
    void signed_number(std::int64_t value) {
        number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
    }
    // Numbers of fields are written as steps from the one before; all of Parquet's are smaller than 16.
    void head(std::int16_t field, Type type) {
        out_ += static_cast<char>((field - last_.back()) << 4 | static_cast<int>(type));
        last_.back() = field;
    }
    void list(std::int16_t field, Type of, std::size_t size) {
        head(field, Type::list);
        constexpr std::size_t long_list = 15;
        out_ += static_cast<char>(static_cast<int>(size < long_list ? size : long_list) << 4 | static_cast<int>(of));
        if (size >= long_list) number(size);
    }

    std::string out_;
    std::vector<std::int16_t> last_;
};

}  // namespace beamheap::present
