// SPDX-License-Identifier: Apache-2.0
// Whose records the tuples among a process's terms are.
//
// A tuple {state, ...} is a record of the module that made it, and no term says which that was. What is known: the
// State of a server is its callback module's, and so is, as a rule, what its messages and its dictionary hold; what a
// frame of the stack holds is that of the frame's module; within the record of an event manager each handler's state is
// that handler's. A tuple is a record where its tag and its size are those of one record of that module, and else,
// where they are those of one of the callback module.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/heaps/loop_state.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

class RecordScope {
public:
    /// Names nothing.
    RecordScope() = default;
    /// Of a process, with what loop_state() has found. Refers to the snapshot's texts.
    RecordScope(const Snapshot& snapshot, ProcId process, TermSource& terms, const std::optional<LoopState>& state);
    /// Of terms that are all of this module.
    RecordScope(const Snapshot& snapshot, std::string module);

    bool empty() const { return names_ == nullptr; }
    /// Whether terms are to be printed and described with the names (RecordNames::told()).
    bool told() const { return names_ != nullptr && names_->told(); }
    /// The module whose terms are meant where nothing else is known: that of the callbacks.
    const std::string& module() const { return module_; }
    /// The module of what graph().roots()[root] holds.
    std::string_view of_root(const HeapGraph& graph, std::size_t root) const;
    /// The module within this object: another one where the object is the state of a server or handler.
    std::string_view within(ObjectId object, std::string_view outside) const;
    /// The record that a tuple of this size is in a term of `module` which begins with this atom; null: it is none that
    /// is known.
    const RecordType* of_tag(std::string_view tag, std::uint64_t arity, std::string_view module) const;
    /// The same of an object; `head` is its. Whether or not names are told: for what they say to be secret.
    const RecordType* known_tuple(TermSource& terms, ObjectId object, const ObjectHead& head,
                                  std::string_view module) const;
    /// The record that it is told as; null: as the tuple that it is.
    const RecordType* of_tuple(TermSource& terms, ObjectId object, const ObjectHead& head,
                               std::string_view module) const;

private:
    void add_state(const Element& term, std::string module);
    /// What was asked for: heaps are made of few records.
    struct Asked {
        std::string module, tag;
        std::uint64_t arity = 0;
        const RecordType* record = nullptr;
    };

    std::shared_ptr<RecordNames> names_;
    std::string module_;
    std::optional<std::size_t> state_root_;
    std::string loop_;  ///< the module of that root's frame: gen_statem's record has the state in it
    std::vector<std::string_view> frames_;  ///< modules of the process's frames, youngest first
    std::vector<std::pair<ObjectId, std::string>> states_;
    mutable std::array<Asked, 32> asked_{};  // by tag and size; one thread uses a scope
};

/// A step into a tuple: "#state.sessions", or "element 5" where it is no record; `place` counts from 1.
Sentence element_step(const RecordType* record, std::uint64_t place);
/// "WHERE > STEP"; of the State itself and a field of its record "its #state.sessions".
Sentence step_into(const Sentence& where, const Sentence& step);
/// The same along all of these; of a long way the middle is left out.
Sentence step_into(Sentence where, std::span<const Sentence> steps);

}  // namespace beamheap::analyses
