// SPDX-License-Identifier: Apache-2.0
#include "present/samples.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

using namespace cells;
using analyses::FunctionSamples;
using analyses::ProcessSamples;
using analyses::StackSamples;
using analyses::ThreadSamples;

double share(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

std::string native_name(const CpuSamples& samples, std::uint32_t native) {
    return native == analyses::no_native ? "(not followed)" : analyses::native_text(samples.natives[native]);
}

// Native frames, then Erlang ones, youngest first.
Array mixed_frames(const Names& names, const CpuSamples& samples, const CpuSample& sample) {
    Array frames;
    for (const std::uint32_t native : sample.native) frames.emplace_back(native_name(samples, native));
    for (const Frame& frame : names.snapshot().stacks[sample.stack])
        frames.emplace_back(names.function(frame.function));
    if (sample.cut) frames.emplace_back("(older frames are missing)");
    return frames;
}

std::string name_of_process(const Names& names, Pid pid) {
    const ProcId known = names.snapshot().find(pid);
    return known == ProcId::none ? std::string{} : names.called(names.snapshot()[known]);
}

}  // namespace

Table sampled_function_table(const Names& names, const CpuSamples& samples, std::vector<FunctionSamples> rows,
                             std::uint64_t all) {
    Columns<FunctionSamples> columns{
        {{.name = "function",
          .title = "FUNCTION",
          .doc = "the youngest Erlang function; of samples that have none, the youngest native one with a name",
          .content = Content::name},
         [=, &samples](const FunctionSamples& r) {
             return r.function != FunctionId::none ? function(names, r.function)
                                                   : Value(native_name(samples, r.native_function));
         }},
        {{.name = "erlang_function",
          .title = "ERLANG FUNCTION",
          .doc = "youngest Erlang function; of samples that have none, null",
          .content = Content::name,
          .wide = true},
         [=](const FunctionSamples& r) { return function(names, r.function); }},
        {{.name = "native_code",
          .title = "NATIVE",
          .doc = "where there is no Erlang function: the youngest native one with a name",
          .wide = true},
         [=, &samples](const FunctionSamples& r) {
             return r.function != FunctionId::none ? Value() : Value(native_name(samples, r.native_function));
         }},
        {{.name = "samples", .title = "SAMPLES", .unit = Unit::count, .doc = "in which it was the youngest"},
         [](const FunctionSamples& r) { return Value(r.self); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of the samples that were selected"},
         [=](const FunctionSamples& r) { return percent(share(r.self, all)); }},
        {{.name = "in_native_code",
          .title = "IN C",
          .unit = Unit::count,
          .doc = "of those samples: in C code that it had called (a BIF, a garbage collection)"},
         [](const FunctionSamples& r) { return Value(r.native); }},
        {{.name = "approximate",
          .title = "APPROX",
          .unit = Unit::count,
          .doc = "of those samples: read later, perhaps of a later call of the same process",
          .lesser = 2},
         [](const FunctionSamples& r) { return Value(r.uncertain); }},
        {{.name = "on_stack", .title = "ON STACK", .unit = Unit::count, .doc = "samples with it anywhere on the stack"},
         [](const FunctionSamples& r) { return Value(r.total); }},
        {{.name = "on_stack_percent",
          .title = "ON STACK %",
          .unit = Unit::percent,
          .doc = "of the samples that were selected",
          .lesser = 1},
         [=](const FunctionSamples& r) { return percent(share(r.total, all)); }},
    };
    Table table =
        table_of(std::move(columns), std::move(rows), "no sample: nothing ran, or nothing of it was selected");
    table.ranked_by = "samples";
    return table;
}

Table sampled_stack_table(const Names& names, const CpuSamples& samples, std::vector<StackSamples> rows,
                          std::uint64_t all) {
    const auto example = [&samples](const StackSamples& r) -> const CpuSample& { return samples.samples[r.example]; };
    Columns<StackSamples> columns{
        {{.name = "samples", .title = "SAMPLES", .unit = Unit::count, .doc = "with this stack"},
         [](const StackSamples& r) { return Value(r.count); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of the samples that were selected"},
         [=](const StackSamples& r) { return percent(share(r.count, all)); }},
        {{.name = "approximate",
          .title = "APPROX",
          .unit = Unit::count,
          .doc = "of those samples: read later, perhaps of a later call of the same process"},
         [](const StackSamples& r) { return Value(r.uncertain); }},
        {{.name = "functions",
          .title = "STACK",
          .doc = "native frames, then Erlang ones, youngest first",
          .content = Content::name,
          .below = true},
         [=, &samples](const StackSamples& r) { return Value(mixed_frames(names, samples, example(r))); }},
        {{.name = "example_pid", .title = "EXAMPLE", .doc = "a process that had it"},
         [=](const StackSamples& r) { return pid(names, example(r).pid); }},
        {{.name = "example_name", .title = "PROCESS", .doc = "of that process", .content = Content::name},
         [=](const StackSamples& r) { return text(name_of_process(names, example(r).pid)); }},
        {{.name = "example_scheduler", .title = "SCHEDULER", .doc = "a thread that had it", .wide = true},
         [=, &samples](const StackSamples& r) { return Value(samples.threads[example(r).thread].role); }},
    };
    Table table =
        table_of(std::move(columns), std::move(rows), "no sample: nothing ran, or nothing of it was selected");
    table.ranked_by = "samples";
    return table;
}

Table sampled_process_table(const Names& names, std::vector<ProcessSamples> rows, std::uint64_t all) {
    Columns<ProcessSamples> columns{
        {{.name = "pid", .title = "PID", .doc = "the process; null: the schedulers' own work"},
         [=](const ProcessSamples& r) { return pid(names, r.pid); }},
        {{.name = "name",
          .title = "PROCESS",
          .doc = "its registered name, label or $initial_call when the sampling began",
          .content = Content::name},
         [=](const ProcessSamples& r) { return text(name_of_process(names, r.pid)); }},
        {{.name = "samples", .title = "SAMPLES", .unit = Unit::count, .doc = "in which a thread worked for it"},
         [](const ProcessSamples& r) { return Value(r.count); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of the samples that were selected"},
         [=](const ProcessSamples& r) { return percent(share(r.count, all)); }},
        {{.name = "in_native_code", .title = "IN C", .unit = Unit::count, .doc = "of those samples: in C code"},
         [](const ProcessSamples& r) { return Value(r.native); }},
        {{.name = "hottest_function",
          .title = "HOTTEST FUNCTION",
          .doc = "youngest in most of its samples",
          .content = Content::name},
         [=](const ProcessSamples& r) { return function(names, r.hottest); }},
    };
    Table table =
        table_of(std::move(columns), std::move(rows), "no sample: nothing ran, or nothing of it was selected");
    table.ranked_by = "samples";
    return table;
}

Table sampled_thread_table(const Names& names, const CpuSamples& samples, std::vector<ThreadSamples> rows) {
    const double full = samples.seconds * samples.hertz;
    Columns<ThreadSamples> columns{
        {{.name = "scheduler", .title = "SCHEDULER", .doc = "scheduler, by number"},
         [&samples](const ThreadSamples& r) { return Value(samples.threads[r.thread].role); }},
        {{.name = "thread", .title = "THREAD", .doc = "the kernel's id of it", .wide = true},
         [&samples](const ThreadSamples& r) { return Value(std::to_string(samples.threads[r.thread].id)); }},
        {{.name = "thread_id", .title = "ID", .doc = "the same as a number", .wide = true},
         [&samples](const ThreadSamples& r) { return Value(samples.threads[r.thread].id); }},
        {{.name = "samples",
          .title = "SAMPLES",
          .unit = Unit::count,
          .doc = "one for each period that it was on a CPU"},
         [](const ThreadSamples& r) { return Value(r.count); }},
        {{.name = "cpu_percent",
          .title = "CPU %",
          .unit = Unit::percent,
          .doc = "of the time that was sampled: busy, or busy waiting for work"},
         [full](const ThreadSamples& r) {
             return full <= 0 ? Value() : percent(std::min(100.0, 100.0 * static_cast<double>(r.count) / full));
         }},
        {{.name = "in_erlang_code", .title = "IN ERLANG", .unit = Unit::count, .doc = "samples in Erlang code"},
         [](const ThreadSamples& r) { return Value(r.erlang); }},
        {{.name = "in_native_code",
          .title = "IN C",
          .unit = Unit::count,
          .doc = "samples in C code that worked for a process"},
         [](const ThreadSamples& r) { return Value(r.native); }},
        {{.name = "of_no_process", .title = "OTHER", .unit = Unit::count, .doc = "samples of the scheduler's own work"},
         [](const ThreadSamples& r) { return Value(r.other); }},
        {{.name = "hottest_function",
          .title = "HOTTEST FUNCTION",
          .doc = "youngest in most of its samples",
          .content = Content::name},
         [=](const ThreadSamples& r) { return function(names, r.hottest); }},
    };
    return table_of(std::move(columns), std::move(rows), "no scheduler");
}

Table sampled_now_table(const Names& names, const CpuSamples& samples) {
    struct Row {
        std::uint32_t thread;
        const CpuSample* sample;  // null: it did not run
    };
    std::vector<Row> rows;
    for (std::uint32_t i = 0; i < samples.threads.size(); ++i) {
        const auto at = std::ranges::find(samples.samples, i, &CpuSample::thread);
        rows.push_back({i, at == samples.samples.end() ? nullptr : &*at});
    }
    std::stable_partition(rows.begin(), rows.end(), [](const Row& r) { return r.sample != nullptr; });
    Columns<Row> columns{
        {{.name = "scheduler", .title = "SCHEDULER", .doc = "scheduler, by number"},
         [&samples](const Row& r) { return Value(samples.threads[r.thread].role); }},
        {{.name = "thread", .title = "THREAD", .doc = "the kernel's id of it"},
         [&samples](const Row& r) { return Value(std::to_string(samples.threads[r.thread].id)); }},
        {{.name = "thread_id", .title = "ID", .doc = "the same as a number", .wide = true},
         [&samples](const Row& r) { return Value(samples.threads[r.thread].id); }},
        {{.name = "state",
          .title = "STATE",
          .doc = "running; held: it has a process and sleeps in a call of the system; idle: it was on no CPU"},
         [](const Row& r) {
             return Value(r.sample == nullptr ? "idle" : r.sample->held_in.empty() ? "running" : "held");
         }},
        {{.name = "held_in",
          .title = "HELD IN",
          .doc = "that call",
          .content = Content::message,
          .wide = std::ranges::all_of(samples.samples, [](const CpuSample& each) { return each.held_in.empty(); })},
         [](const Row& r) { return r.sample == nullptr ? Value() : text(r.sample->held_in); }},
        {{.name = "pid", .title = "PID", .doc = "the process that it works for"},
         [=](const Row& r) { return r.sample == nullptr ? Value() : pid(names, r.sample->pid); }},
        {{.name = "name", .title = "PROCESS", .doc = "of that process", .content = Content::name},
         [=](const Row& r) { return r.sample == nullptr ? Value() : text(name_of_process(names, r.sample->pid)); }},
        {{.name = "basis", .title = "ERLANG PART", .doc = "how it is known: exact, checked, approximate, moved, none"},
         [](const Row& r) { return r.sample == nullptr ? Value() : Value(name_of(r.sample->basis)); }},
        {{.name = "functions",
          .title = "STACK",
          .doc = "native frames, then Erlang ones, youngest first",
          .content = Content::name,
          .below = true},
         [=, &samples](const Row& r) {
             return r.sample == nullptr ? Value() : Value(mixed_frames(names, samples, *r.sample));
         }},
    };
    return table_of(std::move(columns), std::move(rows), "no scheduler");
}

Table allocation_table(const Names& names, const AllocationSamples& samples, std::vector<analyses::AllocationRow> rows,
                       bool per_process) {
    using analyses::AllocationRow;
    const Snapshot& s = names.snapshot();
    const auto part = [&names, &s, &samples](const AllocationRow& r, int which) {
        if (r.function != FunctionId::none) {
            const Function& f = s.functions[r.function];
            return which == 2 ? Value(f.arity) : bare(names, which == 0 ? f.module : f.name);
        }
        const bool known = r.native != AllocationHit::no_native;
        if (which == 0) return Value("(native)");
        return which == 1 ? Value(known ? analyses::native_text(samples.natives[r.native]) : "(not followed)")
                          : Value();
    };
    Columns<AllocationRow> columns;
    if (per_process) {
        columns.add({{.name = "pid", .title = "PID", .doc = "the process"},
                     [=](const AllocationRow& r) { return pid(names, r.process); }});
        columns.add({{.name = "name",
                      .title = "PROCESS",
                      .doc = "its registered name, label or $initial_call",
                      .content = Content::name,
                      .lesser = 1},
                     [=](const AllocationRow& r) { return text(name_of_process(names, r.process)); }});
    }
    const Columns<AllocationRow> rest{
        {{.name = "module",
          .title = "MODULE",
          .doc = "(native): C code whose caller is not known",
          .content = Content::name},
         [=](const AllocationRow& r) { return part(r, 0); }},
        {{.name = "function", .title = "FUNCTION", .doc = "that allocates", .content = Content::name},
         [=](const AllocationRow& r) { return part(r, 1); }},
        {{.name = "arity", .title = "ARITY", .unit = Unit::count, .doc = "of the function"},
         [=](const AllocationRow& r) { return part(r, 2); }},
        {{.name = "samples",
          .title = "SAMPLES",
          .unit = Unit::count,
          .doc = "watched words that it was the first to write to, and writes to heap fragments that were seen"},
         [](const AllocationRow& r) { return Value(r.samples); }},
        {{.name = "estimated_words",
          .title = "EST. WORDS",
          .unit = Unit::words,
          .doc = "estimate of what it allocated while words were watched; shares are reliable, sums are too low"},
         [](const AllocationRow& r) { return Value(static_cast<std::uint64_t>(r.words + 0.5)); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of all words that were estimated"},
         [](const AllocationRow& r) { return percent(r.percent); }},
        {{.name = "error_percent",
          .title = "+-%",
          .unit = Unit::percent,
          .doc = "standard error of its words, in percent of them"},
         [](const AllocationRow& r) { return percent(r.error); }},
    };
    columns.insert(columns.end(), rest.begin(), rest.end());
    Table table = table_of(std::move(columns), std::move(rows), "no watched word was written to: little is allocated");
    table.ranked_by = "estimated_words";
    return table;
}

namespace {

// Why no watched word told of an allocation: what became of most of them.
std::string why_none(const AllocationSamples& samples) {
    if (samples.arms == 0) return "no scheduler had a process in hand when it was looked at";
    const std::uint64_t taken = samples.stack_growth + samples.collections;
    // Who moves to another scheduler passes some by; that not one write was told of has another reason.
    if (taken == 0 && samples.passed >= 5 && samples.passed * 20 >= samples.arms)
        return fmt::format(
            "{} were allocated meanwhile, and no write was told of: the debug registers of this machine, most likely a "
            "virtual one, do not work, so that nobody can be seen here",
            samples.passed);
    if (2 * taken <= samples.arms) return "little is allocated";
    return fmt::format(
        "{} were taken by growing stacks, {} by garbage collections or as memory of others; heaps may be so small that "
        "they do not last until they are watched",
        samples.stack_growth, samples.collections);
}

}  // namespace

std::vector<Text> allocation_texts(const Names& names, const AllocationSamples& samples,
                                   const analyses::AllocationProfile& profile) {
    std::vector<Text> lines;
    const auto say = [&lines](std::string text) { lines.push_back(Text{}.add(std::move(text))); };
    const std::string beside = profile.fragments == 0 ? ""
                                                      : fmt::format(" and {} to heap fragments",
                                                                    counted(profile.fragments, "write", "writes"));
    if (profile.hits + profile.fragments == 0)
        say(fmt::format("No allocation was seen at {} ({:.1f} s, {} Hz): {}.",
                        counted(samples.arms, "watched word", "watched words"), samples.seconds, samples.hertz,
                        why_none(samples)));
    else
        say(fmt::format(
            "Words are estimates from {} of {}{} ({:.1f} s, {} Hz): +-{:.1f} % on all. Shares are reliable; "
            "sums are too low, as a process that moves to another scheduler is lost sight of.",
            counted(profile.hits, "hit", "hits"), counted(samples.arms, "watched word", "watched words"), beside,
            samples.seconds, samples.hertz, profile.error));
    if (profile.hits != 0)
        say(fmt::format(
            "{} % of the hits in Erlang code, exact; {} % in C, caller checked; {} % in C, shared out among "
            "the callers of the same native function; {} % of no known caller.",
            static_cast<int>(share(profile.exact, profile.hits) + 0.5),
            static_cast<int>(share(profile.checked, profile.hits) + 0.5),
            static_cast<int>(share(profile.shared, profile.hits) + 0.5),
            static_cast<int>(share(profile.unknown, profile.hits) + 0.5)));
    say("Not counted: messages until they are received, binaries outside of the heaps; too little of processes that "
        "live for less than a few milliseconds, and of dirty schedulers nothing.");
    if (samples.refused != 0)
        say(fmt::format("{} times no debug register was free: a debugger may hold them.", samples.refused));
    if (!samples.no_erlang.empty()) say(samples.no_erlang + ".");
    if (samples.gone) say("The VM ended while it was sampled.");
    for (const std::string& file : samples.missing)
        lines.push_back(spell(
            names, analyses::sentence("Not unwound: {}.", analyses::InputText{file, analyses::InputText::Holds::vm})));
    return lines;
}

Object allocation_object(const AllocationSamples& samples, const analyses::AllocationProfile& profile) {
    return {{"hertz", samples.hertz},
            {"seconds", samples.seconds},
            {"watched", samples.arms},
            {"hits", profile.hits},
            {"fragments_watched", samples.fragment_arms},
            {"fragment_writes", profile.fragments},
            {"exact", profile.exact},
            {"checked", profile.checked},
            {"shared", profile.shared},
            {"unknown", profile.unknown},
            {"no_hit", samples.no_hit},
            {"passed", samples.passed},
            {"stack_growth", samples.stack_growth},
            {"reused", samples.collections},
            {"refused", samples.refused},
            {"error_percent", percent(profile.error)},
            {"gone", samples.gone},
            {"no_erlang", samples.no_erlang.empty() ? Value() : Value(samples.no_erlang)}};
}

std::vector<Text> accuracy_texts(const Names& names, const CpuSamples& samples) {
    const analyses::SampleAccuracy sum = analyses::accuracy(samples);
    const auto of_all = [&sum](std::uint64_t part) { return static_cast<int>(share(part, sum.samples) + 0.5); };
    std::vector<Text> lines;
    const auto say = [&lines](std::string text) { lines.push_back(Text{}.add(std::move(text))); };
    const std::uint64_t in_c = sum[SampleBasis::checked] + sum[SampleBasis::approximate] + sum[SampleBasis::moved];
    const std::string how = fmt::format("{}, {:.1f} s, {} {} Hz", counted(samples.threads.size(), "thread", "threads"),
                                        samples.seconds, samples.held ? "held at" : "cpu-clock", samples.hertz);
    if (sum.samples == 0) say(fmt::format("No sample ({}): no scheduler used CPU time.", how));
    else
        say(fmt::format(
            "{} ({}): {} % Erlang, exact; {} % C called from Erlang, caller checked for {} %, approximate for {} %, "
            "gone for {} %; {} % the schedulers' own{}.",
            counted(sum.samples, "sample", "samples"), how, of_all(sum.erlang),
            of_all(in_c + sum[SampleBasis::exact] - sum.erlang),
            of_all(sum[SampleBasis::checked] + sum[SampleBasis::exact] - sum.erlang),
            of_all(sum[SampleBasis::approximate]), of_all(sum[SampleBasis::moved]),
            of_all(sum[SampleBasis::none] - std::min(samples.unfollowed, sum[SampleBasis::none])),
            samples.unfollowed == 0 ? "" : fmt::format("; {} % not followed to a caller", of_all(samples.unfollowed))));
    if (sum.samples != 0 && samples.held)
        say(fmt::format("Each sample held its thread for {} us at the median, {} us at 99 %.", samples.lag_p50 / 1000,
                        samples.lag_p99 / 1000));
    else if (sum.samples != 0)
        say(fmt::format("Stacks of C code were read {} us after the sample at the median, {} us at 99 %.",
                        samples.lag_p50 / 1000, samples.lag_p99 / 1000));
    if (10 * sum[SampleBasis::moved] > sum.samples && !samples.held)
        say("What is gone stands under the native function's own name: of short calls more than of long ones. --stop, "
            "which holds threads for an instant, tells "
            "who called it.");
    if (samples.lost + samples.throttled + samples.unusable != 0)
        say(fmt::format("{} samples were lost, {} without registers; the kernel held its clock back {} times.",
                        samples.lost, samples.unusable, samples.throttled));
    if (samples.refused != 0)
        say(fmt::format("{} times a thread could not be held: a debugger may have come.", samples.refused));
    if (!samples.no_erlang.empty()) say(samples.no_erlang + ".");
    if (samples.gone) say("The VM ended while it was sampled.");
    for (const std::string& file : samples.missing)
        lines.push_back(spell(
            names, analyses::sentence("Not unwound: {}.", analyses::InputText{file, analyses::InputText::Holds::vm})));
    return lines;
}

Object accuracy_object(const CpuSamples& samples) {
    const analyses::SampleAccuracy sum = analyses::accuracy(samples);
    Object object{{"hertz", samples.hertz},
                  {"seconds", samples.seconds},
                  {"threads", static_cast<std::uint64_t>(samples.threads.size())},
                  {"samples", sum.samples},
                  {"in_erlang_code", sum.erlang}};
    for (std::size_t i = 0; i < sample_basis_count; ++i)
        object.emplace_back(std::string(name_of(static_cast<SampleBasis>(i))), sum.by_basis[i]);
    object.emplace_back("cut", sum.cut);
    object.emplace_back("unfollowed", samples.unfollowed);
    object.emplace_back("lost", samples.lost);
    object.emplace_back("throttled", samples.throttled);
    object.emplace_back("unusable", samples.unusable);
    object.emplace_back("held", samples.held);
    object.emplace_back("refused", samples.refused);
    for (const bool held : {false, true}) {
        const std::string name = held ? "held_" : "lag_";
        const auto known = [&](std::uint64_t value) { return held == samples.held ? Value(value) : Value(); };
        object.emplace_back(name + "p50_ns", known(samples.lag_p50));
        object.emplace_back(name + "p90_ns", known(samples.lag_p90));
        object.emplace_back(name + "p99_ns", known(samples.lag_p99));
    }
    object.emplace_back("code_reloads", samples.code_reloads);
    object.emplace_back("gone", samples.gone);
    object.emplace_back("no_erlang", samples.no_erlang.empty() ? Value() : Value(samples.no_erlang));
    return object;
}

}  // namespace beamheap::present
