// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/queue_spread.hpp"

#include "analyses/base/sum.hpp"

namespace beamheap::analyses {

std::vector<QueueBin> queue_spread(const Snapshot& snapshot) {
    std::vector<QueueBin> bins{{}};
    for (const Process& process : snapshot.processes) {
        if (!process.msgq_len.has()) continue;
        const std::uint64_t length = *process.msgq_len;
        std::size_t bin = 0;
        for (std::uint64_t rest = length; rest != 0; rest /= 10) ++bin;
        while (bins.size() <= bin) {
            const std::uint64_t from = bins.size() == 1 ? 1 : bins.back().to + 1;
            bins.push_back({from, saturating_multiply(from, 10) - 1, 0, 0});
        }
        ++bins[bin].processes;
        bins[bin].messages = saturating_add(bins[bin].messages, length);
    }
    return bins;
}

}  // namespace beamheap::analyses
