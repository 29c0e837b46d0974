// SPDX-License-Identifier: Apache-2.0
// Chunk "Line": locations that the instruction `line` refers to by number (beam_dict.erl, beam_file.c).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/code_module.hpp"
#include "beamheap/error.hpp"

namespace beamheap::beam {

struct LineTable {
    std::vector<SourcePlace> places;  ///< by number; 0: no place
    std::vector<std::string> files;   ///< from 1; 0 is left to the module's own name
};

/// Errors: damaged. A version that is not known gives an empty table, as the VM takes it.
Result<LineTable> read_lines(std::string_view chunk);

}  // namespace beamheap::beam
