// A core image of beam.smp as an Artifact.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "beamheap/artifact.hpp"
#include "bytes/source.hpp"

namespace beamheap::otp {

/// Whether content begins like an ELF file.
bool sniff(std::string_view head);

/// The releases whose core images are read, for texts: "23 to 29", from the first row of known_layouts() to the last.
std::string releases_read();

/// Opens a core image and finds its executable. A plain file is mapped; anything else (compressed, a pipe) is kept in
/// a temporary file first. Errors: unreadable; not_recognised, with what it is or lacks.
Result<std::unique_ptr<Artifact>> open(std::unique_ptr<bytes::Source> source, const std::string& path,
                                       const OpenOptions& options);

}  // namespace beamheap::otp
