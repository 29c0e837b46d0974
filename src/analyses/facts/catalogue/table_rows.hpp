// SPDX-License-Identifier: Apache-2.0
// Rows of the tables in which most may lie, and which row others look for.
//
// Theory. That a table is large tells where, and not what: a look at some dozens of its rows tells what they have in
// common (a metric with a label of its own for each user), whether each has a copy of the same term, and of whom they
// are. What a row refers to lies elsewhere: a slice of a binary, an array of atomics, the pid of another node, which
// keeps that node's entry. So where such memory belongs to nobody, the table of the program with most rows is the first
// to be asked, and in a crash dump, which has no rows, it is a candidate by its number alone.
//
// Who looks for a key again and again (a lock that somebody else has) waits for the row's owner, which may have ended.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/facts/facts.hpp"
#include "analyses/heaps/largest_collection.hpp"
#include "beamheap/snapshot.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap::analyses {

struct RowsOfTable {
    std::size_t table = 0;     ///< index in Snapshot::ets
    std::uint64_t looked = 0;  ///< rows that were read; 0: the input has none
    Sentence shape;            ///< of most of them: "{{default, requests_total, [...]}, integer}"
    std::uint64_t references = 0, of_other_nodes = 0;  ///< rows with a reference, with a pid of another node
    NamedProcesses processes;                          ///< of this node, in their elements: all of whom have ended
    NamedProcesses some_ended;                         ///< the same: of whom at least one has ended
    std::uint64_t copy_words = 0;                      ///< of a term that they have a copy of each; 0: none
    Sentence copy;                                     ///< what it is
    std::uint64_t largest_words = 0;         ///< of the largest, where all were looked at and it is much of them
    std::shared_ptr<OwnedTerm> largest_key;  ///< its key
    Sentence largest;                        ///< what most of it is: "element 2 > key waiting, a list of 500,000 ..."
    NamedProcesses largest_processes;        ///< that the elements of that name
    bool all(std::uint64_t rows) const { return looked != 0 && rows * 10 >= looked * 9; }
};

/// A row whose key is what several processes look for.
struct RowOfKey {
    std::string key;        ///< an atom
    std::size_t table = 0;  ///< index in Snapshot::ets
    Pid names;              ///< the one process of this node that it names; none: several, or none
    bool ended = false;
};

/// Of the largest tables, by bytes, that are a quarter of the node's memory.
struct TableRows {
    std::vector<RowsOfTable> large;
    const RowsOfTable* of(std::size_t table) const;
};

/// Of the tables that programs have made, the one with most objects, and that of another name with the next most, a
/// hundred or more; no index: there is none.
struct MostObjects {
    std::optional<std::size_t> table, next;
    Count binaries;  ///< refc binaries of the node: blocks of binary_alloc; missing where that is not told
};

/// The rows of that one.
struct CandidateRows {
    RowsOfTable rows;
};

/// By atoms that are shared names.
struct PolledRows {
    std::vector<RowOfKey> keys;
};

Result<TableRows> find_fact(FactOf<TableRows>, const Facts& facts, Artifact& artifact);
Result<MostObjects> find_fact(FactOf<MostObjects>, const Facts& facts);
Result<CandidateRows> find_fact(FactOf<CandidateRows>, const Facts& facts, Artifact& artifact);
Result<PolledRows> find_fact(FactOf<PolledRows>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
