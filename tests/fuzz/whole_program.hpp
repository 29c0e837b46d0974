// SPDX-License-Identifier: Apache-2.0
// The whole program on bytes, as the fuzzers and the replay of their corpus call it. Whatever the bytes are, these
// come back, in time and memory bounded by their number.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace beamheap::fuzz {

/// The library alone: opens `bytes` from memory, loads by each plan that a verb uses, walks every heap.
void load_and_walk(std::string_view bytes);

/// How many command lines run_line() knows.
std::size_t lines();

/// Runs one command line on `bytes` in a file, as main() would, and stops the process with a sentence if the exit
/// code is none of the contract's or the output holds a raw control byte or invalid UTF-8. Gives standard output.
std::string run_line(std::size_t line, std::string_view bytes);

/// The same of a line's words, with "@" for the input.
std::string run_words(const std::vector<std::string_view>& words, std::string_view bytes);

/// The same for any words behind the program's name, without an input of its own, with `standard_input`.
std::string run_command(std::vector<std::string> words, std::string_view standard_input = {});

/// The line that is `analyze --full --json`.
inline constexpr std::size_t full_analysis = 1;

}  // namespace beamheap::fuzz
