// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/object_words.hpp"

#include <array>
#include <cmath>

namespace beamheap::crashdump {

std::uint64_t bignum_words(std::string_view digits, unsigned word_bits) {
    while (!digits.empty() && digits.front() == '0') digits.remove_prefix(1);
    if (digits.empty()) return 1;
    // A number of d digits lies in [10^(d-1), 10^d): where all of these have as many words, as they have for
    // nearly all d, no digit is looked at. A digit is 3.32192809488... bits.
    constexpr std::uint64_t bits_below = 3'321'928'094, bits_above = 3'321'928'095, billion = 1'000'000'000;
    const std::uint64_t least = (digits.size() - 1) * bits_below / billion / word_bits;
    if (digits.size() * bits_above / billion / word_bits == least) return least + 1;
    if (digits.size() <= 38) {
        __extension__ unsigned __int128 value = 0;
        for (const char c : digits) value = value * 10 + static_cast<unsigned>(c - '0');
        std::uint64_t words = 0;
        for (; value != 0; value >>= word_bits / 2, value >>= word_bits / 2) ++words;
        return words;
    }
    long double lead = 0;
    for (std::size_t i = 0; i < 19; ++i) lead = lead * 10 + (digits[i] - '0');
    const long double bits = std::log2(lead) + static_cast<long double>(digits.size() - 19) * std::log2(10.0L);
    const long double words = bits / static_cast<long double>(word_bits);
    const long double nearest = std::round(words);
    // Leading digits leave the number open by one in 10^18 or so.
    if (std::fabs(words - nearest) > 1e-12L * (1 + nearest) || digits.size() > 20000)
        return static_cast<std::uint64_t>(std::floor(words)) + 1;
    std::array<std::uint32_t, 2200> parts{};
    std::size_t used = 0;
    while (!digits.empty()) {  // nine digits at a time fit into a part
        const std::string_view few = digits.substr(0, 9);
        digits.remove_prefix(few.size());
        std::uint64_t carry = 0, scale = 1;
        for (const char c : few) carry = carry * 10 + static_cast<unsigned>(c - '0'), scale *= 10;
        for (std::size_t i = 0; i < used; ++i) {
            carry += parts[i] * scale;
            parts[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        if (carry != 0) parts[used++] = static_cast<std::uint32_t>(carry);
    }
    return (used * 32 + word_bits - 1) / word_bits;
}

}  // namespace beamheap::crashdump
