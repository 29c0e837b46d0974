// SPDX-License-Identifier: Apache-2.0
// Where sections stand, held against how a VM writes them: in one order, each of those that have a name once, and some
// of them always.
//
// The scanner passes every section up to where a question's needs end, and each is one comparison here, so that all
// questions tell alike what is lost of the part that they pass. Held against 194 whole dumps of R10B to 29.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_set>

#include "formats/crashdump/loader.hpp"
#include "formats/crashdump/scanner.hpp"

namespace beamheap::crashdump {

class SectionOrder {
public:
    SectionOrder();
    /// The next section, of a known tag. Counts section_misplaced and duplicate_section.
    void passed(Loader& loader, const Scanner::Head& head);
    /// A section whose tag no release known here writes. Counts damaged_tag, or unknown_section where a newer release
    /// may have it.
    void passed_unknown(Loader& loader, const Scanner::Head& head);
    /// All that is read was passed: counts those that are not there (section_missing). `sealed`: the section that was
    /// passed last is behind all others (=end), or where reading stopped; false: the input was cut there.
    void judge(Loader& loader, bool sealed) const;
    /// Whether a section that stands between the process table and what was passed last is missing: what looks like
    /// the table's end may be none.
    bool table_end_doubtful(const Loader& loader) const;
    std::uint64_t count(std::string_view tag) const { return counts_[number_of(*find_tag(tag))]; }
    /// The highest place in the writing order that was passed.
    std::uint8_t reached() const { return reached_; }
    std::uint64_t last_offset() const { return last_offset_; }

private:
    bool of_a_node(const Loader& loader) const;
    bool missing(const Loader& loader, std::size_t required) const;

    std::array<std::uint64_t, most_tags> counts_{};
    std::array<bool, most_tags> one_of_each_{};  // whether no two of a dump are alike
    std::unordered_set<std::uint64_t> names_;    // hashes of a tag and a name: of ports there are as many as one likes
    std::uint8_t order_ = 0;                     // of the last one
    std::uint8_t reached_ = 0;                   // the highest
    std::uint64_t last_offset_ = 0;
};

}  // namespace beamheap::crashdump
