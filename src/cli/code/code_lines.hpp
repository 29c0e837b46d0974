// SPDX-License-Identifier: Apache-2.0
// Lines of frames for inputs that have none: which modules are looked for, as the options say, and what is found.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "beamheap/artifact.hpp"
#include "cli/code/code_files.hpp"
#include "cli/options/options.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

/// Whether modules are to be looked for at all; adds to the plan what that needs.
bool plan_for_code(const Options& options, LoadPlan& plan);
/// The same without a plan.
bool looks_for_code(const Options& options);
/// Whether terms are to be named by records: those of a plan that has terms, unless the options say no. What modules
/// need for that is plan_for_code()'s.
bool plan_for_records(const Options& options, const LoadPlan& plan);

/// The places of modules: those of --code, of BEAMHEAP_CODE, or of the node's own code path (LoadPlan::code_path).
/// Errors: usage, of a path that was named and is not there.
Result<std::unique_ptr<CodeFiles>> open_code(const Options& options, Artifact& artifact);

/// What lies here of a module that the node had loaded.
struct ModuleFile {
    std::string module, path;
    CodeMatch match = CodeMatch::not_there;
};
/// Of each of the snapshot's modules, in their order.
std::vector<ModuleFile> module_files(const Snapshot& snapshot, CodeFiles& files);
/// Adds to a plan what module_code() takes, where places of modules were named (--code).
void plan_for_module_code(const Options& options, LoadPlan& plan);
/// The same as tables show it; empty where no place was named. Errors: open_code()'s.
Result<std::vector<present::ModuleCode>> module_code(const Options& options, Artifact& artifact);

/// Lets terms be named by records (Snapshot::records): of `code`, which may be null, of --source, of OTP's own rows.
/// Errors: usage, of a folder that was named and is not there.
Status add_records(const Options& options, Snapshot& snapshot, std::shared_ptr<CodeFiles> code);
/// Writes to the terminal's other output which files named the records that were printed (-v).
void tell_where_records_are_from(const Snapshot& snapshot);

/// Fills Snapshot::frame_lines. Nothing where the input has lines itself, or no place of modules is known. A module
/// that is not what ran is counted (Anomaly::other_code).
void add_frame_lines(const Options& options, Artifact& artifact, CodeFiles& files, bool for_people);

}  // namespace beamheap::cli
