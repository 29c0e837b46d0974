// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/term_grammar.hpp"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "formats/crashdump/term_line.hpp"
#include "model/characters.hpp"

namespace beamheap::crashdump {
namespace {

bool is_hex(char c) { return is_digit(c) || (c >= 'A' && c <= 'F'); }

/// Whether an element may begin behind `before`. Only in the atom table of a distribution message do atoms follow
/// each other without a separator; elsewhere this tells them from the digits of an address.
bool may_precede_element(TermSection section, char before) {
    return before == ':' || before == ',' || before == '|' || before == '\n' || section == TermSection::messages;
}

/// Where an atom may end at the latest whose "A<length>:" ends with the colon at `colon`; 0 if none does.
std::size_t reach_of_atom(TermSection section, TermStyle style, std::string_view text, std::size_t colon) {
    std::size_t reach = 0;
    std::size_t length = 0;
    std::size_t digit = colon;
    for (unsigned shift = 0; shift < 16 && digit > 0 && is_hex(text[digit - 1]); shift += 4) {
        --digit;
        const char c = text[digit];
        length |= static_cast<std::size_t>(is_digit(c) ? c - '0' : c - 'A' + 10) << shift;
        // An 'A' is itself a hex digit: each place where one stands may be the letter of the element.
        if (digit != 0 && text[digit - 1] == 'A' && length <= max_atom_bytes &&
            (digit == 1 || may_precede_element(section, text[digit - 2])))
            reach = colon + 1 + (style.crlf ? 2 * length : length);
    }
    return reach;
}

/// From where on an atom whose length has one digit, or two, may reach the end of a text: before that it ends before.
struct NearEnd {
    std::size_t one, two;
};

/// The last position in [from, to) of a ':' that may end "A<length>:", a length of three digits, or of fewer where they
/// reach the end; npos if there is none. The addresses of lines make it say yes in vain now and then.
std::size_t last_colon_of_atom(std::string_view text, std::size_t from, NearEnd near, std::size_t to) {
    const char* const base = text.data();
    const auto plausible = [&](std::size_t colon) {
        if (base[colon] != ':') return false;
        for (std::size_t back = 2; back <= 4 && back <= colon; ++back)
            if (base[colon - back] == 'A') return true;
        return false;
    };
#if defined(__SSE2__)
    const __m128i wanted_colon = _mm_set1_epi8(':');
    const __m128i wanted_letter = _mm_set1_epi8('A');
    const auto letter = [&](std::size_t at) {
        return _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(base + at)), wanted_letter);
    };
    const auto colons = [&](std::size_t at) {
        return _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(base + at)), wanted_colon);
    };
    // The last place among 64 of a colon with its letter, or of none.
    const auto last_of_64 = [&](std::size_t at, const auto& letters) {
        const auto hits = [&](std::size_t i) __attribute__((always_inline)) {
            return _mm_and_si128(colons(i), letters(i));
        };
        const __m128i h0 = hits(at), h1 = hits(at + 16), h2 = hits(at + 32), h3 = hits(at + 48);
        if (_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(h0, h1), _mm_or_si128(h2, h3))) == 0)
            return std::string_view::npos;
        const auto mask = [](__m128i hit) { return std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(hit))}; };
        const std::uint64_t places = mask(h0) | mask(h1) << 16 | mask(h2) << 32 | mask(h3) << 48;
        return at + 63 - static_cast<std::size_t>(__builtin_clzll(places));
    };
    const auto three = [&](std::size_t at) { return letter(at - 4); };
    const auto two_or_three = [&](std::size_t at) { return _mm_or_si128(letter(at - 4), letter(at - 3)); };
    const auto all = [&](std::size_t at) { return _mm_or_si128(two_or_three(at), letter(at - 2)); };
    while (to - from >= 16 && to >= 20) {
        // Far from the end there is only one form, and mostly nothing of it.
        while (to <= near.one && to - from >= 68) {
            const std::size_t at = to - 64;
            const std::size_t found = to <= near.two ? last_of_64(at, three) : last_of_64(at, two_or_three);
            if (found != std::string_view::npos) return found;
            to = at;
        }
        if (to - from < 16 || to < 20) break;
        const std::size_t at = to - 16;
        const int hits = _mm_movemask_epi8(_mm_and_si128(colons(at), to > near.one ? all(at) : two_or_three(at)));
        if (hits != 0) return at + 31 - static_cast<std::size_t>(__builtin_clz(static_cast<unsigned>(hits)));
        to = at;
    }
    // Fewer than sixteen are left, or those that begin the text: of a last look at sixteen only what was not seen yet
    // counts.
    if (const std::size_t at = std::max<std::size_t>(from, 4); to > at && at + 16 <= text.size()) {
        const unsigned unseen = (1u << (to - at)) - 1;
        const unsigned hits = static_cast<unsigned>(_mm_movemask_epi8(_mm_and_si128(colons(at), all(at)))) & unseen;
        if (hits != 0) return at + 31 - static_cast<std::size_t>(__builtin_clz(hits));
        to = at;
    }
#endif
    while (to > from)
        if (plausible(--to)) return to;
    return std::string_view::npos;
}

/// Whether all bytes of [at, end) are of characters of one byte.
bool is_ascii(const char* at, const char* end) {
#if defined(__SSE2__)
    const auto load = [](const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
    const auto either = [](__m128i a, __m128i b) { return _mm_or_si128(a, b); };
    const auto of_64 = [&](const char* p) __attribute__((always_inline)) {
        return either(either(load(p), load(p + 16)), either(load(p + 32), load(p + 48)));
    };
    for (; end - at >= 128; at += 128)
        if (_mm_movemask_epi8(either(of_64(at), of_64(at + 64))) != 0) return false;
#endif
    return std::all_of(at, end, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Whether an atom near the end of `text` may go on behind it: the LF that ends `text` is then within the atom.
bool atom_may_cover_end(TermSection section, TermStyle style, std::string_view text) {
    const std::size_t reach = style.crlf ? atom_reach : max_atom_bytes + 8;
    std::size_t from = text.size() > reach ? text.size() - reach : 0;
    // An atom has at most 255 characters: only one that is not all ASCII has more bytes. Where none of the text is
    // anything else, as in nearly all dumps, no atom that reaches its end begins before the last of them.
    constexpr std::size_t most_characters = 255;
    const std::size_t last_ones = text.size() - std::min(text.size(), most_characters + 8);
    if (!style.crlf && last_ones > from && is_ascii(text.data() + from, text.data() + text.size())) from = last_ones;
    // One digit reaches 15 characters, two reach 255, and a CR may stand before each of them.
    const auto last = [&](std::size_t characters) {
        const std::size_t bytes = style.crlf ? 2 * characters : characters;
        return text.size() > bytes ? text.size() - bytes : 0;
    };
    const NearEnd near{last(16), last(256)};
    for (std::size_t colon = text.size();
         (colon = last_colon_of_atom(text, from, near, colon)) != std::string_view::npos;)
        if (reach_of_atom(section, style, text, colon) >= text.size()) return true;
    return false;
}

/// The last start of a line that no atom can cover, found in one sweep; npos if there is none.
std::size_t last_certain_start(TermSection section, TermStyle style, std::string_view text, bool whole) {
    constexpr std::size_t none = std::string_view::npos;
    std::size_t certain = whole ? 0 : none;
    std::size_t covered = whole ? 0 : atom_reach;  // no LF before this place is known to end a line
    std::size_t from = 0;
    while (from < text.size()) {
        std::size_t colon = text.find(':', from);
        if (colon == none) colon = text.size();
        const std::size_t low = std::max(covered, from);
        if (low < colon) {
            const void* feed = memrchr(text.data() + low, '\n', colon - low);
            const std::size_t start =
                feed ? static_cast<std::size_t>(static_cast<const char*>(feed) - text.data()) + 1 : none;
            if (start != none && start < text.size()) certain = start;
        }
        if (colon < text.size()) covered = std::max(covered, reach_of_atom(section, style, text, colon));
        from = colon + 1;
    }
    return certain;
}

}  // namespace

std::size_t line_end(TermSection section, TermStyle style, std::string_view text, std::size_t pos) {
    NoObserver nothing;
    return LineWalk(style, text, pos, nothing).walk(section);
}

LineStart line_starts_after(TermSection section, TermStyle style, std::string_view before, bool whole) {
    if (section == TermSection::binary || before.empty()) return LineStart::yes;
    if (!atom_may_cover_end(section, style, before)) return LineStart::yes;
    std::size_t start = last_certain_start(section, style, before, whole);
    if (start == std::string_view::npos) return LineStart::need_more;
    while (start < before.size()) {
        const std::size_t next = line_end(section, style, before, start);
        if (next == line_incomplete) return LineStart::no;
        if (next == line_malformed) {
            const std::size_t feed = before.find('\n', start);
            start = feed == std::string_view::npos ? before.size() : feed + 1;
        } else {
            start = next;
        }
    }
    return LineStart::yes;
}

}  // namespace beamheap::crashdump
