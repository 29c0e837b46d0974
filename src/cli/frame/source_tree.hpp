// SPDX-License-Identifier: Apache-2.0
// Whether the program is older than its sources, for the launcher of a source tree (`beamheap` in the root).
//
// The launcher starts the program at once and tells it the tree (BEAMHEAP_TREE); a program that finds itself out of
// date goes back to the launcher, which builds. A shell that looked first would cost every call a process more.
#pragma once

#include <string>

namespace beamheap::cli {

/// Whether a file or folder of the tree's sources changed (by its status, so that copies with kept dates count) after
/// the last good build, which build/release/.stamp is as old as. True where there is no stamp.
bool sources_changed(const std::string& root);

/// Starts the launcher in place of this program where BEAMHEAP_TREE names a tree with changed sources; else returns,
/// with the variable taken out of the environment.
void rebuild_if_stale(char** arguments);

}  // namespace beamheap::cli
