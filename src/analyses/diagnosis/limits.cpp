// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyses/processes/groups.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::array<LimitMetricInfo, 15> metrics{{
    {LimitMetric::msgq, "msgq", "limit-msgq", true, false, "messages in its queue"},
    {LimitMetric::memory, "memory", "limit-memory", true, true, "memory of the process"},
    {LimitMetric::heap, "heap", "limit-heap", true, true, "heap, young and old"},
    {LimitMetric::stack, "stack", "limit-stack", true, true, "stack"},
    {LimitMetric::links, "links", "limit-links", true, false, "links"},
    {LimitMetric::processes, "processes", "limit-processes", false, false, "processes"},
    {LimitMetric::ports, "ports", "limit-ports", false, false, "ports"},
    {LimitMetric::atoms, "atoms", "limit-atoms", false, false, "atoms"},
    {LimitMetric::ets_tables, "ets_tables", "limit-ets-tables", false, false, "ETS tables"},
    {LimitMetric::timers, "timers", "limit-timers", false, false, "timers"},
    {LimitMetric::messages, "messages", "limit-messages", false, false, "messages in all queues"},
    {LimitMetric::total, "total", "limit-total", false, true, "memory of the node"},
    {LimitMetric::binary, "binary", "limit-binary", false, true, "memory of binaries"},
    {LimitMetric::ets, "ets", "limit-ets", false, true, "memory of ETS tables"},
    {LimitMetric::code, "code", "limit-code", false, true, "memory of code"},
}};

Error usage(std::string message, std::string advice = {}) {
    return {ErrorCode::usage, std::move(message), std::move(advice)};
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

Count bytes_of(const Snapshot& snapshot, Count words) { return words_to_bytes(words, snapshot.source.word_size); }

Count process_figure(const Snapshot& snapshot, LimitMetric metric, const Process& p) {
    switch (metric) {
        case LimitMetric::msgq: return p.msgq_len;
        case LimitMetric::memory: return p.memory_bytes;
        case LimitMetric::heap: return bytes_of(snapshot, p.heap_words + p.old_heap_words);
        case LimitMetric::stack: return bytes_of(snapshot, p.stack_words);
        default: return p.links;
    }
}

// A figure of the node and what a share of it is a share of.
struct NodeFigure {
    Count value, whole;
};
NodeFigure node_figure(const Snapshot& snapshot, LimitMetric metric, const Totals& totals) {
    const Count memory = snapshot.memory_bytes("total");
    switch (metric) {
        case LimitMetric::processes: return {totals.processes, totals.process_fill.limit};
        case LimitMetric::ports: return {totals.ports, totals.port_fill.limit};
        case LimitMetric::atoms: return {totals.atom_fill.used, totals.atom_fill.limit};
        case LimitMetric::ets_tables: return {totals.ets_tables, {}};
        case LimitMetric::timers: return {totals.timers, {}};
        case LimitMetric::messages: return {totals.messages.value(), {}};
        case LimitMetric::binary: return {snapshot.memory_bytes("binary"), memory};
        case LimitMetric::ets: return {snapshot.memory_bytes("ets"), memory};
        case LimitMetric::code: return {snapshot.memory_bytes("code"), memory};
        default: return {memory, {}};
    }
}

Amount amount(const LimitMetricInfo& metric, std::uint64_t figure) {
    return {figure, metric.bytes ? AmountUnit::bytes : AmountUnit::count};
}

Sentence subject_of(const Snapshot& snapshot, const Process& p) {
    if (p.name != TextId::none) return sentence("{}", Name{p.name});
    const GroupKey key = group_key(p);
    switch (key.kind) {
        case GroupKey::Kind::none: break;
        case GroupKey::Kind::ancestor: return sentence("a process of {}", Atom{std::string(snapshot.text(key.text))});
        case GroupKey::Kind::label:
            return sentence("a process of {}", InputText{std::string(snapshot.text(key.text)), InputText::Holds::name});
        case GroupKey::Kind::initial_call:
        case GroupKey::Kind::spawned_as: return sentence("a process of {}", key.function);
    }
    return Ours("a process");
}

// What was written behind the sign. Words of who asks, not of the node.
InputText of_limit(const Limit& limit) {
    const std::string_view text = limit.text;
    const std::size_t sign = text.find('>');
    return {std::string(trimmed(text.substr(sign + (limit.inclusive ? 2 : 1)))), InputText::Holds::vm};
}

Finding broken(const Limit& limit, const LimitMetricInfo& metric, std::uint64_t figure, Count whole) {
    Finding finding;
    finding.rule = metric.rule;
    finding.severity = FindingSeverity::high;
    finding.evidence.push_back(
        beamheap::analyses::figure(metric.says, figure, metric.bytes ? AmountUnit::bytes : AmountUnit::count));
    finding.evidence.push_back(fact("limit", sentence("{}", InputText{limit.text, InputText::Holds::vm})));
    finding.percent = percent_of(figure, whole);
    (metric.bytes ? finding.bytes : finding.count) = figure;
    return finding;
}

LimitVerdict check_processes(const Limit& limit, const LimitMetricInfo& metric, const Snapshot& snapshot) {
    Sum sum;
    for (const Process& p : snapshot.processes) sum.add(process_figure(snapshot, limit.metric, p));
    LimitVerdict verdict;
    verdict.known = sum.known() != 0 || snapshot.processes.empty();
    std::uint64_t over = 0;
    std::uint64_t most = 0;
    ProcId worst = ProcId::none;
    for (std::size_t i = 0; i < snapshot.processes.size(); ++i) {
        const Count figure = process_figure(snapshot, limit.metric, snapshot.processes[i]);
        if (!exceeds(limit, figure, sum.value())) continue;
        ++over;
        if (worst == ProcId::none || *figure > most) most = *figure, worst = static_cast<ProcId>(i);
    }
    if (worst == ProcId::none) return verdict;
    const Process& p = snapshot[worst];
    Finding finding = broken(limit, metric, most, sum.value());
    finding.subject = {SubjectKind::process, subject_of(snapshot, p)};
    finding.title.say("{} {} is over the limit of {} on {}: {}", finding.subject.text, p.pid, of_limit(limit),
                      metric.name, amount(metric, most));
    if (over > 1) finding.title.say("; {} are over it in all", Counted{over, "process", "processes"});
    finding.title.say(".");
    finding.process = worst;
    finding.pid = p.pid;
    finding.name = p.name;
    finding.evidence.push_back(figure("processes over it", over, AmountUnit::count));
    Command command{"proc", p.pid};
    if (p.name != TextId::none) command.subject = Name{p.name};
    finding.advise("{} shows what it does and holds.", std::move(command));
    finding.fingerprint = fingerprint(finding.rule, finding.subject, snapshot);
    verdict.finding = std::move(finding);
    return verdict;
}

LimitVerdict check_node(const Limit& limit, const LimitMetricInfo& metric, const Snapshot& snapshot,
                        const Totals& totals) {
    const NodeFigure figure = node_figure(snapshot, limit.metric, totals);
    LimitVerdict verdict;
    verdict.known =
        figure.value.has() && (limit.quantity.unit != Quantity::Unit::percent || figure.whole.value_or(0) != 0);
    if (!exceeds(limit, figure.value, figure.whole)) return verdict;
    Finding finding = broken(limit, metric, *figure.value, figure.whole);
    finding.title.say("The node is over the limit of {} on {}: {}", of_limit(limit), metric.name,
                      amount(metric, *figure.value));
    if (finding.percent) finding.title.say(" ({})", Percent{*finding.percent});
    finding.title.say(".");
    finding.subject = {SubjectKind::node, metric.name};
    finding.advise("`beamheap analyze DUMP` shows what it consists of.");
    finding.fingerprint = fingerprint(finding.rule, finding.subject, snapshot);
    verdict.finding = std::move(finding);
    return verdict;
}

std::string metric_names() {
    std::string names;
    for (const LimitMetricInfo& metric : metrics) names.append(names.empty() ? "" : " ").append(metric.name.text());
    return names;
}

Result<Limit> limit_on(std::string_view name, std::string_view quantity, bool inclusive, std::string text) {
    const auto found = std::ranges::find(metrics, name, [](const LimitMetricInfo& each) { return each.name.text(); });
    if (found == metrics.end()) {
        std::vector<std::string_view> names;
        for (const LimitMetricInfo& metric : metrics) names.push_back(metric.name.text());
        const std::vector<std::string> near = near_names(name, names, 2);
        return usage(fmt::format("there is no limit on '{}'", name),
                     near.empty() ? "limits are on: " + metric_names()
                                  : fmt::format("did you mean {}?", fmt::join(near, " or ")));
    }
    Limit limit{found->metric, inclusive, {}, std::move(text)};
    BH_TRY(limit.quantity, parse_quantity(quantity));
    if (limit.quantity.unit == Quantity::Unit::bytes && !found->bytes)
        return usage(fmt::format("'{}': {} is a count, not a size", limit.text, name));
    const bool has_whole = found->of_process || found->metric == LimitMetric::processes ||
                           found->metric == LimitMetric::ports || found->metric == LimitMetric::atoms ||
                           (found->bytes && found->metric != LimitMetric::total);
    if (limit.quantity.unit == Quantity::Unit::percent && !has_whole)
        return usage(fmt::format("'{}': there is nothing that {} could be a share of", limit.text, name));
    return limit;
}

}  // namespace

std::span<const LimitMetricInfo> limit_metrics() { return metrics; }
const LimitMetricInfo& info(LimitMetric metric) { return metrics[static_cast<std::size_t>(metric)]; }

Result<Limit> parse_limit(std::string_view text) {
    const std::size_t sign = text.find('>');
    if (sign == text.npos)
        return usage(
            fmt::format("'{}' is neither a severity nor a limit", text),
            "write critical, high, medium or info, or a limit such as 'msgq>10000', 'heap>512MiB', 'atoms>80%'");
    const bool inclusive = text.substr(sign).starts_with(">=");
    return limit_on(trimmed(text.substr(0, sign)), trimmed(text.substr(sign + (inclusive ? 2 : 1))), inclusive,
                    std::string(text));
}

Result<Limit> make_limit(std::string_view name, std::string_view quantity) {
    return limit_on(name, quantity, false, fmt::format("{}>{}", name, quantity));
}

bool exceeds(const Limit& limit, Count figure, Count whole) {
    if (!figure.has()) return false;
    if (limit.quantity.unit == Quantity::Unit::percent) {
        const std::optional<double> share = percent_of(figure, whole);
        return share && (limit.inclusive ? *share >= limit.quantity.percent : *share > limit.quantity.percent);
    }
    return limit.inclusive ? *figure >= limit.quantity.value : *figure > limit.quantity.value;
}

LimitVerdict check_limit(const Limit& limit, const Snapshot& snapshot, const Totals& totals) {
    const LimitMetricInfo& metric = info(limit.metric);
    return metric.of_process ? check_processes(limit, metric, snapshot) : check_node(limit, metric, snapshot, totals);
}

std::optional<FindingSeverity> severity_named(std::string_view word) {
    for (const FindingSeverity each :
         {FindingSeverity::info, FindingSeverity::medium, FindingSeverity::high, FindingSeverity::critical})
        if (name_of(each) == word) return each;
    return std::nullopt;
}

Status add_fail_on(FailOn& fail_on, std::string_view word) {
    if (const auto severity = severity_named(word)) {
        fail_on.severity = severity;
        return ok();
    }
    BH_TRY(Limit limit, parse_limit(word));
    fail_on.limits.push_back(std::move(limit));
    return ok();
}

}  // namespace beamheap::analyses
