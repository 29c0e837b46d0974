// SPDX-License-Identifier: Apache-2.0
// What a node has at one moment, as figures that have names: what `diff` compares and `watch` follows.
//
// A registered process goes by its name, others are summed by kind; diff.hpp says what else goes by what.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyses/base/sum.hpp"
#include "analyses/diagnosis/diff.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// Which figures are asked for, beside those of named processes and groups, tables, ports, timers and memory.
struct FigureWish {
    bool by_pid = false;   ///< of each process, with its work
    bool stacks = true;    ///< processes by where they stand; needs stacks
    bool families = true;  ///< of atoms; needs atoms
    /// For many rounds: what tells growth from garbage ("used" and "binaries" of heaps), "links", what allocators hold
    /// without use, and names that differ in numbers alone as one (name_pattern, label_pattern).
    bool followed = false;
};

/// The figures of one input, by what they are about.
struct Figures {
    struct Key {
        GrowthOf what;
        std::string_view measure;
        bool bytes;
        std::string key;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return std::hash<std::string_view>{}(key.key) * 31 + std::hash<std::string_view>{}(key.measure) * 7 +
                   static_cast<std::size_t>(key.what);
        }
    };
    std::unordered_map<Key, Sum, Hash> sums;
    std::vector<const Key*> order;  // as they came
    bool has_processes = true;      // all of them: what is not there was not there
    bool has_atoms = true;

    /// What is known of a thing: of what is not there 0, where that is known; missing where it is not.
    Count figure(const Key& key) const;

    void add(GrowthOf what, std::string key, std::string_view measure, bool bytes, Count figure) {
        add(what, std::move(key), measure, bytes, [&] {
            Sum sum;
            sum.add(figure);
            return sum;
        }());
    }
    void add(GrowthOf what, std::string key, std::string_view measure, bool bytes, const Sum& figures) {
        const auto [at, added] = sums.try_emplace({what, measure, bytes, std::move(key)});
        at->second.add(figures);
        if (added) order.push_back(&at->first);
    }
};

/// The figures of a snapshot that was loaded with tables and labels, and what the wish needs. O(n).
Figures figures_of(const Snapshot& snapshot, const FigureWish& wish);
/// What processes of one kind are called: label, else $initial_call, else what they were spawned as.
std::string kind_key(const Snapshot& snapshot, const Process& process);
/// What one process is called among all: its name, else its pid and its kind.
std::string process_key(const Snapshot& snapshot, const Process& process);
/// A name without its numbers: "worker_<int>", as families of atoms are called (atom_families.hpp).
std::string name_pattern(std::string_view name);
/// A label without what is data in it: "{conn,_,\"\"}", as shapes of messages are written (term_shape).
std::string label_pattern(std::string_view label);
/// What the group of a process is called among patterns: of one with a name by that, else by its kind.
std::string group_key(const Snapshot& snapshot, const Process& process);
/// "used", "binaries" and "links" of one process.
void add_followed(Figures& figures, const Snapshot& snapshot, const Process& process, GrowthOf what,
                  const std::string& key);

}  // namespace beamheap::analyses
