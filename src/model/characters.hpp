// SPDX-License-Identifier: Apache-2.0
// Kinds of ASCII characters, whatever the locale.
#pragma once

namespace beamheap {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace beamheap
