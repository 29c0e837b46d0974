// SPDX-License-Identifier: Apache-2.0
// What a term is made of, element by element, the one that keeps most alive first; and all terms of a process as a tree
// of such elements.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <queue>
#include <vector>

#include "analyses/base/number_format.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "erlang/term_walks.hpp"
#include "present/secrets/redact.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables_terms.hpp"

namespace beamheap::present {
namespace {

constexpr std::size_t most_children = 4'000'000;

/// An element and the way to it: its place, or in a map its key.
struct Child {
    std::uint64_t place = 0;
    Element key;  ///< in a map; in a tuple its first element, which may name the others
    bool keyed = false;
    Element value;
    bool secret = false;                 ///< by its place
    const RecordType* record = nullptr;  ///< that it is a field of
    std::uint64_t retained = 0, flat = 0;
};

class Children {
public:
    explicit Children(const TermView& view) : view_(view), source_(view.source()) {}

    std::vector<Child> of(const Element& term) {
        if (term.kind != ElementKind::object) return {};
        secret_ = view_.secrets() != nullptr && view_.secrets()->hides(term.id);
        switch (source_.head(term.id).kind) {
            case TermKind::cons: list(term); break;
            case TermKind::flat_map:
            case TermKind::hash_map: map(term); break;
            default: places(term.id, source_.head(term.id).kind == TermKind::tuple);
        }
        std::ranges::stable_sort(children_, [](const Child& a, const Child& b) {
            return a.retained != b.retained ? a.retained > b.retained : a.flat > b.flat;
        });
        return std::move(children_);
    }

private:
    void add(Child child) {
        SecretTerms* const secrets = view_.secrets();
        child.secret = secret_ ||
                       (secrets != nullptr && child.keyed && secrets->names_secret(child.key, child.value)) ||
                       (child.place != 0 && std::ranges::binary_search(secret_places_, child.place - 1));
        child.retained = view_.measures().retained_words(child.value).value_or(0);
        child.flat = view_.measures().flat_words(child.value).value_or(0);
        children_.push_back(std::move(child));
    }
    void places(ObjectId id, bool tuple) {
        ElementCursor cursor = source_.elements(id);
        Element value, first;
        const RecordType* const record =
            tuple && view_.records() != nullptr ? view_.record_of(id, view_.records()->module()) : nullptr;
        if (tuple && view_.secrets() != nullptr) secret_places_ = view_.secrets()->elements_of(id);
        for (std::uint64_t at = 1; children_.size() < most_children && source_.next(cursor, value); ++at) {
            add({at, first, false, value, false, record});
            if (tuple && at == 1) first = value;
        }
    }
    void list(const Element& first) {
        ListWalk cells(source_, first);
        Element element;
        for (std::uint64_t at = 1; children_.size() < most_children && cells.next(element); ++at)
            add({at, {}, false, element});
    }
    void map(const Element& term) {
        MapWalk pairs(source_, term.id, source_.head(term.id));
        for (Pair pair; children_.size() < most_children && pairs.next(pair);) add({0, pair.key, true, pair.value});
    }

    const TermView& view_;
    TermSource& source_;
    bool secret_ = false;                       // all of it
    std::vector<std::uint64_t> secret_places_;  // of a tuple, from 0 on
    std::vector<Child> children_;
};

/// A term of the tree: a root's, a part of the one above it, or what is left of that one's parts.
struct TreeTerm {
    std::size_t depth = 0;
    std::uint32_t root = 0;
    Child part;
    std::uint64_t more = 0;  ///< so many parts are this row; 0: it is one
    std::vector<std::size_t> below;
    bool secret = false;  ///< a key on the way to it says that it is one
};

// A key that no column shows, for rows of which another one on the way to them says that they are secret.
constexpr std::string_view secret_key = "password";

bool is_secret(const TermView& view, const Child& child) {
    return child.secret || (child.key.kind != ElementKind::unknown && sensitive_key(view.short_text(child.key)));
}

/// Grows the tree at the term that keeps most alive, until there are enough rows: of a heap of millions of terms, those
/// that matter are looked into.
class TermTree {
public:
    TermTree(const TermView& view, std::size_t depth)
        : view_(view), deepest_(depth), live_(view.measures().retained().live_words()) {}

    std::vector<TreeTerm> of(const Element& term) {
        std::vector<std::size_t> tops;
        if (term.kind == ElementKind::object) {
            open(0, term, tops);
        } else {
            for (const std::uint32_t root : largest_roots(view_)) {
                const std::uint64_t words = view_.measures().root_words(root);
                if (words < least() || tops.size() == most_parts) continue;
                TreeTerm top;
                top.root = root;
                top.part = {0, {}, false, view_.source().root(root), false, nullptr, words, 0};
                add(std::move(top), tops);
            }
        }
        while (!largest_.empty() && terms_.size() < most_rows && looked_at_ < most_looked_at) {
            const std::size_t next = largest_.top().second;
            largest_.pop();
            std::vector<std::size_t> below;
            open(terms_[next].depth + 1, terms_[next].part.value, below, terms_[next].secret);
            terms_[next].below = std::move(below);
        }
        return in_order(tops);
    }

private:
    static constexpr std::size_t most_rows = 400, most_parts = 12, most_looked_at = 8'000'000;
    std::uint64_t least() const { return std::max<std::uint64_t>(live_ / 200, 2); }

    void add(TreeTerm term, std::vector<std::size_t>& to) {
        to.push_back(terms_.size());
        if (term.depth < deepest_ && term.more == 0) largest_.emplace(term.part.retained, terms_.size());
        terms_.push_back(std::move(term));
    }
    void open(std::size_t depth, const Element& term, std::vector<std::size_t>& to, bool secret = false) {
        std::vector<Child> parts = Children(view_).of(term);
        looked_at_ += parts.size();
        std::size_t shown = 0;
        while (shown < parts.size() && shown < most_parts && parts[shown].retained >= least()) {
            TreeTerm each;
            each.depth = depth;
            each.part = parts[shown++];
            each.secret = secret || is_secret(view_, each.part);
            add(std::move(each), to);
        }
        if (shown == 0 || shown == parts.size()) return;
        TreeTerm rest;
        rest.depth = depth;
        rest.more = parts.size() - shown;
        for (std::size_t i = shown; i < parts.size(); ++i)
            rest.part.retained = analyses::saturating_add(rest.part.retained, parts[i].retained);
        if (rest.part.retained != 0) add(std::move(rest), to);
    }
    std::vector<TreeTerm> in_order(const std::vector<std::size_t>& tops) {
        std::vector<TreeTerm> rows;
        std::vector<std::size_t> waiting(tops.rbegin(), tops.rend());
        while (!waiting.empty()) {
            const std::size_t next = waiting.back();
            waiting.pop_back();
            waiting.insert(waiting.end(), terms_[next].below.rbegin(), terms_[next].below.rend());
            rows.push_back(std::move(terms_[next]));
        }
        return rows;
    }

    const TermView& view_;
    std::size_t deepest_;
    std::uint64_t live_;
    std::vector<TreeTerm> terms_;
    std::priority_queue<std::pair<std::uint64_t, std::size_t>> largest_;  // words that it keeps, and which
    std::size_t looked_at_ = 0;
};

std::string where_text(const TermView& view, const Child& child) {
    if (child.record != nullptr && child.place >= 2) return field_name(view.names(), *child.record, child.place);
    return child.keyed ? view.short_text(child.key) : fmt::format("[{}]", child.place);
}

}  // namespace

// What an element is can be told from so much of it.
constexpr std::uint8_t best_of_elements = 36;

Table child_table(const TermView& view, const Element& term, std::size_t skip) {
    std::vector<Child> children = Children(view).of(term);
    children.erase(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(std::min(skip, children.size())));
    Columns<Child> columns{
        {{.name = "place",
          .title = "WHERE",
          .doc = "place in a list or tuple, or the key in a map",
          .content = Content::term},
         [=](const Child& c) { return Value(where_text(view, c)); }},
        {{.name = "retained_words",
          .title = "RETAINED words",
          .unit = Unit::words,
          .doc = "what it alone keeps alive; null for literals and what is no object"},
         [=](const Child& c) { return Value(view.measures().retained_words(c.value)); }},
        {{.name = "flat_words", .title = "FLAT words", .unit = Unit::words, .doc = "erts_debug:flat_size", .lesser = 2},
         [=](const Child& c) { return Value(view.measures().flat_words(c.value)); }},
        {{.name = "address", .title = "ADDRESS", .doc = "of the element", .lesser = 1},
         [=](const Child& c) {
             return c.value.kind == ElementKind::object
                        ? TermView::address_value(view.source().head(c.value.id).address)
                        : Value();
         }},
        {{.name = "term",
          .title = "TERM",
          .doc = "the element",
          .content = Content::term,
          .best = best_of_elements,
          .keyed_by = "place"},
         [=](const Child& c) { return Value(view.text(c.value)); }},
    };
    return table_of<Child>(std::move(columns), std::move(children), "it has no elements",
                           [=](const Child& c) { return std::string(is_secret(view, c) ? secret_key : ""); });
}

Table term_tree_table(const TermView& view, std::size_t depth, const Element& term) {
    const bool below_one = term.kind == ElementKind::object;
    const std::uint64_t live = view.measures().retained().live_words();
    Columns<TreeTerm> columns{
        {{.name = "depth",
          .title = "#",
          .unit = Unit::count,
          .doc = "0: a root, or a part of the term that was asked for",
          .wide = true},
         [](const TreeTerm& t) { return Value(std::uint64_t{t.depth}); }},
        {{.name = "place",
          .title = "WHERE",
          .doc = "the root; below it the place in a list or tuple, or the key in a map",
          .content = Content::term,
          .indent_by = "depth"},
         [=](const TreeTerm& t) {
             if (t.more != 0) return Value(fmt::format("{} more", analyses::grouped(t.more)));
             return Value(t.depth == 0 && !below_one ? view.root_name(t.root) : where_text(view, t.part));
         }},
        {{.name = "more",
          .title = "MORE",
          .unit = Unit::count,
          .doc = "parts that this row stands for; null: it is one term",
          .wide = true},
         [](const TreeTerm& t) { return t.more != 0 ? Value(t.more) : Value(); }},
        {{.name = "retained_words", .title = "RETAINED words", .unit = Unit::words, .doc = "what it alone keeps alive"},
         [](const TreeTerm& t) { return Value(t.part.retained); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of the live words of the process"},
         [=](const TreeTerm& t) { return cells::percent(analyses::percent_of(Count(t.part.retained), Count(live))); }},
        {{.name = "address", .title = "ADDRESS", .doc = "of the term"},
         [=](const TreeTerm& t) {
             return t.more == 0 && t.part.value.kind == ElementKind::object
                        ? TermView::address_value(view.source().head(t.part.value.id).address)
                        : Value();
         }},
        {{.name = "shape", .title = "SHAPE", .doc = "what it is, in words", .content = Content::name},
         [=](const TreeTerm& t) {
             return t.more != 0 ? Value()
                                : Value(spell(view.names(), analyses::shape_in_words(view.source(), t.part.value,
                                                                                     view.shape_records())));
         }},
        {{.name = "term",
          .title = "TERM",
          .doc = "the term",
          .content = Content::term,
          .wide = true,
          .keyed_by = "place"},
         [=](const TreeTerm& t) { return t.more != 0 ? Value() : Value(view.text(t.part.value)); }},
    };
    Table table =
        table_of<TreeTerm>(std::move(columns), TermTree(view, depth).of(term), "nothing in it keeps anything alive",
                           [](const TreeTerm& t) { return std::string(t.secret ? secret_key : ""); });
    table.for_people = 60;
    return table;
}

}  // namespace beamheap::present
