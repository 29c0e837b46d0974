// SPDX-License-Identifier: Apache-2.0
#include "fuzz/whole_program.hpp"

#include <cstdlib>

#include "beamheap/artifact.hpp"
#include "formats/format.hpp"

namespace beamheap::fuzz {
namespace {
// What is run must not depend on the modules that the machine has.
[[maybe_unused]] const int no_code = ::setenv("BEAMHEAP_CODE", "", 1);
}  // namespace

void load_and_walk(std::string_view bytes) {
    LoadPlan everything;
    everything.tables = everything.links = everything.stacks = everything.labels = everything.atoms = true;
    everything.modules = true;
    HeapRequest heaps;
    heaps.visit = [](const HeapVisit&) {};
    everything.heaps = &heaps;
    LoadPlan processes_alone;
    LoadPlan stacks_alone;
    stacks_alone.stacks = stacks_alone.links = true;

    OpenOptions options;
    options.threads = 1;
    options.max_bytes = 16u << 20;  // a decompression bomb ends here
    // One of the narrower plans in turn: all three on each input would cost a fuzzer half of its speed.
    for (const LoadPlan& plan : {everything, bytes.size() % 2 == 0 ? processes_alone : stacks_alone}) {
        auto artifact = open_artifact_bytes(bytes, options);
        if (!artifact) return;
        if (!(*artifact)->load(plan)) continue;
        (void)(*artifact)->checks();
    }
}

}  // namespace beamheap::fuzz
