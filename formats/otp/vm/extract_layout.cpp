// SPDX-License-Identifier: Apache-2.0
// Developers' tool: prints the offsets of an emulator that was built with debug information as a row of layouts/*.inc.
#include <fmt/format.h>

#include <cstdio>

#include "formats/otp/layout/dwarf_layout.hpp"
#include "formats/otp/vm/image.hpp"

int main(int argc, char** argv) {
    using namespace beamheap;
    const auto fail = [](const Error& error) {
        fmt::print(stderr, "extract_layout: {}\n", error.message);
        return 3;
    };
    if (argc != 2 && argc != 3) {
        fmt::print(stderr,
                   "usage: extract_layout BEAM.SMP [BUILD]\n  BUILD goes to the first line, such as \"-O2 build, with "
                   "HiPE\"\n");
        return 2;
    }
    const auto executable = bytes::ElfImage::open(argv[1]);
    if (!executable) return fail(executable.error());
    const auto types = otp::read_dwarf_fields(*executable);
    if (!types) return fail(types.error());
    if (!*types) return fail({ErrorCode::not_recognised, fmt::format("{} has no debug information", argv[1]), {}});
    const auto build = otp::find_build(*executable);
    if (!build) return fail({ErrorCode::not_recognised, fmt::format("{} is not an Erlang VM", argv[1]), {}});
    otp::Layout nothing;
    nothing.at = otp::Offsets{};
    const otp::DwarfLayout found = otp::with_dwarf(nothing, **types);
    if (!(*types)->damage.empty())
        return fail({ErrorCode::damaged, fmt::format("{}: {}", argv[1], (*types)->damage), {}});

    // Rows are of x86-64; what other platforms change in them is platform.hpp's.
    fmt::print("// Offsets of OTP {} (erts {}), {}, {}, from the DWARF of a {}, in the form of extract_layout.\n",
               build->release, build->erts_version, bytes::machine_name(executable->machine()),
               build->hipe  ? "with HiPE"
               : build->jit ? "JIT"
                            : "interpreter",
               argc == 3 ? argv[2] : "-O2 build");
    for (const otp::FieldName& field : otp::field_names()) {
        const std::uint32_t value = found.layout.at.*field.field;
        if (value == otp::absent) fmt::print(".{} = absent,\n", field.member);
        else fmt::print(".{} = {},\n", field.member, value);
    }
    if (const std::string unfit = otp::unfit_layout(found.layout.at); !unfit.empty())
        fmt::print(stderr, "extract_layout: readers can't use this row: {}\n", unfit);
    return 0;
}
