// The ten processes of a dump with the most memory.
#include <cstdio>

#include "analyses/processes/process_columns.hpp"
#include "formats/format.hpp"

int main(int count, char** arguments) {
    using namespace beamheap;
    const auto artifact = open_artifact(count > 1 ? arguments[1] : "-", {});
    if (!artifact) return std::puts(artifact.error().message.c_str()), 3;
    if (const Status loaded = (*artifact)->load({}); !loaded) return std::puts(loaded.error().message.c_str()), 3;
    const Snapshot& node = (*artifact)->snapshot();
    for (const ProcId id : analyses::largest(node, analyses::all_processes(node), &Process::memory_bytes, 10)) {
        const Count bytes = node[id].memory_bytes;
        std::printf("<0.%u.%u> %llu\n", node[id].pid.number, node[id].pid.serial, bytes.has() ? 0ull + *bytes : 0ull);
    }
}
