// SPDX-License-Identifier: Apache-2.0
// Offsets out of DWARF, against what offsetof says in the same program: several compilers, versions and packings.
#include "bytes/debug_types.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "formats/otp/layout/dwarf_layout.hpp"
#include "support/places.hpp"

using namespace beamheap;
using namespace beamheap::bytes;
using State = MemberAnswer::State;

namespace {

std::string program_of_types(const std::string& name) { return test::types_folder() + "/" + name; }

struct Known {
    std::string structure, path;
    std::uint32_t bytes = 0;
};

// What the program says of itself.
std::vector<Known> truth() {
    std::vector<Known> all;
    FILE* out = popen(program_of_types("types").c_str(), "r");
    REQUIRE(out != nullptr);
    char structure[64], path[64];
    unsigned bytes = 0;
    while (std::fscanf(out, "%63s %63s %u", structure, path, &bytes) == 3)
        all.push_back({structure, std::string{path} == "-" ? "" : path, bytes});
    CHECK(pclose(out) == 0);
    return all;
}

std::optional<DebugTypes> read(const std::string& path, const std::vector<MemberQuery>& queries) {
    const auto executable = ElfImage::open(path);
    REQUIRE(executable);
    auto types = read_debug_types(*executable, queries);
    REQUIRE(types);
    return *types;
}

}  // namespace

TEST_CASE("members are where offsetof says", "[bytes][dwarf]") {
    const std::vector<Known> known = truth();
    REQUIRE(known.size() >= 20);
    std::vector<MemberQuery> queries;
    for (const Known& each : known) queries.push_back({each.structure, each.path});
    for (const char* name : {"types", "types.v2", "types.units", "types.packed", "types.linked", "types.clang"}) {
        const std::string path = program_of_types(name);
        INFO(path);
        if (access(path.c_str(), R_OK) != 0) {
            CHECK(std::string{name} == "types.clang");  // where there is no clang
            continue;
        }
        const auto types = read(path, queries);
        REQUIRE(types);
        CHECK(types->damage.empty());
        CHECK(types->file == (std::string{name} == "types.linked" ? program_of_types("types.debug") : path));
        for (std::size_t i = 0; i < known.size(); ++i) {
            INFO(known[i].structure << "." << known[i].path);
            CHECK(types->answers[i].state == State::found);
            CHECK(types->answers[i].bytes == known[i].bytes);
        }
    }
}

TEST_CASE("alternatives, and what isn't there", "[bytes][dwarf]") {
    const std::vector<MemberQuery> queries = {
        {"Missing|Pair", "nothing|word"},
        {"Pair|Process", "tail"},
        {"Missing", "word"},
        {"Pair", "nothing"},
        {"Pair", "word.deeper"},
        {"Process", "many.word"},
        {"Process", "u.alive.nothing"},
        {"Process", "letter|tail"},
        {"Pair", "."},
        {"", ""},
        {"FILE|_IO_FILE", ""},
    };
    const auto types = read(program_of_types("types"), queries);
    REQUIRE(types);
    const auto state = [&](std::size_t i) { return types->answers[i].state; };
    CHECK(state(0) == State::found);
    CHECK(types->answers[0].bytes == 8);
    CHECK(state(1) == State::found);  // the second structure has it
    CHECK(state(2) == State::no_structure);
    CHECK(state(3) == State::no_member);
    CHECK(state(4) == State::no_member);
    CHECK(state(5) == State::found);  // of the first element
    CHECK(state(6) == State::no_member);
    CHECK(state(7) == State::found);
    CHECK(state(8) == State::no_member);
    CHECK(state(9) == State::no_structure);
    const auto many = read(program_of_types("types"), {{"Process", "many"}});
    CHECK(types->answers[5].bytes == many->answers[0].bytes + 8);
}

TEST_CASE("no debug information is no error, and not looked for at length", "[bytes][dwarf]") {
    CHECK_FALSE(read(program_of_types("types.stripped"), {{"Pair", "word"}}));
}

TEST_CASE("damaged debug information ends in an answer or a sentence", "[bytes][dwarf]") {
    std::ifstream in(program_of_types("types"), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    const auto image = ElfImage::open(program_of_types("types"));
    REQUIRE(image);
    std::vector<MemberQuery> queries;
    const std::vector<Known> known = truth();
    for (const Known& each : known) queries.push_back({each.structure, each.path});
    std::mt19937 chance(4711);
    const std::string path =
        program_of_types("types.damaged") + std::to_string(::getpid());  // this may run beside itself
    std::size_t answered = 0, refused = 0;
    for (int round = 0; round < 300; ++round) {
        std::string bytes = whole;
        for (const char* name : {".debug_info", ".debug_abbrev", ".debug_str"}) {
            const ElfSection* section = image->section(name);
            REQUIRE(section != nullptr);
            for (unsigned i = chance() % 8; i != 0; --i)
                bytes[section->offset + chance() % section->size] = static_cast<char>(chance());
        }
        std::ofstream(path, std::ios::binary) << bytes;
        const auto executable = ElfImage::open(path);
        REQUIRE(executable);
        const auto types = read_debug_types(*executable, queries);
        if (types && *types) {
            REQUIRE((*types)->answers.size() == queries.size());
            ++answered;
        } else {
            if (!types) CHECK(types.error().message.find("types.damaged") != std::string::npos);
            ++refused;
        }
    }
    std::remove(path.c_str());
    CHECK(answered > 0);
}

TEST_CASE("DWARF replaces a row's offsets, as far as it has them", "[otp][dwarf]") {
    using namespace beamheap::otp;
    const Layout& row = *find_layout(27, Flavour::jit);
    const auto fields = field_names();
    DebugTypes types;
    types.file = "beam.smp";
    types.answers.resize(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i)
        if (const std::uint32_t value = row.at.*fields[i].field; value != absent)
            types.answers[i] = {State::found, value};
        else types.answers[i] = {State::no_member, 0};
    const auto index = [&](std::string_view member) {
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (fields[i].member == member) return i;
        FAIL("no such field");
        return std::size_t{0};
    };

    const DwarfLayout same = with_dwarf(row, types);
    CHECK(same.different.empty());
    CHECK(same.kept.empty());
    CHECK(same.layout.source == dwarf_source);
    CHECK(same.layout.release == 27);
    CHECK(describe(same, types).find("none differs from the table of OTP 27") != std::string::npos);

    types.answers[index("process_size")].bytes = 800;
    types.answers[index("process_heap")].state = State::no_structure;        // the row's value stays
    types.answers[index("process_flags")].state = State::no_member;          // and of what readers can't do without
    types.answers[index("process_queue_buffers")].state = State::no_member;  // some releases have none
    const DwarfLayout other = with_dwarf(row, types);
    CHECK(other.layout.at.process_size == 800);
    CHECK(other.layout.at.process_heap == row.at.process_heap);
    CHECK(other.layout.at.process_flags == row.at.process_flags);
    CHECK(other.layout.at.process_queue_buffers == absent);
    CHECK(other.kept == std::vector<std::string_view>{"process_flags", "process_heap"});
    REQUIRE(other.different.size() == 2);
    CHECK(other.different[0].member == "process_size");
    CHECK(other.different[0].dwarf == 800);
    CHECK(other.different[0].table == row.at.process_size);
    CHECK(other.different[1].member == "process_queue_buffers");
    const std::string text = describe(other, types);
    CHECK(text.find("2 differ from the table of OTP 27: process_size 800 (") != std::string::npos);
    CHECK(text.find("process_queue_buffers none (") != std::string::npos);
    CHECK(text.find("2 not in it: process_flags, process_heap") != std::string::npos);
    CHECK(unfit_layout(other.layout.at).empty());
}

TEST_CASE("offsets that leave their structure are refused", "[otp][dwarf]") {
    using namespace beamheap::otp;
    for (const Layout& row : known_layouts()) {
        INFO("OTP " << row.release);
        CHECK(unfit_layout(row.at) == "");
        for (const auto& [field, value] : {std::pair{&Offsets::process_heap, 4000u},
                                           {&Offsets::process_size, 8u},
                                           {&Offsets::table_slots, 3000u},
                                           {&Offsets::fragment_memory, 0u},
                                           {&Offsets::link_node_size, 16u},
                                           {&Offsets::scheduler_stride, 64u},
                                           {&Offsets::allocator_single, 100000u},
                                           {&Offsets::ets_tree_root, 8u},
                                           {&Offsets::ets_hash_term, 0u},
                                           {&Offsets::node_name, 4096u},
                                           {&Offsets::code_functions, 1u << 30},
                                           {&Offsets::process_heap, absent},
                                           {&Offsets::breakpoint_time, 4096u},
                                           {&Offsets::port_state, 100000u}}) {
            Offsets forged = row.at;
            forged.*field = value;
            CHECK_FALSE(unfit_layout(forged).empty());
        }
    }
}

TEST_CASE("counters that begin within their allocator end there as well", "[otp][dwarf]") {
    using namespace beamheap::otp;
    for (const Layout& row : known_layouts())
        for (const auto field :
             {&Offsets::carrier_stats_blocks, &Offsets::carrier_stats_max, &Offsets::carrier_stats_max_ever}) {
            Offsets forged = row.at;
            forged.*field = row.at.allocator_size - std::max(row.at.allocator_single, row.at.allocator_multi);
            CHECK(unfit_layout(forged) == "counters of carriers are outside of their allocator");
        }
}

TEST_CASE("a member may end where its structure ends, and no byte behind", "[otp][dwarf]") {
    using namespace beamheap::otp;
    for (const Layout& row : known_layouts()) {
        INFO(row.source);
        for (const auto& [member, size] :
             {std::pair{&Offsets::link_offset, 2u}, {&Offsets::link_flags, 2u}, {&Offsets::link_type, 2u}}) {
            if (row.at.*member == absent) continue;
            Offsets forged = row.at;
            std::uint32_t end = 0;
            for (forged.*member = row.at.link_node_size; end == 0 && forged.*member > 0; --(forged.*member))
                if (unfit_layout(forged).empty()) end = forged.*member;
            CHECK((row.at.link_node_size - end == size || row.at.link_node_size > end + 8));
        }
    }
}

TEST_CASE("members have the sizes of their types at the end of their structures", "[otp][dwarf]") {
    using namespace beamheap::otp;
    struct Row {
        std::uint32_t Offsets::*member;
        std::uint32_t Offsets::*structure;  // its size, or the member behind which nothing may stand
        std::uint32_t more, size;
    };
    const Row rows[] = {{&Offsets::process_arity, &Offsets::process_size, 0, 1},
                        {&Offsets::process_heap, &Offsets::process_size, 0, 8},
                        {&Offsets::timer_tree, &Offsets::timer_size, 0, 24},
                        {&Offsets::timer_state, &Offsets::timer_size, 0, 4},
                        {&Offsets::timer_reference, &Offsets::timer_size, 0, 12},
                        {&Offsets::atom_length, &Offsets::atom_size, 0, 2},
                        {&Offsets::atom_name, &Offsets::atom_size, 0, 8},
                        {&Offsets::scheduler_type, &Offsets::scheduler_stride, 0, 4},
                        {&Offsets::scheduler_counter_slot, &Offsets::scheduler_stride, 0, 4},
                        {&Offsets::scheduler_process, &Offsets::scheduler_stride, 0, 8},
                        {&Offsets::ets_hash_hidden, &Offsets::ets_hash_term, 0, 1},
                        {&Offsets::allocator_number, &Offsets::allocator_size, 0, 4},
                        {&Offsets::allocator_index, &Offsets::allocator_size, 0, 4},
                        {&Offsets::allocator_pool_blocks, &Offsets::allocator_size, 0, 40},
                        {&Offsets::allocator_pool_blocks_size, &Offsets::allocator_size, 0, 40},
                        {&Offsets::breakpoint_flags, &Offsets::breakpoint_data_size, 0, 4},
                        {&Offsets::breakpoint_count, &Offsets::breakpoint_data_size, 0, 8},
                        {&Offsets::table_count, &Offsets::table_element_size, 8, 4},
                        {&Offsets::table_max, &Offsets::table_element_size, 8, 4},
                        {&Offsets::table_slots, &Offsets::table_element_size, 8, 8},
                        {&Offsets::table_line_shift, &Offsets::table_element_size, 8, 4},
                        {&Offsets::table_item_shift, &Offsets::table_element_size, 8, 4},
                        {&Offsets::table_item_mask, &Offsets::table_element_size, 8, 4},
                        {&Offsets::table_line_mask, &Offsets::table_element_size, 8, 4},
                        {&Offsets::table_mask, &Offsets::table_element_size, 8, 4},
                        {&Offsets::module_name, &Offsets::module_old_length, 4, 4},
                        {&Offsets::module_current_length, &Offsets::module_old_length, 4, 4},
                        {&Offsets::lines_location_size, &Offsets::lines_functions, 8, 4},
                        {&Offsets::node_name, &Offsets::node_entry, 8, 8},
                        {&Offsets::persistent_entries, &Offsets::persistent_terms, 0, 8}};
    const Layout& row = *find_layout(25, Flavour::jit);
    for (const Row& each : rows) {
        INFO(&each - rows);
        const std::uint32_t end = row.at.*each.structure + each.more;
        Offsets forged = row.at;
        forged.*each.member = end - each.size;
        CHECK(unfit_layout(forged).empty());
        forged.*each.member = end - each.size + 1;
        CHECK_FALSE(unfit_layout(forged).empty());
    }
}

TEST_CASE("a layout is refused in words that say what does not fit", "[otp][dwarf]") {
    using namespace beamheap::otp;
    const Layout& row = *find_layout(25, Flavour::jit);
    const auto refused = [&](std::uint32_t Offsets::*member, std::uint32_t value) {
        Offsets forged = row.at;
        forged.*member = value;
        return unfit_layout(forged);
    };
    CHECK(refused(&Offsets::process_heap, absent) == "process_heap is missing");
    CHECK(refused(&Offsets::process_heap, 1u << 30) == "process_heap is 1073741824");
    CHECK(refused(&Offsets::process_heap, row.at.process_size) ==
          "process_heap is " + std::to_string(row.at.process_size) + ", outside of its structure");
    CHECK(refused(&Offsets::process_marker_block, absent).empty());
    CHECK(refused(&Offsets::ets_owner, row.at.ets_hash_size) == "members of ETS tables are outside of them");
    CHECK(refused(&Offsets::buffer_queue, absent) == "buffers of signal queues are unknown");
    CHECK(refused(&Offsets::fun_environment, row.at.fun_environment + 4) ==
          "the environment of a fun is no array of words");
    CHECK(refused(&Offsets::fun_environment, 0) != "");
    CHECK(refused(&Offsets::link_node_size, 16) != "");
}
