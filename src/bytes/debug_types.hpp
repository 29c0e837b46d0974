// SPDX-License-Identifier: Apache-2.0
// Where members of C structures are, out of the DWARF of an executable (libdw and libdwfl of elfutils).
//
// Debug information describes each type in every unit that uses it: a tree of entries, whose roots are the units. A
// structure is asked for by its name, which may be its tag's or that of a typedef (also of a structure without a tag),
// and the first unit that has it whole counts; others may only declare it. Types are on the top level of a unit, so
// one pass over the units' own children finds them; members are then looked up in those that were found.
//
// The information is looked for in the executable itself, then in a separate file that its build id or .gnu_debuglink
// names: beside it, in .debug beside it, in /usr/lib/debug. Nothing is fetched over a network.
//
// An executable is untrusted bytes: work is bounded by the bytes of DWARF that are stepped over, entries of a list
// must ascend, chains of types are followed a fixed number of steps, and no file that the information names is opened
// but those above. Facts: DWARF 5 (and 2 to 4 where they differ), sections 2.5, 5.3, 5.7, 7.5.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "bytes/elf_image.hpp"

namespace beamheap::bytes {

/// What is asked for: "state" of "Process", "u.alive.links" for a nested one (an array on the way stands for its first
/// element; members of unnamed structures and unions are their parent's). An empty path asks for the structure's size.
/// Both may have alternatives divided by '|', of which the first that exists counts. Views must outlive the call.
struct MemberQuery {
    std::string_view structure, path;
};

struct MemberAnswer {
    enum class State : std::uint8_t {
        no_structure,  ///< no unit has a whole structure of this name
        no_member,     ///< the structure is there, without such a member
        found
    };
    State state = State::no_structure;
    std::uint32_t bytes = 0;  ///< offset of the member, or size of the structure
};

struct DebugTypes {
    std::string file;                   ///< the file that has the debug information
    std::vector<MemberAnswer> answers;  ///< one for each query, in order
    std::string damage;                 ///< why some of it was passed over, a sentence's part; empty if nothing was
};

/// Answers all queries in one pass. Nothing where the executable has no debug information, which is told from its
/// sections and a few file names, before anything is loaded. Errors: damaged (there is some that can't be read).
Result<std::optional<DebugTypes>> read_debug_types(const ElfImage& executable, std::span<const MemberQuery> queries);

}  // namespace beamheap::bytes
