// SPDX-License-Identifier: Apache-2.0
// The verbs as tools of the Model Context Protocol: names, descriptions and schemas come from the rows of verbs and
// options, and a call becomes the words of a command line, so that it is parsed, checked and corrected by what parses
// those.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "beamheap/error.hpp"
#include "cli/commands.hpp"

namespace beamheap::cli {

/// Whether a verb is a tool: it answers questions about inputs that it is given, or about none, and writes no file.
bool is_tool(const Command& verb);

/// The entry of a verb in the answer to tools/list: name, title, description, inputSchema, annotations.
nlohmann::json tool_of(const Command& verb);

/// A call of a verb, taken apart: the words of its command line.
struct ToolCall {
    std::vector<std::string> options;  ///< "--top=5", "--full"
    std::vector<std::string> inputs;   ///< as they were named
    std::vector<std::string> others;   ///< the arguments behind them
    std::uint64_t part = 1;            ///< which part of a long answer
};

/// The call of a verb with these arguments, an object (null: none). `one_input` stands for an input that is not named;
/// empty: it has to be. Errors (usage): an argument that the verb has not, with what was probably meant; a value of the
/// wrong type; one that is missing.
Result<ToolCall> call_of(const Command& verb, const nlohmann::json& arguments, const std::string& one_input);

}  // namespace beamheap::cli
