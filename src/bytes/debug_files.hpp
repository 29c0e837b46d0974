// SPDX-License-Identifier: Apache-2.0
// Separate files of debug information, as a build id or .gnu_debuglink names them, for libdwfl.
//
// The search is libdwfl's own, but that it never asks a server: that one (dwfl_standard_find_debuginfo) loads a library
// of HTTP and thirty others to learn that there is none to ask, which costs more than all else that is done with a
// small image. An executable is untrusted bytes, so a file counts only if it is a regular one that unpacks to a sane
// size, and bears the same build id; where the executable has none, the checksum that the link names.
#pragma once

#include <elfutils/libdwfl.h>

#include <string>

#include "bytes/elf_image.hpp"

namespace beamheap::bytes {

/// Whether libdw may have the file: it unpacks all that is compressed, and opens what the links name, which could block
/// on anything but a regular file.
bool harmless(const ElfImage& file, const std::string& path);

/// Dwfl_Callbacks::find_debuginfo: /usr/lib/debug/.build-id, then the link's name beside the file, in .debug beside it,
/// and in /usr/lib/debug followed by its folder (elfutils' defaults).
int find_debug_file(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base, const char* file,
                    const char* link, GElf_Word crc, char** found);

}  // namespace beamheap::bytes
