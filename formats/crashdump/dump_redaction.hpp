// SPDX-License-Identifier: Apache-2.0
// A copy of a crash dump without the values that its node worked with, in which everything is as large and lies where
// it lay.
//
// Theory. What a dump is read for are processes, stacks, shapes, sizes and who holds what; what it must not be passed
// on for are the contents of binaries, texts and large numbers. Each of these stands in a place of its own by the
// grammar of lines (term_line.hpp), with its length in front of it, so that the copy puts something of the same length
// there: addresses, sizes and sharing stay as they were, and whatever reads the dump reads the copy. Equal binaries
// stay equal: a filler begins with a keyed hash of what it stands for. Lists of characters are lists of small integers,
// and no line tells the one from the other: every printable character at the head of a cell becomes one that depends on
// the cell's address alone, so that lists that differ still do, mostly: as keys of a map they must. Names (atoms,
// modules, functions, nodes, tables) stay, but for the secrets in them; so do small integers and atoms, but for those
// that are secrets by the key beside them (keyed_values.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "beamheap/error.hpp"
#include "bytes/source.hpp"
#include "formats/crashdump/keyed_values.hpp"

namespace beamheap::crashdump {

struct RedactionRules {
    /// A line of free text (the slogan, command lines of ports) as it may leave the house.
    std::function<std::string(std::string_view)> text;
    /// The same of a term that stands in a line as text (messages of timers, queues and dictionaries of old releases).
    std::function<std::string(std::string_view)> term;
    /// [begin, end) of the secrets within a name or a line of fields, in order.
    std::function<std::vector<std::pair<std::size_t, std::size_t>>(std::string_view)> secret_parts;
    /// A keyed hash: equal texts have equal ones, and nobody without the key can try out what a text was.
    std::function<std::uint64_t(std::string_view)> hash;
    /// Texts that no atom may show (the node's cookie); each is replaced by as many 'x'.
    std::vector<std::string> secrets;
    unsigned word_bits = 64;  ///< of the node: a large integer must stay as many words long
};

struct RedactionReport {
    std::uint64_t binaries = 0;        ///< contents of binaries and of terms in the external format
    std::uint64_t integers = 0;        ///< from 2^32 on, and smaller ones beside secret keys
    std::uint64_t characters = 0;      ///< heads of list cells
    std::uint64_t atoms = 0;           ///< that held a secret
    std::uint64_t lines_left_out = 0;  ///< that are no line of their section: what can't be read can't be judged
    bool complete = false;             ///< the input was read up to its "=end"
};

/// What of the terms of the dump that `source` begins with is a secret by the key beside it, besides what `found` has
/// learned: three readings find all (keyed_values.hpp). Errors: as redact_dump().
Status learn_keyed_values(std::unique_ptr<bytes::Source> source, KeyedValues& found);

/// Copies the dump that `source` begins with, piece by piece, to `write`. Memory: a section's longest line.
/// Errors: not_recognised (no crash dump), those of the source, and the first one that `write` gives.
Result<RedactionReport> redact_dump(std::unique_ptr<bytes::Source> source, const RedactionRules& rules,
                                    const KeyedValues& keyed, const std::function<Status(std::string_view)>& write);

}  // namespace beamheap::crashdump
