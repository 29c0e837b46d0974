// Findings as a table, and as a person reads them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyses/rules/finding.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// One row per finding, with the members of the contract's findings[]: rule, severity, title, subject, subject_kind,
/// pid, name, role, count, bytes, percent, confidence, fingerprint, evidence, next_steps. `findings` must outlive it.
Table finding_table(const Names& names, std::span<const analyses::Finding> findings);
/// The sentences that an answer opens with: the worst finding's title. Empty where nothing worse than info was found.
std::vector<std::string> verdict(const Names& names, std::span<const analyses::Finding> findings);
/// A finding for people: its title (unless `said`: it is the verdict), its evidence, its next steps. Not in JSON.
Member finding_member(const Names& names, const analyses::Finding& finding, bool said);
/// What is said where there is no finding: what was looked for.
Array nothing_found();
/// Whether a finding's next steps say this already.
bool says(std::span<const analyses::Finding> findings, const std::string& step);
/// A figure or fact as a person reads it: "messages in its queue: 299".
std::string evidence_line(const analyses::Evidence& evidence);
/// Puts the input's path, as a shell reads it, where a step says DUMP.
std::string step_for(std::string step, std::string_view path);

}  // namespace beamheap::present
