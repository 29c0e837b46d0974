// SPDX-License-Identifier: Apache-2.0
// log-overload: a log handler can't keep up with what is logged.
//
// Theory. Every handler of logger has a queue with three limits (logger_olp.erl): from sync_mode_qlen on whoever logs
// waits until its event was handled, from drop_mode_qlen on events are thrown away, from flush_qlen on all of the
// queue. Waiting callers are the node's own work that stands still; what is dropped is missing from the log just when
// it is wanted. Either more is logged than is worth it, and then by few functions, or the device (a disk, a pipe, a
// terminal) does not take it. The mode of the last event is in the handler's state, and its queue tells what the next
// one will be.
//
// Thresholds: a queue above drop_mode_qlen, or the mode drop, is high, critical where half of all processes wait for
// the handler; sync with ten waiting callers is medium, and so are ten events of one that waits for who reads the
// standard output. Where more processes wait for who prints to the same output, it is medium: they are told first.
#include <algorithm>

#include "analyses/rules/log_callers.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace log_overload_rule {
namespace {

constexpr std::uint64_t least_waiters = 10, least_queued = 10;
constexpr double critical_percent = 50;

// Whether more wait for another one (who prints) that nobody's reading of the same output holds up: that is told first.
bool more_wait_for_printer(const Facts& facts, std::uint64_t waiting) {
    return std::ranges::any_of(facts.get<Waits>().fan_in, [&](const WaitFanIn& fan) {
        return fan.target.process != ProcId::none && fan.waiters >= least_waiters && fan.waiters > waiting &&
               !unread_output(facts, fan.target.process).empty();
    });
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    for (const HandlerLoad& handler : facts.get<ServiceStates>().handlers) {
        const std::uint64_t queued = s[handler.process].msgq_len.value_or(0);
        const WaitFanIn* const fan = facts.get<Waits>().fan_in_of(handler.process);
        const std::uint64_t waiting = fan == nullptr ? 0 : fan->waiters;
        const bool flushes = handler.flush_qlen.has() && queued > *handler.flush_qlen;
        const bool drops =
            flushes || handler.mode == "drop" || (handler.drop_qlen.has() && queued > *handler.drop_qlen);
        const Sentence unread = unread_output(facts, handler.process);
        const bool held_up = !unread.empty() &&
                             queued >= std::min<std::uint64_t>(handler.sync_qlen.value_or(least_queued), least_queued);
        if (!drops && !held_up && !(handler.mode == "sync" && waiting >= least_waiters)) continue;
        const LogCallers logging = log_callers(s);
        const double percent = percent_of(waiting, s.processes.size()).value_or(0);
        Finding finding;
        about(facts, handler.process, finding);
        finding.severity = !drops                        ? FindingSeverity::medium
                           : percent >= critical_percent ? FindingSeverity::critical
                                                         : FindingSeverity::high;
        if (!unread.empty() && more_wait_for_printer(facts, waiting)) finding.severity = FindingSeverity::medium;
        finding.count = queued;
        finding.title.say("The log handler {} can't keep up: {} queued", handler.process,
                          Counted{queued, "event", "events"});
        const FunctionId where = unread.empty() ? logging.function : FunctionId::none;  // so that a title is one breath
        if (flushes && unread.empty()) finding.title.say(" (it flushes all above {})", number(*handler.flush_qlen));
        else if (drops && unread.empty() && handler.drop_qlen.has())
            finding.title.say(" (it drops above {})", number(*handler.drop_qlen));
        if (waiting != 0) finding.title.say(", {} wait", number(waiting));
        if (!unread.empty()) finding.title.say("; {}", unread);
        if (where != FunctionId::none) finding.title.say(", most log in {}", where);
        finding.evidence = {figure("messages in its queue", queued, AmountUnit::count),
                            fact("mode of the last event", sentence("{}", of_vm(handler.mode))),
                            figure("callers wait from (sync_mode_qlen)", handler.sync_qlen, AmountUnit::count),
                            figure("events are dropped from (drop_mode_qlen)", handler.drop_qlen, AmountUnit::count),
                            figure("the queue is thrown away from (flush_qlen)", handler.flush_qlen, AmountUnit::count),
                            figure("processes that wait for it", waiting, AmountUnit::count)};
        if (logging.function != FunctionId::none)
            finding.evidence.push_back(
                figure(sentence("processes that log in {}", logging.function), logging.processes, AmountUnit::count));
        add_stack(facts, handler.process, finding);
        finding.advise("See what is logged: {}", Command{"msgs", s[handler.process].pid, "--by shape"});
        if (logging.function != FunctionId::none)
            finding.advise("Log less in {}: a higher level, one line for many, or a filter.", logging.function);
        finding.advise(
            "See whether its device takes what it writes (a full disk, a pipe or terminal that nobody reads): {}",
            Command{"proc", s[handler.process].pid});
        finding.advise(
            "Where events may be lost rather than make callers wait: a lower drop_mode_qlen, and "
            "burst_limit_max_count.");
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace log_overload_rule

Rule log_overload() { return {"log-overload", 45, log_overload_rule::run}; }

}  // namespace beamheap::analyses::rule
