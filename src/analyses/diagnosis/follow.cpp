// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/follow.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "analyses/base/links_of.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/causes/own_modules.hpp"
#include "analyses/facts/catalogue/shared_copies.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/rules/phrases.hpp"
#include "analyses/rules/start_finding.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t small_part = 4;  // of the node's memory: a wait holds less than a quarter of it
constexpr std::uint64_t least_who_wait = 3;
constexpr std::uint64_t most_of_those = 2;  // half of those who wait, in one function
constexpr std::size_t most_on_stack = 32;   // functions that are looked at
constexpr double copies_percent = 25;
constexpr std::size_t most_in_circle = 4;

// Functions of the program's own modules.
class OwnFunctions {
public:
    explicit OwnFunctions(const Snapshot& s) : s_(s), folders_(build_folders(s)) {
        for (const Module& module : s.modules)
            if (is_own_module(s, module, folders_)) own_.insert(module.name);
            else if (module.source == TextId::none) untold_.insert(module.name);
    }

    /// The youngest of them on a stack; of who waits for a server of module `asked` it is none of that module's, its
    /// own interface, unless no other one is there. none: there is none.
    FunctionId on_stack_of(const Process& process, TextId asked = TextId::none) const {
        FunctionId first = FunctionId::none;
        if (process.stack == StackId::none) return first;
        for (const Frame& frame : s_.stacks[process.stack]) {
            if (frame.function == FunctionId::none) break;
            if (!is_own(frame.function)) continue;
            if (asked == TextId::none || s_.functions[frame.function].module != asked) return frame.function;
            if (first == FunctionId::none) first = frame.function;
        }
        return first;
    }

    /// Each of them that is on a stack once, the youngest first.
    std::vector<FunctionId> all_on_stack_of(const Process& process) const {
        std::vector<FunctionId> found;
        if (process.stack == StackId::none) return found;
        for (const Frame& frame : s_.stacks[process.stack]) {
            if (frame.function == FunctionId::none || found.size() == most_on_stack) break;
            if (is_own(frame.function) && std::ranges::find(found, frame.function) == found.end())
                found.push_back(frame.function);
        }
        return found;
    }

private:
    bool is_own(FunctionId id) const {
        // Thousands may wait in the same few functions.
        if (known_.size() <= index_of(id)) known_.resize(index_of(id) + std::size_t{1});
        std::uint8_t& known = known_[index_of(id)];
        if (known == 0) known = looks_own(id) ? 2 : 1;
        return known == 2;
    }
    bool looks_own(FunctionId id) const {
        const TextId name = s_.functions[id].module;
        if (!own_.empty()) return own_.contains(name);
        // Of a build that leaves sources out (+deterministic, as releases are built) the name has to tell.
        return (folders_.empty() || untold_.contains(name)) && !rule::is_of_library(s_, id) &&
               !erlang::is_of_otp(s_.text(name));
    }

    const Snapshot& s_;
    std::vector<std::string_view> folders_;
    std::set<TextId> own_, untold_;            // untold: without a source
    mutable std::vector<std::uint8_t> known_;  // by functions' numbers: not asked yet, no, yes
};

bool names(const Sentence& text, FunctionId function) {
    return std::ranges::find(text.parts(), Part(function)) != text.parts().end();
}

// The one that a process monitors, and is not what has started it: whom it works for.
ProcId works_for(const Facts& facts, const Process& process) {
    const Snapshot& s = facts.snapshot();
    ProcId found = ProcId::none;
    // A call monitors whom it asks.
    const ProcId id = s.find(process.pid);
    const WaitEdge* const asks = id == ProcId::none ? nullptr : facts.get<Waits>().edge(id);
    for (const Link& link : links_of(s, process)) {
        if (link.kind != LinkKind::monitors || !link.pid.local() || link.pid == process.parent) continue;
        const ProcId other = s.find(link.pid);
        if (other == ProcId::none || (asks != nullptr && asks->target.process == other)) continue;
        if (found != ProcId::none && found != other) return ProcId::none;
        found = other;
    }
    return found;
}

// "<0.83.0> (billing:run/2) got there through billing:check/2", "<0.84.0> works for <0.83.0>, in conf:reload/1"
Sentence why_there(const Facts& facts, const OwnFunctions& own, const Finding& worst) {
    const Snapshot& s = facts.snapshot();
    if (worst.process == ProcId::none || rule::idle(facts, worst.process)) return {};
    const Process& process = s[worst.process];
    if (const FunctionId function = own.on_stack_of(process); function != FunctionId::none) {
        if (names(worst.title, function) || function == process.current_function) return {};
        return sentence("{} got there through {}", worst.process, function);
    }
    const ProcId whom = works_for(facts, process);
    if (whom == ProcId::none) return {};
    const FunctionId function = own.on_stack_of(s[whom]);
    if (function == FunctionId::none) return sentence("{} works for {}", worst.process, whom);
    return sentence("{} works for {}, in {}", worst.process, whom, function);
}

// "The calls are made in accounts:total/1, ledger:sum/1 and pricing:rate/1": of those that wait for each other.
Sentence calls_of_circle(const Snapshot& s, const OwnFunctions& own, const Finding& worst) {
    std::vector<Sentence> functions;
    for (const ProcId id : worst.members)
        if (const FunctionId function = own.on_stack_of(s[id]); function != FunctionId::none)
            functions.push_back(sentence("{}", function));
    if (functions.empty() || functions.size() > most_in_circle) return {};
    if (functions.size() == 1) return sentence("One of these calls is made in {}", functions.front());
    const Sentence last = std::move(functions.back());
    functions.pop_back();
    return sentence("The calls are made in {} and {}", joined(functions, ", "), last);
}

// Whether the server that it waits for has one request less in its queue than processes wait for it: who is not as the
// others is most likely whose request it has taken.
bool is_served(const Facts& facts, ProcId waiter) {
    const WaitEdge* const edge = facts.get<Waits>().edge(waiter);
    const ProcId server = edge == nullptr ? ProcId::none : edge->target.process;
    const WaitFanIn* const fan = server == ProcId::none ? nullptr : facts.get<Waits>().fan_in_of(server);
    return fan != nullptr && facts.snapshot()[server].msgq_len == Count(fan->waiters - 1);
}

// Those of a finding's members who wait: not the servers that others of them wait for, and that wait for nobody. Who
// tries again and again sleeps in between, and waits for nobody then.
std::vector<ProcId> who_wait(const Facts& facts, const Finding& worst) {
    std::vector<ProcId> asked;
    for (const ProcId id : worst.members)
        if (const WaitEdge* const edge = facts.get<Waits>().edge(id); edge != nullptr)
            asked.push_back(edge->target.process);
    std::ranges::sort(asked);
    std::vector<ProcId> waiting;
    for (const ProcId id : worst.members)
        if (id != worst.process && (facts.get<Waits>().edge(id) != nullptr || !std::ranges::binary_search(asked, id)))
            waiting.push_back(id);
    return waiting;
}

// The module of the server that a process waits for.
TextId module_asked(const Facts& facts, ProcId waiter) {
    const Snapshot& s = facts.snapshot();
    const WaitEdge* const edge = facts.get<Waits>().edge(waiter);
    if (edge == nullptr || edge->target.process == ProcId::none) return TextId::none;
    const FunctionId begun = first_call(s[edge->target.process]);
    return begun == FunctionId::none ? TextId::none : s.functions[begun].module;
}

struct CommonWork {
    FunctionId function = FunctionId::none;
    std::uint64_t count = 0;
};

// The function of the program that half of them or more have on their stacks; of several the one of most, and of these
// the youngest: two features of one service ask the same server by functions of their own.
CommonWork common_work(const Facts& facts, const OwnFunctions& own, const std::vector<ProcId>& waiting) {
    const Snapshot& s = facts.snapshot();
    std::map<FunctionId, std::pair<std::uint64_t, std::size_t>> functions;  // how many; how far below the youngest
    for (const ProcId id : waiting) {
        const std::vector<FunctionId> on_stack = own.all_on_stack_of(s[id]);
        const TextId asked = module_asked(facts, id);
        for (std::size_t depth = 0; depth < on_stack.size(); ++depth) {
            if (asked != TextId::none && s.functions[on_stack[depth]].module == asked) continue;
            auto& [count, below] = functions[on_stack[depth]];
            ++count, below += depth;
        }
    }
    CommonWork most;
    std::size_t least_below = 0;
    for (const auto& [function, place] : functions) {
        const auto [count, below] = place;
        if (count * most_of_those < waiting.size() || count < most.count ||
            (count == most.count && below >= least_below))
            continue;
        most = {function, count};
        least_below = below;
    }
    return most;
}

// "all of the 130 who wait come from order_api:lock/1", "140 of the 141 who wait come from upload:stat/1, and the one
// that is served now is most likely <0.82.0> (conf:reload/1)"
Sentence whose_work(const Facts& facts, const OwnFunctions& own, const Finding& worst, bool begins) {
    const Snapshot& s = facts.snapshot();
    const std::vector<ProcId> waiting = who_wait(facts, worst);
    const std::uint64_t all = waiting.size();
    std::map<FunctionId, std::pair<std::uint64_t, ProcId>> functions;
    for (const ProcId id : waiting)
        if (const FunctionId function = own.on_stack_of(s[id], module_asked(facts, id)); function != FunctionId::none) {
            auto& [count, example] = functions[function];
            if (count++ == 0) example = id;
        }
    if (functions.empty() || all < least_who_wait) return {};
    const auto most = std::ranges::max_element(functions, {}, [](const auto& each) { return each.second.first; });
    CommonWork work{most->first, most->second.first};
    if (work.count * most_of_those < all) work = common_work(facts, own, waiting);
    if (work.function == FunctionId::none || names(worst.title, work.function)) return {};
    if (work.count == all)
        return sentence(
            begins ? Form<2>("All of the {} who wait come from {}") : Form<2>("all of the {} who wait come from {}"),
            rule::number(all), work.function);
    Sentence text =
        sentence("{} of the {} who wait come from {}", rule::number(work.count), rule::number(all), work.function);
    for (const auto& [other, one] : functions)
        if (other != work.function && one.first == 1 && work.count + 1 == all) {
            text.say(is_served(facts, one.second) ? Form<1>(", and the one that is served now is most likely {}")
                                                  : Form<1>(", and one is {}"),
                     one.second);
            if (first_call(s[one.second]) != other) text.say(", from {}", other);
        }
    return text;
}

Sentence behind_wait(const Facts& facts, const Finding& worst) {
    const OwnFunctions own(facts.snapshot());
    if (worst.rule == "wait-cycle") {
        Sentence text = calls_of_circle(facts.snapshot(), own, worst);
        return text.empty() ? text : (text.say("."), text);
    }
    Sentence text = why_there(facts, own, worst);
    const Sentence whose = whose_work(facts, own, worst, text.empty());
    if (text.empty() && whose.empty()) return {};
    if (!text.empty() && !whose.empty()) text.say("; ");
    return text.say("{}.", whose), text;
}

// " 8,000 processes have each a copy of one term, a map #{tenants} (7.3 KiB), as job_runner <0.82.0> has."
Sentence copies_there(const Facts& facts) {
    const SharedCopies& copies = facts.get<SharedCopies>();
    if (copies.words == 0 || percent_of(copies.bytes, rule::node_bytes(facts)).value_or(0) < copies_percent) return {};
    Sentence text = sentence(" {} have each a copy of one term, {} ({})", rule::processes(copies.processes),
                             copies.what, rule::bytes(copies.bytes / std::max<std::uint64_t>(copies.processes, 1)));
    if (copies.original != ProcId::none) text.say(", as {} has, which has started them", copies.original);
    return text.say("."), text;
}

}  // namespace

Sentence second_sentence(const Facts& facts, const Finding& worst, const LargestPlace& place) {
    const std::uint64_t node = rule::node_bytes(facts).value_or(0);
    const bool holds_little = worst.bytes.value_or(0) < node / small_part;
    const bool is_news = place.stands_out && !place.in_code;
    if (worst.behind.empty() && !is_news && holds_little && !worst.members.empty())
        if (Sentence text = behind_wait(facts, worst); !text.empty()) return text;
    Sentence text = place.text;
    // Where a start failed, memory is no news: the place goes before it.
    if (worst.tells_slogan && !worst.behind.empty() && rule::tells_an_end(worst))
        return text.empty() ? sentence("{}.", worst.behind) : sentence("{}. {}", worst.behind, text);
    if (!worst.behind.empty()) {
        // What goes with it, in a node whose memory is nowhere in particular, is all that is left to be said.
        if (!is_news && holds_little) return sentence("{}.", worst.behind);
        return text.say(" {}.", worst.behind), text;
    }
    if (place.in_processes && worst.rule != "multitude") text.add(copies_there(facts));
    return text;
}

}  // namespace beamheap::analyses
