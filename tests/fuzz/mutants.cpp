// SPDX-License-Identifier: Apache-2.0
// Runs damaged inputs through the verbs, each input in a process of its own that is forked off this one.
//
//     mutants LINES SECONDS < PATHS
//
// Each line of standard input is a path. Of each input `analyze --full --json` is asked, and LINES more command lines,
// which ones follows from the input's bytes. One line goes to standard output for each input: its path, what became of
// it (`fine`, `hangs` for more than SECONDS in one command line, `signal N`, `exit N`), and `told` or `silent`: whether
// the answer has a warning that something was lost. What a process that fails printed goes to standard error.
//
//     mutants answers PID < PATHS
//
// Asks every main verb of each input, and those of one process about PID. One line for each: its path, `told` where any
// of the answers has a warning that something was lost, else `silent`, and a hash of each answer without its warnings
// and without what it says of its source (0: an error instead of an answer): with the same hashes two inputs have the
// same answers.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/whole_program.hpp"

namespace {

constexpr int told = 10;
constexpr int silent = 11;

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

[[noreturn]] void run(std::string_view bytes, std::size_t lines, unsigned seconds) {
    std::size_t sum = bytes.size();
    for (std::size_t i = 0; i < bytes.size(); i += 61) sum = sum * 31 + static_cast<unsigned char>(bytes[i]);
    alarm(seconds);
    const std::string answer = beamheap::fuzz::run_line(beamheap::fuzz::full_analysis, bytes);
    for (std::size_t i = 0; i < lines; ++i) {
        alarm(seconds);
        (void)beamheap::fuzz::run_line((sum + i) % beamheap::fuzz::lines(), bytes);
    }
    // No answer at all is an error with its sentence, and as good as a warning.
    const bool lost = answer.empty() || answer.find("\"severity\":\"data_loss\"") != std::string::npos;
    std::fflush(stdout);
    _exit(lost ? told : silent);
}

using Words = std::vector<std::string_view>;

const std::array<Words, 18> main_verbs{{{"analyze", "@", "--full"},
                                        {"top", "@", "-n", "0"},
                                        {"stacks", "@", "-n", "0"},
                                        {"ets", "@", "-n", "0"},
                                        {"ports", "@", "-n", "0"},
                                        {"timers", "@", "-n", "0"},
                                        {"atoms", "@", "-n", "0"},
                                        {"alloc", "@", "-n", "0"},
                                        {"schedulers", "@", "-n", "0"},
                                        {"nodes", "@"},
                                        {"modules", "@", "-n", "0"},
                                        {"tree", "@"},
                                        {"binaries", "@", "-n", "0"},
                                        {"waits", "@"},
                                        {"logs", "@"},
                                        {"proc", "@", "%process"},
                                        {"heap", "@", "%process"},
                                        {"msgs", "@", "%process", "-n", "0"}}};

/// `json` without the value of its first member `name`, which is an object or an array.
std::string without_member(std::string_view json, const std::string& name) {
    const std::size_t at = json.find("\"" + name + "\":");
    if (at == std::string_view::npos) return std::string(json);
    std::size_t depth = 0, end = at + name.size() + 3;
    bool text = false;
    for (; end < json.size(); ++end) {
        const char c = json[end];
        if (text && c == '\\') ++end;
        else if (c == '"') text = !text;
        else if (!text && (c == '{' || c == '[')) ++depth;
        else if (!text && (c == '}' || c == ']') && --depth == 0) break;
    }
    return std::string(json.substr(0, at)).append(json.substr(std::min(end + 1, json.size())));
}

[[noreturn]] void compare(std::string_view bytes, std::string_view process) {
    bool lost = false;
    for (const Words& verb : main_verbs) {
        Words words = verb;
        for (std::string_view& word : words)
            if (word == "%process") word = process;
        words.insert(words.end(), {"--json", "--redact", "none"});
        alarm(20);
        const std::string answer = beamheap::fuzz::run_words(words, bytes);
        lost = lost || answer.find("\"severity\":\"data_loss\"") != std::string::npos ||
               answer.find("\"severity\": \"data_loss\"") != std::string::npos;
        const std::size_t hash = std::hash<std::string>{}(without_member(without_member(answer, "source"), "warnings"));
        std::printf("\t%s=%zx", std::string(verb[0]).c_str(), answer.empty() ? 0 : hash);
        std::fflush(stdout);  // before the next answer is caught there
    }
    _exit(lost ? told : silent);
}

std::string verdict(int status) {
    if (WIFSIGNALED(status)) {
        if (WTERMSIG(status) == SIGALRM) return "hangs\tsilent";
        return "signal " + std::to_string(WTERMSIG(status)) + "\tsilent";
    }
    if (WEXITSTATUS(status) == told) return "fine\ttold";
    if (WEXITSTATUS(status) == silent) return "fine\tsilent";
    return "exit " + std::to_string(WEXITSTATUS(status)) + "\tsilent";
}

}  // namespace

int main(int count, char** arguments) {
    const bool answers = count == 3 && std::string_view(arguments[1]) == "answers";
    if (count != 3) {
        std::fputs("usage: mutants LINES SECONDS < PATHS\n       mutants answers PID < PATHS\n", stderr);
        return 2;
    }
    const std::size_t lines = answers ? 0 : std::strtoul(arguments[1], nullptr, 10);
    const auto seconds = static_cast<unsigned>(std::strtoul(arguments[2], nullptr, 10));
    for (std::string path; std::getline(std::cin, path);) {
        const std::string bytes = contents(path);
        std::printf("%s", path.c_str());
        std::fflush(stdout);
        const pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0 && answers) compare(bytes, arguments[2]);
        if (child == 0) run(bytes, lines, seconds);
        int status = 0;
        waitpid(child, &status, 0);
        std::printf("\t%s\n", verdict(status).c_str());
        std::fflush(stdout);
    }
    return 0;
}
