// SPDX-License-Identifier: Apache-2.0
// What the header and the tables of an input say of the node as a whole: how it died, what it has, who was running.
#pragma once

#include "analyses/facts/facts.hpp"
#include "analyses/memory/allocators.hpp"
#include "analyses/processes/all_schedulers.hpp"
#include "analyses/processes/totals.hpp"
#include "analyses/slogan/slogan.hpp"

namespace beamheap::analyses {

Result<Slogan> find_fact(FactOf<Slogan>, const Facts& facts);
Result<Totals> find_fact(FactOf<Totals>, const Facts& facts);
Result<Death> find_fact(FactOf<Death>, const Facts& facts);
Result<AllSchedulers> find_fact(FactOf<AllSchedulers>, const Facts& facts);
Result<AllocatorReport> find_fact(FactOf<AllocatorReport>, const Facts& facts);

}  // namespace beamheap::analyses
