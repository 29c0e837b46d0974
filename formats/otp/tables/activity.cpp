// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/tables/activity.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <thread>
#include <unordered_map>

#include "bytes/clock.hpp"
#include "formats/otp/processes/process_table.hpp"

namespace beamheap::otp {
namespace {

using Clock = std::chrono::steady_clock;
using bytes::MemoryPiece;

// About five hundred polls tell a share to 2 % (its standard error at a half); more of them would cost the VM more than
// they tell.
constexpr std::int64_t wanted_polls = 500;
constexpr std::int64_t shortest_us = 1000, longest_us = 4000;  // between two polls, on average
constexpr std::uint64_t polls_between_checks = 50;
constexpr std::uint64_t idle = ~0ull;           // working.start of a scheduler that has nothing to do
constexpr std::size_t thread_structure = 4096;  // bytes of it that are searched

class Watch {
public:
    explicit Watch(const Vm& vm) : vm_(vm), at_(vm.layout.at), process_(*vm.image->process()) {
        const struct {
            const std::vector<std::uint64_t>& list;
            Scheduler::Kind kind;
        } pools[] = {{vm.roots.schedulers, Scheduler::Kind::normal},
                     {vm.roots.dirty_cpu, Scheduler::Kind::dirty_cpu},
                     {vm.roots.dirty_io, Scheduler::Kind::dirty_io}};
        std::uint32_t id = 0;
        for (const auto& pool : pools)
            for (const std::uint64_t address : pool.list) {
                Row row;
                row.address = address;
                row.result.kind = pool.kind;
                row.result.id = ++id;
                if (pool.kind == Scheduler::Kind::normal) row.queue = word(address + at_.scheduler_run_queue);
                rows_.push_back(row);
            }
        find_threads();
    }

    Activity run(std::chrono::milliseconds interval) {
        Activity result;
        const auto begun = Clock::now();
        for (Row& row : rows_) row.before = counters(row);
        const auto queues = queues_of_processes();
        const std::int64_t mean_us =
            std::clamp(std::chrono::microseconds(interval).count() / wanted_polls, shortest_us, longest_us);
        // By chance, so that what happens at regular times is not met always or never.
        std::minstd_rand chance(static_cast<std::minstd_rand::result_type>(begun.time_since_epoch().count()));
        std::uniform_int_distribution<std::int64_t> pause_us(mean_us / 2, mean_us + mean_us / 2);
        while (Clock::now() - begun < interval && !result.ended) {
            std::this_thread::sleep_for(std::chrono::microseconds(pause_us(chance)));
            const bool whole = poll();
            result.polls += whole;
            if (!whole || result.polls % polls_between_checks == 0) result.ended = process_.gone();
        }
        for (Row& row : rows_) finish(row, result);
        result.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
        std::uint64_t moved = 0;
        for (const auto& [process, queue] : queues_of_processes()) {
            const auto known = queues.find(process);
            moved += known != queues.end() && known->second != queue;
        }
        result.ended = result.ended || process_.gone();
        if (!result.ended) result.moved = moved;
        return result;
    }

private:
    struct Counters {
        std::uint64_t working_ns = 0, at_ns = 0, switches = 0, reductions = 0, cpu_ns = 0, waited_ns = 0;
        bool wall = false, queue = false, thread = false;
    };
    struct Row {
        std::uint64_t address = 0, queue = 0;
        std::uint32_t thread = 0;
        Counters before;
        SchedulerActivity result;
        std::uint64_t busy_polls = 0, queued = 0, longest = 0;
        // Of the poll at hand.
        std::uint64_t in_hand = 0;
        std::uint32_t length = 0;
    };

    template <class T>
    bool get(std::uint64_t address, T& value) const {
        return process_.read(address, std::as_writable_bytes(std::span(&value, 1))) == sizeof value;
    }
    std::uint64_t word(std::uint64_t address) const {
        std::uint64_t value = 0;
        return get(address, value) ? value : 0;
    }

    // Working time is what was counted, and what is under way since.
    Counters counters(const Row& row) const {
        Counters now;
        std::uint32_t enabled = 0;
        if (at_.scheduler_wall_enabled != absent && get(row.address + at_.scheduler_wall_enabled, enabled) &&
            enabled == 1) {
            const std::uint64_t start = word(row.address + at_.scheduler_wall_start),
                                total = word(row.address + at_.scheduler_working_total),
                                since = word(row.address + at_.scheduler_working_start);
            now.at_ns = bytes::monotonic_ns();
            now.working_ns = total;
            now.wall = start != 0 && start <= now.at_ns;
            if (now.wall && since != idle && since <= now.at_ns - start) now.working_ns += now.at_ns - start - since;
        }
        if (row.queue != 0 && at_.run_queue_switches != absent)
            now.queue = get(row.queue + at_.run_queue_switches, now.switches) &&
                        get(row.queue + at_.run_queue_reductions, now.reductions);
        if (row.thread != 0) {
            const bytes::TaskTimes times =
                bytes::task_times("/proc/" + std::to_string(process_.pid()) + "/task/" + std::to_string(row.thread));
            now.cpu_ns = times.on_cpu_ns;
            now.waited_ns = times.waited_ns;
            now.thread = times.has_schedstat;
        }
        return now;
    }

    bool poll() {
        pieces_.clear();
        for (Row& row : rows_) {
            pieces_.push_back(
                {row.address + at_.scheduler_process, std::as_writable_bytes(std::span(&row.in_hand, 1))});
            if (row.queue != 0 && at_.run_queue_length != absent)
                pieces_.push_back(
                    {row.queue + at_.run_queue_length, std::as_writable_bytes(std::span(&row.length, 1))});
        }
        process_.read(pieces_);
        if (!std::all_of(pieces_.begin(), pieces_.end(), [](const MemoryPiece& piece) { return piece.whole(); }))
            return false;
        for (Row& row : rows_) {
            row.busy_polls += row.in_hand != 0;
            row.queued += row.length;
            row.longest = std::max<std::uint64_t>(row.longest, row.length);
        }
        return true;
    }

    void finish(Row& row, Activity& result) const {
        SchedulerActivity& out = row.result;
        const Counters now = counters(row);
        const double polls = static_cast<double>(std::max<std::uint64_t>(result.polls, 1));
        out.by_counters =
            row.before.wall && now.wall && now.at_ns > row.before.at_ns && now.working_ns >= row.before.working_ns;
        out.busy = out.by_counters ? static_cast<double>(now.working_ns - row.before.working_ns) /
                                         static_cast<double>(now.at_ns - row.before.at_ns)
                                   : static_cast<double>(row.busy_polls) / polls;
        out.busy = std::clamp(out.busy, 0.0, 1.0);
        if (row.queue != 0 && at_.run_queue_length != absent) {
            out.mean_queue = static_cast<double>(row.queued) / polls;
            out.longest_queue = row.longest;
        }
        if (row.before.queue && now.queue && now.switches >= row.before.switches &&
            now.reductions >= row.before.reductions) {
            out.switches = now.switches - row.before.switches;
            out.reductions = now.reductions - row.before.reductions;
        }
        if (row.before.thread && now.thread) {
            out.cpu_ns = now.cpu_ns - row.before.cpu_ns;
            out.waited_ns = now.waited_ns - row.before.waited_ns;
        }
        result.schedulers.push_back(out);
    }

    // Where in the thread structures the ids stand: the place at which every scheduler's holds one that the process
    // has, and each another.
    void find_threads() {
        std::map<std::uint32_t, std::uint32_t> ids;  // by what threads call themselves
        for (const bytes::TaskOfProcess& task : process_.threads()) ids.emplace(task.own_id, task.id);
        std::vector<std::vector<std::byte>> structures;
        for (const Row& row : rows_) {
            std::vector<std::byte> structure(thread_structure);
            structure.resize(process_.read(word(row.address + at_.scheduler_thread), structure));
            structures.push_back(std::move(structure));
        }
        for (std::size_t place = 0; place + 4 <= thread_structure; place += 4) {
            std::vector<std::uint32_t> found;
            for (const auto& structure : structures) {
                if (place + 4 > structure.size()) break;
                const auto id = ids.find(bytes::load<std::uint32_t>(structure.data() + place));
                if (id == ids.end() || std::find(found.begin(), found.end(), id->second) != found.end()) break;
                found.push_back(id->second);
            }
            if (found.size() != rows_.size()) continue;
            for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].thread = found[i];
            return;
        }
    }

    // The run queue that each process is in (its low bits say whether it is bound to it), by its identifier.
    std::unordered_map<Word, std::uint64_t> queues_of_processes() const {
        std::vector<std::uint64_t> slots(std::min<std::uint64_t>(vm_.processes.max, bytes::largest_read / 8));
        slots.resize(process_.read(vm_.processes.slots, std::as_writable_bytes(std::span(slots))) / 8);
        std::vector<std::uint64_t> elements;
        for (const std::uint64_t slot : slots)
            if (slot != 0 && slot != vm_.processes.invalid) elements.push_back(slot);
        std::vector<std::uint64_t> ids(elements.size()), queues(elements.size());
        std::vector<MemoryPiece> pieces;
        for (std::size_t i = 0; i < elements.size(); ++i) {
            pieces.push_back({elements[i], std::as_writable_bytes(std::span(&ids[i], 1))});
            pieces.push_back({elements[i] + at_.process_run_queue, std::as_writable_bytes(std::span(&queues[i], 1))});
        }
        process_.read(pieces);
        std::unordered_map<Word, std::uint64_t> found;
        for (std::size_t i = 0; i < elements.size(); ++i)
            if (pieces[2 * i].whole() && pieces[2 * i + 1].whole() && is_pid(ids[i]))
                found.emplace(ids[i], queues[i] & ~7ull);
        return found;
    }

    const Vm& vm_;
    const Offsets& at_;
    const bytes::RunningProcess& process_;
    std::vector<Row> rows_;
    std::vector<MemoryPiece> pieces_;
};

}  // namespace

Activity measure_activity(const Vm& vm, std::chrono::milliseconds interval) { return Watch(vm).run(interval); }

}  // namespace beamheap::otp
