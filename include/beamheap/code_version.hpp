// SPDX-License-Identifier: Apache-2.0
// Which build of a module it is: what tells apart two modules of one name without keeping what each says of itself.
#pragma once

#include <cstdint>
#include <string_view>

namespace beamheap {

/// 128 bits of hash over a module's attributes (with `vsn`, the compiler's checksum of the code) and what the compiler
/// noted of itself (options, version, source). Modules of equal versions are taken for the same; it withstands chance,
/// not somebody who makes a file to be taken for another.
struct CodeVersion {
    std::uint64_t high = 0, low = 0;

    /// False: the module says nothing of itself (it is linked into the VM, or was stripped), or nobody asked.
    bool known() const { return (high | low) != 0; }
    friend bool operator==(const CodeVersion&, const CodeVersion&) = default;
};

/// Of the chunks `Attr` and `CInf` (external terms, beam_lib(3)), as files hold them and VMs keep them in memory
/// (BeamCodeHeader's attr_ptr and compile_ptr, beam_code.h) and write them into dumps ("Current attributes:", "Current
/// compilation info:"). Unknown where both are empty.
CodeVersion code_version(std::string_view attributes, std::string_view compilation);

}  // namespace beamheap
