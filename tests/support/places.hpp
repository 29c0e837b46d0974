// SPDX-License-Identifier: Apache-2.0
// Where this build's tree and programs are: in one source file, so that no other object depends on the folder it was
// built in.
#pragma once

#include <string>

namespace beamheap::test {

/// The source tree.
const std::string& source_dir();
/// The built program.
const std::string& built_program();
/// The folder of the programs made of tests/support/types.
const std::string& types_folder();

}  // namespace beamheap::test
