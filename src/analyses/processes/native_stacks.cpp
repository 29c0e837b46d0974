// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/native_stacks.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "erlang/erlang_syntax.hpp"

namespace beamheap::analyses {
namespace {

// What GCC appends to the names of clones and parts of a function.
std::string_view plain_name(std::string_view function) {
    const std::size_t dot = function.find('.', 1);
    return function.substr(0, dot);
}

}  // namespace

std::string frame_text(const NativeFrame& frame) {
    if (frame.jit) return "compiled Erlang code";
    if (!frame.function.empty()) return fmt::format("{}+{:#x}", frame.function, frame.offset);
    if (frame.file.empty()) return fmt::format("{:#x}", frame.address);
    return fmt::format("{}+{:#x}", frame.file, frame.offset);
}

std::vector<ThreadGroup> group_threads(const NativeThreads& native) {
    struct Key {
        std::uint32_t process;
        std::vector<std::uint64_t> frames;
        auto operator<=>(const Key&) const = default;
    };
    std::map<Key, ThreadGroup> by_key;
    for (std::uint32_t i = 0; i < native.threads.size(); ++i) {
        const NativeThread& thread = native.threads[i];
        Key key{index_of(thread.process), {}};
        for (const NativeFrame& frame : thread.frames) key.frames.push_back(frame.address);
        if (thread.signal != 0) key.frames.push_back(i);
        ThreadGroup& group = by_key[std::move(key)];
        group.process = thread.process;
        group.threads.push_back(i);
    }
    std::vector<ThreadGroup> groups;
    for (auto& [key, group] : by_key) groups.push_back(std::move(group));
    const auto rank = [&native](const ThreadGroup& group) {
        return native.threads[group.threads.front()].signal != 0 ? 0 : group.process != ProcId::none ? 1 : 2;
    };
    std::sort(groups.begin(), groups.end(), [&](const ThreadGroup& a, const ThreadGroup& b) {
        if (rank(a) != rank(b)) return rank(a) < rank(b);
        if (a.threads.size() != b.threads.size()) return a.threads.size() > b.threads.size();
        return a.threads.front() < b.threads.front();
    });
    return groups;
}

FunctionId erlang_function(const Snapshot& snapshot, const NativeThread& thread) {
    if (thread.process == ProcId::none) return FunctionId::none;
    const Process& process = snapshot[thread.process];
    if (process.current_function != FunctionId::none) return process.current_function;
    const auto frames = snapshot.stacks[process.stack];
    return frames.empty() ? FunctionId::none : frames.front().function;
}

Blame blame(const Snapshot& snapshot, const NativeThreads& native, std::string_view pattern) {
    Blame result;
    const std::string wanted(pattern);
    std::set<std::string> names;
    std::map<FunctionId, BlameGroup> groups;
    for (std::uint32_t i = 0; i < native.threads.size(); ++i) {
        const NativeThread& thread = native.threads[i];
        bool holds = false;
        for (const NativeFrame& frame : thread.frames) {
            if (frame.jit) continue;
            ++result.frames;
            if (frame.function.empty()) {
                ++result.unnamed;
                continue;
            }
            const std::string name(plain_name(frame.function));
            holds = holds || fnmatch(wanted.c_str(), name.c_str(), 0) == 0;
            names.insert(name);
        }
        if (!holds) continue;
        ++result.threads;
        BlameGroup& group = groups[erlang_function(snapshot, thread)];
        group.function = erlang_function(snapshot, thread);
        group.threads.push_back(i);
    }
    for (auto& [function, group] : groups) result.groups.push_back(std::move(group));
    std::stable_sort(result.groups.begin(), result.groups.end(),
                     [](const BlameGroup& a, const BlameGroup& b) { return a.threads.size() > b.threads.size(); });
    result.names.assign(names.begin(), names.end());
    return result;
}

std::vector<Sample> samples(const Snapshot& snapshot, const NativeThreads* native) {
    std::vector<Sample> all;
    for (std::uint32_t i = 0; i < snapshot.processes.size(); ++i) {
        const Process& process = snapshot.processes[i];
        const NativeThread* thread = nullptr;
        if (native != nullptr)
            for (const NativeThread& each : native->threads)
                if (each.process == static_cast<ProcId>(i)) thread = &each;
        const bool ran = process.state == ProcessState::running || process.state == ProcessState::garbage_collecting;
        if (!ran && thread == nullptr) continue;
        Sample sample;
        sample.pid = pid_text(process.pid);
        for (const Frame& frame : snapshot.stacks[process.stack])
            sample.functions.push_back(function_text(snapshot, frame.function));
        if (sample.functions.empty() && process.current_function != FunctionId::none)
            sample.functions.push_back(function_text(snapshot, process.current_function));
        if (thread != nullptr)
            for (const NativeFrame& frame : thread->frames) {
                if (frame.jit || frame.function.empty()) continue;
                sample.native = plain_name(frame.function);
                break;
            }
        all.push_back(std::move(sample));
    }
    return all;
}

std::vector<SampleGroup> group_samples(std::span<const std::vector<Sample>> inputs) {
    std::map<std::pair<std::vector<std::string>, std::string>, SampleGroup> by_key;
    std::uint64_t total = 0;
    for (std::uint32_t input = 0; input < inputs.size(); ++input) {
        for (const Sample& sample : inputs[input]) {
            SampleGroup& group = by_key[{sample.functions, sample.native}];
            if (group.count++ == 0) group.example = sample;
            if (group.inputs.empty() || group.inputs.back() != input) group.inputs.push_back(input);
            ++total;
        }
    }
    std::vector<SampleGroup> groups;
    for (auto& [key, group] : by_key) {
        group.percent = 100.0 * static_cast<double>(group.count) / static_cast<double>(total);
        groups.push_back(std::move(group));
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const SampleGroup& a, const SampleGroup& b) { return a.count > b.count; });
    return groups;
}

bool all_schedulers_in_native(const NativeThreads& native) {
    bool any = false;
    for (const NativeThread& thread : native.threads) {
        if (!thread.role.starts_with("scheduler:")) continue;
        if (thread.process == ProcId::none || thread.frames.empty() || thread.frames.front().jit ||
            thread.frames.front().file.empty())
            return false;
        any = true;
    }
    return any;
}

}  // namespace beamheap::analyses
