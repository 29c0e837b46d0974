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

/// The last position in [from, to) of a ':' that may end "A<length>:", a length of three digits, or of one or two behind
/// `near`; npos if there is none. The addresses of lines make it say yes in vain now and then.
std::size_t last_colon_of_atom(std::string_view text, std::size_t from, std::size_t near, std::size_t to) {
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
    const auto load = [&](std::size_t at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(base + at)); };
    const auto long_one = [&](std::size_t at) {
        return _mm_and_si128(_mm_cmpeq_epi8(load(at), wanted_colon), _mm_cmpeq_epi8(load(at - 4), wanted_letter));
    };
    while (to - from >= 16 && to >= 20) {
        // Far from the end there is only one form, and mostly nothing of it.
        while (to <= near && to - from >= 68) {
            const std::size_t at = to - 64;
            const __m128i found[] = {long_one(at), long_one(at + 16), long_one(at + 32), long_one(at + 48)};
            const __m128i any = _mm_or_si128(_mm_or_si128(found[0], found[1]), _mm_or_si128(found[2], found[3]));
            if (_mm_movemask_epi8(any) == 0) {
                to = at;
                continue;
            }
            std::uint64_t places = 0;
            for (unsigned i = 4; i-- > 0;) places = places << 16 | static_cast<unsigned>(_mm_movemask_epi8(found[i]));
            return at + 63 - static_cast<std::size_t>(__builtin_clzll(places));
        }
        if (to - from < 16 || to < 20) break;
        const std::size_t at = to - 16;
        __m128i letters = _mm_cmpeq_epi8(load(at - 4), wanted_letter);
        if (to > near)
            letters = _mm_or_si128(letters, _mm_or_si128(_mm_cmpeq_epi8(load(at - 2), wanted_letter),
                                                         _mm_cmpeq_epi8(load(at - 3), wanted_letter)));
        const int hits = _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(load(at), wanted_colon), letters));
        if (hits != 0) return at + 31 - static_cast<std::size_t>(__builtin_clz(static_cast<unsigned>(hits)));
        to = at;
    }
#endif
    while (to > from)
        if (plausible(--to)) return to;
    return std::string_view::npos;
}

/// Whether an atom near the end of `text` may go on behind it: the LF that ends `text` is then within the atom.
bool atom_may_cover_end(TermSection section, TermStyle style, std::string_view text) {
    const std::size_t reach = style.crlf ? atom_reach : max_atom_bytes + 8;
    const std::size_t from = text.size() > reach ? text.size() - reach : 0;
    // Two digits reach 255 characters, which a CR may stand before each of.
    const std::size_t short_reach = style.crlf ? 2 * 256 : 256;
    const std::size_t near = text.size() > short_reach ? text.size() - short_reach : 0;
    for (std::size_t colon = text.size(); (colon = last_colon_of_atom(text, from, near, colon)) != std::string_view::npos;)
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
