// SPDX-License-Identifier: Apache-2.0
#include "fuzz/failing_calls.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace beamheap::faults {
namespace {

#define BEAMHEAP_ERRORS(kind, name, ...) constexpr int errors_of_##kind[] = {__VA_ARGS__};
BEAMHEAP_FAILING_CALLS(BEAMHEAP_ERRORS)
#undef BEAMHEAP_ERRORS
const Call rows[] = {
#define BEAMHEAP_ROW(kind, name, ...) {name, errors_of_##kind},
    BEAMHEAP_FAILING_CALLS(BEAMHEAP_ROW)
#undef BEAMHEAP_ROW
};

Injection* shared = nullptr;
bool counts = false;  // this process's calls do

// What a call of this kind is to fail with, now: 0 where it is to be made.
int failure(Kind kind) {
    if (shared == nullptr || !counts) return 0;
    const long now = shared->made[kind].fetch_add(1, std::memory_order_relaxed) + 1;
    const bool fails = kind == shared->kind && (shared->for_good ? now >= shared->at : now == shared->at);
    return fails ? shared->error : 0;
}

// Sets errno where a call of this kind is to fail.
bool fails(Kind kind) {
    const int error = failure(kind);
    if (error == 0) return false;
    errno = error;
    return true;
}

// How much of `size` is read or written; -1: an error.
long part_of(Kind kind, std::size_t size) {
    const int error = failure(kind);
    if (error == short_count) return static_cast<long>((size + 1) / 2);
    if (error == 0) return static_cast<long>(size);
    errno = error;
    return -1;
}

template <class Function>
Function* library(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

const Call& row_of(std::size_t kind) { return rows[kind]; }

Injection& injection() {
    if (shared == nullptr) {
        const long place =
            syscall(SYS_mmap, nullptr, sizeof(Injection), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        shared = new (reinterpret_cast<void*>(place)) Injection;
    }
    return *shared;
}

void begin_counting() { counts = true; }
void end_counting() { counts = false; }

}  // namespace beamheap::faults

using namespace beamheap::faults;

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) { return fails(memory) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return fails(memory) ? nullptr : __libc_calloc(count, size); }
void* realloc(void* old, std::size_t size) { return fails(memory) ? nullptr : __libc_realloc(old, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return fails(memory) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** place, std::size_t alignment, std::size_t size) {
    if (failure(memory) != 0) return ENOMEM;
    *place = __libc_memalign(alignment, size);
    return *place == nullptr ? ENOMEM : 0;
}
void* mmap(void* address, std::size_t size, int access, int flags, int file, off_t offset) {
    if (fails(mappings)) return MAP_FAILED;
    return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, access, flags, file, offset));
}
void* mmap64(void* address, std::size_t size, int access, int flags, int file, off_t offset) {
    return mmap(address, size, access, flags, file, offset);
}
void* mremap(void* old, std::size_t had, std::size_t size, int flags, ...) {
    if (fails(mappings)) return MAP_FAILED;
    va_list rest;
    va_start(rest, flags);
    void* const place = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
    va_end(rest);
    return reinterpret_cast<void*>(syscall(SYS_mremap, old, had, size, flags, place));
}
ssize_t read(int file, void* into, std::size_t size) {
    const long part = part_of(reads, size);
    return part < 0 ? -1 : syscall(SYS_read, file, into, part);
}
ssize_t pread(int file, void* into, std::size_t size, off_t at) {
    const long part = part_of(reads, size);
    return part < 0 ? -1 : syscall(SYS_pread64, file, into, part, at);
}
ssize_t pread64(int file, void* into, std::size_t size, off_t at) { return pread(file, into, size, at); }
// The sentence of an error goes to standard error, which stays.
ssize_t write(int file, const void* from, std::size_t size) {
    const long part = file == STDERR_FILENO ? static_cast<long>(size) : part_of(writes, size);
    return part < 0 ? -1 : syscall(SYS_write, file, from, part);
}
ssize_t pwrite(int file, const void* from, std::size_t size, off_t at) {
    const long part = part_of(writes, size);
    return part < 0 ? -1 : syscall(SYS_pwrite64, file, from, part, at);
}
ssize_t pwrite64(int file, const void* from, std::size_t size, off_t at) { return pwrite(file, from, size, at); }

int openat(int folder, const char* path, int flags, ...) {
    if (fails(opens)) return -1;
    va_list rest;
    va_start(rest, flags);
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
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
int close(int file) {
    const int done = static_cast<int>(syscall(SYS_close, file));  // it is closed, whatever the answer is
    return done != 0 || fails(closes) ? -1 : 0;
}
int fcntl(int file, int command, ...) {
    va_list rest;
    va_start(rest, command);
    const long given = va_arg(rest, long);
    va_end(rest);
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && fails(copies)) return -1;
    return static_cast<int>(syscall(SYS_fcntl, file, command, given));
}
int fcntl64(int file, int command, ...) {
    va_list rest;
    va_start(rest, command);
    const long given = va_arg(rest, long);
    va_end(rest);
    return fcntl(file, command, given);
}

// Those that the C library is asked for, where they don't fail.
#define BEAMHEAP_CALL(kind, type, name, parameters, given, bad)   \
    type name parameters {                                        \
        static const auto real = library<type parameters>(#name); \
        return fails(kind) ? bad : real given;                    \
    }
BEAMHEAP_CALL(streams, FILE*, fopen, (const char* path, const char* mode), (path, mode), nullptr)
BEAMHEAP_CALL(streams, FILE*, fopen64, (const char* path, const char* mode), (path, mode), nullptr)
BEAMHEAP_CALL(folders, DIR*, opendir, (const char* path), (path), nullptr)
BEAMHEAP_CALL(folders, DIR*, fdopendir, (int file), (file), nullptr)
BEAMHEAP_CALL(entries, dirent*, readdir, (DIR * folder), (folder), nullptr)
BEAMHEAP_CALL(looks, int, fstat, (int file, struct stat* into), (file, into), -1)
BEAMHEAP_CALL(looks, int, fstat64, (int file, struct stat64* into), (file, into), -1)
BEAMHEAP_CALL(looks, int, stat, (const char* path, struct stat* into), (path, into), -1)
BEAMHEAP_CALL(looks, int, stat64, (const char* path, struct stat64* into), (path, into), -1)
BEAMHEAP_CALL(looks, int, lstat, (const char* path, struct stat* into), (path, into), -1)
BEAMHEAP_CALL(looks, int, lstat64, (const char* path, struct stat64* into), (path, into), -1)
BEAMHEAP_CALL(looks, int, fstatat, (int folder, const char* path, struct stat* into, int flags),
              (folder, path, into, flags), -1)
BEAMHEAP_CALL(looks, int, fstatat64, (int folder, const char* path, struct stat64* into, int flags),
              (folder, path, into, flags), -1)
BEAMHEAP_CALL(details, int, statx, (int folder, const char* path, int flags, unsigned mask, struct statx* into),
              (folder, path, flags, mask, into), -1)
BEAMHEAP_CALL(sizes, int, ftruncate, (int file, off_t size), (file, size), -1)
BEAMHEAP_CALL(sizes, int, ftruncate64, (int file, off64_t size), (file, size), -1)
BEAMHEAP_CALL(links, int, link, (const char* from, const char* to), (from, to), -1)
BEAMHEAP_CALL(links, int, linkat, (int a, const char* from, int b, const char* to, int flags), (a, from, b, to, flags),
              -1)
BEAMHEAP_CALL(renames, int, rename, (const char* from, const char* to), (from, to), -1)
BEAMHEAP_CALL(removals, int, unlink, (const char* path), (path), -1)
BEAMHEAP_CALL(removals, int, unlinkat, (int folder, const char* path, int flags), (folder, path, flags), -1)
BEAMHEAP_CALL(removals, int, rmdir, (const char* path), (path), -1)
BEAMHEAP_CALL(syncs, int, fsync, (int file), (file), -1)
BEAMHEAP_CALL(syncs, int, fdatasync, (int file), (file), -1)
BEAMHEAP_CALL(new_folders, int, mkdir, (const char* path, mode_t mode), (path, mode), -1)
BEAMHEAP_CALL(pipes, int, pipe2, (int* ends, int flags), (ends, flags), -1)
BEAMHEAP_CALL(processes, pid_t, fork, (), (), -1)
BEAMHEAP_CALL(memory_files, int, memfd_create, (const char* name, unsigned flags), (name, flags), -1)
BEAMHEAP_CALL(sockets, int, socketpair, (int family, int type, int protocol, int* ends), (family, type, protocol, ends),
              -1)
BEAMHEAP_CALL(messages, ssize_t, send, (int file, const void* from, std::size_t size, int flags),
              (file, from, size, flags), -1)
BEAMHEAP_CALL(messages, ssize_t, recv, (int file, void* into, std::size_t size, int flags), (file, into, size, flags),
              -1)
BEAMHEAP_CALL(messages, ssize_t, sendmsg, (int file, const msghdr* message, int flags), (file, message, flags), -1)
BEAMHEAP_CALL(messages, ssize_t, recvmsg, (int file, msghdr* message, int flags), (file, message, flags), -1)
BEAMHEAP_CALL(targets, ssize_t, readlink, (const char* path, char* into, std::size_t size), (path, into, size), -1)
BEAMHEAP_CALL(polls, int, poll, (pollfd * files, nfds_t count, int wait), (files, count, wait), -1)
BEAMHEAP_CALL(waits, pid_t, waitpid, (pid_t process, int* status, int options), (process, status, options), -1)
BEAMHEAP_CALL(foreign, ssize_t, process_vm_readv,
              (pid_t process, const iovec* into, unsigned long pieces, const iovec* from, unsigned long places,
               unsigned long flags),
              (process, into, pieces, from, places, flags), -1)
#undef BEAMHEAP_CALL

long ptrace(__ptrace_request request, ...) {
    if (fails(stops)) return -1;
    va_list rest;
    va_start(rest, request);
    const auto thread = va_arg(rest, pid_t);
    const auto address = va_arg(rest, void*);
    const auto given = va_arg(rest, void*);
    va_end(rest);
    using Trace = long(__ptrace_request, pid_t, void*, void*);
    static const auto trace = library<Trace>("ptrace");
    return trace(request, thread, address, given);
}

// Which the C library has no function for is called by its number; what this file itself asks for never fails.
long syscall(long number, ...) {
    if (number == SYS_perf_event_open && fails(events)) return -1;
    va_list rest;
    va_start(rest, number);
    long given[6];
    for (long& each : given) each = va_arg(rest, long);
    va_end(rest);
    using Call = long(long, long, long, long, long, long, long);
    static Call* call = nullptr;  // no static that is made under a lock: the loader's own calls come through here
    if (call == nullptr) call = library<Call>("syscall");
    return call(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* given) {
    if (failure(threads) != 0) return EAGAIN;
    using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto create = library<Create>("pthread_create");
    return create(thread, attributes, work, given);
}
}
