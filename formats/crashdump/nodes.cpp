// SPDX-License-Identifier: Apache-2.0
// =timer:RECEIVER (erl_bif_timer.c), and the distribution: =node:NAME, =no_distribution, =visible_node:CHANNEL,
// =hidden_node:CHANNEL, =not_connected:CHANNEL (distribution_info() in dist.c).
#include "formats/crashdump/fields.hpp"
#include "formats/crashdump/readers.hpp"

namespace beamheap::crashdump {
namespace {

constexpr std::size_t longest_message = 4096;

void read_message(Loader& loader, Timer& timer, std::string_view value, std::uint64_t) {
    timer.message = loader.text(value.substr(0, longest_message));
}

// "-417": it was to fire before the dump was begun, and is due.
void read_left(Loader& loader, Timer& timer, std::string_view value, std::uint64_t offset) {
    const bool overdue = value.starts_with('-') && parse_decimal(value.substr(1)).has();
    timer.left_ms = overdue ? Count(0) : loader.number(value, offset);
}

constexpr Field<Timer> timer_fields[] = {
    {"Message: ", {}, {}, read_message},
    {"Time left: ", {}, {}, read_left},
};

constexpr Always timer_always[] = {{"Message: "}, {"Time left: "}};

void read_peer_name(Loader& loader, DistNode& node, std::string_view value, std::uint64_t) {
    if (const std::size_t refc = value.find(" (refc="); refc != std::string_view::npos) value = value.substr(0, refc);
    node.name = loader.atom(value);
}
void count_link(Loader&, DistNode& node, std::string_view, std::uint64_t) { ++node.remote_links; }
// "<0.87.0> <9073.87.0>"; of one that asked for a new process, "<0.87.0> pending".
void count_monitor(Loader&, DistNode& node, std::string_view value, std::uint64_t) {
    ++node.remote_monitors;
    if (const auto pid = take_pid(value); pid && value == " pending") node.spawning.push_back(*pid);
}
void count_monitored(Loader&, DistNode& node, std::string_view, std::uint64_t) { ++node.remote_monitored_by; }
void ignore(Loader&, DistNode&, std::string_view, std::uint64_t) {}

constexpr bool many = true;
constexpr Field<DistNode> peer_fields[] = {
    {"Name: ", {}, {}, read_peer_name},
    {"Controller: ", {}, &DistNode::controller},
    {"Creation: ", {}, &DistNode::creation},
    {"Remote monitoring: ", {}, {}, count_monitor, {}, many},
    {"Remotely monitored by: ", {}, {}, count_monitored, {}, many},
    {"Remote link: ", {}, {}, count_link, {}, many},
    {"Error: ", {}, &DistNode::error},
    {"Warning, stray monitor for: ", {}, {}, ignore, {}, many},
};

constexpr Always peer_always[] = {{"Name: "}};
constexpr Anywhere peer_anywhere[] = {{"Error: "}};

void read_peer(Loader& loader, const Section& section, std::string_view body, DistNode::Kind kind) {
    DistNode node;
    node.kind = kind;
    const Count channel = parse_decimal(section.id);
    if (!channel.has() || *channel > 0xFFFFFFFEu)
        loader.anomalies().add(Anomaly::bad_number, section.offset, section.id);
    node.channel = static_cast<std::uint32_t>(std::min<std::uint64_t>(channel.value_or(0), 0xFFFFFFFEu));
    read_fields(loader, std::span<const Field<DistNode>>(peer_fields), node, section, body, peer_always, peer_anywhere);
    loader.snapshot.nodes.push_back(node);
}

}  // namespace

void read_timer(Loader& loader, const Section& section, std::string_view body) {
    Timer timer;
    if (const auto receiver = parse_pid(section.id)) timer.receiver = *receiver;
    else timer.receiver_name = loader.atom(section.id);
    read_fields(loader, std::span<const Field<Timer>>(timer_fields), timer, section, body, timer_always);
    loader.snapshot.timers.push_back(timer);
}

void read_node(Loader& loader, const Section& section, std::string_view) {
    std::string_view name = section.id;
    std::string storage;
    if (!take_atom(name, storage) || !name.empty())
        loader.anomalies().add(Anomaly::bad_line, section.offset, section.id);
    loader.snapshot.node.name = loader.atom(section.id);
    if (!loader.snapshot.node.distributed) loader.snapshot.node.distributed = true;
}
void read_no_distribution(Loader& loader, const Section&, std::string_view) {
    loader.snapshot.node.distributed = false;
}
void read_visible_node(Loader& loader, const Section& section, std::string_view body) {
    read_peer(loader, section, body, DistNode::Kind::visible);
}
void read_hidden_node(Loader& loader, const Section& section, std::string_view body) {
    read_peer(loader, section, body, DistNode::Kind::hidden);
}
void read_not_connected(Loader& loader, const Section& section, std::string_view body) {
    read_peer(loader, section, body, DistNode::Kind::not_connected);
}

}  // namespace beamheap::crashdump
