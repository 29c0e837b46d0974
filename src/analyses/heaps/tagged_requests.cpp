// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/tagged_requests.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/links_of.hpp"
#include "analyses/heaps/references.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_waiters = 500;
constexpr std::uint32_t most_alike = 64;                // of them, in one function
constexpr std::uint64_t largest_waiter = 20'000;        // words of its heaps
constexpr std::uint64_t all_waiters = 500'000;          // words of all of them
constexpr std::uint64_t largest_asked = 200'000;        // words of the heaps of one that may have been asked
constexpr std::uint64_t most_unread_of_asked = 20'000;  // messages of it
constexpr std::uint64_t all_asked = 500'000;            // words of all of those
constexpr std::size_t objects_of_message = 64;          // objects
constexpr std::size_t objects_of_state = 100'000;       // objects
constexpr std::size_t objects_of_selector = 200;
constexpr std::uint64_t largest_pair = 8;  // elements of a tuple that may hold a tag beside something else

bool waits_by_hand(const Process& process, const std::vector<bool>& by_hand) {
    return process.state == ProcessState::waiting && process.current_function != FunctionId::none &&
           by_hand[index_of(process.current_function)];
}

std::vector<ProcId> possible_waiters(const Snapshot& s, const std::vector<bool>& by_hand) {
    std::vector<ProcId> found;
    std::vector<std::uint32_t> alike(s.functions.size());
    std::uint64_t words = 0;
    for (std::uint32_t i = 0; i < s.processes.size() && found.size() < most_waiters; ++i) {
        const Process& process = s.processes[i];
        const std::uint64_t more = allocated_words(process);
        if (!waits_by_hand(process, by_hand) || more > largest_waiter || words + more > all_waiters ||
            alike[index_of(process.current_function)]++ >= most_alike)
            continue;
        words += more;
        found.push_back(ProcId{i});
    }
    return found;
}

// Those with a name first: they are asked more often.
std::vector<ProcId> possible_servers(const Snapshot& s) {
    std::vector<ProcId> found;
    std::vector<std::uint32_t> alike(s.functions.size());
    std::uint64_t words = 0;
    for (const bool named : {true, false})
        for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
            const Process& process = s.processes[i];
            const std::uint64_t more = allocated_words(process);
            if ((process.name != TextId::none) != named || more > largest_asked || words + more > all_asked ||
                process.msgq_len.value_or(0) > most_unread_of_asked)
                continue;
            if (!named && process.current_function != FunctionId::none &&
                alike[index_of(process.current_function)]++ >= most_alike)
                continue;
            words += more;
            found.push_back(ProcId{i});
        }
    return found;
}

using Tags = std::map<Reference, std::optional<ProcId>>;  // who waits with it; none: several do

// The monitor of a process whose reference a term in its youngest frame has somewhere: what it receives is chosen by
// data (Gleam's selectors), in which that reference is a key.
ProcId selected_monitor(const Snapshot& s, ProcId process, TermSource& terms) {
    std::vector<std::pair<std::array<std::uint32_t, 3>, Pid>> monitors;
    for (const Link& link : links_of(s, s[process]))
        if (link.kind == LinkKind::monitors && link.pid.has()) monitors.emplace_back(link.ref, link.pid);
    if (monitors.empty()) return ProcId::none;
    ProcId found = ProcId::none;
    std::vector<Element> left;
    const RootList& roots = terms.graph().roots();
    for (std::size_t i = 0; i < roots.size(); ++i)
        if (roots[i].kind == RootKind::stack && roots[i].frame == 0) left.push_back(terms.root(i));
    for (std::size_t i = 0; i < left.size() && i < objects_of_selector; ++i) {
        if (left[i].kind != ElementKind::object) continue;
        if (const auto reference = reference_of(terms, left[i])) {
            const std::array<std::uint32_t, 3> ref{std::get<3>(*reference), std::get<2>(*reference),
                                                   std::get<1>(*reference)};
            for (const auto& [monitor, pid] : monitors) {
                const ProcId watched = monitor == ref ? s.find(pid) : ProcId::none;
                if (watched == ProcId::none || watched == process) continue;
                if (found != ProcId::none && found != watched) return ProcId::none;
                found = watched;
            }
            continue;
        }
        ElementCursor cursor = terms.elements(left[i].id);
        for (Element element; left.size() < objects_of_selector && terms.next(cursor, element);)
            left.push_back(element);
    }
    return found;
}

// The references in the youngest frame, also where they stand in a tuple with something else.
std::set<Reference> tags_of(TermSource& terms) {
    std::set<Reference> found;
    const RootList& roots = terms.graph().roots();
    for (std::size_t i = 0; i < roots.size(); ++i) {
        if (roots[i].kind != RootKind::stack || roots[i].frame != 0) continue;
        const Element term = terms.root(i);
        if (term.kind != ElementKind::object) continue;
        if (const auto reference = reference_of(terms, term)) found.insert(*reference);
        const ObjectHead head = terms.head(term.id);
        if (head.kind != TermKind::tuple || head.elements > largest_pair) continue;
        ElementCursor cursor = terms.elements(term.id);
        for (Element element; terms.next(cursor, element);)
            if (const auto reference = reference_of(terms, element)) found.insert(*reference);
    }
    return found;
}

Tags tags_of_all(Artifact& artifact, const std::vector<bool>& by_hand, const Waits& waits,
                 std::vector<WaitEdge>& edges) {
    const Snapshot& s = artifact.snapshot();
    Tags tags;
    for (const ProcId id : possible_waiters(s, by_hand)) {
        if (waits.edge(id) != nullptr || waits_on_behalf(s, s[id]) == FunctionId::none) continue;
        const auto terms = artifact.terms(id);
        if (!terms) continue;
        if (const ProcId watched = selected_monitor(s, id, **terms); watched != ProcId::none) {
            edges.push_back(estimated_edge(s, id, watched, "monitor"));
            continue;
        }
        for (const Reference& reference : tags_of(**terms)) {
            const auto [at, first] = tags.emplace(reference, id);
            if (!first) at->second = std::nullopt;
        }
    }
    std::erase_if(tags, [](const auto& tag) { return !tag.second; });
    return tags;
}

// Who has a tag in its queue, and who has it elsewhere.
struct Holders {
    std::set<ProcId> unread, taken;
};
using Found = std::map<ProcId, Holders>;  // by who waits

class Search {
public:
    Search(const Tags& tags, ProcId asked, Found& found) : tags_(tags), asked_(asked), found_(found) {}

    void process(TermSource& terms) {
        std::set<std::pair<ObjectId::Space, std::uint32_t>> of_state;
        const RootList& roots = terms.graph().roots();
        for (std::size_t i = 0; i < roots.size(); ++i) {
            if (roots[i].kind == RootKind::message) {
                std::set<std::pair<ObjectId::Space, std::uint32_t>> of_message;
                walk(terms, terms.root(i), objects_of_message, of_message, &Holders::unread);
            } else {
                walk(terms, terms.root(i), objects_of_state, of_state, &Holders::taken);
            }
        }
    }

private:
    void walk(TermSource& terms, const Element& from, std::size_t most,
              std::set<std::pair<ObjectId::Space, std::uint32_t>>& seen, std::set<ProcId> Holders::*where) {
        std::vector<Element> left{from};
        while (!left.empty() && seen.size() < most) {
            const Element term = left.back();
            left.pop_back();
            if (term.kind != ElementKind::object || !seen.emplace(term.id.space, term.id.number).second) continue;
            if (const auto reference = reference_of(terms, term)) {
                const auto tag = tags_.find(*reference);
                if (tag != tags_.end() && *tag->second != asked_) (found_[*tag->second].*where).insert(asked_);
                continue;
            }
            ElementCursor cursor = terms.elements(term.id);
            for (Element element; left.size() < most && terms.next(cursor, element);)
                if (element.kind == ElementKind::object) left.push_back(element);
        }
    }

    const Tags& tags_;
    ProcId asked_;
    Found& found_;
};

}  // namespace

std::vector<bool> may_hold_tags(const Snapshot& s, const std::vector<bool>& by_hand) {
    const std::vector<ProcId> waiters = possible_waiters(s, by_hand);
    if (waiters.empty()) return {};
    std::vector<bool> found(s.processes.size());
    for (const ProcId id : waiters) found[index_of(id)] = true;
    for (const ProcId id : possible_servers(s)) found[index_of(id)] = true;
    return found;
}

void add_tagged(Artifact& artifact, const std::vector<bool>& by_hand, Waits& waits) {
    const Snapshot& s = artifact.snapshot();
    std::vector<WaitEdge> edges;
    const Tags tags = tags_of_all(artifact, by_hand, waits, edges);
    Found found;
    if (!tags.empty())
        for (const ProcId id : possible_servers(s))
            if (const auto terms = artifact.terms(id)) Search(tags, id, found).process(**terms);
    for (const auto& [waiter, holders] : found) {
        const std::set<ProcId>& those = holders.unread.empty() ? holders.taken : holders.unread;
        if (those.size() == 1) edges.push_back(estimated_edge(s, waiter, *those.begin(), "tag"));
    }
    add_edges(s, edges, waits);
}

}  // namespace beamheap::analyses
