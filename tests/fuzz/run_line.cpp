// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/frame/commands.hpp"
#include "fuzz/whole_program.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define BEAMHEAP_FUZZ_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BEAMHEAP_FUZZ_ASAN 1
#endif
#endif
#ifdef BEAMHEAP_FUZZ_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace beamheap::fuzz {
namespace {

using Line = std::vector<std::string_view>;  // the input's name stands where a line says "@"

const std::array<Line, 43> command_lines{{
    {"analyze", "@"},
    {"analyze", "@", "--full", "--json"},
    {"analyze", "@", "--format", "md", "--redact", "values", "--syntax", "elixir"},
    {"html", "@"},
    {"html", "@", "--full", "--html-full", "--redact", "none"},
    {"top", "@", "--by", "memory", "-n", "0", "--full"},
    {"top", "@", "--json", "--redact", "none"},
    {"top", "@", "--format", "csv", "--procs", "msgq>0"},
    {"proc", "@", "0.10.0"},
    {"proc", "@", "worker", "--json", "--redact", "none", "--term-bytes", "0"},
    {"stacks", "@", "--format", "ndjson"},
    {"ets", "@"},
    {"ets", "@", "--json"},
    {"ports", "@", "--json"},
    {"timers", "@", "--format", "tsv"},
    {"atoms", "@"},
    {"atoms", "@", "--json", "-n", "0"},
    {"alloc", "@"},
    {"alloc", "@", "--json"},
    {"schedulers", "@", "--json"},
    {"nodes", "@"},
    {"modules", "@", "--json"},
    {"tree", "@"},
    {"tree", "@", "--json", "--redact", "full"},
    {"doctor", "@", "--strict"},
    {"@", "--format", "csv", "--strict"},
    {"proc", "@", "%pid", "--syntax", "elixir"},
    {"proc", "@", "%pid", "--term-bytes", "0"},
    {"msgs", "@", "%pid"},
    {"msgs", "@", "%pid", "--by", "shape", "--json"},
    {"msgs", "@", "%pid", "--by", "sender"},
    {"heap", "@", "%pid"},
    {"heap", "@", "%pid", "--term-bytes", "0", "--json"},
    {"heap", "@", "%pid", "--into", "%address"},
    {"term", "@", "%address"},
    {"why", "@", "%address"},
    {"why", "@", "%address", "--term-bytes", "0", "--json"},
    {"binaries", "@"},
    {"waits", "@", "--json"},
    {"profile", "@", "--per-process"},
    {"logs", "@"},
    {"diff", "@", "@"},
    {"stacks", "@", "--full"},
}};

/// What stands behind one of the occurrences of `mark`, as far as `wanted` goes: which one follows from the bytes.
template <class Wanted>
std::string taken_from(std::string_view bytes, std::string_view mark, Wanted wanted, std::string_view otherwise) {
    std::size_t from = bytes.size() / 3;
    if (bytes.size() > 64) from += static_cast<unsigned char>(bytes[bytes.size() / 2]) * bytes.size() / 512;
    std::size_t at = bytes.find(mark, from);
    if (at == std::string_view::npos) at = bytes.find(mark);
    if (at == std::string_view::npos) return std::string(otherwise);
    std::string text;
    for (at += mark.size(); at < bytes.size() && text.size() < 24 && wanted(bytes[at]); ++at) text += bytes[at];
    return text.empty() ? std::string(otherwise) : text;
}
std::string some_pid(std::string_view bytes) {
    const auto wanted = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
    return taken_from(bytes, "\n=proc:<", wanted, "0.10.0");
}
std::string some_address(std::string_view bytes) {
    const auto wanted = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
    return taken_from(bytes, "|H", wanted, "7F0000000010");
}

/// One of the standard descriptors, turned into a file in memory while it lives.
class Captured {
public:
    explicit Captured(int descriptor)
        : descriptor_(descriptor), saved_(dup(descriptor)), file_(memfd_create("captured", 0)) {
        dup2(file_, descriptor_);
#ifdef BEAMHEAP_FUZZ_ASAN
        if (descriptor_ == STDERR_FILENO) __sanitizer_set_report_fd(reinterpret_cast<void*>(std::intptr_t{saved_}));
#endif
    }
    ~Captured() {
#ifdef BEAMHEAP_FUZZ_ASAN
        if (descriptor_ == STDERR_FILENO)
            __sanitizer_set_report_fd(reinterpret_cast<void*>(std::intptr_t{STDERR_FILENO}));
#endif
        dup2(saved_, descriptor_);
        close(saved_);
        close(file_);
    }
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;

    std::string text() const {
        std::string all(static_cast<std::size_t>(lseek(file_, 0, SEEK_END)), '\0');
        const ssize_t got = pread(file_, all.data(), all.size(), 0);
        all.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        return all;
    }

private:
    int descriptor_, saved_, file_;
};

/// The place of the first byte that a terminal would act on or that is no UTF-8; the size where there is none.
std::size_t first_unsafe(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = [&](std::size_t ahead) {
            return at + ahead < text.size() ? static_cast<unsigned char>(text[at + ahead]) : 0u;
        };
        const unsigned first = byte(0);
        if (first < 0x80) {
            if ((first < 0x20 && first != '\n' && first != '\t') || first == 0x7F) return at;
            ++at;
            continue;
        }
        const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
        if (first < 0xC2 || first > 0xF4 || (first == 0xC2 && byte(1) < 0xA0)) return at;
        if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return at;
        if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return at;
        for (std::size_t i = 1; i < length; ++i)
            if ((byte(i) & 0xC0u) != 0x80u) return at;
        at += length;
    }
    return text.size();
}

int file_of(std::string_view bytes) {
    const int file = memfd_create("input", 0);
    if (write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
    return file;
}

[[noreturn]] void stop(const std::vector<std::string>& words, const std::string& why) {
    std::string shown;
    for (const std::string& word : words) shown.append(word).append(" ");
    std::fprintf(stderr, "%s: %s\n", shown.c_str(), why.c_str());
    std::abort();
}

}  // namespace

std::size_t lines() { return command_lines.size(); }

std::string run_line(std::size_t line, std::string_view bytes) {
    return run_words(command_lines[line % command_lines.size()], bytes);
}

std::string run_words(const std::vector<std::string_view>& words, std::string_view bytes) {
    const int file = file_of(bytes);
    const std::string input = "/proc/self/fd/" + std::to_string(file);
    std::vector<std::string> given;
    for (const std::string_view word : words) {
        if (word == "@") given.push_back(input);
        else if (word == "%pid") given.push_back(some_pid(bytes));
        else if (word == "%address") given.push_back(some_address(bytes));
        else given.emplace_back(word);
    }
    given.insert(given.end(), {"--threads", "1"});
    std::string answer = run_command(std::move(given));
    close(file);
    return answer;
}

std::string run_command(std::vector<std::string> words, std::string_view standard_input) {
    words.insert(words.begin(), "beamheap");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);

    const int input = file_of(standard_input), before = dup(STDIN_FILENO);
    lseek(input, 0, SEEK_SET);
    dup2(input, STDIN_FILENO);
    close(input);
    int code = 0;
    std::array<std::string, 2> printed;
    {
        const Captured out(STDOUT_FILENO);
        const Captured err(STDERR_FILENO);
        code = cli::run(static_cast<int>(words.size()), pointers.data());
        printed = {out.text(), err.text()};
    }
    dup2(before, STDIN_FILENO);
    close(before);
    constexpr std::array contract{0, 2, 3, 4, 5};
    if (std::find(contract.begin(), contract.end(), code) == contract.end())
        stop(words, "exit code " + std::to_string(code));
    if (code != 0 && printed[1].empty()) stop(words, "exit code " + std::to_string(code) + " without a sentence");
    for (const std::string& text : printed) {
        const std::size_t at = first_unsafe(text);
        if (at == text.size()) continue;
        stop(words, "byte " + std::to_string(static_cast<unsigned char>(text[at])) +
                        " after: " + text.substr(at < 80 ? 0 : at - 80, std::min<std::size_t>(at, 80)));
    }
    return printed[0];
}

}  // namespace beamheap::fuzz
