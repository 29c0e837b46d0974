// SPDX-License-Identifier: Apache-2.0
// Literals: constants of modules and persistent terms, which all heaps refer to and none holds.
//
// Since dump version 0.5 (OTP 20.2) they have a section of their own, behind all heaps, of the same lines as a heap.
// Before, a literal was printed in the heap of whichever process reached it first, and all others only refer into that
// heap: then the lines that a process needs are collected from the heaps of the others.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "beamheap/error.hpp"
#include "beamheap/heap_graph.hpp"
#include "formats/crashdump/heap_reader.hpp"
#include "formats/crashdump/term_sections.hpp"

namespace beamheap::crashdump {

struct Literals {
    HeapGraph graph;              ///< in `values` mode
    std::string text;             ///< what the graph's origins count in
    std::uint64_t bad_lines = 0;  ///< that were skipped
};

/// What the =literals section holds.
Result<std::shared_ptr<const Literals>> read_literals(const TermSections& texts, const HeapDialect& dialect);

/// What `graph`, the heap of `process`, refers to and does not hold, out of the heaps of the first `processes`
/// processes (dumps up to version 0.3). One heap at a time is in memory.
Result<std::shared_ptr<const Literals>> collect_literals(const TermSections& texts, const HeapDialect& dialect,
                                                         ProcId process, const HeapGraph& graph,
                                                         std::uint32_t processes);

}  // namespace beamheap::crashdump
