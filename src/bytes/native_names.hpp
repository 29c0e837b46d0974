// What native code is called: an address looked up in the files that libdwfl knows to be mapped there.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>

#include "bytes/unwinder.hpp"

namespace beamheap::bytes {

/// Fills function, offset and file of a frame whose address is set; false where no file is mapped there. A return address
/// (`returning`) is behind its call, which may be the last instruction of its function.
bool name_native_code(Dwfl* dwfl, bool returning, NativeFrame& frame);

/// Where the function begins that has the code at `address`, by the table of .eh_frame_hdr, which stripped files have, too
/// (Linux Standard Base, "Exception Frames"); 0 where the file has no such table, or another form of it.
std::uint64_t start_of_unnamed(Dwfl_Module* module, std::uint64_t address);

}  // namespace beamheap::bytes
