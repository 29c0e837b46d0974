// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/sampling/live_code.hpp"

#include <algorithm>

namespace beamheap::otp {
namespace {

constexpr std::size_t most_known = 1u << 20;

}  // namespace

void LiveCode::list() {
    Roots roots = reader_.vm.roots;
    const std::uint32_t active = roots.code_index;
    for (std::uint32_t i = 0; i < lists_.size(); ++i) {
        roots.code_index = (active + i) % 3;
        lists_[i] = Code(reader_.memory, reader_.vm.layout, roots);
    }
}

void LiveCode::look_again() {
    known_.clear();
    reader_.memory.forget();
    list();
}

bool LiveCode::holds(std::uint64_t address) const {
    return std::any_of(lists_.begin(), lists_.end(), [address](const Code& code) { return code.holds(address); });
}

Frame LiveCode::frame(std::uint64_t address, bool returning) {
    if (address == 0) return {};
    if (known_.size() > most_known) known_.clear();
    const auto [at, is_new] = known_.try_emplace(address | (returning ? 1ull << 63 : 0));
    Frame& frame = at->second;
    if (!is_new) return frame;
    // A return address may be the first byte of the next function: the call is before it.
    const std::uint64_t inside = returning ? address - reader_.vm.layout.return_address_back : address;
    for (const Code& code : lists_) {
        const auto place = code.find(reader_.memory, inside);
        if (!place) continue;
        frame.function = reader_.function(place->mfa);
        frame.offset = static_cast<std::uint32_t>(address - (place->info + reader_.at.code_info_mfa));
        break;
    }
    return frame;
}

}  // namespace beamheap::otp
