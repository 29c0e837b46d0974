// SPDX-License-Identifier: Apache-2.0
#include "analyses/rules/rules.hpp"

#include <algorithm>

namespace beamheap::analyses {

// Each file of catalogue/ defines the function of its name.
namespace rule {
#define BEAMHEAP_RULE(name) Rule name();
#include "rule_list.inc"
#undef BEAMHEAP_RULE
}  // namespace rule

namespace {

constexpr std::size_t most_next_steps = 4;

const std::vector<Rule>& all_rules() {
    static const std::vector<Rule> all = [] {
        std::vector<Rule> rules{
#define BEAMHEAP_RULE(name) rule::name(),
#include "rule_list.inc"
#undef BEAMHEAP_RULE
        };
        std::ranges::sort(rules, {}, &Rule::order);
        return rules;
    }();
    return all;
}

constexpr std::uint32_t no_story = 0xFFFFFFFFu;

// The finding that counts all of a finding's members among its own: the callers of a lock's server are those who want
// the lock.
std::uint32_t story_of_all(const Finding& part, const std::vector<std::uint32_t>& story_of) {
    if (part.members.empty()) return no_story;
    const std::uint32_t first = story_of[index_of(part.members.front())];
    const bool same = std::ranges::all_of(part.members, [&](ProcId id) { return story_of[index_of(id)] == first; });
    return same ? first : no_story;
}

// What is told of a process that is held up by the cause of another finding is a part of that one's story: the queue of
// a process that waits for a lock, the callers of one that sends to a full connection. What such a part is worth, its
// cause is worth.
void fold_stories(const Facts& facts, std::vector<Finding>& findings) {
    std::vector<std::uint32_t> story_of(facts.snapshot().processes.size(), no_story);
    for (std::uint32_t i = 0; i < findings.size(); ++i)
        if (findings[i].role == FindingRole::cause)
            for (const ProcId member : findings[i].members)
                if (story_of[index_of(member)] == no_story) story_of[index_of(member)] = i;
    std::vector<bool> folded(findings.size());
    for (std::uint32_t i = 0; i < findings.size(); ++i) {
        const Finding& part = findings[i];
        if (!part.of_waiting) continue;
        std::uint32_t story = part.process == ProcId::none ? no_story : story_of[index_of(part.process)];
        if (story == no_story || story == i) story = story_of_all(part, story_of);
        if (story == no_story || story == i || folded[story]) continue;  // else each of two may be a part of the other
        folded[i] = true;
        findings[story].severity = std::max(findings[story].severity, part.severity);
        findings[story].evidence.push_back(fact("a part of it", part.title, part.confidence));
    }
    std::size_t at = 0;
    std::erase_if(findings, [&](const Finding&) { return folded[at++]; });
}

// How far in front a finding stands: by its severity; what may be meant stands behind what leads, and that behind all
// other medium ones.
int place_of(const Finding& finding) {
    switch (finding.severity) {
        case FindingSeverity::info: return finding.leads ? 2 : 0;
        case FindingSeverity::medium: return finding.perhaps_meant ? 1 : 3;
        case FindingSeverity::high: return 4;
        case FindingSeverity::critical: break;
    }
    return 5;
}

}  // namespace

std::span<const Rule> rules() { return all_rules(); }

const Rule* find_rule(std::string_view id) {
    const auto same = [](char a, char b) { return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_')); };
    for (const Rule& rule : all_rules())
        if (std::ranges::equal(rule.id, id, same)) return &rule;
    return nullptr;
}

std::vector<Finding> run_rules(const Facts& facts) {
    std::vector<Finding> findings;
    for (const Rule& rule : all_rules()) {
        std::size_t at = findings.size();
        rule.run(facts, findings);
        for (; at < findings.size(); ++at) {
            Finding& finding = findings[at];
            finding.rule = rule.id;
            finding.fingerprint = fingerprint(rule.id, finding.subject, facts.snapshot());
            if (!finding.behind.empty())
                finding.evidence.insert(finding.evidence.begin(),
                                        fact("what goes with it", finding.behind, finding.confidence));
            if (finding.next_steps.size() > most_next_steps) finding.next_steps.resize(most_next_steps);
        }
    }
    fold_stories(facts, findings);
    std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
        if (place_of(a) != place_of(b)) return place_of(a) > place_of(b);
        if (a.leads != b.leads) return a.leads;
        return a.role < b.role;
    });
    return findings;
}

}  // namespace beamheap::analyses
