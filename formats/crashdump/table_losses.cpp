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
        const bool written = loader.dialect.otp >= 10 && snapshot.allocators.size() >= least_allocators;
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
        std::uint32_t since = 10;
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

// The lines of an allocator that is built on erl_alloc_util.c, which all those of a node have alike, but for options
// and calls. Empty: it is none of these.
std::vector<std::string_view> common_lines(const Snapshot& snapshot, const AllocatorInstance& allocator) {
    std::vector<std::string_view> keys;
    bool is_one = false;
    for (const AllocatorInstance::Line& line : allocator.lines) {
        const std::string_view key = snapshot.text(line.key);
        is_one |= key.starts_with("mbcs blocks");
        if (!of_some(key) && !key.starts_with("option ") && !key.ends_with(" calls")) keys.push_back(key);
    }
    return is_one ? keys : std::vector<std::string_view>();
}

// What has a pool has all of its lines, the same in each instance of each allocator.
void judge_pools(Loader& loader) {
    const Snapshot& snapshot = loader.snapshot;
    std::vector<TextId> of_first;
    for (const AllocatorInstance& allocator : snapshot.allocators) {
        std::vector<TextId> keys;
        for (const AllocatorInstance::Line& line : allocator.lines)
            if (snapshot.text(line.key).starts_with("mbcs_pool")) keys.push_back(line.key);
        if (of_first.empty()) of_first = std::move(keys);
        else if (!keys.empty() && keys != of_first)
            loader.losses.torn_section(0, "=allocator:" + std::string(snapshot.text(allocator.name)) +
                                              " has other lines of a pool than the first");
    }
}

// Memory that the VM maps by itself is told by all of these lines (erts_mmap_info() in erl_mmap.c), or by none.
void judge_super_carriers(Loader& loader) {
    constexpr std::string_view always[] = {"option scs",
                                           "option sco",
                                           "option scrpm",
                                           "option scrfsd",
                                           "supercarrier total size",
                                           "supercarrier total sa size",
                                           "supercarrier total sua size",
                                           "supercarrier used size",
                                           "supercarrier used sa size",
                                           "supercarrier used sua size",
                                           "supercarrier used free segs",
                                           "supercarrier max free segs",
                                           "supercarrier allocated free segs",
                                           "supercarrier reserved free segs",
                                           "supercarrier sa free segs",
                                           "supercarrier sua free segs"};
    const Snapshot& snapshot = loader.snapshot;
    for (const AllocatorInstance& allocator : snapshot.allocators) {
        std::set<std::string_view> keys;
        for (const AllocatorInstance::Line& line : allocator.lines) keys.insert(snapshot.text(line.key));
        if (std::ranges::none_of(keys, [](std::string_view key) { return key.starts_with("supercarrier "); })) continue;
        for (const std::string_view key : always)
            if (!keys.contains(key))
                loader.losses.torn_section(
                    0, "=allocator:" + std::string(snapshot.text(allocator.name)) + " lacks " + std::string(key));
    }
}

// The first instance: 0. Up to R14 no scheduler is meant by that, and only what is for a moment is had without one.
// Where the release is not known it is `found`, if that may be.
std::int32_t first_instance(const Loader& loader, std::string_view allocator, std::int32_t found) {
    constexpr std::uint32_t oldest = 10;
    if (loader.dialect.otp < oldest) return std::min(found, 1);
    return loader.dialect.otp < 15 && allocator != "temp_alloc" ? 1 : 0;
}

// Instances are numbered to the number of schedulers, those of all allocators alike, and have the same lines.
void judge_allocators(Loader& loader) {
    judge_pools(loader);
    judge_super_carriers(loader);
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
    std::vector<std::string_view> of_first;
    for (const AllocatorInstance& allocator : snapshot.allocators) {
        if (const auto keys = common_lines(snapshot, allocator); of_first.empty()) of_first = keys;
        else if (!keys.empty() && keys != of_first)
            loader.losses.torn_section(
                0, "=allocator:" + std::string(snapshot.text(allocator.name)) + " has other lines than the first");
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
        const std::int32_t least = first_instance(loader, snapshot.text(name), *numbers.begin());
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

// Ports and processes are written as their tables have them. That of ports has a number in each entry, which grows.
// That of processes is one of 2^k rows of cache lines: consecutive pids are in consecutive lines, and in the next place
// of a line when all lines had their turn (erts_ptab_new_element in erl_ptab.c); up to R15 in consecutive places. Its
// size is not told, so that any will do. A pid is a number and a serial, of which the first has 15 bits or 28.
bool in_order_of_table(const Snapshot& snapshot, unsigned number_bits, unsigned line_bits) {
    const std::uint64_t lines = std::uint64_t{1} << line_bits;
    std::uint64_t last_line = 0, last_turn = 0;
    bool first = true;
    for (const Process& process : snapshot.processes) {
        const std::uint64_t data = process.pid.number | std::uint64_t{process.pid.serial} << number_bits;
        const std::uint64_t line = data & (lines - 1), turn = data >> line_bits & 7;
        if (!first && (line < last_line || (line == last_line && turn <= last_turn))) return false;
        first = false;
        last_line = line;
        last_turn = turn;
    }
    return true;
}

void judge_order_of_table(Loader& loader) {
    const Snapshot& snapshot = loader.snapshot;
    const auto before = [](const Process& a, const Process& b) {
        return a.pid.serial == b.pid.serial && a.pid.number < b.pid.number;
    };
    bool grows = true;
    for (std::size_t i = 1; i < snapshot.processes.size() && grows; ++i)
        grows = before(snapshot.processes[i - 1], snapshot.processes[i]);
    constexpr unsigned fewest = 4, most = 27;
    for (const unsigned number_bits : {15u, 28u})
        for (unsigned line_bits = fewest; line_bits <= most && !grows; ++line_bits)
            grows = in_order_of_table(snapshot, number_bits, line_bits);
    if (!grows) loader.anomalies().add(Anomaly::section_misplaced, 0, "=proc");
}

void judge_order_of_ports(Loader& loader) {
    const std::vector<Port>& ports = loader.snapshot.ports;
    for (std::size_t i = 1; i < ports.size(); ++i)
        if (ports[i - 1].slot.has() && ports[i].slot.has() && *ports[i].slot <= *ports[i - 1].slot)
            return loader.anomalies().add(Anomaly::section_misplaced, 0, "=port");
}

bool has_line(const Snapshot& snapshot, std::string_view key) {
    return std::ranges::any_of(snapshot.allocators, [&](const AllocatorInstance& allocator) {
        return std::ranges::any_of(allocator.lines, [&](const auto& line) { return snapshot.text(line.key) == key; });
    });
}

// The VM's tables and allocators are the same in all nodes of a release.
void judge_fixed_names(Loader& loader, const SectionOrder& order) {
    const Snapshot& snapshot = loader.snapshot;
    const std::uint32_t otp = loader.dialect.otp;
    std::map<std::string_view, unsigned> hashes, indexes, allocators;
    for (const VmTable& table : snapshot.vm_tables) ++(table.index ? indexes : hashes)[snapshot.text(table.name)];
    for (const AllocatorInstance& allocator : snapshot.allocators) ++allocators[snapshot.text(allocator.name)];
    const auto missing = [&](std::string_view tag, std::string_view name) {
        loader.anomalies().add(Anomaly::section_missing, 0, "=" + std::string(tag) + ":" + std::string(name));
    };
    struct Table {
        std::string_view name;
        std::uint32_t since, until;
        unsigned hashes, indexes;
    };
    constexpr Table tables[] = {{"atom_tab", 10, 99, 1, 1},
                                {"module_code", 10, 99, 1, 1},
                                {"process_reg", 10, 99, 1, 0},
                                {"node_table", 10, 99, 1, 0},
                                {"dist_table", 10, 99, 1, 0},
                                {"fun_table", 10, 27, 1, 0},
                                {"export_list", 16, 27, 2, 1},
                                {"export_list", 10, 15, 1, 1},
                                {"secondary_export_table", 12, 15, 1, 0},
                                {"fun_staged_index", 28, newest_known_release, 2, 1},
                                {"export_staged_index", 28, newest_known_release, 2, 1}};
    for (const Table& table : tables) {
        if (otp < table.since || otp > table.until) continue;
        const std::string name(table.name);
        if (order.count("hash_table") != 0 && hashes[table.name] < table.hashes) missing("hash_table", name);
        if (order.count("index_table") != 0 && indexes[table.name] < table.indexes) missing("index_table", name);
        if (hashes[table.name] > table.hashes || indexes[table.name] > table.indexes)
            loader.anomalies().add(Anomaly::duplicate_section, 0, "=hash_table:" + name);
    }
    struct Name {
        std::string_view name;
        std::uint32_t since;
    };
    constexpr Name names[] = {{"alloc_util", 10}, {"binary_alloc", 10}, {"driver_alloc", 13}, {"eheap_alloc", 10},
                              {"ets_alloc", 10},  {"fix_alloc", 10},    {"instr", 10},        {"literal_alloc", 19},
                              {"ll_alloc", 10},   {"sl_alloc", 10},     {"std_alloc", 10},    {"sys_alloc", 10},
                              {"temp_alloc", 10}, {"test_alloc", 19}};
    if (order.count("allocator") == 0) return;
    for (const Name& each : names)
        if (otp >= each.since && !allocators.contains(each.name)) missing("allocator", each.name);
    // What others say of their carriers is written only where these are.
    struct Told {
        std::string_view line, allocator;
    };
    constexpr Told told[] = {{"mbcs mseg carriers", "mseg_alloc"}, {"sbmbcs blocks", "sbmbc_alloc"}};
    for (const Told& each : told)
        if (!allocators.contains(each.allocator) && has_line(snapshot, each.line)) missing("allocator", each.allocator);
    // Where memory is mapped by the VM itself all three are, and none where it is not.
    constexpr std::string_view mapped[] = {"mseg_alloc", "erts_mmap.default_mmap", "erts_mmap.literal_mmap"};
    const auto count = std::ranges::count_if(mapped, [&](std::string_view name) { return allocators.contains(name); });
    if (otp >= 21 && snapshot.source.word_size == 8 && count != 0 && count != std::ssize(mapped))
        missing("allocator", "mseg_alloc or its maps");
}

// =allocated_areas has how many bytes all names of atoms take, without those that the emulator is linked with (up to
// 27), which are the oldest. A name that could not be added, as the table was full, has taken its bytes.
void judge_atom_bytes(Loader& loader) {
    const Snapshot& snapshot = loader.snapshot;
    std::uint64_t used = 0;
    for (const NamedBytes& line : snapshot.areas)
        if (snapshot.text(line.name) == "atom_space") used = line.used_bytes.value_or(0);
    if (used == 0 || snapshot.atoms.size() >= snapshot.node.atom_limit.value_or(~std::uint64_t{0})) return;
    std::uint64_t sum = 0;
    for (const TextId atom : snapshot.atoms) {
        const std::string_view name = snapshot.text(atom);
        sum += name.size();
        if (loader.dialect.latin1_atoms)
            sum -= static_cast<std::uint64_t>(
                std::ranges::count_if(name, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }));
        if (sum == used && loader.dialect.otp < 28) return;
    }
    if (sum != used) hold(loader, sum, used, "bytes of atoms' names");
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
    if (snapshot.source.process_table_complete) judge_order_of_table(loader);
    if (loader.plan.tables) {
        if (behind("dirty_io_run_queue")) judge_schedulers(loader, order);
        if (behind("allocator")) {
            judge_memory(loader, order), judge_areas(loader, order), judge_allocators(loader);
            judge_fixed_names(loader, order);
        }
        judge_order_of_ports(loader);
        if (snapshot.source.process_table_complete && behind("port")) judge_names(loader);
        judge_doubled(loader, snapshot.ets, "ets",
                      [](const EtsTable& table) { return std::pair(table.id, table.name); });
        // One process may set any number of timers alike for one instant; but each reference is made once.
        std::vector<Timer> made_once;
        for (const Timer& timer : snapshot.timers)
            if (snapshot.text(timer.message).find("#Ref<") != std::string_view::npos) made_once.push_back(timer);
        judge_doubled(loader, made_once, "timer", [](const Timer& timer) {
            return std::tuple(timer.receiver.number, timer.receiver.serial, timer.receiver_name, timer.message,
                              timer.left_ms.value_or(0));
        });
    }
    if (loader.plan.tables && loader.plan.modules && behind("fun")) judge_code(loader);
    if (loader.plan.atoms && behind("atoms") && snapshot.node.atoms.has())
        hold(loader, snapshot.atoms.size(), *snapshot.node.atoms, "atoms");
    if (loader.plan.atoms && loader.plan.tables && ended && behind("atoms")) judge_atom_bytes(loader);
}

}  // namespace beamheap::crashdump
