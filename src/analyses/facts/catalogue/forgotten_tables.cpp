// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/forgotten_tables.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "analyses/base/sum.hpp"
#include "analyses/heaps/references.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/process_columns.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t least_bytes = std::uint64_t{4} << 20, many_tables = 100;
constexpr std::size_t most_owners = 12;
constexpr std::uint64_t largest_owner = 8'000'000;  // words

// "#Ref<0.3.2.1>" has its lowest word last.
std::optional<Reference> printed_reference(std::string_view text) {
    constexpr std::string_view begin = "#Ref<0.";
    if (!text.starts_with(begin)) return std::nullopt;
    std::uint32_t words[3];
    const char* at = text.data() + begin.size();
    const char* const end = text.data() + text.size();
    for (std::size_t i = 3; i-- > 0;) {
        const auto [next, error] = std::from_chars(at, end, words[i]);
        if (error != std::errc() || next == end || *next != (i == 0 ? '>' : '.')) return std::nullopt;
        at = next + 1;
    }
    return at == end ? std::optional(Reference{3, words[0], words[1], words[2]}) : std::nullopt;
}

bool is_reached_by_reference(const Snapshot& s, const EtsTable& table) {
    return !table.internal && table.id != TextId::none && table.protection != TextId::none &&
           s.text(table.protection) != "public" && printed_reference(s.text(table.id)).has_value();
}

std::set<Reference> references_of(TermSource& terms) {
    std::set<Reference> found;
    const HeapGraph& graph = terms.graph();
    for (std::uint32_t node = 0; node < graph.size(); ++node) {
        if (graph.kind(NodeId{node}) != TermKind::reference) continue;
        Element element;
        element.kind = ElementKind::object;
        element.id = {ObjectId::Space::heap, node};
        if (const auto reference = reference_of(terms, element)) found.insert(*reference);
    }
    return found;
}

}  // namespace

const TablesOfOwner* ForgottenTables::of(ProcId owner) const {
    const auto found = std::ranges::find(owners, owner, &TablesOfOwner::owner);
    return found == owners.end() ? nullptr : &*found;
}

std::vector<ProcId> sampled_owners(const Snapshot& snapshot) {
    const EtsReport report = ets_tables(snapshot);
    std::set<Pid> by_reference;
    for (const EtsTable& table : snapshot.ets)
        if (is_reached_by_reference(snapshot, table)) by_reference.insert(table.owner);
    std::vector<const EtsOwner*> fit;
    std::uint64_t bytes = 0;
    bool many = false;
    for (const EtsOwner& owner : report.owners) {
        if (!owner.owner.alive() || !by_reference.contains(owner.owner.pid)) continue;
        fit.push_back(&owner);
        bytes = saturating_add(bytes, owner.bytes.value().value_or(0));
        many |= owner.tables >= many_tables;
    }
    if (fit.empty() || (bytes < least_bytes && !many)) return {};
    // What they were started as is not known before their labels are.
    const auto kind_of = [&](const EtsOwner* owner) {
        const Process& process = snapshot[owner->owner.process];
        return std::pair(process.parent, process.current_function);
    };
    const auto kind = kind_of(fit.front());
    std::erase_if(fit, [&](const EtsOwner* owner) { return kind_of(owner) != kind; });
    std::vector<ProcId> chosen;
    const std::size_t count = std::min(fit.size(), most_owners);
    for (std::size_t i = 0; i < count; ++i) {
        const ProcId owner = fit[i * fit.size() / count]->owner.process;
        if (used_words(snapshot[owner]).value_or(0) <= largest_owner) chosen.push_back(owner);
    }
    return chosen;
}

Result<ForgottenTables> find_fact(FactOf<ForgottenTables>, const Facts& facts, Artifact& artifact) {
    const Snapshot& s = facts.snapshot();
    ForgottenTables found;
    for (const ProcId owner : sampled_owners(s)) {
        // What is not seen is not forgotten: the State of one that hibernates is in registers, which dumps leave out.
        if (s[owner].registers_lost || s[owner].sensitive.value_or(false) || s[owner].state != ProcessState::waiting)
            continue;
        const auto terms = artifact.terms(owner);
        if (!terms || (*terms)->moved() || (*terms)->in_part() || (*terms)->graph().roots().size() == 0) continue;
        const std::set<Reference> known = references_of(**terms);
        TablesOfOwner& row = found.owners.emplace_back();
        row.owner = owner;
        for (const EtsTable& table : s.ets) {
            if (table.owner != s[owner].pid || !is_reached_by_reference(s, table)) continue;
            ++row.tables;
            if (known.contains(*printed_reference(s.text(table.id)))) continue;
            ++row.forgotten;
            row.bytes = saturating_add(row.bytes, saturating_multiply(table.words.value_or(0), s.source.word_size));
            row.all_private &= s.text(table.protection) == "private";
        }
    }
    return found;
}

namespace fact {
void forgotten_tables(FactNeeds& needs) {
    needs.plan.tables = needs.plan.labels = true;
    needs.terms_of(sampled_owners);
}
}  // namespace fact

}  // namespace beamheap::analyses
