// SPDX-License-Identifier: Apache-2.0
#include "cli/frame/commands.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <system_error>

#include "beamheap_version.hpp"
#include "bytes/failed_reads.hpp"
#include "bytes/read_files.hpp"
#include "bytes/spool.hpp"
#include "cli/console/output_file.hpp"
#include "cli/console/pager.hpp"
#include "cli/console/sandbox.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/command_line/option_table.hpp"
#include "cli/frame/help.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/frame/named_nodes.hpp"
#include "formats/format.hpp"
#include "formats/otp/core_artifact.hpp"
#include "present/render.hpp"
#include "present/sanitise.hpp"
#include "present/spelling.hpp"
#include "present/term_printer.hpp"

namespace beamheap::cli {

#define BH_VERB(verb) extern const Command verb_##verb;
#include "cli/frame/verbs.inc"
#undef BH_VERB

namespace {

constexpr std::array table{
#define BH_VERB(verb) &verb_##verb,
#include "cli/frame/verbs.inc"
#undef BH_VERB
};

// What the VM calls a dump where nobody says otherwise (erts/emulator/beam/break.c).
constexpr const char* dump_by_default = "erl_crash.dump";

// In lines of the terminal, if it is one. What stands between backticks is to be copied, and stays in one piece.
void report(const Error& error) {
    if (error.message.empty()) return;  // the answer has said it
    constexpr std::string_view name = "beamheap: ";
    const std::size_t width = terminal_width(STDERR_FILENO);
    const auto fitted = [&](std::string_view before, std::string_view words) {
        std::string line = std::string(before) + present::safe_text(words);
        if (width == 0) return line + '\n';
        bool command = false;
        for (char& c : line) {
            command ^= c == '`';
            if (command && c == ' ') c = present::glued_blank;
        }
        return present::wrapped(line, width, name.size()) + '\n';
    };
    std::string text = fitted(name, error.message);
    if (!error.advice.empty()) text += fitted(std::string(name.size(), ' '), error.advice);
    FileSink(STDERR_FILENO).write(text);
}

// Takes no memory, since there is none: report() would.
int report_no_memory() {
    (void)write_all(STDERR_FILENO,
                    "beamheap: out of memory\n"
                    "          Copy the input to a machine with more memory, or ask for less: top needs the process "
                    "table alone.\n");
    return exit_code(ErrorCode::resource_limit);
}

// What is thrown where nothing may be: libraries take memory while they free some, or (the C++ library's iterators of
// folders) in functions that promise to throw nothing. Too little of it is no crash. GCC ends such a function without
// saying what was thrown; nothing else is, there.
[[noreturn]] void end_without_catching() {
    try {
        if (std::current_exception()) throw;
        if (std::uncaught_exceptions() > 0) throw std::bad_alloc();
    } catch (const std::bad_alloc&) {
        remove_partial_files();
        ::_exit(report_no_memory());
    } catch (...) {
    }
    std::abort();
}

Status print_text(const std::string& text, bool paged = false) {
    Output out(paged);
    out.write(text);
    out.finish();
    if (out.error() != 0)
        return Error{ErrorCode::resource_limit,
                     fmt::format("standard output: can't be written: {}", std::strerror(out.error())),
                     {}};
    return ok();
}

// Help, whose lines go on below what they explain: behind the first gap of two blanks or more.
std::string fit_to_terminal(std::string_view text) {
    constexpr std::size_t widest = 120;  // that is well read
    const std::size_t width = std::min(terminal_width(), widest);
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
        const std::size_t gap = line.find("  ", begin);
        const std::size_t hang = gap == line.npos ? begin : line.find_first_not_of(' ', gap);
        out += present::wrapped(line, width, hang == line.npos ? begin : hang) + '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

// What is read is known before anything is read or written, and what a shell has redirected is held against it, but
// where the answer is taken.
Status note_what_is_read(const Options& options, const Command& command, bool taken) {
    for (std::size_t i = 0; i < options.inputs.size(); ++i) {
        const std::string& given = options.inputs[i];
        const ArgumentKind kind = command.argument_of(i, options.inputs.size()).kind;
        if (kind == ArgumentKind::input) note_input_file(given);
        if (kind == ArgumentKind::executable) bytes::note_read(given, "the executable");
    }
    for (const GivenOption& given : options.given)
        if (!given.row->reads.empty()) bytes::note_read(given.value, given.row->reads);
    if (taken) return ok();
    if (!bytes::read_as(STDERR_FILENO).empty()) {  // not even the sentence that says so
        const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        ::dup2(nowhere, STDERR_FILENO);
        return Error{ErrorCode::usage, "standard error is the input, which would be lost", {}};
    }
    return may_write("-", false);
}

// The files that are to be made, each as often as it is named.
std::vector<std::string> files_to_make(const Options& options, const Command& command) {
    std::vector<std::string> files;
    if (!options.output.empty()) files.push_back(options.output);
    for (const std::string& word : options.out)  // FORMAT=FILE
        if (const std::size_t sign = word.find('='); sign != word.npos) files.push_back(word.substr(sign + 1));
    if (command.makes_files())
        for (std::size_t i = 0; i < options.inputs.size(); ++i)
            if (command.argument_of(i, options.inputs.size()).kind == ArgumentKind::path)
                files.push_back(options.inputs[i]);
    std::erase_if(files, [](const std::string& file) { return file.empty() || file == "-"; });
    return files;
}

// Makes what is to be written, so that nothing else can be. False: the folder can't be made, which the verb will say.
bool prepare_files(const Options& options, const Command& command, StillNeeded& needed) {
    const std::vector<std::string> files = files_to_make(options, command);
    const bool windows = !options.every.empty() && std::ranges::any_of(option_table(), [&](const OptionRow& row) {
        return row.long_name() == "--out" && takes(command, row);
    });
    if (windows || options.perf_map) {  // and a file whose name is yet to be known
        needed.files_anywhere = true;
        return true;
    }
    if (command.makes_folder != nullptr && command.makes_folder(options)) {
        for (const std::string& folder : files) {
            const bool readable = ::access(options.inputs.front().c_str(), R_OK) == 0;
            if (readable && !prepare_folder(folder)) return false;
            needed.filled.push_back(folder);
        }
        return true;
    }
    constexpr std::size_t asides = 2;  // as many as any format writes in several pieces
    for (const std::string& file : files) {
        const PreparedOutput prepared =
            prepare_output(file, options.overwrite, command.makes_files() && options.to != "sqlite" ? asides : 0);
        needed.named_in.push_back(prepared.folder);
        needed.replaces = needed.replaces || prepared.removes;
    }
    return true;
}

// Before anything is read: what a run has no need of is given up (sandbox.hpp).
void give_up_rights(const Options& options, const Command& command) {
    if (!sandbox_allowed()) return stay_outside("the process is for other runs as well");
    if (command.divided) return;
    StillNeeded needed;
    // Those that name their inputs later, or find them in folders.
    const bool any_inputs = command.arguments[0].kind == ArgumentKind::path;
    needed.other_processes = options.inputs.empty() && !any_inputs;
    std::size_t files = 0;
    for (const std::string& input : options.inputs) {
        if (process_named(input)) needed.other_processes = true;
        else ++files;
    }
    if (!options.since.empty()) ++files;
    if (!prepare_files(options, command, needed)) return stay_outside("the folder can't be made");
    constexpr std::size_t most = 64;  // of inputs that one question is about
    if (any_inputs || files > most) bytes::lend_temporary_files();
    else bytes::reserve_temporary_files(files);
    if (!options.no_pager) prepare_pager();
    enter_sandbox(needed);
}

// Whether a process of the system is called as those of the VM are.
bool is_vm(std::uint32_t pid) {
    std::ifstream file(fmt::format("/proc/{}/comm", pid));
    std::string name;
    return std::getline(file, name) && name.starts_with("beam");
}

// "proc 0.89.0 erl_crash.dump": there is the file, in the place of the process.
Status input_comes_first(const Options& options, const Command& command) {
    if (options.inputs.size() != 2 || command.arguments[0].kind != ArgumentKind::input ||
        command.arguments[1].kind == ArgumentKind::input || command.arguments[1].kind == ArgumentKind::path)
        return ok();
    std::error_code ignored;
    const std::string &first = options.inputs[0], &second = options.inputs[1];
    const std::optional<std::uint32_t> pid = process_named(first);  // "621" may be meant as one of Erlang
    if (first == "-" || std::filesystem::exists(first, ignored) || (pid && is_vm(*pid)) ||
        !std::filesystem::is_regular_file(second, ignored))
        return ok();
    return Error{
        ErrorCode::usage, fmt::format("{}: no such file; the input comes first", first),
        fmt::format("beamheap {} {} {}", command.name, present::shell_word(second), present::shell_word(first))};
}

// "top erl_crash.dump 0.89.0": what the second argument is, if it is a process, has verbs of its own.
std::string command_about_one(const Options& options, const Command& command) {
    if (options.inputs.size() != 2 || command.most() != 1 || command.arguments[0].kind != ArgumentKind::input)
        return {};
    const std::string& process = options.inputs[1];
    if (process.find_first_not_of("<>.0123456789#PID") != std::string::npos) return {};
    return fmt::format("beamheap proc {} {}", present::shell_word(options.inputs[0]), present::shell_word(process));
}

// `whole`: the program runs for this alone. `taker` gets the answer in place of standard output, where it is given, and
// `progress` what is told of opening; it shows the answer as it is.
Status run_command(const Options& options, const LoadedInput* loaded, const AnswerTaker* taker = nullptr,
                   bool whole = false, const Progress* progress = nullptr) {
    const Command& command = *find_command(options.verb);
    if (const std::string meant = command_about_one(options, command); !meant.empty())
        return Error{ErrorCode::usage,
                     fmt::format("{} takes no process; what is known of one is told by proc", command.name), meant};
    if (options.inputs.size() < command.least() || options.inputs.size() > command.most())
        return Error{
            ErrorCode::usage,
            fmt::format("{} {}", command.name,
                        options.inputs.size() < command.least() ? "needs more arguments" : "takes fewer arguments"),
            usage_line(command, !whole)};
    BH_CHECK(input_comes_first(options, command));
    BH_CHECK(note_what_is_read(options, command, taker != nullptr));
    if (whole) give_up_rights(options, command);
    // A file that was made and not asked for goes, whatever ends the run.
    struct Forget {
        ~Forget() { forget_prepared_outputs(); }
    } const forget;
    bytes::forget_failed_reads();
    try {
        Context context(options, loaded, taker);
        if (taker != nullptr) context.answer_a_reader();
        if (!whole) context.answer_one_of_many();
        if (progress != nullptr) context.tell_progress(*progress);
        const Status status = command.run(context), read = bytes::failed_read();
        if (status) return read;
        // What could not be read for lack of memory is not what is wrong with the input.
        const bool no_memory = !read && read.error().code == ErrorCode::resource_limit;
        const ErrorCode code = status.error().code;
        const bool of_input = code == ErrorCode::unreadable || code == ErrorCode::not_recognised;
        return context.redacted(no_memory && of_input ? read.error() : status.error());
    } catch (const present::AnswerTooLong& error) {
        return Error{ErrorCode::resource_limit, error.what(), {}};
    }
}

// To people as text, to programs as the rows themselves.
Status print_help(const Options& options) {
    const Command* const verb = options.verb.empty() ? nullptr : find_command(options.verb);
    const Context context(options);
    if (options.format == "man") return print_text(man_page());
    if (context.for_people())
        return print_text(fit_to_terminal(verb == nullptr ? help_text() : help_text(*verb)), !options.no_pager);
    return context.print(help_document());
}

Status dispatch(int argc, char** argv) {
    BH_TRY(Options options, parse_options(argc, argv));
    if (argc == 1 && std::filesystem::exists(dump_by_default))
        return Error{
            ErrorCode::usage, fmt::format("there is {} in this folder", dump_by_default),
            fmt::format("beamheap {} says what happened; beamheap --help what else can be asked", dump_by_default)};
    if (options.version)
        return print_text("beamheap " BEAMHEAP_VERSION " (crash dumps of Erlang/OTP R10B to 29, core images of " +
                          otp::releases_read() + ")\n");
    if (options.help) return print_help(options);
    BH_CHECK(find_named_nodes(options, *find_command(options.verb)));
    return run_command(options, nullptr, nullptr, true);
}

}  // namespace

std::string_view name_of(ArgumentKind kind) {
    switch (kind) {
        case ArgumentKind::input: return "input";
        case ArgumentKind::executable: return "executable";
        case ArgumentKind::path: return "path";
        case ArgumentKind::process: return "process";
        case ArgumentKind::address: return "address";
        case ArgumentKind::table: return "table";
        case ArgumentKind::function: return "function";
        case ArgumentKind::topic: return "topic";
        case ArgumentKind::shell: return "shell";
        case ArgumentKind::query: return "query";
    }
    return {};
}

const Argument& Command::argument_of(std::size_t i, std::size_t given) const {
    std::size_t named = 0;
    while (named < arguments.size() && !arguments[named].name.empty()) ++named;
    const auto found = std::ranges::find(arguments, true, &Argument::repeated);
    const auto repeated = static_cast<std::size_t>(found - arguments.begin());
    if (i <= repeated) return arguments[std::min(i, arguments.size() - 1)];
    const std::size_t behind = named - repeated - 1, left = given - i;  // this word among them
    return left <= behind ? arguments[named - left] : arguments[repeated];
}

std::size_t Command::least() const {
    std::size_t needed = 0;
    for (const Argument& each : arguments)
        if (!each.name.empty() && !each.optional) ++needed;
    return needed;
}

std::size_t Command::most() const {
    constexpr std::size_t any_number = 10'000;
    std::size_t taken = 0;
    for (const Argument& each : arguments)
        if (!each.name.empty()) taken = each.repeated ? any_number : taken + 1;
    return taken;
}

bool Command::takes(ArgumentKind kind) const {
    return std::ranges::any_of(arguments, [=](const Argument& a) { return !a.name.empty() && a.kind == kind; });
}

std::string Command::usage() const {
    std::string text;
    for (const Argument& each : arguments) {
        if (each.name.empty()) break;
        if (!text.empty()) text += ' ';
        text += fmt::format("{}{}{}{}", each.optional ? "[" : "", each.name, each.repeated ? "..." : "",
                            each.optional ? "]" : "");
    }
    return text;
}

std::string usage_line(const Command& command, bool in_session) {
    constexpr std::string_view input = "INPUT";
    std::string arguments = command.usage();
    if (!in_session || !command.takes_input()) return fmt::format("usage: beamheap {} {}", command.name, arguments);
    if (arguments.starts_with(input)) arguments.erase(0, input.size());
    return fmt::format("usage: {}{}", command.name, arguments);
}

std::span<const Command* const> commands() { return table; }

const Command* find_command(std::string_view name) {
    const auto found = std::ranges::find(table, name, [](const Command* each) { return each->name; });
    return found == table.end() ? nullptr : *found;
}

// The options of a question of a session: the input's path is put behind the verb.
static Result<Options> options_of(std::vector<std::string> words, const Options& session) {
    if (find_command(words.front())->takes_input()) words.insert(words.begin() + 1, session.inputs.front());
    words.insert(words.begin(), "beamheap");
    return parse_options(std::move(words), session);
}

// A VM that runs is read again for each question, as far as that needs.
static Status answer_about(const Options& options, LoadedInput& loaded, const AnswerTaker* taker) {
    const bool runs = loaded.artifact->snapshot().source.live.has_value();
    const Status status = run_command(options, runs ? nullptr : &loaded, taker);
    loaded.forget_answers();
    return status;
}

static void show_help(const std::string& text, const Options& shell) {
    if (const Status shown = print_text(fit_to_terminal(text), !shell.no_pager); !shown) report(shown.error());
}

void run_words(std::vector<std::string> words, const Options& shell, LoadedInput& loaded) {
    if (words.front() == "help") {
        std::string text;
        const Command* about = words.size() > 1 ? find_command(words[1]) : nullptr;
        if (about != nullptr) text = help_text(*about, true);
        else
            for (const Command* each : table)
                if (!each->alone) text += fmt::format("  {:<12}{}\n", each->name, each->summary);
        return show_help(text, shell);
    }
    const Command* command = find_command(words.front());
    if (command == nullptr || command->alone) {
        std::vector<std::string_view> verbs;
        for (const Command* each : table)
            if (!each->alone) verbs.push_back(each->name);
        std::string advice = present::did_you_mean(words.front(), verbs);
        if (advice.empty()) advice = fmt::format("There are: {} quit", fmt::join(verbs, " "));
        return report({ErrorCode::usage, fmt::format("the shell has no verb '{}'", words.front()), advice});
    }
    auto options = options_of(std::move(words), shell);
    if (!options) return report(options.error());
    if (options->help) return show_help(help_text(*command, true), shell);
    if (const Status status = answer_about(*options, loaded, nullptr); !status) report(status.error());
}

// Whether somebody who takes an answer may ask that: it is one, it writes nothing, and it reads what it names. The
// standard input is another program's where it has loaded the library.
static Status can_be_taken(const Options& options) {
    for (const GivenOption& each : options.given) {
        if (each.row->beside)
            return Error{
                ErrorCode::usage,
                fmt::format("{} writes files or goes on without end: it gives no answer here", each.row->long_name()),
                {}};
        if (is_guest() && !each.row->reads.empty() && each.value == "-")
            return Error{ErrorCode::usage, "standard input is the process's own", "Name a file."};
    }
    if (is_guest() && std::ranges::find(options.inputs, "-") != options.inputs.end())
        return Error{ErrorCode::usage, "standard input is the process's own", "Name a file."};
    return ok();
}

// Those of a question that is answered by tables. Errors: usage.
static Result<Options> options_of_question(std::vector<std::string> words, const Options& session) {
    const Command* command = words.empty() ? nullptr : find_command(words.front());
    if (command == nullptr || command->alone || command->writes)
        return Error{ErrorCode::usage, fmt::format("no answer of '{}' can be shown here", fmt::join(words, " ")), {}};
    BH_TRY(Options options, options_of(std::move(words), session));
    BH_CHECK(can_be_taken(options));
    return options;
}

Status take_answer(std::vector<std::string> words, const Options& session, LoadedInput& loaded,
                   const AnswerTaker& taker) {
    BH_TRY(const Options options, options_of_question(std::move(words), session));
    return answer_about(options, loaded, &taker);
}

Status take_answer_alone(std::vector<std::string> words, const Options& session, const AnswerTaker& taker,
                         const Progress& progress) {
    BH_TRY(const Options options, options_of_question(std::move(words), session));
    return run_command(options, nullptr, &taker, false, &progress);
}

Status take_answer_of(std::vector<std::string> line, const Options& session, const AnswerTaker& taker) {
    const Command* command = line.empty() ? nullptr : find_command(line.front());
    if (command == nullptr || command->writes || command->session || command->divided)
        return Error{ErrorCode::usage,
                     command == nullptr ? fmt::format("there is no verb '{}'", line.empty() ? "" : line.front())
                                        : fmt::format("{} has no answer that can be given here", command->name),
                     {}};
    line.insert(line.begin(), "beamheap");
    BH_TRY(Options options, parse_options(std::move(line), session));
    BH_CHECK(can_be_taken(options));
    BH_CHECK(find_named_nodes(options, *command));
    return run_command(options, nullptr, &taker);
}

int exit_code(ErrorCode code) {
    switch (code) {
        case ErrorCode::findings: return 1;
        case ErrorCode::usage:
        case ErrorCode::not_held: return 2;
        case ErrorCode::unreadable:
        case ErrorCode::not_recognised: return 3;
        case ErrorCode::damaged: return 4;
        case ErrorCode::resource_limit: return 5;
        case ErrorCode::interrupted: return 130;
    }
    return 3;
}

// Runs something to its end, with a sentence for whatever that is.
static int reported(const std::function<Status()>& what) {
    try {
        try {
            const Status status = what();
            if (status) return 0;
            report(status.error());
            return exit_code(status.error().code);
        } catch (const std::bad_alloc&) {
            return report_no_memory();
        } catch (const std::system_error& error) {
            report({ErrorCode::resource_limit, fmt::format("the system gives no more: {}", error.what()),
                    "Threads take memory and are counted (ulimit -u, -v); --threads 1 asks for the fewest."});
            return exit_code(ErrorCode::resource_limit);
        } catch (const std::exception& error) {
            report({ErrorCode::resource_limit, error.what(), {}});
            return exit_code(ErrorCode::resource_limit);
        }
    } catch (const std::exception&) {  // the sentence of another error had no room
        return report_no_memory();
    }
}

int run_alone(const Options& options, const AnswerTaker* taker) {
    return reported([&]() -> Status {
        Status status = run_command(options, nullptr, taker, true);
        if (status || options.shown_as.empty()) return status;
        Error error = status.error();  // by the name that people know the input by
        const std::string& opened = options.inputs.front();
        if (error.message.starts_with(opened)) error.message.replace(0, opened.size(), options.shown_as);
        return error;
    });
}

int run(int argc, char** argv) {
    install_signal_handlers();
    std::set_terminate(&end_without_catching);
    return reported([=] { return dispatch(argc, argv); });
}

}  // namespace beamheap::cli
