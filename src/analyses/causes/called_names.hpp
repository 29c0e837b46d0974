// SPDX-License-Identifier: Apache-2.0
// What the command line had the node call: names that -s and -run were given, from the order of the atom table
// (erlang/command_line.hpp), and which of them no module was loaded for.
//
// The names are what is new of them: of `-s shop start` there is `shop` alone, since `start` is an atom in every node.
// So the first name is a module, unless the module is one that the VM knows by itself (-s init stop); a name behind one
// whose module was loaded is most likely its function. Where flags stand between the names (OTP 19 and later), a name
// may also be a flag of the program's own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct CalledNames {
    std::vector<std::string_view> names;  ///< in the order of the command line; flags that are known are left out
    /// Those for which no module was loaded, and that stand behind no name of a module that was: one of them is a
    /// module that is missing, if any is. Empty where the modules are not known.
    std::vector<std::string_view> without_module;
    /// Whether flags of the program's own may be among the names.
    bool among_flags = false;
    /// The module that is missing, where nothing but a module can be the first name; empty: not known.
    std::string_view missing() const {
        return without_module.empty() || among_flags || without_module.front() != names.front()
                   ? std::string_view{}
                   : without_module.front();
    }
};

/// Needs Snapshot::atoms and Snapshot::modules. Empty where the table does not show them: cut, damaged, of a core.
CalledNames called_names(const Snapshot& snapshot);

}  // namespace beamheap::analyses
