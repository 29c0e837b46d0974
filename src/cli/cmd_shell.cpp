// SPDX-License-Identifier: Apache-2.0
// shell: loads an input once, then answers verbs line by line.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bytes/read_files.hpp"
#include "cli/commands.hpp"
#include "cli/pager.hpp"
#include "cli/terminal.hpp"
#include "present/sanitise.hpp"
#include "present/units.hpp"

#ifdef BEAMHEAP_LINE_EDITING
#include <editline/readline.h>
#endif

namespace beamheap::cli {
namespace {

/// A line: the words of a question, and where its answer goes.
struct Line {
    std::vector<std::string> words;
    std::string command;  ///< after "|": given to sh, which reads the answer; empty: none
    std::string file;     ///< after ">" or ">>"; empty: none
    bool append = false;
};

/// Takes a line apart. Words are separated by blanks, '...' and "..." hold one together; "|", ">" and ">>" mean what
/// they mean to sh, but only as words of their own, so that msgq>10 needs no quotes. Errors (usage): a quote that is
/// not closed, nothing or too much after a sign.
Result<Line> parse_line(std::string_view text) {
    Line line;
    std::string word;
    bool within = false;
    bool plain = true;  // nothing of the word was quoted
    char quote = 0;
    bool to_file = false;
    std::size_t at = 0;
    const auto end_word = [&]() -> Status {
        if (!within) return ok();
        if (to_file && !line.file.empty())
            return Error{ErrorCode::usage, "one file is what an answer can be written to", {}};
        if (plain && (word == ">" || word == ">>")) {
            if (to_file) return Error{ErrorCode::usage, "one file is what an answer can be written to", {}};
            to_file = true;
            line.append = word == ">>";
        } else if (to_file) {
            line.file = std::move(word);
        } else {
            line.words.push_back(std::move(word));
        }
        word.clear();
        within = false;
        plain = true;
        return ok();
    };
    for (; at < text.size(); ++at) {
        const char c = text[at];
        const bool blank_follows = at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\t';
        if (quote != 0) {
            if (c == quote) quote = 0;
            else word += c;
        } else if (c == '\'' || c == '"') {
            quote = c;
            within = true;
            plain = false;
        } else if (c == ' ' || c == '\t') {
            BH_CHECK(end_word());
        } else if (c == '|' && !within && blank_follows) {
            line.command = text.substr(at + 1);
            if (line.command.find_first_not_of(" \t") == std::string::npos)
                return Error{ErrorCode::usage, "a command is missing after '|'", {}};
            break;
        } else {
            word += c;
            within = true;
        }
    }
    if (quote != 0) return Error{ErrorCode::usage, "a quote is not closed", {}};
    BH_CHECK(end_word());
    if (to_file && line.file.empty()) return Error{ErrorCode::usage, "the name of a file is missing after '>'", {}};
    return line;
}

// The end of the pipe to the command that reads an answer; -1: none.
int reader_pipe = -1;

// Ctrl-C in the child that answers: the command that reads the answer may be a pager, which takes the key for itself
// and stays on the terminal until it is told to go.
extern "C" void stop_answering(int) {
    if (pager_takes_interrupt()) return;
    if (reader_pipe >= 0) {
        ::close(STDOUT_FILENO);
        ::close(reader_pipe);
        while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
        }
    }
    ::_exit(exit_code(ErrorCode::interrupted));
}

void complain(const Error& error) {
    FileSink(STDERR_FILENO).write("beamheap: " + present::safe_text(error.message) + '\n');
}

/// Standard output goes to a command or a file for as long as this lives.
class Redirection {
public:
    Redirection() = default;
    Redirection(const Redirection&) = delete;
    Redirection& operator=(const Redirection&) = delete;
    ~Redirection() { restore(); }

    Status begin(const Line& line) {
        int target = -1;
        if (!line.file.empty()) {
            target = ::open(line.file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (line.append ? O_APPEND : 0), 0600);
            if (target < 0)
                return Error{ErrorCode::unreadable,
                             fmt::format("{}: can't be written: {}", line.file, std::strerror(errno)),
                             {}};
            if (const std::string_view role = bytes::read_as(target); !role.empty()) {
                ::close(target);
                return Error{ErrorCode::usage, fmt::format("{}: is {}, which would be lost", line.file, role),
                             "Name another file."};
            }
            if (struct stat status{};
                !line.append && ::fstat(target, &status) == 0 && S_ISREG(status.st_mode) && ::ftruncate(target, 0) != 0)
                complain({ErrorCode::unreadable, fmt::format("{}: {}", line.file, std::strerror(errno)), {}});
        } else if (!line.command.empty()) {
            reader_ = ::popen(line.command.c_str(), "we");
            if (reader_ == nullptr)
                return Error{ErrorCode::resource_limit, fmt::format("sh: {}", std::strerror(errno)), {}};
            reader_pipe = ::fileno(reader_);
            target = ::dup(reader_pipe);
        } else {
            return ok();
        }
        saved_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        ::dup2(target, STDOUT_FILENO);
        ::close(target);
        return ok();
    }

private:
    void restore() {
        if (saved_ >= 0) {
            ::dup2(saved_, STDOUT_FILENO);
            ::close(saved_);
        }
        if (reader_ != nullptr) ::pclose(reader_);  // after the last writer is gone, so that it sees the end
        reader_pipe = -1;
    }
    int saved_ = -1;
    FILE* reader_ = nullptr;
};

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
    char* buffer_ = nullptr;
    std::size_t capacity_ = 0;
};

/// Answers one line. For people at a terminal a child process does it, on memory that it shares until one of the two
/// writes to it: Ctrl-C ends that child, and the loaded input stays.
void answer(Line line, const Context& context, LoadedInput& loaded, bool in_child) {
    const auto run_here = [&] {
        Redirection redirection;
        if (const Status begun = redirection.begin(line); !begun) return complain(begun.error());
        run_words(std::move(line.words), context.options(), loaded);
    };
    const pid_t child = in_child ? ::fork() : -1;
    if (child < 0) return run_here();
    if (child == 0) {
        ::signal(SIGINT, &stop_answering);
        run_here();
        ::_exit(0);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) {
        if (WEXITSTATUS(status) != 0) FileSink(STDOUT_FILENO).write("\n");
        return;
    }
    complain({ErrorCode::resource_limit, fmt::format("the answer was ended by signal {}", WTERMSIG(status)), {}});
}

}  // namespace

static Status cmd_shell(const Context& context) {
    if (context.argument(0) == "-")
        return Error{ErrorCode::usage, "shell: the input can't be standard input, where the questions come from", {}};
    BH_TRY(LoadedInput loaded, load_for_questions(context, context.argument(0)));
    const std::shared_ptr<Artifact>& artifact = loaded.artifact;
    const present::Names names = context.names(artifact->snapshot());
    std::vector<std::string> words;
    for (const Command* command : commands()) words.emplace_back(command->name);
    for (const Process& process : artifact->snapshot().processes)
        if (process.name != TextId::none) words.push_back(present::safe_text(names.bare(process.name)));
    Lines lines(std::move(words));
    const std::string_view read = artifact->snapshot().source.live ? "; each question reads the VM as it is then" : "";
    if (lines.terminal()) {
        struct sigaction action {};
        action.sa_handler = &note_interrupt;
        sigemptyset(&action.sa_mask);
        ::sigaction(SIGINT, &action, nullptr);
        FileSink(STDOUT_FILENO)
            .write(fmt::format("{}{}; verbs are given without INPUT, `help` lists them, `quit` ends.\n",
                               present::counted(artifact->snapshot().processes.size(), "process", "processes"), read));
    }
    for (std::string line; lines.next(line);) {
        auto parsed = parse_line(line);
        if (!parsed) {
            complain(parsed.error());
            continue;
        }
        if (parsed->words.empty()) continue;
        std::string& verb = parsed->words.front();
        if (verb == "?") verb = "help";
        if (verb == "quit" || verb == "exit" || verb == "q") break;
        answer(std::move(*parsed), context, loaded, lines.terminal());
    }
    return ok();
}

BH_DEFINE_VERB(shell){
    .name = "shell",
    .arguments = {argument::input},
    .summary = "loads an input once and answers many questions about it",
    .details =
        "Verbs are given without INPUT: `top -n 5`, `proc 0.89.0`, `why 7FEDD8C3E990`. `top | less` and\n"
        "`top > FILE` work as in sh, with blanks around the sign. On a terminal Ctrl-C ends an answer, the tab key\n"
        "completes verbs and names of processes. Ends with `quit` or Ctrl-D. A running VM is read anew for each "
        "question.",
    .examples = "shell erl_crash.dump",
    .alone = true,
    .session = true,
    .run = &cmd_shell,
};

}  // namespace beamheap::cli
