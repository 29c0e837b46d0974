// SPDX-License-Identifier: Apache-2.0
// What the TOML parser asserts, as an exception: its configuration is somebody's file, and a file ends no program.
#pragma once

namespace beamheap::cli {

struct TomlAssertion {};

constexpr void toml_assertion(bool holds) {
    if (!holds) throw TomlAssertion();
}

}  // namespace beamheap::cli
