// SPDX-License-Identifier: Apache-2.0
// sample: what a running VM does with its CPU time: functions, stacks, processes, schedulers.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/facts/needs.hpp"
#include "analyses/processes/cpu_profile.hpp"
#include "analyses/selectors/selectors.hpp"
#include "bytes/held_threads.hpp"
#include "cli/frame/commands.hpp"
#include "cli/live/perf_map.hpp"
#include "cli/live/sampling.hpp"
#include "cli/live/windows.hpp"
#include "formats/otp/sample_running.hpp"
#include "present/samples.hpp"
#include "present/spelling.hpp"
#include "present/stack_rows.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

Result<analyses::SampleFilter> sample_filter(const Context& context, const Snapshot& snapshot) {
    const Options& options = context.options();
    analyses::SampleFilter filter;
    filter.only_erlang = options.only_erlang;
    filter.blamed = options.blamed;
    if (!options.pattern.empty()) {
        BH_TRY(const analyses::FunctionPattern pattern, analyses::parse_function_pattern(options.pattern));
        filter.functions = analyses::matching_functions(pattern, snapshot);
        filter.functions.resize(snapshot.functions.size());
    }
    if (!options.procs.empty()) {
        BH_TRY(filter.processes, context.wanted(snapshot));
    }
    return filter;
}

// Which native functions there were, for one who asked for another.
void say_blamed(const CpuSamples& samples, const std::string& blamed, std::uint64_t selected,
                present::Document& document) {
    std::uint64_t frames = 0, unnamed = 0;
    for (const CpuSample& sample : samples.samples)
        for (const std::uint32_t native : sample.native) ++frames, unnamed += samples.natives[native].name.empty();
    const auto named = [](const std::string& text) {
        return analyses::InputText{text, analyses::InputText::Holds::vm};
    };
    document.lead.push_back(
        present::spell(analyses::sentence("{} of {} samples were inside {}.", analyses::Amount{selected},
                                          analyses::Amount{samples.samples.size()}, named(blamed))));
    if (unnamed != 0)
        document.lead.push_back(present::spell(
            analyses::sentence("{} of {} native frames have no name, as their file is stripped of it: what they are "
                               "called can't be asked for by name; FILE+0xOFFSET, as a stack has it, can.",
                               analyses::Amount{unnamed}, analyses::Amount{frames})));
}

present::Table sample_table_by(const std::string& by, const present::Names& names, const CpuSamples& samples,
                               const analyses::SampleFilter& filter, std::uint64_t selected) {
    const Snapshot& snapshot = names.snapshot();
    if (by == "stack")
        return present::sampled_stack_table(names, samples, analyses::samples_by_stack(snapshot, samples, filter),
                                            selected);
    if (by == "process")
        return present::sampled_process_table(names, analyses::samples_by_process(snapshot, samples, filter), selected);
    if (by == "scheduler")
        return present::sampled_thread_table(names, samples, analyses::samples_by_thread(snapshot, samples, filter));
    return present::sampled_function_table(names, samples, analyses::samples_by_function(snapshot, samples, filter),
                                           selected);
}

}  // namespace

namespace {

// What is asked of each window, or of the only one.
struct Question {
    const Context& context;
    std::string by;
    SampleRequest request;
};

Status sample_once(const Question& question, const TakeWindow& take) {
    const Context& context = question.context;
    const Options& options = context.options();
    LoadPlan plan{analyses::need::labels};
    BH_CHECK(context.plan_for_selector(plan));
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    BH_TRY(const std::uint32_t pid, running_pid(artifact->snapshot()));
    Result<CpuSamples> taken = [&] {
        const StopBySignal stop;
        return otp::sample_running(pid, attach_options(context), artifact->snapshot(), question.request);
    }();
    if (!taken) return std::move(taken.error());
    const CpuSamples& samples = *taken;
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const analyses::SampleFilter filter, sample_filter(context, snapshot));
    const present::Names names = context.names(snapshot);
    present::Document document = context.document(snapshot);
    document.span = span_of(samples.begin_ns, samples.seconds, samples.hertz);
    std::uint64_t selected = 0;
    for (const analyses::ThreadSamples& thread : analyses::samples_by_thread(snapshot, samples, filter))
        selected += thread.count;
    document.lead = present::accuracy_texts(names, samples);
    if (!filter.blamed.empty()) say_blamed(samples, filter.blamed, selected, document);
    document.members.push_back(
        {.key = "sampling", .body = present::Value(present::accuracy_object(samples)), .in_text = false});
    document.members.push_back({.key = "selected_samples", .body = present::Value(selected), .in_text = false});
    document.members.push_back({.key = "rows",
                                .body = options.pstack
                                            ? present::sampled_now_table(names, samples)
                                            : sample_table_by(question.by, names, samples, filter, selected)});
    document.primary = "rows";
    return take({document, snapshot, {}, pid, samples.gone});
}

}  // namespace

static Status cmd_sample(const Context& context) {
    const Options& options = context.options();
    BH_TRY(const bool windows, wants_windows(context));
    if (options.perf_map) return write_perf_map(context);
    if (!options.output.empty())
        return Error{ErrorCode::usage, "-o goes with --perf-map",
                     "Answers go to standard output; windows to the folders of --out."};
    std::string by = options.by;
    if (by.empty()) by = windows || present::is_of_stacks(options.format) ? "stack" : "function";
    if (by != "function" && by != "stack" && by != "process" && by != "scheduler")
        return Error{ErrorCode::usage,
                     fmt::format("--by {}: samples are added up by function, stack, process or scheduler", by),
                     {}};
    BH_TRY(const SampleRequest request, sample_request(context, 99, 10));
    Question question{context, by, request};
    question.request.hold_threads = options.stop_threads;
    if (options.stop_threads && request.hertz > bytes::ThreadHolder::most_hertz)
        return Error{ErrorCode::usage,
                     fmt::format("--hz {} with --stop: at most {}", request.hertz, bytes::ThreadHolder::most_hertz),
                     "Each sample holds a thread."};
    if (options.pstack) {
        if (windows) return Error{ErrorCode::usage, "--pstack is one instant, --every many windows", {}};
        question.request.one_of_each = true;
        if (options.hertz == 0) question.request.hertz = 1000;
    }
    const auto window = [&](double seconds, const TakeWindow& take) {
        question.request.seconds = seconds;
        return sample_once(question, take);
    };
    Status done =
        windows ? run_windows(context, "sample", window) : window(request.seconds, [&](const WindowAnswer& answer) {
            return context.print(answer.document, answer.snapshot);
        });
    if (!done && done.error().code == ErrorCode::unreadable && done.error().message.starts_with("no right to sample"))
        return Error{ErrorCode::unreadable, done.error().message,
                     done.error().advice +
                         (options.stop_threads
                              ? ""
                              : " --stop takes the right to attach alone, and holds each thread for an instant.")};
    return done;
}

BH_DEFINE_VERB(sample){
    .name = "sample",
    .arguments = {argument::input},
    .options =
        "--by --hz --for --pattern --procs --only-erlang --blame --pstack --stop --every --out --keep --keep-bytes "
        "--perf-map --output --force",
    .groups = "function stack process scheduler",
    .summary = "what a running VM does with its CPU time, without stopping it",
    .details =
        "INPUT is the pid of a beam.smp. Its schedulers are interrupted --hz times for each second of CPU time that "
        "they use; each time the\n"
        "kernel copies registers and stack of the thread, and nothing is written to the VM. Stacks are Erlang and C in "
        "one.\n"
        "--blame FUNCTION asks who called a native function: the beginning of its name, or with * for any text.\n"
        "--pstack shows one stack of each scheduler that runs now. --format svg is a flame graph; folded, speedscope "
        "and pprof are for other programs' flame "
        "graphs.\n"
        "--every TIME goes on until SIGINT, SIGTERM or the end of --for and writes a file for each window: "
        "FOLDER/sample-TIME-PID.ENDING.\n"
        "--stop holds threads in place of the kernel's events, by the right to attach alone; stacks of C code are "
        "exact then.",
    .examples =
        "sample 4711\nsample 4711 --by stack --for 30s\nsample 4711 --only-erlang --procs my_server\nsample 4711 "
        "--blame erts_garbage_collect\n"
        "sample 4711 --pstack\nsample 4711 --format speedscope > profile.json\nsample 4711 --every 10s --out "
        "pprof=/var/lib/profiles\n"
        "sample 4711 --perf-map",
    .run = &cmd_sample,
};

}  // namespace beamheap::cli
