// SPDX-License-Identifier: Apache-2.0
// same-place: a large part of the node is in one and the same place, and it is not known what all of these wait for.
//
// Theory. A task that hangs in a receive of its own, a worker that looks again and again for a name that nobody
// registers, a member of a pool that was written by hand: no monitor, port or lock tells what they wait for, and each
// alone looks like any process at rest. That so many are in the same function, called by the same one, tells where to
// look. A process that is there for what comes next is not counted: it waits in its loop, which nothing has called and
// to which nothing returns, or in a loop of OTP's. Nor is one that reads from a connection, or accepts one, which is
// what a server does at rest. Nor are those whose function is called a loop, and whose queues are empty: it takes what
// comes. What else tells of those who wait (whom they have called, locks, programs) says more, and
// is told instead: those whom other findings count are left out. What those do whom they have started, what all of them
// name in the frames in which they wait, or who keeps the pids of all of them, is told beside the place: it is most
// likely what they look for, or who is to send what they want.
//
// Where nearly all of them name a process in the frame in which they wait, and those have ended, nobody will answer: a
// process that has died takes its answers with it, and who has not monitored it is not told.
//
// Where each of them names one process, and those have nothing in their queues, nobody will answer: what they hold, and
// how many they are, are consequences of that, and are told behind it.
//
// Those that sleep wake by themselves. Where nothing lies in their queues, nothing else is found and nothing ties them
// together but who has started them, they are workers at rest, and nothing is told.
//
// Where one of them has a long queue, it has been asked for something and waits as the others do: most likely these
// wait for it, and it waits for itself.
//
// Thresholds: 20 processes that are 20 % of all, or 5 % and half of those that are not at rest, or, with messages in
// the queues of nearly all of them, ten that are 1 % and a fifth of those: medium, where nothing else is found, else
// info. Workers that wait for work within a function of theirs look the same.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "analyses/facts/catalogue/table_rows.hpp"
#include "analyses/processes/frame_marks.hpp"
#include "analyses/processes/named_waits.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/waiting_functions.hpp"

namespace beamheap::analyses::rule {
namespace same_place_rule {
namespace {

constexpr std::uint64_t least_processes = 20, least_unread = 10;
constexpr double least_percent = 20, least_unread_percent = 1;
constexpr double spawner_percent = 75;  // of those, of one who is told, and of those who have started others

bool is_sleep(const Snapshot& s, FunctionId id) { return has_role(s, id, erlang::FunctionRole::sleeps); }

// Where processes wait for the other side of a connection, or are the VM's own.
bool is_at_rest(const Snapshot& s, FunctionId id) {
    return is_idle_function(s, id) || has_role(s, id, erlang::FunctionRole::awaits_peer) ||
           has_role(s, id, erlang::FunctionRole::handles_signals);
}

// Whether a process waits there on behalf of a function that goes on when it has what it waits for, and nothing tells
// what that is.
FunctionId caller_there(const Facts& facts, ProcId id) {
    const Process& process = facts.snapshot()[id];
    if (process.state != ProcessState::waiting || process.current_function == FunctionId::none ||
        facts.get<Waits>().edge(id) != nullptr)
        return FunctionId::none;
    return waits_on_behalf(facts.snapshot(), process);
}

struct Place {
    FunctionId function = FunctionId::none, caller = FunctionId::none;
    std::vector<ProcId> members;
};

// The place where most are of whom no finding tells yet.
Place fullest(const Facts& facts, const std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    std::vector<bool> told(s.processes.size());
    for (const Finding& finding : findings)
        for (const ProcId id : finding.members) told[index_of(id)] = true;
    std::vector<bool> at_rest(s.functions.size());
    std::vector<bool> is_loop(s.functions.size());
    for (std::uint32_t i = 0; i < s.functions.size(); ++i) {
        at_rest[i] = is_at_rest(s, FunctionId{i});
        is_loop[i] = erlang::is_loop_name(s.text(s.functions[FunctionId{i}].name));
    }
    const std::vector<std::uint8_t> rests = marks_of_stacks(
        s, [&](FunctionId id) { return std::uint8_t{has_role(s, id, erlang::FunctionRole::awaits_peer)}; });
    std::map<std::pair<FunctionId, FunctionId>, std::uint64_t> counts;
    const auto place_of = [&](ProcId id) {
        const FunctionId caller = caller_there(facts, id), in = s[id].current_function;
        const bool loops = in != FunctionId::none && is_loop[index_of(in)] && s[id].msgq_len.value_or(0) == 0;
        const bool taken = !loops && caller != FunctionId::none && !told[index_of(id)] && !at_rest[index_of(in)] &&
                           mark_of(rests, s[id]) == 0;
        return taken ? std::pair(in, caller) : std::pair(FunctionId::none, FunctionId::none);
    };
    Place found;
    std::uint64_t most = 0;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const auto place = place_of(ProcId{i});
        if (place.first == FunctionId::none) continue;
        // Of places with as many it is the one that was asked for more.
        const std::uint64_t count = counts[place] += 2 + (s.processes[i].msgq_len.value_or(0) != 0);
        if (count <= most) continue;
        most = count;
        found.function = place.first;
        found.caller = place.second;
    }
    if (most < 2 * least_unread) return {};
    for (std::uint32_t i = 0; i < s.processes.size(); ++i)
        if (place_of(ProcId{i}) == std::pair(found.function, found.caller)) found.members.push_back(ProcId{i});
    return found;
}

// Whether nearly all of them have messages that they do not take there.
bool has_unread(const Snapshot& s, std::span<const ProcId> members) {
    const auto unread = static_cast<std::size_t>(
        std::ranges::count_if(members, [&](ProcId id) { return s[id].msgq_len.value_or(0) != 0; }));
    return unread * 10 >= members.size() * 9;
}

// How many processes are not in their loops, waiting for what comes next.
std::uint64_t not_at_rest(const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    std::vector<bool> rests;
    for (std::uint32_t i = 0; i < s.functions.size(); ++i) rests.push_back(is_at_rest(s, FunctionId{i}));
    return static_cast<std::uint64_t>(std::ranges::count_if(s.processes, [&](const Process& p) {
        const bool at_rest = p.current_function != FunctionId::none && rests[index_of(p.current_function)];
        return p.state != ProcessState::waiting || !at_rest || p.msgq_len.value_or(0) != 0;
    }));
}

// The one of them in whose queue lie as many messages as half of them are, and more than in those of all others: most
// likely what the others want is to come from that one, which waits as they do. none: there is no such.
ProcId awaited_member(const Snapshot& s, std::span<const ProcId> members) {
    std::uint64_t all = 0;
    ProcId most = members.front();
    for (const ProcId id : members) {
        all = saturating_add(all, s[id].msgq_len.value_or(0));
        if (s[id].msgq_len.value_or(0) > s[most].msgq_len.value_or(0)) most = id;
    }
    const std::uint64_t queued = s[most].msgq_len.value_or(0);
    return queued * 2 >= members.size() && queued * 2 > all ? most : ProcId::none;
}

// Who has started most of them; none: several.
Pid starter_of(const Snapshot& s, std::span<const ProcId> members) {
    std::map<Pid, std::uint64_t> counts;
    for (const ProcId id : members)
        if (s[id].parent.has()) ++counts[s[id].parent];
    for (const auto& [pid, count] : counts)
        if (percent_of(count, std::uint64_t{members.size()}).value_or(0) >= spawner_percent) return pid;
    return {};
}

// Whom they have started, each one or more, where all of those are held up at one place: it is for them that they wait.
struct Started {
    std::uint64_t by = 0;  // so many of them
    FunctionId function = FunctionId::none;
    ProcId example = ProcId::none;
};

Started started_by(const Facts& facts, std::span<const ProcId> members) {
    const Snapshot& s = facts.snapshot();
    std::vector<bool> has_started(s.processes.size()), is_member(s.processes.size());
    for (const ProcId id : members) is_member[index_of(id)] = true;
    Started found;
    for (const ProcId id : all_processes(s)) {
        const Process& process = s[id];
        const ProcId parent = process.parent.has() ? s.find(process.parent) : ProcId::none;
        if (parent == ProcId::none || !is_member[index_of(parent)]) continue;
        if (process.current_function == FunctionId::none || is_idle_function(s, process.current_function)) return {};
        if (found.function == FunctionId::none) found.function = process.current_function, found.example = id;
        if (process.current_function != found.function) return {};
        found.by += !has_started[index_of(parent)];
        has_started[index_of(parent)] = true;
    }
    return percent_of(found.by, std::uint64_t{members.size()}).value_or(0) >= spawner_percent ? found : Started{};
}

// The row that has that name as its key, where the input has rows: whose it is, and whether that one has ended.
void say_row_of_key(const Facts& facts, std::string_view key, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const std::vector<RowOfKey>& keys = facts.get<PolledRows>().keys;
    const auto row = std::ranges::find(keys, key, &RowOfKey::key);
    if (row == keys.end()) return;
    const Name table{s.ets[row->table].name};
    if (!row->names.has()) finding.behind.say("It is a key of table {}", table);
    else
        finding.behind.say(row->ended ? Form<2>("It is a key of table {}, whose row is of {}, which has ended and does "
                                                "not delete it any more")
                                      : Form<2>("It is a key of table {}, whose row is of {}"),
                           table, AnyProcess{row->names});
    if (row->ended)
        finding.advise(
            "Delete the row; and let whoever keeps such rows monitor the process that a row is made for, and delete it "
            "at 'DOWN'.");
}

// What those do whom they have started; else what all of them name, or who knows all of them.
bool say_ties(const Facts& facts, const Place& place, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    if (const Started started = started_by(facts, place.members); started.by != 0) {
        finding.title.say("; those whom they have started sit in {}", started.function);
        finding.evidence.push_back(fact("one of those whom they have started",
                                        sentence("{}: {}", started.example, frames_text(facts, started.example))));
        finding.advise("Look at one of those whom they have started: {}", Command{"proc", s[started.example].pid});
        return true;
    }
    const auto name = std::ranges::find_if(facts.get<SharedNames>().names, [&](const SharedName& each) {
        return each.function == place.function && each.caller == place.caller;
    });
    const auto keeper = std::ranges::find(facts.get<Waits>().keepers, place.function, &Keeper::function);
    if (keeper != facts.get<Waits>().keepers.end())
        finding.evidence.push_back(
            fact("who keeps their pids", sentence("{}, which {}", keeper->process, doing(facts, keeper->process))));
    if (name != facts.get<SharedNames>().names.end() && name->atom != nullptr) {
        const PrintedTerm atom{name->atom, name->atom->term()};
        finding.title.say("; they all name {}", atom);
        say_row_of_key(facts, atom.term.text, finding);
        finding.evidence.push_back(fact("what they name", sentence("{}, which no process is registered as", atom)));
        return true;
    }
    const ProcId starter = s.find(starter_of(s, place.members));
    if (name != facts.get<SharedNames>().names.end() && name->process != starter) {
        finding.title.say("; they all name {}, which {}", name->process, doing(facts, name->process));
        return true;
    }
    if (keeper == facts.get<Waits>().keepers.end()) return false;
    finding.title.say("; {} keeps their pids", keeper->process);
    return true;
}

// Where nearly all of them name one process each in the frame in which they wait, and those do the same.
struct Named {
    FunctionId function = FunctionId::none;  // none: it is not so
    ProcId example = ProcId::none;
    bool idle = false;  // nothing lies in the queues of those
};

Named named_by(const Facts& facts, std::span<const ProcId> members) {
    const Snapshot& s = facts.snapshot();
    const std::vector<ProcId> named = only_named(s);
    std::map<FunctionId, std::pair<std::uint64_t, ProcId>> places;
    std::uint64_t at_rest = 0;
    for (const ProcId id : members) {
        const ProcId other = named[index_of(id)];
        if (other == ProcId::none || s[other].state != ProcessState::waiting) continue;
        if (s[other].current_function == FunctionId::none) continue;
        auto& [count, example] = places[s[other].current_function];
        if (count++ == 0) example = other;
        at_rest += s[other].msgq_len == Count(0);
    }
    for (const auto& [function, place] : places)
        if (percent_of(place.first, std::uint64_t{members.size()}).value_or(0) >= spawner_percent)
            return {function, place.second, at_rest >= place.first};
    return {};
}

// Where nearly all of them name a process that has ended in the frame in which they wait.
struct NamedEnded {
    std::uint64_t by = 0;         // so many of them; 0: it is not so
    std::uint64_t different = 0;  // processes that they name
    Pid example;
};

NamedEnded ended_named_by(const Snapshot& s, std::span<const ProcId> members) {
    const std::vector<Pid> named = only_named_ended(s);
    NamedEnded found;
    std::set<Pid> different;
    for (const ProcId id : members) {
        const Pid pid = named[index_of(id)];
        // Who has started it stands in frames for other reasons.
        if (!pid.has() || pid == s[id].parent) continue;
        ++found.by;
        different.insert(pid);
        if (!found.example.has()) found.example = pid;
    }
    found.different = different.size();
    return percent_of(found.by, std::uint64_t{members.size()}).value_or(0) >= spawner_percent ? found : NamedEnded{};
}

void say_ended(const NamedEnded& ended, Finding& finding) {
    if (ended.different == 1) finding.title.say("; they all name {}, which has ended", AnyProcess{ended.example});
    else finding.title.say("; each names a process that has ended, like {}", AnyProcess{ended.example});
    finding.behind = Ours("Nobody is there to answer, and nobody has told them: they do not monitor whom they ask");
    finding.evidence.push_back(
        figure("of them, those that name a process that has ended", ended.by, AmountUnit::count, Confidence::estimate));
    finding.advise(
        "Monitor whom something is asked of (`erlang:monitor/2`), as `gen_server:call/2` does, and take 'DOWN' in the "
        "same receive: then its end is an answer.");
}

// What goes with work that stands still, and is no reason of it: told behind the work.
bool is_consequence(const Finding& finding) { return finding.rule == "idle-garbage" || finding.rule == "process-leak"; }

// Whether so many in one place are to be told: by how many they are; beside many who are at rest, those who are not are
// what counts, where one of them has been asked for what the others want, or messages lie there that they do not take.
bool stands_out(const Facts& facts, std::span<const ProcId> members, double percent) {
    const Snapshot& s = facts.snapshot();
    const std::uint64_t count = members.size();
    if (count < least_unread) return false;
    if (percent >= least_percent && count >= least_processes) return true;
    const std::uint64_t busy = not_at_rest(facts);
    if (has_unread(s, members)) return percent >= least_unread_percent && count * 5 >= busy;
    return count >= least_processes && percent >= crowd::least_percent && count * 2 >= busy &&
           awaited_member(s, members) != ProcId::none;
}

// "; one of them, bonus <0.90.0>, has 37 messages in its queue, ..."; false: there is no such.
bool say_awaited(const Snapshot& s, std::span<const ProcId> members, Finding& finding) {
    const ProcId awaited = awaited_member(s, members);
    if (awaited == ProcId::none) return false;
    finding.title.say(
        "; one of them, {}, has {} in its queue, and most likely what the others wait for is to come from it", awaited,
        messages(s[awaited].msgq_len.value_or(0)));
    finding.process = awaited;
    finding.pid = s[awaited].pid;
    finding.name = s[awaited].name;
    finding.advise(
        "Look at what {} waits for: within its own callback it must not ask for what it has to bring itself: {}",
        awaited, Command{"proc", s[awaited].pid});
    return true;
}

void say_named(const Facts& facts, const Named& whom, Finding& finding) {
    const bool loops = is_idle_function(facts.snapshot(), whom.function);
    finding.title.say(loops ? Form<1>(", most likely each for the process that it names, which is idle in {}")
                            : Form<1>(", most likely each for the process that it names, which sits in {}"),
                      whom.function);
    finding.evidence.push_back(fact("one whom they name",
                                    sentence("{}: {}", whom.example, frames_text(facts, whom.example)),
                                    Confidence::estimate));
    finding.advise("Look at one of those whom they name, and why it does not answer: {}",
                   Command{"proc", facts.snapshot()[whom.example].pid});
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    if (is_failed_start(facts.get<Slogan>().kind)) return;
    Place place = fullest(facts, findings);
    const std::uint64_t count = place.members.size();
    const double percent = percent_of(count, std::uint64_t{s.processes.size()}).value_or(0);
    if (!stands_out(facts, place.members, percent)) return;
    const ProcId example = place.members.front();
    const bool asleep = is_sleep(s, place.function);
    Finding finding;
    // It tells where many are, and not what is wrong: whatever does (a queue, a busy port, memory) goes first.
    const Named whom = named_by(facts, place.members);
    const NamedEnded ended = asleep ? NamedEnded{} : ended_named_by(s, place.members);
    const bool stands_still = ended.by != 0 || (whom.function != FunctionId::none && whom.idle && !asleep);
    FindingSeverity severity = FindingSeverity::medium;
    bool told = false;
    for (const Finding& each : findings) {
        if (each.severity < FindingSeverity::medium || each.perhaps_meant) continue;
        if (stands_still && is_consequence(each)) severity = std::max(severity, each.severity);
        else told = true;
    }
    if (told) finding.role = FindingRole::victim;
    finding.leads = stands_still && !told;
    finding.severity = told ? FindingSeverity::info : severity;
    finding.confidence = Confidence::estimate;
    finding.subject = {SubjectKind::group, sentence("{}", place.caller)};
    finding.count = count;
    finding.percent = percent;
    finding.title.say(asleep ? Form<5>("{} of {} processes ({}) sleep in {}, called by {}")
                             : Form<5>("{} of {} processes ({}) wait in {}, called by {}"),
                      number(count), number(s.processes.size()), Percent{percent}, place.function, place.caller);
    if (has_unread(s, place.members)) finding.title.say(", each with messages that it does not take there");
    Sum memory, queues, reductions;
    for (const ProcId id : place.members) {
        memory.add(process_bytes(facts, s[id]));
        queues.add(s[id].msgq_len);
        reductions.add(s[id].reductions);
    }
    finding.bytes = memory.value();
    finding.evidence = {figure("memory that they hold", memory.value(), AmountUnit::bytes),
                        figure("messages in their queues", queues.value(), AmountUnit::count),
                        figure("reductions of all of them", reductions.value(), AmountUnit::count)};
    if (ended.by != 0) say_ended(ended, finding);
    bool tied = ended.by != 0 || say_ties(facts, place, finding);
    if (!asleep && ended.by == 0) tied |= say_awaited(s, place.members, finding);
    if (!tied && whom.function != FunctionId::none) {
        tied = true;
        say_named(facts, whom, finding);
    }
    if (asleep && !tied && queues.value().value_or(0) == 0) return;
    if (const Pid starter = starter_of(s, place.members); starter.has()) {
        if (!tied && s.find(starter) != ProcId::none) finding.title.say("; {} has started them", AnyProcess{starter});
        if (const ProcId id = s.find(starter); id != ProcId::none)
            finding.evidence.push_back(fact("who has started them", doing(facts, id)));
    }
    finding.evidence.push_back(fact("one of them", sentence("{}", example)));
    add_stack(facts, example, finding);
    if (asleep)
        finding.advise(
            "Look at what {} sleeps for: where it looks again and again for a name, a row or a file, see why that does "
            "not come, and bound how often it looks: {}",
            place.caller, Command{"proc", s[example].pid});
    else
        finding.advise("Look at what {} waits for there, and who should send it: {}", place.caller,
                       Command{"proc", s[example].pid});
    finding.advise("See who else knows them, and what all others do: `beamheap stacks DUMP`");
    finding.advise(
        "Workers that wait for work look the same: then nothing is wrong. Else give the receive a time (`after`), and "
        "bound how many there may be.");
    finding.members = std::move(place.members);
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace same_place_rule

// The last of all: it tells what no other rule does.
Rule same_place() { return {"same-place", 170, same_place_rule::run}; }

}  // namespace beamheap::analyses::rule
