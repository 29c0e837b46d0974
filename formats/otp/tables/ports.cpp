// SPDX-License-Identifier: Apache-2.0
// Ports (erl_port.h, io.c print_port_info), peers of the distribution (erl_node_tables.h, dist.c), timers
// (erl_hl_timer.c).
#include <fmt/format.h>

#include <algorithm>

#include "formats/otp/processes/links.hpp"
#include "formats/otp/processes/term_format.hpp"
#include "formats/otp/tables/tables.hpp"

namespace beamheap::otp {
namespace {

using bytes::Bytes;
using bytes::load;

constexpr const char* port_states[] = {"CONNECTED", "EXITING",     "DISTR",      "BINARY_IO", "SOFT_EOF",
                                       "CLOSING",   "SEND_CLOSED", "LINEBUF_IO", "FREE",      "INITIALIZING",
                                       "PORT_LOCK", "INVALID",     "HALT"};
constexpr std::uint32_t port_connected = 1u << 0, port_free = 1u << 8, port_initializing = 1u << 9;
constexpr std::size_t longest_port_name = 4096;
constexpr std::size_t most_suspended = 1u << 20;

constexpr std::uint64_t most_node_buckets = 1u << 26, longest_bucket = 1u << 16;
constexpr std::uint64_t published = 1;  // DFLAG_PUBLISHED

constexpr std::uint32_t registered_receiver = 1u << 14;  // ERTS_TMR_ROFLG_REG_NAME
constexpr std::uint32_t timer_active = 0;                // ERTS_TMR_STATE_ACTIVE
constexpr std::uint64_t most_timers = 1u << 26;
constexpr std::uint32_t most_slots_beyond = 1u << 20;  // of the port table, looked at whatever its count says
constexpr std::size_t longest_message = 4096;
constexpr std::uint64_t ticks_per_ns = 1000000;  // a clock tick is a millisecond, monotonic time is in ns

// ERTS_PTS_FLG_* of erl_port_task.h, as io.c prints them.
constexpr const char* task_flags[] = {
    "IN_RUNQ",    "EXEC",     "HAVE_TASKS",  "EXIT",        "BUSY_PORT", "BUSY_Q",  "CHK_UNSET_BUSY_Q",
    "BUSY_TASKS", "NS_TASKS", "PARALLELISM", "FORCE_SCHED", "EXITING",   "EXEC_IMM"};

std::string flags_text(std::uint32_t bits, std::span<const char* const> names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        if ((bits >> i & 1) != 0) (text += text.empty() ? "" : "|") += names[i];
    return text;
}

void add_port(Reader& reader, LinkReader& links, std::uint64_t address, std::uint32_t slot) {
    const Offsets& at = reader.at;
    const std::byte* p = address % 8 == 0 ? reader.memory.at(address, at.port_size) : nullptr;
    Anomalies& anomalies = reader.snapshot.anomalies;
    if (p == nullptr || !is_port(load<Word>(p))) {
        anomalies.add(p == nullptr ? Anomaly::unreadable_memory : Anomaly::inconsistent_state, address,
                      "an element of the port table");
        return;
    }
    if (reader.vm.ports.slot_of(load<Word>(p), reader.vm.layout.pid_form) != slot)
        anomalies.add(Anomaly::inconsistent_state, address,
                      "a port whose identifier belongs to another slot of the table");
    const auto bits = load<std::uint32_t>(p + at.port_state);
    if ((bits & (port_free | port_initializing)) != 0) {
        anomalies.add(Anomaly::inconsistent_state, address, "a port that is being opened or closed");
        return;
    }
    TextTable& texts = reader.snapshot.texts;
    Port port;
    port.port = reader.port(load<Word>(p));
    port.slot = slot;
    port.state = texts.intern(flags_text(bits, port_states));
    if (const auto flags = flags_text(load<std::uint32_t>(p + at.port_task_flags), task_flags); !flags.empty())
        port.task_flags = texts.intern(flags);
    if ((bits & port_connected) != 0) port.connected = reader.pid(load<Word>(p + at.port_connected));
    if (const auto entry = load<Word>(p + at.port_registered); entry != 0)
        port.name = reader.atom(reader.memory.word(entry + at.registered_name).value_or(0));
    const auto driver = reader.memory.word(load<Word>(p + at.port_driver) + at.driver_name);
    const auto driver_name = driver ? reader.memory.text(*driver) : std::nullopt;
    if (driver_name) {
        port.kind = texts.intern(*driver_name == "fd"             ? "fd"
                                 : *driver_name == "spawn"        ? "external process"
                                 : *driver_name == "spawn_forker" ? "forker process"
                                                                  : "linked-in driver");
    } else {
        anomalies.add(Anomaly::inconsistent_state, address, "the driver of a port");
    }
    if (const auto name = reader.memory.text(load<Word>(p + at.port_name), longest_port_name))
        port.driver = texts.intern(*name);
    port.input_bytes = load<Word>(p + at.port_bytes_in);
    port.output_bytes = load<Word>(p + at.port_bytes_out);
    port.queue_bytes = load<Word>(p + at.port_queue_bytes);
    const auto data = load<Word>(p + at.port_data);
    if (is_immediate(data)) {  // others are in a structure of their own
        const std::string text = term_text(reader, data, longest_port_name);
        if (text != "undefined") port.data = texts.intern(text);
    }
    std::vector<Link> found;
    const LinkSums sums = links.read(
        {load<Word>(p + at.port_links), load<Word>(p + at.port_monitors), load<Word>(p + at.port_monitored_by)},
        &found);
    if (sums.damaged) anomalies.add(Anomaly::inconsistent_state, address, "links or monitors of a port");
    for (const Link& link : found) {
        if (!link.pid.has()) continue;
        (link.kind == LinkKind::link ? port.links : port.monitors).push_back(link.pid);
    }
    std::sort(port.links.begin(), port.links.end());
    // Processes that wait until the port is no longer busy: a ring.
    const auto first = load<Word>(p + at.port_suspended);
    std::uint64_t waiting = first;
    while (waiting != 0 && port.suspended.size() < most_suspended) {
        const std::byte* entry = reader.memory.at(waiting, std::max(at.process_list_next, at.process_list_pid) + 8);
        const Pid pid = entry == nullptr ? Pid{} : reader.pid(load<Word>(entry + at.process_list_pid));
        if (!pid.has()) {
            anomalies.add(Anomaly::inconsistent_state, address, "the processes that a port has suspended");
            break;
        }
        port.suspended.push_back(pid);
        waiting = load<Word>(entry + at.process_list_next);
        if (waiting == first) break;
    }
    reader.snapshot.ports.push_back(std::move(port));
}

// Both ends of what crosses a connection hang in rings of its ErtsMonLnkDist.
void count_shared(Reader& reader, std::uint64_t shared, DistNode& peer) {
    const Offsets& at = reader.at;
    for (const std::uint32_t ring : {at.shared_links, at.shared_monitors}) {
        const std::uint64_t first = reader.memory.word(shared + ring).value_or(0);
        std::uint64_t steps = 0;
        for (std::uint64_t node = first; node != 0 && steps < most_timers; ++steps) {
            const std::byte* p = reader.memory.at(node, at.link_node_size);
            if (p == nullptr) break;
            const bool since_28 = reader.vm.layout.link_types == LinkTypes::since_28;
            const std::uint32_t flags =
                since_28 ? load<std::uint32_t>(p + at.link_flags) >> 7 : load<std::uint16_t>(p + at.link_flags);
            if (ring == at.shared_links) ++peer.remote_links;
            else if ((flags & 1) != 0) ++peer.remote_monitors;  // the remote end watches this half's process
            else ++peer.remote_monitored_by;
            node = load<Word>(p);
            if (node == first) break;
        }
    }
}

struct TimerWalk {
    Reader& reader;
    std::uint64_t now = 0;
    std::uint64_t seen = 0;
    struct Pending {
        std::uint64_t address, parent;
    };
    std::vector<Pending> pending;

    void tree(std::uint64_t root) {
        const Offsets& at = reader.at;
        if (root == 0) return;
        pending.assign(1, {root, 0});
        while (!pending.empty()) {
            const Pending here = pending.back();
            pending.pop_back();
            const std::byte* p = here.address % 8 == 0 ? reader.memory.at(here.address, at.timer_size) : nullptr;
            // parent with flags in its low bits, right, left
            if (p == nullptr || (load<Word>(p + at.timer_tree) & ~7ull) != here.parent || ++seen > most_timers) {
                reader.snapshot.anomalies.add(Anomaly::inconsistent_state, here.address, "the timers of a scheduler");
                continue;
            }
            if (load<std::uint32_t>(p + at.timer_state) == timer_active) add(p);
            const auto right = load<Word>(p + at.timer_tree + 8), left = load<Word>(p + at.timer_tree + 16);
            if (right != 0) pending.push_back({right, here.address});
            if (left != 0) pending.push_back({left, here.address});
        }
    }
    void add(const std::byte* p) {
        const Offsets& at = reader.at;
        Timer timer;
        const auto receiver = load<Word>(p + at.timer_receiver);
        if ((load<std::uint32_t>(p) & registered_receiver) != 0) timer.receiver_name = reader.atom(receiver);
        else if (const auto id = reader.memory.word(receiver)) timer.receiver = reader.pid(*id);
        const auto timeout = load<Word>(p + at.timer_timeout);
        if (now != 0) timer.left_ms = timeout > now ? timeout - now : 0;
        if (reader.vm.terms_readable)
            timer.message =
                reader.snapshot.texts.intern(term_text(reader, load<Word>(p + at.timer_message), longest_message));
        reader.snapshot.timers.push_back(timer);
    }
};

}  // namespace

void read_ports(Reader& reader) {
    const SlotTable& table = reader.vm.ports;
    const Bytes slots = reader.memory.from(table.slots, std::uint64_t{table.max} * 8);
    LinkReader links(reader);
    // As of the process table: the count tells where the rest of a huge table is empty, and whether all are there.
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; (i + 1ull) * 8 <= slots.size() && (found < table.count || i < most_slots_beyond); ++i) {
        const auto element = load<Word>(slots.data() + 8ull * i);
        if (element == 0) continue;
        ++found;
        if (element != table.invalid) add_port(reader, links, element, i);
    }
    if (found != table.count)
        reader.snapshot.anomalies.add(Anomaly::inconsistent_state, table.slots,
                                      fmt::format("the port table has {} ports, and counts {}", found, table.count));
    // The port of the program that starts others is opened before any Erlang code runs (forker_driver, since OTP 19).
    else if (found == 0 && reader.vm.roots.port_table != 0)
        reader.snapshot.anomalies.add(Anomaly::count_mismatch, table.slots,
                                      "the port table has no ports, and every VM has one");
    std::sort(reader.snapshot.ports.begin(), reader.snapshot.ports.end(),
              [](const Port& a, const Port& b) { return a.port < b.port; });
}

void read_peers(Reader& reader) {
    const Offsets& at = reader.at;
    const std::uint64_t table = reader.vm.roots.dist_table;
    const std::byte* hash = table == 0 ? nullptr : reader.memory.at(table, at.hash_buckets + 8);
    if (hash == nullptr) return;
    const auto shift = load<std::uint32_t>(hash + at.hash_shift);
    const auto buckets = load<Word>(hash + at.hash_buckets);
    // A multiplicative hash: the slots are as many as the bits that it keeps (hash.h, hash_get_slots).
    if (shift == 0 || shift >= 64 || (1ull << (64 - shift)) > most_node_buckets) return;
    const std::byte* slots = reader.memory.at(buckets, 8ull << (64 - shift));
    if (slots == nullptr) return;
    const auto own = reader.memory.word(reader.vm.roots.this_node + at.node_entry);
    const auto counted = load<std::uint32_t>(hash + at.hash_objects);
    std::uint64_t seen = 0;
    for (std::uint64_t i = 0; i < 1ull << (64 - shift); ++i) {
        std::uint64_t steps = 0;
        for (auto entry = load<Word>(slots + 8 * i); entry != 0 && steps < longest_bucket; ++steps) {
            const std::byte* p = reader.memory.at(entry, at.entry_links + 8);
            if (p == nullptr) break;
            ++seen;
            const auto name = load<Word>(p + at.entry_name);
            if (is_atom(name) && (!own || *own != entry)) {
                DistNode peer;
                peer.channel = atom_index(name);
                peer.name = reader.atom(name);
                const auto controller = load<Word>(p + at.entry_channel);
                const bool connected = is_pid(controller) || is_port(controller);
                peer.kind = !connected                                          ? DistNode::Kind::not_connected
                            : (load<Word>(p + at.entry_flags) & published) != 0 ? DistNode::Kind::visible
                                                                                : DistNode::Kind::hidden;
                if (is_port(controller))
                    peer.controller =
                        reader.snapshot.texts.intern(fmt::format("#Port<0.{}>", reader.port(controller).number));
                else if (const Pid pid = reader.pid(controller); pid.has())
                    peer.controller = reader.snapshot.texts.intern(fmt::format("<0.{}.{}>", pid.number, pid.serial));
                if (connected)
                    peer.creation =
                        reader.snapshot.texts.intern(fmt::format("{}", load<std::uint32_t>(p + at.entry_creation)));
                if (const auto shared = load<Word>(p + at.entry_links); shared != 0) count_shared(reader, shared, peer);
                reader.snapshot.nodes.push_back(peer);
            }
            entry = load<Word>(p);
        }
    }
    if (seen != counted)
        reader.snapshot.anomalies.add(Anomaly::count_mismatch, table,
                                      fmt::format("the table of other nodes has {}, and counts {}", seen, counted));
    std::sort(reader.snapshot.nodes.begin(), reader.snapshot.nodes.end(),
              [](const DistNode& a, const DistNode& b) { return a.channel < b.channel; });
}

void read_timers(Reader& reader) {
    const Offsets& at = reader.at;
    TimerWalk walk{reader, 0, 0, {}};
    // The latest time that any scheduler has seen; a sleeping one remembers when it went to sleep.
    for (const std::uint64_t scheduler : reader.vm.roots.schedulers)
        walk.now =
            std::max(walk.now, reader.memory.word(scheduler + at.scheduler_monotonic_time).value_or(0) / ticks_per_ns);
    for (const std::uint64_t scheduler : reader.vm.roots.schedulers)
        if (const auto service = reader.memory.word(scheduler + at.scheduler_timer_service); service && *service != 0)
            walk.tree(reader.memory.word(*service + at.timer_service_tree).value_or(0));
    // Each process has a tree of those that will send to it: where none of them is among these, they are lost.
    std::vector<Pid> receivers;
    for (const Timer& timer : reader.snapshot.timers)
        if (timer.receiver.has()) receivers.push_back(timer.receiver);
    std::sort(receivers.begin(), receivers.end());
    for (const Process& process : reader.snapshot.processes)
        if (const auto tree = reader.memory.word(process.offset + at.process_bif_timers);
            tree && *tree != 0 && !std::binary_search(receivers.begin(), receivers.end(), process.pid))
            reader.snapshot.anomalies.add(Anomaly::count_mismatch, process.offset, "the timers of a process");
}

}  // namespace beamheap::otp
