// SPDX-License-Identifier: Apache-2.0
#include "beamheap/samples.hpp"

namespace beamheap {

std::string_view name_of(SampleBasis basis) {
    switch (basis) {
        case SampleBasis::exact: return "exact";
        case SampleBasis::checked: return "checked";
        case SampleBasis::approximate: return "approximate";
        case SampleBasis::moved: return "moved";
        case SampleBasis::none: break;
    }
    return "none";
}

}  // namespace beamheap
