// SPDX-License-Identifier: Apache-2.0
// What this node is, as typed facts: what rules, and whoever else judges a node, know of it.
//
// Theory. A fact is a type, what loading must keep for it, and how it is found: one file of catalogue/ (its header has
// the type; the build finds the rest). It is found when it is first asked for, and once: facts ask for one another, and
// what nobody asks for costs nothing after loading. What must be loaded can't wait for the question, since a stream is
// read once, so all facts say beforehand what they need.
//
// A fact that needs no more than the snapshot also holds for a snapshot that a test has made; those that read terms are
// empty there, unless they are put.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyses/facts/heap_stats.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

class Facts;

struct FactOptions {
    unsigned threads = 0;  ///< 0: one for each core of this machine
    bool full = false;     ///< decode every heap, else only those that facts need
    bool sizes = false;    ///< also look for terms that a message would copy without their sharing
};

/// What facts need of loading; each file of the catalogue adds to it by the function of its name in namespace fact.
struct FactNeeds {
    LoadPlan& plan;
    const Facts& facts;  ///< to ask while loading, once the process table is complete
    using OfProcess = std::function<bool(const Snapshot&, ProcId)>;
    std::vector<OfProcess> whose_terms{};  ///< whose terms will be read; asked about each process of one snapshot

    /// Those whom `choose` gives will have their terms read; it is asked once, when the process table is complete.
    void terms_of(std::vector<ProcId> (*choose)(const Snapshot&));
};

/// Names the type of a fact. Each has one function, found by the type:
///     Result<T> find_fact(FactOf<T>, const Facts&)             of the snapshot and other facts
///     Result<T> find_fact(FactOf<T>, const Facts&, Artifact&)  reads terms; T{} where there is a snapshot alone
template <class T>
struct FactOf {};

class Facts {
public:
    /// Before loading. `gathered`: figures of all heaps, with their references to binaries, that somebody else gathers
    /// and stores; then none are decoded for the facts. It must outlive this.
    explicit Facts(const FactOptions& options, const HeapStats* gathered = nullptr);
    /// Of a snapshot alone, which must outlive this.
    explicit Facts(const Snapshot& snapshot) : Facts(FactOptions{}) { snapshot_ = &snapshot; }
    ~Facts();
    Facts(const Facts&) = delete;
    Facts& operator=(const Facts&) = delete;

    /// Adds what all facts need to a plan; this must outlive load().
    void need(LoadPlan& plan);
    /// After load(), once: what was loaded, which must outlive this.
    void bind(Artifact& artifact);

    const FactOptions& options() const { return options_; }
    const Snapshot& snapshot() const { return *snapshot_; }
    /// The input to read terms from; nullptr where there is a snapshot alone.
    Artifact* artifact() const { return artifact_; }
    /// What the heaps that were decoded gave.
    const HeapStats& heaps() const { return gathered_ != nullptr ? *gathered_ : *stats_; }
    /// Whether heaps() are of more processes than facts asked for.
    bool gathered_elsewhere() const { return gathered_ != nullptr; }

    /// A fact, found now if nobody has asked before. Where it can't be read it is T{}, and status() says why.
    template <class T>
    const T& get() const {
        const std::size_t slot = slot_of<T>();
        if (slot >= slots_.size() || slots_[slot] == nullptr) keep(find<T>());
        return *static_cast<const T*>(slots_[slot].get());
    }
    /// Sets a fact, which is not looked for then.
    template <class T>
    void put(T value) {
        keep(std::move(value));
    }
    /// The same, to be kept.
    template <class T>
    std::shared_ptr<const T> share() const {
        get<T>();
        return std::static_pointer_cast<const T>(std::shared_ptr<const void>(slots_[slot_of<T>()]));
    }
    /// The first error of finding one.
    const Status& status() const { return status_; }

private:
    static std::size_t next_slot();
    template <class T>
    static std::size_t slot_of() {
        static const std::size_t slot = next_slot();
        return slot;
    }
    template <class T>
    T find() const {
        if constexpr (requires(const Facts& facts) { find_fact(FactOf<T>(), facts); })
            return unless_failed(find_fact(FactOf<T>(), *this));
        else return artifact_ == nullptr ? T() : unless_failed(find_fact(FactOf<T>(), *this, *artifact_));
    }
    template <class T>
    void keep(T value) const {
        const std::size_t slot = slot_of<T>();
        if (slot >= slots_.size()) slots_.resize(slot + 1);
        slots_[slot] = std::make_shared<T>(std::move(value));
    }
    template <class T>
    T unless_failed(Result<T> found) const {
        if (found) return std::move(*found);
        if (status_) status_ = found.error();
        return T();
    }

    FactOptions options_;
    const HeapStats* gathered_;
    mutable const Snapshot* snapshot_ = nullptr;
    Artifact* artifact_ = nullptr;
    std::vector<ProcId> binaries_of_;  // of whom heaps() have references to binaries
    std::optional<HeapStats> stats_;
    mutable std::vector<std::shared_ptr<void>> slots_;
    mutable Status status_ = ok();
};

}  // namespace beamheap::analyses
