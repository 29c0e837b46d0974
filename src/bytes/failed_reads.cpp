// SPDX-License-Identifier: Apache-2.0
#include "bytes/failed_reads.hpp"

#include <mutex>
#include <optional>

namespace beamheap::bytes {
namespace {

struct Kept {
    std::mutex mutex;
    std::optional<Error> first;
};

Kept& kept() {
    static Kept only;
    return only;
}

}  // namespace

void note_failed_read(const Error& error) {
    const std::lock_guard lock(kept().mutex);
    if (!kept().first) kept().first = error;
}

Status failed_read() {
    const std::lock_guard lock(kept().mutex);
    if (kept().first) return *kept().first;
    return ok();
}

void forget_failed_reads() {
    const std::lock_guard lock(kept().mutex);
    kept().first.reset();
}

}  // namespace beamheap::bytes
