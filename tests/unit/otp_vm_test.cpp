// SPDX-License-Identifier: Apache-2.0
// Structures of the VM in made-up memory: identifiers, queues, link trees, binaries, layouts; healthy and broken.
#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "formats/otp/layout/layout.hpp"
#include "formats/otp/processes/links.hpp"
#include "formats/otp/processes/process_table.hpp"
#include "formats/otp/processes/queues.hpp"
#include "formats/otp/tables/ets_objects.hpp"
#include "formats/otp/tables/ets_status.hpp"
#include "formats/otp/vm/binaries.hpp"
#include "formats/otp/vm/code.hpp"
#include "formats/otp/vm/image.hpp"
#include "formats/otp/vm/young_heap.hpp"
#include "support/elf_writer.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::Blob;

namespace {

constexpr std::uint64_t base = 0x700000000000ull;

// Memory of one segment, and a VM of a release over it.
struct World {
    explicit World(std::uint32_t release) {
        vm.layout = *find_layout(release, release < 24 ? Flavour::interpreter : Flavour::jit);
    }
    const Offsets& at() const { return vm.layout.at; }
    Reader& reader() {
        space = {};
        space.add(base, memory.bytes(), bytes::AddressSpace::Origin::core, true);
        space.seal();
        made.emplace(vm, space, snapshot);
        return *made;
    }
    Vm vm;
    Blob memory;
    bytes::AddressSpace space;
    Snapshot snapshot;
    std::optional<Reader> made;
};

constexpr Word pid_28(std::uint32_t number, std::uint32_t serial) {
    return static_cast<Word>(serial << 15 | number) << 4 | 3;
}

}  // namespace

TEST_CASE("the version line of an executable is understood", "[otp][image]") {
    const auto jit = parse_build("Erlang/OTP 25%s [erts-13.1.5] [source] [64-bit] [smp:%beu:%beu] [jit:ns%s]\n");
    REQUIRE(jit);
    CHECK(jit->line == "Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp] [jit:ns]");
    CHECK(jit->release == 25);
    CHECK(jit->erts_version == "13.1.5");
    CHECK(jit->jit);
    CHECK_FALSE(jit->hipe);
    CHECK(jit->foreign.empty());
    const auto debug = parse_build("Erlang/OTP 27%s [erts-15.2] [source] [64-bit] [debug-compiled]\n");
    REQUIRE(debug);
    CHECK(debug->foreign == "debug-compiled");
    CHECK_FALSE(debug->jit);
    CHECK_FALSE(parse_build("Erlang/OTP 18. For more information"));
    CHECK_FALSE(parse_build("Erlang/OTP "));
    CHECK_FALSE(parse_build("Erlang/OTP x%s [erts-1.0]"));
    CHECK_FALSE(parse_build("Erlang/OTP 27%s [erts-"));
}

TEST_CASE("every layout has what all releases have", "[otp][layout]") {
    // What came or went with some release; everything else must be known of each.
    const std::vector<std::string_view> optional = {
        "process_frame_pointer", "process_inner_queue_length", "process_message_length", "process_marker_block",
        "process_queue_buffers", "process_writable_binaries", "buffer_size", "buffer_queue", "marker_block_size",
        "extended_link_size", "extended_link_users", "extended_link_heap", "monitor_heap_tag_size", "link_type",
        "fun_free_count", "fun_thing_arity", "registers_x", "ets_hash_lock_count", "breakpoint_session",
        "breakpoint_next", "breakpoint_memory",
        // Behind parts of the scheduler that differ with the flavour: known of those whose debug information was at
        // hand.
        "scheduler_wall_enabled", "scheduler_wall_start", "scheduler_working_total", "scheduler_working_start"};
    REQUIRE(known_layouts().size() >= 6);
    for (const Layout& layout : known_layouts()) {
        for (const FieldName& field : field_names()) {
            if (std::find(optional.begin(), optional.end(), field.member) != optional.end()) continue;
            INFO("OTP " << layout.release << " " << field.member);
            CHECK(layout.at.*field.field != absent);
        }
        CHECK(layout.at.process_run_queue + 8 <= layout.at.process_size);
        CHECK(layout.at.process_heap_end == layout.at.process_heap + 8);
        CHECK(layout.at.message_size == 88);
    }
    const std::uint32_t last = known_layouts().back().release;
    CHECK(find_layout(last, Flavour::jit)->release == last);
    CHECK(find_layout(last + 1, Flavour::jit) == nullptr);
    CHECK(find_layout(25, Flavour::hipe) == nullptr);
    REQUIRE(nearest_layouts(last + 1, Flavour::interpreter).size() == 1);
    CHECK(nearest_layouts(last + 1, Flavour::interpreter)[0]->flavour == Flavour::interpreter);
    CHECK(nearest_layouts(last + 1, Flavour::interpreter)[0]->release == last);
}

TEST_CASE("local identifiers of both forms", "[otp][pid]") {
    World old(25);
    CHECK(old.reader().pid(pid_28(95, 3)) == Pid{0, 95, 3});
    CHECK(old.reader().port(Word{7} << 4 | 7).number == 7);
    CHECK_FALSE(old.reader().pid(0x3b).has());

    World recent(27);
    // The table of a node with 1048576 slots, whose cache lines hold 8 of them.
    SlotTable& table = recent.vm.processes;
    table.mask = 0xfffff;
    table.line_mask = 0x1ffff;
    table.item_mask = 7;
    table.line_shift = 3;
    table.item_shift = 17;
    for (const std::uint64_t number : {0ull, 1ull, 10ull, 512ull, 131073ull, 1048575ull}) {
        // A number's low 17 bits choose the line, the next 3 the place in it.
        const std::uint64_t slot = (number & 0x1ffff) << 3 | (number >> 17 & 7);
        CHECK(recent.reader().pid(slot << 4 | 3) == Pid{0, static_cast<std::uint32_t>(number), 0});
        CHECK(table.slot_of(slot << 4 | 3, PidForm::shuffled60) == slot);
    }
}

TEST_CASE("messages are counted over all queues, other signals are not", "[otp][queue]") {
    World world(27);
    const Offsets& at = world.at();
    const std::size_t process = 0, first = 4096;
    const auto message = [&](std::size_t offset, std::uint64_t next, Word term) {
        world.memory.word(offset, next);
        world.memory.word(offset + at.message_attached, 0);
        world.memory.word(offset + at.message_words, term);
        world.memory.word(offset + at.message_words + 8, 0x3b);
        world.memory.word(offset + at.message_words + 16, 0x0b);
    };
    world.memory.resize(16384);
    world.memory.word(process + at.process_inner_queue, base + first);
    world.memory.word(process + at.process_outer_queue, base + first + 300);
    message(first, base + first + 104, 0x0b);
    message(first + 104, base + first + 208, 0x30 | 5 << 6);  // a signal: LINK
    message(first + 208, 0, 0);  // a distribution message that was not decoded yet, in its fragment
    world.memory.word(first + 208 + at.message_attached, 1);

    SECTION("two lists") {
        message(first + 300, 0, 0xf);
        // No multiple of 8: not an address of a signal.
        Reader& reader = world.reader();
        const QueueSums broken = sum_queues(reader, world.memory.bytes().data() + process);
        CHECK(broken.messages == 2);
        CHECK(broken.others == 1);
        CHECK(broken.cut);
        world.memory.word(process + at.process_outer_queue, base + first + 312);
        message(first + 312, 0, 0xf);
        const QueueSums sums = sum_queues(world.reader(), world.memory.bytes().data() + process);
        CHECK(sums.messages == 3);
        CHECK(sums.others == 1);
        CHECK_FALSE(sums.cut);
        CHECK_FALSE(sums.cyclic);
    }
    SECTION("a list that leads back") {
        world.memory.word(process + at.process_outer_queue, 0);
        message(first + 208, base + first + 104, 0xf);
        const QueueSums sums = sum_queues(world.reader(), world.memory.bytes().data() + process);
        CHECK(sums.cyclic);
        CHECK_FALSE(sums.cut);
    }
    SECTION("a list that leaves the image") {
        world.memory.word(process + at.process_outer_queue, 0);
        message(first + 208, 0x1000, 0xf);
        const QueueSums sums = sum_queues(world.reader(), world.memory.bytes().data() + process);
        CHECK(sums.messages == 2);
        CHECK(sums.cut);
    }
    SECTION("a message with fragments") {
        world.memory.word(process + at.process_outer_queue, 0);
        world.memory.word(first + at.message_attached, 1);
        world.memory.word(first + at.message_fragment + at.fragment_used, 7);
        world.memory.word(first + at.message_fragment + at.fragment_next, base + 8192);
        world.memory.word(8192 + at.fragment_used, 5);
        const QueueSums sums = sum_queues(world.reader(), world.memory.bytes().data() + process);
        CHECK(sums.fragment_words == 12);
    }
}

TEST_CASE("receive markers count with their bytes", "[otp][queue]") {
    for (const std::uint32_t release : {25u, 27u, 29u}) {
        World world(release);
        const Offsets& at = world.at();
        const std::size_t block = 4096, markers = block + 8 * 8;
        world.memory.resize(8192);
        world.memory.word(at.process_marker_block, base + block);
        world.memory.word(at.process_inner_queue, base + markers + 56);
        world.memory.word(markers + 56, base + 6144);  // the second of the block
        world.memory.word(markers + 56 + at.message_words, 0x30 | 16 << 6);
        world.memory.word(6144 + at.message_words, 0x30 | 16 << 6);  // some other signal
        const QueueSums sums = sum_queues(world.reader(), world.memory.bytes().data());
        INFO("OTP " << release);
        CHECK(sums.others == 2);
        CHECK(sums.marker_bytes == 56);  // sizeof(ErtsRecvMarker)
    }
}

TEST_CASE("the young heap of a process, and what stands in for it", "[otp][heap]") {
    for (const std::uint32_t release : {23u, 25u, 27u, 29u}) {
        INFO("OTP " << release);
        World world(release);
        const Offsets& at = world.at();
        const std::uint64_t block = base + 4096, fragment = base + 8192, memory = fragment + at.fragment_memory;
        world.memory.resize(16384);
        const auto process = [&](std::uint64_t heap, std::uint64_t top, std::uint64_t stop, std::uint64_t end,
                                 std::uint64_t words, std::uint64_t abandoned) {
            world.memory.word(at.process_heap, heap);
            world.memory.word(at.process_htop, top);
            world.memory.word(at.process_stop, stop);
            world.memory.word(at.process_heap_end, end);
            world.memory.word(at.process_heap_words, words);
            world.memory.word(at.process_abandoned_heap, abandoned);
            return read_young_heap(world.reader().memory, world.vm.layout, world.memory.bytes().data());
        };
        const YoungHeap plain = process(block, block + 80, block + 720, block + 800, 100, 0);
        CHECK(plain.fits);
        CHECK_FALSE(plain.abandoned());
        CHECK_FALSE(process(block, block + 80, block + 720, block + 800, 99, 0).fits);
        CHECK_FALSE(process(block, block + 80, block + 64, block + 800, 100, 0).fits);
        // The fragment is as long as its head says; OTP 27 and later have a word behind the stack.
        for (const std::uint64_t behind : {0, 1, 2}) {
            world.memory.word(8192 + at.fragment_allocated, 50 + behind);
            const YoungHeap moved = process(memory, memory + 16, memory + 380, memory + 400, 100, block);
            CHECK(moved.fits == (behind < 2));
            CHECK(moved.abandoned() == (behind < 2));
        }
        world.memory.word(8192 + at.fragment_allocated, 50);
        const auto moved = [&] { return process(memory, memory + 16, memory + 384, memory + 400, 100, block); };
        CHECK(moved().words == 100);
        CHECK(moved().block_top == block + 800);             // full
        world.memory.word(4096 + 8 * 60, 39 << 6 | 2 << 2);  // what is left, as a dead bignum
        world.memory.word(4096 + 8 * 99, 60);
        CHECK(moved().block_top == block + 8 * 60);
        world.memory.word(4096 + 8 * 99, 61);  // no bignum there
        CHECK(moved().block_top == block + 800);
        CHECK_FALSE(process(memory, memory + 16, memory + 384, memory + 400, 100, 0x1000).fits);
    }
}

TEST_CASE("a table that leads back into itself is walked no longer than it counts", "[otp][ets]") {
    for (const std::uint32_t release : {23u, 25u, 27u, 29u}) {
        INFO("OTP " << release);
        World world(release);
        const Offsets& at = world.at();
        constexpr std::size_t nodes = 4096, node_bytes = 256;
        constexpr std::uint64_t first = base + nodes;
        world.memory.resize(1 << 20);
        world.memory.put<std::uint32_t>(at.ets_key_position, 1);
        // A tuple of one element in each of these nodes, whatever its kind.
        const auto object = [&](std::size_t node, std::uint32_t term) {
            const std::size_t place = nodes + node * node_bytes + term;
            world.memory.word(place + at.ets_term_size, 2);
            world.memory.word(place + at.ets_term_tuple, 1 << 6);
            world.memory.word(place + at.ets_term_tuple + 8, 15);
        };
        const auto link = [&](std::size_t node, std::uint64_t left, std::uint64_t right) {
            world.memory.word(nodes + node * node_bytes, left);
            world.memory.word(nodes + node * node_bytes + 8, right);
        };
        SECTION("a tree") {
            world.memory.put<std::uint32_t>(at.ets_status, ets_status::ordered_set | ets_status::is_public);
            world.memory.word(at.ets_tree_root, first);
            for (std::size_t i = 0; i < 64; ++i) object(i, at.ets_tree_term);
            link(0, first + node_bytes, first + 2 * node_bytes);
            link(1, 0, 0);
            link(2, 0, 0);
            const EtsObjects sound = read_ets_objects(world.reader(), base, 1000000, 3);
            CHECK((sound.objects.size() == 3 && !sound.damaged));
            link(2, 0, first);  // from the right back to the root
            const EtsObjects circle = read_ets_objects(world.reader(), base, 1000000000, 3);
            CHECK((circle.damaged && circle.objects.size() < 10000));
            // No circle, but each node has the next one on both sides: 2^63 ways through it.
            for (std::size_t i = 0; i < 63; ++i) link(i, first + (i + 1) * node_bytes, first + (i + 1) * node_bytes);
            link(63, 0, 0);
            const EtsObjects shared = read_ets_objects(world.reader(), base, 1000000000, 64);
            CHECK((shared.damaged && shared.objects.size() < 10000));
            // Where the count is lost, memory is the bound.
            const EtsObjects uncounted = read_ets_objects(world.reader(), base, 1000000000, {});
            CHECK((uncounted.damaged && uncounted.objects.size() <= world.memory.size() / 48 + 2));
        }
        SECTION("a hash table all of whose buckets are one list") {
            constexpr std::size_t segment = 1 << 16, buckets = 256;
            world.memory.put<std::uint32_t>(at.ets_status, ets_status::set | ets_status::is_public);
            world.memory.word(at.ets_hash_buckets, buckets);
            world.memory.word(at.ets_hash_segments, base + segment - 8);
            world.memory.word(segment - 8, base + segment);
            for (std::size_t i = 0; i < 64; ++i) {
                object(i, at.ets_hash_term);
                world.memory.word(nodes + i * node_bytes, i == 63 ? 0 : first + (i + 1) * node_bytes);
            }
            for (std::size_t i = 0; i < buckets; ++i) world.memory.word(segment + 8 * i, i == 5 ? first : 0);
            const EtsObjects sound = read_ets_objects(world.reader(), base, 1000000, 64);
            CHECK((sound.objects.size() == 64 && !sound.damaged));
            CHECK(read_ets_deleted(world.reader(), base) == Count(0));
            // While it is fixed its chains hold what was deleted, too, however much that is.
            world.memory.word(at.ets_fixed, 1);
            for (std::size_t i = 1; i < 64; ++i)
                world.memory.put<std::uint8_t>(nodes + i * node_bytes + at.ets_hash_hidden, 0x80);
            const EtsObjects fixed = read_ets_objects(world.reader(), base, 1000000, 1);
            CHECK((fixed.objects.size() == 1 && !fixed.damaged));
            CHECK(read_ets_deleted(world.reader(), base) == Count(63));
            world.memory.word(nodes + 63 * node_bytes, first);
            CHECK_FALSE(read_ets_deleted(world.reader(), base).has());  // a circle
            world.memory.word(nodes + 63 * node_bytes, 0);
            world.memory.word(at.ets_fixed, 0);
            for (std::size_t i = 1; i < 64; ++i)
                world.memory.put<std::uint8_t>(nodes + i * node_bytes + at.ets_hash_hidden, 0);
            for (std::size_t i = 0; i < buckets; ++i) world.memory.word(segment + 8 * i, first);
            const EtsObjects all = read_ets_objects(world.reader(), base, 1000000000, 64);
            CHECK((all.damaged && all.objects.size() < 10000));
        }
    }
}

TEST_CASE("links and monitors are told apart by type, in every release's form", "[otp][links]") {
    for (const std::uint32_t release : {23u, 24u, 25u, 27u, 29u}) {
        INFO("OTP " << release);
        World world(release);
        const Offsets& at = world.at();
        world.memory.resize(8192);
        const std::uint32_t link_type = release == 23 ? 8 : release == 24 ? 9 : 10;
        const auto node = [&](std::size_t offset, std::uint64_t parent, std::uint64_t right, std::uint64_t left,
                              Word item, std::uint32_t type, std::uint32_t flags) {
            world.memory.word(offset, parent);
            world.memory.word(offset + 8, right);
            world.memory.word(offset + 16, left);
            world.memory.word(offset + at.link_item, item);
            if (release == 29) {
                world.memory.put<std::uint32_t>(offset + at.link_flags, type | flags << 7);
            } else {
                world.memory.put<std::uint16_t>(offset + at.link_flags, static_cast<std::uint16_t>(flags));
                world.memory.put<std::uint16_t>(offset + at.link_type, static_cast<std::uint16_t>(type));
            }
        };
        // Small pids mean themselves in both forms while the table has no masks.
        const auto pid = [&](std::uint32_t n) { return static_cast<Word>(n) << 4 | 3; };
        world.vm.processes.mask = 0;
        node(0x100, 0, base + 0x200, base + 0x300, pid(1), link_type, 2);
        node(0x200, (base + 0x100) | 1, 0, 0, pid(2), link_type, 2);
        node(0x300, base + 0x100, 0, 0, pid(3), link_type, 2);
        node(0x400, 0, 0, 0, pid(4), 0, 2);                            // monitors <0.4.0>
        node(0x500, base + 0x500, base + 0x500, 0, pid(5), 0, 1 | 2);  // monitored by <0.5.0>: a ring of one
        std::vector<Link> found;
        Reader& reader = world.reader();
        const LinkSums sums = LinkReader(reader).read({base + 0x100, base + 0x400, base + 0x500}, &found);
        CHECK(sums.links == 3);
        CHECK(sums.monitors == 1);
        CHECK_FALSE(sums.damaged);
        REQUIRE(found.size() == 5);
        CHECK(found[0].kind == LinkKind::link);
        CHECK(found[3].kind == LinkKind::monitors);
        CHECK(found[3].pid == Pid{0, 4, 0});
        CHECK(found[4].kind == LinkKind::monitored_by);

        // A tree whose leaf points back at its root, and a ring that never returns to its start.
        node(0x200, (base + 0x100) | 1, base + 0x100, 0, pid(2), link_type, 2);
        node(0x500, base + 0x600, base + 0x600, 0, pid(5), 0, 1 | 2);
        node(0x600, base + 0x700, base + 0x500, 0, pid(6), 0, 1 | 2);
        node(0x700, base + 0x600, base + 0x600, 0, pid(7), 0, 1 | 2);
        // The image may say that a release without a member for the type still has one.
        if (release == 29) {
            World overruled(29);
            overruled.vm.layout.link_types = LinkTypes::since_25;
            overruled.memory.resize(1024);
            overruled.memory.word(0x100 + at.link_item, pid(1));
            overruled.memory.put<std::uint32_t>(0x100 + at.link_flags, 10u << 16 | 2);
            CHECK(LinkReader(overruled.reader()).read({base + 0x100, 0, 0}, nullptr).links == 1);
        }
        found.clear();
        const LinkSums broken = LinkReader(world.reader()).read({base + 0x100, 0, base + 0x500}, &found);
        CHECK(broken.damaged);
        CHECK(broken.links == 3);
        CHECK(found.size() < 16);
    }
}

TEST_CASE("each type of link or monitor is its kind, and takes its structure's bytes", "[otp][links]") {
    // By type: Monitor, Resource, Node, Suspend, Link, Alias (and what else is nobody's: of all nodes, unknown).
    const std::vector<std::pair<std::uint32_t, std::string_view>> types{
        {23, "MMMMRN-SLLL-"}, {24, "MMMMRN-SALLL-"}, {25, "MMMMMRN-SALLLL-"}, {29, "MMMMMRN-SALLLL-"}};
    for (const auto& [release, kinds] : types)
        for (std::uint32_t type = 0; type < kinds.size(); ++type)
            for (const bool target : {false, true}) {
                INFO("OTP " << release << ", type " << type << (target ? ", target" : ""));
                World world(release);
                const Offsets& at = world.at();
                world.memory.resize(8192);
                world.vm.processes.mask = 0;
                constexpr std::uint32_t place = 0x400;  // of the node; its structure begins before it
                constexpr std::uint16_t before = 0x80;
                world.memory.word(place + at.link_item, 7 << 4 | 3);
                world.memory.put<std::uint16_t>(place + at.link_offset, before);
                if (release == 29) {
                    world.memory.put<std::uint32_t>(place + at.link_flags, type | (target ? 1u : 0u) << 7);
                } else {
                    world.memory.put<std::uint16_t>(place + at.link_flags, target ? 1 : 0);
                    world.memory.put<std::uint16_t>(place + at.link_type, static_cast<std::uint16_t>(type));
                }
                const char kind = kinds[type];
                const bool is_link = kind == 'L';
                if (!is_link) world.memory.put<std::uint32_t>(place - before + at.monitor_data_users, 2);
                else if (release == 23) world.memory.put<std::uint32_t>(place - before + at.link_data_users, 2);
                std::vector<Link> found;
                const LinkSums sums = LinkReader(world.reader()).read({base + place, 0, 0}, &found);
                CHECK_FALSE(sums.damaged);
                CHECK(sums.links == (is_link ? 1 : 0));
                CHECK(sums.monitors == (kind == 'N' || (kind == 'M' && !target) ? 1 : 0));
                const std::uint64_t size = is_link       ? (release == 23 ? at.link_data_size / 2 : at.link_node_size)
                                           : kind == 'A' ? at.monitor_data_size / 2
                                           : kind == 'S' ? at.monitor_suspend_size / 2
                                                         : at.monitor_heap_data_size / 2;
                CHECK(sums.bytes == size);
                REQUIRE(found.size() == (kind == '-' || kind == 'A' ? 0 : 1));
                if (found.empty()) continue;
                switch (kind) {
                    case 'L': CHECK(found[0].kind == LinkKind::link); break;
                    case 'M': CHECK(found[0].kind == (target ? LinkKind::monitored_by : LinkKind::monitors)); break;
                    case 'S': CHECK(found[0].kind == (target ? LinkKind::suspended_by : LinkKind::suspends)); break;
                    case 'N': CHECK(found[0].kind == LinkKind::node_monitor); break;
                    default: CHECK(found[0].kind == LinkKind::resource);
                }
                if (kind != 'R' && kind != 'N') CHECK(found[0].pid == Pid{0, 7, 0});
            }
}

TEST_CASE("binaries of all forms are read in place", "[otp][binary]") {
    World old(25);
    old.memory.resize(512);
    old.memory.word(0, 3u << 6 | 9u << 2);  // heap binary of 5 bytes
    old.memory.word(8, 5);
    old.memory.text(16, "hello");
    old.memory.word(64, 5u << 6 | 8u << 2);  // refc binary of 9 bytes
    old.memory.word(72, 9);
    old.memory.word(96, base + 256);
    old.memory.text(256, "refc text");
    old.memory.word(128, 4u << 6 | 10u << 2);  // 4 bytes of it, from byte 5
    old.memory.word(136, 4);
    old.memory.word(144, 5);
    old.memory.word(160, (base + 64) | 2);
    Reader& reader = old.reader();
    CHECK(small_binary(reader.memory, old.vm.layout, base | 2, 100) == std::string_view("hello"));
    CHECK(small_binary(reader.memory, old.vm.layout, (base + 64) | 2, 100) == std::string_view("refc text"));
    CHECK(small_binary(reader.memory, old.vm.layout, (base + 128) | 2, 100) == std::string_view("text"));
    CHECK_FALSE(small_binary(reader.memory, old.vm.layout, (base + 64) | 2, 8));
    CHECK(small_binary(reader.memory, old.vm.layout, (base + 64) | 2, 9) == std::string_view("refc text"));
    CHECK(small_binary(reader.memory, old.vm.layout, base | 2, 5) == std::string_view("hello"));
    CHECK_FALSE(small_binary(reader.memory, old.vm.layout, base | 2, 4));
    CHECK_FALSE(small_binary(reader.memory, old.vm.layout, 0x3b, 100));

    World recent(29);
    recent.memory.resize(512);
    recent.memory.word(0, 3u << 6 | 8u << 2);  // 40 bits
    recent.memory.word(8, 40);
    recent.memory.text(16, "hello");
    recent.memory.word(64, 4u << 6 | 9u << 2);  // bytes 2 to 6 of a text
    recent.memory.word(72, (base + 256) | 1);
    recent.memory.word(80, 16);
    recent.memory.word(88, 48);
    recent.memory.text(256, "a text");
    Reader& fresh = recent.reader();
    CHECK(small_binary(fresh.memory, recent.vm.layout, base | 2, 100) == std::string_view("hello"));
    CHECK(small_binary(fresh.memory, recent.vm.layout, (base + 64) | 2, 100) == std::string_view("text"));
    // as long as it may be, and one more
    CHECK(small_binary(fresh.memory, recent.vm.layout, base | 2, 5) == std::string_view("hello"));
    CHECK_FALSE(small_binary(fresh.memory, recent.vm.layout, base | 2, 4));
    CHECK(small_binary(fresh.memory, recent.vm.layout, (base + 64) | 2, 4) == std::string_view("text"));
    CHECK_FALSE(small_binary(fresh.memory, recent.vm.layout, (base + 64) | 2, 3));
}

TEST_CASE("states as process_info says them", "[otp][state]") {
    CHECK(state_of(0x2a) == ProcessState::waiting);
    CHECK(state_of(0xa02a) == ProcessState::running);
    CHECK(state_of(0x2000202a) == ProcessState::running);
    CHECK(state_of(0x2a | 1 << 16) == ProcessState::suspended);
    CHECK(state_of(0x2a | 1 << 13) == ProcessState::runnable);
    CHECK(state_of(0x2a | 1 << 17 | 1 << 15) == ProcessState::garbage_collecting);
    CHECK(state_of(0x20000c2a) == ProcessState::exiting);
    const auto last_flag = [](std::uint32_t release, std::uint32_t bit) {
        const std::string flags = state_flags(*find_layout(release, Flavour::jit), 1u << bit);
        return flags.substr(flags.rfind(' ') + 1);
    };
    CHECK(last_flag(25, 12) == "MAYBE_SELF_SIGS");
    CHECK(last_flag(26, 12) == "MSG_SIG_IN_Q");
    CHECK(last_flag(25, 19) == "SIG_IN_Q");
    CHECK(last_flag(26, 19) == "NMSG_SIG_IN_Q");
    CHECK(state_flags(*find_layout(27, Flavour::jit), 0x0100002a) ==
          "ACT_PRIO_NORMAL | USR_PRIO_NORMAL | PRQ_PRIO_NORMAL | OFF_HEAP_MSGQ");
    // all of them, in the order and the words of a crash dump
    CHECK(state_flags(*find_layout(27, Flavour::jit), 0x7fffffc0) ==
          "ACT_PRIO_MAX | USR_PRIO_MAX | PRQ_PRIO_MAX | IN_PRQ_MAX | IN_PRQ_HIGH | IN_PRQ_NORMAL | IN_PRQ_LOW | FREE | "
          "EXITING | MSG_SIG_IN_Q | ACTIVE | IN_RUNQ | RUNNING | SUSPENDED | GC | SYS_TASKS | NMSG_SIG_IN_Q | "
          "ACTIVE_SYS | RUNNING_SYS | PROXY "
          "| DELAYED_SYS | OFF_HEAP_MSGQ | SIG_Q | DIRTY_CPU_PROC | DIRTY_IO_PROC | DIRTY_ACTIVE_SYS | DIRTY_RUNNING | "
          "DIRTY_RUNNING_SYS");
}

TEST_CASE("an executable is looked for where it was, by its build id, and beside the image", "[otp][image]") {
    const auto has = [](const std::vector<std::string>& places, std::string_view place) {
        return std::find(places.begin(), places.end(), place) != places.end();
    };
    const auto known = executable_places("/dumps/node.core.zst", "/opt/erts/bin/beam.smp", "12abcd");
    CHECK(known.front() == "/opt/erts/bin/beam.smp");
    CHECK(known[1] == "/usr/lib/.build-id/12/abcd");
    CHECK(has(known, "/dumps/beam.smp"));
    CHECK(known.back() == "/dumps/node.beam.smp");
    CHECK(executable_places("core.4711", "", "").front() == "./beam.smp");
    CHECK(executable_places("core.4711", "", "").size() == 2);
    CHECK(executable_places("core.4711", "", "12").size() == 2);
    CHECK(executable_places("a/core.4711", "", "").back() == "a/core.4711.beam.smp");
    for (const char* suffix : {".gz", ".xz", ".zst", ".core"})
        CHECK(executable_places(std::string("a/n") + suffix, "", "").back() == "a/n.beam.smp");
    CHECK(executable_places("a/.gz", "", "").back() == "a/.gz.beam.smp");
    CHECK(has(executable_places("a/c", "/x/beam.debug.smp", ""), "a/beam.debug.smp"));
}

TEST_CASE("a place in code is a function and a line, of the module's file or of an included one", "[otp][code]") {
    for (const Layout& layout : known_layouts()) {
        INFO(layout.source);
        World world(layout.release < 24 ? 25 : layout.release);
        world.vm.layout = layout;
        const Offsets& at = layout.at;
        Blob& memory = world.memory;
        memory.resize(0x8000);
        // Two modules, and one that was purged between them. The second of three sets of ranges is the active one.
        constexpr std::uint64_t ranges = 0x100, list = 0x200, module = 0x1000, code = 0x1400, lines = 0x3000;
        Roots roots;
        roots.code_ranges = base + ranges;
        roots.code_index = 1;
        memory.word(ranges + 32, base + list);
        memory.word(ranges + 40, 3);
        const std::uint64_t bounds[] = {base + module, base + 0x2000, base + 0x2400,
                                        base + 0x2400, base + 0x2800, base + 0x2a00};
        for (std::size_t i = 0; i < 6; ++i) memory.word(list + 8 * i, bounds[i]);
        // Two functions, m:f/1 and m:g/258 (of whose arity a byte counts), and where the last one ends.
        constexpr Word m = 100 << 6 | 0xb, f = 101 << 6 | 0xb, g = 102 << 6 | 0xb;
        memory.word(module, 2);
        const std::uint64_t functions[] = {code, code + 0x100, code + 0x200};
        for (std::size_t i = 0; i < 3; ++i) memory.word(module + at.code_functions + 8 * i, base + functions[i]);
        for (std::size_t i = 0; i < 2; ++i) {
            memory.word(functions[i] + at.code_info_mfa, m);
            memory.word(functions[i] + at.code_info_mfa + 8, i == 0 ? f : g);
            memory.word(functions[i] + at.code_info_mfa + 16, i == 0 ? 1 : 258);
        }
        // Lines: in f from +40 on line 10, from +80 on line 11 of the second file; in g from +40 on line 20.
        memory.word(module + at.code_line_table, base + lines);
        memory.word(lines + at.lines_file_names, base + 0x4000);
        memory.put<std::uint32_t>(lines + at.lines_location_size, 4);
        memory.word(lines + at.lines_locations, base + 0x4100);
        const std::uint64_t table = 0x4200;
        const std::uint64_t starts[] = {table, table + 16, table + 24};
        for (std::size_t i = 0; i < 3; ++i) memory.word(lines + at.lines_functions + 8 * i, base + starts[i]);
        const std::uint64_t places[] = {code + 0x40, code + 0x80, code + 0x140};
        for (std::size_t i = 0; i < 3; ++i) memory.word(table + 8 * i, base + places[i]);
        const std::uint32_t locations[] = {10, 2u << 24 | 11, 20};
        for (std::size_t i = 0; i < 3; ++i) memory.put<std::uint32_t>(0x4100 + 4 * i, locations[i]);

        Reader& reader = world.reader();
        const Code read(reader.memory, layout, roots);
        REQUIRE(read.modules().size() == 2);
        CHECK(read.readable());
        CHECK(read.holds(base + module));
        CHECK(read.holds(base + 0x1fff));
        CHECK_FALSE(read.holds(base + 0x2000));
        CHECK_FALSE(read.holds(base + module - 1));
        CHECK(read.holds(base + 0x2800));
        const auto told = [&](std::uint64_t offset) {
            const auto place = read.find(reader.memory, base + code + offset);
            REQUIRE(place);
            const Code::Line line = read.line(reader.memory, *place, base + code + offset);
            return std::vector<std::uint64_t>{
                place->mfa.function == f ? 0u : 1u, place->mfa.arity, place->index, line.line, line.file, line.names};
        };
        using Numbers = std::vector<std::uint64_t>;
        CHECK(told(0) == Numbers{0, 1, 0, 0, 0, 0});
        CHECK(told(0x40) == Numbers{0, 1, 0, 10, 0, 0});
        CHECK(told(0x7f) == Numbers{0, 1, 0, 10, 0, 0});
        CHECK(told(0x80) == Numbers{0, 1, 0, 11, 2, base + 0x4000});
        CHECK(told(0xff) == Numbers{0, 1, 0, 11, 2, base + 0x4000});
        CHECK(told(0x13f) == Numbers{1, 2, 1, 0, 0, 0});
        CHECK(told(0x1ff) == Numbers{1, 2, 1, 20, 0, 0});
        CHECK_FALSE(read.find(reader.memory, base + code + 0x200));
        CHECK_FALSE(read.find(reader.memory, base + code - 1));
        CHECK_FALSE(read.find(reader.memory, base + 0x2800));  // a module without functions
        // Locations of two bytes have no file.
        memory.put<std::uint32_t>(lines + at.lines_location_size, 2);
        for (std::size_t i = 0; i < 3; ++i)
            memory.put<std::uint16_t>(0x4100 + 2 * i, static_cast<std::uint16_t>(30 + i));
        Reader& again = world.reader();
        const auto place = read.find(again.memory, base + code + 0x80);
        REQUIRE(place);
        CHECK(read.line(again.memory, *place, base + code + 0x80).line == 31);
        CHECK(read.line(again.memory, *place, base + code + 0x80).file == 0);
    }
}
