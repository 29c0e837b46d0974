// SPDX-License-Identifier: Apache-2.0
// multitude: something is there in unusual number, and no rule was written for it.
//
// Theory: facts/catalogue/multitudes.hpp. A number alone is no disease: a registry has as many entries as it was given.
// So it is told as info, and in front only where nothing else is found; what other rules tell of the same process is
// not told again. Entries made for processes that have ended are a disease: nobody takes them out.
//
// Processes of one kind that hold as much each are told as one, with what a typical one of them holds.
//
// Copies of one term in processes of whatever kinds (facts/catalogue/shared_copies.hpp) are told as one, before what
// each kind holds.
//
// Monitors, links and timers take memory that no heap has, and each becomes a message in the end: from some number on
// they are a disease whoever has them.
//
// Children that nobody needs any more, or of which each has a program of its own, are told as
// facts/catalogue/broods.hpp finds them; who has many that live, or keeps the pids of such, is not.
//
// Thresholds: children of one kind, nine in ten of 1,000 left behind, or a program each of 100: medium; those of the
// fact; 10,000 monitors on whom the process monitors more than once, or of several such on one, or timers for one
// receiver, are medium, 100,000 high, 50,000 links or monitors of a process medium; modules whose names have random
// parts, which a running program has made, are medium from the bound of the fact on; copies that are 8 MiB and a
// quarter of the node's memory: medium where they are half of it, else info; ten processes of a kind that are a tenth
// of the node's memory; of entries that name processes, nine in ten of 30 that were looked at name processes that have
// ended: medium.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include "analyses/facts/catalogue/broods.hpp"
#include "analyses/facts/catalogue/multitudes.hpp"
#include "analyses/facts/catalogue/shared_copies.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/rules/alike.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses::rule {
namespace multitude_rule {
namespace {

constexpr std::size_t most_findings = 3;
constexpr std::size_t least_alike = 10;
constexpr double least_alike_percent = 10, leaked_alike_percent = 25, leading_alike_percent = 20;
constexpr std::uint64_t least_copied = 8u << 20;
constexpr double copied_percent = 25, mostly_copied_percent = 50;

constexpr std::uint64_t grave_to_one = 10'000, high_to_one = 100'000, grave_of_one = 50'000;
constexpr std::uint64_t least_repeated = 10'000;
constexpr std::string_view swept = "idle-garbage";
constexpr std::uint64_t least_with_programs = 100;
constexpr double much_untold_percent = 25, nearly_all_timers_percent = 90;

using Of = Multitude::Of;

// Names that no person has given, nor a generator of code that counts: such modules are made while the node runs.
bool is_random(std::string_view form) {
    return std::ranges::any_of(std::array<std::string_view, 3>{"<hex", "<uuid>", "<base64>"},
                               [&](std::string_view each) { return form.find(each) != std::string_view::npos; });
}

bool of_ended(const Multitude& row) { return row.of == Of::elements && row.processes.mostly_ended(); }

FindingSeverity severity_of(const Multitude& row) {
    switch (row.of) {
        case Of::elements: return of_ended(row) ? FindingSeverity::medium : FindingSeverity::info;
        case Of::monitors_again:
        case Of::monitored:
        case Of::timers:
            return row.count >= high_to_one    ? FindingSeverity::high
                   : row.count >= grave_to_one ? FindingSeverity::medium
                                               : FindingSeverity::info;
        case Of::monitors:
        case Of::links: return row.count >= grave_of_one ? FindingSeverity::medium : FindingSeverity::info;
        case Of::modules: return is_random(row.form) ? FindingSeverity::medium : FindingSeverity::info;
        default: return FindingSeverity::info;
    }
}

// What the number alone says little of comes last: what is never freed, and what each owner has more of, before the
// integers of one list.
int rank(const Multitude& row) {
    if (severity_of(row) != FindingSeverity::info) return 0;
    if (row.of == Of::modules || row.of == Of::descents) return 1;
    return row.plain ? 3 : 2;
}

std::vector<const Multitude*> in_order(const Multitudes& multitudes) {
    std::vector<const Multitude*> rows;
    for (const Multitude& row : multitudes.all) rows.push_back(&row);
    std::ranges::stable_sort(rows, {}, [](const Multitude* row) { return rank(*row); });
    return rows;
}

// Monitors, links, timers and modules that are a disease of their own.
bool is_grave(const Multitude& row) { return row.of != Of::elements && severity_of(row) != FindingSeverity::info; }

// The VM's own processes have what they have for others.
bool is_of_vm(const Snapshot& s, const Multitude& row) {
    return row.owner != ProcId::none && has_role(s, s[row.owner].initial_call, erlang::FunctionRole::frees_literals);
}

// What is told of the same process; nullptr: nothing.
Finding* told_of(const Multitude& row, std::vector<Finding>& findings) {
    const auto found =
        row.owner == ProcId::none ? findings.end() : std::ranges::find_if(findings, [&](const Finding& each) {
            return each.process == row.owner && each.severity != FindingSeverity::info;
        });
    return found == findings.end() ? nullptr : &*found;
}

Sentence receiver_of(const TimersOfOne& row) {
    if (row.process != ProcId::none) return sentence("{}", row.process);
    if (row.pid.has()) return sentence("{}, which is gone", row.pid);
    return sentence("{}, which nobody is registered as", Name{row.name});
}

// Up to OTP 25 the module timer's server has the repeated timers, and monitors for each who has set it: whoever has set
// the most.
std::optional<Relations> repeated_of_one(const Snapshot& s, const TimersOfOne& row) {
    if (row.process == ProcId::none || s.text(s[row.process].name) != erlang::registered::timer_server)
        return std::nullopt;
    for (const Relations& each : relation_crowds(s, least_repeated))
        if (each.process == row.process && each.to_one >= least_repeated && each.target.pid.has()) return each;
    return std::nullopt;
}

// Who has set repeated timers, which nothing but that one's end takes back.
Pid setter_of(const Snapshot& s, const TimersOfOne& row) {
    if (const auto by_server = repeated_of_one(s, row)) return by_server->target.pid;
    return row.repeated != 0 ? row.pid : Pid{};
}

// Memory that the VM counts for processes, and that none of those has that the input lists.
std::uint64_t processes_of_nobody(const Facts& facts) {
    if (!facts.snapshot().source.process_table_complete) return 0;
    return facts.get<Ledger>().untold_bytes(LedgerArea::processes);
}

Sentence timers_title(const Facts& facts, const Multitude& row) {
    const Snapshot& s = facts.snapshot();
    const TimersOfOne& of = row.timers_of;
    Sentence text = sentence("{} are set for {}", Counted{row.count, "timer", "timers"}, receiver_of(of));
    if (const auto by_server = repeated_of_one(s, of))
        text.say(", {} of them repeated ones of {}", number(by_server->to_one), AnyProcess{by_server->target.pid});
    else if (of.repeated != 0)
        text.say(", {} of them repeated ones, each with a process of its own", number(of.repeated));
    // What timers send lies on no heap until it is due: it is counted for the processes, and is nobody's.
    const std::uint64_t untold = is_grave(row) ? processes_of_nobody(facts) : 0;
    const double untold_percent = percent_of(untold, node_bytes(facts)).value_or(0);
    if (untold_percent >= much_untold_percent &&
        percent_of(row.count, s.timers.size()).value_or(0) >= nearly_all_timers_percent)
        text.say("; their messages take some {} ({} of all memory)", bytes(untold), Percent{untold_percent});
    else if (of.latest_ms.has())
        text.say("; the last one is due in {}", Amount{*of.latest_ms, AmountUnit::milliseconds});
    return text;
}

// What a process has on no heap: monitors and links above all.
Count off_heap(const Snapshot& s, const Process& process) {
    return process.memory_bytes -
           words_to_bytes(process.heap_words + Count(process.old_heap_words.value_or(0)), s.source.word_size);
}

// "broker <0.80.0> is monitored 50,000 times by 100 processes of worker:init/1, most often by <0.81.0>: 500 times"
Sentence monitored_title(const Facts& facts, const Multitude& row) {
    const Snapshot& s = facts.snapshot();
    const Monitored& of = row.monitored;
    const FunctionId kind = first_call(s[of.most]);
    const bool one_kind = kind != FunctionId::none &&
                          std::ranges::all_of(of.holders, [&](ProcId id) { return first_call(s[id]) == kind; });
    Sentence text = sentence("{} is monitored {} times by {}", link_text(of.target), number(row.count),
                             processes(of.holders.size()));
    if (one_kind) text.say(" of {}", kind);
    text.say(", most often by {}: {} times", of.most, number(of.by_most));
    return text;
}

Sentence title(const Facts& facts, const Multitude& row) {
    const Snapshot& s = facts.snapshot();
    switch (row.of) {
        case Of::elements: {
            Sentence text = row.handlers ? sentence("{} has {}", row.owner, row.what)
                                         : sentence("{} has {} in {}", row.owner, row.what, row.where);
            if (of_ended(row))
                text.say("; {} of {} that were looked at name processes that have ended", number(row.processes.ended),
                         number(row.processes.named));
            return text;
        }
        case Of::monitors_again:
            return row.relations.whom_again == 1
                       ? sentence("{} holds {} on {}", row.owner, Counted{row.count, "monitor", "monitors"},
                                  link_text(row.relations.target))
                       : sentence("{} holds {} on {}, {} of them on {}", row.owner,
                                  Counted{row.count, "monitor", "monitors"},
                                  Counted{row.relations.whom_again, "process", "processes"},
                                  number(row.relations.to_one), link_text(row.relations.target));
        case Of::monitored: return monitored_title(facts, row);
        case Of::monitors:
            return sentence("{} holds {} on others", row.owner, Counted{row.count, "monitor", "monitors"});
        case Of::links: return sentence("{} is linked to {} others", row.owner, number(row.count));
        case Of::timers: return timers_title(facts, row);
        case Of::tables: return sentence("{} owns {} tables {}", row.owner, number(row.count), names(row.form));
        case Of::ports: return sentence("{} owns {} ports of {}", row.owner, number(row.count), names(row.form));
        case Of::resources:
            return row.form == erlang::module_of_files
                       ? sentence("{} has {} files open", row.owner, number(row.count))
                       : sentence("{} is watched by {} resources of {}", row.owner, number(row.count), names(row.form));
        case Of::modules:
            return is_random(row.form)
                       ? sentence("{} modules {} are loaded, made while it ran; their atoms are never freed",
                                  number(row.count), names(row.form))
                       : sentence("{} modules {} are loaded", number(row.count), names(row.form));
        case Of::descents:
            return sentence("{} processes of {} have each started the next; the last is {}", number(row.count),
                            kind_of(facts, s[row.owner]), row.owner);
    }
    return {};
}

// What its owner has besides, behind what is told of that one: not what its state is, which says itself what it is
// for, nor what is told already.
void say_behind(const Facts& facts, const Multitude& row, const std::vector<Finding>& findings, Finding& told) {
    const bool known = std::ranges::any_of(
        findings, [&](const Finding& each) { return each.process == row.owner && each.count == Count(row.count); });
    if (known || !told.behind.empty() || row.of == Of::timers || (row.of == Of::elements && !row.handlers)) return;
    told.behind = title(facts, row);
    if (const TermFacts* const seen = facts.get<SuspectTerms>().of(row.owner);
        row.handlers && seen != nullptr && !seen->server.empty())
        told.behind.say("; it is {}", seen->server);
    told.evidence.insert(told.evidence.begin(), fact("what goes with it", told.behind, told.confidence));
}

TextId message_of(const Facts& facts, const Multitude& row) {
    return row.of == Of::timers ? facts.snapshot().timers[row.timers_of.example].message : TextId::none;
}

// What they will send: of one, without what differs from one to the next.
std::string shape_of_messages(const Facts& facts, const Multitude& row) {
    const TextId message = message_of(facts, row);
    return message == TextId::none ? std::string() : term_shape(facts.snapshot().text(message));
}

// Figures of monitors, links and timers; the memory outside the heaps stands in the title where they are a disease.
void add_relations(const Facts& facts, const Multitude& row, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    if (row.of == Of::timers) {
        finding.percent = percent_of(row.count, s.timers.size());
        finding.evidence = {figure("timers of the node", s.timers.size(), AmountUnit::count),
                            figure("the next one is due in", row.timers_of.soonest_ms, AmountUnit::milliseconds),
                            figure("the last one is due in", row.timers_of.latest_ms, AmountUnit::milliseconds)};
    } else if (row.of == Of::monitored) {
        Sum outside;
        for (const ProcId id : row.monitored.holders) outside.add(off_heap(s, s[id]));
        if (std::ranges::find(row.monitored.holders, row.owner) == row.monitored.holders.end())
            outside.add(off_heap(s, s[row.owner]));
        finding.bytes = outside.value();
        if (is_grave(row) && finding.bytes.has())
            finding.title.say("; {} of their memory and its own are on no heap", bytes(*finding.bytes));
        finding.evidence = {figure("monitors on it, of those who hold more than one", row.count, AmountUnit::count),
                            figure("who these are", row.monitored.holders.size(), AmountUnit::count),
                            figure("of the memory of all of them outside heaps", finding.bytes, AmountUnit::bytes)};
    } else if (row.of == Of::monitors_again || row.of == Of::monitors || row.of == Of::links) {
        const Count outside = off_heap(s, s[row.owner]);
        finding.bytes = outside;
        if (is_grave(row) && outside.has()) finding.title.say("; {} of its memory are on no heap", bytes(*outside));
        finding.evidence = {figure("monitors that it holds", row.relations.monitors, AmountUnit::count),
                            figure("of them on the same one", row.relations.to_one, AmountUnit::count),
                            figure("links", row.relations.links, AmountUnit::count),
                            figure("of its memory outside its heaps", outside, AmountUnit::bytes)};
    }
}

void add_steps(const Facts& facts, const Multitude& row, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const Pid pid = row.owner == ProcId::none ? Pid{} : s[row.owner].pid;
    switch (row.of) {
        case Of::elements:
            if (of_ended(row))
                finding.advise("Monitor whom an entry is made for, and take it out at 'DOWN'; see the entries: {}",
                               Command{"heap", pid});
            else
                finding.advise("Look at what puts entries there, and whether something takes them out: {}",
                               Command{"heap", pid});
            break;
        case Of::monitored:
            finding.advise(
                "Take each monitor back when its request is done (`erlang:demonitor/2` with [flush]), or monitor the "
                "target once: {}",
                Command{"proc", s[row.monitored.most].pid});
            finding.advise("When it ends, each of them becomes a message at once: expect queues as long.");
            break;
        case Of::monitors_again:
        case Of::monitors:
        case Of::links:
            if (s.text(s[row.owner].name) == erlang::registered::timer_server)
                finding.advise(
                    "Each is a repeated timer of the module `timer` (`timer:send_interval`, `timer:apply_interval`) "
                    "that nobody has cancelled: `timer:cancel/1`, or one `erlang:send_after/3` at a time.");
            else
                finding.advise(
                    "Take each monitor back when its request is done (`erlang:demonitor/2` with [flush]), or monitor "
                    "the target once: {}",
                    Command{"proc", pid});
            finding.advise(
                "When one side ends, each of them becomes a message or a signal at once: expect as long a queue.");
            break;
        case Of::timers:
            if (const Pid setter = setter_of(s, row.timers_of); setter.has())
                finding.advise(
                    "Repeated timers of the module `timer` (`timer:send_interval`, `timer:apply_interval`) last until "
                    "`timer:cancel/1` or the end of who has set them: one `erlang:send_after/3` at a time ends by "
                    "itself. {}",
                    Command{"proc", setter});
            finding.advise(
                "Cancel each timer when what it guards is done: `erlang:cancel_timer/1`, or a call's own timeout.");
            finding.advise("See their messages and when they are due: `beamheap timers DUMP`");
            break;
        case Of::tables: finding.advise("See what they hold: `beamheap ets DUMP`"); break;
        case Of::ports: finding.advise("See them: `beamheap ports DUMP`"); break;
        case Of::resources: finding.advise("See where they are kept: {}", Command{"heap", pid}); break;
        case Of::modules:
            if (is_random(row.form))
                finding.advise(
                    "Do not compile a module for each text or key: hand over what differs as an argument, and use "
                    "names of a bounded set. `code:purge/1` and `code:delete/1` free the code, nothing the atom.");
            finding.advise("See them: `beamheap modules DUMP`");
            break;
        case Of::descents:
            finding.advise("See who has started whom: `beamheap tree DUMP`");
            finding.advise("Each stays behind the next: let one process start the others, or let each end.");
            break;
    }
    finding.advise("A second dump or core image some minutes later tells whether there are more of them.");
}

// Many processes of one kind, each with as much: told as one.
bool add_of_alike(const Facts& facts, const Alike& alike, Finding& finding) {
    const double of_node = percent_of(alike.bytes, node_bytes(facts)).value_or(0);
    if (alike.members.size() < least_alike || of_node < least_alike_percent) return false;
    finding.subject = {SubjectKind::group, sentence("{}", alike.function)};
    // A key that was made for one purpose is used once: nobody will look it up any more.
    finding.severity = alike.fresh_keys && of_node >= leaked_alike_percent ? FindingSeverity::high
                       : alike.of_ended                                    ? FindingSeverity::medium
                                                                           : FindingSeverity::info;
    finding.confidence = Confidence::estimate;
    finding.count = alike.members.size();
    finding.bytes = alike.bytes;
    finding.percent = of_node;
    finding.title.say("{} of {} hold {}; {}", processes(alike.members.size()), alike.function, bytes(alike.bytes),
                      alike.what);
    finding.evidence = {figure("their memory", alike.bytes, AmountUnit::bytes), share("of the node's memory", of_node)};
    add_stack(facts, alike.typical, finding);
    add_alike(facts, alike, finding);
    if (alike.fresh_keys)
        finding.advise(
            "Erase each such key when what it was made for is done (`erase/1`), also where that fails; a library that "
            "traces or measures leaves them there in processes that live long.");
    finding.advise("See which terms of one keep most alive: {}", Command{"heap", facts.snapshot()[alike.typical].pid});
    return true;
}

// "2,500 processes of 5 kinds, as ws_conn:init/2, have each a copy of one term, a map #{routes, tls, db} (20.7 KiB):
// 81 % of the node's memory"
bool add_copies(const Facts& facts, const SharedCopies& copies, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const double percent = percent_of(copies.bytes, node_bytes(facts)).value_or(0);
    if (copies.words == 0 || copies.bytes < least_copied || percent < copied_percent || copies.kinds.empty())
        return false;
    finding.severity = percent >= mostly_copied_percent ? FindingSeverity::medium : FindingSeverity::info;
    finding.subject = {SubjectKind::group, sentence("{}", copies.kinds.front())};
    finding.confidence = Confidence::estimate;
    finding.count = copies.processes;
    finding.bytes = copies.bytes;
    finding.percent = percent;
    const Sentence kinds = copies.kinds.size() == 1
                               ? sentence("of {}", copies.kinds.front())
                               : sentence("of {} kinds, as {},", number(copies.kinds.size()), copies.kinds.front());
    const std::uint64_t each = copies.bytes / std::max<std::uint64_t>(copies.processes, 1);
    finding.title.say("{} {} have each a copy of one term, {} ({}): {} of the node's memory",
                      processes(copies.processes), kinds, copies.what, bytes(each), Percent{percent});
    if (copies.original != ProcId::none)
        finding.behind.say("{}, who has started them, has it as well", copies.original);
    finding.evidence = {figure("one copy", each, AmountUnit::bytes),
                        figure("all copies", copies.bytes, AmountUnit::bytes, Confidence::estimate),
                        figure("processes that were looked at", copies.looked, AmountUnit::count),
                        figure("of these, with the same term", copies.same, AmountUnit::count),
                        fact("one of those that have it", sentence("{}", copies.example))};
    add_stack(facts, copies.example, finding);
    finding.advise(
        "Keep it once, and let them look there: a persistent term, a table, or a literal of a module. A message, the "
        "arguments of a spawn, and what a fun has with it, are copied for each process.");
    if (copies.original != ProcId::none)
        finding.advise(
            "A fun takes with it all variables that it names: match out what it needs before, and not the whole State: "
            "{}",
            Command{"heap", s[copies.example].pid});
    else finding.advise("See it in one of them: {}", Command{"heap", s[copies.example].pid});
    return true;
}

// Entries that name processes which live, nearly all: a registry.
bool of_living(const Multitude& row) {
    constexpr std::uint64_t least_named = 30;
    return row.of == Of::elements && row.processes.named >= least_named &&
           row.processes.ended * 10 < row.processes.named;
}

// "all of them", or how many.
Sentence part_of(std::uint64_t part, std::uint64_t all) {
    return part == all ? Sentence(Ours("all")) : sentence("{}", number(part));
}

// "notifier <0.95.0> has started 588 processes of pg_conn:init/1, each with a connection of its own, and is linked to
// all of them": of one who is no supervisor, and no acceptor's, whose name would say that it keeps connections.
bool add_connections(const Facts& facts, const Brood& brood, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    if (brood.sockets * 10 < brood.members * 9 || brood.parent == ProcId::none || brood.sockets < least_with_programs ||
        brood.linked * 10 < brood.members * 9 || erlang::is_called_supervisor(s.text(s[brood.parent].name)))
        return false;
    const Sentence kind = sentence("{}", first_call(s[brood.example]));
    about(facts, brood.parent, finding);
    finding.severity = FindingSeverity::info;
    finding.confidence = Confidence::estimate;
    finding.count = brood.members;
    finding.title.say("{} has started {} of {}, each with a connection of its own, and is linked to {} of them",
                      brood.parent, processes(brood.members), kind, part_of(brood.linked, brood.members));
    finding.evidence = {figure("processes of that kind and parent", brood.members, AmountUnit::count),
                        figure("of these, with a socket", brood.sockets, AmountUnit::count),
                        figure("linked to who has started them", brood.linked, AmountUnit::count),
                        fact("one of them", sentence("{}", brood.example))};
    add_stack(facts, brood.example, finding);
    finding.advise("See which of them its State still knows: those it does not are never closed: {}",
                   Command{"heap", s[brood.parent].pid});
    finding.advise("See these connections, and where they go: `beamheap ports DUMP`");
    finding.advise(
        "A server that connects anew has to close what it had: one timer and one attempt at a time, also where the "
        "attempt fails in two ways (an error, and an 'EXIT').");
    return true;
}

// "1,487 processes of pdf_fonts:init/1, and as many of pdf_objects:init/1, have outlived the 1,487 that started them"
Sentence outliving(const Brood& brood, const Sentence& kind) {
    Sentence text = sentence("{} of {}", processes(brood.members), kind);
    for (const FunctionId each : brood.beside) text.say(", and as many of {}", each);
    if (!brood.beside.empty()) text.add(Ours(","));
    return text.say(" have outlived the {} that started them", number(brood.starters));
}

// "conn_sup <0.95.0> has started 9,000 processes of conn:init/1; all have been idle since they began, and nobody else
// is linked to them or monitors them"
bool add_brood(const Facts& facts, const Brood& brood, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const bool with_programs = brood.programs >= least_with_programs;
    if (!with_programs && !brood.mostly_left()) return add_connections(facts, brood, finding);
    const Sentence kind = sentence("{}", first_call(s[brood.example]));
    finding.subject = {SubjectKind::group, kind};
    finding.process = brood.parent;
    if (brood.parent != ProcId::none) finding.pid = s[brood.parent].pid, finding.name = s[brood.parent].name;
    finding.severity = FindingSeverity::medium;
    finding.confidence = Confidence::estimate;
    finding.count = brood.members;
    if (brood.parent != ProcId::none)
        finding.title.say("{} has started {} of {}", brood.parent, processes(brood.members), kind);
    else if (brood.starters == 1)
        finding.title.say("{} of {} were started by one that has ended", processes(brood.members), kind);
    else finding.title.add(outliving(brood, kind));
    if (with_programs) {
        if (brood.programs == brood.members) finding.title.add(Ours(", each with an external program of its own"));
        else finding.title.say(", {} of them with an external program each", number(brood.programs));
        if (brood.program != TextId::none) finding.title.say(", {}", names(s.text(brood.program)));
    }
    if (brood.mostly_left()) {
        if (brood.supervisors && brood.below == 0)
            finding.title.say("; {} are supervisors that have no child", part_of(brood.left, brood.members));
        else {
            if (brood.starters == 1)
                finding.title.say("; {} have been idle since they began", part_of(brood.left, brood.members));
            else finding.title.say("; {} are idle", part_of(brood.left, brood.members));
            if (const Sentence state = in_state(facts, first_call(s[brood.example])); !state.empty())
                finding.title.say(",{}", state);
        }
        if (brood.below != 0) finding.title.say(", with {} below them", processes(brood.below));
        finding.title.add(brood.starters == 1 ? Ours(", and nobody else is linked to them or monitors them")
                                              : Ours(", and nobody is linked to them or monitors them"));
    }
    if (brood.tables == brood.members) finding.behind.say("Each owns a table {} as well", Name{brood.table});
    for (const Multitude& row : facts.get<Multitudes>().all)
        if (row.of == Of::elements && row.owner != brood.parent && row.count == brood.members && finding.behind.empty())
            finding.behind.say("{} has {} in {}", row.owner, row.what, row.where);
    finding.evidence = {figure(brood.starters == 1 ? Ours("processes of that kind and parent")
                                                   : Ours("processes of that kind whose starters have ended"),
                               brood.members, AmountUnit::count),
                        figure("of these, left behind", brood.left, AmountUnit::count, Confidence::estimate),
                        figure("with an external program", brood.programs, AmountUnit::count),
                        figure("with a table", brood.tables, AmountUnit::count),
                        fact("one of them", sentence("{}", brood.example))};
    add_stack(facts, brood.example, finding);
    if (with_programs)
        finding.advise(
            "Each is a process of the machine, whose memory no figure here has: see why another is started before the "
            "last one has ended, and who is to close it: {}",
            Command{"proc", s[brood.example].pid});
    else if (brood.starters > 1)
        finding.advise(
            "See who starts one for each of its own, and stop it there in the end, also where that one fails: an end "
            "with reason normal takes nobody along that is linked: {}",
            Command{"proc", s[brood.example].pid});
    else
        finding.advise(
            "See for whom each was started, and let it end with that one (a link, a monitor, or a time after which it "
            "stops): {}",
            Command{"proc", s[brood.example].pid});
    finding.advise("A second dump or core image some minutes later tells whether there are more of them.");
    return true;
}

// Whether a finding tells of that kind already.
bool kind_is_told(const std::vector<Finding>& findings, const Sentence& kind) {
    return std::ranges::any_of(findings, [&](const Finding& each) {
        return each.subject.kind == SubjectKind::group && each.severity != FindingSeverity::info &&
               each.subject.text == kind;
    });
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    if (is_failed_start(facts.get<Slogan>().kind)) return;
    const bool quiet = std::ranges::none_of(
        findings, [](const Finding& each) { return each.severity != FindingSeverity::info || each.leads; });
    const bool nothing_sure = std::ranges::all_of(findings, [](const Finding& each) {
        return each.perhaps_meant || (each.severity == FindingSeverity::info && !each.leads);
    });
    // Garbage goes with the next collection; what nobody takes back stays.
    const bool only_garbage = std::ranges::all_of(
        findings, [](const Finding& each) { return each.severity == FindingSeverity::info || each.rule == swept; });
    std::vector<Finding> found;
    const SharedCopies& copies = facts.get<SharedCopies>();
    const auto is_of_copies = [&](const Finding& each) {
        return each.subject.kind == SubjectKind::group && each.severity != FindingSeverity::info &&
               std::ranges::any_of(copies.kinds,
                                   [&](FunctionId kind) { return each.subject.text == sentence("{}", kind); });
    };
    if (Finding finding; std::ranges::none_of(findings, is_of_copies) && add_copies(facts, copies, finding)) {
        finding.leads = quiet;
        found.push_back(std::move(finding));
    }
    const bool copies_are_told = !found.empty();
    const auto alike = alike_processes(facts);
    const bool group_is_told =
        alike && std::ranges::any_of(findings, [&](const Finding& each) {
            return each.subject.kind == SubjectKind::group && each.subject.text == sentence("{}", alike->function);
        });
    const bool told_by_copies =
        copies_are_told && alike && std::ranges::find(copies.kinds, alike->function) != copies.kinds.end();
    if (Finding finding; alike && !group_is_told && !told_by_copies && add_of_alike(facts, *alike, finding)) {
        // A table that is as large as it is meant to be is no reason to pass over what many hold.
        const bool much = nothing_sure && finding.percent.value_or(0) >= leading_alike_percent;
        finding.leads = (quiet || much) && found.empty();
        found.push_back(std::move(finding));
    }
    const bool told_as_one = alike && (group_is_told || told_by_copies || found.size() > (copies_are_told ? 1 : 0));
    for (const Brood& brood : facts.get<Broods>().all) {
        if (found.size() == most_findings) break;
        if (Finding finding; add_brood(facts, brood, finding) && !kind_is_told(findings, finding.subject.text)) {
            finding.leads = finding.severity == FindingSeverity::info && found.empty() && nothing_sure;
            found.push_back(std::move(finding));
        }
    }
    for (const Multitude* const each : in_order(facts.get<Multitudes>())) {
        const Multitude& row = *each;
        if (found.size() == most_findings) break;
        if (of_living(row)) continue;
        if (is_of_vm(facts.snapshot(), row)) continue;
        if (Finding* const told = told_of(row, findings); told != nullptr && !is_grave(row)) {
            say_behind(facts, row, findings, *told);
            continue;
        }
        if (told_as_one && row.owner != ProcId::none && first_call(facts.snapshot()[row.owner]) == alike->function)
            continue;
        Finding finding;
        if (row.owner != ProcId::none) about(facts, row.owner, finding);
        else if (row.of == Of::timers) finding.subject = {SubjectKind::process, Ours("process that is gone")};
        else finding.subject = {SubjectKind::module, sentence("{}", names(row.form))};
        finding.severity = severity_of(row);
        finding.count = row.count;
        finding.leads = found.empty() && (quiet || (only_garbage && is_grave(row)));
        finding.title = title(facts, row);
        add_relations(facts, row, finding);
        if (const std::string shape = shape_of_messages(facts, row); !shape.empty())
            finding.behind.say("One of them will send {}", term(shape));
        if (const TextId message = message_of(facts, row); message != TextId::none)
            finding.evidence.push_back(fact("message of one", sentence("{}", term(facts.snapshot().text(message)))));
        if (row.owner != ProcId::none) {
            finding.evidence.push_back(
                figure("its memory", process_bytes(facts, facts.snapshot()[row.owner]), AmountUnit::bytes));
            finding.evidence.push_back(
                figure("messages in its queue", facts.snapshot()[row.owner].msgq_len, AmountUnit::count));
            add_stack(facts, row.owner, finding);
        }
        add_steps(facts, row, finding);
        found.push_back(std::move(finding));
    }
    std::ranges::move(found, std::back_inserter(findings));
}

}  // namespace
}  // namespace multitude_rule

// Behind those that know what it means.
Rule multitude() { return {"multitude", 185, multitude_rule::run}; }

}  // namespace beamheap::analyses::rule
