// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/node_model.hpp"

#include <utility>

#include "analyses/facts/needs.hpp"
#include "analyses/heaps/loop_state.hpp"
#include "analyses/processes/waits.hpp"
#include "cli/code/code_lines.hpp"
#include "cli/frame/secrets.hpp"
#include "present/describe.hpp"

namespace beamheap::cli {
namespace {

/// No terms at all.
class NoTerms : public TermSource {
public:
    NoTerms() {
        graph_.begin(HeapGraph::Mode::values, 8);
        graph_.finish();
    }
    const HeapGraph& graph() const override { return graph_; }
    const HeapGraph* literals() const override { return nullptr; }
    Element root(std::size_t) override { return {}; }
    ObjectHead head(ObjectId) override { return {}; }
    ElementCursor elements(ObjectId) override { return {}; }
    bool next(ElementCursor&, Element&) override { return false; }
    Bytes bytes(ObjectId, std::uint64_t, std::uint64_t, std::string&) override { return Bytes::absent; }
    Element at(std::uint64_t) override { return {}; }
    Count binary_size(std::uint64_t) const override { return {}; }
    Count channel_of(std::string_view) const override { return {}; }

private:
    HeapGraph graph_;
};

/// A node of which nothing is known.
class NoInput : public Artifact {
public:
    Status load(const LoadPlan&) override { return ok(); }
    Snapshot& snapshot() override { return snapshot_; }
    Result<std::unique_ptr<TermSource>> terms(ProcId, const TermsWanted&) override {
        return std::unique_ptr<TermSource>(std::make_unique<NoTerms>());
    }
    Result<std::unique_ptr<TermSource>> terms_and_garbage(ProcId id) override { return terms(id, {}); }
    bool can_identify() const override { return false; }
    void identify(ProcId) override {}
    Result<TableContents> table_contents(std::size_t, std::uint64_t) override { return none(); }
    Result<PersistentTerms> persistent_terms() override { return none(); }
    Result<StoredBinaries> stored_binaries() override { return none(); }
    Result<std::vector<TracedFunction>> traced() override { return none(); }
    Result<Carriers> carriers() override { return none(); }
    Result<NativeThreads> native_threads() override { return none(); }
    Status visit_heaps(const HeapRequest&) override { return ok(); }
    Count binary_bytes(std::uint64_t) const override { return {}; }
    std::vector<Check> checks() const override { return {}; }

private:
    static Error none() { return {ErrorCode::not_held, "there is no input", {}}; }
    Snapshot snapshot_;
};

}  // namespace

// Whose terms two demands want together.
static Demand::OfProcess either(Demand::OfProcess a, Demand::OfProcess b) {
    if (!a || !b) return {};
    return [a = std::move(a), b = std::move(b)](const Snapshot& snapshot, ProcId id) {
        return a(snapshot, id) || b(snapshot, id);
    };
}

void Demand::add(const Demand& other) {
    if (other.parts.has(analyses::need::terms))
        terms_of = parts.has(analyses::need::terms) ? either(terms_of, other.terms_of) : other.terms_of;
    parts |= other.parts;
    heaps |= other.heaps;
    frames |= other.frames;
    references |= other.references;
    code |= other.code;
}

void Demand::add_to(LoadPlan& plan) const {
    if (parts.has(analyses::need::terms))
        plan.terms_of = plan.has(analyses::need::terms) ? either(plan.terms_of, terms_of) : terms_of;
    plan |= parts;
}

NodeModel::NodeModel(const Options& options)
    : options_(options),
      plan_{analyses::need::everything},
      heaps_(std::make_unique<analyses::HeapStats>(1, analyses::HeapWishes{})) {
    settle(std::make_shared<NoInput>());
}

NodeModel::~NodeModel() = default;

void NodeModel::settle(std::shared_ptr<Artifact> artifact) {
    measured_.reset();
    found_.clear();
    artifact_ = std::move(artifact);
    names_ = std::make_unique<present::Names>(artifact_->snapshot(), options_.syntax.value_or(present::Syntax::erlang));
    names_->hide_secrets(options_.redact != present::RedactLevel::none);
    names_->open_with(opened_with(options_));
    secrets_.clear();
    if (plan_.has(analyses::need::terms)) secrets_ = known_secrets(*artifact_);
    redactor_ = std::make_shared<const present::Redactor>(
        present::redaction(options_.redact, options_.salt, artifact_->snapshot(), secrets_));
}

Status NodeModel::open(const Context& context, const Demand& demand) {
    plan_ = LoadPlan{};
    demand.add_to(plan_);
    if (demand.code) plan_for_module_code(options_, plan_);
    if (options_.redact == present::RedactLevel::full) plan_ |= analyses::need::names_in_texts;
    references_ = demand.references;
    heaps_ = std::make_unique<analyses::HeapStats>(
        options_.threads, analyses::HeapWishes{.frames = demand.frames, .binaries = demand.references});
    LoadPlan plan = plan_;
    if (demand.any_heaps()) heaps_->demand(plan);
    BH_TRY(std::shared_ptr<Artifact> artifact, context.open(plan));
    if (demand.any_heaps()) heaps_->store(*artifact);
    settle(std::move(artifact));
    return ok();
}

void NodeModel::adopt(std::shared_ptr<Artifact> artifact, const LoadPlan& plan) {
    plan_ = plan;
    plan_.heaps = nullptr;
    references_ = false;
    settle(std::move(artifact));
}

Result<std::shared_ptr<ProcessView>> NodeModel::terms(ProcId process, bool states) {
    static const Process nobody;
    const Process& row = process == ProcId::none ? nobody : snapshot()[process];
    auto all = std::make_shared<ProcessView>();
    BH_TRY(all->terms, artifact_->terms(process));
    const analyses::TermMeasures* const before = measured_ == nullptr ? nullptr : measured_->measures.get();
    const bool same = before != nullptr && measured_->terms->literals() == all->terms->literals();
    all->measures = std::make_unique<analyses::TermMeasures>(*all->terms, before);
    if (!same) measured_ = all;
    std::optional<std::size_t> state;
    present::ShownRecords records;
    if (process != ProcId::none && (states || snapshot().records != nullptr)) {
        const auto found = analyses::loop_state(snapshot(), process, *all->terms);
        if (found && states) state = found->root;
        if (snapshot().records != nullptr)
            records.scope = std::make_shared<const analyses::RecordScope>(snapshot(), process, *all->terms, found);
    }
    all->view.emplace(names(), row, *all->terms, *all->measures, term_bytes(), state, budget_, std::move(records));
    return all;
}

}  // namespace beamheap::cli
