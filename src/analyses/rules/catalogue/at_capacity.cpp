// SPDX-License-Identifier: Apache-2.0
// at-capacity: a server has given away all that it may give, or gave it to processes that have ended.
//
// Theory: facts/catalogue/capacities.hpp. A pool, a semaphore or a listener that is full is at rest, has an empty queue
// and needs hardly any memory; who wants something of it waits, and what it waits for is a number. Whether that is a
// disease tells who has what is lent: where they have ended, it never comes back, and where the count is larger than
// those who have something are many, somebody has forgotten to count off.
//
// Thresholds: a limit of 5 or more. Nobody waits: info. Somebody waits, or nothing is accepted: medium; ten who wait
// for what those have who have ended: high. Entries of processes that have ended, of a server whose limit is not known:
// five while somebody waits, two while ten do (medium), 30 else (info).
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyses/base/links_of.hpp"
#include "analyses/facts/catalogue/capacities.hpp"
#include "analyses/facts/catalogue/shared_names.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/senders.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace at_capacity_rule {
namespace {

constexpr std::size_t most_findings = 3;
constexpr std::size_t in_title = 2, most_places = 5;

// "element 4 and element 11 of its State", "element 6 of its State, and the objects of its table monitors"
Sentence places_text(const Capacity& full, std::size_t most) {
    std::vector<Sentence> fields = full.fields, others = full.agrees;
    if (fields.size() > most) fields.resize(most);
    if (fields.size() + others.size() > most) others.resize(most - fields.size());
    Sentence text = sentence("{} of {}", joined(fields, " and "), full.limit_in);
    if (!others.empty()) text.say(", and {}", joined(others, ", and "));
    return text;
}

// The function in which most of them are that are not idle.
std::pair<FunctionId, ProcId> where_most_are(const Facts& facts, const std::vector<ProcId>& processes,
                                             std::uint64_t& count) {
    const Snapshot& s = facts.snapshot();
    std::map<FunctionId, std::pair<std::uint64_t, ProcId>> places;
    for (const ProcId id : processes) {
        if (s[id].current_function == FunctionId::none || idle(facts, id)) continue;
        auto& [many, example] = places[s[id].current_function];
        if (many++ == 0) example = id;
    }
    const auto most = std::ranges::max_element(places, {}, [](const auto& each) { return each.second.first; });
    if (most == places.end()) return {FunctionId::none, ProcId::none};
    count = most->second.first;
    return {most->first, most->second.second};
}

bool holders_counted(const Capacity& full) { return full.limit != 0 && full.holders == full.limit; }

// Whether it has started those whom it names: its own connections, not who has something of it.
bool has_started(const Snapshot& s, const Capacity& full) {
    return !full.alive.empty() &&
           std::ranges::all_of(full.alive, [&](ProcId id) { return s[id].parent == s[full.server].pid; });
}

// "conn_pool <0.80.0> has lent 24 of 24, all to processes that have ended; 12 processes wait for it"
// Of those who wait, whom the server monitors more than once where it monitors each: once for the call that waits, and
// once for what they have of it already.
std::uint64_t who_have_and_wait(const Snapshot& s, const Capacity& full) {
    std::map<Pid, std::uint64_t> monitored;
    for (const Link& link : links_of(s, s[full.server]))
        if (link.kind == LinkKind::monitors && link.pid.has()) ++monitored[link.pid];
    std::uint64_t again = 0;
    for (const ProcId id : full.waiters) {
        const auto known = monitored.find(s[id].pid);
        if (known == monitored.end()) return 0;
        again += known->second > 1;
    }
    return again < full.waiters.size() ? again : 0;
}

Sentence title(const Facts& facts, const Capacity& full) {
    const Snapshot& s = facts.snapshot();
    Sentence text;
    std::uint64_t count = 0;
    const auto [function, example] = where_most_are(facts, full.alive, count);
    if (full.listening.has()) {
        text.say("{} has {} of {} ({}) and accepts nothing on {}", full.server, number(full.limit),
                 number(full.allowed), places_text(full, in_title), full.listening);
        if (full.serving.size() == 1) text.say("; {} has a connection", full.serving.front());
        else text.say("; {} of {} serve", number(full.serving.size()), kind_of(facts, s[full.serving.front()]));
        return text;
    }
    if (!full.given_back.empty()) {
        text.say("{} lets {} wait for one of {} places, and nobody has one: all {} in {} are {}", full.server,
                 processes(full.waiters.size()), number(full.allowed), Counted{full.holders, "entry", "entries"},
                 full.holders_in, Atom{full.given_back});
        if (!full.none_counted.empty()) text.say(", and {}", full.none_counted);
        return text;
    }
    if (full.limit == 0) {
        text.say("{} keeps {} in {}, ", full.server, Counted{full.holders, "entry", "entries"}, full.holders_in);
        if (full.looked == full.ended && full.looked == full.holders) text.say("all of processes that have ended");
        else
            text.say("{} of {} that were looked at of processes that have ended", number(full.ended),
                     number(full.looked));
    } else if (holders_counted(full)) {
        text.say(has_started(s, full) ? Form<3>("{} has {} of {}") : Form<3>("{} has lent {} of {}"), full.server,
                 number(full.limit), number(full.allowed));
        if (full.ended != 0 && full.ended == full.looked && full.looked == full.holders)
            text.say(", all to processes that have ended");
        else if (full.ended != 0 && full.ended == full.looked)
            text.say(", to processes that have ended, as {} tell that were looked at", number(full.looked));
        else if (full.ended != 0) text.say(", {} of them to processes that have ended", number(full.ended));
        else if (function != FunctionId::none) {
            const bool in_part = full.looked < full.holders;
            text.say(has_started(s, full) ? (in_part ? Form<2>(", {} of those that were looked at in {}")
                                                     : Form<2>(", {} of them in {}"))
                                          : (in_part ? Form<2>(", {} of those that were looked at to processes in {}")
                                                     : Form<2>(", {} of them to processes in {}")),
                     number(std::min(count, full.limit)), function);
            if (const FunctionId by = caller_of(s, s[example]); by != FunctionId::none && by != function)
                text.say(", called by {}", by);
        }
    } else {
        text.say("{} has {} of {} ({})", full.server, number(full.limit), number(full.allowed),
                 places_text(full, in_title));
        if (full.ended != 0 && full.all_ended()) text.say("; {} name processes that have ended", number(full.ended));
    }
    if (!full.waiters.empty())
        text.say(full.waiters.size() == 1 ? Form<1>("; {} waits for it") : Form<1>("; {} wait for it"),
                 processes(full.waiters.size()));
    if (const std::uint64_t again = who_have_and_wait(s, full); again != 0)
        text.say(", {} of whom it monitors twice: most likely they have something of it already", number(again));
    return text;
}

// Others who wait in one place, and name the server, and nobody else, in the frame in which they do: it has not put
// them among those who wait.
struct NameIt {
    FunctionId function = FunctionId::none;
    std::vector<ProcId> processes;
};

NameIt others_who_name(const Facts& facts, const Capacity& full) {
    const Snapshot& s = facts.snapshot();
    std::set<ProcId> known(full.waiters.begin(), full.waiters.end());
    known.insert(full.alive.begin(), full.alive.end());
    for (const SharedName& name : facts.get<SharedNames>().names) {
        if (name.process != full.server) continue;
        NameIt found{name.function, {}};
        for (const ProcId id : all_processes(s))
            if (s[id].current_function == name.function && s[id].state == ProcessState::waiting &&
                !known.contains(id) && facts.get<Waits>().edge(id) == nullptr &&
                waits_on_behalf(s, s[id]) == name.caller)
                found.processes.push_back(id);
        if (found.processes.size() >= crowd::least) return found;
    }
    return {};
}

FindingSeverity severity_of(const Capacity& full) {
    if (full.thin) return FindingSeverity::info;
    return full.all_ended() && full.waiters.size() >= crowd::least ? FindingSeverity::high : FindingSeverity::medium;
}

void add_steps(const Facts& facts, const Capacity& full, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    if (who_have_and_wait(s, full) != 0)
        finding.advise(
            "Give back what was taken in `try ... after`: an error that is caught further out leaves it with who lives "
            "on, and asks for the next.");
    if (full.listening.has()) {
        finding.advise(
            "See whether connections that have ended are counted off: the count in its State is larger than those that "
            "are open where not: {}",
            Command{"heap", s[full.server].pid});
        finding.advise("See the connections that are open: `beamheap ports DUMP`");
    } else if (!full.given_back.empty()) {
        finding.advise(
            "What takes an entry off, or marks it, is to give the place to whoever waits, as it does when one ends; "
            "until then they wait for ever, whatever the limit is: {}",
            Command{"proc", s[full.server].pid});
        finding.advise("Look at who has taken themselves off, and by which function: {}",
                       Command{"proc", s[full.alive.empty() ? full.waiters.front() : full.alive.front()].pid});
    } else if (full.all_ended()) {
        finding.advise(
            "Let it monitor whom it gives something (`erlang:monitor/2`), and take it back at 'DOWN'; until then only "
            "its restart gives it back: {}",
            Command{"heap", s[full.server].pid});
        finding.advise("Look for who took something and ended without giving it back.");
    } else if (!full.alive.empty()) {
        std::uint64_t count = 0;
        const auto [function, example] = where_most_are(facts, full.alive, count);
        finding.advise("Look at what those do who have something of it: {}",
                       Command{"proc", s[example == ProcId::none ? full.alive.front() : example].pid});
        finding.advise("Give what they do a time; a larger limit only helps where they are not held up.");
    } else {
        finding.advise("See whether all that was given was counted off when it came back: {}",
                       Command{"heap", s[full.server].pid});
        finding.advise("Let it monitor whom it gives something, and count off at 'DOWN' as well.");
    }
    if (full.given_back.empty())
        finding.advise("A second dump or core image some seconds later tells whether it is still full.");
    else finding.advise("A second dump or core image some seconds later tells whether they still wait.");
}

Finding finding_of(const Facts& facts, const Capacity& full) {
    Finding finding;
    about(facts, full.server, finding);
    finding.severity = severity_of(full);
    finding.confidence = Confidence::estimate;
    finding.count =
        full.waiters.empty() ? Count(full.limit == 0 ? full.ended : full.limit) : Count(full.waiters.size());
    finding.members = full.waiters;
    finding.members.push_back(full.server);
    finding.title = title(facts, full);
    if (!full.waiters.empty())
        if (NameIt others = others_who_name(facts, full); !others.processes.empty()) {
            finding.title.say(", and {} more that name it wait in {}", number(others.processes.size()),
                              others.function);
            finding.evidence.push_back(
                fact("one of those that name it",
                     sentence("{}: {}", others.processes.front(), frames_text(facts, others.processes.front())),
                     Confidence::estimate));
            std::ranges::copy(others.processes, std::back_inserter(finding.members));
        }
    if (full.limit != 0) {
        finding.evidence.push_back(full.given_back.empty()
                                       ? figure("its limit, reached", full.limit, AmountUnit::count)
                                       : figure("its limit, as it seems", full.allowed, AmountUnit::count));
        finding.evidence.push_back(fact("as these agree", places_text(full, most_places), Confidence::estimate));
    }
    if (full.holders != 0) {
        finding.evidence.push_back(figure(sentence("entries in {}", full.holders_in), full.holders, AmountUnit::count));
        finding.evidence.push_back(figure("of those that were looked at, of processes that have ended", full.ended,
                                          AmountUnit::count, Confidence::lower_bound));
        if (full.gone.has()) finding.evidence.push_back(fact("one that has ended", sentence("{}", full.gone)));
        if (!full.alive.empty())
            finding.evidence.push_back(
                fact("one that lives", sentence("{}: {}", full.alive.front(), frames_text(facts, full.alive.front()))));
    }
    if (!full.serving.empty())
        finding.evidence.push_back(
            fact("one that has a connection",
                 sentence("{}: {}", full.serving.front(), frames_text(facts, full.serving.front()))));
    if (!full.waiters.empty())
        finding.evidence.push_back(fact("one of those who wait", sentence("{}: {}", full.waiters.front(),
                                                                          frames_text(facts, full.waiters.front()))));
    add_steps(facts, full, finding);
    return finding;
}

// Whether all who have something of it wait in one and the same place: nothing comes back until that ends.
bool are_held_up(const Facts& facts, const Capacity& full) {
    const Snapshot& s = facts.snapshot();
    if (full.alive.size() < 2) return false;
    std::uint64_t count = 0;
    const auto [function, example] = where_most_are(facts, full.alive, count);
    return function != FunctionId::none && count == full.alive.size() && s[example].state == ProcessState::waiting &&
           !idle(facts, example);
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    if (is_failed_start(facts.get<Slogan>().kind)) return;
    const bool quiet = std::ranges::none_of(
        findings, [](const Finding& each) { return each.severity != FindingSeverity::info || each.leads; });
    std::size_t told = 0;
    for (const Capacity& full : facts.get<Capacities>().all) {
        if (told++ == most_findings) break;
        findings.push_back(finding_of(facts, full));
        findings.back().leads = quiet && told == 1 && are_held_up(facts, full);
    }
}

}  // namespace
}  // namespace at_capacity_rule

// What it tells of waits has their reason: theirs are parts of it.
Rule at_capacity() { return {"at-capacity", 51, at_capacity_rule::run}; }

}  // namespace beamheap::analyses::rule
