// SPDX-License-Identifier: Apache-2.0
// Words that several rules use: how a finding names processes, and what it says of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/processes/all_schedulers.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/recursion.hpp"
#include "analyses/rules/rules.hpp"

namespace beamheap::analyses::rule {

/// What kind of process it is: its label or initial call. Empty where the input tells neither.
Sentence kind_of(const Facts& facts, const Process& process);
/// What a process is called without its pid, for Subject::text: the name, else its kind; "process" where there is
/// nothing.
Sentence process_subject(const Facts& facts, ProcId process);
/// What processes of a group belong to: the named ancestor, the label, m:f/a. Empty for none.
Sentence group_sentence(const Facts& facts, const GroupKey& key);
/// Says behind a finding that a table (of `owner`, or where that has none of anybody) has a tenth of its objects, and
/// 1,000, in one chain, as those of a bag under one key are, or terms that hash alike: whoever puts something there
/// compares it with all of them.
void say_long_chain(const Snapshot& snapshot, Finding& finding, Pid owner = {});
/// " of which 14 of 16 that were looked at are in their state finish": of many of a kind that are state machines. Empty
/// where that is not known, or each is in another one.
Sentence in_state(const Facts& facts, FunctionId kind);
/// Whether flags, as the VM prints them ("ACT_PRIO_NORMAL | IN_RUNQ"), have one of that name.
bool has_flag(const Snapshot& snapshot, TextId flags, std::string_view flag);
/// What a port is: "standard output (#Port<0.4>)", "#Port<0.7> (tcp_inet)".
Sentence port_words(const Snapshot& snapshot, const Port& port);
/// What a link or monitor is on: "lager_event <0.89.0>", "#Port<0.5>", "name on node other@host".
Sentence link_text(const Link& link);
/// Whom somebody waits for: "lager_event <0.89.0>", "#Port<0.5> (tcp_inet)", "name on node other@host", "node
/// other@host".
Sentence target_text(const Snapshot& snapshot, const WaitTarget& target);
/// Who does not take what is sent to a port: "the peer at the other end of #Port<0.6> reads too slowly: 8.0
/// MiB are queued", "nobody reads standard output (#Port<0.4>)". Empty where the port is none that is full.
Sentence slow_reader(const Snapshot& snapshot, PortName port);
/// What a process waits for in the end where that is the node's output: the same of that; else empty.
Sentence unread_output(const Facts& facts, ProcId process);
/// The application that is being stopped and has not ended, by its master; nullptr where there is none.
const RunningApplication* being_stopped(const Facts& facts);
/// Who is a part of that application, as its end is waited for, and waits for the application controller itself:
/// neither goes on; none: there is nobody.
ProcId asks_for_own_stop(const Facts& facts);
/// Whether a process is the application controller, and an application's start or stop has not ended: start-blocked and
/// stop-under-way tell it.
bool starts_block(const Facts& facts, ProcId process);
/// For whom a library's function works, of a process that is not waiting: ", called by my:report/1". Empty where its
/// own function is no library's.
Sentence caller(const Snapshot& snapshot, const Process& process);
/// "account is not loaded", "account and 2 more are not loaded": of what many wait for mnesia_controller for.
Sentence not_loaded(const PutOff& tables);
/// What helps then.
inline constexpr Ours tables_advice =
    "A table is loaded when a node that may have its newest copy is up: start the other nodes of the cluster; where "
    "one is lost for good, `mnesia:force_load_table/1`. A table that does not exist is waited for as well.";
/// Says which nodes this one knows and has no connection to, in the title where it is one.
void say_absent_nodes(const Facts& facts, Finding& finding, bool in_title = true);
/// What a process does: "sits in timer:sleep/1", "is running lists:reverse/1, called by my:report/1", "is idle in
/// gen_server:loop/7".
Sentence doing(const Facts& facts, ProcId process);
/// The same, of one who works for `by`, a function on its stack, which is told with its line: "sits in gen_tcp:recv/2,
/// called by my_db:fetch/1 (my_db.erl:17)". none: as doing().
Sentence doing_for(const Facts& facts, ProcId process, FunctionId by);
/// The same of who ran when the node ended: the function for which it was scheduled in last may have returned long ago,
/// and the program's own behind it has not.
Sentence running(const Facts& facts, ProcId process);
/// For which function of the program a process is in one of OTP's or of a library's: the youngest on its stack that is
/// none of these; none: there is none before the loop that it works in, or it is in a function of the program's.
FunctionId works_for_function(const Snapshot& snapshot, const Process& process);
/// The same, to be said of what it does: ", called by shop:checkout/2"; empty: none.
Sentence works_for(const Snapshot& snapshot, const Process& process);
/// Over which port a process waits for what is outside of the node, to be said of it: ", over #Port<0.7> (tcp_inet:
/// 54 B out, 0 B in)"; of one that is full the slow_reader(): "; the peer at the other end of ...". The port is
/// the one that it waits for, the only one that its youngest frame names, or the only socket that it owns. Empty where
/// there is no such. O(slots of the snapshot).
Sentence outside(const Facts& facts, ProcId process);
/// Whether it waits for its next message in a loop of OTP's, with nothing to do.
bool idle(const Facts& facts, ProcId process);
/// Whom a process monitors and who doesn't wait for it: of a pool, those who have something of it, or its members.
std::vector<ProcId> watched_by(const Facts& facts, ProcId process);
/// How long nothing has come from another node, in milliseconds, by whole ticks of net_kernel; nothing where that can't
/// be known.
std::optional<std::uint64_t> silent_ms(const Facts& facts, TextId node);
/// Whether somebody waits in a call of OTP's or a library's that was given a time, as most are: who is in one has not
/// waited for long. Calls that were written by hand do not tell.
bool ends_by_timeout(const Snapshot& snapshot, const WaitEdge& edge);
/// Of a node that is full of processes: "1,161 of stats:calculate/2 wait for repo_pool <0.90.0>", where a tenth of all
/// wait for one, whoever the most are; those who wait are what piles up. Empty: nobody is waited for by so many.
Sentence pile_of_waiters(const Facts& facts);
/// Whether `sys:suspend/1` holds it in a loop that takes no requests.
bool suspended_by_sys(const Facts& facts, ProcId process);
/// Whether somebody has suspended it, by that or by erlang:suspend_process/1: not who waits for a port or another node.
bool is_suspended(const Facts& facts, ProcId process);
/// Who has suspended a process with erlang:suspend_process/1: as the input says, or, as an estimate, the only one that
/// waits and names it, and nobody else, in its youngest frame.
struct Suspender {
    ProcId process = ProcId::none;  ///< none: it is not known
    Confidence confidence = Confidence::exact;
};
Suspender suspender_of(const Facts& facts, ProcId process);
/// ", most likely by debugger <0.83.0>, which sits in my_debugger:freeze/1". Empty where that is not known.
Sentence suspended_by(const Facts& facts, ProcId process);
/// How to resume such a process.
void advise_to_resume(const Facts& facts, ProcId process, Finding& finding);
/// Its youngest frames, youngest first: "timer:sleep/1 < my_handler:handle_event/2 < gen_event:server_update/4".
Sentence frames_text(const Facts& facts, ProcId process, std::size_t most = 5);
/// The same of a stack that is no process's row: the call that holds a scheduler.
Sentence frames_text(const Snapshot& s, StackId stack, std::size_t most = 5);
/// Adds its stack to a finding's evidence, where the input has one.
void add_stack(const Facts& facts, ProcId process, Finding& finding);
/// Fills process, pid, name and subject of a finding about one process.
void about(const Facts& facts, ProcId process, Finding& finding);

/// From so many bytes on that lie in a port nobody takes them: TCP's own buffers and the driver's high watermark are
/// full.
inline constexpr std::uint64_t least_unsent = 64u << 10;
/// Bytes in the ports of these processes, where each has so many; 0: one has not.
std::uint64_t unsent_by_each(const Snapshot& s, std::span<const ProcId> processes);

/// From when on those who wait for one thing are a finding (wait-convoy, node-hung): ten that are 5 % of all processes,
/// or 100. One in five of all is high, half of them critical.
namespace crowd {
inline constexpr std::uint64_t least = 10, many = 100;
inline constexpr double least_percent = 5, high_percent = 20, critical_percent = 50;
}  // namespace crowd

/// The recursion that fills a process's stack, from 8 MiB on (1 MiB of the one that was refused
/// memory): runaway-recursion says it, and big-heap does not.
std::optional<Recursion> fills_its_stack(const Facts& facts, ProcId process);

/// Receive buffers of sockets that take much of the node's memory: socket-buffers says it, and binary-pinning does not.
struct SocketBuffers {
    std::uint64_t sockets = 0, bytes = 0;
    bool proved = false;                        ///< the blocks were seen, in a core image
    std::uint64_t blocks = 0, block_bytes = 0;  ///< of these
};
std::optional<SocketBuffers> buffers_of_sockets(const Facts& facts);

/// Memory of a process as the input says it: process_info(memory), else its heaps (dumps before R16B01).
Count process_bytes(const Facts& facts, const Process& process);
/// The same of all processes.
Count all_process_bytes(const Facts& facts);
/// What the node used, from =memory; missing where the input does not say.
Count node_bytes(const Facts& facts);
/// Of memory that nothing in the input has as its own, and that rows of tables may refer to, the program's table with
/// most rows: "table windows of limiter <0.81.0> has 3,000 objects, 32.8 KiB of it for each". Where
/// that is only `guessed`, also the one with the next most; `of_binaries`: it is in binaries, and a table that has more
/// rows than there are binaries is the less likely one. Empty: there is none, or too little for each.
Sentence candidate_table(const Facts& facts, std::uint64_t unheld_bytes, bool guessed, bool of_binaries = false);
/// Whether a function is a library's, or works for whoever calls it.
bool is_of_library(const Snapshot& snapshot, FunctionId function);

/// Processes in the queue of a scheduler, or of those of a dirty kind: of all priorities.
std::uint64_t queued_processes(const Scheduler& scheduler);

/// Figures of a title.
inline Amount bytes(std::uint64_t value) { return {value, AmountUnit::bytes}; }
inline Amount number(std::uint64_t value) { return {value, AmountUnit::count}; }
inline Counted messages(std::uint64_t value) { return {value, "message", "messages"}; }
inline Counted processes(std::uint64_t value) { return {value, "process", "processes"}; }
/// A text of the input that holds names: a driver, atoms of one pattern.
inline InputText names(std::string_view text) { return {std::string(text), InputText::Holds::name}; }
/// One that a term was printed to.
inline InputText term(std::string_view text) { return {std::string(text), InputText::Holds::term}; }
/// A word of the VM's own: an allocator, a type of memory or of table.
inline InputText of_vm(std::string_view text) { return {std::string(text), InputText::Holds::vm}; }
/// Free text.
inline InputText message(std::string_view text) { return {std::string(text), InputText::Holds::message}; }

}  // namespace beamheap::analyses::rule
