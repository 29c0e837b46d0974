// SPDX-License-Identifier: Apache-2.0
// Compiled modules made by hand, instruction by instruction, so that tests know what must be read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace beamheap::testing {

inline std::string four(std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
    return bytes;
}

/// An operand of code as beam_asm writes it.
inline std::string operand(unsigned tag, std::uint64_t value) {
    if (value < 16) return {static_cast<char>(value << 4 | tag)};
    if (value < 2048) return {static_cast<char>((value >> 8) << 5 | 8 | tag), static_cast<char>(value & 0xff)};
    return {static_cast<char>(0x18 | tag), static_cast<char>(value >> 8), static_cast<char>(value & 0xff)};
}
inline std::string u(std::uint64_t value) { return operand(0, value); }
inline std::string atom(std::uint64_t value) { return operand(2, value); }
inline std::string x(std::uint64_t value) { return operand(3, value); }
inline std::string y(std::uint64_t value) { return operand(4, value); }
inline std::string f(std::uint64_t value) { return operand(5, value); }
inline std::string op(std::uint8_t number, std::initializer_list<std::string> operands = {}) {
    std::string bytes(1, static_cast<char>(number));
    for (const std::string& each : operands) bytes += each;
    return bytes;
}

/// A module of chunks.
class MadeModule {
public:
    MadeModule& chunk(std::string_view name, const std::string& data) {
        body_ += std::string(name) + four(static_cast<std::uint32_t>(data.size())) + data;
        body_.append((4 - data.size() % 4) % 4, '\0');
        return *this;
    }
    /// "AtU8" as until OTP 27, from atom 1 on.
    MadeModule& atoms(const std::vector<std::string>& names) {
        std::string data = four(static_cast<std::uint32_t>(names.size()));
        for (const std::string& name : names) data += static_cast<char>(name.size()) + name;
        return chunk("AtU8", data);
    }
    MadeModule& imports(const std::vector<std::vector<std::uint32_t>>& functions) {
        std::string data = four(static_cast<std::uint32_t>(functions.size()));
        for (const auto& function : functions)
            for (const std::uint32_t part : function) data += four(part);
        return chunk("ImpT", data);
    }
    MadeModule& code(const std::string& instructions, std::uint32_t labels) {
        return chunk("Code", four(16) + four(0) + four(191) + four(labels) + four(1) + instructions + '\x03');
    }
    /// Places in the module's own file, from place 1 on.
    MadeModule& lines(const std::vector<std::uint32_t>& numbers) {
        std::string data = four(0) + four(0) + four(9) + four(static_cast<std::uint32_t>(numbers.size())) + four(0);
        for (const std::uint32_t number : numbers) data += operand(1, number);
        return chunk("Line", data);
    }
    std::string bytes() const { return "FOR1" + four(static_cast<std::uint32_t>(body_.size() + 4)) + "BEAM" + body_; }

private:
    std::string body_;
};

/// shop:total/1, whose lines are places 1 to 5 (10, 20, 30, 40, 50): it begins on line 10, with two registers calls
/// other:price/1 on 20 and 30, the second of them within a `try` whose mark is in y1, waits on 40, and goes on in
/// other:last/1 on 50.
inline MadeModule shop() {
    MadeModule module;
    module.atoms({"shop", "total", "other", "price", "last"});
    module.imports({{3, 4, 1}, {3, 5, 1}});
    module.code(op(1, {u(1)}) + op(153, {u(1)}) + op(2, {atom(1), atom(2), u(1)}) + op(1, {u(2)}) +
                    op(12, {u(2), u(1)}) + op(153, {u(2)}) + op(7, {u(1), u(0)}) + op(104, {y(1), f(3)}) +
                    op(153, {u(3)}) + op(7, {u(1), u(0)}) + op(105, {y(1)}) + op(153, {u(4)}) + op(1, {u(4)}) +
                    op(23, {f(5), x(0)}) + op(21) + op(153, {u(5)}) + op(8, {u(1), u(1), u(2)}) + op(1, {u(5)}) +
                    op(25, {f(4)}) + op(1, {u(3)}) + op(106, {y(1)}) + op(18, {u(2)}) + op(19),
                6);
    module.lines({10, 20, 30, 40, 50});
    return module;
}

}  // namespace beamheap::testing
