// SPDX-License-Identifier: Apache-2.0
// Pids that stand in terms as fields of their own.
//
// A server that knows many processes has them in a list, a queue or under keys. The one that it knows for a reason of
// its own, who has its lock, whom it has asked, is a field of its record, of a tuple or of a small map in that.
#pragma once

#include <set>
#include <vector>

#include "beamheap/ids.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// The pids among `terms`, and those that are elements of tuples and values of small maps in them, one in another. Of
/// lists, large maps and keys, none. Looks at the first few thousand fields.
std::set<Pid> pid_fields(TermSource& source, std::vector<Element> terms);

}  // namespace beamheap::analyses
