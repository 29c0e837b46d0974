// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/multitudes.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/links_of.hpp"
#include "analyses/memory/atom_families.hpp"
#include "analyses/memory/name_codes.hpp"
#include "analyses/processes/process_columns.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses {
namespace {

using Of = Multitude::Of;

// From how many on a number is unusual.
constexpr std::uint64_t least_elements = 1'000;
constexpr std::uint64_t least_relations = 1'000;
constexpr std::uint64_t many_relations_of_one = 50'000;
constexpr std::uint64_t least_timers = 1'000;
constexpr std::uint64_t least_tables = 100;
constexpr std::uint64_t least_ports = 100;
constexpr std::uint64_t least_resources = 100;
constexpr std::uint64_t least_modules = 200;
constexpr std::uint64_t least_descents = 50;

// Whose terms are looked into: the largest heaps that may hold as many elements.
constexpr std::size_t most_heaps = 16;
constexpr std::uint64_t smallest_heap = 2 * least_elements;  // words
constexpr std::uint64_t largest_heap = 1'500'000;            // words: larger ones are looked into by what they keep
constexpr std::uint64_t all_heaps = 2'000'000;               // words of all of them

std::vector<ProcId> largest_heaps(const Snapshot& s) {
    std::vector<ProcId> found;
    for (const ProcId id : all_processes(s))
        if (const std::uint64_t words = allocated_words(s[id]); words >= smallest_heap && words <= largest_heap)
            found.push_back(id);
    std::ranges::stable_sort(found, std::ranges::greater(), [&](ProcId id) { return allocated_words(s[id]); });
    if (found.size() > most_heaps) found.resize(most_heaps);
    std::uint64_t words = 0;
    std::erase_if(found, [&](ProcId id) { return (words += allocated_words(s[id])) > all_heaps; });
    return found;
}

class Counts {
public:
    explicit Counts(const Snapshot& snapshot) : s_(snapshot) {}

    void elements(ProcId owner, LargestCollection collection) {
        Multitude row = make(Of::elements, owner, collection.count, least_elements);
        row.where = std::move(collection.where);
        row.what = std::move(collection.what);
        row.handlers = collection.handlers;
        row.plain = collection.plain;
        row.processes = collection.processes;
        found_.push_back(std::move(row));
    }

    void relations() {
        const std::vector<Monitored> of_several = monitored_by_several();
        for (const Relations& row : relation_crowds(s_, least_relations)) {
            if (are_timers(row)) continue;
            if (std::ranges::any_of(of_several, [&](const Monitored& each) { return is_part_of(row, each); })) continue;
            if (row.again >= least_relations) relation(Of::monitors_again, row, row.again);
            else if (unusual(row, row.monitors)) relation(Of::monitors, row, row.monitors);
            else if (unusual(row, row.links)) relation(Of::links, row, row.links);
        }
    }

    // Of a target that is gone, or on another node, it is told of who monitors it most.
    std::vector<Monitored> monitored_by_several() {
        std::vector<Monitored> found = monitored_crowds(s_, least_relations);
        std::erase_if(found, [&](const Monitored& row) {
            return row.by_most >= row.monitors / 10 * 9 || supervises(s_[row.most]);
        });
        for (const Monitored& row : found) {
            const ProcId target = row.target.pid.has() ? s_.find(row.target.pid) : ProcId::none;
            Multitude made =
                make(Of::monitored, target == ProcId::none ? row.most : target, row.monitors, least_relations);
            made.monitored = row;
            found_.push_back(std::move(made));
        }
        return found;
    }

    void timers() {
        for (const TimersOfOne& row : timers_) {
            Multitude timers = make(Of::timers, row.process, row.timers, least_timers);
            timers.timers_of = row;
            found_.push_back(std::move(timers));
        }
    }

    void tables() {
        std::map<std::pair<Pid, std::string>, std::uint64_t> counts;
        NameCodes codes;
        for (const EtsTable& table : s_.ets)
            if (table.name != TextId::none) codes.add(s_.text(table.name));
        for (const EtsTable& table : s_.ets)
            if (table.name != TextId::none) ++counts[{table.owner, codes.pattern(s_.text(table.name))}];
        add(Of::tables, counts, least_tables);
    }

    void ports() {
        std::map<std::pair<Pid, std::string>, std::uint64_t> counts;
        for (const Port& port : s_.ports)
            if (port.driver != TextId::none) ++counts[{port.connected, std::string(s_.text(port.driver))}];
        add(Of::ports, counts, least_ports);
    }

    void resources() {
        std::map<std::pair<Pid, std::string>, std::uint64_t> counts;
        const std::string files(erlang::module_of_files);
        erlang::RoleHolders opens(erlang::FunctionRole::opens_for_others);
        for (const Process& process : s_.processes) {
            const bool for_others = opens(s_, process.current_function);
            for (const Link& link : links_of(s_, process)) {
                if (link.kind == LinkKind::resource && link.name != TextId::none)
                    ++counts[{process.pid, std::string(s_.text(link.name))}];
                if (for_others && link.kind == LinkKind::monitors && link.pid.has()) ++counts[{link.pid, files}];
            }
        }
        add(Of::resources, counts, least_resources);
    }

    // Of an event manager at work: its handlers that have had the event, or are to have it, are one in each frame.
    void handlers_at_work() {
        erlang::RoleHolders manages(erlang::FunctionRole::manages_events);
        for (const ProcId id : all_processes(s_)) {
            if (s_[id].stack == StackId::none) continue;
            const std::span<const Frame> frames = s_.stacks[s_[id].stack];
            if (frames.size() < least_elements || !manages(s_, frames[frames.size() / 2].function)) continue;
            const auto in_it = [&](const Frame& frame) { return frame.function == frames[frames.size() / 2].function; };
            const auto count = static_cast<std::uint64_t>(std::ranges::count_if(frames, in_it));
            if (count < least_elements) continue;
            Multitude row = make(Of::elements, id, count, least_elements);
            row.handlers = true;
            row.what = sentence("at least {} event handlers", Amount{count});
            found_.push_back(std::move(row));
        }
    }

    void modules() {
        std::map<std::string, std::uint64_t> counts;
        NameCodes codes;
        for (const Module& module : s_.modules) codes.add(s_.text(module.name));
        for (const Module& module : s_.modules) {
            const std::string_view name = s_.text(module.name);
            if (std::string form = codes.pattern(name); form != name) ++counts[std::move(form)];
        }
        for (auto& [form, count] : counts) {
            if (count < least_modules) continue;
            Multitude row = make(Of::modules, ProcId::none, count, least_modules);
            row.form = form;
            found_.push_back(std::move(row));
        }
    }

    static bool of_a_kind(const Process& a, const Process& b) {
        return a.initial_call == b.initial_call && a.real_initial_call == b.real_initial_call;
    }

    // How many of its kind in a row have started one another, before each process. A parent is looked up once for each.
    void descents() {
        std::vector<std::uint32_t> depth(s_.processes.size());
        std::vector<ProcId> way;
        ProcId deepest = ProcId::none;
        for (const ProcId id : all_processes(s_)) {
            ProcId at = id;
            for (way.clear(); at != ProcId::none && depth[index_of(at)] == 0 && way.size() < s_.processes.size();) {
                depth[index_of(at)] = 1;
                way.push_back(at);
                const ProcId parent = s_.find(s_[at].parent);
                at = parent != ProcId::none && of_a_kind(s_[parent], s_[at]) ? parent : ProcId::none;
            }
            std::uint32_t before = at == ProcId::none ? 0 : depth[index_of(at)];
            for (; !way.empty(); way.pop_back()) depth[index_of(way.back())] = ++before;
            if (deepest == ProcId::none || depth[index_of(id)] > depth[index_of(deepest)]) deepest = id;
        }
        if (deepest != ProcId::none && depth[index_of(deepest)] >= least_descents &&
            !serves_connections(deepest, depth[index_of(deepest)]))
            found_.push_back(make(Of::descents, deepest, depth[index_of(deepest)], least_descents));
    }

    // Whether most of those that end with this one have a port each: one that accepts, and starts the next who does.
    bool serves_connections(ProcId last, std::uint64_t length) const {
        std::set<Pid> owners;
        for (const Port& port : s_.ports) owners.insert(port.connected);
        std::uint64_t count = 0;
        ProcId at = last;
        for (std::uint64_t i = 0; i < length && at != ProcId::none; ++i, at = s_.find(s_[at].parent))
            count += owners.contains(s_[at].pid);
        return count * 2 > length;
    }

    Multitudes all() {
        std::ranges::stable_sort(found_, std::ranges::greater(), &Multitude::times);
        return {std::move(found_)};
    }

private:
    // The server of the module timer monitors for each repeated timer who has set it, or the process that it is.
    bool are_timers(const Relations& row) const {
        return s_.text(s_[row.process].name) == erlang::registered::timer_server &&
               std::ranges::any_of(
                   timers_, [&](const TimersOfOne& each) { return each.process == row.process || each.repeated != 0; });
    }
    // Whether nearly all that a process monitors more than once is what several do.
    static bool is_part_of(const Relations& row, const Monitored& of_several) {
        return row.to_one >= row.again / 10 * 9 && row.target.pid == of_several.target.pid &&
               row.target.name == of_several.target.name && row.target.node == of_several.target.node;
    }
    bool supervises(const Process& process) const {
        return erlang::is_called_supervisor(s_.text(process.name)) ||
               std::ranges::any_of(std::array{process.real_initial_call, process.initial_call},
                                   [&](FunctionId call) { return erlang::is_called_supervisor(module_of(s_, call)); });
    }
    bool unusual(const Relations& row, std::uint64_t count) const {
        return count >= least_relations && (count > s_.processes.size() || count >= many_relations_of_one) &&
               !supervises(s_[row.process]);
    }
    void relation(Of of, const Relations& row, std::uint64_t count) {
        Multitude made = make(of, row.process, count, least_relations);
        made.relations = row;
        found_.push_back(std::move(made));
    }
    static Multitude make(Of of, ProcId owner, std::uint64_t count, std::uint64_t least) {
        Multitude row;
        row.of = of;
        row.owner = owner;
        row.count = count;
        row.times = static_cast<double>(count) / static_cast<double>(least);
        return row;
    }
    void add(Of of, const std::map<std::pair<Pid, std::string>, std::uint64_t>& counts, std::uint64_t least) {
        for (const auto& [key, count] : counts) {
            const ProcId owner = count < least ? ProcId::none : s_.find(key.first);
            if (owner == ProcId::none) continue;
            Multitude row = make(of, owner, count, least);
            row.form = key.second;
            found_.push_back(std::move(row));
        }
    }

    const Snapshot& s_;
    const std::vector<TimersOfOne> timers_ = timer_crowds(s_, least_timers);
    std::vector<Multitude> found_;
};

}  // namespace

Result<Multitudes> find_fact(FactOf<Multitudes>, const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    Counts counts(s);
    counts.relations();
    counts.timers();
    counts.tables();
    counts.ports();
    counts.resources();
    counts.handlers_at_work();
    counts.modules();
    counts.descents();
    if (Artifact* const artifact = facts.artifact())
        for (const ProcId id : largest_heaps(s))
            if (const auto terms = artifact->terms(id))
                if (auto found = largest_collection(s, id, **terms, least_elements))
                    counts.elements(id, std::move(*found));
    return counts.all();
}

namespace fact {
void multitudes(FactNeeds& needs) {
    needs.plan.tables = needs.plan.links = needs.plan.stacks = needs.plan.labels = needs.plan.modules = true;
    needs.terms_of(largest_heaps);
}
}  // namespace fact

}  // namespace beamheap::analyses
