// SPDX-License-Identifier: Apache-2.0
// The ten processes of a dump with the most memory, and the worst that the rules find.
#include <cstdio>

#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/rules.hpp"
#include "formats/format.hpp"

int main(int count, char** arguments) {
    using namespace beamheap;
    LoadPlan plan;
    plan.tables = plan.links = plan.stacks = plan.labels = plan.to_the_end = true;
    plan.slots_of = analyses::slots_for_waits;
    const auto artifact = open_artifact(count > 1 ? arguments[1] : "-", {});
    if (!artifact) return std::puts(artifact.error().message.c_str()), 3;
    if (const Status loaded = (*artifact)->load(plan); !loaded) return std::puts(loaded.error().message.c_str()), 3;
    const Snapshot& node = (*artifact)->snapshot();
    for (const ProcId id : analyses::largest(node, analyses::all_processes(node), &Process::memory_bytes, 10)) {
        const Count bytes = node[id].memory_bytes;
        std::printf("<0.%u.%u> %llu\n", node[id].pid.number, node[id].pid.serial, bytes.has() ? 0ull + *bytes : 0ull);
    }
    const auto findings = analyses::run_rules(analyses::Facts(node));
    if (!findings.empty()) std::printf("%s: %s\n", name_of(findings[0].severity).data(), findings[0].rule.data());
}
