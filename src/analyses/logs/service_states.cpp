// SPDX-License-Identifier: Apache-2.0
#include "analyses/logs/service_states.hpp"

#include <algorithm>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/logs/raft_member.hpp"
#include "analyses/logs/service_keepers.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/kept_states.hpp"
#include "erlang/registered.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

using namespace std::string_view_literals;
using erlang::KeptState;
using erlang::Match;

constexpr std::size_t most_alarms = 100;    // of one process
constexpr std::size_t most_handlers = 100;  // of one manager
constexpr std::uint64_t most_words_of_services =
    30'000'000;  // of heaps that are decoded for their dictionaries, or states of Ra's members: a second or two
constexpr std::uint64_t least_unacknowledged = 1'000;
constexpr std::size_t most_looked_at = 2'000;
constexpr std::uint64_t largest_server = 1'000'000;  // words; such servers are small unless their queue is on the heap
constexpr std::uint64_t largest_of_rabbit = 10'000'000;  // words; what is not acknowledged is on a queue's heap
constexpr std::uint64_t longest_queue = 200'000;
constexpr std::size_t most_of_dets = 64;  // elements of its record, which has 30 in 25

/// Services that a function is part of, as bits.
enum ServicePart : unsigned {
    asked = 1,
    log_protection = 2,
    event_manager = 4,
    connection_loop = 8,
    rabbit = 16,
    log_writer = 32,
    table_writer = 64,
    raft = 128
};

class Reading {
public:
    Reading(ProcId process, TermSource& source, ServiceStates& states)
        : process_(process), source_(source), terms_(source), states_(states) {}

    // The state of the protection is in the frame that runs, or waits, in it.
    void protection() {
        for_roots([&](const Element& root) {
            const Match found = match(KeptState::log_protection, root);
            if (!found) return false;
            states_.handlers.push_back({process_, std::string(found["Mode"].text), figure(found["Sync"]),
                                        figure(found["Drop"]), figure(found["Flush"])});
            results(match(KeptState::log_results, root));
            return true;
        });
    }

    void log_writer() {
        for_roots([&](const Element& root) { return results(match(KeptState::log_results, root)); });
    }

    void table_writer() {
        for_roots([&](const Element& root) {
            if (!match(KeptState::table_file, root)) return false;
            ElementCursor cursor = source_.elements(root.id);
            Element element;
            for (std::size_t i = 0; i < most_of_dets && source_.next(cursor, element); ++i) written(element, {}, true);
            return true;
        });
    }

    void connection() {
        for_roots([&](const Element& root) {
            const Match tick = match(KeptState::connection, root);
            if (!tick) return false;
            const Count now = figure(tick["Tick"]), found = figure(tick["Ticked"]);
            // Before the first tick nothing was looked at; then there is what the other node said to connect.
            if (terms_.number(tick["Read"]).value_or(0) != 0 && now.has() && found.has())
                states_.ticks.push_back({process_, *now, *found});
            return true;
        });
    }

    void net_kernel() {
        constexpr std::uint64_t usual_intensity = 4, most = 1'000'000'000;
        for_roots([&](const Element& root) {
            for (const Element& each : terms_.tuple(root)) {
                const Match found = match(KeptState::tick_time, each);
                if (!found) continue;
                const std::uint64_t time = figure(found["Time"]).value_or(0);
                const bool of_one = !found.has("Intensity");
                const std::uint64_t intensity = of_one ? usual_intensity : figure(found["Intensity"]).value_or(0);
                if (time == 0 || time > most || intensity == 0 || intensity > most) return true;
                states_.tick_time.intensity = intensity;
                states_.tick_time.milliseconds = of_one ? time * usual_intensity : time;
                return true;
            }
            return false;
        });
    }

    void rabbit() {
        const RootList& roots = source_.graph().roots();
        for (std::size_t i = 0; i < roots.size(); ++i) {
            if (roots[i].kind != RootKind::dictionary) continue;
            const Element entry = source_.root(i);
            if (const Match delivered = match(KeptState::unacknowledged, entry)) add_delivered(delivered);
            const Match found = match(KeptState::credit_blocked, entry);
            if (!found) continue;
            CreditBlock block{process_, {}};
            for (const Element& who : terms_.list(found["By"], most_alarms))
                if (who.kind == ElementKind::pid) block.by.push_back(who.pid);
            if (!block.by.empty()) states_.blocked.push_back(std::move(block));
        }
    }

    void manager() {
        for_roots([&](const Element& root) {
            bool any = false;
            for (const Element& entry : terms_.list(root, most_handlers)) {
                const Match handler = match(KeptState::event_handler, entry);
                if (!handler) continue;
                any = true;
                if (erlang::keeps_alarms(handler["Module"].text)) alarms_of(handler["State"]);
            }
            return any;
        });
    }

private:
    template <class Function>
    void for_roots(Function&& wanted) {
        const RootList& roots = source_.graph().roots();
        for (std::size_t i = 0; i < roots.size(); ++i) {
            const RootKind kind = roots[i].kind;
            if ((kind == RootKind::stack || kind == RootKind::x_register) && wanted(source_.root(i))) return;
        }
    }

    Match match(KeptState state, const Element& term) { return erlang::match_state(state, source_, term); }

    // {Count, [{Tag, Consumer} | _], ...}
    void add_delivered(const Match& delivered) {
        const std::vector<Element> tags = terms_.tuple(delivered["Unacked"]);
        const Count count = tags.size() < 2 ? Count() : figure(tags.front());
        if (count.value_or(0) < least_unacknowledged) return;
        Unacknowledged found{process_, delivered["Channel"].pid, *count, nullptr};
        for (std::size_t i = 1; i < tags.size() && found.consumer == nullptr; ++i)
            for (const Element& tag : terms_.list(tags[i], 1))
                if (const std::vector<Element> pair = terms_.tuple(tag, 2); !pair.empty())
                    found.consumer = copy_term(source_, pair.back());
        states_.unacknowledged.push_back(std::move(found));
    }

    Count figure(const Element& term) {
        const auto value = terms_.number(term);
        return value && *value >= 0 ? Count(static_cast<std::uint64_t>(*value)) : Count();
    }

    bool results(const Match& found) {
        if (!found) return false;
        written(found["Log"], found["File"]);
        written(found["Sync"], found["File"]);
        return true;
    }

    // What came of a write, of this file unless it names another.
    void written(const Element& result, Element file, bool table = false) {
        const Match failed = match(KeptState::failed_write, result);
        if (!failed) return;
        if (failed.has("File")) file = failed["File"];
        const Element reason = failed["Reason"];
        const auto path = terms_.text(file);
        if (!erlang::is_of_disk(reason) || !path) return;
        const auto same = [&](const UnwrittenLog& log) { return TermReader(*log.file).text(log.file->term()) == path; };
        if (std::ranges::none_of(states_.unwritten, same) && states_.unwritten.size() < most_alarms)
            states_.unwritten.push_back({process_, copy_term(source_, file), std::string(reason.text), table});
    }

    void alarms_of(const Element& state) {
        for (const Element& alarm : terms_.list(state, most_alarms)) add(alarm);
        const Match rabbit = match(KeptState::alarms_of_nodes, state);
        if (!rabbit) return;
        limits_of(rabbit["Passed"]);
        for (const Element& alarm : terms_.list(rabbit["Others"], most_alarms)) add(alarm);
    }

    // [Node | [memory, disk]] in a dict's buckets.
    void limits_of(const Element& dict) {
        std::vector<Element> left{dict};
        for (std::size_t i = 0; i < left.size() && i < most_looked_at; ++i) {
            if (left[i].kind != ElementKind::object) continue;
            const Match of_node = match(KeptState::node_alarms, left[i]);
            if (!of_node) {
                ElementCursor cursor = source_.elements(left[i].id);
                for (Element element; source_.next(cursor, element);) left.push_back(element);
                continue;
            }
            for (const Element& limit : terms_.list(of_node["Limits"], most_alarms)) {
                if (!TermReader::is_atom(limit)) continue;
                add(limit);
                states_.alarms.back().node = std::string(of_node["Node"].text);
                states_.alarms.back().blocks_publishers = true;
            }
        }
    }

    void add(const Element& alarm) {
        const Match told = match(KeptState::alarm, alarm);
        SetAlarm set;
        set.holder = process_;
        set.term = copy_term(source_, told ? told["Id"] : alarm);
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
    if (milliseconds == 0 || intensity == 0 || connection.tick > intensity || connection.ticked > intensity)
        return std::nullopt;
    return (connection.tick + intensity - connection.ticked) % intensity * (milliseconds / intensity);
}

unsigned ServiceKeepers::parts_of(const Snapshot& s, FunctionId function) {
    if (function == FunctionId::none) return 0;
    const std::size_t index = index_of(function);
    if (functions_.size() <= index) functions_.resize(index + 1);
    if (functions_[index] != 0) return functions_[index];
    using enum erlang::FunctionRole;
    constexpr std::pair<erlang::FunctionRole, unsigned> parts_by_role[] = {{protects_log, log_protection},
                                                                           {manages_events, event_manager},
                                                                           {holds_connection, connection_loop},
                                                                           {writes_log, log_writer},
                                                                           {writes_table, table_writer},
                                                                           {of_rabbit, rabbit},
                                                                           {of_raft, raft}};
    unsigned parts = asked;
    for (const auto& [role, part] : parts_by_role)
        if (has_role(s, function, role)) parts |= part;
    functions_[index] = static_cast<std::uint8_t>(parts);
    return parts;
}

unsigned ServiceKeepers::parts_of(const Snapshot& s, StackId stack) {
    if (stack == StackId::none) return 0;
    const std::size_t index = index_of(stack);
    if (stacks_.size() <= index) stacks_.resize(index + 1);
    if (stacks_[index] != 0) return stacks_[index];
    unsigned parts = asked;
    for (const Frame& frame : s.stacks[stack]) parts |= parts_of(s, frame.function);
    stacks_[index] = static_cast<std::uint8_t>(parts);
    return parts;
}

Service ServiceKeepers::service_of(const Snapshot& s, const Process& p) {
    const std::uint64_t words = std::max(p.heap_words.value_or(0), p.old_heap_words.value_or(0));
    if (words > largest_of_rabbit || p.msgq_len.value_or(0) > longest_queue) return Service::none;
    const unsigned began_as = parts_of(s, p.real_initial_call);
    const unsigned runs = parts_of(s, p.current_function) | parts_of(s, p.stack);
    if (words > largest_server) {
        if ((began_as & raft) != 0) return Service::raft;  // whose machine's state is a queue
        return ((began_as | runs) & rabbit) != 0 ? Service::rabbit : Service::none;
    }
    if ((began_as & log_protection) != 0) return Service::protection;
    const unsigned any = began_as | runs;
    if (p.name != TextId::none) {  // few have one
        const std::string_view name = s.text(p.name);
        if (erlang::has_role(name, erlang::RegisteredRole::protects_log)) return Service::protection;
        if ((any & event_manager) != 0 && name.find("alarm"sv) != std::string_view::npos) return Service::alarm_manager;
        if (name == erlang::registered::net_kernel) return Service::net_kernel;
    }
    if ((runs & connection_loop) != 0) return Service::connection;
    if ((began_as & raft) != 0) return Service::raft;
    if ((runs & log_writer) != 0) return Service::log_writer;
    if ((runs & table_writer) != 0) return Service::table_writer;
    return (any & rabbit) != 0 ? Service::rabbit : Service::none;
}

ServiceStates service_states(Artifact& artifact) {
    const Snapshot& s = artifact.snapshot();
    ServiceStates states;
    ServiceKeepers keepers;
    std::uint64_t words = 0, words_of_raft = 0;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const ProcId id{i};
        const Service service = keepers.service_of(s, s[id]);
        if (service == Service::none) continue;
        if (service == Service::rabbit || service == Service::raft) {
            std::uint64_t& read = service == Service::rabbit ? words : words_of_raft;
            if ((read = saturating_add(read, allocated_words(s[id]))) > most_words_of_services) {
                ++(service == Service::rabbit ? states.credit_unread : states.raft_unread);
                continue;
            }
        }
        const auto terms = artifact.terms(id);
        if (!terms) continue;
        Reading reading(id, **terms, states);
        switch (service) {
            case Service::protection: reading.protection(); break;
            case Service::alarm_manager: reading.manager(); break;
            case Service::connection: reading.connection(); break;
            case Service::log_writer: reading.log_writer(); break;
            case Service::table_writer: reading.table_writer(); break;
            case Service::net_kernel: reading.net_kernel(); break;
            case Service::rabbit: reading.rabbit(); break;
            case Service::raft:
                if (auto member = raft_member(**terms)) {
                    member->process = id;
                    states.raft.push_back(std::move(*member));
                }
                break;
            case Service::none: break;
        }
    }
    return states;
}

}  // namespace beamheap::analyses
