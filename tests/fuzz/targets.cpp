// SPDX-License-Identifier: Apache-2.0
#include "fuzz/targets.hpp"

#include <algorithm>
#include <array>

#include "fuzz/dump_mutator.hpp"
#include "fuzz/whole_program.hpp"

namespace beamheap::fuzz {
namespace {

// Which verb and format reads the bytes follows from them.
void run_program(std::string_view bytes) {
    std::size_t sum = bytes.size();
    for (std::size_t i = 0; i < bytes.size(); i += 61) sum = sum * 31 + static_cast<unsigned char>(bytes[i]);
    (void)run_line(sum % lines(), bytes);
}

constexpr std::array<Target, 13> table{{
    {"dump", &load_and_walk, &mutate_dump},
    {"program", &run_program, &mutate_dump},
    {"elf", &run_elf, nullptr},
    {"dwarf", &run_dwarf, nullptr},
    {"memory", &run_memory, &mutate_memory},
    {"archive", &run_archive, nullptr},
    {"module", &run_module, nullptr},
    {"source", &run_source, nullptr},
    {"external", &run_external, nullptr},
    {"selector", &run_selector, nullptr},
    {"config", &run_config, nullptr},
    {"sql", &run_sql, nullptr},
    {"mcp", &run_mcp, nullptr},
}};

}  // namespace

std::span<const Target> targets() { return table; }

const Target* find_target(std::string_view name) {
    const auto found = std::ranges::find(table, name, &Target::name);
    return found == table.end() ? nullptr : &*found;
}

}  // namespace beamheap::fuzz
