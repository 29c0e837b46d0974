// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory/unreferenced_binaries.hpp"

#include <algorithm>
#include <map>
#include <utility>

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

std::optional<UnheldBinaries::Stored> most_stored(std::span<const CarrierBlock> blocks,
                                                  std::span<const StoredBinary> stored) {
    std::vector<CarrierBlock> sorted(blocks.begin(), blocks.end());
    std::ranges::sort(sorted, {}, &CarrierBlock::address);
    struct Seen {
        std::uint64_t bytes = 0, shown = 0;
    };
    std::map<std::pair<std::uint32_t, std::uint64_t>, Seen> seen;  // by table and address
    for (const StoredBinary& each : stored) {
        const auto block = std::ranges::lower_bound(sorted, each.address, {}, &CarrierBlock::address);
        if (block == sorted.end() || block->address != each.address) continue;
        Seen& binary = seen[{each.table, each.address}];
        binary.bytes = block->bytes;
        binary.shown = std::min(saturating_add(binary.shown, each.size), block->bytes);
    }
    std::map<std::uint32_t, UnheldBinaries::Stored> tables;
    for (const auto& [key, binary] : seen) {
        UnheldBinaries::Stored& table = tables[key.first];
        table.table = key.first;
        ++table.binaries;
        table.bytes = saturating_add(table.bytes, binary.bytes);
        table.shown_bytes = saturating_add(table.shown_bytes, binary.shown);
    }
    const auto most = std::ranges::max_element(tables, {}, [](const auto& each) { return each.second.bytes; });
    return most == tables.end() ? std::nullopt : std::optional(most->second);
}

}  // namespace beamheap::analyses
