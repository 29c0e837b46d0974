// SPDX-License-Identifier: Apache-2.0
// What there is to be looked at, and where a line or a row leads.
//
// A place is one or several questions about one thing: of a process what it is, what its heap holds, what is in its
// queue, whom it waits for. Each question is a line of the shell, so that whatever is shown here can be asked for
// there, by the same words.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ui/page_view.hpp"
#include "present/page.hpp"

namespace beamheap::cli::ui {

/// One question about a thing.
struct Question {
    std::string title;               ///< one word: "heap"
    std::vector<std::string> words;  ///< a line of the shell
    bool operator==(const Question&) const = default;
};

/// What is looked at.
struct Subject {
    std::string title;
    std::vector<Question> questions;  ///< at least one
    bool operator==(const Subject&) const = default;
};

/// The list at the left: what a node has.
std::span<const Subject> contents();

Subject process_subject(std::string_view pid);
/// A term of a process: its elements, all of its text, and what keeps it.
Subject term_subject(std::string_view pid, std::string_view address);

/// What a condition can be put on: a question about processes, which takes a selector (msgq>1000), or one whose rows
/// are a table of `sql` (where objects > 10).
bool can_choose(const Question& question);
/// The condition that it has; empty: none.
std::string condition_of(const Question& question);
/// The same question with another condition (empty: none), or, of one that begins with "where", that of `sql`.
Question chosen_by(const Question& question, std::string_view condition);
/// What a condition may look like here, for who types one.
std::string_view example_of_condition(const Question& question);

/// Everything that has a text: names of processes, functions of stacks, tables, ports, atoms, log events; with `pid`,
/// terms of that process, too.
Subject search_subject(std::string_view text, std::string_view pid);

/// Where a line or a row leads, seen on the answer to `asked`. Nothing where it leads nowhere: then its own text is
/// all that there is. `input` is the path as the verbs' next steps name it.
std::optional<Subject> leads_to(const Selected& selected, const Question& asked, std::string_view input);

/// The command that asks this question of sh: "beamheap top erl_crash.dump --procs 'msgq>10'".
std::string command_of(const Question& question, std::string_view input);

}  // namespace beamheap::cli::ui
