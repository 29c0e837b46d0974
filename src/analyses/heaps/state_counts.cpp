// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/state_counts.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "analyses/heaps/loop_state.hpp"
#include "analyses/heaps/record_fields.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "erlang/modules.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_records = 300;
constexpr std::size_t most_counts = 1'000;  // each is held against all others of its record
constexpr unsigned deepest_record = 4;
constexpr std::uint64_t largest_record = 64;  // elements of a tuple that is gone into
constexpr std::int64_t least_limit = 5, largest_limit = 10'000'000;
constexpr std::size_t most_entries = 64;     // of a dictionary
constexpr std::size_t most_in_element = 32;  // terms of one element that are looked at
constexpr std::uint32_t own_frames = 2;      // the youngest of a loop that is nobody's library
constexpr std::array<std::string_view, 3> limit_words{"max", "limit", "capacity"};

bool is_limit_word(std::string_view name) {
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c; });
    return std::ranges::any_of(limit_words, [&](std::string_view word) { return lower.find(word) != lower.npos; });
}

class Counter {
public:
    Counter(const Snapshot& snapshot, ProcId process, TermSource& terms)
        : s_(snapshot),
          p_(snapshot[process]),
          terms_(terms),
          reader_(terms),
          ends_known_(snapshot.source.all_processes_known()) {}

    std::optional<StateCounts> run() {
        const auto state = loop_state(s_, process(), terms_);
        scope_ = RecordScope(s_, process(), terms_, state);
        if (state && (state->several() || state->module == erlang::module_of_supervisors)) return std::nullopt;
        if (state) {
            if (state->term.kind == ElementKind::object)
                records_.push_back({state->term, Ours("its State"), 0, scope_.module()});
        } else {
            variables();
        }
        dictionary();
        for (; next_ < records_.size(); ++next_) look_at(Record(records_[next_]));
        if (found_.counts.empty()) return std::nullopt;
        return std::move(found_);
    }

private:
    struct Record {
        Element term;
        Sentence where;
        unsigned depth = 0;
        std::string_view module;  ///< whose records are in it
    };

    ProcId process() const { return s_.find(p_.pid); }

    // Of a loop of one's own: what its youngest frames hold is one record, whose fields have no names.
    void variables() {
        if (p_.stack == StackId::none) return;
        const std::span<const Frame> frames = s_.stacks[p_.stack];
        const RootList& roots = terms_.graph().roots();
        std::uint64_t slot = 0;
        for (std::size_t i = 0; i < roots.size(); ++i) {
            const Root root = roots[i];
            if (root.kind != RootKind::stack || root.frame >= own_frames || root.frame >= frames.size() ||
                frames[root.frame].function == FunctionId::none)
                continue;
            ++slot;
            field(terms_.root(i), variables_record, sentence("{}", frames[root.frame].function),
                  sentence("variable {}", Amount{slot, AmountUnit::plain}), {}, 0, scope_.of_root(terms_.graph(), i));
        }
    }

    // Entries that name processes by their keys are a collection; the others are variables.
    void dictionary() {
        const RootList& roots = terms_.graph().roots();
        StateCount all;
        all.of = StateCount::Of::collection;
        all.record = dictionary_record;
        all.in = Ours("its process dictionary");
        for (std::size_t i = 0; i < roots.size(); ++i) {
            if (roots[i].kind != RootKind::dictionary) continue;
            const std::vector<Element> pair = reader_.tuple(terms_.root(i), 2);
            if (pair.empty() || pair[0].kind != ElementKind::pid) continue;
            ++all.value;
            if (all.looked == most_entries) continue;
            mark(pair[1], all);
            element({pair[0]}, all);
        }
        if (all.value != 0) found_.counts.push_back(std::move(all));
    }

    void field(const Element& term, std::size_t record, const Sentence& in, Sentence name, std::string_view key,
               unsigned depth, std::string_view module) {
        if (found_.counts.size() + found_.few.size() >= most_counts) return;
        if (term.kind == ElementKind::port) found_.ports.push_back(term.port);
        if (term.kind == ElementKind::small && term.number >= least_limit && term.number <= largest_limit) {
            StateCount count;
            count.record = record;
            count.in = in;
            count.field = std::move(name);
            count.has_name = !key.empty();
            count.limit_word = is_limit_word(key);
            count.value = static_cast<std::uint64_t>(term.number);
            found_.counts.push_back(std::move(count));
            return;
        }
        if (term.kind == ElementKind::small && term.number >= 0 && term.number < least_limit) {
            StateCount count;
            count.record = record;
            count.in = in;
            count.field = std::move(name);
            count.value = static_cast<std::uint64_t>(term.number);
            found_.few.push_back(std::move(count));
            return;
        }
        if (term.kind != ElementKind::object) return;
        if (const auto shape = collection_shape(terms_, term)) {
            add_collection(*shape, record, in, std::move(name));
            return;
        }
        const TermKind kind = terms_.head(term.id).kind;
        if ((kind == TermKind::tuple || kind == TermKind::flat_map) && records_.size() < most_records &&
            depth < deepest_record)
            records_.push_back({term, step_into(in, name), depth + 1, scope_.within(term.id, module)});
    }

    void look_at(const Record& record) {
        const std::size_t number = next_ + first_record;
        if (const auto shape = collection_shape(terms_, record.term))
            return add_collection(*shape, number, record.where, {});
        each_field(terms_, scope_, record.term.id, record.module, largest_record, [&](RecordField each) {
            field(each.value, number, record.where, std::move(each.step), each.name, record.depth, record.module);
        });
    }

    void add_collection(const CollectionShape& shape, std::size_t record, const Sentence& in, Sentence name) {
        StateCount count;
        count.of = StateCount::Of::collection;
        count.record = record;
        count.in = in;
        count.field = std::move(name);
        count.value = shape.count;
        for (std::size_t i = 0; i < shape.keys.size(); ++i) {
            std::vector<Element> terms{shape.keys[i]};
            if (i < shape.values.size()) {
                mark(shape.values[i], count);
                terms.push_back(shape.values[i]);
            }
            element(std::move(terms), count);
        }
        found_.counts.push_back(std::move(count));
    }

    // The value beside the next key: an atom, the same as beside all before.
    static void mark(const Element& value, StateCount& count) {
        const bool same = value.kind == ElementKind::atom && (count.looked == 0 || count.mark == value.text);
        count.mark = same ? std::string(value.text) : std::string();
    }

    // What one element of a collection names: itself, and in tuples, short lists and records within it.
    void element(std::vector<Element> terms, StateCount& count) {
        ++count.looked;
        bool named = false, ended = false, reference = false;
        for (std::size_t i = 0; i < terms.size(); ++i) {
            const Element term = terms[i];
            if (term.kind == ElementKind::pid && term.pid.node == 0 && term.pid != p_.pid && term.pid != p_.parent) {
                named = true;
                const ProcId id = s_.find(term.pid);
                if (id != ProcId::none && std::ranges::find(count.alive, id) == count.alive.end())
                    count.alive.push_back(id);
                if (id == ProcId::none && ends_known_) {
                    ended = true;
                    count.gone = term.pid;
                }
            }
            if (term.kind != ElementKind::object) continue;
            const TermKind kind = terms_.head(term.id).kind;
            reference |= kind == TermKind::reference;
            if (kind != TermKind::tuple && kind != TermKind::cons && kind != TermKind::flat_map) continue;
            ElementCursor cursor = terms_.elements(term.id);
            for (Element each; terms.size() < most_in_element && terms_.next(cursor, each);) terms.push_back(each);
        }
        count.named += named;
        count.ended += ended;
        count.requests += named && reference;
    }

    static constexpr std::size_t variables_record = 0, dictionary_record = 1, first_record = 2;

    const Snapshot& s_;
    const Process& p_;
    TermSource& terms_;
    TermReader reader_;
    bool ends_known_;
    RecordScope scope_;
    std::vector<Record> records_;
    std::size_t next_ = 0;
    StateCounts found_;
};

}  // namespace

Sentence StateCount::place() const { return field.empty() ? in : step_into(in, field); }

std::optional<StateCounts> state_counts(const Snapshot& snapshot, ProcId process, TermSource& terms) {
    if (terms.in_part()) return std::nullopt;
    return Counter(snapshot, process, terms).run();
}

}  // namespace beamheap::analyses
