// SPDX-License-Identifier: Apache-2.0
// Replays the fuzzers' corpus under any compiler: each file of the folders named on the command line, from a buffer of
// exactly its size, so that a sanitizer sees every read beyond it. A file in a folder that is called as a target goes
// to that; any other is an input, and goes through the library and through each verb. `--mutants N` in front makes N
// further inputs of each, other ones for each SEED of `--seed SEED`: as the target knows how, else by bytes. The last
// line but one says how long the longest input took and how much memory the largest process.
// As many processes as there are processors share the files; one that crashes or hangs names its input, and which of
// its runs: a line of `run_line`, or a mutant; 0 is the input itself. `--each N` in
// front of the folders: of each file every Nth verb, another one to begin with for each and by the SEED, since a
// sanitizer takes ten times as long.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include "fuzz/dump_mutator.hpp"
#include "fuzz/targets.hpp"
#include "fuzz/whole_program.hpp"

namespace {

namespace fs = std::filesystem;

// Of any one input under a sanitizer, which takes ten times as long: of processors, so that what else runs on the
// machine fails nothing, and by the clock, for an input that waits for ever.
constexpr unsigned processor_seconds = 60, clock_seconds = 900;

std::vector<fs::path> inputs(int count, char** folders) {
    std::vector<fs::path> found;
    for (int i = 1; i < count; ++i) {
        if (!fs::is_directory(folders[i])) continue;
        for (const auto& entry : fs::recursive_directory_iterator(folders[i])) {
            if (entry.is_regular_file() && entry.path().extension() != ".md") found.push_back(entry.path());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// What the workers and the process that started them share.
struct Shared {
    std::atomic<std::size_t> following{0};
    std::atomic<std::size_t> passed{0}, mutants{0};
    std::atomic<std::uint64_t> longest_us{0};
    std::array<std::atomic<std::size_t>, 64> current{};  ///< the input that each worker is at
    std::array<std::atomic<std::size_t>, 64> part{};     ///< which of its runs: a verb's line, a mutant, 0 the first
};

double processor_time() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Options {
    std::size_t each = 1, mutants = 0, seed = 1;
};

/// In a buffer of exactly their size.
template <class Run>
void on_exact(Shared& shared, std::string_view bytes, const Run& run) {
    const auto exact = std::make_unique<char[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    const itimerval bound{{}, {processor_seconds, 0}};
    setitimer(ITIMER_PROF, &bound, nullptr);
    alarm(clock_seconds);
    const double begin = processor_time();
    run(std::string_view(exact.get(), bytes.size()));
    const auto now = static_cast<std::uint64_t>((processor_time() - begin) * 1e6);
    for (std::uint64_t before = shared.longest_us; now > before;)
        if (shared.longest_us.compare_exchange_weak(before, now)) break;
}

void replay(const fs::path& path, std::size_t number, const Options& options, Shared& shared,
            std::atomic<std::size_t>& part) {
    using namespace beamheap::fuzz;
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    const Target* const target = find_target(path.parent_path().filename().string());
    part = 0;
    if (target == nullptr) {
        on_exact(shared, bytes, load_and_walk);
        for (std::size_t line = (number + options.seed) % options.each; line < lines(); line += options.each) {
            part = line + 1;
            on_exact(shared, bytes, [&](std::string_view exact) { (void)run_line(line, exact); });
        }
        return;
    }
    on_exact(shared, bytes, target->run);
    const auto mutate = target->mutate == nullptr ? &mutate_bytes : target->mutate;
    constexpr std::size_t most = 1 << 16;
    for (std::size_t i = 0; i < options.mutants; ++i) {
        part = i + 1;
        on_exact(shared, mutate(bytes, options.seed * 1000003 + number * 1009 + i, most), target->run);
        ++shared.mutants;
    }
}

[[noreturn]] void work(const std::vector<fs::path>& all, const Options& options, Shared& shared, std::size_t worker) {
    for (std::size_t i = shared.following++; i < all.size(); i = shared.following++) {
        shared.current[worker] = i;
        replay(all[i], i, options, shared, shared.part[worker]);
        ++shared.passed;
    }
    std::exit(0);  // not _exit: a sanitizer looks for leaks now
}

}  // namespace

int main(int count, char** folders) {
    Options options;
    for (; count > 2; count -= 2, folders += 2) {
        const std::string_view word = folders[1];
        const auto number = static_cast<std::size_t>(std::max(std::atoi(folders[2]), 1));
        if (word == "--each") options.each = number;
        else if (word == "--mutants") options.mutants = number;
        else if (word == "--seed") options.seed = number;
        else break;
    }
    const std::vector<fs::path> all = inputs(count, folders);
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    Shared& shared = *new (memory) Shared;
    std::vector<pid_t> workers(std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, shared.current.size()),
                               -1);
    const auto start = [&](std::size_t worker) {
        workers[worker] = fork();
        if (workers[worker] == 0) work(all, options, shared, worker);
    };
    for (std::size_t worker = 0; worker < workers.size(); ++worker) start(worker);
    std::size_t failed = 0;
    int status = 0;
    for (pid_t ended = wait(&status); ended > 0; ended = wait(&status)) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        // Another one goes on with what is left.
        const auto worker =
            static_cast<std::size_t>(std::find(workers.begin(), workers.end(), ended) - workers.begin());
        const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        const char* how = signal == 0                              ? "ends the process"
                          : signal == SIGALRM || signal == SIGPROF ? "takes too long"
                                                                   : "crashes";
        std::printf("FAILED %s, run %zu: %s, status %d\n", all[shared.current[worker]].c_str(),
                    shared.part[worker].load(), how, status);
        std::fflush(stdout);
        ++failed;
        start(worker);
    }
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    std::printf("%zu inputs, %zu mutants; the longest took %.1f s of processors, the largest process %ld MB\n",
                shared.passed.load(), shared.mutants.load(), static_cast<double>(shared.longest_us) / 1e6,
                used.ru_maxrss / 1024);
    std::printf("%zu passed, %zu failed, 0 skipped\n", shared.passed.load(), failed);
    if (shared.passed + failed < all.size()) return 1;  // no process could be started
    return failed != 0 ? 1 : all.empty() ? 77 : 0;
}
