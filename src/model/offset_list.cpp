// SPDX-License-Identifier: Apache-2.0
#include "beamheap/offset_list.hpp"

#include <algorithm>

namespace beamheap {

void OffsetList::put_wide(std::size_t at, std::uint64_t step) {
    wide_.push({at, step});
    steps_.data()[at] = wide_step;
}

std::uint64_t OffsetList::find_wide(std::size_t at) const {
    const Wide* const found =
        std::lower_bound(wide_.begin(), wide_.end(), at, [](const Wide& wide, std::size_t a) { return wide.at < a; });
    return found != wide_.end() && found->at == at ? found->step : 0;
}

}  // namespace beamheap
