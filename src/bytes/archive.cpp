// SPDX-License-Identifier: Apache-2.0
#include "bytes/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <vector>

namespace beamheap::bytes {
namespace {

constexpr std::size_t block = 128 * 1024;

Error spent(const std::string& name, std::string_view what) {
    return {ErrorCode::resource_limit, fmt::format("{}: {}, which is the limit", name, what),
            "If it is no decompression bomb, unpack it and check the files one by one."};
}

/// While it lives libarchive gives names as UTF-8, as zip archives and pax headers have them: it converts names to the
/// locale's characters, and loses those that have none there.
class Utf8Names {
public:
    Utf8Names() : before_(characters() == nullptr ? locale_t{} : ::uselocale(characters())) {}
    ~Utf8Names() {
        if (before_ != locale_t{}) ::uselocale(before_);
    }
    Utf8Names(const Utf8Names&) = delete;
    Utf8Names& operator=(const Utf8Names&) = delete;

private:
    // Null where the machine has none.
    static locale_t characters() {
        static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
        return utf8;
    }
    locale_t before_;
};

/// libarchive ends the program with exit(1) where a name finds no memory (__archive_errx of archive_string.c, 3.6), and
/// 1 is the exit code of a finding. While one of these lives, the program ends as it does at any other limit.
class EndedByLibrary {
public:
    EndedByLibrary() {
        [[maybe_unused]] static const int registered = std::atexit(tell);
        ++inside_;
    }
    ~EndedByLibrary() { --inside_; }
    EndedByLibrary(const EndedByLibrary&) = delete;
    EndedByLibrary& operator=(const EndedByLibrary&) = delete;

private:
    static void tell() {  // nothing else ends the program while an archive is read
        if (inside_ == 0) return;
        constexpr std::string_view why = "beamheap: there is no memory to read the archive\n";
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, why.data(), why.size());
        ::_exit(5);  // ErrorCode::resource_limit
    }
    static inline std::atomic<int> inside_ = 0;
};

class LibArchive final : public Archive {
public:
    LibArchive(std::unique_ptr<Source> stored, std::string name, ArchiveBudget& budget)
        : stored_(std::move(stored)), name_(std::move(name)), budget_(budget), buffer_(block) {}
    LibArchive(const LibArchive&) = delete;
    LibArchive& operator=(const LibArchive&) = delete;
    ~LibArchive() override {
        if (archive_ != nullptr) archive_read_free(archive_);
    }

    Status open() {
        const EndedByLibrary ended;
        archive_ = archive_read_new();
        if (archive_ == nullptr) return Error{ErrorCode::resource_limit, "out of memory", {}};
        // Each of them fails for lack of memory alone; an archive would be of no known format then.
        for (const int status : {archive_read_support_format_tar(archive_), archive_read_support_format_zip(archive_)})
            if (status != ARCHIVE_OK) return no_memory();
        archive_read_set_callback_data(archive_, this);
        archive_read_set_read_callback(archive_, &LibArchive::on_read);
        if (stored_->seekable()) {
            archive_read_set_seek_callback(archive_, &LibArchive::on_seek);
            archive_read_set_skip_callback(archive_, &LibArchive::on_skip);
        }
        if (archive_read_open1(archive_) != ARCHIVE_OK) {
            // What the bytes are at fault for it says; without a word it ends for lack of memory alone.
            const bool says_why = error_ || !stored_->damage().empty() || archive_errno(archive_) != 0;
            return says_why ? failure("can't be read as an archive") : no_memory();
        }
        return ok();
    }

    Result<std::optional<ArchiveMember>> next() override {
        const Utf8Names names;
        const EndedByLibrary ended;
        for (;;) {
            archive_entry* entry = nullptr;
            const int status = archive_read_next_header(archive_, &entry);
            if (status == ARCHIVE_EOF) {
                if (!stored_->damage().empty()) return failure("the archive ends early");
                return std::optional<ArchiveMember>();
            }
            if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return failure("the archive is damaged");
            if (budget_.members.fetch_sub(1) <= 0) return spent(name_, "there are too many files in archives");
            if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr) continue;
            ++files_;
            ArchiveMember member;
            const char* name = archive_entry_pathname(entry);
            if (name == nullptr) name = archive_entry_pathname_utf8(entry);
            member.name = name == nullptr ? fmt::format("(file {}, whose name can't be read)", files_) : name;
            if (archive_entry_size_is_set(entry) != 0)
                member.size = static_cast<std::uint64_t>(std::max<std::int64_t>(archive_entry_size(entry), 0));
            return std::optional<ArchiveMember>(std::move(member));
        }
    }

    std::unique_ptr<Source> source() override { return std::make_unique<MemberSource>(*this); }

private:
    class MemberSource final : public Source {
    public:
        explicit MemberSource(LibArchive& archive) : archive_(archive) {}
        Result<std::size_t> read(std::span<char> into) override {
            const EndedByLibrary ended;
            const la_ssize_t got = archive_read_data(archive_.archive_, into.data(), into.size());
            if (got < 0) return archive_.failure("a file in it is damaged");
            if (archive_.budget_.bytes.fetch_sub(got) < got)
                return spent(archive_.name_, "the files in archives are too large together");
            position_ += static_cast<std::uint64_t>(got);
            return static_cast<std::size_t>(got);
        }
        std::uint64_t stored_position() const override { return position_; }
        std::uint64_t stored_size() const override { return 0; }

    private:
        LibArchive& archive_;
        std::uint64_t position_ = 0;
    };

    // libarchive is C: no exception may pass through it.
    static la_ssize_t on_read(archive*, void* self, const void** data) {
        auto& me = *static_cast<LibArchive*>(self);
        try {
            return me.read_stored(data);
        } catch (const std::bad_alloc&) {
            archive_set_error(me.archive_, ENOMEM, "no memory");
            return -1;
        }
    }
    la_ssize_t read_stored(const void** data) {
        auto got = stored_->read(buffer_);
        if (!got) {
            error_ = got.error();
            archive_set_error(archive_, EIO, "%s", got.error().message.c_str());
            return -1;
        }
        position_ += *got;
        *data = buffer_.data();
        return static_cast<la_ssize_t>(*got);
    }
    static la_int64_t on_seek(archive*, void* self, la_int64_t offset, int whence) {
        auto& me = *static_cast<LibArchive*>(self);
        const auto size = static_cast<la_int64_t>(me.stored_->size().value_or(0));
        const la_int64_t base = whence == SEEK_END   ? size
                                : whence == SEEK_CUR ? static_cast<la_int64_t>(me.position_)
                                                     : 0;
        la_int64_t to = 0;
        if (__builtin_add_overflow(base, offset, &to) || to < 0) return ARCHIVE_FATAL;
        me.position_ = static_cast<std::uint64_t>(std::min(to, size));
        me.stored_->seek(me.position_);
        return static_cast<la_int64_t>(me.position_);
    }
    static la_int64_t on_skip(archive*, void* self, la_int64_t request) {
        auto& me = *static_cast<LibArchive*>(self);
        const std::uint64_t left = me.stored_->size().value_or(0) - me.position_;
        const std::uint64_t by = std::min(left, static_cast<std::uint64_t>(std::max<la_int64_t>(request, 0)));
        me.position_ += by;
        me.stored_->seek(me.position_);
        return static_cast<la_int64_t>(by);
    }

    Error no_memory() const {
        return {ErrorCode::resource_limit, fmt::format("{}: there is no memory to read it", name_), {}};
    }
    Error failure(std::string_view what) {
        if (error_) return *error_;
        if (archive_errno(archive_) == ENOMEM) return no_memory();
        std::string message = fmt::format("{}: {}", name_, what);
        if (!stored_->damage().empty()) {
            message += fmt::format(" ({})", stored_->damage());
        } else if (const char* why = archive_error_string(archive_); why != nullptr) {
            message += fmt::format(" ({})", why);
        }
        return {ErrorCode::unreadable, std::move(message), {}};
    }

    std::unique_ptr<Source> stored_;
    std::string name_;
    ArchiveBudget& budget_;
    std::vector<char> buffer_;
    std::uint64_t position_ = 0;
    std::uint64_t files_ = 0;     // that next() has come to
    std::optional<Error> error_;  // of the stored bytes
    archive* archive_ = nullptr;
};

// A tar header holds the sum of its own bytes, in octal, with the sum's place counted as spaces.
bool tar_checksum_holds(std::string_view head) {
    constexpr std::size_t at = 148;
    constexpr std::size_t width = 8;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < head.size(); ++i)
        sum += i >= at && i < at + width ? ' ' : static_cast<unsigned char>(head[i]);
    std::uint64_t told = 0;
    bool digits = false;
    for (const char c : head.substr(at, width)) {
        if (c >= '0' && c <= '7') {
            told = told * 8 + static_cast<std::uint64_t>(c - '0');
            digits = true;
        } else if (digits || c != ' ') {
            break;
        }
    }
    return digits && told == sum;
}

}  // namespace

bool looks_like_archive(std::string_view head) {
    using namespace std::string_view_literals;
    if (head.starts_with("PK\x03\x04"sv) || head.starts_with("PK\x05\x06"sv) || head.starts_with("PK\x07\x08"sv))
        return true;
    return head.size() >= archive_head_bytes && tar_checksum_holds(head.substr(0, archive_head_bytes));
}

Result<std::unique_ptr<Archive>> open_archive(std::unique_ptr<Source> source, std::string name, ArchiveBudget& budget) {
    auto archive = std::make_unique<LibArchive>(std::move(source), std::move(name), budget);
    BH_CHECK(archive->open());
    return std::unique_ptr<Archive>(std::move(archive));
}

}  // namespace beamheap::bytes
