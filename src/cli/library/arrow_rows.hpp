// SPDX-License-Identifier: Apache-2.0
// A table by Arrow's C data interface: a struct of its columns, one batch of all rows.
//
// Facts: arrow.apache.org/docs/format/CDataInterface.html (which structure says what, who releases what) and
// Columnar.html (validity bitmaps, offsets).
#pragma once

#include "beamheap/beamheap.h"
#include "beamheap/error.hpp"
#include "present/plain_table.hpp"

namespace beamheap::cli {

/// A copy of the table, which refers to nothing else. A column is of integers, of doubles or of texts by what it has,
/// and of nothing where it has no value. Errors (resource_limit): texts of a column that are longer than offsets can
/// say; nothing is given then.
Status to_arrow(const present::PlainTable& table, ArrowSchema& schema, ArrowArray& array);

}  // namespace beamheap::cli
