// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/application_starts.hpp"

#include "analyses/processes/frame_marks.hpp"
#include "erlang/functions.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

// {state, Loading, Starting, StartPFalse, Running, Control, Started, StartReq, ConfData}, to which 29 adds one
constexpr std::size_t least_state = 9, starting_at = 2, running_at = 4;
// {App, RestartType, Type, From}
constexpr std::size_t starting_arity = 4;
constexpr std::size_t longest_script = 100'000;  // of OTP's own systems 300 commands

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
    const std::vector<Element> running = reader.list(state[running_at]);
    found.running = running.size();
    for (const Element& each : running) {
        const std::vector<Element> pair = reader.tuple(each, 2);
        if (pair.empty() || !TermReader::is_atom(pair[0])) continue;
        found.masters.push_back({std::string(pair[0].text), pair[1].kind == ElementKind::pid ? pair[1].pid : Pid{}});
    }
    return found;
}

ApplicationStarts application_starts(TermSource& terms) {
    ApplicationStarts found;
    for (std::size_t i = 0; i < terms.graph().roots().size() && !found.known; ++i)
        found = application_starts(terms, terms.root(i));
    return found;
}

BootWork boot_work(const Snapshot& s) {
    constexpr std::uint8_t boots = 1, script = 2, program = 4;
    const std::vector<std::uint8_t> marks = marks_of_stacks(s, [&](FunctionId id) -> std::uint8_t {
        if (has_role(s, id, erlang::FunctionRole::boots)) return boots;
        if (has_role(s, id, erlang::FunctionRole::runs_boot_script)) return script;
        return has_role(s, id, erlang::FunctionRole::runs_program) ? program : std::uint8_t{0};
    });
    for (std::uint32_t i = 0; i < s.processes.size(); ++i)
        if (const std::uint8_t mark = mark_of(marks, s.processes[i]); (mark & boots) != 0)
            return {ProcId{i}, (mark & script) != 0, (mark & program) != 0};
    return {};
}

std::optional<std::uint64_t> applications_to_come(TermSource& terms) {
    TermReader reader(terms);
    for (std::size_t i = 0; i < terms.graph().roots().size(); ++i) {
        const Element root = terms.root(i);
        if (!reader.is_list(root)) continue;
        // {apply, {application, start_boot, [App, Type]}}, {progress, started} and such
        std::uint64_t found = 0;
        bool commands = false;
        for (const Element& each : reader.list(root, longest_script)) {
            const std::vector<Element> command = reader.tuple(each);
            if (command.size() != 2) {
                commands = false;
                break;
            }
            commands |= TermReader::is(command[0], "progress");
            const std::vector<Element> call =
                TermReader::is(command[0], "apply") ? reader.tuple(command[1], 3) : std::vector<Element>{};
            found += !call.empty() && TermReader::is(call[0], "application") && TermReader::is(call[1], "start_boot");
        }
        if (commands) return found;
    }
    return std::nullopt;
}

std::vector<ProcId> starting_processes(const Snapshot& s) {
    const std::vector<std::uint8_t> starts =
        marks_of_stacks(s, [&](FunctionId id) { return has_role(s, id, erlang::FunctionRole::starts_application); });
    std::vector<ProcId> found;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i)
        if (mark_of(starts, s.processes[i]) != 0) found.push_back(ProcId{i});
    return found;
}

}  // namespace beamheap::analyses
