// SPDX-License-Identifier: Apache-2.0
// Lines of stack frames that the input itself does not hold: found from compiled modules (analyses/code/lines.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "beamheap/interned.hpp"

namespace beamheap {

/// How sure the line of a frame is.
enum class LineCertainty : std::uint8_t {
    none,    ///< there is no line
    exact,   ///< the VM's own table of lines says it
    found,   ///< the module that ran has one place only where the frame can be
    one_of,  ///< it has several places, on different lines
};
std::string_view name_of(LineCertainty certainty);  ///< "exact", "found", "one_of"; empty: none

/// Where a frame is in its source.
struct FrameLine {
    LineCertainty certainty = LineCertainty::none;
    std::string_view file;                 ///< raw bytes, as the compiler or the VM has it
    std::span<const std::uint32_t> lines;  ///< ascending; several where it is one of them
    /// The line; 0 where there is none or more than one.
    std::uint32_t line() const { return lines.size() == 1 ? lines[0] : 0; }
};

/// The lines that were found, by function and offset: the same place is the same line in every stack.
class FrameLines {
public:
    void add(FunctionId function, std::uint32_t offset, std::string_view file, std::vector<std::uint32_t> lines);
    /// Where a function begins: of a fun, where it stands in the function that makes it.
    void add_head(FunctionId function, std::string_view file, std::uint32_t line);
    bool empty() const { return places_.empty() && heads_.empty(); }
    FrameLine of(FunctionId function, std::uint32_t offset) const;
    FrameLine head_of(FunctionId function) const;

private:
    struct Place {
        std::uint32_t file = 0;  // in files_
        std::vector<std::uint32_t> lines;
    };
    std::uint32_t file(std::string_view name);
    std::unordered_map<std::uint64_t, Place> places_;
    std::unordered_map<std::uint32_t, Place> heads_;
    std::deque<std::string> files_;
};

}  // namespace beamheap
