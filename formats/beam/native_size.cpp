// SPDX-License-Identifier: Apache-2.0
#include "formats/beam/native_size.hpp"

namespace beamheap::beam {
namespace {

// Bytes, by CodeSite::Machine, that one more of a part of an instruction takes at least and at most.
struct PartSize {
    std::uint16_t least, most;
};
using OperationSizes = PartSize[size_parts];
constexpr OperationSizes sizes_of[][CodeSite::machines] = {
#include "formats/beam/native_size.inc"
};

constexpr std::uint8_t function_header = 2;
constexpr std::uint64_t small_integer = 128;  // fits into a byte with its sign
constexpr std::uint64_t extended_literal = 4;

}  // namespace

void NativeSize::begin() {
    now_ = at_line_ = {};
    op_ = function_header;
    add(SizePart::self);
}

void NativeSize::instruction(std::uint8_t op) {
    op_ = op;
    count(SizePart::self);
}

void NativeSize::operand(const ByteReader::Operand& operand) {
    if (operand.tag == tag_y) count(SizePart::y_register);
    else if (operand.tag == tag_extended && operand.value == extended_literal) count(SizePart::literal);
    else if (operand.tag == tag_integer && operand.value >= small_integer) count(SizePart::integer);
}

void NativeSize::element(const ByteReader::Operand& operand) {
    count(SizePart::element);
    const bool literal = operand.tag == tag_extended && operand.value == extended_literal;
    if (literal || operand.tag == tag_y || (operand.tag == tag_integer && operand.value >= small_integer))
        count(SizePart::large_element);
}

void NativeSize::count(SizePart part) {
    if (counted) counted(op_, part);
    add(part);
}

void NativeSize::add(SizePart part) {
    if (op_ >= std::size(sizes_of)) return;
    for (std::size_t machine = 0; machine < CodeSite::machines; ++machine) {
        const PartSize& size = sizes_of[op_][machine][static_cast<std::size_t>(part)];
        now_[machine].least += size.least;
        now_[machine].most += size.most;
    }
}

}  // namespace beamheap::beam
