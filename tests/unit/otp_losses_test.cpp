// SPDX-License-Identifier: Apache-2.0
// What zeros take from a VM's tables is told by what is known of it elsewhere: made-up memory, whole and with a page of
// zeros.
#include <catch2/catch.hpp>

#include "formats/otp/tables/ets_status.hpp"
#include "formats/otp/tables/tables.hpp"
#include "support/made_image.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::MadeImage;

namespace {

constexpr std::uint64_t image_at = MadeImage::memory_at;

struct MadeNode : MadeImage {
    explicit MadeNode(std::uint32_t release) : MadeImage(release) { memory.resize(0x100000); }
    void put(std::uint64_t address, std::uint64_t word) { memory.word(address - image_at, word); }
    void zeros(std::uint64_t address, std::uint64_t bytes) {
        for (std::uint64_t i = 0; i < bytes; i += 8) put(address + i, 0);
    }
    std::uint64_t lost(Anomaly kind) const { return snapshot.anomalies[kind].count; }
};

// Two schedulers: one made three tables, the other a single one; a process owns the second and the fourth.
struct Tables : MadeNode {
    static constexpr std::uint64_t schedulers[] = {image_at + 0x10000, image_at + 0x20000}, owner = image_at + 0x30000,
                                   specific = image_at + 0x40000;
    static constexpr std::uint64_t table(std::uint64_t i) { return image_at + 0x50000 + 0x1000 * i; }

    explicit Tables(std::uint32_t release) : MadeNode(release) {
        vm.roots.schedulers = {schedulers[0], schedulers[1]};
        ring({table(0), table(1), table(2)}, at().ets_next);
        ring({table(3)}, at().ets_next);
        ring({table(1), table(3)}, at().ets_next + 16);
        for (std::uint64_t i = 0; i < 4; ++i)
            memory.put<std::uint32_t>(table(i) + at().ets_status - image_at, ets_status::set | ets_status::is_public);
        put(schedulers[0] + at().scheduler_ets_tables, table(0));
        put(schedulers[0] + at().scheduler_ets_count, 3);
        put(schedulers[1] + at().scheduler_ets_tables, table(3));
        put(schedulers[1] + at().scheduler_ets_count, 1);
        put(owner + at().process_specific, specific);
        put(specific + 6 * 8, table(1));
        Process process;
        process.offset = owner;
        snapshot.processes.push_back(process);
    }
    void ring(const std::vector<std::uint64_t>& tables, std::uint32_t member) {
        for (std::size_t i = 0; i < tables.size(); ++i) {
            put(tables[i] + member, tables[(i + 1) % tables.size()]);
            put(tables[i] + member + 8, tables[(i + tables.size() - 1) % tables.size()]);
        }
    }
};

}  // namespace

TEST_CASE("ETS tables that zeros took are missed by their owners, rings and counts", "[otp][losses]") {
    const std::uint32_t release = GENERATE(23u, 25u, 27u, 29u);
    Tables made(release);
    const Offsets& at = made.at();
    SECTION("none is lost") {
        read_ets(made.start());
        CHECK(made.snapshot.ets.size() == 4);
        CHECK(made.snapshot.anomalies.total() == 0);
    }
    SECTION("a scheduler has none any more, and counts none") {
        made.put(made.schedulers[1] + at.scheduler_ets_tables, 0);
        made.put(made.schedulers[1] + at.scheduler_ets_count, 0);
        read_ets(made.start());
        CHECK(made.snapshot.ets.size() == 3);
        CHECK(made.lost(Anomaly::count_mismatch) == 1);  // the owner's second table
    }
    SECTION("the same where the first table is the one that is lost") {
        made.put(made.schedulers[0] + at.scheduler_ets_tables, 0);
        made.put(made.schedulers[0] + at.scheduler_ets_count, 0);
        read_ets(made.start());
        CHECK(made.lost(Anomaly::count_mismatch) == 1);
    }
    SECTION("a table that is alone on its scheduler is all zeros") {
        made.zeros(made.table(3), 0x400);
        made.zeros(made.owner, 0x400);
        read_ets(made.start());
        CHECK(made.lost(Anomaly::count_mismatch) == 1);
    }
    SECTION("an owner's ring leads into itself") {
        made.put(made.table(3) + at.ets_next + 16, made.table(3));
        read_ets(made.start());
        CHECK(made.snapshot.ets.size() == 4);
    }
}

TEST_CASE("a port table without ports is none", "[otp][losses]") {
    MadeNode made(25);
    made.vm.roots.port_table = image_at + 0x1000;
    made.vm.ports.slots = image_at + 0x2000;
    made.vm.ports.max = 1024;
    read_ports(made.start());
    CHECK(made.lost(Anomaly::count_mismatch) == 1);
    made.snapshot = Snapshot();
    made.vm.roots.port_table = 0;  // told already: it was not found
    read_ports(made.start());
    CHECK(made.snapshot.anomalies.total() == 0);
}

TEST_CASE("a module has functions, and its literals an end", "[otp][losses]") {
    const std::uint32_t release = GENERATE(23u, 25u, 27u, 29u);
    MadeNode made(release);
    const Offsets& at = made.at();
    constexpr std::uint64_t table = image_at + 0x1000, segments = image_at + 0x2000, page = image_at + 0x3000,
                            module = image_at + 0x6000, header = image_at + 0x7000, area = image_at + 0x8000;
    made.vm.roots.module_tables[0] = table;
    made.memory.put<std::uint32_t>(table + at.index_entries - image_at, 1);
    made.put(table + at.index_segments, segments);
    made.put(segments, page);
    made.put(page, module);
    made.put(module + at.module_current_header, header);
    made.memory.put<std::uint32_t>(module + at.module_current_length - image_at, 1000);
    made.put(header, 3);
    made.put(header + at.code_functions, header + 0x400);
    made.put(header + at.code_literals, area);
    made.put(area + at.literal_area_end, area + at.literal_area_start + 80);
    const auto lost = [&] {
        made.snapshot = Snapshot();
        read_modules(made.start());
        return made.lost(Anomaly::count_mismatch);
    };
    CHECK(lost() == 0);
    SECTION("its header is lost") { made.zeros(header, 0x400); }
    SECTION("the header's first words are") { made.put(header, 0); }
    SECTION("where its functions are is") { made.put(header + at.code_functions, 0); }
    SECTION("the head of its literals is") { made.zeros(area, 0x100); }
    CHECK(lost() == 1);
}

TEST_CASE("an executable that claims gigabytes of static data has no more than a VM's", "[otp][image]") {
    MadeNode made(25);
    made.statics_size = 1ull << 32;  // all that the image has would be in it
    const Image& image = *made.start().vm.image;
    const auto parts = image.static_words();
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].address(0) == MadeImage::statics_at);
    CHECK(parts[0].words() == 0x1000 / 8);
}
