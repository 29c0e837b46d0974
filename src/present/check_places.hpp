// SPDX-License-Identifier: Apache-2.0
// What the writers of `check` share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "present/check_report.hpp"

namespace beamheap::present {

struct Place {
    const CheckedInput* input;
    const CheckedFinding* finding;
};

/// All findings, those that fail first, then by severity, then as they came. They point into the report.
std::vector<Place> worst_first(const CheckReport& report);

/// The same finding (by its fingerprint, with one verdict) in each input that has it, in the order of the inputs.
struct Group {
    std::vector<Place> places;
    std::size_t worst = 0;  ///< the one that speaks for all: the most severe, then the one with the largest figures
    const CheckedFinding& finding() const { return *places[worst].finding; }
    const CheckedInput& input() const { return *places[worst].input; }
};
/// All findings in groups: those that fail first, then by severity, then by how many inputs have it, then as they came.
std::vector<Group> groups_of(const CheckReport& report);
/// "n1.dump, n2.dump, n3.dump and 27 more": the inputs of a group as raw text.
std::string inputs_text(const Group& group);

/// At most `bytes` of a text in UTF-8, whole characters, and three dots where it is longer.
std::string cut(std::string text, std::size_t bytes);

}  // namespace beamheap::present
