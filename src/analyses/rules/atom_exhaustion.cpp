// atom-exhaustion: the atom table is full, or on its way.
//
// Theory. Atoms are never freed, and the VM ends when the table is full (erl_index_table_put in index.c, "no more index
// entries in atom_tab"). A program that is finished loading makes no new ones; one that turns data into atoms (node
// names of a command-line tool, keys of parsed JSON, user ids) makes atoms that are alike but for a number or a token,
// so the largest family of them (atom_families.hpp) is the leak. The table is listed newest first: a family at the top
// was growing when the node ended.
//
// Thresholds: 60 % of the limit is medium, 80 % high; 95 %, or a slogan that says so, is critical. A family is named
// from a tenth of all atoms on.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/memory/atom_families.hpp"
#include "analyses/rules/rule_list.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr double medium_percent = 60;
constexpr double high_percent = 80;
constexpr double critical_percent = 95;
constexpr double family_percent = 10;
constexpr std::uint64_t newest_atoms = 10000;

// How many of the newest atoms have the pattern.
std::uint64_t among_newest(const Snapshot& snapshot, const std::string& pattern, std::uint64_t looked_at) {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < looked_at; ++i)
        count += atom_pattern(snapshot.text(snapshot.atoms[i])) == pattern ? 1 : 0;
    return count;
}

}  // namespace

void atom_exhaustion(const RuleInput& input, Findings& findings) {
    const Snapshot& s = input.snapshot;
    const Fill& fill = input.totals.atom_fill;
    const bool died_of_it = input.slogan.kind == SloganKind::atom_table_full;
    const double percent = fill.percent.value_or(0);
    if (!died_of_it && percent < medium_percent) return;

    Finding finding;
    finding.severity = died_of_it || percent >= critical_percent ? FindingSeverity::critical
                       : percent >= high_percent                 ? FindingSeverity::high
                                                                 : FindingSeverity::medium;
    finding.subject = {SubjectKind::atoms, "atom table"};
    finding.count = fill.used;
    if (fill.percent) finding.percent = percent;
    if (died_of_it)
        finding.title =
            fmt::format("The atom table is full with {} atoms", fill.used.has() ? grouped(*fill.used) : "all its");
    else
        finding.title = fmt::format("{} of {} atoms are in use ({})", grouped(*fill.used), grouped(*fill.limit),
                                    human_percent(percent));
    if (fill.used.has()) finding.evidence.push_back(figure("atoms", fill.used, EvidenceUnit::count));
    if (fill.limit.has()) finding.evidence.push_back(figure("limit", fill.limit, EvidenceUnit::count));

    const AtomFamilies families = atom_families(s);
    if (!families.families.empty() && families.families.front().percent >= family_percent) {
        const AtomFamily& family = families.families.front();
        const Confidence trust = families.exact ? Confidence::exact : Confidence::lower_bound;
        finding.subject.text = family.pattern;
        finding.confidence = trust;
        finding.title += fmt::format(": {} of them are {}", human_percent(family.percent), family.pattern);
        finding.evidence.push_back(
            figure("of the pattern " + family.pattern, family.count, EvidenceUnit::count, trust));
        const std::uint64_t looked_at = std::min<std::uint64_t>(newest_atoms, s.atoms.size());
        if (const std::uint64_t newest = among_newest(s, family.pattern, looked_at); newest != 0)
            finding.evidence.push_back(
                figure(fmt::format("of the newest {} atoms", grouped(looked_at)), newest, EvidenceUnit::count));
        std::string examples;
        for (const TextId example : family.examples) {
            if (!examples.empty()) examples += ", ";
            examples += s.text(example);
        }
        if (!examples.empty()) finding.evidence.push_back(fact("newest of them", examples));
        finding.next_steps.push_back(fmt::format(
            "Find who turns data into atoms of the form {}: list_to_atom, binary_to_atom, a parser's keys, node names "
            "made anew for every call of a command-line tool.",
            family.pattern));
    }
    finding.next_steps.push_back(
        "Use list_to_existing_atom/1 or keep the data as binaries; give tools a fixed node name.");
    finding.next_steps.push_back("A larger limit (+t) only buys time.");
    finding.next_steps.push_back("See the families and the newest atoms: beamheap atoms DUMP");
    findings.push_back(std::move(finding));
}

}  // namespace beamheap::analyses::rule
