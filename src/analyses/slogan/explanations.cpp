// The pages of `explain`. Facts: erts/doc (erl, erts_alloc, heart), erl_crash_dump_v in erts/emulator/beam/break.c,
// erts_exit in erl_init.c, init.erl, all of OTP 27 unless a release is named.
#include <algorithm>
#include <array>

#include "analyses/slogan/slogan.hpp"

namespace beamheap::analyses {
namespace {

using Steps = std::span<const std::string_view>;

constexpr std::array<std::string_view, 4> out_of_memory_next{
    "See which processes, tables and binaries hold the memory: beamheap analyze DUMP",
    "Compare with what the machine, the container (cgroup) and ulimit -v allowed: the VM is refused memory by them, "
    "not "
    "by a limit of its own.",
    "Bound the culprit: max_heap_size for processes, back-pressure for queues, deletion for ETS tables.",
    "Ask an allocator's carriers against its blocks before calling it a leak: beamheap alloc DUMP"};

constexpr std::array<std::string_view, 3> absurd_next{
    "Look at the process that was running, and at what it was doing: beamheap schedulers DUMP",
    "Suspect native code first: the header's Taints line names the NIF libraries and drivers that were loaded.",
    "If there is none, note OTP release and function and search the VM's issue tracker: sizes like this have been "
    "bugs."};

constexpr std::array<std::string_view, 3> atom_next{
    "See the families of atoms, newest first: beamheap atoms DUMP",
    "Find the code that makes them: list_to_atom, binary_to_atom, String.to_atom, decoders with atom keys, a new node "
    "name at every call of a command line tool.",
    "Use list_to_existing_atom or binaries; a larger table (+t) only buys time."};

constexpr std::array<std::string_view, 2> table_next{
    "See which modules were loaded and how many look generated: beamheap modules DUMP",
    "Modules that are compiled at run time need fixed names, or must be deleted and purged."};

constexpr std::array<std::string_view, 3> boot_next{
    "This is a failure of what was started, not of the VM: read the reason, then the node's standard output and log.",
    "Check -s, -run, -eval and the boot script; undef means that a module is not in the code path.",
    "If a node died and was restarted, this dump may have overwritten that of the first crash: see the file's time."};

constexpr std::array<std::string_view, 2> kernel_start_next{
    "Most often sys.config or a -config file has a syntax error, or an argument of kernel is wrong.",
    "Start it by hand with the same arguments to see the message."};

constexpr std::array<std::string_view, 3> application_start_next{
    "The innermost reason is the cause; the layers around it are the supervisors that passed it on.",
    "Look at the node's log shortly before: crash and supervisor reports have the details.",
    "If a node died and was restarted, this dump may have overwritten that of the first crash: see the file's time."};

constexpr std::array<std::string_view, 3> application_end_next{
    "The cause is an earlier crash: read the crash and supervisor reports in the log before this.",
    "See what is left of the application and which queues are long: beamheap tree DUMP; beamheap top DUMP",
    "If the restart intensity is too small for a start after an outage, raise it, or let the child wait before it "
    "retries."};

constexpr std::array<std::string_view, 2> kernel_end_next{
    "The reason tells what it died of; the node's log has the crash report.",
    "A kernel process is never restarted: code that runs in it (code loading, logging handlers, name registration) "
    "must not fail."};

constexpr std::array<std::string_view, 2> system_process_next{
    "These processes belong to the VM: code purging, literal collection, signal handling. They end only by a bug or an "
    "exit signal that a program sent to every process.",
    "Search for code that calls exit(Pid, kill) on lists of processes()."};

constexpr std::array<std::string_view, 2> requested_next{
    "Nothing crashed: read the dump as a picture of the live node at that moment: beamheap analyze DUMP",
    "Ask who wanted it and why: a watchdog, an operator, a script."};

constexpr std::array<std::string_view, 2> child_setup_next{
    "Something ended or broke the helper: a kill of the whole process group, the out-of-memory killer, no file "
    "descriptors, a missing program.",
    "Look in the system's log (dmesg, journalctl) at that time, and at the ports: beamheap ports DUMP"};

constexpr std::array<std::string_view, 2> limits_next{
    "See how full the VM's tables are and who fills them: beamheap analyze DUMP",
    "File descriptors: ulimit -n or LimitNOFILE=; ports: +Q; processes: +P; ETS tables: +e."};

constexpr std::array<std::string_view, 2> distribution_next{
    "See which process was running and what it sends: beamheap schedulers DUMP",
    "Send large data in pieces, or outside the distribution."};

constexpr std::array<std::string_view, 3> corruption_next{
    "The header's Taints line names the NIF libraries and drivers that were loaded: suspect them first.",
    "Keep the core image too: it shows the native stack at the moment of death: beamheap core BEAM CORE",
    "With no native code of your own, test the machine's memory, then report it with release, architecture and "
    "slogan."};

constexpr std::array<std::string_view, 2> code_server_next{
    "Load the named module before (embedded mode, or code:ensure_loaded at start).",
    "Check that the installation is whole: the module belongs to OTP."};

constexpr std::array<std::string_view, 2> unknown_next{
    "Search the program and its libraries for this text: it is an argument of erlang:halt.",
    "Otherwise read the dump as a picture of the node at that moment: beamheap analyze DUMP"};

constexpr std::array<std::string_view, 7> no_dump_next{
    "Ask the system first: dmesg -T | grep -i 'killed process'; journalctl -u SERVICE; kubectl describe pod POD "
    "(OOMKilled, exit code 137).",
    "Look for a core image: coredumpctl list; the pattern in /proc/sys/kernel/core_pattern; then beamheap core BEAM "
    "CORE",
    "Set ERL_CRASH_DUMP to a file on a volume that outlives the container and that the node's user may write to.",
    "With heart, set ERL_CRASH_DUMP_SECONDS=-1 (or a number of seconds that is enough), and HEART_KILL_SIGNAL=SIGABRT "
    "to "
    "get a core image of a node that hangs.",
    "Leave ERL_CRASH_DUMP_BYTES unset, and check that the disk has room for a dump of about the size of the node's "
    "memory.",
    "Try it: kill -USR1 on a test node in the same environment must leave a dump.",
    "Against the out-of-memory killer: give processes a max_heap_size and watch memory, so that the node sees the end "
    "coming before the kernel does."};

constexpr std::string_view no_dump_text =
    "The VM writes erl_crash.dump itself, as the last thing that it does. Whatever ends it from outside, or keeps it "
    "from "
    "writing, leaves no dump.\n\n"
    "Killed from outside. SIGKILL can't be caught: the kernel's out-of-memory killer, a container that is over its "
    "memory "
    "limit, systemd or docker stop after their timeout, heart on a node that does not answer, an operator. SIGTERM "
    "(since "
    "OTP 19.3) is an orderly stop: no dump either.\n\n"
    "Told not to write. ERL_CRASH_DUMP_SECONDS=0 or ERL_CRASH_DUMP_BYTES=0: no dump. With heart (erl -heart) and "
    "ERL_CRASH_DUMP_SECONDS unset: no dump, because the node is to restart at once. +d: internal errors leave a core "
    "image "
    "only.\n\n"
    "Could not write. The file is opened in the node's current directory, or where ERL_CRASH_DUMP says. If the folder "
    "does "
    "not exist, is read-only, or is not writable by the node's user (a container's UID, ProtectSystem= of systemd), "
    "the VM "
    "skips the dump. Standard error then ends with \"Crash dump is being written to: FILE...\" without \"done\".\n\n"
    "Written, then lost. In a container's own file system it goes with the container; with PrivateTmp= it is in "
    "another "
    "/tmp. Every crash overwrites the file, so a node that restarts in a loop leaves the dump of its last crash, not "
    "of the "
    "first.\n\n"
    "Cut short. A limit of seconds ends the VM by SIGALRM in the middle of a line; a limit of bytes leaves "
    "\"=abort:CRASH DUMP SIZE LIMIT REACHED\"; a full disk leaves no mark at all, and standard error still says "
    "\"done\". "
    "Whoever kills the node while it writes (heart, systemd, Kubernetes) cuts it too. beamheap reads what there is.\n\n"
    "A crash in native code. A segmentation fault or abort in a NIF, a driver or the VM itself is no Erlang error: it "
    "leaves "
    "a core image, if core images are enabled (ulimit -c, LimitCORE=), and no dump.\n\n"
    "No crash. init:stop/0, q(), halt(0), halt(1), System.halt/1 and a finished script end the node without a dump; "
    "only "
    "halt with a text writes one.";

struct Page {
    SloganKind kind;
    Explanation explanation;
};

constexpr std::array<Page, 18> pages{{
    {SloganKind::out_of_memory,
     {"out_of_memory", "The node ran out of memory",
      "An allocator asked the operating system for memory and was refused. The slogan names the allocator, the size "
      "and what "
      "it was for: eheap_alloc is the heap of a process, binary_alloc a binary outside the heaps, ets_alloc a table, "
      "literal_alloc constants and persistent terms.\n\n"
      "The request that fails is not always the culprit's: it is the first one that no longer fits. A heap is the "
      "exception. It grows by about 20 % at a time once it is large, and a garbage collection needs the old and the "
      "new one "
      "at once, so a refusal of gigabytes for \"heap\" or \"old_heap\" is the process that was collecting garbage.\n\n"
      "Rule of thumb: look at long queues first, then at the largest processes, then at what the memory section says "
      "of "
      "binaries, ETS and atoms.",
      Steps(out_of_memory_next)}},
    {SloganKind::absurd_allocation,
     {"absurd_allocation", "A size that can't be true was asked for",
      "The VM was asked for more than any node needs at once. Memory was not short: a length was wrong. Known causes "
      "are "
      "damaged terms (native code that wrote where it should not), terms that native code made cyclic, and bugs of the "
      "VM "
      "with very large terms.\n\n"
      "Rule of thumb: 1 TiB or more in one piece, or 1 GiB or more of temp_alloc, is not the load of the node.",
      Steps(absurd_next)}},
    {SloganKind::atom_table_full,
     {"atom_table_full", "The atom table is full",
      "Atoms are never freed. The table holds 1,048,576 unless +t says otherwise; when a new one does not fit, the "
      "node "
      "ends. A healthy node has some ten thousand atoms and hardly makes new ones.\n\n"
      "Rule of thumb: a dump lists atoms newest first, and the leak is at the top. Above half of the limit it is time "
      "to "
      "look.",
      Steps(atom_next)}},
    {SloganKind::table_full,
     {"table_full", "A table of modules or functions is full",
      "Modules, exported functions and funs have tables with a fixed limit: 65,536 modules, 524,288 exports. Only "
      "programs "
      "that compile modules while they run get there.",
      Steps(table_next)}},
    {SloganKind::boot_failure,
     {"boot_failure", "The node stopped while it booted",
      "The boot script, or a function that -s, -run or -eval named, failed before the node was up (init: \"init "
      "terminating "
      "in do_boot\", since OTP 26 \"Runtime terminating during boot\"). Processes and tables tell little: look at the "
      "reason.\n\n"
      "Rule of thumb: such dumps come from command line tools and from restart loops more often than from the node "
      "that you "
      "care about.",
      Steps(boot_next)}},
    {SloganKind::kernel_start_failure,
     {"kernel_start_failure", "A process that the node can't do without did not start",
      "init starts a few processes before any application: the application controller reads the configuration, the "
      "code "
      "server opens the code path. One of them failed.",
      Steps(kernel_start_next)}},
    {SloganKind::application_start_failure,
     {"application_start_failure", "An application that the node needs did not start",
      "A release starts its applications as permanent: if one of them does not start, the node ends. The reason has "
      "the "
      "form {App, {Reason, {Module, start, Args}}}, with one {shutdown, {failed_to_start_child, Id, Reason}} for each "
      "supervisor on the way.\n\n"
      "Rule of thumb: read it from the inside out. Ports that are in use, names that are taken, files that are missing "
      "and "
      "services that do not answer are the usual ends.",
      Steps(application_start_next)}},
    {SloganKind::application_terminated,
     {"application_terminated", "An application that the node needs ended",
      "A permanent application ended, so the node did. The reason shutdown means that its top supervisor gave up: its "
      "children failed more often than the restart intensity allows.",
      Steps(application_end_next)}},
    {SloganKind::kernel_process_terminated,
     {"kernel_process_terminated", "A process that the node can't do without ended",
      "init watches over a few processes, the application controller among them. When one ends, so does the node.",
      Steps(kernel_end_next)}},
    {SloganKind::system_process_terminated,
     {"system_process_terminated", "A process of the VM itself ended",
      "Since OTP 18.1 the VM does some of its own work in processes, which must not end.", Steps(system_process_next)}},
    {SloganKind::requested,
     {"requested", "Somebody asked for the dump",
      "SIGUSR1, the break menu, or a call of a debugging function. The node was running and may have been healthy.",
      Steps(requested_next)}},
    {SloganKind::child_setup,
     {"child_setup", "The helper that starts external programs is gone",
      "Since OTP 19 a small program, erl_child_setup, starts every external program of the node. The node ends when it "
      "does.",
      Steps(child_setup_next)}},
    {SloganKind::limits,
     {"limits", "A limit was reached",
      "Processes, ports, ETS tables, file descriptors and atoms have limits that are set when the node starts. "
      "Reaching one "
      "is most often a leak: look at what fills the table before raising it.",
      Steps(limits_next)}},
    {SloganKind::distribution_overload,
     {"distribution_overload", "A message to another node was too large",
      "A message of more than 2 GiB to another node can't be sent, and ends this one.", Steps(distribution_next)}},
    {SloganKind::corruption,
     {"corruption", "The VM found its own data damaged",
      "A check in the VM met a term, a stack or a table that can't be. Whatever wrote there did so earlier, so the "
      "process "
      "that was running need not be to blame. NIFs and drivers share the VM's memory and are the usual cause; hardware "
      "and "
      "bugs of the VM are the others.\n\n"
      "Rule of thumb: contents of such a dump may be damaged too. beamheap counts what does not fit.",
      Steps(corruption_next)}},
    {SloganKind::code_server,
     {"code_server", "The code server needed a module that was not loaded",
      "The process that loads modules can't wait for itself: every module that it calls must be loaded before.",
      Steps(code_server_next)}},
    {SloganKind::unknown,
     {"unknown", "A text of a program's own",
      "erlang:halt/1 with a text writes a dump with the text as its slogan. It is none of the VM's own reasons.",
      Steps(unknown_next)}},
    {SloganKind::none, {"no-dump", "Why a node died without leaving a crash dump", no_dump_text, Steps(no_dump_next)}},
}};

constexpr std::array<Explanation, pages.size()> all_explanations = [] {
    std::array<Explanation, pages.size()> all{};
    for (std::size_t i = 0; i < pages.size(); ++i) all[i] = pages[i].explanation;
    return all;
}();

}  // namespace

std::span<const Explanation> explanations() { return all_explanations; }

const Explanation* find_explanation(std::string_view name) {
    const auto same = [&](const Explanation& page) {
        return std::equal(page.name.begin(), page.name.end(), name.begin(), name.end(),
                          [](char a, char b) { return (a == '-' ? '_' : a) == (b == '-' ? '_' : b); });
    };
    const auto found = std::find_if(all_explanations.begin(), all_explanations.end(), same);
    return found == all_explanations.end() ? nullptr : &*found;
}

const Explanation* explanation_of(SloganKind kind) {
    if (kind == SloganKind::none) return nullptr;
    for (std::size_t i = 0; i < pages.size(); ++i)
        if (pages[i].kind == kind) return &all_explanations[i];
    return nullptr;
}

}  // namespace beamheap::analyses
