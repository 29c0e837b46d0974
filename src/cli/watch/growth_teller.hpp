// SPDX-License-Identifier: Apache-2.0
// What was told of what grows in one VM, round after round, so that nothing is said twice and nothing stale.
//
// A growth is told when three rounds in a row have found it, and told again when in twelve its rate has been another by
// a third, or its limit less than half as far. It is over when as many rounds as it takes to be found have not found it
// and its figure rises at less than half the rate: what goes on unsteadily is kept, with its figures as they are now.
// While it lasts, its beginning only gets earlier.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyses/diagnosis/growth.hpp"
#include "present/growing.hpp"

namespace beamheap::cli {

class GrowthTeller {
public:
    /// Rounds until something can be told.
    static constexpr unsigned first_told = analyses::least_points + 2;

    /// Where in its terms something grows; asked once, when it is told first.
    using LookInto = std::function<present::Text(const analyses::Growing&)>;

    /// After each round of the watch: what grows, and what no longer does since the last round; `change` since then.
    std::vector<present::ToldGrowth> after(const analyses::GrowthWatch& watch, const LookInto& look_into);

private:
    struct Known {
        analyses::Growing growing;  // as it was found last
        present::Text detail;
        double told_rate = 0, told_seconds = 0;     // per second; until the wall, 0: none
        unsigned found = 0, missed = 0, other = 0;  // rounds
        bool told = false;
    };
    present::GrowthChange judge(Known& known, const LookInto& look_into) const;
    std::map<std::string, Known> known_;
};

}  // namespace beamheap::cli
