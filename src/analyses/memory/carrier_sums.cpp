// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory/carrier_sums.hpp"

#include <algorithm>
#include <map>

#include "analyses/base/sum.hpp"

namespace beamheap::analyses {

bool nearly_empty(const Carrier& carrier) {
    return !carrier.single && carrier.blocks != 0 && carrier.block_bytes <= carrier.bytes / 10;
}

std::vector<CarrierSum> carrier_sums(const Carriers& carriers) {
    std::map<TextId, CarrierSum> by_allocator;
    for (const Carrier& carrier : carriers.carriers) {
        CarrierSum& sum = by_allocator[carrier.allocator];
        sum.allocator = carrier.allocator;
        ++sum.carriers;
        sum.single += carrier.single;
        sum.pooled += carrier.pooled;
        sum.carrier_bytes = saturating_add(sum.carrier_bytes, carrier.bytes);
        sum.blocks += carrier.blocks;
        sum.block_bytes = saturating_add(sum.block_bytes, carrier.block_bytes);
        sum.holes += carrier.holes;
        sum.largest_hole_bytes = std::max(sum.largest_hole_bytes, carrier.largest_hole);
        if (!nearly_empty(carrier)) continue;
        ++sum.nearly_empty;
        sum.nearly_empty_bytes = saturating_add(sum.nearly_empty_bytes, carrier.bytes);
    }
    std::vector<CarrierSum> sums;
    for (const auto& [name, sum] : by_allocator) sums.push_back(sum);
    std::stable_sort(sums.begin(), sums.end(),
                     [](const CarrierSum& a, const CarrierSum& b) { return a.carrier_bytes > b.carrier_bytes; });
    return sums;
}

std::vector<std::uint32_t> nearly_empty_carriers(const Carriers& carriers) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < carriers.carriers.size(); ++i)
        if (nearly_empty(carriers.carriers[i])) found.push_back(i);
    const auto unused = [&carriers](std::uint32_t i) {
        return carriers.carriers[i].bytes - carriers.carriers[i].block_bytes;
    };
    std::stable_sort(found.begin(), found.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return unused(a) > unused(b); });
    return found;
}

}  // namespace beamheap::analyses
