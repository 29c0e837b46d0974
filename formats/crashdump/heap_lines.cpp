#include "formats/crashdump/heap_lines.hpp"

#include <cstring>

#include "formats/crashdump/data_text.hpp"
#include "formats/crashdump/digits.hpp"
#include "formats/crashdump/object_words.hpp"
#include "formats/crashdump/term_grammar.hpp"

namespace beamheap::crashdump {
namespace {

#define BH_INLINE __attribute__((always_inline)) inline

constexpr unsigned common_word_bytes = 8;
constexpr TermStyle common_style{.base64 = true, .crlf = false};

/// The value of a digit 0-9 or A-F; more than 15 for anything else.
BH_INLINE std::uint32_t hex_digit_value(char c) {
    const auto u = static_cast<unsigned char>(c);
    const std::uint32_t digit = u - std::uint32_t{'0'}, letter = u - std::uint32_t{'A'};
    return digit < 10 ? digit : letter < 6 ? letter + 10 : 99;
}

/// Up to five hexadecimal digits and a colon; nullptr for anything else.
BH_INLINE const char* short_count(const char* q, std::uint32_t& value) {
    value = hex_digit_value(*q);
    if (value > 15) return nullptr;
    for (++q; *q != ':'; ++q) {
        const std::uint32_t digit = hex_digit_value(*q);
        if (digit > 15 || value > 0xFFFF) return nullptr;
        value = value << 4 | digit;
    }
    return q + 1;
}

/// An element of an object, whose references are added. nullptr: one of no form that is known here.
BH_INLINE const char* common_element(HeapGraph::Appender& to, const char* q, const char* safe) {
    switch (*q) {
        case 'H': {
            std::uint64_t address = 0;
            if (!read_hex12(q + 1, address)) return nullptr;
            to.reference(address);
            return q + 13;
        }
        case 'I': {
            q += q[1] == '-' ? 2 : 1;
            const unsigned digits = digit_run(q);
            return digits - 1 < 15 ? q + digits : nullptr;  // 1 to 15; a longer run may go on
        }
        case 'N': return q + 1;
        case 'A': {
            std::uint32_t length = 0;
            q = short_count(q + 1, length);
            if (q == nullptr || length > max_atom_bytes || q >= safe) return nullptr;
            return length < static_cast<std::size_t>(safe - q) ? q + length : nullptr;
        }
        case 'P':
        case 'p':
            if (q[1] != '<') return nullptr;
            for (unsigned i = 2; i < 32; ++i) {
                if (q[i] == '>') return q + i + 1;
                if (q[i] != '.' && static_cast<unsigned char>(q[i] - '0') > 9) return nullptr;
            }
            return nullptr;
        default: return nullptr;
    }
}

/// `left` elements with commas between them, at least one, and the line's end.
BH_INLINE const char* common_elements(HeapGraph::Appender& to, const char* q, const char* safe, std::uint32_t left) {
    if (left == 0) return nullptr;
    q = common_element(to, q, safe);
    while (q != nullptr && --left != 0) q = *q == ',' && q < safe ? common_element(to, q + 1, safe) : nullptr;
    return q != nullptr && *q == '\n' ? q + 1 : nullptr;
}

/// `size` characters that are not looked at, and the line's end.
BH_INLINE const char* skipped_data(const char* q, const char* safe, std::uint64_t size) {
    if (q >= safe || size >= static_cast<std::size_t>(safe - q)) return nullptr;
    return q[size] == '\n' ? q + size + 1 : nullptr;
}

/// Behind the M of a map's line: a small map, or the root or an inner node of a large one.
BH_INLINE const char* common_map(HeapGraph::Appender& to, const char* q, const char* safe, TermKind& kind, std::uint32_t& words) {
    const char form = *q;
    std::uint32_t size = 0;
    q = short_count(q + 1, size);
    if (q == nullptr) return nullptr;
    if (form == 'f') {
        kind = TermKind::flat_map;
        words = size + flat_map_words;
        q = common_element(to, q, safe);
        if (q == nullptr || *q != ':' || q >= safe) return nullptr;
        ++q;
    } else if (form == 'h') {
        kind = TermKind::hash_map;
        q = short_count(q, size);
        words = size + hash_map_words;
        if (q == nullptr || size > 16) return nullptr;
    } else {
        kind = TermKind::hash_node;
        words = size + hash_node_words;
        if (form != 'n' || size > 16) return nullptr;
    }
    return common_elements(to, q, safe, size);
}

}  // namespace

/// Behind the E of an object in external term format.
BH_INLINE const char* HeapLines::remembered(const char* q, const char* safe, TermKind& kind, std::uint32_t& words) const {
    std::uint32_t size = 0;
    q = short_count(q, size);
    if (q == nullptr || size == 0 || size > 4096) return nullptr;
    const Known& entry = known_[slot(size, {q, q < safe ? last_of_slot : 0})];
    const std::uint64_t encoded = encoded_size(common_style, size);
    if (q >= safe || encoded >= static_cast<std::size_t>(safe - q) || entry.length != size || encoded < entry.prefix ||
        std::memcmp(q, entry.text.data(), entry.prefix) != 0)
        return nullptr;
    kind = entry.kind;
    words = entry.words;
    return skipped_data(q, safe, encoded);
}

void HeapLines::remember(std::uint64_t length, std::string_view prefix, TermKind kind, std::uint32_t words) {
    Known& entry = known_[slot(length, prefix)];
    if (prefix.size() > entry.text.size()) return;
    entry = {length, static_cast<std::uint32_t>(prefix.size()), words, kind, {}};
    std::memcpy(entry.text.data(), prefix.data(), prefix.size());
}

const char* HeapLines::take(HeapGraph& graph, const char* p, const char* safe, std::uint64_t offset) const {
    // The shortest line here has 17 characters, the shortest reference 13.
    const auto room = static_cast<std::size_t>(safe - p) + 64;
    const HeapGraph::Appender opened = graph.open_appender(room / 16 + 1, room / 12 + 1);
    HeapGraph::Appender to = opened;
    const char* const first = p;
    while (p < safe) {
        Edge* const edges_before = to.edge;
        std::uint64_t address = 0;
        if (p[12] != ':' || !read_hex12(p, address)) break;
        TermKind kind = TermKind::cons;
        std::uint32_t words = cons_words, size = 0;
        const char* q = p + 14;
        switch (p[13]) {
            case 'l':
                q = common_element(to, q, safe);
                if (q == nullptr || *q != '|' || q >= safe) {
                    q = nullptr;
                    break;
                }
                q = common_element(to, q + 1, safe);
                q = q != nullptr && *q == '\n' ? q + 1 : nullptr;
                break;
            case 't':
                q = short_count(q, size);
                kind = TermKind::tuple;
                words = size + 1;
                if (q != nullptr) q = common_elements(to, q, safe, size);
                break;
            case 'M': q = common_map(to, q, safe, kind, words); break;
            case 'F':
                q = short_count(q, size);
                kind = TermKind::float_number;
                words = float_words(common_word_bytes);
                if (q != nullptr) q = size > 64 ? nullptr : skipped_data(q, safe, size);
                break;
            case 'Y':
                q = p[14] == 'h' ? short_count(q + 1, size) : nullptr;
                kind = TermKind::heap_binary;
                words = static_cast<std::uint32_t>(heap_binary_words(size, common_word_bytes));
                if (q != nullptr) q = size > 4096 ? nullptr : skipped_data(q, safe, encoded_size(common_style, size));
                break;
            case 'E': q = remembered(q, safe, kind, words); break;
            default: q = nullptr; break;
        }
        if (q == nullptr) {
            to.edge = edges_before;
            break;
        }
        to.object(kind, words, address, offset + static_cast<std::uint64_t>(p - first));
        p = q;
    }
    graph.close_appender(to.node, to.edge);
    return p;
}

#undef BH_INLINE

}  // namespace beamheap::crashdump
