// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/processes/process_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "formats/otp/processes/links.hpp"
#include "formats/otp/processes/live_row.hpp"
#include "formats/otp/processes/process_identity.hpp"
#include "formats/otp/processes/queues.hpp"
#include "formats/otp/processes/stack.hpp"
#include "formats/otp/vm/cycle.hpp"
#include "formats/otp/vm/young_heap.hpp"

namespace beamheap::otp {
namespace {

using bytes::Bytes;
using bytes::load;

constexpr std::uint64_t largest_block = 1ull << 42;  // words of one heap
constexpr std::uint64_t rows_between_progress = 1024;
constexpr std::size_t most_slots_beyond =
    1u << 18;  // of the process table, looked at whatever its count says: the usual one whole
constexpr std::size_t saved_calls_index = 1;
constexpr std::uint32_t sensitive_flag = 1u << 3;  // F_SENSITIVE, above the bits of the time stamp's kind

// State bits from bit 6 on (ERTS_PSFLG_*); bits 12 and 19 changed their meaning (StateNames).
struct StateName {
    unsigned bit;
    const char* name;
};
constexpr StateName state_names[] = {{6, "IN_PRQ_MAX"},
                                     {7, "IN_PRQ_HIGH"},
                                     {8, "IN_PRQ_NORMAL"},
                                     {9, "IN_PRQ_LOW"},
                                     {10, "FREE"},
                                     {11, "EXITING"},
                                     {12, "MSG_SIG_IN_Q"},
                                     {13, "ACTIVE"},
                                     {14, "IN_RUNQ"},
                                     {15, "RUNNING"},
                                     {16, "SUSPENDED"},
                                     {17, "GC"},
                                     {18, "SYS_TASKS"},
                                     {19, "NMSG_SIG_IN_Q"},
                                     {20, "ACTIVE_SYS"},
                                     {21, "RUNNING_SYS"},
                                     {22, "PROXY"},
                                     {23, "DELAYED_SYS"},
                                     {24, "OFF_HEAP_MSGQ"},
                                     {25, "SIG_Q"},
                                     {26, "DIRTY_CPU_PROC"},
                                     {27, "DIRTY_IO_PROC"},
                                     {28, "DIRTY_ACTIVE_SYS"},
                                     {29, "DIRTY_RUNNING"},
                                     {30, "DIRTY_RUNNING_SYS"}};

// Rows are large and their keys are not: the keys are sorted, and each row then moves once.
void sort_by_pid(std::vector<Process>& rows) {
    struct Key {
        std::uint64_t pid;
        std::uint32_t row;
    };
    std::vector<Key> keys(rows.size());
    for (std::uint32_t i = 0; i < rows.size(); ++i)
        keys[i] = {static_cast<std::uint64_t>(rows[i].pid.serial) << 32 | rows[i].pid.number, i};
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) { return a.pid < b.pid; });
    for (std::uint32_t i = 0; i < rows.size();
         ++i) {  // cycle by cycle: the row that belongs at i, then where that one was
        if (keys[i].row == i) continue;
        const Process first = rows[i];
        std::uint32_t at = i;
        while (keys[at].row != i) {
            const std::uint32_t from = keys[at].row;
            rows[at] = rows[from];
            keys[at].row = at;
            at = from;
        }
        rows[at] = first;
        keys[at].row = at;
    }
}

class TableReader {
public:
    TableReader(Reader& reader, const LoadPlan& plan)
        : reader_(reader),
          plan_(plan),
          at_(reader.at),
          memory_(reader.memory),
          frames_(reader),
          links_(reader),
          labels_(reader),
          batch_(reader.memory, reader.vm.layout) {}

    void run(const Progress& progress) {
        SlotTable table = reader_.vm.processes;
        running_ = running_threads(reader_.vm, memory_);
        if (live_)  // its count changes all the time
            if (const auto now = SlotTable::read(memory_, reader_.vm.layout, reader_.vm.roots.process_table))
                table = *now;
        Bytes slots = memory_.from(table.slots, std::uint64_t{table.max} * 8);
        std::vector<std::byte> kept;
        if (live_) {
            kept.assign(slots.begin(), slots.end());
            slots = kept;
        }
        std::vector<Process>& rows = reader_.snapshot.processes;
        rows.reserve(std::min<std::size_t>(table.count, slots.size() / 8));
        // The VM's own count tells where the rest of a huge table is empty, and whether all are there.
        std::uint64_t found = 0, being_made = 0;
        std::vector<std::uint64_t> batch;
        std::vector<std::size_t> batch_slots;
        for (std::size_t i = 0; (i + 1) * 8 <= slots.size() && (found < table.count || i < most_slots_beyond); ++i) {
            const auto element = load<Word>(slots.data() + 8 * i);
            if (element == 0) continue;
            if (progress && found % rows_between_progress == 0) progress(0, 0);
            ++found;
            if (element == table.invalid) ++being_made;
            else if (!live_) add_read(element, structure(element), i, false);
            else {
                batch.push_back(element);
                batch_slots.push_back(i);
                if (batch.size() == RowBatch::most) add_batch(batch, batch_slots);
            }
        }
        if (live_) add_batch(batch, batch_slots);
        if (!live_) check_counts(table, slots, found, being_made);
        add_unlisted();
        if (live_) reader_.snapshot.source.live->gone += gone_;
        sort_by_pid(rows);
        for (std::uint32_t i = 0; i < rows.size(); ++i) reader_.snapshot.index_process(static_cast<ProcId>(i));
        if (plan_.labels) labels_.resolve(rows);
    }

    /// Reads a row again, in its place.
    std::optional<RowReading> again(ProcId id) {
        std::vector<Process>& rows = reader_.snapshot.processes;
        const Process before = reader_.snapshot[id];
        const std::size_t count = rows.size();
        add_live(before.offset, std::nullopt, most_tries);
        if (rows.size() == count) return std::nullopt;
        Process now = rows.back();
        rows.pop_back();
        if (!(now.pid == before.pid)) return std::nullopt;
        now.application = before.application;  // of an ancestor that may have been registered meanwhile
        if (plan_.labels) labels_.forget_from(0);
        if (before.label_concluded && now.label == TextId::none) {
            now.label = before.label;
            now.label_concluded = true;
        }
        reader_.snapshot[id] = now;
        return now.reading;
    }

private:
    void check_counts(const SlotTable& table, const Bytes& slots, std::uint64_t found, std::uint64_t being_made) {
        if (being_made != 0)
            reader_.snapshot.anomalies.add(
                Anomaly::inconsistent_state, table.slots,
                fmt::format("{} of the process table's slots are reserved for processes that are being made",
                            being_made));
        if (slots.size() != std::uint64_t{table.max} * 8 && found < table.count) {
            reader_.snapshot.anomalies.add(Anomaly::unreadable_memory, table.slots, "the process table is not whole");
            reader_.snapshot.source.process_table_complete = false;
        } else if (found != table.count) {
            reader_.snapshot.anomalies.add(
                Anomaly::inconsistent_state, table.slots,
                fmt::format("the process table has {} processes, and counts {}", found, table.count));
            if (found < table.count) reader_.snapshot.source.process_table_complete = false;
        }
    }

    // Processes on their way out: in no table any more, but a scheduler still works for them.
    void add_unlisted() {
        // Of schedulers that are lost nobody knows whom they work for.
        for (const std::string& missing : reader_.vm.roots.missing)
            if (missing.ends_with("schedulers")) reader_.snapshot.source.process_table_complete = false;
        for (const auto* list :
             {&reader_.vm.roots.schedulers, &reader_.vm.roots.dirty_cpu, &reader_.vm.roots.dirty_io}) {
            if (list->empty()) reader_.snapshot.source.process_table_complete = false;  // every VM has some of each
            for (const std::uint64_t scheduler : *list) {
                const auto process = memory_.word(scheduler + at_.scheduler_process);
                if (!process) reader_.snapshot.source.process_table_complete = false;  // who ran there is not known
                else if (*process != 0 && !live_ && !listed(*process))
                    add_read(*process, structure(*process), std::nullopt, true);
            }
        }
    }

    bool listed(std::uint64_t address) const {
        return std::any_of(reader_.snapshot.processes.begin(), reader_.snapshot.processes.end(),
                           [address](const Process& p) { return p.offset == address; });
    }

    // Reads many processes side by side, and those that did not stand still once more, each by itself.
    void add_batch(std::vector<std::uint64_t>& processes, std::vector<std::size_t>& slots) {
        batch_.fetch(processes, plan_.labels   ? RowBatch::Depth::heap
                                : plan_.stacks ? RowBatch::Depth::stack
                                               : RowBatch::Depth::row);
        std::vector<std::size_t> moved;
        for (std::size_t i = 0; i < processes.size(); ++i)
            if (!add_still(
                    processes[i], batch_.row(i), slots[i], [&] { return batch_.after(i); }, false))
                moved.push_back(i);
        for (const std::size_t i : moved) add_live(processes[i], slots[i], most_tries - 1);
        processes.clear();
        slots.clear();
    }

    // Reads a process until it stands still meanwhile.
    void add_live(std::uint64_t address, std::optional<std::size_t> slot, unsigned tries) {
        const auto now = [&] { return key_now(memory_, at_, address); };
        for (bool done = false; !done && tries > 0; --tries) {
            memory_.forget();
            const std::byte* p = address % 8 == 0 ? memory_.probe(address, at_.process_size) : nullptr;
            done = add_still(address, p, slot, now, tries == 1);
        }
    }

    // Reads a process whose structure is `p`; `after_it` gives its key when all is read. False: it moved, nothing was
    // added, and this was not the last try. What an attempt has left behind is taken back before the next one; what is
    // damaged in a row that moves is the movement's.
    template <class After>
    bool add_still(std::uint64_t address, const std::byte* p, std::optional<std::size_t> slot, const After& after_it,
                   bool last) {
        Snapshot& snapshot = reader_.snapshot;
        const std::size_t rows = snapshot.processes.size(), links = snapshot.links.size(),
                          ancestors = labels_.remembered();
        const std::uint64_t met = snapshot.anomalies.total();
        if (met != met_before_.total()) met_before_ = snapshot.anomalies;
        const auto take_back = [&] {
            snapshot.processes.resize(rows);
            snapshot.links.resize(links);
            labels_.forget_from(ancestors);
            if (snapshot.anomalies.total() != met) snapshot.anomalies = met_before_;
        };
        const RowKey before = p == nullptr ? RowKey{} : key_of(at_, p);
        still_ = !before.runs();
        if (before.is_process() && !before.freed()) add_read(address, p, slot, false);
        const std::optional<RowKey> after = after_it();
        if (snapshot.processes.size() == rows || !after || after->words[0] != before.words[0] || after->freed()) {
            take_back();
            ++gone_;
            return true;
        }
        Process& row = snapshot.processes.back();
        row.version = before.version();
        row.reading = RowReading::stable;
        if (before.same(*after) && (fits_ || row.state == ProcessState::exiting)) return true;
        if (before.runs() || after->runs()) row.reading = RowReading::running;
        else if (last) row.reading = RowReading::moving;
        else {
            take_back();
            return false;
        }
        if (snapshot.anomalies.total() != met) snapshot.anomalies = met_before_;
        labels_.forget_from(ancestors);
        leave_figures(row);
        return true;
    }

    // Of a process that did not stand still: its figures. Where it is in its code, what is on its heap and what it says
    // of itself there may be of several instants.
    static void leave_figures(Process& row) {
        row.version = 0;
        row.stack = StackId::none;
        row.stack_scanned = row.has_heap = false;
        row.real_initial_call = FunctionId::none;
        row.label = row.application = TextId::none;
        if (row.reading != RowReading::running) return;
        row.state = row.state == ProcessState::garbage_collecting || row.state == ProcessState::exiting
                        ? row.state
                        : ProcessState::running;
        row.current_function = FunctionId::none;
        row.program_counter = row.pc_offset = 0;
    }

    const std::byte* structure(std::uint64_t address) {
        return address % 8 == 0 ? memory_.at(address, at_.process_size) : nullptr;
    }

    // `p`: its structure, null where that is not there.
    void add_read(std::uint64_t address, const std::byte* p, std::optional<std::size_t> slot, bool unlisted) {
        Anomalies& anomalies = reader_.snapshot.anomalies;
        if (p == nullptr || !is_pid(load<Word>(p))) {
            anomalies.add(p == nullptr ? Anomaly::unreadable_memory : Anomaly::inconsistent_state, address,
                          "an element of the process table");
            reader_.snapshot.source.process_table_complete = false;
            return;
        }
        if (slot && reader_.vm.processes.slot_of(load<Word>(p), reader_.vm.layout.pid_form) != *slot)
            anomalies.add(Anomaly::inconsistent_state, address,
                          "a process whose identifier belongs to another slot of the table");
        Process row;
        row.offset = address;
        row.pid = reader_.pid(load<Word>(p));
        const auto bits = load<std::uint32_t>(p + at_.process_state);
        row.state = state_of(bits);
        row.internal_state = flags(bits);
        if (unlisted) row.state = ProcessState::exiting;
        row.sensitive = (load<std::uint32_t>(p + at_.process_trace_flags) & sensitive_flag) != 0;
        const bool exiting = (bits & state::exiting) != 0;
        if (!exiting)
            if (const auto entry = load<Word>(p + at_.process_registered); entry != 0)
                if (row.name = reader_.atom(memory_.word(entry + at_.registered_name).value_or(0));
                    row.name == TextId::none)
                    anomalies.add(Anomaly::inconsistent_state, entry, "the registered name of a process");
        row.parent = reader_.pid(load<Word>(p + at_.process_parent));
        const Mfa initial{load<Word>(p + at_.process_initial), load<Word>(p + at_.process_initial + 8),
                          static_cast<std::uint32_t>(load<Word>(p + at_.process_initial + 16)) & 0xff};
        if ((bits & state::free) == 0) {
            row.initial_call = reader_.function(initial);
            if (row.initial_call == FunctionId::none && !exiting)
                anomalies.add(Anomaly::inconsistent_state, address, "the initial call of a process");
        }
        row.reductions = load<Word>(p + at_.process_reductions);
        row.arity = arity(p);
        heap(p, bits, row, anomalies);
        queue(p, row, anomalies);
        if (!exiting) link(p, row, anomalies);
        code(p, bits, unlisted, row, anomalies);
        memory(p, bits, row);
        if (plan_.labels && !exiting && still_ && reader_.vm.terms_readable && !labels_.read(p, row) &&
            (bits & (state::gc | state::running | state::dirty_running)) == 0)
            anomalies.add(Anomaly::inconsistent_state, address,
                          "a process dictionary has not the entries that it counts");
        reader_.snapshot.processes.push_back(row);
    }

    std::uint32_t arity(const std::byte* p) const {
        // A byte since OTP 27, where three of them stand in a row; a word before.
        return at_.process_arity % 8 != 0 ? std::to_integer<std::uint32_t>(p[at_.process_arity])
                                          : static_cast<std::uint32_t>(load<Word>(p + at_.process_arity));
    }

    TextId flags(std::uint32_t bits) {
        for (const auto& [known, text] : flag_texts_)
            if (known == bits) return text;
        const TextId text = reader_.snapshot.texts.intern(state_flags(reader_.vm.layout, bits));
        if (flag_texts_.size() < 256) flag_texts_.emplace_back(bits, text);
        return text;
    }

    void heap(const std::byte* p, std::uint32_t bits, Process& row, Anomalies& anomalies) {
        YoungHeap young = read_young_heap(memory_, reader_.vm.layout, p);
        for (const RunningThread& thread : running_)
            if (thread.process == row.offset) young.goes_on(thread.heap_top, thread.stop);
        const auto old = load<Word>(p + at_.process_old_heap), old_top = load<Word>(p + at_.process_old_top),
                   old_end = load<Word>(p + at_.process_old_end);
        if (young.fits) {
            row.heap_words = young.words;
            row.stack_words = (young.end - young.stop) / 8;
            row.stack_scanned = true;
            row.has_heap = reader_.vm.terms_readable && (bits & state::gc) == 0 && memory_.mapped(young.start);
            // Its stack moved to the fragment, and left room in the block.
            row.heap_unused_words =
                young.abandoned() ? young.words - (young.block_top - young.block) / 8 : (young.end - young.top) / 8;
        } else if ((bits & (state::gc | state::free | state::exiting)) == 0) {
            anomalies.add(Anomaly::inconsistent_state, row.offset, "heap and stack of a process");
        } else if (young.words <= largest_block) {
            row.heap_words = young.words;
        }
        const std::uint64_t most_words = memory_.space().most_bytes() / 8;
        if (old <= old_top && old_top <= old_end && (old_end - old) / 8 <= most_words) {
            row.old_heap_words = (old_end - old) / 8;
            row.old_heap_unused_words = (old_end - old_top) / 8;
        } else if ((bits & (state::gc | state::free | state::exiting)) == 0) {
            anomalies.add(Anomaly::inconsistent_state, row.offset, "the old heap of a process");
        }
        // The fragment that stands in for the heap is in no list yet.
        auto in_list = load<Word>(p + at_.process_fragment_words);
        if (in_list <= most_words) {
            row.fragment_words = in_list + (young.abandoned() ? (young.top - young.start) / 8 : 0);
        } else {
            in_list = 0;
            anomalies.add(Anomaly::inconsistent_state, row.offset, "the size of a process's heap fragments");
        }
        row.fragments = fragments(load<Word>(p + at_.process_fragments));
        if (young.abandoned()) row.fragments = row.fragments + 1;
        // At the end of a collection they are freed before the process forgets them.
        if (!row.fragments.has() && (bits & state::gc) == 0)
            anomalies.add(Anomaly::unreadable_memory, row.offset, "heap fragments of a process");
        const auto overhead = load<Word>(p + at_.process_off_heap_overhead),
                   size = load<Word>(p + at_.process_bin_vheap),
                   old_overhead = load<Word>(p + at_.process_old_bin_vheap),
                   old_size = load<Word>(p + at_.process_old_bin_vheap_size);
        row.bin_vheap_words = overhead;
        row.old_bin_vheap_words = old_overhead;
        if (overhead <= size) row.bin_vheap_unused_words = size - overhead;
        if (old_overhead <= old_size) row.old_bin_vheap_unused_words = old_size - old_overhead;
        fits_ = young.fits;
        stop_ = young.fits ? young.stop : 0;
        end_ = young.end;
        // Both are counted as allocated, not as used (erts_process_memory).
        heap_bytes_ = 8 * (row.heap_words.value_or(0) + in_list);
        if (!young.abandoned()) return;
        heap_bytes_ += young.end - young.start;
        anomalies.add(Anomaly::collection_awaited, row.offset);
    }

    // How many are in a list; missing where it leads to what is no fragment.
    Count fragments(std::uint64_t fragment) {
        std::uint32_t count = 0;
        Cycle cycle;
        for (; fragment != 0; ++count) {
            if (cycle.closed_by(fragment)) return {};
            const std::byte* head = fragment % 8 == 0 ? memory_.probe(fragment, at_.fragment_memory) : nullptr;
            const auto room = head == nullptr ? 0 : load<Word>(head + at_.fragment_allocated);
            if (room == 0 || load<Word>(head + at_.fragment_used) > room) return {};
            fragment = load<Word>(head + at_.fragment_next);
        }
        return count;
    }

    void queue(const std::byte* p, Process& row, Anomalies& anomalies) {
        queue_ = sum_queues(reader_, p);
        if (queue_.cyclic)
            anomalies.add(Anomaly::inconsistent_state, row.offset, "a signal queue leads back into itself");
        else row.msgq_len = queue_.messages;
        if (!queue_.cyclic && !queue_.cut && queue_.messages < least_messages(reader_, p))
            anomalies.add(Anomaly::messages_lost, row.offset, "a message queue is shorter than its own count");
        if (queue_.cut) anomalies.add(Anomaly::unreadable_memory, row.offset, "the rest of a signal queue");
        if (queue_.fragments_cut) anomalies.add(Anomaly::inconsistent_state, row.offset, "heap fragments of messages");
    }

    void link(const std::byte* p, Process& row, Anomalies& anomalies) {
        std::vector<Link>* out = plan_.links ? &reader_.snapshot.links : nullptr;
        row.link_range.first = static_cast<std::uint32_t>(reader_.snapshot.links.size());
        link_sums_ = links_.read({load<Word>(p + at_.process_links), load<Word>(p + at_.process_monitors),
                                  load<Word>(p + at_.process_monitored_by)},
                                 out);
        row.links = link_sums_.links;
        row.monitors = link_sums_.monitors;
        row.link_range.count = static_cast<std::uint32_t>(reader_.snapshot.links.size()) - row.link_range.first;
        if (link_sums_.damaged)
            anomalies.add(Anomaly::inconsistent_state, row.offset, "links or monitors of a process");
    }

    // The current function and the stack. Process.i and .current are what a process was scheduled out with; while a
    // thread runs its JIT code, the thread's own program counter counts.
    void code(const std::byte* p, std::uint32_t bits, bool unlisted, Process& row, Anomalies& anomalies) {
        if ((bits & state::free) != 0 && !unlisted) return;
        std::uint64_t pc = load<Word>(p + at_.process_pc);
        auto current = load<Word>(p + at_.process_current);
        for (const RunningThread& thread : running_) {
            if (thread.process != row.offset) continue;
            pc = thread.thread->program_counter;
            current = 0;
        }
        row.program_counter = pc;
        const Frame going_on = frames_.going_on_at(pc);
        Frame top = going_on;
        if (current != 0) {
            if (const auto mfa = Code::mfa_at(memory_, current)) {
                const FunctionId function = reader_.function(*mfa);
                if (function != going_on.function) top = Frame{function, 0, 0, TextId::none};
            } else {
                anomalies.add(Anomaly::inconsistent_state, current, "the function that a process is in");
            }
        }
        row.current_function = top.function;
        row.pc_offset = top.offset;
        // What runs is shown with its scheduler as well.
        const bool runs =
            unlisted || row.state == ProcessState::running || row.state == ProcessState::garbage_collecting;
        if ((!plan_.stacks && !runs) || stop_ == 0 || !still_) return;
        // At the end of a collection the old block may have been given back.
        const bool collecting = (bits & state::gc) != 0;
        const std::byte* words = collecting ? memory_.probe(stop_, end_ - stop_) : memory_.at(stop_, end_ - stop_);
        if (words == nullptr) {
            if (collecting) return;
            if (end_ != stop_) anomalies.add(Anomaly::unreadable_memory, stop_, "a stack");
            return;
        }
        stack_.clear();
        row.frames_before_returns = top.function != FunctionId::none ? 1 : 0;
        if (top.function != FunctionId::none) stack_.push_back(top);
        if (zeroed_words(reader_.vm, words, (end_ - stop_) / 8) != 0) anomalies.add(Anomaly::zeroed, stop_, "a stack");
        read_frames(reader_.vm, frames_, words, (end_ - stop_) / 8, stack_);
        if (!stack_.empty()) row.stack = reader_.snapshot.stacks.intern(stack_);
    }

    // erts_process_memory (erl_process_dump.c): the same sum, of what is not in transit.
    void memory(const std::byte* p, std::uint32_t bits, Process& row) {
        if (!row.heap_words.has()) return;
        std::uint64_t bytes = at_.process_size + heap_bytes_;
        if ((bits & state::exiting) == 0) bytes += link_sums_.bytes;
        bytes += 8 * row.old_heap_words.value_or(0);
        bytes += queue_.messages * at_.message_size + 8 * queue_.fragment_words + queue_.marker_bytes;
        if (load<Word>(p + at_.process_argument_registers) != row.offset + at_.process_default_registers)
            bytes += 8ull * row.arity;
        if (const auto specific = load<Word>(p + at_.process_specific); specific != 0) {
            bytes += at_.process_specific_size;
            // struct saved_calls {int len, n, cur; Export* ct[1];}
            const auto calls = memory_.word(specific + 8 * saved_calls_index);
            if (calls && *calls != 0)
                if (const auto length = memory_.word32(*calls); length && *length != 0 && *length < (1u << 20))
                    bytes += 16 + 8ull * *length;
        }
        if (const auto dictionary = load<Word>(p + at_.process_dictionary); dictionary != 0)
            if (const auto slots = memory_.word32(dictionary + at_.dictionary_slots);
                slots && 8ull * *slots <= memory_.space().most_bytes())
                bytes += at_.dictionary_size + 8ull * *slots - 8;
        row.memory_bytes = bytes;
    }

    Reader& reader_;
    const LoadPlan& plan_;
    const Offsets& at_;
    bytes::MemoryReader& memory_;
    FrameCache frames_;
    LinkReader links_;
    LabelReader labels_;
    RowBatch batch_;
    Anomalies met_before_;  // those of the snapshot, as they were before the row at hand
    std::vector<RunningThread> running_;
    std::vector<std::pair<std::uint32_t, TextId>> flag_texts_;
    std::vector<Frame> stack_;
    QueueSums queue_;
    LinkSums link_sums_;
    const bool live_ = memory_.view() != nullptr;
    bool still_ = true;  // of a running VM: no thread worked for the process when its reading began
    bool fits_ = true;   // its heap's pointers are in order
    std::uint64_t gone_ = 0;
    std::uint64_t stop_ = 0, end_ = 0;
    std::uint64_t heap_bytes_ = 0;  // allocated: young heap, fragments
};

}  // namespace

ProcessState state_of(std::uint32_t bits) {
    if ((bits & state::exiting) != 0) return ProcessState::exiting;
    if ((bits & state::gc) != 0) return ProcessState::garbage_collecting;
    if ((bits & (state::running | state::running_sys | state::dirty_running | state::dirty_running_sys)) != 0)
        return ProcessState::running;
    if ((bits & state::suspended) != 0) return ProcessState::suspended;
    if ((bits & (state::active | state::active_sys)) != 0) return ProcessState::runnable;
    return ProcessState::waiting;
}

std::string state_flags(const Layout& layout, std::uint32_t bits) {
    static constexpr const char* priorities[] = {"MAX", "HIGH", "NORMAL", "LOW"};
    // By StateNames.
    static constexpr std::string_view bit_12[] = {"UNUSED", "MAYBE_SELF_SIGS", "MSG_SIG_IN_Q"};
    static constexpr std::string_view bit_19[] = {"SIG_IN_Q", "SIG_IN_Q", "NMSG_SIG_IN_Q"};
    std::string text = std::string{"ACT_PRIO_"} + priorities[bits & 3] + " | USR_PRIO_" + priorities[bits >> 2 & 3] +
                       " | PRQ_PRIO_" + priorities[bits >> 4 & 3];
    for (const StateName& state : state_names) {
        if ((bits >> state.bit & 1) == 0) continue;
        std::string_view name = state.name;
        if (state.bit == 12) name = bit_12[static_cast<std::size_t>(layout.state_names)];
        if (state.bit == 19) name = bit_19[static_cast<std::size_t>(layout.state_names)];
        text.append(" | ").append(name);
    }
    return text;
}

namespace {

// Where the JIT keeps what belongs to the process whose code runs: the process, the top of its stack and of its heap
// (beam/jit/x86/beam_asm.hpp, OTP 24 to 29; beam/jit/arm/beam_asm.hpp, OTP 25 to 29; observed on cores of 25, 27, 29).
// The stack of a process is rsp on x86-64, and an ordinary register on arm64.
RunningThread registers_of_jit(const bytes::CoreThread& thread, std::uint16_t machine) {
    using bytes::Arm64, bytes::X86;
    if (machine == bytes::elf::machine_aarch64)
        return {&thread, thread[Arm64::x21], thread[Arm64::x20], thread[Arm64::x23]};
    return {&thread, thread[X86::r13], thread[X86::rsp], thread[X86::r15]};
}

}  // namespace

std::vector<RunningThread> running_threads(const Vm& vm, bytes::MemoryReader& memory) {
    std::vector<RunningThread> running;
    if (!vm.image->build().jit) return running;
    for (const bytes::CoreThread& thread : vm.image->notes().threads) {
        if (!vm.code.holds(thread.program_counter)) continue;
        const RunningThread found = registers_of_jit(thread, vm.image->machine());
        const std::byte* p = memory.probe(found.process, vm.layout.at.process_size);
        if (p == nullptr || !is_pid(load<Word>(p))) continue;
        const auto start = load<Word>(p + vm.layout.at.process_heap),
                   end = load<Word>(p + vm.layout.at.process_heap_end);
        if (found.stop >= start && found.stop <= end) running.push_back(found);
    }
    return running;
}

void read_processes(Reader& reader, const LoadPlan& plan, const Progress& progress) {
    TableReader(reader, plan).run(progress);
}

struct RowRefresher::Parts {
    Parts(Reader& r, const LoadPlan& plan) : reader(r), table(r, plan) {}
    Reader& reader;
    TableReader table;
};

RowRefresher::RowRefresher(Reader& reader, const LoadPlan& plan) : parts_(std::make_unique<Parts>(reader, plan)) {}
RowRefresher::~RowRefresher() = default;

std::optional<RowReading> RowRefresher::refresh(ProcId id) { return parts_->table.again(id); }

bool RowRefresher::still(ProcId id) {
    const Process& row = parts_->reader.snapshot[id];
    const auto now = key_now(parts_->reader.memory, parts_->reader.at, row.offset);
    return row.version != 0 && now && !now->runs() && now->version() == row.version;
}

}  // namespace beamheap::otp
