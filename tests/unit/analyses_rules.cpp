// SPDX-License-Identifier: Apache-2.0
// Rules as a whole, and single ones on both sides of their bounds.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "analyses/rules/rules.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::string loudness(const std::vector<test::FoundWithText>& findings, std::string_view rule) {
    const auto found = test::of(findings, rule);
    return found.empty() ? "" : std::string(name_of(found.front().severity));
}

struct Bounded : test::MadeNode {
    Process& at(std::uint32_t number, std::string_view name, const std::vector<FunctionId>& frames) {
        return MadeNode::at(number, frames, name);
    }
    Scheduler& scheduler(Scheduler::Kind kind, std::uint32_t running, std::uint64_t queued) {
        Scheduler& one = s.schedulers.emplace_back();
        one.kind = kind;
        one.id = static_cast<std::uint32_t>(s.schedulers.size());
        if (running != 0) one.current_process = {0, running, 0};
        one.run_queue = {0, 0, queued, 0, 0};
        return one;
    }
};

}  // namespace

TEST_CASE("every rule is explained, under a name of its own", "[rules]") {
    std::set<std::string> names;
    unsigned last = 0;
    for (const Rule& rule : rules()) {
        INFO(rule.id);
        const Explanation* page = find_explanation(rule.id);
        REQUIRE(page != nullptr);
        CHECK(page->name == rule.id);
        CHECK(!page->title.empty());
        CHECK(page->paragraphs.size() >= 2);  // what it is about, then from when on
        CHECK(page->next.size() >= 2);
        CHECK(names.insert(std::string(rule.id)).second);
        CHECK(find_rule(rule.id) == &rule);
        CHECK(rule.order > last);  // no two at one place
        last = rule.order;
    }
    CHECK(names.size() >= 15);
    CHECK(find_rule("queue_flood") == find_rule("queue-flood"));
    CHECK(find_rule("nothing") == nullptr);
}

TEST_CASE("bounds: who is ready to run, for each scheduler", "[bounds]") {
    const auto node = [](std::uint32_t schedulers, std::uint64_t queued, std::uint32_t listed) {
        Bounded made;
        for (std::uint32_t i = 0; i < listed; ++i)
            made.at(10 + i, "", {made.function("shop", i % 3 == 0 ? "other" : "works", 1)}).state =
                ProcessState::runnable;
        for (std::uint32_t i = 0; i < schedulers; ++i) made.scheduler(Scheduler::Kind::normal, 0, i == 0 ? queued : 0);
        return made.told();
    };
    CHECK(loudness(node(1, 99, 0), "run-queue").empty());
    CHECK(loudness(node(1, 100, 0), "run-queue") == "medium");
    CHECK(loudness(node(5, 100, 0), "run-queue") == "medium");
    CHECK(loudness(node(6, 119, 0), "run-queue").empty());
    CHECK(loudness(node(6, 120, 0), "run-queue") == "medium");
    CHECK(loudness(node(1, 999, 0), "run-queue") == "medium");
    CHECK(loudness(node(1, 1'000, 0), "run-queue") == "high");
    CHECK(loudness(node(6, 1'199, 0), "run-queue") == "medium");
    CHECK(loudness(node(6, 1'200, 0), "run-queue") == "high");
    CHECK(loudness(node(2, 0, 99), "run-queue").empty());
    const auto listed = test::of(node(2, 60, 120), "run-queue");
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].count == Count(120));
    CHECK(listed[0].percent == Approx(200.0 / 3));
    CHECK(listed[0].words ==
          "shop:works/1: 120 processes are ready to run on 2 schedulers, 80 of them in shop:works/1\n"
          "  in the run queues: 60\n"
          "  in the longest: 60\n"
          "  processes listed as running or ready to: 120\n"
          "  one of them: <0.11.0>\n"
          "  its stack: shop:works/1\n"
          "-> See what all of them do: beamheap stacks DUMP --procs runnable\n"
          "-> See each scheduler's queue and what it runs: beamheap schedulers DUMP\n"
          "-> Bound how many may work at a time (a pool, a limit on what is accepted); more of them do not get more "
          "done.\n");
    // fewer than half are in one function: that is not what they do
    const std::string few = test::of(node(2, 162, 120), "run-queue").at(0).words;
    CHECK(few.substr(0, few.find('\n')) == "an unknown function: 162 processes are ready to run on 2 schedulers");
    CHECK(few.find("one of them") == std::string::npos);
}

TEST_CASE("bounds: where all that run are in one function, fewer are enough", "[bounds]") {
    const auto node = [](std::uint64_t queued, bool same) {
        Bounded made;
        for (std::uint32_t i = 0; i < 2; ++i) {
            made.at(10 + i, "", {made.function("shop", same || i == 0 ? "compares" : "works", 1)}).state =
                ProcessState::running;
            made.scheduler(Scheduler::Kind::normal, 10 + i, i == 0 ? queued : 0);
        }
        for (std::uint32_t i = 0; i < 9; ++i)
            made.at(20 + i, "", {made.function("shop", "waits", 1)}).state = ProcessState::runnable;
        made.scheduler(Scheduler::Kind::dirty_io, 0, 500);  // another queue
        return made.told();
    };
    CHECK(loudness(node(9, true), "run-queue").empty());
    CHECK(loudness(node(10, true), "run-queue") == "medium");
    CHECK(loudness(node(10, false), "run-queue").empty());
    CHECK(test::of(node(10, true), "run-queue").at(0).words ==
          "shop:waits/1: 10 processes are ready to run on 2 schedulers, 9 of them in shop:waits/1; all that run now "
          "are in shop:compares/1\n"
          "  in the run queues: 10\n"
          "  in the longest: 10\n"
          "  processes listed as running or ready to: 11\n"
          "  one of them: <0.20.0>\n"
          "  its stack: shop:waits/1\n"
          "-> See what all of them do: beamheap stacks DUMP --procs runnable\n"
          "-> See each scheduler's queue and what it runs: beamheap schedulers DUMP\n"
          "-> Where that is a function in C (a NIF, a comparison or a hash of a huge term), it keeps its scheduler "
          "until it is done: run it on a dirty scheduler, or in pieces.\n"
          "-> Bound how many may work at a time (a pool, a limit on what is accepted); more of them do not get more "
          "done.\n");
}

TEST_CASE("bounds: dirty schedulers that are all taken", "[bounds]") {
    const auto node = [](std::uint32_t schedulers, std::uint32_t busy, std::uint64_t waiting, std::uint32_t in_one) {
        Bounded made;
        for (std::uint32_t i = 0; i < schedulers; ++i) {
            if (i < busy)
                made.at(10 + i, "",
                        {made.function(i < in_one ? "prim_file" : "mod" + std::to_string(i), "read", 2),
                         made.function("shop", "loads", 1)});
            made.scheduler(Scheduler::Kind::dirty_io, i < busy ? 10 + i : 0, 0);
        }
        made.scheduler(Scheduler::Kind::dirty_io_queue, 0, waiting);
        return made.told();
    };
    CHECK(loudness(node(4, 4, 4, 4), "dirty-schedulers") == "medium");
    for (const auto& quiet : {node(4, 4, 3, 4), node(4, 3, 4, 3)}) CHECK(loudness(quiet, "dirty-schedulers").empty());
    CHECK(loudness(node(4, 4, 9, 4), "dirty-schedulers") == "medium");
    CHECK(loudness(node(4, 4, 10, 4), "dirty-schedulers") == "high");
    CHECK(loudness(node(10, 10, 19, 10), "dirty-schedulers") == "medium");
    CHECK(loudness(node(10, 10, 20, 10), "dirty-schedulers") == "high");
    CHECK(loudness(node(0, 0, 0, 0), "dirty-schedulers").empty());
    CHECK(test::of(node(4, 4, 10, 4), "dirty-schedulers").at(0).words ==
          "prim_file:read/2: All 4 dirty I/O schedulers are busy, all in prim_file:read/2, called by shop:loads/1; 10 "
          "processes wait for one\n"
          "  in their queue: 10\n"
          "  one of those that run: <0.10.0>\n"
          "  its stack: prim_file:read/2 < shop:loads/1\n"
          "-> See what each of them runs: beamheap schedulers DUMP\n"
          "-> Look for what does not answer: a file system of another machine, a pipe, a device. Who is in such a "
          "function can't be killed; it ends when that answers, or with the node.\n"
          "-> More of them (+SDio, +SDcpu) put off the stand-still where some always come back, and don't help where "
          "none does.\n");
    CHECK(test::of(node(4, 4, 10, 1), "dirty-schedulers").at(0).words ==
          "shop:loads/1: All 4 dirty I/O schedulers are busy, all in shop:loads/1; 10 processes wait for one\n"
          "  in their queue: 10\n"
          "  one of those that run: <0.10.0>\n"
          "  its stack: prim_file:read/2 < shop:loads/1\n"
          "-> See what each of them runs: beamheap schedulers DUMP\n"
          "-> Look for what does not answer: a file system of another machine, a pipe, a device. Who is in such a "
          "function can't be killed; it ends when that answers, or with the node.\n"
          "-> More of them (+SDio, +SDcpu) put off the stand-still where some always come back, and don't help where "
          "none does.\n");
    CHECK(test::of(node(1, 1, 1, 1), "dirty-schedulers").at(0).words ==
          "prim_file:read/2: The only dirty I/O scheduler is busy, in prim_file:read/2, called by shop:loads/1; 1 "
          "process "
          "waits for one\n"
          "  in their queue: 1\n"
          "  one of those that run: <0.10.0>\n"
          "  its stack: prim_file:read/2 < shop:loads/1\n"
          "-> See what each of them runs: beamheap schedulers DUMP\n"
          "-> Look for what does not answer: a file system of another machine, a pipe, a device. Who is in such a "
          "function can't be killed; it ends when that answers, or with the node.\n"
          "-> More of them (+SDio, +SDcpu) put off the stand-still where some always come back, and don't help where "
          "none does.\n");
}

TEST_CASE("bounds: one who does most of all work", "[bounds]") {
    const auto node = [](std::uint64_t done, std::uint64_t others, ProcessState state, std::string_view name,
                         std::string_view function) {
        Bounded made;
        Process& busy = made.at(10, name, {made.function("erlang", function, 1), made.function("shop", "works", 1)});
        busy.reductions = done;
        busy.state = state;
        busy.msgq_len = 3;
        made.at(11, "", {made.function("shop", "rests", 1)}).reductions = others;
        return made.told();
    };
    constexpr ProcessState running = ProcessState::running;
    CHECK(loudness(node(20'000'000, 20'000'000, running, "", "loop"), "busy-loop") == "medium");
    CHECK(loudness(node(20'000'000, 20'000'001, running, "", "loop"), "busy-loop").empty());
    CHECK(loudness(node(19'999'999, 15'000'000, running, "", "loop"), "busy-loop").empty());
    CHECK(loudness(node(4'000'000, 400'000, running, "", "loop"), "busy-loop") == "medium");
    CHECK(loudness(node(4'000'000, 450'000, running, "", "loop"), "busy-loop").empty());
    CHECK(loudness(node(3'999'999, 1, running, "", "loop"), "busy-loop").empty());
    CHECK(loudness(node(30'000'000, 1, ProcessState::waiting, "", "loop"), "busy-loop").empty());
    for (const ProcessState state : {ProcessState::runnable, ProcessState::garbage_collecting})
        CHECK(loudness(node(30'000'000, 1, state, "", "loop"), "busy-loop") == "medium");
    for (const char* name : {"init", "code_server", "erl_prim_loader", "application_controller"})
        CHECK(loudness(node(30'000'000, 1, running, name, "loop"), "busy-loop").empty());
    for (const char* function : {"halt", "await_result"})
        CHECK(loudness(node(30'000'000, 1, running, "", function), "busy-loop").empty());
    CHECK(test::of(node(30'000'000, 10'000'000, running, "", "loop"), "busy-loop").at(0).words ==
          "process: <0.10.0> is busy: it is running erlang:loop/1, called by shop:works/1, and has done 75 % of all "
          "work\n"
          "  its reductions: 30000000\n"
          "  reductions of all processes: 40000000\n"
          "  its memory: 1000\n"
          "  messages in its queue: 3\n"
          "  its stack: erlang:loop/1 < shop:works/1\n"
          "-> See where it is, and with which data: beamheap proc DUMP 0.10.0\n"
          "-> A second dump or core image some seconds later tells whether it moves: the same function and arguments "
          "that do not shrink are a loop without end.\n"
          "-> On a living node: process_info(Pid, [current_stacktrace, reductions]), some times over.\n");
}

TEST_CASE("bounds: memory that was refused to one who asked", "[bounds]") {
    const auto node = [](std::uint64_t refused, std::uint64_t total, std::string_view allocator,
                         std::string_view type) {
        Bounded made;
        made.at(10, "", {made.function("shop", "reads", 1)}).state = ProcessState::running;
        made.memory("total", total);
        made.s.node.slogan = std::string(allocator) + ": Cannot allocate " + std::to_string(refused) +
                             " bytes of memory (of type \"" + std::string(type) + "\").";
        return made.told();
    };
    CHECK(loudness(node(10 * test::mebibyte, 160 * test::mebibyte, "binary_alloc", "binary"), "refused-memory") ==
          "critical");
    CHECK(loudness(node(10 * test::mebibyte, 161 * test::mebibyte, "binary_alloc", "binary"), "refused-memory") ==
          "medium");
    CHECK(loudness(node(10 * test::mebibyte, 160 * test::mebibyte, "eheap_alloc", "heap"), "refused-memory").empty());
    CHECK(test::of(node(10 * test::mebibyte, 161 * test::mebibyte, "binary_alloc", "binary"), "refused-memory")
              .at(0)
              .words ==
          "process: <0.10.0> asked for a binary of 10.0 MiB and was refused it; it is running shop:reads/1, and is "
          "only the one that came last\n"
          "  refused: 10485760\n"
          "  memory of the node: 168820736\n"
          "  its own memory, binaries not counted: 1000\n"
          "  its stack: shop:reads/1\n"
          "-> See what it was doing, and with which data: beamheap proc DUMP 0.10.0\n"
          "-> A binary that is appended to doubles each time that it is full, and needs old and new at once: write it "
          "out in pieces, or keep an iolist.\n"
          "-> Bound what one request, file or message may bring, before it is read or built.\n");
    CHECK(test::of(node(10 * test::mebibyte, 20 * test::mebibyte, "ets_alloc", "db_term"), "refused-memory")
              .at(0)
              .words ==
          "process: <0.10.0> asked for 10.0 MiB for an ETS table and was refused it; it is running shop:reads/1\n"
          "  refused: 10485760\n"
          "  memory of the node: 20971520\n"
          "  its own memory, binaries not counted: 1000\n"
          "  its stack: shop:reads/1\n"
          "-> See what it was doing, and with which data: beamheap proc DUMP 0.10.0\n");
    CHECK(
        test::of(node(10 * test::mebibyte, 20 * test::mebibyte, "sl_alloc", "export_tab"), "refused-memory")
            .at(0)
            .words ==
        "process: <0.10.0> asked for 10.0 MiB of sl_alloc (export_tab) and was refused it; it is running shop:reads/1\n"
        "  refused: 10485760\n"
        "  memory of the node: 20971520\n"
        "  its own memory, binaries not counted: 1000\n"
        "  its stack: shop:reads/1\n"
        "-> See what it was doing, and with which data: beamheap proc DUMP 0.10.0\n");
}

TEST_CASE("bounds: monitors and links of one process", "[bounds]") {
    const auto node = [](std::uint32_t to_one, std::uint32_t monitors, std::uint32_t links, std::string_view module) {
        Bounded made;
        made.process(2, "cache");
        Process& p = made.at(10, "", {made.function("shop", "waits", 1)});
        p.monitors = monitors;
        p.links = links;
        p.heap_words = 50;
        p.old_heap_words = 25;
        p.memory_bytes = 4'000'600;
        p.initial_call = made.function(module, "init", 1);
        p.link_range = {0, to_one};
        Link link;
        link.kind = LinkKind::monitors;
        link.pid = {0, 2, 0};
        made.s.links.assign(to_one, link);
        return made.told();
    };
    CHECK(loudness(node(9'999, 9'999, 0, "shop"), "multitude") == "info");
    CHECK(loudness(node(10'000, 10'000, 0, "shop"), "multitude") == "medium");
    CHECK(loudness(node(99'999, 99'999, 0, "shop"), "multitude") == "medium");
    CHECK(loudness(node(100'000, 100'000, 0, "shop"), "multitude") == "high");
    CHECK(loudness(node(0, 49'999, 0, "shop"), "multitude") == "info");
    CHECK(loudness(node(0, 50'000, 0, "shop"), "multitude") == "medium");
    CHECK(loudness(node(0, 0, 49'999, "shop"), "multitude") == "info");
    CHECK(loudness(node(0, 0, 50'000, "shop"), "multitude") == "medium");
    for (const char* module : {"supervisor", "Elixir.DynamicSupervisor", "shop_sup"})
        CHECK(loudness(node(0, 0, 50'000, module), "multitude").empty());
    const auto leak = test::of(node(10'000, 10'002, 0, "shop"), "multitude").at(0);
    CHECK(leak.count == Count(10'000));
    CHECK(leak.bytes == Count(4'000'000));
    CHECK(leak.words ==
          "shop:init/1: <0.10.0> (shop:init/1) holds 10,000 monitors on cache <0.2.0>; 3.8 MiB of its memory are on no "
          "heap\n"
          "  monitors that it holds: 10002\n"
          "  of them on the same one: 10000\n"
          "  links: 0\n"
          "  of its memory outside its heaps: 4000000\n"
          "  its memory: 4000600\n"
          "  messages in its queue: 0\n"
          "  its stack: shop:waits/1\n"
          "-> Take each monitor back when its request is done (erlang:demonitor/2 with [flush]), or monitor the target "
          "once: beamheap proc DUMP 0.10.0\n"
          "-> When one side ends, each of them becomes a message or a signal at once: expect as long a queue.\n"
          "-> A second dump or core image some minutes later tells whether there are more of them.\n");
    CHECK(test::of(node(0, 50'000, 3, "shop"), "multitude")
              .at(0)
              .words.find(
                  "<0.10.0> (shop:init/1) holds 50,000 monitors on others; 3.8 MiB of its memory are on no heap\n") ==
          13);
    CHECK(test::of(node(0, 3, 50'000, "shop"), "multitude").at(0).words ==
          "shop:init/1: <0.10.0> (shop:init/1) is linked to 50,000 others; 3.8 MiB of its memory are on no heap\n"
          "  monitors that it holds: 3\n"
          "  of them on the same one: 0\n"
          "  links: 50000\n"
          "  of its memory outside its heaps: 4000000\n"
          "  its memory: 4000600\n"
          "  messages in its queue: 0\n"
          "  its stack: shop:waits/1\n"
          "-> Take each monitor back when its request is done (erlang:demonitor/2 with [flush]), or monitor the target "
          "once: beamheap proc DUMP 0.10.0\n"
          "-> When one side ends, each of them becomes a message or a signal at once: expect as long a queue.\n"
          "-> A second dump or core image some minutes later tells whether there are more of them.\n");
}

TEST_CASE("bounds: the process table, and those whom nobody watches", "[bounds]") {
    const auto node = [](std::uint32_t processes, std::uint64_t limit, std::uint32_t watched, std::uint32_t others) {
        Bounded made;
        const FunctionId init = made.function("shop", "init", 1);
        const FunctionId loop = made.function("shop", "loop", 1);
        const StackId frames = made.stack({loop});
        for (std::uint32_t i = 0; i < processes; ++i) {
            Process& p = made.process(10 + i, {}, 1);
            p.initial_call = i < processes - others ? init : loop;
            p.stack = frames;
            p.memory_bytes = 10;
            p.links = i < watched ? 1 : 0;
        }
        made.s.node.process_limit = limit;
        for (const char* driver : {"tcp_inet", "udp_inet", "efile"}) {
            Port& port = made.s.ports.emplace_back();
            port.port = {0, made.s.ports.size()};
            port.driver = made.text(driver);
        }
        return made.told();
    };
    CHECK(loudness(node(79, 100, 79, 0), "process-leak").empty());
    CHECK(loudness(node(80, 100, 79, 0), "process-leak") == "high");
    CHECK(loudness(node(94, 100, 79, 0), "process-leak") == "high");
    CHECK(loudness(node(95, 100, 79, 0), "process-leak") == "critical");
    CHECK(loudness(node(9'999, 1'000'000, 0, 0), "process-leak").empty());
    CHECK(loudness(node(10'000, 1'000'000, 0, 0), "process-leak") == "medium");
    CHECK(loudness(node(10'000, 1'000'000, 1'000, 0), "process-leak") == "medium");
    CHECK(loudness(node(10'000, 1'000'000, 1'001, 0), "process-leak").empty());
    CHECK(loudness(node(20'002, 1'000'000, 0, 10'001), "process-leak") == "medium");
    CHECK(test::of(node(80, 100, 5, 0), "process-leak").at(0).words ==
          "shop:init/1: 80 of 100 processes that the node may have exist (80 %): 80 of them are shop:init/1; <0.1.0> "
          "has spawned them\n"
          "  processes of this kind: 80\n"
          "  their memory: 800\n"
          "  without link, monitor and name: 75\n"
          "  sockets (ports) of the node: 2\n"
          "  one was spawned by: <0.1.0>\n"
          "  its stack: shop:loop/1\n"
          "-> Find out what should end them, and see one: beamheap proc DUMP 0.15.0\n"
          "-> Spawn them linked or monitored, under a supervisor (simple_one_for_one, DynamicSupervisor) with a bound "
          "on how many there may be.\n"
          "-> A larger limit (+P) only buys time.\n");
    CHECK(test::of(node(10'000, 1'000'000, 0, 0), "process-leak").at(0).words ==
          "shop:init/1: 10,000 of 10,000 processes (100 %) are shop:init/1, and nothing is linked to or monitors any "
          "of them; <0.1.0> has spawned them\n"
          "  processes of this kind: 10000\n"
          "  their memory: 100000\n"
          "  without link, monitor and name: 10000\n"
          "  sockets (ports) of the node: 2\n"
          "  one was spawned by: <0.1.0>\n"
          "  its stack: shop:loop/1\n"
          "-> Find out what should end them, and see one: beamheap proc DUMP 0.10.0\n"
          "-> Spawn them linked or monitored, under a supervisor (simple_one_for_one, DynamicSupervisor) with a bound "
          "on how many there may be.\n"
          "-> A larger limit (+P) only buys time.\n");
    CHECK(test::of(node(10'000, 1'000'000, 5, 0), "process-leak").at(0).words ==
          "shop:init/1: 10,000 of 10,000 processes (100 %) are shop:init/1, and nothing is linked to or monitors 9,995 "
          "of them; <0.1.0> has spawned them\n"
          "  processes of this kind: 10000\n"
          "  their memory: 100000\n"
          "  without link, monitor and name: 9995\n"
          "  sockets (ports) of the node: 2\n"
          "  one was spawned by: <0.1.0>\n"
          "  its stack: shop:loop/1\n"
          "-> Find out what should end them, and see one: beamheap proc DUMP 0.15.0\n"
          "-> Spawn them linked or monitored, under a supervisor (simple_one_for_one, DynamicSupervisor) with a bound "
          "on how many there may be.\n"
          "-> A larger limit (+P) only buys time.\n");
}

TEST_CASE("bounds: the port table, and whose ports they are", "[bounds]") {
    const auto node = [](std::uint32_t ports, std::uint32_t of_one) {
        Bounded made;
        made.process(1, "owner");
        for (std::uint32_t i = 0; i < ports; ++i) {
            made.process(10 + i).initial_call = made.function("shop_conn", "init", 1);
            Port& port = made.s.ports.emplace_back();
            port.port = {0, 100 + i};
            port.connected = {0, i < of_one ? 1 : 10 + i, 0};
            port.driver = made.text("tcp_inet");
            port.queue_bytes = 5;
        }
        made.s.node.port_limit = 100;
        return made.told();
    };
    CHECK(loudness(node(79, 79), "port-leak").empty());
    CHECK(loudness(node(80, 80), "port-leak") == "high");
    CHECK(loudness(node(94, 94), "port-leak") == "high");
    CHECK(loudness(node(95, 95), "port-leak") == "critical");
    CHECK(test::of(node(80, 80), "port-leak").at(0).words ==
          "tcp_inet of owner: 80 of 100 ports are open (80 %): 80 of them are tcp_inet, owned by owner <0.1.0>\n"
          "  ports of this kind: 80\n"
          "  bytes waiting in them: 400\n"
          "  the owner of one: owner <0.1.0>\n"
          "-> Find out who should close them: a port ends with its owner, or by an explicit close.\n"
          "-> See ports by driver and owner: beamheap ports DUMP\n"
          "-> A larger limit (+Q, ulimit -n) only buys time.\n");
    CHECK(test::of(node(80, 0), "port-leak").at(0).words ==
          "tcp_inet of shop_conn:init/1: 80 of 100 ports are open (80 %): 80 of them are tcp_inet, owned by "
          "shop_conn:init/1\n"
          "  ports of this kind: 80\n"
          "  bytes waiting in them: 400\n"
          "  the owner of one: <0.10.0> (shop_conn:init/1)\n"
          "-> Find out who should close them: a port ends with its owner, or by an explicit close.\n"
          "-> See ports by driver and owner: beamheap ports DUMP\n"
          "-> A larger limit (+Q, ulimit -n) only buys time.\n");
}

TEST_CASE("bounds: the atom table, and the family that fills it", "[bounds]") {
    const auto node = [](std::uint32_t used, std::uint64_t limit, std::uint32_t of_family,
                         std::string_view slogan = "") {
        Bounded made;
        made.process(1);
        for (std::uint32_t i = 0; i < used; ++i)
            made.s.atoms.push_back(made.text(i < of_family ? "session_" + std::to_string(i)
                                                           : std::string(1, static_cast<char>('a' + i % 26)) +
                                                                 std::string(1 + i / 26 % 40, 'q')));
        made.s.node.atoms = used;
        made.s.node.atom_limit = limit;
        made.s.node.slogan = slogan;
        return made.told();
    };
    CHECK(loudness(node(599, 1'000, 0), "atom-exhaustion").empty());
    CHECK(loudness(node(600, 1'000, 0), "atom-exhaustion") == "medium");
    CHECK(loudness(node(799, 1'000, 0), "atom-exhaustion") == "medium");
    CHECK(loudness(node(800, 1'000, 0), "atom-exhaustion") == "high");
    CHECK(loudness(node(949, 1'000, 0), "atom-exhaustion") == "high");
    CHECK(loudness(node(950, 1'000, 0), "atom-exhaustion") == "critical");
    CHECK(loudness(node(10, 1'000, 0, "no more index entries in atom_tab (max=1000)"), "atom-exhaustion") ==
          "critical");
    CHECK(test::of(node(600, 1'000, 0), "atom-exhaustion").at(0).words ==
          "atom table: 600 of 1,000 atoms are in use (60 %)\n"
          "  atoms: 600\n"
          "  limit: 1000\n"
          "-> Use list_to_existing_atom/1 or keep the data as binaries; give tools a fixed node name.\n"
          "-> A larger limit (+t) only buys time.\n"
          "-> See the families and the newest atoms: beamheap atoms DUMP\n");
    CHECK(test::of(node(600, 1'000, 400), "atom-exhaustion").at(0).words ==
          "session_<int>: 600 of 1,000 atoms are in use (60 %): 67 % of them are session_<int>\n"
          "  atoms: 600\n"
          "  limit: 1000\n"
          "  of the pattern session_<int>: 400\n"
          "  of the newest 600 atoms: 400\n"
          "  newest of them: session_0, session_1, session_2\n"
          "-> Find who turns data into atoms of the form session_<int>: list_to_atom, binary_to_atom, a parser's keys, "
          "node names made anew for every call of a command-line tool.\n"
          "-> Use list_to_existing_atom/1 or keep the data as binaries; give tools a fixed node name.\n"
          "-> A larger limit (+t) only buys time.\n"
          "-> See the families and the newest atoms: beamheap atoms DUMP\n");
    const std::string_view full = "no more index entries in atom_tab (max=16384)";
    CHECK(test::of(node(10, 16'384, 0, full), "atom-exhaustion").at(0).words ==
          "atom table: The limit of atoms is too small to start a node: it is 16,384 (+t, 1,048,576 unless given), and "
          "OTP alone makes some 10,000\n"
          "  atoms: 10\n"
          "  limit: 16384\n"
          "-> Take +t out of the command line, vm.args or ERL_FLAGS, or give it some hundred thousand.\n"
          "-> See the families and the newest atoms: beamheap atoms DUMP\n");
    CHECK(test::of(node(600, 1'000, 400, full), "atom-exhaustion").at(0).words.find("too small") == std::string::npos);
    CHECK(test::of(node(10, 16'385, 0, full), "atom-exhaustion").at(0).words.find("is full") != std::string::npos);
}

TEST_CASE("bounds: literals", "[bounds]") {
    const auto node = [](std::uint64_t bytes, std::uint64_t total, bool counted = false) {
        Bounded made;
        made.process(1);
        AllocatorInstance literal;
        literal.name = made.text("literal_alloc");
        literal.instance = 0;
        literal.lines.push_back({made.text("mbcs blocks size"), {bytes, bytes, bytes}, TextId::none});
        literal.lines.push_back({made.text("mbcs carriers size"), {bytes, bytes, bytes}, TextId::none});
        made.s.allocators.push_back(literal);
        made.memory("total", total);
        if (counted) {
            made.s.node.persistent_terms = 7;
            made.s.node.current_code_bytes = 12'000;
            made.s.modules.push_back({made.text("shop"), 1, {}});
        }
        return made.told();
    };
    constexpr std::uint64_t mebibyte = test::mebibyte;
    CHECK(loudness(node(8 * mebibyte - 1, 16 * mebibyte), "literals").empty());
    CHECK(loudness(node(8 * mebibyte, 32 * mebibyte), "literals") == "medium");
    CHECK(loudness(node(16 * mebibyte, 65 * mebibyte), "literals").empty());
    CHECK(loudness(node(64 * mebibyte - 1, 100 * mebibyte), "literals") == "medium");
    CHECK(loudness(node(64 * mebibyte, 128 * mebibyte), "literals") == "high");
    CHECK(loudness(node(64 * mebibyte, 129 * mebibyte), "literals") == "medium");
    CHECK(test::of(node(16 * mebibyte, 32 * mebibyte), "literals").at(0).words ==
          "literal_alloc: Literals take 16.0 MiB (50 % of the node's memory): persistent terms, and the constants of "
          "modules\n"
          "  blocks of literal_alloc: 16777216\n"
          "  the node: 33554432\n"
          "-> Find what is kept in persistent_term: it is for what seldom changes and is bounded. What comes and goes "
          "(sessions, caches) belongs in ETS. On a living node: persistent_term:info(), persistent_term:get().\n"
          "-> Or modules that are made while the node runs, each with its constants: beamheap modules DUMP\n"
          "-> See the memory of literal_alloc beside that of the others: beamheap alloc DUMP\n");
    CHECK(test::of(node(16 * mebibyte, 32 * mebibyte, true), "literals").at(0).words ==
          "literal_alloc: Literals take 16.0 MiB (50 % of the node's memory): 7 persistent terms, and the constants of "
          "1 module\n"
          "  blocks of literal_alloc: 16777216\n"
          "  the node: 33554432\n"
          "  persistent terms: 7\n"
          "  modules: 1\n"
          "  their code: 12000\n"
          "-> Find what is kept in persistent_term: it is for what seldom changes and is bounded. What comes and goes "
          "(sessions, caches) belongs in ETS. On a living node: persistent_term:info(), persistent_term:get().\n"
          "-> Or modules that are made while the node runs, each with its constants: beamheap modules DUMP\n"
          "-> See the memory of literal_alloc beside that of the others: beamheap alloc DUMP\n");
}

TEST_CASE("bounds: timers of one process, of a name, of nobody", "[bounds]") {
    const auto node = [](std::uint32_t timers, int receiver) {
        Bounded made;
        made.process(1, "cache").msgq_len = 4;
        for (std::uint32_t i = 0; i < timers; ++i) {
            Timer& timer = made.s.timers.emplace_back();
            if (receiver == 2) timer.receiver_name = made.text("gone");
            else timer.receiver = {0, receiver == 0 ? 1u : 77u, 0};
            timer.left_ms = 1'000 + i;
            timer.message = made.text("{timeout,session}");
        }
        return made.told();
    };
    CHECK(loudness(node(9'999, 0), "multitude") == "info");
    CHECK(loudness(node(10'000, 0), "multitude") == "medium");
    CHECK(loudness(node(99'999, 0), "multitude") == "medium");
    CHECK(loudness(node(100'000, 0), "multitude") == "high");
    const auto head = [&](int receiver) {
        const std::string words = test::of(node(10'000, receiver), "multitude").at(0).words;
        return words.substr(0, words.find('\n'));
    };
    CHECK(head(0) == "cache: 10,000 timers are set for cache <0.1.0>; the last one is due in 10.9 s");
    CHECK(head(1) ==
          "process that is gone: 10,000 timers are set for <0.77.0>, which is gone; the last one is due in 10.9 s");
    CHECK(head(2) ==
          "process that is gone: 10,000 timers are set for gone, which nobody is registered as; the last one is due in "
          "10.9 s");
    const test::FoundWithText cache = test::of(node(10'000, 0), "multitude").at(0);
    CHECK(cache.words.substr(cache.words.find('\n')) ==
          "\n"
          "  what goes with it: One of them will send {timeout,session}\n"
          "  timers of the node: 10000\n"
          "  the next one is due in: 1000\n"
          "  the last one is due in: 10999\n"
          "  message of one: {timeout,session}\n"
          "  its memory: not in the input\n"
          "  messages in its queue: 4\n"
          "-> Cancel each timer when what it guards is done: erlang:cancel_timer/1, or a call's own timeout.\n"
          "-> See their messages and when they are due: beamheap timers DUMP\n"
          "-> A second dump or core image some minutes later tells whether there are more of them.\n");
    CHECK(cache.percent == Approx(100));
    REQUIRE(cache.evidence.size() == 7);
    CHECK((cache.evidence[2].number == 1'000.0 && cache.evidence[3].number == 10'999.0 &&
           cache.evidence[6].number == 4.0));
}

namespace {

/// What is said of a node with so many messages in one queue, of a process that holds `bytes`; all others hold
/// `others`.
std::vector<test::FoundWithText> flooded(std::uint64_t messages, std::uint64_t bytes, std::uint64_t others,
                                         std::string_view name = "", const TermFacts& facts = {},
                                         std::uint64_t node = 640 * test::mebibyte) {
    Bounded made;
    Process& flooded = made.at(10, name, {made.function("shop", "works", 1)});
    flooded.msgq_len = messages;
    flooded.memory_bytes = bytes;
    made.process(11).memory_bytes = others;
    made.memory("total", node);
    TermFacts read = facts;
    read.process = ProcId{0};
    return made.told([&](Facts& known) { known.put(SuspectTerms{{read}}); });
}

}  // namespace

TEST_CASE("bounds: messages in one queue, and what is told of them", "[bounds]") {
    constexpr std::uint64_t mebibyte = test::mebibyte;
    CHECK(loudness(flooded(999, 1, 1), "queue-flood").empty());
    CHECK(loudness(flooded(1'000, 1, 1), "queue-flood") == "medium");
    CHECK(loudness(flooded(9'999, 100 * mebibyte, 1), "queue-flood") == "medium");
    CHECK(loudness(flooded(10'000, 1, 1), "queue-flood") == "high");
    CHECK(loudness(flooded(10'000, 64 * mebibyte, 192 * mebibyte), "queue-flood") == "critical");
    CHECK(loudness(flooded(10'000, 64 * mebibyte - 1, 1), "queue-flood") == "high");
    CHECK(loudness(flooded(10'000, 64 * mebibyte, 193 * mebibyte), "queue-flood") == "high");
    CHECK(loudness(flooded(99'999, 1, 1), "queue-flood") == "high");
    CHECK(loudness(flooded(100'000, 1, 1), "queue-flood") == "critical");
    // what its messages keep of binaries, from 8 MiB and 30 % of the node on
    TermFacts facts;
    facts.message_binary_bytes = 192 * mebibyte;
    CHECK(loudness(flooded(5, 1, 1, "", facts), "queue-flood") == "high");
    facts.message_binary_bytes = 192 * mebibyte - 1;
    CHECK(loudness(flooded(5, 1, 1, "", facts), "queue-flood").empty());
    facts.message_binary_bytes = 8 * mebibyte;
    CHECK(loudness(flooded(5, 1, 1, "", facts, 16 * mebibyte), "queue-flood") == "high");
    facts.message_binary_bytes = 8 * mebibyte - 1;
    CHECK(loudness(flooded(5, 1, 1, "", facts, 16 * mebibyte), "queue-flood").empty());
    CHECK(test::of(flooded(2'000, mebibyte, 99 * mebibyte), "queue-flood").at(0).words ==
          "process: <0.10.0> has 2,000 messages in its queue and 1.0 MiB (1.0 % of all processes'); it sits in "
          "shop:works/1, taking none\n"
          "  messages in its queue: 2000\n"
          "  of all messages in queues: 100\n"
          "  its memory: 1048576\n"
          "  what it waits for: none of these messages: who is waiting has looked at all of them\n"
          "  its stack: shop:works/1\n"
          "-> See what the messages are and who sent them: beamheap msgs DUMP 0.10.0 --by shape\n"
          "-> Nothing limits the senders: make them wait (a call), or let them or the receiver drop what is too much.\n"
          "-> As a fuse: process_flag(max_heap_size, ...) for the receiver, and {message_queue_data, off_heap} so that "
          "collections do not copy its queue.\n");
    CHECK(test::of(flooded(2'000, mebibyte, 100 * mebibyte, "lager_event"), "queue-flood").at(0).words ==
          "lager_event: lager_event <0.10.0> has 2,000 messages in its queue; it sits in shop:works/1, taking none\n"
          "  messages in its queue: 2000\n"
          "  of all messages in queues: 100\n"
          "  its memory: 1048576\n"
          "  what it waits for: none of these messages: who is waiting has looked at all of them\n"
          "  its stack: shop:works/1\n"
          "-> See what the messages are and who sent them: beamheap msgs DUMP 0.10.0 --by shape\n"
          "-> Let lager drop or go asynchronous under load: async_threshold, error_logger_hwm.\n"
          "-> Nothing limits the senders: make them wait (a call), or let them or the receiver drop what is too much.\n"
          "-> As a fuse: process_flag(max_heap_size, ...) for the receiver, and {message_queue_data, off_heap} so that "
          "collections do not copy its queue.\n");
}

TEST_CASE("bounds: messages of the VM's own are called what they are, from three quarters of a queue on", "[bounds]") {
    struct KnownForm {
        const char *form, *called, *advice;
    };
    for (const auto& [form, called, advice] : {
             KnownForm{"{trace,pid(),call}", "trace messages", "These are trace messages: stop the trace"},
             KnownForm{"{trace_ts,pid(),call,integer()}", "trace messages", "These are trace messages: stop the trace"},
             KnownForm{"{'EXIT',pid(),normal}", "'EXIT' messages",
                       "It traps exits, and does not take what comes of that"},
             KnownForm{"{'DOWN',reference(),process,pid(),normal}", "'DOWN' messages",
                       "Each process that it has monitored leaves one as it ends"},
             KnownForm{"{reference(),ok}", "messages",
                       "Messages {Ref, Answer} are answers that came when nobody waited"},
         }) {
        INFO(form);
        TermFacts known;
        known.messages_read = 2'000;
        known.message_binary_bytes = 1'000;
        known.shapes = {{form, 74.9}, {"other", 25.1}};
        const std::string fewer = test::of(flooded(2'000, 1, 1, "", known), "queue-flood").at(0).words;
        CHECK(fewer.find("has 2,000 messages in its queue") != std::string::npos);
        CHECK(fewer.find(advice) == std::string::npos);
        known.shapes[0].percent = 75;
        const test::FoundWithText enough = test::of(flooded(2'000, 1, 1, "", known), "queue-flood").at(0);
        CHECK(enough.words.find("has 2,000 " + std::string(called) + " in its queue") != std::string::npos);
        CHECK(enough.words.find(advice) != std::string::npos);
        CHECK(enough.words.find("\n  binaries that its messages keep: 1000\n  messages of the form " +
                                std::string(form) + ": 75\n") != std::string::npos);
        REQUIRE(enough.evidence.size() > 4);
        CHECK(enough.evidence[3].number == 1'000.0);
        CHECK(enough.evidence[3].confidence == Confidence::exact);
        CHECK(enough.evidence[4].number == 75.0);
    }
    for (const auto& [name, advice] :
         {std::pair("Logger", "-> Let Logger drop: config :logger, discard_threshold: 500"),
          std::pair("logger_std_h", "-> Lower the log handler's limits: sync_mode_qlen"),
          std::pair("error_logger", "-> Lower the log handler's limits: sync_mode_qlen")}) {
        INFO(name);
        CHECK(test::of(flooded(2'000, 1, 1, name), "queue-flood").at(0).words.find(advice) != std::string::npos);
    }
}
