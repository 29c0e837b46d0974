// SPDX-License-Identifier: Apache-2.0
// The input formats: each recognises its content by the first bytes and opens it. A new input format is one folder
// and one row in formats.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "beamheap/activity.hpp"
#include "beamheap/artifact.hpp"
#include "beamheap/open.hpp"

namespace beamheap {
namespace bytes {
class Source;
}

/// The process that an input names: "pid:1234", or "1234" where no file has that name; nothing of any other.
std::optional<std::uint32_t> process_named(const std::string& path);

/// Watches the schedulers of the running VM that `path` names for as long as asked.
/// Errors: not_held, where it names none; those of otp::attach.
Result<Activity> measure_activity(const std::string& path, const OpenOptions& options,
                                  std::chrono::milliseconds interval);

/// The same on a source that stands at its start and is decompressed already (a member of an archive); `path` is what
/// it is called.
Result<std::unique_ptr<Artifact>> open_artifact_source(std::unique_ptr<bytes::Source> source, const std::string& path,
                                                       const OpenOptions& options);
/// Whether content that begins like this (64 bytes or more) is a crash dump or a core image, be it one that can't be
/// read.
bool looks_like_artifact(std::string_view head);
/// Whether a text begins with the head line of a section that dumps have ("=proc:<0.1.0>").
bool begins_section(std::string_view text);

/// The same on bytes in memory, which must outlive the artifact (tests, fuzzers).
Result<std::unique_ptr<Artifact>> open_artifact_bytes(std::string_view bytes, const OpenOptions& options);

}  // namespace beamheap
