// SPDX-License-Identifier: Apache-2.0
// What native code is called: an address looked up in the files that libdwfl knows to be mapped there.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <vector>

#include "bytes/unwinder.hpp"

namespace beamheap::bytes {

/// Addresses [start, end) of code; nowhere if they are equal.
struct CodeExtent {
    std::uint64_t start = 0, end = 0;
    bool holds(std::uint64_t address) const { return start <= address && address < end; }
};

/// Fills function, offset and file of a frame whose address is set; false where no file is mapped there. A return
/// address
/// (`returning`) is behind its call, which may be the last instruction of its function.
bool name_native_code(Dwfl* dwfl, bool returning, NativeFrame& frame);

/// Where symbols of a file begin and end, in order, each address once: all code between two of these has the same name,
/// or none.
std::vector<std::uint64_t> symbol_bounds(Dwfl_Module* module);

/// Where the function lies that has the code at `address`, by the table of .eh_frame_hdr, which stripped files have,
/// too (Linux Standard Base, "Exception Frames"), up to the next one's begin; nowhere where the file has no such table,
/// or another form of it.
CodeExtent extent_of_unnamed(Dwfl_Module* module, std::uint64_t address);

}  // namespace beamheap::bytes
