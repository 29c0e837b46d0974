// SPDX-License-Identifier: Apache-2.0
#include "beamheap/frame_lines.hpp"

#include <algorithm>

#include "beamheap/code_module.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap {
namespace {

std::uint64_t key_of(FunctionId function, std::uint32_t offset) {
    return static_cast<std::uint64_t>(index_of(function)) << 32 | offset;
}

}  // namespace

std::string_view name_of(LineCertainty certainty) {
    switch (certainty) {
        case LineCertainty::exact: return "exact";
        case LineCertainty::found: return "found";
        case LineCertainty::one_of: return "one_of";
        case LineCertainty::none: break;
    }
    return {};
}

std::string_view name_of(CodeMatch match) {
    switch (match) {
        case CodeMatch::same: return "same";
        case CodeMatch::differs: return "differs";
        case CodeMatch::unproved: return "unproved";
        case CodeMatch::newer: return "newer";
        case CodeMatch::unreadable: return "unreadable";
        case CodeMatch::not_there: break;
    }
    return "not there";
}

std::uint32_t FrameLines::file(std::string_view name) {
    const auto found = std::find(files_.begin(), files_.end(), name);
    if (found == files_.end()) files_.emplace_back(name);
    return static_cast<std::uint32_t>(found - files_.begin());
}

void FrameLines::add(FunctionId function, std::uint32_t offset, std::string_view name,
                     std::vector<std::uint32_t> lines) {
    const std::uint32_t number = file(name);
    places_[key_of(function, offset)] = {number, std::move(lines)};
}

void FrameLines::add_head(FunctionId function, std::string_view name, std::uint32_t line) {
    const std::uint32_t number = file(name);
    heads_[index_of(function)] = {number, {line}};
}

FrameLine FrameLines::of(FunctionId function, std::uint32_t offset) const {
    if (places_.empty()) return {};
    const auto found = places_.find(key_of(function, offset));
    if (found == places_.end()) return {};
    const Place& place = found->second;
    return {place.lines.size() == 1 ? LineCertainty::found : LineCertainty::one_of, files_[place.file], place.lines};
}

FrameLine FrameLines::head_of(FunctionId function) const {
    const auto found = heads_.find(index_of(function));
    if (found == heads_.end()) return {};
    return {LineCertainty::found, files_[found->second.file], found->second.lines};
}

FrameLine Snapshot::line_of(const Frame& frame) const {
    if (frame.line != 0) return {LineCertainty::exact, texts[frame.file], std::span(&frame.line, 1)};
    return frame_lines.of(frame.function, frame.offset);
}

const CodeFunction* CodeModule::find(std::string_view function, std::uint32_t arity) const {
    const auto before = [this](const CodeFunction& a, std::pair<std::string_view, std::uint32_t> b) {
        const std::string_view name = atoms[a.name];
        return name != b.first ? name < b.first : a.arity < b.second;
    };
    const auto at = std::lower_bound(functions.begin(), functions.end(), std::pair(function, arity), before);
    return at != functions.end() && atoms[at->name] == function && at->arity == arity ? &*at : nullptr;
}

}  // namespace beamheap
