// SPDX-License-Identifier: Apache-2.0
#include "bytes/compress.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <utility>

namespace beamheap::bytes {
namespace {

constexpr int gzip_format = 15 + 16;  // the largest window, and gzip's head and tail in place of zlib's
constexpr int usual_memory = 8;
constexpr std::size_t piece_of_input = std::size_t{1} << 30;  // zlib counts in unsigned int

}  // namespace

struct GzipStream::State {
    z_stream stream{};
    std::function<void(std::string_view)> to;
    std::array<char, 64 * 1024> out{};

    void run(std::string_view plain, int flush) {
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
        stream.avail_in = static_cast<uInt>(plain.size());
        do {
            stream.next_out = reinterpret_cast<Bytef*>(out.data());
            stream.avail_out = static_cast<uInt>(out.size());
            ::deflate(&stream, flush);
            to({out.data(), out.size() - stream.avail_out});
        } while (stream.avail_out == 0);
    }
};

GzipStream::GzipStream(std::function<void(std::string_view)> to) : state_(std::make_unique<State>()) {
    state_->to = std::move(to);
    if (deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_format, usual_memory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
}

GzipStream::~GzipStream() { ::deflateEnd(&state_->stream); }

void GzipStream::write(std::string_view plain) {
    for (; !plain.empty(); plain.remove_prefix(std::min(plain.size(), piece_of_input)))
        state_->run(plain.substr(0, piece_of_input), Z_NO_FLUSH);
}

void GzipStream::finish() { state_->run({}, Z_FINISH); }

std::string inflated(std::string_view compressed, std::size_t most) {
    constexpr int either_format = 15 + 32;  // the largest window; gzip's head or zlib's
    z_stream stream{};
    if (::inflateInit2(&stream, either_format) != Z_OK) throw std::bad_alloc();
    std::string out(most, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
    stream.avail_in = static_cast<uInt>(std::min(compressed.size(), piece_of_input));
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(std::min(most, piece_of_input));
    ::inflate(&stream, Z_FINISH);  // whatever it says: what came out counts
    out.resize(static_cast<std::size_t>(reinterpret_cast<char*>(stream.next_out) - out.data()));
    ::inflateEnd(&stream);
    return out;
}

namespace {

// The strategy of the usual level whatever it is; the static program has no other (cmake/static_program.cpp).
void set_level(ZSTD_CCtx* context, int level) {
    ::ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ::ZSTD_CCtx_setParameter(context, ZSTD_c_strategy, ZSTD_dfast);
}

}  // namespace

struct ZstdStream::State {
    std::unique_ptr<ZSTD_CCtx, decltype(&::ZSTD_freeCCtx)> context{::ZSTD_createCCtx(), &::ZSTD_freeCCtx};
    std::function<void(std::string_view)> to;
    std::array<char, 128 * 1024> out{};

    void run(std::string_view plain, ZSTD_EndDirective how) {
        ZSTD_inBuffer in{plain.data(), plain.size(), 0};
        for (bool more = true; more;) {
            ZSTD_outBuffer made{out.data(), out.size(), 0};
            const std::size_t left = ::ZSTD_compressStream2(context.get(), &made, &in, how);
            if (::ZSTD_isError(left) != 0) throw std::bad_alloc();  // all that can go wrong here
            if (made.pos != 0) to({out.data(), made.pos});
            more = how == ZSTD_e_end ? left != 0 : in.pos < in.size;
        }
    }
};

ZstdStream::ZstdStream(std::function<void(std::string_view)> to, int level) : state_(std::make_unique<State>()) {
    state_->to = std::move(to);
    if (state_->context == nullptr) throw std::bad_alloc();
    set_level(state_->context.get(), level);
}

ZstdStream::~ZstdStream() = default;

void ZstdStream::write(std::string_view plain) {
    if (!plain.empty()) state_->run(plain, ZSTD_e_continue);
}

void ZstdStream::finish() { state_->run({}, ZSTD_e_end); }

Result<std::string> zstd_frame(std::string_view plain, int level) {
    std::string out(::ZSTD_compressBound(plain.size()), '\0');
    const std::unique_ptr<ZSTD_CCtx, decltype(&::ZSTD_freeCCtx)> context(::ZSTD_createCCtx(), &::ZSTD_freeCCtx);
    if (context == nullptr) throw std::bad_alloc();
    set_level(context.get(), level);
    const std::size_t size = ::ZSTD_compress2(context.get(), out.data(), out.size(), plain.data(), plain.size());
    if (::ZSTD_isError(size) != 0)
        return Error{ErrorCode::resource_limit, std::string("zstd: ") + ::ZSTD_getErrorName(size), {}};
    out.resize(size);
    return out;
}

std::string plain_of_frame(std::string_view frame, std::size_t size) {
    std::string plain(size, '\0');
    const std::size_t made = ::ZSTD_decompress(plain.data(), plain.size(), frame.data(), frame.size());
    plain.resize(::ZSTD_isError(made) != 0 ? 0 : made);
    return plain;
}

}  // namespace beamheap::bytes
