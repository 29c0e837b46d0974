// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/record_fields.hpp"

#include <string>

#include "analyses/heaps/loop_state.hpp"
#include "erlang/term_walks.hpp"

namespace beamheap::analyses {

void each_field(TermSource& terms, const RecordScope& scope, ObjectId record, std::string_view module,
                std::uint64_t most, const std::function<void(RecordField)>& take) {
    const ObjectHead head = terms.head(record);
    if (head.kind == TermKind::flat_map && head.size <= most) {
        MapWalk walk(terms, record, head);
        for (Pair pair; walk.next(pair);)
            take({pair.key.text, &pair.key, 0, pair.value, sentence("key {}", Atom{std::string(pair.key.text)})});
    } else if (head.kind == TermKind::tuple && head.elements <= most) {
        const RecordType* const type = scope.of_tuple(terms, record, head, module);
        ElementCursor cursor = terms.elements(record);
        Element element;
        for (std::uint64_t i = 1; terms.next(cursor, element); ++i)
            take({type != nullptr && i >= 2 ? std::string_view(type->fields[static_cast<std::size_t>(i) - 2])
                                            : std::string_view(),
                  nullptr, i, element, element_step(type, i)});
    }
}

}  // namespace beamheap::analyses
