// SPDX-License-Identifier: Apache-2.0
// Words of ours: what the program says by itself, told apart from all that an input says.
#pragma once

#include <string_view>

namespace beamheap {

/// Words of ours. Only a literal of the program becomes one, or a piece of one, so that no text of an input can.
class Ours {
public:
    consteval Ours(const char* literal) : text_(literal) {}
    constexpr std::string_view text() const { return text_; }
    constexpr bool empty() const { return text_.empty(); }
    /// A piece of words of ours is ours, too.
    constexpr Ours piece(std::size_t from, std::size_t length = std::string_view::npos) const {
        Ours part("");
        part.text_ = text_.substr(from, length);
        return part;
    }
    friend constexpr bool operator==(const Ours&, const Ours&) = default;

private:
    std::string_view text_;
};

}  // namespace beamheap
