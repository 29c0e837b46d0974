// SPDX-License-Identifier: Apache-2.0
// ets-growth: one ETS table, or one owner's tables, are a large part of the node.
//
// Theory. ETS tables live outside of the heaps: no garbage collection touches them, and an object stays until somebody
// deletes it or the owner ends. So a table without a way to delete grows until the node ends, and whoever looks at
// processes alone sees nothing. A second form is tables that are made and forgotten: thousands of them by one owner,
// each small.
//
// A third is the same in several pieces: tables of one name and one owner are judged as one, be they large or small,
// and so are all of one owner where they are half as much again as the largest of them (shards, tables of mnesia), and
// those of all owners of one kind where no owner alone has so much (each worker makes a graph for each request).
//
// While a process has a table fixed (a traversal that has not come to its end, ets:safe_fixtable/2), what is deleted
// from it stays, unseen: such a table grows with no objects in it.
//
// A table without a name to which no term of its owner refers is lost until the owner ends (forgotten_tables.hpp):
// where that is so of most tables that were looked into it is no matter of opinion, and high.
//
// Thresholds: a table (or the tables of one name and owner, of one owner, of owners of one kind) with a quarter of the
// node's memory and 6 MiB is medium, with half of it and 64 MiB high. One owner with 100 tables that are half of all is
// medium, with 1,000 tables high. Deleted objects that a fixed table keeps are told in its sentence where they are more
// than the live ones, or 10,000 that are a quarter of these. What a table holds by intent (a cache, a configured store)
// is found as well: how much it is, is a fact; whether it should be, the reader knows. So of a medium one whatever else
// is found goes before.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/facts/catalogue/forgotten_tables.hpp"
#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/facts/catalogue/table_rows.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace ets_growth_rule {
namespace {

constexpr double medium_percent = 25;
constexpr double high_percent = 50;
constexpr std::uint64_t least_bytes = std::uint64_t{6} << 20;  // a quarter of what an idle VM takes
constexpr std::uint64_t high_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t many_tables = 100;
constexpr std::uint64_t very_many_tables = 1000;
constexpr std::uint64_t many_deleted = 10'000;
constexpr std::size_t most_findings = 3;
constexpr std::uint64_t few_objects = 1'000, large_object_bytes = 64u << 10;

Sentence owner_text(const Owner& owner) {
    return owner.alive() ? sentence("{}", owner.process) : sentence("{}, which is gone", owner.pid);
}

// "; 12 owners that were looked into no longer refer to any of theirs", "; its owner no longer refers to 747 of them":
// whether it is said.
bool say_forgotten(const Facts& facts, std::span<const EtsOwner* const> owners, Finding& finding) {
    std::uint64_t looked = 0, tables = 0, forgotten = 0, held = 0;
    bool all_private = true;
    for (const EtsOwner* owner : owners) {
        const TablesOfOwner* const seen = facts.get<ForgottenTables>().of(owner->owner.process);
        if (seen == nullptr || seen->tables == 0) continue;
        ++looked;
        tables += seen->tables, forgotten += seen->forgotten, held = saturating_add(held, seen->bytes);
        all_private &= seen->all_private;
    }
    if (forgotten * 2 < tables || forgotten == 0) return false;
    if (owners.size() == 1) finding.title.say("; its owner no longer refers to {} of them", number(forgotten));
    else if (forgotten == tables)
        finding.title.say("; {} that {} looked into no longer {} to any of theirs", Counted{looked, "owner", "owners"},
                          looked == 1 ? Ours("was") : Ours("were"), looked == 1 ? Ours("refers") : Ours("refer"));
    else
        finding.title.say("; {} that {} looked into no longer {} to {} of their {}", Counted{looked, "owner", "owners"},
                          looked == 1 ? Ours("was") : Ours("were"), looked == 1 ? Ours("refers") : Ours("refer"),
                          number(forgotten), number(tables));
    finding.severity = std::max(finding.severity, FindingSeverity::high);
    finding.evidence.push_back(figure("tables that were looked for in their owners' terms", tables, AmountUnit::count));
    finding.evidence.push_back(figure("of these, forgotten", forgotten, AmountUnit::count));
    finding.evidence.push_back(figure("memory in those", held, AmountUnit::bytes));
    if (all_private)
        finding.advise(
            "These tables are private and have no name: whoever has lost their reference can neither use nor delete "
            "them, and nobody else can. Delete a table (`ets:delete/1`) before its reference is let go: look for where "
            "the State loses it.");
    else
        finding.advise(
            "These tables have no name: who has lost their reference can't use or delete them. Unless another process "
            "or another table keeps the references, delete a table (`ets:delete/1`) before its reference is let go.");
    return true;
}

// Whether what was deleted from it is a part of the table that counts.
bool keeps_deleted(const EtsTable& table) {
    const std::uint64_t deleted = table.fixed.value_or(0), live = table.objects.value_or(0);
    return deleted > live || (deleted >= many_deleted && deleted >= live / 4);
}

// Of an owner that is idle: the one process that it has started, where that waits in the midst of its work, alone of
// all whom it has started: it may be the one who takes out of the table.
ProcId stuck_child(const Facts& facts, const Owner& owner) {
    const Snapshot& s = facts.snapshot();
    if (!owner.alive() || !idle(facts, owner.process)) return ProcId::none;
    ProcId found = ProcId::none;
    for (const ProcId id : all_processes(s)) {
        const Process& process = s[id];
        if (process.parent != s[owner.process].pid) continue;
        if (found != ProcId::none) return ProcId::none;
        found = id;
    }
    if (found == ProcId::none || s[found].state != ProcessState::waiting || idle(facts, found) ||
        s[found].current_function == FunctionId::none || waits_on_behalf(s, s[found]) == FunctionId::none)
        return ProcId::none;
    return found;
}

void say_stuck_child(const Facts& facts, ProcId child, Finding& finding) {
    if (child == ProcId::none) return;
    const Snapshot& s = facts.snapshot();
    finding.title.say(", which has started {}, and that one {}", child,
                      doing_for(facts, child, works_for_function(s, s[child])));
    finding.evidence.push_back(fact("whom its owner has started", frames_text(facts, child)));
    finding.advise(
        "Look at the process that the owner has started, and for how long it has been there: where that takes out of "
        "the table, nothing does: {}",
        Command{"proc", facts.snapshot()[child].pid});
}

FindingSeverity severity_of(double percent, std::uint64_t held) {
    return percent >= high_percent && held >= high_bytes ? FindingSeverity::high : FindingSeverity::medium;
}

// What is said of several tables of one owner whatever there is to say of them.
Finding of_several(const Facts& facts, const Owner& owner, std::uint64_t tables, Count held, double percent) {
    Finding finding;
    if (owner.alive()) about(facts, owner.process, finding);
    else finding.pid = owner.pid;
    finding.subject = {SubjectKind::table, owner.alive()
                                               ? sentence("tables of {}", process_subject(facts, owner.process))
                                               : Sentence(Ours("tables of a process that is gone"))};
    finding.count = tables;
    finding.bytes = held;
    finding.percent = percent;
    return finding;
}

// What to do about tables that a program fills: they are its own, or mnesia's, of which some hold what transactions
// have not committed yet (mnesia_tm.erl).
void advise_on_content(const Facts& facts, const EtsUse& use, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    if (s.text(s.ets[use.table].name) == "mnesia_trans_store")
        finding.advise(
            "mnesia keeps there what a transaction has done until it commits: make transactions smaller, or write in "
            "steps. It cleans them itself.");
    else if (s.text(use.owner.name).starts_with("mnesia_"))
        finding.advise(
            "It is a table of mnesia: delete records by mnesia's functions, bound it, or keep it on disk "
            "(disc_only_copies). Nothing is to be deleted from it directly.");
    else
        finding.advise(
            "Look for what deletes from it: an entry that nobody deletes stays until its owner ends. Give entries a "
            "time to live, or bound the table.");
}

// What its rows are, where the input has them: "Its rows are {{default, requests_total, [...]}, integer}".
void say_rows(const Facts& facts, std::size_t table, Finding& finding) {
    const RowsOfTable* const rows = facts.get<TableRows>().of(table);
    if (rows == nullptr || rows->looked == 0) return;
    if (!rows->shape.empty()) finding.behind.say("Its rows are {}", rows->shape);
    if (rows->copy_words != 0)
        finding.behind.say(finding.behind.empty() ? Form<2>("Each row has a copy of one term, {} ({})")
                                                  : Form<2>("; each has a copy of one term, {} ({})"),
                           rows->copy, bytes(saturating_multiply(rows->copy_words, facts.snapshot().source.word_size)));
    if (rows->processes.mostly_ended())
        finding.behind.add(finding.behind.empty() ? Ours("Nearly all of its rows are of processes that have ended")
                                                  : Ours("; nearly all of them are of processes that have ended"));
    else if (rows->some_ended.mostly_ended())
        finding.behind.add(finding.behind.empty() ? Ours("Nearly all of its rows name a process that has ended")
                                                  : Ours("; nearly all of them name a process that has ended"));
    finding.evidence.push_back(figure("rows that were looked at", rows->looked, AmountUnit::count));
    if (rows->processes.named != 0)
        finding.evidence.push_back(figure("of these, with the pid of a process that has ended", rows->some_ended.ended,
                                          AmountUnit::count, Confidence::lower_bound));
    if (rows->copy_words != 0)
        finding.advise(
            "What is inserted is copied, also where it is the same in each row: keep it once, in a row of its own or a "
            "persistent term.");
    else if (rows->some_ended.mostly_ended())
        finding.advise("Monitor whom a row is made for, and delete it at 'DOWN'.");
}

// ", 53.1 MiB of it in the one with key <<"ad-7">>: its element 2 > element 4, a list of 500,000 {threshold, pid}": of
// a table of few and large objects, the one that is much of it.
void say_largest_row(const Facts& facts, std::size_t table, Finding& finding) {
    const RowsOfTable* const rows = facts.get<TableRows>().of(table);
    if (rows == nullptr || rows->largest_words == 0) return;
    finding.title.say(", {} of it in one",
                      bytes(saturating_multiply(rows->largest_words, facts.snapshot().source.word_size)));
    if (rows->largest_key != nullptr)
        finding.title.say(", whose key is {}", PrintedTerm{rows->largest_key, rows->largest_key->term()});
    if (rows->largest.empty()) return;
    finding.title.say(rows->largest_processes.mostly_ended()
                          ? Form<1>(" (its {}, nearly all of processes that have ended)")
                          : Form<1>(" (its {})"),
                      rows->largest);
    finding.evidence.push_back(figure("of its elements, those that name a process", rows->largest_processes.named,
                                      AmountUnit::count, Confidence::lower_bound));
}

// Whether a table has few objects, and these are large.
bool has_large_objects(const EtsTable& table, std::uint64_t table_bytes) {
    const std::uint64_t objects = table.objects.value_or(0);
    return objects != 0 && objects <= few_objects && table_bytes / objects >= large_object_bytes;
}

// What its owner does with large objects: it copies one whenever it reads or writes it, and what is left of that on its
// heap is told with the table, and not before it.
void say_copies_of_owner(const Facts& facts, const EtsUse& use, Finding& finding, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    if (!use.owner.alive() || !idle(facts, use.owner.process)) return;
    const TermFacts* const seen = facts.get<SuspectTerms>().of(use.owner.process);
    const std::uint64_t allocated = allocated_words(s[use.owner.process]);
    if (seen == nullptr || !seen->live_words.has() || *seen->live_words > allocated / 10) return;
    const std::uint64_t garbage = saturating_multiply(used_words(s[use.owner.process]).value_or(0), s.source.word_size);
    if (garbage < *use.bytes / 4) return;
    finding.title.say(", which has {} of garbage on its heap: most likely copies of such an object", bytes(garbage));
    finding.advise(
        "Reading an object copies all of it, and writing one, too: keep what grows in rows of its own, of which each "
        "is small.");
    for (Finding& told : findings)
        if (told.process == use.owner.process && told.subject.kind == SubjectKind::process) {
            told.severity = std::min(told.severity, FindingSeverity::info);
            told.role = FindingRole::victim;
        }
}

void large_table(const Facts& facts, const EtsUse& use, const EtsReport& report, double percent,
                 std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const EtsTable& table = s.ets[use.table];
    const Name name{table.name != TextId::none ? table.name : table.id};
    Finding finding;
    finding.severity = severity_of(percent, *use.bytes);
    finding.subject = {SubjectKind::table, sentence("{}", name)};
    finding.process = use.owner.process;
    finding.pid = use.owner.pid;
    finding.name = use.owner.name;
    finding.count = table.objects;
    finding.bytes = use.bytes;
    finding.percent = percent;
    finding.title.say("ETS table {} holds {}", name, bytes(*use.bytes));
    if (table.objects.has()) finding.title.say(" in {}", Counted{*table.objects, "object", "objects"});
    say_largest_row(facts, use.table, finding);
    const bool kept = keeps_deleted(table);
    if (kept) finding.title.say(" and {} deleted ones, kept since it is fixed", number(*table.fixed));
    finding.title.say(": {} of the node's memory; its owner is {}", Percent{percent}, owner_text(use.owner));
    const bool large_objects = has_large_objects(table, *use.bytes);
    if (large_objects) say_copies_of_owner(facts, use, finding, findings);
    const ProcId stuck = stuck_child(facts, use.owner);
    say_stuck_child(facts, stuck, finding);
    say_rows(facts, use.table, finding);
    finding.evidence.push_back(figure("the table", use.bytes, AmountUnit::bytes));
    if (table.objects.has()) finding.evidence.push_back(figure("objects", table.objects, AmountUnit::count));
    finding.evidence.push_back(figure("all tables", report.bytes.value(), AmountUnit::bytes));
    finding.evidence.push_back(figure("the node", node_bytes(facts), AmountUnit::bytes));
    if (table.type != TextId::none) finding.evidence.push_back(fact("type", sentence("{}", of_vm(s.text(table.type)))));
    if (use.owner.alive()) finding.evidence.push_back(fact("its owner", doing(facts, use.owner.process)));
    if (table.fixed.value_or(0) != 0)
        finding.evidence.push_back(figure("deleted objects that are kept", table.fixed, AmountUnit::count));
    if (kept)
        finding.advise(
            "What is deleted is given back when nobody has the table fixed any more: look for a traversal that does "
            "not end (a select whose continuation was kept, `ets:safe_fixtable/2` without its end). On the running "
            "node `ets:info(Table, safe_fixed_monotonic_time)` says who, and since when.");
    if (large_objects)
        finding.advise(
            "Its objects are few and large ({} each on average): look at what one of them collects, and for what takes "
            "something out of it.",
            bytes(*use.bytes / *table.objects));
    else advise_on_content(facts, use, finding);
    finding.advise("Watch ets:info(Table, memory) and size; words times the word size are the bytes told here.");
    finding.advise("See all tables and owners: `beamheap ets DUMP`");
    finding.perhaps_meant = finding.severity == FindingSeverity::medium && finding.behind.empty() && !kept &&
                            !large_objects && stuck == ProcId::none &&
                            facts.get<Slogan>().kind != SloganKind::out_of_memory;
    findings.push_back(std::move(finding));
}

/// Tables of one name and one owner.
struct Namesakes {
    const EtsUse* first = nullptr;
    std::uint64_t tables = 0, bytes = 0;
    Count objects = 0;
};

/// The largest group of namesakes, by bytes.
Namesakes largest_namesakes(const Snapshot& s, const EtsReport& report) {
    std::map<std::pair<TextId, Pid>, Namesakes> groups;
    for (const EtsUse& use : report.tables) {
        const EtsTable& table = s.ets[use.table];
        if (table.name == TextId::none) continue;
        Namesakes& group = groups[{table.name, use.owner.pid}];
        if (group.tables++ == 0) group.first = &use;
        group.bytes = saturating_add(group.bytes, use.bytes.value_or(0));
        group.objects = group.objects.has() && table.objects.has()
                            ? Count(saturating_add(*group.objects, *table.objects))
                            : Count();
    }
    Namesakes largest;
    for (const auto& [key, group] : groups)
        if (group.bytes > largest.bytes) largest = group;
    return largest;
}

Pid pid_of_owner(const EtsUse& use) { return use.owner.pid; }

/// The owner whose tables are most together, where none of them, and none of a name, is most of that.
const EtsOwner* largest_owner(const EtsReport& report, std::uint64_t namesakes) {
    const auto most = std::ranges::max_element(report.owners, {},
                                               [](const EtsOwner& owner) { return owner.bytes.value().value_or(0); });
    if (most == report.owners.end() || most->tables < 2) return nullptr;
    const std::uint64_t sum = most->bytes.value().value_or(0);
    const auto is_most = [sum](std::uint64_t bytes) { return bytes > sum / 3 * 2; };
    const auto largest = std::ranges::find(report.tables, most->owner.pid, pid_of_owner);
    return largest == report.tables.end() || is_most(largest->bytes.value_or(0)) || is_most(namesakes) ? nullptr
                                                                                                       : &*most;
}

/// Tables that are judged as one: namesakes, or all of an owner.
struct Together {
    const Owner& owner;
    const EtsUse& largest;
    std::uint64_t tables, bytes;
    Count objects;
    TextId name = TextId::none;  ///< none: they have several
};

// "are sessions, cache and users": the largest tables of an owner.
Sentence largest_names(const Snapshot& s, const EtsReport& report, const Owner& owner) {
    constexpr std::size_t most_named = 3;
    std::vector<Sentence> largest;
    std::vector<TextId> names;
    for (const EtsUse& use : report.tables) {  // the largest first
        if (use.owner.pid != owner.pid || largest.size() == most_named) continue;
        const EtsTable& table = s.ets[use.table];
        const TextId name = table.name != TextId::none ? table.name : table.id;
        if (std::ranges::find(names, name) != names.end()) continue;
        names.push_back(name);
        largest.push_back(sentence("{}", Name{name}));
    }
    return sentence(largest.size() > 1 ? Form<1>("are {}") : Form<1>("is {}"), joined(largest, ", "));
}

void large_together(const Facts& facts, const Together& all, const EtsReport& report, double percent,
                    std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const bool namesakes = all.name != TextId::none;
    Finding finding = of_several(facts, all.owner, all.tables, all.bytes, percent);
    finding.severity = severity_of(percent, all.bytes);
    if (namesakes) {
        finding.subject = {SubjectKind::table, sentence("{}", Name{all.name})};
        finding.title.say("{} ETS tables of the name {} hold {}", number(all.tables), Name{all.name}, bytes(all.bytes));
        if (all.objects.has()) finding.title.say(" in {}", Counted{*all.objects, "object", "objects"});
        finding.title.say(": {} of the node's memory; their owner is {}", Percent{percent}, owner_text(all.owner));
    } else {
        finding.title.say("{} ETS tables of {} hold {}: {} of the node's memory; the largest {}", number(all.tables),
                          owner_text(all.owner), bytes(all.bytes), Percent{percent},
                          largest_names(s, report, all.owner));
    }
    finding.evidence = {figure(namesakes ? Ours("tables of this name and owner") : Ours("tables of this owner"),
                               all.tables, AmountUnit::count),
                        figure("memory in them", all.bytes, AmountUnit::bytes),
                        figure("the largest of them", all.largest.bytes, AmountUnit::bytes)};
    if (!namesakes) finding.evidence.push_back(figure("objects in them", all.objects, AmountUnit::count));
    finding.evidence.push_back(figure("the node", node_bytes(facts), AmountUnit::bytes));
    say_stuck_child(facts, stuck_child(facts, all.owner), finding);
    const auto owner =
        std::ranges::find(report.owners, all.owner.pid, [](const EtsOwner& each) { return each.owner.pid; });
    const EtsOwner* const one = &*owner;
    const bool of_mnesia = s.text(all.owner.name).starts_with("mnesia_");
    const bool forgotten = say_forgotten(facts, {&one, 1}, finding);
    if (!forgotten && namesakes && !of_mnesia)
        finding.advise("Look for where they are made, and for what deletes them, or deletes from them.");
    else if (!forgotten) advise_on_content(facts, all.largest, finding);
    finding.advise("See all tables and owners: `beamheap ets DUMP`");
    findings.push_back(std::move(finding));
}

void many_of_one(const Facts& facts, const EtsOwner& owner, std::uint64_t all, std::vector<Finding>& findings) {
    Finding finding = of_several(facts, owner.owner, owner.tables, owner.bytes.value(), *percent_of(owner.tables, all));
    finding.severity = owner.tables >= very_many_tables ? FindingSeverity::high : FindingSeverity::medium;
    finding.perhaps_meant = finding.severity == FindingSeverity::medium;
    finding.title.say("{} of {} ETS tables ({}) belong to {}", number(owner.tables), number(all),
                      Percent{*finding.percent}, owner_text(owner.owner));
    finding.evidence = {figure("tables of this owner", owner.tables, AmountUnit::count),
                        figure("memory in them", owner.bytes.value(), AmountUnit::bytes),
                        figure("objects in them", owner.objects.value(), AmountUnit::count)};
    const EtsOwner* const one = &owner;
    const bool forgotten = say_forgotten(facts, {&one, 1}, finding);
    if (!forgotten && facts.snapshot().text(owner.owner.name).starts_with("mnesia_"))
        finding.advise(
            "They are mnesia's own, one for each table of the database (mnesia:system_info(tables)); what it made for "
            "a transaction goes with it.");
    else if (!forgotten)
        finding.advise(
            "Look for where it makes a table for every request or session, and delete it with what it was made for, or "
            "use one table with a longer key.");
    finding.advise("See owners and tables: `beamheap ets DUMP`");
    findings.push_back(std::move(finding));
}

/// Owners that were started as the same, and what they have together.
struct OwnersOfKind {
    FunctionId kind = FunctionId::none;
    std::vector<const EtsOwner*> owners;  // most bytes first
    std::uint64_t tables = 0, bytes = 0;
};

OwnersOfKind largest_kind(const Snapshot& s, const EtsReport& report) {
    std::map<FunctionId, OwnersOfKind> kinds;
    for (const EtsOwner& owner : report.owners) {
        if (!owner.owner.alive()) continue;
        OwnersOfKind& kind = kinds[first_call(s[owner.owner.process])];
        kind.owners.push_back(&owner);
        kind.tables += owner.tables;
        kind.bytes = saturating_add(kind.bytes, owner.bytes.value().value_or(0));
    }
    OwnersOfKind largest;
    for (auto& [function, kind] : kinds)
        if (function != FunctionId::none && kind.owners.size() > 1 && kind.bytes > largest.bytes) {
            kind.kind = function;
            largest = std::move(kind);
        }
    return largest;
}

// The name that all tables of these owners have.
std::optional<TextId> one_name(const Snapshot& s, const EtsReport& report, const OwnersOfKind& kind) {
    std::set<Pid> owners;
    for (const EtsOwner* owner : kind.owners) owners.insert(owner->owner.pid);
    TextId name = TextId::none;
    for (const EtsUse& use : report.tables) {
        if (!owners.contains(use.owner.pid)) continue;
        const TextId its = s.ets[use.table].name;
        if (its == TextId::none || (name != TextId::none && its != name)) return std::nullopt;
        name = its;
    }
    return name;
}

// "90 ETS tables hashtree hold 49.5 MiB (36 % of the node's memory), one for each of 90 processes of cdb:init/1";
// "3,000 ETS tables of 4 processes of route_planner:init/1 hold 71.4 MiB: 82 % of the node's memory; of route_planner_1
// <0.77.0>, who owns 750, the largest are neighbours, edges and vertices"
void large_of_kind(const Facts& facts, const OwnersOfKind& kind, const EtsReport& report, double percent,
                   std::vector<Finding>& findings) {
    const EtsOwner& most = *kind.owners.front();
    Finding finding = of_several(facts, most.owner, kind.tables, kind.bytes, percent);
    finding.severity = severity_of(percent, kind.bytes);
    const std::optional<TextId> name = one_name(facts.snapshot(), report, kind);
    if (name && kind.tables == kind.owners.size())
        finding.title.say("{} ETS tables {} hold {} ({} of the node's memory), one for each of {} of {}{}",
                          number(kind.tables), Name{*name}, bytes(kind.bytes), Percent{percent},
                          processes(kind.owners.size()), kind.kind, in_state(facts, kind.kind));
    else
        finding.title.say(
            "{} ETS tables of {} of {}{} hold {}: {} of the node's memory; of {}, who owns {}, the largest {}",
            number(kind.tables), processes(kind.owners.size()), kind.kind, in_state(facts, kind.kind),
            bytes(kind.bytes), Percent{percent}, owner_text(most.owner), number(most.tables),
            largest_names(facts.snapshot(), report, most.owner));
    finding.evidence = {figure("tables of these owners", kind.tables, AmountUnit::count),
                        figure("memory in them", kind.bytes, AmountUnit::bytes),
                        figure("the node", node_bytes(facts), AmountUnit::bytes)};
    if (!say_forgotten(facts, kind.owners, finding))
        finding.advise(
            "Look for where each of them makes its tables, and for what deletes them, or deletes from them: a table "
            "stays until it is deleted or its owner ends.");
    finding.advise("See all tables and owners: `beamheap ets DUMP`");
    findings.push_back(std::move(finding));
}

// Tables that mnesia makes for each transaction and deletes with it, which are as many as there are transactions.
std::uint64_t transactions_stores(const Snapshot& s, const EtsReport& report, const EtsOwner& owner) {
    return static_cast<std::uint64_t>(std::ranges::count_if(report.tables, [&](const EtsUse& use) {
        return use.owner.pid == owner.owner.pid && s.text(s.ets[use.table].name) == "mnesia_trans_store";
    }));
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const EtsReport report = ets_tables(facts.snapshot());
    const Count node = node_bytes(facts);
    std::size_t left = most_findings;
    // Tables of one name go before a single one that is smaller than all of them together, by a tenth or more.
    const Namesakes group = largest_namesakes(facts.snapshot(), report);
    const double together = percent_of(group.bytes, node).value_or(0);
    const bool several = group.tables > 1 && group.bytes - group.first->bytes.value_or(0) >= group.bytes / 10;
    const bool as_one = several && group.bytes >= least_bytes && together >= medium_percent &&
                        group.bytes > report.tables.front().bytes.value_or(0);
    const EtsOwner* const owner = largest_owner(report, group.bytes);
    const double share = owner == nullptr ? 0 : percent_of(owner->bytes.value(), node).value_or(0);
    const bool of_owner =
        owner != nullptr && share >= medium_percent && owner->bytes.value().value_or(0) >= least_bytes;
    if (of_owner)
        large_together(facts,
                       {owner->owner, *std::ranges::find(report.tables, owner->owner.pid, pid_of_owner), owner->tables,
                        owner->bytes.value().value_or(0), owner->objects.value()},
                       report, share, findings);
    else if (as_one)
        large_together(facts,
                       {group.first->owner, *group.first, group.tables, group.bytes, group.objects,
                        facts.snapshot().ets[group.first->table].name},
                       report, together, findings);
    const OwnersOfKind kind = largest_kind(facts.snapshot(), report);
    const double of_kind = percent_of(kind.bytes, node).value_or(0);
    if (!of_owner && !as_one && of_kind >= medium_percent && kind.bytes >= least_bytes &&
        report.tables.front().bytes.value_or(0) < kind.bytes / 3 * 2)
        large_of_kind(facts, kind, report, of_kind, findings);
    const auto in_group = [&](const EtsUse& use) {
        return of_owner ? use.owner.pid == owner->owner.pid
                        : as_one && use.owner.pid == group.first->owner.pid &&
                              facts.snapshot().ets[use.table].name == facts.snapshot().ets[group.first->table].name;
    };
    for (const EtsUse& use : report.tables) {
        const auto percent = percent_of(use.bytes, node);
        if (left == 0 || use.bytes.value_or(0) < least_bytes || percent.value_or(0) < medium_percent) break;
        if (in_group(use)) continue;
        large_table(facts, use, report, *percent, findings);
        --left;
    }
    const auto most = std::ranges::max_element(report.owners, {}, &EtsOwner::tables);
    const std::uint64_t all = report.tables.size();
    if (most == report.owners.end()) return;
    const std::uint64_t stores = transactions_stores(facts.snapshot(), report, *most);
    if (most->tables - stores >= many_tables && (most->tables - stores) * 2 >= all)
        many_of_one(facts, *most, all, findings);
}

}  // namespace
}  // namespace ets_growth_rule

Rule ets_growth() { return {"ets-growth", 140, ets_growth_rule::run}; }

}  // namespace beamheap::analyses::rule
