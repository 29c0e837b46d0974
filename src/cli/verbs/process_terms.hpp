// SPDX-License-Identifier: Apache-2.0
// Opening an input to look into the terms of one process.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/heaps/loop_state.hpp"
#include "analyses/heaps/record_scope.hpp"
#include "analyses/heaps/term_measures.hpp"
#include "cli/frame/context.hpp"
#include "present/tables_terms.hpp"

namespace beamheap::cli {

/// An input and the terms of one of its processes.
struct ProcessTerms {
    std::shared_ptr<Artifact> artifact;
    ProcId process = ProcId::none;
    std::shared_ptr<TermSource> terms;
    std::shared_ptr<analyses::TermMeasures> measures;
    std::unique_ptr<present::Names> names;
    std::optional<analyses::LoopState> state;  ///< of a server
    std::shared_ptr<const analyses::RecordScope> records;

    const Snapshot& snapshot() const { return artifact->snapshot(); }
    const Process& row() const { return snapshot()[process]; }
    /// Shows terms as --term-bytes and --syntax say; refers to all of this.
    present::TermView view(const Context& context) const {
        return {*names,
                row(),
                *terms,
                *measures,
                static_cast<std::size_t>(context.options().term_bytes),
                state ? std::optional(state->root) : std::nullopt,
                std::make_shared<present::AnswerBudget>(),
                {records, context.for_people()}};
    }
};

/// Loads what the plan asks for and the terms of the process that `pid` names, as far as they are wanted; where answers
/// share what they find (Context::kept), all of them.
Result<ProcessTerms> open_process_terms(const Context& context, LoadPlan plan, const std::string& pid,
                                        const TermsWanted& wanted = {});
/// The same with its garbage.
Result<ProcessTerms> open_process_garbage(const Context& context, LoadPlan plan, const std::string& pid);

/// Warnings about terms that are not as they were: slices that are shown in whole bytes, cycles.
void add_term_warnings(const ProcessTerms& process, present::Document& document);

/// The elements of a term, page by page (--page, -n).
present::Member children_member(const Context& context, const present::TermView& view, const Element& term);

}  // namespace beamheap::cli
