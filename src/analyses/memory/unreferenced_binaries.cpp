#include "analyses/memory/unreferenced_binaries.hpp"

#include <algorithm>
#include <map>

#include "analyses/base/sum.hpp"

namespace beamheap::analyses {

UnheldBinaries unheld_binaries(std::span<const CarrierBlock> blocks, std::span<const std::uint64_t> referenced) {
    UnheldBinaries result;
    std::map<std::uint64_t, std::uint64_t> by_size;
    for (const CarrierBlock& block : blocks) {
        if (std::binary_search(referenced.begin(), referenced.end(), block.address)) {
            result.held_bytes = saturating_add(result.held_bytes, block.bytes);
            continue;
        }
        ++result.blocks;
        result.bytes = saturating_add(result.bytes, block.bytes);
        ++by_size[block.bytes];
    }
    for (const auto& [bytes, count] : by_size)
        result.groups.push_back({bytes, count, saturating_multiply(bytes, count)});
    std::stable_sort(result.groups.begin(), result.groups.end(),
                     [](const UnheldGroup& a, const UnheldGroup& b) { return a.bytes > b.bytes; });
    return result;
}

}  // namespace beamheap::analyses
