// SPDX-License-Identifier: Apache-2.0
#include "analyses/logs/raft_member.hpp"

#include <algorithm>
#include <vector>

#include "erlang/kept_states.hpp"
#include "erlang/term_reader.hpp"
#include "erlang/term_walks.hpp"

namespace beamheap::analyses {
namespace {

using erlang::KeptState;
using erlang::Match;
using erlang::match_state;

constexpr std::size_t most_terms = 2'000, most_peers = 100;

std::uint64_t index_in(const TermReader& reader, const Element& term) {
    const auto value = reader.number(term);
    return value && *value > 0 ? static_cast<std::uint64_t>(*value) : 0;
}

std::optional<RaftMember> member_of(TermSource& terms, const Element& term, const Match& state) {
    const TermReader reader(terms);
    RaftMember found;
    if (state.has("Machine")) found.machine = std::string(state["Machine"].text);
    const Match me = match_state(KeptState::raft_peer, terms, state["Me"]);
    if (!me || !reader.is_map(state["Members"])) return std::nullopt;
    found.own_node = std::string(me["Node"].text);
    const std::string own_name(me["Name"].text);
    // Texts of atoms live until the next term is read.
    const auto is_me = [&](const Match& peer) {
        return peer["Node"].text == found.own_node && peer["Name"].text == own_name;
    };
    found.commit = index_in(reader, state["Commit"]);
    if (const Match log = match_state(KeptState::raft_log, terms, state["Log"]))
        found.last = index_in(reader, log["Last"]);
    found.last = std::max(found.last, found.commit);
    if (const Match leader = match_state(KeptState::raft_leader, terms, term)) {
        found.knows_a_leader = true;
        found.leads = is_me(leader);
    }
    MapWalk members(terms, state["Members"].id, terms.head(state["Members"].id));
    Pair member;
    while (found.others.size() < most_peers && members.next(member)) {
        const Match peer = match_state(KeptState::raft_peer, terms, member.key);
        if (!peer || is_me(peer)) continue;
        found.others.push_back({std::string(peer["Node"].text), 0});
        if (const Match progress = match_state(KeptState::raft_progress, terms, member.value))
            found.others.back().match = index_in(reader, progress["Match"]);
    }
    return found;
}

}  // namespace

std::optional<RaftMember> raft_member(TermSource& terms) {
    const RootList& roots = terms.graph().roots();
    const TermReader reader(terms);
    std::vector<Element> left;  // breadth first
    for (std::size_t i = 0; i < roots.size(); ++i)
        if (roots[i].kind == RootKind::stack || roots[i].kind == RootKind::x_register) left.push_back(terms.root(i));
    for (std::size_t looked = 0; looked < most_terms && looked < left.size(); ++looked) {
        const Element term = left[looked];
        if (reader.is_map(term)) {
            if (const Match state = match_state(KeptState::raft_member, terms, term))
                return member_of(terms, term, state);
        } else if (reader.is_kind(term, TermKind::tuple)) {
            ElementCursor cursor = terms.elements(term.id);
            for (Element each; left.size() < most_terms && terms.next(cursor, each);) left.push_back(each);
        }
    }
    return std::nullopt;
}

}  // namespace beamheap::analyses
