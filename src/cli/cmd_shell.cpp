// shell: loads an input once, then answers verbs line by line.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "present/units.hpp"

#ifdef BEAMHEAP_LINE_EDITING
#include <editline/readline.h>
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

/// Lines of standard input: edited and remembered on a terminal.
class Lines {
public:
    Lines() : terminal_(is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO)) {}
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

Status cmd_shell(const Context& context) {
    if (context.argument(0) == "-")
        return Error{ErrorCode::usage, "shell: the input can't be standard input, where the questions come from", {}};
    LoadPlan plan;
    plan.tables = plan.links = plan.stacks = plan.labels = plan.atoms = plan.modules = plan.to_the_end = true;
    plan.terms = plan.binaries = true;
    BH_TRY(const std::unique_ptr<Artifact> artifact, context.open(plan));
    Lines lines;
    if (lines.terminal())
        FileSink(STDOUT_FILENO)
            .write(fmt::format("{}; verbs are given without INPUT, `help` lists them, `quit` ends.\n",
                               present::counted(artifact->snapshot().processes.size(), "process", "processes")));
    for (std::string line; lines.next(line);) {
        std::vector<std::string> words;
        if (!split_words(line, words)) {
            FileSink(STDERR_FILENO).write("beamheap: a quote is not closed\n");
            continue;
        }
        if (words.empty()) continue;
        if (words.front() == "quit" || words.front() == "exit" || words.front() == "q") break;
        run_words(std::move(words), context.options(), *artifact);
    }
    return ok();
}

}  // namespace beamheap::cli
