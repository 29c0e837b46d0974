// SPDX-License-Identifier: Apache-2.0
// A term as text, straight from memory: for the few terms that tables show (labels, messages of timers, port data).
// Whole heaps and their terms are HeapGraph's and TermSource's business.
#pragma once

#include <string>

#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// Appends a term as the VM prints it (%T, erl_printf_term.c): one line, at most about `limit` bytes, "..." where it is
/// cut. What the image does not hold is "?". Reads no more than it prints.
void append_term(Reader& reader, Word term, std::size_t limit, std::string& out);
std::string term_text(Reader& reader, Word term, std::size_t limit);

}  // namespace beamheap::otp
