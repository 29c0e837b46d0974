// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/table_rows.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analyses/base/sum.hpp"
#include "analyses/facts/catalogue/node_figures.hpp"
#include "analyses/facts/catalogue/shared_names.hpp"
#include "analyses/heaps/copies.hpp"
#include "analyses/heaps/record_scope.hpp"
#include "analyses/heaps/term_measures.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "analyses/processes/inventory.hpp"
#include "erlang/servers.hpp"
#include "erlang/term_reader.hpp"
#include "erlang/term_walks.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t rows_to_look_at = 64;
constexpr std::uint64_t rows_with_keys = 1'000;  // of a table whose keys are compared
constexpr std::size_t most_large_tables = 2, most_key_tables = 20;
constexpr std::uint64_t least_large_bytes = 4u << 20;
constexpr double least_large_percent = 25;
constexpr std::uint64_t least_objects = 100;
constexpr std::size_t most_elements_of_row = 64;
constexpr int generations_of_owner = 2;
constexpr std::uint64_t least_large_row_bytes = 64u << 10;  // on average
constexpr std::uint64_t least_large_row = 100'000;          // words, of the largest
constexpr std::uint64_t part_of_rows = 4;                   // a quarter of all
constexpr std::uint64_t largest_row = 64, most_of_ten = 8;  // elements; tenths that one element has
constexpr unsigned deepest_in_row = 6;

// A table of kernel's or of a process that kernel has started is no program's; nor is one of nobody.
bool is_of_program(const Snapshot& s, const EtsTable& table) {
    ProcId owner = table.owner.has() ? s.find(table.owner) : ProcId::none;
    if (owner == ProcId::none || table.internal) return false;
    for (int i = 0; i < generations_of_owner && owner != ProcId::none; ++i) {
        if (s[owner].name != TextId::none && erlang::is_kernel_server(s.text(s[owner].name))) return false;
        owner = s[owner].parent.has() ? s.find(s[owner].parent) : ProcId::none;
    }
    return true;
}

// What a row names, in all of it, breadth first.
struct Within {
    bool reference = false, of_other_node = false;
    std::set<Pid> pids;
};

Within within_row(TermSource& terms, const Element& row) {
    Within found;
    std::vector<Element> left{row};
    for (std::size_t i = 0; i < left.size() && i < most_elements_of_row; ++i) {
        if (left[i].kind == ElementKind::pid) {
            if (left[i].pid.local()) found.pids.insert(left[i].pid);
            else found.of_other_node = true;
        }
        if (left[i].kind != ElementKind::object) continue;
        const TermKind kind = terms.head(left[i].id).kind;
        found.reference |= kind == TermKind::reference;
        found.of_other_node |= kind == TermKind::external_pid || kind == TermKind::external_reference;
        ElementCursor cursor = terms.elements(left[i].id);
        for (Element element; left.size() < most_elements_of_row && terms.next(cursor, element);)
            left.push_back(element);
    }
    return found;
}

// The part of a row that is most of it: down to where no one element is.
struct MostOfRow {
    Element term;
    Sentence where;
};

MostOfRow most_of_row(TermSource& terms, TermMeasures& measures, const Element& row) {
    MostOfRow found{row, {}};
    for (unsigned depth = 0; depth < deepest_in_row && found.term.kind == ElementKind::object; ++depth) {
        const ObjectHead head = terms.head(found.term.id);
        if ((head.kind != TermKind::tuple && head.kind != TermKind::flat_map) ||
            collection_shape(terms, found.term).has_value())
            break;
        const std::uint64_t all = measures.flat_words(found.term).value_or(0);
        std::optional<MostOfRow> next;
        const auto look_at = [&](const Element& element, const auto& step) {
            if (!next && measures.flat_words(element).value_or(0) >= all / 10 * most_of_ten)
                next = MostOfRow{element, found.where.empty() ? step() : step_into(found.where, step())};
        };
        if (head.kind == TermKind::flat_map) {
            MapWalk walk(terms, found.term.id, head);
            for (Pair pair; walk.next(pair);)
                look_at(pair.value, [&] {
                    return TermReader::is_atom(pair.key) ? sentence("key {}", Atom{std::string(pair.key.text)})
                                                         : Sentence(Ours("key ..."));
                });
        } else {
            ElementCursor cursor = terms.elements(found.term.id);
            Element element;
            for (std::uint64_t i = 1; i <= largest_row && terms.next(cursor, element); ++i)
                look_at(element, [&] { return sentence("element {}", Amount{i, AmountUnit::plain}); });
        }
        if (!next) break;
        found = std::move(*next);
    }
    return found;
}

// The largest of all rows of a table, where that is a quarter of them.
void find_largest(const Snapshot& s, TermSource& terms, TermMeasures& measures, const std::vector<Element>& rows,
                  std::uint32_t key, RowsOfTable& found) {
    std::uint64_t all = 0, most = 0;
    std::size_t largest = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint64_t words = measures.flat_words(rows[i]).value_or(0);
        all = saturating_add(all, words);
        if (words > most) most = words, largest = i;
    }
    if (most < least_large_row || most < all / part_of_rows) return;
    found.largest_words = most;
    const std::vector<Element> row = TermReader(terms).tuple(rows[largest]);
    if (key != 0 && row.size() >= key) found.largest_key = copy_term(terms, row[key - 1]);
    const MostOfRow of = most_of_row(terms, measures, rows[largest]);
    if (of.where.empty()) return;
    found.largest = sentence("{}, {}", of.where, shape_in_words(terms, of.term));
    if (const auto shape = collection_shape(terms, of.term))
        found.largest_processes = named_processes(s, terms, *shape);
}

// How many rows are looked at: all where they are so large that one may be most of the table.
std::uint64_t rows_wanted(const Snapshot& s, std::size_t table, std::uint64_t table_bytes) {
    const std::uint64_t objects = s.ets[table].objects.value_or(0);
    const bool large = objects != 0 && objects <= rows_with_keys && table_bytes / objects >= least_large_row_bytes;
    return large ? std::max(objects, rows_to_look_at) : rows_to_look_at;
}

RowsOfTable rows_of(const Snapshot& s, std::size_t table, Artifact& artifact, std::uint64_t table_bytes = 0) {
    RowsOfTable found;
    found.table = table;
    if (!s.source.kind.whole_heaps) return found;
    const std::uint64_t wanted = rows_wanted(s, table, table_bytes);
    const auto contents = artifact.table_contents(table, wanted);
    if (!contents) return found;
    TermSource& terms = *contents->terms;
    const bool all_known = s.source.all_processes_known();
    std::vector<Element> rows;
    CommonParts parts;
    TermMeasures measures(terms);
    for (std::size_t i = 0; i < terms.graph().roots().size() && rows.size() < wanted; ++i) {
        const Element row = terms.root(i);
        rows.push_back(row);
        if (rows.size() > rows_to_look_at) continue;
        parts.add(terms, measures, std::span(&row, 1));
        const Within within = within_row(terms, row);
        found.references += within.reference;
        found.of_other_nodes += within.of_other_node;
        if (within.pids.empty()) continue;
        ++found.processes.named;
        ++found.some_ended.named;
        const auto alive = static_cast<std::size_t>(std::ranges::count_if(
            within.pids, [&](const Pid& pid) { return !all_known || s.find(pid) != ProcId::none; }));
        found.processes.ended += alive == 0;
        found.some_ended.ended += alive != within.pids.size();
    }
    if (!contents->more && table_bytes / std::max<std::uint64_t>(rows.size(), 1) >= least_large_row_bytes)
        find_largest(s, terms, measures, rows, contents->key, found);
    if (rows.size() > rows_to_look_at) rows.resize(rows_to_look_at);
    found.looked = rows.size();
    if (rows.size() > 1) found.shape = terms_in_words(terms, rows);
    if (auto common = parts.best(rows.size())) {
        found.copy_words = common->words;
        found.copy = std::move(common->what);
    }
    return found;
}

// Rows whose key is one of the atoms that many name.
void add_keys(const Facts& facts, Artifact& artifact, std::vector<RowOfKey>& keys) {
    const Snapshot& s = facts.snapshot();
    std::set<std::string, std::less<>> wanted;
    for (const SharedName& name : facts.get<SharedNames>().names)
        if (name.atom != nullptr) wanted.emplace(name.atom->term().text);
    if (wanted.empty() || !s.source.kind.whole_heaps) return;
    std::size_t left = most_key_tables;
    for (std::size_t table = 0; table < s.ets.size() && left != 0; ++table) {
        const std::uint64_t objects = s.ets[table].objects.value_or(0);
        if (objects == 0 || objects > rows_with_keys || !is_of_program(s, s.ets[table])) continue;
        --left;
        const auto contents = artifact.table_contents(table, rows_with_keys);
        if (!contents || contents->key == 0) continue;
        TermSource& terms = *contents->terms;
        TermReader reader(terms);
        for (std::size_t i = 0; i < terms.graph().roots().size(); ++i) {
            const std::vector<Element> row = reader.tuple(terms.root(i));
            if (row.size() < contents->key || !TermReader::is_atom(row[contents->key - 1])) continue;
            const std::string_view key = row[contents->key - 1].text;
            if (!wanted.contains(key)) continue;
            RowOfKey found{std::string(key), table, {}, false};
            if (const Within within = within_row(terms, terms.root(i)); within.pids.size() == 1) {
                found.names = *within.pids.begin();
                found.ended = s.source.all_processes_known() && s.find(found.names) == ProcId::none;
            }
            keys.push_back(std::move(found));
        }
    }
}

}  // namespace

const RowsOfTable* TableRows::of(std::size_t table) const {
    const auto found = std::ranges::find(large, table, &RowsOfTable::table);
    return found == large.end() ? nullptr : &*found;
}

Result<TableRows> find_fact(FactOf<TableRows>, const Facts& facts, Artifact& artifact) {
    const Snapshot& s = facts.snapshot();
    TableRows found;
    const EtsReport report = ets_tables(s);
    for (const EtsUse& use : report.tables) {
        const double percent = percent_of(use.bytes, s.memory_bytes("total")).value_or(0);
        if (found.large.size() == most_large_tables || use.bytes.value_or(0) < least_large_bytes ||
            percent < least_large_percent)
            break;
        found.large.push_back(rows_of(s, use.table, artifact, use.bytes.value_or(0)));
    }
    return found;
}

Result<MostObjects> find_fact(FactOf<MostObjects>, const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    MostObjects found;
    const auto more = [&](std::size_t i, const std::optional<std::size_t>& than) {
        return !than || s.ets[i].objects.value_or(0) > s.ets[*than].objects.value_or(0);
    };
    for (std::size_t i = 0; i < s.ets.size(); ++i) {
        if (s.ets[i].objects.value_or(0) < least_objects || !is_of_program(s, s.ets[i])) continue;
        const bool same_name = found.table && s.ets[i].name == s.ets[*found.table].name;
        if (more(i, found.table)) {
            if (found.table && !same_name) found.next = found.table;
            found.table = i;
        } else if (!same_name && more(i, found.next)) {
            found.next = i;
        }
    }
    if (!found.next) return found;
    for (const AllocatorUse& use : facts.get<AllocatorReport>().types)
        if (s.text(use.name) == "binary_alloc" && use.mbcs.blocks.has())
            found.binaries = saturating_add(*use.mbcs.blocks, use.sbcs.blocks.value_or(0));
    return found;
}

Result<CandidateRows> find_fact(FactOf<CandidateRows>, const Facts& facts, Artifact& artifact) {
    const std::optional<std::size_t> table = facts.get<MostObjects>().table;
    return table ? CandidateRows{rows_of(facts.snapshot(), *table, artifact)} : CandidateRows{};
}

Result<PolledRows> find_fact(FactOf<PolledRows>, const Facts& facts, Artifact& artifact) {
    PolledRows found;
    add_keys(facts, artifact, found.keys);
    return found;
}

namespace fact {
void table_rows(FactNeeds& needs) { needs.plan.tables = true; }
}  // namespace fact

}  // namespace beamheap::analyses
