// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/supervision.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "analyses/base/links_of.hpp"
#include "analyses/processes/groups.hpp"
#include "erlang/modules.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses {
namespace {

// Start order: numbers are given in turn, the serial counts how often they wrapped (erl_ptab.c).
bool older(const Pid& a, const Pid& b) { return a.serial != b.serial ? a.serial < b.serial : a.number < b.number; }

class Builder {
public:
    explicit Builder(const Snapshot& snapshot)
        : snapshot_(snapshot),
          init_(snapshot.find_registered(erlang::registered::init)),
          controller_(snapshot.find_registered(erlang::registered::application_controller)) {}

    SupervisionTree run() {
        tree_.nodes.resize(snapshot_.processes.size());
        tree_.links_used = !snapshot_.links.empty();
        mark_supervisors();
        for (std::size_t i = 0; i < tree_.nodes.size(); ++i) choose_parent(static_cast<ProcId>(i));
        cut_loops();
        place_children();
        add_up();
        return std::move(tree_);
    }

private:
    void mark_supervisors() {
        const TextId supervisor = snapshot_.texts.find(erlang::module_of_supervisors);
        const TextId bridge = snapshot_.texts.find(erlang::module_of_bridges);
        for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
            const FunctionId call = snapshot_.processes[i].real_initial_call;
            if (call == FunctionId::none) continue;
            tree_.labels_used = true;
            const TextId module = snapshot_.functions[call].module;
            tree_.nodes[i].supervisor = module != TextId::none && (module == supervisor || module == bridge);
        }
    }

    void choose_parent(ProcId id) {
        const Process& process = snapshot_[id];
        TreeNode& node = tree_.nodes[index_of(id)];
        const auto attach = [&](ProcId parent, ParentBy by) {
            if (parent == ProcId::none || parent == id || node.parent != ProcId::none) return;
            node.parent = parent;
            node.by = by;
        };
        const ProcId spawner = process.parent.local() ? snapshot_.find(process.parent) : ProcId::none;
        ProcId supervisor = ProcId::none;
        bool with_spawner = false, with_controller = false, with_init = false;
        for (const Link& link : links_of(snapshot_, process)) {
            if (link.kind != LinkKind::link || !link.pid.local()) continue;
            const ProcId other = snapshot_.find(link.pid);
            if (other == ProcId::none || other == id) continue;
            with_spawner |= other == spawner;
            with_controller |= other == controller_;
            with_init |= other == init_;
            const Pid& pid = snapshot_[other].pid;
            if (tree_.nodes[index_of(other)].supervisor && older(pid, process.pid) &&
                (supervisor == ProcId::none || older(pid, snapshot_[supervisor].pid)))
                supervisor = other;
        }
        if (with_spawner) attach(spawner, ParentBy::spawned_linked);
        attach(supervisor, ParentBy::supervisor_link);
        if (id != init_) {
            if (with_controller) attach(controller_, ParentBy::system_link);
            if (with_init) attach(init_, ParentBy::system_link);
        }
        attach(spawner, ParentBy::spawned);
        if (process.application != TextId::none)
            attach(snapshot_.find_registered(snapshot_.text(process.application)), ParentBy::ancestor);
        node.orphan = node.parent == ProcId::none && process.parent.local();
    }

    void cut_loops() {
        std::vector<std::uint32_t> walk(tree_.nodes.size(), 0);  // number of the walk that came by; 0: none
        for (std::size_t start = 0; start < walk.size(); ++start) {
            const auto number = static_cast<std::uint32_t>(start + 1);
            ProcId at = static_cast<ProcId>(start);
            while (at != ProcId::none && walk[index_of(at)] == 0) {
                walk[index_of(at)] = number;
                at = tree_[at].parent;
            }
            if (at == ProcId::none || walk[index_of(at)] != number) continue;
            ProcId first = at;
            for (ProcId member = tree_[at].parent; member != at; member = tree_[member].parent)
                first = std::min(first, member);
            TreeNode& node = tree_.nodes[index_of(first)];
            node.parent = ProcId::none;
            node.by = ParentBy::none;
            node.cut = node.orphan = true;
            ++tree_.cut;
        }
    }

    void place_children() {
        std::vector<ProcId> by_age(tree_.nodes.size());
        for (std::size_t i = 0; i < by_age.size(); ++i) by_age[i] = static_cast<ProcId>(i);
        std::sort(by_age.begin(), by_age.end(), [&](ProcId a, ProcId b) {
            const Pid& pid_a = snapshot_[a].pid;
            const Pid& pid_b = snapshot_[b].pid;
            if (older(pid_a, pid_b)) return true;
            return !older(pid_b, pid_a) && a < b;
        });
        for (const TreeNode& node : tree_.nodes)
            if (node.parent != ProcId::none) ++tree_.nodes[index_of(node.parent)].children;
        std::uint32_t first = 0;
        for (TreeNode& node : tree_.nodes) {
            node.first_child = first;
            first += node.children;
            node.children = 0;
        }
        tree_.children.resize(first);
        for (const ProcId id : by_age) {
            const TreeNode& node = tree_[id];
            if (node.parent != ProcId::none) {
                TreeNode& parent = tree_.nodes[index_of(node.parent)];
                tree_.children[parent.first_child + parent.children++] = id;
            } else if (node.orphan) {
                tree_.orphans.push_back(id);
            } else {
                tree_.roots.push_back(id);
            }
        }
    }

    void add_up() {
        std::vector<ProcId> order;  // parents before children
        order.reserve(tree_.nodes.size());
        order.insert(order.end(), tree_.roots.begin(), tree_.roots.end());
        order.insert(order.end(), tree_.orphans.begin(), tree_.orphans.end());
        for (std::size_t i = 0; i < order.size(); ++i) {
            for (const ProcId child : tree_.children_of(order[i])) {
                tree_.nodes[index_of(child)].depth = tree_[order[i]].depth + 1;
                order.push_back(child);
            }
        }
        for (std::size_t i = order.size(); i-- > 0;) {
            const Process& process = snapshot_[order[i]];
            TreeNode& node = tree_.nodes[index_of(order[i])];
            node.memory_bytes.add(process.memory_bytes);
            node.msgq_len.add(process.msgq_len);
            node.reductions.add(process.reductions);
            if (node.parent == ProcId::none) continue;
            TreeNode& parent = tree_.nodes[index_of(node.parent)];
            parent.processes += node.processes;
            parent.memory_bytes.add(node.memory_bytes);
            parent.msgq_len.add(node.msgq_len);
            parent.reductions.add(node.reductions);
        }
        std::stable_sort(tree_.orphans.begin(), tree_.orphans.end(), [&](ProcId a, ProcId b) {
            return tree_[a].memory_bytes.value() > tree_[b].memory_bytes.value();
        });
    }

    const Snapshot& snapshot_;
    const ProcId init_;
    const ProcId controller_;
    SupervisionTree tree_;
};

}  // namespace

std::string_view name_of(ParentBy by) {
    switch (by) {
        case ParentBy::spawned_linked: return "spawned_linked";
        case ParentBy::supervisor_link: return "supervisor_link";
        case ParentBy::system_link: return "system_link";
        case ParentBy::spawned: return "spawned";
        case ParentBy::ancestor: return "ancestor";
        case ParentBy::none: break;
    }
    return "none";
}

SupervisionTree supervision(const Snapshot& snapshot) { return Builder(snapshot).run(); }

std::vector<TreeRow> tree_rows(const SupervisionTree& tree, ProcId top, std::uint32_t max_depth) {
    std::vector<TreeRow> rows;
    struct Place {
        ProcId process;
        std::uint32_t depth;
    };
    std::vector<Place> waiting;
    const auto push = [&waiting](std::span<const ProcId> ids, std::uint32_t depth) {
        for (std::size_t i = ids.size(); i-- > 0;) waiting.push_back({ids[i], depth});
    };
    if (top == ProcId::none && max_depth == 0) rows.reserve(tree.nodes.size());
    if (top == ProcId::none) {
        push(tree.orphans, 0);
        push(tree.roots, 0);
    } else {
        waiting.push_back({top, 0});
    }
    while (!waiting.empty()) {
        const Place row = waiting.back();
        waiting.pop_back();
        rows.push_back({.process = row.process, .depth = row.depth});
        if (max_depth == 0 || row.depth + 1 < max_depth) push(tree.children_of(row.process), row.depth + 1);
    }
    return rows;
}

std::vector<TreeRow> fold_alike(const Snapshot& snapshot, const SupervisionTree& tree, std::span<const TreeRow> rows,
                                std::uint64_t least) {
    const auto kind_of = [&](const TreeRow& row) -> std::optional<std::uint64_t> {
        const Process& process = snapshot[row.process];
        const TreeNode& node = tree[row.process];
        if (node.children != 0 || node.parent == ProcId::none || process.name != TextId::none ||
            (process.label != TextId::none && !process.label_concluded))
            return std::nullopt;
        return std::uint64_t{index_of(node.parent)} << 32 | index_of(first_call(process));
    };
    std::unordered_map<std::uint64_t, std::uint64_t> sizes;
    for (const TreeRow& row : rows)
        if (const auto kind = kind_of(row)) ++sizes[*kind];
    std::vector<TreeRow> folded;
    std::unordered_map<std::uint64_t, std::size_t> places;
    for (const TreeRow& row : rows) {
        const auto kind = kind_of(row);
        if (!kind || sizes[*kind] < least) {
            folded.push_back(row);
            continue;
        }
        const auto [place, fresh] = places.try_emplace(*kind, folded.size());
        if (fresh) folded.push_back({row.process, row.depth, 0, std::make_shared<TreeRow::Sums>()});
        TreeRow& all = folded[place->second];
        const Process& process = snapshot[row.process];
        ++all.alike;
        all.sums->memory_bytes.add(process.memory_bytes);
        all.sums->msgq_len.add(process.msgq_len);
        all.sums->reductions.add(process.reductions);
    }
    return folded;
}

std::vector<ProcId> descendants(const SupervisionTree& tree, ProcId top) {
    std::vector<ProcId> found;
    const auto children_of_top = tree.children_of(top);
    found.assign(children_of_top.begin(), children_of_top.end());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto children = tree.children_of(found[i]);
        found.insert(found.end(), children.begin(), children.end());
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace beamheap::analyses
