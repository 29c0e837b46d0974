// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/watched_vm.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/memory/atom_families.hpp"
#include "analyses/processes/process_columns.hpp"
#include "bytes/clock.hpp"
#include "bytes/process_figures.hpp"
#include "bytes/running_process.hpp"
#include "cli/live/sampling.hpp"
#include "formats/format.hpp"
#include "formats/otp/core_artifact.hpp"
#include "present/spelling.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

constexpr std::uint64_t attached_for_ns = 60'000'000'000;  // looks within this take the VM as it was recognised
constexpr std::uint64_t labels_for_ns = 60'000'000'000;    // and the processes as what they were
constexpr std::size_t most_identified = 256;               // one by one
constexpr std::uint64_t most_heap_words = 64'000'000;      // of a suspect: some 300 MB are taken for it

Count count_of(const std::optional<std::uint64_t>& figure) { return figure ? Count(*figure) : Count(); }

std::uint64_t start_of(std::uint32_t pid) { return bytes::task_times(fmt::format("/proc/{}", pid)).start_ticks; }

std::optional<double> age_of(std::uint64_t started_ticks) {
    timespec now{};
    const long hertz = ::sysconf(_SC_CLK_TCK);
    if (started_ticks == 0 || hertz <= 0 || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return std::nullopt;
    return static_cast<double>(now.tv_sec) - static_cast<double>(started_ticks) / static_cast<double>(hertz);
}

analyses::SystemFigures system_figures(std::uint32_t pid, std::uint64_t started_ticks) {
    const bytes::ProcessFigures figures = bytes::process_figures(pid);
    return {.resident_bytes = count_of(figures.resident_bytes),
            .swapped_bytes = count_of(figures.swapped_bytes),
            .descriptors = count_of(figures.descriptors),
            .descriptor_limit = count_of(figures.descriptor_limit),
            .memory_limit_bytes = count_of(figures.limit_bytes),
            .memory_left_bytes = count_of(figures.left_bytes),
            .limit_of_group = figures.of_group,
            .age_seconds = age_of(started_ticks)};
}

}  // namespace

// Who the processes are takes most of a look, since it stands in their heaps; it is as it was, but for those that are
// new. False: there are too many of these, or it is another VM.
bool WatchedVm::take_labels(Artifact& artifact) const {
    Snapshot& s = artifact.snapshot();
    const Snapshot& before = artifact_->snapshot();
    if (!s.source.live || s.source.live->pid != pid_ || start_of(pid_) != started_ticks_) return false;
    std::vector<ProcId> unknown;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const auto id = ProcId{i};
        Process& p = s[id];
        const ProcId earlier = before.find(p.pid);
        if (earlier == ProcId::none) {
            unknown.push_back(id);
            continue;
        }
        const Process& known = before[earlier];
        if (known.label != TextId::none) p.label = s.texts.intern(before.text(known.label));
        p.label_concluded = known.label_concluded;
        if (known.application != TextId::none) p.application = s.texts.intern(before.text(known.application));
        if (known.real_initial_call == FunctionId::none) continue;
        const Function& call = before.functions[known.real_initial_call];
        p.real_initial_call = s.functions.intern(
            {s.texts.intern(before.text(call.module)), s.texts.intern(before.text(call.name)), call.arity});
    }
    if (unknown.size() > most_identified || (!unknown.empty() && !artifact.can_identify())) return false;
    for (const ProcId id : unknown) artifact.identify(id);
    return true;
}

Result<std::shared_ptr<Artifact>> WatchedVm::look() {
    const std::uint64_t now = bytes::monotonic_ns();
    std::shared_ptr<Artifact> artifact;
    if (artifact_ != nullptr && now - attached_ns_ < attached_for_ns) artifact = otp::read_again(*artifact_);
    const bool labels = artifact_ == nullptr || now - labelled_ns_ >= labels_for_ns;
    const LoadPlan plan{labels ? analyses::need::objects : analyses::need::node};
    if (artifact != nullptr) {
        const Status loaded = artifact->load(plan);
        if (!loaded || artifact->snapshot().source.live->ended) {
            // It may have ended, and another one have its name by now.
            auto other = open_artifact(input_, attach_options(context_));
            if (!other && !loaded) return loaded.error();
            if (!other) return artifact;
            artifact = std::move(*other);
            attached_ns_ = now;
            BH_CHECK(artifact->load(plan));
        }
    } else {
        BH_TRY(artifact, open_artifact(input_, attach_options(context_)));
        attached_ns_ = now;
        BH_CHECK(artifact->load(plan));
    }
    if (!labels && !take_labels(*artifact)) {
        if (std::shared_ptr<Artifact> again = otp::read_again(*artifact)) artifact = std::move(again);
        else {
            BH_TRY(artifact, open_artifact(input_, attach_options(context_)));
        }
        BH_CHECK(artifact->load({analyses::need::objects}));
        labelled_ns_ = now;
    }
    if (labels) labelled_ns_ = now;
    return artifact;
}

// A pid is used again, and a name is taken by the next one: nothing of the one before is held against it.
void WatchedVm::notice_another(const LiveReading& live) {
    const std::uint64_t ticks = start_of(live.pid);
    const bool other = started_ticks_ != 0 && ticks != 0 && (live.pid != pid_ || ticks != started_ticks_);
    if (other) {
        notice_ =
            fmt::format("process {} has ended, and process {}, another VM, has its {}: watched from its beginning",
                        pid_, live.pid, live.pid == pid_ ? "pid" : "name");
        watch_ = {};
        teller_ = {};
        told_.clear();
        leaves_out_ = 0;
        halt_ = VmHalt::none;
        ++vms_;
    }
    pid_ = live.pid;
    if (ticks != 0) started_ticks_ = ticks;
}

void WatchedVm::notice_halt(const LiveReading& live) {
    if (live.halt == halt_) return;
    const auto add = [this](std::string text) { notice_ += (notice_.empty() ? "" : "; ") + std::move(text); };
    switch (live.halt) {
        case VmHalt::stopped: add("stands still: a signal has stopped it (SIGSTOP, or a terminal's)"); break;
        case VmHalt::traced: add("stands still: a debugger has stopped it"); break;
        case VmHalt::frozen: add("stands still: it is frozen with its control group (a paused container)"); break;
        case VmHalt::none:
            add(fmt::format("goes on, after it stood still for {}",
                            present::human_duration((bytes::monotonic_ns() - halted_ns_) / 1'000'000)));
            break;
    }
    if (halt_ == VmHalt::none) {
        halted_ns_ = bytes::monotonic_ns();
        notice_ += "; of what grows nothing is told until it goes on";
    }
    halt_ = live.halt;
}

Status WatchedVm::round() {
    BH_TRY(std::shared_ptr<Artifact> artifact, look());
    const auto& live = artifact->snapshot().source.live;
    if (!live || live->ended) return Error{ErrorCode::unreadable, fmt::format("{}: the VM has ended", input_), {}};
    artifact_ = std::move(artifact);
    at_ms_ = live->read_at_ms;
    notice_.clear();
    notice_another(*live);
    notice_halt(*live);
    system_ = system_figures(pid_, started_ticks_);
    if (live->halt != VmHalt::none) {
        watch_.stand_still();
        std::erase_if(told_, [](const auto& each) { return each.change == present::GrowthChange::gone; });
        for (present::ToldGrowth& each : told_) each.change = present::GrowthChange::kept;
    } else {
        watch_.add(snapshot(), system_);
        if (leaves_out_ != 0 || watch_.left_out() != 0) ++leaves_out_;
        told_ = teller_.after(watch_, [this](const analyses::Growing& growing) { return look_into(growing); });
    }
    return ok();
}

bool WatchedVm::news() const {
    return !notice_.empty() || std::ranges::any_of(told_, [](const present::ToldGrowth& each) {
        return each.change != present::GrowthChange::kept;
    });
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
