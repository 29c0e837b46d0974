// Runs damaged inputs through the verbs, each input in a process of its own that is forked off this one.
//
//     mutants LINES SECONDS < PATHS
//
// Each line of standard input is a path. Of each input `analyze --full --json` is asked, and LINES more command lines,
// which ones follows from the input's bytes. One line goes to standard output for each input: its path, what became of
// it (`fine`, `hangs` for more than SECONDS in one command line, `signal N`, `exit N`), and `told` or `silent`: whether
// the answer has a warning that something was lost. What a process that fails printed goes to standard error.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

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
    if (count != 3) {
        std::fputs("usage: mutants LINES SECONDS < PATHS\n", stderr);
        return 2;
    }
    const std::size_t lines = std::strtoul(arguments[1], nullptr, 10);
    const auto seconds = static_cast<unsigned>(std::strtoul(arguments[2], nullptr, 10));
    for (std::string path; std::getline(std::cin, path);) {
        const std::string bytes = contents(path);
        const pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) run(bytes, lines, seconds);
        int status = 0;
        waitpid(child, &status, 0);
        std::printf("%s\t%s\n", path.c_str(), verdict(status).c_str());
        std::fflush(stdout);
    }
    return 0;
}
