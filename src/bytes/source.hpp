// SPDX-License-Identifier: Apache-2.0
// Bytes in order, whatever they come from: a plain file, standard input, or a .gz, .zst, .xz or .lz4 of either.
//
// This layer knows nothing of Erlang. Compression is recognised by content, never by name. Nothing is kept: memory
// use does not depend on the size of the input.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "beamheap/error.hpp"

namespace beamheap::bytes {

/// Text of an input that stays where it is as long as this object lives: mapped from a file, of which the pages that
/// are looked at alone take memory, or owned, or the source's own.
class StableText {
public:
    StableText() = default;
    explicit StableText(std::string owned) : owned_(std::move(owned)), view_(owned_) {}
    /// `text` is somebody else's, who outlives this object.
    static StableText borrowed(std::string_view text) {
        StableText result;
        result.view_ = text;
        return result;
    }
    /// Takes over a mapping of `mapped` bytes at `pages`, which holds `view`.
    StableText(void* pages, std::size_t mapped, std::string_view view) : pages_(pages), mapped_(mapped), view_(view) {}
    StableText(StableText&& other) noexcept { *this = std::move(other); }
    StableText& operator=(StableText&& other) noexcept;
    ~StableText();

    std::string_view view() const { return view_; }
    /// The text as a string of the caller's own: without a copy where it was this object's; nothing is left here then.
    std::string take();
    /// Gives back the memory of mapped pages that were looked at; whoever looks again has them read again.
    void forget_pages() const;

private:
    void unmap();
    void* pages_ = nullptr;
    std::size_t mapped_ = 0;
    std::string owned_;
    std::string_view view_;
};

class Source {
public:
    virtual ~Source() = default;

    /// Reads up to into.size() bytes, in order; 0 is the end. Compressed data that is cut or damaged ends there, and
    /// damage() says so afterwards. Errors: I/O (unreadable), the limit on decompressed bytes (resource_limit).
    virtual Result<std::size_t> read(std::span<char> into) = 0;

    /// Whether seek() and read_at() work: plain files only.
    virtual bool seekable() const { return false; }
    /// Goes on reading at this offset from the start. Only if seekable().
    virtual void seek(std::uint64_t /*offset*/) {}
    /// Reads at an offset without moving; any thread may call it. Only if seekable(). Fewer bytes only at the end.
    virtual Result<std::size_t> read_at(std::uint64_t /*offset*/, std::span<char> /*into*/) const {
        return std::size_t{0};
    }

    /// The bytes from an offset on, to be looked at here and there. Only if seekable(). Fewer only at the end. Large
    /// pieces of a file are mapped: should somebody cut the file off meanwhile, the system ends who looks at what is
    /// gone.
    virtual Result<StableText> text_at(std::uint64_t offset, std::size_t bytes) const;

    /// Decompressed size, where it is known before the end.
    virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
    /// How far into the stored bytes reading has come, and how many there are (0: unknown), for a progress display.
    virtual std::uint64_t stored_position() const = 0;
    virtual std::uint64_t stored_size() const = 0;
    /// "gzip", "zstd", "xz", "lz4" or "".
    virtual std::string_view compression() const { return {}; }
    /// Why a compressed input ended early, a phrase; empty if it did not.
    virtual const std::string& damage() const {
        static const std::string none;
        return none;
    }
};

struct SourceOptions {
    std::uint64_t max_bytes = 1ull << 42;  ///< limit on decompressed bytes
};

/// Opens a file, or standard input for "-". Errors: unreadable (with the system's reason), a folder.
Result<std::unique_ptr<Source>> open_source(const std::string& path, const SourceOptions& options = {});

/// The bytes of `text`, which must outlive the source; decompressed like those of a file.
Result<std::unique_ptr<Source>> memory_source(std::string_view text, const SourceOptions& options = {});

/// The same of any source that stands at its start: decompressed if its content is.
Result<std::unique_ptr<Source>> decoded_source(std::unique_ptr<Source> stored, const SourceOptions& options = {});

/// Reads what a seekable source has, from a place of its own; `source` must outlive it.
std::unique_ptr<Source> reader_of(const Source& source);

/// A source with the first bytes that it gives; reading it starts with these again.
struct Peeked {
    std::string head;  ///< up to as many bytes as were asked for
    std::unique_ptr<Source> source;
};
Result<Peeked> peek(std::unique_ptr<Source> source, std::size_t bytes);

/// Wraps `stored` in a decoder if `head`, its first bytes, carry a known magic number; else gives it back.
/// (Internal to this layer; `head` are bytes that were already taken from `stored`.)
std::unique_ptr<Source> decompressed(std::unique_ptr<Source> stored, std::string head, const SourceOptions& options);

}  // namespace beamheap::bytes
