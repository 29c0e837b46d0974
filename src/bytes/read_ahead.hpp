// SPDX-License-Identifier: Apache-2.0
// Decompresses on a thread of its own, a few blocks ahead of whoever reads.
#pragma once

#include <memory>

#include "bytes/source.hpp"

namespace beamheap::bytes {

/// Wraps a source that costs time to read (a decoder). The thread starts once a few megabytes were read, so that a
/// question which the first of them answer costs no more than they do. Holds 4 MiB.
std::unique_ptr<Source> read_ahead(std::unique_ptr<Source> source);

}  // namespace beamheap::bytes
