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

}  // namespace

std::span<const Rule> rules() { return all_rules(); }

const Rule* find_rule(std::string_view id) {
    const auto same = [](char a, char b) { return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_')); };
    for (const Rule& rule : all_rules())
        if (std::ranges::equal(rule.id, id, same)) return &rule;
    return nullptr;
}

std::vector<Finding> run_rules(const RuleInput& input) {
    std::vector<Finding> findings;
    for (const Rule& rule : all_rules()) {
        std::size_t at = findings.size();
        rule.run(input, findings);
        for (; at < findings.size(); ++at) {
            Finding& finding = findings[at];
            finding.rule = rule.id;
            finding.fingerprint = fingerprint(rule.id, finding.subject, input.snapshot);
            if (finding.next_steps.size() > most_next_steps) finding.next_steps.resize(most_next_steps);
        }
    }
    std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
        if (a.severity != b.severity) return a.severity > b.severity;
        return a.role < b.role;
    });
    return findings;
}

}  // namespace beamheap::analyses
