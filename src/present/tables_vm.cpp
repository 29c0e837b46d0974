// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <numeric>

#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::present {
namespace {

using namespace cells;

template <class Row>
std::vector<const Row*> pointers(std::span<const Row> rows) {
    std::vector<const Row*> out;
    out.reserve(rows.size());
    for (const Row& row : rows) out.push_back(&row);
    return out;
}

using AllocatorRow = const analyses::AllocatorUse*;

// Blocks and carriers by their kind.
Columns<AllocatorRow> carrier_columns() {
    using Row = AllocatorRow;
    return {
        {{.name = "mbcs_blocks",
          .title = "MBCS BLOCKS",
          .unit = Unit::count,
          .doc = "blocks in multiblock carriers",
          .wide = true},
         [](const Row& a) { return Value(a->mbcs.blocks); }},
        {{.name = "mbcs_block_bytes",
          .title = "MBCS BLOCK BYTES",
          .unit = Unit::bytes,
          .doc = "their bytes",
          .wide = true},
         [](const Row& a) { return Value(a->mbcs.block_bytes); }},
        {{.name = "mbcs_carriers",
          .title = "MBCS CARRIERS",
          .unit = Unit::count,
          .doc = "multiblock carriers",
          .wide = true},
         [](const Row& a) { return Value(a->mbcs.carriers); }},
        {{.name = "mbcs_carrier_bytes",
          .title = "MBCS CARRIER BYTES",
          .unit = Unit::bytes,
          .doc = "their bytes",
          .wide = true},
         [](const Row& a) { return Value(a->mbcs.carrier_bytes); }},
        {{.name = "pool_block_bytes",
          .title = "POOL BLOCK BYTES",
          .unit = Unit::bytes,
          .doc = "of mbcs: in carriers that were given up",
          .wide = true},
         [](const Row& a) { return Value(a->pool.block_bytes); }},
        {{.name = "pool_carrier_bytes",
          .title = "POOL CARRIER BYTES",
          .unit = Unit::bytes,
          .doc = "of mbcs: carriers that were given up",
          .wide = true},
         [](const Row& a) { return Value(a->pool.carrier_bytes); }},
        {{.name = "sbcs_blocks",
          .title = "SBCS BLOCKS",
          .unit = Unit::count,
          .doc = "blocks in singleblock carriers",
          .wide = true},
         [](const Row& a) { return Value(a->sbcs.blocks); }},
        {{.name = "sbcs_block_bytes",
          .title = "SBCS BLOCK BYTES",
          .unit = Unit::bytes,
          .doc = "their bytes",
          .wide = true},
         [](const Row& a) { return Value(a->sbcs.block_bytes); }},
        {{.name = "sbcs_carrier_bytes",
          .title = "SBCS CARRIER BYTES",
          .unit = Unit::bytes,
          .doc = "bytes of singleblock carriers",
          .wide = true},
         [](const Row& a) { return Value(a->sbcs.carrier_bytes); }},
        {{.name = "foreign_block_bytes",
          .title = "FOREIGN BYTES",
          .unit = Unit::bytes,
          .doc = "of block_bytes: of other allocators",
          .wide = true},
         [](const Row& a) { return Value(a->foreign_block_bytes); }},
    };
}

}  // namespace

Table atom_table(const Names& names) {
    const Snapshot& s = names.snapshot();
    using Row = std::uint32_t;
    std::vector<Row> rows(s.atoms.size());
    std::iota(rows.begin(), rows.end(), 0u);
    Columns<Row> columns{
        {{.name = "position", .title = "#", .unit = Unit::count, .doc = "0 is the newest atom"},
         [](const Row& r) { return Value(r); }},
        {{.name = "atom", .title = "ATOM", .doc = "the atom, quoted where it must be", .content = Content::name},
         [=, &s](const Row& r) { return Value(atom_text(s.text(s.atoms[r]), names.syntax())); }},
        {{.name = "bytes", .title = "BYTES", .unit = Unit::bytes, .doc = "length of its name"},
         [&s](const Row& r) { return Value(static_cast<std::uint64_t>(s.text(s.atoms[r]).size())); }},
    };
    return table_of(std::move(columns), std::move(rows), "no atom in this input");
}

Table atom_family_table(const Names& names, const analyses::AtomFamilies& families) {
    const Snapshot& s = names.snapshot();
    using Row = const analyses::AtomFamily*;
    Columns<Row> columns{
        {{.name = "pattern",
          .title = "PATTERN",
          .doc = "atoms that differ in the parts in <>",
          .content = Content::name},
         [syntax = names.syntax()](const Row& f) { return Value(bare_text(f->pattern, syntax)); }},
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "atoms"},
         [](const Row& f) { return Value(f->count); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of all atoms"},
         [](const Row& f) { return percent(f->percent); }},
        {{.name = "newest",
          .title = "NEWEST",
          .unit = Unit::count,
          .doc = "position of its newest atom; 0 is the newest of all",
          .lesser = 2},
         [](const Row& f) { return Value(f->newest); }},
        {{.name = "oldest", .title = "OLDEST", .unit = Unit::count, .doc = "position of its oldest atom", .lesser = 1},
         [](const Row& f) { return Value(f->oldest); }},
        {{.name = "examples",
          .title = "EXAMPLES",
          .holds = Holds::texts,
          .doc = "up to three, newest first",
          .content = Content::name},
         [=, &s](const Row& f) {
             Array examples;
             for (const TextId id : f->examples) examples.emplace_back(atom_text(s.text(id), names.syntax()));
             return Value(std::move(examples));
         }},
    };
    return table_of(std::move(columns), pointers(std::span(families.families)), "no family of atoms");
}

Table allocator_table(const Names& names, std::span<const analyses::AllocatorUse> uses) {
    using Row = AllocatorRow;
    Columns<Row> columns{
        {{.name = "name", .title = "ALLOCATOR", .doc = "allocator"}, [=](const Row& a) { return raw(names, a->name); }},
        {{.name = "instance",
          .title = "INSTANCE",
          .unit = Unit::count,
          .doc = "scheduler number; 0: other threads; null: not per scheduler, or a sum",
          .lesser = 1},
         [](const Row& a) { return a->instance < 0 ? Value() : Value(static_cast<std::int64_t>(a->instance)); }},
        {{.name = "instances",
          .title = "INSTANCES",
          .unit = Unit::count,
          .doc = "how many were added up",
          .wide = true},
         [](const Row& a) { return Value(a->instances); }},
        {{.name = "enabled",
          .title = "ENABLED",
          .holds = Holds::flag,
          .doc = "no: its blocks are malloc's and not known here",
          .wide = true},
         [](const Row& a) { return Value(a->enabled); }},
        {{.name = "block_bytes", .title = "BLOCKS", .unit = Unit::bytes, .doc = "in use"},
         [](const Row& a) { return Value(a->block_bytes); }},
        {{.name = "carrier_bytes", .title = "CARRIERS", .unit = Unit::bytes, .doc = "taken from the system"},
         [](const Row& a) { return Value(a->carrier_bytes); }},
        {{.name = "lost_bytes", .title = "LOST", .unit = Unit::bytes, .doc = "carriers minus blocks"},
         [](const Row& a) { return Value(a->lost_bytes); }},
        {{.name = "fragmentation_percent", .title = "LOST %", .unit = Unit::percent, .doc = "1 - blocks / carriers"},
         [](const Row& a) { return share(a->fragmentation()); }},
        {{.name = "mbcs_usage_percent",
          .title = "MBCS USE",
          .unit = Unit::percent,
          .doc = "recon: blocks / carriers of multiblock carriers, now",
          .lesser = 1},
         [](const Row& a) { return share(a->recon_mbcs_usage()); }},
        {{.name = "mbcs_max_usage_percent",
          .title = "AT PEAK",
          .unit = Unit::percent,
          .doc = "the same at the highest ever",
          .lesser = 1},
         [](const Row& a) { return share(a->recon_mbcs_max_usage()); }},
        {{.name = "sbcs_usage_percent",
          .title = "SBCS USE",
          .unit = Unit::percent,
          .doc = "recon: of singleblock carriers, now",
          .lesser = 2},
         [](const Row& a) { return share(a->recon_sbcs_usage()); }},
        {{.name = "sbcs_max_usage_percent",
          .title = "AT PEAK",
          .unit = Unit::percent,
          .doc = "the same at the highest ever",
          .wide = true},
         [](const Row& a) { return share(a->recon_sbcs_max_usage()); }},
    };
    std::ranges::move(carrier_columns(), std::back_inserter(columns));
    return table_of(std::move(columns), pointers(uses), "no allocator in this input");
}

Table segment_table(std::span<const analyses::SegmentUse> segments) {
    using Row = const analyses::SegmentUse*;
    Columns<Row> columns{
        {{.name = "instance", .title = "INSTANCE", .unit = Unit::count, .doc = "scheduler number"},
         [](const Row& r) { return r->instance < 0 ? Value() : Value(static_cast<std::int64_t>(r->instance)); }},
        {{.name = "segments", .title = "SEGMENTS", .unit = Unit::count, .doc = "mapped"},
         [](const Row& r) { return Value(r->segments); }},
        {{.name = "segment_bytes", .title = "BYTES", .unit = Unit::bytes, .doc = "mapped"},
         [](const Row& r) { return Value(r->segment_bytes); }},
        {{.name = "max_segment_bytes", .title = "AT PEAK", .unit = Unit::bytes, .doc = "highest ever"},
         [](const Row& r) { return Value(r->max_segment_bytes); }},
        {{.name = "cached_segments", .title = "CACHED", .unit = Unit::count, .doc = "kept for the next carrier"},
         [](const Row& r) { return Value(r->cached_segments); }},
        {{.name = "cache_hits", .title = "CACHE HITS", .unit = Unit::count, .doc = "carriers from the cache"},
         [](const Row& r) { return Value(r->cache_hits); }},
        {{.name = "calls", .title = "CALLS", .unit = Unit::count, .doc = "mseg_alloc calls"},
         [](const Row& r) { return Value(r->calls); }},
    };
    return table_of(std::move(columns), pointers(segments), "no mseg_alloc in this input");
}

Table mmap_table(const Names& names, std::span<const analyses::MmapUse> mmaps) {
    using Row = const analyses::MmapUse*;
    Columns<Row> columns{
        {{.name = "name", .title = "AREA", .doc = "address space that the VM manages"},
         [=](const Row& r) { return raw(names, r->name); }},
        {{.name = "os_used_bytes", .title = "MAPPED", .unit = Unit::bytes, .doc = "outside the supercarrier"},
         [](const Row& r) { return Value(r->os_used_bytes); }},
        {{.name = "supercarrier_bytes", .title = "SUPERCARRIER", .unit = Unit::bytes, .doc = "its size"},
         [](const Row& r) { return Value(r->supercarrier_bytes); }},
        {{.name = "supercarrier_used_bytes", .title = "USED", .unit = Unit::bytes, .doc = "of the supercarrier"},
         [](const Row& r) { return Value(r->supercarrier_used_bytes); }},
        {{.name = "supercarrier_percent", .title = "%", .unit = Unit::percent, .doc = "used of the supercarrier"},
         [](const Row& r) { return percent(r->supercarrier_percent); }},
    };
    return table_of(std::move(columns), pointers(mmaps), "no region in this input");
}

Table area_table(const Names& names) {
    const Snapshot& s = names.snapshot();
    using Row = const NamedBytes*;
    Columns<Row> columns{
        {{.name = "name", .title = "NAME", .doc = "as the VM names it"},
         [=](const Row& r) { return raw(names, r->name); }},
        {{.name = "bytes", .title = "BYTES", .unit = Unit::bytes, .doc = "allocated"},
         [](const Row& r) { return Value(r->bytes); }},
        {{.name = "used_bytes", .title = "USED", .unit = Unit::bytes, .doc = "used, where the VM says so"},
         [](const Row& r) { return Value(r->used_bytes); }},
    };
    return table_of(std::move(columns), pointers(std::span(s.areas)), "no allocated areas in this input");
}

Table vm_table_table(const Names& names) {
    const Snapshot& s = names.snapshot();
    using Row = const VmTable*;
    Columns<Row> columns{
        {{.name = "name", .title = "NAME", .doc = "as the VM names it"},
         [=](const Row& r) { return raw(names, r->name); }},
        {{.name = "kind", .title = "KIND", .doc = "hash or index"},
         [](const Row& r) { return Value(r->index ? "index" : "hash"); }},
        {{.name = "size", .title = "SIZE", .unit = Unit::count, .doc = "slots"},
         [](const Row& r) { return Value(r->size); }},
        {{.name = "used", .title = "USED", .unit = Unit::count, .doc = "slots in use"},
         [](const Row& r) { return Value(r->used); }},
        {{.name = "objects", .title = "OBJECTS", .unit = Unit::count, .doc = "entries of a hash table"},
         [](const Row& r) { return Value(r->objects); }},
        {{.name = "longest_chain", .title = "LONGEST CHAIN", .unit = Unit::count, .doc = "longest chain"},
         [](const Row& r) { return Value(r->depth); }},
        {{.name = "limit", .title = "LIMIT", .unit = Unit::count, .doc = "of an index table"},
         [](const Row& r) { return Value(r->limit); }},
        {{.name = "entries", .title = "ENTRIES", .unit = Unit::count, .doc = "of an index table"},
         [](const Row& r) { return Value(r->entries); }},
    };
    return table_of(std::move(columns), pointers(std::span(s.vm_tables)), "no tables of the VM in this input");
}

Table check_table(std::vector<Check> checks) {
    Columns<Check> columns{
        {{.name = "name", .title = "CHECK", .doc = "what was looked at"}, [](const Check& c) { return Value(c.name); }},
        {{.name = "ok", .title = "OK", .doc = "whether it is as it should be"},
         [](const Check& c) { return Value(c.ok); }},
        {{.name = "detail", .title = "DETAIL", .doc = "what was found", .content = Content::message, .wraps = true},
         [](const Check& c) { return Value(c.detail); }},
    };
    return table_of(std::move(columns), std::move(checks), "nothing was checked");
}

}  // namespace beamheap::present
