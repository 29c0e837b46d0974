// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/term_shape.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "erlang/owned_term.hpp"
#include "erlang/term_reader.hpp"
#include "erlang/term_walks.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_samples = 64;
constexpr std::size_t most_fields = 256;  // of a flat map; the VM makes none of more than 32 pairs
constexpr std::size_t most_places = 6;    // of a tuple or a map that are said one by one
constexpr std::size_t least_lists = 4;    // whose elements may be places
constexpr unsigned deepest = 3;           // levels of elements within elements
constexpr std::uint64_t most_cells = 4'000'000;
constexpr std::size_t longest_beginning = 24;  // of binaries, in bytes

/// What kinds of terms are told apart.
enum class Class : std::uint8_t {
    atom,
    integer,
    real,
    binary,
    text,
    list,
    tuple,
    map,
    fun,
    pid,
    port,
    reference,
    other
};
constexpr std::size_t classes = static_cast<std::size_t>(Class::other) + 1;

struct ClassWords {
    Ours one, many;
};
constexpr std::array<ClassWords, classes> class_words{{{"atom", "atoms"},
                                                       {"integer", "integers"},
                                                       {"float", "floats"},
                                                       {"binary", "binaries"},
                                                       {"string", "strings"},
                                                       {"list", "lists"},
                                                       {"tuple", "tuples"},
                                                       {"map", "maps"},
                                                       {"fun", "funs"},
                                                       {"pid", "pids"},
                                                       {"port", "ports"},
                                                       {"reference", "references"},
                                                       {"term", "terms"}}};

/// Elements of something large, thinned out evenly while it is gone over: every second one is dropped whenever there
/// are too many, and from then on every second one is taken.
class Samples {
public:
    void add(const Element& element) {
        if (seen_++ % stride_ != 0) return;
        if (kept_.size() == 2 * most_samples) {
            for (std::size_t i = 0; i < most_samples; ++i) kept_[i] = kept_[2 * i];
            kept_.resize(most_samples);
            stride_ *= 2;
            if ((seen_ - 1) % stride_ != 0) return;
        }
        kept_.push_back(element);
    }
    std::uint64_t seen() const { return seen_; }
    const std::vector<Element>& kept() const { return kept_; }

private:
    std::vector<Element> kept_;
    std::uint64_t seen_ = 0, stride_ = 1;
};

/// A collection: what it is called, how much it holds, and some of it. Where `values` are given, they stand beside
/// `keys`, one for each.
struct Collection {
    Ours name = "";
    std::uint64_t count = 0;
    bool more = false;  ///< there are more than were counted
    std::vector<Element> keys, values;
};

class Shapes {
public:
    explicit Shapes(TermSource& source, const ShapeRecords& records = {})
        : source_(source), records_(records), reader_(source) {}

    Sentence words(const Element& term) {
        if (const auto collection = collection_of(term)) return collection_words(*collection, 0);
        const std::vector<Element> one{term};
        switch (class_of(term)) {
            case Class::binary:
                return sentence("a binary of {}", Amount{source_.head(term.id).size, AmountUnit::bytes});
            case Class::text:
                return sentence("a string of {}", Counted{list_of(term).seen(), "character", "characters"});
            case Class::atom: return sentence("the atom {}", Atom{std::string(term.text)});
            case Class::integer: return Ours("an integer");
            case Class::fun: return sentence("a fun of {}", Atom{std::string(source_.head(term.id).module), false});
            case Class::list: return Ours("an empty list");
            case Class::map:
                if (source_.head(term.id).kind == TermKind::lost_map) return Ours("a map");
                if (source_.head(term.id).kind == TermKind::flat_map && source_.head(term.id).elements <= 1)
                    return Ours("an empty map");
                break;
            case Class::tuple:
                if (const RecordType* const record = told_record_of(one)) return sentence("a {}", of_record(*record));
                break;
            default: return sentence("a {}", class_words[static_cast<std::size_t>(class_of(term))].one);
        }
        return sentence("a {} {}", class_words[static_cast<std::size_t>(class_of(term))].one, common(one, 0));
    }

    std::optional<CollectionShape> collection(const Element& term) {
        auto found = collection_of(term);
        if (!found) return std::nullopt;
        return CollectionShape{found->count, std::move(found->keys), std::move(found->values)};
    }

    Sentence entries(std::span<const Element> entries) {
        Samples samples;
        for (const Element& entry : entries) samples.add(entry);
        Collection pairs;
        for (const Element& entry : samples.kept()) {
            const std::vector<Element> pair = reader_.tuple(entry, 2);
            if (pair.empty()) continue;
            pairs.keys.push_back(pair[0]);
            pairs.values.push_back(pair[1]);
        }
        if (pairs.keys.empty()) return Ours("terms");
        return sentence("{} => {}", common(pairs.keys, 1), values_of(pairs, 1));
    }

    Sentence of_all(std::span<const Element> terms) {
        Samples samples;
        for (const Element& term : terms) samples.add(term);
        return common(samples.kept(), 0);
    }

    bool is_structure(const Element& term) { return class_of(term) == Class::tuple && structure_of(term).has_value(); }

private:
    // ---- what a term is -------------------------------------------------------------------------------------------

    Class class_of(const Element& term) {
        switch (term.kind) {
            case ElementKind::nil: return Class::list;
            case ElementKind::small: return Class::integer;
            case ElementKind::atom: return Class::atom;
            case ElementKind::pid: return Class::pid;
            case ElementKind::port: return Class::port;
            case ElementKind::object: return class_of(source_.head(term.id).kind, term);
            default: return Class::other;
        }
    }
    Class class_of(TermKind kind, const Element& term) {
        switch (kind) {
            case TermKind::cons: return is_text(term) ? Class::text : Class::list;
            case TermKind::tuple: return Class::tuple;
            case TermKind::float_number: return Class::real;
            case TermKind::bignum: return Class::integer;
            case TermKind::heap_binary:
            case TermKind::refc_binary:
            case TermKind::sub_binary: return Class::binary;
            case TermKind::flat_map:
            case TermKind::hash_map:
            case TermKind::lost_map: return Class::map;
            case TermKind::fun:
            case TermKind::external_fun: return Class::fun;
            case TermKind::reference:
            case TermKind::external_reference: return Class::reference;
            case TermKind::external_pid: return Class::pid;
            case TermKind::external_port: return Class::port;
            default: return Class::other;
        }
    }
    // A list that begins with printable characters alone.
    bool is_text(const Element& term) {
        const std::vector<Element> first = reader_.list(term, 16);
        return std::ranges::all_of(first, [](const Element& e) {
            return e.kind == ElementKind::small &&
                   ((e.number >= 32 && e.number < 127) || (e.number >= 9 && e.number <= 13));
        });
    }

    // ---- collections ----------------------------------------------------------------------------------------------

    Samples list_of(const Element& first) {
        Samples samples;
        ListWalk cells(source_, first);
        for (Element element; cells_ < most_cells && cells.next(element); ++cells_) samples.add(element);
        cut_ = cells_ >= most_cells;
        return samples;
    }

    std::optional<Collection> collection_of(const Element& term) {
        switch (class_of(term)) {
            case Class::list: {
                if (term.kind == ElementKind::nil) return std::nullopt;
                Samples samples = list_of(term);
                return Collection{"list", samples.seen(), cut_, samples.kept(), {}};
            }
            case Class::map: return map_of(term);
            case Class::tuple: return structure_of(term);
            default: return std::nullopt;
        }
    }

    // Pairs of a map, from its beginning. Nothing of one whose keys are few atoms: that is a record, not a collection.
    std::optional<Collection> map_of(const Element& map) {
        const ObjectHead head = source_.head(map.id);
        Collection found{"map", head.size, false, {}, {}};
        pairs(map, found);
        if (found.keys.empty()) return std::nullopt;
        if (head.kind == TermKind::flat_map &&
            std::ranges::all_of(found.keys, [](const Element& key) { return TermReader::is_atom(key); }))
            return std::nullopt;
        if (head.size > 8 &&
            std::ranges::all_of(found.values, [](const Element& v) { return v.kind == ElementKind::nil; })) {
            found.name = "set";  // sets of version 2
            found.values.clear();
        }
        return found;
    }

    void pairs(const Element& map, Collection& found) {
        // All of a small one: it may be a record.
        const std::size_t most = reader_.is_kind(map, TermKind::flat_map) ? most_fields : most_samples;
        MapWalk walk(source_, map.id, source_.head(map.id));
        for (Pair pair; found.keys.size() < most && walk.next(pair);) {
            found.keys.push_back(pair.key);
            found.values.push_back(pair.value);
        }
    }

    // Collections that modules of stdlib make of tuples.
    std::optional<Collection> structure_of(const Element& term) {
        const std::vector<Element> fields = reader_.tuple(term);
        if (fields.size() == 2 && fields[0].kind == ElementKind::small && fields[0].number > 0)
            return tree_of(static_cast<std::uint64_t>(fields[0].number), fields[1]);
        if (fields.size() == 2) return queue_of(fields[0], fields[1]);
        if (fields.size() == 9 && fields[1].kind == ElementKind::small && fields[1].number >= 0) {
            const auto count = static_cast<std::uint64_t>(fields[1].number);
            if (reader_.is(fields[0], "set")) return Collection{"set", count, false, {}, {}};
            if (reader_.is(fields[0], "dict")) return Collection{"dict", count, false, {}, {}};
        }
        if (fields.size() == 5 && reader_.is(fields[0], "array") && fields[1].kind == ElementKind::small)
            return Collection{
                "array", static_cast<std::uint64_t>(std::max<std::int64_t>(0, fields[1].number)), false, {}, {}};
        return std::nullopt;
    }

    // {Size, Node} of gb_trees and gb_sets: nodes {Key, Value, Left, Right} and {Element, Left, Right}; `nil` ends
    // them.
    std::optional<Collection> tree_of(std::uint64_t count, const Element& top) {
        const std::size_t arity = reader_.tuple(top).size();
        if (arity != 3 && arity != 4) return std::nullopt;
        Collection found{arity == 4 ? Ours("gb_tree") : Ours("gb_set"), count, false, {}, {}};
        std::vector<Element> nodes{top};
        // Breadth first, so that the samples come from everywhere.
        for (std::size_t at = 0; at < nodes.size() && found.keys.size() < most_samples; ++at) {
            if (reader_.is(nodes[at], "nil")) continue;
            const std::vector<Element> node = reader_.tuple(nodes[at], arity);
            if (node.empty()) return std::nullopt;
            found.keys.push_back(node[0]);
            if (arity == 4) found.values.push_back(node[1]);
            nodes.push_back(node[arity - 2]);
            nodes.push_back(node[arity - 1]);
        }
        return found;
    }

    // {Rear, Front}; the rear is empty only where all of it is, and the front where there is one element at most.
    std::optional<Collection> queue_of(const Element& rear, const Element& front) {
        if (!reader_.is_kind(rear, TermKind::cons) || !reader_.is_list(front)) return std::nullopt;
        if (is_text(rear)) return std::nullopt;
        Samples all = list_of(front);
        const Samples behind = list_of(rear);
        if (all.seen() == 0 && behind.seen() > 1) return std::nullopt;
        Collection found{"queue", all.seen() + behind.seen(), cut_, all.kept(), {}};
        found.keys.insert(found.keys.end(), behind.kept().begin(), behind.kept().end());
        return found;
    }

    // "a map of 20,000 K => V"
    Sentence collection_words(const Collection& collection, unsigned depth) {
        Sentence text =
            sentence("{} {} of {}{}", collection.name == Ours("array") ? Ours("an") : Ours("a"), collection.name,
                     collection.more ? Ours("more than ") : Ours(""), Amount{collection.count});
        if (collection.keys.empty()) return text.say(" elements"), text;
        if (collection.values.empty())
            return text.say(" {}", common(collection.keys, depth, collection.count != 1)), text;
        text.say(" {} => {}", common(collection.keys, depth + 1), values_of(collection, depth + 1));
        return text;
    }

    // ---- what samples have in common ------------------------------------------------------------------------------

    // One atom beside one key is what the map holds, not its shape.
    Sentence values_of(const Collection& map, unsigned depth) {
        if (map.values.size() == 1 && TermReader::is_atom(map.values[0])) return Ours("atom");
        return common(map.values, depth);
    }

    // As many are looked at as there are samples of a list, so that what a sentence costs does not multiply by levels.
    Sentence common(std::vector<Element> samples, unsigned depth, bool plural = false) {
        if (const std::size_t most = 2 * most_samples; samples.size() > most) {
            for (std::size_t i = 0; i < most; ++i) samples[i] = samples[i * samples.size() / most];
            samples.resize(most);
        }
        std::array<std::vector<Element>, classes> by_class;
        for (const Element& sample : samples) by_class[static_cast<std::size_t>(class_of(sample))].push_back(sample);
        std::array<std::size_t, classes> order{};
        for (std::size_t i = 0; i < classes; ++i) order[i] = i;
        std::ranges::stable_sort(order,
                                 [&](std::size_t a, std::size_t b) { return by_class[a].size() > by_class[b].size(); });
        const auto one = [&](std::size_t at) {
            return of_class(static_cast<Class>(order[at]), by_class[order[at]], depth, plural);
        };
        const auto part = [&](std::size_t at) { return by_class[order[at]].size(); };
        // Few exceptions, such as a first element of another kind, are not worth a word.
        if (part(0) * 20 >= samples.size() * 19) return one(0);
        if ((part(0) + part(1)) * 20 >= samples.size() * 19) return sentence("{} or {}", one(0), one(1));
        return plural ? Ours("terms") : Ours("term");
    }

    Sentence of_class(Class kind, const std::vector<Element>& samples, unsigned depth, bool plural) {
        const ClassWords& word = class_words[static_cast<std::size_t>(kind)];
        const Sentence plain = plural ? word.many : word.one;
        switch (kind) {
            case Class::atom:
                return atoms_named_ &&
                               std::ranges::all_of(samples, [&](const Element& e) { return e.text == samples[0].text; })
                           ? sentence("{}", Atom{std::string(samples[0].text)})
                           : plain;
            case Class::binary: return of_binaries(samples, plain);
            case Class::tuple: return depth < deepest ? of_tuples(samples, depth, plain) : plain;
            case Class::map: return depth < deepest ? of_maps(samples, depth, plain) : plain;
            case Class::list: return depth < deepest ? of_lists(samples, depth, plain) : plain;
            default: return plain;
        }
    }

    // "sess-...": how all of them begin; else how large each is, where all are alike.
    Sentence of_binaries(const std::vector<Element>& samples, const Sentence& plain) {
        if (!texts_alike_) return plain;
        std::optional<std::string> beginning;
        std::uint64_t size = source_.head(samples[0].id).size;
        bool same_size = true;
        bool longer = false;
        for (const Element& sample : samples) {
            const std::uint64_t own = source_.head(sample.id).size;
            same_size &= own == size;
            std::string bytes;
            source_.bytes(sample.id, 0, longest_beginning, bytes);
            longer |= own > bytes.size();
            if (!beginning) {
                beginning = bytes;
                continue;
            }
            const auto differs = std::ranges::mismatch(*beginning, bytes).in1;
            longer |= differs != beginning->end() || bytes.size() > beginning->size();
            beginning->erase(differs, beginning->end());
        }
        const auto printable = std::ranges::find_if(*beginning, [](char c) { return c < 32 || c == 127; });
        longer |= printable != beginning->end();
        beginning->erase(printable, beginning->end());
        if (samples.size() > 1 && !beginning->empty()) {  // of one binary it would be what is in it, not its shape
            std::string printed = "<<\"";
            for (const char c : *beginning) {
                if (c == '"' || c == '\\') printed += '\\';
                printed += c;
            }
            printed += longer ? "...\">>" : "\">>";
            std::shared_ptr<OwnedTerm> term = parse_term(printed);
            const Element top = term->term();
            return sentence("{}", PrintedTerm{std::move(term), top});
        }
        if (same_size && samples.size() > 1) return sentence("{} of {}", plain, Amount{size, AmountUnit::bytes});
        return plain;
    }

    // The record that all of these tuples are; null: there is none.
    const RecordType* record_of(const std::vector<Element>& samples) const {
        if (records_.scope == nullptr || records_.scope->empty()) return nullptr;
        const RecordType* record = nullptr;
        for (const Element& sample : samples) {
            const RecordType* const one =
                records_.scope->known_tuple(source_, sample.id, source_.head(sample.id), records_.module);
            if (one == nullptr || (record != nullptr && one != record)) return nullptr;
            record = one;
        }
        return record;
    }
    // The same where it is told by its names.
    const RecordType* told_record_of(const std::vector<Element>& samples) const {
        return records_.scope != nullptr && records_.scope->told() ? record_of(samples) : nullptr;
    }
    // #session{id, buffer}; session(id, buffer).
    static Sentence of_record(const RecordType& record) {
        Sentence text = sentence("{}{}{}", ByLanguage{"#", ""}, Atom{record.name, false}, ByLanguage{"{", "("});
        for (std::size_t i = 0; i < record.fields.size() && i < most_places; ++i) {
            if (i != 0) text.add(Ours(", "));
            text.add(Atom{record.fields[i], false});
        }
        if (record.fields.size() > most_places) text.add(Ours(", ..."));
        text.add(ByLanguage{"}", ")"});
        return text;
    }

    // {order, integer, binary}, of those of the most frequent size.
    Sentence of_tuples(const std::vector<Element>& samples, unsigned depth, const Sentence& plain) {
        if (samples.size() == 1)
            if (const auto made = structure_of(samples[0]))
                return sentence("{} of {}", made->name, Amount{made->count});
        if (const RecordType* const record = told_record_of(samples)) return of_record(*record);
        const bool has_fields = record_of(samples) != nullptr;
        const std::uint64_t arity = source_.head(samples[0].id).elements;
        std::vector<std::vector<Element>> places;
        for (const Element& sample : samples) {
            if (source_.head(sample.id).elements != arity) return plain;
            const std::vector<Element> fields = reader_.tuple(sample);
            places.resize(std::min(fields.size(), most_places));
            for (std::size_t i = 0; i < places.size() && i < fields.size(); ++i) places[i].push_back(fields[i]);
        }
        // Where tags differ, what they name differs, too: the one text among [{port,80},{password,"..."}] is no
        // beginning of all.
        const bool tags_differ = !places.empty() && std::ranges::any_of(places[0], [&](const Element& tag) {
            return tag.kind != places[0][0].kind || tag.text != places[0][0].text;
        });
        const bool before = std::exchange(texts_alike_, texts_alike_ && !tags_differ);
        Sentence text = Ours("{");
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (i != 0) text.add(Ours(", "));
            // What is in a field, or behind a text, is no shape, and may be a secret by the name before it.
            const bool in_field = has_fields && i != 0 && std::ranges::all_of(places[i], &TermReader::is_atom);
            const bool behind_text = i != 0 && std::ranges::any_of(places[i - 1], [&](const Element& before) {
                                         const Class kind = class_of(before);
                                         return kind == Class::binary || kind == Class::text;
                                     });
            const bool named = std::exchange(atoms_named_, atoms_named_ && !behind_text);
            text.add(in_field ? Sentence(Ours("atom")) : common(places[i], depth + 1));
            atoms_named_ = named;
        }
        texts_alike_ = before;
        if (arity > places.size()) text.add(places.empty() ? Ours("...") : Ours(", ..."));
        text.add(Ours("}"));
        return text;
    }

    // %{cart, seen, user}: the keys that all of them have; "map of N" where the keys are data themselves.
    Sentence of_maps(const std::vector<Element>& samples, unsigned depth, const Sentence& plain) {
        std::vector<Element> keys;
        std::optional<Element> name;  // of a struct
        bool more = false;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (reader_.is_kind(samples[i], TermKind::lost_map)) return plain;
            Collection own;
            pairs(samples[i], own);
            if (samples.size() == 1 && (!own.keys.empty() && !TermReader::is_atom(own.keys[0])))
                return sentence("map of {} {} => {}", Amount{source_.head(samples[i].id).size},
                                common(own.keys, depth + 1), values_of(own, depth + 1));
            const auto same = [](const Element& a, const Element& b) {
                return TermReader::is_atom(a) && TermReader::is_atom(b) && a.text == b.text;
            };
            if (i == 0) keys = own.keys;
            more |= own.keys.size() > keys.size();
            for (std::size_t k = 0; k < own.keys.size(); ++k)
                if (TermReader::is(own.keys[k], "__struct__") && TermReader::is_atom(own.values[k]))
                    name = own.values[k];
            more |= std::erase_if(keys, [&](const Element& key) {
                        return std::ranges::none_of(own.keys, [&](const Element& k) { return same(k, key); });
                    }) != 0;
        }
        std::erase_if(keys, [](const Element& key) { return TermReader::is(key, "__struct__"); });
        Sentence text;
        if (name)
            text.say("{}{}{}", ByLanguage{"#{'__struct__' => ", "%"}, Atom{std::string(name->text), false},
                     ByLanguage{keys.empty() ? Ours("") : Ours(", "), "{"});
        else text.add(ByLanguage{"#{", "%{"});
        if (keys.empty() && !name) return plain;
        for (std::size_t i = 0; i < keys.size() && i < most_places; ++i) {
            if (i != 0) text.add(Ours(", "));
            text.add(Atom{std::string(keys[i].text), false});
        }
        if (keys.size() > most_places || more) text.add(keys.empty() ? Ours("...") : Ours(", ..."));
        text.add(Ours("}"));
        return text;
    }

    // [{integer, binary}, ...]: what lists hold, all of them together. Few elements, as many in each list, are places
    // as those of a tuple are: [<<"GET">>, <<"/users/...">>, integer].
    Sentence of_lists(const std::vector<Element>& samples, unsigned depth, const Sentence& plain) {
        if (const Sentence places = of_places(samples, depth); !places.empty()) return places;
        std::vector<Element> elements;
        for (const Element& sample : samples)
            for (const Element& each : reader_.list(sample, 4))
                if (elements.size() < most_samples) elements.push_back(each);
        if (elements.empty()) return plain;
        return sentence("[{}, ...]", common(elements, depth + 1));
    }

    Sentence of_places(const std::vector<Element>& samples, unsigned depth) {
        std::vector<std::vector<Element>> places;
        if (samples.size() < least_lists) return {};
        for (const Element& sample : samples) {
            const std::vector<Element> elements = reader_.list(sample, most_places + 1);
            if (elements.size() < 2 || elements.size() > most_places) return {};
            if (places.empty()) places.resize(elements.size());
            if (elements.size() != places.size()) return {};
            for (std::size_t i = 0; i < places.size(); ++i) places[i].push_back(elements[i]);
        }
        std::set<Class> kinds;
        for (const std::vector<Element>& place : places) kinds.insert(class_of(place.front()));
        if (kinds.size() < 2) return {};
        Sentence text = Ours("[");
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (i != 0) text.add(Ours(", "));
            text.add(common(places[i], depth + 1));
        }
        return text.add(Ours("]")), text;
    }

    TermSource& source_;
    ShapeRecords records_;
    bool texts_alike_ = true;  // what texts begin with is said
    bool atoms_named_ = true;  // an atom that all samples have is told by its name
    TermReader reader_;
    std::uint64_t cells_ = 0;
    bool cut_ = false;
};

}  // namespace

bool is_structure(TermSource& source, const Element& tuple) { return Shapes(source).is_structure(tuple); }

std::optional<CollectionShape> collection_shape(TermSource& source, const Element& term) {
    return Shapes(source).collection(term);
}

Sentence entries_in_words(TermSource& source, std::span<const Element> entries, const ShapeRecords& records) {
    return Shapes(source, records).entries(entries);
}

Sentence terms_in_words(TermSource& source, std::span<const Element> terms) { return Shapes(source).of_all(terms); }

Sentence shape_in_words(TermSource& source, const Element& term, const ShapeRecords& records) {
    return Shapes(source, records).words(term);
}

}  // namespace beamheap::analyses
