// SPDX-License-Identifier: Apache-2.0
// Ports, timers and connections of a made-up VM: each member a field of its own, and what leads nowhere or around.
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "formats/otp/tables/tables.hpp"
#include "support/made_terms.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::MadeTerms;

namespace {

struct MadePorts : MadeTerms {
    static constexpr std::uint64_t port_slots = 0x50000, ports_at = 0x52000, drivers = 0x58000, rest = 0x5a000,
                                   nobody = 0x5f000;
    std::uint32_t counted = 0;
    explicit MadePorts(std::uint32_t release = 25) : MadeTerms(release) {}
    static constexpr std::uint64_t place(std::uint64_t slot) { return ports_at + 0x400 * slot; }
    static std::uint64_t word_of(std::uint64_t number) { return number << 32 | number << 4 | 7; }
    void add_port(std::uint64_t slot, const char* driver, const char* name) {
        memory.word(port_slots + 8 * slot, M + place(slot));
        memory.word(place(slot), word_of(slot));
        memory.word(place(slot) + at().port_driver, M + drivers + 0x80 * slot);
        memory.word(drivers + 0x80 * slot + at().driver_name, constant(driver));
        memory.word(place(slot) + at().port_name, constant(name));
        memory.word(place(slot) + at().port_data, first_undefined());
        ++counted;
    }
    std::uint64_t first_undefined() {
        if (undefined_ == 0) undefined_ = atom("undefined");
        return undefined_;
    }
    const Snapshot& read() {
        Reader& reader = begin();
        vm.roots.port_table = M + 0x900;
        vm.ports.slots = M + port_slots;
        vm.ports.max = 16;
        vm.ports.count = counted;
        vm.ports.invalid = M + nobody;
        read_ports(reader);
        return snapshot;
    }
    std::string text(TextId id) const { return id == TextId::none ? "" : std::string(snapshot.text(id)); }

private:
    std::uint64_t undefined_ = 0;
};

}  // namespace

TEST_CASE("each member of a port's structure is a field of its row", "[otp][ports]") {
    MadePorts made;
    const Offsets& at = made.at();
    using P = MadePorts;
    made.add_port(3, "tcp_inet", "tcp_inet");
    const std::uint64_t p = P::place(3), registered = P::rest;
    made.memory.put<std::uint32_t>(p + at.port_state, 1 | 1 << 2 | 1 << 12);
    made.memory.put<std::uint32_t>(p + at.port_task_flags, 1 | 1 << 4 | 1 << 12);
    made.memory.word(p + at.port_connected, 41 << 4 | 3);
    made.memory.word(p + at.port_registered, P::M + registered);
    made.memory.word(registered + at.registered_name, made.atom("gate"));
    made.memory.word(p + at.port_bytes_in, 1001);
    made.memory.word(p + at.port_bytes_out, 1002);
    made.memory.word(p + at.port_queue_bytes, 1003);
    made.memory.word(p + at.port_data, P::small(77));
    made.add_port(5, "spawn", "cat -n");
    made.memory.put<std::uint32_t>(P::place(5) + at.port_state, 0);
    made.memory.word(P::place(5) + at.port_connected, 42 << 4 | 3);  // not connected, whatever stands there
    made.memory.word(P::place(5) + at.port_data, P::M | 2);          // a structure of the VM's own
    made.add_port(6, "fd", "0/1");
    made.add_port(7, "spawn_forker", "forker");
    const Snapshot& s = made.read();
    REQUIRE(s.ports.size() == 4);
    CHECK(s.anomalies.total() == 0);
    const Port& port = s.ports[0];
    CHECK(port.port.number == 3);
    CHECK(port.slot == Count(3));
    CHECK(made.text(port.state) == "CONNECTED|DISTR|HALT");
    CHECK(made.text(port.task_flags) == "IN_RUNQ|BUSY_PORT|EXEC_IMM");
    CHECK(port.connected == Pid{0, 41, 0});
    CHECK(made.text(port.name) == "gate");
    CHECK(made.text(port.kind) == "linked-in driver");
    CHECK(made.text(port.driver) == "tcp_inet");
    CHECK(port.input_bytes == Count(1001));
    CHECK(port.output_bytes == Count(1002));
    CHECK(port.queue_bytes == Count(1003));
    CHECK(made.text(port.data) == "77");
    CHECK((port.links.empty() && port.monitors.empty() && port.suspended.empty()));
    CHECK(made.text(s.ports[1].kind) == "external process");
    CHECK(made.text(s.ports[1].driver) == "cat -n");
    CHECK(made.text(s.ports[1].state).empty());
    CHECK(s.ports[1].task_flags == TextId::none);
    CHECK_FALSE(s.ports[1].connected.has());
    CHECK(s.ports[1].name == TextId::none);
    CHECK(s.ports[1].data == TextId::none);
    CHECK(made.text(s.ports[2].kind) == "fd");
    CHECK(s.ports[2].data == TextId::none);  // undefined
    CHECK(made.text(s.ports[3].kind) == "forker process");
}

TEST_CASE("what is no port, or none yet, is damage", "[otp][ports]") {
    using P = MadePorts;
    const auto damage = [](const std::function<void(MadePorts&)>& change) {
        MadePorts made;
        for (const std::uint64_t slot : {1ull, 2ull}) made.add_port(slot, "fd", "0/1");
        change(made);
        const Snapshot& s = made.read();
        return std::array<std::uint64_t, 4>{s.ports.size(), s.anomalies[Anomaly::inconsistent_state].count,
                                            s.anomalies[Anomaly::unreadable_memory].count,
                                            s.anomalies[Anomaly::count_mismatch].count};
    };
    using Damage = std::array<std::uint64_t, 4>;
    CHECK(damage([](P&) {}) == Damage{2, 0, 0, 0});
    CHECK(damage([](P& m) { m.memory.word(P::place(2), 2ull << 32 | 2 << 4 | 3); }) == Damage{1, 1, 0, 0});  // a pid
    CHECK(damage([](P& m) { m.memory.word(P::place(2), P::word_of(9)); }) == Damage{2, 1, 0, 0});  // of another slot
    CHECK(damage([](P& m) { m.memory.word(P::port_slots + 16, P::M + P::place(2) + 4); }) ==
          Damage{1, 0, 1, 0});  // no address of one
    CHECK(damage([](P& m) { m.memory.word(P::port_slots + 16, P::lost); }) == Damage{1, 0, 1, 0});
    CHECK(damage([](P& m) { m.memory.put<std::uint32_t>(P::place(2) + m.at().port_state, 1 << 8); }) ==
          Damage{1, 1, 0, 0});
    CHECK(damage([](P& m) { m.memory.put<std::uint32_t>(P::place(2) + m.at().port_state, 1 << 9); }) ==
          Damage{1, 1, 0, 0});
    CHECK(damage([](P& m) { m.memory.put<std::uint32_t>(P::place(2) + m.at().port_state, 1 << 7 | 1 << 10); }) ==
          Damage{2, 0, 0, 0});
    CHECK(damage([](P& m) { m.memory.word(P::drivers + 0x80 * 2 + m.at().driver_name, P::lost); }) ==
          Damage{2, 1, 0, 0});
    CHECK(damage([](P& m) { m.counted = 3; }) == Damage{2, 1, 0, 0});
    CHECK(damage([](P& m) { m.memory.word(P::port_slots + 32, P::M + P::nobody), m.counted = 3; }) ==
          Damage{2, 0, 0, 0});  // a free slot counts
    CHECK(damage([](P& m) {
              for (const std::uint64_t slot : {1ull, 2ull}) m.memory.word(P::port_slots + 8 * slot, 0);
              m.counted = 0;
          }) == Damage{0, 0, 0, 1});
}

TEST_CASE("timers are those that are active, of all schedulers, with what is left until each", "[otp][timers]") {
    using T = MadeTerms;
    MadeTerms made(25);
    const Offsets& at = made.at();
    constexpr std::uint64_t schedulers = 0x58000, services = 0x50000, timers = 0x54000, processes = 0x50800;
    const auto timer = [](std::uint64_t i) { return timers + 0x100 * i; };
    const std::uint64_t shop = made.atom("shop");
    made.memory.resize(schedulers + 2 * 0xb000);
    const auto put = [&](std::uint64_t i, std::uint64_t parent, std::uint64_t right, std::uint64_t left,
                         std::uint64_t timeout, std::uint64_t message) {
        made.memory.word(timer(i) + at.timer_tree, parent);
        made.memory.word(timer(i) + at.timer_tree + 8, right);
        made.memory.word(timer(i) + at.timer_tree + 16, left);
        made.memory.word(timer(i) + at.timer_timeout, timeout);
        made.memory.word(timer(i) + at.timer_message, message);
        made.memory.word(timer(i) + at.timer_receiver, T::M + processes);
    };
    made.memory.word(processes, 7 << 4 | 3);
    for (std::uint64_t i = 0; i < 2; ++i) {
        made.vm.roots.schedulers.push_back(T::M + schedulers + 0xb000 * i);
        made.memory.word(schedulers + 0xb000 * i + at.scheduler_monotonic_time,
                         (i == 0 ? 5000ull : 9000ull) * 1'000'000 + 999'999);
        made.memory.word(schedulers + 0xb000 * i + at.scheduler_timer_service, T::M + services + 0x100 * i);
    }
    made.memory.word(services + at.timer_service_tree, T::M + timer(0));
    made.memory.word(services + 0x100 + at.timer_service_tree, T::M + timer(3));
    put(0, 1, T::M + timer(1), T::M + timer(2), 9500, T::small(10));
    put(1, (T::M + timer(0)) | 5, 0, 0, 8999, T::small(11));  // late
    put(2, T::M + timer(0), 0, 0, 9001, T::small(12));
    made.memory.put<std::uint32_t>(timer(2), 1 << 14);
    made.memory.word(timer(2) + at.timer_receiver, shop);
    put(3, 0, T::M + timer(4), T::M + timer(5), 10'000, T::small(13));
    put(4, T::M + timer(3), 0, 0, 10'001, T::small(14));
    made.memory.put<std::uint32_t>(timer(4) + at.timer_state, 1);  // cancelled
    put(5, T::M + timer(0), 0, 0, 10'002, T::small(15));           // of another tree: not followed
    Reader& reader = made.begin();
    read_timers(reader);
    std::vector<std::string> told;
    for (const Timer& each : made.snapshot.timers)
        told.push_back(std::string(made.snapshot.text(each.message)) + " in " +
                       std::to_string(each.left_ms.value_or(99999)) + " to " +
                       (each.receiver.has() ? std::to_string(each.receiver.number)
                                            : std::string(made.snapshot.text(each.receiver_name))));
    CHECK(told == std::vector<std::string>{"10 in 500 to 7", "12 in 1 to shop", "11 in 0 to 7", "13 in 1000 to 7"});
    CHECK(made.snapshot.anomalies[Anomaly::inconsistent_state].count == 1);
}

TEST_CASE("a process whose timers are not among those of the schedulers has lost them", "[otp][timers]") {
    using T = MadeTerms;
    MadeTerms made(25);
    const Offsets& at = made.at();
    constexpr std::uint64_t processes = 0x50000;
    for (std::uint32_t i = 0; i < 3; ++i) {
        Process row;
        row.pid = {0, i, 0};
        row.offset = T::M + processes + 0x1000 * i;
        made.snapshot.processes.push_back(row);
        if (i != 0) made.memory.word(processes + 0x1000 * i + at.process_bif_timers, 1);
    }
    Timer known;
    known.receiver = {0, 2, 0};
    made.snapshot.timers.push_back(known);
    Reader& reader = made.begin();
    read_timers(reader);
    CHECK(made.snapshot.anomalies[Anomaly::count_mismatch].count == 1);
}

TEST_CASE("what crosses a connection is counted from both of its rings", "[otp][peers]") {
    for (const std::uint32_t release : {25u, 29u}) {
        INFO("OTP " << release);
        using T = MadeTerms;
        MadeTerms made(release);
        const Offsets& at = made.at();
        constexpr std::uint64_t table = 0x50000, buckets = 0x50400, entries = 0x51000, shared = 0x54000,
                                nodes = 0x56000;
        made.vm.roots.dist_table = T::M + table;
        made.memory.put<std::uint32_t>(table + at.hash_shift, 63);  // two buckets
        made.memory.put<std::uint32_t>(table + at.hash_objects, 3);
        made.memory.word(table + at.hash_buckets, T::M + buckets);
        // The first bucket has two, of which one is this node; the other has one.
        for (std::uint64_t i = 0; i < 3; ++i)
            made.memory.word(entries + 0x400 * i + at.entry_name, (100 + i) << 6 | 0x0b);
        made.memory.word(buckets, T::M + entries);
        made.memory.word(entries, T::M + entries + 0x400);
        made.memory.word(buckets + 8, T::M + entries + 0x800);
        made.vm.roots.this_node = T::M + 0x50800;
        made.memory.word(0x50800 + at.node_entry, T::M + entries + 0x400);
        made.memory.word(entries + at.entry_links, T::M + shared);
        const auto ring = [&](std::uint64_t first, const std::vector<std::uint32_t>& flags) {
            for (std::uint64_t i = 0; i < flags.size(); ++i) {
                const std::uint64_t node = nodes + 0x80 * (first + i);
                made.memory.word(node, T::M + nodes + 0x80 * (first + (i + 1) % flags.size()));
                if (release == 29) made.memory.put<std::uint32_t>(node + at.link_flags, flags[i] << 7);
                else made.memory.put<std::uint16_t>(node + at.link_flags, static_cast<std::uint16_t>(flags[i]));
            }
            return T::M + nodes + 0x80 * first;
        };
        made.memory.word(shared + at.shared_links, ring(0, {0, 1, 0, 1}));
        made.memory.word(shared + at.shared_monitors, ring(10, {1, 2, 3, 0, 1}));
        Reader& reader = made.begin();
        read_peers(reader);
        REQUIRE(made.snapshot.nodes.size() == 2);
        CHECK(made.snapshot.nodes[0].channel == 100);
        CHECK(made.snapshot.nodes[1].channel == 102);
        CHECK(made.snapshot.nodes[0].remote_links == 4);
        CHECK(made.snapshot.nodes[0].remote_monitors == 3);
        CHECK(made.snapshot.nodes[0].remote_monitored_by == 2);
        CHECK(made.snapshot.nodes[1].remote_links == 0);
        CHECK(made.snapshot.anomalies.total() == 0);
    }
}
