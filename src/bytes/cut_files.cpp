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

extern "C" void put_zeros(int, siginfo_t* info, void*) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(info->si_addr) / page * page;
    const std::uintptr_t end = info->si_code == BUS_ADRERR ? end_of_mapping(address) : 0;
    // What stands behind a page that is gone is gone, too.
    if (end != 0 && ::mmap(reinterpret_cast<void*>(address), end - address, PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED)
        was_cut.store(true);
    else ::sigaction(SIGBUS, &taken_before, nullptr);  // it comes again, to whom it is for
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
    struct sigaction action {};
    action.sa_sigaction = &put_zeros;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &taken_before);
}

CutGuard::~CutGuard() { ::sigaction(SIGBUS, &taken_before, nullptr); }

bool CutGuard::cut() const noexcept { return was_cut.load(); }

}  // namespace beamheap::bytes
