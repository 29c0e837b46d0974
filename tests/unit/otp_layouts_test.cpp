// SPDX-License-Identifier: Apache-2.0
// Which table is believed: rows of releases and flavours against processes in made-up memory, and terms against heaps.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "formats/otp/core_artifact.hpp"
#include "formats/otp/heaps/terms_check.hpp"
#include "formats/otp/vm/layout_check.hpp"
#include "formats/otp/vm/roots.hpp"
#include "support/elf_writer.hpp"
#include "support/made_image.hpp"
#include "support/places.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::Blob;

namespace {

constexpr std::uint64_t image_base = 0x700000000000ull;
constexpr std::uint32_t processes = 40, slots = 1024;
constexpr Word an_atom = Word{70} << 6 | 0x0b;

const Layout& row_of(std::uint32_t release, Flavour flavour) {
    const Layout* row = find_layout(release, flavour);
    REQUIRE(row != nullptr);
    return *row;
}

// A process table with resting processes, laid out as a row says: ErtsPTab, slots, a run queue with its scheduler,
// processes with small heaps.
struct MadeVm {
    static constexpr std::size_t table_at = 0, slots_at = 0x1000, queue_at = 0x4000, scheduler_at = 0x5000,
                                 processes_at = 0x10000, heaps_at = 0x100000;
    explicit MadeVm(const Layout& row) {
        const Offsets& at = row.at;
        memory.resize(heaps_at + processes * 0x1000);
        memory.put<std::uint32_t>(table_at + at.table_count, processes);
        memory.put<std::uint32_t>(table_at + at.table_max, slots);
        memory.word(table_at + at.table_slots, image_base + slots_at);
        memory.word(table_at + at.table_element_size, at.process_size);
        if (row.pid_form == PidForm::shuffled60) memory.word(table_at + at.table_mask, slots - 1);
        memory.word(queue_at + at.run_queue_scheduler, image_base + scheduler_at);
        memory.word(scheduler_at + at.scheduler_run_queue, image_base + queue_at);
        for (std::uint32_t i = 0; i < processes; ++i) {
            const std::size_t p = processes_at + i * 0x400;
            const std::uint64_t heap = image_base + heaps_at + i * 0x1000;
            memory.word(slots_at + 8 * i, image_base + p);
            memory.word(p, row.pid_form == PidForm::data28 ? Word{i} << 32 | 3 : Word{i} << 4 | 3);
            memory.word(p + at.process_heap, heap);
            memory.word(p + at.process_htop, heap + 64);
            memory.word(p + at.process_stop, heap + 1800);
            memory.word(p + at.process_heap_end, heap + 8 * 233);
            memory.word(p + at.process_heap_words, 233);
            memory.word(p + at.process_initial, an_atom);
            memory.word(p + at.process_initial + 8, an_atom);
            memory.word(p + at.process_initial + 16, 3);
            memory.word(p + at.process_run_queue, (image_base + queue_at) | 1);
        }
    }
    // What a row makes of it; `size` is what the VM says of its processes.
    struct Judged {
        SlotTable table;
        LayoutScore score;
    };
    Judged judge(const Layout& row) {
        bytes::AddressSpace space;
        space.add(image_base, memory.bytes(), bytes::AddressSpace::Origin::core, true);
        space.seal();
        bytes::MemoryReader reader(space);
        const auto table = SlotTable::read(reader, row, image_base + table_at);
        REQUIRE(table);
        return {*table, score_layout(reader, row, *table)};
    }
    std::string misfit_of(const Layout& row, bool own) {
        const Judged judged = judge(row);
        return misfit(row, own, judged.table, judged.score);
    }
    Blob memory;
};

}  // namespace

TEST_CASE("each flavour of each release from 23 on has a row of its own", "[otp][layout]") {
    std::set<std::uint32_t> releases;
    for (const Layout& row : known_layouts()) releases.insert(row.release);
    for (const std::uint32_t release : releases) {
        INFO("OTP " << release);
        CHECK(find_layout(release, Flavour::interpreter) != nullptr);
        CHECK((find_layout(release, Flavour::jit) != nullptr) == (release >= 24));
        CHECK((find_layout(release, Flavour::hipe) != nullptr) == (release == 23));
    }
    CHECK(*releases.begin() == 23);
}

TEST_CASE("a flavour is told by the version line", "[otp][layout]") {
    const auto flavour = [](const char* line) { return flavour_of(*parse_build(line)); };
    CHECK(flavour("Erlang/OTP 25%s [erts-13.1.5] [source] [64-bit] [jit:ns%s]\n") == Flavour::jit);
    CHECK(flavour("Erlang/OTP 24%s [erts-12.3.1] [source] [64-bit] [jit]\n") == Flavour::jit);
    CHECK(flavour("Erlang/OTP 25%s [erts-13.1.5] [source] [64-bit]\n") == Flavour::interpreter);
    CHECK(flavour("Erlang/OTP 23%s [erts-11.1.8] [source] [64-bit] [hipe]\n") == Flavour::hipe);
}

// Rows that no VM has proved were made from the JIT's by leaving out what only the JIT has. Where both flavours come
// from builds, the same members must differ, by the same number of bytes.
TEST_CASE("flavours differ where builds of both differ", "[otp][layout]") {
    const auto moved = [](std::uint32_t release, std::string_view prefix) {
        const Layout &jit = row_of(release, Flavour::jit), &other = row_of(release, Flavour::interpreter);
        std::vector<std::pair<std::string_view, std::int64_t>> found;
        for (const FieldName& field : field_names()) {
            const std::uint32_t a = jit.at.*field.field, b = other.at.*field.field;
            if (a != b && field.member.starts_with(prefix))
                found.emplace_back(field.member, std::int64_t{a} - (b == absent ? -1 : std::int64_t{b}));
        }
        return found;
    };
    CHECK(moved(25, "process_").size() > 40);
    CHECK(moved(26, "process_") == moved(25, "process_"));
    CHECK(moved(29, "process_") == moved(27, "process_"));
    CHECK(moved(24, "process_").empty());  // frame pointers came with 25
    for (const std::string_view prefix : {"export_", "registers_"})
        for (const std::uint32_t release : {24u, 26u}) CHECK(moved(release, prefix) == moved(25, prefix));
    for (const std::string_view prefix : {"fun_", "export_", "registers_", "module_"})
        CHECK(moved(29, prefix) == moved(27, prefix));
    CHECK(moved(26, "fun_") == moved(25, "fun_"));
    CHECK(moved(24, "module_") == moved(25, "module_"));
}

TEST_CASE("a table of another flavour or release is refused", "[otp][layout]") {
    for (const Layout& row : known_layouts()) {
        INFO(row.source);
        MadeVm vm(row);
        CHECK(vm.misfit_of(row, true).empty());
        for (const Layout& other : known_layouts()) {
            INFO(other.source);
            const bool same = other.at.process_size == row.at.process_size &&
                              other.at.process_run_queue == row.at.process_run_queue &&
                              other.at.process_heap == row.at.process_heap &&
                              other.at.run_queue_scheduler == row.at.run_queue_scheduler &&
                              other.at.scheduler_run_queue == row.at.scheduler_run_queue &&
                              other.at.process_initial == row.at.process_initial && other.pid_form == row.pid_form;
            CHECK(vm.misfit_of(other, false).empty() == same);
        }
    }
    MadeVm vm(row_of(25, Flavour::interpreter));
    const std::string why = vm.misfit_of(row_of(24, Flavour::interpreter), false);
    CHECK(why == "a process has 768 bytes in this VM and 744 in it");
}

TEST_CASE("the last member of a process tells of one too many before it", "[otp][layout]") {
    // 24's members up to the heaps are where a 25 without the JIT has them: sizes apart, its run queue speaks.
    MadeVm vm(row_of(25, Flavour::interpreter));
    const Layout& wrong = row_of(24, Flavour::interpreter);
    const LayoutScore score = vm.judge(wrong).score;
    CHECK(score.slots == processes);
    CHECK(score.heaps == processes);
    CHECK(score.functions == processes);
    CHECK(score.queues == 0);
    CHECK(score.strays == processes);
    CHECK_FALSE(score.good(false));
    vm.memory.word(MadeVm::table_at + wrong.at.table_element_size, wrong.at.process_size);
    CHECK(vm.misfit_of(wrong, true).find("0 with a run queue") != std::string::npos);
}

TEST_CASE("an image that is cut proves its layout by the processes that are left", "[otp][layout]") {
    MadeVm vm(row_of(25, Flavour::jit));
    const auto lose_all_but = [&](std::uint32_t left) {
        for (std::uint32_t i = left; i < processes; ++i)
            vm.memory.word(MadeVm::slots_at + 8 * i, 0x600000000000 + i * 0x400);
        return vm.judge(row_of(25, Flavour::jit)).score;
    };
    const LayoutScore some = lose_all_but(10);
    CHECK(some.processes == 10);
    CHECK(some.absent == processes - 10);
    CHECK(some.good(true));
    CHECK_FALSE(some.good(false));
    CHECK_FALSE(lose_all_but(least_of_cut - 1).good(true));
}

TEST_CASE("a process may have grown at its end, by little", "[otp][layout]") {
    const Layout& row = row_of(29, Flavour::jit);
    MadeVm vm(row);
    const auto with_size = [&](std::uint64_t size, bool own) {
        vm.memory.word(MadeVm::table_at + row.at.table_element_size, size);
        return vm.misfit_of(row, own).empty();
    };
    CHECK(with_size(768, true));
    CHECK(with_size(768, false));
    CHECK(with_size(760, true));  // what 29 had before its last member came
    CHECK(with_size(776, true));
    CHECK_FALSE(with_size(776, false));  // the row of another release
    CHECK_FALSE(with_size(752, true));   // its run queue would be outside
    CHECK_FALSE(with_size(771, true));
    CHECK_FALSE(with_size(4096, true));
}

TEST_CASE("a run queue that the image does not hold speaks for nobody", "[otp][layout]") {
    const Layout& row = row_of(27, Flavour::jit);
    MadeVm vm(row);
    for (std::uint32_t i = 0; i < processes; ++i)
        vm.memory.word(MadeVm::processes_at + i * 0x400 + row.at.process_run_queue, 0x600000000000ull);
    CHECK(vm.misfit_of(row, true).empty());
    CHECK(vm.judge(row).score.queues == 0);
}

TEST_CASE("types of links are told by the trees of links", "[otp][layout]") {
    const auto told = [](const Layout& row, std::uint32_t process_link, std::uint32_t port_link, bool low_bits,
                         std::uint32_t torn = 0) {
        MadeVm vm(row);
        for (std::uint32_t i = 0; i < processes; ++i) {
            const std::size_t node = MadeVm::heaps_at + i * 0x1000 + 2048;
            const std::uint32_t type = i < torn ? i : i % 5 == 0 ? port_link : process_link;
            vm.memory.word(MadeVm::processes_at + i * 0x400 + row.at.process_links, image_base + node);
            vm.memory.put<std::uint32_t>(node + row.at.link_flags, low_bits ? type | 2u << 7 : type << 16 | 2);
        }
        bytes::AddressSpace space;
        space.add(image_base, vm.memory.bytes(), bytes::AddressSpace::Origin::core, true);
        space.seal();
        bytes::MemoryReader reader(space);
        return link_types_of(reader, row, vm.judge(row).table);
    };
    CHECK(told(row_of(23, Flavour::interpreter), 8, 9, false) == LinkTypes::until_23);
    CHECK(told(row_of(24, Flavour::jit), 9, 10, false) == LinkTypes::in_24);
    CHECK(told(row_of(24, Flavour::jit), 10, 11, false) ==
          LinkTypes::since_25);  // a patch release that has them already
    CHECK(told(row_of(25, Flavour::jit), 10, 11, false) == LinkTypes::since_25);
    CHECK(told(row_of(27, Flavour::jit), 10, 11, true) == LinkTypes::since_28);
    CHECK(told(row_of(29, Flavour::jit), 10, 11, true) == LinkTypes::since_28);
    CHECK_FALSE(told(row_of(29, Flavour::jit), 20, 21, true));
    // Of a VM that runs, nodes may be freed while they are read.
    CHECK(told(row_of(25, Flavour::jit), 10, 11, false, processes / 10) == LinkTypes::since_25);
    CHECK_FALSE(told(row_of(25, Flavour::jit), 10, 11, false, processes / 4));
}

TEST_CASE("a heap without gaps proves the form of its terms", "[otp][terms]") {
    const Layout &old = row_of(25, Flavour::jit), &recent = row_of(27, Flavour::jit);
    const auto whole = [](const Layout& row, const Blob& heap) { return heap_is_whole(row, heap.bytes(), image_base); };
    Blob heap;
    heap.word(0, an_atom);  // [an_atom, {...}]
    heap.word(8, (image_base + 16) | 1);
    heap.word(16, (image_base + 32) | 2);
    heap.word(24, recent.nil);
    heap.word(32, 2u << 6);  // {[...], 7}
    heap.word(40, image_base | 1);
    heap.word(48, 7u << 4 | 15);
    CHECK(whole(old, heap));
    CHECK(whole(recent, heap));
    CHECK(heap_is_whole(old, {}, image_base));

    Blob stray = heap;
    stray.word(40, (image_base + 48) | 1);  // a list into the middle of a tuple
    CHECK_FALSE(whole(old, stray));
    stray.word(40, image_base | 2);  // an object where a list is
    CHECK_FALSE(whole(old, stray));
    stray.word(40, (image_base + 4096) | 2);  // elsewhere: not of this heap
    CHECK(whole(old, stray));
    Blob cut = heap;
    cut.resize(48);
    CHECK_FALSE(whole(old, cut));

    // A fun of 27 says its environment in its header, where 25 has a size.
    Blob fun = heap;
    fun.word(56, 2u << 16 | 1u << 8 | 5u << 2);
    fun.word(64, 0x1000);
    fun.word(72, an_atom);
    fun.word(80, image_base | 1);
    CHECK(whole(recent, fun));
    CHECK_FALSE(whole(old, fun));
}

TEST_CASE("README says which releases have rows", "[otp][layout]") {
    std::ifstream file(test::source_dir() + "/README.md");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    CHECK(text.find("core images of OTP " + releases_read()) != std::string::npos);
    CHECK(releases_read() ==
          std::to_string(known_layouts().front().release) + " to " + std::to_string(known_layouts().back().release));
}

TEST_CASE("this node is a node with the name of its own entry, at a place where one can be", "[otp][roots]") {
    constexpr std::uint64_t M = test::MadeImage::memory_at, node = M + 0x1000, entry = M + 0x1800, an_atom = 0x40b,
                            another = 0x44b;
    const std::uint32_t release = GENERATE(25u, 27u);
    const auto found = [release](std::uint64_t at_node, std::uint64_t name_of_node, std::uint64_t name_of_entry,
                                 bool entry_is_there) {
        test::MadeImage made(release);
        made.memory.resize(0x4000);
        const otp::Offsets& at = made.at();
        made.memory.word(at_node - M + at.node_name, name_of_node);
        made.memory.word(at_node - M + at.node_entry, entry);
        made.memory.word(entry - M + at.entry_name, name_of_entry);
        made.statics.word(0x300, at_node);
        if (entry_is_there) made.statics.word(0x308, entry);
        made.start();
        return otp::find_roots(*made.vm.image, made.vm.layout).this_node;
    };
    CHECK(found(node, an_atom, an_atom, true) == node);
    CHECK(found(node, an_atom, another, true) == 0);
    CHECK(found(node, 5, 5, true) == 0);               // no atom
    CHECK(found(node, an_atom, an_atom, false) == 0);  // its entry is a variable of the VM's too
    CHECK(found(node + 4, an_atom, an_atom, true) == 0);
}

TEST_CASE("frames have pointers where more processes' lie in their stacks than elsewhere", "[otp][roots]") {
    constexpr std::uint64_t M = test::MadeImage::memory_at, slots = M + 0x1000;
    const auto process = [](std::uint64_t i) { return M + 0x4000 + 0x1000 * i; };
    const auto told = [&](int inside, int outside, int odd) {
        test::MadeImage made(25);
        made.memory.resize(0x20000);
        const otp::Offsets& at = made.at();
        const auto put = [&](std::uint64_t address, std::uint64_t word) { made.memory.word(address - M, word); };
        made.statics.put<std::uint32_t>(0x400 + at.table_count, 8);
        made.statics.put<std::uint32_t>(0x400 + at.table_max, 1024);
        made.statics.word(0x400 + at.table_slots, slots);
        for (std::uint64_t i = 0; i < 8; ++i) {
            put(slots + 8 * i, process(i));
            put(process(i), i << 32 | i << 4 | 3);
            put(process(i) + at.process_stop, M + 0x1000);
            put(process(i) + at.process_heap_end, M + 0x2000);
            put(process(i) + at.process_frame_pointer, static_cast<int>(i) < inside             ? M + 0x1ff8
                                                       : static_cast<int>(i) < inside + outside ? M + 0x2000
                                                                                                : 0);
        }
        for (int i = 0; i < odd; ++i) {  // no process begins there, whatever seems to be in it
            const std::uint64_t at_odd = process(10) + 1;
            put(slots + 8 * (20 + static_cast<std::uint64_t>(i)), at_odd);
            put(at_odd + at.process_stop, M + 0x1000);
            put(at_odd + at.process_heap_end, M + 0x2000);
            put(at_odd + at.process_frame_pointer, M + 0x1ff8);
        }
        made.start();
        const otp::Roots roots = otp::find_roots(*made.vm.image, made.vm.layout);
        REQUIRE(roots.process_table == test::MadeImage::statics_at + 0x400);
        return roots.frame_pointers;
    };
    CHECK_FALSE(told(0, 0, 0));
    CHECK(told(1, 0, 0));
    CHECK(told(4, 3, 0));
    CHECK_FALSE(told(3, 3, 0));
    CHECK_FALSE(told(0, 2, 0));
    CHECK_FALSE(told(0, 1, 3));
}
