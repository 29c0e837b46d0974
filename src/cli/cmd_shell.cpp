// shell: loads an input once, then answers verbs line by line.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "analyses/processes/waits.hpp"
#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "present/sanitise.hpp"
#include "present/units.hpp"

#ifdef BEAMHEAP_LINE_EDITING
#include <editline/readline.h>

#include <cstring>
#endif

namespace beamheap::cli {
namespace {

/// Words of a line: separated by blanks, \'...\' and "..." hold one together. False where a quote is not closed.
bool split_words(std::string_view line, std::vector<std::string>& words) {
    std::string word;
    bool within = false;
    char quote = 0;
    for (const char c : line) {
        if (quote != 0) {
            if (c == quote)
                quote = 0;
            else
                word += c;
        } else if (c == '\'' || c == '"') {
            quote = c;
            within = true;
        } else if (c == ' ' || c == '\t') {
            if (within) words.push_back(std::move(word));
            word.clear();
            within = false;
        } else {
            word += c;
            within = true;
        }
    }
    if (within) words.push_back(std::move(word));
    return quote == 0;
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

    /// False at the end of the input.
    bool next(std::string& line) {
#ifdef BEAMHEAP_LINE_EDITING
        if (terminal_) {
            char* text = readline("beamheap> ");
            if (text == nullptr) return false;
            line = text;
            std::free(text);
            if (!line.empty()) add_history(line.c_str());
            return true;
        }
#endif
        if (terminal_) FileSink(STDOUT_FILENO).write("beamheap> ");
        const ssize_t size = getline(&buffer_, &capacity_, stdin);
        if (size < 0) return false;
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

}  // namespace

static Status cmd_shell(const Context& context) {
    if (context.argument(0) == "-")
        return Error{ErrorCode::usage, "shell: the input can't be standard input, where the questions come from", {}};
    LoadPlan plan;
    plan.tables = plan.links = plan.stacks = plan.labels = plan.atoms = plan.modules = plan.to_the_end = true;
    plan.terms = plan.binaries = true;
    plan.slots_of = analyses::is_waiting_function;
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    LoadedInput loaded{context.argument(0), plan, artifact, artifact->snapshot().anomalies};
    const present::Names names = context.names(artifact->snapshot());
    std::vector<std::string> words;
    for (const Command* command : commands()) words.emplace_back(command->name);
    for (const Process& process : artifact->snapshot().processes)
        if (process.name != TextId::none) words.push_back(present::safe_text(names.bare(process.name)));
    Lines lines(std::move(words));
    if (lines.terminal())
        FileSink(STDOUT_FILENO)
            .write(fmt::format("{}; verbs are given without INPUT, `help` lists them, `quit` ends.\n",
                               present::counted(artifact->snapshot().processes.size(), "process", "processes")));
    for (std::string line; lines.next(line);) {
        std::vector<std::string> question;
        if (!split_words(line, question)) {
            FileSink(STDERR_FILENO).write("beamheap: a quote is not closed\n");
            continue;
        }
        if (question.empty()) continue;
        if (question.front() == "quit" || question.front() == "exit" || question.front() == "q") break;
        run_words(std::move(question), context.options(), loaded);
    }
    return ok();
}

BH_DEFINE_VERB(shell){
    .name = "shell",
    .arguments = {argument::input},
    .summary = "loads an input once and answers many questions about it",
    .details = "Verbs are given without INPUT: `top -n 5`, `proc 0.89.0`, `why 7FEDD8C3E990`. Ends with `quit` or Ctrl-D.",
    .examples = "shell erl_crash.dump",
    .alone = true,
    .session = true,
    .run = &cmd_shell,
};

}  // namespace beamheap::cli
