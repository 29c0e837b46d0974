// SPDX-License-Identifier: Apache-2.0
// Links and monitors of a process or a port, out of their trees and lists (erl_monitor_link.h).
#pragma once

#include <cstdint>
#include <vector>

#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

struct LinkSums {
    std::uint32_t links = 0;     ///< linked processes and ports
    std::uint32_t monitors = 0;  ///< monitors held on others
    std::uint64_t bytes = 0;     ///< what they add to process_info's memory
    bool damaged = false;        ///< a tree or list could not be followed
};

/// Where the three structures of one owner begin.
struct LinkRoots {
    std::uint64_t links = 0, monitors = 0, monitored_by = 0;
};

class LinkReader {
public:
    explicit LinkReader(Reader& reader) : reader_(reader) {}
    /// Appends to `out`, unless it is null.
    LinkSums read(const LinkRoots& roots, std::vector<Link>* out);

private:
    struct Node {
        std::uint64_t address = 0;
        std::uint64_t next = 0;             // of a list; in a tree, the parent with flags in its low bits
        std::uint64_t left = 0, right = 0;  // in a tree
        Word item = 0;
        std::uint32_t type = 0, flags = 0, offset = 0;
        bool target() const { return (flags & 1) != 0; }
        bool named() const { return (flags & 8) != 0; }
        bool extended() const { return (flags & 16) != 0; }
    };
    enum class Type : std::uint8_t {
        process,
        port,
        time_offset,
        remote_process,
        remote_port,
        resource,
        node,
        nodes,
        suspend,
        alias,
        link,
        other
    };
    bool node_at(std::uint64_t address, Node& node);
    Type type_of(const Node& node) const;
    void resource(std::uint64_t resource, Link& link);
    void tree(std::uint64_t root, LinkSums& sums, std::vector<Link>* out);
    void list(std::uint64_t first, LinkSums& sums, std::vector<Link>* out);
    void take(const Node& node, LinkSums& sums, std::vector<Link>* out);
    std::uint64_t bytes_of(const Node& node, Type type);
    void reference(const Node& node, Link& link);

    Reader& reader_;
    struct Pending {
        std::uint64_t address, parent;
    };
    std::vector<Pending> pending_;
};

}  // namespace beamheap::otp
