// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/identity_search.hpp"

#include <algorithm>

namespace beamheap::crashdump {
namespace {

// Of the file at most this share is read, so that a table of processes stays far from the time that reading the file
// takes.
constexpr std::uint64_t share_of_file = 64;
constexpr std::uint64_t least_bytes = 24u << 20;
constexpr std::uint64_t largest_dictionary = 1u << 20;
// A larger heap is looked at where its dictionary's entries stand: the VM prints what messages hold first, then the
// dictionary, then the stack.
constexpr std::uint64_t whole_heap = 256u << 10;
constexpr std::uint64_t largest_literals = 4u << 20;

}  // namespace

IdentitySearch::IdentitySearch(const bytes::Source& source, TermStyle style, const Snapshot& snapshot,
                               std::uint64_t behind_processes)
    : sections_(source, style, snapshot, behind_processes,
                std::max(least_bytes, source.size().value_or(0) / share_of_file)) {}

// Whether the entries that were met are all that there can be, or what was looked for is found.
bool IdentitySearch::search_heap(Loader& loader, SectionSearch::Place heap) {
    if (heap.bytes <= whole_heap) {
        const std::string text = sections_.read(heap.offset, heap.bytes);
        labels_.feed(loader, text);
        if (labels_.unresolved()) labels_.feed(loader, text);
        return text.size() == heap.bytes;
    }
    const std::string front = sections_.read(heap.offset, whole_heap);
    labels_.feed(loader, std::string_view(front).substr(0, front.rfind('\n') + 1));
    if (labels_.found_call()) return true;
    const std::string back = sections_.read(heap.offset + heap.bytes - whole_heap, whole_heap);
    labels_.feed(loader, std::string_view(back).substr(back.find('\n') + 1));
    return labels_.found_call();
}

void IdentitySearch::identify(Loader& loader, ProcId process) {
    const auto dictionary = sections_.find(TermSection::dictionary, process);
    if (!dictionary || dictionary->bytes > largest_dictionary) return;
    const auto heap = sections_.find(TermSection::heap, process);
    if (!heap) return;
    labels_.begin();
    labels_.dictionary(sections_.read(dictionary->offset, dictionary->bytes));
    if (!labels_.wanted() || !search_heap(loader, *heap)) return;
    labels_.finish(loader, process);
    if (!labels_.wants_literals()) return;
    if (!literals_) {
        literals_.emplace();
        const auto place = sections_.find(TermSection::literals);
        if (place && place->bytes <= largest_literals) *literals_ = sections_.read(place->offset, place->bytes);
    }
    labels_.find_literals(loader, *literals_);
}

}  // namespace beamheap::crashdump
