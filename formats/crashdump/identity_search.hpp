// SPDX-License-Identifier: Apache-2.0
// What a few processes of a plain dump are for, when loading has not asked for labels: their dictionaries and heaps are
// searched for alone, so that the rows that a table shows cost a few pieces of the file, and not the whole of it.
#pragma once

#include <optional>
#include <string>

#include "formats/crashdump/process_identity.hpp"
#include "formats/crashdump/section_search.hpp"

namespace beamheap::crashdump {

class IdentitySearch {
public:
    /// As SectionSearch's: `source` and `snapshot` must outlive it.
    IdentitySearch(const bytes::Source& source, TermStyle style, const Snapshot& snapshot,
                   std::uint64_t behind_processes);

    /// Gives the process its initial call, label and named ancestor, as far as they are found.
    void identify(Loader& loader, ProcId process);

private:
    bool search_heap(Loader& loader, SectionSearch::Place heap);

    SectionSearch sections_;
    LabelFinder labels_;
    std::optional<std::string> literals_;  // once a call was looked for there
};

}  // namespace beamheap::crashdump
