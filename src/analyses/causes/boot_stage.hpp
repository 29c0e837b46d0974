// How far a node had come when its start failed, for those whose dump does not hold why.
//
// init prints the reason and halts: releases up to R16 and many later ones leave nothing of it in a dump but
// "init terminating in do_boot ()". What is left is how far it came: whether the kernel's processes are there, whether
// it had a terminal, and which modules were loaded last, since the VM's table of modules grows in the order of loading
// (erts: module.c, and the =mod sections of break.c and beam_bif_load.c's dump in that order).
//
// One of these ends is known: the first module of every boot script is error_handler, of kernel. Where it was not
// loaded and the folders that erl_prim_loader searches have none of kernel, that is why. The script's own path leads to
// kernel; -path replaces it (init.erl, eval_script), which people take for -pa.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

struct BootStage {
    /// "What the boot script, -s, -run or -eval called failed, and the dump does not hold why; loaded last: a, b, c".
    /// Without a full stop.
    Sentence told;
    std::vector<Sentence> hints;
};

/// Needs the process table; with modules it tells the last. `path`: the folders that the loader searched; empty:
/// unknown.
BootStage boot_stage(const Snapshot& snapshot, std::span<const std::string> path);

/// The folders that erl_prim_loader searches, from the list of texts on its stack (erl_prim_loader:loop/3). Empty where
/// they can't be read. Needs LoadPlan::terms with this process, and stacks.
std::vector<std::string> loader_path(Artifact& artifact);

}  // namespace beamheap::analyses
