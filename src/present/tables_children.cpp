// What a term is made of, element by element, the one that keeps most alive first.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "analyses/base/term_walks.hpp"
#include "present/table_cells.hpp"
#include "present/tables_terms.hpp"

namespace beamheap::present {
namespace {

using analyses::ListWalk;
using analyses::MapWalk;
using analyses::Pair;

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
            case TermKind::flat_map:
            case TermKind::hash_map: map(term); break;
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
    void list(const Element& first) {
        ListWalk cells(source_, first);
        Element element;
        for (std::uint64_t at = 1; children_.size() < most_children && cells.next(element); ++at) add({at, {}, false, element});
    }
    void map(const Element& term) {
        MapWalk pairs(source_, term.id, source_.head(term.id));
        for (Pair pair; children_.size() < most_children && pairs.next(pair);) add({0, pair.key, true, pair.value});
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
