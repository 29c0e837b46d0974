// Finding the dumps and cores among files, folders and archives.
//
// Told by content, never by name; what is compressed is looked into, and archives three deep. Folders are walked in the
// order of names without following links. Nothing is unpacked to a file but a core image, which needs one: that has no
// name (bytes/spool.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "beamheap/error.hpp"
#include "bytes/archive.hpp"
#include "bytes/source.hpp"

namespace beamheap::cli {

inline constexpr unsigned archive_depth = 3;  ///< archives in archives

struct InputVisitor {
    /// A dump or core: its bytes from the start, decompressed; `name` is the file, or "a.zip!/b.tar!/c" of a member.
    std::function<Status(std::unique_ptr<bytes::Source> source, const std::string& name)> found;
    /// What can't be read: the others are still looked at.
    std::function<void(const std::string& name, const Error& error)> unreadable;
};

struct InputCounts {
    std::uint64_t files = 0;     ///< looked at, members too
    std::uint64_t archives = 0;  ///< opened
};

/// Errors: a path that does not exist; what `found` returns; a limit of the budget.
Status visit_inputs(const std::vector<std::string>& paths, bytes::ArchiveBudget& budget, const InputVisitor& visitor,
                    InputCounts& counts);

}  // namespace beamheap::cli
