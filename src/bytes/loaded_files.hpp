// SPDX-License-Identifier: Apache-2.0
// The files of a process as its dynamic linker lists them, for cores whose notes name none: kernels before 3.7,
// emulators and some tools write no NT_FILE.
//
// The dynamic section of the executable has the address of the linker's own structure (DT_DEBUG), and that a chain with
// one element for each file: where it was loaded, its name, and its dynamic section, which stands behind all its code.
// Facts: System V gABI (dynamic section), glibc and musl link.h (struct r_debug, struct link_map).
#pragma once

#include <vector>

#include "bytes/address_space.hpp"
#include "bytes/core_notes.hpp"
#include "bytes/elf_image.hpp"

namespace beamheap::bytes {

/// Files of the process, each from its load address to the end of the core's segment that has its dynamic section.
/// The executable itself, which the linker gives no name, is left out. Empty where nothing is found.
std::vector<CoreFile> loaded_files(const ElfImage& executable, std::uint64_t bias, const ElfImage& core,
                                   const AddressSpace& space);

}  // namespace beamheap::bytes
