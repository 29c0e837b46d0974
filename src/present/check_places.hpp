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

/// At most `bytes` of a text in UTF-8, whole characters, and three dots where it is longer.
std::string cut(std::string text, std::size_t bytes);

}  // namespace beamheap::present
