// SPDX-License-Identifier: Apache-2.0
// Where the node had its modules from: the path that code_server keeps in its State (code_server.erl).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

struct CodePath {
    std::string root;                  ///< code:root_dir(); empty: not told
    std::vector<std::string> folders;  ///< code:get_path(), in its order; as the node named them
};

/// Needs LoadPlan::code_path, or terms. Nothing where the input has no such process, or not its terms.
std::optional<CodePath> code_path(Artifact& artifact);

}  // namespace beamheap::analyses
