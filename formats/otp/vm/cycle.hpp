// SPDX-License-Identifier: Apache-2.0
// Whether a list that is followed leads back into itself: Brent's algorithm, one address to remember. In a damaged
// image any list may, so whoever follows a pointer from structure to structure asks at each step.
#pragma once

#include <cstdint>

namespace beamheap::otp {

class Cycle {
public:
    /// Takes the next address of the list; true once the list is known to be a circle, at the latest after as many
    /// steps as three times its length.
    bool closed_by(std::uint64_t address) {
        if (address == tortoise_) return true;
        if (++steps_ == limit_) {
            tortoise_ = address;
            steps_ = 0;
            limit_ *= 2;
        }
        return false;
    }

private:
    std::uint64_t tortoise_ = 0, steps_ = 0, limit_ = 2;
};

}  // namespace beamheap::otp
