// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/broods.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analyses/base/links_of.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/waits.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/modules.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t least_members = 1'000, least_of_programs = 100, least_outliving = 300;
constexpr std::size_t most_broods = 8;
constexpr std::uint64_t most_of_beginning = 1'000;  // reductions of one that has only begun
constexpr std::uint32_t nobody = 0;                 // index of a member, one more than in its brood

bool is_program(const Snapshot& s, const Port& port) {
    return port.kind != TextId::none && s.text(port.kind) == "external process";
}

bool is_supervisor(const Snapshot& s, const Process& process) {
    return erlang::is_called_supervisor(module_of(s, process.real_initial_call)) ||
           erlang::is_called_supervisor(module_of(s, process.initial_call));
}

class BroodFinder {
public:
    explicit BroodFinder(const Snapshot& snapshot) : s_(snapshot) {
        parents_.resize(s_.processes.size(), ProcId::none);
        for (const ProcId id : all_processes(s_))
            if (s_[id].parent.has()) parents_[index_of(id)] = s_.find(s_[id].parent);
        for (const Port& port : s_.ports)
            if (port.connected.has())
                (is_program(s_, port) ? programs_ : sockets_).emplace(port.connected, port.driver);
        for (const EtsTable& table : s_.ets)
            if (table.owner.has()) tables_.emplace(table.owner, table.name);
        for (const Timer& timer : s_.timers) timed_.insert(timer.receiver);
        for (std::uint32_t i = 0; i < s_.functions.size(); ++i) idle_.push_back(is_idle_function(s_, FunctionId{i}));
    }

    Broods find() {
        std::map<std::pair<Pid, FunctionId>, std::vector<ProcId>> kinds;
        auto kind = kinds.end();  // of the process before, mostly of this one, too
        for (const ProcId id : all_processes(s_)) {
            if (!s_[id].parent.has() || first_call(s_[id]) == FunctionId::none) continue;
            const bool ended = s_[id].parent.local() && parents_[index_of(id)] == ProcId::none;
            if (ended && !s_.source.all_processes_known()) continue;  // it may be among those that are lost
            const std::pair key(ended ? Pid{} : s_[id].parent, first_call(s_[id]));
            if (kind == kinds.end() || kind->first != key) kind = kinds.try_emplace(key).first;
            kind->second.push_back(id);
        }
        std::vector<const std::vector<ProcId>*> large;
        for (const auto& [key, members] : kinds)
            if (members.size() >= (key.first.has() ? least_members : least_outliving) ||
                (members.size() >= least_of_programs && (!programs_.empty() || !sockets_.empty())))
                large.push_back(&members);
        std::ranges::stable_sort(large, std::ranges::greater(), [](const auto* each) { return each->size(); });
        if (large.size() > most_broods) large.resize(most_broods);
        Broods found;
        for (const std::vector<ProcId>* members : large) {
            Brood brood = look_at(*members);
            const bool connects = brood.sockets >= least_of_programs && brood.parent != ProcId::none &&
                                  !is_supervisor(s_, s_[brood.parent]);
            const bool outlive = brood.starters > 1 && brood.members >= least_outliving;
            if (members->size() >= least_members || brood.programs >= least_of_programs || connects || outlive)
                found.all.push_back(std::move(brood));
        }
        join_those_beside(found.all);
        return found;
    }

private:
    // Of kinds that the same starters have left behind one brood tells.
    static void join_those_beside(std::vector<Brood>& all) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].starters == 1 || !all[i].mostly_left()) continue;
            for (std::size_t j = i + 1; j < all.size();) {
                const bool same = all[j].mostly_left() && all[j].members == all[i].members &&
                                  all[j].starters == all[i].starters && all[j].first_starter == all[i].first_starter;
                if (!same) {
                    ++j;
                    continue;
                }
                all[i].beside.push_back(all[j].kind);
                all.erase(all.begin() + static_cast<std::ptrdiff_t>(j));
            }
        }
    }
    Brood look_at(const std::vector<ProcId>& members) {
        Brood brood;
        brood.parent = parents_[index_of(members.front())];
        brood.members = members.size();
        brood.supervisors = is_supervisor(s_, s_[members.front()]);
        brood.kind = first_call(s_[members.front()]);
        if (brood.parent == ProcId::none) {
            std::set<Pid> starters;
            for (const ProcId id : members) starters.insert(s_[id].parent);
            brood.starters = starters.size();
            brood.first_starter = *starters.begin();
        }
        std::optional<TextId> program;
        for (const ProcId id : members) {
            if (const auto owned = programs_.find(s_[id].pid); owned != programs_.end()) {
                if (brood.programs++ == 0) brood.example = id;
                if (!program) program = owned->second;
                else if (*program != owned->second) program = TextId::none;
            }
            brood.sockets += sockets_.contains(s_[id].pid);
            const auto links = links_of(s_, s_[id]);
            brood.linked += std::any_of(links.begin(), links.end(), [&](const Link& link) {
                return link.kind == LinkKind::link && link.pid == s_[id].parent;
            });
            if (const auto owned = tables_.find(s_[id].pid); owned != tables_.end()) {
                ++brood.tables;
                brood.table = owned->second;
            }
        }
        brood.program = program.value_or(TextId::none);
        // Fewer are told for what they own alone.
        if (members.size() >= least_members || brood.programs != 0 || brood.starters > 1) find_left(members, brood);
        if (brood.example == ProcId::none) brood.example = members.front();
        return brood;
    }

    // Which member each process is, or is below; nobody: none.
    std::vector<std::uint32_t> trees_of(const std::vector<ProcId>& members) const {
        constexpr std::uint32_t unknown = ~0u;
        std::vector<std::uint32_t> tree(s_.processes.size(), unknown);
        for (std::size_t i = 0; i < members.size(); ++i) tree[index_of(members[i])] = static_cast<std::uint32_t>(i) + 1;
        std::vector<std::uint32_t> way;
        for (const ProcId id : all_processes(s_)) {
            ProcId at = id;
            for (way.clear(); at != ProcId::none && tree[index_of(at)] == unknown; at = parents_[index_of(at)]) {
                tree[index_of(at)] = nobody;  // a circle ends here
                way.push_back(index_of(at));
            }
            const std::uint32_t of = at == ProcId::none ? nobody : tree[index_of(at)];
            for (const std::uint32_t each : way) tree[each] = of;
        }
        return tree;
    }

    // Whether a process shows that it is there for something: it works, has worked, or has what it works with. A timer
    // of its own is that where somebody is linked to it; what was started and unlinked goes on waking up.
    bool is_used(ProcId id, bool linked, bool outlives) const {
        const Process& process = s_[id];
        return process.state != ProcessState::waiting || process.msgq_len.value_or(0) != 0 ||
               (!outlives && process.reductions.value_or(0) > most_of_beginning) ||
               (outlives && timed_.contains(process.pid)) || process.current_function == FunctionId::none ||
               !idle_[index_of(process.current_function)] || process.name != TextId::none ||
               sockets_.contains(process.pid) || (linked && timed_.contains(process.pid));
    }

    void find_left(const std::vector<ProcId>& members, Brood& brood) const {
        const std::vector<std::uint32_t> tree = trees_of(members);
        std::vector<bool> is_above(s_.processes.size()), needed(members.size() + 1);
        for (ProcId at = brood.parent; at != ProcId::none && !is_above[index_of(at)]; at = parents_[index_of(at)])
            is_above[index_of(at)] = true;
        std::vector<std::uint32_t> below(members.size() + 1);
        for (const ProcId id : all_processes(s_)) {
            const std::uint32_t of = tree[index_of(id)];
            if (of == nobody && is_above[index_of(id)]) continue;
            if (of != nobody) {
                ++below[of];
                const auto links = links_of(s_, s_[id]);
                const bool linked = std::any_of(links.begin(), links.end(),
                                                [](const Link& link) { return link.kind == LinkKind::link; });
                if (is_used(id, linked, brood.starters > 1)) needed[of] = true;
            }
            for (const Link& link : links_of(s_, s_[id])) {
                if (!link.pid.has() || !link.pid.local()) {
                    if (of != nobody && link.kind != LinkKind::link) needed[of] = true;
                    continue;
                }
                const ProcId other = s_.find(link.pid);
                if (other == ProcId::none) continue;
                const std::uint32_t of_other = tree[index_of(other)];
                if (of == of_other || (of_other == nobody && is_above[index_of(other)])) continue;
                needed[of] = needed[of_other] = true;
            }
        }
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (needed[i + 1]) continue;
            if (brood.left++ == 0 && brood.programs == 0) brood.example = members[i];
            brood.below += below[i + 1] - 1;
        }
    }

    const Snapshot& s_;
    std::vector<ProcId> parents_;
    std::map<Pid, TextId> programs_, sockets_, tables_;
    std::set<Pid> timed_;
    std::vector<bool> idle_;  // by FunctionId
};

}  // namespace

Result<Broods> find_fact(FactOf<Broods>, const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    return s.processes.size() < least_of_programs ? Broods{} : BroodFinder(s).find();
}

namespace fact {
void broods(FactNeeds& needs) { needs.plan.tables = needs.plan.links = needs.plan.labels = true; }
}  // namespace fact

}  // namespace beamheap::analyses
