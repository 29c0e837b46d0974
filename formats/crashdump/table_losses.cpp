// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/table_losses.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

namespace beamheap::crashdump {
namespace {

void mismatch(Loader& loader, std::string detail) { loader.anomalies().add(Anomaly::count_mismatch, 0, detail); }

void hold(Loader& loader, std::uint64_t listed, std::uint64_t all, std::string_view what) {
    if (listed != all)
        mismatch(loader, std::to_string(listed) + " of " + std::to_string(all) + " " + std::string(what));
}

// "[smp:8:4]", "[ds:8:4:10]": the numbers behind the first colon.
std::vector<std::uint32_t> numbers_of(std::string_view version, std::string_view mark) {
    std::vector<std::uint32_t> numbers;
    std::size_t at = version.find(mark);
    if (at == std::string_view::npos) return numbers;
    for (at += mark.size(); at < version.size();) {
        std::uint32_t number = 0;
        const auto [end, error] = std::from_chars(version.data() + at, version.data() + version.size(), number);
        if (error != std::errc{}) break;
        numbers.push_back(number);
        at = static_cast<std::size_t>(end - version.data());
        if (at == version.size() || version[at] != ':') break;
        ++at;
    }
    return numbers;
}

// Schedulers of all kinds are numbered from 1 in one row, so that all but the last ones leave a gap; and the version
// line tells how many there are of each kind. Some VMs write no dirty ones (macOS), and then none.
void judge_schedulers(Loader& loader, const SectionOrder& order) {
    const Snapshot& snapshot = loader.snapshot;
    std::set<std::uint32_t> numbers;
    for (const Scheduler& scheduler : snapshot.schedulers)
        if (scheduler.id != 0) numbers.insert(scheduler.id);
    if (!numbers.empty() && numbers.size() < *numbers.rbegin())
        return hold(loader, numbers.size(), *numbers.rbegin(), "schedulers");
    if (loader.dialect.otp < 18) return;
    const auto count = [&](Scheduler::Kind kind) {
        return static_cast<std::uint64_t>(std::ranges::count(snapshot.schedulers, kind, &Scheduler::kind));
    };
    const std::vector<std::uint32_t> normal = numbers_of(snapshot.node.system_version, "[smp:");
    if (!normal.empty() && order.count("scheduler") != 0)
        hold(loader, count(Scheduler::Kind::normal), normal[0], "schedulers");
    const std::vector<std::uint32_t> dirty = numbers_of(snapshot.node.system_version, "[ds:");
    const bool any = order.count("dirty_cpu_scheduler") + order.count("dirty_io_scheduler") +
                         order.count("dirty_cpu_run_queue") + order.count("dirty_io_run_queue") !=
                     0;
    if (dirty.size() != 3 || !any) return;
    hold(loader, count(Scheduler::Kind::dirty_cpu), dirty[0], "dirty schedulers for computing");
    hold(loader, count(Scheduler::Kind::dirty_io), dirty[2], "dirty schedulers for I/O");
    hold(loader, order.count("dirty_cpu_run_queue") + order.count("dirty_io_run_queue"), 2, "dirty run queues");
}

// =memory has the same nine lines in all releases, and is summed up while nothing runs.
void judge_memory(Loader& loader, const SectionOrder& order) {
    const Snapshot& snapshot = loader.snapshot;
    if (order.count("memory") == 0) {
        const bool off = std::ranges::any_of(snapshot.allocators, [&](const AllocatorInstance& allocator) {
            const std::string_view name = snapshot.text(allocator.name);
            if (name == "test_alloc" || name == "exec_alloc") return false;  // are off in many VMs
            return std::ranges::any_of(allocator.lines, [&](const AllocatorInstance::Line& line) {
                return snapshot.text(line.key) == "option e" && snapshot.text(line.text) == "false";
            });
        });
        constexpr std::size_t least_allocators = 12;  // of a VM that has them all
        const bool written = loader.dialect.otp >= 11 && snapshot.allocators.size() >= least_allocators;
        if (written && !off) loader.anomalies().add(Anomaly::section_missing, 0, "=memory");
        return;
    }
    if (snapshot.memory.empty()) return;  // what a VM writes that can't sum up
    constexpr std::string_view keys[] = {"total",     "processes", "processes_used", "system", "atom",
                                         "atom_used", "binary",    "code",           "ets"};
    for (const std::string_view key : keys)
        if (!snapshot.memory_bytes(key).has()) loader.losses.torn_section(0, "=memory lacks " + std::string(key));
    const auto bytes = [&](std::string_view key) { return snapshot.memory_bytes(key).value_or(0); };
    if (bytes("total") != bytes("processes") + bytes("system"))
        loader.losses.torn_section(0, "=memory does not add up");
    std::set<TextId> seen;
    for (const NamedBytes& line : snapshot.memory)
        if (!seen.insert(line.name).second) loader.losses.torn_section(0, "=memory has a line twice");
}

void judge_areas(Loader& loader, const SectionOrder& order) {
    const Snapshot& snapshot = loader.snapshot;
    if (order.count("allocated_areas") == 0) return;
    struct Always {
        std::string_view key;
        std::uint32_t since = 11;
    };
    constexpr Always keys[] = {
        {"sys_misc"},          {"static"},         {"atom_space"},        {"atom_table"},      {"module_table"},
        {"export_table"},      {"register_table"}, {"fun_table"},         {"module_refs"},     {"loaded_code"},
        {"dist_table"},        {"node_table"},     {"bif_timer"},         {"export_list", 15}, {"ets_misc", 15},
        {"process_table", 15}, {"port_table", 17}, {"external_alloc", 24}};
    std::set<std::string_view> seen;
    for (const NamedBytes& line : snapshot.areas)
        if (!seen.insert(snapshot.text(line.name)).second)
            loader.losses.torn_section(0, "=allocated_areas has a line twice");
    for (const Always& line : keys)
        if (loader.dialect.otp >= line.since && !seen.contains(line.key))
            loader.losses.torn_section(0, "=allocated_areas lacks " + std::string(line.key));
}

// Lines that only some instances of an allocator have: those of the pool, which the first has not, those of what
// is allocated there, and one option, which the first alone has.
bool of_some(std::string_view key) {
    return key.starts_with("mbcs_pool") || key.starts_with("fix type") || key == "option mbsd";
}

// Instances are numbered from 0 (up to R15 some from 1) to the number of schedulers, those of all allocators alike, and
// have the same lines.
void judge_allocators(Loader& loader) {
    const Snapshot& snapshot = loader.snapshot;
    std::map<TextId, std::set<std::int32_t>> instances;
    std::map<TextId, const AllocatorInstance*> first;
    std::int32_t last = 0;
    const auto lines = [&](const AllocatorInstance& allocator) {
        std::vector<TextId> keys;
        for (const AllocatorInstance::Line& line : allocator.lines)
            if (!of_some(snapshot.text(line.key))) keys.push_back(line.key);
        return keys;
    };
    const AllocatorInstance* before = nullptr;
    for (const AllocatorInstance& allocator : snapshot.allocators) {
        const bool follows = before != nullptr && before->name == allocator.name
                                 ? allocator.instance == before->instance + 1
                                 : !instances.contains(allocator.name);
        if (!follows && allocator.instance >= 0)
            loader.anomalies().add(Anomaly::section_misplaced, 0,
                                   "=allocator:" + std::string(snapshot.text(allocator.name)));
        before = &allocator;
        if (allocator.instance < 0) continue;
        instances[allocator.name].insert(allocator.instance);
        last = std::max(last, allocator.instance);
        const auto [known, fresh] = first.try_emplace(allocator.name, &allocator);
        if (!fresh && lines(*known->second) != lines(allocator))
            loader.losses.torn_section(0, "=allocator:" + std::string(snapshot.text(allocator.name)) + "[" +
                                              std::to_string(allocator.instance) + "] has other lines than the first");
    }
    for (const auto& [name, numbers] : instances) {
        const std::int32_t least = loader.dialect.otp < 16 ? std::min(*numbers.begin(), 1) : 0;
        hold(loader, numbers.size(), static_cast<std::uint64_t>(last - least + 1),
             "instances of " + std::string(snapshot.text(name)));
    }
}

// Of what has an identity no two rows are alike.
template <class Rows, class Key>
void judge_doubled(Loader& loader, const Rows& rows, std::string_view tag, Key key) {
    std::set<decltype(key(rows.front()))> seen;
    for (const auto& row : rows)
        if (!seen.insert(key(row)).second) {
            loader.anomalies().add(Anomaly::duplicate_section, 0, "=" + std::string(tag));
            return;
        }
}

// =loaded_modules has the sum of the sizes in all =mod (loaded() in break.c); the table of funs counts them.
void judge_code(Loader& loader) {
    const Snapshot& snapshot = loader.snapshot;
    if (snapshot.node.current_code_bytes.has()) {
        std::uint64_t listed = 0;
        for (const Module& module : snapshot.modules) listed += module.current_bytes.value_or(0);
        hold(loader, listed, *snapshot.node.current_code_bytes, "bytes of code in modules");
    }
    for (const VmTable& table : snapshot.vm_tables) {
        const std::string_view name = snapshot.text(table.name);
        if (table.index || (name != "fun_table" && name != "fun_staged_index") || !table.objects.has()) continue;
        hold(loader, snapshot.funs.size(), *table.objects, "funs");
        break;  // of three with that name, the first
    }
    judge_doubled(loader, snapshot.funs, "fun", [](const FunEntry& fun) {
        return std::tuple(fun.module, fun.uniq, fun.index.value_or(0), fun.address.value_or(0));
    });
}

// The node's name alone tells whether it is distributed, and what the VM writes of it.
void judge_distribution(Loader& loader, const SectionOrder& order) {
    Node& node = loader.snapshot.node;
    if (node.name == TextId::none) return;  // it was not read, or is not there
    const bool alone = loader.snapshot.text(node.name) == "nonode@nohost";
    const std::uint64_t peers = order.count("visible_node") + order.count("hidden_node") + order.count("not_connected");
    if (alone == (order.count("no_distribution") != 0) && !(alone && peers != 0)) return;
    node.distributed.reset();
    loader.anomalies().add(Anomaly::section_missing, 0, "=no_distribution or the node's name");
}

// Ports may be registered, too, which their sections don't say in all releases.
void judge_names(Loader& loader) {
    Snapshot& snapshot = loader.snapshot;
    std::uint64_t names = snapshot.ports.size();
    for (const Process& process : snapshot.processes) names += process.name != TextId::none;
    for (const VmTable& table : snapshot.vm_tables)
        if (!table.index && snapshot.text(table.name) == "process_reg" && table.objects.value_or(0) > names)
            mismatch(loader, "registered names");
}

}  // namespace

void judge_tables(Loader& loader, const SectionOrder& order, bool ended) {
    const Snapshot& snapshot = loader.snapshot;
    const auto behind = [&](std::string_view tag) { return order.reached() > find_tag(tag)->order; };
    if (behind("node") && (ended || behind("not_connected"))) judge_distribution(loader, order);
    if (loader.plan.tables) {
        if (behind("dirty_io_run_queue")) judge_schedulers(loader, order);
        if (behind("allocator")) judge_memory(loader, order), judge_areas(loader, order), judge_allocators(loader);
        if (snapshot.source.process_table_complete && behind("port")) judge_names(loader);
        judge_doubled(loader, snapshot.ets, "ets",
                      [](const EtsTable& table) { return std::pair(table.id, table.name); });
        judge_doubled(loader, snapshot.timers, "timer", [](const Timer& timer) {
            return std::tuple(timer.receiver.number, timer.receiver.serial, timer.receiver_name, timer.message,
                              timer.left_ms.value_or(0));
        });
    }
    if (loader.plan.tables && loader.plan.modules && behind("fun")) judge_code(loader);
    if (loader.plan.atoms && behind("atoms") && snapshot.node.atoms.has())
        hold(loader, snapshot.atoms.size(), *snapshot.node.atoms, "atoms");
}

}  // namespace beamheap::crashdump
