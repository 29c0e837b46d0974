// SPDX-License-Identifier: Apache-2.0
// Sentences as they are written: the one place that knows how their parts are spelled.
//
// A rule says who, what and how much (analyses/base/sentence.hpp). Here a process becomes "lager_event <0.89.0>" or
// "MyApp.Worker #PID<0.89.0>", a figure "1.9 GiB", a command one that a shell takes. What is ours, and what of the node
// is a name, a term or free text, stays known to the end: the pieces of the Text are redacted by it.
#pragma once

#include <string>
#include <string_view>

#include "analyses/base/sentence.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// A sentence about the input of `names`, in their syntax. Commands have the path of the input, as a shell reads it.
Text spell(const Names& names, const analyses::Sentence& sentence);
/// A sentence about no input: it has no processes, functions or names; commands have DUMP for the input.
Text spell(const analyses::Sentence& sentence);

/// The parts one by one, as JSON has them: [{kind, text, ...}]. `kind` is text (ours), amount, percent, count, process,
/// pid, function, name, port, term, names, vm, message or command. Amounts and counts have `value` and `unit`, percents
/// `value`, processes and pids `pid`, commands `verb`.
Array sentence_parts(const Names& names, const analyses::Sentence& sentence);

/// The sentence in Erlang's syntax: what files that people write are matched with.
std::string plain_text(const Snapshot& snapshot, const analyses::Sentence& sentence);

/// A path as a word of a shell.
std::string shell_word(std::string_view path);

}  // namespace beamheap::present
