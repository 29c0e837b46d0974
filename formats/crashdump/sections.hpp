// SPDX-License-Identifier: Apache-2.0
// The sections of a dump: one table, tag by tag. A new section tag is one row in sections.inc and one reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/crashdump/readers.hpp"
#include "formats/crashdump/term_grammar.hpp"

namespace beamheap::crashdump {

/// How a section's body is read.
enum class Body : std::uint8_t {
    whole,       ///< gathered and given to the row's reader
    skipped,     ///< passed over
    term_lines,  ///< lines of the term grammar, passed through (term_text.hpp)
    binary,      ///< one line of data whose length is said
    atoms,       ///< one atom a line, passed through
    dump_start,  ///< a dump begins
    dump_end,    ///< the dump is complete
    dump_abort,  ///< the writer gave up
};

/// What must be asked for to have the section read at all; see LoadPlan.
enum class Part : std::uint8_t { always, tables, modules, terms, atoms };

struct SectionTag {
    std::string_view tag;
    std::uint8_t order = 0;  ///< place in the writing order: a section never comes before one of a lower place
    Body body = Body::skipped;
    Part part = Part::always;
    Reader reader = nullptr;           ///< of Body::whole
    std::optional<TermSection> terms;  ///< of Body::term_lines; none: not read
    bool free_text = false;            ///< the body holds raw text of others (command lines), which may forge tags
    std::string_view doc;              ///< since when and what, for `doctor` and the curious
};

/// The row of `tag`, or null for a tag that no release writes.
const SectionTag* find_tag(std::string_view tag);
/// All of them, by tag.
extern const SectionTag section_tags[];
/// Which row it is: 0 .. most_tags - 1.
inline std::size_t number_of(const SectionTag& row) { return static_cast<std::size_t>(&row - section_tags); }
inline constexpr std::size_t most_tags = 96;
/// The highest order of the sections of a part: behind it none of them comes.
std::uint8_t last_order(Part part);
/// The order of a section of terms.
std::uint8_t order_of(TermSection section);

}  // namespace beamheap::crashdump
