// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/heaps/core_terms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/otp/processes/term_format.hpp"
#include "formats/otp/vm/references.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;
using bytes::MemoryReader;

constexpr std::size_t most_digits = 4096;          // bytes of a bignum that are written out
constexpr std::uint64_t most_external = 4u << 20;  // bytes of a message in external format that are decoded
constexpr std::uint64_t most_external_bits = 1ull << 36;
constexpr unsigned refc_subtag = 8;  // REFC_BINARY_SUBTAG until OTP 26
constexpr std::uint64_t largest_pairs = 1ull << 40;

// Appends `count` bytes that begin inside the first of `size` bytes; bits behind the end are none of the term's.
void append_bits(const std::byte* data, std::size_t size, std::uint64_t count, unsigned first_bit, unsigned extra_bits,
                 std::string& out) {
    const auto* p = reinterpret_cast<const unsigned char*>(data);
    for (std::uint64_t i = 0; i < count; ++i) {
        unsigned value = p[i];
        if (first_bit != 0) value = (value << first_bit | (i + 1 < size ? p[i + 1] >> (8 - first_bit) : 0u)) & 0xff;
        if (i + 1 == count && extra_bits != 0) value &= 0xff00u >> extra_bits & 0xff;
        out += static_cast<char>(value);
    }
}

// Reads as many terms of a literal as lie in its segment.
ObjectShape literal_shape(const Vm& vm, MemoryReader& memory, std::uint64_t address, const std::byte*& p) {
    // Of a running process all that is asked for is fetched: no more than the header says, where it says that it is
    // long.
    constexpr std::uint64_t little = 512, longest = 256u << 20;
    auto data = memory.from(address, memory.view() == nullptr ? ~0ull : little);
    if (memory.view() != nullptr && data.size() == little && is_header(load<Word>(data.data())))
        if (const std::uint64_t bytes = 8 * (header_arity(load<Word>(data.data())) + 1);
            bytes > little && bytes <= longest)
            data = memory.from(address, bytes);
    p = data.data();
    if (data.size() < 8) return {};
    if (!is_header(load<Word>(p))) return data.size() < 16 ? ObjectShape{} : ObjectShape{TermKind::cons, 2, 0, 2};
    return shape_of(vm.layout, p, data.size() / 8);
}

// A zero word is the empty tuple, but not where many more stand beside it: that were a crowd of empty tuples.
bool among_zeros(MemoryReader& memory, std::uint64_t address) {
    constexpr std::uint64_t crowd = 64;
    for (const std::uint64_t from : {address, address - 8 * crowd}) {
        const std::byte* words = memory.probe(from, 8 * (crowd + 1));
        if (words != nullptr &&
            std::all_of(words, words + 8 * (crowd + 1), [](std::byte b) { return b == std::byte{0}; }))
            return true;
    }
    return false;
}

}  // namespace

bool LiteralGraph::add(std::uint64_t address) {
    if (found_.size() >= most_objects) {
        cut_ = true;
        return false;
    }
    if ((found_.size() + 1) * 2 > slots_.size()) {
        std::vector<std::uint64_t> fresh(std::max<std::size_t>(256, slots_.size() * 2), 0);
        for (const std::uint64_t known : found_) {
            std::size_t slot = known * 0x9E3779B97F4A7C15ull >> 20 & (fresh.size() - 1);
            while (fresh[slot] != 0) slot = (slot + 1) & (fresh.size() - 1);
            fresh[slot] = known;
        }
        slots_ = std::move(fresh);
    }
    std::size_t slot = address * 0x9E3779B97F4A7C15ull >> 20 & (slots_.size() - 1);
    while (slots_[slot] != 0) {
        if (slots_[slot] == address) return false;
        slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = address;
    found_.push_back(address);
    return true;
}

void LiteralGraph::build(const Vm& vm, MemoryReader& memory, const std::vector<std::uint64_t>& first) {
    graph_.begin(HeapGraph::Mode::values, 8);
    std::size_t next = 0;
    for (const std::uint64_t address : first) {
        if (address == 0) continue;
        if (memory.mapped(address)) add(address);
        else ++damaged_;
    }
    // Breadth first: found_ is the queue.
    while (next < found_.size()) {
        const std::byte* p = nullptr;
        const ObjectShape shape = literal_shape(vm, memory, found_[next++], p);
        for (std::uint64_t i = 0; i < shape.terms; ++i) {
            const auto element = load<Word>(p + 8 * (shape.first_term + i));
            if (is_immediate(element)) continue;
            if (!is_header(element) && memory.mapped(address_of(element))) add(address_of(element));
            else ++damaged_;
            if (cut_) break;
        }
    }
    std::sort(found_.begin(), found_.end());
    for (const std::uint64_t address : found_) {
        const std::byte* p = nullptr;
        const ObjectShape shape = literal_shape(vm, memory, address, p);
        damaged_ += shape.words == 0 || (load<Word>(p) == 0 && among_zeros(memory, address));
        if (shape.words == 0) continue;
        damaged_ += !add_object(graph_, vm.layout, memory, address, p, shape.words);
    }
    graph_.finish();
    settle_slices(graph_, vm.layout, memory);
}

CoreTerms::CoreTerms(const Vm& vm, const Snapshot& snapshot, std::uint64_t process, bool garbage)
    : vm_(vm), snapshot_(snapshot), reader_(vm, names_), memory_(reader_.memory), heap_(vm) {
    heap_.read(process, HeapGraph::Mode::values, garbage);
    graph_ = heap_.take_graph();
    memory_.share(heap_.memory());
    read_literals();
    fetch_all();
}

CoreTerms::CoreTerms(const Vm& vm, const Snapshot& snapshot, const EtsObjects& objects)
    : vm_(vm), snapshot_(snapshot), reader_(vm, names_), memory_(reader_.memory), heap_(vm), key_(objects.key) {
    heap_.read_objects(objects, HeapGraph::Mode::values);
    graph_ = heap_.take_graph();
    memory_.share(heap_.memory());
    read_literals();
    fetch_all();
}

std::unique_ptr<CoreTerms> CoreTerms::of_literals(const Vm& vm, const Snapshot& snapshot,
                                                  const std::vector<std::uint64_t>& addresses) {
    auto terms = std::make_unique<CoreTerms>(vm, snapshot, EtsObjects{});
    terms->literals_.build(vm, terms->memory_, addresses);
    return terms;
}

std::unique_ptr<CoreTerms> CoreTerms::moved_terms(const Vm& vm, const Snapshot& snapshot) {
    auto terms = std::make_unique<CoreTerms>(vm, snapshot, EtsObjects{});
    terms->moved_ = true;
    return terms;
}

// Terms are printed after they were found. Of a running VM all that printing looks at must have been fetched by then,
// so that what is proved afterwards is proved of it: heaps were, and literals; here the bytes of binaries outside of
// the heaps, each up to a bound, and messages that are encoded still.
void CoreTerms::fetch_all() {
    if (memory_.view() == nullptr) return;
    constexpr std::uint64_t most_of_one = 64u << 10, most_of_all = 256u << 20;
    std::uint64_t fetched = 0;
    for (const HeapGraph* graph : {&std::as_const(graph_), &literals_.graph()})
        for (std::uint32_t node = 0; node < graph->size() && fetched < most_of_all; ++node) {
            const TermKind kind = graph->kind(node);
            if (kind != TermKind::refc_binary && kind != TermKind::sub_binary && kind != TermKind::match_context)
                continue;
            const BinaryPlace place = binary_place(memory_, vm_.layout, graph->address(node));
            if (place.known && place.bytes != 0)
                fetched += memory_.from(place.data, std::min(place.bytes + 1, most_of_one)).size();
        }
    for (std::size_t i = 0; i < heap_.roots().size() && fetched < most_of_all; ++i)
        if (heap_.roots()[i].undecoded) (void)root(i);
}

void CoreTerms::read_literals() {
    std::vector<std::uint64_t> outside;
    for (std::size_t i = 0; i < graph_.foreign_size(); ++i) outside.push_back(graph_.foreign(i).address);
    for (const HeapRoot& root : heap_.roots())
        if (!root.undecoded && (is_cons(root.term) || is_boxed(root.term)) &&
            graph_.find(address_of(root.term)) == no_node)
            outside.push_back(address_of(root.term));
    literals_.build(vm_, memory_, outside);
}

std::string_view CoreTerms::atom_text(Word atom) {
    if (!is_atom(atom)) return {};
    return vm_.atoms.text(memory_, atom_index(atom)).value_or(std::string_view{});
}

// A catch is a number in a table of addresses (beam_catches.h), which is where crash dumps say it leads to.
std::string_view CoreTerms::catch_text(std::uint64_t number) {
    const Roots& roots = vm_.roots;
    const auto pc = number < roots.catch_count ? memory_.word(roots.catches + 16 * number) : std::nullopt;
    if (const auto place = pc ? vm_.code.find(memory_, *pc) : std::nullopt) {
        constexpr std::size_t name_bytes = 1024;
        return keep(fmt::format("{}:{}/{} + {}", term_text(reader_, place->mfa.module, name_bytes),
                                term_text(reader_, place->mfa.function, name_bytes), place->mfa.arity,
                                *pc - (place->info + reader_.at.code_info_mfa)));
    }
    return keep(fmt::format("{}", number));
}

Element CoreTerms::object_at(std::uint64_t address) {
    Element element;
    element.address = address;
    element.kind = ElementKind::object;
    if (const NodeId node = graph_.find(address); node != no_node) element.id = {ObjectId::Space::heap, node};
    else if (const NodeId literal = literals_.graph().find(address); literal != no_node)
        element.id = {ObjectId::Space::literals, literal};
    else element.kind = ElementKind::missing;
    return element;
}

Element CoreTerms::element_of(Word word) {
    if (is_cons(word) || is_boxed(word)) return object_at(address_of(word));
    Element element;
    if (word == vm_.layout.nil) {
        element.kind = ElementKind::nil;
    } else if (is_small(word)) {
        element.kind = ElementKind::small;
        element.number = small_value(word);
    } else if (is_atom(word)) {
        if (const auto name = vm_.atoms.text(memory_, atom_index(word))) {
            element.kind = ElementKind::atom;
            element.text = *name;
        }
    } else if (is_pid(word)) {
        element.kind = ElementKind::pid;
        element.pid = reader_.pid(word);
    } else if (is_port(word)) {
        element.kind = ElementKind::port;
        element.port = reader_.port(word);
    } else if (is_catch(word)) {
        element.kind = ElementKind::catching;
        element.text = catch_text(word >> 6);
    }
    return element;
}

Element CoreTerms::root(std::size_t i) {
    if (i >= heap_.roots().size()) return {};
    const HeapRoot& root = heap_.roots()[i];
    if (!root.undecoded) return element_of(root.term);
    const auto [entry, added] = messages_.try_emplace(i);
    if (added)
        entry->second = root.kind == RootKind::table_object ? decoded_object(root.at)
                                                            : decoded_message(root.at - reader_.at.message_words);
    return entry->second;
}

// ERL_MESSAGE_FROM: the third word of a message (erl_message.h), a pid since OTP 21.
Element CoreTerms::sender(std::size_t i) {
    if (i >= heap_.roots().size() || heap_.roots()[i].kind != RootKind::message) return {};
    const auto word = memory_.word(heap_.roots()[i].at + 16);
    return word ? element_of(*word) : Element{};
}

// A message as it came from another node: ErtsDistExternal behind the used words of its fragment, whose data is in
// external format without the version byte, with a cache of atoms (external.h, erl_message.c).
Element CoreTerms::decoded_message(std::uint64_t message) {
    const Offsets& at = reader_.at;
    const auto attached = memory_.word(message + at.message_attached);
    if (!attached) return {};
    const std::uint64_t fragment = *attached == 1 ? message + at.message_fragment : *attached;
    const auto used = memory_.word(fragment + at.fragment_used);
    if (!used || *used > (1u << 30)) return {};
    const std::uint64_t external = fragment + at.fragment_memory + 8 * *used;
    const auto data = memory_.word(external + at.external_data);
    const auto from = data ? memory_.word(*data + at.external_bytes) : std::nullopt;
    const auto to = data ? memory_.word(*data + at.external_bytes_end) : std::nullopt;
    const auto count = memory_.word32(external + at.external_atoms_size);
    if (!from || !to || *to < *from || *to - *from > most_external || !count || *count > 2048) return {};
    const std::byte* text = memory_.at(*from, *to - *from);
    if (text == nullptr) return {};
    std::vector<Element> atoms;
    for (std::uint32_t i = 0; i < *count; ++i)
        atoms.push_back(element_of(memory_.word(external + at.external_atoms + 8ull * i).value_or(0)));
    const std::size_t size = *to - *from;
    const bool versioned = size != 0 && text[0] == std::byte{131};
    std::vector<std::uint8_t> encoded(size + 1, 131);
    if (size != 0) std::memcpy(encoded.data() + (versioned ? 0 : 1), text, size);
    if (versioned) encoded.pop_back();
    bool complete = true;
    return decoded_.decode(encoded, {snapshot_.text(snapshot_.node.name), atoms}, complete);
}

// erl_db_util.c, copy_to_comp: a tuple whose key is a term; an element that is no immediate is the offset of its bytes
// in external format, behind the elements and the object's size in bytes.
Element CoreTerms::decoded_object(std::uint64_t tuple) {
    const std::uint64_t arity = header_arity(memory_.word(tuple).value_or(0));
    const std::uint64_t bytes = memory_.word(tuple + 8 * (arity + 1)).value_or(0);
    const std::uint64_t size = bytes > reader_.at.ets_term_tuple ? bytes - reader_.at.ets_term_tuple : 0;
    const std::byte* p = size > most_external || arity > size / 8 ? nullptr : memory_.at(tuple, size);
    if (p == nullptr) return {};
    const std::span<const std::uint8_t> data(reinterpret_cast<const std::uint8_t*>(p), size);
    std::vector<Element> elements;
    for (std::uint64_t i = 1; i <= arity; ++i) {
        const auto word = load<Word>(p + 8 * i);
        Element element;
        if (i == key_ || !is_header(word)) element = element_of(word);
        else if (const std::uint64_t offset = word >> 2; offset < size) {
            bool complete = true;
            element = decoded_.decode(data.subspan(offset), {snapshot_.text(snapshot_.node.name), {}, this}, complete);
        }
        elements.push_back(element);
    }
    return decoded_.tuple(elements);
}

// external.c, DFLAG_INTERNAL_TAGS: atoms by their index; a ProcBin or BinRef, or a reference's structure, as it was in
// memory.
bool CoreTerms::read(std::uint8_t tag, std::span<const std::uint8_t> rest, external_term::Internal& out) {
    const auto* p = reinterpret_cast<const std::byte*>(rest.data());
    switch (tag) {
        case 'I':
        case 'K': {
            const std::size_t bytes = tag == 'I' ? 2 : 3;
            if (rest.size() < bytes) return false;
            Word index = 0;
            for (std::size_t i = 0; i < bytes; ++i) index = index << 8 | rest[i];
            out.taken = bytes;
            out.atom = true;
            out.element = element_of(index << 6 | 0x0b);
            return true;
        }
        case 'J':
        case 'L': return read_binary(tag, rest, out);
        case 'N': {  // ErtsMRefThing
            if (rest.size() < 24) return false;
            out.taken = 24;
            out.head.kind = TermKind::reference;
            out.head.numbers = 3;
            const std::byte* numbers = memory_.at(load<Word>(p + 8) + reader_.at.magic_reference, 12);
            for (unsigned i = 0; numbers != nullptr && i < 3; ++i)
                out.head.words[i] = load<std::uint32_t>(numbers + 4 * i);
            return true;
        }
        default: return false;
    }
}

// Until OTP 26: L has a byte each of bits before and behind, then a ProcBin whose size counts every byte touched.
// Since then: J is a BinRef, all of its binary; L is an ErlSubBits and then the BinRef of its binary.
bool CoreTerms::read_binary(std::uint8_t tag, std::span<const std::uint8_t> rest, external_term::Internal& out) {
    const auto* p = reinterpret_cast<const std::byte*>(rest.data());
    std::uint64_t binary = 0, data = 0, first_bit = 0, bits = 0;
    if (vm_.layout.tags[refc_subtag] == Tag::refc_binary) {
        const std::size_t head = tag == 'L' ? 2 : 0;
        if (rest.size() < head + 48) return false;
        out.taken = head + 48;
        binary = load<Word>(p + head + 24);
        data = load<Word>(p + head + 32);
        const auto size = load<Word>(p + head + 8);
        if (size > most_external_bits / 8) return false;
        first_bit = head == 0 ? 0 : rest[0] & 7u;
        const std::uint64_t last_bits = head == 0 ? 0 : rest[1] & 7u, partial = (first_bit + last_bits + 7) / 8;
        if (size < partial) return false;
        bits = (size - partial) * 8 + last_bits;
    } else {
        const std::size_t head = tag == 'L' ? 40 : 0;
        if (rest.size() < head + 24) return false;
        out.taken = head + 24;
        binary = load<Word>(p + head + 8);
        if (head == 0) {
            data = binary + reader_.at.binary_bytes;
            bits = memory_.word(binary + reader_.at.binary_length).value_or(0) * 8;
        } else {
            const auto start = load<Word>(p + 16), end = load<Word>(p + 24);
            if (end < start) return false;
            data = (load<Word>(p + 8) & ~3ull) + start / 8;
            first_bit = start % 8;
            bits = end - start;
        }
    }
    if (bits > most_external_bits) return false;
    out.head.kind = TermKind::heap_binary;
    out.head.size = bits / 8;
    out.head.extra_bits = static_cast<unsigned>(bits % 8);
    const std::uint64_t touched = (first_bit + bits + 7) / 8;
    const auto there = memory_.from(data, touched);
    if (there.size() < touched) {
        out.head.size = 0;
        out.head.kind = TermKind::unknown;
        return true;
    }
    out.bytes = {reinterpret_cast<const char*>(there.data()), there.size()};
    if (first_bit == 0 && bits % 8 == 0) return true;
    std::string shifted;
    append_bits(there.data(), there.size(), (bits + 7) / 8, static_cast<unsigned>(first_bit), out.head.extra_bits,
                shifted);
    out.bytes = keep(std::move(shifted));
    return true;
}

void CoreTerms::fun_head(std::uint64_t address, const ObjectShape& shape, ObjectHead& head) {
    const Offsets& at = reader_.at;
    const Layout& layout = vm_.layout;
    const auto header = memory_.word(address).value_or(0);
    const auto entry = memory_.word(address + 8).value_or(0);
    if (shape.kind == TermKind::external_fun) {
        if (const auto mfa = Code::mfa_at(memory_, entry + at.export_mfa)) {
            head.module = atom_text(mfa->module);
            head.function = atom_text(mfa->function);
            head.arity = mfa->arity;
        }
        return;
    }
    if (layout.fun_in_header) {
        head.arity = static_cast<std::uint32_t>(header >> 8 & 0xff);
        head.free =
            static_cast<std::uint32_t>(shape.terms - (layout.fun_carries_reference && shape.terms != 0 ? 1 : 0));
    } else {
        head.arity = memory_.value<std::uint8_t>(address + at.fun_thing_arity).value_or(0);
        head.free = static_cast<std::uint32_t>(shape.terms - 1);
    }
    head.elements = head.free;
    head.module = atom_text(memory_.word(entry + at.fun_module).value_or(0));
    head.index = memory_.word32(entry + at.fun_old_index).value_or(0);
    head.uniq = memory_.word32(entry + at.fun_old_uniq).value_or(0);
}

void CoreTerms::reference_head(std::uint64_t address, Word header, ObjectHead& head) {
    const ReferenceNumbers numbers = reference_numbers(memory_, vm_.layout, address, header);
    head.numbers = numbers.count;
    head.words = numbers.words;
    if (numbers.node != 0) head.node = atom_text(memory_.word(numbers.node + reader_.at.node_name).value_or(0));
}

ObjectHead CoreTerms::head(ObjectId id) {
    if (id.space == ObjectId::Space::decoded) return decoded_.head(id.number);
    ObjectHead head;
    head.address = address_of_object(id);
    const std::byte* p = nullptr;
    const ObjectShape shape = literal_shape(vm_, memory_, head.address, p);
    const HeapGraph& graph = id.space == ObjectId::Space::literals ? literals_.graph() : graph_;
    head.kind = graph.kind(id.number);
    if (shape.words == 0) return head;
    const auto header = load<Word>(p);
    switch (head.kind) {
        case TermKind::cons: head.elements = 2; break;
        case TermKind::tuple: head.elements = shape.terms; break;
        case TermKind::flat_map:
            head.elements = shape.terms;
            head.size = shape.terms - 1;
            break;
        case TermKind::hash_map:
            head.elements = shape.terms;
            head.size = std::min(load<Word>(p + 8), largest_pairs);
            break;
        case TermKind::hash_node: head.elements = shape.terms; break;
        case TermKind::float_number: std::memcpy(&head.number, p + 8, 8); break;
        case TermKind::bignum: {
            const auto* digits = reinterpret_cast<const std::uint8_t*>(p + 8);
            const std::size_t size = std::min<std::size_t>((shape.words - 1) * 8, most_digits);
            const bool negative = vm_.layout.tags[header_subtag(header)] == Tag::negative_big;
            head.digits = keep(external_term::integer_digits({digits, size}, negative));
            break;
        }
        case TermKind::heap_binary:
        case TermKind::refc_binary:
        case TermKind::sub_binary:
        case TermKind::binary_reference: {
            const BinaryPlace place = binary_place(memory_, vm_.layout, head.address);
            head.extra_bits = place.extra_bits;
            head.size = place.bytes - (place.extra_bits != 0 && place.bytes != 0 ? 1 : 0);
            if (head.kind != TermKind::heap_binary) {
                head.binary = place.binary != 0 ? place.binary : place.object;
                head.offset = place.offset;
            }
            break;
        }
        case TermKind::fun:
        case TermKind::external_fun: fun_head(head.address, shape, head); break;
        case TermKind::reference:
        case TermKind::external_reference: reference_head(head.address, header, head); break;
        case TermKind::external_pid:
            head.pid = reader_.pid(head.address | 2);
            head.node =
                atom_text(memory_.word(memory_.word(head.address + 8).value_or(0) + reader_.at.node_name).value_or(0));
            break;
        case TermKind::external_port:
            head.port = reader_.port(head.address | 2);
            head.node =
                atom_text(memory_.word(memory_.word(head.address + 8).value_or(0) + reader_.at.node_name).value_or(0));
            break;
        default: break;
    }
    return head;
}

ElementCursor CoreTerms::elements(ObjectId id) {
    if (id.space == ObjectId::Space::decoded) return {id, decoded_.head(id.number).elements, 0};
    const std::uint64_t address = address_of_object(id);
    const std::byte* p = nullptr;
    const ObjectShape shape = literal_shape(vm_, memory_, address, p);
    std::uint64_t first = shape.first_term, count = shape.terms;
    if (shape.kind == TermKind::fun || shape.kind == TermKind::external_fun) {
        // Free variables alone: not the creator before them (up to OTP 26) or the FunRef behind (OTP 27).
        if (shape.kind == TermKind::external_fun) count = 0;
        else if (!vm_.layout.fun_in_header) ++first, --count;
        else if (vm_.layout.fun_carries_reference && count != 0) --count;
    } else if (shape.kind == TermKind::sub_binary || shape.kind == TermKind::refc_binary ||
               shape.kind == TermKind::match_context) {
        count = 0;
    }
    return {id, count, address + 8 * first};
}

bool CoreTerms::next(ElementCursor& cursor, Element& element) {
    if (cursor.left == 0) return false;
    --cursor.left;
    if (cursor.id.space == ObjectId::Space::decoded) {
        element = decoded_.element(cursor.id.number, cursor.place++);
        return true;
    }
    const auto word = memory_.word(cursor.place);
    cursor.place += 8;
    if (!word) return false;
    element = element_of(*word);
    return true;
}

Bytes CoreTerms::bytes(ObjectId id, std::uint64_t from, std::uint64_t limit, std::string& out) {
    if (id.space == ObjectId::Space::decoded) {
        const std::string_view all = decoded_.bytes(id.number);
        if (from < all.size()) out += all.substr(from, limit);
        return Bytes::whole;
    }
    const BinaryPlace place = binary_place(memory_, vm_.layout, address_of_object(id));
    if (!place.known) return Bytes::absent;
    if (from >= place.bytes) return Bytes::whole;
    const std::uint64_t wanted = std::min(limit, place.bytes - from);
    // A slice that begins inside a byte needs the one behind its last as well, unless it ends in the same one.
    const bool shifted = place.bit_offset != 0;
    const auto data = memory_.from(place.data + from, wanted + (shifted ? 1 : 0));
    if (data.empty()) return Bytes::absent;
    const std::uint64_t have = std::min<std::uint64_t>(wanted, data.size());
    const bool last = from + have == place.bytes;
    append_bits(data.data(), data.size(), have, place.bit_offset, last ? place.extra_bits : 0, out);
    return have == wanted ? Bytes::whole : Bytes::part;
}

Element CoreTerms::at(std::uint64_t address) { return object_at(address); }

Count CoreTerms::binary_size(std::uint64_t address) const {
    const auto size = memory_.word(address + vm_.layout.at.binary_length);
    if (!size) return {};
    // In a VM that runs it may have been freed since the reference was read, and something else lies there: what is
    // larger than the memory behind it is not its size.
    const bool runs = memory_.view() != nullptr;
    if (runs && (*size > ~address || !memory_.mapped(address + *size))) return {};
    return Count(*size);
}

Count CoreTerms::channel_of(std::string_view node) const {
    for (const auto* names : {&snapshot_.channel_names, &names_.channel_names}) {
        const Snapshot& owner = names == &snapshot_.channel_names ? snapshot_ : names_;
        for (const auto& [channel, name] : *names)
            if (owner.text(name) == node) return channel;
    }
    return {};
}

}  // namespace beamheap::otp
