// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/vm/layout_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/otp/layout/dwarf_layout.hpp"
#include "formats/otp/layout/platform.hpp"
#include "formats/otp/vm/young_heap.hpp"

namespace beamheap::otp {
namespace {

using bytes::Bytes;
using bytes::load;
using bytes::MemoryReader;

constexpr std::uint32_t most_sampled = 4096;
constexpr std::uint32_t gc_bit = 1u << 17;   // of Process.state, ERTS_PSFLG_GC
constexpr std::uint32_t most_appended = 64;  // bytes that patch releases may have put behind a Process

// Whether a queue and its scheduler name each other; nothing where the image holds neither.
std::optional<bool> queue_agrees(MemoryReader& memory, const Layout& layout, Word queue) {
    if (queue == 0 || queue % 64 != 0) return false;
    const auto scheduler = memory.word(queue + layout.at.run_queue_scheduler);
    if (!scheduler) return memory.mapped(queue) ? std::optional(false) : std::nullopt;
    if (*scheduler == 0 || *scheduler % 64 != 0) return false;  // each begins a cache line
    const auto back = memory.word(*scheduler + layout.at.scheduler_run_queue);
    if (!back) return memory.mapped(*scheduler) ? std::optional(false) : std::nullopt;
    return *back == queue;
}

// Whether functions of the first few modules are where this offset says: ascending, inside the module, with atoms.
bool functions_at(MemoryReader& memory, const Layout& layout, const Code& code, std::uint32_t offset) {
    int good = 0;
    for (const Code::Module& module : code.modules()) {
        const auto count = memory.word(module.start);
        if (!count || *count == 0 || *count > 100000) continue;
        const std::byte* functions = memory.probe(module.start + offset, (*count + 1) * 8);
        if (functions == nullptr) return false;
        std::uint64_t last = module.start;
        for (std::uint64_t i = 0; i <= *count; ++i) {
            const auto info = load<Word>(functions + 8 * i);
            if (info < last || info > module.end) return false;
            last = info;
        }
        const auto mfa = Code::mfa_at(memory, load<Word>(functions) + layout.at.code_info_mfa);
        if (!mfa) return false;
        if (++good >= 8) break;
    }
    return good > 0;
}

void check_code(Vm& vm, MemoryReader& memory) {
    vm.code = Code(memory, vm.layout, vm.roots);
    std::vector<std::uint32_t> offsets{vm.layout.at.code_functions};
    for (const Layout& other : known_layouts()) offsets.push_back(other.at.code_functions);
    for (const std::uint32_t offset : offsets) {
        if (!functions_at(memory, vm.layout, vm.code, offset)) continue;
        if (offset != vm.layout.at.code_functions) vm.doubt("functions of modules are not where its table has them");
        vm.layout.at.code_functions = offset;
        vm.checks.push_back(
            {"code headers", true, fmt::format("{} modules, functions at +{}", vm.code.modules().size(), offset)});
        return;
    }
    vm.checks.push_back({"code headers", false,
                         vm.code.readable() ? "not understood: stacks have no functions"
                                            : "not in the image: it was made without shared anonymous memory "
                                              "(coredump_filter bit 1), so stacks have no functions"});
}

// The first atoms are the same in every release: they come from atom.names, and "false" and "true" begin it.
bool atoms_fit(const Vm& vm, MemoryReader& memory) {
    const auto first = vm.atoms.text(memory, 0), second = vm.atoms.text(memory, 1);
    return first && second && *first == "false" && *second == "true";
}

void check_atoms(Vm& vm, MemoryReader& memory) {
    vm.atoms = AtomTable(memory, vm.layout, vm.roots.atom_table);
    bool fits = atoms_fit(vm, memory);
    if (!fits) {
        Layout other = vm.layout;
        other.atom_name_is_term = !other.atom_name_is_term;
        std::swap(other, vm.layout);
        vm.atoms = AtomTable(memory, vm.layout, vm.roots.atom_table);
        fits = atoms_fit(vm, memory);
        if (fits) vm.doubt("names of atoms are in another form than its table's");
        else std::swap(other, vm.layout);
    }
    vm.checks.push_back({"atoms", fits,
                         fmt::format("{} of at most {}{}", vm.atoms.size(), vm.atoms.limit(),
                                     fits ? "" : ", but the first two are not false and true")});
}

// Types of the links of the sampled processes, in one form: the smallest one of a link, and how many are none of a
// link. (Nodes that a running VM frees while they are read may hold anything.)
struct LinkCensus {
    std::uint32_t least = ~0u, seen = 0, beyond = 0;
};
constexpr std::uint32_t first_link_type[] = {8, 9, 10, 10};  // by LinkTypes

LinkCensus count_links(MemoryReader& memory, const Layout& layout, LinkTypes types, const SlotTable& table) {
    LinkCensus census;
    const std::uint32_t first = first_link_type[static_cast<std::size_t>(types)];
    const Bytes slots = memory.from(table.slots, std::uint64_t{table.max} * 8);
    std::uint32_t sampled = 0;
    for (std::size_t at = 0; at + 8 <= slots.size() && sampled < most_sampled; at += 8) {
        const auto element = load<Word>(slots.data() + at);
        if (element == 0 || element == table.invalid) continue;
        ++sampled;
        const auto root = memory.word(element + layout.at.process_links);
        const std::byte* node =
            root && *root != 0 && *root % 8 == 0 ? memory.probe(*root, layout.at.link_node_size) : nullptr;
        if (node == nullptr || load<Word>(node) > 1) continue;  // a root has no parent, its colour at the most
        const auto flags = load<std::uint32_t>(node + layout.at.link_flags);
        const std::uint32_t type = types == LinkTypes::since_28 ? flags & 31 : flags >> 16;
        const bool links = first <= type && type <= first + 3;
        if (links) census.least = std::min(census.least, type);
        census.beyond += !links;
        ++census.seen;
    }
    return census;
}

void check_links(Vm& vm, MemoryReader& memory) {
    const std::uint32_t seen = count_links(memory, vm.layout, vm.layout.link_types, vm.processes).seen;
    if (seen == 0) return;
    const auto types = link_types_of(memory, vm.layout, vm.processes);
    if (!types) vm.doubt("links and monitors have unknown types");
    if (types) vm.layout.link_types = *types;
    vm.checks.push_back({"links", types.has_value(),
                         types ? fmt::format("of {} processes, their types begin at {}", seen,
                                             first_link_type[static_cast<std::size_t>(*types)])
                               : fmt::format("of {} processes, none of the known types", seen)});
}

// Rows for a build: its own, or where it has none the nearest of its flavour.
std::vector<const Layout*> rows_for(const Build& build) {
    if (const Layout* own = find_layout(build.release, flavour_of(build))) return {own};
    return nearest_layouts(build.release, flavour_of(build));
}

Platform platform_of(const Image& image) {
    if (image.machine() != bytes::elf::machine_aarch64) return Platform::x86_64;
    return image.musl() ? Platform::arm64_musl : Platform::arm64;
}

// What is tried, in order: the executable's own DWARF, then the tables.
std::vector<Layout> candidates_for(Vm& vm) {
    const Build& build = vm.image->build();
    std::vector<Layout> rows, candidates;
    for (const Layout* row : rows_for(build)) rows.push_back(on_platform(*row, platform_of(*vm.image)));
    if (const auto types = read_dwarf_fields(vm.image->executable()); !types) {
        vm.checks.push_back({"DWARF", false, types.error().message});
    } else if (!*types) {
        vm.checks.push_back({"DWARF", true, "none of this executable: offsets come from a table"});
    } else {
        // Forms belong to members: the row that has fewest which this build lacks comes first.
        std::vector<DwarfLayout> found;
        for (const Layout& row : rows) found.push_back(with_dwarf(row, **types));
        std::stable_sort(found.begin(), found.end(),
                         [](const DwarfLayout& a, const DwarfLayout& b) { return a.kept.size() < b.kept.size(); });
        for (const DwarfLayout& each : found) {
            const std::string unfit =
                each.read == 0 ? "it has none of the VM's structures" : unfit_layout(each.layout.at);
            vm.checks.push_back(
                {"DWARF", unfit.empty(), describe(each, **types) + (unfit.empty() ? "" : "; not used: " + unfit)});
            if (unfit.empty()) candidates.push_back(each.layout);
        }
    }
    if (!build.foreign.empty()) return candidates;  // tables are of release builds
    candidates.insert(candidates.end(), rows.begin(), rows.end());
    return candidates;
}

// Run queues were rearranged between 27 and 29. A row that no VM has proved takes them from the release whose they are.
void find_run_queues(MemoryReader& memory, Layout& layout, const SlotTable& table, Platform platform) {
    constexpr std::uint32_t Offsets::*members[] = {&Offsets::run_queue_number,     &Offsets::run_queue_stride,
                                                   &Offsets::run_queue_scheduler,  &Offsets::run_queue_flags,
                                                   &Offsets::run_queue_priorities, &Offsets::run_queue_lists,
                                                   &Offsets::run_queue_ports,      &Offsets::run_queue_info_size};
    if (score_layout(memory, layout, table).queues != 0) return;
    for (const Layout& other : known_layouts()) {
        if (other.flavour != layout.flavour) continue;
        Layout changed = layout;
        const Offsets theirs = on_platform(other.at, platform);
        for (const auto member : members) changed.at.*member = theirs.*member;
        if (score_layout(memory, changed, table).queues == 0) continue;
        layout = changed;
        return;
    }
}

// What of a layout that fits was not proved by a VM of this release and flavour.
void tell_doubts(Vm& vm, const Build& build) {
    const Layout& layout = vm.layout;
    const bool dwarf = layout.source == dwarf_source;
    if (layout.release != build.release)
        vm.doubt(fmt::format("OTP {} has none: {} fits", build.release,
                             dwarf ? fmt::format("DWARF with the forms of OTP {}", layout.release)
                                   : fmt::format("the {}", layout.source)));
    else if (layout.proof != Proof::by_vm && !dwarf)
        vm.doubt(fmt::format("{}{}, from source", layout.source, platform_suffix(platform_of(*vm.image))));
    const std::uint64_t size = vm.processes.element_size;
    if (size == layout.at.process_size) return;
    Offsets other = layout.at;
    other.process_size = size < 4096 ? static_cast<std::uint32_t>(size) : 0;
    const bool sane = size % 8 == 0 && unfit_layout(other).empty();
    const std::string sentence =
        fmt::format("a process has {} bytes, {} in the {}", size, layout.at.process_size, layout.source);
    vm.checks.push_back({"process size", sane, sentence});
    vm.doubt(sentence);
    if (sane) vm.layout.at = other;
}

}  // namespace

// Types of links moved within release 24, and between 27 and 29: the image has the last word.
std::optional<LinkTypes> link_types_of(MemoryReader& memory, const Layout& layout, const SlotTable& table) {
    for (const LinkTypes types : {layout.link_types, LinkTypes::in_24, LinkTypes::since_25, LinkTypes::since_28}) {
        const LinkCensus census = count_links(memory, layout, types, table);
        if (census.seen != 0 && census.least == first_link_type[static_cast<std::size_t>(types)] &&
            census.beyond * 10ull <= census.seen)
            return types;
    }
    return std::nullopt;
}

Flavour flavour_of(const Build& build) {
    return build.jit ? Flavour::jit : build.hipe ? Flavour::hipe : Flavour::interpreter;
}

LayoutScore score_layout(MemoryReader& memory, const Layout& layout, const SlotTable& table) {
    const Offsets& at = layout.at;
    LayoutScore result;
    const Bytes slots = memory.from(table.slots, std::uint64_t{table.max} * 8);
    for (std::uint32_t slot = 0; (slot + 1ull) * 8 <= slots.size() && result.processes + result.absent < most_sampled;
         ++slot) {
        const auto element = load<Word>(slots.data() + 8ull * slot);
        if (element == 0 || element == table.invalid) continue;
        const std::byte* p = memory.probe(element, at.process_size);
        if (p == nullptr) {
            ++result.absent;
            continue;
        }
        ++result.processes;
        const auto id = load<Word>(p);
        result.slots += is_pid(id) && table.slot_of(id, layout.pid_form) == slot;
        const auto old = load<Word>(p + at.process_old_heap), old_top = load<Word>(p + at.process_old_top),
                   old_end = load<Word>(p + at.process_old_end);
        const YoungHeap young = read_young_heap(memory, layout, p);
        const bool in_order = young.fits && old <= old_top && old_top <= old_end && (old == 0) == (old_end == 0);
        result.heaps += in_order;
        result.abandoned += young.abandoned();
        // Whoever moves its objects at this very moment may be between two stores.
        result.torn += !in_order && (load<std::uint32_t>(p + at.process_state) & gc_bit) != 0;
        // A process that hibernates, exits or was just made may have none of these; nearly all have them.
        result.functions += is_atom(load<Word>(p + at.process_initial)) &&
                            is_atom(load<Word>(p + at.process_initial + 8)) &&
                            load<Word>(p + at.process_initial + 16) < 256;
        // The low bits say whether the process is bound to its queue.
        const auto agrees = queue_agrees(memory, layout, load<Word>(p + at.process_run_queue) & ~Word{7});
        result.queues += agrees.value_or(false);
        result.strays += !agrees.value_or(true);
    }
    return result;
}

std::string misfit(const Layout& row, bool own, const SlotTable& table, const LayoutScore& score, bool cut) {
    const std::uint64_t size = table.element_size;
    if (size != row.at.process_size) {
        Offsets other = row.at;
        other.process_size = size < 4096 ? static_cast<std::uint32_t>(size) : 0;
        const bool near = size % 8 == 0 && size <= row.at.process_size + most_appended && unfit_layout(other).empty();
        if (!own || !near)
            return fmt::format("a process has {} bytes in this VM and {} in it", size, row.at.process_size);
    }
    if (score.good(cut)) return {};
    return fmt::format(
        "{} processes sampled: {} in their slot, {} with a heap in order, {} with an initial function, {} with a run "
        "queue",
        score.processes + score.absent, score.slots, score.heaps, score.functions, score.queues);
}

Status choose_layout(Vm& vm) {
    const Image& image = *vm.image;
    const Build& build = image.build();
    MemoryReader memory(image.space());
    const std::vector<Layout> candidates = candidates_for(vm);
    if (candidates.empty())
        return Error{ErrorCode::not_recognised,
                     fmt::format("{}: the VM was built with \"{}\", which changes its structures, and its executable "
                                 "has no debug information that says how",
                                 image.name(), build.foreign),
                     "Give an executable with debug information (-g); crash dumps of any build can be read."};

    const bool cut = !image.truncation().empty();
    std::string tried;
    for (Layout candidate : candidates) {
        const bool dwarf = candidate.source == dwarf_source;
        Roots roots = find_roots(image, candidate);
        const auto table = SlotTable::read(memory, candidate, roots.process_table);
        if (!table) continue;
        if (candidate.proof != Proof::by_vm || candidate.release != build.release)
            find_run_queues(memory, candidate, *table, platform_of(image));
        const LayoutScore fit = score_layout(memory, candidate, *table);
        const std::string sentence =
            fmt::format("{} processes sampled: {} in their slot, {} with a heap in order, {} with an initial function",
                        fit.processes, fit.slots, fit.heaps, fit.functions) +
            (fit.abandoned == 0 ? ""
                                : fmt::format("; {} await a collection, with a fragment for a heap", fit.abandoned));
        const std::string why_not = dwarf ? (fit.good(cut) ? std::string{} : sentence)
                                          : misfit(candidate, candidate.release == build.release, *table, fit, cut);
        if (!why_not.empty()) {
            if (dwarf) vm.checks.push_back({"layout", false, fmt::format("{}: {}", candidate.source, why_not)});
            tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", candidate.source, why_not);
            continue;
        }
        vm.layout = candidate;
        vm.roots = std::move(roots);
        vm.processes = *table;
        vm.checks.push_back(
            {"layout", true, fmt::format("{}{}", candidate.source, dwarf ? "" : platform_suffix(platform_of(image)))});
        vm.checks.push_back({"process table", true, sentence});
        tell_doubts(vm, build);
        break;
    }
    if (vm.processes.slots == 0) {
        if (cut)
            return Error{ErrorCode::not_recognised,
                         fmt::format("{}: {}, and what is left does not hold enough of the VM to read it", image.name(),
                                     image.truncation()),
                         "Copy it again. If the system cut it: `ulimit -c unlimited`, or ProcessSizeMax and "
                         "ExternalSizeMax of systemd-coredump."};
        const std::string why = tried.empty() ? std::string{"the process table is not in the image"} : tried;
        return Error{ErrorCode::not_recognised,
                     fmt::format("{}: no known layout of OTP {}{} (erts {}) fits this VM ({})", image.name(),
                                 build.release, build.jit ? "" : " without the JIT", build.erts_version, why),
                     candidates.front().source == dwarf_source
                         ? "The build may have options that change more than its structures, or the image is damaged "
                           "or cut there."
                         : "The build may have options that change its structures: an executable with debug "
                           "information (-g) would say how. Or the image is damaged or cut there."};
    }
    if (const auto ports = SlotTable::read(memory, vm.layout, vm.roots.port_table)) vm.ports = *ports;
    for (const Check& found : vm.roots.found) vm.checks.push_back(found);
    check_atoms(vm, memory);
    check_code(vm, memory);
    check_links(vm, memory);
    if (!vm.unproven.empty()) vm.checks.push_back({"proof", false, vm.unproven});
    return ok();
}

}  // namespace beamheap::otp
