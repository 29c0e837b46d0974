// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/pid_fields.hpp"

#include <utility>

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_fields = 2'000;

}  // namespace

std::set<Pid> pid_fields(TermSource& source, std::vector<Element> terms) {
    std::set<Pid> found;
    std::vector<Element> fields = std::move(terms);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].kind == ElementKind::pid) found.insert(fields[i].pid);
        if (fields[i].kind != ElementKind::object) continue;
        const TermKind kind = source.head(fields[i].id).kind;
        if (kind != TermKind::tuple && kind != TermKind::flat_map) continue;
        ElementCursor cursor = source.elements(fields[i].id);
        Element element;
        if (kind == TermKind::flat_map && !source.next(cursor, element)) continue;  // its keys
        while (fields.size() < most_fields && source.next(cursor, element)) fields.push_back(element);
    }
    return found;
}

}  // namespace beamheap::analyses
