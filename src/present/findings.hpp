// SPDX-License-Identifier: Apache-2.0
// Findings as a table, and as a person reads them.
#pragma once

#include <span>

#include "analyses/rules/finding.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// One row per finding, with the members of the contract's findings[]: rule, severity, title, title_parts, subject,
/// subject_kind, pid, name, role, count, bytes, percent, confidence, fingerprint, evidence, next_steps. `findings` must
/// outlive it.
Table finding_table(const Names& names, std::span<const analyses::Finding> findings);
/// A finding for people: its title (unless `said`: the answer began with it, and with what goes with it), its evidence,
/// its next steps (at most so much of them). Not in JSON.
Member finding_member(const Names& names, const analyses::Finding& finding, bool said,
                      std::size_t most_evidence = ~std::size_t{0}, std::size_t most_steps = ~std::size_t{0});
/// Its title and its first step.
Member short_finding_member(const Names& names, const analyses::Finding& finding);
/// What is said where there is no finding: what was looked for.
Array nothing_found();
/// A figure or fact as a person reads it: "messages in its queue: 299".
Text evidence_line(const Names& names, const analyses::Evidence& evidence);
/// What a finding is about. In Erlang's syntax always: configurations and baselines name it.
Text subject_text(const Snapshot& snapshot, const analyses::Finding& finding);

}  // namespace beamheap::present
