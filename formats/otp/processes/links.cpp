// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/processes/links.hpp"

#include "formats/otp/vm/cycle.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr std::uint64_t most_nodes = 1u << 26;  // of one tree or list

// ErtsMonitorDataExtended: the common data, then name, a pointer, the distribution structure.
constexpr std::uint32_t extended_name = 0, extended_dist = 16, extended_heap = 24;

}  // namespace

bool LinkReader::node_at(std::uint64_t address, Node& node) {
    const Offsets& at = reader_.at;
    const std::byte* p = address % 8 == 0 ? reader_.memory.at(address, at.link_node_size) : nullptr;
    if (p == nullptr) return false;
    node.address = address;
    node.next = load<Word>(p);
    node.right = load<Word>(p + 8);
    node.left = load<Word>(p + 16);
    node.item = load<Word>(p + at.link_item);
    node.offset = load<std::uint16_t>(p + at.link_offset);
    if (reader_.vm.layout.link_types == LinkTypes::since_28) {
        // Type in 5 bits, alias state in 2, then the flags that were alone before.
        const auto word = load<std::uint32_t>(p + at.link_flags);
        node.type = word & 31;
        node.flags = word >> 7;
    } else {
        // The row of a release that has no such member may have been overruled by the image.
        node.type = load<std::uint16_t>(p + (at.link_type == absent ? at.link_flags + 2 : at.link_type));
        node.flags = load<std::uint16_t>(p + at.link_flags);
    }
    return true;
}

LinkReader::Type LinkReader::type_of(const Node& node) const {
    using T = Type;
    static constexpr T until_23[] = {T::process, T::port,    T::time_offset, T::remote_process, T::resource, T::node,
                                     T::nodes,   T::suspend, T::link,        T::link,           T::link};
    static constexpr T in_24[] = {T::process, T::port,    T::time_offset, T::remote_process, T::resource, T::node,
                                  T::nodes,   T::suspend, T::alias,       T::link,           T::link,     T::link};
    static constexpr T since_25[] = {
        T::process, T::port,    T::time_offset, T::remote_process, T::remote_port, T::resource, T::node,
        T::nodes,   T::suspend, T::alias,       T::link,           T::link,        T::link,     T::link};
    std::span<const T> types = since_25;
    if (reader_.vm.layout.link_types == LinkTypes::until_23) types = until_23;
    if (reader_.vm.layout.link_types == LinkTypes::in_24) types = in_24;
    return node.type < types.size() ? types[node.type] : T::other;
}

void LinkReader::reference(const Node& node, Link& link) {
    const auto word = reader_.memory.word(node.address - node.offset + reader_.at.monitor_reference);
    if (!word || !is_boxed(*word)) return;
    const std::byte* p = reader_.memory.at(address_of(*word), 24);
    if (p == nullptr || reader_.vm.layout.tags[header_subtag(load<Word>(p))] != Tag::reference) return;
    if (load<std::uint32_t>(p + 8) != 0xffffffffu) return;
    for (std::size_t i = 0; i < 3; ++i) link.ref[2 - i] = load<std::uint32_t>(p + 12 + 4 * i);
}

// erts_link_size and erts_monitor_size; a structure is shared by both ends, which carry a part of it each.
std::uint64_t LinkReader::bytes_of(const Node& node, Type type) {
    const Offsets& at = reader_.at;
    std::uint64_t size = 0;
    std::uint64_t users = 1;
    const std::uint64_t data = node.address - node.offset;
    const auto heap_words = [&](Word word) -> std::uint64_t {
        if (is_immediate(word)) return 0;
        const auto header = reader_.memory.word(address_of(word));
        return header ? header_arity(*header) + 1 : 0;
    };
    if (type == Type::link) {
        if (reader_.vm.layout.link_types == LinkTypes::until_23) {
            size = at.link_data_size;
            users = reader_.memory.word32(data + at.link_data_users).value_or(1);
            if (node.extended())
                if (const auto header = reader_.memory.word(data + at.link_data_size + 16))
                    size += 24 + 8 * header_arity(*header);
        } else if (!node.extended()) {
            size = at.link_node_size;
        } else {
            size = at.extended_link_size;
            users = reader_.memory.word32(data + at.extended_link_users).value_or(1);
            if (const auto header = reader_.memory.word(data + at.extended_link_heap))
                size += 8 * header_arity(*header);
        }
    } else {
        users = reader_.memory.word32(data + at.monitor_data_users).value_or(1);
        if (type == Type::alias) {
            size = at.monitor_data_size;
        } else if (type == Type::suspend) {
            size = at.monitor_suspend_size;
        } else if (!node.extended()) {
            size = at.monitor_heap_data_size;
        } else {
            std::uint64_t words = 0;
            if (type != Type::node && type != Type::nodes)
                words += heap_words(reader_.memory.word(data + at.monitor_reference).value_or(0x3b));
            if (type == Type::remote_process || type == Type::remote_port) {
                words += heap_words(reader_.memory.word(data + at.link_item).value_or(0x3b));
                words += heap_words(reader_.memory.word(data + at.link_node_size + at.link_item).value_or(0x3b));
            }
            size = at.monitor_data_size + extended_heap + 8 * words;
        }
    }
    return users == 0 ? size : size / users;
}

void LinkReader::take(const Node& node, LinkSums& sums, std::vector<Link>* out) {
    const Type type = type_of(node);
    sums.bytes += bytes_of(node, type);
    Link link;
    bool keep = true;
    switch (type) {
        case Type::link: ++sums.links; break;
        case Type::process:
        case Type::port:
        case Type::time_offset:
        case Type::remote_process:
        case Type::remote_port: link.kind = node.target() ? LinkKind::monitored_by : LinkKind::monitors; break;
        case Type::resource: link.kind = LinkKind::resource; break;
        case Type::node: link.kind = LinkKind::node_monitor; break;
        case Type::suspend: link.kind = node.target() ? LinkKind::suspended_by : LinkKind::suspends; break;
        case Type::nodes:
        case Type::alias:
        case Type::other: keep = false; break;
    }
    sums.monitors += keep && (link.kind == LinkKind::monitors || link.kind == LinkKind::node_monitor);
    if (out == nullptr || !keep) return;
    if (type != Type::link && type != Type::suspend && type != Type::node) reference(node, link);
    if (link.kind == LinkKind::monitors && node.named()) {
        const std::uint64_t extended = node.address - node.offset + reader_.at.monitor_data_size;
        link.name = reader_.atom(reader_.memory.word(extended + extended_name).value_or(0));
        const std::uint64_t dist = reader_.memory.word(extended + extended_dist).value_or(0);
        link.node = dist == 0 ? reader_.snapshot.node.name : reader_.atom(reader_.memory.word(dist).value_or(0));
    } else if (link.kind == LinkKind::node_monitor || is_atom(node.item)) {
        (link.kind == LinkKind::node_monitor ? link.node : link.name) = reader_.atom(node.item);
        // A process that another node was asked for, and whose pid it has not told yet: the atom `pending`.
        if (type == Type::remote_process && link.kind == LinkKind::monitors) {
            const std::uint64_t extended = node.address - node.offset + reader_.at.monitor_data_size;
            const std::uint64_t dist = reader_.memory.word(extended + extended_dist).value_or(0);
            if (dist != 0) link.node = reader_.atom(reader_.memory.word(dist).value_or(0));
        }
    } else if (link.kind != LinkKind::resource) {
        link.pid = reader_.pid(node.item);
        if (!link.pid.has()) link.port = reader_.port(node.item);
    } else {
        resource(node.item, link);
    }
    out->push_back(link);
}

// erl_nif.c: the first word of an ErtsResource is its type, whose name follows the module's after a few pointers, the
// number of which depends on the release: the two are the only atoms in it.
void LinkReader::resource(std::uint64_t resource, Link& link) {
    constexpr std::uint64_t first_word = 4, last_word = 24;
    const auto type = reader_.memory.word(resource);
    for (std::uint64_t i = first_word; type && i <= last_word; ++i) {
        const auto module = reader_.memory.word(*type + 8 * i), name = reader_.memory.word(*type + 8 * i + 8);
        if (!module || !name || !is_atom(*module) || !is_atom(*name)) continue;
        // As a dump prints it: {Module, Name}.
        link.name = reader_.atom(*module);
        link.node = reader_.atom(*name);
        return;
    }
}

// Each node names its parent, so a damaged tree can't lead around in a circle: no node has two parents.
void LinkReader::tree(std::uint64_t root, LinkSums& sums, std::vector<Link>* out) {
    if (root == 0) return;
    pending_.assign(1, {root, 0});
    std::uint64_t seen = 0;
    while (!pending_.empty()) {
        const Pending here = pending_.back();
        pending_.pop_back();
        Node node;
        if (!node_at(here.address, node) || (node.next & ~7ull) != here.parent || ++seen > most_nodes) {
            sums.damaged = true;
            continue;
        }
        take(node, sums, out);
        if (node.right != 0) pending_.push_back({node.right, here.address});
        if (node.left != 0) pending_.push_back({node.left, here.address});
    }
}

void LinkReader::list(std::uint64_t first, LinkSums& sums, std::vector<Link>* out) {
    Cycle cycle;
    for (std::uint64_t address = first; address != 0;) {
        Node node;
        if (!node_at(address, node) || cycle.closed_by(address)) {
            sums.damaged = true;
            return;
        }
        take(node, sums, out);
        address = node.next;
        if (address == first) return;
    }
}

LinkSums LinkReader::read(const LinkRoots& roots, std::vector<Link>* out) {
    LinkSums sums;
    tree(roots.links, sums, out);
    tree(roots.monitors, sums, out);
    list(roots.monitored_by, sums, out);
    return sums;
}

}  // namespace beamheap::otp
