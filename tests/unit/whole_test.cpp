// SPDX-License-Identifier: Apache-2.0
#include "model/whole.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using beamheap::whole;

TEST_CASE("a figure with a fraction becomes the whole number below it, whatever it is") {
    CHECK(whole(0.0) == 0);
    CHECK(whole(2.9) == 2);
    CHECK(whole(9007199254740993.0) == 9007199254740992);
    CHECK(whole(-1.5) == 0);
    CHECK(whole(std::nan("")) == 0);
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    CHECK(whole(static_cast<double>(most)) == most);  // 2^64, which a cast has no number for
    CHECK(whole(std::numeric_limits<double>::infinity()) == most);
    CHECK(whole(std::nextafter(18446744073709551616.0, 0)) == most - 2047);
}
