// SPDX-License-Identifier: Apache-2.0
// Where a path that a node named lies on this machine. It is an input's word: nothing below what the kernel or a mount
// of the network makes is looked at.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "beamheap/snapshot.hpp"

namespace beamheap::cli {

/// Where a live VM has its files ("/proc/PID/root", which is another root than ours for one in a container); empty
/// where the paths are this machine's own.
std::string root_of_node(const Snapshot& snapshot);

/// A folder, or a regular file: an archive may stand for a folder on the way to what was named (".../a.ez/a/ebin", an
/// escript).
struct NodePlace {
    std::string path;  ///< on this machine, without links below the root
    bool is_folder = false;
};

/// Follows a path as the node itself does: links and ".." below `root` lead nowhere out of it, absolute links begin at
/// it. Nothing: it is not there, is no folder and no regular file, or may not be looked at.
std::optional<NodePlace> find_of_node(const std::string& root, std::string_view path);

/// Whether a path without links may be opened: not below /proc, /dev and the like, nor a mount of the network.
bool may_be_looked_at(std::string_view path);

}  // namespace beamheap::cli
