// SPDX-License-Identifier: Apache-2.0
// Atoms that were made by a pattern: what fills an atom table.
//
// An atom leak is a program that turns data into atoms: node names, user ids, keys. Such atoms differ in a number, a
// hexadecimal id, a UUID or a random token and are alike in the rest. Replacing those parts by a placeholder makes each
// leak one family: `f1b56df2-ctl-ejabberd@localhost` is `<hex8>-ctl-ejabberd@localhost`.
//
// Placeholders: <uuid> (8-4-4-4-12 hexadecimal digits), <hexN> (N >= 8 hexadecimal digits of one case, letters and
// digits both, or what follows 0x), <int> (digits), <base64> (12 or more letters, digits, - _ + / = that change between
// small letters, capitals and digits much more often than words do), <function> (of the names that the compiler makes:
// `-handle_call/3-fun-0-`), <hex> (two to seven hexadecimal digits of one case that stand alone between other
// characters, where a hundred atoms or more differ in them and half of these have a letter there), <code> (a short
// serial number or token of digits and letters, name_codes.hpp). A run of 6 or more digits is counted with its length
// until the end, where it joins the <hexN> family that is otherwise alike (one in fifty random 8-digit hexadecimal
// numbers has no letter) or the <int> family. Atoms with no placeholder are no family.
//
// A dump lists atoms newest first, so a family near position 0 is one that was growing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/memory/name_codes.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct AtomFamily {
    std::string pattern;  ///< raw bytes of atoms with placeholders
    std::uint64_t count = 0;
    double percent = 0;            ///< of all atoms that were listed
    std::vector<TextId> examples;  ///< up to three, newest first
    std::uint64_t newest = 0;      ///< position of the newest one in the list, 0 is the newest atom of all
    std::uint64_t oldest = 0;
};

struct AtomFamilies {
    std::vector<AtomFamily> families;  ///< of two or more atoms, largest first, then newest first
    std::uint64_t atoms = 0;           ///< listed in the input
    std::uint64_t in_families = 0;     ///< of them, in one of the families
    NameCodes codes;                   ///< that atoms have
    bool exact = true;                 ///< false: so many patterns that rare ones were dropped on the way, and counts
                                       ///< are lower bounds
};

/// Families of Snapshot::atoms. Linear in the atoms' bytes; memory is bounded by a fixed number of patterns (131,072).
AtomFamilies atom_families(const Snapshot& snapshot);

/// Whether an atom may have anything to replace: each placeholder needs a digit (but a UUID without one, of which there
/// is one in 10^7).
bool may_be_of_family(std::string_view atom);

/// The pattern of one atom; the atom itself where there is nothing to replace.
std::string atom_pattern(std::string_view atom);

}  // namespace beamheap::analyses
