// SPDX-License-Identifier: Apache-2.0
// What a state says of itself that explains why nothing goes on: {true, <<"low on memory">>}, `blocked`, a key `paused`
// that is true, a key `flow_active` that is false.
//
// Theory. A server that is idle while others wait for it has a reason, and programs write their reasons down: as an
// atom or key of a few words (erlang/state_words.hpp), or as a truth with a text for people beside it. Fields without
// names tell by their values alone.
#pragma once

#include <memory>
#include <optional>

#include "analyses/base/sentence.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap::analyses {

struct StateFlag {
    Sentence field;                    ///< "its State > element 6"
    std::shared_ptr<OwnedTerm> value;  ///< as it stands there
};

/// Of a server's State, and of records and maps within it; nothing where none of them says so. Looks at some hundred
/// fields.
std::optional<StateFlag> state_flag(const Snapshot& snapshot, ProcId process, TermSource& terms);

}  // namespace beamheap::analyses
