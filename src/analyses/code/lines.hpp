// SPDX-License-Identifier: Apache-2.0
// Lines of frames from compiled modules alone, for inputs that hold no lines (crash dumps).
//
// A frame is a return address: it stands behind a call in its function. Which of the function's calls it can be is told
// by what must be true there: the frame has as many registers as the stack shows, marks of `catch` in the same ones;
// the called function is that of the next younger frame, or goes on in it without coming back (tail calls, up to six of
// them; a fun, `apply` and what the VM does itself may be anything); it is as far on in the machine's code as what
// stands before it in the module's can be, at least and at most (CodeSite::Sizes), where that is so of every place of
// the input that is known without it; and in one function a larger offset is a later instruction, over all stacks of
// the input. A line is told where all calls that are left stand on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "beamheap/code_module.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// A module that frames name, and what became of the question for its code.
struct ModuleUse {
    std::string name;
    CodeMatch match = CodeMatch::not_there;
    std::uint64_t places = 0;  ///< in it, that stacks show
};

struct FoundLines {
    FrameLines lines;
    std::uint64_t places = 0;        ///< of the input's stacks, each once
    std::uint64_t found = 0;         ///< with one line
    std::uint64_t several = 0;       ///< with several lines
    std::vector<ModuleUse> modules;  ///< that frames name, in the order of their names
};

/// The lines of all frames of the snapshot that have none themselves. Asks `code` for the modules that frames name, and
/// for those through which a call may lead where that alone decides between several lines.
FoundLines find_lines(const Snapshot& snapshot, CodeSource& code);

}  // namespace beamheap::analyses
