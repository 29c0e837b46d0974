// SPDX-License-Identifier: Apache-2.0
#include "present/v8_snapshot.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <vector>

#include "present/sanitise.hpp"

namespace beamheap::present {
namespace {

constexpr std::size_t piece_bytes = 256 * 1024;
constexpr std::uint64_t fields_of_a_node = 7;

// How the numbers are to be read: node_fields and their types as V8 writes them.
constexpr std::string_view meta =
    R"("meta":{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],)"
    R"("node_types":[["hidden","array","string","object","code","closure","regexp","number","native","synthetic",)"
    R"("concatenated string","sliced string","symbol","bigint"],"string","number","number","number","number","number"],)"
    R"("edge_fields":["type","name_or_index","to_node"],)"
    R"("edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"string_or_number","node"],)"
    R"("trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],)"
    R"("trace_node_fields":["id","function_info_index","count","size","children"],)"
    R"("sample_fields":["timestamp_us","last_assigned_id"],"location_fields":["object_index","script_id","line","column"]},)";

// The numbers of a node or an edge, a line of them.
void add_fields(std::string& piece, std::initializer_list<std::uint64_t> fields) {
    for (const std::uint64_t field : fields) {
        const fmt::format_int digits(field);
        piece.append(digits.data(), digits.size());
        piece += ',';
    }
    piece.back() = '\n';
}

}  // namespace

V8Snapshot::V8Snapshot(std::string_view title, Take nodes, Take edges, std::uint64_t root_edges)
    : nodes_(std::move(nodes)), edges_(std::move(edges)) {
    append_json(title, title_);
    add_node(NodeType::synthetic, "", 0, root_edges);
}

std::uint64_t V8Snapshot::string(std::string_view text) {
    if (const auto found = strings_.find(text); found != strings_.end()) return found->second;
    return strings_.emplace(text, strings_.size()).first->second;
}

void V8Snapshot::keep(const Take& take, std::string& piece, bool all) {
    if (!all && piece.size() < piece_bytes) return;
    if (status_) status_ = take(piece);
    piece.clear();
}

std::uint64_t V8Snapshot::add_node(NodeType type, std::string_view name, std::uint64_t bytes, std::uint64_t edges) {
    const std::uint64_t number = node_count_++;
    if (number != 0) node_piece_ += ',';
    // V8 gives odd ids to objects of its heap.
    add_fields(node_piece_, {static_cast<std::uint64_t>(type), string(name), number * 2 + 1, bytes, edges, 0, 0});
    keep(nodes_, node_piece_, false);
    return number;
}

void V8Snapshot::add_edge(EdgeType type, std::string_view name, std::uint64_t to) {
    ++edge_count_;
    edge_piece_ += ',';
    add_fields(edge_piece_, {static_cast<std::uint64_t>(type), string(name), to * fields_of_a_node});
    keep(edges_, edge_piece_, false);
}

void V8Snapshot::add_element(std::uint64_t index, std::uint64_t to) {
    ++edge_count_;
    edge_piece_ += ',';
    add_fields(edge_piece_, {static_cast<std::uint64_t>(EdgeType::element), index, to * fields_of_a_node});
    keep(edges_, edge_piece_, false);
}

void V8Snapshot::add_root_edge(std::string_view name, std::uint64_t to) {
    ++edge_count_;
    if (!root_edges_.empty()) root_edges_ += ',';
    add_fields(root_edges_, {static_cast<std::uint64_t>(EdgeType::property), string(name), to * fields_of_a_node});
}

Status V8Snapshot::finish(const Take& out, const std::function<Status()>& copy_nodes,
                          const std::function<Status()>& copy_edges) {
    keep(nodes_, node_piece_, true);
    keep(edges_, edge_piece_, true);
    BH_CHECK(std::move(status_));
    BH_CHECK(out(fmt::format(
        R"({{"snapshot":{{"title":"{}",{}"node_count":{},"edge_count":{},"trace_function_count":0}},{}"nodes":[)",
        title_, meta, node_count_, edge_count_, '\n')));
    BH_CHECK(copy_nodes());
    BH_CHECK(out("],\n\"edges\":["));
    BH_CHECK(out(root_edges_));
    BH_CHECK(copy_edges());
    BH_CHECK(out("],\n\"trace_function_infos\":[],\"trace_tree\":[],\"samples\":[],\"locations\":[],\n\"strings\":["));
    std::vector<const std::string*> texts(strings_.size());
    for (const auto& [text, number] : strings_) texts[number] = &text;
    std::string piece;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        piece += i == 0 ? "\"" : ",\n\"";
        append_json(*texts[i], piece);
        piece += '"';
        if (piece.size() < piece_bytes && i + 1 < texts.size()) continue;
        BH_CHECK(out(piece));
        piece.clear();
    }
    return out("]}\n");
}

}  // namespace beamheap::present
