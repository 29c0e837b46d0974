// Words that several rules use: how a finding names processes, and what it says of them.
#pragma once

#include <string>

#include "analyses/rules/rules.hpp"
#include "analyses/base/number_format.hpp"

namespace beamheap::analyses::rule {

/// "lager_event <0.89.0>"; of a process without a name its label or initial call, if it has one: "<0.89.0>
/// (my:init/1)".
std::string process_text(const RuleInput& input, ProcId process);
/// The same for a pid that may not be in the process table.
std::string process_text(const RuleInput& input, const Pid& pid);
/// The same without pid, for Subject::text: the name, the label's or initial call's text; "process" where there is
/// nothing.
std::string process_subject(const RuleInput& input, ProcId process);
/// Whom somebody waits for: "lager_event <0.89.0>", "#Port<0.5>", "name on node other@host".
std::string target_text(const RuleInput& input, const WaitTarget& target);
/// "gen_server:call/3"; "an unknown function" for none.
std::string function_name(const RuleInput& input, FunctionId function);
/// What a process does: "sits in timer:sleep/1", "is running lists:reverse/1", "is idle in gen_server:loop/7".
std::string doing(const RuleInput& input, ProcId process);
/// Whether it waits for its next message in a loop of OTP's, with nothing to do.
bool idle(const RuleInput& input, ProcId process);
/// Its youngest frames, youngest first: "timer:sleep/1 < my_handler:handle_event/2 < gen_event:server_update/4".
std::string frames_text(const RuleInput& input, ProcId process, std::size_t most = 5);
/// Adds its stack to a finding's evidence, where the input has one.
void add_stack(const RuleInput& input, ProcId process, Finding& finding);
/// A pid as a shell takes it: 0.89.0.
std::string shell_pid(const Pid& pid);
/// Fills process, pid, name and subject of a finding about one process.
void about(const RuleInput& input, ProcId process, Finding& finding);

/// Memory of a process as the input says it: process_info(memory), else its heaps (dumps before R16B01).
Count process_bytes(const RuleInput& input, const Process& process);
/// The same of all processes.
Count all_process_bytes(const RuleInput& input);
/// What the node used, from =memory; missing where the input does not say.
Count node_bytes(const RuleInput& input);

/// Evidence of each kind.
Evidence figure(std::string name, Count value, EvidenceUnit unit, Confidence confidence = Confidence::exact);
Evidence share(std::string name, double percent, Confidence confidence = Confidence::exact);
Evidence fact(std::string name, std::string text, Confidence confidence = Confidence::exact);

}  // namespace beamheap::analyses::rule
