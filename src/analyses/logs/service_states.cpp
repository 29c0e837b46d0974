#include "analyses/logs/service_states.hpp"

#include <algorithm>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/erlang_syntax.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/base/term_reader.hpp"

namespace beamheap::analyses {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t most_alarms = 100;     // of one process
constexpr std::size_t most_handlers = 100;   // of one manager
constexpr std::uint64_t most_words_on_credit = 30'000'000;  // of heaps that are decoded for their dictionaries: a second or two
constexpr std::size_t most_looked_at = 2'000;
constexpr std::uint64_t largest_server = 1'000'000;  // words; such servers are small unless their queue is on the heap
constexpr std::uint64_t longest_queue = 200'000;

bool runs_module(const Snapshot& s, const Process& p, std::string_view module) {
    if (module_of(s, p.real_initial_call) == module || module_of(s, p.current_function) == module) return true;
    return std::ranges::any_of(s.stacks[p.stack],
                               [&](const Frame& frame) { return module_of(s, frame.function) == module; });
}

// Asked of every process of the node, and of few of them more than the first letters are looked at.

bool is_protection(const Snapshot& s, const Process& p) {
    const std::string_view name = s.text(p.name);
    if (name.starts_with("logger_"sv))
        if (name.starts_with("logger_std_h"sv) || name.starts_with("logger_disk_log_h"sv) || name == "logger_proxy"sv) return true;
    return module_of(s, p.real_initial_call) == "logger_olp"sv;
}

bool is_alarm_manager(const Snapshot& s, const Process& p) {
    return p.name != TextId::none && s.text(p.name).find("alarm"sv) != std::string_view::npos && runs_module(s, p, "gen_event"sv);
}

bool of_rabbit(const Snapshot& s, FunctionId function) {
    const std::string_view module = module_of(s, function);
    if (module.empty() || (module.front() != 'r' && module.front() != 'g')) return false;
    return module.starts_with("rabbit_"sv) || module == "gen_server2"sv;
}

bool sends_on_credit(const Snapshot& s, const Process& p) {
    return of_rabbit(s, p.real_initial_call) || of_rabbit(s, p.current_function) ||
           std::ranges::any_of(s.stacks[p.stack], [&](const Frame& frame) { return of_rabbit(s, frame.function); });
}

bool waits_on_connection(const Snapshot& s, FunctionId id) {
    return module_of(s, id) == "dist_util"sv && s.text(s.functions[id].name) == "con_loop"sv;
}

bool is_connection(const Snapshot& s, const Process& p) {
    return waits_on_connection(s, p.current_function) ||
           std::ranges::any_of(s.stacks[p.stack], [&](const Frame& frame) { return waits_on_connection(s, frame.function); });
}

bool is_net_kernel(const Snapshot& s, const Process& p) { return s.text(p.name) == "net_kernel"sv; }

enum class Service : std::uint8_t { none, protection, alarm_manager, connection, net_kernel, credit };

// What of a service's state a process keeps; none, where it is too large to be looked into.
Service service_of(const Snapshot& s, const Process& p) {
    if (p.heap_words.value_or(0) > largest_server || p.old_heap_words.value_or(0) > largest_server ||
        p.msgq_len.value_or(0) > longest_queue)
        return Service::none;
    if (is_protection(s, p)) return Service::protection;
    if (is_alarm_manager(s, p)) return Service::alarm_manager;
    if (is_connection(s, p)) return Service::connection;
    if (is_net_kernel(s, p)) return Service::net_kernel;
    return sends_on_credit(s, p) ? Service::credit : Service::none;
}

class Reading {
public:
    Reading(ProcId process, TermSource& source, ServiceStates& states)
        : process_(process), source_(source), terms_(source), states_(states) {}

    // The state of the protection is in the frame that runs, or waits, in it.
    void protection() {
        for_roots([&](const Element& root) {
            if (!terms_.is_map(root) || !terms_.has_key(root, "drop_mode_qlen")) return false;
            const Element mode = terms_.get(root, "mode");
            if (!TermReader::is_atom(mode)) return false;
            states_.handlers.push_back({process_, std::string(mode.text), figure(root, "sync_mode_qlen"),
                                        figure(root, "drop_mode_qlen"), figure(root, "flush_qlen")});
            return true;
        });
    }

    void connection() {
        for_roots([&](const Element& root) {
            const auto tick = terms_.tagged(root, "tick", 5);
            if (tick.empty()) return false;
            const auto read = terms_.number(tick[1]), now = terms_.number(tick[3]), found = terms_.number(tick[4]);
            // Before the first tick nothing was looked at; then there is what the other node said to connect.
            if (read.value_or(0) != 0 && now && found && *now >= 0 && *found >= 0)
                states_.ticks.push_back({process_, static_cast<std::uint64_t>(*now), static_cast<std::uint64_t>(*found)});
            return true;
        });
    }

    void net_kernel() {
        constexpr std::int64_t usual_intensity = 4, most = 1'000'000'000;
        for_roots([&](const Element& root) {
            for (const Element& each : terms_.tuple(root)) {
                const auto record = terms_.tuple(each);
                if (record.size() < 3 || !TermReader::is_one_of(record[0], {"tick", "tick_change"}) || record[1].kind != ElementKind::pid) continue;
                const auto time = terms_.number(record[2]);
                const bool of_one = record.size() == 3 || !terms_.number(record[3]);
                const std::int64_t intensity = of_one ? usual_intensity : *terms_.number(record[3]);
                if (!time || *time <= 0 || *time > most || intensity <= 0 || intensity > most) return true;
                states_.tick_time.intensity = static_cast<std::uint64_t>(intensity);
                states_.tick_time.milliseconds = static_cast<std::uint64_t>(of_one ? *time * usual_intensity : *time);
                return true;
            }
            return false;
        });
    }

    void credit() {
        const std::span<const Root> roots = source_.graph().roots();
        for (std::size_t i = 0; i < roots.size(); ++i) {
            if (roots[i].kind != RootKind::dictionary) continue;
            const auto pair = terms_.tuple(source_.root(i), 2);
            if (pair.empty() || !TermReader::is(pair[0], "credit_blocked")) continue;
            CreditBlock block{process_, {}};
            for (const Element& who : terms_.list(pair[1], most_alarms))
                if (who.kind == ElementKind::pid) block.by.push_back(who.pid);
            if (!block.by.empty()) states_.blocked.push_back(std::move(block));
            return;
        }
    }

    void manager() {
        for_roots([&](const Element& root) {
            bool any = false;
            for (const Element& entry : terms_.list(root, most_handlers)) {
                const auto handler = terms_.tagged(entry, "handler", 5);
                if (handler.empty() || !TermReader::is_atom(handler[1])) continue;
                any = true;
                if (handler[1].text.find("alarm") != std::string_view::npos) alarms_of(handler[3]);
            }
            return any;
        });
    }

private:
    template <class Function>
    void for_roots(Function&& wanted) {
        const std::span<const Root> roots = source_.graph().roots();
        for (std::size_t i = 0; i < roots.size(); ++i) {
            const RootKind kind = roots[i].kind;
            if ((kind == RootKind::stack || kind == RootKind::x_register) && wanted(source_.root(i))) return;
        }
    }

    Count figure(const Element& map, std::string_view key) {
        const auto value = terms_.number(terms_.get(map, key));
        return value && *value >= 0 ? Count(static_cast<std::uint64_t>(*value)) : Count();
    }

    void alarms_of(const Element& state) {
        for (const Element& alarm : terms_.list(state, most_alarms)) add(alarm);
        const auto rabbit = terms_.tagged(state, "alarms", 4);
        if (rabbit.empty()) return;
        limits_of(rabbit[2]);
        for (const Element& alarm : terms_.list(rabbit[3], most_alarms)) add(alarm);
    }

    // [Node | [memory, disk]] in a dict's buckets.
    void limits_of(const Element& dict) {
        std::vector<Element> left{dict};
        for (std::size_t i = 0; i < left.size() && i < most_looked_at; ++i) {
            if (left[i].kind != ElementKind::object) continue;
            ElementCursor cursor = source_.elements(left[i].id);
            if (!terms_.is_kind(left[i], TermKind::cons)) {
                for (Element element; source_.next(cursor, element);) left.push_back(element);
                continue;
            }
            Element first, rest;
            if (!source_.next(cursor, first) || !source_.next(cursor, rest)) continue;
            if (!TermReader::is_atom(first)) {
                left.push_back(first);
                left.push_back(rest);
                continue;
            }
            for (const Element& source : terms_.list(rest, most_alarms)) {
                if (!TermReader::is_atom(source)) continue;
                add(source);
                states_.alarms.back().node = std::string(first.text);
                states_.alarms.back().blocks_publishers = true;
            }
        }
    }

    void add(const Element& alarm) {
        const auto pair = terms_.tuple(alarm, 2);
        SetAlarm set;
        set.holder = process_;
        set.term = copy_term(source_, pair.empty() ? alarm : pair[0]);
        set.id = set.term->term();
        states_.alarms.push_back(std::move(set));
    }

    ProcId process_;
    TermSource& source_;
    TermReader terms_;
    ServiceStates& states_;
};

}  // namespace

std::optional<std::uint64_t> TickTime::silent_ms(const ConnectionTick& connection) const {
    if (milliseconds == 0 || intensity == 0 || connection.tick > intensity || connection.ticked > intensity) return std::nullopt;
    return (connection.tick + intensity - connection.ticked) % intensity * (milliseconds / intensity);
}

bool keeps_service_state(const Snapshot& s, ProcId id) { return service_of(s, s[id]) != Service::none; }

ServiceStates service_states(Artifact& artifact) {
    const Snapshot& s = artifact.snapshot();
    ServiceStates states;
    std::uint64_t words = 0;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const ProcId id{i};
        const Service service = service_of(s, s[id]);
        if (service == Service::none) continue;
        if (service == Service::credit && (words = saturating_add(words, allocated_words(s[id]))) > most_words_on_credit) {
            ++states.credit_unread;
            continue;
        }
        const auto terms = artifact.terms(id);
        if (!terms) continue;
        Reading reading(id, **terms, states);
        switch (service) {
            case Service::protection: reading.protection(); break;
            case Service::alarm_manager: reading.manager(); break;
            case Service::connection: reading.connection(); break;
            case Service::net_kernel: reading.net_kernel(); break;
            case Service::credit: reading.credit(); break;
            case Service::none: break;
        }
    }
    return states;
}

}  // namespace beamheap::analyses
