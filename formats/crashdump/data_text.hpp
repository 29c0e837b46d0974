// SPDX-License-Identifier: Apache-2.0
// Bytes as a dump prints them: base64 since version 0.5, two hexadecimal digits per byte before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/crashdump/term_grammar.hpp"

namespace beamheap::crashdump {

/// Characters that `bytes` bytes take.
constexpr std::uint64_t encoded_size(TermStyle style, std::uint64_t bytes) {
    return style.base64 ? (bytes + 2) / 3 * 4 : bytes * 2;
}

/// Decodes up to `limit` bytes of `text` into `out`, which has room for them. Stops at the first character that is none
/// of the encoding, or at padding. Returns the bytes written.
std::size_t decode_data(TermStyle style, std::string_view text, std::uint8_t* out, std::size_t limit);

/// The same, appended to a string.
std::size_t append_data(TermStyle style, std::string_view text, std::string& out, std::size_t limit);

/// Whether `c` belongs to base64 or hexadecimal text.
constexpr bool is_data_character(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '+' || c == '/' ||
           c == '=';
}

}  // namespace beamheap::crashdump
