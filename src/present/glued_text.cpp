// SPDX-License-Identifier: Apache-2.0
#include "present/glued_text.hpp"

#include <algorithm>

#include "present/sanitise.hpp"

namespace beamheap::present {

std::string glued_text(const Text& sentence, const Redactor& redactor) {
    std::string all;
    for (const Text::Piece& piece : sentence.pieces) {
        std::string text = safe_text(redactor.apply(Text{{piece}}));
        if (piece.command) std::ranges::replace(text, ' ', glued_blank);
        all += text;
    }
    return all;
}

}  // namespace beamheap::present
