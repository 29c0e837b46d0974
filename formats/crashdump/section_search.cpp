// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/section_search.hpp"

#include <algorithm>
#include <array>

#include "bytes/scan.hpp"
#include "formats/crashdump/sections.hpp"
#include "formats/crashdump/text_values.hpp"

namespace beamheap::crashdump {
namespace {

constexpr std::uint64_t read_on = 16u << 10;   // what is nearer than this is found by reading on
constexpr std::uint64_t one_look = 64u << 10;  // without a heading: somewhere in a large section
constexpr std::uint64_t longest_step = 1u << 20;
constexpr std::uint64_t longest_heading = 128;
constexpr unsigned sections_of_process = 4;
constexpr unsigned guesses = 4;  // by the place in the order; then the middle is taken
constexpr unsigned most_looks = 1000;
constexpr std::uint64_t behind_all = ~std::uint64_t{0};

// Of the text between two headings: where no heading was seen. What is between the looks is taken for one section.
struct Gap {
    std::uint64_t from = 0, to = 0;
    bool any = false;      // it was looked at
    bool at_left = false;  // nothing stands between the left end of what is searched and `from`
};

}  // namespace

SectionSearch::SectionSearch(const bytes::Source& source, TermStyle style, const Snapshot& snapshot, std::uint64_t from,
                             std::uint64_t most_bytes)
    : source_(source), style_(style), snapshot_(snapshot), end_(source.size().value_or(0)), bytes_left_(most_bytes) {
    known_.emplace(0, Heading{0, std::min(from, end_), std::min(from, end_)});
    known_.emplace(behind_all, Heading{behind_all, end_, end_});
}

SectionSearch::Key SectionSearch::key_of(TermSection section, ProcId process) const {
    const Key behind_processes = 1 + sections_of_process * Key{snapshot_.processes.size()};
    if (section >= TermSection::literals) return behind_processes + order_of(section);
    return 1 + sections_of_process * Key{index_of(process)} + static_cast<Key>(section);
}

// Nothing: no heading whose place is known, such as one of a process that the table does not have.
std::optional<SectionSearch::Key> SectionSearch::key_of_line(std::string_view line) const {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = std::min(line.find(':'), line.size());
    const SectionTag* tag = find_tag(line.substr(1, colon - 1));
    if (tag == nullptr) return std::nullopt;
    const std::uint8_t terms = order_of(TermSection::heap);
    if (tag->order < terms) return 0;
    if (tag->order > terms) return 1 + sections_of_process * Key{snapshot_.processes.size()} + tag->order;
    const auto pid = tag->terms ? parse_pid(line.substr(std::min(line.size(), colon + 1))) : std::nullopt;
    const ProcId process = pid ? snapshot_.find(*pid) : ProcId::none;
    if (process == ProcId::none) return std::nullopt;
    return key_of(*tag->terms, process);
}

std::string SectionSearch::read(std::uint64_t offset, std::uint64_t bytes) {
    std::string text;
    if (bytes > bytes_left_) {
        spent_ = true;
        return text;
    }
    bytes_left_ -= bytes;
    text.resize(static_cast<std::size_t>(bytes));
    const auto got = source_.read_at(offset, text);
    text.resize(got ? *got : 0);
    return text;
}

// Whether no atom goes on behind `before`, by the lines of whatever section that is.
bool SectionSearch::starts_line(std::string_view before) const {
    constexpr std::array others{TermSection::stack, TermSection::messages, TermSection::dictionary};
    return line_starts_after(TermSection::heap, style_, before, false) == LineStart::yes &&
           std::ranges::none_of(others, [&](TermSection section) {
               return line_starts_after(section, style_, before, false) == LineStart::no;
           });
}

std::optional<SectionSearch::Heading> SectionSearch::first_in(std::uint64_t from, std::uint64_t to) {
    std::uint64_t step = read_on;
    for (std::uint64_t at = from; at < to; step = std::min(2 * step, longest_step)) {
        const std::uint64_t base = at > atom_reach ? at - atom_reach - 1 : 0;
        const std::uint64_t here = std::min(step, to - at);
        const std::string piece = read(base, at - base + here + longest_heading);
        const char* const begin = piece.data();
        const char* const end = begin + std::min<std::uint64_t>(piece.size(), at - base + here);
        for (const char* sign = begin + std::min<std::uint64_t>(piece.size(), at - base); sign < end; ++sign) {
            if ((sign = bytes::find_byte(sign, end, '=')) == end) break;
            const auto position = static_cast<std::size_t>(sign - begin);
            if (position == 0 || sign[-1] != '\n') continue;
            const std::string_view view = piece;
            std::size_t line_end = view.find('\n', position);
            if (line_end == view.npos && base + view.size() == end_) line_end = view.size();
            if (line_end == view.npos) continue;
            const auto key = key_of_line(view.substr(position, line_end - position));
            if (!key || !starts_line(view.substr(0, position))) continue;
            return Heading{*key, base + position, std::min(base + line_end + 1, end_)};
        }
        if (spent_ || base + piece.size() >= end_) break;
        at += here;
    }
    return std::nullopt;
}

// Takes what was found between two known headings, if it belongs there.
bool SectionSearch::note(const Heading& found, const Heading& low, const Heading& high) {
    if (found.key < low.key || found.key > high.key) disordered_ = true;
    else known_.emplace(found.key, found);
    return !disordered_;
}

// What was taken for one section may have been several large ones, one behind the other, where the two headings are not
// of neighbours: then what is between them is read, if that is not too much.
SectionSearch::Heading SectionSearch::read_gap(Key key, Heading low, const Heading& high) {
    const bool neighbours = (high.key - 1) / sections_of_process <= (key - 1) / sections_of_process;
    if (high.key == key || neighbours || high.offset - low.body > bytes_left_ / 2) return high;
    while (const std::optional<Heading> found = first_in(low.body, high.offset)) {
        if (!note(*found, low, high)) break;
        if (found->key >= key) return *found;
        low = *found;
    }
    return high;
}

std::optional<SectionSearch::Heading> SectionSearch::first_from(Key key) {
    const auto at_least = known_.lower_bound(key);
    if (at_least->first == key) return at_least->second;
    Heading high = at_least->second;
    Heading low = std::prev(at_least)->second;
    std::uint64_t left = low.body,
                  right = high.offset;  // no heading stands in [low.body, left) or [right, high.offset)
    Gap gap;
    bool near = key - low.key <= sections_of_process;
    for (unsigned look = 0; look < most_looks; ++look) {
        // Where to look, and up to where.
        std::uint64_t from = std::min(left, right), to = right;  // a heading may go on behind `right`
        if (gap.any && !gap.at_left) to = gap.from;
        else if (gap.any) from = gap.to;
        const bool all = to - from <= read_on;
        if (near) {
            to = std::min(to, from + read_on);
        } else if (!all) {
            const std::uint64_t room = to - from;
            from += room / 2;
            if (!gap.any && look < guesses && high.key != behind_all)
                from =
                    left + static_cast<std::uint64_t>(static_cast<double>(room) * static_cast<double>(key - low.key) /
                                                      static_cast<double>(high.key - low.key + 1));
            to = std::min(to, from + one_look);
        }
        const std::uint64_t limit = gap.any && !gap.at_left ? gap.from : right;
        const std::optional<Heading> found = first_in(from, to);
        if (spent_) return std::nullopt;
        if (found) {
            if (!note(*found, low, high)) return std::nullopt;
            if (found->key >= key) {
                if (all || near) return gap.at_left ? read_gap(key, low, *found) : *found;
                high = *found;
                right = from;
            } else {
                low = *found;
                left = low.body;
            }
            if (gap.any && (gap.from < left || gap.to > right)) gap = {};
        } else if (near) {
            left = to;
        } else if (all) {
            if (!gap.any) return high;
            if (gap.at_left) return read_gap(key, low, high);
            gap.at_left = true;
        } else if (to == limit) {
            if (gap.any && !gap.at_left) gap.from = from;
            else right = from;
        } else if (!gap.any) {
            gap = {from, to, true, false};
        } else if (gap.at_left) {
            gap.to = to;
        } else {
            gap.from = from;
        }
        near = false;
    }
    return std::nullopt;
}

std::optional<SectionSearch::Place> SectionSearch::find(TermSection section, ProcId process) {
    if (disordered_) return std::nullopt;
    spent_ = false;
    const Key key = key_of(section, process);
    const std::optional<Heading> heading = first_from(key);
    if (!heading || heading->key != key) return std::nullopt;
    const std::optional<Heading> next = first_from(key + 1);
    if (!next) return std::nullopt;
    return Place{heading->body, next->offset - heading->body};
}

}  // namespace beamheap::crashdump
