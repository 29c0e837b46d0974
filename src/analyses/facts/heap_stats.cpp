// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/heap_stats.hpp"

#include <algorithm>
#include <thread>

#include "analyses/base/sum.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/heaps/copy_bound.hpp"
#include "analyses/heaps/dominators.hpp"
#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/live_garbage.hpp"
#include "analyses/heaps/retained.hpp"
#include "analyses/heaps/sizes.hpp"

namespace beamheap::analyses {

// A term that its copy doubles so often at the most is no blown one.
static constexpr unsigned few_doublings = 2;

unsigned worker_count(unsigned threads) {
    return threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

/// What one thread works with, and what it has found.
struct HeapStats::Worker {
    struct Row {
        ProcId process = ProcId::none;
        std::uint64_t live_words = 0;
        Count garbage_words;
        std::uint64_t hidden_captures = 0;
        std::uint64_t first_binary = 0;   // its distinct binaries are held[first_binary ..] up to the next row's
        std::uint64_t first_garbage = 0;  // and those that garbage alone keeps, garbage[first_garbage ..]
        bool knows_garbage = false;
    };
    HeapOrder order;
    RootPlaces places;
    Reach reach;
    Census census;
    FlatSizes flat;
    SharedSizes shared;
    Dominators dominators;
    RetainedSizes retained;
    FrameWords charger;
    Histogram histogram;
    std::vector<Row> rows;
    std::vector<std::uint64_t> held, garbage;
    std::vector<FramesOf> frames;
    std::vector<HeldBinary> binaries, garbage_binaries;
    std::vector<BlownTerm> blown;
    std::uint64_t message_words = 0, objects = 0, cycles = 0;
};

static std::uint64_t hidden_captures(const HeapGraph& graph, const Census& census) {
    std::uint64_t hidden = 0;
    if (graph.plain_fun_words() != 0)
        census.each([](std::uint8_t, bool) { return true; },
                    [&](TermKind kind, const Census::Sum& sum) {
                        if (kind == TermKind::fun) hidden += sum.words - sum.objects * graph.plain_fun_words();
                    });
    return hidden;
}

HeapStats::HeapStats(unsigned threads, HeapWishes wishes) : wishes_(wishes) {
    demand_.workers = worker_count(threads);
    for (unsigned i = 0; i < demand_.workers; ++i) workers_.push_back(std::make_unique<Worker>());
    demand_.kept_binaries = wishes.binary_sizes;
    demand_.visit = [this](const HeapVisit& heap) { visit(heap); };
}

HeapStats::~HeapStats() = default;

void HeapStats::demand(LoadPlan& plan, std::function<bool(const Snapshot&, ProcId)> wanted) {
    demand_.wanted = std::move(wanted);
    plan.heaps = &demand_;
    if (wishes_.binary_sizes) plan |= need::binary_sizes;
}

void HeapStats::visit(const HeapVisit& visit) {
    Worker& w = *workers_[visit.worker];
    const HeapGraph& graph = visit.graph;
    w.order.build(graph);
    w.cycles += w.order.cut();
    if (wishes_.frames) w.places.number(graph);
    w.reach.build(graph, w.order, wishes_.frames ? &w.places : nullptr);
    w.objects += graph.size();
    w.census.count(graph, w.reach);
    w.histogram.add(w.census);
    const LiveGarbage words = live_and_garbage(w.census, visit.process);
    w.message_words += words.message_words;
    w.rows.push_back({visit.id, words.live_words, words.garbage_words, hidden_captures(graph, w.census), w.held.size(),
                      w.garbage.size(), visit.kept_binaries.has_value()});

    const auto by_index = [](ProcId a, ProcId b) { return index_of(a) < index_of(b); };
    const bool binaries = wishes_.binaries && (wishes_.binaries_of == nullptr ||
                                               std::binary_search(wishes_.binaries_of->begin(),
                                                                  wishes_.binaries_of->end(), visit.id, by_index));
    const std::size_t first = w.held.size();
    for (const BinaryUse& use : graph.binaries()) {
        if (use.base != BinaryUse::Base::binary) continue;
        if (use.named) w.held.push_back(use.address);
        if (binaries) w.binaries.push_back({{use.address, use.offset, use.size, visit.id}, use.named});
    }
    const auto own = w.held.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(own, w.held.end());
    w.held.erase(std::unique(own, w.held.end()), w.held.end());
    if (visit.kept_binaries) {
        const std::size_t before = w.garbage.size();
        std::set_difference(visit.kept_binaries->begin(), visit.kept_binaries->end(), own, w.held.end(),
                            std::back_inserter(w.garbage));
        if (binaries)
            for (std::size_t i = before; i < w.garbage.size(); ++i)
                w.garbage_binaries.push_back({{w.garbage[i], 0, 0, visit.id, true}, true});
    }

    if (wishes_.frames) {
        w.frames.push_back({visit.id, {}});
        w.charger.charge(graph, w.order, w.reach, w.places, words.live_words, w.frames.back().places);
        if (w.frames.back().places.empty()) w.frames.pop_back();
    }
    if (!wishes_.sizes) return;
    static_assert(blown_factor >= 1u << few_doublings);
    if (const CopyBound bound = copy_bound(graph, w.census);
        bound.doublings <= few_doublings || bound.words < blown_words)
        return;
    w.flat.build(graph, w.order);
    const auto retained = [&]() -> const RetainedSizes& {
        w.dominators.build(graph, w.order);
        w.retained.build(graph, w.order, w.dominators);
        return w.retained;
    };
    add_blown_terms(graph, w.flat, retained, w.shared, visit.id, w.blown);
}

void HeapStats::store(Artifact& artifact) {
    Snapshot& snapshot = artifact.snapshot();
    for (const auto& worker : workers_) {
        Worker& w = *worker;
        for (std::size_t i = 0; i < w.rows.size(); ++i) {
            const Worker::Row& row = w.rows[i];
            Process& process = snapshot[row.process];
            // A torn dump may show a process in pieces, which threads come to in any order: the largest counts.
            if (!process.registers_lost && row.live_words >= process.live_words.value_or(0)) {
                process.live_words = row.live_words;
                process.garbage_words = row.garbage_words;
                process.hidden_captures = row.hidden_captures;
            }
            const bool last = i + 1 == w.rows.size();
            const auto sizes_of = [&artifact](const std::vector<std::uint64_t>& all, std::uint64_t from,
                                              std::uint64_t to) {
                // Where the input does not hold one of them, nobody knows what they are together.
                Count bytes = 0;
                for (std::uint64_t b = from; b < to; ++b)
                    if (const Count size = artifact.binary_bytes(all[b]); !size.has()) bytes = Count();
                    else if (bytes.has()) bytes = saturating_add(*bytes, *size);
                return bytes;
            };
            Count bytes = sizes_of(w.held, row.first_binary, last ? w.held.size() : w.rows[i + 1].first_binary);
            if (row.knows_garbage) {
                const std::uint64_t end = last ? w.garbage.size() : w.rows[i + 1].first_garbage;
                process.refc_garbage_bytes = sizes_of(w.garbage, row.first_garbage, end);
                bytes = bytes.has() && process.refc_garbage_bytes.has()
                            ? Count(saturating_add(*bytes, *process.refc_garbage_bytes))
                            : Count();
            }
            if (!bytes.has()) process.refc_bytes = Count();
            else process.refc_bytes = std::max(*bytes, process.refc_bytes.value_or(0));
        }
        heaps_ += w.rows.size();
        objects_ += w.objects;
        cycles_ += w.cycles;
        message_words_ += w.message_words;
        histogram_.add(w.histogram);
        frames_.insert(frames_.end(), std::make_move_iterator(w.frames.begin()),
                       std::make_move_iterator(w.frames.end()));
        binaries_.insert(binaries_.end(), w.binaries.begin(), w.binaries.end());
        garbage_binaries_.insert(garbage_binaries_.end(), w.garbage_binaries.begin(), w.garbage_binaries.end());
        blown_.insert(blown_.end(), w.blown.begin(), w.blown.end());
    }
    workers_.clear();  // with them the room in which they measured
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(cycles_, 1000); ++i)
        snapshot.anomalies.add(Anomaly::cyclic_term, 0);
    // Threads finish in any order; what is shown must not depend on it.
    const auto by_process = [](const auto& a, const auto& b) { return index_of(a.process) < index_of(b.process); };
    std::stable_sort(frames_.begin(), frames_.end(), by_process);
    for (std::vector<HeldBinary>* each : {&binaries_, &garbage_binaries_})
        std::ranges::stable_sort(*each, {}, [](const HeldBinary& b) { return b.reference.holder.index; });
    std::stable_sort(blown_.begin(), blown_.end(), by_process);
    std::stable_sort(blown_.begin(), blown_.end(),
                     [](const BlownTerm& a, const BlownTerm& b) { return a.flat_words > b.flat_words; });
}

}  // namespace beamheap::analyses
