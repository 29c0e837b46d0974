// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/table_rows.hpp"

#include <algorithm>
#include <set>

#include "analyses/base/sum.hpp"
#include "analyses/facts/catalogue/shared_names.hpp"
#include "analyses/heaps/copies.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "analyses/processes/inventory.hpp"
#include "erlang/servers.hpp"
#include "erlang/term_reader.hpp"

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

RowsOfTable rows_of(const Snapshot& s, std::size_t table, Artifact& artifact) {
    RowsOfTable found;
    found.table = table;
    if (!s.source.kind.whole_heaps) return found;
    const auto contents = artifact.table_contents(table, rows_to_look_at);
    if (!contents) return found;
    TermSource& terms = *contents->terms;
    const bool all_known = s.source.process_table_complete && s.source.loss.processes == 0;
    std::vector<Element> rows;
    CommonParts parts;
    TermMeasures measures(terms);
    for (std::size_t i = 0; i < terms.graph().roots().size() && rows.size() < rows_to_look_at; ++i) {
        const Element row = terms.root(i);
        rows.push_back(row);
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
                found.ended = s.source.process_table_complete && s.source.loss.processes == 0 &&
                              s.find(found.names) == ProcId::none;
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
        found.large.push_back(rows_of(s, use.table, artifact));
    }
    return found;
}

Result<MostObjects> find_fact(FactOf<MostObjects>, const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    MostObjects found;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < s.ets.size(); ++i) {
        const std::uint64_t objects = s.ets[i].objects.value_or(0);
        if (objects < least_objects || objects <= most || !is_of_program(s, s.ets[i])) continue;
        most = objects;
        found.table = i;
    }
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
