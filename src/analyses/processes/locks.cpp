// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/locks.hpp"

#include <algorithm>
#include <array>

#include "analyses/processes/frame_marks.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

// lib/mnesia/src/mnesia_tm.erl, mnesia_locker.erl; lib/kernel/src/global.erl, of OTP 23 to 29.
constexpr std::array mnesia_waiting{LibraryFunction{"mnesia_tm", "restart"},
                                    LibraryFunction{"mnesia_locker", "l_req_rec"},
                                    LibraryFunction{"mnesia_locker", "receive_wlocks"},
                                    LibraryFunction{"mnesia_locker", "rlock_get_reply"},
                                    LibraryFunction{"mnesia_locker", "get_rwlocks_on_nodes"},
                                    LibraryFunction{"mnesia_locker", "get_wlocks_on_nodes"},
                                    LibraryFunction{"mnesia_locker", "request_lock"}};
constexpr std::array mnesia_inside{LibraryFunction{"mnesia_tm", "apply_fun"},
                                   LibraryFunction{"mnesia_tm", "execute_transaction"}};
constexpr std::array global_waiting{LibraryFunction{"global", "random_sleep"},
                                    LibraryFunction{"global", "set_lock_on_nodes"}};
constexpr std::array global_inside{LibraryFunction{"global", "trans"}};

constexpr std::array kinds{
    LockKind{"a lock of mnesia", mnesia_waiting, mnesia_inside, "mnesia_held_locks",
             "Take what may wait (calls, sleeps, input and output) out of the transaction's function: it holds its "
             "locks until that returns, and all who want one of them start over again and again."},
    LockKind{"a lock of global", global_waiting, global_inside, "global_locks",
             "Take what may wait out of the function that `global:trans/4` runs, or give those who want the lock a "
             "bound on retries."},
};

constexpr std::uint64_t most_locks = 1'000;
constexpr std::size_t most_elements = 200;  // of one entry of a table
constexpr std::uint8_t is_waiting = 1, is_inside = 2;

bool any_of(const Snapshot& s, FunctionId id, std::span<const LibraryFunction> rows) {
    const std::string_view module = s.text(s.functions[id].module), name = s.text(s.functions[id].name);
    return std::ranges::any_of(rows, [&](const LibraryFunction& row) {
        return row.module == module && (row.function.empty() || row.function == name);
    });
}

// The pids of this node within a term, itself a row of a table; breadth first, bounded.
std::vector<Pid> pids_within(TermSource& source, const Element& term) {
    std::vector<Pid> pids;
    std::vector<Element> left{term};
    for (std::size_t i = 0; i < left.size() && i < most_elements; ++i) {
        if (left[i].kind == ElementKind::pid) pids.push_back(left[i].pid);
        if (left[i].kind != ElementKind::object) continue;
        ElementCursor cursor = source.elements(left[i].id);
        for (Element element; left.size() < most_elements && source.next(cursor, element);) left.push_back(element);
    }
    return pids;
}

void read_table(Artifact& artifact, std::size_t table, LockQueue& queue) {
    auto contents = artifact.table_contents(table, most_locks);
    if (!contents) return;
    queue.table_read = !contents->more && !contents->damaged;
    TermSource& source = *contents->terms;
    TermReader reader(source);
    for (std::size_t i = 0; i < source.graph().roots().size(); ++i) {
        // {What, How, Holders}; where the whole is the key, as in mnesia's table of later releases, {{What, How,
        // Holder}}.
        std::vector<Element> row = reader.tuple(source.root(i));
        if (row.size() == 1) row = reader.tuple(row[0]);
        for (std::size_t each = 1; each < row.size(); ++each)
            for (const Pid& pid : pids_within(source, row[each])) {
                const ProcId holder = artifact.snapshot().find(pid);
                if (std::ranges::find(queue.inside, holder) == queue.inside.end()) continue;
                const auto same = [&](const HeldLock& lock) { return lock.holder == pid; };
                if (std::ranges::none_of(queue.held, same)) queue.held.push_back({pid, copy_term(source, row[0])});
            }
    }
}

}  // namespace

std::vector<LockQueue> lock_queues(const Snapshot& s) {
    std::vector<LockQueue> found;
    for (const LockKind& kind : kinds) {
        const std::vector<std::uint8_t> marks = marks_of_stacks(s, [&](FunctionId id) {
            return any_of(s, id, kind.waiting) ? is_waiting : any_of(s, id, kind.inside) ? is_inside : std::uint8_t{0};
        });
        LockQueue queue;
        queue.kind = &kind;
        for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
            const std::uint8_t mark = mark_of(marks, s.processes[i]);
            if ((mark & is_waiting) != 0) queue.waiters.push_back(ProcId{i});
            else if ((mark & is_inside) != 0) queue.inside.push_back(ProcId{i});
        }
        if (!queue.waiters.empty()) found.push_back(std::move(queue));
    }
    return found;
}

void read_held_locks(Artifact& artifact, std::vector<LockQueue>& queues) {
    const Snapshot& s = artifact.snapshot();
    for (LockQueue& queue : queues)
        for (std::size_t table = 0; table < s.ets.size(); ++table)
            if (s.text(s.ets[table].name) == queue.kind->table) read_table(artifact, table, queue);
}

}  // namespace beamheap::analyses
