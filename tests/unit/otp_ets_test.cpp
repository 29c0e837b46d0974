// SPDX-License-Identifier: Apache-2.0
// Rows of ETS tables from made memory: what each bit and each counter says.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "formats/otp/tables/ets_status.hpp"
#include "formats/otp/tables/tables.hpp"
#include "support/made_terms.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::MadeTerms;

namespace {

struct MadeEts : MadeTerms {
    static constexpr std::uint64_t tables = 0x50000, scheduler = 0x60000, magic = 0x7f000, counters = 0x7d000 - 16;
    explicit MadeEts(std::uint32_t release = 25) : MadeTerms(release) { memory.resize(0x80000); }
    static constexpr std::uint64_t place(std::uint64_t i) { return tables + 0x400 * i; }
    void add(std::uint32_t status) {
        const std::uint64_t p = place(count_++);
        memory.put<std::uint32_t>(p + at().ets_status, status);
        memory.word(p + at().ets_owner, (20 + count_) << 4 | 3);
        memory.word(p + at().ets_id, M + magic);
    }
    const std::vector<EtsTable>& read() {
        for (std::uint64_t i = 0; i < count_; ++i) {
            memory.word(place(i) + at().ets_next, M + place((i + 1) % count_));
            memory.word(place(i) + at().ets_next + 8, M + place((i + count_ - 1) % count_));
        }
        memory.word(scheduler + at().scheduler_ets_tables, M + place(0));
        memory.word(scheduler + at().scheduler_ets_count, count_);
        vm.roots.schedulers = {M + scheduler};
        read_ets(begin());
        return snapshot.ets;
    }
    std::string text(TextId id) const { return id == TextId::none ? "none" : std::string(snapshot.text(id)); }

private:
    std::uint64_t count_ = 0;
};

}  // namespace

TEST_CASE("the bits of an ETS table's status are its type, its protection and its locks", "[otp][ets]") {
    namespace st = ets_status;
    struct Row {
        std::uint32_t status;
        const char *type, *protection, *write, *read;
    };
    const Row rows[] = {
        {st::set | st::is_private, "set", "private", "false", "false"},
        {st::bag | st::is_public | st::fine_locked, "bag", "public", "true", "false"},
        {st::duplicate_bag | st::is_protected | st::frequent_read, "duplicate_bag", "protected", "false", "true"},
        {st::ordered_set | st::is_public | st::ca_ordered_set, "ordered_set", "public", "true", "false"},
        {st::set | st::is_public | st::fine_locked | st::automatic, "set", "public", "auto", "false"},
        {st::ordered_set | st::frequent_read, "ordered_set", "protected", "false", "true"}};
    MadeEts made;
    for (const Row& row : rows) made.add(row.status);
    made.add(st::set | st::deleted);
    const std::vector<EtsTable>& tables = made.read();
    REQUIRE(tables.size() == std::size(rows));
    for (std::size_t i = 0; i < tables.size(); ++i) {
        INFO(i);
        CHECK(tables[i].address == MadeEts::M + MadeEts::place(i));
        CHECK(tables[i].owner == Pid{0, static_cast<std::uint32_t>(21 + i), 0});
        CHECK(made.text(tables[i].type) == rows[i].type);
        CHECK(made.text(tables[i].protection) == rows[i].protection);
        CHECK(made.text(tables[i].write_concurrency) == rows[i].write);
        CHECK(made.text(tables[i].read_concurrency) == rows[i].read);
        CHECK(tables[i].buckets.has() == (rows[i].type != std::string("ordered_set")));
        CHECK(tables[i].fixed.has() == tables[i].buckets.has());
    }
    CHECK(made.snapshot.anomalies.total() == 0);  // one that is being deleted is one of the ring
}

TEST_CASE("an ETS table is called by its name, or by the reference that it was made with", "[otp][ets]") {
    MadeEts made;
    const Offsets& at = made.at();
    const std::uint64_t name = made.atom("prices");
    made.add(ets_status::set | ets_status::named);
    made.add(ets_status::set);
    made.add(ets_status::set);
    for (std::uint64_t i = 0; i < 3; ++i) made.memory.word(MadeEts::place(i) + at.ets_name, name);
    for (std::uint32_t i = 0; i < 3; ++i)
        made.memory.put<std::uint32_t>(MadeEts::magic + at.magic_reference + 4 * i, 31 + i);
    made.memory.word(MadeEts::place(2) + at.ets_id, MadeEts::lost);
    const std::vector<EtsTable>& tables = made.read();
    REQUIRE(tables.size() == 3);
    for (const EtsTable& table : tables) CHECK(made.text(table.name) == "prices");
    CHECK(made.text(tables[0].id) == "prices");
    CHECK(made.text(tables[1].id) == "#Ref<0.33.32.31>");
    CHECK(tables[2].id == TextId::none);
}

TEST_CASE("an ETS table's objects and words are its own counters, or the sum of those of all schedulers",
          "[otp][ets]") {
    for (const bool aligned : {true, false}) {
        MadeEts made;
        const Offsets& at = made.at();
        made.add(ets_status::set);
        made.add(ets_status::set);
        const std::uint64_t first = MadeEts::place(0), second = MadeEts::place(1),
                            array = MadeEts::counters + (aligned ? 0 : 8);
        made.memory.word(first + at.ets_counters + 8, 1001);
        made.memory.word(first + at.ets_counters + 16, 80'001);
        made.memory.word(first + at.ets_hash_buckets, 256);
        made.memory.put<std::uint8_t>(first + at.ets_compressed, 1);
        made.memory.put<std::uint8_t>(second + at.ets_counters + 4, 1);
        made.memory.word(second + at.ets_counters + 8, MadeEts::M + array);
        made.memory.put<std::uint8_t>(second + at.ets_compressed + 1, 1);  // not its own byte
        made.memory.put<std::uint32_t>(MadeEts::scheduler + at.scheduler_counter_slot, 2);
        for (std::uint64_t slot = 0; slot < 4; ++slot) {  // the last one is nobody's
            made.memory.word(array + 16 + 64 * slot, 10 + slot);
            made.memory.word(array + 16 + 64 * slot + 8, 1000 * (slot + 1));
        }
        const std::vector<EtsTable>& tables = made.read();
        REQUIRE(tables.size() == 2);
        CHECK(tables[0].objects == Count(1001));
        CHECK(tables[0].words == Count(10'001));
        CHECK(tables[0].buckets == Count(256));
        CHECK(tables[0].compressed == true);
        CHECK(tables[0].fixed == Count(0));
        CHECK(tables[1].compressed == false);
        CHECK(tables[1].objects == (aligned ? Count(33) : Count()));
        CHECK(tables[1].words == (aligned ? Count(750) : Count()));
    }
}

TEST_CASE("a table of the smallest kind may be the last thing in memory", "[otp][ets]") {
    MadeEts made;
    const Offsets& at = made.at();
    made.add(ets_status::ordered_set);
    const std::uint64_t end = 0x90000, last = end - at.ets_tree_root - 8;
    made.memory.resize(end);
    made.memory.put<std::uint32_t>(last + at.ets_status, ets_status::ordered_set);
    const auto ring = [&](std::uint64_t a, std::uint64_t b) {
        made.memory.word(a + at.ets_next, MadeEts::M + b);
        made.memory.word(b + at.ets_next + 8, MadeEts::M + a);
    };
    ring(MadeEts::place(0), last);
    ring(last, MadeEts::place(0));
    made.memory.word(MadeEts::scheduler + at.scheduler_ets_tables, MadeEts::M + MadeEts::place(0));
    made.memory.word(MadeEts::scheduler + at.scheduler_ets_count, 2);
    made.vm.roots.schedulers = {MadeEts::M + MadeEts::scheduler};
    read_ets(made.begin());
    CHECK(made.snapshot.ets.size() == 2);
    CHECK(made.snapshot.anomalies.total() == 0);
}
