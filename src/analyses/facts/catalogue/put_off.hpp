// SPDX-License-Identifier: Apache-2.0
// Servers that are idle, and have not answered those who wait for them.
#pragma once

#include <algorithm>
#include <vector>

#include "analyses/facts/facts.hpp"
#include "analyses/heaps/put_off.hpp"

namespace beamheap::analyses {

struct PutOffs {
    std::vector<PutOff> servers;

    /// Of one server; nullptr: nothing is known of it.
    const PutOff* of(ProcId server) const {
        const auto found = std::ranges::find(servers, server, &PutOff::server);
        return found == servers.end() ? nullptr : &*found;
    }
};

Result<PutOffs> find_fact(FactOf<PutOffs>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
