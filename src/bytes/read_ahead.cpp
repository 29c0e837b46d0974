// SPDX-License-Identifier: Apache-2.0
#include "bytes/read_ahead.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace beamheap::bytes {
namespace {

constexpr std::size_t block_size = 1u << 20;
constexpr std::size_t block_count = 4;
constexpr std::uint64_t direct_bytes = 4u << 20;

// Blocks filled by the thread in turn and emptied by read() in the same turn.
class ReadAhead final : public Source {
public:
    explicit ReadAhead(std::unique_ptr<Source> source) : source_(std::move(source)) {}
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;
    ~ReadAhead() override {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        changed_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    Result<std::size_t> read(std::span<char> into) override {
        if (!thread_.joinable()) {
            if (direct_ < direct_bytes || !start()) {
                Result<std::size_t> got = source_->read(into);
                if (got) direct_ += *got;
                position_ = source_->stored_position();
                return got;
            }
        }
        if (taken_ == available_) {
            std::unique_lock lock(mutex_);
            if (holding_) {
                holding_ = false;
                --full_;
                ++reading_;
                changed_.notify_all();
            }
            changed_.wait(lock, [this] { return full_ != 0 || ended_; });
            if (full_ == 0 && failure_ != nullptr) std::rethrow_exception(failure_);
            if (full_ == 0) return error_ ? Result<std::size_t>(*error_) : Result<std::size_t>(std::size_t{0});
            holding_ = true;
            taken_ = 0;
            available_ = blocks_[reading_ % block_count].size;
            position_ = blocks_[reading_ % block_count].position;
        }
        const std::size_t got = std::min(into.size(), available_ - taken_);
        std::memcpy(into.data(), blocks_[reading_ % block_count].bytes.data() + taken_, got);
        taken_ += got;
        return got;
    }
    std::uint64_t stored_position() const override { return position_; }
    std::uint64_t stored_size() const override { return source_->stored_size(); }
    std::string_view compression() const override { return source_->compression(); }
    /// Settled once read() has given 0.
    const std::string& damage() const override { return source_->damage(); }

private:
    struct Block {
        std::vector<char> bytes;
        std::size_t size = 0;
        std::uint64_t position = 0;
    };

    /// False: there is no room for a thread, and the caller reads by itself.
    bool start() {
        if (alone_) return false;
        try {
            thread_ = std::thread([this] { fill_or_fail(); });
        } catch (const std::system_error&) {
            alone_ = true;
        }
        return !alone_;
    }

    void fill_or_fail() {
        try {
            fill();
        } catch (...) {  // out of memory: thrown again by read(), in the thread that can tell it
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
            ended_ = true;
            changed_.notify_all();
        }
    }

    void fill() {
        for (std::size_t turn = 0;; ++turn) {
            Block& block = blocks_[turn % block_count];
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [this] { return full_ < block_count || stop_; });
                if (stop_) return;
            }
            block.bytes.resize(block_size);
            block.size = 0;
            bool ended = false;
            std::optional<Error> error;
            while (block.size < block_size && !ended) {
                Result<std::size_t> got = source_->read(std::span(block.bytes).subspan(block.size));
                if (!got) error = std::move(got.error());
                ended = !got || *got == 0;
                if (!ended) block.size += *got;
            }
            block.position = source_->stored_position();
            const std::lock_guard lock(mutex_);
            if (block.size != 0) ++full_;
            ended_ = ended;
            error_ = std::move(error);
            changed_.notify_all();
            if (ended || stop_) return;
        }
    }

    std::unique_ptr<Source> source_;
    std::uint64_t direct_ = 0, position_ = 0;
    std::array<Block, block_count> blocks_;
    std::size_t taken_ = 0, available_ = 0, reading_ = 0;
    bool holding_ = false;  // read() has a block in hand
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t full_ = 0;  // blocks filled and not given back, guarded by mutex_ as are the next three
    bool ended_ = false, stop_ = false;
    std::optional<Error> error_;
    std::exception_ptr failure_;
    bool alone_ = false;  // no thread can be had
    std::thread thread_;
};

}  // namespace

std::unique_ptr<Source> read_ahead(std::unique_ptr<Source> source) {
    return std::make_unique<ReadAhead>(std::move(source));
}

}  // namespace beamheap::bytes
