// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/watched_vm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/memory/atom_families.hpp"
#include "analyses/processes/process_columns.hpp"
#include "bytes/clock.hpp"
#include "bytes/process_figures.hpp"
#include "cli/live/sampling.hpp"
#include "formats/format.hpp"
#include "formats/otp/core_artifact.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {
namespace {

constexpr std::uint64_t attached_for_ns = 9'000'000'000;  // looks within this take the VM as it was recognised
constexpr std::uint64_t most_heap_words = 64'000'000;     // of a suspect: some 300 MB are taken for it

Count count_of(const std::optional<std::uint64_t>& figure) { return figure ? Count(*figure) : Count(); }

analyses::SystemFigures system_figures(std::uint32_t pid) {
    const bytes::ProcessFigures figures = bytes::process_figures(pid);
    return {.resident_bytes = count_of(figures.resident_bytes),
            .swapped_bytes = count_of(figures.swapped_bytes),
            .descriptors = count_of(figures.descriptors),
            .descriptor_limit = count_of(figures.descriptor_limit),
            .memory_limit_bytes = count_of(figures.limit_bytes),
            .memory_left_bytes = count_of(figures.left_bytes),
            .limit_of_group = figures.of_group};
}

}  // namespace

Result<std::shared_ptr<Artifact>> WatchedVm::look() {
    const std::uint64_t now = bytes::monotonic_ns();
    std::shared_ptr<Artifact> artifact;
    if (artifact_ != nullptr && now - attached_ns_ < attached_for_ns) artifact = otp::read_again(*artifact_);
    if (artifact == nullptr) {
        BH_TRY(artifact, open_artifact(input_, attach_options(context_)));
        attached_ns_ = now;
    }
    BH_CHECK(artifact->load({analyses::need::objects}));
    return artifact;
}

Status WatchedVm::round() {
    BH_TRY(std::shared_ptr<Artifact> artifact, look());
    const auto& live = artifact->snapshot().source.live;
    if (!live || live->ended) return Error{ErrorCode::unreadable, fmt::format("{}: the VM has ended", input_), {}};
    artifact_ = std::move(artifact);
    at_ms_ = live->read_at_ms;
    system_ = system_figures(pid_);
    if (live->halt == VmHalt::none) {  // of one that stands still nothing is told
        watch_.add(snapshot(), system_);
        if (leaves_out_ != 0 || watch_.left_out() != 0) ++leaves_out_;
        told_ = teller_.after(watch_, [this](const analyses::Growing& growing) { return look_into(growing); });
    }
    return ok();
}

bool WatchedVm::news() const {
    return std::ranges::any_of(
        told_, [](const present::ToldGrowth& each) { return each.change != present::GrowthChange::kept; });
}

std::vector<analyses::Growing> WatchedVm::growing() const {
    std::vector<analyses::Growing> all;
    for (const present::ToldGrowth& each : told_)
        if (each.change != present::GrowthChange::gone) all.push_back(each.growing);
    return all;
}

present::Syntax WatchedVm::syntax() const { return context_.names(snapshot()).syntax(); }

// What can't be looked into is told without.
present::Text WatchedVm::look_into(const analyses::Growing& growing) const {
    const bool heap = growing.key.what == analyses::GrowthOf::process && growing.pid.has();
    if (!heap && growing.key.measure != "atoms") return {};
    Result<present::Text> found = heap ? suspect(growing) : newest_atoms(growing);
    return found ? std::move(*found) : present::Text{};
}

Result<present::Text> WatchedVm::suspect(const analyses::Growing& growing) const {
    LoadPlan plan{analyses::need::terms_and_stacks};
    plan.terms_of = [pid = growing.pid](const Snapshot& s, ProcId id) { return s[id].pid == pid; };
    BH_TRY(const std::shared_ptr<Artifact> artifact, context_.open(input_, std::move(plan)));
    const Snapshot& s = artifact->snapshot();
    const ProcId id = s.find(growing.pid);
    if (id == ProcId::none || analyses::used_words(s[id]).value_or(0) > most_heap_words) return present::Text{};
    BH_TRY(const std::unique_ptr<TermSource> terms, artifact->terms(id));
    if (terms->moved()) return present::Text{};
    const analyses::TermFacts facts = analyses::look_into(s, id, *terms);
    const present::Names names = context_.names(s);
    if (growing.key.measure == "messages" && !facts.shapes.empty())
        return present::spell(
            names,
            analyses::sentence("{} of its messages: {}", analyses::Percent{facts.shapes.front().percent},
                               analyses::InputText{facts.shapes.front().text, analyses::InputText::Holds::term}));
    return facts.accumulated.empty() ? present::Text{} : present::spell(names, facts.accumulated);
}

// Of the atoms that are new, those that have most in common.
Result<present::Text> WatchedVm::newest_atoms(const analyses::Growing& growing) const {
    BH_TRY(const std::shared_ptr<Artifact> artifact, context_.open(input_, {analyses::need::atoms}));
    Snapshot& s = artifact->snapshot();
    const std::size_t fresh = growing.now > growing.from ? growing.now - growing.from : 0;
    if (s.atoms.size() > fresh) s.atoms.resize(fresh);  // newest first
    const auto families = analyses::atom_families(s).families;
    if (families.empty()) return present::Text{};
    return present::spell(context_.names(s),
                          analyses::sentence("atoms like {}", analyses::InputText{families.front().pattern,
                                                                                  analyses::InputText::Holds::name}));
}

}  // namespace beamheap::cli
