// What grew between two inputs, as tables.
#pragma once

#include <span>
#include <vector>

#include "analyses/diagnosis/diff.hpp"
#include "present/document.hpp"

namespace beamheap::present {

/// what, key, measure, unit, before, after, delta, percent. `rows` must outlive it.
Table growth_table(std::span<const analyses::Growth> rows);
/// change, rule, severity, title, subject, fingerprint. `findings` must outlive it.
Table changed_finding_table(std::span<const analyses::ChangedFinding> findings);

}  // namespace beamheap::present
