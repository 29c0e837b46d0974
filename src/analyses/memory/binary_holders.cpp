// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory/binary_holders.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyses/base/sum.hpp"

namespace beamheap::analyses {

BinaryReport binary_holders(std::vector<BinaryReference> references,
                            const std::function<Count(std::uint64_t)>& size_of) {
    std::sort(references.begin(), references.end(), [](const BinaryReference& a, const BinaryReference& b) {
        return std::tuple(a.address, a.offset, a.size, a.holder) < std::tuple(b.address, b.offset, b.size, b.holder);
    });
    BinaryReport report;
    std::size_t binaries = 0;
    for (std::size_t i = 0; i < references.size(); ++i)
        binaries += i == 0 || references[i].address != references[i - 1].address;
    report.binaries.reserve(binaries);
    report.holders.reserve(references.size());
    for (std::size_t i = 0; i < references.size();) {
        BinaryHolders binary;
        binary.address = references[i].address;
        binary.bytes = size_of(binary.address);
        binary.first_holder = static_cast<std::uint32_t>(report.holders.size());
        std::uint64_t covered = 0;  // up to here, from the binary's beginning
        std::size_t next = i;
        for (; next < references.size() && references[next].address == binary.address; ++next) {
            const BinaryReference& use = references[next];
            report.holders.push_back(use.holder);
            if (use.garbage) {
                ++binary.garbage_holders;
                continue;
            }
            ++binary.references;
            std::uint64_t from = use.offset;
            std::uint64_t to = saturating_add(use.offset, use.size);
            if (binary.bytes.has()) {  // a damaged slice shows no more than there is
                from = std::min(from, *binary.bytes);
                to = std::min(to, *binary.bytes);
            }
            if (to > covered) binary.seen_bytes += to - std::max(from, covered);
            covered = std::max(covered, to);
        }
        const auto first = report.holders.begin() + binary.first_holder;
        std::sort(first, report.holders.end());
        report.holders.erase(std::unique(first, report.holders.end()), report.holders.end());
        binary.holders = static_cast<std::uint32_t>(report.holders.size() - binary.first_holder);
        if (binary.references == 0) {
            ++report.garbage;
            report.garbage_bytes = saturating_add(report.garbage_bytes, binary.bytes.value_or(0));
        } else if (binary.bytes.has()) {
            binary.pinned_bytes = *binary.bytes - binary.seen_bytes;
            report.bytes = saturating_add(report.bytes, *binary.bytes);
            report.seen_bytes = saturating_add(report.seen_bytes, binary.seen_bytes);
            report.pinned_bytes = saturating_add(report.pinned_bytes, *binary.pinned_bytes);
        } else {
            ++report.unknown;
        }
        report.binaries.push_back(binary);
        i = next;
    }
    // Rows are large and many: their order is found by keys. Equals stay in the order of their addresses.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
    order.reserve(report.binaries.size());
    for (const BinaryHolders& each : report.binaries)
        order.emplace_back(~each.bytes.value_or(each.seen_bytes), static_cast<std::uint32_t>(order.size()));
    std::sort(order.begin(), order.end());
    std::vector<BinaryHolders> sorted;
    sorted.reserve(order.size());
    for (const auto& [key, at] : order) sorted.push_back(report.binaries[at]);
    report.binaries.swap(sorted);
    return report;
}

}  // namespace beamheap::analyses
