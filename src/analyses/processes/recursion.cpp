// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/recursion.hpp"

#include <algorithm>
#include <span>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/processes/process_columns.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_functions = 3;  // of a circle
constexpr std::size_t least_frames = 64;   // to be judged by

struct FrameCount {
    FunctionId function = FunctionId::none;
    std::uint64_t frames = 0;
};

// The functions of a stack, most frames first.
std::vector<FrameCount> count_frames(const Snapshot& snapshot, std::span<const Frame> stack) {
    std::vector<std::uint64_t> counts(snapshot.functions.size());
    for (const Frame& frame : stack)
        if (frame.function != FunctionId::none) ++counts[index_of(frame.function)];
    std::vector<FrameCount> found;
    for (std::uint32_t i = 0; i < counts.size(); ++i)
        if (counts[i] != 0) found.push_back({FunctionId{i}, counts[i]});
    std::ranges::stable_sort(found, std::ranges::greater(), &FrameCount::frames);
    return found;
}

bool in_circle(const Recursion& recursion, FunctionId function) {
    return std::ranges::find(recursion.circle, function) != recursion.circle.end();
}

}  // namespace

std::optional<Recursion> recursion(const Snapshot& snapshot, ProcId id, std::uint64_t least_words) {
    const Process& process = snapshot[id];
    if (process.stack_words.value_or(0) < least_words) return std::nullopt;
    Recursion found;
    found.stack_words = *process.stack_words;
    found.heap_words = used_words(process);
    // In a collection what the heaps hold is not known: the stack is compared with their blocks then.
    const std::uint64_t heap = found.heap_words.has() ? *found.heap_words : allocated_words(process) / 2;
    if (heap > found.stack_words) return std::nullopt;

    const std::span<const Frame> stack = snapshot.stacks[process.stack];
    if (stack.size() < least_frames) {  // of a process in collection: the function in hand, and who called it
        if (!stack.empty()) found.function = stack.front().function;
        if (stack.size() > 1 && stack[1].function != found.function) found.begun_by = stack[1].function;
        return found;
    }
    std::uint64_t covered = 0;
    for (const FrameCount& each : count_frames(snapshot, stack)) {
        if (found.circle.size() == most_functions || covered >= stack.size() / 4 * 3) break;
        found.circle.push_back(each.function);
        covered += each.frames;
        if (found.circle.size() == 1) found.calls = each.frames;
    }
    if (covered < stack.size() / 4 * 3) return std::nullopt;
    found.function = found.circle.front();
    const auto oldest = std::find_if(stack.rbegin(), stack.rend(),
                                     [&](const Frame& frame) { return in_circle(found, frame.function); });
    if (oldest != stack.rend() && oldest != stack.rbegin()) found.begun_by = std::prev(oldest)->function;
    return found;
}

std::optional<Recursion> recursion_by_sizes(const Snapshot& snapshot, ProcId id, std::uint64_t refused_words,
                                            std::uint64_t least_words) {
    // A heap grows to the next size of a series whose steps are at most 2.6, and of some words more than it needs.
    constexpr std::uint64_t most_growth = 4, least_share = 16;
    const Process& process = snapshot[id];
    const std::uint64_t block = process.heap_words.value_or(0);
    const Count held = used_words(process);
    if (process.stack_words.has() || block < least_words || refused_words / most_growth > block) return std::nullopt;
    if (!held.has() || *held > block / least_share || process.old_heap_words.value_or(0) > block) return std::nullopt;
    Recursion found;
    found.stack_words = block - std::min(block, *held);
    found.heap_words = held;
    found.function = process.current_function;
    found.by_sizes = true;
    return found;
}

}  // namespace beamheap::analyses
