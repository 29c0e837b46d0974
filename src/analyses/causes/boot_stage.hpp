// How far a node had come when its start failed, for those whose dump does not hold why.
//
// init prints the reason and halts: releases up to R16 and many later ones leave nothing of it in a dump but
// "init terminating in do_boot ()". What is left is how far it came: whether the kernel's processes are there, whether
// it had a terminal, and which modules were loaded last, since the VM's table of modules grows in the order of loading
// (erts: module.c, and the =mod sections of break.c and beam_bif_load.c's dump in that order).
#pragma once

#include "analyses/base/sentence.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// "What the boot script, -s, -run or -eval called failed, and the dump does not hold why; loaded last: a, b, c". Without a full stop. Needs the process table; with modules it tells the last.
Sentence boot_stage(const Snapshot& snapshot);

}  // namespace beamheap::analyses
