// An opened input: a crash dump or a core. The verbs of src/cli speak to it and never ask which of the two it is.
//
// Tables stay, heaps pass through: load() fills the Snapshot; visit_heaps() decodes the heaps of the selected
// processes one at a time (several workers side by side), each into a HeapGraph whose arena the next one reuses.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "beamheap/error.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap {

class HeapGraph;

/// How much of the input a question needs. Reading stops as soon as everything asked for is known.
struct LoadPlan {
    bool tables = false;   ///< everything but processes: memory, ports, ETS, timers, allocators, modules, nodes, ...
    bool links = false;    ///< Snapshot::links
    bool stacks = false;   ///< Process::stack, Process::stack_words
    bool labels = false;   ///< real_initial_call, application, label ($initial_call, $ancestors, $process_label)
    bool atoms = false;    ///< Snapshot::atoms
    bool modules = false;  ///< Snapshot::modules, Snapshot::funs
    bool to_the_end = false;  ///< read a stream to its end, to know whether it is complete
    /// Nothing but the process table: a dump is read up to the end of that table.
    bool only_processes() const { return !tables && !stacks && !labels && !atoms && !modules && !to_the_end; }
};

/// Told how far reading has come, at most a few times a second; `total` is 0 where it is unknown.
using Progress = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

struct OpenOptions {
    std::string executable;             ///< --exe: the beam.smp of a core; empty: found by itself
    unsigned threads = 0;               ///< 0: as many as there are cores
    std::uint64_t max_bytes = 1ull << 42;  ///< limit on the decompressed size (decompression bombs)
    Progress progress;
};

/// One named oddity or choice of the loading, for `doctor`.
struct Check {
    std::string name;
    bool ok = true;
    std::string detail;
};

class Artifact {
public:
    virtual ~Artifact() = default;

    /// Fills the snapshot as far as the plan asks; called once, before anything else.
    virtual Status load(const LoadPlan& plan) = 0;
    virtual Snapshot& snapshot() = 0;
    const Snapshot& snapshot() const { return const_cast<Artifact*>(this)->snapshot(); }

    /// Decodes the heap of each process in `selection` (all that have one, when it is empty) and calls `visit`
    /// with it from one of several threads; never twice at once for one worker, in no promised order.
    /// `worker` is 0 .. workers-1 and lets the visitor keep per-thread sums. Returns the number of heaps visited.
    using HeapVisitor = std::function<void(ProcId process, HeapGraph& heap, unsigned worker)>;
    virtual Result<std::size_t> visit_heaps(std::span<const ProcId> selection, unsigned workers,
                                            const HeapVisitor& visit) = 0;

    /// What was recognised and chosen while loading, for `doctor`.
    virtual std::vector<Check> checks() const = 0;
};

}  // namespace beamheap
