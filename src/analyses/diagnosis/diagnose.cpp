#include "analyses/diagnosis/diagnose.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyses/base/allocated_words.hpp"
#include "analyses/causes/boot_stage.hpp"
#include "analyses/diagnosis/summary.hpp"
#include "analyses/diagnosis/unreferenced.hpp"
#include "analyses/heaps/unanswered.hpp"
#include "analyses/logs/service_keepers.hpp"
#include "analyses/processes/native_stacks.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses {

namespace {

// What --full may look into.
constexpr SuspectBudget everything{.sample_words = 64'000'000,
                                   .term_words = 32'000'000,
                                   .heap_words = 32'000'000,
                                   .messages = 200'000,
                                   .giant_words = 256'000'000,
                                   .giant_messages = 16'000'000};

constexpr std::string_view application_controller = "application_controller";
constexpr std::uint64_t largest_controller = 2'000'000;  // words of its heap, and messages, that are still read
constexpr std::uint64_t most_of_its_messages = 30'000;

bool is_controller(const Snapshot& snapshot, ProcId id) {
    const Process& process = snapshot[id];
    return process.name != TextId::none && snapshot.text(process.name) == application_controller &&
           allocated_words(process) <= largest_controller && process.msgq_len.value_or(0) <= most_of_its_messages;
}

// init's child at the start of the table: it goes through the boot script.
bool may_boot(const Snapshot& snapshot, ProcId id) {
    constexpr std::uint64_t first_ones = 32, largest = 500'000;  // serial numbers; words
    const Process& process = snapshot[id];
    if (process.pid.number >= first_ones) return false;
    const ProcId init = snapshot.find_registered("init");
    return init != ProcId::none && process.parent == snapshot[init].pid && process.name == TextId::none &&
           allocated_words(process) <= largest;
}

// Native stacks are read for this alone, and only where all schedulers are in one function.
bool held_in_native(Artifact& artifact) {
    const Snapshot& snapshot = artifact.snapshot();
    if (!snapshot.source.jit.value_or(false) || rule::all_schedulers(snapshot).function == FunctionId::none)
        return false;
    const auto native = artifact.native_threads();
    return native && all_schedulers_in_native(*native);
}

// Where binaries are much of the node, who refers to none of them is worth a look at all heaps of a core image.
bool much_in_binaries(const Snapshot& snapshot) {
    constexpr std::uint64_t many_bytes = 64u << 20, least_bytes = 8u << 20;
    constexpr double much_percent = 30;
    const Count binaries = snapshot.memory_bytes("binary");
    const double percent = percent_of(binaries, snapshot.memory_bytes("total")).value_or(0);
    return binaries.value_or(0) >= (percent >= much_percent ? least_bytes : many_bytes);
}

}  // namespace

Diagnoser::Diagnoser(const DiagnosisOptions& options, const HeapStats* gathered)
    : gathered_(gathered),
      full_(options.full),
      threads_(options.threads),
      stats_(options.threads, {.binaries = true, .binaries_of = &suspects_.binaries, .sizes = options.sizes}) {}

const Suspects& Diagnoser::suspects(const Snapshot& snapshot) {
    if (!std::exchange(chosen_, true)) suspects_ = analyses::suspects(snapshot, full_ ? everything : SuspectBudget{});
    return suspects_;
}

void Diagnoser::demand(LoadPlan& plan) {
    plan.tables = plan.links = plan.stacks = plan.labels = plan.atoms = plan.to_the_end = true;
    plan.slots_of = slots_for_waits;
    plan.terms = true;
    plan.modules = true;
    plan.terms_of = [this, keeps_service_state = ServiceKeepers(), may_be_asked = MayBeAsked(),
                     may_name_alike = MayNameAlike()](const Snapshot& snapshot, ProcId id) mutable {
        return suspects(snapshot).look_into(id) || may_tell_why(snapshot, id) || keeps_service_state(snapshot, id) ||
               keeps_restarts(snapshot, id) || may_put_off(snapshot, id) || may_be_asked(snapshot, id) ||
               may_name_alike(snapshot, id) || is_controller(snapshot, id) || may_boot(snapshot, id);
    };
    if (gathered_ == nullptr)
        stats_.demand(plan,
                      [this](const Snapshot& snapshot, ProcId id) { return suspects(snapshot).decode(id) || full_; });
}

std::optional<ApplicationStarts> Diagnoser::read_starts(Artifact& artifact) {
    const ProcId controller = artifact.snapshot().find_registered(application_controller);
    if (controller == ProcId::none || !is_controller(artifact.snapshot(), controller)) return std::nullopt;
    const auto terms = artifact.terms(controller);
    if (!terms) return std::nullopt;
    ApplicationStarts starts = application_starts(**terms);
    if (!starts.starting.empty())
        if (const BootWork boot = boot_work(artifact.snapshot());
            boot.in_script && may_boot(artifact.snapshot(), boot.process))
            if (const auto script = artifact.terms(boot.process)) starts.to_come = applications_to_come(**script);
    return starts.known ? std::optional(std::move(starts)) : std::nullopt;
}

// Of a node that did not start, or had to stop, its loggers know why.
bool Diagnoser::may_tell_why(const Snapshot& snapshot, ProcId process) {
    if (!failed_start_) failed_start_ = is_failed_start(read_death(snapshot.node).kind);
    return *failed_start_ && holders_(snapshot, process);
}

std::vector<TermFacts> Diagnoser::look_into_terms(Artifact& artifact) {
    std::vector<TermFacts> facts;
    for (const ProcId id : suspects(artifact.snapshot()).terms)
        if (const auto terms = artifact.terms(id))
            facts.push_back(analyses::look_into(artifact.snapshot(), id, **terms));
    return facts;
}

Result<Diagnosis> Diagnoser::judge(Artifact& artifact) {
    const Snapshot& snapshot = artifact.snapshot();
    const auto size_of = [&](std::uint64_t address) { return artifact.binary_bytes(address); };
    std::vector<HeldBinary> held;
    if (gathered_ == nullptr) {
        stats_.store(artifact);
        held = stats_.binaries();
    } else {
        const std::vector<ProcId>& of = suspects(snapshot).binaries;
        std::ranges::copy_if(gathered_->binaries(), std::back_inserter(held), [&of](const HeldBinary& each) {
            return std::ranges::binary_search(of, each.reference.holder.process());
        });
    }
    const std::vector<PinnedBinaries> pinned = pinned_binaries(snapshot, held, size_of);
    const std::vector<TermFacts> terms = look_into_terms(artifact);
    // Where binaries are much of the node, an input with the allocator's blocks tells how much nothing refers to.
    std::optional<UnheldBinaries> unheld;
    if (much_in_binaries(snapshot)) {
        BH_TRY(unheld, unheld_binaries(artifact, threads_));
    }
    Diagnosis diagnosis;
    diagnosis.slogan = read_death(snapshot.node);
    diagnosis.totals = analyses::totals(snapshot);
    diagnosis.death = analyses::death(snapshot);
    diagnosis.waits = analyses::waits(snapshot);
    const std::vector<Keeper> keepers = add_unanswered(artifact, diagnosis.waits);
    const std::vector<SharedName> names = shared_names(artifact);
    std::vector<LockQueue> locks = lock_queues(snapshot);
    read_held_locks(artifact, locks);
    const std::optional<ApplicationStarts> starts = read_starts(artifact);
    std::vector<LogEvent> events;
    std::optional<ToldCause> told;
    std::vector<std::string> path;
    if (is_failed_start(diagnosis.slogan.kind)) {
        events = log_events(artifact);
        told = told_cause(snapshot, diagnosis.slogan.reason, events,
                          diagnosis.slogan.kind == SloganKind::application_terminated);
        if (!told) path = loader_path(artifact);
    }
    const ServiceStates services = service_states(artifact);
    const std::vector<SupervisorRestarts> restarts = supervisor_restarts(artifact);
    const std::vector<PutOff> servers = put_off(artifact);
    LedgerSources sources{.snapshot = snapshot};
    if (full_ || gathered_ != nullptr) {
        sources.held = heaps().binaries();
        sources.size_of = size_of;
    }
    const Ledger memory = ledger(sources);
    diagnosis.largest_place = largest_place(memory);
    diagnosis.findings = run_rules({snapshot,
                                    diagnosis.slogan,
                                    diagnosis.totals,
                                    diagnosis.death,
                                    diagnosis.waits,
                                    terms,
                                    pinned,
                                    locks,
                                    starts ? &*starts : nullptr,
                                    unheld ? &*unheld : nullptr,
                                    told ? &*told : nullptr,
                                    events,
                                    services.handlers,
                                    services.alarms,
                                    services.blocked,
                                    services.credit_unread,
                                    services.ticks,
                                    services.tick_time,
                                    path,
                                    restarts,
                                    held_in_native(artifact),
                                    servers,
                                    services.unwritten,
                                    names,
                                    keepers,
                                    memory.families ? &*memory.families : nullptr});
    summarise(snapshot, diagnosis);
    return diagnosis;
}

Result<Diagnosis> diagnose(Artifact& artifact, const DiagnosisOptions& options) {
    Diagnoser diagnoser(options);
    LoadPlan plan;
    diagnoser.demand(plan);
    BH_CHECK(artifact.load(plan));
    return diagnoser.judge(artifact);
}

}  // namespace beamheap::analyses
