// SPDX-License-Identifier: Apache-2.0
// Chunk "Code", followed once from front to back.
#pragma once

#include <span>
#include <string_view>

#include "beamheap/code_module.hpp"
#include "beamheap/error.hpp"

namespace beamheap::beam {

/// Fills functions, callees, sites and tails of `module`, whose atoms are there. `imports` is its table of imports,
/// `places` that of lines (may be empty). Errors: damaged; not_recognised, where an instruction is newer than OTP 29.
Status walk_code(std::string_view chunk, std::span<const CodeFunctionName> imports, std::span<const SourcePlace> places,
                 CodeModule& module);

}  // namespace beamheap::beam
