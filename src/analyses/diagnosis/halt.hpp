// SPDX-License-Identifier: Apache-2.0
// Who ended a node by erlang:halt with a text, which is all that the dump's slogan has.
//
// The process that called it is on the scheduler that writes the dump: releases that wait for ports to be flushed first
// show erlang:halt/1 itself among its youngest frames (25 and later), older ones the function that called it.
// init:stop/1 with a text has init halt the node, after everything has been shut down.
#pragma once

#include <span>
#include <string>

#include "analyses/base/sentence.hpp"
#include "analyses/processes/totals.hpp"
#include "analyses/slogan/slogan.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// "licence_guard <0.83.0> ended the node with this text (erlang:halt/1): no licence", "What -eval ran ended the node
/// ...", "The node was stopped with this text (init:stop/1): ...", of a slogan that is a program's own or empty;
/// without what the input does not tell. Empty: nobody is known to have halted it.
/// `starting` are applications whose start has not ended, outermost first.
Sentence halted_by(const Snapshot& snapshot, const Death& death, const Slogan& slogan,
                   std::span<const std::string> starting = {});

}  // namespace beamheap::analyses
