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
constexpr std::uint32_t gc_bit = 1u << 17;  // of Process.state, ERTS_PSFLG_GC

LayoutScore score(MemoryReader& memory, const Layout& layout, const SlotTable& table) {
    const Offsets& at = layout.at;
    LayoutScore result;
    const Bytes slots = memory.from(table.slots, std::uint64_t{table.max} * 8);
    for (std::uint32_t slot = 0; (slot + 1ull) * 8 <= slots.size() && result.processes < most_sampled; ++slot) {
        const auto element = load<Word>(slots.data() + 8ull * slot);
        if (element == 0 || element == table.invalid) continue;
        ++result.processes;
        const std::byte* p = memory.probe(element, at.process_size);
        if (p == nullptr) continue;
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
    }
    return result;
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
        const bool moved = offset != vm.layout.at.code_functions;
        vm.layout.at.code_functions = offset;
        vm.layout_guessed = vm.layout_guessed || moved;
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
        if (fits)
            vm.layout_guessed = true;
        else
            std::swap(other, vm.layout);
    }
    vm.checks.push_back({"atoms", fits,
                         fmt::format("{} of at most {}{}", vm.atoms.size(), vm.atoms.limit(),
                                     fits ? "" : ", but the first two are not false and true")});
}

// Rows whose forms a release may have: its own, and where it has none that of the next release as well.
std::vector<const Layout*> rows_of_release(const Build& build) {
    const Layout& own = build.hipe ? layout_of_hipe() : layout_for(build.release);
    std::vector<const Layout*> rows{&own};
    for (const Layout& other : known_layouts())
        if (own.release < build.release && other.release > build.release) {
            rows.push_back(&other);
            break;
        }
    return rows;
}

Platform platform_of(const Image& image) {
    if (image.core().machine() != bytes::elf::machine_aarch64) return Platform::x86_64;
    return image.musl() ? Platform::arm64_musl : Platform::arm64;
}

// What is tried, in order: the executable's own DWARF, then the tables.
std::vector<Layout> candidates_for(Vm& vm) {
    const Build& build = vm.image->build();
    const std::vector<const Layout*> rows = rows_of_release(build);
    std::vector<Layout> candidates;
    if (const auto types = read_dwarf_fields(vm.image->executable()); !types) {
        vm.checks.push_back({"DWARF", false, types.error().message});
    } else if (!*types) {
        vm.checks.push_back({"DWARF", true, "none of this executable: offsets come from a table"});
    } else {
        // Forms belong to members: the row that has fewest which this build lacks comes first.
        std::vector<DwarfLayout> found;
        for (const Layout* row : rows) found.push_back(with_dwarf(*row, **types));
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
    for (const Layout* row : rows) candidates.push_back(*row);
    if (build.hipe) candidates.push_back(layout_for(build.release));
    for (const Layout& other : known_layouts())
        if (std::none_of(rows.begin(), rows.end(), [&](const Layout* row) { return row->release == other.release; }))
            candidates.push_back(other);
    for (Layout& candidate : candidates)
        if (candidate.source != dwarf_source) candidate.at = on_platform(candidate.at, platform_of(*vm.image));
    return candidates;
}

}  // namespace

Status choose_layout(Vm& vm) {
    const Image& image = *vm.image;
    const Build& build = image.build();
    MemoryReader memory(image.space());
    const std::vector<Layout> candidates = candidates_for(vm);
    if (candidates.empty())
        return Error{
            ErrorCode::not_recognised,
            fmt::format("{}: the VM was built with \"{}\", which changes its structures, and its executable has "
                        "no debug information that says how",
                        image.core().name(), build.foreign),
            "Give an executable with debug information (-g); crash dumps of any build can be read."};

    std::string tried;
    for (const Layout& candidate : candidates) {
        Roots roots = find_roots(image, candidate);
        const auto table = SlotTable::read(memory, candidate, roots.process_table);
        const LayoutScore fit = table ? score(memory, candidate, *table) : LayoutScore{};
        std::string sentence =
            fmt::format("{} processes sampled: {} in their slot, {} with a heap in order, {} with an initial function",
                        fit.processes, fit.slots, fit.heaps, fit.functions);
        if (fit.abandoned != 0)
            sentence += fmt::format("; {} await a collection, with a fragment for a heap", fit.abandoned);
        if (!fit.good()) {
            if (candidate.source == dwarf_source)
                vm.checks.push_back({"layout", false, fmt::format("{}: {}", candidate.source, sentence)});
            if (table) tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", candidate.source, sentence);
            continue;
        }
        vm.layout = candidate;
        vm.roots = std::move(roots);
        vm.processes = *table;
        vm.layout_guessed = candidate.release != build.release;
        vm.checks.push_back({"layout", true,
                             fmt::format("{}{}", candidate.source,
                                         !vm.layout_guessed ? ""
                                         : candidate.source == dwarf_source
                                             ? fmt::format(", with the forms of OTP {}, fits this VM of OTP {}",
                                                           candidate.release, build.release)
                                             : fmt::format(" fits this VM of OTP {}", build.release))});
        vm.checks.push_back({"process table", true, sentence});
        // Fields that a patch release appends change the size alone; the VM's own table knows it.
        if (const std::uint64_t size = table->element_size; size != vm.layout.at.process_size) {
            Offsets other = vm.layout.at;
            other.process_size = size < 4096 ? static_cast<std::uint32_t>(size) : 0;
            const bool sane = size % 8 == 0 && unfit_layout(other).empty();
            vm.checks.push_back(
                {"process size", sane,
                 fmt::format("{} bytes in this VM, {} in the {}", size, vm.layout.at.process_size, candidate.source)});
            if (sane) vm.layout.at = other;
        }
        break;
    }
    if (vm.processes.slots == 0) {
        const std::string why = tried.empty() ? std::string{"the process table is not in the image"} : tried;
        return Error{ErrorCode::not_recognised,
                     fmt::format("{}: no known layout of OTP {} (erts {}) fits this VM ({})", image.core().name(),
                                 build.release, build.erts_version, why),
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
    return ok();
}

}  // namespace beamheap::otp
