// SPDX-License-Identifier: Apache-2.0
#include "analyses/logs/service_states.hpp"

#include <algorithm>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/logs/service_keepers.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/registered.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t most_alarms = 100;    // of one process
constexpr std::size_t most_handlers = 100;  // of one manager
constexpr std::uint64_t most_words_on_credit =
    30'000'000;  // of heaps that are decoded for their dictionaries: a second or two
constexpr std::size_t most_looked_at = 2'000;
constexpr std::uint64_t largest_server = 1'000'000;  // words; such servers are small unless their queue is on the heap
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
    table_writer = 64
};

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
            const Element handler = terms_.get(terms_.get(root, "cb_state"), "handler_state");
            written(terms_.get(handler, "prev_log_result"), {});
            written(terms_.get(handler, "prev_sync_result"), {});
            return true;
        });
    }

    // The map of logger_std_h's process, or disk_log's record.
    void log_writer() {
        for_roots([&](const Element& root) {
            if (terms_.is_map(root) && terms_.has_key(root, "file_name")) {
                const Element file = terms_.get(root, "file_name");
                written(terms_.get(root, "write_res"), file);
                written(terms_.get(root, "sync_res"), file);
                return true;
            }
            const auto record = terms_.tagged(root, "state", 9);
            if (record.empty()) return false;
            written(record[7], {});
            written(record[8], {});
            return true;
        });
    }

    // dets' record has what came of the last update in one of its elements, of which newer releases may have more.
    void table_writer() {
        for_roots([&](const Element& root) {
            if (!terms_.is_kind(root, TermKind::tuple)) return false;
            ElementCursor cursor = source_.elements(root.id);
            Element element;
            if (!source_.next(cursor, element) || !TermReader::is(element, "head")) return false;
            for (std::size_t i = 1; i < most_of_dets && source_.next(cursor, element); ++i) written(element, {}, true);
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
                states_.ticks.push_back(
                    {process_, static_cast<std::uint64_t>(*now), static_cast<std::uint64_t>(*found)});
            return true;
        });
    }

    void net_kernel() {
        constexpr std::int64_t usual_intensity = 4, most = 1'000'000'000;
        for_roots([&](const Element& root) {
            for (const Element& each : terms_.tuple(root)) {
                const auto record = terms_.tuple(each);
                if (record.size() < 3 || !TermReader::is_one_of(record[0], {"tick", "tick_change"}) ||
                    record[1].kind != ElementKind::pid)
                    continue;
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
        const RootList& roots = source_.graph().roots();
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
        const RootList& roots = source_.graph().roots();
        for (std::size_t i = 0; i < roots.size(); ++i) {
            const RootKind kind = roots[i].kind;
            if ((kind == RootKind::stack || kind == RootKind::x_register) && wanted(source_.root(i))) return;
        }
    }

    Count figure(const Element& map, std::string_view key) {
        const auto value = terms_.number(terms_.get(map, key));
        return value && *value >= 0 ? Count(static_cast<std::uint64_t>(*value)) : Count();
    }

    // {error, enospc} of this file, {error, {file_error, File, enospc}}, or {error, {file_error, File, {N, enospc}}}
    // where the N-th of several writes failed (file:pwrite/2).
    void written(const Element& result, Element file, bool table = false) {
        const auto error = terms_.tagged(result, "error", 2);
        if (error.empty()) return;
        Element reason = error[1];
        if (const auto of_file = terms_.tagged(reason, "file_error", 3); !of_file.empty()) {
            file = of_file[1];
            reason = of_file[2];
            if (const auto of_several = terms_.tuple(reason, 2); !of_several.empty()) reason = of_several[1];
        }
        const auto path = terms_.text(file);
        if (!TermReader::is_one_of(reason, {"enospc", "edquot", "efbig", "eio", "erofs"}) || !path)
            return;  // a pipe can't be synced: einval
        const auto same = [&](const UnwrittenLog& log) { return TermReader(*log.file).text(log.file->term()) == path; };
        if (std::ranges::none_of(states_.unwritten, same) && states_.unwritten.size() < most_alarms)
            states_.unwritten.push_back({process_, copy_term(source_, file), std::string(reason.text), table});
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
    constexpr std::pair<erlang::FunctionRole, unsigned> parts_by_role[] = {
        {protects_log, log_protection}, {manages_events, event_manager}, {holds_connection, connection_loop},
        {writes_log, log_writer},       {writes_table, table_writer},    {of_rabbit, rabbit}};
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
    if (p.heap_words.value_or(0) > largest_server || p.old_heap_words.value_or(0) > largest_server ||
        p.msgq_len.value_or(0) > longest_queue)
        return Service::none;
    const unsigned began_as = parts_of(s, p.real_initial_call);
    const unsigned runs = parts_of(s, p.current_function) | parts_of(s, p.stack);
    if ((began_as & log_protection) != 0) return Service::protection;
    const unsigned any = began_as | runs;
    if (p.name != TextId::none) {  // few have one
        const std::string_view name = s.text(p.name);
        if (erlang::has_role(name, erlang::RegisteredRole::protects_log)) return Service::protection;
        if ((any & event_manager) != 0 && name.find("alarm"sv) != std::string_view::npos) return Service::alarm_manager;
        if (name == erlang::registered::net_kernel) return Service::net_kernel;
    }
    if ((runs & connection_loop) != 0) return Service::connection;
    if ((runs & log_writer) != 0) return Service::log_writer;
    if ((runs & table_writer) != 0) return Service::table_writer;
    return (any & rabbit) != 0 ? Service::credit : Service::none;
}

ServiceStates service_states(Artifact& artifact) {
    const Snapshot& s = artifact.snapshot();
    ServiceStates states;
    ServiceKeepers keepers;
    std::uint64_t words = 0;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const ProcId id{i};
        const Service service = keepers.service_of(s, s[id]);
        if (service == Service::none) continue;
        if (service == Service::credit &&
            (words = saturating_add(words, allocated_words(s[id]))) > most_words_on_credit) {
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
            case Service::log_writer: reading.log_writer(); break;
            case Service::table_writer: reading.table_writer(); break;
            case Service::net_kernel: reading.net_kernel(); break;
            case Service::credit: reading.credit(); break;
            case Service::none: break;
        }
    }
    return states;
}

}  // namespace beamheap::analyses
