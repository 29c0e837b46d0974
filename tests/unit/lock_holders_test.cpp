// SPDX-License-Identifier: Apache-2.0
// Locks of libraries: who wants one, who may hold it, and deadlocks that go through it.
#include <catch2/catch.hpp>
#include <string>

#include "analyses/processes/locks.hpp"
#include "analyses/rules/rules.hpp"
#include "support/running_node.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using beamheap::test::Running;

TEST_CASE("who wants a lock, and who may hold it", "[running]") {
    for (const bool running : {false, true}) {
        Running node;
        node.at(node.process(1, "holder"),
                {node.function("timer", "sleep", 1), node.function("mnesia_tm", "apply_fun", 3),
                 node.function("my", "book", 1)});
        if (running) node.s.processes.back().state = ProcessState::running;
        for (std::uint32_t i = 0; i < 10; ++i)
            node.at(node.process(10 + i), {node.function("timer", "sleep", 1), node.function("mnesia_tm", "restart", 9),
                                           node.function("my", "book", 1)});
        for (std::uint32_t i = 0; i < 30; ++i) node.idle(100 + i);
        node.seal();
        const std::vector<LockQueue> queues = lock_queues(node.s);
        REQUIRE(queues.size() == 1);
        CHECK(queues[0].waiters.size() == 10);
        CHECK(test::numbers(node.s, queues[0].inside) == std::vector<std::uint32_t>{1});
        const std::vector<Finding> found = node.findings();
        const Finding* lock = node.find(found, "lock-held");
        REQUIRE(lock != nullptr);
        CHECK(lock->severity == (running ? FindingSeverity::medium : FindingSeverity::high));
        CHECK(lock->pid == Pid{0, 1, 0});
        CHECK(lock->count == Count(10));
    }
}

TEST_CASE("a deadlock goes through a lock where all who may hold it wait for one that wants it", "[running]") {
    enum class Made { all_call, one_does_not, calls_another };
    for (const Made made : {Made::all_call, Made::one_does_not, Made::calls_another}) {
        Running node;
        node.at(node.process(1, "desk"), {node.function("timer", "sleep", 1), node.function("mnesia_tm", "restart", 9),
                                          node.function("desk", "exposure", 1)});
        node.idle(2, "other");
        for (std::uint32_t i = 0; i < 8; ++i) {
            node.caller(10 + i, made == Made::calls_another ? 2 : 1);
            if (made == Made::one_does_not && i == 0) {
                node.s.processes.pop_back();
                node.process(10);
            }
            node.at(node.s.processes.back(),
                    {node.function(made == Made::one_does_not && i == 0 ? "timer" : "gen",
                                   made == Made::one_does_not && i == 0 ? "sleep" : "do_call",
                                   made == Made::one_does_not && i == 0 ? 1u : 4u),
                     node.function("mnesia_tm", "apply_fun", 3), node.function("my", "settle", 1)});
        }
        for (std::uint32_t i = 0; i < 4; ++i)
            node.at(node.process(30 + i), {node.function("timer", "sleep", 1), node.function("mnesia_tm", "restart", 9),
                                           node.function("my", "settle", 1)});
        for (std::uint32_t i = 0; i < 40; ++i) node.idle(100 + i);
        node.seal();
        const std::vector<Finding> found = node.findings();
        const Finding* lock = node.find(found, "lock-held");
        REQUIRE(lock != nullptr);
        CAPTURE(node.title(*lock));
        const bool deadlock = made == Made::all_call;
        CHECK((node.title(*lock).find("that is a deadlock: desk <0.1.0> wants it") != std::string::npos) == deadlock);
        if (!deadlock) continue;
        CHECK(node.title(*lock).ends_with("the 8 processes that may hold it all wait for that"));
        CHECK(lock->severity == FindingSeverity::high);
        CHECK(lock->pid == Pid{0, 1, 0});
    }
}

TEST_CASE("who waits for one that wants a lock counts, also by way of a pool whose members all do", "[running]") {
    Running node;
    node.at(node.process(1, "holder"), {node.function("timer", "sleep", 1), node.function("mnesia_tm", "apply_fun", 3),
                                        node.function("my", "book", 1)});
    std::vector<Link> members;
    for (std::uint32_t i = 2; i < 4; ++i) {
        node.at(node.process(i), {node.function("timer", "sleep", 1), node.function("mnesia_tm", "restart", 9)});
        Link link;
        link.kind = LinkKind::monitors;
        link.pid = {0, i, 0};
        members.push_back(link);
    }
    node.idle(4, "pool");
    node.links_to(members);
    for (std::uint32_t i = 0; i < 5; ++i) node.caller(10 + i, 2);   // of a member
    for (std::uint32_t i = 0; i < 20; ++i) node.caller(20 + i, 4);  // of the pool
    for (std::uint32_t i = 0; i < 100; ++i) node.idle(100 + i);
    node.seal();
    const std::vector<Finding> found = node.findings();
    const Finding* lock = node.find(found, "lock-held");
    REQUIRE(lock != nullptr);
    CHECK(lock->count == Count(2 + 5 + 1 + 20));
    CHECK(lock->severity == FindingSeverity::high);
    REQUIRE(lock->evidence.size() >= 3);
    CHECK(lock->evidence[0].number == 2);               // want it themselves
    CHECK(lock->evidence[1].number == 5 + 1 + 20);      // wait for those
    CHECK(lock->evidence[2].number == 1);               // is inside
    CHECK(node.find(found, "wait-convoy") == nullptr);  // is a part of that story
}
