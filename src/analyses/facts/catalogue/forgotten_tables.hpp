// SPDX-License-Identifier: Apache-2.0
// Which ETS tables their owners no longer refer to.
//
// Theory. A table without a name is reached by its reference alone (`named_table` was not given; since OTP 20 an
// identifier is a reference, erts/emulator/beam/erl_db.c). Of a private table no other process can do anything, so
// where no term of its owner refers to it nobody will ever read, write or delete it: it is memory that is lost until
// the owner ends. Others can read a protected one; they would have to know its reference. Public tables are handed out,
// and are not looked at. The terms are all that the owner's stack, dictionary and messages lead to; a reference that is
// kept in another table, as rows of a registry, is not seen. Nor is what a dump leaves out: owners whose registers it
// lacks (those that hibernate) are not looked into, nor any that does not wait.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/facts/facts.hpp"

namespace beamheap::analyses {

struct TablesOfOwner {
    ProcId owner = ProcId::none;
    std::uint64_t tables = 0;     ///< without a name, and not public
    std::uint64_t forgotten = 0;  ///< of these, that no term of the owner refers to
    std::uint64_t bytes = 0;      ///< of those that are forgotten
    bool all_private = true;      ///< of those that are forgotten
};

struct ForgottenTables {
    std::vector<TablesOfOwner> owners;  ///< that were looked into
    /// Of one that was looked into; nullptr: it was not.
    const TablesOfOwner* of(ProcId owner) const;
};

/// Owners whose terms are read: where tables hold much, or one process has many of them, the one with most bytes in
/// them, and some of its siblings that are in the same function.
std::vector<ProcId> sampled_owners(const Snapshot& snapshot);

Result<ForgottenTables> find_fact(FactOf<ForgottenTables>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
