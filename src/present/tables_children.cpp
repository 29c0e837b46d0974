// What a term is made of, element by element, the one that keeps most alive first.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "present/table_cells.hpp"
#include "present/tables_terms.hpp"

namespace beamheap::present {
namespace {

constexpr std::size_t most_children = 4'000'000;

/// An element and the way to it: its place, or in a map its key.
struct Child {
    std::uint64_t place = 0;
    Element key;
    bool keyed = false;
    Element value;
    std::uint64_t retained = 0, flat = 0;
};

class Children {
public:
    explicit Children(const TermView& view) : view_(view), source_(view.source()) {}

    std::vector<Child> of(const Element& term) {
        if (term.kind != ElementKind::object) return {};
        switch (source_.head(term.id).kind) {
            case TermKind::cons: list(term); break;
            case TermKind::flat_map: small_map(term.id); break;
            case TermKind::hash_map: large_map(term); break;
            default: places(term.id);
        }
        std::ranges::stable_sort(children_, [](const Child& a, const Child& b) {
            return a.retained != b.retained ? a.retained > b.retained : a.flat > b.flat;
        });
        return std::move(children_);
    }

private:
    void add(Child child) {
        child.retained = view_.measures().retained_words(child.value).value_or(0);
        child.flat = view_.measures().flat_words(child.value).value_or(0);
        children_.push_back(std::move(child));
    }
    void places(ObjectId id) {
        ElementCursor cursor = source_.elements(id);
        Element value;
        for (std::uint64_t at = 1; children_.size() < most_children && source_.next(cursor, value); ++at)
            add({at, {}, false, value});
    }
    bool is_cell(const Element& term) const {
        return term.kind == ElementKind::object && source_.head(term.id).kind == TermKind::cons;
    }
    void list(Element cell) {
        for (std::uint64_t at = 1; children_.size() < most_children && is_cell(cell); ++at) {
            ElementCursor cursor = source_.elements(cell.id);
            Element head;
            if (!source_.next(cursor, head) || !source_.next(cursor, cell)) break;
            add({at, {}, false, head});
        }
    }
    void small_map(ObjectId id) {
        ElementCursor cursor = source_.elements(id);
        Element keys, key, value;
        if (!source_.next(cursor, keys) || keys.kind != ElementKind::object) return;
        ElementCursor names = source_.elements(keys.id);
        while (source_.next(names, key) && source_.next(cursor, value)) add({0, key, true, value});
    }
    // Leaves are cells [Key|Value], alone or, of one hash, in a tuple.
    void large_map(const Element& map) {
        std::vector<Element> nodes{map};
        while (!nodes.empty() && children_.size() < most_children) {
            const Element node = nodes.back();
            nodes.pop_back();
            if (node.kind != ElementKind::object) continue;
            ElementCursor cursor = source_.elements(node.id);
            Element element, value;
            if (is_cell(node)) {
                if (source_.next(cursor, element) && source_.next(cursor, value)) add({0, element, true, value});
                continue;
            }
            while (source_.next(cursor, element)) nodes.push_back(element);
        }
    }

    const TermView& view_;
    TermSource& source_;
    std::vector<Child> children_;
};

}  // namespace

Table child_table(const TermView& view, const Element& term, std::size_t skip) {
    std::vector<Child> children = Children(view).of(term);
    children.erase(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(std::min(skip, children.size())));
    std::vector<ColumnOf<Child>> columns{
        {{.name = "place", .title = "WHERE", .doc = "place in a list or tuple, or the key in a map", .content = Content::term},
         [=](const Child& c) { return Value(c.keyed ? view.short_text(c.key) : fmt::format("[{}]", c.place)); }},
        {{.name = "retained_words",
          .title = "RETAINED words",
          .unit = Unit::words,
          .doc = "what it alone keeps alive; null for literals and what is no object"},
         [=](const Child& c) { return Value(view.measures().retained_words(c.value)); }},
        {{.name = "flat_words", .title = "FLAT words", .unit = Unit::words, .doc = "erts_debug:flat_size"},
         [=](const Child& c) { return Value(view.measures().flat_words(c.value)); }},
        {{.name = "address", .title = "ADDRESS", .doc = "of the element"},
         [=](const Child& c) {
             return c.value.kind == ElementKind::object ? TermView::address_value(view.source().head(c.value.id).address)
                                                        : Value();
         }},
        {{.name = "term", .title = "TERM", .doc = "the element", .content = Content::term, .keyed_by = "place"},
         [=](const Child& c) { return Value(view.text(c.value)); }},
    };
    return table_of(std::move(columns), std::move(children), "it has no elements");
}

}  // namespace beamheap::present
