// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/data_text.hpp"

#include <algorithm>
#include <array>

namespace beamheap::crashdump {
namespace {

constexpr std::uint8_t none = 0xFF;

constexpr std::array<std::uint8_t, 256> base64_values = [] {
    std::array<std::uint8_t, 256> table{};
    for (auto& entry : table) entry = none;
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < alphabet.size(); ++i)
        table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
    return table;
}();

constexpr std::array<std::uint8_t, 256> hex_values = [] {
    std::array<std::uint8_t, 256> table{};
    for (auto& entry : table) entry = none;
    for (unsigned i = 0; i < 10; ++i) table['0' + i] = static_cast<std::uint8_t>(i);
    for (unsigned i = 0; i < 6; ++i) table['A' + i] = table['a' + i] = static_cast<std::uint8_t>(10 + i);
    return table;
}();

std::size_t decode_hex(std::string_view text, std::uint8_t* out, std::size_t limit) {
    std::size_t n = 0;
    for (; n < limit && 2 * n + 1 < text.size(); ++n) {
        const unsigned high = hex_values[static_cast<unsigned char>(text[2 * n])];
        const unsigned low = hex_values[static_cast<unsigned char>(text[2 * n + 1])];
        if (high == none || low == none) break;
        out[n] = static_cast<std::uint8_t>(high << 4 | low);
    }
    return n;
}

}  // namespace

std::size_t decode_data(TermStyle style, std::string_view text, std::uint8_t* out, std::size_t limit) {
    if (!style.base64) return decode_hex(text, out, limit);
    std::size_t written = 0;
    for (std::size_t at = 0; at + 1 < text.size() && written < limit; at += 4) {
        unsigned value = 0;
        unsigned characters = 0;
        for (; characters < 4 && at + characters < text.size(); ++characters) {
            const std::uint8_t six = base64_values[static_cast<unsigned char>(text[at + characters])];
            if (six == none) break;
            value |= static_cast<unsigned>(six) << (18 - 6 * characters);
        }
        const unsigned bytes = characters < 2 ? 0 : characters - 1;
        for (unsigned i = 0; i < bytes && written < limit; ++i)
            out[written++] = static_cast<std::uint8_t>(value >> (16 - 8 * i));
        if (characters < 4) break;
    }
    return written;
}

std::size_t append_data(TermStyle style, std::string_view text, std::string& out, std::size_t limit) {
    const std::size_t before = out.size();
    const std::size_t most = std::min(limit, style.base64 ? text.size() / 4 * 3 + 3 : text.size() / 2);
    out.resize(before + most);
    const std::size_t n = decode_data(style, text, reinterpret_cast<std::uint8_t*>(out.data() + before), most);
    out.resize(before + n);
    return n;
}

}  // namespace beamheap::crashdump
