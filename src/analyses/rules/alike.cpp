// SPDX-License-Identifier: Apache-2.0
#include "analyses/rules/alike.hpp"

#include <algorithm>
#include <map>

#include "analyses/base/sum.hpp"
#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr std::uint64_t least_of_table = 1'000;  // objects: fewer are a number that many things have
constexpr double nearly_all_percent = 90;
constexpr std::uint64_t least_part = 5;       // of what the typical one holds: a fifth of it
constexpr std::uint64_t least_of_copy = 100;  // keys: fewer are the same in many things

// A table that has as many objects as a term has elements.
const EtsTable* table_of_as_many(const Snapshot& s, std::uint64_t count) {
    if (count < least_of_table) return nullptr;
    const auto found = std::ranges::find_if(
        s.ets, [&](const EtsTable& table) { return table.objects.value_or(0) == count && table.name != TextId::none; });
    return found == s.ets.end() ? nullptr : &*found;
}

// Those of a kind that are at least half as large as its typical one, and what they have: where they are fewer than
// half of all, the others are of another size.
struct Large {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

Large large_ones(const Facts& facts, const Alike& alike, ProcId typical) {
    const Snapshot& s = facts.snapshot();
    const std::uint64_t least = process_bytes(facts, s[typical]).value_or(0) / 2;
    Large large;
    for (const ProcId id : alike.members) {
        const std::uint64_t held = process_bytes(facts, s[id]).value_or(0);
        if (held < least) continue;
        ++large.count;
        large.bytes = saturating_add(large.bytes, held);
    }
    return large;
}

// Whether all that were compared have the same keys there: copies of one thing at different times, such as a catalogue
// that each has read, of which no two need be equal. As many elements of a list are no sign of that: each may have a
// queue of its own that is full.
bool same_keys(std::span<const TermFacts* const> seen) {
    const TermFacts& first = *seen.front();
    return seen.size() > 1 && first.accumulated_keys && first.accumulated_count >= least_of_copy &&
           std::ranges::all_of(seen, [&](const TermFacts* each) {
               return each->accumulated_keys == first.accumulated_keys &&
                      each->accumulated_count == first.accumulated_count;
           });
}

}  // namespace

std::optional<Alike> alike_processes(const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    std::vector<const TermFacts*> seen;
    for (const ProcId id : facts.get<Suspects>().alike)
        if (const TermFacts* const of = facts.get<SuspectTerms>().of(id)) seen.push_back(of);
    if (seen.empty() || seen.front()->accumulated.empty()) return std::nullopt;
    const TermFacts& typical = *seen.front();
    if (typical.accumulated_bytes < process_bytes(facts, s[typical.process]).value_or(0) / least_part)
        return std::nullopt;
    Alike alike;
    alike.function = first_call(s[typical.process]);
    alike.typical = typical.process;
    alike.count = typical.accumulated_count;
    alike.fresh_keys = typical.accumulated_fresh_keys;
    if (alike.function == FunctionId::none) return std::nullopt;
    std::erase_if(seen, [&](const TermFacts* each) { return first_call(s[each->process]) != alike.function; });
    alike.compared = seen.size();
    alike.same = seen.size() > 1 && std::ranges::all_of(seen, [&](const TermFacts* each) {
                     return each->accumulated_digest && each->accumulated_digest == typical.accumulated_digest;
                 });
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        if (first_call(s.processes[i]) != alike.function) continue;
        alike.members.push_back(ProcId{i});
        alike.bytes = saturating_add(alike.bytes, process_bytes(facts, s.processes[i]).value_or(0));
    }
    const Large large = large_ones(facts, alike, typical.process);
    const bool few_are_large = !alike.same && large.count * 2 < alike.members.size();
    alike.same_keys = !alike.same && !few_are_large && same_keys(seen);
    if (alike.same) alike.what.say("each has the same in {}", typical.accumulated);
    else if (few_are_large)
        alike.what.say("{} of them hold {} of that, each like {}, with {} in {}", number(large.count),
                       bytes(large.bytes), typical.process, bytes(typical.accumulated_bytes), typical.accumulated);
    else if (alike.same_keys)
        alike.what.say("each of {} that were compared has {} in {} of the same keys", number(alike.compared),
                       bytes(typical.accumulated_bytes), typical.accumulated);
    else alike.what.say("a typical one has {} in {}", bytes(typical.accumulated_bytes), typical.accumulated);
    alike.of_ended = typical.accumulated_processes.mostly_ended();
    if (alike.of_ended) alike.what.add(Ours(", nearly all of processes that have ended"));
    if (const EtsTable* const table = table_of_as_many(s, alike.count); table != nullptr)
        alike.what.say(", as many as table {} has objects", Name{table->name});
    return alike;
}

namespace {

// "pool_sup <0.83.0> has started them, and nearly all are idle": who is to end them, where nobody uses them.
Sentence origin(const Facts& facts, const Alike& alike) {
    const Snapshot& s = facts.snapshot();
    std::map<Pid, std::uint64_t> starters;
    std::uint64_t at_rest = 0;
    std::map<FunctionId, bool> idle_in;  // alike ones are in few functions
    for (const ProcId id : alike.members) {
        if (s[id].parent.has()) ++starters[s[id].parent];
        if (s[id].state != ProcessState::waiting || s[id].msgq_len.value_or(0) != 0) continue;
        const auto known = idle_in.find(s[id].current_function);
        at_rest += known != idle_in.end() ? known->second : (idle_in[s[id].current_function] = idle(facts, id));
    }
    const auto nearly_all = [&](std::uint64_t count) {
        return percent_of(count, std::uint64_t{alike.members.size()}).value_or(0) >= nearly_all_percent;
    };
    const auto most = std::ranges::max_element(starters, {}, [](const auto& each) { return each.second; });
    const ProcId starter = most != starters.end() && nearly_all(most->second) ? s.find(most->first) : ProcId::none;
    if (starter == ProcId::none)
        return nearly_all(at_rest) ? Sentence(Ours("Nearly all of them are idle")) : Sentence();
    Sentence text = sentence("{} has started them", starter);
    if (nearly_all(at_rest)) text.add(Ours(", and nearly all are idle"));
    return text;
}

}  // namespace

void add_alike(const Facts& facts, const Alike& alike, Finding& finding) {
    finding.behind = origin(facts, alike);
    const TermFacts* const typical = facts.get<SuspectTerms>().of(alike.typical);
    if (typical == nullptr) return;
    finding.evidence.push_back(fact(sentence("most of the heap of {}", alike.typical), typical->accumulation,
                                    typical->accumulation_confidence));
    if (!alike.same && !alike.same_keys) return;
    finding.evidence.push_back(figure("processes of them that were compared", alike.compared, AmountUnit::count));
    if (alike.same_keys)
        finding.advise("The same keys in each: most likely each has a copy of one thing, made at a time of its own.");
    finding.advise(
        "Keep it once, and let them look there: a table, a persistent term, or a literal of a module. A message, and "
        "what a fun has with it, is copied for each process.");
}

}  // namespace beamheap::analyses::rule
