// A finding: what one of the rules (rules.hpp) says is wrong with a node, with its proof and what to do about it.
//
// The title is a sentence that names the culprit and its numbers, as a person would say it who has looked for an hour.
// Whoever is named may be the victim of another one: `role` says so. Texts are raw: the presenter sanitises and
// redacts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/base/confidence.hpp"
#include "beamheap/ids.hpp"

namespace beamheap::analyses {

/// How bad it is. Ordered: a threshold is inclusive.
enum class FindingSeverity : std::uint8_t { info, medium, high, critical };
/// "info", "medium", "high", "critical".
std::string_view name_of(FindingSeverity severity);

/// What the subject of a finding is in what happened.
enum class FindingRole : std::uint8_t { cause, victim };
/// "cause", "victim".
std::string_view name_of(FindingRole role);

/// What a finding is about.
enum class SubjectKind : std::uint8_t {
    node,     ///< the node as a whole
    process,  ///< one process
    group,    ///< many processes of one kind
    table,    ///< an ETS table, or several of one owner
    port,
    atoms,      ///< a family of atoms, or the atom table
    allocator,  ///< one of the VM's allocators
    module,     ///< native code
    binaries,   ///< binaries outside the heaps
};
/// "node", "process", ...
std::string_view name_of(SubjectKind kind);

struct Subject {
    SubjectKind kind = SubjectKind::node;
    /// What it is called without pids, so that it is the same in the next dump: "lager_event", "gen_event:rpc/2",
    /// "<hex8>-ctl-ejabberd@localhost". What `check` ignores and baselines are matched by.
    std::string text;
};

enum class EvidenceUnit : std::uint8_t { none, count, bytes, words, percent, milliseconds };

/// One figure, or one fact in words, that proves a finding.
struct Evidence {
    std::string name;              ///< "messages in its queue"
    std::optional<double> number;  ///< integers up to 2^53 are exact
    std::string text;              ///< where it is no number
    EvidenceUnit unit = EvidenceUnit::none;
    Confidence confidence = Confidence::exact;
};

struct Finding {
    std::string_view rule;  ///< its id: "queue-flood"
    FindingSeverity severity = FindingSeverity::info;
    FindingRole role = FindingRole::cause;
    std::string title;  ///< one sentence: the culprit and its numbers
    Subject subject;
    ProcId process = ProcId::none;  ///< the process that it is about, where it is about one
    Pid pid;                        ///< its pid; none where it is not about one
    std::string name;               ///< its registered name, bare; empty: none
    Count count;                    ///< processes, messages, tables, atoms: what the title counts
    Count bytes;                    ///< memory that it is about
    std::optional<double> percent;  ///< share that the title gives
    Confidence confidence = Confidence::exact;
    std::vector<Evidence> evidence;
    std::vector<std::string> next_steps;  ///< two to four sentences; commands have DUMP for the input
    /// Sixteen hexadecimal digits that are the same for the same thing in another dump: made of the rule, the kind of
    /// subject and its text, in which numbers that change from run to run are replaced.
    std::string fingerprint;
};

/// The fingerprint of a rule's finding about a subject.
std::string fingerprint(std::string_view rule, const Subject& subject);

}  // namespace beamheap::analyses
