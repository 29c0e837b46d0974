#include "analyses/heaps/put_off.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/erlang_syntax.hpp"
#include "analyses/base/term_reader.hpp"
#include "analyses/heaps/loop_state.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::ptrdiff_t least_callers = 10;
constexpr std::uint64_t largest_server = 4'000'000;  // words
constexpr std::size_t most_events = 1'000'000;       // of a heap of that size
constexpr std::size_t most_table_waiters = 200;      // that are asked which table

std::optional<PutOff> postponed(const Snapshot& s, ProcId process, TermSource& terms) {
    const std::optional<LoopState> loop = loop_state(s, process, terms);
    if (!loop || loop->loop != LoopState::Loop::state_machine) return std::nullopt;
    PutOff found{PutOff::Why::postponed, process, {}, TermReader(terms).list(loop->postponed, most_events).size(), ProcId::none};
    if (found.count == 0) return std::nullopt;
    found.what = copy_term(terms, loop->state_name);
    return found;
}

std::optional<PutOff> blocked_log(const Snapshot& s, ProcId process, TermSource& terms) {
    const TermReader reader(terms);
    const std::span<const Root> roots = terms.graph().roots();
    for (std::size_t i = 0; i < roots.size(); ++i) {
        if (roots[i].kind != RootKind::dictionary) continue;
        const std::vector<Element> pair = reader.tuple(terms.root(i), 2);
        if (pair.empty() || !TermReader::is(pair[0], "log")) continue;
        const std::vector<Element> log = reader.tuple(pair[1]);
        if (log.size() < 4 || !TermReader::is(log[0], "log") || reader.tagged(log[1], "blocked", 2).empty()) return std::nullopt;
        return PutOff{PutOff::Why::log_blocked, process, copy_term(terms, log[2]), 0,
                      log[3].kind == ElementKind::pid ? s.find(log[3].pid) : ProcId::none};
    }
    return std::nullopt;
}

bool waits_for_table(const Snapshot& s, const Process& process) {
    return module_of(s, process.current_function) == "mnesia_controller" && s.text(s.functions[process.current_function].name) == "rec_tabs";
}

// The tables that processes wait for, by the frames of these.
void add_tables(Artifact& artifact, std::vector<PutOff>& found) {
    const Snapshot& s = artifact.snapshot();
    const ProcId controller = s.find_registered("mnesia_controller");
    std::set<std::string> names;
    PutOff why{PutOff::Why::tables, controller, {}, 0, ProcId::none};
    std::size_t left = most_table_waiters;
    for (std::uint32_t i = 0; i < s.processes.size() && left > 0 && controller != ProcId::none; ++i) {
        if (!waits_for_table(s, s.processes[i])) continue;
        --left;
        const auto terms = artifact.terms(ProcId{i});
        if (!terms) continue;
        const std::span<const Root> roots = (*terms)->graph().roots();
        for (std::size_t root = 0; root < roots.size(); ++root) {
            if (roots[root].kind != RootKind::stack || roots[root].frame != 0) continue;
            const Element term = (*terms)->root(root);
            if (!TermReader::is_atom(term) || !names.emplace(term.text).second) continue;
            if (why.what == nullptr) why.what = copy_term(**terms, term);
        }
    }
    why.count = names.size();
    if (why.count != 0) found.push_back(std::move(why));
}

}  // namespace

bool may_put_off(const Snapshot& s, ProcId id) {
    const Process& process = s[id];
    if (waits_for_table(s, process)) return true;
    const std::string_view module = module_of(s, process.current_function);
    if (module != "gen_statem" && module != "disk_log") return false;
    if (process.state != ProcessState::waiting || allocated_words(process) > largest_server) return false;
    const std::span<const Link> links = std::span(s.links).subspan(process.link_range.first, process.link_range.count);
    return std::ranges::count(links, LinkKind::monitored_by, &Link::kind) >= least_callers;
}

std::vector<PutOff> put_off(Artifact& artifact) {
    const Snapshot& s = artifact.snapshot();
    std::vector<PutOff> found;
    add_tables(artifact, found);
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        if (!may_put_off(s, ProcId{i}) || waits_for_table(s, s.processes[i])) continue;
        const auto terms = artifact.terms(ProcId{i});
        if (!terms) continue;
        const bool log = module_of(s, s.processes[i].current_function) == "disk_log";
        if (auto why = log ? blocked_log(s, ProcId{i}, **terms) : postponed(s, ProcId{i}, **terms)) found.push_back(std::move(*why));
    }
    return found;
}

}  // namespace beamheap::analyses
