// SPDX-License-Identifier: Apache-2.0
// Who ended a node by erlang:halt, and by what it is known.
#include "analyses/diagnosis/halt.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::test;
using analyses::halted_by;

namespace {

struct Halted : MadeNode {
    /// Modules, by where they were compiled: OTP's, and the program's own.
    Halted() {
        for (const auto& [name, source] :
             {std::pair{"lists", "/otp/lib/stdlib/src/lists.erl"},
              std::pair{"gen_server", "/otp/lib/stdlib/src/gen_server.erl"},
              std::pair{"code_server", "/otp/lib/kernel/src/code_server.erl"},
              std::pair{"licence", "/srv/src/licence.erl"}, std::pair{"shop", "/srv/src/shop.erl"}}) {
            Module& module = s.modules.emplace_back();
            module.name = text(name);
            module.source = text(source);
        }
    }
    ProcId by = ProcId::none;
    /// The process that calls for the dump, with this stack.
    void halter(std::vector<FunctionId> stack, std::string_view name = {}) {
        Process& p = process(80);
        p.state = ProcessState::running;
        if (!name.empty()) p.name = text(name);
        std::vector<Frame> frames;
        for (const FunctionId each : stack) frames.push_back({.function = each});
        p.current_function = stack.empty() ? FunctionId::none : stack.front();
        p.stack = s.stacks.intern(frames);
        s.node.calling_scheduler = CallingScheduler{Scheduler::Kind::normal, 1};
        s.node.calling_thread = "scheduler:1";
        Scheduler& row = s.schedulers.emplace_back();
        row.id = 1;
        row.current_process = p.pid;
    }
    std::string said(std::string_view slogan) {
        seal();
        return present::plain_text(s, halted_by(s, analyses::death(s), analyses::read_slogan(slogan)));
    }
};

}  // namespace

TEST_CASE("a halt names the process that called it, and in which function", "[slogan]") {
    Halted node;
    node.halter({node.function("erlang", "halt", 1), node.function("licence", "check", 0),
                 node.function("gen_server", "loop", 7)},
                "licence_guard");
    CHECK(
        node.said("no licence") ==
        "licence_guard <0.80.0> ended the node with this text (erlang:halt/1, called in licence:check/0): no licence.");
    CHECK(node.said("") ==
          "licence_guard <0.80.0> ended the node with an empty text (erlang:halt/1, called in licence:check/0).");
    CHECK(node.said("Kernel pid terminated (application_controller) (x)").empty());
}

TEST_CASE("a halt of what the command line named is told as that", "[slogan]") {
    const auto of = [](std::initializer_list<std::array<std::string_view, 2>> stack) {
        Halted node;
        std::vector<FunctionId> functions;
        for (const auto& each : stack) functions.push_back(node.function(each[0], each[1], 1));
        node.halter(functions);
        return node.said("over");
    };
    CHECK(of({{"erlang", "halt"}, {"erl_eval", "do_apply"}, {"init", "start_it"}}) ==
          "What -eval called ended the node with this text (erlang:halt/1): over.");
    CHECK(of({{"erlang", "halt"}, {"shop", "main"}, {"init", "start_em"}}) ==
          "What -s or -run called ended the node with this text (erlang:halt/1, called in shop:main/1): over.");
    CHECK(of({{"erlang", "halt"}, {"escript", "run"}}).starts_with("The escript ended the node"));
    // Where it was scheduled out last is no part of the call.
    CHECK(of({{"code_server", "call"}, {"erlang", "halt"}, {"init", "start_em"}}) ==
          "What -s or -run called ended the node with this text (erlang:halt/1): over.");
    // Without a frame of halt itself it is known by the scheduler that wrote the dump.
    CHECK(of({{"shop", "main"}, {"init", "start_em"}}).starts_with("What -s or -run called ended the node"));
}

TEST_CASE("init:stop has init itself halt the node, and nobody is made up", "[slogan]") {
    Halted stop;
    stop.halter({stop.function("erlang", "halt", 1), stop.function("init", "loop", 1)}, "init");
    CHECK(stop.said("deploy") == "The node was stopped with this text (init:stop/1): deploy.");

    Halted silent;
    silent.halter({silent.function("erlang", "halt", 1)}, "init");
    CHECK(silent.said("") == "The node was stopped with an empty text (init:stop/1).");

    Halted other;
    other.halter({other.function("shop", "work", 1)});
    other.s.node.calling_scheduler.reset();
    other.s.node.calling_thread = "signal";
    CHECK(other.said("over").empty());
    CHECK(other.said("").empty());
}

TEST_CASE("a halt in a handler of logger is told of the process that logs", "[slogan]") {
    const auto said = [](std::string_view module, std::string_view function) {
        Halted node;
        node.halter(
            {node.function("erlang", "halt", 1), node.function(module, function, 3), node.function("shop", "close", 0)},
            "shop_till");
        return node.said("vault sealed");
    };
    CHECK(said("logger_backend", "call_handlers") ==
          "shop_till <0.80.0> ended the node with this text (erlang:halt/1, called in a handler of logger): vault "
          "sealed.");
    CHECK(said("gen_server", "loop") ==
          "shop_till <0.80.0> ended the node with this text (erlang:halt/1, called in shop:close/0): vault sealed.");
}

TEST_CASE("a halt by a timer or by another node names these", "[slogan]") {
    const auto said = [](std::string_view module, std::string_view function, std::string_view parent,
                         std::uint32_t channel) {
        Halted node;
        Process& clock = node.process(40);
        clock.name = node.text(parent);
        node.s.nodes.push_back({.channel = 7, .name = node.text("ops@host1")});
        node.halter({node.function("erlang", "halt", 1)});
        Process& halter = node.s.processes.back();
        halter.initial_call = node.function(module, function, 1);
        halter.parent = channel == 0 ? node.s.processes.front().pid : Pid{.node = channel, .number = 9};
        return node.said("drained");
    };
    CHECK(said("erlang", "halt", "timer_server", 0) ==
          "A timer (timer:apply_after) ended the node with this text (erlang:halt/1): drained.");
    CHECK(said("erlang", "halt", "shop_clock", 0).find("A timer") == std::string::npos);
    CHECK(said("erpc", "execute_call", "shop_clock", 7) ==
          "A call from ops@host1 (rpc, erpc) ended the node with this text (erlang:halt/1): drained.");
    CHECK(said("erpc", "execute_call", "shop_clock", 0) ==
          "A remote call (rpc, erpc) ended the node with this text (erlang:halt/1): drained.");
}
