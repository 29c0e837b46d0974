// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/served_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/frame/inputs.hpp"
#include "cli/frame/secrets.hpp"
#include "formats/format.hpp"

namespace beamheap::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view of_member = "!/";  // between an archive and its member

// Whether a path lies below a folder; both are real places.
bool is_below(const fs::path& path, const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

}  // namespace

std::string_view file_of(std::string_view path) { return path.substr(0, std::min(path.find(of_member), path.size())); }

Result<ServedInputs> ServedInputs::create(const Context& context, std::vector<std::string> given,
                                          const std::string& root) {
    std::error_code error;
    for (const std::string& each : given) {
        if (each == "-")
            return Error{ErrorCode::usage, "mcp: an input can't be standard input, where the questions come from", {}};
        if (!process_named(each) && !fs::exists(file_of(each), error))
            return Error{ErrorCode::unreadable, fmt::format("{}: there is no such file", each), {}};
    }
    std::string place;
    if (!root.empty()) {
        place = fs::canonical(root, error).string();
        if (error || !fs::is_directory(place, error))
            return Error{ErrorCode::unreadable, fmt::format("--root: {}: there is no such folder", root), {}};
    }
    if (given.empty() && place.empty())
        return Error{ErrorCode::usage, "mcp needs an input, or a folder with --root FOLDER", {}};
    ServedInputs served(context, std::move(given), std::move(place));
    if (served.given_.size() == 1) served.only_one_ = served.given_.front();
    return served;
}

Result<std::string> ServedInputs::allowed(std::string_view asked) const {
    if (std::ranges::find(given_, asked) != given_.end()) return std::string(asked);
    const auto refused = [&](std::string_view advice) {
        return Error{ErrorCode::usage, fmt::format("{} is none of the inputs that may be read", asked),
                     std::string(advice)};
    };
    if (root_.empty()) return refused("The tool `inputs` lists them.");
    std::error_code error;
    const fs::path place = fs::canonical(fs::path(root_) / file_of(asked), error);
    if (error || !is_below(place, root_) || !fs::is_regular_file(place, error))
        return refused(
            "It has to be a file below the folder that was given with --root; the tool `inputs` lists what is there.");
    return place.string() + std::string(asked.substr(file_of(asked).size()));
}

Result<ServedInput> ServedInputs::read(const std::string& path) const {
    BH_TRY(LoadedInput input, load_for_questions(context_, path));
    std::vector<std::string> secrets = known_secrets(*input.artifact);
    return ServedInput{std::move(input), std::move(secrets)};
}

void ServedInputs::asked(const std::string& path) {
    if (!given_.empty() || std::ranges::find(asked_, path) != asked_.end()) return;
    if (asked_.size() < 2) asked_.push_back(path);
    only_one_ = asked_.size() == 1 ? path : std::string();
}

std::vector<std::string> ServedInputs::names(std::size_t most) const {
    std::vector<std::string> all = given_;
    if (!root_.empty()) {
        InputWalk walk({root_}, [](const std::string&, const Error&) {});
        while (all.size() < most) {
            auto found = walk.next();
            if (!found || !*found) break;
            all.push_back((*found)->name);
        }
    }
    if (all.size() > most) all.resize(most);
    return all;
}

}  // namespace beamheap::cli
