// SPDX-License-Identifier: Apache-2.0
#include "present/glued_text.hpp"

#include <algorithm>
#include <string_view>

#include "model/characters.hpp"
#include "present/sanitise.hpp"

namespace beamheap::present {

namespace {

bool is_word_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

void glue_units(std::string& text) {
    for (std::size_t at = text.find(' '); at != text.npos; at = text.find(' ', at + 1)) {
        if (at == 0 || !is_digit(text[at - 1])) continue;
        for (const std::string_view unit : {"%", "B", "KiB", "MiB", "GiB", "TiB", "ms"})
            if (text.compare(at + 1, unit.size(), unit) == 0 &&
                (at + 1 + unit.size() == text.size() || !is_word_letter(text[at + 1 + unit.size()])))
                text[at] = glued_blank;
    }
}

std::string glued_text(const Text& sentence, const Redactor& redactor) {
    std::string all;
    for (const Text::Piece& piece : sentence.pieces) {
        std::string text = safe_text(redactor.apply(Text{{piece}}));
        if (piece.command) std::ranges::replace(text, ' ', glued_blank);
        all += text;
    }
    glue_units(all);
    return all;
}

}  // namespace beamheap::present
