// SPDX-License-Identifier: Apache-2.0
// A small term as text that parse_term() reads back: what a process is called by is kept so.
#pragma once

#include <cstddef>
#include <string>

#include "beamheap/terms.hpp"

namespace beamheap::erlang {

/// Printed as ~p has it, in one line, of about `limit` bytes at most; what is left out, what the input does not hold,
/// and what has no syntax (maps, funs) is `...`. Never recurses.
std::string term_text(TermSource& terms, const Element& term, std::size_t limit);

}  // namespace beamheap::erlang
