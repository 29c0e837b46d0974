// SPDX-License-Identifier: Apache-2.0
// How far on in a function's machine code a place in its BEAM code stands: at least, and at most.
//
// What the loader makes of an instruction depends on its operands and its neighbours: no one size is right for it. But
// for every stretch of code that was looked at, between two places of which the VM notes the address (its lines), the
// sum of what its instructions take at least is no more, and the sum of what they take at most no less, than what it
// took. The least and the most of each instruction are those for which that holds with the narrowest bounds (a linear
// program, by tests/native_sizes/fit): over all modules of OTP 23, 25, 27 and 29 and of Elixir, as many stretches as
// native_size.inc says. Sums hold between lines, not within: who asks for a place asks for the line before it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "beamheap/code_module.hpp"
#include "formats/beam/chunks.hpp"

namespace beamheap::beam {

/// What is counted of an instruction: itself, and operands that change its size.
enum class SizePart : std::uint8_t { self, y_register, literal, integer, element, large_element };
constexpr unsigned size_parts = 6;

/// Counts along one function. All sums are bytes from where the function's own header begins.
class NativeSize {
public:
    /// The function begins: its sum is that of its func_info.
    void begin();
    void instruction(std::uint8_t op);
    void operand(const ByteReader::Operand& operand);  ///< of it, as they come; extended ones by their kind
    void element(const ByteReader::Operand& operand);  ///< of its list
    /// A line that the loader notes: sums up to here are proved.
    void line() { at_line_ = now_; }

    const CodeSite::Sizes& now() const { return now_; }
    const CodeSite::Sizes& at_line() const { return at_line_; }

    /// Each part as it is counted, for the fit.
    std::function<void(std::uint8_t op, SizePart part)> counted;

private:
    void count(SizePart part);
    void add(SizePart part);
    CodeSite::Sizes now_{}, at_line_{};
    std::uint8_t op_ = 0;
};

}  // namespace beamheap::beam
