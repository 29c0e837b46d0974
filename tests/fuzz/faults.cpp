// SPDX-License-Identifier: Apache-2.0
// Lets each call fail in turn that a verb makes of the system (failing_calls.hpp says which, and with what).
//
//     faults FOLDER [--share SHARE] [--turn N] [FIRST...]    FOLDER is fixtures/broken; FIRST: lines that begin so
//     alone faults --core CORE EXECUTABLE SHARE [FIRST...]          of a core image
//     alone faults --live PID SHARE [FIRST...]                      of a VM that runs
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

#include "cli/frame/commands.hpp"
#include "fuzz/failing_calls.hpp"
#include "fuzz/tried.hpp"

namespace {

namespace fs = std::filesystem;
using namespace beamheap::faults;

bool asks_for_more_memory(const Fault& fault) { return fault.kind == memory || fault.kind == mappings; }

/// Whether the answer or standard error says of a loss what the undisturbed one did not.
bool says_so(const Outcome& got, const Outcome& whole) {
    if (got.out.find("unreadable-input") != got.out.npos) return true;  // check makes a finding of it
    if (got.err != whole.err && got.err.find("beamheap: ") != got.err.npos) return true;
    for (const std::string_view word :
         {"can't be read", "annot read", "out of memory", "no memory", "annot open", "ended by signal",
          "without an answer", "broke off", "gives no", "reading it failed", "\"isError\":true"})
        if (got.out.find(word) != got.out.npos && whole.out.find(word) == whole.out.npos) return true;
    return false;
}

/// Whether a file that `catch` names has its end: who looks into its folder takes it for an answer.
bool has_its_end(const std::string& name, const std::string& content) {
    const std::string ending = fs::path(name).extension();
    if (fs::path(name).filename().string().starts_with(".")) return false;
    if (ending == ".json") return content.ends_with("}\n");
    if (ending == ".html") return content.ends_with("</html>\n");
    if (ending != ".sqlite" || content.size() < 32) return ending == ".zst";
    std::size_t page = 0, pages = 0;  // the file's header: two bytes at 16, four at 28
    for (const std::size_t at : {16, 17}) page = page << 8 | static_cast<unsigned char>(content[at]);
    for (std::size_t at = 28; at < 32; ++at) pages = pages << 8 | static_cast<unsigned char>(content[at]);
    return (page == 1 ? 65536 : page) * pages == content.size();
}

/// What is wrong with the files that are there; empty if nothing is. `told`: something is said to be missing, and it
/// may be so in files as well (`catch` answers with what a dying VM leaves it).
std::string wrong_files(const Tried& tried, const Outcome& got, const Outcome& whole, bool ended_well, bool told) {
    if (tried.alive) {  // rounds of a watch are added line by line, and never the same
        for (const auto& [name, content] : got.files)
            if (!content.empty() && content.back() != '\n') return "half a line stays: " + name;
        return "";
    }
    for (const auto& [name, content] : got.files) {
        const auto found = whole.files.find(name);
        if (found != whole.files.end() && content == found->second) continue;
        if (told && has_its_end(name, content)) continue;
        if (found == whole.files.end()) return "a file that is to be none stays: " + name;
        if (ended_well || content != old_content)
            return ended_well ? "another file, and nothing that says so: " + name : "half a file stays: " + name;
    }
    return ended_well && !told && got.files.size() != whole.files.size() ? "a file is missing, and nothing says so"
                                                                         : "";
}

/// Of these the machine's processes, or the time that it takes, change what is shown.
bool always_another(const Tried& tried) { return tried.alive || tried.has("ps") || tried.has("<KEYS"); }

/// What is wrong with an outcome, a phrase; empty if nothing is. `whole` is the undisturbed one.
std::string wrong(const Tried& tried, const Fault& fault, const Outcome& got, const Outcome& whole) {
    if (WIFSIGNALED(got.status))
        return WTERMSIG(got.status) == SIGALRM ? "takes too long" : "signal " + std::to_string(WTERMSIG(got.status));
    if (got.stays) return "a process stays";
    const int code = WEXITSTATUS(got.status);
    const bool told = tried.has("PIPE") && says_so(got, whole);
    if (code == WEXITSTATUS(whole.status)) {
        if (got.out != whole.out && !always_another(tried) && !says_so(got, whole))
            return "another answer, and nothing that says so";
        return wrong_files(tried, got, whole, true, told);
    }
    // An option whose file can't be read is said as a mistake of the command line, as is a terminal of which nothing is
    // known.
    const bool option = code == 2 && (got.err.find("--stable-salt") != got.err.npos ||
                                      (tried.has("<KEYS") && got.err.find("known of a terminal") != got.err.npos));
    // So ends ncurses where it has no memory, by itself.
    if (tried.has("<KEYS") && fault.kind == memory && code == 1 && got.err.find("Out of memory") != got.err.npos)
        return "";
    // What is found to be damaged, or to be a finding, is an answer.
    const bool found = (code == 1 || code == 4) && says_so(got, whole);
    if (code != 3 && code != 5 && !option && !found) return "exit code " + std::to_string(code);
    if (asks_for_more_memory(fault) && code != 5 && !option) return "no memory, and exit code " + std::to_string(code);
    if (got.err.find("beamheap: ") == got.err.npos) return "exit code " + std::to_string(code) + " without a sentence";
    return wrong_files(tried, got, whole, false, told);
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
    {"redact", "SELF", "SELF", "-f"},
    {"export", "SELF", "SELF", "-f"},
    {"catch", "--pipe", "PIPE", "--once", "-o", "OUT", "--keep", "dump", "--stable-salt", "FOLDER/cut_in_memory.dump"},
    {"ui", "FOLDER/heap_sound.dump", "<KEYS"},
    {"ps", "--json"},
};

/// Verbs that have no line, and why.
const std::map<std::string, std::string> not_tried{
    {"core", "the lines of a core image ask the same of analyze"},
    {"blame", "it takes native stacks, which a dump has none of"},
    {"sample", "the lines of a VM that runs have it"},
    {"heapsample", "the lines of a VM that runs have it"},
    {"watch", "the lines of a VM that runs have it"},
};

const std::vector<std::vector<std::string>> live_lines{
    {"top", "VM", "--json"},
    {"analyze", "VM", "--json"},
    {"proc", "VM", "init", "--json"},
    {"heap", "VM", "init", "--json"},
    {"sample", "VM", "--for", "200ms", "--json"},
    {"sample", "VM", "--for", "200ms", "--stop", "--json"},
    {"heapsample", "VM", "--for", "200ms", "--json"},
    {"watch", "VM", "--for", "500ms", "--every", "200ms", "--json"},
    {"watch", "VM", "--for", "500ms", "--every", "200ms", "--out", "OUT"},
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
              const std::string& alone, Counts& counts) {
    const Outcome whole = tried.run({});
    const bool answers = !WIFSIGNALED(whole.status) && !whole.stays &&
                         (tried.has("<KEYS") ? whole.status == 0 : !(whole.out.empty() && whole.files.empty()));
    counts.add(shown, "nothing fails", answers ? "" : "no answer", whole.err);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        for (const Fault& fault : faults_of(kind, whole.calls[kind], share, turn)) {
            if (!alone.empty() && !fault.text().starts_with(alone)) continue;
            const Outcome got = tried.run(fault);
            counts.add(shown, fault.text() + " of " + std::to_string(whole.calls[kind]),
                       wrong(tried, fault, got, whole), got.err);
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
    const bool live = words.size() > 2 && words.front() == "--live";
    if (words.empty()) {
        std::fputs(
            "usage: faults FOLDER [--share SHARE] [--turn N] [--alone FAULT] [FIRST...]\n"
            "       faults --core CORE EXECUTABLE SHARE [--turn N] [FIRST...]\n"
            "       faults --live PID SHARE [--turn N] [FIRST...]\n",
            stderr);
        return 2;
    }
    const std::size_t options = core ? 4 : live ? 3 : 1;
    long share = core || live ? std::max(std::atol(words[options - 1].c_str()), 1L) : 200;
    std::optional<long> turn;
    std::string alone;
    if (core || live) turn = 0;
    std::vector<std::string> first;
    for (std::size_t i = options; i < words.size(); ++i) {
        if (words[i] == "--share" && i + 1 < words.size()) share = std::max(std::atol(words[++i].c_str()), 1L);
        else if (words[i] == "--turn" && i + 1 < words.size()) turn = std::abs(std::atol(words[++i].c_str()));
        else if (words[i] == "--alone" && i + 1 < words.size()) alone = words[++i];
        else first.push_back(words[i]);
    }
    setenv("BEAMHEAP_CODE", "", 1);
    setenv("BEAMHEAP_HISTORY", "", 1);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    injection();
    const fs::path fixtures = core || live ? fs::path() : fs::absolute(words.front());
    const Inputs inputs(fixtures);
    Counts counts;
    if (!core && !live && first.empty()) look_for_verbs(counts);
    for (const auto& line : core ? core_lines : live ? live_lines : command_lines) {
        if (!first.empty() && std::ranges::find(first, line.front()) == first.end()) continue;
        Tried tried{line, inputs.scratch(), fixtures.empty() ? fs::path() : fs::path(words.front()) / "heap_sound.dump",
                    live};
        std::string shown;
        for (std::string& word : tried.words) {
            shown += (shown.empty() ? "" : " ") + word;
            if (core) put(word, "CORE", words[1]), put(word, "PROGRAM", words[2]);
            else if (live) put(word, "VM", words[1]);
            else put(word, "FOLDER", words.front());
            for (const char* const own : {"SALT", "SHELL", "ASSISTANT", "MODULES", "ARCHIVE"})
                put(word, own, inputs.path(own));
        }
        try_line(shown, tried, share, turn, alone, counts);
    }
    std::printf("%zu passed, %zu failed, 0 skipped\n", counts.passed, counts.failed);
    return counts.failed == 0 && counts.passed != 0 ? 0 : 1;
}
