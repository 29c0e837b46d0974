// SPDX-License-Identifier: Apache-2.0
// The readers of the sections that are read whole. Each takes the section and its body and fills the snapshot.
// Which tag goes to which reader is said by the table in sections.inc, which also declares the readers: a new section
// is one row there and its reader.
#pragma once

#include "formats/crashdump/loader.hpp"

namespace beamheap::crashdump {

using Reader = void (*)(Loader&, const Section&, std::string_view body);

// header.cpp: =erl_crash_dump. The body goes up to the first section after "System version: ".
void read_header(Loader&, const Section&, std::string_view body);
// Those that the table names.
#define BH_READ(tag, order, part, reader, doc) void reader(Loader&, const Section&, std::string_view body);
#define BH_READ_FREE_TEXT(tag, order, part, reader, doc) void reader(Loader&, const Section&, std::string_view body);
#define BH_TERMS(tag, order, section, doc)
#define BH_SECTION(tag, order, body, part, doc)
#include "formats/crashdump/sections.inc"
#undef BH_READ
#undef BH_READ_FREE_TEXT
#undef BH_TERMS
#undef BH_SECTION
// process.cpp: when the process table was read, tells entries of which a part is lost.
void judge_process_entries(Loader&);

/// The frame "(m:f/a + offset)" of a program counter or return address; `text` begins behind the opening bracket.
/// Function none where there is no function ("invalid", "unknown function", "<terminate process>").
Frame read_frame(Loader& loader, std::string_view text);

}  // namespace beamheap::crashdump
