// SPDX-License-Identifier: Apache-2.0
#include "bytes/window.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>

namespace beamheap::bytes {

Window::Window(std::unique_ptr<Source> source) : source_(std::move(source)), capacity_(most_held) {
    take_buffer();
    std::memset(buffer_.get(), 0, padding);
}

bool Window::held_by_others() const {
    constexpr long own = 2;  // buffer_, buffers_
    if (buffer_.use_count() != own) return true;
    std::atomic_thread_fence(std::memory_order_acquire);  // what they read of it, they have read
    return false;
}

/// Another buffer, whose content is lost: one that nobody holds, or a new one.
void Window::take_buffer() {
    buffer_.reset();
    for (const auto& buffer : buffers_) {
        if (buffer.use_count() != 1) continue;
        std::atomic_thread_fence(std::memory_order_acquire);
        buffer_ = buffer;
        return;
    }
    buffer_ = whole_pages(capacity_ + padding);
    buffers_.push_back(buffer_);
}

/// Brings what is kept to the front of a buffer that has room for a step, where this one has little left.
void Window::make_room(std::size_t kept) {
    if (capacity_ - end_ >= step / 2) return;  // what room there is, though it be less than a step
    // Once much had to be seen at once, and then little for long, a small buffer does again.
    constexpr unsigned long_enough = 4;
    little_kept_ = kept <= step / 2 ? little_kept_ + 1 : 0;
    const bool shrinks = capacity_ > most_held && little_kept_ >= long_enough;
    const auto front = place_in_page(offset());
    const bool fits = front + kept + step <= capacity_ && !shrinks;
    if (fits && !held_by_others()) {
        std::memmove(buffer_.get() + front, buffer_.get() + begin_, kept);
    } else {
        const std::shared_ptr<char[]> last = buffer_;
        if (!fits) {
            capacity_ = shrinks ? most_held : std::max(capacity_ * 2, page + kept + step);
            buffers_.clear();
        }
        take_buffer();
        std::memcpy(buffer_.get() + front, last.get() + begin_, kept);
    }
    base_ = offset() - front;
    front_ = begin_ = front;
    end_ = front + kept;
}

/// Whether the next bytes come from the thread that reads ahead, which begins where it pays, and ends where a parser
/// must see more at once than a block has room for.
bool Window::prefetches(std::size_t kept) {
    if (kept > Prefetch::room) {
        if (ahead_ != nullptr) source_->seek(base_ + end_);
        ahead_.reset();
        in_order_ = 0;
    } else if (ahead_ == nullptr && in_order_ >= prefetch_after && (base_ + end_) % page == 0) {
        try {
            ahead_ = std::make_unique<Prefetch>(*source_, base_ + end_);
            buffers_.clear();                 // it has its own
        } catch (const std::system_error&) {  // no room for a thread's stack
            prefetch_after = never;
        }
    }
    return ahead_ != nullptr;
}

/// The window goes on in the next block, what is kept being copied before it.
Result<std::size_t> Window::take_block(std::size_t kept) {
    static_assert(Prefetch::room + Prefetch::block_bytes == most_held && Prefetch::block_bytes == step &&
                  Prefetch::padding == padding);
    Prefetch::Block block = ahead_->next();
    if (block.error) return std::move(*block.error);
    if (block.bytes == 0) return std::size_t{0};
    const std::uint64_t from = base_ + end_;
    source_->seek(from + block.bytes);  // tells how far reading has come
    std::memcpy(block.memory.get() + Prefetch::room - kept, buffer_.get() + begin_, kept);
    buffer_ = std::move(block.memory);
    capacity_ = most_held;
    base_ = from - Prefetch::room;
    front_ = begin_ = Prefetch::room - kept;
    end_ = Prefetch::room;
    return block.bytes;
}

Result<std::size_t> Window::read_more(std::size_t kept) {
    if (prefetches(kept)) return take_block(kept);
    make_room(kept);
    const std::size_t room =
        std::min(step, capacity_ - end_);  // after a seek it ends within a page, where no thread can go on
    return source_->read({buffer_.get() + end_, room > page ? room - place_in_page(base_ + end_ + room) : room});
}

bool Window::more(std::size_t limit) {
    const std::size_t kept = end_ - begin_;
    if (ended_ || kept >= limit) return false;
    Result<std::size_t> got = read_more(kept);
    if (on_read) on_read();
    if (!got) {
        status_ = std::move(got.error());
        ended_ = true;
        return false;
    }
    if (*got == 0) ended_ = true;
    else keep_tail(*got);
    look_for_zeros(*got);
    end_ += *got;
    in_order_ += *got;
    std::memset(buffer_.get() + end_, 0, padding);
    return *got != 0;
}

void Window::add_zeros(std::uint64_t offset, std::uint64_t bytes) {
    if (run_.bytes != 0 && run_.offset + run_.bytes == offset) {
        run_.bytes += bytes;
    } else {
        run_ = {offset, bytes};
    }
    if (run_.bytes < shortest_zero_run) return;
    if (!zero_runs_.empty() && zero_runs_.back().offset == run_.offset) zero_runs_.back() = run_;
    else if (zero_runs_.size() < most_zero_runs) zero_runs_.push_back(run_);
}

/// One byte in as many as the shortest run has tells whether there is anything to look at: texts have no zeros. A run
/// that goes over the end of what was read is put together by its offset: the first and the last byte of that are
/// looked at.
void Window::look_for_zeros(std::size_t got) {
    const std::uint64_t from = base_ + end_;
    if (from < looked_until_) return;  // read again
    looked_until_ = from + got;
    const char* const begin = buffer_.get() + end_;
    constexpr std::size_t stride = shortest_zero_run;
    for (std::size_t at = 0; at < got; at += at + 1 < got ? std::min(stride, got - 1 - at) : 1) {
        const auto none_in = [&](std::size_t from_here) {
            return begin[from_here] != 0 && begin[from_here + stride] != 0 && begin[from_here + 2 * stride] != 0 &&
                   begin[from_here + 3 * stride] != 0;
        };
        while (got - at > 4 * stride && none_in(at)) at += 4 * stride;
        while (begin[at] != 0 && got - at > stride) at += stride;
        if (begin[at] != 0) continue;
        std::size_t first = at;
        while (first != 0 && begin[first - 1] == 0) --first;
        while (at + 1 < got && begin[at + 1] == 0) ++at;
        add_zeros(from + first, at + 1 - first);
    }
}

void Window::keep_tail(std::size_t got) {
    const std::size_t fresh = std::min(got, sizeof tail_);
    const std::size_t old = std::min(tail_size_, sizeof tail_ - fresh);
    std::memmove(tail_, tail_ + tail_size_ - old, old);
    std::memcpy(tail_ + old, buffer_.get() + end_ + got - fresh, fresh);
    tail_size_ = old + fresh;
}

bool Window::skip(std::uint64_t n) {
    const std::size_t here = end_ - begin_;
    if (n <= here) {
        begin_ += static_cast<std::size_t>(n);
        return true;
    }
    const std::uint64_t target = offset() + n;
    const bool read_already = ahead_ != nullptr && n - here <= step;
    if (source_->seekable() && !read_already) {
        const std::uint64_t size = source_->size().value_or(0);
        seek(std::min(target, size));
        return target <= size;
    }
    while (offset() + view().size() < target) {
        begin_ = end_;
        if (!more()) return false;
    }
    begin_ = static_cast<std::size_t>(target - base_);
    return true;
}

void Window::close() {
    ahead_.reset();
    buffers_.clear();
    buffer_.reset();
    base_ += end_;
    front_ = begin_ = end_ = capacity_ = 0;
    ended_ = true;
}

void Window::seek(std::uint64_t offset) {
    ahead_.reset();
    in_order_ = 0;
    source_->seek(offset);
    if (held_by_others()) take_buffer();
    front_ = begin_ = end_ = place_in_page(offset);
    base_ = offset - front_;
    ended_ = false;
}

}  // namespace beamheap::bytes
