// SPDX-License-Identifier: Apache-2.0
// atom-exhaustion: the atom table is full, or on its way.
//
// Theory. Atoms are never freed, and the VM ends when the table is full (erl_index_table_put in index.c, "no more index
// entries in atom_tab"). A program that is finished loading makes no new ones; one that turns data into atoms (node
// names of a command-line tool, keys of parsed JSON, user ids) makes atoms that are alike but for a number or a token,
// so the largest family of them (atom_families.hpp) is the leak. The table is listed newest first: a family at the top
// was growing when the node ended.
//
// Thresholds: 60 % of the limit is medium, 80 % high; 95 %, or a slogan that says so, is critical. A family is named
// from a tenth of all atoms on; one of 100,000 that are half of them is medium, of 300,000 high, however large the
// table. A limit of 16,384 atoms or fewer, of which no family has a tenth, is too small to start a node.
#include <algorithm>

#include "analyses/memory/atom_families.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace atom_exhaustion_rule {
namespace {

constexpr double medium_percent = 60;
constexpr double high_percent = 80;
constexpr double critical_percent = 95;
constexpr double family_percent = 10;
constexpr std::uint64_t newest_atoms = 10000;
constexpr std::uint64_t leaked_atoms = 100'000, many_leaked_atoms = 300'000;
constexpr double leaked_percent = 50;
constexpr std::uint64_t most_of_boot = 16'384;  // atoms: OTP itself has made 7,000 to 12,000 when a node is up

// How many of the newest atoms have the pattern.
std::uint64_t among_newest(const Snapshot& snapshot, const AtomFamilies& families, const std::string& pattern,
                           std::uint64_t looked_at) {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < looked_at; ++i)
        count += families.codes.pattern(snapshot.text(snapshot.atoms[i])) == pattern ? 1 : 0;
    return count;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const Fill& fill = facts.get<Totals>().atom_fill;
    const bool died_of_it = facts.get<Slogan>().kind == SloganKind::atom_table_full;
    const double percent = fill.percent.value_or(0);
    if (!died_of_it && percent < medium_percent && fill.used.value_or(0) < leaked_atoms) return;
    std::optional<AtomFamilies> sought = facts.get<Ledger>().families;  // that have been sought already
    if (!sought) sought = atom_families(s);
    const AtomFamilies& families = *sought;
    const bool leaks = !families.families.empty() && families.families.front().percent >= leaked_percent &&
                       families.families.front().count >= leaked_atoms;
    if (!died_of_it && percent < medium_percent && !leaks) return;

    Finding finding;
    const bool much = percent >= high_percent || (leaks && families.families.front().count >= many_leaked_atoms);
    finding.severity = died_of_it || percent >= critical_percent ? FindingSeverity::critical
                       : much                                    ? FindingSeverity::high
                                                                 : FindingSeverity::medium;
    finding.subject = {SubjectKind::atoms, Ours("atom table")};
    finding.count = fill.used;
    if (fill.percent) finding.percent = percent;
    if (died_of_it && fill.used.has()) finding.title.say("The atom table is full with {} atoms", number(*fill.used));
    else if (died_of_it) finding.title.say("The atom table is full with all its atoms");
    else finding.title.say("{} of {} atoms are in use ({})", number(*fill.used), number(*fill.limit), Percent{percent});
    if (fill.used.has()) finding.evidence.push_back(figure("atoms", fill.used, AmountUnit::count));
    if (fill.limit.has()) finding.evidence.push_back(figure("limit", fill.limit, AmountUnit::count));

    if (!families.families.empty() && families.families.front().percent >= family_percent) {
        const AtomFamily& family = families.families.front();
        const Confidence trust = families.exact ? Confidence::exact : Confidence::lower_bound;
        finding.subject.text = sentence("{}", names(family.pattern));
        finding.confidence = trust;
        finding.title.say(": {} of them are {}", Percent{family.percent}, names(family.pattern));
        finding.evidence.push_back(
            figure(sentence("of the pattern {}", names(family.pattern)), family.count, AmountUnit::count, trust));
        const std::uint64_t looked_at = std::min<std::uint64_t>(newest_atoms, s.atoms.size());
        if (const std::uint64_t newest = among_newest(s, families, family.pattern, looked_at); newest != 0)
            finding.evidence.push_back(
                figure(sentence("of the newest {} atoms", number(looked_at)), newest, AmountUnit::count));
        std::vector<Sentence> examples;
        for (const TextId example : family.examples) examples.push_back(sentence("{}", Name{example}));
        if (!examples.empty()) finding.evidence.push_back(fact("newest of them", joined(examples, ", ")));
        finding.advise(
            "Find who turns data into atoms of the form {}: list_to_atom, binary_to_atom, a parser's keys, node names "
            "made anew for every call of a command-line tool.",
            names(family.pattern));
    }
    // A node that has booted has made nearly as many, whatever it runs: who needed the next one did nothing wrong.
    const bool of_family = !families.families.empty() && families.families.front().percent >= family_percent;
    const bool too_small = died_of_it && fill.limit.has() && *fill.limit <= most_of_boot && !of_family;
    if (too_small) {
        finding.title = sentence(
            "The limit of atoms is too small to start a node: it is {} (+t, 1,048,576 unless given), and OTP alone "
            "makes some 10,000",
            number(*fill.limit));
        finding.advise("Take +t out of the command line, vm.args or ERL_FLAGS, or give it some hundred thousand.");
    }
    // The thread that called for the dump is the one that found no place for its atom.
    const Death& death = facts.get<Death>();
    if (died_of_it && death.process != ProcId::none && death.evidence == DeathEvidence::calling_thread) {
        if (too_small) finding.behind = sentence("{} needed one more", death.process);
        else finding.title.say("; {} needed one more", death.process);
        finding.process = death.process;
        finding.pid = s[death.process].pid;
        finding.name = s[death.process].name;
        add_stack(facts, death.process, finding);
        finding.advise("See what it was doing: {}", Command{"proc", s[death.process].pid});
    }
    if (!too_small) {
        finding.advise("Use list_to_existing_atom/1 or keep the data as binaries; give tools a fixed node name.");
        finding.advise("A larger limit (+t) only buys time.");
    }
    finding.advise("See the families and the newest atoms: `beamheap atoms DUMP`");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace atom_exhaustion_rule

Rule atom_exhaustion() { return {"atom-exhaustion", 110, atom_exhaustion_rule::run}; }

}  // namespace beamheap::analyses::rule
