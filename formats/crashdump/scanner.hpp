// SPDX-License-Identifier: Apache-2.0
// Finds the sections of a dump, one after the other, in a window that slides over it.
//
// "LF =" begins a section for the VM's own viewer, but that is not sound: the slogan, atoms within terms and command
// lines of ports are written raw. A section begins here at "LF =tag" followed by ':' or the line's end,
//   - behind the header's line "System version: " (the slogan is free text),
//   - in sections of terms only where, by the grammar's lengths, a line begins (term_text.hpp),
//   - behind free text only if the tag has its place behind that section in the writing order.
// What looks like a tag and is none is counted as forged_section. Bodies are found by lengths where the format has
// them (binaries), and otherwise by a search for '=', a rare byte: about 15 GB/s.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "bytes/window.hpp"
#include "formats/crashdump/sections.hpp"
#include "formats/crashdump/term_grammar.hpp"

namespace beamheap::crashdump {

class Scanner {
public:
    /// Sections of one dump from `window`, which stands at its first byte. `style` tells how term lines are written.
    Scanner(bytes::Window& window, Anomalies& anomalies) : window_(window), anomalies_(anomalies) {}

    TermStyle style;
    /// The header has no "System version: ": then it ends at the first tag.
    bool header_without_version = false;

    struct Head {
        const SectionTag* row = nullptr;  ///< null: a tag that no release writes
        std::string_view tag;             ///< valid until the scanner's next()
        std::string id;
        std::uint64_t offset = 0;
        Section section() const {
            return {id, offset, offset + head_bytes, row == nullptr ? std::string_view() : row->tag};
        }
        std::uint64_t head_bytes = 0;
    };

    /// Takes the tag line that the window stands at. False: the input ends, or no tag stands here; `head` stays as it
    /// was.
    bool next(Head& head) {
        found_ = npos;
        body_start_in_view_ = true;
        ended_inside_ = false;
        return next_accepted(head) || next_unseen(head);
    }

    /// The whole body of the section, at most `limit` bytes of it; valid until the next call. `end` is set to false
    /// where the input ends within it, or where it is longer than the limit. finish() takes it off.
    std::string_view body(const Head& head, std::size_t limit, bool& whole);
    /// Goes to the next section.
    void finish(const Head& head);
    /// The same; what is passed goes to `take`, as stream() gives it.
    template <class Take>
    void finish(const Head& head, Take&& take) {
        if (found_ == npos) return stream(head, std::forward<Take>(take));
        take(std::string_view(window_.view().data(), found_), true);
        window_.consume(found_);
        found_ = npos;
    }

    /// Gives the body piece by piece. `take(text, last)` says how many bytes it took; it may leave an incomplete
    /// line of up to `longest_line` bytes, which it sees again with more behind it, and must take all when `last`.
    template <class Take>
    void stream(const Head& head, Take&& take);

    /// A binary's body is one line whose length it says; it is passed over.
    struct BinaryLine {
        Count bytes;                    ///< decoded; missing where the line is malformed
        std::uint64_t data_offset = 0;  ///< of the encoded data
        std::string first_text;         ///< up to `first` characters of it
    };
    BinaryLine skip_binary(const Head& head, std::size_t first = 0);

    /// Whether the input ended inside the section that was read last.
    bool ended_inside() const { return ended_inside_; }

    static constexpr std::size_t longest_line = 256u << 20;
    static constexpr std::size_t longest_header = 4u << 20;  ///< the slogan is free text of at most a few kilobytes

private:
    /// Position in view() of the next section's '=', searching from `from` on; npos: not in view. `from` moves to
    /// where a later search can go on.
    std::size_t find_boundary(const Head& head, std::size_t& from);
    bool next_accepted(Head& head);
    bool next_unseen(Head& head);
    bool accept(const Head& head, std::size_t at, bool& undecided);
    bool accept_header(std::size_t at) const;
    /// What has followed a section like this one the last time, if its tag stands at text[at] == '='; else null.
    const SectionTag* usual_next(const Head& head, std::string_view text, std::size_t at) const;

    static constexpr std::size_t npos = std::string_view::npos;
    static constexpr std::size_t kept_before = 16 * 1024;  // of term lines: enough to tell atoms from lines

    bytes::Window& window_;
    Anomalies& anomalies_;
    std::size_t found_ = npos;              // length of the body in view, once known
    const SectionTag* accepted_ = nullptr;  // what begins at accepted_at_, which was looked at last
    std::uint64_t accepted_at_ = 0;
    /// What came last behind each kind of section. The sections of processes follow each other in the same order for
    /// all of them: one comparison tells so, where else a tag's end is looked for, and its row by a hash.
    std::array<const SectionTag*, most_tags> last_behind_{};
    std::string unknown_tag_;
    std::uint64_t forged_at_ = 0;  // of the last one that was told: text may be looked at twice
    bool body_start_in_view_ = true;
    bool ended_inside_ = false;
};

template <class Take>
void Scanner::stream(const Head& head, Take&& take) {
    // The window's front is moved by what was taken, but for the bytes that accept() needs to look back at: those
    // are kept in view and `behind` tells how many of them were taken already.
    std::size_t behind = 0;
    std::size_t from = 0;
    body_start_in_view_ = true;
    ended_inside_ = false;
    for (;;) {
        const std::size_t boundary = find_boundary(head, from);
        if (boundary != npos) {
            take(std::string_view(window_.view().data() + behind, boundary - behind), true);
            window_.consume(boundary);
            return;
        }
        const std::size_t taken = take(window_.view().substr(behind), false);
        behind += taken;
        if (behind > kept_before) {
            const std::size_t drop = behind - kept_before;
            window_.consume(drop);
            behind -= drop;
            from -= std::min(from, drop);
            body_start_in_view_ = false;
        }
        if (!window_.more(longest_line)) {
            if (window_.ended() && from < window_.view().size()) {  // a tag without a line feed ends the input
                if (const std::size_t last = find_boundary(head, from); last != npos) {
                    take(window_.view().substr(behind, last - behind), true);
                    window_.consume(last);
                    return;
                }
            }
            ended_inside_ = true;
            take(window_.view().substr(behind), true);
            window_.consume(window_.view().size());
            return;
        }
    }
}

}  // namespace beamheap::crashdump
