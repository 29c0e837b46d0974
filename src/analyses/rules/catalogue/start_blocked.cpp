// start-blocked: an application has not finished its start, and others wait for that.
//
// Theory. See application_starts.hpp: whoever starts or stops an application waits for an application controller that is
// idle; the one to blame is in the start function, or is started by it and does not get ready. A node that still boots
// when somebody asks it for a dump is in the same state: what it was starting is the answer to "why is it not up".
//
// Thresholds: none where nothing else is told of a failed start. Ten who wait for the controller, or a boot that is not
// over, are high: the node does not do what it is for. Else medium: a start takes its time.
#include <algorithm>

#include "analyses/processes/frame_marks.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace start_blocked_rule {
namespace {

constexpr std::uint64_t many_waiters = 10;
constexpr std::size_t most_frames = 8;

// Whether the node's first process is still going through its boot script, and waits for an application in it.
bool boots(const RuleInput& input) {
    constexpr std::uint8_t script = 1, application = 2;
    const Snapshot& s = input.snapshot;
    const std::vector<std::uint8_t> marks = marks_of_stacks(s, [&](FunctionId id) -> std::uint8_t {
        const std::string_view module = s.text(s.functions[id].module), name = s.text(s.functions[id].name);
        if (module == "init" && name == "eval_script") return script;
        const bool starts = (module == "application" && name == "start_boot") ||
                            ((module == "application" || module == "application_controller") && name == "start_boot_application");
        return starts ? application : std::uint8_t{0};
    });
    return std::ranges::any_of(s.processes, [&](const Process& process) {
        return mark_of(marks, process) == (script | application);
    });
}

void run(const RuleInput& input, std::vector<Finding>& findings) {
    if (input.starts == nullptr || input.starts->starting.empty() || is_failed_start(input.slogan.kind)) return;
    const Snapshot& s = input.snapshot;
    const ProcId controller = s.find_registered("application_controller");
    const WaitFanIn* fan = controller == ProcId::none ? nullptr : input.waits.fan_in_of(controller);
    const std::vector<ProcId> starters = starting_processes(s);
    const bool boot = boots(input);
    Finding finding;
    finding.severity =
        boot || (fan != nullptr && fan->waiters >= many_waiters) ? FindingSeverity::high : FindingSeverity::medium;
    const std::string& application = input.starts->starting.front();
    finding.subject = {SubjectKind::node, sentence("application {}", Atom{application, false})};
    if (boot)
        finding.title.say("The node was still starting {}", Atom{application, false});
    else
        finding.title.say("Application {} has not started", Atom{application, false});
    if (!starters.empty()) {
        const ProcId starter = starters.front();
        const WaitEdge* edge = input.waits.edge(starter);
        const ProcId end = end_of_chain(input.waits, starter);
        if (edge != nullptr && end != ProcId::none) {
            finding.title.say(": {} waits in {} for {}", starter, edge->function, target_text(input.snapshot, edge->target));
            if (edge->target.process != end) finding.title.say(", and in the end for {}", end);
            finding.title.say(", which {}", doing(input, end));
        } else if (edge != nullptr) {
            finding.title.say(": {} waits in {} for {}", starter, edge->function, target_text(input.snapshot, edge->target));
        } else {
            finding.title.say(": {} {}", starter, doing(input, starter));
        }
        const ProcId blamed = end == ProcId::none ? starter : end;
        finding.process = blamed;
        finding.pid = s[blamed].pid;
        finding.name = s[blamed].name;
        finding.evidence.push_back(fact("its start function", frames_text(input, starter, most_frames)));
        if (blamed != starter) finding.evidence.push_back(fact("who does not get ready", frames_text(input, blamed, most_frames)));
    }
    if (fan != nullptr && fan->waiters > 1) {
        finding.title.say("; {} wait for the application controller meanwhile", processes(fan->waiters));
        for (const std::uint32_t edge : input.waits.waiters_of(*fan)) finding.members.push_back(input.waits.edges[edge].waiter);
    }
    finding.count = fan == nullptr ? 0 : fan->waiters;
    finding.evidence.push_back(figure("applications that run", input.starts->running, AmountUnit::count));
    finding.evidence.push_back(figure("applications that are starting", input.starts->starting.size(), AmountUnit::count));
    finding.evidence.push_back(figure("processes that wait for the application controller", finding.count, AmountUnit::count));
    if (finding.process != ProcId::none)
        finding.advise("Look at what the start waits for: {}", Command{"proc", s[finding.process].pid});
    finding.advise("Do what may take long (connecting, waiting for tables or other nodes) after the start: in `handle_continue`, or in a "
                   "process that tries again.");
    finding.advise("Nobody can start, stop or load an application until it returns; see who waits: `beamheap waits DUMP`");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace start_blocked_rule

Rule start_blocked() { return {"start-blocked", 35, start_blocked_rule::run}; }

}  // namespace beamheap::analyses::rule
