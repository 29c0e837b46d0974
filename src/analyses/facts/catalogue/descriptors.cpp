// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/descriptors.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/links_of.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"
#include "erlang/modules.hpp"
#include "erlang/term_reader.hpp"
#include "model/characters.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t least_descriptors = 100;
constexpr std::uint64_t most_alike = 8;              // of a kind, whose terms are read
constexpr std::uint64_t largest_heap_read = 30'000;  // words
constexpr std::uint64_t all_heaps_read = 400'000;
constexpr std::size_t most_terms = 4'000;  // of one process

// Files and sockets by the links of processes, which are known before ports are.
std::uint64_t linked_descriptors(const Snapshot& s) {
    std::set<PortName> ports;
    std::uint64_t resources = 0;
    for (const Link& link : s.links) {
        if (link.kind == LinkKind::link && link.port.has()) ports.insert(link.port);
        resources += link.kind == LinkKind::resource && link.name != TextId::none &&
                     erlang::is_of_descriptors(s.text(link.name));
    }
    return ports.size() + resources;
}

// A few of each kind, so that all kinds are among them.
std::vector<ProcId> whom_to_read(const Snapshot& s) {
    std::vector<ProcId> found;
    if (linked_descriptors(s) < least_descriptors) return found;
    std::map<std::pair<FunctionId, FunctionId>, std::uint64_t> met;
    std::uint64_t words = 0;
    for (const ProcId id : all_processes(s)) {
        const std::uint64_t own = allocated_words(s[id]);
        if (own == 0 || own > largest_heap_read || words + own > all_heaps_read ||
            met[{first_call(s[id]), s[id].current_function}]++ >= most_alike)
            continue;
        words += own;
        found.push_back(id);
    }
    return found;
}

struct Told {
    bool own = false, machine = false;
    bool any() const { return own || machine; }
};

Told told(TermSource& terms) {
    Told found;
    std::vector<Element> left;
    std::set<std::uint32_t> seen;
    for (std::size_t i = 0; i < terms.graph().roots().size(); ++i) left.push_back(terms.root(i));
    while (!left.empty() && seen.size() < most_terms) {
        const Element term = left.back();
        left.pop_back();
        found.own |= TermReader::is(term, "emfile");
        found.machine |= TermReader::is(term, "enfile");
        if (term.kind != ElementKind::object || term.id.space != ObjectId::Space::heap ||
            !seen.insert(term.id.number).second)
            continue;
        ElementCursor cursor = terms.elements(term.id);
        for (Element each; left.size() < most_terms && terms.next(cursor, each);)
            if (each.kind == ElementKind::object || each.kind == ElementKind::atom) left.push_back(each);
    }
    return found;
}

}  // namespace

Pid opener_of(const Snapshot& s, const Process& process) {
    if (!has_role(s, process.current_function, erlang::FunctionRole::opens_for_others)) return process.pid;
    for (const Link& link : links_of(s, process))
        if (link.kind == LinkKind::monitors && link.pid.has()) return link.pid;
    return process.pid;
}

Result<Descriptors> find_fact(FactOf<Descriptors>, const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    Descriptors found;
    for (const Port& port : s.ports) {
        if (port.driver != TextId::none && erlang::is_driver_of_sockets(s.text(port.driver))) ++found.connections;
        else if (port.kind != TextId::none && s.text(port.kind) == "external process") ++found.programs;
    }
    for (const Link& link : s.links) {
        if (link.kind != LinkKind::resource || link.name == TextId::none) continue;
        const std::string_view of = s.text(link.name);
        if (of == erlang::module_of_files) ++found.files;
        else if (erlang::is_of_descriptors(of)) ++found.connections;
    }
    if (found.all() < least_descriptors) return found;
    found.of_machine = has_word(s.node.slogan, "enfile");
    found.said = found.of_machine || has_word(s.node.slogan, "emfile");
    Artifact* const artifact = facts.artifact();
    if (artifact == nullptr) return found;
    for (const ProcId id : whom_to_read(s)) {
        const auto terms = artifact->terms(id);
        const Told held = terms ? told(**terms) : Told{};
        if (held.any()) found.told.push_back(id);
        found.of_machine |= held.machine;
    }
    return found;
}

namespace fact {
void descriptors(FactNeeds& needs) {
    needs.plan.tables = needs.plan.links = needs.plan.labels = true;
    needs.terms_of(whom_to_read);
}
}  // namespace fact

}  // namespace beamheap::analyses
