// SPDX-License-Identifier: Apache-2.0
// All memory that the input tells of, by its owners.
#pragma once

#include "analyses/facts/facts.hpp"
#include "analyses/memory/ledger.hpp"

namespace beamheap::analyses {

Result<Ledger> find_fact(FactOf<Ledger>, const Facts& facts);

}  // namespace beamheap::analyses
