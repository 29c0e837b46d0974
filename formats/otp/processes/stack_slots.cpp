// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/processes/stack_slots.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "formats/otp/processes/live_row.hpp"
#include "formats/otp/processes/process_table.hpp"
#include "formats/otp/processes/stack.hpp"
#include "formats/otp/vm/references.hpp"
#include "formats/otp/vm/young_heap.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr std::uint32_t youngest_frames = 3;

class SlotReader {
public:
    explicit SlotReader(Reader& reader)
        : reader_(reader), memory_(reader.memory), running_(running_threads(reader.vm, reader.memory)) {}

    void read(ProcId id, SlotsWanted wanted) {
        read(id, wanted, memory_.at(reader_.snapshot[id].offset, reader_.at.process_size));
    }
    /// `p`: its structure, null where that is not there.
    void read(ProcId id, SlotsWanted wanted, const std::byte* p) {
        const Process& row = reader_.snapshot[id];
        all_ = wanted == SlotsWanted::all;
        if (!all_ && row.state != ProcessState::waiting) return;
        references_ = all_ || row.monitors != 0;
        const std::uint32_t frames = all_ ? youngest_frames : 1;
        const std::uint64_t process = reader_.snapshot[id].offset;
        if (p == nullptr || (load<std::uint32_t>(p + reader_.at.process_state) & state::gc) != 0) return;
        YoungHeap young = read_young_heap(memory_, reader_.vm.layout, p);
        for (const RunningThread& thread : running_)
            if (thread.process == process) young.goes_on(thread.heap_top, thread.stop);
        const std::uint64_t count = young.fits ? (young.end - young.stop) / 8 : 0;
        const std::byte* words = count == 0 ? nullptr : memory_.at(young.stop, count * 8);
        if (words == nullptr) return;
        each_stack_word(reader_.vm, memory_, words, count, [&](const StackWord& at) {
            if (at.frame == no_frame || at.frame < frames) add(id, at);
            return at.frame == no_frame || at.frame < frames;
        });
    }

private:
    void add(ProcId process, const StackWord& at) {
        if (at.frame == no_frame) return;
        StackSlot slot;
        slot.process = process;
        slot.frame = static_cast<std::uint8_t>(at.frame);
        const Word word = at.word;
        if (is_pid(word)) {
            slot.pid = reader_.pid(word);
        } else if (is_port(word)) {
            slot.kind = StackSlot::Kind::port;
            slot.port = reader_.port(word);
        } else if (!all_ && (!is_boxed(word) || !references_)) {
            return;
        } else if (is_atom(word)) {
            slot.kind = StackSlot::Kind::atom;
            slot.atom = reader_.atom(word);
            if (slot.atom == TextId::none) return;
        } else if (!is_boxed(word) || !object(word, slot)) {
            return;
        }
        reader_.snapshot.slots.push_back(slot);
    }

    bool object(Word word, StackSlot& slot) {
        const std::byte* p = memory_.probe(address_of(word), 8);
        if (p == nullptr || !is_header(load<Word>(p))) return false;
        const auto header = load<Word>(p);
        switch (reader_.vm.layout.tags[header_subtag(header)]) {
            case Tag::external_pid: slot.pid = reader_.pid(word); return true;
            case Tag::reference:
            case Tag::external_reference: {
                const ReferenceNumbers numbers =
                    reference_numbers(memory_, reader_.vm.layout, address_of(word), header);
                slot.kind = StackSlot::Kind::reference;
                slot.words = static_cast<std::uint8_t>(numbers.count);
                for (std::size_t i = 0; i < slot.ref.size() && i < numbers.count; ++i)
                    slot.ref[slot.ref.size() - 1 - i] = numbers.words[i];
                return true;
            }
            default: return false;
        }
    }

    Reader& reader_;
    bytes::MemoryReader& memory_;
    std::vector<RunningThread> running_;
    bool all_ = true, references_ = true;  // what is kept of the process at hand
};

// Which slots are wanted of a process by the function that it is in.
class Wanted {
public:
    Wanted(Snapshot& snapshot, const LoadPlan& plan) : snapshot_(snapshot), plan_(plan) {}
    SlotsWanted of(ProcId id) {
        const FunctionId function = snapshot_[id].current_function;
        if (function == FunctionId::none || index_of(function) >= snapshot_.functions.size()) return SlotsWanted::none;
        if (index_of(function) >= functions_.size()) functions_.resize(snapshot_.functions.size());
        std::optional<SlotsWanted>& known = functions_[index_of(function)];
        if (!known) known = plan_.slots_of(snapshot_, function);
        return *known;
    }

private:
    Snapshot& snapshot_;
    const LoadPlan& plan_;
    std::vector<std::optional<SlotsWanted>> functions_;
};

// Of a running VM: slots of a stack that stood still, from the instant of its row on. A process that has moved since is
// read once more, with its row; what moves each time has no slots.
void read_live_slots(Reader& reader, const LoadPlan& plan, SlotReader& slots, Wanted& wanted) {
    Snapshot& snapshot = reader.snapshot;
    RowBatch batch(reader.memory, reader.vm.layout);
    RowRefresher rows(reader, plan);
    std::vector<ProcId> chosen;
    std::vector<std::uint64_t> addresses;
    for (std::uint32_t next = 0; next < snapshot.processes.size();) {
        chosen.clear();
        addresses.clear();
        for (; next < snapshot.processes.size() && chosen.size() < RowBatch::most; ++next) {
            if (snapshot.processes[next].version == 0 || wanted.of(ProcId{next}) == SlotsWanted::none) continue;
            chosen.push_back(ProcId{next});
            addresses.push_back(snapshot.processes[next].offset);
        }
        if (chosen.empty()) return;
        batch.fetch(addresses, RowBatch::Depth::heap);
        std::vector<ProcId> moved;
        const auto had = [&](std::size_t count) { snapshot.slots.resize(count); };
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const std::size_t count = snapshot.slots.size();
            slots.read(chosen[i], wanted.of(chosen[i]), batch.row(i));
            const std::optional<RowKey>& before = batch.before(i);
            const std::optional<RowKey> after = batch.after(i);
            if (before && after && before->same(*after) && after->version() == snapshot[chosen[i]].version) continue;
            had(count);
            moved.push_back(chosen[i]);
        }
        for (const ProcId id : moved) {
            const std::size_t count = snapshot.slots.size();
            for (unsigned tries = 0; tries < most_tries; ++tries) {
                if (rows.refresh(id) != RowReading::stable) break;
                if (const SlotsWanted some = wanted.of(id); some != SlotsWanted::none) slots.read(id, some);
                if (rows.still(id)) break;
                had(count);
            }
        }
    }
}

}  // namespace

void read_stack_slots(Reader& reader, const LoadPlan& plan) {
    if (plan.slots_of == nullptr || !reader.vm.terms_readable) return;
    Snapshot& snapshot = reader.snapshot;
    SlotReader slots(reader);
    Wanted wanted(snapshot, plan);
    if (reader.memory.view() != nullptr) {
        read_live_slots(reader, plan, slots, wanted);
        std::ranges::stable_sort(snapshot.slots, {}, &StackSlot::process);
        return;
    }
    for (std::uint32_t i = 0; i < snapshot.processes.size(); ++i)
        if (const SlotsWanted some = wanted.of(ProcId{i}); some != SlotsWanted::none) slots.read(ProcId{i}, some);
}

}  // namespace beamheap::otp
