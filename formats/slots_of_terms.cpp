#include "formats/slots_of_terms.hpp"

#include <algorithm>

namespace beamheap {
namespace {

constexpr std::uint32_t youngest_frames = 3;

void add_slot(Snapshot& snapshot, TermSource& terms, ProcId process, std::size_t root) {
    const Root& place = terms.graph().roots()[root];
    const Element element = terms.root(root);
    StackSlot slot;
    slot.process = process;
    slot.frame = static_cast<std::uint8_t>(place.frame);
    switch (element.kind) {
        case ElementKind::pid: slot.pid = element.pid; break;
        case ElementKind::port:
            slot.kind = StackSlot::Kind::port;
            slot.port = element.port;
            break;
        case ElementKind::atom:
            slot.kind = StackSlot::Kind::atom;
            slot.atom = snapshot.texts.intern(element.text);
            break;
        case ElementKind::object: {
            const ObjectHead head = terms.head(element.id);
            if (head.kind == TermKind::external_pid) {
                slot.pid = head.pid;
            } else if (head.kind == TermKind::reference || head.kind == TermKind::external_reference) {
                slot.kind = StackSlot::Kind::reference;
                slot.words = static_cast<std::uint8_t>(head.numbers);
                for (std::size_t i = 0; i < 3 && i < head.numbers; ++i) slot.ref[2 - i] = head.words[i];
            } else {
                return;
            }
            break;
        }
        default: return;
    }
    snapshot.slots.push_back(slot);
}

}  // namespace

void add_slots(Artifact& artifact, const LoadPlan& plan, std::uint64_t most_words) {
    if (plan.slots_of == nullptr) return;
    Snapshot& snapshot = artifact.snapshot();
    std::vector<std::uint8_t> functions(snapshot.functions.size());  // 0 not asked yet, 1 no, 2 yes
    for (std::uint32_t i = 0; i < snapshot.processes.size(); ++i) {
        const Process& process = snapshot.processes[i];
        const FunctionId function = process.current_function;
        if (function == FunctionId::none || index_of(function) >= functions.size()) continue;
        std::uint8_t& known = functions[index_of(function)];
        if (known == 0) known = plan.slots_of(snapshot, function) ? 2 : 1;
        if (known != 2) continue;
        if ((process.heap_words + process.old_heap_words).value_or(0) > most_words) continue;
        const auto terms = artifact.terms(ProcId{i});
        if (!terms) continue;
        const std::span<const Root> roots = (*terms)->graph().roots();
        for (std::size_t root = 0; root < roots.size(); ++root)
            if (roots[root].kind == RootKind::stack && roots[root].frame < youngest_frames)
                add_slot(snapshot, **terms, ProcId{i}, root);
    }
}

}  // namespace beamheap
