// SPDX-License-Identifier: Apache-2.0
// Streaming decoders. Each keeps one input buffer and the library's own window; several members or frames in a row
// are one stream, as the command line tools have it. Damage ends the stream and is told by damage(); memory that a
// library does not get, or a window larger than is allowed, is no damage.
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "bytes/source.hpp"
#include "bytes/whole_pages.hpp"

namespace beamheap::bytes {
namespace {

constexpr std::size_t input_size = 128 * 1024;
constexpr std::uint64_t xz_memory_limit = 512ull << 20;

/// What the input wants before its first byte can be had, where that is more than is allowed.
Error too_large(std::string_view what, std::string_view command) {
    return Error{ErrorCode::resource_limit, std::string(what) + ", which is the limit",
                 "If the input is no decompression bomb, decompress it first (" + std::string(command) +
                     ") and name the plain file."};
}

class Decoder : public Source {
public:
    Decoder(std::unique_ptr<Source> stored, std::string head, const SourceOptions& options, std::string_view name)
        : stored_(std::move(stored)), max_bytes_(options.max_bytes), name_(name) {
        std::memcpy(input_.get(), head.data(), head.size());
        available_ = head.size();
    }

    Result<std::size_t> read(std::span<char> into) override {
        std::size_t made = 0;
        while (made == 0 && !finished_ && !into.empty()) {
            if (taken_ == available_ && !at_end_) {
                taken_ = place_in_page(stored_->stored_position());
                BH_TRY(const std::size_t got, stored_->read({input_.get() + taken_, input_size}));
                available_ = taken_ + got;
                at_end_ = got == 0;
            }
            if (at_end_ && between_frames_) break;
            std::size_t consumed = 0;
            const std::string_view in(input_.get() + taken_, available_ - taken_);
            BH_TRY(const char* const why, decode(in, into, consumed, made));
            if (why != nullptr) {
                finished_ = true;
                damage_ = std::string("the ") + std::string(name_) + " data is damaged (" + why + ")";
            } else if (at_end_ && made == 0 && consumed == 0) {
                finished_ = true;
                if (!between_frames_) damage_ = std::string("the ") + std::string(name_) + " data ends early";
            }
            taken_ += consumed;
        }
        total_ += made;
        if (total_ > max_bytes_)
            return Error{ErrorCode::resource_limit,
                         "decompressing gives more than " + std::to_string(max_bytes_) + " bytes, which is the limit",
                         "If the input is no decompression bomb, decompress it first and name the plain file."};
        return made;
    }
    std::uint64_t stored_position() const override { return stored_->stored_position(); }
    std::uint64_t stored_size() const override { return stored_->stored_size(); }
    std::string_view compression() const override { return name_; }
    const std::string& damage() const override { return damage_; }

protected:
    /// Decodes from `in` to `out`; gives null, or the reason why the data is damaged. Errors: the data wants more
    /// memory than is allowed; std::bad_alloc where the machine has less than the library asks for.
    virtual Result<const char*> decode(std::string_view in, std::span<char> out, std::size_t& consumed,
                                       std::size_t& made) = 0;
    bool between_frames_ = false;  ///< nothing is open: the end of the input is a proper end here

private:
    std::unique_ptr<Source> stored_;
    std::uint64_t max_bytes_;
    std::string_view name_;
    std::shared_ptr<char[]> input_ = whole_pages(input_size + page_of_files);
    std::size_t taken_ = 0, available_ = 0;
    std::uint64_t total_ = 0;
    bool at_end_ = false, finished_ = false;
    std::string damage_;
};

class ZstdDecoder final : public Decoder {
public:
    ZstdDecoder(std::unique_ptr<Source> stored, std::string head, const SourceOptions& options)
        : Decoder(std::move(stored), std::move(head), options, "zstd"), stream_(ZSTD_createDStream()) {
        if (stream_ == nullptr) throw std::bad_alloc();
    }
    ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }
    ZstdDecoder(const ZstdDecoder&) = delete;
    ZstdDecoder& operator=(const ZstdDecoder&) = delete;

protected:
    Result<const char*> decode(std::string_view in, std::span<char> out, std::size_t& consumed,
                               std::size_t& made) override {
        ZSTD_inBuffer input{in.data(), in.size(), 0};
        ZSTD_outBuffer output{out.data(), out.size(), 0};
        const std::size_t left = ZSTD_decompressStream(stream_, &output, &input);
        consumed = input.pos;
        made = output.pos;
        if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) throw std::bad_alloc();
        if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
            return too_large("the zstd data needs a window of more than 128 MiB", "zstd -d --long=31");
        if (ZSTD_isError(left)) return ZSTD_getErrorName(left);
        if (consumed != 0 || made != 0) between_frames_ = left == 0;
        return nullptr;
    }

private:
    ZSTD_DStream* stream_;
};

class GzipDecoder final : public Decoder {
public:
    GzipDecoder(std::unique_ptr<Source> stored, std::string head, const SourceOptions& options)
        : Decoder(std::move(stored), std::move(head), options, "gzip") {
        if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
    }
    ~GzipDecoder() override { inflateEnd(&stream_); }
    GzipDecoder(const GzipDecoder&) = delete;
    GzipDecoder& operator=(const GzipDecoder&) = delete;

protected:
    Result<const char*> decode(std::string_view in, std::span<char> out, std::size_t& consumed,
                               std::size_t& made) override {
        if (between_frames_ && !in.empty()) {
            if (static_cast<unsigned char>(in[0]) != 0x1f) {  // padding after the last member, as gzip ignores it
                consumed = in.size();
                return nullptr;
            }
            inflateReset(&stream_);
            between_frames_ = false;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
        stream_.avail_in = static_cast<uInt>(in.size());
        stream_.next_out = reinterpret_cast<Bytef*>(out.data());
        stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), 1u << 30));
        const uInt room = stream_.avail_out;
        const int status = inflate(&stream_, Z_NO_FLUSH);
        consumed = in.size() - stream_.avail_in;
        made = room - stream_.avail_out;
        if (status == Z_MEM_ERROR) throw std::bad_alloc();
        if (status == Z_STREAM_END) between_frames_ = true;
        else if (status != Z_OK && status != Z_BUF_ERROR)
            return stream_.msg != nullptr ? stream_.msg : "inflate failed";
        return nullptr;
    }

private:
    z_stream stream_{};
};

class XzDecoder final : public Decoder {
public:
    XzDecoder(std::unique_ptr<Source> stored, std::string head, const SourceOptions& options)
        : Decoder(std::move(stored), std::move(head), options, "xz") {
        if (lzma_stream_decoder(&stream_, xz_memory_limit, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
    }
    ~XzDecoder() override { lzma_end(&stream_); }
    XzDecoder(const XzDecoder&) = delete;
    XzDecoder& operator=(const XzDecoder&) = delete;

protected:
    Result<const char*> decode(std::string_view in, std::span<char> out, std::size_t& consumed,
                               std::size_t& made) override {
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
        stream_.avail_in = in.size();
        stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
        stream_.avail_out = out.size();
        const lzma_ret status = lzma_code(&stream_, in.empty() ? LZMA_FINISH : LZMA_RUN);
        consumed = in.size() - stream_.avail_in;
        made = out.size() - stream_.avail_out;
        switch (status) {
            case LZMA_OK:
            case LZMA_BUF_ERROR: return nullptr;
            case LZMA_STREAM_END: between_frames_ = true; return nullptr;
            case LZMA_MEMLIMIT_ERROR: return too_large("the xz data needs a dictionary of more than 512 MiB", "xz -d");
            case LZMA_MEM_ERROR: throw std::bad_alloc();
            default: return "lzma_code failed";
        }
    }

private:
    lzma_stream stream_ = LZMA_STREAM_INIT;
};

class Lz4Decoder final : public Decoder {
public:
    Lz4Decoder(std::unique_ptr<Source> stored, std::string head, const SourceOptions& options)
        : Decoder(std::move(stored), std::move(head), options, "lz4") {
        if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION))) throw std::bad_alloc();
    }
    ~Lz4Decoder() override { LZ4F_freeDecompressionContext(context_); }
    Lz4Decoder(const Lz4Decoder&) = delete;
    Lz4Decoder& operator=(const Lz4Decoder&) = delete;

protected:
    Result<const char*> decode(std::string_view in, std::span<char> out, std::size_t& consumed,
                               std::size_t& made) override {
        consumed = in.size();
        made = out.size();
        const std::size_t left = LZ4F_decompress(context_, out.data(), &made, in.data(), &consumed, nullptr);
        if (LZ4F_isError(left)) {
            const char* const why = LZ4F_getErrorName(left);
            if (std::string_view(why) == "ERROR_allocation_failed") throw std::bad_alloc();
            return why;
        }
        if (consumed != 0 || made != 0) between_frames_ = left == 0;
        return nullptr;
    }

private:
    LZ4F_dctx* context_ = nullptr;
};

bool starts_with(std::string_view head, std::initializer_list<int> magic) {
    if (head.size() < magic.size()) return false;
    std::size_t i = 0;
    for (const int byte : magic)
        if (static_cast<unsigned char>(head[i++]) != byte) return false;
    return true;
}

}  // namespace

std::unique_ptr<Source> decompressed(std::unique_ptr<Source> stored, std::string head, const SourceOptions& options) {
    if (starts_with(head, {0x28, 0xB5, 0x2F, 0xFD}) ||
        (head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xF0) == 0x50 &&
         starts_with(std::string_view(head).substr(1), {0x2A, 0x4D, 0x18})))
        return std::make_unique<ZstdDecoder>(std::move(stored), std::move(head), options);
    if (starts_with(head, {0x1F, 0x8B}))
        return std::make_unique<GzipDecoder>(std::move(stored), std::move(head), options);
    if (starts_with(head, {0xFD, '7', 'z', 'X', 'Z', 0x00}))
        return std::make_unique<XzDecoder>(std::move(stored), std::move(head), options);
    if (starts_with(head, {0x04, 0x22, 0x4D, 0x18}))
        return std::make_unique<Lz4Decoder>(std::move(stored), std::move(head), options);
    return stored;
}

}  // namespace beamheap::bytes
