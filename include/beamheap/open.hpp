// SPDX-License-Identifier: Apache-2.0
// Opening what an Erlang VM left behind, or a VM that runs: the begin of everything.
#pragma once

#include <memory>
#include <string>

#include "beamheap/artifact.hpp"
#include "beamheap/error.hpp"

namespace beamheap {

/// Opens a crash dump or a core image, told by content, compressed or not; "-" is standard input. Opens a VM that runs,
/// where the path names a process. Errors: unreadable; not_recognised, with what the content looks like instead.
Result<std::unique_ptr<Artifact>> open_artifact(const std::string& path, const OpenOptions& options);

}  // namespace beamheap
