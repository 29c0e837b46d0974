// SPDX-License-Identifier: Apache-2.0
#include "cli/code/source_lines.hpp"

#include <algorithm>

#include "cli/code/node_paths.hpp"

namespace beamheap::cli {
namespace {

constexpr std::size_t longest_source_line = 400, most_files_read = 200, most_source_lines = 1'000'000;

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_source_name(std::string_view name) {
    constexpr std::string_view kinds[] = {".erl",  ".hrl", ".ex",  ".exs", ".eex",  ".heex",
                                          ".leex", ".yrl", ".xrl", ".lfe", ".gleam"};
    return std::ranges::any_of(kinds, [name](std::string_view kind) { return name.ends_with(kind); });
}

std::vector<std::string> split_lines(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size() && lines.size() < most_source_lines;) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = std::string_view(text).substr(at, end - at);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.emplace_back(line.substr(0, longest_source_line));
        at = end + 1;
    }
    return lines;
}

}  // namespace

std::string SourceLines::path_of(const Frame& frame, std::string_view file) {
    if (std::string found = folders_.file(file); !found.empty()) return found;
    if (!by_modules_) return {};
    const TextId module = snapshot_.functions[frame.function].module;
    const auto loaded =
        std::ranges::find_if(snapshot_.modules, [module](const Module& each) { return each.name == module; });
    if (loaded == snapshot_.modules.end() || loaded->source == TextId::none) return {};
    std::string path(snapshot_.text(loaded->source));
    // A header that the module includes mostly lies beside it.
    if (last_part(path) != last_part(file)) path = path.substr(0, path.rfind('/') + 1).append(last_part(file));
    const auto place = find_of_node(root_of_node(snapshot_), path);
    return place && !place->is_folder ? place->path : std::string();
}

const std::vector<std::string>* SourceLines::lines_of(const Frame& frame, std::string_view file) {
    if (!is_source_name(file)) return nullptr;
    const std::string path = path_of(frame, file);
    if (path.empty()) return nullptr;
    auto found = read_.find(path);
    if (found == read_.end()) {
        if (read_.size() == most_files_read) return nullptr;
        found = read_.emplace(path, split_lines(source_text(path))).first;
    }
    return found->second.empty() ? nullptr : &found->second;
}

std::vector<SourceLine> SourceLines::of(std::span<const Frame> frames, std::uint32_t around, std::size_t most) {
    std::vector<SourceLine> shown;
    std::size_t told = 0;
    for (std::uint32_t depth = 0; depth < frames.size() && told < most; ++depth) {
        const FrameLine place = snapshot_.line_of(frames[depth]);
        if (place.certainty == LineCertainty::none || place.lines.empty()) continue;
        const std::vector<std::string>* const lines = lines_of(frames[depth], place.file);
        if (lines == nullptr) continue;
        const auto add = [&](std::uint32_t line, bool at) {
            if (line != 0 && line <= lines->size())
                shown.push_back({depth, std::string(last_part(place.file)), line, (*lines)[line - 1], at});
        };
        ++told;
        // Of several candidates each stands alone.
        const std::uint32_t near = place.lines.size() == 1 ? around : 0;
        for (const std::uint32_t line : place.lines) {
            const std::uint32_t first = line > near ? line - near : 1;
            for (std::uint32_t each = first; each <= line + near; ++each) add(each, each == line);
        }
    }
    return shown;
}

}  // namespace beamheap::cli
