// SPDX-License-Identifier: Apache-2.0
#include "analyses/logs/log_events.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analyses/base/allocated_words.hpp"
#include "analyses/logs/log_forms.hpp"
#include "erlang/functions.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_events = 1'000;         // of one process
constexpr std::size_t most_nodes = 2'000'000;      // of one heap that are looked at
constexpr std::uint64_t largest_heap = 8'000'000;  // words of one process that is looked through
constexpr std::uint64_t most_unread = 200'000;     // messages of one process that is looked through

std::uint64_t all_words(const Snapshot& snapshot) {
    std::uint64_t words = 0;
    for (const Process& p : snapshot.processes)
        words += p.heap_words.value_or(0) / 2 + p.old_heap_words.value_or(0) / 2;
    return words;
}

// A term as bytes that are equal for equal terms: elements breadth first, at most 400.
void add_digest(OwnedTerm& source, const Element& root, std::string& text) {
    std::vector<Element> left{root};
    for (std::size_t i = 0; i < left.size() && i < 400; ++i) {
        const Element each = left[i];
        text += static_cast<char>('0' + static_cast<int>(each.kind));
        switch (each.kind) {
            case ElementKind::small: text += std::to_string(each.number); break;
            case ElementKind::atom: text += each.text; break;
            case ElementKind::pid:
                text += std::to_string(each.pid.number) + '.' + std::to_string(each.pid.serial);
                break;
            case ElementKind::object: {
                const ObjectHead head = source.head(each.id);
                text += static_cast<char>('A' + static_cast<int>(head.kind));
                if (head.kind == TermKind::heap_binary) source.bytes(each.id, 0, 400, text);
                ElementCursor cursor = source.elements(each.id);
                for (Element element; left.size() < 400 && source.next(cursor, element);) left.push_back(element);
                break;
            }
            default: break;
        }
    }
    text += ';';
}

// What an event says: when, of whom, and in which words or with which reason. Its metadata is left out: loggers add to
// it on the way, so that copies of one event differ in it.
std::string digest(const LogEvent& event) {
    std::string text = event.time + ';' + std::to_string(event.order) + ';' +
                       std::to_string(static_cast<int>(event.kind)) + ';' + std::to_string(event.pid.number) + '.' +
                       std::to_string(event.pid.serial) + ';';
    if (event.format.kind != ElementKind::unknown) {
        add_digest(*event.term, event.format, text);
        for (const Element& argument : event.args) add_digest(*event.term, argument, text);
    } else if (event.report.kind != ElementKind::unknown) {
        add_digest(*event.term, event.report, text);
    } else {
        add_digest(*event.reason_term, event.reason, text);
        add_digest(*event.term, event.subject, text);
        for (const LogFrame& frame : event.stack)
            text += frame.module + ':' + frame.function + '/' + std::to_string(frame.arity) + ':' +
                    std::to_string(frame.line) + ';';
        if (event.reason.kind == ElementKind::unknown) add_digest(*event.term, event.term->term(), text);
    }
    return text;
}

constexpr std::string_view told_by_others[] = {"EXIT", "DOWN", "io_request"};

class Finder {
public:
    Finder(ProcId process, TermSource& source, std::vector<LogEvent>& events)
        : process_(process), terms_(source), source_(source), events_(events), first_(events.size()) {}

    void run() {
        const HeapGraph& graph = source_.graph();
        for (std::size_t i = 0; i < graph.roots().size(); ++i) {
            const RootKind kind = graph.roots()[i].kind;
            if (kind != RootKind::message && kind != RootKind::stack && kind != RootKind::x_register) continue;
            const Element root = source_.root(i);
            if (root.kind != ElementKind::object || is_other(root)) continue;
            const Element inner = unwrap_message(terms_, root);
            if (is_event(terms_, inner)) add(inner, kind == RootKind::message);
        }
        // Of each tuple its size and its first element are looked at before all of it is: hardly any is an event.
        // Who keeps the last events in a form of its own keeps few: what it holds is small beside a long queue, of
        // which all tuples would have to be looked through.
        constexpr std::size_t most_kept = 200'000;
        const bool may_keep = graph.size() <= most_kept;
        std::vector<NodeId> candidates, reports;
        const auto nodes = static_cast<NodeId>(std::min(graph.size(), most_nodes));
        for (NodeId node = 0; node < nodes; ++node) {
            const TermKind kind = graph.kind(node);
            if (kind == TermKind::flat_map) {
                const KeysOf keys = keys_of(node);
                if (keys.event) candidates.push_back(node);
                if (keys.report) reports.push_back(node);
                continue;
            }
            if (kind != TermKind::tuple || graph.words(node) < 3 || graph.words(node) > 8) continue;
            ElementCursor cursor = source_.elements({ObjectId::Space::heap, node});
            const std::uint64_t arity = cursor.left;
            Element first;
            if (!source_.next(cursor, first)) continue;
            if (arity == 2 && first.kind == ElementKind::object) timed(node, first);
            else if (may_be_event(first, arity) && !TermReader::is_one_of(first, told_by_others))
                // Exits and requests that lie within other terms are what those tell about; the queue's own are met
                // above.
                candidates.push_back(node);
            else if (may_keep && may_be_kept(cursor, first, arity)) candidates.push_back(node);
        }
        for (const NodeId node : candidates)
            if (const Element element = object(node); is_event(terms_, element) || is_kept_event(terms_, element))
                add(element, false);
        // Whoever keeps reports alone has made them known, too; those within an event are told by that.
        for (const NodeId node : reports)
            if (const Element element = object(node); !seen_.contains(node) && is_bare_report(terms_, element))
                add(element, false);
    }

private:
    static Element object(NodeId node) {
        Element element;
        element.kind = ElementKind::object;
        element.id = {ObjectId::Space::heap, node};
        return element;
    }

    // Whether what a root holds is neither a tuple nor a map.
    bool is_other(const Element& root) const {
        if (root.id.space != ObjectId::Space::heap) return false;
        const TermKind kind = source_.graph().kind(root.id.number);
        return kind != TermKind::tuple && kind != TermKind::flat_map;
    }

    struct KeysOf {
        bool event, report;  // whether a map has those of an event; of a report
    };
    // Whether a map has a level, or a label. Maps that were made in one place mostly share their keys, which are looked
    // through once.
    KeysOf keys_of(NodeId node) {
        ElementCursor cursor = source_.elements({ObjectId::Space::heap, node});
        Element keys;
        if (!source_.next(cursor, keys) || keys.kind != ElementKind::object) return {true, true};
        if (keys.id == keys_) return known_;
        keys_ = keys.id;
        known_ = {false, false};
        ElementCursor names = source_.elements(keys.id);
        for (Element key; source_.next(names, key);) {
            known_.event = known_.event || TermReader::is(key, "level");
            known_.report = known_.report || TermReader::is(key, "label");
        }
        return known_;
    }

    // Whether a tuple has a level and something that may be a message.
    bool may_be_kept(ElementCursor& rest, const Element& first, std::uint64_t arity) {
        if (arity < 3 || arity > 6) return false;
        bool level = may_be_level(first), message = first.kind == ElementKind::object;
        for (Element element; source_.next(rest, element);) {
            level = level || may_be_level(element);
            message = message || element.kind == ElementKind::object;
        }
        return level && message;
    }

    // {{Date, Time}, Event} of error_logger's first handler.
    void timed(NodeId node, const Element& date_and_time) {
        const HeapGraph& graph = source_.graph();
        if (date_and_time.id.space == ObjectId::Space::heap &&
            (graph.kind(date_and_time.id.number) != TermKind::tuple || graph.words(date_and_time.id.number) != 3))
            return;
        const auto pair = terms_.tuple(object(node), 2);
        if (pair.empty() || pair[1].kind != ElementKind::object || !is_event(terms_, pair[1])) return;
        std::uint64_t order = 0;
        if (const std::string time = local_time(terms_, pair[0], order); !time.empty())
            times_.emplace(pair[1].id.number, std::pair(time, order));
    }

    void add(const Element& element, bool in_queue) {
        if (events_.size() - first_ >= most_events) return;
        const bool own = element.id.space == ObjectId::Space::heap;
        if (own && !seen_.insert(element.id.number).second) return;
        LogEvent event;
        event.term = copy_term(source_, element);
        TermReader copy(*event.term);
        if (!read_event(copy, event.term->term(), event)) return;
        if (!event.reason_term) event.reason_term = event.term;
        event.holder = process_;
        event.in_queue = in_queue;
        if (const auto time = times_.find(element.id.number); own && time != times_.end())
            std::tie(event.time, event.order) = time->second;
        events_.push_back(std::move(event));
        if (const Element report = report_within(terms_, element);
            report.kind == ElementKind::object && report.id.space == ObjectId::Space::heap)
            seen_.insert(report.id.number);
    }

    ProcId process_;
    TermReader terms_;
    TermSource& source_;
    std::vector<LogEvent>& events_;
    std::size_t first_;
    std::unordered_set<std::uint32_t> seen_;
    ObjectId keys_{ObjectId::Space::heap, no_node};  // of the map that was asked about last
    KeysOf known_{false, false};
    std::unordered_map<std::uint32_t, std::pair<std::string, std::uint64_t>> times_;
};

}  // namespace

bool EventHolders::operator()(const Snapshot& snapshot, ProcId process) {
    const Process& p = snapshot[process];
    if (allocated_words(p) > largest_heap || p.msgq_len.value_or(0) > most_unread) return false;
    if (p.name != TextId::none && erlang::has_role(snapshot.text(p.name), erlang::RegisteredRole::keeps_log_events))
        return true;
    if (in_logger(snapshot, p.current_function) || in_logger(snapshot, p.initial_call)) return true;
    for (const Frame& frame : snapshot.stacks[p.stack])
        if (in_logger(snapshot, frame.function)) return true;
    return all(snapshot);
}

bool EventHolders::in_logger(const Snapshot& snapshot, FunctionId function) {
    if (function == FunctionId::none) return false;
    const auto index = static_cast<std::size_t>(function);
    if (loggers_.size() <= index) loggers_.resize(index + 1, -1);
    std::int8_t& known = loggers_[index];
    if (known < 0) known = has_role(snapshot, function, erlang::FunctionRole::keeps_log_events) ? 1 : 0;
    return known != 0;
}

bool EventHolders::all(const Snapshot& snapshot) {
    if (!small_node_) small_node_ = all_words(snapshot) <= small_;
    return *small_node_;
}

void keep_each_once(std::vector<LogEvent>& events) {
    std::unordered_set<std::string> known;
    std::erase_if(events, [&](const LogEvent& event) { return !known.insert(digest(event)).second; });
}

void find_events(ProcId process, TermSource& terms, std::vector<LogEvent>& events) {
    Finder(process, terms, events).run();
}

std::vector<LogEvent> log_events(Artifact& artifact, EventHolders holds) {
    const Snapshot& snapshot = artifact.snapshot();
    std::vector<LogEvent> events;
    for (std::uint32_t i = 0; i < snapshot.processes.size(); ++i)
        if (holds(snapshot, ProcId{i}))
            if (const auto terms = artifact.terms(ProcId{i})) find_events(ProcId{i}, **terms, events);
    keep_each_once(events);
    // Times of loggers and of error_logger are not compared: one counts microseconds, the other digits. A node has one
    // or the other.
    std::ranges::stable_sort(events, [](const LogEvent& a, const LogEvent& b) { return a.order > b.order; });
    return events;
}

}  // namespace beamheap::analyses
