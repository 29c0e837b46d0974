// SPDX-License-Identifier: Apache-2.0
#include "cli/exports/heap_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analyses/base/sum.hpp"
#include "analyses/facts/needs.hpp"
#include "cli/console/output_file.hpp"
#include "cli/console/terminal.hpp"
#include "present/v8_snapshot.hpp"

namespace beamheap::cli {
namespace {

using present::Content;
using present::V8Snapshot;

// DevTools lists objects by their names, and all arrays as one line, "(array)": tuples and list cells are objects.
V8Snapshot::NodeType type_of(TermKind kind) {
    using Type = V8Snapshot::NodeType;
    switch (kind) {
        case TermKind::heap_binary:
        case TermKind::refc_binary:
        case TermKind::sub_binary: return Type::string;
        case TermKind::fun:
        case TermKind::external_fun: return Type::closure;
        case TermKind::float_number: return Type::number;
        case TermKind::bignum: return Type::bigint;
        default: return Type::object;
    }
}

/// One process's terms on their way into the file: an object of its graph is the node `first` + its number.
class ProcessWriter {
public:
    ProcessWriter(NodeModel& model, V8Snapshot& out, TermSource& source, ProcId id)
        : model_(model),
          out_(out),
          source_(source),
          graph_(source.graph()),
          process_(model.snapshot()[id]),
          next_edge_(graph_.edges().begin()) {}

    /// `binaries`: those outside the heaps that have a node already.
    void write(const std::string& name, std::unordered_map<std::uint64_t, std::uint64_t>& binaries) {
        collect(binaries);
        const std::uint64_t word = graph_.word_bytes();
        const std::uint64_t terms = analyses::saturating_multiply(graph_.total_words(), word);
        const std::uint64_t memory = process_.memory_bytes.value_or(terms);
        const std::uint64_t messages = messages_of(graph_), mailbox = messages != 0 ? 1 : 0;
        const RootList& roots = graph_.roots();
        const auto held =
            static_cast<std::uint64_t>(std::ranges::count_if(roots, [](const Root& r) { return r.target != no_node; }));
        const std::uint64_t number = out_.add_node(V8Snapshot::NodeType::object, name,
                                                   memory > terms ? memory - terms : 0, held - messages + mailbox);
        out_.add_root_edge(name, number);
        first_ = number + 1 + mailbox;
        for (const Root root : roots)
            if (root.target != no_node && root.kind != RootKind::message)
                out_.add_edge(V8Snapshot::EdgeType::property, name_of_root(root), first_ + root.target);
        if (messages != 0) write_mailbox(number + 1, messages);
        for (NodeId node = 0; node < graph_.size(); ++node) write_object(node, binaries);
        for (const auto& [address, bytes] : fresh_)
            out_.add_node(V8Snapshot::NodeType::native, bytes ? "binary" : "binary that the input does not list",
                          bytes.value_or(0), 0);
    }

    /// Messages that refer to an object.
    static std::uint64_t messages_of(const HeapGraph& graph) {
        return static_cast<std::uint64_t>(std::ranges::count_if(
            graph.roots(), [](const Root& r) { return r.target != no_node && r.kind == RootKind::message; }));
    }

private:
    // A node for all messages, which has them by number: a name for each of a million would be most of the memory.
    void write_mailbox(std::uint64_t number, std::uint64_t messages) {
        out_.add_edge(V8Snapshot::EdgeType::property, "messages", number);
        out_.add_node(V8Snapshot::NodeType::object, "messages", 0, messages);
        for (const Root root : graph_.roots())
            if (root.target != no_node && root.kind == RootKind::message)
                out_.add_element(root.index, first_ + root.target);
    }
    // Binaries that no process before this one referred to get the numbers behind the objects.
    void collect(std::unordered_map<std::uint64_t, std::uint64_t>& binaries) {
        const std::uint64_t next = out_.nodes() + (messages_of(graph_) != 0 ? 2 : 1) + graph_.size();
        for (const BinaryUse& use : graph_.binaries()) {
            if (use.base != BinaryUse::Base::binary) continue;
            if (!binaries.emplace(use.address, next + fresh_.size()).second) continue;
            const Count listed = source_.binary_size(use.address);
            fresh_.emplace_back(use.address, listed.has() ? std::optional(*listed) : std::nullopt);
        }
    }
    std::string redacted(std::string_view text, Content content) const {
        return model_.redactor()->apply(text, content);
    }
    std::string name_of_root(const Root& root) const {
        switch (root.kind) {
            case RootKind::stack: {
                if (root.frame == no_frame || process_.stack == StackId::none) return fmt::format("y{}", root.index);
                const auto frames = model_.snapshot().stacks[process_.stack];
                if (root.frame >= frames.size()) return fmt::format("y{}", root.index);
                return fmt::format("y{} of {} (frame {})", root.index,
                                   redacted(model_.names().function(frames[root.frame].function), Content::name),
                                   root.frame);
            }
            case RootKind::dictionary: return "dictionary";
            case RootKind::x_register: return fmt::format("x{}", root.index);
            default: return std::string(name_of(root.kind));
        }
    }
    // What of a tuple tells it from others: its tag and its size. Atoms that are secrets of the node, or its names, are
    // redacted as everywhere.
    std::string name_of_object(NodeId node) {
        const TermKind kind = graph_.kind(node);
        if (kind != TermKind::tuple) return std::string(name_of(kind));
        ElementCursor cursor = source_.elements({ObjectId::Space::heap, node});
        const std::uint64_t size = cursor.left;
        Element tag;
        if (!source_.next(cursor, tag) || tag.kind != ElementKind::atom) return fmt::format("tuple/{}", size);
        return fmt::format("{{{}}}/{}", redacted(present::atom_text(tag.text, model_.names().syntax()), Content::term),
                           size);
    }
    // How the parts of an object are called: an element's place, or head and tail.
    void write_object(NodeId node, const std::unordered_map<std::uint64_t, std::uint64_t>& binaries) {
        const std::size_t from = next_edge_.at();
        while (next_edge_ != graph_.edges().end() && next_edge_.from() == node) ++next_edge_;
        const std::span<const NodeId> targets = graph_.edges().targets().subspan(from, next_edge_.at() - from);
        const BinaryUse* use = graph_.binary_of(node);
        if (use != nullptr && use->base != BinaryUse::Base::binary) use = nullptr;
        out_.add_node(type_of(graph_.kind(node)), name_of_object(node),
                      std::uint64_t{graph_.words(node)} * graph_.word_bytes(),
                      targets.size() + (use != nullptr ? 1 : 0));
        const std::vector<std::uint64_t> places = places_of(node, targets.size());
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const std::uint64_t to = first_ + targets[i], place = places.empty() ? i : places[i];
            if (graph_.kind(node) == TermKind::cons && !places.empty())
                out_.add_edge(V8Snapshot::EdgeType::property, place == 0 ? "head" : "tail", to);
            else out_.add_element(place, to);
        }
        if (use != nullptr) out_.add_edge(V8Snapshot::EdgeType::property, "bytes of", binaries.at(use->address));
    }
    // Which of the object's elements its edges are, in order; empty where the source tells otherwise than the graph.
    std::vector<std::uint64_t> places_of(NodeId node, std::size_t edges) {
        std::vector<std::uint64_t> places;
        if (edges == 0) return places;
        ElementCursor cursor = source_.elements({ObjectId::Space::heap, node});
        Element element;
        for (std::uint64_t place = 0; source_.next(cursor, element); ++place)
            if (element.kind == ElementKind::object && element.id.space == ObjectId::Space::heap)
                places.push_back(place);
        if (places.size() != edges) places.clear();
        return places;
    }

    NodeModel& model_;
    V8Snapshot& out_;
    TermSource& source_;
    const HeapGraph& graph_;
    const Process& process_;
    std::vector<std::pair<std::uint64_t, std::optional<std::uint64_t>>> fresh_;
    std::uint64_t first_ = 0;
    EdgeList::Iterator next_edge_;
};

void write_tables(NodeModel& model, V8Snapshot& out) {
    const Snapshot& s = model.snapshot();
    for (const EtsTable& table : s.ets) {
        const std::string name = "ETS table " + model.redactor()->apply(model.names().bare(table.name), Content::name);
        const std::uint64_t bytes = analyses::saturating_multiply(table.words.value_or(0), s.source.word_size);
        out.add_root_edge(name, out.add_node(V8Snapshot::NodeType::native, name, bytes, 0));
    }
}

}  // namespace

std::string name_in_heap_file(const NodeModel& model, const Process& process) {
    const std::string pid = model.names().pid(process.pid);
    std::string called = model.names().called(process);
    if (called.empty() && process.initial_call != FunctionId::none)
        called = model.names().function(process.initial_call);
    if (called.empty()) return pid;
    // A label is a term of the node's, names are names.
    const bool label = process.name == TextId::none && process.label != TextId::none;
    return model.redactor()->apply(called, label ? Content::term : Content::name) + ' ' + pid;
}

std::vector<ProcId> largest_first(const Snapshot& snapshot, std::uint64_t& all_bytes) {
    std::vector<ProcId> order(snapshot.processes.size());
    all_bytes = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = static_cast<ProcId>(i);
        all_bytes = analyses::saturating_add(all_bytes, snapshot.processes[i].memory_bytes.value_or(0));
    }
    std::ranges::stable_sort(order, [&](ProcId a, ProcId b) {
        return snapshot[a].memory_bytes.value_or(0) > snapshot[b].memory_bytes.value_or(0);
    });
    return order;
}

Demand heap_file_demand() { return {.parts = analyses::need::heap_file}; }

Result<HeapFile> write_heap_snapshot(NodeModel& model, const std::string& path, bool overwrite,
                                     std::uint64_t most_nodes, When progress) {
    BH_TRY(OutputFile file, OutputFile::create(path, overwrite));
    BH_TRY(const Aside nodes, Aside::create(path));
    BH_TRY(const Aside edges, Aside::create(path));
    const Snapshot& s = model.snapshot();
    V8Snapshot out(
        fmt::format("written by beamheap, redacted: {}", present::name_of(model.redactor()->level())),
        [&](std::string_view bytes) { return nodes.write(bytes); },
        [&](std::string_view bytes) { return edges.write(bytes); }, s.processes.size() + s.ets.size());
    std::uint64_t all_bytes = 0, done_bytes = 0;
    const std::vector<ProcId> order = largest_first(s, all_bytes);
    std::unordered_map<std::uint64_t, std::uint64_t> binaries;
    HeapFile made;
    std::uint64_t left = s.processes.size() + s.ets.size();  // nodes that are to come for certain
    ProgressLine line(progress);
    const Progress show = line.callback();
    write_tables(model, out);
    left -= s.ets.size();
    for (const ProcId id : order) {
        --left;
        const std::string name = name_in_heap_file(model, s[id]);
        BH_TRY(const std::unique_ptr<TermSource> source, model.artifact().terms(id));
        const HeapGraph& graph = source->graph();
        if (out.nodes() + left + 2 + graph.size() + graph.binaries().size() <= most_nodes) {
            ProcessWriter(model, out, *source, id).write(name, binaries);
            ++made.processes;
        } else {
            const std::string folded = fmt::format("{} (its {} terms are folded)", name, graph.size());
            const std::uint64_t terms = analyses::saturating_multiply(graph.total_words(), graph.word_bytes());
            out.add_root_edge(
                folded, out.add_node(V8Snapshot::NodeType::object, folded, s[id].memory_bytes.value_or(terms), 0));
            ++made.folded;
        }
        done_bytes = analyses::saturating_add(done_bytes, s[id].memory_bytes.value_or(0));
        if (show) show(done_bytes, all_bytes);
    }
    made.nodes = out.nodes();
    BH_CHECK(out.finish([&](std::string_view bytes) { return file.write(bytes); }, [&] { return nodes.copy_to(file); },
                        [&] { return edges.copy_to(file); }));
    BH_CHECK(file.finish());
    return made;
}

}  // namespace beamheap::cli
