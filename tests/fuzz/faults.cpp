// SPDX-License-Identifier: Apache-2.0
// Lets each call fail in turn that a verb makes of the system (failing_calls.hpp says which, and with what).
//
//     faults FOLDER [--share SHARE] [--turn N] [FIRST...]    FOLDER is fixtures/broken; FIRST: lines that begin so
//     alone faults --core CORE EXECUTABLE SHARE [FIRST...]          of a core image
//
// Each command line runs once undisturbed, which counts its calls of each kind, those of processes that it starts with
// them. Then it runs again and again in a process of its own, in which the Nth call of one kind fails: alone, as a
// moment's shortage would, where N is odd; with all behind it, as a full disk would, where N is even (not EINTR, which
// who asks again would get for ever). The first SHARE calls (200) are taken one by one, further ones in steps of
// N / SHARE, so that the time is bounded. With what it fails goes round with N and with the turn, so that a few turns
// have had all; without --turn all are had at once. Whatever fails, the program gives the undisturbed answer, or one
// that says what is missing, or ends with the exit code of the contract for it and a sentence (5 where it is memory),
// and a file that it was to write is there as a whole, or as it was before. SQLite is tested so ("How SQLite Is
// Tested", anomaly testing).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/console/sandbox.hpp"
#include "cli/frame/commands.hpp"
#include "fuzz/failing_calls.hpp"

namespace {

namespace fs = std::filesystem;
using namespace beamheap::faults;

constexpr unsigned seconds_each = 10;

/// Which call fails with what; `kinds`: none.
struct Fault {
    std::size_t kind = kinds;
    long at = 0;
    bool for_good = false;
    int error = 0;
    std::string text() const {
        const char* const how = error == short_count ? "gives half" : strerrorname_np(error);
        return std::string(row_of(kind).name) + " " + std::to_string(at) + ": " + how +
               (for_good ? ", and all behind it" : "");
    }
};

struct Outcome {
    int status = 0;  // of wait()
    std::string out, err;
    std::map<std::string, std::string> files;  // by their names below the folder
    std::array<long, kinds> calls{};
    bool stays = false;  // a process that it started
};

std::string contents(int file) {
    std::string all;
    char piece[16384];
    lseek(file, 0, SEEK_SET);
    for (ssize_t got = read(file, piece, sizeof piece); got > 0; got = read(file, piece, sizeof piece))
        all.append(piece, static_cast<std::size_t>(got));
    return all;
}

std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Without the mark, another one each time, between which an assistant is given data.
std::string unmarked(std::string text) {
    constexpr std::size_t mark = 16;
    for (const std::string_view sign : {"\"BEGIN ", "\\nEND "})
        for (std::size_t at = text.find(sign); at != text.npos; at = text.find(sign, at + 1))
            text.erase(at + sign.size(), mark);
    return text;
}

constexpr std::string_view old_content = "what was there before";

/// One command line, whose words "OUT" and "<FILE" are the file to be written, and standard input. "OLD" is as OUT,
/// where there is a file already.
struct Tried {
    std::vector<std::string> words;
    fs::path folder;  ///< empty but for what the program leaves there

    Outcome run(const Fault& fault) const {
        for (const auto& left : fs::directory_iterator(folder)) fs::remove_all(left.path());
        if (std::ranges::find(words, "OLD") != words.end()) std::ofstream(folder / "out") << old_content;
        const std::array files{memfd_create("out", 0), memfd_create("err", 0)};
        Injection& injected = injection();
        for (auto& count : injected.made) count = 0;
        injected.kind = fault.kind, injected.at = fault.at, injected.for_good = fault.for_good;
        injected.error = fault.error;
        const pid_t child = fork();
        if (child == 0) in_child(files);
        Outcome outcome;
        waitpid(child, &outcome.status, 0);
        injected.counted = false;
        outcome.stays = !others_end();
        outcome.out = unmarked(contents(files[0]));
        outcome.err = contents(files[1]);
        for (std::size_t i = 0; i < kinds; ++i) outcome.calls[i] = injected.made[i];
        for (const int file : files) close(file);
        for (const auto& each : fs::recursive_directory_iterator(folder))
            if (each.is_regular_file()) outcome.files[each.path().lexically_relative(folder)] = contents(each.path());
        return outcome;
    }

private:
    /// Waits for what the program started, and left to this process (PR_SET_CHILD_SUBREAPER).
    static bool others_end() {
        for (int waited = 0; waited < 500; ++waited) {
            const pid_t ended = waitpid(-1, nullptr, WNOHANG);
            if (ended < 0) return true;
            if (ended == 0) usleep(10'000);
        }
        return false;
    }

    [[noreturn]] void in_child(const std::array<int, 2>& files) const {
        std::vector<std::string> given{"beamheap"};
        int input = open("/dev/null", O_RDONLY);
        for (const std::string& word : words) {
            if (word == "OUT" || word == "OLD") given.push_back(folder / "out");
            else if (word.front() == '<') input = open(word.c_str() + 1, O_RDONLY);
            else given.push_back(word);
        }
        std::vector<char*> pointers;
        for (std::string& word : given) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        dup2(input, STDIN_FILENO);
        dup2(files[0], STDOUT_FILENO);
        dup2(files[1], STDERR_FILENO);
        alarm(seconds_each);
        beamheap::cli::allow_sandbox();
        injection().counted = true;
        const int code = beamheap::cli::run(static_cast<int>(given.size()), pointers.data());
        injection().counted = false;
        _exit(code);
    }
};

bool asks_for_more_memory(const Fault& fault) { return fault.kind == memory || fault.kind == mappings; }

/// Whether the answer or standard error says of a loss what the undisturbed one did not.
bool says_so(const Outcome& got, const Outcome& whole) {
    if (got.out.find("unreadable-input") != got.out.npos) return true;  // check makes a finding of it
    if (got.err != whole.err && got.err.find("beamheap: ") != got.err.npos) return true;
    for (const std::string_view word :
         {"can't be read", "annot read", "out of memory", "no memory", "annot open", "ended by signal",
          "without an answer", "broke off", "gives no", "\"isError\":true"})
        if (got.out.find(word) != got.out.npos && whole.out.find(word) == whole.out.npos) return true;
    return false;
}

/// What is wrong with the files that are there; empty if nothing is.
std::string wrong_files(const Outcome& got, const Outcome& whole, bool ended_well) {
    for (const auto& [name, content] : got.files) {
        const auto found = whole.files.find(name);
        if (found == whole.files.end()) return "a file that is to be none stays: " + name;
        if (content != found->second && (ended_well || content != old_content))
            return ended_well ? "another file, and nothing that says so: " + name : "half a file stays: " + name;
    }
    return ended_well && got.files.size() != whole.files.size() ? "a file is missing, and nothing says so" : "";
}

/// What is wrong with an outcome, a phrase; empty if nothing is. `whole` is the undisturbed one.
std::string wrong(const Fault& fault, const Outcome& got, const Outcome& whole) {
    if (WIFSIGNALED(got.status))
        return WTERMSIG(got.status) == SIGALRM ? "takes too long" : "signal " + std::to_string(WTERMSIG(got.status));
    if (got.stays) return "a process stays";
    const int code = WEXITSTATUS(got.status);
    if (code == WEXITSTATUS(whole.status)) {
        if (got.out != whole.out && !says_so(got, whole)) return "another answer, and nothing that says so";
        return wrong_files(got, whole, true);
    }
    // An option whose file can't be read is said as a mistake of the command line.
    const bool option = code == 2 && got.err.find("--stable-salt") != got.err.npos;
    // What is found to be damaged, or to be a finding, is an answer.
    const bool found = (code == 1 || code == 4) && says_so(got, whole);
    if (code != 3 && code != 5 && !option && !found) return "exit code " + std::to_string(code);
    if (asks_for_more_memory(fault) && code != 5 && !option) return "no memory, and exit code " + std::to_string(code);
    if (got.err.find("beamheap: ") == got.err.npos) return "exit code " + std::to_string(code) + " without a sentence";
    return wrong_files(got, whole, false);
}

const std::vector<std::vector<std::string>> command_lines{
    {"analyze", "FOLDER/heap_sound.dump", "--full", "--json"},
    {"top", "FOLDER/bad_checksum.dump.zst", "--by", "memory", "-n", "0"},
    {"analyze", "-", "<FOLDER/half.dump.gz"},
    {"analyze", "FOLDER/half.dump.xz", "--format", "md"},
    {"analyze", "ARCHIVE"},
    {"heap", "FOLDER/heap_sound.dump", "damaged", "--json"},
    {"proc", "FOLDER/heap_sound.dump", "damaged", "--json"},
    {"stacks", "FOLDER/heap_sound.dump", "--code", "MODULES"},
    {"stacks", "FOLDER/heap_sound.dump", "--json"},
    {"msgs", "FOLDER/heap_sound.dump", "queue_late"},
    {"term", "FOLDER/heap_sound.dump", "7F0000000010"},
    {"why", "FOLDER/heap_sound.dump", "7F0000000010"},
    {"binaries", "FOLDER/heap_sound.dump"},
    {"profile", "FOLDER/heap_sound.dump"},
    {"ets", "FOLDER/heap_sound.dump", "--json"},
    {"ports", "FOLDER/heap_sound.dump", "--json"},
    {"timers", "FOLDER/heap_sound.dump"},
    {"atoms", "FOLDER/heap_sound.dump"},
    {"ledger", "FOLDER/heap_sound.dump", "--json"},
    {"alloc", "FOLDER/heap_sound.dump"},
    {"schedulers", "FOLDER/heap_sound.dump"},
    {"nodes", "FOLDER/heap_sound.dump"},
    {"modules", "FOLDER/heap_sound.dump"},
    {"waits", "FOLDER/heap_sound.dump"},
    {"logs", "FOLDER/heap_sound.dump"},
    {"tree", "FOLDER/heap_sound.dump"},
    {"diff", "FOLDER/half.dump.gz", "FOLDER/heap_sound.dump"},
    {"recipes"},
    {"doctor", "FOLDER/heap_sound.dump"},
    {"explain", "no-dump"},
    {"completion", "bash"},
    {"catch", "--install", "systemd"},
    {"shell", "FOLDER/heap_sound.dump", "<SHELL"},
    {"mcp", "FOLDER/heap_sound.dump", "--stable-salt", "SALT", "<ASSISTANT"},
    {"sql", "FOLDER/heap_sound.dump", "SELECT state, count(*), sum(live_words) FROM process GROUP BY 1 ORDER BY 2"},
    {"check", "FOLDER/heap_sound.dump", "--format", "junit"},
    {"check", "ARCHIVE"},
    {"redact", "FOLDER/heap_sound.dump", "OUT", "--stable-salt", "FOLDER/cut_in_memory.dump"},
    {"redact", "FOLDER/heap_sound.dump", "OLD", "-f", "--stable-salt", "FOLDER/cut_in_memory.dump"},
    {"export", "FOLDER/heap_sound.dump", "OUT", "--stable-salt", "FOLDER/cut_in_memory.dump"},
    {"export", "FOLDER/heap_sound.dump", "OLD", "-f", "--stable-salt", "FOLDER/cut_in_memory.dump"},
    {"export", "FOLDER/heap_sound.dump", "OUT", "--to", "hprof", "--stable-salt", "FOLDER/cut_in_memory.dump"},
    {"export", "FOLDER/heap_sound.dump", "OUT", "--to", "heapsnapshot", "--stable-salt", "FOLDER/cut_in_memory.dump"},
    {"export", "FOLDER/heap_sound.dump", "OUT", "--to", "parquet", "--stable-salt", "FOLDER/cut_in_memory.dump"},
    {"export", "FOLDER/heap_sound.dump", "OUT", "--full", "--stable-salt", "FOLDER/cut_in_memory.dump"},
    {"html", "FOLDER/heap_sound.dump", "-o", "OUT", "--full", "--stable-salt", "FOLDER/cut_in_memory.dump"},
};

/// Verbs that have no line, and why.
const std::map<std::string, std::string> not_tried{
    {"core", "the lines of a core image ask the same of analyze"},
    {"blame", "it takes native stacks, which a dump has none of"},
    {"ps", "it tells what runs on the machine, which changes"},
    {"sample", "it takes a VM that runs"},
    {"heapsample", "it takes a VM that runs"},
    {"watch", "it takes a VM that runs"},
    {"ui", "it takes a terminal"},
};

const std::vector<std::vector<std::string>> core_lines{
    {"top", "CORE", "--exe", "PROGRAM", "--json"},
    {"analyze", "CORE", "--exe", "PROGRAM", "--full", "--json"},
    {"stacks", "CORE", "--exe", "PROGRAM", "--json"},
    {"ets", "CORE", "--exe", "PROGRAM", "--json"},
    {"alloc", "CORE", "--exe", "PROGRAM", "--json"},
    {"heap", "CORE", "init", "--exe", "PROGRAM", "--json"},
    {"sql", "CORE", "SELECT count(*), max(term) FROM root", "--exe", "PROGRAM"},
    {"check", "CORE", "--exe", "PROGRAM", "--format", "junit"},
    {"export", "CORE", "OUT", "--exe", "PROGRAM", "--stable-salt", "SALT"},
    {"html", "CORE", "-o", "OUT", "--exe", "PROGRAM", "--stable-salt", "SALT"},
};

void put(std::string& word, std::string_view place, std::string_view path) {
    if (const auto at = word.find(place); at != word.npos) word.replace(at, place.size(), path);
}

/// What the lines name beside the fixtures, in a folder of their own.
struct Inputs {
    explicit Inputs(const fs::path& fixtures) {
        if (mkdtemp(folder.data()) == nullptr) std::exit(1);
        fs::create_directory(scratch());
        std::ofstream(path("SALT")) << "thirty-two letters of their own..";
        std::ofstream(path("SHELL")) << "top -n 3\nheap damaged\nSELECT count(*) FROM process\nquit\n";
        std::ofstream(path("ASSISTANT"))
            << R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}})"
            << "\n"
            << R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"heap","arguments":{"pid":"damaged"}}})"
            << "\n";
        if (fixtures.empty()) return;
        fs::create_directory(path("MODULES"));
        std::size_t number = 0;
        for (const auto& each : fs::directory_iterator(fixtures / "../../tests/fuzz/corpus/module"))
            fs::copy_file(each.path(), path("MODULES") + "/m" + std::to_string(++number) + ".beam");
        const std::string packing =
            "tar czf " + path("ARCHIVE") + " -C " + fixtures.string() + " heap_sound.dump expect.tsv";
        if (std::system(packing.c_str()) != 0) std::exit(1);
    }
    Inputs(const Inputs&) = delete;
    Inputs& operator=(const Inputs&) = delete;
    ~Inputs() { fs::remove_all(folder); }
    std::string path(const std::string& name) const { return folder + "/" + name; }
    fs::path scratch() const { return folder + "/written"; }
    std::string folder = fs::temp_directory_path() / "faults.XXXXXX";
};

struct Counts {
    std::size_t passed = 0, failed = 0;
    void add(const std::string& line, const std::string& fault, const std::string& why, const std::string& err) {
        why.empty() ? ++passed : ++failed;
        if (!why.empty())
            std::printf("FAILED %s: %s: %s: %.300s\n", line.c_str(), fault.c_str(), why.c_str(), err.c_str());
        std::fflush(stdout);
    }
};

/// The faults of a kind that is called so often: with `turn` one for each call, else one for each errno.
std::vector<Fault> faults_of(std::size_t kind, long calls, long share, const std::optional<long>& turn) {
    std::vector<Fault> faults;
    const auto& errors = row_of(kind).errors;
    for (long at = 1; at <= calls; at += 1 + at / share) {
        for (std::size_t i = 0; i < (turn ? 1 : errors.size()); ++i) {
            const int error = errors[(i + static_cast<std::size_t>(turn.value_or(0) + at / 2)) % errors.size()];
            faults.push_back({kind, at, at % 2 == 0 && error != EINTR, error});
        }
    }
    return faults;
}

void try_line(const std::string& shown, const Tried& tried, long share, const std::optional<long>& turn,
              Counts& counts) {
    const Outcome whole = tried.run({});
    const bool answers = !WIFSIGNALED(whole.status) && !(whole.out.empty() && whole.files.empty());
    counts.add(shown, "nothing fails", answers ? "" : "no answer", whole.err);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        for (const Fault& fault : faults_of(kind, whole.calls[kind], share, turn)) {
            const Outcome got = tried.run(fault);
            counts.add(shown, fault.text() + " of " + std::to_string(whole.calls[kind]), wrong(fault, got, whole),
                       got.err);
        }
    }
}

// A new verb has a line, or a reason.
void look_for_verbs(Counts& counts) {
    for (const beamheap::cli::Command* const verb : beamheap::cli::commands()) {
        const bool has =
            std::ranges::any_of(command_lines, [&](const auto& line) { return line.front() == verb->name; });
        const bool excused = not_tried.contains(std::string(verb->name));
        counts.add(std::string(verb->name), "its line", has != excused ? "" : "has neither a line nor a reason", "");
    }
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> words(arguments + 1, arguments + count);
    const bool core = words.size() > 3 && words.front() == "--core";
    if (words.empty()) {
        std::fputs(
            "usage: faults FOLDER [--share SHARE] [--turn N] [FIRST...]\n"
            "       faults --core CORE EXECUTABLE SHARE [FIRST...]\n",
            stderr);
        return 2;
    }
    long share = core ? std::max(std::atol(words[3].c_str()), 1L) : 200;
    std::optional<long> turn;
    if (core) turn = 0;
    std::vector<std::string> first;
    for (std::size_t i = core ? 4 : 1; i < words.size(); ++i) {
        if (words[i] == "--share" && i + 1 < words.size()) share = std::max(std::atol(words[++i].c_str()), 1L);
        else if (words[i] == "--turn" && i + 1 < words.size()) turn = std::abs(std::atol(words[++i].c_str()));
        else first.push_back(words[i]);
    }
    setenv("BEAMHEAP_CODE", "", 1);
    setenv("BEAMHEAP_HISTORY", "", 1);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    injection();
    const Inputs inputs(core ? fs::path() : fs::absolute(words.front()));
    Counts counts;
    if (!core && first.empty()) look_for_verbs(counts);
    for (const auto& line : core ? core_lines : command_lines) {
        if (!first.empty() && std::ranges::find(first, line.front()) == first.end()) continue;
        Tried tried{line, inputs.scratch()};
        std::string shown;
        for (std::string& word : tried.words) {
            shown += (shown.empty() ? "" : " ") + word;
            if (core) put(word, "CORE", words[1]), put(word, "PROGRAM", words[2]);
            else put(word, "FOLDER", words.front());
            for (const char* const own : {"SALT", "SHELL", "ASSISTANT", "MODULES", "ARCHIVE"})
                put(word, own, inputs.path(own));
        }
        try_line(shown, tried, share, turn, counts);
    }
    std::printf("%zu passed, %zu failed, 0 skipped\n", counts.passed, counts.failed);
    return counts.failed == 0 && counts.passed != 0 ? 0 : 1;
}
