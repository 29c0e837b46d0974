// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/record_scope.hpp"

#include <algorithm>

#include "erlang/erlang_syntax.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_handlers = 100;

const Sentence& of_the_state() {
    static const Sentence words(Ours("its State"));
    return words;
}

}  // namespace

RecordScope::RecordScope(const Snapshot& snapshot, ProcId process, TermSource& terms,
                         const std::optional<LoopState>& state)
    : names_(snapshot.records) {
    if (names_ == nullptr) return;
    const Process& row = snapshot[process];
    for (const Frame& frame : snapshot.stacks[row.stack]) frames_.push_back(module_of(snapshot, frame.function));
    if (state) {
        module_ = state->module;
        state_root_ = state->root;
        const Root root = terms.graph().roots()[state->root];
        const bool within_record = state->loop != LoopState::Loop::server;
        if (within_record && root.kind == RootKind::stack && root.frame < frames_.size())
            loop_ = std::string(frames_[root.frame]);
        if (state->several()) {
            const TermReader reader(terms);
            for (const Element& each : reader.list(state->term, most_handlers)) {
                const std::vector<Element> handler = reader.tagged(each, "handler", 5);
                if (!handler.empty() && TermReader::is_atom(handler[1]))
                    add_state(handler[3], std::string(handler[1].text));
            }
        } else {
            add_state(state->term, state->module);
        }
    }
    if (module_.empty()) module_ = std::string(module_of(snapshot, row.real_initial_call));
    if (module_.empty()) module_ = std::string(module_of(snapshot, row.initial_call));
}

RecordScope::RecordScope(const Snapshot& snapshot, std::string module)
    : names_(snapshot.records), module_(std::move(module)) {}

void RecordScope::add_state(const Element& term, std::string module) {
    if (term.kind == ElementKind::object && !module.empty()) states_.emplace_back(term.id, std::move(module));
}

std::string_view RecordScope::of_root(const HeapGraph& graph, std::size_t root) const {
    if (names_ == nullptr) return {};
    const Root it = graph.roots()[root];
    if (state_root_ == root) return loop_.empty() ? std::string_view(module_) : std::string_view(loop_);
    if (it.kind == RootKind::stack && it.frame < frames_.size() && !frames_[it.frame].empty()) return frames_[it.frame];
    return module_;
}

std::string_view RecordScope::within(ObjectId object, std::string_view outside) const {
    for (const auto& [state, module] : states_)
        if (state == object) return module;
    return outside;
}

const RecordType* RecordScope::of_tuple(TermSource& terms, ObjectId object, const ObjectHead& head,
                                        std::string_view module) const {
    return told() ? known_tuple(terms, object, head, module) : nullptr;
}

const RecordType* RecordScope::known_tuple(TermSource& terms, ObjectId object, const ObjectHead& head,
                                           std::string_view module) const {
    if (names_ == nullptr || head.kind != TermKind::tuple || head.elements < 2) return nullptr;
    ElementCursor cursor = terms.elements(object);
    Element tag;
    if (!terms.next(cursor, tag) || tag.kind != ElementKind::atom) return nullptr;
    return of_tag(tag.text, head.elements, module);
}

const RecordType* RecordScope::of_tag(std::string_view tag, std::uint64_t arity, std::string_view module) const {
    if (names_ == nullptr || arity < 2) return nullptr;
    const std::size_t mixed = tag.size() * 7 + arity * 3 + (tag.empty() ? 0 : static_cast<unsigned char>(tag[0]));
    Asked& asked = asked_[mixed % asked_.size()];
    if (asked.arity == arity && asked.tag == tag && asked.module == module) return asked.record;
    const RecordType* found = names_->find(module, tag, arity);
    if (found == nullptr && module != module_) found = names_->find(module_, tag, arity);
    asked.module = module;
    asked.tag = tag;
    asked.arity = arity;
    asked.record = found;
    return found;
}

Sentence element_step(const RecordType* record, std::uint64_t place) {
    if (record == nullptr || place < 2 || place > record->arity())
        return sentence("element {}", Amount{place, AmountUnit::plain});
    return sentence("#{}.{}", Atom{record->name, false},
                    Atom{record->fields[static_cast<std::size_t>(place) - 2], false});
}

Sentence step_into(const Sentence& where, const Sentence& step) {
    const bool field = !step.empty() && step.parts().front() == Part(Ours("#"));
    return field && where == of_the_state() ? sentence("its {}", step) : sentence("{} > {}", where, step);
}

Sentence step_into(Sentence where, std::span<const Sentence> steps) {
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool left_out = steps.size() > most && i >= most / 2 && i < steps.size() - most / 2;
        if (!left_out) where = step_into(where, steps[i]);
        else if (i == most / 2) where.say(" > ...");
    }
    return where;
}

}  // namespace beamheap::analyses
