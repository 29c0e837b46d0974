// SPDX-License-Identifier: Apache-2.0
#include "cli/frame/secrets.hpp"

#include <algorithm>

#include "analyses/facts/needs.hpp"

namespace beamheap::cli {
namespace {

constexpr std::string_view keeper = "auth";

bool is_keeper(const Snapshot& snapshot, ProcId id) { return snapshot.text(snapshot[id].name) == keeper; }

// {state, Cookie, _}: the second element, where the object is such a tuple.
void take_cookie(TermSource& terms, ObjectId id, std::vector<std::string>& secrets) {
    const ObjectHead head = terms.head(id);
    if (head.kind != TermKind::tuple || head.elements < 2) return;
    ElementCursor cursor = terms.elements(id);
    Element element;
    if (!terms.next(cursor, element) || element.kind != ElementKind::atom || element.text != "state") return;
    if (!terms.next(cursor, element) || element.kind != ElementKind::atom || element.text == "nocookie") return;
    std::string cookie(element.text);
    if (std::ranges::find(secrets, cookie) == secrets.end()) secrets.push_back(std::move(cookie));
}

}  // namespace

void plan_for_secrets(LoadPlan& plan, std::function<bool(const Snapshot&, ProcId)> also) {
    plan |= analyses::need::terms;
    plan.terms_of = [also = std::move(also)](const Snapshot& snapshot, ProcId id) {
        return is_keeper(snapshot, id) || (also && also(snapshot, id));
    };
}

std::vector<std::string> known_secrets(Artifact& artifact) {
    std::vector<std::string> secrets;
    const ProcId id = artifact.snapshot().find_registered(keeper);
    if (id == ProcId::none) return secrets;
    const auto terms = artifact.terms(id);
    if (!terms) return secrets;
    const std::size_t objects = (*terms)->graph().size();
    for (std::size_t i = 0; i < objects; ++i)
        take_cookie(**terms, {ObjectId::Space::heap, static_cast<std::uint32_t>(i)}, secrets);
    return secrets;
}

}  // namespace beamheap::cli
