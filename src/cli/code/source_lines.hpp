// SPDX-License-Identifier: Apache-2.0
// The text of source lines: of files below --source, or of that which the module's compile information names.
//
// Nothing proves that a source is what was compiled: the line's number is the VM's or the module's, its text the
// file's. What an input says of paths is somebody else's word: of these only files of Erlang's and Elixir's kinds are
// opened, that are called as the line's file is; no devices, no folders of the kernel's. Files are read once, and
// bounded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/snapshot.hpp"
#include "cli/code/record_book.hpp"

namespace beamheap::cli {

/// A line of a source, at a frame.
struct SourceLine {
    std::uint32_t depth = 0;  ///< of the frame: 0 is the youngest
    std::string file;         ///< its name, without folders
    std::uint32_t line = 0;   ///< from 1
    std::string text;         ///< without the end of line, at most 400 bytes; raw
    bool at = true;           ///< the frame is there; else it is a line around it
};

class SourceLines {
public:
    /// Folders of --source; `by_modules`: files that modules name are looked for, too (Module::source).
    SourceLines(const Snapshot& snapshot, std::vector<std::string> folders, bool by_modules)
        : snapshot_(snapshot), folders_(std::move(folders)), by_modules_(by_modules) {}

    /// The lines of frames whose file is there, in their order, with `around` lines before and behind each; at most
    /// `most` frames.
    std::vector<SourceLine> of(std::span<const Frame> frames, std::uint32_t around, std::size_t most);

private:
    const std::vector<std::string>* lines_of(const Frame& frame, std::string_view file);
    std::string path_of(const Frame& frame, std::string_view file);

    const Snapshot& snapshot_;
    SourceFolders folders_;
    bool by_modules_;
    std::map<std::string, std::vector<std::string>, std::less<>> read_;  // by path; empty: it can't be read
};

}  // namespace beamheap::cli
