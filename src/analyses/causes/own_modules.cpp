// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/own_modules.hpp"

#include <algorithm>

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

std::vector<std::string_view> last_own_modules(const Snapshot& snapshot, std::size_t most) {
    constexpr std::size_t looked_at = 8;
    const auto& modules = snapshot.modules;
    const std::vector<std::string_view> folders = build_folders(snapshot);
    if (modules.size() <= looked_at || folders.empty()) return {};
    const auto name = [&](const Module& module) { return snapshot.text(module.name); };
    if (std::is_sorted(modules.end() - looked_at, modules.end(),
                       [&](const Module& a, const Module& b) { return name(a) < name(b); }))
        return {};
    std::vector<std::string_view> names;
    for (auto module = modules.rbegin(); module != modules.rend() && names.size() < most; ++module)
        if (is_own_module(snapshot, *module, folders)) names.push_back(name(*module));
    return names;
}

}  // namespace beamheap::analyses
