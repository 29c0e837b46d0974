// SPDX-License-Identifier: Apache-2.0
// How far a node had come when its start failed, for those whose dump does not hold why.
//
// init prints the reason and halts: releases up to R16 and many later ones leave nothing of it in a dump but
// "init terminating in do_boot ()". What is left is how far it came: whether the kernel's processes are there, whether
// it had a terminal, and which modules were loaded last, since the VM's table of modules grows in the order of loading
// (erts: module.c, and the =mod sections of break.c and beam_bif_load.c's dump in that order).
//
// Three of these ends are known. The boot file that init can't get is the newest atom. What -s and -run were given are
// atoms, too: a module of theirs that was not loaded is missing (called_names.hpp). And the first module of every boot
// script is error_handler, of kernel: where it was not loaded and the folders that erl_prim_loader searches have none
// of kernel, that is why. The script's own path leads to kernel; -path replaces it (init.erl, eval_script), which
// people take for -pa.
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

/// Needs the process table; with modules and atoms it tells what was called, and the program's modules that were loaded
/// last. `path`: the folders that the loader searched; empty: unknown. `not_found`: as folders_not_found().
BootStage boot_stage(const Snapshot& snapshot, std::span<const std::string> path,
                     std::span<const std::string> not_found = {});

/// The folders that erl_prim_loader searches, from the list of texts on its stack (erl_prim_loader:loop/3). Empty where
/// they can't be read. Needs LoadPlan::terms with this process, and stacks.
std::vector<std::string> loader_path(Artifact& artifact);

/// Those of the loader's folders that code_server does not search: -pa and -pz give a folder to both, and code_server
/// leaves out those that do not exist (code_server.erl). Empty where one of the two is not known.
std::vector<std::string> folders_not_found(Artifact& artifact, std::span<const std::string> loader_path);

/// Whether the node loads what its boot script names and nothing when it is called (-mode embedded), by a
/// persistent term, the state of code_server, or the flags of init. False where these can't be read.
bool is_embedded(Artifact& artifact);

}  // namespace beamheap::analyses
