// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/heaps/stored_binaries.hpp"

#include <limits>

#include "formats/otp/heaps/core_terms.hpp"
#include "formats/otp/tables/ets_objects.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr std::size_t at_once = 50'000;  // objects

void add_all(const HeapGraph& graph, std::uint32_t table, StoredBinaries& out) {
    for (const BinaryUse& use : graph.binaries())
        if (use.base == BinaryUse::Base::binary) out.references.push_back({use.address, use.offset, use.size, table});
}

}  // namespace

std::vector<std::uint64_t> persistent_tuples(const Vm& vm, Decoder& reader) {
    std::vector<std::uint64_t> found;
    const std::uint64_t table = vm.roots.persistent_terms;
    if (table == 0) return found;
    const std::uint64_t room = reader.memory.word(table + reader.at.persistent_allocated).value_or(0);
    const bytes::Bytes slots = reader.memory.from(table + reader.at.persistent_terms, room * 8);
    for (std::size_t at = 0; at + 8 <= slots.size(); at += 8)
        if (const auto word = load<Word>(slots.data() + at); is_boxed(word)) found.push_back(address_of(word));
    return found;
}

StoredBinaries read_stored_binaries(const Vm& vm, const Snapshot& snapshot, Decoder& reader) {
    StoredBinaries result;
    for (std::uint32_t i = 0; i < snapshot.ets.size(); ++i) {
        if (snapshot.ets[i].address == 0) continue;
        EtsObjects all = read_ets_objects(reader, snapshot.ets[i].address, std::numeric_limits<std::uint64_t>::max(),
                                          snapshot.ets[i].objects);
        if (all.damaged && result.damaged_tables++ == 0) result.first_damaged = snapshot.ets[i].address;
        if (all.compressed) {
            ++result.compressed_tables;
            continue;
        }
        EtsObjects part;
        part.key = all.key;
        for (std::size_t first = 0; first < all.objects.size(); first += at_once) {
            const std::size_t end = std::min(all.objects.size(), first + at_once);
            part.objects.assign(all.objects.begin() + static_cast<std::ptrdiff_t>(first),
                                all.objects.begin() + static_cast<std::ptrdiff_t>(end));
            const CoreTerms terms(vm, snapshot, part);
            const HeapDamage& damage = terms.heap().damage();
            result.lost += damage.bad_pointers + damage.lost_binaries + damage.zeroed;
            add_all(terms.graph(), i, result);
        }
    }
    if (vm.roots.persistent_terms != 0) {
        LiteralGraph graph;
        graph.build(vm, reader.memory, persistent_tuples(vm, reader));
        result.lost += graph.damaged();
        add_all(graph.graph(), StoredBinary::persistent_term, result);
    }
    return result;
}

}  // namespace beamheap::otp
