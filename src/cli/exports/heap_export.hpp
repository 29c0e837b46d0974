// SPDX-License-Identifier: Apache-2.0
// The heaps of an input as one graph in a file that somebody else's heap analyser opens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/tables/node_model.hpp"

namespace beamheap::cli {

/// What was written.
struct HeapFile {
    std::uint64_t processes = 0;  ///< with their terms
    std::uint64_t folded = 0;     ///< processes whose heaps stand as one node each, with their size
    std::uint64_t nodes = 0;      ///< of the file
    std::uint64_t cut = 0;        ///< binaries outside the heaps that stand in it without their bytes
};

/// What has to be loaded for it.
Demand heap_file_demand();

/// A .heapsnapshot (present/v8_snapshot.hpp): below its root stand all processes and ETS tables; below a process what
/// its roots hold (its messages below a node of their own), as a reader's "retained size" needs it. An object's size is
/// what it occupies; a binary outside the heaps is one node, whoever refers to it; a process's own size is what its
/// memory is beyond that of its terms (free room, stack, garbage). Heaps are written largest first, as long as the file
/// holds at most `most_nodes`: what does not fit is folded. The file appears at `path` when it is whole. Errors: of
/// reading and writing.
Result<HeapFile> write_heap_snapshot(NodeModel& model, const std::string& path, bool overwrite,
                                     std::uint64_t most_nodes, When progress);

/// An HPROF file (present/hprof.hpp). A process is a java.lang.Thread with its stack; what its roots hold stands in
/// arrays below it, and what its frames hold is a root, too. A term is an object whose fields are its elements: their
/// bytes are the words that it occupies, as its class states (terms of more than 256 words are arrays). Atoms are
/// strings that are roots, pids refer to threads; integers and bytes of texts are left out. A binary outside the heaps
/// is one byte[], whoever refers to it. Folding, order and errors as above, with `most_objects`.
Result<HeapFile> write_hprof(NodeModel& model, const std::string& path, bool overwrite, std::uint64_t most_objects,
                             When progress);

/// "name <0.1.0>", redacted: how files of heaps call a process.
std::string name_in_heap_file(const NodeModel& model, const Process& process);
/// All processes, those with the most memory first, and the sum of it.
std::vector<ProcId> largest_first(const Snapshot& snapshot, std::uint64_t& all_bytes);

}  // namespace beamheap::cli
