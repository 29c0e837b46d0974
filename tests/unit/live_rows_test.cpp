// SPDX-License-Identifier: Apache-2.0
// Processes of a VM that goes on while it is read: made-up memory that changes between two reads.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "bytes/address_space.hpp"
#include "formats/otp/processes/live_row.hpp"
#include "formats/otp/processes/process_table.hpp"
#include "support/made_image.hpp"

using namespace beamheap;
using namespace beamheap::otp;

namespace {

constexpr std::uint64_t memory_at = 0x20000000, grown_at = 0x30000000;
constexpr std::size_t page_bytes = 4096;

// Memory that a test writes to while somebody reads it.
class ChangingMemory final : public bytes::LiveMemory {
public:
    std::vector<std::byte> low = std::vector<std::byte>(64 * page_bytes), grown;
    /// Called before each range that is read, with its address.
    std::function<void(std::uint64_t address)> before_read;
    mutable std::size_t reads = 0;

    using LiveMemory::read;
    void read(std::span<bytes::MemoryPiece> pieces) const override {
        for (bytes::MemoryPiece& piece : pieces) {
            ++reads;
            if (before_read) before_read(piece.address);
            piece.got = 0;
            for (std::byte& byte : piece.into) {
                const std::byte* from = at(piece.address + piece.got);
                if (from == nullptr) break;
                byte = *from;
                ++piece.got;
            }
        }
    }
    std::vector<bytes::Mapping> mappings() const override {
        std::vector<bytes::Mapping> all(1);
        all[0].start = memory_at;
        all[0].end = memory_at + low.size();
        all[0].readable = all[0].writable = true;
        if (grown.empty()) return all;
        all.push_back(all[0]);
        all[1].start = grown_at;
        all[1].end = grown_at + grown.size();
        return all;
    }
    bool gone() const override { return false; }

    void word(std::uint64_t address, std::uint64_t value) {
        std::memcpy(low.data() + (address - memory_at), &value, 8);
    }
    void word32(std::uint64_t address, std::uint32_t value) {
        std::memcpy(low.data() + (address - memory_at), &value, 4);
    }
    std::uint64_t word(std::uint64_t address) const {
        return bytes::load<std::uint64_t>(low.data() + (address - memory_at));
    }

private:
    const std::byte* at(std::uint64_t address) const {
        if (address >= memory_at && address < memory_at + low.size()) return low.data() + (address - memory_at);
        if (address >= grown_at && address < grown_at + grown.size()) return grown.data() + (address - grown_at);
        return nullptr;
    }
};

// A process table with one process that waits, and two messages in its outer queue.
class RunningNode {
public:
    static constexpr std::uint64_t table = memory_at + 0x100, slots = memory_at + page_bytes,
                                   process = memory_at + 4 * page_bytes + 0x40, heap = memory_at + 8 * page_bytes,
                                   heap_words = 64, queue = memory_at + 16 * page_bytes;
    test::MadeImage image;
    std::shared_ptr<ChangingMemory> memory = std::make_shared<ChangingMemory>();
    bytes::AddressSpace space;
    Snapshot snapshot;

    explicit RunningNode() {
        image.start();
        const Offsets& at = image.at();
        memory->word32(table + at.table_max, 1024);
        memory->word32(table + at.table_count, 1);
        memory->word(table + at.table_slots, slots);
        memory->word(table + at.table_element_size, at.process_size);
        memory->word(slots + 8 * 7, process);
        memory->word(process, 7ull << 32 | 7 << 4 | 3);  // <0.7.0>
        memory->word(process + at.process_heap, heap);
        memory->word(process + at.process_htop, heap + 8 * 10);
        memory->word(process + at.process_stop, heap + 8 * (heap_words - 4));
        memory->word(process + at.process_heap_end, heap + 8 * heap_words);
        memory->word(process + at.process_heap_words, heap_words);
        memory->word(process + at.process_reductions, 100);
        for (std::uint64_t i = heap_words - 4; i < heap_words; ++i) memory->word(heap + 8 * i, image.vm.layout.nil);
        message(0);
        message(1);
        memory->word(process + at.process_outer_queue, queue);
        memory->word(queue, queue + 0x100);
        image.vm.roots.process_table = table;
        space.follow(memory);
        space.seal();
        bytes::MemoryReader reader(space);
        image.vm.processes = *SlotTable::read(reader, image.vm.layout, table);
        snapshot.source.live = LiveReading{};
    }

    std::uint64_t field(std::uint32_t offset) const { return process + offset; }
    void message(std::uint64_t i) { memory->word(queue + 0x100 * i + image.at().message_words, image.vm.layout.nil); }
    /// Calls back each time that the process's structure is about to be read, with how often that was.
    void each_time(std::function<void(unsigned)> change) {
        const auto count = std::make_shared<unsigned>(0);
        memory->before_read = [change, count](std::uint64_t address) {
            if (address == process || address == (process & ~(page_bytes - 1))) change(++*count);
        };
    }
    const Snapshot& read() {
        Reader reader(image.vm, space, snapshot);
        LoadPlan plan;
        plan.stacks = true;
        read_processes(reader, plan);
        return snapshot;
    }
};

}  // namespace

TEST_CASE("a process that stands still is read once, and is stable", "[live]") {
    RunningNode node;
    unsigned times = 0;
    node.each_time([&](unsigned n) { times = n; });
    const Snapshot& snapshot = node.read();
    REQUIRE(snapshot.processes.size() == 1);
    const Process& row = snapshot.processes[0];
    CHECK(row.reading == RowReading::stable);
    CHECK(row.pid.number == 7);
    CHECK(row.msgq_len == Count(2));
    CHECK(row.stack_words == Count(4));
    CHECK(row.has_heap);
    CHECK(row.version != 0);
    CHECK(times == 2);  // the row, and what proves it
}

TEST_CASE("a process that ran while it was read is read again", "[live]") {
    RunningNode node;
    const std::uint64_t reductions = node.field(node.image.at().process_reductions);
    // It has run before what was to prove it, and then waits; or twice.
    for (const unsigned when : {2u, 4u}) {
        node.snapshot = Snapshot();
        node.snapshot.source.live = LiveReading{};
        node.each_time([&](unsigned n) {
            if (n == 2 || n == when) node.memory->word(reductions, 300 * when + n);
        });
        const Snapshot& snapshot = node.read();
        REQUIRE(snapshot.processes.size() == 1);
        CHECK(snapshot.processes[0].reading == RowReading::stable);
        CHECK(snapshot.processes[0].reductions == Count(300 * when + when));
        CHECK(snapshot.processes[0].msgq_len == Count(2));
    }
}

TEST_CASE("of a process that never stands still nothing is told but its figures", "[live]") {
    RunningNode node;
    const std::uint64_t reductions = node.field(node.image.at().process_reductions);
    unsigned times = 0;
    node.each_time([&](unsigned n) {
        node.memory->word(reductions, 100 + n);
        times = n;
    });
    const Snapshot& snapshot = node.read();
    REQUIRE(snapshot.processes.size() == 1);
    const Process& row = snapshot.processes[0];
    CHECK(row.reading == RowReading::moving);
    CHECK(row.msgq_len == Count(2));
    CHECK(row.stack == StackId::none);
    CHECK_FALSE(row.stack_scanned);
    CHECK_FALSE(row.has_heap);
    CHECK(row.version == 0);
    CHECK(times == 2 * most_tries);
    CHECK_FALSE(snapshot.anomalies.data_lost());  // what is torn in it is its movement's
}

TEST_CASE("a heap whose pointers are out of order does not stand still, whatever the rest says", "[live]") {
    RunningNode node;
    node.memory->word(node.field(node.image.at().process_htop), RunningNode::heap + 8 * RunningNode::heap_words + 800);
    const Snapshot& snapshot = node.read();
    REQUIRE(snapshot.processes.size() == 1);
    CHECK(snapshot.processes[0].reading == RowReading::moving);
}

TEST_CASE("what a process that runs is doing is not told", "[live]") {
    RunningNode node;
    node.memory->word32(node.field(node.image.at().process_state), state::running);
    const Snapshot& snapshot = node.read();
    REQUIRE(snapshot.processes.size() == 1);
    const Process& row = snapshot.processes[0];
    CHECK(row.reading == RowReading::running);
    CHECK(row.state == ProcessState::running);
    CHECK(row.current_function == FunctionId::none);
    CHECK(row.program_counter == 0);
    CHECK_FALSE(row.has_heap);
}

TEST_CASE("a process that begins to run after its row was read was not still", "[live]") {
    RunningNode node;
    const std::uint64_t bits = node.field(node.image.at().process_state);
    node.each_time([&](unsigned n) {
        if (n == 2) node.memory->word32(bits, state::dirty_running);
    });
    const Snapshot& snapshot = node.read();
    REQUIRE(snapshot.processes.size() == 1);
    CHECK(snapshot.processes[0].reading == RowReading::running);
}

TEST_CASE("a process that ends before or while its row is read has none", "[live]") {
    for (const unsigned when : {1u, 2u}) {
        RunningNode node;
        node.each_time([&](unsigned n) {
            if (n == when) node.memory->word(RunningNode::process, when == 1 ? 0 : 7ull << 32 | 1031 << 4 | 3);
        });
        const Snapshot& snapshot = node.read();
        CHECK(snapshot.processes.empty());
        CHECK(snapshot.source.live->gone == 1);
        CHECK_FALSE(snapshot.anomalies.data_lost());
    }
}

TEST_CASE("messages that arrive while a queue is followed are not followed", "[live]") {
    RunningNode node;
    node.memory->word(node.field(node.image.at().process_outer_queue + 8), RunningNode::queue + 0x100);
    // A sender that is as fast as the reader: a message more each time that the queue's page is come to.
    unsigned sent = 2;
    node.memory->before_read = [&](std::uint64_t address) {
        if ((address & ~(page_bytes - 1)) != (RunningNode::queue & ~(page_bytes - 1)) || sent == 12) return;
        node.message(sent);
        node.memory->word(RunningNode::queue + (sent - 1) * 0x100, RunningNode::queue + sent * 0x100);
        ++sent;
    };
    const Snapshot& snapshot = node.read();
    CHECK(sent > 2);
    REQUIRE(snapshot.processes.size() == 1);
    CHECK(snapshot.processes[0].reading == RowReading::stable);
    CHECK(snapshot.processes[0].msgq_len == Count(2));
}

TEST_CASE("a row is read again in its place, and what follows is held against it", "[live]") {
    RunningNode node;
    node.read();
    Reader reader(node.image.vm, node.space, node.snapshot);
    LoadPlan plan;
    plan.stacks = true;
    RowRefresher rows(reader, plan);
    const ProcId id{0};
    node.memory->word(node.field(node.image.at().process_reductions), 900);
    CHECK_FALSE(rows.still(id));
    CHECK(rows.refresh(id) == RowReading::stable);
    CHECK(node.snapshot[id].reductions == Count(900));
    CHECK(rows.still(id));
    node.memory->word32(node.field(node.image.at().process_state), state::running);
    CHECK_FALSE(rows.still(id));
    node.memory->word(RunningNode::process, 0);
    CHECK_FALSE(rows.refresh(id).has_value());
    CHECK(node.snapshot.processes.size() == 1);
}

TEST_CASE("of processes that are read side by side each has keys from before and behind all that was read of it",
          "[live]") {
    RunningNode node;
    bytes::MemoryReader reader(node.space);
    const Offsets& at = node.image.at();
    RowBatch batch(reader, node.image.vm.layout);
    const std::uint64_t nobody = grown_at, reductions = node.field(at.process_reductions);
    const std::array<std::uint64_t, 2> both = {RunningNode::process, nobody};
    batch.fetch(both, RowBatch::Depth::heap);
    CHECK_FALSE(batch.before(1).has_value());
    CHECK_FALSE(batch.after(1).has_value());
    REQUIRE(batch.before(0).has_value());
    CHECK(batch.before(0)->same(*batch.after(0)));
    // Its stack, its heap and the first of its queue are there: nothing is fetched for them, and the key is that of
    // the fetch, whatever became of the process since.
    const std::size_t reads = node.memory->reads;
    node.memory->word(reductions, 4711);
    CHECK(reader.word(RunningNode::heap) == 0u);
    CHECK(reader.word(RunningNode::heap + 8 * (RunningNode::heap_words - 1)) == node.image.vm.layout.nil);
    CHECK(reader.word(RunningNode::queue).has_value());
    CHECK(batch.before(0)->same(*batch.after(0)));
    CHECK(node.memory->reads == reads);
    // What was not there is of a later instant, and so is the key behind it.
    CHECK(reader.word(memory_at + 40 * page_bytes) == 0u);
    CHECK_FALSE(batch.before(0)->same(*batch.after(0)));
    CHECK(node.memory->reads > reads);
}

TEST_CASE("pages that are fetched ahead are fetched once, and those that are not mapped are no answer", "[live]") {
    const auto memory = std::make_shared<ChangingMemory>();
    bytes::AddressSpace space;
    space.follow(memory);
    space.seal();
    bytes::MemoryReader reader(space);
    const std::uint64_t here = memory_at + 3 * page_bytes;
    memory->word(here + 16, 5);
    const std::vector<bytes::LiveView::Range> ranges = {
        {here + page_bytes - 8, 16},      {here + 16, 8}, {here + 40, 8},
        {memory_at + 64 * page_bytes, 8}, {memory_at, 0}, {memory_at + 63 * page_bytes, 2 * page_bytes}};
    reader.view()->fetch_ahead(ranges);
    CHECK(memory->reads == 1);  // two pages that follow each other; the rest is nowhere, or nothing
    memory->word(here + 16, 6);
    CHECK(reader.word(here + 16) == 5u);
    CHECK(reader.word(here + page_bytes) == 0u);
    CHECK(memory->reads == 1);
    reader.view()->fetch_ahead(ranges);
    CHECK(memory->reads == 1);
    CHECK_FALSE(reader.word(memory_at + 64 * page_bytes).has_value());
    reader.forget();
    CHECK(reader.word(here + 16) == 6u);
}

TEST_CASE("what a round has fetched stays as it was until the next one", "[live]") {
    const auto memory = std::make_shared<ChangingMemory>();
    bytes::AddressSpace space;
    space.follow(memory);
    space.seal();
    bytes::MemoryReader reader(space);
    const std::uint64_t here = memory_at + 2 * page_bytes + 16;
    memory->word(here, 1);
    const std::byte* const place = reader.at(here, 8);
    REQUIRE(place != nullptr);
    memory->word(here, 2);
    CHECK(reader.word(here) == 1u);
    CHECK(reader.at(here, 8) == place);
    {
        const bytes::FreshReads fresh(reader);
        CHECK(reader.word(here) == 2u);
    }
    memory->word(here, 3);
    CHECK(reader.word(here) == 2u);
    reader.forget();
    CHECK(reader.word(here) == 3u);
    // Two readers are of two minds; one that shares another's view is not.
    bytes::MemoryReader other(space), friendly(space);
    memory->word(here, 4);
    CHECK(other.word(here) == 4u);
    friendly.share(reader);
    CHECK(friendly.word(here) == 3u);
}

TEST_CASE("memory that is mapped later is found, and what is not mapped is a miss", "[live]") {
    const auto memory = std::make_shared<ChangingMemory>();
    bytes::AddressSpace space;
    space.follow(memory);
    space.seal();
    bytes::MemoryReader reader(space);
    CHECK(reader.at(grown_at, 8) == nullptr);
    CHECK(reader.misses() == 1);
    memory->grown.resize(3 * page_bytes, std::byte{7});
    // A list of mappings is read again when it is older than some milliseconds.
    const std::byte* there = nullptr;
    for (int tries = 0; tries < 10000 && there == nullptr; ++tries) {
        there = reader.probe(grown_at + page_bytes, page_bytes);
        ::usleep(1000);
    }
    REQUIRE(there != nullptr);
    CHECK(*there == std::byte{7});
    CHECK(reader.writable(grown_at));
    CHECK(reader.at(grown_at + 2 * page_bytes, 2 * page_bytes) == nullptr);  // beyond its end
    CHECK(reader.from(grown_at + 2 * page_bytes, 1u << 20).size() == page_bytes);
    // What the list says to be there may be gone.
    memory->grown.resize(page_bytes);
    reader.forget();
    CHECK(reader.probe(grown_at + page_bytes, 8) == nullptr);
    CHECK(reader.from(grown_at, 3 * page_bytes).size() == page_bytes);
}
