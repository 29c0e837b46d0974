// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/binary_place.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/heaps/item_names.hpp"
#include "analyses/heaps/loop_state.hpp"
#include "analyses/heaps/paths.hpp"
#include "analyses/heaps/record_scope.hpp"

namespace beamheap::analyses {
namespace {

struct Target {
    ObjectId object;
    std::uint64_t bytes = 0;
};

std::optional<Target> largest_of(TermSource& terms) {
    std::optional<Target> found;
    for (const BinaryUse& use : terms.graph().binaries()) {
        if (use.base != BinaryUse::Base::binary || !use.named) continue;
        const std::uint64_t bytes = terms.binary_size(use.address).value_or(0);
        if (bytes > (found ? found->bytes : 0)) found = Target{{ObjectId::Space::heap, use.node}, bytes};
    }
    return found;
}

bool is(const Element& element, ObjectId object) { return element.kind == ElementKind::object && element.id == object; }

class Way {
public:
    Way(const Snapshot& snapshot, ProcId process, TermSource& terms, const Path& path)
        : s_(snapshot), p_(process), terms_(terms), path_(path) {}

    Sentence tell() {
        const auto state = loop_state(s_, p_, terms_);
        scope_ = RecordScope(s_, p_, terms_, state);
        std::size_t at = 0;
        Sentence begin = root_step(s_, p_, terms_.graph().roots()[path_.root]);
        module_ = scope_.of_root(terms_.graph(), path_.root);
        if (state && state->term.kind == ElementKind::object)
            if (const auto found = std::ranges::find(path_.objects, state->term.id); found != path_.objects.end()) {
                at = static_cast<std::size_t>(found - path_.objects.begin());
                begin = state->several() ? Ours("its handlers") : Ours("its State");
                module_ = scope_.module();
            }
        const bool entry = at == 0 && terms_.graph().roots()[path_.root].kind == RootKind::dictionary;
        std::vector<Sentence> steps;
        for (; at + 1 < path_.objects.size(); ++at)
            if (Sentence step = next_step(at, entry && at == 0); !step.empty()) steps.push_back(std::move(step));
        return step_into(std::move(begin), steps);
    }

private:
    // From one object of the way to the next; empty where that is within one term: a cell's tail, a map's node.
    Sentence next_step(std::size_t at, bool entry) {
        const ObjectId from = path_.objects[at], to = path_.objects[at + 1];
        const ObjectHead head = terms_.head(from);
        module_ = scope_.within(from, module_);
        ElementCursor cursor = terms_.elements(from);
        Element element, first;
        std::uint64_t place = 0;
        while (terms_.next(cursor, element)) {
            if (place == 0) first = element;
            ++place;
            if (is(element, to)) break;
        }
        if (!is(element, to)) return {};
        const bool in_map = at > 0 && is_map_node(terms_.head(path_.objects[at - 1]).kind);
        switch (head.kind) {
            case TermKind::tuple:
                return entry && head.elements == 2 ? key_step(first)
                                                   : element_step(scope_.of_tuple(terms_, from, head, module_), place);
            case TermKind::flat_map: return place > 1 ? key_step(terms_, first, place - 2) : Ours("its keys");
            case TermKind::cons:
                if (in_map) return key_step(first);  // [Key|Value] of a large map
                ++cells_;
                if (place == 1) return item_step(terms_, element, std::exchange(cells_, 0));
                if (terms_.head(to).kind != TermKind::cons) cells_ = 0;  // behind the last cell
                return {};
            case TermKind::fun: return sentence("environment of a fun of {}", Atom{std::string(head.module), false});
            default: return {};
        }
    }

    static bool is_map_node(TermKind kind) { return kind == TermKind::hash_map || kind == TermKind::hash_node; }

    const Snapshot& s_;
    ProcId p_;
    TermSource& terms_;
    const Path& path_;
    RecordScope scope_;
    std::string_view module_;  // whose records are in the term that is gone into
    std::uint64_t cells_ = 0;  // of a list that were passed
};

}  // namespace

std::optional<BinaryPlace> largest_binary(const Snapshot& snapshot, ProcId process, TermSource& terms) {
    if (terms.in_part()) return std::nullopt;
    const auto target = largest_of(terms);
    if (!target) return std::nullopt;
    const auto path = shortest_path(terms, target->object);
    if (!path) return std::nullopt;
    return BinaryPlace{Way(snapshot, process, terms, *path).tell(), target->bytes};
}

}  // namespace beamheap::analyses
