// SPDX-License-Identifier: Apache-2.0
// A growing array of plain values whose memory is kept from one use to the next.
//
// A heap of a few hundred objects and one of a hundred million pass through the same arrays. Pages come straight from
// the kernel: growing moves page tables and copies nothing (mremap), memory that was reserved and not written costs
// nothing, and clear() keeps all of it. The first touch of a page is what costs: 0.4 milliseconds a megabyte in pages
// of 4 KiB, an eighth of that in pages of 2 MiB. So arrays from 1 MiB on begin where such a page may, and ask for them;
// smaller ones don't (each would waste up to 2 MiB).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace beamheap {

/// Memory of one array.
namespace pages {
/// More room for an array that has `used` bytes of the `mapped` ones at `data` (0: nothing yet): at least `bytes`, and
/// as a rule twice as many, of which none is touched. Gives its new place, and `mapped` is what there is now. What was
/// not written is zero. Throws std::bad_alloc.
void* grow(void* data, std::size_t& mapped, std::size_t used, std::size_t bytes);
void release(void* data, std::size_t mapped);
}  // namespace pages

template <class T>
class FlatArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    FlatArray() = default;
    FlatArray(FlatArray&& other) noexcept { swap(other); }
    FlatArray& operator=(FlatArray&& other) noexcept {
        swap(other);
        return *this;
    }
    ~FlatArray() { release(); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    std::span<const T> view() const { return {data_, size_}; }

    void push(const T& value) {
        if (size_ == capacity_) grow(size_ + 1);
        data_[size_++] = value;
    }
    /// Room for `more` values behind the present ones, so that they can be written through data() and counted by
    /// set_size().
    void reserve_more(std::size_t more) {
        if (capacity_ - size_ < more) grow(size_ + more);
    }
    void set_size(std::size_t size) { size_ = size; }
    /// `size` values, of which those beyond the present size are not initialised.
    void resize(std::size_t size) {
        if (size > capacity_) grow(size);
        size_ = size;
    }
    /// `size` values, all equal.
    void assign(std::size_t size, const T& value) {
        resize(size);
        std::fill(data_, data_ + size, value);
    }
    /// `size` values of which those that were never written are zero, so that a caller that zeroes what it wrote
    /// always finds zeroes: no pass over the array is made.
    void resize_zeroed_by_caller(std::size_t size) { resize(size); }
    void clear() { size_ = 0; }
    /// clear(), and give back what is held beyond `keep` bytes.
    void clear_and_trim(std::size_t keep) {
        size_ = 0;
        if (capacity_ * sizeof(T) > keep) release();
    }
    /// Bytes of the values that are there.
    std::size_t used_bytes() const { return size_ * sizeof(T); }

private:
    static constexpr std::size_t least_bytes = std::min<std::size_t>(4096 * sizeof(T), 16384);

    void swap(FlatArray& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(mapped_, other.mapped_);
    }
    void release() {
        if (mapped_ != 0) pages::release(data_, mapped_);
        data_ = nullptr;
        size_ = capacity_ = mapped_ = 0;
    }
    // What is mapped is taken in steps, so that capacity_ tells clear_and_trim() how much was touched.
    __attribute__((noinline)) void grow(std::size_t wanted) {
        std::size_t bytes = 0;
        if (__builtin_mul_overflow(wanted, sizeof(T), &bytes)) throw std::bad_alloc();
        if (bytes > mapped_)
            data_ = static_cast<T*>(pages::grow(data_, mapped_, size_ * sizeof(T), std::max(bytes, least_bytes)));
        const std::size_t step = std::max({wanted, capacity_ + capacity_ / 2, least_bytes / sizeof(T)});
        capacity_ = std::min(step, mapped_ / sizeof(T));
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::size_t mapped_ = 0;
};

}  // namespace beamheap
