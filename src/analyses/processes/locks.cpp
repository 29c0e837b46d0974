// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/locks.hpp"

#include <algorithm>
#include <array>

#include "analyses/processes/frame_marks.hpp"
#include "erlang/library_locks.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t most_locks = 1'000;
constexpr std::size_t most_elements = 200;  // of one entry of a table
constexpr std::uint8_t is_waiting = 1, is_inside = 2;

bool any_of(const Snapshot& s, FunctionId id, std::span<const erlang::LibraryFunction> rows) {
    const std::string_view module = s.text(s.functions[id].module), name = s.text(s.functions[id].name);
    return std::ranges::any_of(rows, [&](const erlang::LibraryFunction& row) {
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
    for (const LockKind& kind : erlang::lock_kinds) {
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
