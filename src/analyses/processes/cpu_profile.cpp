// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/cpu_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace beamheap::analyses {
namespace {

// A glob of native functions' names: * stands for any text.
bool fits_pattern(std::string_view text, std::string_view pattern) {
    std::size_t t = 0, p = 0, star = pattern.npos, mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') star = p++, mark = t;
        else if (p < pattern.size() && pattern[p] == text[t]) ++p, ++t;
        else if (star != pattern.npos) p = star + 1, t = ++mark;
        else return false;
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

class Chosen {
public:
    Chosen(const Snapshot& snapshot, const CpuSamples& samples, const SampleFilter& filter)
        : snapshot_(snapshot), filter_(filter) {
        if (filter.blamed.empty()) return;
        for (const NativeFunction& each : samples.natives) blamed_.push_back(is_blamed(each, filter.blamed));
    }
    bool operator()(const CpuSample& sample) const {
        if (filter_.only_erlang && !(sample.basis == SampleBasis::exact && sample.native.empty())) return false;
        if (!blamed_.empty() || !filter_.blamed.empty())
            if (std::ranges::none_of(sample.native, [this](std::uint32_t n) { return blamed_[n]; })) return false;
        if (!filter_.functions.empty()) {
            const FunctionId function = function_of(snapshot_, sample);
            if (function == FunctionId::none || !filter_.functions[index_of(function)]) return false;
        }
        if (filter_.processes.empty()) return true;
        const ProcId process = snapshot_.find(sample.pid);
        return process != ProcId::none && filter_.processes[index_of(process)];
    }

private:
    const Snapshot& snapshot_;
    const SampleFilter& filter_;
    std::vector<bool> blamed_;  // by native function
};

// The native function that stands for a sample without an Erlang one: the youngest with a name, else the youngest.
std::uint32_t native_of(const CpuSamples& samples, const CpuSample& sample) {
    for (const std::uint32_t each : sample.native)
        if (!samples.natives[each].name.empty()) return each;
    return sample.native.empty() ? no_native : sample.native.front();
}

// The key with most votes; of equals the smallest.
FunctionId most_of(const std::unordered_map<std::uint32_t, std::uint64_t>& votes) {
    std::uint64_t most = 0;
    std::uint32_t best = index_of(FunctionId::none);
    for (const auto& [function, count] : votes)
        if (count > most || (count == most && function < best)) most = count, best = function;
    return static_cast<FunctionId>(best);
}

bool uncertain(const CpuSample& sample) {
    return sample.basis == SampleBasis::approximate || sample.basis == SampleBasis::moved;
}

}  // namespace

std::string native_text(const NativeFunction& function) {
    if (!function.name.empty()) return function.name;
    if (function.file.empty()) return "(code of no file)";
    return fmt::format("{}+0x{:x}", function.file, function.offset);
}

bool is_blamed(const NativeFunction& function, std::string_view pattern) {
    const std::string text = native_text(function);
    return pattern.find('*') != pattern.npos
               ? fits_pattern(text, pattern)
               : std::string_view(text).starts_with(pattern) ||
                     (!function.file.empty() && text == function.file + "+" + std::string(pattern));
}

FunctionId function_of(const Snapshot& snapshot, const CpuSample& sample) {
    const std::span<const Frame> frames = snapshot.stacks[sample.stack];
    return frames.empty() ? FunctionId::none : frames.front().function;
}

SampleAccuracy accuracy(const CpuSamples& samples) {
    SampleAccuracy sum;
    for (const CpuSample& sample : samples.samples) {
        ++sum.samples;
        ++sum.by_basis[static_cast<std::size_t>(sample.basis)];
        sum.erlang += sample.basis == SampleBasis::exact && sample.native.empty();
        sum.cut += sample.cut;
    }
    return sum;
}

std::vector<FunctionSamples> samples_by_function(const Snapshot& snapshot, const CpuSamples& samples,
                                                 const SampleFilter& filter) {
    const Chosen chosen(snapshot, samples, filter);
    std::map<std::pair<std::uint32_t, std::uint32_t>, FunctionSamples> rows;
    const auto row = [&rows](FunctionId function, std::uint32_t native) -> FunctionSamples& {
        FunctionSamples& r = rows[{index_of(function), native}];
        r.function = function;
        r.native_function = native;
        return r;
    };
    std::vector<std::uint32_t> on_stack;
    for (const CpuSample& sample : samples.samples) {
        if (!chosen(sample)) continue;
        const FunctionId function = function_of(snapshot, sample);
        FunctionSamples& own = row(function, function == FunctionId::none ? native_of(samples, sample) : no_native);
        ++own.self;
        own.native += !sample.native.empty();
        own.uncertain += uncertain(sample);
        if (function == FunctionId::none) {
            ++own.total;
            continue;
        }
        on_stack.clear();
        for (const Frame& frame : snapshot.stacks[sample.stack]) on_stack.push_back(index_of(frame.function));
        std::ranges::sort(on_stack);
        on_stack.erase(std::unique(on_stack.begin(), on_stack.end()), on_stack.end());
        for (const std::uint32_t each : on_stack) ++row(static_cast<FunctionId>(each), no_native).total;
    }
    std::vector<FunctionSamples> sorted;
    for (const auto& [key, each] : rows) sorted.push_back(each);
    std::ranges::stable_sort(sorted, [](const FunctionSamples& a, const FunctionSamples& b) {
        return a.self != b.self ? a.self > b.self : a.total > b.total;
    });
    return sorted;
}

std::vector<StackSamples> samples_by_stack(const Snapshot& snapshot, const CpuSamples& samples,
                                           const SampleFilter& filter) {
    const Chosen chosen(snapshot, samples, filter);
    std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, StackSamples> rows;
    for (std::uint32_t i = 0; i < samples.samples.size(); ++i) {
        const CpuSample& sample = samples.samples[i];
        if (!chosen(sample)) continue;
        // Stacks that differ in places of the same functions are one.
        std::vector<std::uint32_t> key = sample.native;
        key.push_back(no_native);
        for (const Frame& frame : snapshot.stacks[sample.stack]) key.push_back(index_of(frame.function));
        const auto [at, is_new] = rows.try_emplace({sample.cut, std::move(key)});
        if (is_new) at->second.example = i;
        ++at->second.count;
        at->second.uncertain += uncertain(sample);
    }
    std::vector<StackSamples> sorted;
    for (const auto& [key, each] : rows) sorted.push_back(each);
    std::ranges::stable_sort(sorted, [](const StackSamples& a, const StackSamples& b) {
        return a.count != b.count ? a.count > b.count : a.example < b.example;
    });
    return sorted;
}

std::vector<ProcessSamples> samples_by_process(const Snapshot& snapshot, const CpuSamples& samples,
                                               const SampleFilter& filter) {
    const Chosen chosen(snapshot, samples, filter);
    std::map<Pid, std::pair<ProcessSamples, std::unordered_map<std::uint32_t, std::uint64_t>>> rows;
    for (const CpuSample& sample : samples.samples) {
        if (!chosen(sample)) continue;
        auto& [row, votes] = rows[sample.pid];
        row.pid = sample.pid;
        ++row.count;
        row.native += !sample.native.empty();
        if (const FunctionId function = function_of(snapshot, sample); function != FunctionId::none)
            ++votes[index_of(function)];
    }
    std::vector<ProcessSamples> sorted;
    for (auto& [pid, each] : rows) {
        each.first.hottest = most_of(each.second);
        sorted.push_back(each.first);
    }
    std::ranges::stable_sort(sorted,
                             [](const ProcessSamples& a, const ProcessSamples& b) { return a.count > b.count; });
    return sorted;
}

std::vector<ThreadSamples> samples_by_thread(const Snapshot& snapshot, const CpuSamples& samples,
                                             const SampleFilter& filter) {
    const Chosen chosen(snapshot, samples, filter);
    std::vector<ThreadSamples> rows(samples.threads.size());
    std::vector<std::unordered_map<std::uint32_t, std::uint64_t>> votes(rows.size());
    for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i].thread = i;
    for (const CpuSample& sample : samples.samples) {
        if (!chosen(sample)) continue;
        ThreadSamples& row = rows[sample.thread];
        ++row.count;
        if (!sample.pid.has()) ++row.other;
        else if (sample.native.empty()) ++row.erlang;
        else ++row.native;
        if (const FunctionId function = function_of(snapshot, sample); function != FunctionId::none)
            ++votes[sample.thread][index_of(function)];
    }
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].hottest = most_of(votes[i]);
    return rows;
}

}  // namespace beamheap::analyses
