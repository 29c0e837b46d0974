// Replays the fuzzers' findings under any compiler: each file of the folders named on the command line goes through
// the library from a buffer of exactly its size, so that a sanitizer sees every read beyond it, and through each verb.
// As many processes as there are processors share the files; one that crashes or hangs names its input. `--each N` in
// front of the folders: of each file every Nth verb, another one to begin with for each, since a sanitizer takes ten
// times as long.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include "fuzz/whole_program.hpp"

namespace {

namespace fs = std::filesystem;

constexpr unsigned seconds_each = 60;  // of any one input, on a busy machine under a sanitizer

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
    std::atomic<std::size_t> passed{0};
    std::array<std::atomic<std::size_t>, 64> current{};  ///< the input that each worker is at
};

[[noreturn]] void work(const std::vector<fs::path>& all, std::size_t each, Shared& shared, std::size_t worker) {
    for (std::size_t i = shared.following++; i < all.size(); i = shared.following++) {
        shared.current[worker] = i;
        const std::size_t size = fs::file_size(all[i]);
        const auto exact = std::make_unique<char[]>(size);
        std::ifstream(all[i], std::ios::binary).read(exact.get(), static_cast<std::streamsize>(size));
        alarm(seconds_each);
        const std::string_view bytes{exact.get(), size};
        beamheap::fuzz::load_and_walk(bytes);
        for (std::size_t line = i % each; line < beamheap::fuzz::lines(); line += each) {
            alarm(seconds_each);
            (void)beamheap::fuzz::run_line(line, bytes);
        }
        ++shared.passed;
    }
    std::exit(0);  // not _exit: a sanitizer looks for leaks now
}

}  // namespace

int main(int count, char** folders) {
    const bool told = count > 2 && std::string_view(folders[1]) == "--each";
    const std::size_t each = told ? std::max(std::atoi(folders[2]), 1) : 1;
    const std::vector<fs::path> all = inputs(count, folders);
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    Shared& shared = *new (memory) Shared;
    std::vector<pid_t> workers(std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, shared.current.size()),
                               -1);
    const auto start = [&](std::size_t worker) {
        workers[worker] = fork();
        if (workers[worker] == 0) work(all, each, shared, worker);
    };
    for (std::size_t worker = 0; worker < workers.size(); ++worker) start(worker);
    std::size_t failed = 0;
    int status = 0;
    for (pid_t ended = wait(&status); ended > 0; ended = wait(&status)) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        // Another one goes on with what is left.
        const auto worker =
            static_cast<std::size_t>(std::find(workers.begin(), workers.end(), ended) - workers.begin());
        const char* how = !WIFSIGNALED(status)          ? "ends the process"
                          : WTERMSIG(status) == SIGALRM ? "takes too long"
                                                        : "crashes";
        std::printf("FAILED %s: %s, status %d\n", all[shared.current[worker]].c_str(), how, status);
        std::fflush(stdout);
        ++failed;
        start(worker);
    }
    std::printf("%zu passed, %zu failed, 0 skipped\n", shared.passed.load(), failed);
    if (shared.passed + failed < all.size()) return 1;  // no process could be started
    return failed != 0 ? 1 : all.empty() ? 77 : 0;
}
