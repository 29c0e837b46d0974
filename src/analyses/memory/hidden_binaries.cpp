#include "analyses/memory/hidden_binaries.hpp"

#include <algorithm>
#include <map>

#include "analyses/base/sum.hpp"
#include "analyses/processes/process_columns.hpp"

namespace beamheap::analyses {

std::vector<HiddenBinaries> hidden_binaries(const Snapshot& snapshot, std::span<const HeldBinary> held,
                                            const std::function<Count(std::uint64_t)>& size_of) {
    std::vector<HiddenBinaries> found;
    for (std::size_t i = 0; i < held.size();) {
        HiddenBinaries row;
        row.process = held[i].reference.holder.process();
        std::map<std::uint64_t, std::uint64_t> listed;  // the largest reference to each binary
        for (; i < held.size() && held[i].reference.holder.process() == row.process; ++i) {
            const BinaryReference& reference = held[i].reference;
            if (held[i].named) {
                std::uint64_t& most = listed[reference.address];
                most = std::max(most, std::min(size_of(reference.address).value_or(reference.size), reference.size));
            } else {
                ++row.slices;
                row.seen_bytes = saturating_add(row.seen_bytes, reference.size);
            }
        }
        const Count words = virtual_heap_words(snapshot[row.process]);
        if (row.slices == 0 || !words.has()) continue;
        row.vheap_bytes = saturating_multiply(*words, snapshot.source.word_size);
        std::uint64_t listed_bytes = 0;
        for (const auto& [address, bytes] : listed) listed_bytes = saturating_add(listed_bytes, bytes);
        row.hidden_bytes = row.vheap_bytes - std::min(row.vheap_bytes, listed_bytes);
        if (row.hidden_bytes > row.seen_bytes) found.push_back(row);
    }
    return found;
}

}  // namespace beamheap::analyses
