// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include "cli/console/sandbox.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/source_tree.hpp"

int main(int argc, char** argv) {
#ifdef __POPCNT__
    if (!__builtin_cpu_supports("popcnt")) {
        std::fputs("beamheap: this processor lacks the POPCNT instruction (x86-64 has it since 2008)\n", stderr);
        return 5;
    }
#endif
    beamheap::cli::rebuild_if_stale(argv);
    unsetenv("DEBUGINFOD_URLS");  // elfutils would ask servers for debug information
    beamheap::cli::allow_sandbox();
    return beamheap::cli::run(argc, argv);
}
