// SPDX-License-Identifier: Apache-2.0
// What is fuzzed: each kind of bytes that somebody else may have written, with the code that reads it.
//
// A target is a row here. libFuzzer drives it (driver.cpp, a program for each), gcc's build replays its corpus, the
// folder of its name in tests/fuzz/corpus (replay.cpp). Whatever the bytes are, it comes back; what must hold for its
// answer it checks by itself, and stops the process with a sentence if it does not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace beamheap::fuzz {

struct Target {
    std::string_view name;
    void (*run)(std::string_view bytes);
    /// Another input like `bytes`, of at most `most` bytes; which one follows from `seed`. Null: bytes are as good as
    /// any.
    std::string (*mutate)(std::string_view bytes, std::uint64_t seed, std::size_t most);
};

std::span<const Target> targets();
/// Null: there is none of this name.
const Target* find_target(std::string_view name);

// Images (images.cpp).
void run_elf(std::string_view bytes);     ///< an ELF file: segments, sections, symbols, notes of a core
void run_dwarf(std::string_view bytes);   ///< an executable, asked for the members of all structures
void run_memory(std::string_view bytes);  ///< the memory of a VM, whose structures lie in it (memory_at)
std::string mutate_memory(std::string_view bytes, std::uint64_t seed, std::size_t most);

// Texts that users or their programs write (texts.cpp).
void run_module(std::string_view bytes);    ///< compiled modules (.beam)
void run_source(std::string_view bytes);    ///< sources of modules, for their records
void run_archive(std::string_view bytes);   ///< zip archives and tarballs, compressed or not, in one another
void run_external(std::string_view bytes);  ///< a term in the external format
void run_selector(std::string_view bytes);  ///< --procs, names of processes and functions, quantities
void run_config(std::string_view bytes);    ///< .beamheap.toml
void run_sql(std::string_view bytes);       ///< the text of a query
void run_mcp(std::string_view bytes);       ///< messages to the server for assistants, a line each

}  // namespace beamheap::fuzz
