// SPDX-License-Identifier: Apache-2.0
// The model: what one Erlang node was at one instant, as tables that stay in memory, O(processes).
//
// Every format (crash dump of any release, core image) fills the same tables with the newest release's meaning;
// nothing outside formats/ tests an OTP release. Heaps are not here: they pass through (artifact.hpp).
// Sizes say their unit in the name. A Count without a value, a TextId::none: the input does not hold it.
// Texts are raw bytes of the input: the presenter sanitises them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "beamheap/anomalies.hpp"
#include "beamheap/code_version.hpp"
#include "beamheap/frame_lines.hpp"
#include "beamheap/ids.hpp"
#include "beamheap/interned.hpp"
#include "beamheap/record_names.hpp"

namespace beamheap {

enum class InputFormat : std::uint8_t { crash_dump, core, live };

/// What an input of its kind tells, whatever the release: analyses and verbs ask this, not which kind it is.
struct SourceKind {
    InputFormat format = InputFormat::crash_dump;  ///< to be shown
    /// The VM wrote it at its end, or when it was told to: where it gives no cause, the cause is unknown. False: an
    /// image of memory, which without a cause of death is that of a running node.
    bool report_of_end = true;
    /// All that lies on heaps is in it. False: live terms only, of funs not what they close over.
    bool whole_heaps = false;
    bool places_are_addresses = false;  ///< what was met is placed by address; false: by byte of the file
};
inline constexpr SourceKind crash_dump_kind{};
inline constexpr SourceKind core_kind{InputFormat::core, false, true, true};
inline constexpr SourceKind live_kind{InputFormat::live, false, true, true};

/// How a row of a VM that runs was proved: by reading it again.
enum class RowReading : std::uint8_t {
    whole,    ///< of an input that does not change
    stable,   ///< it stood still while it was read: all of it is of one instant
    moving,   ///< it changed each time: its figures are of several instants, and of stack and terms nothing is told
    running,  ///< a thread worked for it: the same, and what it is doing is not told either
};
std::string_view name_of(RowReading reading);  ///< "stable", "moving", "running"; empty: whole

/// Why no thread of a VM runs, though it has not ended.
enum class VmHalt : std::uint8_t {
    none,
    stopped,  ///< by a signal: SIGSTOP, or a terminal's
    traced,   ///< by a debugger
    frozen    ///< with its control group (a container that is paused)
};
std::string_view name_of(VmHalt halt);  ///< "stopped", "traced", "frozen"; empty: none

/// How a VM that runs was read.
struct LiveReading {
    std::uint32_t pid = 0;        ///< of the system
    std::int64_t read_at_ms = 0;  ///< when the process table was read, since 1970 (UTC)
    double took_ms = 0;           ///< how long that took
    std::uint64_t gone = 0;       ///< processes that ended between the reading of the table and theirs
    bool ended = false;           ///< the VM ended while it was read: what follows is missing
    VmHalt halt = VmHalt::none;   ///< it stands still
};

/// Where the tables come from, and how far the input could be read.
struct Source {
    std::string path;  ///< as the user gave it; "-" is standard input
    SourceKind kind = crash_dump_kind;
    std::string format_version;   ///< "0.5" of a crash dump; empty for a core
    std::string otp_release;      ///< "25", "R15B03"; empty when unknown
    std::string erts_version;     ///< "13.1.5"; empty when unknown
    std::uint32_t word_size = 8;  ///< bytes of a heap word: 4 on 32-bit and halfword emulators
    std::optional<bool> jit;      ///< machine code offsets in stacks (OTP 24 and later with the JIT)
    /// Code begins at an address that is no multiple of four somewhere: it is none of arm64. Only told of stacks'
    /// marks.
    bool unaligned_code = false;
    std::optional<bool> complete;  ///< empty: the end was not looked at (a stream that was read in part)
    std::string truncation;        ///< where and why it ends early, a sentence; empty when it doesn't
    std::uint64_t bytes = 0;       ///< of the decompressed input that was read (the file's size when it is plain)
    bool process_table_complete = true;
    /// Whether a process that is not among Snapshot::processes does not exist: none of them is lost.
    bool all_processes_known() const { return process_table_complete && loss.processes == 0; }
    /// Parts of the input that the question did not need, so that nobody knows what is lost of them: "tables" (memory,
    /// allocators, schedulers, ports, ETS, timers, peers), "code" (modules, funs), "stacks", "heaps" (and binaries),
    /// "atoms", "links" (whether both sides of a link have it).
    std::vector<std::string_view> not_looked_at;
    std::optional<LiveReading> live;  ///< of a VM that runs
    /// What damage within the input took away, as far as that can be told: both are lower bounds.
    struct Loss {
        std::uint64_t processes = 0;  ///< of which something is damaged or missing, or all
        std::uint64_t bytes = 0;      ///< of the input that could not be read
        bool any() const { return processes != 0 || bytes != 0; }
    } loss;
};

enum class ProcessState : std::uint8_t {
    unknown,
    waiting,
    running,
    runnable,
    suspended,
    garbage_collecting,
    exiting,
    free
};
std::string_view name_of(ProcessState state);  ///< Erlang's words: "waiting", "garbage_collecting", ...

enum class LinkKind : std::uint8_t {
    link,          ///< linked process or port
    monitors,      ///< this process monitors the other
    monitored_by,  ///< the other monitors this process
    node_monitor,  ///< this process monitors a node (name)
    resource,      ///< a NIF resource monitors this process (name)
    suspends,      ///< this process has suspended the other
    suspended_by,  ///< the other has suspended this process
};

/// An entry of a process's link list. One of pid, port, name is set; name with node for {Name, Node} monitors.
struct Link {
    LinkKind kind = LinkKind::link;
    Pid pid;
    PortName port;
    TextId name = TextId::none;
    TextId node = TextId::none;
    std::array<std::uint32_t, 3> ref{};  ///< monitor reference's words as printed, most significant first; 0,0,0: none
};

/// One field that the input has and the model has no member for ("CP", "Started", "Last calls").
struct ExtraField {
    TextId key = TextId::none;
    TextId value = TextId::none;
};

/// A slice of a flat table that belongs to one row.
struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// What a slot of a stack held, where that can name somebody. Kept of the youngest frames of the processes that
/// LoadPlan::slots_of chose, as it says (SlotsWanted).
struct StackSlot {
    enum class Kind : std::uint8_t { pid, port, atom, reference } kind = Kind::pid;
    std::uint8_t frame = 0;  ///< index into Process::stack
    std::uint8_t words = 0;  ///< reference: how many
    ProcId process = ProcId::none;
    Pid pid;
    PortName port;
    TextId atom = TextId::none;
    std::array<std::uint32_t, 3>
        ref{};  ///< reference: its three lowest words, the most significant first, as Link::ref
};

/// A place in code to which stacks of the input go back, where the input has no line of it, and what a frame there
/// looks like. Of crash dumps.
struct FramePlace {
    FunctionId function = FunctionId::none;
    std::uint32_t offset = 0;
    static constexpr std::uint32_t unknown = 0xFFFFFFFFu;
    std::uint32_t registers = unknown;  ///< terms of the frame
    std::uint64_t catches = 0;          ///< which of the first 64 are marks of `catch` or `try`
};

struct Process {
    Pid pid;
    Pid parent;                                       ///< "Spawned by"
    TextId name = TextId::none;                       ///< registered name
    TextId label = TextId::none;                      ///< $process_label, printed; none where it has none
    TextId application = TextId::none;                ///< nearest registered ancestor of $ancestors ("group")
    FunctionId initial_call = FunctionId::none;       ///< "Spawned as": what process_info(initial_call) gives
    FunctionId real_initial_call = FunctionId::none;  ///< $initial_call
    FunctionId current_function = FunctionId::none;
    StackId stack = StackId::none;  ///< frames, youngest first; none unless loaded
    ProcessState state = ProcessState::unknown;
    /// process_flag(sensitive, true): no stack, heap, messages, dictionary in a dump. A dump does not say it: it is
    /// known of a process whose stack is there, and where all that there is of stacks was read; else missing.
    std::optional<bool> sensitive;
    bool label_concluded = false;          ///< `label` is none that it was given: its terms say who it is
    bool has_heap = false;                 ///< a heap section or area was found
    bool stack_scanned = false;            ///< stack_words was counted
    TextId internal_state = TextId::none;  ///< flags as the VM prints them, "ACT_PRIO_NORMAL | OFF_HEAP_MSGQ"
    Count msgq_len;
    Count reductions;
    Count memory_bytes;       ///< process_info(memory); since R16B01
    Count heap_words;         ///< young block with its stack, allocated
    Count old_heap_words;     ///< old block, allocated
    Count heap_unused_words;  ///< young block: free space plus the stack
    Count old_heap_unused_words;
    Count stack_words;  ///< used by the stack
    Count fragments;    ///< heap fragments
    Count fragment_words;
    Count bin_vheap_words;  ///< virtual binary heap, young
    Count old_bin_vheap_words;
    Count bin_vheap_unused_words;
    Count old_bin_vheap_unused_words;
    Count live_words;     ///< reachable; only when heaps were decoded, and no registers_lost
    Count garbage_words;  ///< used minus live; only when heaps were decoded
    /// Distinct refc binaries that it keeps; only when heaps were decoded. Of core images and running VMs all, as
    /// process_info(Pid, binary) lists them, messages aside; of crash dumps those that live terms reach.
    Count refc_bytes;
    Count refc_garbage_bytes;  ///< of these, kept by garbage alone, until a collection; missing of crash dumps
    std::uint64_t program_counter = 0;
    std::uint32_t pc_offset = 0;              ///< bytes into current_function's code
    std::uint32_t frames_before_returns = 1;  ///< entries of `stack` above the first return address: 1, or 2 with a CP
    std::uint32_t arity = 0;                  ///< live x registers when it was scheduled out
    /// Terms in x registers, which the input does not write, may hold more than its stack, dictionary and messages do:
    /// what is live on its heaps is unknown. Of crash dumps: whoever runs, hibernates, or was scheduled out at the head
    /// of a function. Core images hold the registers.
    bool registers_lost = false;
    /// Variables that funs among its terms have captured and the input leaves out: what these hold is live, and unseen;
    /// only when heaps were decoded.
    std::uint64_t hidden_captures = 0;
    std::uint32_t links = 0;     ///< number of links
    std::uint32_t monitors = 0;  ///< number of monitors that it holds on others
    Range link_range;            ///< its Links in Snapshot::links; empty unless loaded
    Range extra_range;           ///< its ExtraFields in Snapshot::extras
    RowReading reading = RowReading::whole;
    std::uint64_t version = 0;  ///< of a VM that runs: another number whenever the process has run; 0: none
    std::uint64_t offset = 0;   ///< where its entry begins in the (decompressed) input; address in a core
};

/// What holds a scheduler: its thread has a process and sleeps, in a call of the system that does not come back.
struct SchedulerHold {
    std::uint32_t least_ms = 0;    ///< for which it was looked at and did nothing
    bool uninterruptible = false;  ///< in the kernel: a disk, a file system of another machine
    TextId in = TextId::none;      ///< that call: "write() on standard output, a pipe"
};

struct Scheduler {
    enum class Kind : std::uint8_t { normal, dirty_cpu, dirty_io, dirty_cpu_queue, dirty_io_queue } kind = Kind::normal;
    std::uint32_t id = 0;  ///< 0 for the shared dirty run queues
    TextId sleep_flags = TextId::none;
    TextId aux_work = TextId::none;
    TextId run_queue_flags = TextId::none;
    Pid current_process;
    PortName current_port;
    ProcessState process_state = ProcessState::unknown;
    TextId process_internal_state = TextId::none;
    std::array<Count, 5> run_queue;  ///< lengths: max, high, normal, low, port
    StackId stack =
        StackId::none;  ///< of the current process at the instant of the crash, or of the call that holds it
    std::optional<SchedulerHold> held;  ///< of a VM that runs
    bool crashed = false;               ///< the VM faulted while it wrote this section
};

struct Port {
    PortName port;
    Pid connected;
    Count slot;
    TextId name = TextId::none;  ///< registered name
    TextId state = TextId::none;
    TextId task_flags = TextId::none;
    TextId kind = TextId::none;    ///< "linked-in driver", "external process", "file", "fd", "forker process"
    TextId driver = TextId::none;  ///< driver name, command line or file
    TextId data = TextId::none;
    Count input_bytes, output_bytes, queue_bytes;
    std::vector<Pid> links, monitors, suspended;
};

struct EtsTable {
    Pid owner;
    TextId id = TextId::none;  ///< table id as printed: name, number or #Ref<...>
    TextId name = TextId::none;
    TextId type = TextId::none, protection = TextId::none;
    TextId write_concurrency = TextId::none, read_concurrency = TextId::none;
    std::uint64_t address = 0;  ///< of the table's structure (OTP 21 and later)
    Count objects, words, buckets, fixed;
    Count chain_max, chain_min;
    double chain_avg = -1, chain_std_dev = -1, chain_expected_std_dev = -1;  ///< negative: missing
    std::optional<bool> compressed;
    bool internal = false;  ///< of the VM's own (DEBUG emulators)
};

struct Timer {
    Pid receiver;
    TextId receiver_name = TextId::none;
    TextId message = TextId::none;  ///< as printed, cut at 4096 bytes
    Count left_ms;
};

/// A peer of the distribution.
struct DistNode {
    enum class Kind : std::uint8_t { visible, hidden, not_connected } kind = Kind::visible;
    std::uint32_t channel = 0;  ///< Pid::node of its processes
    TextId name = TextId::none, controller = TextId::none, creation = TextId::none, error = TextId::none;
    std::uint32_t remote_links = 0, remote_monitors = 0, remote_monitored_by = 0;
    std::vector<Pid> spawning;  ///< processes of this node that have asked it for a new one, and have no answer
};

struct Module {
    TextId name = TextId::none;
    Count current_bytes, old_bytes;
    TextId source = TextId::none;      ///< path of its source as the compiler noted it; none: not known
    TextId behaviours = TextId::none;  ///< those that it says to have, blanks between them; none: no dump, or no such
    CodeVersion version;               ///< of the current code
};

/// Funs that the VM knows, one entry per fun of a loaded module.
struct FunEntry {
    TextId module = TextId::none;
    TextId uniq = TextId::none;
    Count index, address, refc;
};

/// One instance of an allocator (or one of its related sections), as key: value lines with up to three numbers
/// (current, highest since the last reading, highest ever). Normalised figures are made by analyses::alloc.
struct AllocatorInstance {
    TextId name = TextId::none;  ///< "eheap_alloc", "mseg_alloc", "erts_mmap.default_mmap"
    std::int32_t instance = -1;  ///< scheduler number, 0 is global; -1 where the section has none
    struct Line {
        TextId key = TextId::none;
        std::array<Count, 3> numbers;
        TextId text = TextId::none;  ///< value where it is no number
    };
    std::vector<Line> lines;
};

/// A hash or index table of the VM: atom_tab, process_reg, ...
struct VmTable {
    TextId name = TextId::none;
    bool index = false;  ///< =index_table (has limit and entries), else =hash_table
    Count size, used, objects, depth, limit, entries;
};

struct NamedBytes {
    TextId name = TextId::none;
    Count bytes, used_bytes;
};

/// The signal that ended the VM, as the kernel notes it in a core image.
struct Signal {
    std::uint32_t number = 0;              ///< of Linux: 11 is SIGSEGV
    std::optional<std::uint64_t> address;  ///< that was touched; none where the signal was sent, or has no address
    /// By whom it was sent; nobody: the kernel raised it for what a thread did, or the input does not tell.
    enum class Sent : std::uint8_t { by_nobody, by_itself, by_another } sent = Sent::by_nobody;
    std::uint32_t sender = 0;  ///< the other process; 0: one outside of the node's container
    friend bool operator==(const Signal&, const Signal&) = default;
};

/// The scheduler on whose thread the node ended, or that called for the dump.
struct CallingScheduler {
    std::optional<Scheduler::Kind> kind;  ///< none: a dirty one, the input does not say which
    std::uint32_t id = 0;                 ///< Scheduler::id; 0 where the kind is not known
};

/// The node and the header of the input.
struct Node {
    TextId name = TextId::none;  ///< "rabbit@host", "nonode@nohost"
    std::optional<bool> distributed;
    std::string created;           ///< local time of the node as printed; no zone
    std::string slogan;            ///< the text that the VM, or who called erlang:halt/1, gave; dumps only
    std::optional<Signal> signal;  ///< of core images: what killed the VM; none: it was alive
    std::optional<CallingScheduler> calling_scheduler;  ///< none: another thread, or not told
    std::string system_version;
    std::string compiled, taints;
    std::string calling_thread;  ///< as the input names it, "scheduler:1"; for people
    Count atoms;                 ///< entries of the atom table
    Count atom_limit, process_limit, port_limit;
    Count current_code_bytes, old_code_bytes;
    Count persistent_terms;        ///< counted while passing by
    Count binaries, binary_bytes;  ///< refc binaries that the input lists, and the sum of their sizes
};

struct Snapshot {
    Source source;
    Node node;
    TextTable texts;
    FunctionTable functions;
    StackTable stacks;
    std::vector<Process> processes;  ///< in the input's order
    std::vector<Link> links;
    std::vector<ExtraField> extras;
    std::vector<StackSlot> slots;          ///< by process as they were met; within one, youngest frame first
    std::vector<FramePlace> frame_places;  ///< each once; empty unless stacks were loaded
    FrameLines frame_lines;                ///< of frames that have no line themselves; empty unless they were found
    std::shared_ptr<RecordNames> records;  ///< what terms are printed and described with; null: no records are named
    std::vector<Scheduler> schedulers;
    std::vector<NamedBytes> memory;  ///< =memory: total, processes, binary, ...
    std::vector<NamedBytes> areas;   ///< =allocated_areas
    std::vector<VmTable> vm_tables;
    std::vector<AllocatorInstance> allocators;
    std::vector<Port> ports;
    std::vector<EtsTable> ets;
    std::vector<Timer> timers;
    std::vector<DistNode> nodes;
    std::vector<Module> modules;
    std::vector<FunEntry> funs;
    std::vector<TextId> atoms;  ///< newest first; empty unless loaded
    Anomalies anomalies;

    std::string_view text(TextId id) const { return texts[id]; }
    /// The process with this pid, or ProcId::none. O(1) after seal().
    ProcId find(Pid pid) const;
    /// The process registered under this name (no quotes), or ProcId::none.
    ProcId find_registered(std::string_view name) const;
    const Process& operator[](ProcId id) const { return processes[index_of(id)]; }
    Process& operator[](ProcId id) { return processes[index_of(id)]; }
    /// Where a frame of `stacks` is in its source.
    FrameLine line_of(const Frame& frame) const;
    /// =memory figure by its key ("total", "processes", "binary", ...).
    Count memory_bytes(std::string_view key) const;
    /// The name of the node that a pid's channel stands for; none if unknown.
    TextId node_name(std::uint32_t channel) const;

    /// Builds the lookups and sums that need the whole table. Formats call it once, at the end of loading.
    void seal();
    /// Adds a row to the lookup as it is loaded; false if this pid is there already (then it is not added).
    bool index_process(ProcId id);
    /// Node names by channel that loading resolved (peer list or atom table).
    std::unordered_map<std::uint32_t, TextId> channel_names;

private:
    struct PidHash {
        std::size_t operator()(const Pid& pid) const {
            return (static_cast<std::size_t>(pid.serial) << 32 | pid.number) * 0x9E3779B97F4A7C15ull ^ pid.node;
        }
    };
    std::vector<std::uint32_t> pid_slots_;  // open addressing over processes, index + 1
    std::size_t pid_count_ = 0;
    std::unordered_map<std::uint32_t, ProcId> by_name_;  // TextId -> process
};

}  // namespace beamheap
