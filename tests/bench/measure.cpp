// SPDX-License-Identifier: Apache-2.0
// Runs a command whose output is read and dropped, and prints what it took: exit status, wall and processor
// nanoseconds, the largest resident set in kilobytes, page faults. A program of its own because a process's largest
// resident set begins as that of who started it (exec keeps the maximum): that of a script's interpreter would hide
// what a small program takes.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
    int output[2];
    if (argc < 2 || pipe(output) != 0) return 2;
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
        if (dup2(output[1], STDOUT_FILENO) < 0) _exit(126);
        close(output[0]);
        close(output[1]);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    close(output[1]);
    static char dropped[1 << 16];
    while (read(output[0], dropped, sizeof dropped) > 0) {
    }
    int status = 0;
    struct rusage usage {};
    if (wait4(child, &status, 0, &usage) != child) return 2;
    const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start);
    const auto nanoseconds = [](const timeval& t) { return t.tv_sec * 1'000'000'000LL + t.tv_usec * 1'000LL; };
    std::printf("%d %lld %lld %ld %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                static_cast<long long>(wall.count()), nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
                usage.ru_maxrss, usage.ru_minflt);
    return 0;
}
