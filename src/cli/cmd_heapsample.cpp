// heapsample: which functions of a running VM allocate, in the shape of hprof's table.
#include <fmt/format.h>

#include "analyses/processes/allocation_profile.hpp"
#include "analyses/selectors/selectors.hpp"
#include "cli/commands.hpp"
#include "cli/sampling.hpp"
#include "formats/otp/sample_running.hpp"
#include "present/samples.hpp"

namespace beamheap::cli {

static Status cmd_heapsample(const Context& context) {
    const Options& options = context.options();
    analyses::FunctionPattern pattern;
    if (!options.pattern.empty()) {
        BH_TRY(pattern, analyses::parse_function_pattern(options.pattern));
    }
    BH_TRY(const SampleRequest request, sample_request(context, 50, 30));
    LoadPlan plan;
    plan.labels = true;
    BH_CHECK(context.plan_for_selector(plan));
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    BH_TRY(const std::uint32_t pid, running_pid(artifact->snapshot()));
    Result<AllocationSamples> taken = [&] {
        const StopBySignal stop;
        return otp::sample_running_allocations(pid, attach_options(context), artifact->snapshot(), request);
    }();
    if (!taken) return std::move(taken.error());
    const AllocationSamples& samples = *taken;
    const Snapshot& snapshot = artifact->snapshot();
    std::vector<bool> wanted;
    if (!options.procs.empty()) {
        BH_TRY(wanted, context.wanted(snapshot));
    }
    analyses::AllocationProfile profile = analyses::allocation_profile(snapshot, samples, wanted, options.per_process);
    if (!options.pattern.empty())
        std::erase_if(profile.rows, [&](const analyses::AllocationRow& row) {
            return row.function == FunctionId::none || !analyses::matches(pattern, snapshot, row.function);
        });
    const present::Names names = context.names(snapshot);
    present::Document document = context.document(snapshot);
    document.lead = present::allocation_texts(names, samples, profile);
    document.members.push_back({.key = "sampling", .body = present::Value(present::allocation_object(samples, profile)), .in_text = false});
    document.members.push_back({.key = "rows", .body = present::allocation_table(names, samples, profile.rows, options.per_process)});
    document.primary = "rows";
    return context.print(document, snapshot, {}, "estimated_words");
}

BH_DEFINE_VERB(heapsample){
    .name = "heapsample",
    .arguments = {argument::input},
    .options = "--hz --for --pattern --per-process --procs",
    .summary = "which functions of a running VM allocate heap now, without tracing it",
    .details = "INPUT is the pid of a beam.smp. Words of free heap, chosen at random, are watched by the processor's debug registers, --hz times a second for\n"
               "each scheduler (at most 400 in all): who writes to one first allocates it, and stands for all that was free. Shares don't depend on CPU time.",
    .examples = "heapsample 4711\nheapsample 4711 --for 60s --per-process\nheapsample 4711 --pattern my_app:_ --procs my_server",
    .alone = true,
    .run = &cmd_heapsample,
};

}  // namespace beamheap::cli
