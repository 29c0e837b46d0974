// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/heap_lines.hpp"

#include <algorithm>
#include <cstring>

#include "formats/crashdump/data_text.hpp"
#include "formats/crashdump/digits.hpp"
#include "formats/crashdump/object_words.hpp"
#include "formats/crashdump/term_grammar.hpp"

namespace beamheap::crashdump {
namespace {

#define BH_INLINE __attribute__((always_inline)) inline

constexpr unsigned common_word_bytes = 8;
constexpr std::ptrdiff_t most_at_once = std::ptrdiff_t{1} << 20;  // for which room is made in the graph
constexpr TermStyle common_style{.base64 = true, .crlf = false};

constexpr unsigned chunk_bits = 16;
constexpr std::uint32_t chunk_words = (1u << chunk_bits) / common_word_bytes;

/// What each of the four last digits of an address adds to the number of its word in the chunk; no_word for all other
/// characters, and for a last one that no address of an object ends with.
constexpr std::uint32_t no_word = chunk_words;
constexpr auto word_of_digit = [] {
    std::array<std::array<std::uint32_t, 256>, 4> table{};
    for (unsigned position = 0; position < 4; ++position)
        for (unsigned c = 0; c < 256; ++c) {
            const unsigned digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
            const unsigned bytes = digit << 4 * (3 - position);
            table[position][c] = digit == 16 || bytes % common_word_bytes != 0 ? no_word : bytes / common_word_bytes;
        }
    return table;
}();

/// The value of a digit 0-9 or A-F; 16 for anything else.
constexpr auto digit_value = [] {
    std::array<std::uint8_t, 256> table{};
    for (unsigned c = 0; c < 256; ++c)
        table[c] = static_cast<std::uint8_t>(c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16);
    return table;
}();
BH_INLINE std::uint32_t hex_digit_value(char c) { return digit_value[static_cast<unsigned char>(c)]; }

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

/// `size` characters that are not looked at, and the line's end, where all of that is there.
BH_INLINE const char* skipped_data(const char* q, const char* safe, std::uint64_t size) {
    const bool there = q < safe && size <= static_cast<std::size_t>(safe + HeapLines::data_ahead - q);
    return there && q[size] == '\n' ? q + size + 1 : nullptr;
}

/// How many digits there are; 0 where they go on behind `safe`.
std::uint32_t long_digit_run(const char* const q, const char* safe) {
    for (std::uint32_t digits = 0;;) {
        const unsigned run = digit_run(q + digits);
        digits += run;
        if (run < 16) return digits;
        if (q + digits > safe) return 0;
    }
}

}  // namespace

/// A loop over lines: what it writes to, and what it knows of addresses.
class HeapLines::Line {
public:
    BH_INLINE Line(HeapGraph& graph, Chunks& chunks, const char* safe_end, std::size_t objects, std::size_t references)
        : to(graph.open_appender(objects, references)), safe(safe_end), chunks_(chunks) {}

    /// Takes the chunk of the address at q for that of the one before. False: it has none, or there is no address.
    BH_INLINE bool begin(const char* q) {
        std::uint64_t text = 0;
        std::memcpy(&text, q, sizeof text);
        return change_chunk(q, text);
    }

    /// The address that the twelve digits at q are: its chunk is last_ then, its word in that `word`. False: no
    /// address of an object stands there.
    BH_INLINE bool address(const char* q, std::uint32_t& word) {
        std::uint64_t text = 0;
        std::memcpy(&text, q, sizeof text);
        const auto digit = [q](unsigned i) { return word_of_digit[i][static_cast<unsigned char>(q[8 + i])]; };
        word = digit(0) | digit(1) | digit(2) | digit(3);
        if (__builtin_expect(last_.text != text, 0) && !change_chunk(q, text)) return false;
        return __builtin_expect(word < no_word, 1);
    }
    /// Begins an object with the address at q.
    BH_INLINE bool object_at(const char* q) {
        std::uint32_t word = 0;
        if (!address(q, word)) return false;
        to.place(last_.packed | word, word - last_.young_from < last_.young_words);
        return true;
    }

    /// An element of an object, whose references are added. nullptr: one of no form that is known here.
    BH_INLINE const char* element(const char* q) {
        if (*q == 'H') {
            std::uint32_t word = 0;
            if (!address(q + 1, word)) return nullptr;
            to.reference(last_.packed | word);
            return q + 13;  // that no further digit stands there is seen by who looks for what comes next
        }
        if (*q == 'I') {
            const unsigned digits = digit_run(++q);
            return __builtin_expect(digits - 1 < 15, 1) ? q + digits : other_integer(q, safe);
        }
        switch (*q) {
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

    /// An integer with a sign or more than 15 digits.
    static const char* other_integer(const char* q, const char* safe) {
        for (;;) {
            const unsigned run = decimal_run(q);
            q += run;
            if (run < 16) return q;
            if (q > safe) return nullptr;
        }
    }

    /// `left` elements with commas between them, at least one, and the line's end.
    BH_INLINE const char* elements(const char* q, std::uint32_t left) {
        if (left == 0) return nullptr;
        q = element(q);
        while (q != nullptr && --left != 0) q = *q == ',' && q < safe ? element(q + 1) : nullptr;
        return q != nullptr && *q == '\n' ? q + 1 : nullptr;
    }

    /// Behind the M of a map's line: a small map, or the root or an inner node of a large one.
    BH_INLINE const char* map(const char* q, TermKind& kind, std::uint32_t& words) {
        const char form = *q;
        std::uint32_t size = 0;
        q = short_count(q + 1, size);
        if (q == nullptr) return nullptr;
        if (form == 'f') {
            kind = TermKind::flat_map;
            words = size + flat_map_words;
            q = element(q);
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
        return elements(q, size);
    }

    HeapGraph::Appender to;
    const char* const safe;

private:
    static std::size_t slot_of(std::uint64_t text) { return text * 0x9E3779B97F4A7C15ull >> 56; }
    BH_INLINE bool change_chunk(const char* q, std::uint64_t text) {
        const Chunk& known = chunks_.entries[slot_of(text)];
        if (known.text != text && !learn(*to.space, chunks_, {to.young_from, to.young_size}, text, q)) return false;
        last_ = known;
        return true;
    }
    struct Young {
        std::uint64_t from, size;
        /// How many words of the chunk at `base` lie below `end`.
        static std::uint64_t words_below(std::uint64_t end, std::uint64_t base) {
            return end <= base ? 0 : std::min<std::uint64_t>((end - base - 1) / common_word_bytes + 1, chunk_words);
        }
    };
    /// Notes the chunk of the address at q, which is not known. False: no address, or one that the graph has no room
    /// for.
    static bool learn(AddressSpace& space, Chunks& chunks, Young young, std::uint64_t text, const char* q) {
        std::uint64_t address = 0;
        if (!read_hex12(q, address)) return false;
        const std::uint64_t base = address >> chunk_bits << chunk_bits;
        const std::uint32_t packed = space.compress(base);
        if (packed == AddressSpace::none) return false;
        const std::uint64_t from = Young::words_below(young.from, base);
        const std::uint64_t to = Young::words_below(young.from + young.size, base);
        chunks.put(slot_of(text),
                   {text, packed, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to - from)});
        return true;
    }
    Chunks& chunks_;
    Chunk last_{};  // that of the address before, mostly this one's, too
};

/// Behind the E of an object in external term format.
BH_INLINE const char* HeapLines::remembered(const char* q, const char* safe, TermKind& kind,
                                            std::uint32_t& words) const {
    std::uint32_t size = 0;
    q = short_count(q, size);
    if (q == nullptr || size == 0 || size > 4096) return nullptr;
    const Known& entry = known_[slot(size, {q, q < safe ? last_of_slot : 0})];
    const std::uint64_t encoded = encoded_size(common_style, size);
    if (q >= safe || entry.length != size || encoded < entry.prefix ||
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

const char* HeapLines::take(HeapGraph& graph, const char* p, const char* safe, std::uint64_t offset) {
    safe = p + std::min(safe - p, most_at_once);
    // The shortest line here has 17 characters, the shortest reference 13.
    const std::size_t room = static_cast<std::size_t>(safe - p) + look_ahead;
    Line line(graph, chunks_, safe, room / 16 + 1, room / 12 + 1);
    const char* const first = p;
    if (p < safe && !line.begin(p)) safe = p;
    while (p < safe) {
        if (p[12] != ':' || !line.object_at(p)) break;
        const auto origin = [&] { return offset + static_cast<std::uint64_t>(p - first); };
        const char* q = p + 14;
        if (p[13] == 'l') {  // most objects of most heaps: what all of them have in common is not asked of each
            q = line.element(q);
            q = q != nullptr && *q == '|' ? line.element(q + 1) : nullptr;
            if (q != nullptr && *q == '\n') {
                line.to.object(TermKind::cons, cons_words, origin());
                p = q + 1;
                continue;
            }
            q = nullptr;
        }
        TermKind kind = TermKind::unknown;
        std::uint32_t words = 0, size = 0;
        switch (p[13]) {
            case 't':
                q = short_count(q, size);
                kind = TermKind::tuple;
                words = size + 1;
                if (q != nullptr) q = line.elements(q, size);
                break;
            case 'M': q = line.map(q, kind, words); break;
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
            case 'B':
                kind = TermKind::bignum;
                q += *q == '-' ? 1 : 0;
                size = long_digit_run(q, safe);
                words = static_cast<std::uint32_t>(1 + bignum_words({q, size}, common_word_bytes * 8));
                q = size != 0 && q[size] == '\n' ? q + size + 1 : nullptr;
                break;
            case 'E': q = remembered(q, safe, kind, words); break;
            default: q = nullptr; break;
        }
        if (q == nullptr) break;
        line.to.object(kind, words, origin());
        p = q;
    }
    graph.close_appender(line.to);
    return p;
}

#undef BH_INLINE

}  // namespace beamheap::crashdump
