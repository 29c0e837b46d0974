// SPDX-License-Identifier: Apache-2.0
// --help and the shells' completions, from the tables of verbs and options.
#pragma once

#include <string>
#include <string_view>

#include "cli/frame/commands.hpp"
#include "present/document.hpp"

namespace beamheap::cli {

/// Short: usage, verbs, examples, the options of every verb.
std::string help_text();
/// Of one verb: what it does, its options, examples. In a session the input is known, and not typed.
std::string help_text(const Command& command, bool in_session = false);
/// The rows of verbs, options and formats themselves, for programs: `beamheap help --json`.
present::Document help_document();
/// The manual page, as roff for man(7): `beamheap help --format man`.
std::string man_page();
/// A script for "bash", "zsh" or "fish"; empty for another shell.
std::string completion_script(std::string_view shell);

}  // namespace beamheap::cli
