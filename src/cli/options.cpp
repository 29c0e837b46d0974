#include "cli/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "cli/commands.hpp"
#include "present/render.hpp"

namespace beamheap::cli {
namespace {

constexpr std::string_view any_input =
    "analyze top proc stacks heap msgs term why binaries profile ets ports timers logs atoms alloc schedulers nodes modules "
    "tree waits diff check doctor blame";

constexpr std::array<OptionRow, 35> table{{
    {"--format", "FORMAT", "table json ndjson csv tsv md dot", "table", "output format", ""},
    {"--json", "", "", "", "the same as --format json", ""},
    {"--columns", "A,B,...", "", "", "columns to show, in this order", ""},
    {"--sort", "COLUMN", "", "", "sort the main table by this column", ""},
    {"--by", "COLUMN", "msgq memory heap old_heap stack used live garbage reductions links monitors refc shape sender",
     "msgq", "what to rank by; msgs: group by shape or sender", "top msgs"},
    {"--pattern", "M:F/A", "", "", "only functions that fit; M:F, M, with * and _", "profile"},
    {"--traced", "", "", "", "what tracing had counted when the image was taken (core images)", "profile"},
    {"--per-process", "", "", "", "a row per function and process", "profile"},
    {"--desc", "", "", "", "largest first", ""},
    {"--asc", "", "", "", "smallest first", ""},
    {"-n,--top", "N", "", "20 for people, else all", "rows to show of each table; 0 is all", ""},
    {"--procs", "SELECTOR", "", "",
     "only these processes: pids, names, 'msgq>1000', running, 'children(P)', 'all_children(P)', ...",
     "analyze core top stacks profile binaries"},
    {"--depth", "N", "", "all", "levels of the tree to show", "tree"},
    {"--full", "", "", "", "decode every heap: live and garbage words of all processes", "analyze core top"},
    {"--running", "", "", "", "what ran when the inputs were taken, added up over all of them", "stacks"},
    {"--dead", "", "", "", "garbage in place of roots: what the next collection would free (core images)", "heap"},
    {"--term-bytes", "N", "", "200", "cut printed terms after N bytes; 0 is whole",
     "proc heap msgs logs term why ets shell"},
    {"--fail-on", "R", "", "", "exit with 1 at this severity or limit: high, 'msgq>10000', 'heap>512MiB'; repeatable",
     "diff check"},
    {"--out", "FORMAT=FILE", "", "", "also write text, json, junit, md, github or gitlab to a file; repeatable",
     "check"},
    {"--baseline", "FILE", "", "", "fail on what is not in this output of an earlier check --json", "check"},
    {"--config", "FILE", "", "the nearest .beamheap.toml", "limits and what to ignore", "check"},
    {"--require-dump", "", "", "", "exit with 3 where there is no dump", "check"},
    {"-f,--force", "", "", "", "overwrite files", "check"},
    {"--exe", "FILE", "", "found by itself", "the beam.smp that a core was written by", any_input},
    {"--syntax", "SYNTAX", "erlang elixir auto", "auto", "of names and terms", ""},
    {"--redact", "LEVEL", "none secrets values full", "secrets", "what to hide", ""},
    {"--color", "WHEN", "auto always never", "auto", "colours", ""},
    {"--progress", "WHEN", "auto always never", "auto", "progress on standard error", ""},
    {"--threads", "N", "", "all cores", "threads to use", ""},
    {"--strict", "", "", "", "exit with 4 if the input is truncated or partly unreadable", ""},
    {"-q,--quiet", "", "", "", "no warnings on standard error", ""},
    {"-v,--verbose", "", "", "", "also notes on what is merely odd, what was read, and how long it took", ""},
    {"-h,--help", "", "", "", "this help; VERB --help for one verb", ""},
    {"--version", "", "", "", "version", ""},
    {"--", "", "", "", "what follows is no option", ""},
}};

Error usage(std::string message, std::string advice = {}) {
    return Error{ErrorCode::usage, std::move(message), std::move(advice)};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        if (end != 0) parts.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

// Between the values of an option that may be given several times.
constexpr char repeated = '\n';
bool repeatable(const OptionRow& row) { return row.names == "--fail-on" || row.names == "--out"; }

// What each option was given, by the row's number in the table; CLI11 keeps the books.
struct Given {
    std::array<std::string, table.size()> values;
    std::array<bool, table.size()> flags{};
    std::vector<std::string> positional;
};

Result<std::uint64_t> number(std::string_view option, std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return usage(fmt::format("{}: '{}' is not a number", option, text));
    return value;
}

Status check_choice(const OptionRow& row, std::string_view value) {
    const std::vector<std::string_view> choices = split(row.values, ' ');
    if (choices.empty() || row.names == "--by" || std::ranges::find(choices, value) != choices.end()) return ok();
    std::string advice = present::did_you_mean(value, choices);
    if (advice.empty()) advice = fmt::format("choose one of: {}", row.values);
    return usage(fmt::format("{}: there is no '{}'", row.names, value), std::move(advice));
}

When when_of(std::string_view text) {
    return text == "always" ? When::always : text == "never" ? When::never : When::automatic;
}

present::RedactLevel level_of(std::string_view text) {
    using Level = present::RedactLevel;
    return text == "none"     ? Level::none
           : text == "values" ? Level::values
           : text == "full"   ? Level::full
                              : Level::secrets;
}

Status apply(const Given& given, Options& options) {
    for (std::size_t i = 0; i < table.size(); ++i) {
        const OptionRow& row = table[i];
        const std::string& value = given.values[i];
        const std::string_view name = row.names;
        if (row.argument.empty()) {
            if (!given.flags[i]) continue;
            if (name == "--json") options.format = "json";
            if (name == "--desc") options.descending = true;
            if (name == "--asc") options.descending = false;
            if (name == "--full") options.full = true;
            if (name == "--traced") options.traced = true;
            if (name == "--running") options.running = true;
            if (name == "--dead") options.dead = true;
            if (name == "--per-process") options.per_process = true;
            if (name == "--require-dump") options.require_dump = true;
            if (name == "-f,--force") options.overwrite = true;
            if (name == "--strict") options.strict = true;
            if (name == "-q,--quiet") options.quiet = true;
            if (name == "-v,--verbose") options.verbose = true;
            if (name == "-h,--help") options.help = true;
            if (name == "--version") options.version = true;
            continue;
        }
        if (!given.flags[i]) continue;
        BH_CHECK(check_choice(row, value));
        if (name == "--format") options.format = value;
        if (name == "--columns")
            for (const std::string_view column : split(value, ',')) options.columns.emplace_back(column);
        if (name == "--fail-on")
            for (const std::string_view word : split(value, repeated)) options.fail_on.emplace_back(word);
        if (name == "--sort") options.sort = value;
        if (name == "--by") options.by = value;
        if (name == "--pattern") options.pattern = value;
        if (name == "--procs") options.procs = value;
        if (name == "--color") options.color = when_of(value);
        if (name == "--progress") options.progress = when_of(value);
        if (name == "--redact") options.redact = level_of(value), options.redact_chosen = true;
        if (name == "--out")
            for (const std::string_view word : split(value, repeated)) options.out.emplace_back(word);
        if (name == "--baseline") options.baseline = value;
        if (name == "--config") options.config = value;
        if (name == "--syntax" && value != "auto")
            options.syntax = value == "elixir" ? present::Syntax::elixir : present::Syntax::erlang;
        if (name == "--exe") options.executable = value;
        if (name == "-n,--top") {
            BH_TRY(const std::uint64_t rows, number("-n", value));
            options.top = rows;
        }
        if (name == "--term-bytes") {
            BH_TRY(options.term_bytes, number(name, value));
        }
        if (name == "--depth") {
            BH_TRY(const std::uint64_t depth, number(name, value));
            options.depth = static_cast<std::uint32_t>(std::min<std::uint64_t>(depth, 0xFFFFFFFFu));
        }
        if (name == "--threads") {
            BH_TRY(const std::uint64_t threads, number(name, value));
            if (threads == 0 || threads > 1024) return usage("--threads: between 1 and 1024");
            options.threads = static_cast<unsigned>(threads);
        }
    }
    return ok();
}

// The first positional argument is a verb, or an input for `analyze`.
Status choose_verb(Given& given, Options& options) {
    std::vector<std::string>& words = given.positional;
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
    const bool exists = words.front() == "-" || std::filesystem::exists(words.front(), ignored);
    std::vector<std::string_view> verbs;
    for (const Command& command : commands()) verbs.push_back(command.name);
    const std::string near = present::did_you_mean(words.front(), verbs);
    const bool like_a_path = words.front().find_first_of("./") != std::string::npos;
    if (options.help || (!exists && !like_a_path && (words.size() > 1 || !near.empty())))
        return usage(fmt::format("there is no verb '{}'{}", words.front(), options.help ? "" : " and no such file"),
                     near.empty() ? "beamheap --help lists the verbs" : near);
    options.verb = "analyze";
    return ok();
}

Status check_option_fits(const Given& given, const Options& options) {
    if (options.help || options.verb.empty()) return ok();
    for (std::size_t i = 0; i < table.size(); ++i)
        if (given.flags[i] && !takes(options.verb, table[i]))
            return usage(fmt::format("{} takes no {}", options.verb, table[i].names),
                         fmt::format("{} is for: {}", table[i].names, table[i].verbs));
    return ok();
}

// What CLI11 could not place: an option that does not exist.
Error unknown_option(std::string_view word) {
    const std::string_view name = word.substr(0, word.find('='));
    std::vector<std::string_view> names;
    for (const OptionRow& row : table)
        for (const std::string_view each : split(row.names, ','))
            if (each.size() > 2) names.push_back(each);
    std::string advice = present::did_you_mean(name, names);
    if (advice.empty()) advice = "beamheap --help lists the options; -- before a name that begins with -";
    return usage(fmt::format("there is no option {}", name), std::move(advice));
}

}  // namespace

std::span<const OptionRow> option_table() { return table; }

bool takes(std::string_view verb, const OptionRow& option) {
    if (option.verbs.empty()) return true;
    const std::vector<std::string_view> verbs = split(option.verbs, ' ');
    return std::ranges::find(verbs, verb) != verbs.end();
}

Result<Options> parse_options(int argc, char** argv) {
    Given given;
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    const auto end_of_options = std::find(argv + std::min(argc, 1), argv + argc, std::string_view("--"));
    app.add_option("words", given.positional);
    for (std::size_t i = 0; i < table.size(); ++i) {
        const OptionRow& row = table[i];
        if (row.names == "--") continue;
        if (row.argument.empty())
            app.add_flag(std::string(row.names), given.flags[i]);
        else
            app.add_option(std::string(row.names), given.values[i])
                ->multi_option_policy(repeatable(row) ? CLI::MultiOptionPolicy::Join
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
        if (word != end_of_options) given.positional.emplace_back(*word);
    for (std::size_t i = 0; i < table.size(); ++i)
        if (!table[i].argument.empty() && app.count(std::string(split(table[i].names, ',').back())) != 0)
            given.flags[i] = true;

    Options options;
    BH_CHECK(apply(given, options));
    BH_CHECK(choose_verb(given, options));
    BH_CHECK(check_option_fits(given, options));
    options.inputs = std::move(given.positional);
    return options;
}

}  // namespace beamheap::cli
