// SPDX-License-Identifier: Apache-2.0
// Records in the source text of a module or a header: its -record forms, and the headers that it includes.
//
// A small reader for releases whose modules have been stripped: it knows Erlang's tokens and the shape of the form, and
// neither macros (but ?MODULE, as a name) nor conditions. A record whose name or a field's is a macro is left out; one
// that two branches of -ifdef define otherwise is there twice, and named where the sizes differ alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "beamheap/record_names.hpp"

namespace beamheap::erlang {

struct SourceRecords {
    std::vector<RecordType> records;    ///< in their order
    std::vector<std::string> includes;  ///< of -include and -include_lib, as they stand there
};

/// Reads a text; `module` is what ?MODULE stands for. Any text may be given: what is no such form is passed over. Time
/// is linear in the text; nothing recurses.
SourceRecords records_of_source(std::string_view text, std::string_view module);

}  // namespace beamheap::erlang
