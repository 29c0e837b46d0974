// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/mcp_tools.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/frame/command_line/option_table.hpp"
#include "present/render.hpp"

namespace beamheap::cli {
namespace {

using nlohmann::json;

Error bad_argument(std::string message, std::string advice = {}) {
    return Error{ErrorCode::usage, std::move(message), std::move(advice)};
}

// Formats of an answer: an assistant reads Markdown with the fewest tokens, a program JSON.
constexpr std::string_view formats = "md json";

// What most questions need; the other verbs are behind `ask`.
constexpr std::array<std::string_view, 11> main_verbs{"analyze", "top", "proc", "waits", "stacks", "msgs",
                                                      "heap",    "ets", "logs", "sql",   "explain"};

// Those that only VMs that run can answer.
constexpr std::array<std::string_view, 4> of_running{"ps", "sample", "heapsample", "watch"};

// Whether its answer is one screen unless something says how much is wanted.
bool is_screen(const Command& verb) { return verb.name == "analyze"; }

bool is_offered(const Command& verb, const OptionRow& option) {
    if (!takes(verb, option) || option.names == "--format" || option.names == "--json") return false;
    if (option.names == "--desc") return false;  // numbers come largest first; --asc is for the rest
    return option.group == OptionGroup::answer || option.group == OptionGroup::question;
}

// "--term-bytes" is the property term_bytes.
std::string property_of(const OptionRow& option) {
    std::string name(option.long_name().substr(2));
    std::ranges::replace(name, '-', '_');
    return name;
}

// Whether it is the verb's only input, which may be left out where one alone is open.
bool is_the_input(const Command& verb, const Argument& argument) {
    return argument.kind == ArgumentKind::input && std::ranges::count_if(verb.arguments, [](const Argument& a) {
                                                       return !a.name.empty() && a.kind == ArgumentKind::input;
                                                   }) == 1;
}

// PID is the property pid, the only input is input, "SLOGAN|TOPIC|WORD" is topic.
std::string property_of(const Command& verb, const Argument& argument) {
    if (is_the_input(verb, argument)) return "input";
    std::string name(argument.name);
    if (name.find('|') != std::string::npos) name = name_of(argument.kind);
    for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool taken = std::ranges::any_of(
        option_table(), [&](const OptionRow& row) { return is_offered(verb, row) && property_of(row) == name; });
    return taken ? name + "_name" : name;
}

std::string_view doc_of(ArgumentKind kind) {
    switch (kind) {
        case ArgumentKind::input:
            return "a crash dump, a core image or the pid of a running VM; may be left out where one input alone is "
                   "open";
        case ArgumentKind::process: return "a process: <0.89.0>, 0.89.0, #PID<0.89.0> or its registered name";
        case ArgumentKind::address: return "the address of a term, in hexadecimal, as other answers print it";
        case ArgumentKind::table: return "an ETS table: its name or id";
        case ArgumentKind::function: return "a function: module:name/arity";
        case ArgumentKind::topic:
            return "what to explain: a slogan, a word of an answer, a finding; without it: what there is";
        case ArgumentKind::query: return "one SELECT over the tables, or the name of a ready query";
        case ArgumentKind::executable:
        case ArgumentKind::path:
        case ArgumentKind::shell: break;
    }
    return "a text";
}

// The same in few words, for what stands in each tool.
std::string_view short_doc_of(ArgumentKind kind) {
    switch (kind) {
        case ArgumentKind::input: return "file or pid; not needed where one alone is open";
        case ArgumentKind::process: return "<0.89.0>, or a registered name";
        case ArgumentKind::address: return "of a term";
        default: return doc_of(kind);
    }
}

json schema_of(const OptionRow& option) {
    std::string doc(option.help);
    if (!option.preset.empty()) doc += fmt::format(" (without it: {})", option.preset);
    if (option.argument.empty()) return {{"type", "boolean"}, {"description", doc}};
    if (option.argument == "N") return {{"type", "integer"}, {"minimum", 0}, {"description", doc}};
    if (option.repeatable) return {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", doc}};
    json schema{{"type", "string"}, {"description", doc}};
    if (!option.values.empty() && !option.other_values) {
        schema["enum"] = json::array();
        for (const std::string_view each : split(option.values, ' ')) schema["enum"].push_back(each);
    }
    return schema;
}

// Options that nearly every verb has need no sentence in each.
json short_schema_of(const OptionRow& option) {
    json schema = schema_of(option);
    if (option.names == "--columns" || option.names == "--sort" || option.names == "--table" || option.names == "--asc")
        schema.erase("description");
    else if (option.long_name() == "--top") schema["description"] = "rows; 0: all";
    else if (option.names == "--procs") schema["description"] = "only these: pids, names, 'msgq>1000', running";
    return schema;
}

std::string type_wanted(const OptionRow& option) {
    if (option.argument.empty()) return "true or false";
    if (option.argument == "N") return "a whole number";
    return option.repeatable ? "a list of texts" : "a text";
}

// A value as the word of a command line; nothing: it is of no type that has one. A NUL would end the word.
std::optional<std::string> word_of(const json& value) {
    constexpr double exact = 9007199254740992.0;  // up to here a double holds every whole number
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        return text.find('\0') == std::string::npos ? std::optional(text) : std::nullopt;
    }
    if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
    if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
    if (value.is_number_float() && std::floor(value.get<double>()) == value.get<double>() &&
        std::abs(value.get<double>()) < exact)
        return std::to_string(static_cast<std::int64_t>(value.get<double>()));
    return std::nullopt;
}

Status add_option(const OptionRow& option, const json& value, std::vector<std::string>& words) {
    const std::string name(option.long_name());
    const auto mistyped = [&] {
        return bad_argument(fmt::format("{} takes {}", property_of(option), type_wanted(option)));
    };
    if (option.argument.empty()) {
        if (!value.is_boolean()) return mistyped();
        if (value.get<bool>()) words.push_back(name);
        return ok();
    }
    std::vector<json> values{value};
    if (value.is_array()) values = value.get<std::vector<json>>();
    std::string joined;
    for (const json& each : values) {
        const std::optional<std::string> word = word_of(each);
        if (!word || (option.argument == "N" && !each.is_number())) return mistyped();
        if (option.repeatable) {
            words.push_back(fmt::format("{}={}", name, *word));
        } else {
            joined += joined.empty() ? *word : ',' + *word;
        }
    }
    if (!option.repeatable) words.push_back(fmt::format("{}={}", name, joined));
    return ok();
}

Status check_names(const Command& verb, const json& arguments) {
    std::vector<std::string> names{"format", "part"};
    for (const Argument& each : verb.arguments)
        if (!each.name.empty()) names.push_back(property_of(verb, each));
    for (const OptionRow& row : option_table())
        if (is_offered(verb, row)) names.push_back(property_of(row));
    for (const auto& [name, value] : arguments.items()) {
        if (std::ranges::find(names, name) != names.end()) continue;
        std::string advice = present::did_you_mean(name, {names.begin(), names.end()});
        if (advice.empty()) advice = fmt::format("{} takes: {}", verb.name, fmt::join(names, ", "));
        return bad_argument(fmt::format("{} has no argument '{}'", verb.name, name), std::move(advice));
    }
    return ok();
}

// The positional arguments: inputs first, as every verb has them.
Status add_positional(const Command& verb, const json& arguments, const std::string& one_input, ToolCall& call) {
    std::string missing;
    for (const Argument& each : verb.arguments) {
        if (each.name.empty()) break;
        const std::string name = property_of(verb, each);
        const bool is_input = each.kind == ArgumentKind::input;
        std::optional<std::string> word;
        if (arguments.contains(name) && !arguments[name].is_null()) {
            word = word_of(arguments[name]);
            if (!word || word->empty())
                return bad_argument(fmt::format("{} takes a text", name), std::string(doc_of(each.kind)));
        } else if (is_the_input(verb, each) && !one_input.empty()) {
            word = one_input;
        }
        if (!word) {
            if (!each.optional) return bad_argument(fmt::format("{} needs {}: {}", verb.name, name, doc_of(each.kind)));
            missing = name;
            continue;
        }
        if (!missing.empty()) return bad_argument(fmt::format("{} says nothing without {}", name, missing));
        (is_input ? call.inputs : call.others).push_back(std::move(*word));
    }
    return ok();
}

json described(std::string name, std::string description, json schema) {
    // What answers have in common (structuredContent); docs/assistants.md says what else there may be.
    json answer{{"type", "object"}, {"required", json::array({"summary"})}};
    return {{"name", std::move(name)},
            {"description", std::move(description)},
            {"inputSchema", std::move(schema)},
            {"outputSchema", std::move(answer)},
            {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}};
}

}  // namespace

bool is_tool(const Command& verb, bool running) {
    if (!running && std::ranges::find(of_running, verb.name) != of_running.end()) return false;
    for (const Argument& each : verb.arguments)
        if (each.kind == ArgumentKind::path || each.kind == ArgumentKind::executable ||
            each.kind == ArgumentKind::shell)
            return false;
    return !verb.writes && !verb.session;
}

json tool_of(const Command& verb, bool in_full) {
    json properties = json::object(), required = json::array();
    for (const Argument& each : verb.arguments) {
        if (each.name.empty()) break;
        const std::string name = property_of(verb, each);
        properties[name] = {{"type", "string"}, {"description", in_full ? doc_of(each.kind) : short_doc_of(each.kind)}};
        if (!each.optional && !is_the_input(verb, each)) required.push_back(name);
    }
    for (const OptionRow& row : option_table())
        if (is_offered(verb, row)) properties[property_of(row)] = in_full ? schema_of(row) : short_schema_of(row);
    json choices = json::array();
    for (const std::string_view each : split(formats, ' ')) choices.push_back(each);
    properties["format"] = {{"type", "string"}, {"enum", choices}};
    properties["part"] = {{"type", "integer"}, {"minimum", 1}, {"description", "of a long answer"}};
    std::string description(verb.summary);
    if (is_screen(verb)) description += "; with top also tables of processes, memory and limits";
    if (in_full && !verb.details.empty()) description += fmt::format("\n\n{}", verb.details);
    json schema{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
    if (!required.empty()) schema["required"] = required;
    return described(std::string(verb.name), std::move(description), std::move(schema));
}

json tool_list(bool running) {
    json all = json::array();
    json others = json::array();
    std::string says = "any other verb:";
    for (const Command* verb : commands()) {
        if (!is_tool(*verb, running)) continue;
        if (std::ranges::find(main_verbs, verb->name) != main_verbs.end()) {
            all.push_back(tool_of(*verb, false));
            continue;
        }
        others.push_back(verb->name);
        says += fmt::format("\n{}: {}", verb->name, verb->summary);
    }
    json any{{"type", "object"}, {"description", "its other arguments by name, as help has them"}};
    json schema{{"type", "object"},
                {"properties",
                 {{"verb", {{"type", "string"}, {"enum", std::move(others)}}},
                  {"input", {{"type", "string"}, {"description", short_doc_of(ArgumentKind::input)}}},
                  {"arguments", std::move(any)},
                  {"help", {{"type", "boolean"}, {"description", "what the verb does, and its arguments"}}}}},
                {"required", json::array({"verb"})},
                {"additionalProperties", false}};
    all.push_back(described("ask", std::move(says), std::move(schema)));
    all.push_back(described("inputs", "lists the crash dumps and core images that can be asked about",
                            {{"type", "object"}, {"properties", json::object()}, {"additionalProperties", false}}));
    return all;
}

Result<AskedVerb> asked_verb(const json& arguments, bool running) {
    if (!arguments.is_object()) return bad_argument("arguments are an object of names and values");
    for (const auto& [name, value] : arguments.items())
        if (name != "verb" && name != "input" && name != "arguments" && name != "help")
            return bad_argument(fmt::format("ask has no argument '{}'", name),
                                "What a verb takes stands in `arguments`: {\"verb\": \"term\", \"arguments\": {...}}");
    std::vector<std::string_view> names;
    for (const Command* each : commands())
        if (is_tool(*each, running)) names.push_back(each->name);
    const auto verb = arguments.find("verb");
    const std::string name = verb != arguments.end() && verb->is_string() ? verb->get<std::string>() : std::string();
    if (std::ranges::find(names, name) == names.end()) {
        std::string advice = present::did_you_mean(name, names);
        if (advice.empty()) advice = fmt::format("verbs are: {}", fmt::join(names, ", "));
        return bad_argument(name.empty() ? "ask needs a verb" : fmt::format("there is no verb '{}' to ask", name),
                            std::move(advice));
    }
    AskedVerb asked{find_command(name), false, json::object()};
    if (const auto help = arguments.find("help"); help != arguments.end() && !help->is_null()) {
        if (!help->is_boolean()) return bad_argument("help is true or false");
        asked.help = help->get<bool>();
    }
    if (const auto given = arguments.find("arguments"); given != arguments.end() && !given->is_null()) {
        if (!given->is_object()) return bad_argument("arguments are an object of names and values");
        asked.arguments = *given;
    }
    if (const auto input = arguments.find("input"); input != arguments.end() && !input->is_null())
        asked.arguments["input"] = *input;
    return asked;
}

Result<ToolCall> call_of(const Command& verb, const json& arguments, const std::string& one_input) {
    const json none = json::object();
    const json& given = arguments.is_null() ? none : arguments;
    if (!given.is_object()) return bad_argument("arguments are an object of names and values");
    BH_CHECK(check_names(verb, given));
    ToolCall call;
    std::string format = "md";
    if (given.contains("format")) {
        const std::vector<std::string_view> choices = split(formats, ' ');
        const std::optional<std::string> word = word_of(given["format"]);
        if (!word || std::ranges::find(choices, *word) == choices.end()) return bad_argument("format is md or json");
        format = *word;
    }
    if (given.contains("part")) {
        const json& part = given["part"];
        if (!part.is_number_unsigned() || part.get<std::uint64_t>() == 0)
            return bad_argument("part takes a whole number, from 1 on");
        call.part = part.get<std::uint64_t>();
    }
    call.options.push_back("--format=" + format);
    for (const OptionRow& row : option_table()) {
        if (!is_offered(verb, row)) continue;
        const auto value = given.find(property_of(row));
        if (value != given.end() && !value->is_null()) BH_CHECK(add_option(row, *value, call.options));
    }
    call.screen = is_screen(verb) && format == "md" && !given.contains("top");
    if (!given.contains("top") && !call.screen) call.options.push_back(fmt::format("--top={}", present::default_rows));
    BH_CHECK(add_positional(verb, given, one_input, call));
    return call;
}

}  // namespace beamheap::cli
