// SPDX-License-Identifier: Apache-2.0
// Figures of all processes' heaps, gathered while the input is loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analyses/heaps/frame_words.hpp"
#include "analyses/heaps/histogram.hpp"
#include "analyses/heaps/unshared_terms.hpp"
#include "analyses/memory/binary_holders.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

/// How many threads decode heaps: `threads`, or as many as there are cores where that is 0.
unsigned worker_count(unsigned threads);

/// What to gather besides live and garbage words.
struct HeapWishes {
    bool frames = false;    ///< words by frame
    bool binaries = false;  ///< references to binaries outside the heaps, one by one
    /// `binaries` of these processes only, sorted; may be filled until the first heap is decoded.
    const std::vector<ProcId>* binaries_of = nullptr;
    bool sizes = false;        ///< flat and retained words: terms that a message would blow up
    bool binary_sizes = true;  ///< Process::refc_bytes, Process::refc_garbage_bytes
};

class HeapStats {
public:
    /// `threads` as worker_count() takes them.
    HeapStats(unsigned threads, HeapWishes wishes);
    ~HeapStats();
    HeapStats(const HeapStats&) = delete;
    HeapStats& operator=(const HeapStats&) = delete;

    /// Adds the demand to a plan; this must outlive load(). Only the heaps that `wanted` names, where it is set.
    void demand(LoadPlan& plan, std::function<bool(const Snapshot&, ProcId)> wanted = {});
    /// After load(), once: stores live_words, garbage_words, refc_bytes and refc_garbage_bytes in the rows of the
    /// snapshot.
    void store(Artifact& artifact);

    struct FramesOf {
        ProcId process = ProcId::none;
        std::vector<PlaceWords> places;
    };
    const std::vector<FramesOf>& frames() const { return frames_; }
    /// Sorted by process; with HeapWishes::binaries.
    const std::vector<HeldBinary>& binaries() const { return binaries_; }
    /// The same of binaries that garbage alone keeps in the process: of core images and running VMs, whole, as if none
    /// of their bytes were seen.
    const std::vector<HeldBinary>& garbage_binaries() const { return garbage_binaries_; }
    /// Terms that a copy would blow up, largest copy first; with HeapWishes::sizes.
    const std::vector<BlownTerm>& blown() const { return blown_; }
    const Histogram& histogram() const { return histogram_; }
    std::uint64_t message_fragment_words() const { return message_words_; }
    std::uint64_t heaps() const { return heaps_; }
    std::uint64_t objects() const { return objects_; }
    /// References that closed a cycle, in all heaps.
    std::uint64_t cycles() const { return cycles_; }

private:
    struct Worker;
    void visit(const HeapVisit& visit);

    HeapWishes wishes_;
    HeapRequest demand_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<FramesOf> frames_;
    std::vector<HeldBinary> binaries_, garbage_binaries_;
    std::vector<BlownTerm> blown_;
    Histogram histogram_;
    std::uint64_t message_words_ = 0, heaps_ = 0, objects_ = 0, cycles_ = 0;
};

}  // namespace beamheap::analyses
