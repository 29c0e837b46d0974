// SPDX-License-Identifier: Apache-2.0
// A term that stands by itself: copied out of a process, or read from its printed form, and kept when what it came from
// is gone. It is a TermSource like any other, so whatever matches, walks or prints terms does it to these, too.
//
// A crash dump's slogan is a printed term, cut anywhere; the reasons of exits, the reports of loggers and the events in
// queues are terms of heaps. Read into one form, what a reason means is written once (causes.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/terms.hpp"

namespace beamheap {

/// How much of a term is copied; what lies beyond is an element of kind `unknown`.
struct CopyBudget {
    std::size_t objects = 4'000;
    std::size_t bytes = 64u << 10;  ///< of binaries, all together
};

class OwnedTerm final : public TermSource {
public:
    OwnedTerm();

    /// The term itself.
    const Element& term() const { return root_; }
    /// Whether something was left out: by the budget, or because the text ended early.
    bool cut() const { return cut_; }
    /// Whether the text that was read ended within this object: its last element is cut, or others are lost.
    bool ends_early(ObjectId id) const { return objects_[id.number].ends_early; }
    /// Whether the text that was read held something that is no term, or went on behind it.
    bool strange() const { return strange_; }

    const HeapGraph& graph() const override { return graph_; }
    const HeapGraph* literals() const override { return nullptr; }
    Element root(std::size_t) override { return root_; }
    ObjectHead head(ObjectId id) override;
    ElementCursor elements(ObjectId id) override;
    bool next(ElementCursor& cursor, Element& element) override;
    Bytes bytes(ObjectId id, std::uint64_t from, std::uint64_t limit, std::string& out) override;
    Element at(std::uint64_t) override { return {}; }
    Count binary_size(std::uint64_t) const override { return {}; }
    Count channel_of(std::string_view) const override { return {}; }

private:
    friend class TermCopier;
    friend class TermParser;
    struct Object {
        ObjectHead head;
        std::vector<Element> elements;
        std::string_view bytes;
        bool bytes_cut = false;
        bool ends_early = false;
    };
    std::string_view keep(std::string_view text);
    /// Adds an object; its elements are set by whoever makes it.
    Element add(ObjectHead head);
    Object& object(const Element& element) { return objects_[element.id.number]; }

    HeapGraph graph_;  // empty: nothing here has an address
    std::deque<Object> objects_;
    std::deque<std::string> texts_;
    Element root_;
    bool cut_ = false;
    bool strange_ = false;
};

/// A copy of a term, breadth first, so that a budget cuts what is deep before what is near. Shared parts are copied
/// once for each reference; a term that holds itself ends at the budget.
std::unique_ptr<OwnedTerm> copy_term(TermSource& source, const Element& term, const CopyBudget& budget = {});

/// Reads a term as io:format prints it with ~p, ~w or ~tp: also with pids, ports, references and funs, which have no
/// syntax; `_` and `...` (what ~P leaves out) are elements of kind `unknown`. Text that ends early gives what is there;
/// what is no term gives an `unknown` element. Linear; recursion is bounded by 64 levels.
std::unique_ptr<OwnedTerm> parse_term(std::string_view printed);

/// A text as Erlang has it: a list of its characters.
std::unique_ptr<OwnedTerm> text_term(std::string_view text);

}  // namespace beamheap
