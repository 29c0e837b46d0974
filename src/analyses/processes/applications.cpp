// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/applications.hpp"

#include "erlang/registered.hpp"

namespace beamheap::analyses {

Applications applications(const Snapshot& snapshot, const SupervisionTree& tree,
                          const std::vector<RunningApplication>& running) {
    constexpr std::uint32_t unknown = Applications::none - 1;
    Applications found;
    found.of.assign(tree.nodes.size(), unknown);
    for (const RunningApplication& each : running) {
        const ProcId master = snapshot.find(each.master);
        if (master == ProcId::none || found.of[index_of(master)] != unknown) continue;
        found.of[index_of(master)] = static_cast<std::uint32_t>(found.names.size());
        found.names.push_back(each.name);
    }
    // Upwards to who is known, and what is found there goes to all on the way: each is looked at twice.
    std::vector<ProcId> way;
    for (std::size_t i = 0; i < found.of.size(); ++i) {
        ProcId at = static_cast<ProcId>(i);
        way.clear();
        while (at != ProcId::none && found.of[index_of(at)] == unknown) {
            way.push_back(at);
            at = tree[at].parent;
        }
        const std::uint32_t application = at == ProcId::none ? Applications::none : found.of[index_of(at)];
        for (const ProcId each : way) found.of[index_of(each)] = application;
    }
    return found;
}

Applications applications(Artifact& artifact, const SupervisionTree& tree) {
    std::vector<RunningApplication> running;
    const Snapshot& snapshot = artifact.snapshot();
    if (const ProcId controller = snapshot.find_registered(erlang::registered::application_controller);
        controller != ProcId::none)
        if (const auto terms = artifact.terms(controller)) running = application_starts(**terms).masters;
    return applications(snapshot, tree, running);
}

}  // namespace beamheap::analyses
