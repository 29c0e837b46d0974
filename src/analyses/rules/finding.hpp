// SPDX-License-Identifier: Apache-2.0
// A finding: what one of the rules (rules.hpp) says is wrong with a node, with its proof and what to do about it.
//
// The title is a sentence that names the culprit and its numbers, as a person would say it who has looked for an hour.
// Whoever is named may be the victim of another one: `role` says so. Sentences are made of typed parts
// (base/sentence.hpp); presenters spell them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/base/confidence.hpp"
#include "analyses/base/sentence.hpp"
#include "beamheap/snapshot.hpp"

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
    Sentence text;
};

/// One figure, or one fact in words, that proves a finding.
struct Evidence {
    Sentence name;                 ///< "messages in its queue"
    std::optional<double> number;  ///< integers up to 2^53 are exact
    Sentence text;                 ///< where it is no number
    AmountUnit unit = AmountUnit::none;
    Confidence confidence = Confidence::exact;
};
/// Evidence of each kind. A figure that is missing is said not to be in the input.
Evidence figure(Sentence name, Count value, AmountUnit unit, Confidence confidence = Confidence::exact);
Evidence share(Sentence name, double percent, Confidence confidence = Confidence::exact);
Evidence fact(Sentence name, Sentence text, Confidence confidence = Confidence::exact);
inline Evidence figure(Ours name, Count value, AmountUnit unit, Confidence confidence = Confidence::exact) {
    return figure(Sentence(name), value, unit, confidence);
}
inline Evidence share(Ours name, double percent, Confidence confidence = Confidence::exact) {
    return share(Sentence(name), percent, confidence);
}
inline Evidence fact(Ours name, Sentence text, Confidence confidence = Confidence::exact) {
    return fact(Sentence(name), std::move(text), confidence);
}

struct Finding {
    std::string_view rule;  ///< its id: "queue-flood"
    FindingSeverity severity = FindingSeverity::info;
    FindingRole role = FindingRole::cause;
    Sentence title;  ///< the culprit and its numbers
    Sentence
        behind;  ///< said behind the title where that begins an answer, else a row of evidence; without a full stop
    Subject subject;
    ProcId process = ProcId::none;  ///< the process that it is about, where it is about one
    Pid pid;                        ///< its pid; none where it is not about one
    TextId name = TextId::none;     ///< its registered name
    Count count;                    ///< processes, messages, tables, atoms: what the title counts
    Count bytes;                    ///< memory that it is about
    std::optional<double> percent;  ///< share that the title gives
    Confidence confidence = Confidence::exact;
    /// Processes whose trouble is this one: what other rules find of them is told as a part of this finding.
    std::vector<ProcId> members;
    bool of_waiting = false;    ///< about a process that would not stand out if it did not have to wait
    bool tells_slogan = false;  ///< its title is what the slogan means
    bool leads =
        false;  ///< the summary begins with it, however little it may be: it is told only where nothing else is
    /// What it tells may be as its makers want it (a cache that is as large as it is): of findings that are as grave
    /// all others go before it, and so does one that leads.
    bool perhaps_meant = false;
    std::vector<Evidence> evidence;
    std::vector<Sentence> next_steps;  ///< two to four
    /// Sixteen hexadecimal digits that are the same for the same thing in another dump: made of the rule, the kind of
    /// subject and its text, in which numbers that change from run to run are replaced.
    std::string fingerprint;

    /// Adds a next step: a form and its parts.
    template <class... Args>
    void advise(Form<sizeof...(Args)> form, Args&&... args) {
        next_steps.emplace_back().say(form, std::forward<Args>(args)...);
    }
};

/// The fingerprint of a rule's finding about a subject of this snapshot. Names of the input count without the numbers
/// in them that differ from run to run.
std::string fingerprint(std::string_view rule, const Subject& subject, const Snapshot& snapshot);
/// The same for a subject that is called `name`.
std::string fingerprint(std::string_view rule, SubjectKind kind, std::string_view name);

}  // namespace beamheap::analyses
