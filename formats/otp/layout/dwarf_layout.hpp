// SPDX-License-Identifier: Apache-2.0
// A layout out of the DWARF of the very executable: right for builds that no table knows, such as later releases and
// builds with options that change structures.
//
// DWARF says where members are, and nothing of constants and forms (tags, flag bits, how a pid is packed): those come
// from the row of the release. What is read here is as untrusted as the executable, so it must keep to what readers
// take for granted of any row (unfit_layout) before it is tried on the image.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "bytes/debug_types.hpp"
#include "bytes/elf_image.hpp"
#include "formats/otp/layout/layout.hpp"

namespace beamheap::otp {

/// Layout::source of one that comes from DWARF.
inline constexpr std::string_view dwarf_source = "DWARF of beam.smp";

/// Answers to all of field_names(), in order. Nothing where there is no debug information. Errors: damaged.
Result<std::optional<bytes::DebugTypes>> read_dwarf_fields(const bytes::ElfImage& executable);

struct DwarfLayout {
    struct Difference {
        std::string_view member;
        std::uint32_t table = absent, dwarf = absent;
    };
    std::string_view row;                ///< source of the row
    Layout layout;                       ///< the row, with DWARF's offsets
    std::uint32_t read = 0;              ///< how many of them DWARF has
    std::vector<Difference> different;   ///< from the row
    std::vector<std::string_view> kept;  ///< members that DWARF lacks and the row has, whose offset is the row's
};

/// Puts what DWARF has into a row. What it lacks keeps the row's value, but for the few members that readers can do
/// without: those are absent where their structure is known and has no such member.
DwarfLayout with_dwarf(const Layout& row, const bytes::DebugTypes& types);

/// Readers ask for a structure's bytes up to a certain member or size, and take the others to be inside. Says in words
/// which ones are not; empty if all are.
std::string unfit_layout(const Offsets& at);

/// "243 of 259 offsets from FILE; 2 differ from the table of OTP 25: process_size 784 (776), ...", for doctor.
std::string describe(const DwarfLayout& found, const bytes::DebugTypes& types);

}  // namespace beamheap::otp
