// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/own_modules.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "erlang/core_modules.hpp"
#include "erlang/crash_reports.hpp"
#include "erlang/elixir_names.hpp"
#include "erlang/modules.hpp"
#include "erlang/sources.hpp"

namespace beamheap::analyses {

std::vector<std::string_view> build_folders(const Snapshot& snapshot) {
    std::vector<std::string_view> folders;
    for (const Module& module : snapshot.modules) {
        const std::string_view name = snapshot.text(module.name);
        for (const erlang::KnownSource& known : erlang::known_sources) {
            std::string_view source = snapshot.text(module.source);
            if (name != known.module || !source.ends_with(known.path)) continue;
            source.remove_suffix(known.path.size());
            if (std::ranges::find(folders, source) == folders.end()) folders.push_back(source);
        }
    }
    return folders;
}

bool is_own_module(const Snapshot& snapshot, const Module& module, std::span<const std::string_view> build_folders) {
    const std::string_view source = snapshot.text(module.source);
    return !source.empty() && !build_folders.empty() &&
           std::ranges::none_of(build_folders, [source](std::string_view folder) {
               return source.starts_with(folder) &&
                      std::ranges::any_of(erlang::source_folders, [&](std::string_view part) {
                          return source.substr(folder.size()).starts_with(part);
                      });
           });
}

namespace {

// Whether modules were loaded when they were first called, and not all at once in the order of their names, up or down,
// which is nearly kept from one to the next.
bool in_order_of_calls(const Snapshot& snapshot) {
    constexpr std::size_t least = 8, looked_at = 16;
    const auto& modules = snapshot.modules;
    if (modules.size() <= least) return false;
    const std::size_t pairs = std::min(looked_at, modules.size()) - 1;
    std::size_t up = 0;
    for (std::size_t i = modules.size() - pairs; i < modules.size(); ++i)
        up += snapshot.text(modules[i - 1].name) < snapshot.text(modules[i].name);
    return std::max(up, pairs - up) * 4 < pairs * 3;
}

}  // namespace

std::vector<std::string_view> last_own_modules(const Snapshot& snapshot, std::size_t most) {
    const auto& modules = snapshot.modules;
    const std::vector<std::string_view> folders = build_folders(snapshot);
    if (folders.empty() || !in_order_of_calls(snapshot)) return {};
    std::vector<std::string_view> names;
    for (auto module = modules.rbegin(); module != modules.rend() && names.size() < most; ++module)
        if (is_own_module(snapshot, *module, folders)) names.push_back(snapshot.text(module->name));
    return names;
}

ChildModules child_modules(const Snapshot& snapshot, std::string_view application, std::size_t most) {
    const std::vector<std::string_view> folders = build_folders(snapshot);
    ChildModules found{{}, in_order_of_calls(snapshot), 0};
    std::set<TextId> alive;
    for (const Process& process : snapshot.processes)
        for (const FunctionId function : {process.initial_call, process.real_initial_call, process.current_function})
            if (function != FunctionId::none) alive.insert(snapshot.functions[function].module);
    for (auto module = snapshot.modules.rbegin(); module != snapshot.modules.rend(); ++module) {
        const std::string_view name = snapshot.text(module->name);
        if (!erlang::is_worker(snapshot.text(module->behaviours)) || alive.contains(module->name) ||
            !(found.youngest_first ? is_own_module(snapshot, *module, folders)
                                   : erlang::is_called_after(name, application)))
            continue;
        if (found.names.size() < most) found.names.push_back(name);
        else ++found.more;
    }
    return found;
}

std::string_view module_that_hides(const Snapshot& snapshot) {
    const std::vector<std::string_view> folders = build_folders(snapshot);
    for (const Module& module : snapshot.modules)
        if (erlang::is_core_module(snapshot.text(module.name)) && is_own_module(snapshot, module, folders))
            return snapshot.text(module.name);
    return {};
}

std::vector<std::string_view> exceptions_since(const Snapshot& snapshot, std::size_t most) {
    const std::vector<std::string_view> folders = build_folders(snapshot);
    if (folders.empty() || !in_order_of_calls(snapshot)) return {};
    std::vector<std::string_view> names;
    for (auto module = snapshot.modules.rbegin(); module != snapshot.modules.rend(); ++module) {
        const std::string_view name = snapshot.text(module->name);
        if (erlang::is_exception(name)) names.push_back(name);
        else if (is_own_module(snapshot, *module, folders)) {
            std::ranges::reverse(names);
            names.resize(std::min(names.size(), most));
            return names;
        }
    }
    return {};
}

std::optional<bool> has_printed_crashes(const Snapshot& snapshot) {
    const auto has = [&](std::string_view name) {
        return std::ranges::any_of(snapshot.modules,
                                   [&](const Module& module) { return snapshot.text(module.name) == name; });
    };
    if (last_own_modules(snapshot, 1).empty() || !has(erlang::logs_since_21)) return std::nullopt;
    return std::ranges::any_of(erlang::printers_of_crashes, has);
}

}  // namespace beamheap::analyses
