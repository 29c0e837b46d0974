// SPDX-License-Identifier: Apache-2.0
// Finds sections of terms in a plain file without reading what stands before them.
//
// Behind the process table the VM writes the terms of one process after the other, in the table's order, and of each in
// the order of TermSection (dump_process_info() in erl_process_dump.c). So a heading that is met anywhere tells on
// which side of it another one is, and a few pieces of a gigabyte are read to find it. What is between two headings may
// be one heap of any size: a piece without a heading says nothing of the side, which is then found from the heap's
// ends. Where the headings are not in that order, or too much would have to be read, nothing is found.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "beamheap/snapshot.hpp"
#include "bytes/source.hpp"
#include "formats/crashdump/term_grammar.hpp"

namespace beamheap::crashdump {

class SectionSearch {
public:
    /// `source` must be seekable, the process table of `snapshot` complete and sealed; both must outlive this object.
    /// The terms stand behind offset `from`. At most `most_bytes` are read in all.
    SectionSearch(const bytes::Source& source, TermStyle style, const Snapshot& snapshot, std::uint64_t from,
                  std::uint64_t most_bytes);

    /// Where the body of a section is; its heading ends right before it.
    struct Place {
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
    };
    /// The section of a process, or of the whole node (literals; `process` is then not looked at). Empty: there is
    /// none, or it was not found. It may be said to end too late where large sections follow each other.
    std::optional<Place> find(TermSection section, ProcId process = ProcId::none);
    /// Text from a place in the file; shorter at its end, or where no more may be read.
    std::string read(std::uint64_t offset, std::uint64_t bytes);

private:
    using Key = std::uint64_t;  // place in the writing order: 0 before all terms, then those of the processes, then
                                // what follows
    struct Heading {
        Key key = 0;
        std::uint64_t offset = 0;
        std::uint64_t body = 0;
    };
    Key key_of(TermSection section, ProcId process) const;
    std::optional<Key> key_of_line(std::string_view line) const;
    bool starts_line(std::string_view before) const;
    /// The first heading that begins in [from, to).
    std::optional<Heading> first_in(std::uint64_t from, std::uint64_t to);
    /// The first heading that is not before `key` in the order, but for what stands between two large sections that
    /// were taken for one.
    std::optional<Heading> first_from(Key key);
    Heading read_gap(Key key, Heading low, const Heading& high);
    bool note(const Heading& found, const Heading& low, const Heading& high);

    const bytes::Source& source_;
    const TermStyle style_;
    const Snapshot& snapshot_;
    const std::uint64_t end_;
    std::uint64_t bytes_left_;
    std::map<Key, Heading> known_;
    bool disordered_ = false;  // headings are not in the order that all rests on
    bool spent_ = false;       // more would have to be read than may be
};

}  // namespace beamheap::crashdump
