// SPDX-License-Identifier: Apache-2.0
// A term of the process that was refused memory which is small with its sharing, and enormous where it is copied.
//
// Theory. Terms of one heap may share parts: a list that stands in a thousand places is there once. A copy (a message,
// an object of a table, the arguments of a spawn, term_to_binary) has each part as often as it is referred to: n levels
// of {T, T} are 2^n words. So a process of some kilobytes asks for gigabytes at once, and no heap shows them. Facts:
// erts copy_struct (utils and copy.c, OTP 17 to 29; only releases built with --enable-sharing-preserving keep it).
#pragma once

#include <cstdint>

#include "analyses/base/sentence.hpp"
#include "analyses/facts/facts.hpp"

namespace beamheap::analyses {

struct LostSharing {
    ProcId process = ProcId::none;
    Sentence where;  ///< "its State", "a term on its stack"; empty: there is no such term, or it was not looked for
    std::uint64_t flat_words = 0;    ///< of a copy; saturated: at least so much
    std::uint64_t shared_words = 0;  ///< as it lies there
};

Result<LostSharing> find_fact(FactOf<LostSharing>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
