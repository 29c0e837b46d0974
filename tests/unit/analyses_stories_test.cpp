// SPDX-License-Identifier: Apache-2.0
// What rules say that tell of one thing that happened, word for word: alarms, dumps that end early, signals,
// recursions.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "erlang/owned_term.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

template <class Node, class More>
std::string stories_of(Node& node, std::string_view rule, More&& more) {
    std::string all;
    for (const test::FoundWithText& finding : test::of(node.told(more), rule))
        all += std::to_string(static_cast<int>(finding.severity)) + " " + finding.words;
    return all;
}

struct StoryNode : test::MadeNode {};

}  // namespace

TEST_CASE("alarms are told as they are, three of them by name", "[stories]") {
    const auto told = [](std::size_t count, bool blocks) {
        StoryNode node;
        node.at(5, {node.function("gen_event", "fetch_msg", 6)}, "alarm_handler");
        const std::shared_ptr<OwnedTerm> term = parse_term("{disk_almost_full,\"/\"}");
        ServiceStates states;
        std::vector<SetAlarm>& alarms = states.alarms;
        alarms.resize(count);
        for (SetAlarm& each : alarms) each.holder = ProcId{0}, each.term = term, each.id = term->term();
        alarms.back().blocks_publishers = blocks;
        alarms.back().node = "a@b";
        return stories_of(node, "alarm", [&](Facts& facts) { facts.put(states); });
    };
    CHECK(told(1, false) ==
          "1 alarm_handler: 1 alarm is set in alarm_handler <0.5.0>: {disk_almost_full,\"/\"} of a@b\n"
          "  alarm: {disk_almost_full,\"/\"} of a@b\n"
          "-> Look at what the alarm is about first: beamheap top DUMP --by memory\n");
    CHECK(told(3, true) ==
          "2 alarm_handler: 3 alarms are set in alarm_handler <0.5.0>: {disk_almost_full,\"/\"}, "
          "{disk_almost_full,\"/\"}, {disk_almost_full,\"/\"} of a@b; RabbitMQ reads nothing from publishers until "
          "that is over\n"
          "  alarm: {disk_almost_full,\"/\"}\n"
          "  alarm: {disk_almost_full,\"/\"}\n"
          "  alarm: {disk_almost_full,\"/\"} of a@b\n"
          "-> Look at what the alarm is about first: beamheap top DUMP --by memory\n"
          "-> Consume or purge the largest queues, or give the node more memory or disk (vm_memory_high_watermark, "
          "disk_free_limit); blocked publishers are its victims.\n");
    CHECK(told(4, false) ==
          "1 alarm_handler: 4 alarms are set in alarm_handler <0.5.0>: {disk_almost_full,\"/\"}, "
          "{disk_almost_full,\"/\"}, {disk_almost_full,\"/\"}, ...\n"
          "  alarm: {disk_almost_full,\"/\"}\n"
          "  alarm: {disk_almost_full,\"/\"}\n"
          "  alarm: {disk_almost_full,\"/\"}\n"
          "  alarm: {disk_almost_full,\"/\"} of a@b\n"
          "-> Look at what the alarm is about first: beamheap top DUMP --by memory\n");
    StoryNode quiet;
    quiet.at(5, {quiet.function("gen_event", "fetch_msg", 6)});
    CHECK(stories_of(quiet, "alarm", [](Facts&) {}).empty());
}

TEST_CASE("what can't be written is told with its disk's reason and with what is lost", "[stories]") {
    const auto told = [](std::vector<bool> tables, const char* reason) {
        StoryNode node;
        const std::shared_ptr<OwnedTerm> file = parse_term("\"/var/log/shop.LOG\"");
        ServiceStates states;
        std::vector<UnwrittenLog>& logs = states.unwritten;
        for (const bool table : tables) {
            const auto number = static_cast<std::uint32_t>(logs.size());
            node.at(5 + number,
                    {table ? node.function("dets", "open_file_loop2", 1) : node.function("disk_log", "loop", 1)});
            UnwrittenLog& log = logs.emplace_back();
            log.process = ProcId{number}, log.file = file, log.reason = reason, log.table = table;
        }
        return stories_of(node, "alarm", [&](Facts& facts) { facts.put(states); });
    };
    CHECK(told({false}, "enospc") ==
          "1 process: The log \"/var/log/shop.LOG\" can't be written: enospc, the disk is full\n"
          "  can't be written: \"/var/log/shop.LOG\": enospc, the disk is full; <0.5.0> writes it\n"
          "-> Make room on that disk, or log to another one: what was to be written since is lost, and whoever else "
          "keeps files there (mnesia, dets, queues) has the same trouble.\n"
          "-> Bound logs: max_no_bytes and max_no_files of logger_std_h, type wrap of disk_log.\n");
    CHECK(told({true}, "odd") ==
          "1 process: The table of dets \"/var/log/shop.LOG\" can't be written: odd\n"
          "  can't be written: \"/var/log/shop.LOG\": odd; <0.5.0> writes it\n"
          "-> Make room on that disk, or log to another one: what was to be written since is lost, and whoever else "
          "keeps files there (mnesia, dets, queues) has the same trouble.\n"
          "-> A table of dets takes nothing since then, and is repaired when it is opened again: close it and open it "
          "where there is room.\n");
    CHECK(told({false, false}, "erofs") ==
          "1 process: 2 logs can't be written, \"/var/log/shop.LOG\" one of them: erofs, the file system is read-only\n"
          "  can't be written: \"/var/log/shop.LOG\": erofs, the file system is read-only; <0.5.0> writes it\n"
          "  can't be written: \"/var/log/shop.LOG\": erofs, the file system is read-only; <0.6.0> writes it\n"
          "-> Make room on that disk, or log to another one: what was to be written since is lost, and whoever else "
          "keeps files there (mnesia, dets, queues) has the same trouble.\n"
          "-> Bound logs: max_no_bytes and max_no_files of logger_std_h, type wrap of disk_log.\n");
    CHECK(told({false, true}, "enospc") ==
          "1 process: 2 logs and tables of dets can't be written, \"/var/log/shop.LOG\" one of them: enospc, the disk "
          "is full\n"
          "  can't be written: \"/var/log/shop.LOG\": enospc, the disk is full; <0.5.0> writes it\n"
          "  can't be written: \"/var/log/shop.LOG\": enospc, the disk is full; <0.6.0> writes it\n"
          "-> Make room on that disk, or log to another one: what was to be written since is lost, and whoever else "
          "keeps files there (mnesia, dets, queues) has the same trouble.\n"
          "-> A table of dets takes nothing since then, and is repaired when it is opened again: close it and open it "
          "where there is room.\n"
          "-> Bound logs: max_no_bytes and max_no_files of logger_std_h, type wrap of disk_log.\n");
}

TEST_CASE("a dump that ends within its process table says how much of it is missing", "[stories]") {
    const auto told = [](std::uint64_t of_all) {
        StoryNode node;
        node.s.source.process_table_complete = false;
        for (const std::uint32_t number : {5u, 6u}) node.at(number, {node.function("m", "f", 1)});
        if (of_all != 0) node.memory("processes", of_all);
        return stories_of(node, "incomplete-dump", [](Facts&) {});
    };
    CHECK(told(0) ==
          "1 process table: The dump ends inside its process table: it lists 2 processes, and the culprit may be among "
          "those that are missing\n"
          "  processes listed: 2\n"
          "  memory that they use: 2000\n"
          "  memory of all processes (=memory): not in the input\n"
          "-> Let the VM finish its dump: ERL_CRASH_DUMP_SECONDS=-1 (heart kills it otherwise), no "
          "ERL_CRASH_DUMP_BYTES, and a service manager that waits.\n"
          "-> Give it a disk with room: a dump is up to twice as large as the memory that the node used.\n"
          "-> Who was running when it died is in the schedulers' section: beamheap schedulers DUMP\n");
    CHECK(told(4000) ==
          "1 process table: The dump ends inside its process table: it lists 2 processes, and the culprit may be among "
          "those that are missing\n"
          "  processes listed: 2\n"
          "  memory that they use: 2000\n"
          "  memory of all processes (=memory): 4000\n"
          "-> Let the VM finish its dump: ERL_CRASH_DUMP_SECONDS=-1 (heart kills it otherwise), no "
          "ERL_CRASH_DUMP_BYTES, and a service manager that waits.\n"
          "-> Give it a disk with room: a dump is up to twice as large as the memory that the node used.\n"
          "-> Who was running when it died is in the schedulers' section: beamheap schedulers DUMP\n");
    CHECK(told(4001) ==
          "2 process table: The dump ends inside its process table: it lists 2 processes with 2.0 KiB of the 3.9 KiB "
          "that processes used; the culprit is most likely missing\n"
          "  processes listed: 2\n"
          "  memory that they use: 2000\n"
          "  memory of all processes (=memory): 4001\n"
          "-> Let the VM finish its dump: ERL_CRASH_DUMP_SECONDS=-1 (heart kills it otherwise), no "
          "ERL_CRASH_DUMP_BYTES, and a service manager that waits.\n"
          "-> Give it a disk with room: a dump is up to twice as large as the memory that the node used.\n"
          "-> Who was running when it died is in the schedulers' section: beamheap schedulers DUMP\n");
}

TEST_CASE("a signal that another process sent is told with that one, and with what held up who tells of life",
          "[stories]") {
    const auto told = [](std::uint32_t sender) {
        StoryNode node;  // heart's own process sits in its callback
        node.at(5, {node.function("gen", "do_call", 4), node.function("fleet", "health", 0)}, "heart");
        node.at(6, {node.function("jiffy", "nif_encode", 1)}).state = ProcessState::running;
        node.s.node.signal = Signal{.number = 6, .address = {}, .sent = Signal::Sent::by_another, .sender = sender};
        return stories_of(node, "native-crash", [](Facts&) {});
    };
    CHECK(told(4711).find("The node was ended by SIGABRT, which process 4711 of the machine sent; heart <0.5.0>, which "
                          "tells its watchdog that it lives, sits in ") != std::string::npos);
    CHECK(told(0).find("which a process outside of its container sent; heart") != std::string::npos);
    CHECK(told(4711).find("jiffy") == std::string::npos);
    CHECK(told(4711).find("Erlang code alone") == std::string::npos);
}

TEST_CASE("a signal that another process sent is told with whom most waited for, and whether a watchdog did",
          "[stories]") {
    const auto told = [](std::string_view name) {
        StoryNode node;
        node.at(5, {node.function("book_engine", "match", 1)}, "book").state = ProcessState::running;
        for (std::uint32_t i = 0; i < 4; ++i) node.waiter(10 + i, 5);
        node.s.processes.back().name = node.text(name);
        node.s.node.signal = Signal{.number = 6, .address = {}, .sent = Signal::Sent::by_another, .sender = 4711};
        return stories_of(node, "native-crash", [](Facts&) {});
    };
    CHECK(told("systemd_watchdog")
              .find("4 processes then waited for book <0.5.0>, which is running "
                    "book_engine:match/1; one of them was systemd_watchdog <0.13.0>") != std::string::npos);
    CHECK(told("gateway").find("which is running book_engine:match/1\n") != std::string::npos);
}

TEST_CASE("a signal is told with who was running, and a damaged VM with its libraries", "[stories]") {
    const auto killed = [](std::uint32_t signal, std::uint32_t running) {
        StoryNode node;
        for (std::uint32_t i = 0; i < 6; ++i) {
            node.at(5 + i, {node.function("jiffy", "nif_encode", 1), node.function("shop", "send", 2)}).state =
                i < running ? ProcessState::running : ProcessState::waiting;
            if (i >= running) continue;
            Scheduler& scheduler = node.s.schedulers.emplace_back();
            scheduler.id = i + 1;
            scheduler.current_process = {0, 5 + i, 0};
        }
        node.s.node.signal = Signal{signal, 0x10};
        return stories_of(node, "native-crash", [](Facts&) {});
    };
    CHECK(
        killed(11, 0) ==
        "3 SIGSEGV: The VM died by SIGSEGV at address 0x10\n"
        "  signal: SIGSEGV at address 0x10\n"
        "-> Erlang code alone can't do this: suspect NIFs and drivers first, then the VM's version and the hardware.\n"
        "-> See the native stack of the thread that died: gdb BEAM CORE, then bt; symbols of the library tell the "
        "line.\n"
        "-> See who was running: beamheap schedulers DUMP\n");
    CHECK(
        killed(11, 1) ==
        "3 process: The VM died by SIGSEGV at address 0x10 while <0.5.0> was running jiffy:nif_encode/1\n"
        "  was running: <0.5.0>: jiffy:nif_encode/1 < shop:send/2\n"
        "  signal: SIGSEGV at address 0x10\n"
        "-> Erlang code alone can't do this: suspect NIFs and drivers first, then the VM's version and the hardware.\n"
        "-> See the native stack of the thread that died: gdb BEAM CORE, then bt; symbols of the library tell the "
        "line.\n"
        "-> See who was running: beamheap schedulers DUMP\n");
    CHECK(
        killed(6, 5) ==
        "3 SIGABRT: The VM died by SIGABRT at address 0x10; running were <0.5.0>, <0.6.0>, <0.7.0>, <0.8.0>\n"
        "  was running: <0.5.0>: jiffy:nif_encode/1 < shop:send/2\n"
        "  was running: <0.6.0>: jiffy:nif_encode/1 < shop:send/2\n"
        "  was running: <0.7.0>: jiffy:nif_encode/1 < shop:send/2\n"
        "  was running: <0.8.0>: jiffy:nif_encode/1 < shop:send/2\n"
        "  signal: SIGABRT at address 0x10\n"
        "-> Erlang code alone can't do this: suspect NIFs and drivers first, then the VM's version and the hardware.\n"
        "-> See the native stack of the thread that died: gdb BEAM CORE, then bt; symbols of the library tell the "
        "line.\n"
        "-> See who was running: beamheap schedulers DUMP\n");
    CHECK(killed(15, 1).empty());  // which was sent
    const auto damaged = [](const char* slogan, const char* taints) {
        StoryNode node;
        node.s.node.slogan = slogan;
        node.s.node.taints = taints;
        node.at(5, {node.function("m", "f", 1)});
        return stories_of(node, "native-crash", [](Facts&) {});
    };
    const char* const bad_tag = "size_object: bad tag for 0x80";
    CHECK(damaged(bad_tag, "") ==
          "3 corruption: The VM found its own data damaged: native code (a NIF or a driver), hardware, or a bug in the "
          "VM wrote where it should not.\n"
          "  native libraries (Taints): none\n"
          "-> The header's Taints line names the NIF libraries and drivers that were loaded: suspect them first.\n"
          "-> Keep the core image too: it shows the native stack at the moment of death: beamheap core BEAM CORE\n"
          "-> With no native code of your own, test the machine's memory, then report it with release, architecture "
          "and slogan.\n");
    CHECK(damaged(bad_tag, "(none)") == damaged(bad_tag, ""));
    CHECK(damaged(bad_tag, "crypto,jiffy") ==
          "3 corruption: The VM found its own data damaged: native code (a NIF or a driver), hardware, or a bug in the "
          "VM wrote where it should not.\n"
          "  native libraries (Taints): crypto,jiffy\n"
          "-> Suspect the native libraries first: update them, or run without each in turn: crypto,jiffy\n"
          "-> The header's Taints line names the NIF libraries and drivers that were loaded: suspect them first.\n"
          "-> Keep the core image too: it shows the native stack at the moment of death: beamheap core BEAM CORE\n"
          "-> With no native code of your own, test the machine's memory, then report it with release, architecture "
          "and slogan.\n");
    CHECK(
        damaged("eheap_alloc: Cannot allocate 576460752303423488 bytes of memory (of type \"heap\").", "") ==
        "3 absurd_allocation: eheap_alloc was asked for 576460752303423488 bytes (512 PiB) for the heap of a process: "
        "no node needs that at once, so a size was wrong.\n"
        "  asked for: 576460752303423488\n"
        "  native libraries (Taints): none\n"
        "-> The process in garbage collection, or the one with the most memory, is the first suspect: beamheap top "
        "DUMP --by memory\n"
        "-> Look at the process that was running, and at what it was doing: beamheap schedulers DUMP\n"
        "-> Suspect native code first: the header's Taints line names the NIF libraries and drivers that were loaded.\n"
        "-> If there is none, note OTP release and function and search the VM's issue tracker: sizes like this have "
        "been bugs.\n");
}

TEST_CASE("a recursion is told from 8 MiB of stack on, and as a runaway from 64 MiB and half of all memory on",
          "[stories]") {
    const auto told = [](std::uint64_t words, std::uint64_t times) {
        StoryNode node;
        std::vector<FunctionId> frames(100, node.function("shop", "sum", 1));
        frames.insert(frames.end(), 40, node.function("shop", "add", 2));
        frames.push_back(node.function("shop", "total", 1));
        Process& p = node.at(5, frames, "adder");
        p.stack_words = words;
        p.heap_words = 2 * words;
        p.heap_unused_words = 2 * words - 100;
        p.old_heap_words = p.old_heap_unused_words = p.fragment_words = 0;
        p.memory_bytes = 8 * words;
        for (std::uint64_t i = 1; i < times; ++i)
            node.at(100 + static_cast<std::uint32_t>(i), {node.function("m", "f", 1)}).memory_bytes = 8 * words;
        return stories_of(node, "runaway-recursion", [](Facts&) {});
    };
    constexpr std::uint64_t mib = (1u << 20) / 8;
    CHECK(told(8 * mib - 1, 1).empty());
    CHECK(told(8 * mib, 1) ==
          "1 adder: Deep recursion in shop:sum/1 and shop:add/2: adder <0.5.0> is 100 calls deep, with 8.0 MiB of "
          "stack over 100 words of heap\n"
          "  its stack: 1048576\n"
          "  its heaps beside the stack: 100\n"
          "  its memory: 8388608\n"
          "  frames of that function: 100\n"
          "  called from: shop:total/1\n"
          "-> See with which arguments it calls itself: beamheap proc DUMP 0.5.0\n"
          "-> Find the end that it misses: a value that no clause stops at (a negative number, an improper list, a "
          "circle in the data). More memory only makes it last longer.\n"
          "-> Where the depth is that of a long list, make the call a tail call with an accumulator, so that no frame "
          "stays.\n"
          "-> As a fuse: process_flag(max_heap_size, ...), which counts the stack, too, kills the process instead of "
          "the node.\n");
    CHECK(told(64 * mib - 1, 1).starts_with("1 adder: Deep recursion"));
    CHECK(told(64 * mib, 2) ==
          "2 adder: Runaway recursion in shop:sum/1 and shop:add/2: adder <0.5.0> is 100 calls deep, with 64.0 MiB of "
          "stack over 100 words of heap\n"
          "  its stack: 8388608\n"
          "  its heaps beside the stack: 100\n"
          "  its memory: 67108864\n"
          "  frames of that function: 100\n"
          "  called from: shop:total/1\n"
          "-> See with which arguments it calls itself: beamheap proc DUMP 0.5.0\n"
          "-> Find the end that it misses: a value that no clause stops at (a negative number, an improper list, a "
          "circle in the data). More memory only makes it last longer.\n"
          "-> Where the depth is that of a long list, make the call a tail call with an accumulator, so that no frame "
          "stays.\n"
          "-> As a fuse: process_flag(max_heap_size, ...), which counts the stack, too, kills the process instead of "
          "the node.\n");
    CHECK(told(64 * mib, 3).starts_with("1 adder: Deep recursion"));
}
