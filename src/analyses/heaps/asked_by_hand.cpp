// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/asked_by_hand.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "analyses/base/allocated_words.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/modules.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_asked = 500;          // processes whose messages are read
constexpr std::uint32_t most_alike = 64;         // of them, that wait in one function
constexpr std::uint64_t most_unread = 1'000;     // messages of one of them
constexpr std::uint64_t largest_asked = 20'000;  // words of its heaps
constexpr std::uint64_t most_words = 1'000'000;  // of the heaps of all of them: of a stream their texts are kept
constexpr std::size_t most_of_request = 64;      // objects of a message

// Those who are named in the messages of a process.
std::set<ProcId> named_in_messages(const Snapshot& s, TermSource& terms) {
    std::set<ProcId> found;
    const RootList& roots = terms.graph().roots();
    for (std::size_t i = 0; i < roots.size(); ++i) {
        if (roots[i].kind != RootKind::message) continue;
        std::vector<Element> left{terms.root(i)};
        for (std::size_t gone = 0; !left.empty() && gone < most_of_request; ++gone) {
            const Element term = left.back();
            left.pop_back();
            if (term.kind == ElementKind::pid)
                if (const ProcId id = s.find(term.pid); id != ProcId::none) found.insert(id);
            if (term.kind != ElementKind::object) continue;
            ElementCursor cursor = terms.elements(term.id);
            for (Element element; left.size() < most_of_request && terms.next(cursor, element);)
                left.push_back(element);
        }
    }
    return found;
}

using Asked = std::map<ProcId, std::set<ProcId>>;  // who has asked, whom

// The shortest way by which somebody waits for itself; empty: there is none. Those who are known to wait wait for that
// one alone.
std::vector<ProcId> circle_of(const Waits& waits, const Asked& asked, ProcId first) {
    std::map<ProcId, ProcId> from;  // how each was come to
    std::vector<ProcId> front{first};
    for (std::size_t i = 0; i < front.size() && i < most_asked; ++i) {
        const ProcId at = front[i];
        std::set<ProcId> next;
        if (const WaitEdge* edge = waits.edge(at); edge != nullptr) {
            if (edge->target.process != ProcId::none) next.insert(edge->target.process);
        } else if (const auto those = asked.find(at); those != asked.end()) {
            next = those->second;
        }
        for (const ProcId to : next) {
            if (!from.emplace(to, at).second) continue;
            if (to != first) {
                front.push_back(to);
                continue;
            }
            std::vector<ProcId> circle{at};
            while (circle.back() != first) circle.push_back(from.at(circle.back()));
            std::ranges::reverse(circle);
            return circle;
        }
    }
    return {};
}

}  // namespace

std::vector<bool> functions_by_hand(const Snapshot& s) {
    std::vector<bool> by_hand(s.functions.size());
    for (std::uint32_t i = 0; i < s.functions.size(); ++i)
        by_hand[i] = !is_waiting_function(s, FunctionId{i}) && !is_idle_function(s, FunctionId{i}) &&
                     !erlang::has_role(module_of(s, FunctionId{i}), erlang::ModuleRole::no_process);
    return by_hand;
}

std::vector<bool> may_have_been_asked(const Snapshot& s, const std::vector<bool>& by_hand) {
    std::vector<bool> found;
    std::size_t left = most_asked;
    std::uint64_t words_left = most_words;
    std::vector<std::uint32_t> alike(s.functions.size());
    for (std::uint32_t i = 0; i < s.processes.size() && left > 0; ++i) {
        const Process& process = s.processes[i];
        const std::uint64_t unread = process.msgq_len.value_or(0);
        if (process.state != ProcessState::waiting || process.current_function == FunctionId::none ||
            !by_hand[index_of(process.current_function)] || unread == 0 || unread > most_unread ||
            allocated_words(process) > std::min(largest_asked, words_left))
            continue;
        if (alike[index_of(process.current_function)]++ >= most_alike) continue;
        words_left -= allocated_words(process);
        found.resize(s.processes.size());
        found[i] = true;
        --left;
    }
    return found;
}

void add_circles_by_hand(Artifact& artifact, const std::vector<bool>& by_hand, Waits& waits) {
    const Snapshot& s = artifact.snapshot();
    const std::vector<bool> possible = may_have_been_asked(s, by_hand);
    Asked asked;
    for (std::uint32_t i = 0; i < possible.size(); ++i) {
        if (!possible[i] || waits_on_behalf(s, s.processes[i]) == FunctionId::none) continue;
        const auto terms = artifact.terms(ProcId{i});
        if (!terms) continue;
        for (const ProcId by : named_in_messages(s, **terms))
            if (by != ProcId{i} && waits.edge(by) == nullptr && possible[index_of(by)] &&
                waits_on_behalf(s, s[by]) != FunctionId::none)
                asked[by].insert(ProcId{i});
    }
    std::vector<WaitEdge> edges;
    std::set<ProcId> told;
    for (const auto& [by, those] : asked) {
        if (told.contains(by)) continue;
        const std::vector<ProcId> circle = circle_of(waits, asked, by);
        if (std::ranges::any_of(circle, [&](ProcId id) { return told.contains(id); })) continue;
        for (std::size_t i = 0; i < circle.size(); ++i) {
            told.insert(circle[i]);
            if (waits.edge(circle[i]) == nullptr)
                edges.push_back(estimated_edge(s, circle[i], circle[(i + 1) % circle.size()], "by_hand"));
        }
    }
    add_edges(s, edges, waits);
}

}  // namespace beamheap::analyses
