// Files that beamheap creates: readable by their owner alone, never through a link, never over another file unasked.
#pragma once

#include <string>
#include <string_view>

#include "beamheap/error.hpp"

namespace beamheap::cli {

/// Whether a file could be made at `path`: an error (usage) where one is there and `overwrite` is false. "-" is
/// standard output.
Status may_write(const std::string& path, bool overwrite);
/// Creates the file with mode 0600, or with `overwrite` in place of the regular file that is there, and writes `text`:
/// under a name of its own at first, so that whoever looks sees the old file or all of the new one.
/// Errors: usage (it is there, it is a link or no file), unreadable (the system's reason).
Status write_file(const std::string& path, std::string_view text, bool overwrite);

}  // namespace beamheap::cli
