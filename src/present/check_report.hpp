// SPDX-License-Identifier: Apache-2.0
// What `check` found, in the forms that build servers read.
//
// Texts in a CheckReport are redacted already (each input has secrets and hashes of its own); the writers here make
// them safe for their format. Every writer keeps to the limits of who reads it, however many findings there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/rules/finding.hpp"
#include "present/document.hpp"

namespace beamheap::present {

/// What became of a finding.
enum class Verdict : std::uint8_t {
    fails,     ///< at or above the threshold, or over a limit
    reported,  ///< below the threshold
    known,     ///< in the baseline
    ignored,   ///< by the configuration
};
/// "fails", "reported", "known", "ignored".
std::string_view name_of(Verdict verdict);

struct CheckedFinding {
    std::string rule;
    analyses::FindingSeverity severity = analyses::FindingSeverity::info;
    Verdict verdict = Verdict::reported;
    std::string title;
    Array title_parts;  ///< as sentence_parts() gives them
    std::string subject;
    std::string pid;   ///< empty: none
    std::string name;  ///< registered name; empty: none
    Count count;
    Count bytes;
    std::optional<double> percent;
    std::string fingerprint;
    std::vector<std::string> evidence;    ///< lines
    std::vector<std::string> next_steps;  ///< sentences
    std::vector<std::string>
        steps_to_fold;  ///< the same for check_text(), whose line ends break no command: glued_blank in these
};

struct CheckedInput {
    std::string path;  ///< of a member of an archive: "logs.zip!/erl_crash.dump"
    Object source;     ///< as in JSON; empty: it could not be read
    std::vector<CheckedFinding> findings;
};

struct CheckReport {
    std::vector<CheckedInput> inputs;
    std::uint64_t dumps = 0;     ///< inputs that could be read
    std::uint64_t files = 0;     ///< looked at, members of archives too
    std::uint64_t archives = 0;  ///< opened
    analyses::FindingSeverity threshold = analyses::FindingSeverity::high;
    std::vector<std::string> rules;  ///< that were run on each input
    std::vector<Warning> warnings;

    std::uint64_t count(Verdict verdict) const;
    /// "2 dumps in 14 files: 1 finding at or above high, 3 others."
    analyses::Sentence summary() const;
};

/// The document of `check --json` and of the other formats of tables.
Document check_document(const CheckReport& report);

/// For people: what several inputs share, told once, then inputs with what is theirs alone; evidence and steps of what
/// fails. Lines break at blanks to fit into `width` columns; 0: they never do.
std::string check_text(const CheckReport& report, std::size_t width = 0);
/// GitHub Flavored Markdown, for a job summary or a comment: at most `markdown_limit` bytes, of which the sentences of
/// the worst findings come first. What several inputs share is told once.
std::string check_markdown(const CheckReport& report);
inline constexpr std::size_t markdown_limit = 60 * 1024;
/// JUnit as the schema of Jenkins' xUnit plugin has it (junit-10.xsd): one <testsuite> an input, in it one <testcase> a
/// rule that found nothing and one a finding; what fails has a <failure>, what is known or ignored is <skipped>. At
/// most `report_limit` bytes.
std::string check_junit(const CheckReport& report);
/// GitLab's code quality report: a JSON array of issues. At most `report_limit` bytes.
std::string check_gitlab(const CheckReport& report);
/// SARIF 2.1.0: one run, a result a finding, worst first; paths are relative to where check ran, as its inputs were
/// named. What the baseline knows is `unchanged`, what the configuration ignores is suppressed. At most `report_limit`
/// bytes.
std::string check_sarif(const CheckReport& report);
inline constexpr std::size_t report_limit = 8 * 1024 * 1024;
/// Workflow commands of GitHub Actions, one annotation a line: at most `annotations_limit` of each kind (error: what
/// fails; warning; notice: info), the last of which says how many more there are. What several inputs share is one.
std::string check_github(const CheckReport& report);
inline constexpr std::size_t annotations_limit = 10;

}  // namespace beamheap::present
