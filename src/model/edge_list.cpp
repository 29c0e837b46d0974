// SPDX-License-Identifier: Apache-2.0
#include "beamheap/edge_list.hpp"

#include <algorithm>

namespace beamheap {

// A reader may write an edge of a line that it does not take in the end: the next one has its number.
void EdgeList::put_wide(std::size_t at, NodeId step) {
    while (!wide_.empty() && wide_[wide_.size() - 1].at >= at) wide_.set_size(wide_.size() - 1);
    wide_.push({at, step});
    steps_.data()[at] = wide_step;
}

NodeId EdgeList::find_wide(std::size_t at) const {
    const Wide* const found =
        std::lower_bound(wide_.begin(), wide_.end(), at, [](const Wide& wide, std::size_t a) { return wide.at < a; });
    return found != wide_.end() && found->at == at ? found->step : 0;
}

void EdgeList::set_size(std::size_t size) {
    targets_.set_size(size);
    steps_.set_size(size);
    while (!wide_.empty() && wide_[wide_.size() - 1].at >= size) wide_.set_size(wide_.size() - 1);
}

void EdgeIndex::build(const EdgeList& edges, std::size_t nodes) {
    edges_ = &edges;
    entries_.resize(nodes / stride + 1);
    EdgeList::Iterator edge = edges.begin();
    for (std::size_t block = 0; block < entries_.size(); ++block) {
        while (edge != edges.end() && edge.from() < block * stride) ++edge;
        entries_[block] = {static_cast<std::uint32_t>(edge.at()), edge.from()};
    }
}

}  // namespace beamheap
