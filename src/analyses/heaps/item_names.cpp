// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/item_names.hpp"

#include <string>

#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

bool is_name(const Element& term) {
    return TermReader::is_atom(term) && !term.text.empty() &&
           !TermReader::is_one_of(term, {"true", "false", "undefined", "nil", "none", "ok", "error"});
}

}  // namespace

Sentence root_step(const Snapshot& snapshot, ProcId process, const Root& root) {
    switch (root.kind) {
        case RootKind::stack: {
            const std::span<const Frame> frames = snapshot.stacks[snapshot[process].stack];
            if (root.frame >= frames.size()) return Ours("its stack");
            return sentence("the stack of {}", frames[root.frame].function);
        }
        case RootKind::dictionary: return Ours("its process dictionary");
        case RootKind::message: return sentence("message {}", Amount{root.index, AmountUnit::plain});
        default: return sentence("{}", InputText{std::string(name_of(root.kind)), InputText::Holds::vm});
    }
}

Sentence key_step(const Element& key) {
    switch (key.kind) {
        case ElementKind::atom: return sentence("key {}", Atom{std::string(key.text)});
        case ElementKind::small:
            return sentence("key {}", InputText{std::to_string(key.number), InputText::Holds::term});
        default: return Ours("key ...");
    }
}

Sentence key_step(TermSource& terms, const Element& keys, std::uint64_t place) {
    Element key;
    if (keys.kind != ElementKind::object) return key_step(key);
    ElementCursor cursor = terms.elements(keys.id);
    for (std::uint64_t i = 0; i <= place; ++i)
        if (!terms.next(cursor, key)) return key_step(Element());
    return key_step(key);
}

Sentence item_step(TermSource& terms, const Element& item, std::uint64_t place) {
    const TermReader reader(terms);
    if (reader.is_kind(item, TermKind::tuple)) {
        const ObjectHead head = terms.head(item.id);
        ElementCursor cursor = terms.elements(item.id);
        Element tag, name;
        if (head.elements >= 3 && terms.next(cursor, tag) && terms.next(cursor, name) && is_name(tag) && is_name(name))
            return sentence("{} {}", Atom{std::string(tag.text)}, Atom{std::string(name.text)});
    } else if (reader.is_map(item)) {
        for (const std::string_view key : {"name", "id", "module"}) {
            const Element value = reader.get(item, key);
            const Atom under{std::string(key), false};
            if (is_name(value)) return sentence("{} {}", under, Atom{std::string(value.text)});
            if (value.kind == ElementKind::small)
                return sentence("{} {}", under, InputText{std::to_string(value.number), InputText::Holds::term});
        }
    }
    return sentence("item {}", Amount{place, AmountUnit::plain});
}

}  // namespace beamheap::analyses
