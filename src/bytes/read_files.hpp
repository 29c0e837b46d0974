// SPDX-License-Identifier: Apache-2.0
// Which files the program reads, so that nothing is written over one of them: a dump may be the only trace of a crash.
//
// Files are known by device, inode and time of birth: links, other names and a shell's redirections lead to the same
// ones. Only regular files are noted; what is written to a pipe, a terminal or a device is not lost by being read.
#pragma once

#include <string>
#include <string_view>

namespace beamheap::bytes {

/// Notes the file that `path` names, or that is open as `descriptor`; none where it is no regular file. `role` says
/// what it is read as ("the input"), and lives as long as the program; the first one that a file was given stays. Any
/// thread may call this.
void note_read(const std::string& path, std::string_view role);
void note_read(int descriptor, std::string_view role);

/// What this file is read as; empty: it is not read, as far as was noted.
std::string_view read_as(const std::string& path);
std::string_view read_as(int descriptor);

}  // namespace beamheap::bytes
