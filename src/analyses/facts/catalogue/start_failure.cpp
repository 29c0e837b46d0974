// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/start_failure.hpp"

#include "analyses/causes/boot_stage.hpp"
#include "analyses/facts/catalogue/node_figures.hpp"
#include "erlang/functions.hpp"
#include "erlang/kept_states.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses {

namespace {

// init ends the node where a process that the boot script names does not start (heart, without its program), and fails
// in that itself: its frame has the name and what that gave (init.erl, new_kernelpid/3).
std::optional<ToldCause> first_process(Artifact& artifact) {
    const Snapshot& snapshot = artifact.snapshot();
    const ProcId init = snapshot.find_registered(erlang::registered::init);
    if (init == ProcId::none) return std::nullopt;
    const auto stack = snapshot.stacks[snapshot[init].stack];
    const auto terms = artifact.terms(init);
    if (!terms) return std::nullopt;
    const RootList& roots = (*terms)->graph().roots();
    static constexpr erlang::Pattern gave("{error, Reason}");
    // Which of the frame's two slots has which differs from release to release.
    std::string name;
    std::optional<Element> reason;
    for (std::size_t i = 0; i < roots.size(); ++i) {
        if (roots[i].kind != RootKind::stack || roots[i].frame >= stack.size() ||
            !erlang::has_role(snapshot, stack[roots[i].frame].function, erlang::FunctionRole::starts_first))
            continue;
        const Element root = (*terms)->root(i);
        if (TermReader::is_atom(root)) name = root.text;
        if (const erlang::Match match = gave.match(**terms, root)) reason = match["Reason"];
    }
    if (name.empty() || !reason) return std::nullopt;
    ToldCause told;
    told.before_kernel = true;
    told.failure.term = copy_term(**terms, *reason);
    told.failure.reason = told.failure.term->term();
    told.cause.kind = CauseKind::no_file;
    told.cause.what = sentence("{}, which the boot script names, could not be started: {}", Atom{name, false},
                               PrintedTerm{told.failure.term, told.failure.reason, 80});
    told.cause.hints.push_back(
        sentence("See whether the program of {} is there and can be run: erts-VERSION/bin below the root of OTP.",
                 Atom{name, false}));
    return told;
}

// Why the node stops, where a program keeps that for whoever asks: whole, where the slogan leaves most of it out.
void add_stop_reasons(Artifact& artifact, std::vector<LogEvent>& events) {
    const Result<PersistentTerms> kept = artifact.persistent_terms();
    if (!kept || kept->terms == nullptr) return;
    for (const PersistentTerms::Entry& entry : kept->entries) {
        if (!erlang::match_state(erlang::KeptState::stop_reason, *kept->terms, entry.key)) continue;
        LogEvent event;
        event.kind = LogKind::process_error;
        event.level = LogLevel::error;
        event.reason_term = event.term = copy_term(*kept->terms, entry.value);
        event.reason = event.term->term();
        events.push_back(std::move(event));
    }
}

}  // namespace

Result<StartFailure> find_fact(FactOf<StartFailure>, const Facts& facts, Artifact& artifact) {
    StartFailure found;
    const Slogan& slogan = facts.get<Slogan>();
    if (!is_failed_start(slogan.kind)) return found;
    found.events = log_events(artifact);
    add_stop_reasons(artifact, found.events);
    found.told = told_cause(facts.snapshot(), slogan.reason, found.events,
                            slogan.kind == SloganKind::application_terminated, slogan.application);
    if (slogan.kind == SloganKind::system_process_terminated)
        if (auto first = first_process(artifact)) found.told = *std::move(first);
    // A function whose module is missing or does not load: of such a node it may be there, and not be loaded.
    if (found.told && !found.told->cause.aside.empty() && is_embedded(artifact)) {
        found.told->cause.aside = Sentence(" (in -mode embedded, and the boot script does not name its module)");
        found.told->cause.hints.insert(
            found.told->cause.hints.begin(),
            Sentence("Name the module in its application's .app file (modules), and the application in the release, "
                     "and make the boot script anew; or start with -mode interactive (RELEASE_MODE)."));
    }
    found.loader_path = loader_path(artifact);
    found.folders_not_found = folders_not_found(artifact, found.loader_path);
    return found;
}

namespace {

/// Of such a node its loggers know why.
struct MayTellWhy {
    bool operator()(const Snapshot& snapshot, ProcId process) {
        if (!failed_start) failed_start = is_failed_start(read_death(snapshot.node).kind);
        return *failed_start && holders(snapshot, process);
    }
    std::optional<bool> failed_start;
    EventHolders holders;
};

}  // namespace

namespace fact {
void start_failure(FactNeeds& needs) {
    needs.plan.stacks = needs.plan.modules = true;
    needs.whose_terms.emplace_back(MayTellWhy());
}
}  // namespace fact

}  // namespace beamheap::analyses
