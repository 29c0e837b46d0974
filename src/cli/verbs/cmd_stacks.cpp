// SPDX-License-Identifier: Apache-2.0
// stacks: processes grouped by identical stack; with --running, what ran in one or several inputs.
#include "analyses/facts/needs.hpp"
#include "analyses/processes/answers.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/native_stacks.hpp"
#include "cli/frame/commands.hpp"
#include "present/describe.hpp"
#include "present/native.hpp"
#include "present/spelling.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

namespace {

// --running: what ran, added up over all inputs: a sampling profiler whose samples are images.
Status running(const Context& context) {
    const LoadPlan plan{analyses::need::stacks};
    std::vector<std::shared_ptr<Artifact>> artifacts;
    std::vector<std::vector<analyses::Sample>> samples;
    present::Document document;
    document.kind = "samples";
    for (const std::string& path : context.options().inputs) {
        BH_TRY(std::shared_ptr<Artifact> artifact, context.open(path, plan));
        BH_TRY(const std::optional<NativeThreads> native, if_held(artifact->native_threads()));
        samples.push_back(analyses::samples(artifact->snapshot(), native ? &*native : nullptr));
        document.sources.push_back(present::source_of(artifact->snapshot()));
        artifacts.push_back(std::move(artifact));
    }
    std::vector<const Snapshot*> snapshots;
    for (const auto& artifact : artifacts) snapshots.push_back(&artifact->snapshot());
    const std::vector<analyses::SampleGroup> groups = analyses::group_samples(samples);
    document.members.push_back({.key = "rows", .body = present::sample_table(groups, context.options().inputs)});
    return context.print(document, snapshots, {});
}

}  // namespace

static Status cmd_stacks(const Context& context) {
    if (context.options().running) return running(context);
    if (context.options().inputs.size() > 1)
        return Error{ErrorCode::usage, "stacks takes one input, unless --running adds up what ran in several", {}};
    LoadPlan plan{analyses::need::stacks};
    if (context.options().per_process) plan |= analyses::need::labels;
    BH_CHECK(context.plan_for_selector(plan));
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const std::vector<ProcId> processes, context.selected(snapshot));
    present::Document document = context.document(snapshot);
    // Programs for flame graphs group by function.
    const present::Places places =
        context.shown_to_people() ? present::Places::beside_functions : present::Places::apart;
    const analyses::ProcessGroups groups = analyses::group_by_stack(snapshot, processes);
    document.lead = {present::spell(context.names(snapshot), analyses::stacks_answer(snapshot, groups))};
    if (context.options().per_process) {
        document.members.push_back({.key = "rows",
                                    .body = present::process_stack_table(context.names(snapshot), processes, places,
                                                                         context.identify(*artifact, true))});
        return context.print(document, snapshot);
    }
    document.members.push_back(
        {.key = "rows", .body = present::stack_group_table(context.names(snapshot), groups, places)});
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(stacks){
    .name = "stacks",
    .arguments = {repeated(argument::input)},
    .options = "--procs --running --per-process",
    .summary = "processes grouped by identical stack",
    .details =
        "--running counts what ran instead, over one or several inputs: cores taken one after the other are the "
        "samples\n"
        "of a profiler. --format svg, folded and speedscope are flame graphs of what processes are in, weighted by "
        "their number, or\n"
        "by the memory or the queues behind each stack (--sort memory_bytes, msgq_len; speedscope has all three).",
    .examples =
        "stacks erl_crash.dump -n 5\nstacks erl_crash.dump --procs waiting\nstacks --running core.1 core.2 core.3\n"
        "stacks erl_crash.dump --format svg > stacks.svg\nstacks erl_crash.dump --format folded --sort "
        "memory_bytes | flamegraph.pl > memory.svg\n"
        "stacks erl_crash.dump --per-process --format pprof > stacks.pb.gz",
    .run = &cmd_stacks,
};

}  // namespace beamheap::cli
