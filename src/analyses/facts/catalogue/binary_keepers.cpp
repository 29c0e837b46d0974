// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/binary_keepers.hpp"

#include <algorithm>
#include <functional>

#include "analyses/base/sum.hpp"
#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"

namespace beamheap::analyses {
namespace {

// Bytes of binaries that each process's terms refer to, each binary once. Rows are sorted by process.
std::vector<std::uint64_t> referred_bytes(const Snapshot& s, std::span<const HeldBinary> held, Artifact& artifact) {
    std::vector<std::uint64_t> bytes(s.processes.size());
    std::vector<std::pair<std::uint32_t, std::uint64_t>> once;  // a process, the binary's address
    for (const HeldBinary& each : held)
        if (each.named && !each.reference.garbage)
            once.emplace_back(index_of(each.reference.holder.process()), each.reference.address);
    std::ranges::sort(once);
    once.erase(std::unique(once.begin(), once.end()), once.end());
    for (const auto& [process, address] : once)
        if (process < bytes.size())
            bytes[process] = saturating_add(bytes[process], artifact.binary_bytes(address).value_or(0));
    return bytes;
}

BinaryKeepers most_of(const ProcessGroups& groups, const std::function<std::uint64_t(ProcId)>& kept_by) {
    BinaryKeepers found;
    for (const ProcessGroup& group : groups.groups) {
        std::uint64_t kept = 0;
        for (const ProcId id : groups.members_of(group)) kept = saturating_add(kept, kept_by(id));
        found.of_all = saturating_add(found.of_all, kept);
        if (kept <= found.bytes) continue;
        found.bytes = kept;
        found.kind = group.function;
        found.processes.assign(groups.members_of(group).begin(), groups.members_of(group).end());
    }
    std::ranges::stable_sort(found.processes, std::ranges::greater(), kept_by);
    if (!found.processes.empty()) found.most_by_one = kept_by(found.processes.front());
    return found;
}

}  // namespace

Result<BinaryKeepers> find_fact(FactOf<BinaryKeepers>, const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    const std::vector<ProcId> all = all_processes(s);
    const ProcessGroups groups = group_alike(s, all);
    Artifact* const artifact = facts.artifact();
    if (artifact != nullptr && facts.get<Suspects>().all_binaries) {
        const std::vector<std::uint64_t> referred = referred_bytes(s, facts.heaps().binaries(), *artifact);
        const std::uint64_t least = s.memory_bytes("binary").value_or(0) / 2;
        const auto by_terms = [&](ProcId id) { return referred[index_of(id)]; };
        BinaryKeepers found = most_of(groups, by_terms);
        if (found.bytes < least) found = most_of(group_by_initial_call(s, all), by_terms);  // with names of their own
        // Otherwise what few terms refer to may wait for the next collection.
        if (!found.processes.empty() && found.bytes >= least) {
            found.known = found.by_terms = true;
            if (const auto terms = artifact->terms(found.processes.front()))
                found.place = largest_binary(s, found.processes.front(), **terms);
            return found;
        }
    }
    BinaryKeepers found = most_of(groups, [&](ProcId id) {
        return saturating_multiply(virtual_heap_words(s[id]).value_or(0), s.source.word_size);
    });
    found.known =
        std::ranges::any_of(s.processes, [](const Process& process) { return virtual_heap_words(process).has(); });
    return found;
}

namespace fact {
void binary_keepers(FactNeeds& needs) {
    needs.plan.tables = needs.plan.labels = true;
    // Whose it will be is not known before the heaps are read.
    needs.whose_terms.emplace_back(
        [&facts = needs.facts](const Snapshot&, ProcId) { return facts.get<Suspects>().all_binaries; });
}
}  // namespace fact

}  // namespace beamheap::analyses
