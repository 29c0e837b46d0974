// SPDX-License-Identifier: Apache-2.0
// The ten processes of a dump with the most memory, by the model itself, and what analyze says of it, asked as anybody
// asks.
#include <beamheap/beamheap.h>

#include <algorithm>
#include <beamheap/open.hpp>
#include <beamheap/snapshot.hpp>
#include <cstdio>
#include <vector>

int main(int count, char** arguments) {
    using namespace beamheap;
    const char* const path = count > 1 ? arguments[1] : "";
    LoadPlan plan;
    plan.tables = plan.to_the_end = true;
    const auto artifact = open_artifact(path, {});
    if (!artifact) return std::puts(artifact.error().message.c_str()), 3;
    if (const Status loaded = (*artifact)->load(plan); !loaded) return std::puts(loaded.error().message.c_str()), 3;
    std::vector<const Process*> largest;
    for (const Process& process : (*artifact)->snapshot().processes)
        if (process.memory_bytes.has()) largest.push_back(&process);
    const auto more = [](const Process* a, const Process* b) { return *a->memory_bytes > *b->memory_bytes; };
    std::stable_sort(largest.begin(), largest.end(), more);
    largest.resize(std::min<std::size_t>(largest.size(), 10));
    for (const Process* each : largest)
        std::printf("<0.%u.%u> %llu\n", each->pid.number, each->pid.serial, 0ull + *each->memory_bytes);

    beamheap_input* input = nullptr;
    char* answer = nullptr;
    const char* const words[] = {"analyze", "--table", "findings", "--columns", "severity,rule",
                                 "-n",      "1",       "--format", "tsv",       nullptr};
    if (beamheap_open(path, nullptr, &input) != 0 || beamheap_ask(input, words, &answer) != 0)
        return std::puts(beamheap_error()), 3;
    std::fputs(answer, stdout);
    beamheap_free(answer);
    beamheap_close(input);
}
