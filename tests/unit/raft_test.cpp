// SPDX-License-Identifier: Apache-2.0
// What a member of a Ra cluster tells of the others, in the terms of small dumps as RabbitMQ 3.10 leaves them, and what
// is said of clusters that have no majority.
#include <catch2/catch.hpp>
#include <string>

#include "analyses/logs/service_keepers.hpp"
#include "analyses/logs/service_states.hpp"
#include "erlang/kept_states.hpp"
#include "erlang/owned_term.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

// A gen_statem's process on whose stack {leader, #state{_, Map}} stands, Map being that of ra_server.erl.
const std::string usual = "3000:t7:A3:cfg,H3100,A3:uid,A6:log_id,A3:key,H3200,I2\n";

ServiceStates states_of(const std::string& leader, const std::string& log, const std::string& size = "",
                        const std::string& cfg = usual) {
    const std::string heap =
        "1000:t2:A6:leader,H1100\n1100:t3:A5:state,A4:conf,H1200\n" +
        (leader.empty()
             ? "1200:Mf4:H2000:H3000,H4000,I626," + log + "\n2000:t4:A3:cfg,A7:cluster,AC:commit_index,A3:log\n"
             : "1200:Mf5:H2000:H3000,H4000,I626," + leader + "," + log +
                   "\n2000:t5:A3:cfg,A7:cluster,AC:commit_index,A9:leader_id,A3:log\n") +
        cfg +
        "3100:t2:A5:queue,A3:a@h\n"
        "3200:t3:A7:machine,AB:rabbit_fifo,N\n"
        "4000:Mf3:H4100:H4400,H4500,H4600\n4100:t3:H3100,H4200,H4300\n4200:t2:A5:queue,A3:b@h\n4300:t2:A5:queue,A3:c@"
        "h\n"
        "4400:Mf1:H4700:I0\n4500:Mf1:H4700:I626\n4600:Mf1:H4700:I700\n4700:t1:AB:match_index\n"
        "5000:t5:A6:ra_log,A3:cfg,I0,I4778,I1\n5100:t4:A6:ra_log,A3:cfg,H5200,I1\n5200:t2:I1,I900\n"
        "5300:t5:A6:ra_log,A3:cfg,A9:undefined,I4000,I1\n";
    LoadPlan plan = test::everything();
    plan.terms = true;
    plan.terms_of = ServiceKeepers();
    const auto artifact = test::load(
        test::header() +
            test::process(
                "<0.7.0>",
                size + "Spawned as: proc_lib:init_p/5\nProgram counter: 0x0 (gen_statem:loop_receive/3 + 144)\n") +
            "=proc_dictionary:<0.7.0>\nH6000\n=proc_stack:<0.7.0>\n0x00007fad1c217d74:SReturn addr 0x1C217D74 "
            "(proc_lib:init_p_do_apply/3 + 596)\ny0:H1000\n=proc_heap:<0.7.0>\n" +
            heap + "6000:t2:AD:$initial_call,H6100\n6100:t3:AE:ra_server_proc,A4:init,I1\n=end\n",
        plan);
    REQUIRE(artifact != nullptr);
    return service_states(*artifact);
}

std::optional<RaftMember> member_of(const std::string& leader, const std::string& log, const std::string& cfg = usual) {
    const ServiceStates states = states_of(leader, log, "", cfg);
    if (states.raft.empty()) return std::nullopt;
    return states.raft.front();
}

struct Clustered : test::MadeNode {
    ServiceStates states;
    void member(std::uint32_t number, std::vector<RaftMember::Peer> others, std::uint64_t commit, std::uint64_t last) {
        RaftMember& member = states.raft.emplace_back();
        process(number, "billing.invoices");
        member.process = ProcId{static_cast<std::uint32_t>(s.processes.size() - 1)};
        member.machine = "rabbit_fifo";
        member.own_node = "a@h";
        member.others = std::move(others);
        member.commit = commit, member.last = last;
        member.leads = member.knows_a_leader = true;
    }
    void node(std::string_view name, DistNode::Kind kind) {
        DistNode& node = s.nodes.emplace_back();
        node.name = text(name);
        node.kind = kind;
    }
    std::vector<test::FoundWithText> found() {
        return test::of(told([&](Facts& facts) { facts.put(states); }), "no-majority");
    }
};

}  // namespace

TEST_CASE("a leader of a Ra cluster knows its members and how far they are", "[raft]") {
    const auto found = member_of("H3100", "H5000");
    REQUIRE(found);
    CHECK(found->machine == "rabbit_fifo");
    CHECK(found->own_node == "a@h");
    CHECK(found->commit == 626);
    CHECK(found->last == 4778);
    CHECK(found->leads);
    REQUIRE(found->others.size() == 2);
    CHECK(found->others[0].node == "b@h");
    CHECK(found->others[0].match == 626);
    CHECK(found->others[1].match == 700);
}

TEST_CASE("a member may follow another one, or know of no leader, and its log may have a range", "[raft]") {
    const auto follows = member_of("H4200", "H5100");
    REQUIRE(follows);
    CHECK_FALSE(follows->leads);
    CHECK(follows->knows_a_leader);
    CHECK(follows->last == 900);
    const auto alone = member_of("A9:undefined", "H5300");
    REQUIRE(alone);
    CHECK_FALSE(alone->knows_a_leader);
    CHECK(alone->last == 626);  // the log is empty, and has a term behind its range
}

TEST_CASE("a member that has known no leader yet, and one whose machine stands further behind", "[raft]") {
    const auto first = member_of("", "H5000");
    REQUIRE(first);
    CHECK_FALSE(first->knows_a_leader);
    CHECK(first->last == 4778);
    const auto later = member_of("H3100", "H5000", "3000:t8:A3:cfg,H3100,A3:uid,A6:log_id,A3:key,A6:labels,H3200,I2\n");
    REQUIRE(later);
    CHECK(later->machine == "rabbit_fifo");
    CHECK(later->leads);
}

TEST_CASE("a member with a long queue in its state is read, up to a bound", "[raft]") {
    CHECK(states_of("H3100", "H5000", "Stack+heap: 9000000\n").raft.size() == 1);
    CHECK(states_of("H3100", "H5000", "Stack+heap: 10000001\n").raft.empty());
}

TEST_CASE("half of the members that can't be reached are no majority, and one of three is", "[raft]") {
    Clustered two;
    two.member(7, {{"b@h", 626}}, 626, 4778);
    two.node("b@h", DistNode::Kind::not_connected);
    const auto found = two.found();
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == FindingSeverity::high);
    CHECK(found[0].title_alone() ==
          "Quorum queue billing.invoices <0.7.0> has no majority: 1 of its 2 members can't be reached (b@h is not "
          "connected); 4,152 entries are not committed");

    Clustered connected;
    connected.member(7, {{"b@h", 626}}, 626, 4778);
    connected.node("b@h", DistNode::Kind::visible);
    CHECK(connected.found().empty());

    Clustered three;
    three.member(7, {{"b@h", 1}, {"c@h", 1}}, 1, 9);
    three.node("b@h", DistNode::Kind::visible);
    CHECK(three.found().empty());
    three.s.nodes.clear();
    REQUIRE(three.found().size() == 1);

    Clustered damaged;  // whose nodes may be lost
    damaged.member(7, {{"b@h", 1}, {"c@h", 1}}, 1, 9);
    damaged.s.source.loss.bytes = 1;
    CHECK(damaged.found().empty());
    damaged.node("b@h", DistNode::Kind::not_connected);
    damaged.node("c@h", DistNode::Kind::not_connected);
    CHECK(damaged.found().size() == 1);
    damaged.node("c@h", DistNode::Kind::visible);  // it was away, and is back
    CHECK(damaged.found().empty());

    Clustered single;  // that has no other members is its own majority
    single.member(7, {}, 1, 9);
    CHECK(single.found().empty());
}

TEST_CASE("several clusters are told together, and such as wait for nothing are medium", "[raft]") {
    Clustered node;
    node.member(7, {{"b@h", 9}}, 9, 9);
    node.member(8, {{"b@h", 9}, {"c@h", 9}}, 9, 9);
    node.member(9, {{"c@h", 9}, {"a@h", 9}}, 9, 9);
    const auto found = node.found();
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == FindingSeverity::medium);
    CHECK(found[0].count == Count(2));
    CHECK(
        found[0].title_alone() ==
        "2 of 3 Ra clusters have no majority, as b@h, c@h are not connected; billing.invoices <0.7.0> is one of them");
    node.states.raft[1].knows_a_leader = false;
    CHECK(node.found().front().severity == FindingSeverity::high);
}
