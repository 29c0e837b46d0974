#include "beamheap/heap_graph.hpp"

#include <algorithm>

namespace beamheap {

std::string_view name_of(TermKind kind) {
    static constexpr std::array<std::string_view, term_kinds> names{"cons",
                                                                    "tuple",
                                                                    "float",
                                                                    "bignum",
                                                                    "heap_binary",
                                                                    "refc_binary",
                                                                    "sub_binary",
                                                                    "flat_map",
                                                                    "hash_map",
                                                                    "hash_node",
                                                                    "fun",
                                                                    "external_fun",
                                                                    "reference",
                                                                    "external_pid",
                                                                    "external_port",
                                                                    "external_reference",
                                                                    "match_context",
                                                                    "fun_reference",
                                                                    "binary_reference",
                                                                    "lost_map",
                                                                    "unknown"};
    const auto i = static_cast<std::size_t>(kind);
    return i < names.size() ? names[i] : "unknown";
}

std::string_view name_of(RootKind kind) {
    switch (kind) {
        case RootKind::stack: return "stack";
        case RootKind::dictionary: return "dictionary";
        case RootKind::message: return "message";
        case RootKind::seq_trace_token: return "seq_trace_token";
        case RootKind::x_register: return "x_register";
        case RootKind::group_leader: return "group_leader";
        case RootKind::exception: return "exception";
        case RootKind::literal: return "literal";
        case RootKind::garbage: return "garbage";
        case RootKind::table_object: return "table_object";
    }
    return "unknown";
}

void HeapGraph::begin(Mode mode, unsigned word_bytes) {
    map_.clear();
    mode_ = mode;
    forward_ = true;
    has_slice_edges_ = false;
    word_bytes_ = word_bytes;
    young_from_ = young_size_ = 0;
    foreign_count_ = duplicates_ = impossible_ = 0;
    flat_extra_.fill(0);
    space_.begin(word_bytes);
    kinds_.clear_and_trim(kept_bytes);
    words_.clear_and_trim(kept_bytes);
    addresses_.clear_and_trim(kept_bytes);
    edges_.clear_and_trim(kept_bytes);
    foreign_.clear_and_trim(kept_bytes);
    unresolved_.clear_and_trim(kept_bytes);
    roots_.clear_and_trim(kept_bytes);
    origins_.clear_and_trim(kept_bytes);
    origin_runs_.clear();
    root_origins_.clear_and_trim(kept_bytes);
    root_addresses_.clear_and_trim(kept_bytes);
    binaries_.clear_and_trim(kept_bytes);
    flat_overrides_.clear_and_trim(kept_bytes);
}

void HeapGraph::add_root(RootKind kind, std::uint32_t index, std::uint32_t frame, std::uint64_t address,
                         std::uint64_t origin) {
    roots_.push({space_.compress(address), kind, index, frame});
    if (mode_ == Mode::values) root_origins_.push(origin);
}

void HeapGraph::add_immediate_root(RootKind kind, std::uint32_t index, std::uint32_t frame, std::uint64_t origin) {
    if (mode_ != Mode::values) return;
    roots_.push({AddressSpace::none, kind, index, frame});
    root_origins_.push(origin);
}

void HeapGraph::rollback(std::size_t objects, std::size_t roots) {
    if (kinds_.size() > objects) {
        kinds_.set_size(objects);
        words_.set_size(objects);
        addresses_.set_size(objects);
        if (mode_ == Mode::values) origins_.set_size(objects);
        while (!edges_.empty() && edges_[edges_.size() - 1].from >= objects) edges_.set_size(edges_.size() - 1);
        while (!binaries_.empty() && binaries_[binaries_.size() - 1].node >= objects)
            binaries_.set_size(binaries_.size() - 1);
        while (!flat_overrides_.empty() && flat_overrides_[flat_overrides_.size() - 1].node >= objects)
            flat_overrides_.set_size(flat_overrides_.size() - 1);
    }
    roots_.set_size(roots);
    if (mode_ == Mode::values) root_origins_.set_size(roots);
}

HeapGraph::Appender HeapGraph::open_appender(std::size_t more_objects, std::size_t more_references, std::uint64_t origin) {
    if (mode_ == Mode::values) begin_origins(origin);
    kinds_.reserve_more(more_objects);
    words_.reserve_more(more_objects);
    addresses_.reserve_more(more_objects);
    edges_.reserve_more(more_references);
    if (mode_ == Mode::values) origins_.reserve_more(more_objects);
    return {kinds_.data(),
            words_.data(),
            addresses_.data(),
            mode_ == Mode::values ? origins_.data() : nullptr,
            edges_.data() + edges_.size(),
            static_cast<NodeId>(kinds_.size()),
            young_from_,
            young_size_,
            &space_};
}

void HeapGraph::close_appender(NodeId node, const Edge* edge) {
    const std::size_t n = node;
    kinds_.set_size(n);
    words_.set_size(n);
    addresses_.set_size(n);
    if (mode_ == Mode::values) origins_.set_size(n);
    edges_.set_size(static_cast<std::size_t>(edge - edges_.data()));
}

void HeapGraph::finish() {
    duplicates_ = map_.build(addresses_.view(), space_);
    const bool keep_foreign = mode_ == Mode::values;
    Edge* out = edges_.data();
    bool backward = false;
    std::size_t found = 0;
    map_.with_finder([&](auto find) {
        for (const Edge edge : edges_) {
            const NodeId to = find(edge.to);
            if (to == no_node) {
                if (edge.to == AddressSpace::none) {
                    ++impossible_;
                    continue;
                }
                if (keep_foreign)
                    foreign_.push(edge);
                else if (kind(edge.from) != TermKind::sub_binary)
                    unresolved_.push(edge.to);
                continue;
            }
            backward |= to <= edge.from;
            out[found++] = {edge.from, to};
        }
        foreign_count_ = edges_.size() - found;
        edges_.set_size(found);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < roots_.size(); ++i) {
            Root root = roots_[i];
            if (keep_foreign) root_addresses_.push(root.target);
            const std::uint32_t address = root.target;
            root.target = find(address);
            if (!keep_foreign && root.target == no_node) {
                if (address != AddressSpace::none) unresolved_.push(address);
                continue;
            }
            roots_[kept++] = root;
        }
        roots_.set_size(kept);
    });
    forward_ = !backward;
    for (const BinaryUse& use : binaries_)
        if (kind(use.node) == TermKind::sub_binary && find(use.address) != no_node) has_slice_edges_ = true;
}

std::uint64_t HeapGraph::total_words() const {
    std::uint64_t sum = 0;
    for (const std::uint32_t words : words_) sum += words;
    return sum;
}

void HeapGraph::sort_flat_words() {
    std::sort(flat_overrides_.begin(), flat_overrides_.end(),
              [](const FlatOverride& a, const FlatOverride& b) { return a.node < b.node; });
}

const BinaryUse* HeapGraph::binary_of(NodeId node) const {
    const BinaryUse* found = std::lower_bound(binaries_.begin(), binaries_.end(), node,
                                              [](const BinaryUse& use, NodeId n) { return use.node < n; });
    return found != binaries_.end() && found->node == node ? found : nullptr;
}

std::size_t HeapGraph::used_bytes() const {
    return space_.used_bytes() + map_.used_bytes() + kinds_.used_bytes() + words_.used_bytes() +
           addresses_.used_bytes() + edges_.used_bytes() + foreign_.used_bytes() + roots_.used_bytes() +
           origins_.used_bytes() + root_origins_.used_bytes() + root_addresses_.used_bytes() + binaries_.used_bytes() + flat_overrides_.used_bytes();
}

}  // namespace beamheap
