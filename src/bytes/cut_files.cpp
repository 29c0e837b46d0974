// SPDX-License-Identifier: Apache-2.0
#include "bytes/cut_files.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

namespace beamheap::bytes {
namespace {

// More files at once are not looked after: whoever looks at one of those that is cut is ended, as without a guard.
constexpr std::size_t most_mappings = 256;

struct FileMapping {
    std::atomic<std::uintptr_t> begin{0};  // 0: free
    std::atomic<std::uintptr_t> end{0};    // 0: not known yet
};
std::array<FileMapping, most_mappings> mappings;
std::atomic<bool> was_cut{false};
struct sigaction taken_before {};

// The end of the mapping that holds this address; 0: there is none.
std::uintptr_t end_of_mapping(std::uintptr_t address) noexcept {
    for (const FileMapping& each : mappings) {
        const std::uintptr_t begin = each.begin.load(), end = each.end.load();
        if (begin != 0 && address >= begin && address < end) return end;
    }
    return 0;
}

// To whom it went before.
void hand_on(int number, siginfo_t* info, void* context) {
    if ((taken_before.sa_flags & SA_SIGINFO) != 0) return taken_before.sa_sigaction(number, info, context);
    if (taken_before.sa_handler != SIG_DFL && taken_before.sa_handler != SIG_IGN)
        return taken_before.sa_handler(number);
    const bool sent = info->si_code <= 0;
    if (sent && taken_before.sa_handler == SIG_IGN) return;
    ::sigaction(SIGBUS, &taken_before, nullptr);  // a fault comes again, and nobody else is there
    if (sent) ::raise(number);
}

extern "C" void put_zeros(int number, siginfo_t* info, void* context) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(info->si_addr) / page * page;
    const std::uintptr_t end = info->si_code == BUS_ADRERR ? end_of_mapping(address) : 0;
    // What stands behind a page that is gone is gone, too.
    if (end != 0 && ::mmap(reinterpret_cast<void*>(address), end - address, PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED)
        was_cut.store(true);
    else hand_on(number, info, context);
}

}  // namespace

void note_mapping(const void* pages, std::size_t bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(pages);
    for (FileMapping& each : mappings) {
        std::uintptr_t free = 0;
        if (!each.begin.compare_exchange_strong(free, begin)) continue;
        each.end.store(begin + bytes);
        return;
    }
}

void forget_mapping(const void* pages) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(pages);
    for (FileMapping& each : mappings) {
        if (each.begin.load() != begin) continue;
        each.end.store(0);
        each.begin.store(0);
        return;
    }
}

CutGuard::CutGuard() noexcept {
    was_cut.store(false);
    ::sigaction(SIGBUS, nullptr, &taken_before);
    struct sigaction action {};
    action.sa_sigaction = &put_zeros;
    // Threads of some hosts have small stacks, and another one for signals.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (taken_before.sa_flags & (SA_RESTART | SA_NODEFER));
    action.sa_mask = taken_before.sa_mask;
    ::sigaction(SIGBUS, &action, nullptr);
}

CutGuard::~CutGuard() { ::sigaction(SIGBUS, &taken_before, nullptr); }

bool CutGuard::cut() const noexcept { return was_cut.load(); }

}  // namespace beamheap::bytes
