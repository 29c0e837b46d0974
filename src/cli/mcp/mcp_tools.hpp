// SPDX-License-Identifier: Apache-2.0
// The verbs as tools of the Model Context Protocol: names, descriptions and schemas come from the rows of verbs and
// options, and a call becomes the words of a command line, so that it is parsed, checked and corrected by what parses
// those.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "beamheap/error.hpp"
#include "cli/frame/commands.hpp"

namespace beamheap::cli {

/// Whether a verb is a tool: it answers questions about inputs that it is given, or about none, and writes no file.
/// `running`: a VM that runs may be asked about; what such verbs tell of others on this machine is nobody's otherwise.
bool is_tool(const Command& verb, bool running);

/// The answer to tools/list: a tool for each verb that most questions need, `ask` for the others, `inputs`. A client
/// pays for each word of it in every conversation: what tools share is told in a few words, what verbs do in full by
/// `ask` with help.
nlohmann::json tool_list(bool running);

/// The entry of a verb as a tool: name, description, inputSchema, outputSchema, annotations; `in_full` with its whole
/// description.
nlohmann::json tool_of(const Command& verb, bool in_full);

/// What a call of `ask` asks: the verb, whether for its arguments alone, and its arguments with the input among them.
struct AskedVerb {
    const Command* verb;
    bool help;
    nlohmann::json arguments;
};
/// Errors (usage): no verb, or none that is a tool, with what was probably meant; arguments of a wrong type.
Result<AskedVerb> asked_verb(const nlohmann::json& arguments, bool running);

/// A call of a verb, taken apart: the words of its command line.
struct ToolCall {
    std::vector<std::string> options;  ///< "--top=5", "--full"
    std::vector<std::string> inputs;   ///< as they were named
    std::vector<std::string> others;   ///< the arguments behind them
    std::uint64_t part = 1;            ///< which part of a long answer
    bool screen = false;               ///< an answer of one screen will do: nothing says how much is wanted
};

/// The call of a verb with these arguments, an object (null: none). `one_input` stands for an input that is not named;
/// empty: it has to be. Errors (usage): an argument that the verb has not, with what was probably meant; a value of the
/// wrong type; one that is missing.
Result<ToolCall> call_of(const Command& verb, const nlohmann::json& arguments, const std::string& one_input);

}  // namespace beamheap::cli
