// SPDX-License-Identifier: Apache-2.0
// What grew between two inputs, as tables.
#pragma once

#include <span>
#include <vector>

#include "analyses/diagnosis/diff.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// What a row is about, as names are written: "Shop.Cart", "Shop.Table of Shop.Registry".
std::string key_text(const analyses::Growth& row, Syntax syntax);
/// what, key, measure, unit, before, after, delta, percent, per_minute; of more than two inputs also between and
/// steady. `rows` must outlive it.
Table growth_table(std::span<const analyses::Growth> rows, Syntax syntax);
/// change, rule, severity, title, subject, fingerprint; those that are gone are named as in the input before.
/// `findings` must outlive it.
Table changed_finding_table(const Names& before, const Names& after,
                            std::span<const analyses::ChangedFinding> findings);

}  // namespace beamheap::present
