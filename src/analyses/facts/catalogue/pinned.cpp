// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/pinned.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "analyses/base/sum.hpp"
#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/memory/hidden_binaries.hpp"

namespace beamheap::analyses {

std::vector<PinnedBinaries> pinned_binaries(const Snapshot& s, std::span<const HeldBinary> held,
                                            const std::function<Count(std::uint64_t)>& size_of) {
    std::vector<PinnedBinaries> found;
    const std::vector<HiddenBinaries> hidden = hidden_binaries(s, held, size_of);
    auto more = hidden.begin();  // both go by process
    for (std::size_t i = 0; i < held.size();) {
        PinnedBinaries row;
        row.process = held[i].reference.holder.process();
        std::vector<BinaryReference> listed;
        std::map<std::uint64_t, std::uint64_t> parts;
        std::uint64_t unlisted = 0,
                      unlisted_bytes = 0;  // slices of binaries that the input does not list, and what they show
        for (; i < held.size() && held[i].reference.holder.process() == row.process; ++i) {
            const BinaryReference& reference = held[i].reference;
            if (!held[i].named) ++unlisted, unlisted_bytes = saturating_add(unlisted_bytes, reference.size);
            const Count bytes = held[i].named ? size_of(reference.address) : Count();
            if (!bytes.has()) continue;
            listed.push_back(reference);
            // A reference that is there for slices alone shows nothing, and is none itself.
            if (reference.size != 0 && reference.size < *bytes) ++parts[reference.address];
        }
        const BinaryReport report = binary_holders(std::move(listed), size_of);
        for (const BinaryHolders& binary : report.binaries) {
            if (binary.pinned_bytes.value_or(0) == 0) continue;
            row.slices += parts[binary.address];
            ++row.binaries;
            row.seen_bytes = saturating_add(row.seen_bytes, binary.seen_bytes);
            row.pinned_bytes = saturating_add(row.pinned_bytes, *binary.pinned_bytes);
        }
        const bool hides = more != hidden.end() && more->process == row.process;
        if (hides || (row.pinned_bytes == 0 && unlisted != 0)) {  // these may show all of what they are parts of
            row.by_subtraction = true;
            row.slices += unlisted;
            row.seen_bytes = saturating_add(row.seen_bytes, unlisted_bytes);
        }
        if (hides) {
            row.pinned_bytes = saturating_add(row.pinned_bytes, more->hidden_bytes - more->seen_bytes);
            ++more;
        }
        if (row.pinned_bytes != 0 || row.by_subtraction) found.push_back(row);
    }
    std::ranges::stable_sort(
        found, [](const PinnedBinaries& a, const PinnedBinaries& b) { return a.pinned_bytes > b.pinned_bytes; });
    return found;
}

Result<Pinned> find_fact(FactOf<Pinned>, const Facts& facts, Artifact& artifact) {
    std::vector<HeldBinary> held = facts.heaps().binaries();
    if (facts.gathered_elsewhere()) {
        const std::vector<ProcId>& of = facts.get<Suspects>().binaries;
        std::erase_if(held, [&of](const HeldBinary& each) {
            return !std::ranges::binary_search(of, each.reference.holder.process());
        });
    }
    const auto size_of = [&](std::uint64_t address) { return artifact.binary_bytes(address); };
    return Pinned{pinned_binaries(facts.snapshot(), held, size_of)};
}

namespace fact {
void pinned(FactNeeds& needs) { needs.plan.tables = true; }
}  // namespace fact

}  // namespace beamheap::analyses
