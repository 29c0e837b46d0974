// SPDX-License-Identifier: Apache-2.0
// The ledger: every byte that an input knows of, top down, with the name of whom it belongs to.
//
// Theory. A VM counts its memory by kinds (=memory: processes, binaries, ETS, code, atoms, and a total) and by
// allocators (blocks that are in use, carriers that they lie in). Its tables count the same memory by owner: what each
// process has, each table, each module. The kinds are the frame, the tables fill it: an area is as large as the VM
// says, its rows are what the tables tell, and a last row without an owner is what they leave. So rows add up to the
// total by construction, and what has no name is seen as such, instead of being missing.
//
// Where the parts say more than the whole (figures of two instants, damage), the parts hold, and excess_bytes says by
// how much rows are more than the total. Where the VM's total is missing, the sum of the rows is one, from below.
//
// Kinds and owners are not drawn alike by the VM. These facts fit them to each other (erts/emulator/beam/erl_alloc.c,
// and the figures of dumps of R13 to 29):
//   total = blocks of all allocators, without temp_alloc (since OTP 22), plus machine code of the JIT (external_alloc);
//   timers and their messages are of `processes`, and of no process (beside_heaps.hpp);
//   fixed size types (fix_alloc) are in `processes` without the headers of their blocks;
//   texts of atoms are literals, too, since 28, of which `atom` counts the characters;
//   `processes` has the process table in it, and `ets` ets_misc: these are the VM's own here;
//   `atom` is texts and the table; the entry of each atom is, since R15, a block of ll_alloc beside that;
//   a module's size has its constants in it, which lie in literal_alloc where there is one and not in `code`; what
//   sizes of modules are more than loaded_code is these constants, and what is left of literal_alloc is persistent
//   terms.
//
// Names are many: 3,000 modules of one generator are one owner. What differs in digits, hexadecimal ids and tokens
// alone is a family (atom_families.hpp); processes without a name are one by what they were started as.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/base/confidence.hpp"
#include "analyses/base/sentence.hpp"
#include "analyses/memory/atom_families.hpp"
#include "analyses/memory/binary_holders.hpp"
#include "beamheap/carriers.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/stored_binaries.hpp"

namespace beamheap::analyses {

/// Kinds of memory. Up to `vm` they are parts of the VM's total; the others are what the VM has of the system beside
/// it.
enum class LedgerArea : std::uint8_t { processes, binaries, ets, code, persistent_terms, atoms, vm, carriers, outside };
inline constexpr std::size_t ledger_areas = static_cast<std::size_t>(LedgerArea::outside) + 1;
/// "processes", "binaries", ...
std::string_view name_of(LedgerArea area);

/// What an owner has there.
enum class LedgerItem : std::uint8_t {
    live,        ///< terms on heaps that roots reach
    garbage,     ///< terms on heaps that none reaches
    terms,       ///< terms on heaps, of which the input was not asked (or does not tell) which are live
    stack,       ///< used by stacks
    unused,      ///< allocated for heaps and free
    messages,    ///< in queues and on no heap
    structure,   ///< of the processes themselves: what the VM keeps of one that does and has nothing
    links,       ///< of a process; `count` of them
    monitors,    ///< that a process holds on others, with what these take of who is monitored; `count` of them
    beside,      ///< of a process beside its heaps, messages and these: aliases, the table of its dictionary
    timers,      ///< that will send to it: structures and messages; `count` of them
    binaries,    ///< refc binaries that it refers to
    shared,      ///< refc binaries to which several owners refer
    queue,       ///< data queued in ports
    objects,     ///< ETS tables
    headers,     ///< of the blocks that objects of ETS tables lie in
    code,        ///< machine code and constants
    terms_kept,  ///< persistent terms
    names,       ///< atoms
    table,       ///< of the VM: by the name that the owner has
    free,        ///< in carriers, and used by no block
    native,      ///< written memory that is in no carrier
    untold       ///< of the area, and nothing in the input says whose
};
/// "live", "garbage", ...
std::string_view name_of(LedgerItem item);

struct LedgerOwner {
    enum class Kind : std::uint8_t {
        none,       ///< nobody that the input names
        process,    ///< `process`
        processes,  ///< started as `function`
        named,      ///< registered processes with names of the form `pattern`
        table,      ///< `pattern` is the name, or the form of names, of ETS tables; `process` their one owner, if so
        modules,    ///< `pattern` is a module or the form of several
        atoms,      ///< `pattern` is their form
        ports,      ///< `pattern` is a driver or program
        vm          ///< a table or an allocator of the VM's own, `pattern` as the VM calls it
    } kind = Kind::none;
    ProcId process = ProcId::none;
    FunctionId function = FunctionId::none;
    std::string pattern;  ///< raw bytes
    friend bool operator==(const LedgerOwner&, const LedgerOwner&) = default;
};
/// "process", "processes", ...; empty for none.
std::string_view name_of(LedgerOwner::Kind kind);

struct LedgerRow {
    LedgerArea area = LedgerArea::vm;
    LedgerOwner owner;
    LedgerItem item = LedgerItem::untold;
    std::uint64_t count = 0;  ///< of processes, tables, modules, binaries, ...; 0: not known, or nothing to be counted
    std::uint64_t bytes = 0;
    Confidence sure = Confidence::exact;
};

struct Ledger {
    /// Those of the total first: the largest area first, in it the largest owner, of it the largest item; then the
    /// others.
    std::vector<LedgerRow> rows;
    std::uint64_t area_bytes[ledger_areas] = {};  ///< sums of rows
    Count total_bytes;                            ///< what the VM says that it uses; missing where it does not
    std::uint64_t told_bytes = 0;                 ///< sum of the rows that are part of that total
    std::uint64_t excess_bytes = 0;               ///< told_bytes are so much more than total_bytes
    std::uint64_t sum_bytes = 0;                  ///< of all rows
    /// Of what is untold of the VM's own: the allocator in whose blocks most of it lies, and how much of it at most;
    /// empty: no allocator has half of it.
    std::string untold_allocator;
    std::uint64_t untold_allocator_bytes = 0;

    std::optional<AtomFamilies> families;  ///< where they were sought
    bool heaps_read = false;               ///< whose binaries are is known from the heaps

    std::uint64_t bytes_of(LedgerArea area) const { return area_bytes[static_cast<std::size_t>(area)]; }
    /// Of an area, what nothing in the input says whose it is; of `vm`: in use, of no other area, and in no table of
    /// the VM's own.
    std::uint64_t untold_bytes(LedgerArea area) const;
};

/// What a ledger is made from. Only the snapshot has to be there: loaded with tables, modules, links and labels.
struct LedgerSources {
    const Snapshot& snapshot;
    /// References from all heaps, sorted by process, where all were decoded; then live_words are in the snapshot, too.
    std::optional<std::span<const HeldBinary>> held = {};
    std::span<const HeldBinary> garbage = {};          ///< HeapStats::garbage_binaries()
    std::function<Count(std::uint64_t)> size_of = {};  ///< a listed binary's bytes by its address; needed with `held`
    const StoredBinaries* stored = nullptr;
    const Carriers* carriers = nullptr;
    bool atom_families = false;  ///< seek them whatever atoms take; else where no other area is larger
};
/// O(n log n) in the sizes of the tables and of `held`.
Ledger ledger(const LedgerSources& sources);

/// Who that is: "lager_event <0.89.0>", "my:init/1", "template_<int>". Of none: empty.
Sentence owner_text(const LedgerOwner& owner);

/// Where most of the memory is.
struct LargestPlace {
    /// "Of 207 MiB, 195 MiB (94 %) are code: 3,000 modules template_<int> have 190 MiB." Empty where nothing is known.
    Sentence text;
    bool stands_out = false;    ///< one owner has a third of all, or nobody is known who has as much
    bool in_processes = false;  ///< it is in processes
    bool in_code = false;       ///< it is code, as in any small node
};
LargestPlace largest_place(const Ledger& ledger);

}  // namespace beamheap::analyses
