// SPDX-License-Identifier: Apache-2.0
// Lines of a heap by the grammar, every release and machine: the part of HeapReader that HeapLines is held against.
#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "beamheap/ids.hpp"
#include "formats/crashdump/data_text.hpp"
#include "formats/crashdump/digits.hpp"
#include "formats/crashdump/heap_reader.hpp"

namespace beamheap::crashdump {
namespace {

/// No writer prints more bytes in one object of a heap: external terms come from a buffer of 1024 bytes, binaries on
/// the heap have 64 bytes, floats print as 26.
constexpr std::uint64_t max_object_data = 65536;

/// Bytes of struct Binary before its data: 24 to 40 in every release.
constexpr std::uint64_t binary_head_bytes = 64;

unsigned big_endian(const std::uint8_t* p, unsigned bytes) {
    unsigned value = 0;
    for (unsigned i = 0; i < bytes; ++i) value = value << 8 | p[i];
    return value;
}

}  // namespace

const char* HeapReader::heap_line(const char* p, std::uint64_t address) {
    const std::uint64_t origin = offset_of(line_);
    switch (*p++) {
        case 'l': return cons(p, address);
        case 't': return tuple(p, address);
        case 'Y': return binary(p, address);
        case 'M': return map(p, address);
        case 'E': return external(p, address);
        case 'B': return bignum(p, address);
        case 'F': {
            std::uint64_t length = 0;
            p = number(p, length);
            if (p == nullptr || length > 4096) return bad();
            if (!is_there(p, length)) return more();
            graph_.add_object(TermKind::float_number, float_words(dialect_.word_bytes), address, origin);
            return end_of_line(p + length);
        }
        case 'P':
        case 'p': {
            const bool pid = p[-1] == 'P';
            graph_.add_object(pid ? TermKind::external_pid : TermKind::external_port, external_id_words, address,
                              origin);
            p = element(p - 1);
            return p == nullptr ? nullptr : end_of_line(p);
        }
        case 'R': {
            if (*p++ != 'f') return bad();
            graph_.add_object(TermKind::fun_reference, 3, address, origin);
            const HexNumber number = read_hex(p);
            return end_of_line(p + number.digits);
        }
        default: return bad();
    }
}

const char* HeapReader::cons(const char* p, std::uint64_t address) {
    graph_.add_object(TermKind::cons, cons_words, address, offset_of(line_));
    p = element(p);
    if (p == nullptr) return nullptr;
    if (*p != '|') return bad();
    p = element(p + 1);
    return p == nullptr ? nullptr : end_of_line(p);
}

const char* HeapReader::tuple(const char* p, std::uint64_t address) {
    std::uint64_t arity = 0;
    p = number(p, arity);
    if (p == nullptr || arity > 0xFFFFFFF0u) return bad();
    const NodeId node =
        graph_.add_object(TermKind::tuple, static_cast<std::uint32_t>(arity + 1), address, offset_of(line_));
    if (arity == 0) {
        if (sizes_->empty_tuple_flat != 1) graph_.set_flat_words(node, sizes_->empty_tuple_flat);
        return end_of_line(p);
    }
    if (p > safe_) return more();
    return elements(p, arity);
}

const char* HeapReader::map(const char* p, std::uint64_t address) {
    const std::uint64_t origin = offset_of(line_);
    const char kind = *p++;
    std::uint64_t size = 0;
    p = number(p, size);
    if (p == nullptr || size > 0xFFFFFFF0u) return bad();
    if (p > safe_) return more();
    if (kind == 'f') {
        graph_.add_object(TermKind::flat_map, static_cast<std::uint32_t>(size) + flat_map_words, address, origin);
        p = element(p);
        if (p == nullptr) return nullptr;
        if (*p++ != ':') return bad();
        if (size == 0) return end_of_line(p);
        return p > safe_ ? more() : elements(p, size);
    }
    if (kind == 'h') {
        p = number(p, size);
        if (p == nullptr || size > 16) return bad();
        graph_.add_object(TermKind::hash_map, static_cast<std::uint32_t>(size) + hash_map_words, address, origin);
    } else if (kind == 'n' && size <= 16) {
        graph_.add_object(TermKind::hash_node, static_cast<std::uint32_t>(size) + hash_node_words, address, origin);
    } else {
        return bad();
    }
    if (size == 0) return end_of_line(p);
    return p > safe_ ? more() : elements(p, size);
}

const char* HeapReader::data(const char* p, std::uint64_t& length, const char*& encoded) {
    p = number(p, length);
    if (p == nullptr || length > max_object_data) return bad();
    encoded = p;
    const std::uint64_t size = encoded_size(dialect_.style, length);
    return is_there(p, size) ? p + size : more();
}

const char* HeapReader::binary(const char* p, std::uint64_t address) {
    const std::uint64_t origin = offset_of(line_);
    const char kind = *p++;
    if (kind == 'h') {
        std::uint64_t bytes = 0;
        const char* encoded = nullptr;
        p = data(p, bytes, encoded);
        if (p == nullptr) return nullptr;
        graph_.add_object(TermKind::heap_binary,
                          static_cast<std::uint32_t>(heap_binary_words(bytes, dialect_.word_bytes)), address, origin);
        return end_of_line(p);
    }
    if (kind != 'c' && kind != 's') return bad();
    std::uint64_t base = 0;
    std::uint64_t offset = 0;
    p = number(p, base);
    if (p == nullptr || (p = number(p, offset)) == nullptr) return nullptr;
    if (p > safe_) return more();
    const HexNumber size = read_hex(p);
    if (size.digits == 0) return bad();
    p += size.digits;
    if (kind == 'c' && offset >= base && offset - base <= binary_head_bytes) {
        // BinRef (27 and later) has no offset; what the writer prints there is where the bytes are.
        graph_.add_object(TermKind::binary_reference, 3, address, origin);
        offset = 0;
    } else if (kind == 'c') {
        graph_.add_object(TermKind::refc_binary, sizes_->refc_line, address, origin);
    } else {
        graph_.add_object(TermKind::sub_binary, sizes_->sub_binary_line, address, origin);
        graph_.add_reference(base);
    }
    graph_.add_binary_use(base, offset, size.value);
    return end_of_line(p);
}

const char* HeapReader::bignum(const char* p, std::uint64_t address) {
    if (*p == '-') ++p;
    bool hexadecimal = false;
    if (p[0] == '1' && p[1] == '6' && p[2] == '#') {
        hexadecimal = true;
        p += 3;
    }
    const char* digits = p;
    for (;;) {
        const unsigned run = hexadecimal ? read_hex(p).digits : decimal_run(p);
        p += run;
        if (run < 16) break;
        if (p > safe_) return more();
    }
    if (digits == p || (!hexadecimal && std::memchr(digits, '-', static_cast<std::size_t>(p - digits)) != nullptr))
        return bad();
    const unsigned word_bits = dialect_.word_bytes * 8;
    const std::string_view text(digits, static_cast<std::size_t>(p - digits));
    const std::uint64_t words =
        1 + (hexadecimal ? (text.size() * 4 + word_bits - 1) / word_bits : bignum_words(text, word_bits));
    if (words > 0xFFFFFFF0u) return bad();
    graph_.add_object(TermKind::bignum, static_cast<std::uint32_t>(words), address, offset_of(line_));
    return end_of_line(p);
}

/// A reference, from its external term format of at least 9 bytes. What the next one's text will mostly begin with is
/// remembered for HeapLines: up to the group of characters that the node's name ends in.
std::pair<TermKind, std::uint32_t> HeapReader::reference(unsigned tag, std::uint64_t length, std::string_view encoded) {
    std::array<std::uint8_t, 300> bytes;
    const std::size_t n =
        decode_data(dialect_.style, encoded, bytes.data(), std::min<std::uint64_t>(length, bytes.size()));
    const std::size_t at = tag == 101 ? 2 : 4;
    const std::uint32_t numbers = tag == 101 ? 1 : std::min(big_endian(bytes.data() + 2, 2), 5u);
    const bool wide = bytes[at] == 100 || bytes[at] == 118;
    const std::size_t name = at + (wide ? 3 : 2);
    const std::size_t name_length = wide ? big_endian(bytes.data() + at + 1, 2) : bytes[at + 1];
    const bool whole = name + name_length <= n;  // else the text is damaged
    const std::string_view node(reinterpret_cast<const char*>(bytes.data()) + name, whole ? name_length : 0);
    const bool local = dialect_.node_name.empty() || node == dialect_.node_name;
    const TermKind kind = local ? TermKind::reference : TermKind::external_reference;
    const std::uint32_t words =
        local ? reference_words(numbers, dialect_.word_bytes) : external_reference_words(numbers, dialect_.word_bytes);
    if (whole)
        lines_.remember(length, encoded.substr(0, encoded_size(dialect_.style, name + node.size())), kind, words);
    return {kind, words};
}

/// An object in external term format: funs, references, and whatever the writer has no form of its own for.
const char* HeapReader::external(const char* p, std::uint64_t address) {
    std::uint64_t length = 0;
    const char* text = nullptr;
    p = data(p, length, text);
    if (p == nullptr) return nullptr;
    const std::uint64_t origin = offset_of(line_);
    const auto encoded = static_cast<std::size_t>(p - text);
    TermKind kind = TermKind::unknown;
    std::uint32_t words = static_cast<std::uint32_t>((length + dialect_.word_bytes - 1) / dialect_.word_bytes);
    std::array<std::uint8_t, 36> bytes;
    const std::size_t n =
        decode_data(dialect_.style, {text, encoded}, bytes.data(), std::min<std::uint64_t>(length, bytes.size()));
    const unsigned tag = n > 1 && bytes[0] == 131 ? bytes[1] : 0;
    switch (tag) {
        case 0:
            if (n == 1 && bytes[0] == 131) {
                kind = TermKind::match_context;
                words = match_context_words;
            }
            break;
        case 113:  // EXPORT_EXT
            kind = TermKind::external_fun;
            words = sizes_->external_fun;
            if (n >= 3) lines_.remember(length, {text, encoded_size(dialect_.style, 3)}, kind, words);
            break;
        case 112: {  // NEW_FUN_EXT: size(4) arity(1) uniq(16) index(4) free(4)
            kind = TermKind::fun;
            const std::uint32_t environment = n >= 31 ? big_endian(bytes.data() + 27, 4) : 0;
            words = sizes_->fun_line + (environment <= 255 ? environment : 0);
            if (n >= 33) lines_.remember(length, {text, encoded_size(dialect_.style, 33)}, kind, words);
            break;
        }
        case 117: {  // FUN_EXT: free(4)
            kind = TermKind::fun;
            const std::uint32_t environment = n >= 6 ? big_endian(bytes.data() + 2, 4) : 0;
            words = sizes_->fun_line + (environment <= 255 ? environment : 0);
            break;
        }
        case 90:   // NEWER_REFERENCE_EXT: numbers(2) node creation(4) ...
        case 114:  // NEW_REFERENCE_EXT: numbers(2) node creation(1) ...
        case 101:  // REFERENCE_EXT: node number(4) creation(1)
            if (n >= 9) std::tie(kind, words) = reference(tag, length, {text, encoded});
            break;
        case 88:   // NEW_PID_EXT
        case 103:  // PID_EXT
            kind = TermKind::external_pid;
            words = external_id_words;
            break;
        case 89:   // NEW_PORT_EXT
        case 120:  // V4_PORT_EXT
        case 102:  // PORT_EXT
            kind = TermKind::external_port;
            words = external_id_words;
            break;
        case 100: {  // ATOM_EXT: no object is an atom, but the writer of 19.0 to 20.1 has it stand for any map
            if (n >= 13 && std::memcmp(bytes.data() + 4, "undefined", 9) == 0) {
                kind = TermKind::lost_map;
                words = flat_map_words;
            }
            break;
        }
        case 116: {  // MAP_EXT, 17 and 18: pairs(4). What the map holds is in there too and has no lines of its own.
            kind = TermKind::flat_map;
            const std::uint32_t pairs = n >= 6 ? big_endian(bytes.data() + 2, 4) : 0;
            words = flat_map_words + (pairs <= length ? 2 * pairs + 1 : 0);
            break;
        }
        default: break;
    }
    graph_.add_object(kind, words, address, origin);
    return end_of_line(p);
}

/// What slices (up to OTP 26) cut: the base is a reference to a binary, a binary on the heap, or one that the dump
/// does not show because nothing else refers to it.
void HeapReader::settle_slices() {
    bool changed = false;
    Count all;  // words of the heap's objects, once somebody asks
    const auto words_of_all = [&] { return all.has() ? *all : *(all = graph_.total_words()); };
    for (BinaryUse& use : graph_.binaries()) {
        if (graph_.kind(use.node) != TermKind::sub_binary) continue;
        const NodeId base = graph_.find(use.address);
        const BinaryUse* parent = base == no_node ? nullptr : graph_.binary_of(base);
        if (parent != nullptr && graph_.kind(base) == TermKind::refc_binary) {
            use.address = parent->address;
            use.offset += parent->offset;
        } else if (base != no_node) {
            use.base = BinaryUse::Base::object;
        } else {
            // A binary on the heap that nothing else refers to has no line, but lies where its slice lies.
            const std::uint64_t slice = graph_.address(use.node);
            const std::uint64_t distance = use.address > slice ? use.address - slice : slice - use.address;
            const auto near = [&](std::uint64_t words) { return distance / dialect_.word_bytes / 4 <= words; };
            if (use.size <= max_heap_binary_bytes && (near(facts_.heap_words) || near(words_of_all())))
                use.base = BinaryUse::Base::object;
            use.named = false;
        }
        // A copy of the slice is a reference to the binary, or a heap binary of the slice's size.
        const std::uint64_t words =
            use.base == BinaryUse::Base::binary ? sizes_->refc_flat : heap_binary_words(use.size, dialect_.word_bytes);
        graph_.set_flat_words(use.node, static_cast<std::uint32_t>(std::min<std::uint64_t>(words, 0xFFFFFFF0u)));
        changed = true;
    }
    if (changed) graph_.sort_flat_words();
}

}  // namespace beamheap::crashdump
