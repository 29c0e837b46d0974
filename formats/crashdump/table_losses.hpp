// SPDX-License-Identifier: Apache-2.0
// What is lost of the tables of a dump, told by what the VM says of them elsewhere: how many there are, how they are
// numbered, what they add up to.
#pragma once

#include "formats/crashdump/loader.hpp"
#include "formats/crashdump/section_order.hpp"

namespace beamheap::crashdump {

/// Counts what does not agree in the tables that were read (count_mismatch, duplicate_section, torn_section,
/// section_missing). What stands behind the last section that was passed is not missed. `ended`: the dump was read to
/// its end.
void judge_tables(Loader& loader, const SectionOrder& order, bool ended);

}  // namespace beamheap::crashdump
