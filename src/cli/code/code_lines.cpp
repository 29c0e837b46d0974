// SPDX-License-Identifier: Apache-2.0
#include "cli/code/code_lines.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyses/code/code_path.hpp"
#include "analyses/code/lines.hpp"
#include "analyses/facts/needs.hpp"
#include "cli/code/node_paths.hpp"
#include "cli/code/record_book.hpp"
#include "cli/console/terminal.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli {
namespace {

constexpr std::string_view of_the_node = "-";  // as a path: where the node had its modules from

// Unset: null. Empty: no modules are looked for.
const char* from_environment() { return std::getenv("BEAMHEAP_CODE"); }

bool has_lines_itself(const Snapshot& snapshot) { return snapshot.source.kind.format != InputFormat::crash_dump; }

void add_code_path(Artifact& artifact, CodeFiles& files) {
    // What its terms refer to beyond them is of no interest here, and no question has asked for it.
    const Anomalies met = artifact.snapshot().anomalies;
    const auto path = analyses::code_path(artifact);
    artifact.snapshot().anomalies = met;
    if (!path) return;
    const Snapshot& snapshot = artifact.snapshot();
    const std::string root = root_of_node(snapshot);
    for (const std::string& folder : path->folders) files.add_folder(folder, root);
    // What the VM has loaded before there was a path.
    const std::string& erts = snapshot.source.erts_version;
    if (!erts.empty() && erts.find('/') == erts.npos && !path->root.empty())
        files.add_folder(fmt::format("{}/lib/erts-{}/ebin", path->root, erts), root);
}

// What is here is not what ran: who has compiled again since wants to know.
void tell_of_others(const std::vector<std::string>& others) {
    constexpr std::size_t most = 3;
    const std::span<const std::string> first = std::span(others).first(std::min(most, others.size()));
    std::string text =
        fmt::format("note: no lines of modules that lie here and are not those that ran: {}", fmt::join(first, ", "));
    if (others.size() > most) text += fmt::format(" ... {} more", others.size() - most);
    say_beside(text);
}

}  // namespace

bool plan_for_code(const Options& options, LoadPlan& plan) {
    const char* const environment = from_environment();
    if (options.no_code) return false;
    if (options.code.empty() && environment != nullptr && *environment == '\0') return false;
    plan |= analyses::need::code;
    const bool asked = std::find(options.code.begin(), options.code.end(), of_the_node) != options.code.end();
    if (asked || (options.code.empty() && environment == nullptr)) plan |= analyses::need::code_path;
    return true;
}

Result<std::unique_ptr<CodeFiles>> open_code(const Options& options, Artifact& artifact) {
    auto files = std::make_unique<CodeFiles>();
    files->set_end(end_of_input(artifact.snapshot()));
    const char* const environment = from_environment();
    if (!options.code.empty()) {
        for (const std::string& path : options.code) {
            if (path == of_the_node) add_code_path(artifact, *files);
            else BH_CHECK(files->add_named(path));
        }
    } else if (environment != nullptr) {
        for (const std::string_view path : split(environment, ':')) BH_CHECK(files->add_named(std::string(path)));
    } else {
        add_code_path(artifact, *files);
    }
    return files;
}

bool looks_for_code(const Options& options) {
    LoadPlan plan;
    return plan_for_code(options, plan);
}

std::vector<ModuleFile> module_files(const Snapshot& snapshot, CodeFiles& files) {
    std::vector<std::string_view> names;
    for (const Module& module : snapshot.modules) names.push_back(snapshot.text(module.name));
    files.expect(names);
    std::vector<ModuleFile> found;
    for (const std::string_view name : names) {
        const CodeSource::Found& file = files.find(snapshot, name);
        found.push_back({std::string(name), file.path, file.match});
    }
    return found;
}

void plan_for_module_code(const Options& options, LoadPlan& plan) {
    if (!options.code.empty() && plan_for_code(options, plan)) plan |= analyses::need::code_versions;
}

Result<std::vector<present::ModuleCode>> module_code(const Options& options, Artifact& artifact) {
    std::vector<present::ModuleCode> code;
    if (options.code.empty() || options.no_code) return code;
    BH_TRY(const std::unique_ptr<CodeFiles> files, open_code(options, artifact));
    for (ModuleFile& file : module_files(artifact.snapshot(), *files))
        code.push_back({file.match, std::move(file.path)});
    return code;
}

bool plan_for_records(const Options& options, const LoadPlan& plan) {
    const bool told = !options.no_records;
    return (told || options.redact != present::RedactLevel::none) && plan.any_terms();
}

Status add_records(const Options& options, Snapshot& snapshot, std::shared_ptr<CodeFiles> code) {
    for (const std::string& folder : options.sources) {
        std::error_code error;
        if (!std::filesystem::is_directory(folder, error))
            return Error{ErrorCode::usage, folder + ": there is no such folder of sources", {}};
    }
    if (code != nullptr && code->empty()) code = nullptr;
    snapshot.records = std::make_shared<RecordBook>(snapshot, std::move(code), options.sources, !options.no_records);
    return ok();
}

void tell_where_records_are_from(const Snapshot& snapshot) {
    const auto* const book = dynamic_cast<const RecordBook*>(snapshot.records.get());
    if (book == nullptr || !book->told()) return;
    std::map<std::string, std::vector<const RecordBook::Use*>>
        by_folder;  // a node has hundreds of modules in some folders
    std::vector<std::string> lines, of_otp;
    const std::vector<RecordBook::Use> told = book->uses();
    for (const RecordBook::Use& use : told) {
        if (use.from == RecordBook::From::otp) of_otp.push_back(use.module);
        else by_folder[std::filesystem::path(use.path).parent_path().string()].push_back(&use);
    }
    for (const auto& [folder, uses] : by_folder) {
        std::vector<std::string_view> modules;
        for (const RecordBook::Use* use : uses) modules.push_back(use->module);
        lines.push_back(
            fmt::format("records of {}: {}", fmt::join(modules, ", "), uses.size() == 1 ? uses.front()->path : folder));
    }
    if (!of_otp.empty())
        lines.push_back(fmt::format("records as OTP's releases have them: {}", fmt::join(of_otp, " ")));
    for (const std::string& line : lines) say_beside(line);
}

void add_frame_lines(const Options& options, Artifact& artifact, CodeFiles& files, bool for_people) {
    Snapshot& snapshot = artifact.snapshot();
    if (has_lines_itself(snapshot) || files.empty()) return;
    analyses::FoundLines found = analyses::find_lines(snapshot, files);
    snapshot.frame_lines = std::move(found.lines);
    std::vector<std::string> others;
    for (const analyses::ModuleUse& use : found.modules) {
        if (use.match == CodeMatch::same || use.match == CodeMatch::not_there) continue;
        const std::string told = fmt::format("{}: {}", use.name, name_of(use.match));
        snapshot.anomalies.add(Anomaly::other_code, 0, told);
        if (use.match != CodeMatch::unproved) others.push_back(told);
    }
    if (for_people && !options.quiet && !options.verbose && !others.empty()) tell_of_others(others);
    if (options.verbose)
        say_beside(fmt::format("lines: {} places in code, {} with one line, {} with several; {} module files opened",
                               found.places, found.found, found.several, files.opened()));
}

}  // namespace beamheap::cli
