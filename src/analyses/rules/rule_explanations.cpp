// The pages of `explain` about the rules: what each looks for, from when on, and what to do. The theory at the head of
// a rule's file says why; the thresholds here are those of its constants.
#include <algorithm>
#include <array>

#include "analyses/rules/rules.hpp"

namespace beamheap::analyses {
namespace {

using Text = std::string_view;

constexpr std::array<Text, 2> start_up_next{"Read the reason from the inside out: the last of it is what failed.",
                                            "Look at the slogan's own page: beamheap explain boot_failure"};
constexpr std::array<Text, 2> native_crash_next{
    "Suspect the libraries that the header's Taints line names, the youngest first.",
    "Take a core image as well (ulimit -c unlimited): it has the native stack of the thread that failed."};
constexpr std::array<Text, 2> wait_cycle_next{
    "Break one direction: a cast, or work handed to a task or to handle_continue instead of a call.",
    "See all of them: beamheap waits DUMP"};
constexpr std::array<Text, 3> wait_convoy_next{
    "Look at the one that is waited for, not at those who wait: what is it stuck in?",
    "Give loggers a bound: lager's async_threshold, logger's sync_mode_qlen, drop_mode_qlen and flush_qlen.",
    "See all of them: beamheap waits DUMP"};
constexpr std::array<Text, 3> queue_flood_next{
    "Group its messages by shape and sender: beamheap msgs DUMP PID --by shape",
    "Make senders wait (a call), or let them or the receiver drop what is too much.",
    "As a fuse: max_heap_size, and {message_queue_data, off_heap} so that collections do not copy the queue."};
constexpr std::array<Text, 3> big_heap_next{
    "See which of its terms keeps most alive: beamheap heap DUMP PID",
    "Bound what it collects, or stream it in pieces.",
    "As a fuse: process_flag(max_heap_size, ...) kills the process instead of the node."};
constexpr std::array<Text, 2> binary_pinning_next{"Copy what is kept: binary:copy/1 before it is stored or sent on.",
                                                  "See holders and slices: beamheap binaries DUMP"};
constexpr std::array<Text, 2> idle_garbage_next{
    "Let idle processes hibernate (hibernate_after), or collect them fully more often ({fullsweep_after, 20}).",
    "See them: beamheap top DUMP --by garbage"};
constexpr std::array<Text, 2> ets_growth_next{"Look for what deletes from the table, and give entries a time to live.",
                                              "See tables and owners: beamheap ets DUMP"};
constexpr std::array<Text, 2> atom_exhaustion_next{
    "Find who turns data into atoms; use list_to_existing_atom/1 or binaries.",
    "See the families and the newest atoms: beamheap atoms DUMP"};
constexpr std::array<Text, 2> process_leak_next{
    "Find out what should end them, and spawn them linked or monitored, under a supervisor with a bound.",
    "See kinds of processes: beamheap analyze DUMP"};
constexpr std::array<Text, 2> port_leak_next{"Find out who should close them; a port ends with its owner.",
                                             "See drivers and owners: beamheap ports DUMP"};
constexpr std::array<Text, 2> slow_socket_next{
    "Look at the other side: what reads from this socket, pipe or file, and why does it not?",
    "Bound the wait: {send_timeout, T} with {send_timeout_close, true}."};
constexpr std::array<Text, 2> allocator_loss_next{
    "Look for the peak after which carriers stayed almost empty, and for what was allocated then and still lives.",
    "See every allocator and instance: beamheap alloc DUMP"};
constexpr std::array<Text, 2> incomplete_dump_next{
    "Give the VM time to write: ERL_CRASH_DUMP_SECONDS=-1 with heart, a longer stop timeout of the service manager.",
    "Leave ERL_CRASH_DUMP_BYTES unset, and see that the disk has room."};

constexpr std::array pages{
    Explanation{"start-up",
                {},
                "Init and the application controller end a node with a slogan that says what failed. Whatever else "
                "stands out in such a dump is what a node looks like in its first seconds.\n\nAlways a finding.",
                start_up_next},
    Explanation{"native-crash",
                {},
                "Erlang code can't damage the VM; NIFs, drivers, hardware and bugs in the VM can. It then meets data "
                "that can't be, wants memory of a size that no term has, or dies by a signal.\n\nAlways a finding.",
                native_crash_next},
    Explanation{"wait-cycle",
                {},
                "A process waits in one call at a time. A circle of such waits is a deadlock: nobody on it can answer. "
                "Timeouts end it by a crash; without them it stays.\n\nAlways a finding.",
                wait_cycle_next},
    Explanation{"wait-convoy",
                {},
                "When a process is slow or stuck, all of its callers are. They are victims: what one sees first, many "
                "processes and much memory, is the consequence.\n\nFrom 10 waiters that are 5 % of all processes, or "
                "100 whatever their share; 20 % of all processes is high, half of them critical.",
                wait_convoy_next},
    Explanation{"queue-flood",
                {},
                "A send never blocks, so nothing stops senders who outrun a receiver. A long queue also slows the "
                "receiver down: each selective receive scans it.\n\nFrom 1,000 messages on; 10,000 are high; 100,000, "
                "or a quarter of all processes' memory, critical.",
                queue_flood_next},
    Explanation{
        "big-heap",
        {},
        "A process's heap grows by what it keeps, and a collection needs the old and the new heap at once. The "
        "term where the retained size splits up is named: the accumulation point.\n\nFrom 8 MiB and a fifth of "
        "the memory of all processes; half of it, and 64 MiB, is high; the process that the VM died in for lack "
        "of memory is critical.",
        big_heap_next},
    Explanation{"binary-pinning",
                {},
                "A slice of a large binary keeps all of it. Bytes that no reference shows are pinned. Up to OTP 26 a "
                "dump does not list a binary that only slices refer to: then its size is estimated by the process's "
                "virtual binary heap.\n\nFrom 8 MiB, ten times what is seen and a twentieth of all binaries.",
                binary_pinning_next},
    Explanation{"idle-garbage",
                {},
                "A process that has become idle is not collected any more: its heap keeps what handshakes, requests "
                "and start-up work left in it.\n\nFrom 8 MiB and a tenth of the node's memory that a collection would "
                "free.",
                idle_garbage_next},
    Explanation{"ets-growth",
                {},
                "No garbage collection touches ETS: an object stays until somebody deletes it or the owner ends.\n\nA "
                "table with a quarter of the node's memory and 4 MiB, half of it is high; 100 tables of one owner that "
                "are half of all.",
                ets_growth_next},
    Explanation{"atom-exhaustion",
                {},
                "Atoms are never freed, and the VM ends when their table is full. A program that turns data into atoms "
                "makes a family of them, alike but for a number or a token.\n\nFrom 60 % of the limit; 80 % is high, "
                "95 % critical.",
                atom_exhaustion_next},
    Explanation{"process-leak",
                {},
                "One kind of process outgrows the rest until spawning fails. Processes that nobody links to, monitors "
                "or has named are never ended by anybody.\n\nFrom 80 % of the limit (high), 95 % (critical); below, "
                "10,000 of one kind that are half of all and stand alone.",
                process_leak_next},
    Explanation{"port-leak",
                {},
                "Ports are sockets, files and external programs. An owner that never closes and never ends leaks "
                "them.\n\nFrom 80 % of the limit (high), 95 % (critical).",
                port_leak_next},
    Explanation{"slow-socket",
                {},
                "A port whose other side does not read fills up and is busy; the VM suspends whoever sends to "
                "it.\n\nFrom two suspended senders on; ten are high.",
                slow_socket_next},
    Explanation{
        "allocator-loss",
        {},
        "A carrier of an allocator is given back when its last block is freed. After a peak a few long-lived "
        "blocks keep many carriers: the machine sees a large node, erlang:memory() a small one.\n\nFrom 100 MiB "
        "and 30 % of all carriers; 60 % is high.",
        allocator_loss_next},
    Explanation{"incomplete-dump",
                {},
                "A VM is often killed while it writes its dump, or the disk is full. What is missing are the younger "
                "processes, and with them often the culprit.\n\nA finding where the dump ends inside the process "
                "table.",
                incomplete_dump_next},
};

}  // namespace

std::optional<Explanation> explanation_of(const Rule& rule) {
    const auto* page = std::ranges::find(pages, rule.id, &Explanation::name);
    if (page == pages.end()) return std::nullopt;
    Explanation explanation = *page;
    explanation.title = rule.description;
    return explanation;
}

}  // namespace beamheap::analyses
