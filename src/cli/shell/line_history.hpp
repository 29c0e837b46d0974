// SPDX-License-Identifier: Apache-2.0
// The lines that somebody typed into `shell` and `ui`, kept for the next time.
//
// They are in ~/.local/state/beamheap/history (XDG_STATE_HOME), readable by their owner alone; BEAMHEAP_HISTORY names
// another file, and, empty, none. A line that may have a value of a node in it is not kept: one with a string, a tuple,
// a list, a binary, or a literal of SQL. Where no file can be kept, none is, without a word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace beamheap::cli {

/// Whether a line names nothing but verbs, options, processes, functions and numbers.
bool holds_no_value(std::string_view line);

class LineHistory {
public:
    LineHistory() = default;
    /// Reads what there is; of more than a thousand lines the older half goes.
    static LineHistory open();
    /// Oldest first.
    const std::vector<std::string>& lines() const { return lines_; }
    /// Keeps a line, where it has no value in it and is not the one before.
    void add(const std::string& line);

private:
    std::string file_;  // empty: none is kept
    std::vector<std::string> lines_;
};

}  // namespace beamheap::cli
