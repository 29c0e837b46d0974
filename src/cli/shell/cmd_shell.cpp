// SPDX-License-Identifier: Apache-2.0
// shell: loads an input once, then answers verbs line by line.
//
// By two processes. One talks to its user: it reads lines, opens files and starts programs that stand behind ">" and
// "|", and never sees a byte of the input. The other one reads the input and answers, and may do nothing else
// (sandbox.hpp); what it is given for each question is words, and where to write.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytes/read_files.hpp"
#include "bytes/spool.hpp"
#include "cli/console/pager.hpp"
#include "cli/console/sandbox.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/frame/link.hpp"
#include "cli/shell/line_history.hpp"
#include "cli/shell/shell_words.hpp"
#include "formats/format.hpp"
#include "present/sanitise.hpp"
#include "present/units.hpp"

#ifdef BEAMHEAP_LINE_EDITING
#include <editline/readline.h>
#endif

namespace beamheap::cli {
namespace {

using namespace std::string_literals;

/// A line: the words of a question, and where its answer goes.
struct Line {
    std::vector<std::string> words;
    std::string command;  ///< after "|": given to sh, which reads the answer; empty: none
    std::string file;     ///< after ">" or ">>"; empty: none
    bool append = false;
};

/// Takes a line apart, in words as shell_words.hpp has them; "|", ">" and ">>" mean what they mean to sh, but only as
/// words of their own, so that msgq>10 needs no quotes. Errors (usage): a quote that is not closed, nothing or too much
/// after a sign.
Result<Line> parse_line(std::string_view text) {
    Line line;
    if (auto query = query_of_line(text)) {
        line.words = {"sql", std::move(*query)};
        return line;
    }
    bool to_file = false;
    ShellWords words(text);
    for (;;) {
        BH_TRY(std::optional<ShellWord> word, words.next());
        if (!word) break;
        if (word->plain && word->text == "|") {
            line.command = words.rest();
            if (line.command.find_first_not_of(" \t") == std::string::npos)
                return Error{ErrorCode::usage, "a command is missing after '|'", {}};
            break;
        }
        if (to_file && !line.file.empty())
            return Error{ErrorCode::usage, "one file is what an answer can be written to", {}};
        if (word->plain && (word->text == ">" || word->text == ">>")) {
            if (to_file) return Error{ErrorCode::usage, "one file is what an answer can be written to", {}};
            to_file = true;
            line.append = word->text == ">>";
        } else if (to_file) {
            line.file = std::move(word->text);
        } else {
            line.words.push_back(std::move(word->text));
        }
    }
    if (to_file && line.file.empty()) return Error{ErrorCode::usage, "the name of a file is missing after '>'", {}};
    return line;
}

// Ctrl-C in the child that answers: a pager may take the key for itself, and stays on the terminal until it is told to
// go.
extern "C" void stop_answering(int) {
    if (pager_takes_interrupt()) return;
    ::_exit(exit_code(ErrorCode::interrupted));
}

void complain(const Error& error) {
    FileSink(STDERR_FILENO).write("beamheap: " + present::safe_text(error.message) + '\n');
}

#ifdef BEAMHEAP_LINE_EDITING
// What the tab key completes. The library calls back without a context of ours, so this is the program's only one.
std::vector<std::string> completions;

char* complete(const char* begun, int state) {
    static std::size_t next = 0;
    if (state == 0) next = 0;
    while (next < completions.size()) {
        const std::string& word = completions[next++];
        if (word.starts_with(begun)) return ::strdup(word.c_str());
    }
    return nullptr;
}
#endif

volatile std::sig_atomic_t interrupted = 0;
extern "C" void note_interrupt(int) { interrupted = 1; }

/// Lines of standard input: edited and remembered on a terminal, where the tab key completes `words`.
class Lines {
public:
    explicit Lines(std::vector<std::string> words)
        : terminal_(is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO)) {
#ifdef BEAMHEAP_LINE_EDITING
        completions = std::move(words);
        rl_completion_entry_function = complete;
        if (!terminal_) return;
        history_ = LineHistory::open();
        for (const std::string& line : history_.lines()) add_history(line.c_str());
#else
        static_cast<void>(words);
#endif
    }
    ~Lines() { std::free(buffer_); }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    /// False at the end of the input. On a terminal Ctrl-C takes back what was typed: an empty line.
    bool next(std::string& line) {
#ifdef BEAMHEAP_LINE_EDITING
        if (terminal_) {
            interrupted = 0;
            char* text = readline("beamheap> ");
            if (text == nullptr) {
                if (interrupted == 0) return false;
                FileSink(STDOUT_FILENO).write("\n");
                line.clear();
                return true;
            }
            line = text;
            std::free(text);
            if (!line.empty()) add_history(line.c_str());
            history_.add(line);
            return true;
        }
#endif
        if (terminal_) FileSink(STDOUT_FILENO).write("beamheap> ");
        interrupted = 0;
        const ssize_t size = getline(&buffer_, &capacity_, stdin);
        if (size < 0) {
            if (interrupted == 0) return false;
            std::clearerr(stdin);
            FileSink(STDOUT_FILENO).write("\n");
            line.clear();
            return true;
        }
        line.assign(buffer_, static_cast<std::size_t>(size));
        while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
        return true;
    }
    bool terminal() const { return terminal_; }

private:
    bool terminal_;
    LineHistory history_;
    char* buffer_ = nullptr;
    std::size_t capacity_ = 0;
};

// What the processes say to one another: fields, of which the first is what is said. To the one that reads: "ask" with
// a question's words and a descriptor for its answer; "page" with the pager's number in front of them and its two ends;
// "role" with a descriptor: what is this file read as? From it: "loaded" with what is said to people and the words to
// complete, "failed" with an error's members, "answered", "interrupted", "role" with the answer.

// ---- the process that reads

/// Answers one question. For people at a terminal a child process does it, on memory that it shares until one of the
/// two writes to it: Ctrl-C ends that child, and the loaded input stays.
std::string answer(DescriptorLink::Message asked, const Context& context, LoadedInput& loaded, bool in_child) {
    std::vector<std::string> words = fields_of(asked.text);
    const std::string what = words.front();
    words.erase(words.begin());
    const auto run_here = [&] {
        int saved = -1;
        if (what == "page" && asked.descriptors.size() == 2 && !words.empty()) {
            adopt_pager({static_cast<pid_t>(std::strtol(words.front().c_str(), nullptr, 10)), asked.descriptors[0],
                         asked.descriptors[1]});
            asked.descriptors.clear();
            words.erase(words.begin());
        } else if (!asked.descriptors.empty()) {
            saved = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
            ::dup2(asked.descriptors.front(), STDOUT_FILENO);
            ::close(asked.descriptors.front());
            asked.descriptors.clear();
        }
        if (!words.empty()) run_words(std::move(words), context.options(), loaded);
        if (saved < 0) return;
        ::dup2(saved, STDOUT_FILENO);
        ::close(saved);
    };
    const pid_t child = in_child ? ::fork() : -1;
    if (child < 0) {
        run_here();
        return "answered";
    }
    if (child == 0) {
        ::signal(SIGINT, &stop_answering);
        run_here();
        ::_exit(0);
    }
    for (const int descriptor : asked.descriptors) ::close(descriptor);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? "answered" : "interrupted";
    complain({ErrorCode::resource_limit, fmt::format("the answer was ended by signal {}", WTERMSIG(status)), {}});
    return "answered";
}

Status serve(const Context& context, const DescriptorLink& user, bool terminal) {
    BH_TRY(LoadedInput loaded, load_for_questions(context, context.argument(0)));
    const Snapshot& snapshot = loaded.artifact->snapshot();
    const present::Names names = context.names(snapshot);
    std::vector<std::string> said{
        "loaded", fmt::format("{}{}; verbs are given without INPUT, `help` lists them, `quit` ends.",
                              present::counted(snapshot.processes.size(), "process", "processes"),
                              snapshot.source.live ? "; each question reads the VM as it is then" : "")};
    for (const Process& process : snapshot.processes)
        if (terminal && process.name != TextId::none) said.push_back(present::safe_text(names.bare(process.name)));
    if (terminal) ::signal(SIGINT, SIG_IGN);  // it ends an answer
    if (!user.send(joined(said))) return ok();
    for (DescriptorLink::Message asked; user.receive(asked);) {
        if (fields_of(asked.text).front() == "role") {
            const std::string_view role =
                asked.descriptors.empty() ? std::string_view() : bytes::read_as(asked.descriptors.front());
            for (const int descriptor : asked.descriptors) ::close(descriptor);
            if (!user.send(joined({"role", std::string(role)}))) break;
            continue;
        }
        if (!user.send(joined({answer(std::move(asked), context, loaded, terminal)}))) break;
    }
    return ok();
}

// What the input's reader gives up: everything, but that of a running VM questions may be answered to files.
[[noreturn]] void read_and_answer(const Context& context, const DescriptorLink& user, pid_t front, bool terminal) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != front) ::_exit(1);  // it ended before that was said
    if (sandbox_allowed()) {
        bytes::reserve_temporary_files(1);
        const bool runs = process_named(context.argument(0)).has_value();
        enter_sandbox({.other_processes = runs, .files_anywhere = runs});
    }
    Error error;
    try {
        const Status served = serve(context, user, terminal);
        if (served) ::_exit(0);
        error = served.error();
    } catch (const std::bad_alloc&) {
        error = {ErrorCode::resource_limit, "out of memory", "Copy the input to a machine with more memory."};
    } catch (const std::exception& thrown) {
        error = {ErrorCode::resource_limit, thrown.what(), {}};
    }
    (void)user.send(joined({"failed", std::to_string(static_cast<int>(error.code)), error.message, error.advice}));
    ::_exit(exit_code(error.code));
}

// ---- the process that talks

Error failure_of(const std::vector<std::string>& said) {
    if (said.size() != 4) return {ErrorCode::resource_limit, "what reads the input broke off", {}};
    for (const ErrorCode code : {ErrorCode::usage, ErrorCode::not_held, ErrorCode::unreadable,
                                 ErrorCode::not_recognised, ErrorCode::damaged, ErrorCode::interrupted})
        if (said[1] == std::to_string(static_cast<int>(code))) return {code, said[2], said[3]};
    return {ErrorCode::resource_limit, said[2], said[3]};
}

// What is to be said of a reader that is gone; it may have said why by itself (a file that shrank).
Status end_of(pid_t reader) {
    int status = 0;
    while (::waitpid(reader, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
        return Error{ErrorCode::resource_limit,
                     fmt::format("what reads the input was ended by signal {}", WTERMSIG(status)),
                     {}};
    for (const ErrorCode code : {ErrorCode::unreadable, ErrorCode::interrupted})
        if (WEXITSTATUS(status) == exit_code(code)) return Error{code, {}, {}};
    return Error{ErrorCode::resource_limit, "what reads the input broke off", {}};
}

/// Where an answer goes that is not for the screen: a file or a command, as long as this lives.
class Target {
public:
    Target() = default;
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;
    ~Target() { end(); }

    Status begin(const Line& line, const DescriptorLink& reader) {
        if (!line.file.empty()) {
            target_ = ::open(line.file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (line.append ? O_APPEND : 0), 0600);
            if (target_ < 0)
                return Error{ErrorCode::unreadable,
                             fmt::format("{}: can't be written: {}", line.file, std::strerror(errno)),
                             {}};
            std::string role(bytes::read_as(target_));
            DescriptorLink::Message said;  // who reads knows more: executables, debug information
            if (role.empty() && reader.send("role\0"s, {target_}) && reader.receive(said))
                if (const std::vector<std::string> told = fields_of(said.text);
                    told.front() == "role" && told.size() == 2)
                    role = present::safe_text(told[1]);
            if (!role.empty())
                return Error{ErrorCode::usage, fmt::format("{}: is {}, which would be lost", line.file, role),
                             "Name another file."};
            if (struct stat status{}; !line.append && ::fstat(target_, &status) == 0 && S_ISREG(status.st_mode) &&
                                      ::ftruncate(target_, 0) != 0)
                complain({ErrorCode::unreadable, fmt::format("{}: {}", line.file, std::strerror(errno)), {}});
        } else if (!line.command.empty()) {
            reader_ = ::popen(line.command.c_str(), "we");
            if (reader_ == nullptr)
                return Error{ErrorCode::resource_limit, fmt::format("sh: {}", std::strerror(errno)), {}};
            target_ = ::dup(::fileno(reader_));
        }
        return ok();
    }
    /// -1: the screen.
    int descriptor() const { return target_; }

private:
    void end() {
        if (target_ >= 0) ::close(target_);
        if (reader_ != nullptr) ::pclose(reader_);  // after the last writer is gone, so that it sees the end
    }
    int target_ = -1;
    FILE* reader_ = nullptr;
};

// Has a question answered; false: nobody answers any more, and `told` is what was said last.
bool ask(Line line, const DescriptorLink& reader, bool paged, std::vector<std::string>& told) {
    std::optional<Target> target(std::in_place);
    if (const Status begun = target->begin(line, reader); !begun) {
        complain(begun.error());
        return true;
    }
    line.words.insert(line.words.begin(), "ask");
    std::vector<int> descriptors;
    std::optional<WaitingPager> pager;
    if (target->descriptor() >= 0) descriptors.push_back(target->descriptor());
    else if (paged) pager = start_waiting_pager();
    if (pager) {
        line.words.front() = std::to_string(pager->pid);
        line.words.insert(line.words.begin(), "page");
        descriptors = {pager->answer, pager->begin};
    }
    const bool sent = reader.send(joined(line.words), descriptors);
    if (pager) ::close(pager->answer), ::close(pager->begin);
    DescriptorLink::Message said;
    const bool answered = sent && reader.receive(said);
    told = fields_of(said.text);
    const std::string& outcome = told.front();
    target.reset();
    while (pager && ::waitpid(pager->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (outcome == "interrupted") FileSink(STDOUT_FILENO).write("\n");
    return answered && (outcome == "answered" || outcome == "interrupted");
}

// What is to be said where nobody answers any more. What still waits for a question sees the end of them.
Status broken_off(DescriptorLink& reader, pid_t pid, const std::vector<std::string>& told) {
    reader.close();
    const Status ended = end_of(pid);
    return told.front() == "failed" ? Status(failure_of(told)) : ended;
}

Status talk(const Context& context, DescriptorLink& reader, pid_t pid, bool terminal) {
    DescriptorLink::Message said;
    const bool loaded = reader.receive(said);
    std::vector<std::string> told = fields_of(said.text);
    if (!loaded) return broken_off(reader, pid, {""});
    if (told.front() != "loaded" || told.size() < 2) {
        (void)end_of(pid);
        return failure_of(told);
    }
    std::vector<std::string> words;
    for (const Command* command : commands()) words.emplace_back(command->name);
    for (std::size_t i = 2; i < told.size(); ++i) words.push_back(present::safe_text(told[i]));
    Lines lines(std::move(words));
    if (terminal) {
        struct sigaction action {};
        action.sa_handler = &note_interrupt;
        sigemptyset(&action.sa_mask);
        ::sigaction(SIGINT, &action, nullptr);
        FileSink(STDOUT_FILENO).write(present::safe_text(told[1]) + '\n');
    }
    for (std::string line; lines.next(line);) {
        auto parsed = parse_line(line);
        if (!parsed) {
            complain(parsed.error());
            continue;
        }
        if (parsed->words.empty()) continue;
        parsed->words = words_of_question(std::move(parsed->words), context.argument(0));
        std::string& verb = parsed->words.front();
        if (verb == "?") verb = "help";
        if (verb == "quit" || verb == "exit" || verb == "q") break;
        if (!ask(std::move(*parsed), reader, terminal && !context.options().no_pager, told))
            return broken_off(reader, pid, told);
    }
    return ok();
}

}  // namespace

static Status cmd_shell(const Context& context) {
    if (context.argument(0) == "-")
        return Error{ErrorCode::usage, "shell: the input can't be standard input, where the questions come from", {}};
    const bool terminal = is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO);
    auto [reader, user] = DescriptorLink::make();
    const pid_t front = ::getpid();
    const pid_t pid = reader.good() ? ::fork() : -1;
    if (pid < 0)
        return Error{
            ErrorCode::resource_limit, fmt::format("the system gives no process: {}", std::strerror(errno)), {}};
    if (pid == 0) {
        reader.close();
        read_and_answer(context, user, front, terminal);
    }
    user.close();
    const Status talked = talk(context, reader, pid, terminal);
    reader.close();
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return talked;
}

BH_DEFINE_VERB(shell){
    .name = "shell",
    .arguments = {argument::input},
    .summary = "loads an input once and answers many questions about it",
    .details =
        "Verbs are given without INPUT: `top -n 5`, `proc 0.89.0`, `why 7FEDD8C3E990`. `top | less` and\n"
        "`top > FILE` work as in sh, with blanks around the sign; a line that begins with SELECT is a query and needs "
        "no\n"
        "quotes. On a terminal Ctrl-C ends an answer, the tab key completes verbs and names of processes, and lines "
        "are kept for\n"
        "the next time, but those with values in them, in ~/.local/state/beamheap/history: BEAMHEAP_HISTORY names "
        "another file,\n"
        "and, empty, none. Ends with `quit` or Ctrl-D. A running VM is read anew for each question.",
    .examples = "shell erl_crash.dump",
    .alone = true,
    .session = true,
    .divided = true,
    .run = &cmd_shell,
};

}  // namespace beamheap::cli
