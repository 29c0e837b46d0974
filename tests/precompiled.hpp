// SPDX-License-Identifier: Apache-2.0
// What nearly every file of unit tests includes, read once where BEAMHEAP_PRECOMPILED asks for it.
#include <catch2/catch.hpp>

#include "cmake/precompiled.hpp"
