// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cstdlib>

namespace {
// No test depends on what modules the machine has.
[[maybe_unused]] const int no_code = ::setenv("BEAMHEAP_CODE", "", 1);
}  // namespace
