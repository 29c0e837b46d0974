// SPDX-License-Identifier: Apache-2.0
// Loaded code of a VM that goes on loading code, as the resolver asks for it.
//
// The VM has three lists of code ranges, of which one is active and another may be the next one (beam_ranges.c,
// code_ix.c). An address is looked up in each: what any of them holds is code, of a module that was, is or is about to
// be loaded.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "formats/otp/sampling/resolver.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

class LiveCode final : public CodeMap {
public:
    /// Functions become those of the reader's snapshot.
    explicit LiveCode(Reader& reader) : reader_(reader) { list(); }
    Frame frame(std::uint64_t address, bool returning) override;
    bool holds(std::uint64_t address) const;
    /// Lists loaded code again, and forgets all that was looked up.
    void look_again();

private:
    void list();
    Reader& reader_;
    std::array<Code, 3> lists_;
    std::unordered_map<std::uint64_t, Frame> known_;  // by address and, in bit 63, whether it returns there
};

}  // namespace beamheap::otp
