// SPDX-License-Identifier: Apache-2.0
// Compression of what beamheap writes: gzip as a stream, zstd piece by piece.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "beamheap/error.hpp"

namespace beamheap::bytes {

/// One gzip member (RFC 1952), without a name and a time, so that equal contents are equal files.
class GzipStream {
public:
    /// Compressed bytes go to `to` as they come. Errors of zlib's are memory that is not there: std::bad_alloc.
    explicit GzipStream(std::function<void(std::string_view)> to);
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;
    ~GzipStream();

    void write(std::string_view plain);
    /// What is left, and the end of the member. Nothing may be written afterwards.
    void finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// One zstd frame (RFC 8878), written while it is made: what is left off is a frame that ends early, which readers
/// take as far as it goes.
class ZstdStream {
public:
    /// Compressed bytes go to `to` as they come. Memory that is not there: std::bad_alloc.
    ZstdStream(std::function<void(std::string_view)> to, int level);
    ZstdStream(const ZstdStream&) = delete;
    ZstdStream& operator=(const ZstdStream&) = delete;
    ~ZstdStream();

    void write(std::string_view plain);
    /// What is left, and the end of the frame. Nothing may be written afterwards.
    void finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// What a gzip member (RFC 1952) or a zlib stream (RFC 1950) holds, up to `most` bytes, and as far as it is whole.
std::string inflated(std::string_view compressed, std::size_t most);

/// `plain` as one zstd frame (RFC 8878) that tells its decompressed size. Errors: resource_limit (zstd's reason).
Result<std::string> zstd_frame(std::string_view plain, int level = 3);
/// The first `size` bytes that a zstd frame was made of, which the program holds itself; fewer where the frame is no
/// such one.
std::string plain_of_frame(std::string_view frame, std::size_t size);

}  // namespace beamheap::bytes
