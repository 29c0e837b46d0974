// SPDX-License-Identifier: Apache-2.0
// What several answers about one input share where they are asked for in a row, as the report asks: each is found once.
#pragma once

#include <memory>
#include <optional>

#include "analyses/heaps/loop_state.hpp"
#include "analyses/heaps/term_measures.hpp"
#include "analyses/processes/supervision.hpp"
#include "analyses/processes/waits.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::cli {

struct KeptAnswers {
    /// The process that was looked into last, all of its terms: proc, heap and msgs of one process read its heap once.
    ProcId process = ProcId::none;
    std::shared_ptr<TermSource> terms;
    std::shared_ptr<analyses::TermMeasures> measures;
    std::optional<analyses::LoopState> state;
    /// Of the whole snapshot.
    std::shared_ptr<const analyses::Waits> waits;
    std::shared_ptr<const analyses::SupervisionTree> tree;
};

}  // namespace beamheap::cli
