// SPDX-License-Identifier: Apache-2.0
// Lets each call fail in turn that a verb makes of the system: memory, mappings, reads, writes, opened files, threads.
//
//     faults FOLDER [FIRST...]        FOLDER is fixtures/broken; FIRST: command lines that begin so alone
//     faults --core CORE EXECUTABLE SHARE [FIRST...]    of a core image; SHARE as below
//
// Each command line runs once undisturbed, which counts its calls of each kind. Then it runs again and again in a
// process of its own, in which the Nth call of one kind fails: alone, as a moment's shortage would, where N is odd;
// with all behind it, as a full disk would, where N is even. The first SHARE calls (40) are taken one by one, further
// ones in steps of N / SHARE, so that the time is bounded. Whatever fails, the program gives the undisturbed answer, or
// ends with the exit code of the contract for it and a sentence that says so, and a file that it was to write is there
// as a whole or not at all. SQLite is tested so ("How SQLite Is Tested", anomaly testing).
//
// The calls are this program's own functions: the linker takes them in place of the C library's, for all libraries.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/frame/commands.hpp"

namespace {

enum Kind : std::size_t { memory, mappings, reads, writes, opens, threads, kinds };
constexpr std::array<const char*, kinds> names{"memory",  "a mapping",      "a read",
                                               "a write", "an opened file", "a thread"};

std::array<std::atomic<long>, kinds> made{};  // calls since they were counted
std::atomic<bool> counted{false};
Kind failing = kinds;
long failing_at = 0;
bool for_good = false;

bool fails(Kind kind) {
    if (!counted.load(std::memory_order_relaxed)) return false;
    const long now = made[kind].fetch_add(1, std::memory_order_relaxed) + 1;
    return kind == failing && (for_good ? now >= failing_at : now == failing_at);
}

// What the kernel gives, as the C library would.
long said(long answer) { return answer; }  // syscall() has set errno

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
    if (!fails(memory)) return __libc_malloc(size);
    errno = ENOMEM;
    return nullptr;
}
void* calloc(std::size_t count, std::size_t size) {
    if (!fails(memory)) return __libc_calloc(count, size);
    errno = ENOMEM;
    return nullptr;
}
void* realloc(void* old, std::size_t size) {
    if (!fails(memory)) return __libc_realloc(old, size);
    errno = ENOMEM;
    return nullptr;
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    if (!fails(memory)) return __libc_memalign(alignment, size);
    errno = ENOMEM;
    return nullptr;
}
int posix_memalign(void** place, std::size_t alignment, std::size_t size) {
    if (fails(memory)) return ENOMEM;
    *place = __libc_memalign(alignment, size);
    return *place == nullptr ? ENOMEM : 0;
}
void* mmap(void* address, std::size_t size, int access, int flags, int file, off_t offset) {
    if (fails(mappings)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return reinterpret_cast<void*>(said(syscall(SYS_mmap, address, size, access, flags, file, offset)));
}
void* mmap64(void* address, std::size_t size, int access, int flags, int file, off_t offset) {
    return mmap(address, size, access, flags, file, offset);
}
void* mremap(void* old, std::size_t had, std::size_t size, int flags, ...) {
    if (fails(mappings)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    va_list rest;
    va_start(rest, flags);
    void* const place = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
    va_end(rest);
    return reinterpret_cast<void*>(said(syscall(SYS_mremap, old, had, size, flags, place)));
}
ssize_t read(int file, void* into, std::size_t size) {
    if (!fails(reads)) return said(syscall(SYS_read, file, into, size));
    errno = EIO;
    return -1;
}
ssize_t pread(int file, void* into, std::size_t size, off_t at) {
    if (!fails(reads)) return said(syscall(SYS_pread64, file, into, size, at));
    errno = EIO;
    return -1;
}
ssize_t pread64(int file, void* into, std::size_t size, off_t at) { return pread(file, into, size, at); }
// The sentence of an error goes to standard error, which stays.
ssize_t write(int file, const void* from, std::size_t size) {
    if (file == STDERR_FILENO || !fails(writes)) return said(syscall(SYS_write, file, from, size));
    errno = ENOSPC;
    return -1;
}
ssize_t pwrite(int file, const void* from, std::size_t size, off_t at) {
    if (!fails(writes)) return said(syscall(SYS_pwrite64, file, from, size, at));
    errno = ENOSPC;
    return -1;
}
ssize_t pwrite64(int file, const void* from, std::size_t size, off_t at) { return pwrite(file, from, size, at); }
int openat(int folder, const char* path, int flags, ...) {
    if (fails(opens)) {
        errno = EMFILE;
        return -1;
    }
    va_list rest;
    va_start(rest, flags);
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    return static_cast<int>(said(syscall(SYS_openat, folder, path, flags, mode)));
}
int open(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    return openat(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    return openat(AT_FDCWD, path, flags, mode);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* given) {
    if (fails(threads)) return EAGAIN;
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    return create(thread, attributes, work, given);
}
}

namespace {

namespace fs = std::filesystem;

constexpr unsigned seconds_each = 30;

struct Outcome {
    int status = 0;  // of wait()
    std::string out, err, file;
    bool has_file = false;
    std::array<long, kinds> calls{};
};

std::string contents(int file) {
    std::string all;
    char piece[16384];
    lseek(file, 0, SEEK_SET);
    for (ssize_t got = read(file, piece, sizeof piece); got > 0; got = read(file, piece, sizeof piece))
        all.append(piece, static_cast<std::size_t>(got));
    return all;
}

/// One command line, whose words "OUT" and "<FILE" are the file to be written, and standard input.
struct Tried {
    std::vector<std::string> words;
    fs::path folder;  ///< empty but for what the program leaves there
    fs::path out() const { return folder / "out"; }

    Outcome run(Kind kind, long at, bool all_behind) const {
        for (const auto& left : fs::directory_iterator(folder)) fs::remove(left.path());
        const std::array files{memfd_create("out", 0), memfd_create("err", 0), memfd_create("calls", 0)};
        const pid_t child = fork();
        if (child == 0) in_child(kind, at, all_behind, files);
        Outcome outcome;
        waitpid(child, &outcome.status, 0);
        outcome.out = contents(files[0]);
        outcome.err = contents(files[1]);
        (void)pread(files[2], outcome.calls.data(), sizeof outcome.calls, 0);
        for (const int file : files) close(file);
        outcome.has_file = !fs::is_empty(folder);
        std::ifstream written(out(), std::ios::binary);
        outcome.file.assign(std::istreambuf_iterator<char>(written), {});
        return outcome;
    }

private:
    [[noreturn]] void in_child(Kind kind, long at, bool all_behind, const std::array<int, 3>& files) const {
        std::vector<std::string> given{"beamheap"};
        for (const std::string& word : words) {
            if (word == "OUT") given.push_back(out());
            else if (word.front() == '<') dup2(open(word.c_str() + 1, O_RDONLY), STDIN_FILENO);
            else given.push_back(word);
        }
        std::vector<char*> pointers;
        for (std::string& word : given) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        dup2(files[0], STDOUT_FILENO);
        dup2(files[1], STDERR_FILENO);
        failing = kind, failing_at = at, for_good = all_behind;
        alarm(seconds_each);
        counted = true;
        const int code = beamheap::cli::run(static_cast<int>(given.size()), pointers.data());
        counted = false;
        std::array<long, kinds> calls{};
        for (std::size_t i = 0; i < kinds; ++i) calls[i] = made[i];
        (void)pwrite(files[2], calls.data(), sizeof calls, 0);
        _exit(code);
    }
};

/// What is wrong with an outcome, a phrase; empty if nothing is. `whole` is the undisturbed one.
std::string wrong(const Outcome& got, const Outcome& whole) {
    if (WIFSIGNALED(got.status))
        return WTERMSIG(got.status) == SIGALRM ? "takes too long" : "signal " + std::to_string(WTERMSIG(got.status));
    const int code = WEXITSTATUS(got.status);
    if (code == WEXITSTATUS(whole.status)) {
        if (got.out.find("unreadable-input") != got.out.npos) return {};  // check makes a finding of it
        if (got.out != whole.out) return "another answer, and nothing that says so";
        if (got.has_file != whole.has_file || got.file != whole.file) return "another file, and nothing that says so";
        return {};
    }
    // An option whose file can't be read is said as a mistake of the command line.
    const bool option = code == 2 && got.err.find("--stable-salt") != got.err.npos;
    if (code != 3 && code != 5 && !option) return "exit code " + std::to_string(code);
    if (got.err.find("beamheap: ") == got.err.npos) return "exit code " + std::to_string(code) + " without a sentence";
    if (got.has_file && got.file != whole.file) return "a file that is not whole stays";
    return {};
}

const std::vector<std::vector<std::string>> command_lines{
    {"analyze", "FOLDER/heap_sound.dump", "--full", "--json"},
    {"top", "FOLDER/bad_checksum.dump.zst", "--by", "memory", "-n", "0"},
    {"analyze", "-", "<FOLDER/half.dump.gz"},
    {"analyze", "FOLDER/half.dump.xz", "--format", "md"},
    {"heap", "FOLDER/heap_sound.dump", "damaged", "--json"},
    {"sql", "FOLDER/heap_sound.dump", "SELECT state, count(*), sum(live_words) FROM process GROUP BY 1 ORDER BY 2"},
    {"check", "FOLDER/heap_sound.dump", "--format", "junit"},
    {"redact", "FOLDER/heap_sound.dump", "OUT", "--stable-salt", "FOLDER/cut_in_memory.dump"},
    {"export", "FOLDER/heap_sound.dump", "OUT"},
    {"export", "FOLDER/heap_sound.dump", "OUT", "--to", "hprof"},
    {"export", "FOLDER/heap_sound.dump", "OUT", "--full", "--stable-salt", "FOLDER/cut_in_memory.dump"},
    {"html", "FOLDER/heap_sound.dump", "-o", "OUT", "--full", "--stable-salt", "FOLDER/cut_in_memory.dump"},
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

}  // namespace

int main(int count, char** arguments) {
    const bool core = count > 4 && std::string_view(arguments[1]) == "--core";
    if (count < 2) {
        std::fputs("usage: faults FOLDER [FIRST...]\n       faults --core CORE EXECUTABLE SHARE [FIRST...]\n", stderr);
        return 2;
    }
    const int first_word = core ? 5 : 2;
    const long share = core ? std::max(std::atol(arguments[4]), 1L) : 40;
    std::string scratch = fs::temp_directory_path() / "faults.XXXXXX";
    if (mkdtemp(scratch.data()) == nullptr) return 1;
    const std::string salt = scratch + ".salt";
    std::ofstream(salt) << "thirty-two letters of their own..";
    std::size_t passed = 0, failed = 0;
    for (const auto& line : core ? core_lines : command_lines) {
        bool wanted = count == first_word;
        for (int i = first_word; i < count; ++i) wanted |= line.front() == arguments[i];
        if (!wanted) continue;
        Tried tried{line, scratch};
        std::string shown;
        for (std::string& word : tried.words) {
            shown += word + ' ';
            if (core) put(word, "CORE", arguments[2]), put(word, "PROGRAM", arguments[3]), put(word, "SALT", salt);
            else put(word, "FOLDER", arguments[1]);
        }
        const Outcome whole = tried.run(kinds, 0, false);
        const std::string first =
            WIFSIGNALED(whole.status) || (whole.out.empty() && whole.file.empty()) ? "no answer" : "";
        if (!first.empty()) std::printf("FAILED %s: %s: %s\n", shown.c_str(), first.c_str(), whole.err.c_str());
        first.empty() ? ++passed : ++failed;
        for (std::size_t kind = 0; kind < kinds; ++kind) {
            for (long at = 1; at <= whole.calls[kind]; at += 1 + at / share) {
                const Outcome got = tried.run(static_cast<Kind>(kind), at, at % 2 == 0);
                const std::string why = wrong(got, whole);
                why.empty() ? ++passed : ++failed;
                if (!why.empty())
                    std::printf("FAILED %s: call %ld of %ld for %s fails%s: %s: %.200s\n", shown.c_str(), at,
                                whole.calls[kind], names[kind], at % 2 == 0 ? ", and all behind it" : "", why.c_str(),
                                got.err.c_str());
                std::fflush(stdout);
            }
        }
    }
    fs::remove_all(scratch);
    fs::remove(salt);
    std::printf("%zu passed, %zu failed, 0 skipped\n", passed, failed);
    return failed == 0 && passed != 0 ? 0 : 1;
}
