// SPDX-License-Identifier: Apache-2.0
// Native stacks: grouped, blamed, sampled.
#include <catch2/catch.hpp>

#include "analyses/processes/native_stacks.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

struct Threads : test::MadeSnapshot {
    NativeThreads native;

    NativeThread& thread(std::initializer_list<const char*> functions, ProcId process = ProcId::none) {
        NativeThread& thread = native.threads.emplace_back();
        thread.id = static_cast<std::uint32_t>(100 + native.threads.size());
        thread.process = process;
        for (const char* function : functions) {
            NativeFrame& frame = thread.frames.emplace_back();
            frame.function = function;
            frame.file = "beam.smp";
            for (const char* c = function; *c != 0; ++c)
                frame.address = frame.address * 31 + static_cast<unsigned char>(*c);
        }
        return thread;
    }
    ProcId running(std::uint32_t number, const char* name) {
        Process& p = process(number);
        p.state = ProcessState::running;
        p.current_function = function("my", name, 1);
        p.stack = stack({p.current_function, function("gen_server", "loop", 7)});
        return static_cast<ProcId>(s.processes.size() - 1);
    }
};

}  // namespace

TEST_CASE("threads that wait are one group, those with a signal or a process come first", "[native]") {
    Threads vm;
    const ProcId busy = vm.running(1, "work");
    vm.seal();
    for (int i = 0; i < 3; ++i) vm.thread({"futex", "erts_schedule"});
    vm.thread({"copy_struct", "erts_send"}, busy);
    vm.thread({"futex", "erts_schedule"}).signal = 11;
    const std::vector<ThreadGroup> groups = group_threads(vm.native);
    REQUIRE(groups.size() == 3);
    CHECK(groups[0].threads == std::vector<std::uint32_t>{4});
    CHECK(groups[1].process == busy);
    CHECK(groups[2].threads == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("blame counts threads by the Erlang function that they work for", "[native]") {
    Threads vm;
    const ProcId a = vm.running(1, "work"), b = vm.running(2, "work"), c = vm.running(3, "rest");
    const Snapshot& s = vm.seal();
    vm.thread({"memcpy", "copy_struct_x.isra.0", "erts_send"}, a);
    vm.thread({"copy_struct_x", "copy_struct_x", "erts_send"}, b);  // twice on one stack is one thread
    vm.thread({"erts_garbage_collect"}, c);
    vm.thread({"copy_struct_x", ""});
    const Blame blamed = blame(s, vm.native, "copy_struct_x");
    REQUIRE(blamed.groups.size() == 2);
    CHECK(blamed.threads == 3);
    CHECK(blamed.groups[0].threads == std::vector<std::uint32_t>{0, 1});
    CHECK(blamed.groups[0].function == s[a].current_function);
    CHECK(blamed.groups[1].function == FunctionId::none);
    CHECK(blamed.unnamed == 1);
    CHECK(blamed.frames == 9);
    CHECK(blamed.names == std::vector<std::string>{"copy_struct_x", "erts_garbage_collect", "erts_send", "memcpy"});
    CHECK(blame(s, vm.native, "copy").threads == 0);
    CHECK(blame(s, vm.native, "erts_*").threads == 3);
}

TEST_CASE("compiled Erlang code has no native name", "[native]") {
    Threads vm;
    const Snapshot& s = vm.seal();
    NativeThread& thread = vm.thread({"erts_schedule", "x"});
    thread.frames[1].jit = true;
    CHECK(blame(s, vm.native, "x").threads == 0);
    CHECK(frame_text(thread.frames[1]) == "compiled Erlang code");
    thread.frames[0].offset = 16;
    CHECK(frame_text(thread.frames[0]) == "erts_schedule+0x10");
    thread.frames[0].function.clear();
    CHECK(frame_text(thread.frames[0]) == "beam.smp+0x10");
}

TEST_CASE("samples of several inputs add up by stack and native function", "[native]") {
    Threads one, two;
    const ProcId a = one.running(1, "work");
    one.running(2, "rest");
    one.process(3).state = ProcessState::waiting;
    const Snapshot& first = one.seal();
    one.thread({"erts_garbage_collect"}, a);
    two.running(9, "rest");
    const Snapshot& second = two.seal();
    const std::vector<std::vector<Sample>> all{samples(first, &one.native), samples(second, nullptr)};
    REQUIRE(all[0].size() == 2);
    REQUIRE(all[1].size() == 1);
    const std::vector<SampleGroup> groups = group_samples(all);
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].count == 2);
    CHECK(groups[0].inputs == std::vector<std::uint32_t>{0, 1});
    CHECK(groups[0].example.functions == std::vector<std::string>{"my:rest/1", "gen_server:loop/7"});
    CHECK(groups[0].percent == Approx(66.667).epsilon(0.001));
    CHECK(groups[1].example.native == "erts_garbage_collect");
}
