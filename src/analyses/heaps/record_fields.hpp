// SPDX-License-Identifier: Apache-2.0
// The fields of a State, or of a record or map in it: what a module calls them, and what they hold.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "analyses/base/sentence.hpp"
#include "analyses/heaps/record_scope.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

struct RecordField {
    std::string_view name;  ///< of a record whose fields are known, or a key that is an atom; else empty
    const Element* key;     ///< of a map; nullptr: the element of a tuple
    std::uint64_t place;    ///< in a tuple, from 1 on; in a map 0
    const Element& value;
    Sentence step;  ///< "its field sessions", "element 3", "key waiting"
};

/// Gives each element of a tuple, or pair of a map that is one object, to `take`; none of one with more than `most`, or
/// of another term. `module` is whose records it is in.
void each_field(TermSource& terms, const RecordScope& scope, ObjectId record, std::string_view module,
                std::uint64_t most, const std::function<void(RecordField)>& take);

}  // namespace beamheap::analyses
