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

/// What stands between two lines that the loader notes, in the order of code: by which tests/native_sizes measures what
/// instructions take.
struct Stretch {
    std::uint32_t name = 0,
                  arity = 0;  ///< of the function that begins here (index into CodeModule::atoms); 0: none does
    SourcePlace place;        ///< of the line that it begins with; line 0: it begins with none
    std::map<std::uint32_t, std::uint32_t> parts{};  ///< how often each is there, by size_parts * op + SizePart
};

/// Fills functions, callees, sites and tails of `module`, whose atoms are there. `imports` is its table of imports,
/// `places` that of lines (may be empty). `stretches`, where there is one, gets all of the code. Errors: damaged;
/// not_recognised, where an instruction is newer than OTP 29.
Status walk_code(std::string_view chunk, std::span<const CodeFunctionName> imports, std::span<const SourcePlace> places,
                 CodeModule& module, std::vector<Stretch>* stretches = nullptr);

}  // namespace beamheap::beam
