// SPDX-License-Identifier: Apache-2.0
// References of this node as values that can be compared.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// How many words it has, and its three lowest. Those of one node differ in them (erts/emulator/beam/erl_bif_unique.c:
/// a counter of 64 bits and the thread's number; references that are aliases have the pid behind these, since OTP 24).
using Reference = std::tuple<unsigned, std::uint32_t, std::uint32_t, std::uint32_t>;

/// The reference that a place in a term holds; none where it holds something else.
inline std::optional<Reference> reference_of(TermSource& terms, const Element& term) {
    if (term.kind != ElementKind::object) return std::nullopt;
    const ObjectHead head = terms.head(term.id);
    if (head.kind != TermKind::reference || head.numbers < 3) return std::nullopt;
    return Reference{head.numbers, head.words[0], head.words[1], head.words[2]};
}

}  // namespace beamheap::analyses
