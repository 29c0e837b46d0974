// The heaps of an input as one graph in a file that somebody else's heap analyser opens.
#pragma once

#include <cstdint>
#include <string>

#include "cli/node_model.hpp"

namespace beamheap::cli {

/// What was written.
struct HeapFile {
    std::uint64_t processes = 0;  ///< with their terms
    std::uint64_t folded = 0;     ///< processes whose heaps stand as one node each, with their size
    std::uint64_t nodes = 0;      ///< of the file
};

/// What has to be loaded for it.
Demand heap_file_demand();

/// A .heapsnapshot (present/v8_snapshot.hpp): below its root stand all processes and ETS tables; below a process what its roots
/// hold, as a reader's "retained size" needs it. An object's size is what it occupies; a binary outside the heaps is one
/// node, whoever refers to it; a process's own size is what its memory is beyond that of its terms (free room, stack,
/// garbage). Heaps are written largest first, as long as the file holds at most `most_nodes`: what does not fit is folded.
/// The file appears at `path` when it is whole. Errors: of reading and writing.
Result<HeapFile> write_heap_snapshot(NodeModel& model, const std::string& path, bool overwrite, std::uint64_t most_nodes, When progress);

}  // namespace beamheap::cli
