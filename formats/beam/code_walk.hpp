// SPDX-License-Identifier: Apache-2.0
// Chunk "Code", followed once from front to back.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "beamheap/code_module.hpp"
#include "beamheap/error.hpp"

namespace beamheap::beam {

/// Fills functions, callees, sites and tails of `module`, whose atoms are there. `imports` is its table of imports,
/// `places` that of lines (may be empty). Errors: damaged; not_recognised, where an instruction is newer than OTP 29.
Status walk_code(std::string_view chunk, std::span<const CodeFunctionName> imports, std::span<const SourcePlace> places,
                 CodeModule& module);

/// What stands between two lines that the loader notes, in the order of code.
struct Stretch {
    std::uint32_t name = 0,
                  arity = 0;  ///< of the function that begins here (index into CodeModule::atoms); 0: none does
    SourcePlace place;        ///< of the line that it begins with; line 0: it begins with none
    std::map<std::uint32_t, std::uint32_t> parts{};  ///< how often each is there, by size_parts * op + SizePart
};

/// The same, and all stretches of the code, by which what instructions take is measured (tests/native_sizes).
Status walk_code(std::string_view chunk, std::span<const CodeFunctionName> imports, std::span<const SourcePlace> places,
                 CodeModule& module, std::vector<Stretch>& stretches);

}  // namespace beamheap::beam
