// SPDX-License-Identifier: Apache-2.0
// A .beam file of any release (R10B to 29) as a CodeModule: the code is followed once, instruction by instruction, for
// the places at which a process may wait and the size of the frame there.
//
// Facts: the list of instructions and their numbers of operands (genop.tab; numbers are never used again), operands
// (beam_asm.erl), what the loader of each release makes one instruction of (ops.tab), beam_lib.erl. Bounded by the
// file's size; nothing recurses.
#pragma once

#include <string_view>

#include "beamheap/code_module.hpp"
#include "beamheap/error.hpp"
#include "formats/beam/code_walk.hpp"

namespace beamheap::beam {

/// The largest file that is read as a module, unpacked.
inline constexpr std::size_t most_module_bytes = 64u << 20;

/// Reads an uncompressed module. Errors: not_recognised; damaged, with a clause that says what ("its atoms end early");
/// resource_limit.
/// With `stretches`, also what stands between lines of its code (code_walk.hpp).
Result<CodeModule> read_module(std::string_view bytes, std::vector<Stretch>* stretches = nullptr);

}  // namespace beamheap::beam
