// SPDX-License-Identifier: Apache-2.0
// A term in external format as a TermSource of its own.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "beamheap/terms.hpp"
#include "formats/external_term.hpp"

namespace beamheap::test {

class SingleTerm final : public TermSource {
public:
    /// `data` begins with the version byte.
    explicit SingleTerm(std::string_view data, std::string_view node = {}) {
        term_ = terms_.decode({reinterpret_cast<const std::uint8_t*>(data.data()), data.size()}, {node, {}}, complete_);
    }
    const Element& term() const { return term_; }
    bool complete() const { return complete_; }

    const HeapGraph& graph() const override { return graph_; }
    const HeapGraph* literals() const override { return nullptr; }
    Element root(std::size_t) override { return term_; }
    ObjectHead head(ObjectId id) override { return terms_.head(id.number); }
    ElementCursor elements(ObjectId id) override { return {id, terms_.head(id.number).elements, 0}; }
    bool next(ElementCursor& cursor, Element& element) override {
        if (cursor.left == 0) return false;
        --cursor.left;
        element = terms_.element(cursor.id.number, cursor.place++);
        return true;
    }
    Bytes bytes(ObjectId id, std::uint64_t from, std::uint64_t limit, std::string& out) override {
        const std::string_view all = terms_.bytes(id.number);
        if (from < all.size()) out.append(all.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(limit)));
        return all.size() >= terms_.head(id.number).size ? Bytes::whole : Bytes::part;
    }
    Element at(std::uint64_t) override { return {}; }
    Count binary_size(std::uint64_t) const override { return {}; }
    Count channel_of(std::string_view) const override { return {}; }

private:
    HeapGraph graph_;
    external_term::Terms terms_;
    Element term_;
    bool complete_ = false;
};

}  // namespace beamheap::test
