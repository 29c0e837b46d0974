#include "analyses/processes/application_starts.hpp"

#include "analyses/base/term_reader.hpp"
#include "analyses/processes/frame_marks.hpp"

namespace beamheap::analyses {
namespace {

// {state, Loading, Starting, StartPFalse, Running, Control, Started, StartReq, ConfData}, to which 29 adds one
constexpr std::size_t least_state = 9, starting_at = 2, running_at = 4;
// {App, RestartType, Type, From}
constexpr std::size_t starting_arity = 4;

}  // namespace

ApplicationStarts application_starts(TermSource& terms, const Element& term) {
    ApplicationStarts found;
    TermReader reader(terms);
    const std::vector<Element> state = reader.tuple(term);
    if (state.size() < least_state || !TermReader::is(state[0], "state") || !reader.is_list(state[starting_at]) ||
        !reader.is_list(state[running_at]))
        return found;
    found.known = true;
    for (const Element& each : reader.list(state[starting_at])) {
        const std::vector<Element> start = reader.tuple(each, starting_arity);
        if (!start.empty() && TermReader::is_atom(start[0])) found.starting.emplace_back(start[0].text);
    }
    found.running = reader.list(state[running_at]).size();
    return found;
}

ApplicationStarts application_starts(TermSource& terms) {
    ApplicationStarts found;
    for (std::size_t i = 0; i < terms.graph().roots().size() && !found.known; ++i)
        found = application_starts(terms, terms.root(i));
    return found;
}

std::vector<ProcId> starting_processes(const Snapshot& s) {
    const std::vector<std::uint8_t> starts = marks_of_stacks(s, [&](FunctionId id) {
        const Function& function = s.functions[id];
        return s.text(function.module) == "application_master" && s.text(function.name).starts_with("start_it");
    });
    std::vector<ProcId> found;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i)
        if (mark_of(starts, s.processes[i]) != 0) found.push_back(ProcId{i});
    return found;
}

}  // namespace beamheap::analyses
