// The input formats: each recognises its content by the first bytes and opens it. A new input format is one folder
// and one row in formats.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "beamheap/artifact.hpp"

namespace beamheap {
namespace bytes {
class Source;
}

/// Opens a crash dump or a core image, told by content, compressed or not; "-" is standard input.
/// Errors: unreadable; not_recognised, with what the content looks like instead.
Result<std::unique_ptr<Artifact>> open_artifact(const std::string& path, const OpenOptions& options);

/// The same on a source that stands at its start and is decompressed already (a member of an archive); `path` is what
/// it is called.
Result<std::unique_ptr<Artifact>> open_artifact_source(std::unique_ptr<bytes::Source> source, const std::string& path,
                                                       const OpenOptions& options);
/// Whether content that begins like this (64 bytes or more) is a crash dump or a core image, be it one that can't be
/// read.
bool looks_like_artifact(std::string_view head);

/// The same on bytes in memory, which must outlive the artifact (tests, fuzzers).
Result<std::unique_ptr<Artifact>> open_artifact_bytes(std::string_view bytes, const OpenOptions& options);

}  // namespace beamheap
