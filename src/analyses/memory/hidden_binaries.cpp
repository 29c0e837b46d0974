// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory/hidden_binaries.hpp"

#include <algorithm>
#include <utility>

#include "analyses/base/sum.hpp"
#include "analyses/processes/process_columns.hpp"

namespace beamheap::analyses {

std::vector<HiddenBinaries> hidden_binaries(const Snapshot& snapshot, std::span<const HeldBinary> held,
                                            const std::function<Count(std::uint64_t)>& size_of) {
    std::vector<HiddenBinaries> found;
    std::vector<std::pair<std::uint64_t, std::uint64_t>>
        listed;  // each binary's address, and the bytes of a reference to it
    for (std::size_t i = 0, next = 0; i < held.size(); i = next) {
        HiddenBinaries row;
        row.process = held[i].reference.holder.process();
        for (next = i; next < held.size() && held[next].reference.holder.process() == row.process; ++next) {
            if (held[next].named) continue;
            ++row.slices;
            row.seen_bytes = saturating_add(row.seen_bytes, held[next].reference.size);
        }
        const Count words = virtual_heap_words(snapshot[row.process]);
        if (row.slices == 0 || !words.has()) continue;
        row.vheap_bytes = saturating_multiply(*words, snapshot.source.word_size);
        if (row.vheap_bytes <= row.seen_bytes) continue;
        listed.clear();
        for (; i < next; ++i) {
            const BinaryReference& reference = held[i].reference;
            if (held[i].named)
                listed.emplace_back(reference.address,
                                    std::min(size_of(reference.address).value_or(reference.size), reference.size));
        }
        std::ranges::sort(listed);
        std::uint64_t listed_bytes = 0;
        for (std::size_t n = 0; n < listed.size(); ++n)  // of the largest reference to each
            if (n + 1 == listed.size() || listed[n + 1].first != listed[n].first)
                listed_bytes = saturating_add(listed_bytes, listed[n].second);
        row.hidden_bytes = row.vheap_bytes - std::min(row.vheap_bytes, listed_bytes);
        if (row.hidden_bytes > row.seen_bytes) found.push_back(row);
    }
    return found;
}

}  // namespace beamheap::analyses
