// SPDX-License-Identifier: Apache-2.0
#include "beamheap/heap_graph.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

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
    foreign_count_ = duplicates_ = impossible_ = unreferenced_ = 0;
    flat_extra_.fill(0);
    plain_fun_words_ = 0;
    space_.begin(word_bytes);
    kinds_.clear_and_trim(kept_bytes);
    words_.clear_and_trim(kept_bytes);
    wide_words_.clear_and_trim(kept_bytes);
    addresses_.clear_and_trim(kept_bytes);
    edges_.clear_and_trim(kept_bytes);
    foreign_.clear_and_trim(kept_bytes);
    unresolved_.clear_and_trim(kept_bytes);
    roots_.clear_and_trim(kept_bytes);
    origins_.clear_and_trim(kept_bytes);
    root_origins_.clear_and_trim(kept_bytes);
    missing_roots_.clear_and_trim(kept_bytes);
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
        while (!wide_words_.empty() && wide_words_[wide_words_.size() - 1].node >= objects)
            wide_words_.set_size(wide_words_.size() - 1);
        addresses_.set_size(objects);
        origins_.cut(objects);
        edges_.cut_from(static_cast<NodeId>(objects));
        while (!binaries_.empty() && binaries_[binaries_.size() - 1].node >= objects)
            binaries_.set_size(binaries_.size() - 1);
        while (!flat_overrides_.empty() && flat_overrides_[flat_overrides_.size() - 1].node >= objects)
            flat_overrides_.set_size(flat_overrides_.size() - 1);
    }
    roots_.cut(roots);
    root_origins_.cut(roots);
}

HeapGraph::Appender HeapGraph::open_appender(std::size_t more_objects, std::size_t more_references) {
    kinds_.reserve_more(more_objects);
    words_.reserve_more(more_objects);
    addresses_.reserve_more(more_objects);
    const auto next = static_cast<NodeId>(kinds_.size());
    return {kinds_.data(),
            words_.data(),
            addresses_.data(),
            next,
            young_from_,
            young_size_,
            edges_.open_appender(more_references),
            mode_ == Mode::values ? origins_.open_appender(more_objects) : OffsetList::Appender{},
            &space_,
            this};
}

void HeapGraph::close_appender(const Appender& written) {
    const std::size_t n = written.node;
    kinds_.set_size(n);
    words_.set_size(n);
    addresses_.set_size(n);
    if (mode_ == Mode::values) origins_.set_size(n, written.origins.last);
    edges_.close_appender(written.edges);
    edges_.cut_from(written.node);
}

void HeapGraph::put_wide_words(std::uint8_t* words, NodeId node, std::uint32_t own_words) {
    words[node] = wide_entry;
    wide_words_.push({node, own_words});
}

std::uint32_t HeapGraph::find_wide_words(NodeId node) const {
    return std::lower_bound(wide_words_.begin(), wide_words_.end(), node,
                            [](const WideWords& wide, NodeId n) { return wide.node < n; })
        ->words;
}

void HeapGraph::finish() {
    duplicates_ = map_.build(addresses_.view(), space_);
    const bool keep_foreign = mode_ == Mode::values;
    bool backward = false;
    const std::size_t references = edges_.size();
    std::uint8_t* const kinds = kinds_.data();
    map_.with_finder([&](auto find) {
        edges_.rewrite([&](Edge edge) {
            const NodeId to = find(edge.to);
            if (to == no_node) {
                if (edge.to == AddressSpace::none) ++impossible_;
                else if (keep_foreign) foreign_.push(edge);
                else if (kind_of(kinds[edge.from] & ~referenced_bit) != TermKind::sub_binary) unresolved_.push(edge.to);
                return no_node;
            }
            backward |= to <= edge.from;
            kinds[to] |= referenced_bit;
            return to;
        });
        std::uint32_t number = 0;
        roots_.keep_if([&](NodeId& target) {
            const std::uint32_t address = target;
            target = find(address);
            if (target != no_node) kinds[target] |= referenced_bit;
            if (target == no_node && address != AddressSpace::none) {
                if (keep_foreign) missing_roots_.push({number, address});
                else unresolved_.push(address);
            }
            ++number;
            return keep_foreign || target != no_node;
        });
    });
    unreferenced_ = kinds_.size() - take_referenced();
    foreign_count_ = references - edges_.size();
    forward_ = !backward;
    for (const BinaryUse& use : binaries_)
        if (kind(use.node) == TermKind::sub_binary && find(use.address) != no_node) has_slice_edges_ = true;
}

/// How many objects have referenced_bit, which they lose.
std::uint64_t HeapGraph::take_referenced() {
    std::uint64_t count = 0;
    const auto take = [&count](std::uint64_t entries) {
        constexpr std::uint64_t bits = referenced_bit * 0x0101010101010101u;
        count += static_cast<unsigned>(std::popcount(entries & bits));
        return entries & ~bits;
    };
    std::size_t i = 0;
    for (std::uint64_t eight = 0; i + sizeof eight <= kinds_.size(); i += sizeof eight) {
        std::memcpy(&eight, kinds_.data() + i, sizeof eight);
        eight = take(eight);
        std::memcpy(kinds_.data() + i, &eight, sizeof eight);
    }
    for (; i < kinds_.size(); ++i) kinds_[i] = static_cast<std::uint8_t>(take(kinds_[i]));
    return count;
}

std::uint64_t HeapGraph::missing_root(std::size_t i) const {
    const MissingRoot* const found =
        std::lower_bound(missing_roots_.begin(), missing_roots_.end(), i,
                         [](const MissingRoot& missing, std::size_t n) { return missing.root < n; });
    return found != missing_roots_.end() && found->root == i ? space_.expand(found->address) : 0;
}

std::uint64_t HeapGraph::total_words() const {
    std::uint64_t sum = 0;
    for (const std::uint8_t words : words_) sum += words;
    for (const WideWords& wide : wide_words_) sum += wide.words - std::uint64_t{wide_entry};
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
           wide_words_.used_bytes() + addresses_.used_bytes() + edges_.used_bytes() + foreign_.used_bytes() +
           roots_.used_bytes() + origins_.used_bytes() + root_origins_.used_bytes() + missing_roots_.used_bytes() +
           binaries_.used_bytes() + flat_overrides_.used_bytes();
}

}  // namespace beamheap
