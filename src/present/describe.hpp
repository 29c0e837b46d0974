// SPDX-License-Identifier: Apache-2.0
// What every document says about its input: the source, the warnings, and how to redact it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/snapshot.hpp"
#include "present/document.hpp"
#include "present/secrets/redact.hpp"

namespace beamheap::present {

/// How the node died, in the words of the input: its slogan, or of a core image the signal; empty where it did not.
Text death_text(const Node& node);
/// The same as a value: null where there is none.
Value death_value(const Node& node);
/// The kind of an input for programs: crash_dump, core, live.
std::string_view format_name(InputFormat format);
/// Milliseconds since 1970 as "2026-11-22T15:40:01.250Z".
std::string time_text(std::int64_t ms);

/// Of a VM that runs, when and how it was read, a sentence: which process, when, in what time, and how its processes'
/// rows were proved. Empty of other inputs.
Text reading_text(const Snapshot& snapshot);

/// JSON member "source": path, format, format_version, otp_release, erts_version, word_size, jit, complete, truncation,
/// slogan; of a VM that runs also live {pid, read_at, took_ms, stable, moving, running, gone, ended}.
Object source_of(const Snapshot& snapshot);

/// One warning per kind of anomaly that was met: its sentence, how often, and where first. Where something was lost, a
/// last one names the parts of the input that were not looked at for this answer.
std::vector<Warning> warnings_of(const Snapshot& snapshot);

/// Redaction for this input; `full` learns the input's names.
RedactOptions redaction(RedactLevel level, const Salt& salt, const Snapshot& snapshot,
                        std::vector<std::string> known_secrets);

}  // namespace beamheap::present
