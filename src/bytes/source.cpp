// SPDX-License-Identifier: Apache-2.0
#include "bytes/source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "bytes/cut_files.hpp"
#include "bytes/failed_reads.hpp"
#include "bytes/read_ahead.hpp"

namespace beamheap::bytes {
namespace {

Error system_error(const std::string& path, const char* doing) {
    return {ErrorCode::unreadable, path + ": " + doing + ": " + std::strerror(errno), {}};
}

constexpr std::size_t map_from = 256 * 1024;  // bytes; less is read as fast

class FileSource final : public Source {
public:
    FileSource(int fd, std::string path, std::optional<std::uint64_t> size)
        : fd_(fd), path_(std::move(path)), size_(size) {}
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;
    ~FileSource() override {
        if (fd_ > STDIN_FILENO) ::close(fd_);
    }

    Result<std::size_t> read(std::span<char> into) override {
        ssize_t got = 0;
        do {
            got = size_ ? ::pread(fd_, into.data(), into.size(), static_cast<off_t>(position_))
                        : ::read(fd_, into.data(), into.size());
        } while (got < 0 && errno == EINTR);
        if (got < 0) return failed("cannot read");
        position_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
    }
    bool seekable() const override { return size_.has_value(); }
    void seek(std::uint64_t offset) override { position_ = offset; }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
        std::size_t done = 0;
        while (done < into.size()) {
            const ssize_t got = ::pread(fd_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return failed("cannot read");
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }
    Result<StableText> text_at(std::uint64_t offset, std::size_t bytes) const override {
        if (bytes < map_from) return Source::text_at(offset, bytes);
        struct stat status {};
        if (::fstat(fd_, &status) != 0) return failed("cannot look at");
        const auto size = static_cast<std::uint64_t>(status.st_size);
        if (offset >= size) return StableText();
        const std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
        const auto before = static_cast<std::size_t>(offset % page);
        const auto there = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, size - offset));
        void* pages = ::mmap(nullptr, before + there, PROT_READ, MAP_PRIVATE, fd_, static_cast<off_t>(offset - before));
        if (pages == MAP_FAILED) return Source::text_at(offset, bytes);
        note_mapping(pages, before + there);
        return StableText(pages, before + there, {static_cast<const char*>(pages) + before, there});
    }
    std::optional<std::uint64_t> size() const override { return size_; }
    std::uint64_t stored_position() const override { return position_; }
    std::uint64_t stored_size() const override { return size_.value_or(0); }

private:
    Error failed(const char* what) const {
        Error error = system_error(path_, what);
        note_failed_read(error);
        return error;
    }

    int fd_;
    std::string path_;
    std::optional<std::uint64_t> size_;
    std::uint64_t position_ = 0;
};

class MemorySource final : public Source {
public:
    explicit MemorySource(std::string_view text) : text_(text) {}
    Result<std::size_t> read(std::span<char> into) override {
        const std::size_t got = copy(position_, into);
        position_ += got;
        return got;
    }
    bool seekable() const override { return true; }
    void seek(std::uint64_t offset) override { position_ = offset; }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
        return copy(offset, into);
    }
    Result<StableText> text_at(std::uint64_t offset, std::size_t bytes) const override {
        return StableText::borrowed(text_.substr(std::min<std::uint64_t>(offset, text_.size()), bytes));
    }
    std::optional<std::uint64_t> size() const override { return text_.size(); }
    std::uint64_t stored_position() const override { return position_; }
    std::uint64_t stored_size() const override { return text_.size(); }

private:
    std::size_t copy(std::uint64_t offset, std::span<char> into) const {
        if (offset >= text_.size()) return 0;
        const std::size_t got = std::min<std::size_t>(into.size(), text_.size() - offset);
        std::memcpy(into.data(), text_.data() + offset, got);
        return got;
    }
    std::string_view text_;
    std::uint64_t position_ = 0;
};

// Bytes that were read to recognise the content, then the rest.
class ReaderOf final : public Source {
public:
    explicit ReaderOf(const Source& source) : source_(source) {}
    Result<std::size_t> read(std::span<char> into) override {
        BH_TRY(const std::size_t got, source_.read_at(position_, into));
        position_ += got;
        return got;
    }
    bool seekable() const override { return true; }
    void seek(std::uint64_t offset) override { position_ = offset; }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
        return source_.read_at(offset, into);
    }
    std::optional<std::uint64_t> size() const override { return source_.size(); }
    std::uint64_t stored_position() const override { return position_; }
    std::uint64_t stored_size() const override { return source_.stored_size(); }

private:
    const Source& source_;
    std::uint64_t position_ = 0;
};

class PrefixedSource final : public Source {
public:
    PrefixedSource(std::string head, std::unique_ptr<Source> rest) : head_(std::move(head)), rest_(std::move(rest)) {}
    Result<std::size_t> read(std::span<char> into) override {
        if (taken_ == head_.size()) return rest_->read(into);
        const std::size_t got = std::min(into.size(), head_.size() - taken_);
        std::memcpy(into.data(), head_.data() + taken_, got);
        taken_ += got;
        return got;
    }
    std::uint64_t stored_position() const override { return rest_->stored_position(); }
    std::uint64_t stored_size() const override { return rest_->stored_size(); }
    std::string_view compression() const override { return rest_->compression(); }
    const std::string& damage() const override { return rest_->damage(); }

private:
    std::string head_;
    std::size_t taken_ = 0;
    std::unique_ptr<Source> rest_;
};

Result<std::unique_ptr<Source>> recognise(std::unique_ptr<Source> stored, const SourceOptions& options) {
    std::string head(6, '\0');
    std::size_t have = 0;
    while (have < head.size()) {
        BH_TRY(const std::size_t got, stored->read(std::span(head).subspan(have)));
        if (got == 0) break;
        have += got;
    }
    head.resize(have);
    if (auto decoder = decompressed(nullptr, head, options); decoder == nullptr) {
        if (!stored->seekable())
            return std::unique_ptr<Source>(std::make_unique<PrefixedSource>(head, std::move(stored)));
        stored->seek(0);
        return stored;
    }
    return read_ahead(decompressed(std::move(stored), std::move(head), options));
}

}  // namespace

StableText& StableText::operator=(StableText&& other) noexcept {
    if (this == &other) return *this;
    unmap();
    const bool own = other.view_.data() == other.owned_.data();
    pages_ = std::exchange(other.pages_, nullptr);
    mapped_ = std::exchange(other.mapped_, 0);
    owned_ = std::move(other.owned_);  // a short string moves its characters
    view_ = own ? std::string_view(owned_) : other.view_;
    other.view_ = {};
    return *this;
}

void StableText::forget_pages() const {
    if (pages_ != nullptr) ::madvise(pages_, mapped_, MADV_DONTNEED);
}

std::string StableText::take() {
    std::string text = pages_ == nullptr && view_.data() == owned_.data() ? std::move(owned_) : std::string(view_);
    *this = StableText();
    return text;
}

void StableText::unmap() {
    if (pages_ == nullptr) return;
    forget_mapping(pages_);
    ::munmap(pages_, mapped_);
}

StableText::~StableText() { unmap(); }

Result<StableText> Source::text_at(std::uint64_t offset, std::size_t bytes) const {
    std::string text(bytes, '\0');
    BH_TRY(const std::size_t got, read_at(offset, text));
    text.resize(got);
    return StableText(std::move(text));
}

Result<std::unique_ptr<Source>> open_source(const std::string& path, const SourceOptions& options) {
    if (path == "-")
        return recognise(std::make_unique<FileSource>(STDIN_FILENO, "standard input", std::nullopt), options);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return system_error(path, "cannot open");
    struct stat status {};
    if (::fstat(fd, &status) != 0) {
        Error error = system_error(path, "cannot look at");
        ::close(fd);
        return error;
    }
    if (S_ISDIR(status.st_mode)) {
        ::close(fd);
        return Error{ErrorCode::unreadable, path + ": is a folder", "Name the dump or the core inside it."};
    }
    std::optional<std::uint64_t> size;
    if (S_ISREG(status.st_mode)) size = static_cast<std::uint64_t>(status.st_size);
    return recognise(std::make_unique<FileSource>(fd, path, size), options);
}

Result<std::unique_ptr<Source>> decoded_source(std::unique_ptr<Source> stored, const SourceOptions& options) {
    return recognise(std::move(stored), options);
}

Result<Peeked> peek(std::unique_ptr<Source> source, std::size_t bytes) {
    Peeked peeked{std::string(bytes, '\0'), std::move(source)};
    std::size_t have = 0;
    while (have < bytes) {
        BH_TRY(const std::size_t got, peeked.source->read(std::span(peeked.head).subspan(have)));
        if (got == 0) break;
        have += got;
    }
    peeked.head.resize(have);
    if (peeked.source->seekable()) peeked.source->seek(0);
    else peeked.source = std::make_unique<PrefixedSource>(peeked.head, std::move(peeked.source));
    return peeked;
}

std::unique_ptr<Source> reader_of(const Source& source) { return std::make_unique<ReaderOf>(source); }

Result<std::unique_ptr<Source>> memory_source(std::string_view text, const SourceOptions& options) {
    return recognise(std::make_unique<MemorySource>(text), options);
}

}  // namespace beamheap::bytes
