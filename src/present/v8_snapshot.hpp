// SPDX-License-Identifier: Apache-2.0
// A heap as the memory panel of Chrome's DevTools, Node's and memlab read it (.heapsnapshot): V8's JSON of nodes, edges
// and strings.
//
// The file tells first how many nodes and edges there are, and has all nodes before all edges; both are made at the
// same time here. So nodes and edges are kept beside the file until the end: whoever calls this says where (Spools).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "beamheap/error.hpp"

namespace beamheap::present {

class V8Snapshot {
public:
    /// As V8 has them; the numbers are those of node_types and edge_types in the file.
    enum class NodeType : std::uint8_t {
        hidden,
        array,
        string,
        object,
        code,
        closure,
        regexp,
        number,
        native,
        synthetic,
        concatenated,
        sliced,
        symbol,
        bigint
    };
    enum class EdgeType : std::uint8_t { context, element, property, internal };
    using Take = std::function<Status(std::string_view bytes)>;

    /// `nodes` and `edges` take what is put together by finish(). The root is there, as node 0, with `root_edges`
    /// edges. `title` is what the file says of itself.
    V8Snapshot(std::string_view title, Take nodes, Take edges, std::uint64_t root_edges);

    /// The next node, of `edges` edges, which follow by add_edge(). Gives its number. Errors are kept until finish().
    std::uint64_t add_node(NodeType type, std::string_view name, std::uint64_t bytes, std::uint64_t edges);
    /// An edge of the node whose turn it is: all of the root first, then of each node in order.
    void add_edge(EdgeType type, std::string_view name, std::uint64_t to);
    void add_element(std::uint64_t index, std::uint64_t to);
    /// One of the root's, at any time.
    void add_root_edge(std::string_view name, std::uint64_t to);
    std::uint64_t nodes() const { return node_count_; }

    /// Writes the file to `out`. `copy_nodes` and `copy_edges` copy there what the two of the constructor took.
    /// Errors: those of any of them.
    Status finish(const Take& out, const std::function<Status()>& copy_nodes,
                  const std::function<Status()>& copy_edges);

private:
    std::uint64_t string(std::string_view text);
    void keep(const Take& take, std::string& piece, bool all);

    std::string title_;
    Take nodes_, edges_;
    std::string node_piece_, edge_piece_, root_edges_;
    std::uint64_t node_count_ = 0, edge_count_ = 0;
    std::map<std::string, std::uint64_t, std::less<>> strings_;
    Status status_ = ok();
};

}  // namespace beamheap::present
