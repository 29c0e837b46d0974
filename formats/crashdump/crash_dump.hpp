// SPDX-License-Identifier: Apache-2.0
// A crash dump as an Artifact: one pass over its sections fills the snapshot, as far as the plan asks.
//
// The writer prints all processes before anything that is larger (their heaps above all), so `top` reads the first
// percent of a dump; the end of a plain file is then looked at for its completeness alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/artifact.hpp"
#include "bytes/source.hpp"

namespace beamheap::crashdump {

/// Whether `head`, the first bytes of an input, are those of a crash dump.
bool sniff(std::string_view head);
/// Whether a text begins with the head line of a section: "=proc:<0.1.0>".
bool begins_section(std::string_view text);
/// What an input that looks like a dump but can't be read is, as an error; nullopt for others.
std::optional<Error> refuse(std::string_view head, const std::string& path);

/// An artifact over `source`, which stands at its first byte. `path` is for messages and Source::path.
std::unique_ptr<Artifact> open(std::unique_ptr<bytes::Source> source, const std::string& path,
                               const OpenOptions& options);

}  // namespace beamheap::crashdump
