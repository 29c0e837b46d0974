// SPDX-License-Identifier: Apache-2.0
// The terms of one process of a core image, read from its memory when they are asked for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "beamheap/terms.hpp"
#include "formats/external_term.hpp"
#include "formats/otp/heaps/heap_reader.hpp"

namespace beamheap::otp {

/// Literals (and whatever else lies outside the heaps) that some terms refer to, as a graph of their own.
class LiteralGraph {
public:
    /// Most objects that are followed; what lies behind them counts as missing.
    static constexpr std::size_t most_objects = std::size_t{1} << 22;

    void build(const Vm& vm, bytes::MemoryReader& memory, const std::vector<std::uint64_t>& first);
    const HeapGraph& graph() const { return graph_; }
    bool cut() const { return cut_; }
    /// How many places hold no term, or a reference to nothing.
    std::uint64_t damaged() const { return damaged_; }

private:
    bool add(std::uint64_t address);
    HeapGraph graph_;
    std::vector<std::uint64_t> slots_;  // open addressing, 0 is free
    std::vector<std::uint64_t> found_;
    bool cut_ = false;
    std::uint64_t damaged_ = 0;
};

class CoreTerms final : public TermSource, private external_term::Internals {
public:
    /// `snapshot` must outlive it; it is asked for names of nodes only.
    CoreTerms(const Vm& vm, const Snapshot& snapshot, std::uint64_t process, bool garbage = false);

    /// The terms of an ETS table.
    CoreTerms(const Vm& vm, const Snapshot& snapshot, const EtsObjects& objects);

    /// Literals, and what they refer to; no heap.
    static std::unique_ptr<CoreTerms> of_literals(const Vm& vm, const Snapshot& snapshot,
                                                  const std::vector<std::uint64_t>& addresses);

    /// Of a process of a running VM that did not stand still: none.
    static std::unique_ptr<CoreTerms> moved_terms(const Vm& vm, const Snapshot& snapshot);
    bool moved() const override { return moved_; }

    const HeapGraph& graph() const override { return graph_; }
    const HeapGraph* literals() const override { return &literals_.graph(); }
    Element root(std::size_t i) override;
    Element sender(std::size_t i) override;
    ObjectHead head(ObjectId id) override;
    ElementCursor elements(ObjectId id) override;
    bool next(ElementCursor& cursor, Element& element) override;
    Bytes bytes(ObjectId id, std::uint64_t from, std::uint64_t limit, std::string& out) override;
    Element at(std::uint64_t address) override;
    Count binary_size(std::uint64_t address) const override;
    Count channel_of(std::string_view node) const override;

    const HeapReader& heap() const { return heap_; }
    /// As LiteralGraph::damaged().
    std::uint64_t damaged_literals() const { return literals_.damaged(); }

private:
    bool moved_ = false;

    std::uint64_t address_of_object(ObjectId id) const {
        return id.space == ObjectId::Space::literals ? literals_.graph().address(id.number) : graph_.address(id.number);
    }
    Element element_of(Word word);
    Element object_at(std::uint64_t address);
    void read_literals();
    void fetch_all();
    Element decoded_message(std::uint64_t message);
    Element decoded_object(std::uint64_t tuple);
    bool read_binary(std::uint8_t tag, std::span<const std::uint8_t> rest, external_term::Internal& out);
    bool read(std::uint8_t tag, std::span<const std::uint8_t> rest, external_term::Internal& out) override;
    void fun_head(std::uint64_t address, const ObjectShape& shape, ObjectHead& head);
    void reference_head(std::uint64_t address, Word header, ObjectHead& head);
    std::string_view atom_text(Word atom);
    std::string_view catch_text(std::uint64_t number);
    std::string_view keep(std::string text) {
        return *kept_.emplace_back(std::make_unique<std::string>(std::move(text)));
    }

    const Vm& vm_;
    const Snapshot& snapshot_;
    Snapshot names_;  // node names met on the way
    Reader reader_;
    bytes::MemoryReader& memory_;
    HeapReader heap_;
    HeapGraph graph_;
    LiteralGraph literals_;
    external_term::Terms decoded_;
    std::uint32_t key_ = 0;                              // of compressed objects
    std::unordered_map<std::size_t, Element> messages_;  // decoded messages and objects, by root
    std::vector<std::unique_ptr<std::string>> kept_;
};

}  // namespace beamheap::otp
