#include "analyses/rules/rules.hpp"

#include <algorithm>
#include <array>

#include "analyses/rules/rule_list.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_next_steps = 4;

// A new rule is its file under rules/, its line in rules/rule_list.hpp, and a row here.
constexpr std::array all_rules{
    Rule{"start-up", "the node did not start, or ended because something that it may not run without did",
         rule::start_up},
    Rule{"incomplete-dump", "a dump without all of its processes, so that the culprit may be missing",
         rule::incomplete_dump},
    Rule{"native-crash", "native code, or damage to the VM's memory, that ended it", rule::native_crash},
    Rule{"wait-cycle", "processes that wait for each other in a circle: a deadlock", rule::wait_cycle},
    Rule{"wait-convoy", "many processes that wait for one", rule::wait_convoy},
    Rule{"slow-socket", "processes that wait because what they send to does not take it", rule::slow_socket},
    Rule{"queue-flood", "queues that grow faster than their owners read", rule::queue_flood},
    Rule{"big-heap", "one process that holds a large part of the memory, or asked for too much", rule::big_heap},
    Rule{"binary-pinning", "binaries that stay because of small slices of them", rule::binary_pinning},
    Rule{"idle-garbage", "idle processes whose heaps are full of garbage", rule::idle_garbage},
    Rule{"atom-exhaustion", "the atom table is full, or on its way", rule::atom_exhaustion},
    Rule{"process-leak", "the process table fills up, or many processes of one kind that nothing holds",
         rule::process_leak},
    Rule{"port-leak", "the port table fills up: sockets, files, external programs", rule::port_leak},
    Rule{"ets-growth", "an ETS table, or one owner's tables, are a large part of the node", rule::ets_growth},
    Rule{"allocator-loss", "memory that the allocators hold and nobody uses", rule::allocator_loss},
};

}  // namespace

std::span<const Rule> rules() { return all_rules; }

const Rule* find_rule(std::string_view id) {
    const auto same = [](char a, char b) { return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_')); };
    for (const Rule& rule : all_rules)
        if (std::ranges::equal(rule.id, id, same)) return &rule;
    return nullptr;
}

std::vector<Finding> run_rules(const RuleInput& input) {
    std::vector<Finding> findings;
    for (const Rule& rule : all_rules) {
        std::size_t at = findings.size();
        rule.run(input, findings);
        for (; at < findings.size(); ++at) {
            Finding& finding = findings[at];
            finding.rule = rule.id;
            finding.fingerprint = fingerprint(rule.id, finding.subject);
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
