// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "present/render.hpp"

namespace beamheap::cli {
namespace {

using nlohmann::json;

Error bad_argument(std::string message, std::string advice = {}) {
    return Error{ErrorCode::usage, std::move(message), std::move(advice)};
}

// Formats of an answer: an assistant reads Markdown with the fewest tokens, a program JSON.
constexpr std::string_view formats = "md json";

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

}  // namespace

bool is_tool(const Command& verb) {
    for (const Argument& each : verb.arguments)
        if (each.kind == ArgumentKind::path || each.kind == ArgumentKind::executable ||
            each.kind == ArgumentKind::shell)
            return false;
    return !verb.writes && !verb.session;
}

json tool_of(const Command& verb) {
    json properties = json::object(), required = json::array();
    for (const Argument& each : verb.arguments) {
        if (each.name.empty()) break;
        const std::string name = property_of(verb, each);
        properties[name] = {{"type", "string"}, {"description", doc_of(each.kind)}};
        if (!each.optional && !is_the_input(verb, each)) required.push_back(name);
    }
    for (const OptionRow& row : option_table())
        if (is_offered(verb, row)) properties[property_of(row)] = schema_of(row);
    json choices = json::array();
    for (const std::string_view each : split(formats, ' ')) choices.push_back(each);
    properties["format"] = {{"type", "string"},
                            {"enum", choices},
                            {"description", "Markdown to read, or JSON with every column (without it: md)"}};
    properties["part"] = {
        {"type", "integer"}, {"minimum", 1}, {"description", "which part of a long answer (without it: 1)"}};
    std::string description(verb.summary);
    if (!verb.details.empty()) description += fmt::format("\n\n{}", verb.details);
    return {{"name", verb.name},
            {"title", fmt::format("beamheap {}", verb.name)},
            {"description", description},
            {"inputSchema",
             {{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}}},
            {"annotations", {{"readOnlyHint", true}, {"idempotentHint", true}, {"openWorldHint", false}}}};
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
    if (!given.contains("top")) call.options.push_back(fmt::format("--top={}", present::default_rows));
    BH_CHECK(add_positional(verb, given, one_input, call));
    return call;
}

}  // namespace beamheap::cli
