// What every document says about its input: the source, the warnings, and how to redact it.
#pragma once

#include <string>
#include <vector>

#include "beamheap/snapshot.hpp"
#include "present/document.hpp"
#include "present/redact.hpp"

namespace beamheap::present {

/// JSON member "source": path, format, format_version, otp_release, erts_version, word_size, jit, complete, truncation,
/// slogan.
Object source_of(const Snapshot& snapshot);

/// One warning per kind of anomaly that was met: its sentence, how often, and where first.
std::vector<Warning> warnings_of(const Snapshot& snapshot);

/// Redaction for this input: the hashes' key is made of what the node was (its identity and its tables), so that equal
/// inputs give equal bytes and other inputs other hashes; `full` learns the input's names.
RedactOptions redaction(RedactLevel level, const Snapshot& snapshot, std::vector<std::string> known_secrets);

}  // namespace beamheap::present
