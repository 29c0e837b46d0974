// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory/atom_families.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_patterns = 1 << 17;
constexpr std::size_t most_bytes = 1024;   // of an atom that are looked at: an atom has at most 255 characters
constexpr std::size_t token_window = 128;  // of a random token, to tell that it is one
constexpr std::size_t long_digits = 6;
constexpr std::uint64_t code_marker = 0xC0DE;   // in the key of a family of codes, which no other has
constexpr std::uint32_t least_short_hex = 100;  // atoms that show that a place holds short hexadecimal numbers

enum Class : std::uint8_t { digit = 1, small = 2, capital = 4, hexadecimal = 8, token = 16, alnum = 7 };
constexpr std::array<std::uint8_t, 256> classes = [] {
    std::array<std::uint8_t, 256> table{};
    for (std::size_t c = '0'; c <= '9'; ++c) table[c] = digit | hexadecimal | token;
    for (std::size_t c = 'a'; c <= 'z'; ++c) table[c] = small | token;
    for (std::size_t c = 'A'; c <= 'Z'; ++c) table[c] = capital | token;
    for (const char c : {'a', 'b', 'c', 'd', 'e', 'f', 'A', 'B', 'C', 'D', 'E', 'F'})
        table[static_cast<unsigned char>(c)] |= hexadecimal;
    for (const char c : {'_', '-', '+', '/', '='}) table[static_cast<unsigned char>(c)] = token;
    return table;
}();
std::uint8_t class_of(char c) { return classes[static_cast<unsigned char>(c)]; }

enum class NamePart : std::uint8_t { literal, integer, hex, uuid, base64, function, short_hex };

// Length of the run of bytes of these classes that begins at `at`.
std::size_t run_of(std::string_view text, std::size_t at, std::uint8_t of) {
    std::size_t end = at;
    while (end < text.size() && (class_of(text[end]) & of) != 0) ++end;
    return end - at;
}

// Classes that a text mixes, and how often it changes between them.
struct Mix {
    std::size_t letters_and_digits = 0, changes = 0;
    std::uint8_t seen = 0;
    explicit Mix(std::string_view text) {
        std::uint8_t last = 0;
        for (const char c : text) {
            const auto kind = static_cast<std::uint8_t>(class_of(c) & alnum);
            if (kind == 0) continue;
            seen |= kind;
            changes += last != 0 && kind != last;
            last = kind;
            ++letters_and_digits;
        }
    }
    // Random text in base64 changes class at about 64 % of its places; words and CamelCase at 10 to 30 %.
    bool random() const {
        if (seen != alnum || letters_and_digits < 12) return false;
        return letters_and_digits < 16 ? changes * 2 >= letters_and_digits : changes * 5 >= letters_and_digits * 2;
    }
    bool random_piece() const { return changes * 10 >= letters_and_digits * 3 && changes != 0; }
    bool word() const { return changes == 0; }
};

bool is_uuid(std::string_view text) {
    constexpr std::array<std::size_t, 5> groups{8, 4, 4, 4, 12};
    std::size_t at = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (g != 0 && (at >= text.size() || text[at++] != '-')) return false;
        if (at + groups[g] > text.size()) return false;
        for (const std::size_t end = at + groups[g]; at < end; ++at)
            if ((class_of(text[at]) & hexadecimal) == 0) return false;
    }
    return at == text.size() || (class_of(text[at]) & alnum) == 0;
}

// What a run of hexadecimal digits is made of; 0: it has another character.
std::uint8_t hex_classes(std::string_view run) {
    std::uint8_t seen = 0;
    for (const char c : run) {
        if ((class_of(c) & hexadecimal) == 0) return 0;
        seen |= static_cast<std::uint8_t>(class_of(c) & alnum);
    }
    return seen;
}
bool is_mixed_hex(std::string_view run) {
    const std::uint8_t seen = hex_classes(run);
    return seen == (digit | small) || seen == (digit | capital);
}
bool is_hex_number(std::string_view run) { return run.size() >= 8 && is_mixed_hex(run); }

// Length of the random token that begins at `at`, 0 where there is none. Words at its end ("..._worker") stay outside.
std::size_t random_token(std::string_view text, std::size_t at) {
    const std::string_view window = text.substr(at, token_window);
    std::size_t length = run_of(window, 0, token);
    if (length < 12 || !Mix(window.substr(0, run_of(window, 0, alnum))).random_piece()) return 0;
    const bool cut = length == window.size() && at + length < text.size();
    while (!cut) {
        const std::size_t last = window.substr(0, length).find_last_of("_-+/=");
        if (last == std::string_view::npos || last + 1 == length) break;
        const std::string_view piece = window.substr(last + 1, length - last - 1);
        if (piece.size() < 3 || !Mix(piece).word()) break;
        length = last;
    }
    if (!Mix(window.substr(0, length)).random()) return 0;
    return cut ? run_of(text, at, token) : length;
}

// "-handle_call/3-fun-0-": a function that the compiler made of a fun or a comprehension. Where its "/3-" begins; npos
// for any other atom.
std::size_t generated_from(std::string_view text) {
    if (text.size() < 6 || text.front() != '-' || text.back() != '-') return std::string_view::npos;
    for (std::size_t slash = text.find('/', 1); slash != std::string_view::npos; slash = text.find('/', slash + 1)) {
        const std::size_t digits = run_of(text, slash + 1, digit);
        if (digits != 0 && slash + 1 + digits < text.size() && text[slash + 1 + digits] == '-') return slash;
    }
    return std::string_view::npos;
}

// How a run that is a hexadecimal number of less than eight digits is taken: by its digits and letters, as "f2" in
// "rfc_f2" is, or as one number, as it is in a name that many have with others there.
enum class ShortHex : std::uint8_t { in_parts, whole };

// Cuts an atom into parts and gives them to sink(part, text), in order. Linear: what is looked at twice is at most
// token_window bytes.
template <class Sink>
void cut_up(std::string_view atom, ShortHex short_hex, Sink&& sink) {
    const std::string_view text = atom.substr(0, most_bytes);
    std::size_t at = 0;
    std::size_t literal = 0;  // where the literal that is being read began
    const auto part = [&](NamePart kind, std::size_t length) {
        if (literal != at) sink(NamePart::literal, text.substr(literal, at - literal));
        sink(kind, text.substr(at, length));
        at += length;
        literal = at;
    };
    if (const std::size_t slash = generated_from(text); slash != std::string_view::npos) {
        at = 1;
        part(NamePart::function, slash - 1);
    }
    while (at < text.size()) {
        if ((class_of(text[at]) & alnum) == 0) {
            ++at;
            continue;
        }
        const std::size_t run = run_of(text, at, alnum);
        const std::string_view word = text.substr(at, run);
        if (run == 8 && is_uuid(text.substr(at))) {
            part(NamePart::uuid, 36);
        } else if (is_hex_number(word)) {
            part(NamePart::hex, run);
        } else if (run >= 6 && word.starts_with("0x") && run_of(word, 2, hexadecimal) == run - 2) {
            at += 2;
            part(NamePart::hex, run - 2);
        } else if (const std::size_t random = random_token(text, at); random != 0) {
            part(NamePart::base64, random);
        } else if (short_hex == ShortHex::whole && run < 8 && (hex_classes(word) == digit || is_mixed_hex(word))) {
            part(NamePart::short_hex, run);
        } else {
            for (const std::size_t end = at + run; at < end;) {
                if (const std::size_t digits = run_of(text, at, digit); digits != 0) part(NamePart::integer, digits);
                else at += run_of(text, at, small | capital);
            }
        }
    }
    if (literal != at) sink(NamePart::literal, text.substr(literal));
    if (atom.size() > most_bytes) sink(NamePart::literal, atom.substr(most_bytes));
}

// How runs of many digits are taken: with their length, as hexadecimal numbers of that length, or as integers.
enum class Digits : std::uint8_t { with_length, as_hex, as_integer };

struct Key {
    std::uint64_t hash = 0x9E3779B97F4A7C15ull;
    bool placeholder = false;
    bool long_integer = false;
    bool short_hex = false;  // a number that is taken as one has letters

    void mix(std::uint64_t value) {
        hash ^= value;
        hash *= 0xFF51AFD7ED558CCDull;
        hash ^= hash >> 32;
    }
    void mix(std::string_view text) {
        std::size_t at = 0;
        for (; at + 8 <= text.size(); at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data() + at, 8);
            mix(word);
        }
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, text.size() - at);
        mix(word);
        mix(text.size());
    }
};

Key key_of(std::string_view atom, Digits digits, ShortHex short_hex = ShortHex::in_parts) {
    Key key;
    cut_up(atom, short_hex, [&](NamePart part, std::string_view text) {
        if (part == NamePart::literal) {
            key.mix(text);
            return;
        }
        key.placeholder = true;
        key.short_hex |= part == NamePart::short_hex && hex_classes(text) != digit;
        std::uint64_t length = part == NamePart::hex ? text.size() : 0;
        if (part == NamePart::integer && text.size() >= long_digits) {
            key.long_integer = true;
            if (digits != Digits::as_integer) length = text.size();
            if (digits == Digits::as_hex) part = NamePart::hex;
        }
        key.mix(static_cast<std::uint64_t>(part) << 32 | length);
    });
    return key;
}

struct Family {
    std::uint64_t hash = 0;
    std::uint32_t count = 0;
    std::uint32_t source = 0;  // position of the atom that the pattern is printed from
    std::uint32_t oldest = 0;
    std::array<std::uint32_t, 3> newest{};  // positions, newest first; min(count, 3) of them
    ShortHex short_hex = ShortHex::in_parts;
    bool coded = false;  // its atoms differ in a code
};

void merge(Family& into, const Family& other) {
    std::array<std::uint32_t, 6> positions{};
    const auto shown = [](const Family& family) { return std::min<std::ptrdiff_t>(family.count, 3); };
    const auto end = std::merge(into.newest.begin(), into.newest.begin() + shown(into), other.newest.begin(),
                                other.newest.begin() + shown(other), positions.begin());
    std::copy_n(positions.begin(), std::min<std::ptrdiff_t>(end - positions.begin(), 3), into.newest.begin());
    into.count += other.count;
    into.oldest = std::max(into.oldest, other.oldest);
}

// Families by the hash of their pattern: open addressing over a flat array, bounded by dropping rare families.
class AtomFamilyTable {
public:
    AtomFamilyTable() : slots_(1 << 12) {}

    void add(std::uint64_t hash, std::uint32_t position, ShortHex short_hex = ShortHex::in_parts, bool coded = false) {
        Family family;
        family.short_hex = short_hex;
        family.coded = coded;
        family.hash = hash;
        family.count = 1;
        family.source = family.oldest = family.newest[0] = position;
        add(family);
    }
    void add(const Family& family) {
        if (Family* known = find(family.hash)) {
            merge(*known, family);
            return;
        }
        if (entries_.size() == most_patterns) drop_rare();
        entries_.push_back(family);
        if (entries_.size() * 2 > slots_.size()) rehash(slots_.size() * 2);
        else place(entries_.size() - 1);
    }
    Family* find(std::uint64_t hash) {
        for (std::size_t slot = hash & (slots_.size() - 1); slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1))
            if (entries_[slots_[slot] - 1].hash == hash) return &entries_[slots_[slot] - 1];
        return nullptr;
    }
    std::vector<Family>& entries() { return entries_; }
    const std::vector<Family>& entries() const { return entries_; }
    bool exact() const { return rare_ == 0; }

private:
    void place(std::size_t entry) {
        std::size_t slot = entries_[entry].hash & (slots_.size() - 1);
        while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = static_cast<std::uint32_t>(entry + 1);
    }
    void rehash(std::size_t size) {
        slots_.assign(size, 0);
        for (std::size_t i = 0; i < entries_.size(); ++i) place(i);
    }
    // At least half of the entries go, so that dropping costs each atom a constant.
    void drop_rare() {
        while (entries_.size() > most_patterns / 2) {
            rare_ = rare_ == 0 ? 1 : rare_ * 2;
            std::erase_if(entries_, [this](const Family& family) { return family.count <= rare_; });
        }
        rehash(slots_.size());
    }

    std::vector<Family> entries_;
    std::vector<std::uint32_t> slots_;
    std::uint32_t rare_ = 0;
};

std::string pattern_of(std::string_view atom, ShortHex short_hex) {
    std::string pattern;
    cut_up(atom, short_hex, [&pattern](NamePart part, std::string_view text) {
        switch (part) {
            case NamePart::literal: pattern += text; break;
            case NamePart::integer: pattern += "<int>"; break;
            case NamePart::hex: pattern += "<hex" + std::to_string(text.size()) + ">"; break;
            case NamePart::uuid: pattern += "<uuid>"; break;
            case NamePart::base64: pattern += "<base64>"; break;
            case NamePart::function: pattern += "<function>"; break;
            case NamePart::short_hex: pattern += "<hex>"; break;
        }
    });
    return pattern;
}

// Places that hold hexadecimal numbers of less than eight digits: names that are alike but for such a number, and of
// which at least every other one has a letter in it, as all but one in six have of four such digits.
class ShortHexNames {
public:
    void add(std::string_view atom, std::uint32_t position) {
        const Key key = key_of(atom, Digits::with_length, ShortHex::whole);
        if (key.short_hex) with_letters_.add(key.hash, position);
        else if (key.placeholder) plain_.add(key.hash, position);
    }
    bool any() const {
        return std::ranges::any_of(with_letters_.entries(), [](const Family& f) { return f.count >= least_short_hex; });
    }
    bool has(std::uint64_t hash) {
        const Family* letters = with_letters_.find(hash);
        const Family* plain = letters == nullptr ? nullptr : plain_.find(hash);
        return letters != nullptr && letters->count >= least_short_hex &&
               (plain == nullptr || plain->count <= letters->count);
    }

private:
    AtomFamilyTable with_letters_, plain_;
};

}  // namespace

bool may_be_of_family(std::string_view atom) {
    return std::ranges::any_of(atom, [](char c) { return c >= '0' && c <= '9'; });
}

std::string atom_pattern(std::string_view atom) { return pattern_of(atom, ShortHex::in_parts); }

AtomFamilies atom_families(const Snapshot& snapshot) {
    AtomFamilies result;
    const std::vector<TextId>& atoms = snapshot.atoms;
    result.atoms = atoms.size();
    const auto text_at = [&](std::uint32_t position) { return snapshot.text(atoms[position]); };

    ShortHexNames short_hex;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
        const auto position = static_cast<std::uint32_t>(i);
        if (const std::string_view text = text_at(position); may_be_of_family(text)) {
            short_hex.add(text, position);
            result.codes.add(text);
        }
    }
    const bool any_codes = result.codes.any();
    const bool any_short_hex = short_hex.any();
    AtomFamilyTable counted;
    AtomFamilyTable joined;  // after runs of digits have found where they belong
    for (std::size_t i = 0; i < atoms.size(); ++i) {
        const auto position = static_cast<std::uint32_t>(i);
        const std::string_view text = text_at(position);
        if (!may_be_of_family(text)) continue;
        if (any_short_hex) {
            const std::uint64_t hash = key_of(text, Digits::with_length, ShortHex::whole).hash;
            if (short_hex.has(hash)) {
                joined.add(hash, position, ShortHex::whole);
                continue;
            }
        }
        if (const NameCodes::Place code = any_codes ? result.codes.of(text) : NameCodes::Place(); code.length != 0) {
            Key key;
            key.mix(text.substr(0, code.begin));
            key.mix(text.substr(code.begin + code.length));
            key.mix(std::uint64_t{code_marker});
            joined.add(key.hash, position, ShortHex::in_parts, true);
            continue;
        }
        const Key key = key_of(text, Digits::with_length);
        if (key.placeholder) counted.add(key.hash, position);
    }
    std::vector<const Family*> with_long_integers;
    for (const Family& family : counted.entries()) {
        if (key_of(text_at(family.source), Digits::with_length).long_integer) with_long_integers.push_back(&family);
        else joined.add(family);
    }
    for (const Family* family : with_long_integers) {
        const std::string_view text = text_at(family->source);
        if (Family* hex = joined.find(key_of(text, Digits::as_hex).hash)) {
            merge(*hex, *family);
            continue;
        }
        Family as_integer = *family;
        as_integer.hash = key_of(text, Digits::as_integer).hash;
        joined.add(as_integer);
    }

    std::vector<Family>& families = joined.entries();
    std::erase_if(families, [](const Family& family) { return family.count < 2; });
    std::sort(families.begin(), families.end(), [](const Family& a, const Family& b) {
        return a.count != b.count ? a.count > b.count : a.newest[0] < b.newest[0];
    });
    result.exact = counted.exact() && joined.exact();
    result.families.reserve(families.size());
    for (const Family& family : families) {
        AtomFamily& shown = result.families.emplace_back();
        shown.pattern = family.coded ? result.codes.pattern(text_at(family.source))
                                     : pattern_of(text_at(family.source), family.short_hex);
        shown.count = family.count;
        shown.percent = 100.0 * family.count / static_cast<double>(atoms.size());
        for (std::size_t i = 0; i < std::min<std::size_t>(family.count, 3); ++i)
            shown.examples.push_back(atoms[family.newest[i]]);
        shown.newest = family.newest[0];
        shown.oldest = family.oldest;
        result.in_families += family.count;
    }
    return result;
}

}  // namespace beamheap::analyses
