// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/called_names.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "erlang/command_line.hpp"

namespace beamheap::analyses {
namespace {

// More than anybody writes on a command line by hand.
constexpr std::size_t most_names = 64;

// Where an atom is, looking from the oldest on: those of the command line were made before nearly all others.
std::optional<std::size_t> oldest(const Snapshot& snapshot, std::string_view name) {
    const auto found = std::find_if(snapshot.atoms.rbegin(), snapshot.atoms.rend(),
                                    [&](TextId atom) { return snapshot.text(atom) == name; });
    if (found == snapshot.atoms.rend()) return std::nullopt;
    return static_cast<std::size_t>(snapshot.atoms.rend() - found) - 1;
}

// Both in the order of the command line; empty where one of the ends is not there.
std::vector<std::string_view> before_old_flags(const Snapshot& snapshot, std::size_t flag) {
    std::vector<std::string_view> names;
    for (std::size_t at = flag + 1; at < snapshot.atoms.size() && names.size() < most_names; ++at) {
        const std::string_view name = snapshot.text(snapshot.atoms[at]);
        if (erlang::is_atom_of_vm(name)) {
            std::ranges::reverse(names);
            return names;
        }
        names.push_back(name);
    }
    return {};
}
std::vector<std::string_view> among_flags(const Snapshot& snapshot) {
    const auto home = oldest(snapshot, erlang::last_own_flag);
    if (!home || *home + 1 >= snapshot.atoms.size() || snapshot.text(snapshot.atoms[*home + 1]) != erlang::first_flag)
        return {};
    std::vector<std::string_view> names;
    for (std::size_t at = *home; at-- > 0 && names.size() < most_names;) {
        const std::string_view name = snapshot.text(snapshot.atoms[at]);
        if (name == erlang::behind_flags) return names;
        // elixir is a flag (-elixir ansi_enabled true), and the module of -s elixir start_cli.
        const bool is_called =
            at != 0 && erlang::is_entry_point(snapshot.text(snapshot.atoms[at - 1])) && name == "elixir";
        if (!erlang::is_known_flag(name) || is_called) names.push_back(name);
    }
    return {};
}

}  // namespace

CalledNames called_names(const Snapshot& snapshot) {
    CalledNames called;
    const auto flag = oldest(snapshot, erlang::first_old_flag);
    called.among_flags = !flag;
    called.names = flag ? before_old_flags(snapshot, *flag) : among_flags(snapshot);
    if (snapshot.modules.empty() || called.names.empty()) return called;
    std::unordered_set<std::string_view> loaded;
    for (const Module& module : snapshot.modules) loaded.insert(snapshot.text(module.name));
    bool behind_module = false;
    for (const std::string_view& name : called.names) {
        const bool is_loaded = loaded.contains(name);
        const bool is_function = &name != &called.names.front() && erlang::is_entry_point(name);
        if (!is_loaded && !behind_module && !is_function) called.without_module.push_back(name);
        behind_module = is_loaded;
    }
    return called;
}

}  // namespace beamheap::analyses
