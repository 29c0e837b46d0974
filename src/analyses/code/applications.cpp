// SPDX-License-Identifier: Apache-2.0
#include "analyses/code/applications.hpp"

#include <algorithm>

#include "analyses/code/code_path.hpp"
#include "analyses/processes/application_starts.hpp"
#include "erlang/registered.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {

ApplicationFolder application_folder(std::string_view folder) {
    constexpr std::string_view modules = "/ebin";
    while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
    if (!folder.ends_with(modules)) return {};
    folder.remove_suffix(modules.size());
    std::string_view name = folder.substr(folder.rfind('/') + 1);
    if (name.empty() || name.front() < 'a' || name.front() > 'z') return {};
    // An application's name is an atom without hyphens: its version begins behind the first one with a digit.
    for (std::size_t at = name.find('-'); at != name.npos; at = name.find('-', at + 1))
        if (at + 1 < name.size() && name[at + 1] >= '0' && name[at + 1] <= '9')
            return {name.substr(0, at), name.substr(at + 1)};
    return {name, {}};
}

std::optional<Release> release(Artifact& artifact) {
    // {state, Flags, Args, Start, Kernel, BootPid, Status, {Name, Version}, Loaded, Subscribed}, to which 26 adds two
    constexpr std::size_t least_state = 10, script_at = 7, longest_name = 256;
    const ProcId first = artifact.snapshot().find_registered(erlang::registered::init);
    if (first == ProcId::none) return std::nullopt;
    const auto source = artifact.terms(first);
    if (!source) return std::nullopt;
    const TermReader terms(**source);
    for (std::uint32_t i = 0; i < (*source)->graph().roots().size(); ++i) {
        const std::vector<Element> state = terms.tuple((*source)->root(i));
        if (state.size() < least_state || !TermReader::is(state[0], "state")) continue;
        const std::vector<Element> script = terms.tuple(state[script_at], 2);
        if (script.empty()) continue;
        const auto name = terms.text(script[0], longest_name), version = terms.text(script[1], longest_name);
        if (name && version && !name->empty()) return Release{*name, *version};
    }
    return std::nullopt;
}

std::vector<Application> applications(Artifact& artifact) {
    std::vector<Application> found;
    const auto named = [&found](std::string_view name) {
        const auto at = std::ranges::find(found, name, &Application::name);
        return at == found.end() ? nullptr : &*at;
    };
    if (const auto path = code_path(artifact))
        for (const std::string& folder : path->folders)
            // The first of its name is the one whose modules are loaded.
            if (const ApplicationFolder is = application_folder(folder); !is.name.empty() && named(is.name) == nullptr)
                found.push_back({std::string(is.name), std::string(is.version), folder, std::nullopt, {}});
    const ProcId controller = artifact.snapshot().find_registered(erlang::registered::application_controller);
    if (controller != ProcId::none)
        if (const auto terms = artifact.terms(controller)) {
            const ApplicationStarts starts = application_starts(**terms);
            if (starts.known)
                for (Application& each : found) each.running = false;
            for (const RunningApplication& runs : starts.masters) {
                if (named(runs.name) == nullptr) found.push_back({runs.name, {}, {}, true, {}});
                Application& each = *named(runs.name);
                each.running = true;
                each.master = runs.master;
            }
        }
    std::ranges::sort(found, [](const Application& a, const Application& b) {
        const bool first = a.running.value_or(false), second = b.running.value_or(false);
        return first != second ? first : a.name < b.name;
    });
    return found;
}

}  // namespace beamheap::analyses
