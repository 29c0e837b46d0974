// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/application_circle.hpp"

#include <algorithm>
#include <map>

#include "erlang/functions.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t deep_words = 8u << 10;  // of stack
constexpr std::uint32_t looked_at = 48;         // frames
constexpr std::uint64_t least_calls = 500;      // more than a node has applications
constexpr std::size_t often = 3, most_names = 6;

bool is_deep(const Snapshot& snapshot, ProcId id) { return snapshot[id].stack_words.value_or(0) >= deep_words; }

bool starts(const Snapshot& snapshot, FunctionId function) {
    return erlang::has_role(snapshot, function, erlang::FunctionRole::starts_dependencies);
}

// How an application is started, which stands in the same frames.
bool is_mode(std::string_view atom) {
    return atom == "temporary" || atom == "transient" || atom == "permanent" || atom == "serial" ||
           atom == "concurrent" || atom == "true" || atom == "false" || atom == "ok" || atom == "undefined";
}

}  // namespace

Result<ApplicationCircle> find_fact(FactOf<ApplicationCircle>, const Facts& facts, Artifact& artifact) {
    const Snapshot& snapshot = facts.snapshot();
    ApplicationCircle circle;
    for (std::uint32_t i = 0; i < snapshot.processes.size() && circle.process == ProcId::none; ++i) {
        const ProcId id{i};
        if (!is_deep(snapshot, id)) continue;
        const auto stack = snapshot.stacks[snapshot[id].stack];
        std::map<FunctionId, std::uint64_t> calls;
        for (const Frame& frame : stack)
            if (starts(snapshot, frame.function)) ++calls[frame.function];
        std::uint64_t all = 0, most = 0;
        for (const auto& [function, count] : calls) {
            all += count;
            if (count > most) {
                most = count;
                circle.function = function;
            }
        }
        if (all < least_calls || all < stack.size() / 4 * 3) continue;
        circle.process = id;
        circle.calls = most;
    }
    if (circle.process == ProcId::none) return circle;
    const auto terms = artifact.terms(circle.process);
    if (!terms) return circle;
    const auto stack = snapshot.stacks[snapshot[circle.process].stack];
    const RootList& roots = (*terms)->graph().roots();
    std::map<std::string, std::vector<std::uint32_t>> frames_of;
    for (std::size_t i = 0; i < roots.size(); ++i) {
        const std::uint32_t frame = roots[i].frame;
        if (roots[i].kind != RootKind::stack || frame >= std::min<std::size_t>(stack.size(), looked_at) ||
            !starts(snapshot, stack[frame].function))
            continue;
        const Element root = (*terms)->root(i);
        if (!TermReader::is_atom(root) || is_mode(root.text)) continue;
        auto& frames = frames_of[std::string(root.text)];
        if (frames.empty() || frames.back() != frame) frames.push_back(frame);
    }
    for (const auto& [name, frames] : frames_of)
        if (frames.size() >= often && circle.names.size() < most_names) circle.names.push_back(name);
    return circle;
}

namespace fact {
void application_circle(FactNeeds& needs) {
    needs.plan.stacks = true;
    needs.whose_terms.emplace_back(is_deep);
}
}  // namespace fact

}  // namespace beamheap::analyses
