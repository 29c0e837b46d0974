// SPDX-License-Identifier: Apache-2.0
// Modules that are the program's own, told from those of OTP and Elixir by where their sources lay
// (erlang/sources.hpp).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// The folders below which OTP and Elixir were built. Empty: no module tells.
std::vector<std::string_view> build_folders(const Snapshot& snapshot);

/// Whether a module is known to lie elsewhere. A module without a source is not.
bool is_own_module(const Snapshot& snapshot, const Module& module, std::span<const std::string_view> build_folders);

/// The last of them, newest first, at most `most`: the VM's table of modules grows in the order of loading. Nothing
/// where a release loaded its modules all at once, in the order of their names, or where no build folder is known.
std::vector<std::string_view> last_own_modules(const Snapshot& snapshot, std::size_t most);

/// Modules of those that may have been the children of an application's supervisors, at most `most`: its own modules
/// of workers' behaviours, of which no process runs; the youngest first, where their order tells. Where the order is
/// that of names, as in a release, those that are called as the application is (shop_tax, Shop.Tax of shop).
struct ChildModules {
    std::vector<std::string_view> names;
    bool youngest_first = false;
    std::size_t more = 0;
};
ChildModules child_modules(const Snapshot& snapshot, std::string_view application, std::size_t most);

/// A module of the program's own that was loaded in the place of one of kernel's or stdlib's; empty: none is known.
std::string_view module_that_hides(const Snapshot& snapshot);

/// Exceptions of Elixir whose modules were loaded after the youngest of the program's own modules, the oldest first, at
/// most `most`. Nothing where the order of modules does not tell.
std::vector<std::string_view> exceptions_since(const Snapshot& snapshot, std::size_t most);

/// Whether a module is there that is loaded when a crash is printed for the first time. Missing where all modules were
/// loaded at once, or none of the program's own is known.
std::optional<bool> has_printed_crashes(const Snapshot& snapshot);

}  // namespace beamheap::analyses
