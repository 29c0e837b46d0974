// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/census.hpp"

#include <algorithm>
#include <cstring>

#include "analyses/heaps/live_garbage.hpp"

namespace beamheap::analyses {
namespace {

// An object is one addition: its words in the lower bits of a sum, a one in the upper bits. So few objects are counted
// before the sums are taken over that neither part can overflow.
constexpr unsigned count_shift = 48;
constexpr std::uint64_t one_object = std::uint64_t{1} << count_shift;
constexpr std::size_t at_once = std::size_t{1} << 15;
static_assert((at_once - 1) * HeapGraph::wide_entry < one_object && at_once <= 0xFFFF);

constexpr std::size_t eight = 8;
std::uint64_t eight_bytes(const std::uint8_t* at) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

}  // namespace

void Census::count(const HeapGraph& graph, const Reach& reach) {
    static_assert(marks == Reach::marks + std::size_t{1});
    for_bits(used_, [this](unsigned group) {
        for_bits(kinds_of_[group], [this, group](unsigned kind) { sums_[group][kind] = {}; });
        kinds_of_[group] = 0;
    });
    used_ = 0;
    const std::uint8_t* const words = graph.all_words().data();
    const std::uint8_t* const entries = graph.all_kinds().data();
    const std::uint8_t* const reached = reach.all().data();
    // A row is the mark above the graph's own entry, which has the young bit above the kind: no part of either is taken
    // out. `alike` says whether eight objects from one on have its mark.
    const auto count_all = [&](auto mark_of, auto alike) {
        // Neighbours often are of one row, and an addition to what was just written waits for it: every other object
        // has a table of its own.
        std::uint64_t* const even = counting_[0].data();
        std::uint64_t* const odd = counting_[1].data();
        for (std::size_t from = 0; from < graph.size(); from += at_once) {
            const std::size_t to = std::min(graph.size(), from + at_once);
            std::uint32_t used = 0;
            const auto add = [&](std::size_t node, std::uint64_t* sums) {
                const std::size_t row = static_cast<std::size_t>(mark_of(node)) % marks << entry_bits | entries[node];
                used |= 1u << (row >> kind_bits);
                sums[row] += one_object + words[node];
            };
            // Of eight with one mark, only that some are young, and some are not, is asked.
            const auto add_alike = [&](std::size_t node) {
                constexpr std::uint64_t young_bits = 0x8080808080808080u;
                const std::size_t mark = static_cast<std::size_t>(mark_of(node)) % marks;
                std::uint64_t* const even_rows = even + (mark << entry_bits);
                std::uint64_t* const odd_rows = odd + (mark << entry_bits);
                const std::uint8_t* const entry = entries + node;
                const std::uint8_t* const word = words + node;
                const auto add_two = [=](std::size_t i) {
                    even_rows[entry[i]] += one_object + word[i];
                    odd_rows[entry[i + 1]] += one_object + word[i + 1];
                };
                add_two(0), add_two(2), add_two(4), add_two(6);
                const std::uint64_t all = eight_bytes(entries + node);
                const unsigned young = (all & young_bits) != 0 ? 2 : 0, other = (~all & young_bits) != 0 ? 1 : 0;
                used |= (young | other) << 2 * mark;
            };
            std::size_t node = from;
            while (node < to) {
                if (to - node >= eight && alike(node)) {
                    add_alike(node);
                    node += eight;
                    continue;
                }
                const std::size_t end = std::min(to, node + eight);
                for (; node + 1 < end; node += 2) {
                    add(node, even);
                    add(node + 1, odd);
                }
                if (node < end) add(node++, even);
            }
            used_ |= used;
            take_over();
        }
    };
    const HeapOrder& order = reach.order();
    constexpr std::uint64_t ones = 0x0101010101010101u;
    if (order.identity())
        count_all([reached](std::size_t node) { return reached[node]; },
                  [reached](std::size_t node) {
                      return (eight_bytes(reached + node) & ones * Reach::marks) ==
                             ones * (reached[node] & Reach::marks);
                  });
    else
        count_all([reached, &order](std::size_t node) { return reached[order.position(static_cast<NodeId>(node))]; },
                  [](std::size_t) { return false; });
    for (const HeapGraph::WideWords& wide : graph.wide_words()) {
        const std::size_t mark = reached[order.position(wide.node)] % marks,
                          row = mark << entry_bits | entries[wide.node];
        sums_[row >> kind_bits][row % (std::size_t{1} << kind_bits)].words +=
            wide.words - std::uint64_t{HeapGraph::wide_entry};
    }
}

void Census::take_over() {
    for_bits(used_, [this](unsigned group) {
        for (unsigned kind = 0; kind < term_kinds; ++kind) {
            std::uint64_t& even = counting_[0][group << kind_bits | kind];
            std::uint64_t& odd = counting_[1][group << kind_bits | kind];
            const std::uint64_t sum = even + odd;
            if (sum == 0) continue;
            kinds_of_[group] |= 1u << kind;
            sums_[group][kind].objects += sum >> count_shift;
            sums_[group][kind].words += sum % one_object;
            even = odd = 0;
        }
    });
}

}  // namespace beamheap::analyses
