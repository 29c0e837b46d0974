// SPDX-License-Identifier: Apache-2.0
// Whether reading an input has failed: a disk's error, a file system that went away.
//
// Who reads in the middle of an analysis often goes on without: a heap that can't be decoded is left out of a table. So
// the first failure is kept, and whoever answers asks for it before the answer is called whole. That a live VM has no
// page at an address is no failure.
#pragma once

#include "beamheap/error.hpp"

namespace beamheap::bytes {

/// Keeps the first failure since the last forget_failed_reads(); any thread may call this.
void note_failed_read(const Error& error);
/// What was kept; ok(): no read has failed.
Status failed_read();
void forget_failed_reads();

}  // namespace beamheap::bytes
