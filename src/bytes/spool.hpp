// SPDX-License-Identifier: Apache-2.0
// A stream kept in a temporary file, so that it can be read at any place: compressed core images, and those on a pipe.
//
// Core images are mostly zero pages; those become holes, so the file takes up about what the process's own memory
// took. It has no name (O_TMPFILE, or unlinked at once) and goes with the process that made it.
#pragma once

#include <cstdint>
#include <functional>

#include "beamheap/error.hpp"
#include "bytes/elf_image.hpp"
#include "bytes/source.hpp"

namespace beamheap::bytes {

/// Opens so many temporary files now, for calls of spool() that come when the process may make none any more. Those
/// that can't be had are an error then.
void reserve_temporary_files(std::size_t count);

/// Starts a process that opens temporary files for this one from now on, as many as spool() asks for: of how many
/// inputs a question is about is not known before it. Only that process can write there; it reads nothing, and ends
/// with the last process that can ask it.
void lend_temporary_files();

/// Reads a source to its end into a temporary file in $TMPDIR (or /tmp) and maps it. `name` is for sentences.
/// `told`, where given, hears after each piece how many bytes of the stored source are read, and of how many (0:
/// unknown). Errors: those of the source; no space or no place for the file.
Result<MappedFile> spool(Source& source, const std::string& name,
                         const std::function<void(std::uint64_t, std::uint64_t)>& told = {});

}  // namespace beamheap::bytes
