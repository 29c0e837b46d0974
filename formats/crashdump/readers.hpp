// The readers of the sections that are read whole. Each takes the section and its body and fills the snapshot.
// Which tag goes to which reader is said by the table in sections.cpp.
#pragma once

#include "formats/crashdump/loader.hpp"

namespace beamheap::crashdump {

using Reader = void (*)(Loader&, const Section&, std::string_view body);

// header.cpp: =erl_crash_dump. The body goes up to the first section after "System version: ".
void read_header(Loader&, const Section&, std::string_view body);
// process.cpp
void read_process(Loader&, const Section&, std::string_view body);
// schedulers.cpp
void read_scheduler(Loader&, const Section&, std::string_view body);
void read_dirty_cpu_scheduler(Loader&, const Section&, std::string_view body);
void read_dirty_io_scheduler(Loader&, const Section&, std::string_view body);
void read_dirty_cpu_queue(Loader&, const Section&, std::string_view body);
void read_dirty_io_queue(Loader&, const Section&, std::string_view body);
// memory.cpp
void read_memory(Loader&, const Section&, std::string_view body);
void read_allocated_areas(Loader&, const Section&, std::string_view body);
void read_allocator(Loader&, const Section&, std::string_view body);
void read_hash_table(Loader&, const Section&, std::string_view body);
void read_index_table(Loader&, const Section&, std::string_view body);
// ports.cpp
void read_port(Loader&, const Section&, std::string_view body);
// ets.cpp
void read_ets(Loader&, const Section&, std::string_view body);
void read_internal_ets(Loader&, const Section&, std::string_view body);
// nodes.cpp
void read_timer(Loader&, const Section&, std::string_view body);
void read_node(Loader&, const Section&, std::string_view body);
void read_no_distribution(Loader&, const Section&, std::string_view body);
void read_visible_node(Loader&, const Section&, std::string_view body);
void read_hidden_node(Loader&, const Section&, std::string_view body);
void read_not_connected(Loader&, const Section&, std::string_view body);
// modules.cpp
void read_loaded_modules(Loader&, const Section&, std::string_view body);
void read_module(Loader&, const Section&, std::string_view body);
void read_fun(Loader&, const Section&, std::string_view body);

/// The frame "(m:f/a + offset)" of a program counter or return address; `text` begins behind the opening bracket.
/// Function none where there is no function ("invalid", "unknown function", "<terminate process>").
Frame read_frame(Loader& loader, std::string_view text);

}  // namespace beamheap::crashdump
