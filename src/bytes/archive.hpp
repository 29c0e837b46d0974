// SPDX-License-Identifier: Apache-2.0
// The members of a .zip or a tarball, one after the other, as streams: nothing is ever unpacked to a file of its name.
//
// A tarball may be compressed with anything that Source reads (.tar.gz, .tar.zst, .tar.xz). Zip archives are read by
// their directory where the source can be read at any place, else front to back. Names are the archive's, and so an
// attacker's: they are for showing, never for opening. Archives in archives are opened by the caller from a member's
// source; one ArchiveBudget bounds all of them together.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "beamheap/error.hpp"
#include "bytes/source.hpp"

namespace beamheap::bytes {

/// What may still be read of all archives together. Members may be read by another thread than the one that opened.
struct ArchiveBudget {
    std::atomic<std::int64_t> members{100'000};
    std::atomic<std::int64_t> bytes{1ll << 38};  ///< of members, decompressed
};

struct ArchiveMember {
    std::string name;  ///< raw bytes as the archive has them
    std::optional<std::uint64_t> size;
};

class Archive {
public:
    virtual ~Archive() = default;
    /// The next member that is a regular file; nullopt at the end. Folders, links and devices are passed over.
    /// Sources of earlier members must be gone. Errors: unreadable (what follows can't be read), resource_limit.
    virtual Result<std::optional<ArchiveMember>> next() = 0;
    /// The bytes of the member that next() gave, as they are (not decompressed). Errors of its read(): unreadable (a
    /// damaged or encrypted member; the next one may be good), resource_limit.
    virtual std::unique_ptr<Source> source() = 0;
};

/// Bytes that looks_like_archive() wants to see.
inline constexpr std::size_t archive_head_bytes = 512;
/// Whether content that begins like this is a zip archive or a tarball.
bool looks_like_archive(std::string_view head);
/// `source` is at its start; `name` is for sentences. `budget` must outlive the archive.
Result<std::unique_ptr<Archive>> open_archive(std::unique_ptr<Source> source, std::string name, ArchiveBudget& budget);

}  // namespace beamheap::bytes
