// SPDX-License-Identifier: Apache-2.0
// An opened input: a crash dump or a core. The verbs of src/cli ask it the same questions whichever of the two it is,
// and learn from the answer (ErrorCode::not_held) or from Source::kind what inputs of its kind don't tell.
//
// Tables stay, heaps pass through: load() fills the Snapshot and, where LoadPlan::heaps asks for it, decodes the heaps
// of processes as it passes them, several workers side by side, each into a HeapGraph whose arena the next one reuses.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "beamheap/carriers.hpp"
#include "beamheap/error.hpp"
#include "beamheap/native.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/stored_binaries.hpp"
#include "beamheap/terms.hpp"
#include "beamheap/traced.hpp"

namespace beamheap {

/// A decoded heap as it passes by. Everything in it is valid during the visit only.
struct HeapVisit {
    ProcId id = ProcId::none;
    const Process& process;  ///< its row, as far as it is known while loading
    HeapGraph& graph;
    unsigned worker = 0;                      ///< 0 .. workers - 1: never two visits of one worker at once
    std::uint64_t messages = 0;               ///< messages that the input holds for it
    std::uint64_t distribution_messages = 0;  ///< of those, received from another node and not decoded yet
    std::uint64_t distribution_bytes = 0;     ///< their encoded size
    /// Addresses of all binaries outside the heaps that its terms keep, garbage too, each once and in order: what the
    /// VM's process_info(Pid, binary) lists. Nothing where nobody asked, or the input does not hold it (crash dumps).
    std::optional<std::span<const std::uint64_t>> kept_binaries;
};

/// Heaps that are to be decoded while loading passes them.
struct HeapRequest {
    /// Which ones; asked once for each process when the process table is complete. Empty: all.
    std::function<bool(const Snapshot&, ProcId)> wanted;
    /// Called from several threads, in no promised order; must not look at the snapshot, which is being filled.
    std::function<void(const HeapVisit&)> visit;
    unsigned workers = 1;        ///< worker threads at most; the visitor keeps this many sums
    bool kept_binaries = false;  ///< HeapVisit::kept_binaries, too
};

/// Which slots of a process's youngest frames a plan asks for.
enum class SlotsWanted : std::uint8_t {
    none,
    whom_it_names,  ///< of one that waits: the pids and ports of its youngest frame; of one that monitors somebody, the
                    ///< references, too
    all,
};

/// Parts of an input that can be left out. What each kind of answer takes of them is named in
/// analyses/facts/needs.hpp; sums of these are made by `|`.
struct LoadParts {
    bool tables = false;  ///< everything but processes: memory, ports, ETS, timers, allocators, modules, nodes, ...
    bool links = false;   ///< Snapshot::links
    bool stacks = false;  ///< Process::stack, Process::stack_words
    /// Snapshot::slots of the processes with this current function; asked once for each function. Needs `stacks`.
    SlotsWanted (*slots_of)(const Snapshot&, FunctionId) = nullptr;
    bool labels = false;   ///< real_initial_call, application, label ($initial_call, $ancestors, $process_label)
    bool atoms = false;    ///< Snapshot::atoms
    bool modules = false;  ///< Snapshot::modules, Snapshot::funs
    /// The terms of the process that knows the code path (code_server), so that Artifact::terms() gives them whatever
    /// `terms` says. Of inputs that hold no lines themselves; of others nothing.
    bool code_path = false;
    bool module_versions = false;  ///< with `modules`: Module::version and Module::source of images, too
    bool to_the_end = false;       ///< read a stream to its end, to know whether it is complete
    /// Keep what questions about single processes' terms need. Of a stream, which can't be read again, the terms of
    /// the processes for which LoadPlan::terms_of says so.
    bool terms = false;
    bool binaries = false;  ///< sizes of all binaries outside the heaps: Artifact::binary_bytes()

    constexpr LoadParts& operator|=(const LoadParts& other) {
        tables |= other.tables;
        links |= other.links;
        stacks |= other.stacks;
        if (other.slots_of != nullptr) slots_of = other.slots_of;
        labels |= other.labels;
        atoms |= other.atoms;
        modules |= other.modules;
        code_path |= other.code_path;
        module_versions |= other.module_versions;
        to_the_end |= other.to_the_end;
        terms |= other.terms;
        binaries |= other.binaries;
        return *this;
    }
    friend constexpr LoadParts operator|(LoadParts a, const LoadParts& b) { return a |= b; }
    /// Whether all of `other` is among these.
    constexpr bool has(const LoadParts& other) const {
        const auto both = [](bool ours, bool theirs) { return ours || !theirs; };
        return both(tables, other.tables) && both(links, other.links) && both(stacks, other.stacks) &&
               both(labels, other.labels) && both(atoms, other.atoms) && both(modules, other.modules) &&
               both(code_path, other.code_path) && both(module_versions, other.module_versions) &&
               both(to_the_end, other.to_the_end) && both(terms, other.terms) && both(binaries, other.binaries) &&
               (slots_of == other.slots_of || other.slots_of == nullptr);
    }
};

/// How much of the input a question needs. Reading stops as soon as everything asked for is known.
struct LoadPlan : LoadParts {
    /// Of a stream: whose terms are kept (asked when the process table is complete; empty: all).
    std::function<bool(const Snapshot&, ProcId)> terms_of = {};
    /// Processes whose terms will be asked for again and again (asked when the process table is complete): the graphs
    /// that `heaps` makes of them may be kept, as far as they take no more than some memory together.
    std::function<bool(const Snapshot&, ProcId)> asked_often = {};
    const HeapRequest* heaps = nullptr;  ///< decode heaps on the way; must outlive load()

    /// Whether terms of any process are asked for.
    bool any_terms() const { return terms || terms_of || heaps != nullptr; }
    /// Whether what this plan has loaded answers `other` too, its `heaps` aside, which are decoded when they are asked
    /// for.
    bool covers(const LoadPlan& other) const {
        LoadParts ours = *this;
        ours.terms = terms && !terms_of;
        ours.code_path |= ours.terms;
        ours.binaries |= terms;
        return ours.has(other);
    }
    /// Nothing but the process table: a dump is read up to the end of that table.
    bool only_processes() const {
        return !tables && !stacks && !labels && !atoms && !modules && !to_the_end && !terms && !binaries &&
               heaps == nullptr;
    }
};

/// Told how far reading has come, at most a few times a second; `total` is 0 where it is unknown.
using Progress = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

struct OpenOptions {
    std::string executable;                ///< --exe: the beam.smp of a core; empty: found by itself
    unsigned threads = 0;                  ///< 0: as many as there are cores
    std::uint64_t max_bytes = 1ull << 42;  ///< limit on the decompressed size (decompression bombs)
    Progress progress;
};

/// One named oddity or choice of the loading, for `doctor`.
struct Check {
    std::string name;
    bool ok = true;
    std::string detail;
};

/// What an ETS table holds.
struct TableContents {
    std::unique_ptr<TermSource> terms;
    std::uint32_t key = 1;  ///< position of the key in each tuple
    bool more = false;      ///< it holds more than was asked for
    bool damaged = false;   ///< its structure could not be followed to the end
};

/// What persistent_term:put/2 keeps.
struct PersistentTerms {
    struct Entry {
        Element key, value;
    };
    std::unique_ptr<TermSource> terms;  ///< to read them by
    std::vector<Entry> entries;         ///< as they stand in the VM's table
};

/// Every kind of input answers every question itself: there are no answers to inherit. What no input of its kind holds
/// it says as ErrorCode::not_held, in a sentence that names the kind and says where else to look.
class Artifact {
public:
    virtual ~Artifact() = default;

    /// Fills the snapshot as far as the plan asks; called once, before anything else.
    virtual Status load(const LoadPlan& plan) = 0;
    virtual Snapshot& snapshot() = 0;
    const Snapshot& snapshot() const { return const_cast<Artifact*>(this)->snapshot(); }

    /// The terms of one process, to be looked into and printed. load() must have been asked for them
    /// (LoadPlan::terms; of a stream, LoadPlan::terms_of chose them). Empty, without roots, where the input has no heap
    /// of the process. Must not outlive the artifact. `wanted` allows it to leave out the rest (TermSource::in_part()).
    virtual Result<std::unique_ptr<TermSource>> terms(ProcId process, const TermsWanted& wanted) = 0;
    Result<std::unique_ptr<TermSource>> terms(ProcId process) { return terms(process, {}); }

    /// The same with all that lies on the heaps of the process, dead or alive: terms that no root reaches, and that no
    /// other such term holds, are roots of kind `garbage`. not_held where the input has live terms only.
    virtual Result<std::unique_ptr<TermSource>> terms_and_garbage(ProcId process) = 0;

    /// Whether identify() can tell anything: not of a stream whose terms have passed by, or were never reached.
    virtual bool can_identify() const = 0;
    /// Looks for what labels tell of one process (Process::real_initial_call above all) where load() was not asked for
    /// them, at the cost of some pieces of the input. What isn't found stays missing.
    virtual void identify(ProcId process) = 0;

    /// Objects of the ETS table with this index in Snapshot::ets, `limit` of them at the most, as roots of kind
    /// `table_object` in the table's order: by key in ordered sets, else by hash. Needs LoadPlan::tables.
    virtual Result<TableContents> table_contents(std::size_t table, std::uint64_t limit) = 0;

    /// Persistent terms by their keys. load() must have been asked for terms.
    virtual Result<PersistentTerms> persistent_terms() = 0;

    /// Binaries that ETS tables and persistent terms hold. Needs LoadPlan::tables.
    virtual Result<StoredBinaries> stored_binaries() = 0;

    /// Counters of traced functions. Time and words of a call that is under way are not in them yet.
    virtual Result<std::vector<TracedFunction>> traced() = 0;

    /// The VM's carriers, each walked. Needs LoadPlan::tables.
    virtual Result<Carriers> carriers() = 0;

    /// The operating system's threads with their native stacks. Needs LoadPlan::stacks for what they ran.
    virtual Result<NativeThreads> native_threads() = 0;

    /// Decodes heaps after loading, as LoadPlan::heaps does on the way; load() must have been asked for terms.
    virtual Status visit_heaps(const HeapRequest& demand) = 0;

    /// Bytes of the binary outside the heaps at this address; missing if the input does not list it, or if load() was
    /// asked for neither terms nor binaries.
    virtual Count binary_bytes(std::uint64_t address) const = 0;

    /// What was recognised and chosen while loading, for `doctor`.
    virtual std::vector<Check> checks() const = 0;
};

}  // namespace beamheap
