// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/inventory.hpp"

#include <algorithm>
#include <unordered_map>

#include "model/characters.hpp"

namespace beamheap::analyses {
namespace {

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool before(const Pid& a, const Pid& b) { return a.serial != b.serial ? a.serial < b.serial : a.number < b.number; }

}  // namespace

// "/usr/lib/erlang/erts-16.2/bin/inet_gethost 4" is inet_gethost, "tty_sl -c -e" is tty_sl. Descriptors ("2/2") stay.
std::string program_name(std::string_view command) {
    command = command.substr(0, command.find(' '));
    if (const std::size_t slash = command.rfind('/'); slash != std::string_view::npos && !is_digit(command[0]))
        command = command.substr(slash + 1);
    return std::string(command.substr(0, 100));
}

Owner owner_of(const Snapshot& snapshot, const Pid& pid) {
    Owner owner;
    owner.pid = pid;
    owner.process = pid.has() ? snapshot.find(pid) : ProcId::none;
    if (owner.alive()) owner.name = snapshot[owner.process].name;
    return owner;
}

PortReport ports(const Snapshot& snapshot, std::span<const HeldSender> senders) {
    PortReport report;
    std::vector<std::vector<ProcId>> waiting(snapshot.ports.size());
    for (std::size_t i = 0; i < snapshot.ports.size(); ++i)
        for (const Pid& pid : snapshot.ports[i].suspended)
            if (const ProcId id = snapshot.find(pid); id != ProcId::none) waiting[i].push_back(id);
    for (const HeldSender& sender : senders)
        if (sender.port) waiting[*sender.port].push_back(sender.process);
    for (std::vector<ProcId>& each : waiting) {  // most of them are in both lists
        std::ranges::sort(each);
        each.erase(std::unique(each.begin(), each.end()), each.end());
    }
    std::unordered_map<std::string, std::size_t> by_key;
    for (std::size_t i = 0; i < snapshot.ports.size(); ++i) {
        const Port& port = snapshot.ports[i];
        const Owner owner = owner_of(snapshot, port.connected);
        report.dead_owners += !owner.alive();
        report.queue_bytes.add(port.queue_bytes);
        const GroupKey key = owner.alive() ? group_key(snapshot[owner.process]) : GroupKey{};
        const std::string driver = program_name(snapshot.text(port.driver));
        const auto [place, fresh] = by_key.try_emplace(
            std::to_string(index_of(port.kind)) + ' ' + std::to_string(static_cast<int>(key.kind)) + ' ' +
                std::to_string(index_of(key.text)) + ' ' + std::to_string(index_of(key.function)) + ' ' + driver,
            report.groups.size());
        if (fresh) {
            PortGroup& group = report.groups.emplace_back();
            group.kind = port.kind;
            group.driver = driver;
            group.owner = key;
            group.example = i;
        }
        PortGroup& group = report.groups[place->second];
        ++group.count;
        group.input_bytes.add(port.input_bytes);
        group.output_bytes.add(port.output_bytes);
        group.queue_bytes.add(port.queue_bytes);
        group.suspended += std::max(port.suspended.size(), waiting[i].size());
        if (!waiting[i].empty()) report.busy.push_back({i, std::move(waiting[i])});
    }
    std::stable_sort(report.groups.begin(), report.groups.end(),
                     [](const PortGroup& a, const PortGroup& b) { return a.count > b.count; });
    std::stable_sort(report.busy.begin(), report.busy.end(), [&](const BusyPort& a, const BusyPort& b) {
        if (a.suspended.size() != b.suspended.size()) return a.suspended.size() > b.suspended.size();
        return snapshot.ports[a.port].queue_bytes > snapshot.ports[b.port].queue_bytes;
    });
    return report;
}

EtsReport ets_tables(const Snapshot& snapshot) {
    EtsReport report;
    struct PidKey {
        std::size_t operator()(const Pid& pid) const {
            return (static_cast<std::size_t>(pid.serial) << 32 | pid.number) * 0x9E3779B97F4A7C15ull ^ pid.node;
        }
    };
    std::unordered_map<Pid, std::size_t, PidKey> by_owner;
    for (std::size_t i = 0; i < snapshot.ets.size(); ++i) {
        const EtsTable& table = snapshot.ets[i];
        EtsUse& use = report.tables.emplace_back();
        use.table = i;
        use.owner = owner_of(snapshot, table.owner);
        use.bytes = words_to_bytes(table.words, snapshot.source.word_size);
        report.bytes.add(use.bytes);
        report.objects.add(table.objects);
        report.dead_owners += !use.owner.alive();
        const auto [place, fresh] = by_owner.try_emplace(table.owner, report.owners.size());
        if (fresh) report.owners.emplace_back().owner = use.owner;
        EtsOwner& owner = report.owners[place->second];
        ++owner.tables;
        owner.bytes.add(use.bytes);
        owner.objects.add(table.objects);
    }
    for (EtsUse& use : report.tables) use.percent = percent_of(use.bytes, report.bytes.value());
    std::stable_sort(report.tables.begin(), report.tables.end(),
                     [](const EtsUse& a, const EtsUse& b) { return a.bytes > b.bytes; });
    std::stable_sort(report.owners.begin(), report.owners.end(), [](const EtsOwner& a, const EtsOwner& b) {
        return a.bytes.value() != b.bytes.value() ? a.bytes.value() > b.bytes.value()
                                                  : before(a.owner.pid, b.owner.pid);
    });
    return report;
}

TimerReport timers(const Snapshot& snapshot) {
    TimerReport report;
    std::unordered_map<std::string, std::size_t> by_key;
    for (const Timer& timer : snapshot.timers) {
        Owner receiver = owner_of(snapshot, timer.receiver);
        if (timer.receiver_name != TextId::none) {
            receiver.process = snapshot.find_registered(snapshot.text(timer.receiver_name));
            receiver.name = timer.receiver_name;
            if (receiver.alive()) receiver.pid = snapshot[receiver.process].pid;
        }
        report.dead_receivers += !receiver.alive();
        std::string shape = term_shape(snapshot.text(timer.message));
        const std::string key = std::to_string(timer.receiver.node) + '.' + std::to_string(timer.receiver.number) +
                                '.' + std::to_string(timer.receiver.serial) + ' ' +
                                std::to_string(index_of(timer.receiver_name)) + ' ' + shape;
        const auto [place, fresh] = by_key.try_emplace(key, report.groups.size());
        if (fresh) {
            TimerGroup& group = report.groups.emplace_back();
            group.receiver = receiver;
            group.receiver_name = timer.receiver_name;
            group.shape = std::move(shape);
        }
        TimerGroup& group = report.groups[place->second];
        ++group.count;
        if (!timer.left_ms.has()) continue;
        if (!group.soonest_ms.has() || timer.left_ms < group.soonest_ms) group.soonest_ms = timer.left_ms;
        if (timer.left_ms > group.latest_ms) group.latest_ms = timer.left_ms;
    }
    std::stable_sort(report.groups.begin(), report.groups.end(),
                     [](const TimerGroup& a, const TimerGroup& b) { return a.count > b.count; });
    return report;
}

std::string term_shape(std::string_view printed, unsigned depth) {
    constexpr std::size_t longest = 160;
    std::string shape;
    std::size_t open = 0;    // brackets that are open
    std::size_t hidden = 0;  // of them, deeper than is shown
    std::size_t at = 0;
    const auto show = [&](std::string_view part) {
        if (hidden == 0) shape += part;
    };
    // Skips to behind the byte that closes a quoted part.
    const auto skip_quoted = [&](char quote) {
        for (++at; at < printed.size() && printed[at] != quote; ++at)
            if (printed[at] == '\\') ++at;
        at = std::min(at + 1, printed.size());
    };
    while (at < printed.size() && shape.size() < longest) {
        const char c = printed[at];
        const std::size_t begin = at;
        const std::string_view rest = printed.substr(at);
        if (c == '"') {
            skip_quoted('"');
            show("\"\"");
        } else if (c == '\'') {
            skip_quoted('\'');
            show(printed.substr(begin, at - begin));
        } else if (rest.starts_with("<<")) {
            at += 2;
            if (at < printed.size() && printed[at] == '"') skip_quoted('"');
            const std::size_t end = printed.find(">>", at);
            at = end == std::string_view::npos ? printed.size() : end + 2;
            show("<<>>");
        } else if (c == '<' || rest.starts_with("#Ref<") || rest.starts_with("#Port<") || rest.starts_with("#Fun<")) {
            const std::size_t end = printed.find('>', at);
            at = end == std::string_view::npos ? printed.size() : end + 1;
            show(c == '<' ? "<pid>" : rest.substr(0, rest.find('<')));
        } else if (c == '{' || c == '[' || c == '(') {
            ++at;
            if (++open > depth && hidden++ == 0) {
                shape += c;
                shape += "...";
            } else {
                show(rest.substr(0, 1));
            }
        } else if (c == '}' || c == ']' || c == ')') {
            ++at;
            if (open != 0) --open;
            if (hidden != 0) --hidden;
            show(rest.substr(0, 1));
        } else if (is_digit(c) || (c == '-' && rest.size() > 1 && is_digit(rest[1]))) {
            ++at;
            while (at < printed.size() && (is_alnum(printed[at]) || printed[at] == '.' || printed[at] == '#' ||
                                           ((printed[at] == '+' || printed[at] == '-') && printed[at - 1] == 'e')))
                ++at;
            show("_");
        } else if (is_alnum(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80) {
            while (at < printed.size() && (is_alnum(printed[at]) || printed[at] == '_' || printed[at] == '@' ||
                                           static_cast<unsigned char>(printed[at]) >= 0x80))
                ++at;
            show(printed.substr(begin, at - begin));
        } else {
            ++at;
            show(rest.substr(0, 1));
        }
    }
    if (shape.size() > longest) shape.resize(longest);
    if (at < printed.size() || shape.size() == longest) shape.replace(std::min(shape.size(), longest - 3), 3, "...");
    return shape;
}

ModuleReport modules(const Snapshot& snapshot) {
    ModuleReport report;
    report.modules = snapshot.modules.size();
    report.largest.resize(snapshot.modules.size());
    for (std::size_t i = 0; i < snapshot.modules.size(); ++i) {
        const Module& module = snapshot.modules[i];
        report.current_bytes.add(module.current_bytes);
        if (module.old_bytes.value_or(0) != 0) {
            if (report.with_old_code++ == 0 || module.old_bytes > snapshot.modules[report.most_old_code].old_bytes)
                report.most_old_code = i;
            report.old_bytes.add(module.old_bytes);
        }
        report.largest[i] = i;
    }
    const auto size = [&](std::size_t i) {
        const Module& module = snapshot.modules[i];
        return saturating_add(module.current_bytes.value_or(0), module.old_bytes.value_or(0));
    };
    std::stable_sort(report.largest.begin(), report.largest.end(),
                     [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    return report;
}

NodeReport nodes(const Snapshot& snapshot) {
    NodeReport report;
    for (const DistNode& node : snapshot.nodes) {
        switch (node.kind) {
            case DistNode::Kind::visible: ++report.visible; break;
            case DistNode::Kind::hidden: ++report.hidden; break;
            case DistNode::Kind::not_connected: ++report.not_connected; break;
        }
        report.remote_links += node.remote_links;
        report.remote_monitors += node.remote_monitors;
        report.remote_monitored_by += node.remote_monitored_by;
    }
    return report;
}

Count queued(const Scheduler& scheduler) {
    Sum sum;
    for (const Count length : scheduler.run_queue)
        if (length.has()) sum.add(length);
    return sum.known() == 0 ? Count() : sum.value();
}

SchedulerReport schedulers(const Snapshot& snapshot) {
    SchedulerReport report;
    for (std::size_t i = 0; i < snapshot.schedulers.size(); ++i) {
        const Scheduler& scheduler = snapshot.schedulers[i];
        const bool busy = scheduler.current_process.has();
        const Count waiting = queued(scheduler);
        if (scheduler.kind == Scheduler::Kind::normal || busy || scheduler.held || scheduler.crashed ||
            waiting.value_or(0) != 0)
            report.busy.push_back(i);
        else report.idle_dirty += scheduler.id != 0;
        switch (scheduler.kind) {
            case Scheduler::Kind::normal:
                ++report.normal;
                report.busy_normal += busy;
                break;
            case Scheduler::Kind::dirty_cpu:
                ++report.dirty_cpu;
                report.busy_dirty_cpu += busy;
                break;
            case Scheduler::Kind::dirty_io:
                ++report.dirty_io;
                report.busy_dirty_io += busy;
                break;
            case Scheduler::Kind::dirty_cpu_queue:
            case Scheduler::Kind::dirty_io_queue: break;
        }
        report.crashed += scheduler.crashed;
        if (waiting.has()) report.queued.add(waiting);
        if (const std::uint64_t length = waiting.value_or(0); length > report.longest_queue) {
            report.longest_queue = length;
            report.longest = i;
        }
    }
    return report;
}

}  // namespace beamheap::analyses
