// SPDX-License-Identifier: Apache-2.0
// What goes on behind the first sentence: the second one of an answer.
//
// Theory. The second sentence tells where most of the memory is. Where the first tells of a wait that holds next to
// none, in a node whose memory is nowhere in particular, that says nothing: what is asked then is for whom the one at
// the end works, which function of the program has brought it there, and whose work stands still.
//
// A function is the program's own where its module was not compiled where OTP and Elixir were (causes/own_modules.hpp);
// where no module tells, where it is none that is known as a library's.
#pragma once

#include "analyses/base/sentence.hpp"
#include "analyses/facts/facts.hpp"
#include "analyses/memory/ledger.hpp"
#include "analyses/rules/finding.hpp"

namespace beamheap::analyses {

/// Behind `worst`, the finding with which the answer begins: "<0.83.0> (billing:run/2) got there through
/// billing:check/2; all of the 130 who wait come from order_api:lock/1." Else where most of the memory is, and, where
/// that is in processes that have each a copy of the same term, that they do.
Sentence second_sentence(const Facts& facts, const Finding& worst, const LargestPlace& place);

}  // namespace beamheap::analyses
