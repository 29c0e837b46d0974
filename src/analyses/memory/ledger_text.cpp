// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "analyses/base/sum.hpp"
#include "analyses/memory/ledger.hpp"

namespace beamheap::analyses {
namespace {

using Kind = LedgerOwner::Kind;

Amount bytes(std::uint64_t value) { return {value, AmountUnit::bytes}; }
InputText name(const std::string& text) { return {text, InputText::Holds::name}; }
InputText of_vm(const std::string& text) { return {text, InputText::Holds::vm}; }

Ours words_of(LedgerArea area) {
    switch (area) {
        case LedgerArea::processes: return "in processes";
        case LedgerArea::binaries: return "binaries";
        case LedgerArea::ets: return "ETS tables";
        case LedgerArea::code: return "code";
        case LedgerArea::persistent_terms: return "persistent terms";
        case LedgerArea::atoms: return "atoms";
        case LedgerArea::vm: return "the VM's own";
        case LedgerArea::carriers: return "free in carriers";
        case LedgerArea::outside: break;
    }
    return "in no carrier";
}

/// Rows of one owner, which stand together.
struct Owned {
    const LedgerRow* first = nullptr;  // its largest item
    std::uint64_t bytes = 0;
};

// Tables of the VM that belong to code are no module of anybody's.
Owned largest_owner(const Ledger& ledger, LedgerArea area) {
    Owned found;
    for (const LedgerRow& row : ledger.rows) {
        if (row.area != area || row.owner.kind == Kind::none) continue;
        if (area == LedgerArea::code && row.owner.kind != Kind::modules) continue;
        if (found.first == nullptr) found.first = &row;
        else if (row.owner != found.first->owner) break;
        found.bytes = saturating_add(found.bytes, row.bytes);
    }
    return found;
}

std::uint64_t counted(const Ledger& ledger, LedgerArea area, Kind kind) {
    std::uint64_t count = 0;
    for (const LedgerRow& row : ledger.rows)
        if (row.area == area && row.owner.kind == kind) count = saturating_add(count, row.count);
    return count;
}

// ", mostly stack": where one item is more than half of what a process has.
Ours mostly(const Owned& owned) {
    const bool moved = owned.first->sure == Confidence::estimate && owned.first->item < LedgerItem::messages;
    if (moved || owned.first->bytes <= owned.bytes / 2) return "";
    switch (owned.first->item) {
        case LedgerItem::live:
        case LedgerItem::terms: return ", mostly terms";
        case LedgerItem::garbage: return ", mostly garbage";
        case LedgerItem::stack: return ", mostly stack";
        case LedgerItem::unused: return ", mostly unused heap";
        case LedgerItem::messages: return ", mostly messages";
        case LedgerItem::links: return ", mostly links";
        case LedgerItem::monitors: return ", mostly monitors";
        case LedgerItem::timers: return ", mostly timers";
        case LedgerItem::beside: return ", most likely aliases";
        default: return "";
    }
}

// "30 processes": a row of binaries counts these, one of heaps its processes.
Sentence how_many(const Ledger& ledger, const LedgerRow& row) {
    for (const LedgerRow& each : ledger.rows)
        if (each.area == LedgerArea::processes && each.owner == row.owner && each.item != LedgerItem::links &&
            each.item != LedgerItem::monitors && each.item != LedgerItem::timers)
            return sentence("{}", Counted{each.count, "process", "processes"});
    return Ours("processes");
}

// "3,000 modules template_<int> have", "lager_event <0.89.0> has".
Sentence who_has(const Ledger& ledger, const LedgerRow& row) {
    const Sentence owner = owner_text(row.owner);
    switch (row.owner.kind) {
        case Kind::processes: return sentence("{} of {} have", how_many(ledger, row), owner);
        case Kind::named: return sentence("{} named {} have", how_many(ledger, row), owner);
        case Kind::table:
            if (row.item != LedgerItem::objects || row.count == 1) return sentence("table {} has", owner);
            return sentence("{} tables {} have", Amount{row.count}, owner);
        case Kind::modules:
            if (row.count == 1) return sentence("module {} has", owner);
            return sentence("{} modules {} have", Amount{row.count}, owner);
        case Kind::atoms: return sentence("{} atoms {} have", Amount{row.count}, owner);
        case Kind::ports: return sentence("the {} of {} have queued", Counted{row.count, "port", "ports"}, owner);
        case Kind::vm:
            if (row.owner.pattern == "process_table" && row.count != 0)
                return sentence("its table for {} has", Counted{row.count, "process", "processes"});
            return sentence("{} has", owner);
        default: return sentence("{} has", owner);
    }
}

constexpr Ours nobody_known = ", and nothing in the input says whose";

// Who of the area has most, where that is a tenth of it; a module alone, where it is half of all code, else how many
// there are.
Sentence owner_clause(const Ledger& ledger, LedgerArea area) {
    constexpr std::uint64_t much = 10, half = 2;
    const Owned owned = largest_owner(ledger, area);
    if (owned.first != nullptr) {
        const bool one_module = owned.first->owner.kind == Kind::modules && owned.first->count == 1;
        if (owned.bytes >= ledger.bytes_of(area) / (one_module ? half : much)) {
            if (area == LedgerArea::carriers)
                return sentence(", {} of it in those of {}", bytes(owned.bytes), owner_text(owned.first->owner));
            // By the virtual heaps: what many refer to is counted for each, what lies in messages for none.
            const bool about = area == LedgerArea::binaries && owned.first->sure == Confidence::estimate;
            return sentence(": {} {}{}{}", who_has(ledger, *owned.first), about ? Ours("about ") : Ours(""),
                            bytes(owned.bytes), mostly(owned));
        }
        if (const std::uint64_t modules = counted(ledger, area, Kind::modules); modules > 1)
            return sentence(": {} modules, the largest {}", Amount{modules}, owner_text(owned.first->owner));
    }
    std::uint64_t nobodys = 0;
    for (const LedgerRow& row : ledger.rows) {
        if (row.area != area || row.owner.kind != Kind::none) continue;
        if (row.item == LedgerItem::terms_kept && row.count != 0) return sentence(": {} of them", Amount{row.count});
        if (row.item == LedgerItem::shared && row.bytes >= ledger.bytes_of(area) / much)
            return sentence(": {} of them are shared by several owners", bytes(row.bytes));
        if (row.item == LedgerItem::untold) nobodys = row.bytes;
    }
    const bool asked = area != LedgerArea::vm && (area != LedgerArea::binaries || ledger.heaps_read);
    if (!asked || nobodys <= ledger.bytes_of(area) / half) return {};
    if (area == LedgerArea::binaries) return sentence("; no process refers to {} of them", bytes(nobodys));
    return nobody_known;
}

// ", 5.0 MiB are code and 4.1 MiB are the VM's own: no place stands out": where nobody is known who has most.
Sentence others_clause(const Ledger& ledger, LedgerArea first) {
    std::vector<LedgerArea> areas;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(LedgerArea::vm); ++i)
        if (static_cast<LedgerArea>(i) != first && ledger.area_bytes[i] != 0)
            areas.push_back(static_cast<LedgerArea>(i));
    std::ranges::stable_sort(areas, std::ranges::greater(), [&](LedgerArea area) { return ledger.bytes_of(area); });
    if (areas.size() < 2) return nobody_known;
    return sentence(", {} are {} and {} are {}: no place stands out", bytes(ledger.bytes_of(areas[0])),
                    words_of(areas[0]), bytes(ledger.bytes_of(areas[1])), words_of(areas[1]));
}

// "Of 121 MiB, 102 MiB (84 %) are in use, and nothing in the input says by whom: 94.1 MiB of it lie in std_alloc.":
// what nobody is known to have is not the VM's own.
Sentence untold_place(const Ledger& ledger, std::uint64_t whole) {
    const std::uint64_t untold = ledger.untold_bytes(LedgerArea::vm);
    Sentence text = sentence("Of {}, {} ({}) are in use, and nothing in the input says by whom", bytes(whole),
                             bytes(untold), Percent{percent_of(untold, whole).value_or(0)});
    if (!ledger.untold_allocator.empty())
        text.say(": {} of it lie in {}", bytes(ledger.untold_allocator_bytes), of_vm(ledger.untold_allocator));
    return text.say(".");
}

}  // namespace

Sentence owner_text(const LedgerOwner& owner) {
    switch (owner.kind) {
        case Kind::none: break;
        case Kind::process: return sentence("{}", owner.process);
        case Kind::processes: return owner.function == FunctionId::none ? Sentence() : sentence("{}", owner.function);
        case Kind::vm: return sentence("{}", of_vm(owner.pattern));
        default: return sentence("{}", name(owner.pattern));
    }
    return {};
}

LargestPlace largest_place(const Ledger& ledger) {
    auto area = LedgerArea::processes;
    for (std::size_t i = 0; i < static_cast<std::size_t>(LedgerArea::vm); ++i)
        if (ledger.area_bytes[i] > ledger.bytes_of(area)) area = static_cast<LedgerArea>(i);
    // What the VM has from its start on is the place where it is more than all that came later.
    if (ledger.bytes_of(LedgerArea::vm) > ledger.told_bytes / 2 || ledger.bytes_of(area) == 0) area = LedgerArea::vm;
    std::uint64_t whole = std::max(ledger.told_bytes, ledger.total_bytes.value_or(0));
    // Some free megabytes are in every node's carriers: they are the place where they are more than all that is used.
    if (ledger.total_bytes.has() && ledger.bytes_of(LedgerArea::carriers) > whole) {
        area = LedgerArea::carriers;
        whole = saturating_add(whole, ledger.bytes_of(area));
    }
    const std::uint64_t there = ledger.bytes_of(area);
    if (there == 0) return {};
    constexpr std::uint64_t third = 3, half = 2;
    if (area == LedgerArea::vm && ledger.untold_bytes(LedgerArea::vm) > there / half &&
        ledger.untold_bytes(LedgerArea::vm) >= whole / third)
        return {.text = untold_place(ledger, whole)};
    constexpr std::uint64_t much = 16u << 20;  // that nobody is known to have
    const std::uint64_t nobodys_bytes = ledger.untold_bytes(area) >= much ? ledger.untold_bytes(area) : 0;
    const std::uint64_t owned = std::max(largest_owner(ledger, area).bytes, nobodys_bytes);
    LargestPlace place{.text = sentence("Of {}", bytes(whole)),
                       .stands_out = area < LedgerArea::vm && owned >= whole / third,
                       .in_processes = area == LedgerArea::processes,
                       .in_code = area == LedgerArea::code};
    if (!ledger.total_bytes.has()) place.text.say(" that the input tells of");
    const Sentence owner = owner_clause(ledger, area);
    const bool nobodys = owner == Sentence(nobody_known) && there < whole / 2;
    place.text.say(", {} ({}) are {}{}.", bytes(there), Percent{percent_of(there, whole).value_or(0)}, words_of(area),
                   nobodys ? others_clause(ledger, area) : owner);
    return place;
}

}  // namespace beamheap::analyses
