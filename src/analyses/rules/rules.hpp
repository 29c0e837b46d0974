// The rules: each looks at a node for one thing that kills nodes, and says what it found.
//
// A rule is one function in a file of its own under rules/, with its theory and its thresholds, and one row of the
// table in rules.cpp. It is a pure function of RuleInput. It says nothing rather than something doubtful.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/rules/finding.hpp"
#include "analyses/slogan/slogan.hpp"
#include "analyses/processes/totals.hpp"
#include "analyses/memory/unreferenced_binaries.hpp"
#include "analyses/processes/waits.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// What was seen in the terms of a process that a rule suspects.
struct TermFacts {
    struct Share {
        std::string text;
        double percent = 0;  ///< of the messages that were read
    };
    ProcId process = ProcId::none;
    std::uint64_t messages_read = 0;
    std::vector<Share> shapes;   ///< of messages, the most frequent first, at most three
    std::vector<Share> senders;  ///< those that messages name, the most frequent first, at most three
    /// Where the most of its heap hangs: "dictionary queue: list of 41,000 elements keeps 92 % (3.8 MiB)". Empty:
    /// nothing stands out, or not looked at.
    std::string accumulation;
    Confidence accumulation_confidence = Confidence::exact;
};

/// What a process keeps of binaries outside its heap, because of slices.
struct PinnedBinaries {
    ProcId process = ProcId::none;
    std::uint64_t slices = 0;        ///< references that show a part of a binary only
    std::uint64_t binaries = 0;      ///< that these are parts of
    std::uint64_t seen_bytes = 0;    ///< that they show
    std::uint64_t pinned_bytes = 0;  ///< of those binaries, beyond what is seen
    /// The input does not list binaries that only slices refer to (dumps up to OTP 26): the process's virtual binary
    /// heap, less what is listed, tells their size.
    bool by_subtraction = false;
};

/// What rules look at. The snapshot was loaded with tables, links, stacks, labels, to_the_end and the
/// slots of waiting processes (src/cli/diagnose.cpp).
struct RuleInput {
    const Snapshot& snapshot;
    const Slogan& slogan;
    const Totals& totals;
    const Death& death;
    const Waits& waits;
    std::span<const TermFacts> terms = {};        ///< of suspects (suspects()), as far as they were looked at
    std::span<const PinnedBinaries> pinned = {};  ///< most pinned bytes first; heaps that were decoded alone
    const UnheldBinaries* unheld = nullptr;       ///< of core images with many bytes in binaries

    const TermFacts* terms_of(ProcId process) const {
        for (const TermFacts& facts : terms)
            if (facts.process == process) return &facts;
        return nullptr;
    }
};

struct Rule {
    std::string_view id;           ///< "queue-flood": what findings, ignores and `explain` call it
    std::string_view description;  ///< one line: what it looks for
    void (*run)(const RuleInput& input, std::vector<Finding>& findings);
};

/// All rules, in the order of their severity at equal findings: a cause before its consequences.
std::span<const Rule> rules();
/// The rule with this id; nullptr where there is none.
const Rule* find_rule(std::string_view id);

/// Its page for `explain`, with the description as title.
std::optional<Explanation> explanation_of(const Rule& rule);

/// Runs all rules. The findings come worst first: by severity, causes before victims, then by the order of rules().
std::vector<Finding> run_rules(const RuleInput& input);

}  // namespace beamheap::analyses
