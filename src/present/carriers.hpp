// SPDX-License-Identifier: Apache-2.0
// Tables of carriers.
#pragma once

#include <vector>

#include "analyses/memory/carrier_sums.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// One row per allocator.
Table carrier_sum_table(const Names& names, std::vector<analyses::CarrierSum> sums);
/// One row per carrier; `carriers` must outlive the table.
Table carrier_table(const Names& names, const Carriers& carriers, std::vector<std::uint32_t> which);

}  // namespace beamheap::present
