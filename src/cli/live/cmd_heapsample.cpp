// SPDX-License-Identifier: Apache-2.0
// heapsample: which functions of a running VM allocate, in the shape of hprof's table.
#include <fmt/format.h>

#include "analyses/facts/needs.hpp"
#include "analyses/processes/allocation_profile.hpp"
#include "analyses/selectors/selectors.hpp"
#include "cli/frame/commands.hpp"
#include "cli/live/sampling.hpp"
#include "cli/live/windows.hpp"
#include "formats/otp/sample_running.hpp"
#include "present/samples.hpp"

namespace beamheap::cli {

namespace {

Status heapsample_once(const Context& context, const SampleRequest& request, const analyses::FunctionPattern& pattern,
                       const TakeWindow& take) {
    const Options& options = context.options();
    LoadPlan plan{analyses::need::labels};
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
    document.span = span_of(samples.begin_ns, samples.seconds, 0);
    document.lead = present::allocation_texts(names, samples, profile);
    document.members.push_back(
        {.key = "sampling", .body = present::Value(present::allocation_object(samples, profile)), .in_text = false});
    document.members.push_back(
        {.key = "rows", .body = present::allocation_table(names, samples, profile.rows, options.per_process)});
    document.primary = "rows";
    return take({document, snapshot, "estimated_words", pid, samples.gone});
}

}  // namespace

static Status cmd_heapsample(const Context& context) {
    const Options& options = context.options();
    BH_TRY(const bool windows, wants_windows(context));
    analyses::FunctionPattern pattern;
    if (!options.pattern.empty()) {
        BH_TRY(pattern, analyses::parse_function_pattern(options.pattern));
    }
    BH_TRY(SampleRequest request, sample_request(context, 50, 30));
    const auto window = [&](double seconds, const TakeWindow& take) {
        request.seconds = seconds;
        return heapsample_once(context, request, pattern, take);
    };
    if (windows) return run_windows(context, "heapsample", window);
    return window(request.seconds, [&](const WindowAnswer& answer) {
        return context.print(answer.document, answer.snapshot, {}, answer.default_sort);
    });
}

BH_DEFINE_VERB(heapsample){
    .name = "heapsample",
    .arguments = {argument::input},
    .options = "--hz --for --pattern --per-process --procs --every --out --keep --keep-bytes",
    .summary = "which functions of a running VM allocate heap now, without tracing it",
    .details =
        "INPUT is the pid of a beam.smp. Words of free heap, chosen at random, are watched by the processor's debug "
        "registers, --hz times a second for\n"
        "each scheduler (at most 400 in all): who writes to one first allocates it, and stands for all that was free. "
        "Shares don't depend on CPU time.\n"
        "--every TIME goes on until SIGINT, SIGTERM or the end of --for and writes a file for each window: "
        "FOLDER/heapsample-TIME-PID.ENDING.",
    .examples =
        "heapsample 4711\nheapsample 4711 --for 60s --per-process\nheapsample 4711 --pattern my_app:_ --procs "
        "my_server\n"
        "heapsample 4711 --every 30s --out pprof=/var/lib/profiles",
    .run = &cmd_heapsample,
};

}  // namespace beamheap::cli
