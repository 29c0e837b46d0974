// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/paths.hpp"

#include <algorithm>

namespace beamheap::analyses {
namespace {

constexpr std::uint32_t not_met = 0xFFFFFFFFu;
constexpr std::uint32_t from_root = 0xFFFFFFFEu;

FlatArray<std::uint32_t> foreign_starts(const HeapGraph& graph) {
    FlatArray<std::uint32_t> starts;
    starts.assign(graph.size() + 1, 0);
    for (std::size_t i = 0; i < graph.foreign_size(); ++i) ++starts[graph.foreign(i).from + 1];
    for (std::size_t i = 0; i < graph.size(); ++i) starts[i + 1] += starts[i];
    return starts;
}

}  // namespace

std::optional<Path> shortest_path(TermSource& source, ObjectId target) {
    const HeapGraph& graph = source.graph();
    const HeapGraph* literals = source.literals();
    const auto heap_size = static_cast<std::uint32_t>(graph.size());
    const std::size_t all = heap_size + (literals == nullptr ? 0 : literals->size());
    if (all >= from_root || target.space == ObjectId::Space::decoded) return std::nullopt;
    // Literals are numbered behind the heap.
    const std::uint32_t goal = target.number + (target.space == ObjectId::Space::literals ? heap_size : 0);

    FlatArray<std::uint32_t> parent;
    parent.assign(all, not_met);
    FlatArray<std::uint32_t> first_root;  // of what a root holds
    first_root.assign(all, not_met);
    FlatArray<std::uint32_t> queue;
    const auto see = [&](std::uint32_t number, std::uint32_t by) {
        if (parent[number] != not_met) return;
        parent[number] = by;
        queue.push(number);
    };
    const auto literal = [&](std::uint64_t address) {
        const NodeId node = literals == nullptr || address == 0 ? no_node : literals->find(address);
        return node == no_node ? not_met : node + heap_size;
    };
    for (std::size_t i = 0; i < graph.roots().size(); ++i) {
        const NodeId held = graph.roots().target(i);
        const std::uint32_t number = held != no_node ? held : literal(graph.missing_root(i));
        if (number == not_met) continue;
        if (first_root[number] == not_met) first_root[number] = static_cast<std::uint32_t>(i);
        see(number, from_root);
    }
    EdgeIndex references, literal_references;
    references.build(graph.edges(), graph.size());
    if (literals != nullptr) literal_references.build(literals->edges(), literals->size());
    const FlatArray<std::uint32_t> outward = foreign_starts(graph);
    for (std::size_t i = 0; i < queue.size() && parent[goal] == not_met; ++i) {
        const std::uint32_t number = queue[i];
        if (number < heap_size) {
            references.for_each_target(number, [&](NodeId to) { see(to, number); });
            for (std::uint32_t f = outward[number]; f < outward[number + 1]; ++f)
                if (const std::uint32_t to = literal(graph.foreign(f).address); to != not_met) see(to, number);
        } else {
            literal_references.for_each_target(number - heap_size, [&](NodeId to) { see(to + heap_size, number); });
        }
    }
    if (parent[goal] == not_met) return std::nullopt;
    Path path;
    std::uint32_t number = goal;
    for (;; number = parent[number]) {
        path.objects.push_back(number < heap_size ? ObjectId{ObjectId::Space::heap, number}
                                                  : ObjectId{ObjectId::Space::literals, number - heap_size});
        if (parent[number] == from_root) break;
    }
    path.root = first_root[number];
    std::reverse(path.objects.begin(), path.objects.end());
    return path;
}

}  // namespace beamheap::analyses
