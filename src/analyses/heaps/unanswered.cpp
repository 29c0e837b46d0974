// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/unanswered.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "analyses/base/allocated_words.hpp"
#include "analyses/heaps/asked_by_hand.hpp"
#include "analyses/heaps/pid_fields.hpp"
#include "analyses/heaps/references.hpp"
#include "analyses/heaps/tagged_requests.hpp"
#include "erlang/erlang_syntax.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t least_waiters = 10;
constexpr std::size_t most_crowds = 8;
constexpr std::size_t samples = 4;                 // of a crowd, whose references are read
constexpr std::uint64_t candidates = 64;           // in a function, from which these are taken
constexpr std::uint64_t largest_server = 500'000;  // words of its heaps
constexpr std::uint64_t longest_queue = 50'000;    // messages
constexpr std::uint64_t all_servers = 1'500'000;   // words of all whose terms are read
constexpr std::size_t most_objects = 400'000;      // of one server's terms
constexpr std::size_t most_of_message = 64;
constexpr std::size_t of_ten = 9;  // in ten of a crowd, who are kept by somebody who keeps them all

// Processes that wait in one function.
struct Crowd {
    FunctionId function = FunctionId::none;
    std::set<FunctionId> callers;  // of that function
    bool called = true;            // all of them have called it, and go on behind it
    std::vector<ProcId> members;
};

std::vector<std::uint64_t> waiting_in(const Snapshot& s, const std::vector<bool>& by_hand) {
    std::vector<std::uint64_t> count(s.functions.size());
    for (const Process& process : s.processes)
        if (process.state == ProcessState::waiting && process.current_function != FunctionId::none &&
            by_hand[index_of(process.current_function)])
            ++count[index_of(process.current_function)];
    return count;
}

bool is_crowded(const Process& process, const std::vector<std::uint64_t>& crowded) {
    return process.state == ProcessState::waiting && process.current_function != FunctionId::none &&
           crowded[index_of(process.current_function)] >= least_waiters;
}

// Who may have been asked: those with a name first.
std::vector<ProcId> servers(const Snapshot& s, const std::vector<std::uint64_t>& crowded) {
    std::vector<ProcId> found;
    std::uint64_t words = 0;
    for (const bool named : {true, false})
        for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
            const Process& process = s.processes[i];
            // One of a crowd may have been asked by the others: their requests are in its queue then.
            if ((process.name != TextId::none) != named ||
                (is_crowded(process, crowded) && process.msgq_len.value_or(0) < least_waiters))
                continue;
            const std::uint64_t more = allocated_words(process);
            if (more > largest_server || process.msgq_len.value_or(0) > longest_queue || words + more > all_servers)
                continue;
            words += more;
            found.push_back(ProcId{i});
        }
    return found;
}

// Whether a process is behind the place where a crowd waits: in what calls that place, and not there.
bool is_behind(const Snapshot& s, const Process& process, const Crowd& crowd) {
    if (process.stack == StackId::none || process.current_function == crowd.function) return false;
    bool behind = false;
    for (const Frame& frame : s.stacks[process.stack]) {
        if (frame.function == crowd.function) return false;
        behind |= crowd.callers.contains(frame.function);
    }
    return behind;
}

std::vector<Crowd> crowds(const Snapshot& s, const Waits& waits, const std::vector<bool>& by_hand) {
    std::map<FunctionId, Crowd> found;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const Process& process = s.processes[i];
        if (process.state != ProcessState::waiting || process.current_function == FunctionId::none ||
            !by_hand[index_of(process.current_function)] || waits.edge(ProcId{i}) != nullptr)
            continue;
        const FunctionId caller = waits_on_behalf(s, process);
        Crowd& crowd = found[process.current_function];
        crowd.function = process.current_function;
        if (caller == FunctionId::none) crowd.called = false;
        else crowd.callers.insert(caller);
        crowd.members.push_back(ProcId{i});
    }
    std::vector<Crowd> large;
    for (auto& [key, crowd] : found)
        if (crowd.members.size() >= least_waiters) large.push_back(std::move(crowd));
    std::ranges::stable_sort(large, std::ranges::greater(), [](const Crowd& each) { return each.members.size(); });
    if (large.size() > most_crowds) large.resize(most_crowds);
    return large;
}

// What one process knows of others.
struct Known {
    std::map<std::uint32_t, std::uint64_t> messages;  // by ProcId: in how many messages its pid stands
    std::set<std::uint32_t> kept;                     // by ProcId: those whose pids stand elsewhere
    std::set<std::uint32_t> alone;  // of these: in a variable, or a field of a record or map, in no list or key
    std::set<Pid> ended;            // that stand so, and are in no process table any more
    std::set<Reference> references;
    std::set<Reference> state_references;  // of these, those that stand outside of messages
    std::size_t objects = 0;
};

using SeenObjects = std::unordered_set<std::uint64_t>;
std::uint64_t key_of_object(ObjectId id) { return static_cast<std::uint64_t>(id.space) << 32 | id.number; }

// Goes through a term once; `each` is told of pids.
template <class Each>
void walk(const Snapshot& s, TermSource& terms, const Element& from, std::size_t most, SeenObjects& seen, Known& known,
          Each&& each) {
    std::vector<Element> left{from};
    std::size_t gone = 0;
    while (!left.empty() && gone < most && known.objects < most_objects) {
        const Element term = left.back();
        left.pop_back();
        if (term.kind == ElementKind::pid) {
            if (const ProcId found = s.find(term.pid); found != ProcId::none) each(found);
            continue;
        }
        if (term.kind != ElementKind::object || !seen.insert(key_of_object(term.id)).second) continue;
        ++gone;
        ++known.objects;
        if (const auto reference = reference_of(terms, term)) known.references.insert(*reference);
        ElementCursor cursor = terms.elements(term.id);
        for (Element element; left.size() < most_objects && terms.next(cursor, element);)
            if (element.kind == ElementKind::object || element.kind == ElementKind::pid) left.push_back(element);
    }
}

bool is_of_state(const Root& root) {
    return root.kind == RootKind::stack || root.kind == RootKind::dictionary || root.kind == RootKind::x_register;
}

Known read(const Snapshot& s, TermSource& terms) {
    Known known, of_state;
    SeenObjects seen;
    std::vector<Element> fields;
    const RootList& roots = terms.graph().roots();
    for (std::size_t i = 0; i < roots.size(); ++i) {
        if (roots[i].kind == RootKind::message) {
            std::set<std::uint32_t> named;
            SeenObjects of_message;
            walk(s, terms, terms.root(i), most_of_message, of_message, known,
                 [&](ProcId id) { named.insert(index_of(id)); });
            for (const std::uint32_t id : named) ++known.messages[id];
        } else if (is_of_state(roots[i])) {
            walk(s, terms, terms.root(i), most_objects, seen, of_state,
                 [&](ProcId id) { known.kept.insert(index_of(id)); });
            fields.push_back(terms.root(i));
        }
    }
    known.state_references = std::move(of_state.references);
    known.references.insert(known.state_references.begin(), known.state_references.end());
    known.objects += of_state.objects;
    for (const Pid& pid : pid_fields(terms, std::move(fields)))
        if (const ProcId id = s.find(pid); id != ProcId::none) known.alone.insert(index_of(id));
        else if (pid.node == 0 && s.source.all_processes_known()) known.ended.insert(pid);
    return known;
}

// Those of a crowd whose frames are read: of the first that wait in a function, so that a stream, which can't be read
// again, need not keep the terms of all of them (MayBeAsked). Who of them is behind a wait of another kind is known at
// its end only.
std::vector<bool> possible_samples(const Snapshot& s, const std::vector<std::uint64_t>& crowded) {
    std::vector<bool> found(s.processes.size());
    std::vector<std::uint64_t> met(s.functions.size());
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const Process& process = s.processes[i];
        found[i] = is_crowded(process, crowded) && allocated_words(process) <= largest_server / least_waiters &&
                   met[index_of(process.current_function)]++ < candidates;
    }
    return found;
}

// References in the frames in which a crowd waits, with who has them there: of the first `most` of it.
using HeldReferences = std::map<Reference, ProcId>;
HeldReferences references_of(Artifact& artifact, const Crowd& crowd, const std::vector<bool>& possible,
                             std::size_t most) {
    HeldReferences found;
    std::size_t read = 0;
    for (std::size_t i = 0; i < crowd.members.size() && read < most; ++i) {
        if (!possible[index_of(crowd.members[i])]) continue;
        ++read;
        const auto terms = artifact.terms(crowd.members[i]);
        if (!terms) continue;
        const RootList& roots = (*terms)->graph().roots();
        for (std::size_t root = 0; root < roots.size(); ++root)
            if (roots[root].kind == RootKind::stack && roots[root].frame == 0)
                if (const auto reference = reference_of(**terms, (*terms)->root(root)))
                    found.emplace(*reference, crowd.members[i]);
    }
    return found;
}

// Who of a crowd was not answered by one that knows them, and who was.
struct Asked {
    std::vector<ProcId> waiters;
    ProcId holder = ProcId::none;
    Pid ended;  // the one that had it, where that one has ended without giving it back
};

// Those of a crowd whose pids a server at rest keeps together with the references by which they wait for their answers.
std::vector<ProcId> kept_requests(const Snapshot& s, const Crowd& crowd, const HeldReferences& references,
                                  ProcId server, const Known& known) {
    std::vector<ProcId> found;
    if (!crowd.called || s[server].state != ProcessState::waiting || s[server].msgq_len.value_or(0) != 0) return found;
    for (const auto& [reference, member] : references)
        if (s[member].parent != s[server].pid && known.state_references.contains(reference) &&
            known.kept.contains(index_of(member)))
            found.push_back(member);
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

Asked asked(const Snapshot& s, const Waits& waits, const Crowd& crowd, const HeldReferences& references, ProcId server,
            const Known& known) {
    Asked found;
    std::uint64_t in_queue = 0;
    for (const ProcId member : crowd.members) {
        const auto messages = known.messages.find(index_of(member));
        const bool queued = messages != known.messages.end() && messages->second == 1;
        in_queue += queued;
        if (queued || known.kept.contains(index_of(member))) found.waiters.push_back(member);
    }
    if (found.waiters.size() < least_waiters || found.waiters.size() * 2 < crowd.members.size()) return {};
    std::size_t same = 0;
    for (const auto& [reference, member] : references) same += known.references.contains(reference);
    const bool by_reference = same >= 2;
    if ((crowd.called || by_reference) && in_queue >= least_waiters && in_queue * 2 >= found.waiters.size() &&
        s[server].msgq_len.value_or(0) <= in_queue * 2)
        return found;
    // The one behind the place where the others wait, in what has called it.
    const bool rests = s[server].state == ProcessState::waiting && s[server].msgq_len.value_or(0) == 0 &&
                       waits.edge(server) == nullptr;
    if (!rests || !crowd.called) return {};
    if (std::ranges::any_of(found.waiters, [&](ProcId id) {
            return known.alone.contains(index_of(id)) || s[id].parent == s[server].pid;
        }))
        return {};
    for (const std::uint32_t id : known.kept) {
        if (ProcId{id} == server || !is_behind(s, s.processes[id], crowd)) continue;
        if (found.holder != ProcId::none || !known.alone.contains(id)) return {};
        found.holder = ProcId{id};
    }
    if (found.holder != ProcId::none) return found;
    // Of those who have ended no place is known: of a lock nobody is behind it then, of work that is handed out those
    // who have some.
    if (known.ended.size() != 1 || s[server].parent == *known.ended.begin()) return {};
    if (std::ranges::any_of(s.processes, [&](const Process& process) { return is_behind(s, process, crowd); }))
        return {};
    found.ended = *known.ended.begin();
    return found;
}

bool keeps_all(const Snapshot& s, const Crowd& crowd, ProcId server, const Known& known) {
    std::size_t kept = 0, started = 0;
    for (const ProcId member : crowd.members) {
        kept += known.kept.contains(index_of(member));
        started += s[member].parent == s[server].pid;
    }
    return kept * 10 >= crowd.members.size() * of_ten && started * 2 < kept;
}

}  // namespace

bool MayBeAsked::operator()(const Snapshot& s, ProcId process) {
    if (!std::exchange(known_, true)) {
        const std::vector<bool> by_hand = functions_by_hand(s);
        asked_ = may_have_been_asked(s, by_hand);
        tagged_ = may_hold_tags(s, by_hand);
        const std::vector<std::uint64_t> crowded = waiting_in(s, by_hand);
        if (std::ranges::any_of(crowded, [](std::uint64_t count) { return count >= least_waiters; })) {
            chosen_ = possible_samples(s, crowded);
            for (const ProcId id : servers(s, crowded)) chosen_[index_of(id)] = true;
        }
    }
    const auto has = [&](const std::vector<bool>& those) {
        return index_of(process) < those.size() && those[index_of(process)];
    };
    return has(chosen_) || has(asked_) || has(tagged_);
}

void add_unanswered(Artifact& artifact, Waits& waits) {
    const Snapshot& s = artifact.snapshot();
    const std::vector<bool> by_hand = functions_by_hand(s);
    add_circles_by_hand(artifact, by_hand, waits);
    add_tagged(artifact, by_hand, waits);
    const std::vector<Crowd> large = crowds(s, waits, by_hand);
    if (large.empty()) return;
    const std::vector<std::uint64_t> crowded = waiting_in(s, by_hand);
    const std::vector<bool> possible = possible_samples(s, crowded);
    std::vector<HeldReferences> references;
    for (const Crowd& crowd : large) references.push_back(references_of(artifact, crowd, possible, samples));
    std::vector<WaitEdge> edges;
    std::vector<std::vector<ProcId>> keepers(large.size());
    std::vector<bool> has_edge(s.processes.size());
    // Nobody here has an edge yet, a crowd's members as little as a server that rests: only by another crowd or server.
    const auto add = [&](ProcId from, ProcId to) {
        if (has_edge[index_of(from)]) return;
        has_edge[index_of(from)] = true;
        edges.push_back(estimated_edge(s, from, to, "by_hand"));
    };
    const auto add_ended = [&](ProcId from, const Pid& to) {
        if (has_edge[index_of(from)]) return;
        has_edge[index_of(from)] = true;
        WaitEdge edge;
        edge.waiter = from;
        edge.target.pid = to;
        edge.function = s[from].current_function;
        edge.via = "by_hand";
        edge.confidence = Confidence::estimate;
        edges.push_back(edge);
    };
    const std::vector<ProcId> may_be_asked = servers(s, crowded);
    std::vector<bool> by_requests(large.size());  // those some of whom are kept with their references
    for (const ProcId server : may_be_asked) {
        // Who was given what they want is named by a server that rests; else requests are at least half of its queue.
        if (s[server].msgq_len.value_or(0) > 2 * large.front().members.size()) continue;
        const auto terms = artifact.terms(server);
        if (!terms) continue;
        const Known known = read(s, **terms);
        if (known.messages.empty() && known.kept.empty()) continue;
        for (std::size_t i = 0; i < large.size(); ++i) {
            if (!kept_requests(s, large[i], references[i], server, known).empty()) {
                by_requests[i] = true;
                continue;
            }
            if (known.messages.size() + known.kept.size() < least_waiters) continue;
            const Asked found = asked(s, waits, large[i], references[i], server, known);
            for (const ProcId waiter : found.waiters) add(waiter, server);
            if (found.holder != ProcId::none) add(server, found.holder);
            if (found.ended.has()) add_ended(server, found.ended);
            if (keeps_all(s, large[i], server, known)) keepers[i].push_back(server);
        }
    }
    for (std::size_t i = 0; i < large.size(); ++i)
        if (by_requests[i]) references[i] = references_of(artifact, large[i], possible, candidates);
    if (std::ranges::find(by_requests, true) != by_requests.end())
        for (const ProcId server : may_be_asked) {
            if (s[server].msgq_len.value_or(0) != 0) continue;
            const auto terms = artifact.terms(server);
            if (!terms) continue;
            const Known known = read(s, **terms);
            for (std::size_t i = 0; i < large.size(); ++i)
                if (by_requests[i])
                    for (const ProcId waiter : kept_requests(s, large[i], references[i], server, known))
                        add(waiter, server);
        }
    add_edges(s, edges, waits);
    for (std::size_t i = 0; i < large.size(); ++i)
        if (keepers[i].size() == 1 && waits.edge(large[i].members.front()) == nullptr)
            waits.keepers.push_back({large[i].function, keepers[i].front()});
}

Waits all_waits(Artifact& artifact) {
    Waits found = waits(artifact.snapshot());
    add_unanswered(artifact, found);
    return found;
}

}  // namespace beamheap::analyses
