// SPDX-License-Identifier: Apache-2.0
// Where the VM's global structures are in an image: from the executable's dynamic symbols, or, where it has none
// (OTP 29 hides them all, and some are static in every release), found by what they look like.
//
// Structural scans look at the executable's writable data, about 400 KB, once. Each kind of structure has a test that
// random words do not pass: tables are followed into their elements, names are read from the executable's constants,
// code ranges must be sorted and disjoint. What was found how is told by `doctor`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "beamheap/artifact.hpp"
#include "bytes/address_space.hpp"
#include "formats/otp/layout/layout.hpp"
#include "formats/otp/vm/image.hpp"

namespace beamheap::otp {

/// Addresses; 0 is "not found".
struct Roots {
    std::uint64_t process_table = 0, port_table = 0;  ///< ErtsPTab
    std::uint64_t atom_table = 0;                     ///< IndexTable
    std::uint64_t code_ranges = 0;                    ///< three times {Range* modules; n; allocated; Range* mid}
    std::array<std::uint64_t, 3> module_tables{};     ///< IndexTable, one for each code index
    std::uint64_t dist_table = 0, node_table = 0;     ///< Hash
    std::uint64_t this_node = 0;                      ///< ErlNode
    std::uint64_t persistent_terms = 0;               ///< HashTable
    std::uint64_t catches = 0;                        ///< 16 bytes for each catch of loaded code: its address first
    std::uint32_t catch_count = 0;
    std::uint32_t code_index = 0;                    ///< the active one of the three
    bool frame_pointers = false;                     ///< stack frames are {frame pointer, return address}
    std::uint32_t breakpoint_index = 0;              ///< the active one of GenericBp.data
    std::vector<std::uint64_t> schedulers;           ///< ErtsSchedulerData of normal schedulers, by number
    std::vector<std::uint64_t> dirty_cpu, dirty_io;  ///< and of dirty ones
    std::vector<std::string> missing;                ///< what was not found, in words
    std::vector<Check> found;                        ///< name, and "how, at 0x...", for doctor
};

Roots find_roots(const Image& image, const Layout& layout);

}  // namespace beamheap::otp
