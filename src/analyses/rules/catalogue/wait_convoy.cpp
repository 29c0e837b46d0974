// wait-convoy: many processes wait for one.
//
// Theory. Calls to a process queue up behind each other: when it is slow or stuck, all of its callers are. A node whose
// logger hangs has hundreds of thousands of processes that do nothing but wait, and they hold the memory; what one
// sees first, many processes and much memory, is the consequence. So the one that is waited for is named, with what it
// is doing, and the waiters are counted as its victims. If it waits for somebody itself, it is a victim too.
//
// Thresholds: at least 10 waiters that are 5 % of all processes, or 100 whatever their share. One in five processes
// waiting for the same one is high (a healthy node has none), every second one is critical.
#include <algorithm>
#include <array>
#include <map>

#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr std::uint64_t least_waiters = 10;
constexpr double least_percent = 5;
constexpr std::uint64_t many_waiters = 100;
constexpr double high_percent = 20;
constexpr double critical_percent = 50;
constexpr std::size_t most_findings = 5;

// What is known of a target by its name.
struct KnownServer {
    std::string_view name;
    Ours advice;
};
constexpr Ours logger_advice =
    "Lower the handler's limits so that it drops instead of making callers wait: logger's sync_mode_qlen, "
    "drop_mode_qlen and flush_qlen.";
constexpr std::array known_servers{
    KnownServer{"lager_event",
         "Let lager drop or go asynchronous under load: {async_threshold, 20} and {async_threshold_window, 5} in the "
         "environment of lager, and {error_logger_hwm, 50}; see which backend is slow."},
    KnownServer{"error_logger",
         "Use a handler with overload protection instead: logger's sync_mode_qlen, drop_mode_qlen and flush_qlen (OTP "
         "21 and later)."},
    KnownServer{"logger", logger_advice},
    KnownServer{"code_server",
         "Load code before it is needed: run in embedded mode (releases do) or call `code:ensure_modules_loaded/1` at "
         "start."},
    KnownServer{"mnesia_tm", "Use dirty operations where no transaction is needed, and look for a large or stuck one."},
    KnownServer{"mnesia_locker", "Look for the transaction that holds the lock, and lock records instead of tables."},
    KnownServer{"global_name_server", "Register names less often, or locally; global waits for all connected nodes."},
    KnownServer{"file_server_2", "Open files with [raw] or prim_file, which does without the file server."},
};

Ours advice_for(const RuleInput& input, const Process& target, FunctionId function) {
    const std::string_view name = input.snapshot.text(target.name);
    for (const KnownServer& known : known_servers)
        if (known.name == name) return known.advice;
    if (name.starts_with("logger_std_h") || name.starts_with("logger_disk_log") || name.starts_with("logger_h_"))
        return logger_advice;
    const Function& call = input.snapshot.functions[function];
    if (input.snapshot.text(call.module) == "gen_event")
        return "The handlers of an event manager run one after the other inside it: find the slow one, and let it drop "
               "or buffer under load (lager: async_threshold; logger: sync_mode_qlen, drop_mode_qlen, flush_qlen).";
    return "Take the slow work out of the one that is called (a pool, a task that replies later with "
           "`gen_server:reply/2`), or make the call a cast with a bound on what may be outstanding.";
}

// The call that most of the waiters are in.
FunctionId usual_call(const RuleInput& input, const WaitFanIn& fan, std::uint64_t& count) {
    std::map<std::uint32_t, std::uint64_t> calls;
    for (const std::uint32_t edge : input.waits.waiters_of(fan)) ++calls[index_of(input.waits.edges[edge].function)];
    const auto most = std::ranges::max_element(calls, {}, [](const auto& each) { return each.second; });
    count = most->second;
    return FunctionId{most->first};
}

// "; it has 299 messages and sits in timer:sleep/1"
Sentence state_of_target(const RuleInput& input, const WaitTarget& target) {
    if (target.process == ProcId::none) return target.remote() ? Ours("; it is on another node") : Ours("");
    const std::uint64_t queued = input.snapshot[target.process].msgq_len.value_or(0);
    Sentence text = queued == 0 ? Sentence(Ours("; it ")) : sentence("; it has {} and ", messages(queued));
    const WaitEdge* next = input.waits.edge(target.process);
    if (next == nullptr)
        text.add(doing(input, target.process));
    else
        text.say("waits itself in {} for {}", next->function, target_text(next->target));
    return text;
}

Finding finding_of(const RuleInput& input, const WaitFanIn& fan, double percent) {
    const Snapshot& s = input.snapshot;
    Finding finding;
    finding.severity = percent >= critical_percent ? FindingSeverity::critical
                       : percent >= high_percent   ? FindingSeverity::high
                                                   : FindingSeverity::medium;
    std::uint64_t in_usual = 0;
    const FunctionId call = usual_call(input, fan, in_usual);
    const ProcId target = fan.target.process;
    const bool waits_itself = target != ProcId::none && input.waits.edge(target) != nullptr;
    if (target != ProcId::none)
        about(input, target, finding);
    else
        finding.subject = {SubjectKind::process,
                           fan.target.name != TextId::none ? sentence("{}", Name{fan.target.name})
                                                           : Sentence(Ours("remote process"))};
    finding.role = waits_itself ? FindingRole::victim : FindingRole::cause;
    finding.count = fan.waiters;
    finding.percent = percent;
    finding.title.say("{} of {} processes ({}) wait in {} for {}{}", number(fan.waiters), number(s.processes.size()),
                      Percent{percent}, call, target_text(fan.target), state_of_target(input, fan.target));
    Sum held;
    std::uint64_t exact = 0, forever = 0;
    for (const std::uint32_t edge : input.waits.waiters_of(fan)) {
        const WaitEdge& each = input.waits.edges[edge];
        held.add(process_bytes(input, s[each.waiter]));
        exact += each.confidence == Confidence::exact;
        forever += each.infinite;
    }
    finding.bytes = held.value();
    finding.confidence = exact == fan.waiters ? Confidence::exact : Confidence::estimate;
    finding.evidence.push_back(
        figure("processes that wait for it", fan.waiters, AmountUnit::count, finding.confidence));
    if (in_usual != fan.waiters)
        finding.evidence.push_back(figure(sentence("of them in {}", call), in_usual, AmountUnit::count));
    if (fan.reaching > fan.waiters)
        finding.evidence.push_back(figure("with those who wait for one of its waiters", fan.reaching,
                                          AmountUnit::count, finding.confidence));
    finding.evidence.push_back(figure("memory that the waiters hold", held.value(), AmountUnit::bytes));
    if (forever != 0)
        finding.evidence.push_back(figure("of the calls without a timeout", forever, AmountUnit::count));
    if (target != ProcId::none) {
        finding.evidence.push_back(figure("messages in its queue", s[target].msgq_len, AmountUnit::count));
        finding.evidence.push_back(figure("its own memory", process_bytes(input, s[target]), AmountUnit::bytes));
        add_stack(input, target, finding);
        finding.advise(
            "Find out why it does not answer; the waiters are victims, and longer timeouts only make more of them: {}",
            Command{"proc", s[target].pid});
        if (waits_itself) finding.advise("Follow the chain to its end: `beamheap waits DUMP`");
        finding.next_steps.emplace_back(advice_for(input, s[target], call));
        finding.advise("See what is asked of it: {}", Command{"msgs", s[target].pid, "--by shape"});
    } else {
        finding.advise("Look at that node: whatever holds these processes up is there.");
        finding.advise("Give calls to other nodes a timeout, and handle its exit.");
    }
    return finding;
}

void run(const RuleInput& input, std::vector<Finding>& findings) {
    std::size_t left = most_findings;
    for (const WaitFanIn& fan : input.waits.fan_in) {
        const double percent =
            100.0 * static_cast<double>(fan.waiters) / static_cast<double>(input.snapshot.processes.size());
        const bool many = fan.waiters >= many_waiters || (fan.waiters >= least_waiters && percent >= least_percent);
        if (!many) break;                     // most waiters come first
        if (fan.target.port.has()) continue;  // slow-socket says it
        if (left-- == 0) break;
        findings.push_back(finding_of(input, fan, percent));
    }
}

}  // namespace

Rule wait_convoy() { return {"wait-convoy", 50, run}; }

}  // namespace beamheap::analyses::rule
