// SPDX-License-Identifier: Apache-2.0
// The words of known slogans, as data: a new one is a row here. Only slogan.cpp includes this.
#pragma once

#include <array>
#include <string_view>

#include "analyses/slogan/slogan.hpp"

namespace beamheap::analyses {

// What a word inside a reason says about its cause.
struct Hint {
    std::string_view word;
    Ours sentence;
};
inline constexpr std::array<Hint, 15> reason_hints{{
    {"dist_port_already_used", "The port of the distribution is taken: most likely this node was running already."},
    {"nodistribution",
     "Distribution did not start: the node's name is taken, epmd can't be reached, or the host name does not resolve."},
    {"eaddrinuse", "A port that it wanted to listen on is in use, often by another copy of the same node."},
    {"Eaddrinuse", "A port that it wanted to listen on is in use, often by another copy of the same node."},
    {"econnrefused", "A service that it needs at start refused the connection."},
    {"emfile", "The process had no file descriptor left: raise the limit (ulimit -n, LimitNOFILE=)."},
    {"enospc", "A disk is full."},
    {"eacces", "The operating system denied permission: check the owner of its files and folders."},
    {"enoent", "A file or a program that it needs does not exist."},
    {"invalid_current_directory", "Its current directory does not exist or can't be read by this user."},
    {"nouser", "The terminal driver (user) did not start; -noinput or a working terminal avoids it."},
    {"error in config file", "The configuration file has a syntax error; the reason names file and line."},
    {"non existing application", "The release or boot script names an application that is not installed."},
    {"undef", "A function that was called does not exist: the module is missing from the code path, or misspelt."},
    {"killed", "A process was killed: by exit(Pid, kill), or for exceeding max_heap_size."},
}};

// What an allocator's memory of a type is for, and where to look; the first row that fits counts. Types that only one
// request of a process can make large stand before those of their allocator (erl_alloc.types of OTP 17 and 27, and the
// places of erts where they are asked for).
struct AllocationUse {
    std::string_view allocator;
    std::string_view type;  // empty: any of this allocator
    Ours what;
    Ours next;
};
inline constexpr std::array<AllocationUse, 27> allocation_uses{{
    {"", "external_term_data", "unpacking a compressed term (binary_to_term/1)",
     "A compressed term names its own size, also one that a stranger has made: bound what is unpacked, or refuse "
     "compressed terms: `beamheap schedulers DUMP`"},
    {"", "estack", "walking a deeply nested term (a copy, a comparison, its size)",
     "It was handling one very deep term: look at the running process: `beamheap schedulers DUMP`"},
    {"", "wstack", "walking a deeply nested term (a copy, a comparison, its size)",
     "It was handling one very deep term: look at the running process: `beamheap schedulers DUMP`"},
    {"", "re_heap", "a regular expression that was matched", "Look at the running process: `beamheap schedulers DUMP`"},
    {"", "re_subject", "the subject of a regular expression",
     "Look at the running process: `beamheap schedulers DUMP`"},
    {"", "re_tmp_buf", "the subject of a regular expression",
     "Look at the running process: `beamheap schedulers DUMP`"},
    {"", "tmp_dist_buf", "a message to another node",
     "Look at the running process and at the connections: `beamheap nodes DUMP`"},
    {"", "unicode_buffer", "text that was converted from one encoding to another",
     "Look at the running process: `beamheap schedulers DUMP`"},
    {"", "io_queue", "data that a port has queued for its device or peer",
     "Look at the ports and what they have queued: `beamheap ports DUMP`"},
    {"", "zlib", "zlib, for data that was packed or unpacked",
     "Look at the running process: `beamheap schedulers DUMP`"},
    {"", "proc_dict", "a process dictionary", "Look at the running process: `beamheap schedulers DUMP`"},
    {"eheap_alloc", "old_heap", "the old heap of a process in garbage collection",
     "The process in garbage collection, or the one with the most memory, is the first suspect: `beamheap top DUMP "
     "--by memory`"},
    {"eheap_alloc", "heap", "the heap of a process",
     "The process in garbage collection, or the one with the most memory, is the first suspect: `beamheap top DUMP "
     "--by memory`"},
    {"eheap_alloc", "heap_frag", "a heap fragment: a term that was built or received outside a heap",
     "Look for the process with the most memory and the longest queue: `beamheap top DUMP --by msgq`"},
    {"eheap_alloc", "message", "a message", "Look for the longest queues: `beamheap top DUMP --by msgq`"},
    {"eheap_alloc", "", "the heap of a process", "Look at the largest processes: `beamheap top DUMP --by memory`"},
    {"binary_alloc", "drv_binary", "a binary of a driver or a socket",
     "Look at who holds binaries and what the ports have queued: `beamheap binaries DUMP`; `beamheap ports DUMP`"},
    {"binary_alloc", "", "a binary outside the heaps",
     "Look at the largest binaries and who holds them: `beamheap binaries DUMP`"},
    {"ets_alloc", "", "an ETS table", "Look at the largest tables and their owners: `beamheap ets DUMP`"},
    {"literal_alloc", "", "literals: constants of modules and persistent terms",
     "The area for literals has a fixed size, 1 GB by default on 64-bit (+MIscs changes it): `beamheap alloc DUMP`"},
    {"driver_alloc", "", "a driver or a NIF",
     "Look at the ports, and at which drivers and NIF libraries were loaded (Taints): `beamheap ports DUMP`"},
    {"temp_alloc", "", "working memory of the VM",
     "It was handling one very large term: look at the running process: `beamheap schedulers DUMP`"},
    {"fix_alloc", "", "one of the VM's small fixed structures",
     "So small a block is refused only when everything is used up: look at the largest users: `beamheap analyze DUMP`"},
    {"sl_alloc", "", "something short-lived of the VM", "Look at the largest users of memory: `beamheap analyze DUMP`"},
    {"ll_alloc", "", "something long-lived of the VM: code, atoms, tables",
     "Look at atoms and modules: `beamheap atoms DUMP`; `beamheap modules DUMP`"},
    {"std_alloc", "", "a structure of the VM", "Look at the largest users of memory: `beamheap analyze DUMP`"},
    {"", "", "the VM", "Look at the largest users of memory: `beamheap analyze DUMP`"},
}};

// Slogans that begin with, or hold, fixed words.
struct Fixed {
    enum class Where : std::uint8_t {
        start,
        anywhere,
        source_line,  // anywhere, but the text must name a place in the VM's source: programs use these words too
    };
    std::string_view words;
    Where where;
    SloganKind kind;
    Ours meaning;
    Ours next = "";  // what to do instead of what the kind's page advises
};
using Where = Fixed::Where;
inline constexpr std::array<Fixed, 39> fixed_slogans{{
    {"Received SIGUSR1", Where::start, SloganKind::requested,
     "Somebody sent SIGUSR1 to the node, which asks for a crash dump."},
    {"Crash dump requested by user", Where::start, SloganKind::requested,
     "Somebody chose A (abort with dump) in the break menu of the node's terminal.",
     "See what everybody was doing at that moment: `beamheap stacks DUMP`"},
    {"erl_child_setup closed", Where::start, SloganKind::child_setup,
     "erl_child_setup, the helper that starts the node's external programs, ended, and the node with it."},
    {"Failed to write to erl_child_setup", Where::start, SloganKind::child_setup,
     "The node could not reach erl_child_setup, the helper that starts its external programs."},
    {"Failed to read from erl_child_setup", Where::start, SloganKind::child_setup,
     "The node could not reach erl_child_setup, the helper that starts its external programs."},
    {"Can not execute ", Where::start, SloganKind::child_setup, "A helper program of the node could not be started."},
    {"Absurdly large distribution output data buffer", Where::start, SloganKind::distribution_overload,
     "A message to another node was larger than the distribution can send in one piece."},
    {"Out of virtual memory in ", Where::start, SloganKind::out_of_memory,
     "The node ran out of memory: a driver's allocation (malloc) was refused."},
    {"Can't allocate ", Where::start, SloganKind::out_of_memory,
     "The node ran out of memory: a small allocation was refused."},
    {"no next heap size found", Where::start, SloganKind::absurd_allocation,
     "A process needed a heap larger than the VM can make: a term of that size can't be real, or is damaged."},
    {"The code server called the unloaded module", Where::start, SloganKind::code_server,
     "The code server needed a module that was not loaded, and only it could have loaded it."},
    {"Driver_select called with too large file descriptor", Where::start, SloganKind::limits,
     "A driver used a file descriptor above the limit that the VM was started with (ulimit -n)."},
    {"Internal error: System limit", Where::start, SloganKind::limits, "A limit of the VM was reached."},
    {"system_limit", Where::anywhere, SloganKind::limits, "A limit of the VM was reached."},
    {"Overrun stack and heap", Where::source_line, SloganKind::corruption, ""},
    {"Catch not found", Where::start, SloganKind::corruption, ""},
    {"Wild pointer found", Where::anywhere, SloganKind::corruption, ""},
    {">: Wild stack pointer", Where::anywhere, SloganKind::corruption, ""},
    {">: Stack underflow", Where::anywhere, SloganKind::corruption, ""},
    {">: Stack overflow", Where::anywhere, SloganKind::corruption, ""},
    {"Damaged process dictionary", Where::start, SloganKind::corruption, ""},
    {"in process dictionary at position", Where::anywhere, SloganKind::corruption, ""},
    {"heap overrun by", Where::source_line, SloganKind::corruption, ""},
    {"bad header", Where::start, SloganKind::corruption, ""},
    {"bad term:", Where::source_line, SloganKind::corruption, ""},
    {"buffer overflow:", Where::source_line, SloganKind::corruption, ""},
    {"bad primary tag", Where::anywhere, SloganKind::corruption, ""},
    {"bad hashmap type", Where::anywhere, SloganKind::corruption, ""},
    {": bad tag for", Where::anywhere, SloganKind::corruption, ""},
    {"Invalid tag in ", Where::anywhere, SloganKind::corruption, ""},
    {"Invalid reference count found", Where::anywhere, SloganKind::corruption, ""},
    {"unexpected op code", Where::anywhere, SloganKind::corruption, ""},
    {"beam_catches_delmod:", Where::anywhere, SloganKind::corruption, ""},
    {"non-existing distribution table entry", Where::anywhere, SloganKind::corruption, ""},
    {"non-existing node table entry", Where::anywhere, SloganKind::corruption, ""},
    {"Internal data structure error (", Where::start, SloganKind::corruption, ""},
    {"Internal error", Where::start, SloganKind::corruption, ""},
    {": Internal error", Where::source_line, SloganKind::corruption, ""},
    {"Uninitialized HAlloc'ed memory", Where::anywhere, SloganKind::corruption, ""},
}};

// Signals that end a VM.
struct SignalKind {
    std::uint32_t number;  // of Linux
    Ours name;
    SloganKind kind;
    bool crash;  // by which code that goes wrong ends; the others are sent by somebody
    Ours meaning;
};
inline constexpr std::array<SignalKind, 9> signals{{
    {3, "SIGQUIT", SloganKind::requested, false, "Somebody sent SIGQUIT to the node, which asks for a core image."},
    {4, "SIGILL", SloganKind::corruption, true,
     "The VM met an instruction that this processor does not know: it was built for another one, or its code was "
     "overwritten."},
    {6, "SIGABRT", SloganKind::requested, true,
     "The VM was aborted: by itself, which says why on its standard error, by a NIF, or from outside (heart, "
     "systemd)."},
    {7, "SIGBUS", SloganKind::corruption, true,
     "The VM touched memory that can't be had: a file that it mapped shrank, a device or memory failed, or a NIF or "
     "driver went astray."},
    {8, "SIGFPE", SloganKind::corruption, true,
     "The VM divided by zero in native code, most likely in a NIF or a driver."},
    {9, "SIGKILL", SloganKind::requested, false, "The node was killed from outside."},
    {11, "SIGSEGV", SloganKind::corruption, true,
     "The VM touched memory that it does not have, which is the work of a NIF or a driver, or a bug of the VM."},
    {15, "SIGTERM", SloganKind::requested, false, "Somebody sent SIGTERM to the node, which asks it to stop."},
    {31, "SIGSYS", SloganKind::corruption, true,
     "The VM made a system call that it may not make: native code did, or a filter of the system is too strict."},
}};

}  // namespace beamheap::analyses
