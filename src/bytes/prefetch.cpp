// SPDX-License-Identifier: Apache-2.0
#include "bytes/prefetch.hpp"

#include <atomic>
#include <utility>

#include "bytes/whole_pages.hpp"

namespace beamheap::bytes {

static_assert(Prefetch::room % page_of_files == 0);

Prefetch::Prefetch(const Source& source, std::uint64_t offset) : source_(source), offset_(offset) {
    thread_ = std::thread([this] {
        try {
            run();
        } catch (...) {  // out of memory: thrown again by next(), in the thread that can tell it
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
            filled_.notify_one();
        }
    });
}

Prefetch::~Prefetch() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    room_.notify_one();
    thread_.join();
}

std::shared_ptr<char[]> Prefetch::memory() {
    for (const auto& each : all_memory_) {
        if (each.use_count() != 1) continue;
        std::atomic_thread_fence(std::memory_order_acquire);  // what others read of it, they have read
        return each;
    }
    return all_memory_.emplace_back(whole_pages(room + block_bytes + padding));
}

// Reads the first block that nobody has begun. `lock` is held before and after, not meanwhile.
void Prefetch::read_one(std::unique_lock<std::mutex>& lock) {
    const std::uint64_t number = begun_++;
    Block block{memory(), 0, std::nullopt};
    lock.unlock();
    Result<std::size_t> got = source_.read_at(offset_ + number * block_bytes, {block.memory.get() + room, block_bytes});
    if (got) block.bytes = *got;
    else block.error = std::move(got.error());
    lock.lock();
    ended_ |= block.bytes != block_bytes;
    slots_[number % most_ahead] = {std::move(block), true};
}

void Prefetch::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        room_.wait(lock, [this] { return may_begin() || ended_ || stop_; });
        if (ended_ || stop_) return;
        read_one(lock);
        filled_.notify_one();
    }
}

Prefetch::Block Prefetch::next() {
    std::unique_lock lock(mutex_);
    Slot& slot = slots_[taken_ % most_ahead];
    while (!slot.filled) {
        if (failure_ != nullptr) std::rethrow_exception(failure_);
        if (begun_ == taken_ && ended_) return {};
        if (may_begin()) read_one(lock);
        else filled_.wait(lock);
    }
    Block block = std::move(slot.block);
    slot.filled = false;
    ++taken_;
    lock.unlock();
    room_.notify_one();
    return block;
}

}  // namespace beamheap::bytes
