// SPDX-License-Identifier: Apache-2.0
// Codes in names: short serial numbers and tokens of digits and letters, as `rule01eb4` and `rule01eb5` end in.
//
// Theory. A number in base 36, or a short token, has letters at places that differ from name to name, so that a pattern
// by its digits and letters (atom_families.hpp) makes many small families of what one program has made. What shows a
// place of codes is that many names are alike but for it, that it is as long in all of them, and that its letters
// stand at many different places: words do not do that ("v1pods", "v1services" differ in length, `sha256` is one).
//
// A code begins at the first digit of a run of digits and letters, or where the run does: the first is tried, then the
// second where the name has more than the run.
//
// Thresholds: some 60 forms with letters that no hexadecimal number has (48 of 128 bits of a sketch); letters of one
// case; at most 16 characters. Linear in the names' bytes; at most 65,536 places are kept.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace beamheap::analyses {

class NameCodes {
public:
    struct Place {
        std::size_t begin = 0, length = 0;  ///< bytes of the name; of length 0: it has no code
    };
    /// Looks at a name; those that are looked at decide what codes are.
    void add(std::string_view name);
    /// Whether some place holds codes; what follows is of use only then.
    bool any() const;
    /// Where the code of a name stands, by all names that were added.
    Place of(std::string_view name) const;
    /// The name with `<code>` in the place of its code; else its pattern by digits and ids (atom_pattern()).
    std::string pattern(std::string_view name) const;

private:
    struct Seen {
        std::bitset<128> forms;
        bool many() const { return forms.count() >= 48; }
    };
    static constexpr std::size_t ways = 2;
    std::array<std::unordered_map<std::uint64_t, Seen>, ways> places_;
};

}  // namespace beamheap::analyses
