// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/heaps/heap_reader.hpp"

#include <algorithm>

#include "formats/otp/processes/process_identity.hpp"
#include "formats/otp/processes/queues.hpp"
#include "formats/otp/processes/stack.hpp"
#include "formats/otp/vm/cycle.hpp"
#include "formats/otp/vm/young_heap.hpp"

namespace beamheap::otp {
namespace {

using bytes::Bytes;
using bytes::load;
using bytes::MemoryReader;

constexpr std::uint64_t largest_area = 1ull << 40;  // bytes
constexpr std::uint32_t most_registers = 1024;
constexpr std::uint64_t longest_external = 1ull << 32;
constexpr std::uint64_t most_zeros = 16;  // words of an object that is no bignum: a heap binary has eight at the most
constexpr std::uint64_t looked_at = 64;   // words, of which one is looked at for zeros

// ErlSubBin, up to OTP 26: size, offs, bits, orig.
BinaryPlace slice_place(MemoryReader& memory, const Layout& layout, std::uint64_t address) {
    const std::byte* p = memory.at(address, 40);
    if (p == nullptr || !is_boxed(load<Word>(p + 32))) return {};
    const auto size = load<Word>(p + 8), offset = load<Word>(p + 16);
    const std::uint64_t whole = address_of(load<Word>(p + 32));
    const auto header = memory.word(whole);
    // A slice's base is never a slice.
    if (!header || layout.tags[header_subtag(*header)] == Tag::sub_binary) return {};
    const BinaryPlace base = binary_place(memory, layout, whole);
    BinaryPlace place = base;
    place.offset = base.offset + offset;
    place.data = base.data + offset;
    place.bit_offset = std::to_integer<unsigned>(p[25]) & 7;
    place.extra_bits = std::to_integer<unsigned>(p[24]) & 7;
    place.bytes = size + (place.extra_bits != 0 ? 1 : 0);
    place.known = base.known && offset <= base.bytes && size <= base.bytes - offset;
    return place;
}

// ErlSubBits, since OTP 27: base and flags, start and end in bits, orig.
BinaryPlace bit_slice_place(MemoryReader& memory, const Layout& layout, std::uint64_t address) {
    const std::byte* p = memory.at(address, 40);
    if (p == nullptr || !is_boxed(load<Word>(p + 32))) return {};
    const Word base = load<Word>(p + 8) & ~3ull, start = load<Word>(p + 16), end = load<Word>(p + 24);
    const std::uint64_t whole = address_of(load<Word>(p + 32));
    const auto header = memory.word(whole);
    if (!header || end < start) return {};
    const Tag kind = layout.tags[header_subtag(*header)];
    if (kind != Tag::binary_reference && kind != Tag::heap_bits) return {};
    const BinaryPlace held = binary_place(memory, layout, whole);
    BinaryPlace place;
    place.binary = held.binary;
    place.object = held.object;
    // The bytes of one that was appended to may have moved since; their place is that of its binary.
    constexpr Word is_volatile = 2;
    const bool moved = (load<Word>(p + 8) & is_volatile) != 0 && kind == Tag::binary_reference;
    place.data = (moved ? held.data : base) + start / 8;
    place.bit_offset = static_cast<unsigned>(start % 8);
    place.extra_bits = static_cast<unsigned>((end - start) % 8);
    place.bytes = (end - start + 7) / 8;
    place.offset = place.data - held.data;
    place.known = held.known && place.data >= held.data;
    return place;
}

}  // namespace

BinaryPlace binary_place(MemoryReader& memory, const Layout& layout, std::uint64_t address) {
    const Offsets& at = layout.at;
    BinaryPlace place;
    const std::byte* p = memory.at(address, 24);
    if (p == nullptr) return place;
    const auto payload = [&](std::uint64_t binary) { return binary + at.binary_bytes; };
    switch (layout.tags[header_subtag(load<Word>(p))]) {
        case Tag::binary_reference: {
            place.binary = load<Word>(p + 8);
            place.data = payload(place.binary);
            place.bytes = memory.word(place.binary + at.binary_length).value_or(0);
            place.known = place.binary != 0;
            return place;
        }
        case Tag::refc_binary: {  // ProcBin: size, next, Binary*, first byte
            p = memory.at(address, 40);
            if (p == nullptr) return place;
            place.bytes = load<Word>(p + 8);
            place.binary = load<Word>(p + 24);
            place.data = load<Word>(p + 32);
            place.offset = place.data - payload(place.binary);
            place.known = place.binary != 0 && place.data >= payload(place.binary);
            return place;
        }
        case Tag::heap_binary:
            place.object = address;
            place.bytes = load<Word>(p + 8);
            place.data = address + 16;
            place.known = true;
            return place;
        case Tag::heap_bits: {
            const auto bits = load<Word>(p + 8);
            place.object = address;
            place.bytes = (bits + 7) / 8;
            place.extra_bits = static_cast<unsigned>(bits % 8);
            place.data = address + 16;
            place.known = true;
            return place;
        }
        case Tag::sub_binary: return slice_place(memory, layout, address);
        case Tag::sub_bits: return bit_slice_place(memory, layout, address);
        default: return place;
    }
}

bool add_object(HeapGraph& graph, const Layout& layout, MemoryReader& memory, std::uint64_t address, const std::byte* p,
                std::uint64_t available) {
    const auto first = load<Word>(p);
    if (!is_header(first)) {
        graph.add_object(TermKind::cons, 2, address);
        if (is_cons(first) || is_boxed(first)) graph.add_reference(address_of(first));
        const auto tail = load<Word>(p + 8);
        if (is_cons(tail) || is_boxed(tail)) graph.add_reference(address_of(tail));
        return true;
    }
    const ObjectShape shape = shape_of(layout, p, available);
    const bool binary = shape.kind == TermKind::refc_binary || shape.kind == TermKind::sub_binary ||
                        shape.kind == TermKind::binary_reference;
    const BinaryPlace place = binary ? binary_place(memory, layout, address) : BinaryPlace{};
    // OTP 27: one structure for slices of binaries outside and of those on the heap; the latter are copied.
    const TermKind kind = shape.kind == TermKind::refc_binary && shape.terms != 0 && place.known && place.binary == 0
                              ? TermKind::sub_binary
                              : shape.kind;
    const NodeId node = graph.add_object(kind, static_cast<std::uint32_t>(shape.words), address);
    std::uint64_t base = 0;
    for (std::uint64_t i = 0; i < shape.terms; ++i) {
        const auto element = load<Word>(p + 8 * (shape.first_term + i));
        if (!is_cons(element) && !is_boxed(element)) continue;
        base = address_of(element);
        graph.add_reference(base);
    }
    if (kind == TermKind::tuple && shape.words == 1 && layout.empty_tuple_is_literal) graph.set_flat_words(node, 0);
    if (!binary || !place.known) return true;
    if (kind == TermKind::sub_binary) graph.add_binary_use(base, place.offset, place.bytes);
    // What is seen of a binary through a BinRef (OTP 27) is told by the slices that have one.
    else graph.add_binary_use(place.binary, place.offset, kind == TermKind::binary_reference ? 0 : place.bytes);
    // A slice of it that grows may be as long as the room that was taken for it.
    if (place.binary == 0) return true;
    const std::byte* held = memory.probe(place.binary, layout.at.binary_length + 8);
    return held != nullptr && load<Word>(held + layout.at.binary_refc) != 0 &&
           place.offset + place.bytes <= load<Word>(held + layout.at.binary_length);
}

namespace {

// A reference to a binary that is only there for slices of it shows nothing itself: they tell what is seen.
void settle_bases(HeapGraph& graph, std::vector<NodeId>& bases) {
    std::sort(bases.begin(), bases.end());
    bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
    std::vector<bool> shown(bases.size());
    const auto show = [&](NodeId node) {
        const auto found = std::lower_bound(bases.begin(), bases.end(), node);
        if (found != bases.end() && *found == node) shown[static_cast<std::size_t>(found - bases.begin())] = true;
    };
    for (const Edge& edge : graph.edges())
        if (graph.kind(edge.from) != TermKind::sub_binary) show(edge.to);
    for (const Root root : graph.roots()) show(root.target);
    std::size_t next = 0;
    for (BinaryUse& use : graph.binaries()) {
        while (next < bases.size() && bases[next] < use.node) ++next;
        if (next < bases.size() && bases[next] == use.node && !shown[next]) use.size = 0;
    }
}

}  // namespace

void settle_slices(HeapGraph& graph, const Layout& layout, MemoryReader& memory) {
    bool changed = false;
    std::vector<NodeId> bases;
    for (BinaryUse& use : graph.binaries()) {
        if (graph.kind(use.node) != TermKind::sub_binary) continue;
        const NodeId base = graph.find(use.address);
        if (base != no_node && graph.kind(base) == TermKind::refc_binary) bases.push_back(base);
        const BinaryPlace place = binary_place(memory, layout, graph.address(use.node));
        if (!place.known) continue;
        if (place.binary != 0) use.address = place.binary;
        else use.base = BinaryUse::Base::object;
        // A copy is a reference to the binary or a heap binary, and until OTP 26 a slice of it where bits are left
        // over.
        const std::uint64_t words = place.binary != 0 ? 6 : 2 + (place.bytes + 7) / 8;
        const bool bits = !layout.fun_in_header && (place.bit_offset != 0 || place.extra_bits != 0);
        graph.set_flat_words(use.node,
                             static_cast<std::uint32_t>(std::min<std::uint64_t>(words, 0xFFFFFF00u)) + (bits ? 5 : 0));
        changed = true;
    }
    if (changed) graph.sort_flat_words();
    if (!bases.empty()) settle_bases(graph, bases);
}

HeapReader::HeapReader(const Vm& vm)
    : vm_(vm), at_(vm.layout.at), reader_(vm), memory_(reader_.memory), batch_(memory_, vm.layout) {
    running_ = running_threads(vm, memory_);
    image_bytes_ = memory_.space().bytes();
}

void HeapReader::begin(HeapGraph::Mode mode) {
    graph_.begin(mode, 8);
    areas_.clear();
    last_ = nullptr;
    marks_.clear();
    pending_.clear();
    roots_.clear();
    messages_ = distribution_messages_ = distribution_bytes_ = 0;
    damage_ = {};
    stack_top_ = stack_end_ = area_bytes_ = 0;
    off_heap_ = writable_ = 0;
}

void HeapReader::add_area(std::uint64_t start, std::uint64_t end, AreaKind kind) {
    if (start == 0 || end <= start || end - start > largest_area || start % 8 != 0) return;
    const Bytes data = memory_.from(start, end - start);
    if (data.size() < end - start) ++damage_.unreadable;
    if (data.size() < 8) return;
    areas_.push_back({start, start + data.size() / 8 * 8, data.data(), kind, 0});
    area_bytes_ += data.size();
    find_zeroed(areas_.back());
}

// The end of the zero words that begin at `first`. A pointer that is damaged may lead to gigabytes of them, all of
// which would be fetched to be looked at: behind a page of them the steps double, then halve, and only the last page is
// looked at word by word.
std::uint64_t HeapReader::zeros_end(const HeapArea& area, std::uint64_t first) const {
    const auto word = [&](std::uint64_t i) { return load<Word>(area.data + 8 * i); };
    const std::uint64_t count = area.words();
    std::uint64_t end = first + 1;
    while (end != count && word(end) == 0 && end - first < 512) ++end;
    const auto nothing_at = [&](std::uint64_t i) {
        const std::uint64_t last = std::min(i + most_zeros, count);
        while (i != last && word(i) == 0) ++i;
        return i == last;
    };
    if (end == count || word(end) != 0) return end;
    std::uint64_t step = 512;
    for (; step < count - end && nothing_at(end + step); step *= 2) end += step;
    for (; step >= 512; step /= 2)
        if (step < count - end && nothing_at(end + step)) end += step;
    while (end != count && word(end) == 0) ++end;
    return end;
}

// Objects stand one behind the other, each with a header or a cell's two terms, so that many zero words among them were
// lost from the file; only a bignum may hold so many. A lost page is found, wherever it begins, by a look at every 64th
// word and at both ends.
void HeapReader::find_zeroed(const HeapArea& area) {
    const auto word = [&](std::uint64_t i) { return load<Word>(area.data + 8 * i); };
    const std::uint64_t count = area.words();
    for (std::uint64_t at = 0; at < count;) {
        if (word(at) == 0) {
            std::uint64_t first = at;
            while (first != 0 && word(first - 1) == 0) --first;
            const std::uint64_t end = zeros_end(area, at);
            const Word header = first == 0 ? 0 : word(first - 1);
            const Tag tag = is_header(header) ? vm_.layout.tags[header_subtag(header)] : Tag::unknown;
            const bool bignum =
                (tag == Tag::positive_big || tag == Tag::negative_big) && header_arity(header) >= end - first;
            if (!bignum && (end - first >= most_zeros || (end - first == count && count > 1))) ++damage_.zeroed;
            at = end;
        }
        if (at + 1 >= count) break;
        at = std::min(at - at % looked_at + looked_at, count - 1);
    }
}

void HeapReader::collect_fragments(std::uint64_t first, AreaKind kind) {
    Cycle cycle;
    for (std::uint64_t fragment = first; fragment != 0;) {
        const std::byte* p = memory_.at(fragment, at_.fragment_memory);
        if (p == nullptr) break;
        if (cycle.closed_by(fragment) || area_bytes_ > image_bytes_) {
            damage_.queue_damaged = true;
            break;
        }
        const auto used = load<Word>(p + at_.fragment_used);
        damage_.zeroed += load<Word>(p + at_.fragment_allocated) == 0;
        std::uint64_t start = fragment + at_.fragment_memory;
        const std::uint64_t end = start + 8 * used;
        // What was sent to an alias keeps it as a bare term in front of the objects, mostly of the alias itself.
        if (used > 1)
            if (const auto alias = memory_.word(start); alias && is_boxed(*alias) && address_of(*alias) == start + 8)
                start += 8;
        if (used < largest_area / 8) add_area(start, end, kind);
        fragment = load<Word>(p + at_.fragment_next);
    }
}

void HeapReader::collect_areas(const std::byte* p) {
    YoungHeap young = read_young_heap(memory_, vm_.layout, p);
    for (const RunningThread& thread : running_)
        if (thread.process == process_) young.goes_on(thread.heap_top, thread.stop);
    if (young.fits) {
        stack_top_ = young.stop;
        stack_end_ = young.end;
        add_area(young.start, young.top, AreaKind::young);
        if (young.abandoned()) add_area(young.block, young.block_top, AreaKind::young);
    } else {
        ++damage_.unreadable;
    }
    const auto old = load<Word>(p + at_.process_old_heap), old_top = load<Word>(p + at_.process_old_top);
    if (old <= old_top) add_area(old, old_top, AreaKind::old);
    collect_fragments(load<Word>(p + at_.process_fragments), AreaKind::fragment);
    // Fragments that came with messages which the process has received.
    Cycle cycle;
    for (auto message = load<Word>(p + at_.process_message_fragments); message != 0;) {
        const std::byte* m = memory_.at(message, at_.message_words);
        if (m == nullptr) break;
        if (cycle.closed_by(message)) {
            damage_.queue_damaged = true;
            break;
        }
        const auto attached = load<Word>(m + at_.message_attached);
        collect_fragments(attached == 1 ? message + at_.message_fragment : attached, AreaKind::fragment);
        message = load<Word>(m);
    }
    QueueWalk walk(reader_, p);
    for (Signal signal; walk.next(signal);)
        if (signal.message() && signal.attached != 0 && signal.term != non_value)
            collect_fragments(signal.attached == 1 ? signal.address + at_.message_fragment : signal.attached,
                              AreaKind::message);

    settle_areas();
}

void HeapReader::settle_areas() {
    std::sort(areas_.begin(), areas_.end(), [](const HeapArea& a, const HeapArea& b) { return a.start < b.start; });
    std::size_t bits = 0, kept = 0;
    for (HeapArea& area : areas_) {
        // Areas of a healthy process don't overlap; a second claim on memory is dropped.
        if (kept != 0 && area.start < areas_[kept - 1].end) continue;
        area.first_bit = bits;
        bits += area.words();
        areas_[kept++] = area;
    }
    areas_.resize(kept);
    marks_.assign(bits / 64 + 1, 0);
}

const HeapArea* HeapReader::find_area(std::uint64_t address) {
    auto after = std::upper_bound(areas_.begin(), areas_.end(), address,
                                  [](std::uint64_t a, const HeapArea& area) { return a < area.start; });
    if (after == areas_.begin()) return nullptr;
    --after;
    if (address >= after->end) return nullptr;
    last_ = &*after;
    return last_;
}

void HeapReader::mark(Word term) {
    pending_.push_back(term);
    while (!pending_.empty()) {
        Word here = pending_.back();
        pending_.pop_back();
        for (;;) {
            const std::uint64_t address = address_of(here);
            const HeapArea* area = area_of(address);
            if (area == nullptr) break;  // a literal
            const std::uint64_t index = (address - area->start) / 8;
            const std::size_t bit = area->first_bit + index;
            std::uint64_t& word = marks_[bit / 64];
            if ((word >> (bit % 64) & 1) != 0) break;
            const std::byte* p = area->data + (address - area->start);
            const std::uint64_t available = area->words() - index;
            if (is_cons(here)) {
                if (available < 2 || is_header(load<Word>(p))) {
                    bad(address);
                    break;
                }
                word |= 1ull << (bit % 64);
                const auto head = load<Word>(p);
                if (!is_immediate(head)) pending_.push_back(head);
                here = load<Word>(p + 8);
                if (is_immediate(here)) break;
                if (is_header(here)) {
                    bad(address);
                    break;
                }
                continue;
            }
            const ObjectShape shape = shape_of(vm_.layout, p, available);
            if (shape.words == 0) {
                bad(address);
                break;
            }
            word |= 1ull << (bit % 64);
            for (std::uint64_t i = 0; i < shape.terms; ++i) {
                const auto element = load<Word>(p + 8 * (shape.first_term + i));
                if (is_immediate(element)) continue;
                if (is_header(element)) bad(address);
                else pending_.push_back(element);
            }
            break;
        }
    }
}

void HeapReader::root(RootKind kind, std::uint32_t index, std::uint32_t frame, Word term, std::uint64_t at,
                      bool undecoded) {
    const bool pointer = !undecoded && (is_cons(term) || is_boxed(term));
    if (pointer) {
        mark(term);
        graph_.add_root(kind, index, frame, address_of(term), at);
    } else {
        if (!undecoded && is_header(term)) bad(at);
        if (graph_.mode() != HeapGraph::Mode::values) return;
        graph_.add_immediate_root(kind, index, frame, at);
    }
    if (graph_.mode() == HeapGraph::Mode::values) roots_.push_back({kind, index, frame, term, at, undecoded});
}

void HeapReader::stack_roots() {
    const std::uint64_t count = (stack_end_ - stack_top_) / 8;
    const std::byte* words = count == 0 ? nullptr : memory_.at(stack_top_, count * 8);
    if (words == nullptr) return;
    damage_.zeroed += zeroed_words(vm_, words, count);
    each_stack_word(vm_, memory_, words, count, [&](const StackWord& at) {
        root(RootKind::stack, at.slot, at.frame, at.word, stack_top_ + 8 * at.at);
        return true;
    });
}

void HeapReader::message_roots(const std::byte* process) {
    QueueWalk walk(reader_, process);
    for (Signal signal; walk.next(signal);) {
        if (!signal.message()) continue;
        const auto index = static_cast<std::uint32_t>(messages_++);
        const std::uint64_t at = signal.address + at_.message_words;
        if (signal.term == non_value) {
            // Still as it came over the connection (ErtsDistExternal behind the fragment's used words).
            ++distribution_messages_;
            const std::uint64_t fragment =
                signal.attached == 1 ? signal.address + at_.message_fragment : signal.attached;
            if (const auto used = memory_.word(fragment + at_.fragment_used); used && *used < largest_area / 8) {
                const std::uint64_t external = fragment + at_.fragment_memory + 8 * *used;
                const auto data = memory_.word(external + at_.external_data);
                const auto from = data ? memory_.word(*data + at_.external_bytes) : std::nullopt;
                const auto to = data ? memory_.word(*data + at_.external_bytes_end) : std::nullopt;
                if (from && to && *from <= *to && *to - *from < longest_external) distribution_bytes_ += *to - *from;
            }
            root(RootKind::message, index, 0, non_value, at, true);
        } else {
            root(RootKind::message, index, 0, signal.term, at);
        }
        if (is_boxed(signal.token)) root(RootKind::seq_trace_token, index, 0, signal.token, at + 8);
    }
    damage_.queue_damaged |= walk.cut() || walk.cyclic() || messages_ < least_messages(reader_, process);
}

void HeapReader::collect_roots(const std::byte* p) {
    stack_roots();
    std::uint32_t entry = 0;
    if (const auto dictionary = load<Word>(p + at_.process_dictionary); dictionary != 0)
        damage_.dictionary_damaged = !each_dictionary_entry(reader_, dictionary, [&](Word pair, Word, Word) {
            root(RootKind::dictionary, entry++, 0, pair, address_of(pair));
        });
    message_roots(p);
    // Live registers of a process that waits or was scheduled out; of one that runs they are the thread's, and
    // nothing tells how many of them hold terms.
    const auto bits = load<std::uint32_t>(p + at_.process_state);
    if ((bits & (state::running | state::dirty_running)) == 0) {
        const std::uint32_t arity = at_.process_arity % 8 != 0
                                        ? std::to_integer<std::uint32_t>(p[at_.process_arity])
                                        : static_cast<std::uint32_t>(load<Word>(p + at_.process_arity));
        const auto registers = load<Word>(p + at_.process_argument_registers);
        for (std::uint32_t i = 0; i < arity && arity <= most_registers; ++i)
            if (const auto term = memory_.word(registers + 8ull * i); term && !is_header(*term))
                root(RootKind::x_register, i, 0, *term, registers + 8ull * i);
    }
    const auto object_root = [&](RootKind kind, std::uint32_t index, std::uint32_t field) {
        const auto term = load<Word>(p + field);
        if (is_boxed(term) || is_cons(term)) root(kind, index, 0, term, process_ + field);
    };
    object_root(RootKind::exception, 0, at_.process_fvalue);
    object_root(RootKind::exception, 1, at_.process_ftrace);
    object_root(RootKind::group_leader, 0, at_.process_group_leader);
    object_root(RootKind::seq_trace_token, no_frame, at_.process_trace_token);
}

HeapGraph& HeapReader::read_objects(const EtsObjects& objects, HeapGraph::Mode mode) {
    begin(mode);
    for (const EtsObject& object : objects.objects)
        add_area(object.tuple, object.tuple + 8 * object.words, AreaKind::object);
    settle_areas();
    std::uint32_t index = 0;
    for (const EtsObject& object : objects.objects) {
        if (!objects.compressed) {
            root(RootKind::table_object, index++, no_frame, object.tuple | 2, object.tuple);
            continue;
        }
        const Word key = memory_.word(object.tuple + 8ull * objects.key).value_or(0);
        if (is_cons(key) || is_boxed(key)) mark(key);
        root(RootKind::table_object, index++, no_frame, key, object.tuple, true);
    }
    for (const HeapArea& area : areas_) emit_area(area);
    graph_.finish();
    settle_slices(graph_, vm_.layout, memory_);
    return graph_;
}

// What stands at a word where an object or a cons cell must begin: a header is never the head of a list.
// Many zeros are no empty tuples but a page that was lost: it is left out, and `index` leads behind it.
bool HeapReader::object_at(const HeapArea& area, std::uint64_t& index, ObjectShape& shape) const {
    if (load<Word>(area.data + 8 * index) == 0) {
        if (const std::uint64_t end = zeros_end(area, index); end - index >= most_zeros) index = end;
        if (index == area.words()) return false;
    }
    const std::byte* p = area.data + 8 * index;
    const std::uint64_t available = area.words() - index;
    shape = is_header(load<Word>(p)) ? shape_of(vm_.layout, p, available) : ObjectShape{TermKind::cons, 2, 0, 2};
    return shape.words != 0 && shape.words <= available;
}

// Objects stand one behind the other in an area, dead or alive. A first walk marks what dead ones hold, a second one
// takes those that none of them holds for roots. Messages that are queued have no garbage of their own.
void HeapReader::garbage_roots() {
    held_.assign(marks_.size(), 0);
    const auto set = [](const std::vector<std::uint64_t>& bits, std::size_t bit) {
        return (bits[bit / 64] >> (bit % 64) & 1) != 0;
    };
    for (const HeapArea& area : areas_) {
        if (area.kind == AreaKind::message) continue;
        ObjectShape shape;
        for (std::uint64_t index = 0; index < area.words(); index += shape.words) {
            if (!object_at(area, index, shape)) {
                ++damage_.unwalked;
                break;
            }
            if (set(marks_, area.first_bit + index)) continue;
            for (std::uint64_t i = 0; i < shape.terms; ++i) {
                const auto element = load<Word>(area.data + 8 * (index + shape.first_term + i));
                if (!is_cons(element) && !is_boxed(element)) continue;
                const HeapArea* there = area_of(address_of(element));
                if (there == nullptr) continue;
                const std::size_t bit = there->first_bit + (address_of(element) - there->start) / 8;
                held_[bit / 64] |= 1ull << (bit % 64);
            }
        }
    }
    std::vector<Word> tops;
    for (const HeapArea& area : areas_) {
        if (area.kind == AreaKind::message) continue;
        ObjectShape shape;
        for (std::uint64_t index = 0; index < area.words() && object_at(area, index, shape); index += shape.words) {
            const std::size_t bit = area.first_bit + index;
            if (!set(marks_, bit) && !set(held_, bit))
                tops.push_back((area.start + 8 * index) | (shape.kind == TermKind::cons ? 1 : 2));
        }
    }
    std::uint32_t number = 0;
    for (const Word term : tops) root(RootKind::garbage, number++, no_frame, term, address_of(term));
}

void HeapReader::emit_area(const HeapArea& area) {
    if (area.kind == AreaKind::message) graph_.set_young_area(0, 0);
    else graph_.set_young_area(area.start, area.end);
    for (std::uint64_t index = 0; index < area.words();) {
        const std::size_t bit = area.first_bit + index;
        const std::uint64_t rest = marks_[bit / 64] >> (bit % 64);
        if (rest == 0) {
            index += 64 - bit % 64;
            continue;
        }
        index += static_cast<std::uint64_t>(__builtin_ctzll(rest));
        if (index >= area.words()) break;
        damage_.lost_binaries += !add_object(graph_, vm_.layout, memory_, area.start + 8 * index, area.data + 8 * index,
                                             area.words() - index);
        ++index;
    }
}

// An object that holds something outside of the heap has the address of the next one in its third word.
void HeapReader::follow_list(std::uint64_t first) {
    Cycle cycle;
    for (std::uint64_t at = first; at != 0;) {
        const HeapArea* area = area_of(at);
        if (area == nullptr || at % 8 != 0 || area->end - at < 24 || cycle.closed_by(at)) {
            damage_.list_broken = true;
            return;
        }
        const std::byte* object = area->data + (at - area->start);
        const Tag tag = vm_.layout.tags[header_subtag(load<Word>(object))];
        if (tag == Tag::binary_reference) kept_.push_back(load<Word>(object + 8));
        else if (tag == Tag::refc_binary && area->end - at >= 40) kept_.push_back(load<Word>(object + 24));
        at = load<Word>(object + 16);
    }
}

std::span<const std::uint64_t> HeapReader::kept_binaries() {
    kept_.clear();
    follow_list(off_heap_);
    follow_list(writable_);
    std::ranges::sort(kept_);
    kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
    return kept_;
}

HeapGraph& HeapReader::read(std::uint64_t process, HeapGraph::Mode mode, bool garbage) {
    memory_.forget();
    return read_fetched(process, memory_.at(process, at_.process_size), mode, garbage);
}

HeapGraph& HeapReader::read_of_batch(std::uint64_t process, const std::byte* row, HeapGraph::Mode mode) {
    return read_fetched(process, row, mode, false);
}

HeapGraph& HeapReader::read_fetched(std::uint64_t process, const std::byte* p, HeapGraph::Mode mode, bool garbage) {
    begin(mode);
    process_ = process;
    const std::uint64_t misses = memory_.misses();
    if (p == nullptr || !vm_.terms_readable) {
        damage_.unreadable += p == nullptr;
        graph_.finish();
        return graph_;
    }
    const auto bits = load<std::uint32_t>(p + at_.process_state);
    damage_.collecting = (bits & state::gc) != 0;
    if (!damage_.collecting) {
        collect_areas(p);
        collect_roots(p);
        off_heap_ = load<Word>(p + at_.process_off_heap);
        if (at_.process_writable_binaries != absent) writable_ = load<Word>(p + at_.process_writable_binaries);
        if (garbage) garbage_roots();
        for (const HeapArea& area : areas_) emit_area(area);
        damage_.unreadable += memory_.misses() - misses;
    }
    graph_.finish();
    settle_slices(graph_, vm_.layout, memory_);
    return graph_;
}

}  // namespace beamheap::otp
