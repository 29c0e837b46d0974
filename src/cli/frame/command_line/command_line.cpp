// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <filesystem>

#include "cli/frame/command_line/option_table.hpp"
#include "cli/frame/commands.hpp"
#include "present/render.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {
namespace {

Error usage(std::string message, std::string advice = {}) {
    return Error{ErrorCode::usage, std::move(message), std::move(advice)};
}

// What stands between the values of an option that may be given several times.
constexpr char between_values = '\n';

// What CLI11 found for each option, by the row's number in the table.
struct Found {
    std::deque<std::string> values;
    std::deque<bool> flags;
    std::vector<std::string> positional;
};

Status check_choice(const OptionRow& row, std::string_view value) {
    const std::vector<std::string_view> choices = split(row.values, ' ');
    if (choices.empty() || row.other_values || std::ranges::find(choices, value) != choices.end()) return ok();
    std::string advice = present::did_you_mean(value, choices);
    if (advice.empty()) advice = fmt::format("choose one of: {}", row.values);
    return usage(fmt::format("{}: there is no '{}'", row.names, value), std::move(advice));
}

// Sets what was found, one value at a time.
Status apply(const Found& found, Options& options) {
    const std::span<const OptionRow> table = option_table();
    for (std::size_t i = 0; i < table.size(); ++i) {
        const OptionRow& row = table[i];
        if (!found.flags[i]) continue;
        BH_CHECK(check_choice(row, found.values[i]));
        std::vector<std::string_view> values{found.values[i]};
        if (row.repeatable) values = split(found.values[i], between_values);
        for (const std::string_view value : values) {
            if (const Status status = row.set(options, value); !status) {
                const std::string_view name = row.names.substr(0, row.names.find(','));
                return usage(fmt::format("{}: {}", name, status.error().message), status.error().advice);
            }
            options.given.push_back({&row, std::string(value)});
        }
    }
    return ok();
}

// What a line of the shell begins with. The values were right when the shell began.
Options begun(const Options* shell) {
    Options options;
    if (shell == nullptr) return options;
    for (const GivenOption& each : shell->given)
        if (each.row->holds) static_cast<void>(bool(each.row->set(options, each.value)));
    options.salt = shell->salt;  // as it was read, whatever became of its file
    return options;
}

// The first positional argument is a verb, or an input for `analyze`.
Status choose_verb(Found& found, Options& options) {
    std::vector<std::string>& words = found.positional;
    if (words.empty()) {
        if (!options.version) options.help = true;
        return ok();
    }
    if (words.front() == "help") {
        options.help = true;
        words.erase(words.begin());
        if (words.empty()) return ok();
    }
    if (find_command(words.front()) != nullptr) {
        options.verb = words.front();
        words.erase(words.begin());
        return ok();
    }
    std::error_code ignored;
    if (words.size() == 1 && words.front() == "version" && !std::filesystem::exists("version", ignored)) {
        options.version = true;
        return ok();
    }
    const bool exists = words.front() == "-" || std::filesystem::exists(words.front(), ignored);
    std::vector<std::string_view> verbs;
    for (const Command* command : commands()) verbs.push_back(command->name);
    const std::string near = present::did_you_mean(words.front(), verbs);
    const bool like_a_path = words.front().find_first_of("./@") != std::string::npos;
    if (options.help || (!exists && !like_a_path && (words.size() > 1 || !near.empty())))
        return usage(fmt::format("there is no verb '{}'{}", words.front(), options.help ? "" : " and no such file"),
                     near.empty() ? "beamheap --help lists the verbs" : near);
    if (exists && words.size() > 1 && find_command(words[1]) != nullptr) {
        std::string right = fmt::format("beamheap {} {}", words[1], present::shell_word(words[0]));
        for (std::size_t i = 2; i < words.size(); ++i) right += ' ' + present::shell_word(words[i]);
        return usage("the verb comes first", std::move(right));
    }
    options.verb = "analyze";
    return ok();
}

Status check_option_fits(const Options& options) {
    if (options.help || options.verb.empty()) return ok();
    const Command& verb = *find_command(options.verb);
    for (const GivenOption& given : options.given) {
        if (takes(verb, *given.row)) continue;
        return usage(fmt::format("{} takes no {}", verb.name, given.row->names),
                     fmt::format("{} is for: {}", given.row->names, takers(*given.row)));
    }
    return ok();
}

// A format is one of every verb's, or one of its own.
Status check_format_fits(const Options& options) {
    if (options.help || options.verb.empty() || present::find_presenter(options.format) != nullptr) return ok();
    std::vector<std::string_view> choices = split(find_command(options.verb)->formats, ' ');
    if (std::ranges::find(choices, options.format) != choices.end()) return ok();
    for (const present::Presenter* each : present::presenters()) choices.push_back(each->name);
    std::string advice = present::did_you_mean(options.format, choices);
    if (advice.empty()) advice = fmt::format("{} has: {}", options.verb, fmt::join(choices, " "));
    return usage(fmt::format("--format: there is no '{}'", options.format), std::move(advice));
}

// What CLI11 could not place: an option that does not exist.
Error unknown_option(std::string_view word) {
    const std::string_view name = word.substr(0, word.find('='));
    std::vector<std::string_view> names;
    for (const OptionRow& row : option_table()) names.push_back(row.long_name());
    std::string advice = present::did_you_mean(name, names);
    if (advice.empty()) advice = "beamheap --help lists the options; -- before a name that begins with -";
    return usage(fmt::format("there is no option {}", name), std::move(advice));
}

}  // namespace

Result<Options> parse_options(int argc, char** argv, const Options* shell) {
    const std::span<const OptionRow> table = option_table();
    Found found;
    found.values.resize(table.size());
    found.flags.resize(table.size());
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    const auto end_of_options = std::find(argv + std::min(argc, 1), argv + argc, std::string_view("--"));
    app.add_option("words", found.positional);
    std::vector<const CLI::Option*> with_values(table.size());  // looking one up by its name takes memory
    for (std::size_t i = 0; i < table.size(); ++i) {
        const OptionRow& row = table[i];
        if (row.argument.empty()) app.add_flag(std::string(row.names), found.flags[i]);
        else
            with_values[i] = app.add_option(std::string(row.names), found.values[i])
                                 ->multi_option_policy(row.repeatable ? CLI::MultiOptionPolicy::Join
                                                                      : CLI::MultiOptionPolicy::TakeLast);
    }
    try {
        app.parse(static_cast<int>(end_of_options - argv), argv);
    } catch (const CLI::ArgumentMismatch& error) {
        const std::string_view what = error.what();
        return usage(fmt::format("{} needs a value", what.substr(0, what.find(':'))));
    } catch (const CLI::ParseError& error) {
        return usage(error.what(), "beamheap --help lists the options");
    }
    for (const std::string& extra : app.remaining())
        if (extra.size() > 1 && extra.front() == '-') return unknown_option(extra);
    for (auto word = end_of_options; word != argv + argc; ++word)
        if (word != end_of_options) found.positional.emplace_back(*word);
    for (std::size_t i = 0; i < table.size(); ++i)
        if (with_values[i] != nullptr && with_values[i]->count() != 0) found.flags[i] = true;

    Options options = begun(shell);
    BH_CHECK(apply(found, options));
    BH_CHECK(choose_verb(found, options));
    BH_CHECK(check_option_fits(options));
    BH_CHECK(check_format_fits(options));
    options.inputs = std::move(found.positional);
    return options;
}

Result<Options> parse_options(std::vector<std::string> words, const Options& shell) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    return parse_options(static_cast<int>(pointers.size()), pointers.data(), &shell);
}

}  // namespace beamheap::cli
