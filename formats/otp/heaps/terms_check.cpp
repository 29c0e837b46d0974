// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/heaps/terms_check.hpp"

#include <fmt/format.h>

#include <vector>

#include "formats/otp/heaps/heap_objects.hpp"
#include "formats/otp/processes/process_table.hpp"

namespace beamheap::otp {
namespace {

using bytes::Bytes;
using bytes::load;
using bytes::MemoryReader;

constexpr std::uint32_t most_heaps = 256;
constexpr std::uint64_t fewest_words = 16, most_words = 1u << 16;

enum class Start : std::uint8_t { none, cons, object };

}  // namespace

bool heap_is_whole(const Layout& layout, Bytes heap, std::uint64_t start) {
    const std::size_t words = heap.size() / 8;
    std::vector<Start> starts(words, Start::none);
    std::vector<std::size_t> terms;  // words that must be terms
    for (std::size_t at = 0; at < words;) {
        const std::byte* p = heap.data() + 8 * at;
        ObjectShape shape{TermKind::unknown, 2, 0, 2};
        const bool object = is_header(load<Word>(p));
        if (object) shape = shape_of(layout, p, words - at);
        if (shape.words == 0 || shape.words > words - at) return false;
        starts[at] = object ? Start::object : Start::cons;
        for (std::uint64_t i = 0; i < shape.terms; ++i) terms.push_back(at + shape.first_term + i);
        at += shape.words;
    }
    for (const std::size_t at : terms) {
        const auto term = load<Word>(heap.data() + 8 * at);
        if (!is_cons(term) && !is_boxed(term)) continue;
        const std::uint64_t address = address_of(term);
        if (address < start || address >= start + 8 * words) continue;
        if (starts[(address - start) / 8] != (is_cons(term) ? Start::cons : Start::object)) return false;
    }
    return true;
}

TermsFit check_terms(const Vm& vm) {
    TermsFit fit;
    const Offsets& at = vm.layout.at;
    MemoryReader memory(vm.image->space());
    const Bytes slots = memory.from(vm.processes.slots, std::uint64_t{vm.processes.max} * 8);
    for (std::size_t i = 0; i + 8 <= slots.size() && fit.heaps < most_heaps; i += 8) {
        const auto element = load<Word>(slots.data() + i);
        if (element == 0 || element == vm.processes.invalid) continue;
        const std::byte* p = memory.probe(element, at.process_size);
        if (p == nullptr) continue;
        const auto bits = load<std::uint32_t>(p + at.process_state);
        const auto heap = load<Word>(p + at.process_heap), top = load<Word>(p + at.process_htop),
                   stop = load<Word>(p + at.process_stop);
        // Who runs, collects or works in a fragment has its real heap elsewhere at this moment.
        if ((bits & (state::gc | state::running | state::running_sys | state::dirty_running |
                     state::dirty_running_sys)) != 0 ||
            load<Word>(p + at.process_abandoned_heap) != 0 || heap % 8 != 0 || top > stop ||
            top < heap + 8 * fewest_words || top - heap > 8 * most_words)
            continue;
        const Bytes data = memory.from(heap, top - heap);
        if (data.size() < top - heap) continue;
        ++fit.heaps;
        if (!heap_is_whole(vm.layout, data, heap)) continue;
        ++fit.whole;
        fit.words += data.size() / 8;
    }
    return fit;
}

void prove_terms(Vm& vm) {
    const TermsFit fit = check_terms(vm);
    vm.terms_readable = fit.good();
    vm.checks.push_back(
        {"terms", fit.good(), fmt::format("{} of {} heaps are whole, {} words", fit.whole, fit.heaps, fit.words)});
    if (!fit.good()) vm.doubt("terms are not read, the heaps speak against their form");
}

}  // namespace beamheap::otp
