// SPDX-License-Identifier: Apache-2.0
// no-majority: a Ra cluster (a quorum queue of RabbitMQ) of which too few members can be reached.
//
// Theory: analyses/logs/raft_member.hpp. Each cluster has a member on several nodes; those of nodes that are not
// connected can't be reached. Where half of the members or more are on such nodes, nothing is committed until one of
// them is back. Members whose own process has ended on a node that is connected are not told apart: who leads counts
// what is not committed.
//
// Thresholds: one cluster without a majority that has entries which are not committed, or no leader, is high; one that
// waits for nothing is medium.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "analyses/base/links_of.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/kept_states.hpp"

namespace beamheap::analyses::rule {
namespace no_majority_rule {
namespace {

constexpr std::size_t most_named = 3;

// Which nodes are away: not connected, or not even known, unless of the input something is lost. One that has come back
// stands there twice.
class Away {
public:
    explicit Away(const Snapshot& s) : all_known_(!s.source.loss.any()) {
        for (const DistNode& node : s.nodes)
            (node.kind == DistNode::Kind::not_connected ? lost_ : connected_).push_back(s.text(node.name));
        std::ranges::sort(lost_);
        std::ranges::sort(connected_);
    }
    bool operator()(std::string_view node) const {
        return !std::ranges::binary_search(connected_, node) && (all_known_ || std::ranges::binary_search(lost_, node));
    }

private:
    std::vector<std::string_view> lost_, connected_;
    bool all_known_;
};

struct Stuck {
    const RaftMember* member = nullptr;
    std::set<std::string> away;  // nodes of members that can't be reached
    std::uint64_t members = 0, here = 0;
    std::uint64_t uncommitted = 0;
};

std::vector<Stuck> stuck_clusters(const Facts& facts) {
    std::vector<Stuck> found;
    const Away away(facts.snapshot());
    for (const RaftMember& member : facts.get<ServiceStates>().raft) {
        Stuck stuck{&member, {}, member.others.size() + 1, 1, member.last - member.commit};
        for (const RaftMember::Peer& peer : member.others) {
            if (peer.node != member.own_node && away(peer.node)) stuck.away.insert(peer.node);
            else ++stuck.here;
        }
        if (2 * stuck.here <= stuck.members) found.push_back(std::move(stuck));
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &Stuck::uncommitted);
    return found;
}

// "rabbit@b, rabbit@c"
Sentence nodes_text(const std::set<std::string>& nodes) {
    std::vector<Sentence> named;
    for (const std::string& node : nodes) {
        if (named.size() == most_named) {
            named.push_back(Ours("..."));
            break;
        }
        named.push_back(sentence("{}", Atom{node, false}));
    }
    return joined(named, ", ");
}

Ours kind_of(const RaftMember& member) {
    return erlang::is_quorum_queue(member.machine) ? Ours("Quorum queue") : Ours("Ra cluster");
}

// Clients of a quorum queue: it monitors the channels that publish to it or consume from it.
std::uint64_t monitored_by(const Snapshot& s, ProcId process) {
    std::set<Pid> found;
    for (const Link& link : links_of(s, s[process]))
        if (link.kind == LinkKind::monitors && link.pid.has()) found.insert(link.pid);
    return found.size();
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const std::vector<Stuck> stuck = stuck_clusters(facts);
    if (stuck.empty()) return;
    const Snapshot& s = facts.snapshot();
    const Stuck& first = stuck.front();
    std::set<std::string> away;
    std::uint64_t uncommitted = 0, leaderless = 0;
    for (const Stuck& each : stuck) {
        away.insert(each.away.begin(), each.away.end());
        uncommitted = saturating_add(uncommitted, each.uncommitted);
        leaderless += !each.member->knows_a_leader;
    }
    Finding finding;
    about(facts, first.member->process, finding);
    finding.severity = uncommitted != 0 || leaderless != 0 ? FindingSeverity::high : FindingSeverity::medium;
    finding.count = stuck.size();
    const Sentence nodes = nodes_text(away);
    const Ours verb = away.size() == 1 ? Ours("is") : Ours("are");
    if (stuck.size() == 1)
        finding.title.say("{} {} has no majority: {} of its {} can't be reached ({} {} not connected)",
                          kind_of(*first.member), first.member->process, number(first.members - first.here),
                          Counted{first.members, "member", "members"}, nodes, verb);
    else
        finding.title.say("{} of {} have no majority, as {} {} not connected; {} is one of them", number(stuck.size()),
                          Counted{facts.get<ServiceStates>().raft.size(), "Ra cluster", "Ra clusters"}, nodes, verb,
                          first.member->process);
    if (uncommitted != 0)
        finding.title.say(uncommitted == 1 ? Form<1>("; {} is not committed") : Form<1>("; {} are not committed"),
                          Counted{uncommitted, "entry", "entries"});
    else if (leaderless != 0)
        finding.title.add(stuck.size() == 1 ? Ours("; it has no leader") : Ours("; some have no leader"));
    finding.evidence = {
        figure("clusters without a majority", stuck.size(), AmountUnit::count),
        figure("clusters with a member on this node", facts.get<ServiceStates>().raft.size(), AmountUnit::count),
        figure("entries that are not committed", uncommitted, AmountUnit::count),
        figure("last entry that is committed", first.member->commit, AmountUnit::count),
        figure("last entry of its log", first.member->last, AmountUnit::count)};
    if (facts.get<ServiceStates>().raft_unread != 0)
        finding.evidence.push_back(figure("members that were not looked into, for their size",
                                          facts.get<ServiceStates>().raft_unread, AmountUnit::count));
    if (leaderless != 0) finding.evidence.push_back(figure("of them without a leader", leaderless, AmountUnit::count));
    for (const RaftMember::Peer& peer : first.member->others)
        if (first.member->leads && first.away.contains(peer.node))
            finding.evidence.push_back(figure(sentence("last entry that the member on {} has", Atom{peer.node, false}),
                                              peer.match, AmountUnit::count));
    if (const std::uint64_t clients = monitored_by(s, first.member->process); clients != 0)
        finding.evidence.push_back(
            figure("processes that it monitors (who publish or consume)", clients, AmountUnit::count));
    finding.advise(
        "Start those nodes again, or see why they are not connected (down, a partition, a cookie): whoever publishes "
        "gets no confirm until half of the members and one more can be reached.");
    finding.advise(
        "Where a node is gone for good, remove it from the cluster and its members from the queues (`rabbitmqctl "
        "forget_cluster_node`, `rabbitmq-queues delete_member`), while there is still a majority; give queues three "
        "members or five, of two a single one that is lost stops it.");
    finding.advise("See which nodes it knew: `beamheap nodes DUMP`");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace no_majority_rule

Rule no_majority() { return {"no-majority", 43, no_majority_rule::run}; }

}  // namespace beamheap::analyses::rule
