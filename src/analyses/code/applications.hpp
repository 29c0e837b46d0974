// SPDX-License-Identifier: Apache-2.0
// The node's applications and their versions: what runs, as the application controller tells, and what its code path
// has.
//
// A dump holds no application resource files. Releases and Erlang/OTP itself keep each application in a folder that is
// called after it and its version (lib/kernel-8.5/ebin: code(3), "Code Path"), so the code path tells both; what was
// built in place (_build/default/lib/shop/ebin) has a name there and no version.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

struct Application {
    std::string name;
    std::string version;          ///< of its folder's name; empty: not told
    std::string folder;           ///< with its compiled modules, as the node names it; empty: none on the code path
    std::optional<bool> running;  ///< missing where the application controller's state was not read
    Pid master;                   ///< its master, where it has one
};

/// Of ".../lib/kernel-8.5/ebin" {"kernel", "8.5"}; the name is empty where a folder is none of an application.
struct ApplicationFolder {
    std::string_view name, version;
};
ApplicationFolder application_folder(std::string_view folder);

/// What the boot script says that it starts (script(4): {Name, Version}): a release of the program's own, or Erlang/OTP
/// as it is.
struct Release {
    std::string name, version;
};
/// Of the state of the process that ran the boot script. Nothing where that was not read, or the node still starts.
/// Needs its terms.
std::optional<Release> release(Artifact& artifact);

/// Those that run first, then by name. Needs LoadPlan::code_path and terms of application_controller.
std::vector<Application> applications(Artifact& artifact);

}  // namespace beamheap::analyses
