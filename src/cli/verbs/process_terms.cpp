// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/process_terms.hpp"

#include <functional>

#include "analyses/base/sum.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/heaps/identities.hpp"
#include "analyses/selectors/selectors.hpp"
#include "cli/frame/kept_answers.hpp"
#include "erlang/functions.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {

namespace {

using ReadTerms = Result<std::unique_ptr<TermSource>>(Artifact&, ProcId);

Result<ProcessTerms> open_and_read(const Context& context, LoadPlan plan, const std::string& pid, bool share,
                                   const std::function<ReadTerms>& read) {
    plan |= analyses::need::process_terms;
    // Of a stream only the terms of this process are kept, and those that the plan wants anyway; who it is, is known
    // when the process table is complete.
    ProcId wanted = ProcId::none;
    bool looked = false;
    plan.terms_of = [&, others = std::move(plan.terms_of)](const Snapshot& snapshot, ProcId id) {
        if (!looked) {
            looked = true;
            if (const auto found = analyses::resolve(snapshot, pid)) wanted = *found;
        }
        return id == wanted || (others && others(snapshot, id));
    };
    ProcessTerms all;
    BH_TRY(all.artifact, context.open(plan));
    BH_TRY(all.process, analyses::resolve(all.snapshot(), pid));
    KeptAnswers* const kept = share ? context.kept(all.snapshot()) : nullptr;
    if (kept != nullptr && kept->process == all.process && kept->terms != nullptr) {
        all.terms = kept->terms;
        all.measures = kept->measures;
        all.state = kept->state;
    } else {
        analyses::identify_by_terms(*all.artifact, all.process);
        BH_TRY(all.terms, read(*all.artifact, all.process));
        all.measures = std::make_shared<analyses::TermMeasures>(*all.terms);
        all.state = analyses::loop_state(all.snapshot(), all.process, *all.terms);
        if (kept != nullptr) {
            kept->process = all.process;
            kept->terms = all.terms;
            kept->measures = all.measures;
            kept->state = all.state;
        }
    }
    if (all.snapshot().records != nullptr)
        all.records = std::make_shared<const analyses::RecordScope>(all.snapshot(), all.process, *all.terms, all.state);
    all.names = std::make_unique<present::Names>(context.names(all.snapshot()));
    return all;
}

// Why a process holds terms in registers.
std::string_view why_in_registers(const Snapshot& snapshot, const Process& process) {
    if (process.arity == 0) return "the process was running";
    if (has_role(snapshot, process.current_function, erlang::FunctionRole::hibernates))
        return "the process hibernates: its state is in argument registers";
    return "the process was to enter a function, whose arguments are in registers";
}

}  // namespace

Result<ProcessTerms> open_process_terms(const Context& context, LoadPlan plan, const std::string& pid,
                                        const TermsWanted& wanted) {
    return open_and_read(context, std::move(plan), pid, true, [&](Artifact& artifact, ProcId process) {
        return artifact.terms(process, context.kept(artifact.snapshot()) == nullptr ? wanted : TermsWanted{});
    });
}

Result<ProcessTerms> open_process_garbage(const Context& context, LoadPlan plan, const std::string& pid) {
    return open_and_read(context, std::move(plan), pid, false,
                         [](Artifact& artifact, ProcId process) { return artifact.terms_and_garbage(process); });
}

void add_term_warnings(const ProcessTerms& process, present::Document& document) {
    const TermSource& terms = *process.terms;
    const HeapGraph& graph = terms.graph();
    if (terms.in_part())
        document.warnings.push_back(
            {"heap_in_part", 1, "info",
             present::spell(
                 analyses::Ours("the heap is large, and of it only what is shown was read; `heap` reads all of it"))});
    const std::uint64_t cut_references = process.measures->cut_references();
    std::uint64_t slices = 0;
    for (const BinaryUse& use : graph.binaries())
        if (graph.kind(use.node) == TermKind::sub_binary)
            slices += process.terms->head({ObjectId::Space::heap, use.node}).bits_lost ? 1 : 0;
    if (slices != 0)
        document.warnings.push_back(
            {"whole_bytes_only", slices, "info",
             present::spell(analyses::Ours("slices of binaries are shown in whole bytes: a crash dump of this release "
                                           "does not tell where within a byte a bitstring begins and ends"))});
    std::uint64_t unlisted = 0;
    for (const BinaryUse& use : graph.binaries()) unlisted += use.named ? 0 : 1;
    if (unlisted != 0)
        document.warnings.push_back(
            {"slices_alone", unlisted, "info",
             present::spell(
                 analyses::Ours("slices of binaries are in the dump without what lies behind them, which dumps of "
                                "releases up to 26 leave out: live words are a lower bound, garbage an upper one"))});
    std::uint64_t funs = 0;
    const std::span<const std::uint8_t> kinds = graph.all_kinds();
    for (NodeId node = 0; node < kinds.size(); ++node) {
        if (HeapGraph::kind_of(kinds[node]) != TermKind::fun) continue;
        const ObjectHead head = process.terms->head({ObjectId::Space::heap, node});
        funs += head.free > head.elements ? 1 : 0;
    }
    if (funs != 0)
        document.warnings.push_back(
            {"environments_lost", funs, "info",
             present::spell(analyses::Ours("funs are shown without the values that they close over, which crash dumps "
                                           "do not hold; sizes leave these out"))});
    if (process.row().state == ProcessState::garbage_collecting && graph.size() == 0)
        document.warnings.push_back(
            {"in_collection", 1, "data_loss",
             present::spell(analyses::Ours(
                 "the process is in garbage collection: its terms are being moved, and can't be read"))});
    if (process.row().registers_lost)
        document.warnings.push_back({"registers_lost", 1, "data_loss",
                                     present::Text{}
                                         .add(std::string(why_in_registers(process.snapshot(), process.row())))
                                         .add(", and a crash dump leaves registers out: terms that only they hold are "
                                              "not shown, and what is live and what is garbage is not known")});
    if (cut_references != 0)
        document.warnings.push_back(
            {"cyclic_term", cut_references, "data_loss",
             present::spell(analyses::Ours(
                 "terms contain themselves, which no Erlang term does; sizes leave those references out"))});
}

present::Member children_member(const Context& context, const present::TermView& view, const Element& term) {
    constexpr std::uint64_t usual_rows = 20;
    const std::uint64_t rows = context.options().top.value_or(usual_rows);
    const std::uint64_t before = context.options().page == 0 ? 0 : context.options().page - 1;
    return {.key = "children",
            .title = "Its elements, largest first",
            .body = present::child_table(view, term,
                                         static_cast<std::size_t>(analyses::saturating_multiply(rows, before)))};
}

}  // namespace beamheap::cli
