// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/tables/allocators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/otp/tables/tables.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;
using bytes::MemoryReader;

// In the order of ERTS_ALC_A_* from ERTS_ALC_A_MIN on (erl_alloc.types): the index of CarriersStats_t.blocks.
constexpr std::array<std::string_view, 12> kinds{"sys_", "temp_", "sl_",      "std_",    "ll_",     "eheap_",
                                                 "ets_", "fix_",  "literal_", "binary_", "driver_", "test_"};
constexpr Word most_types = 32;  // ERTS_ALC_A_COUNT is less in every release
constexpr std::size_t temporary = 1, eheap = 5, ets = 6, binary = 9, test = 11;
constexpr std::uint32_t most_instances = 4096;
constexpr std::uint64_t block_size_mask = 0x000000fffffffff8ull;  // of the header of a block in a multiblock carrier
constexpr std::uint64_t atom_chunk = 32768;                       // ATOM_TEXT_SIZE (atom.c), and a pointer
constexpr std::uint64_t page = 4096;                              // of a file
constexpr std::size_t carrier_kinds = 3, block_stats_bytes = 48;

// Fixed size types that erlang:memory(processes) adds, by their place in erl_alloc.types: process, monitor, link,
// message reference, timers.
struct ProcessTypes {
    std::array<std::uint8_t, 7> indexes;
    std::uint8_t count;  // of all fixed size types
};
// By FixedTypes.
constexpr ProcessTypes process_types[] = {{{0, 8, 9, 1, 2, 3, 4}, 12}, {{0, 11, 12, 2, 3, 4, 5}, 15}};
// ErtsAlcFixList_t: type_size, list_size, list, then {int, int, allocated, used} with a carrier pool, type.
constexpr std::uint32_t fix_entry_bytes = 64, fix_allocated = 32, fix_used = 40;

bool known_prefix(MemoryReader& memory, std::uint64_t text, std::string_view& prefix) {
    const auto name = memory.text(text, 12);
    if (!name) return false;
    const auto* found = std::find(kinds.begin(), kinds.end(), *name);
    if (found == kinds.end() && *name != "exec_") return false;
    prefix = *name;
    return true;
}

bool allocator_at(const Vm& vm, MemoryReader& memory, std::uint64_t address, std::string_view& prefix) {
    const Offsets& at = vm.layout.at;
    if (address == 0 || address % 8 != 0) return false;
    const std::byte* p = memory.probe(address, at.allocator_size);
    if (p == nullptr) return false;
    const auto text = load<Word>(p + at.allocator_prefix);
    const auto header = load<Word>(p + at.allocator_header_size);
    return vm.image->in_constants(text) && header < 4096 && known_prefix(memory, text, prefix);
}

// Whether a page of a file that was lost took the end of `size` bytes here: a run of zero bytes as long as a page,
// wherever in memory a page of the file begins. (Without its beginning, which has its name, none is known for an
// allocator.) The structures of those that threads have lie close together, with pointers behind them; behind the one
// of all threads are others, unused.
bool zero_page_from(MemoryReader& memory, std::uint64_t address, std::uint64_t size) {
    std::uint64_t run = 0;
    for (std::uint64_t at = address; at < address + size + page && run + 8 < page; at += 8) {
        const std::byte* p = memory.probe(at, 8);
        run = p != nullptr && load<Word>(p) == 0 ? run + 8 : 0;
        if (at + 8 - run >= address + size) return false;  // it began behind the structure
    }
    return run + 8 >= page;
}

class Sums {
public:
    Sums(Reader& reader, const std::vector<AllocatorAt>& allocators)
        : reader_(reader), at_(reader.at), allocators_(allocators) {}

    void run() {
        for (const AllocatorAt& allocator : allocators_) instance(allocator);
        if (!allocators_.empty()) memory();
        if (torn_ != 0)
            reader_.snapshot.anomalies.add(Anomaly::count_mismatch, first_torn_,
                                           fmt::format("what {} allocators count of their blocks and carriers", torn_));
    }

private:
    TextId text(std::string_view value) { return reader_.snapshot.texts.intern(value); }
    static void line(AllocatorInstance& row, TextId key, Count now, Count recent = {}, Count ever = {}) {
        row.lines.push_back({key, {now, recent, ever}, TextId::none});
    }

    void instance(const AllocatorAt& allocator) {
        const std::byte* p = reader_.memory.at(allocator.address, at_.allocator_size);
        if (p == nullptr) return;
        if (!counts_whole(p, allocator) && torn_++ == 0) first_torn_ = allocator.address;
        AllocatorInstance row;
        row.name = text(fmt::format("{}alloc", allocator.prefix));
        row.instance = allocator.instance;
        carriers(p + at_.allocator_multi, "mbcs", row);
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            const auto count = load<Word>(p + at_.allocator_pool_blocks + 8 * kind),
                       size = load<Word>(p + at_.allocator_pool_blocks_size + 8 * kind);
            blocks_[kind] += size;
            line(row, text(fmt::format("mbcs_pool blocks[{}alloc] count", kinds[kind])), count);
            line(row, text(fmt::format("mbcs_pool blocks[{}alloc] size", kinds[kind])), size);
        }
        line(row, text("mbcs_pool carriers"), load<Word>(p + at_.allocator_pool_carriers));
        line(row, text("mbcs_pool carriers size"), load<Word>(p + at_.allocator_pool_carriers_size));
        carriers(p + at_.allocator_single, "sbcs", row);
        if (allocator.prefix == "fix_") fixed_sizes(load<Word>(p + at_.allocator_fixed));
        reader_.snapshot.allocators.push_back(std::move(row));
    }

    // Whoever has carriers in a list counts them, and who counts some has a list. Those of a running VM change in
    // between.
    bool counts_whole(const std::byte* p, const AllocatorAt& allocator) {
        const auto counted = [&](std::uint32_t stats) {
            std::uint64_t count = 0;
            for (std::size_t i = 0; i < carrier_kinds; ++i) count += load<Word>(p + stats + 16 * i);
            return count != 0;
        };
        return reader_.vm.image->process() != nullptr ||
               (counted(at_.allocator_multi) == (load<Word>(p + at_.allocator_carriers) != 0) &&
                counted(at_.allocator_single) == (load<Word>(p + at_.allocator_single_carriers) != 0) &&
                (allocator.instance < 0 || !zero_page_from(reader_.memory, allocator.address, at_.allocator_size)));
    }

    // The VM raises its "highest ever" to the highest since it was last asked only when it is asked
    // (update_max_ever_values).
    void carriers(const std::byte* stats, std::string_view name, AllocatorInstance& row) {
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            const std::byte* block = stats + at_.carrier_stats_blocks + kind * block_stats_bytes;
            const auto number = [block](std::size_t i) { return load<Word>(block + 8 * i); };
            blocks_[kind] += number(1);
            const auto ever = [&](std::size_t i) { return std::max(number(i), number(i - 2)); };
            line(row, text(fmt::format("{} blocks[{}alloc] count", name, kinds[kind])), number(0), number(2), ever(4));
            line(row, text(fmt::format("{} blocks[{}alloc] size", name, kinds[kind])), number(1), number(3), ever(5));
        }
        std::uint64_t count = 0, size = 0;
        for (std::size_t i = 0; i < carrier_kinds; ++i) {
            count += load<Word>(stats + 16 * i);
            size += load<Word>(stats + 16 * i + 8);
        }
        const auto recent = [&](std::size_t i) { return load<Word>(stats + at_.carrier_stats_max + 8 * i); };
        const auto ever = [&](std::size_t i) {
            return std::max(load<Word>(stats + at_.carrier_stats_max_ever + 8 * i), recent(i));
        };
        line(row, text(fmt::format("{} carriers", name)), count, recent(0), ever(0));
        line(row, text(fmt::format("{} carriers size", name)), size, recent(1), ever(1));
    }

    void fixed_sizes(std::uint64_t list) {
        const ProcessTypes* types = &process_types[static_cast<std::size_t>(reader_.vm.layout.fixed_types)];
        const std::byte* entries =
            list == 0 ? nullptr : reader_.memory.at(list, std::uint64_t{types->count} * fix_entry_bytes);
        if (entries == nullptr) return;
        for (const std::uint8_t index : types->indexes) {
            const std::byte* entry = entries + std::size_t{index} * fix_entry_bytes;
            if (load<Word>(entry) == 0 && torn_++ == 0) first_torn_ = list;  // the size of the type
            process_allocated_ += load<Word>(entry) * load<Word>(entry + fix_allocated);
            process_used_ += load<Word>(entry) * load<Word>(entry + fix_used);
        }
    }

    // erts_memory (erl_alloc.c): blocks by the allocator that they were asked of, tables beside them.
    void memory() {
        std::uint64_t total = 0;
        for (std::size_t kind = 0; kind < kinds.size(); ++kind)
            if (kind != temporary && kind != test) total += blocks_[kind];
        const std::uint64_t tables = reader_.vm.processes.bytes;
        const Count code = code_bytes();
        const std::uint64_t processes = blocks_[eheap] + tables + process_allocated_;
        // Code of the JIT is no block of an allocator.
        if (reader_.vm.image->build().jit) total += code.value_or(0);
        std::vector<NamedBytes>& memory = reader_.snapshot.memory;
        const auto add = [&](std::string_view name, Count bytes) { memory.push_back({text(name), bytes, {}}); };
        if (code.has() || !reader_.vm.image->build().jit) {
            add("total", total);
            add("processes", processes);
            add("processes_used", blocks_[eheap] + tables + process_used_);
            if (total >= processes) add("system", total - processes);
        } else {
            add("processes", processes);
        }
        // Texts are packed into chunks until OTP 27; since then each is a literal of its own.
        const Image& image = *reader_.vm.image;
        const AtomTable::Bytes atoms =
            reader_.vm.atoms.bytes(reader_.memory, [&](std::uint64_t a) { return image.in_constants(a); });
        if (atoms.table != 0 && atoms.unreadable == 0) {
            const std::uint64_t reserved = (atoms.texts + atom_chunk - 1) / atom_chunk * (atom_chunk + 8);
            add("atom", atoms.table + (reader_.vm.layout.atom_name_is_term ? atoms.texts : reserved));
            add("atom_used", atoms.table + atoms.texts);
        }
        add("binary", blocks_[binary]);
        reader_.snapshot.areas.push_back({text("process_table"), Count(tables), {}});
        // erlang:memory(code) adds the tables of modules, exports and funs to it; they are not counted here.
        if (code.has()) reader_.snapshot.areas.push_back({text("loaded_code"), code, {}});
        if (const Count names = table_names_bytes(); names.has()) add("ets", blocks_[ets] + *names);
    }

    // The table of named ETS tables (erl_db.c, meta_name_tab) is counted with them: a symbol tells its size, else it
    // is the allocated block that a static pointer leads to and that points at named tables.
    Count table_names_bytes() {
        constexpr std::size_t enough = 8, needed = 2;
        constexpr std::uint64_t least = 1u << 11, most = 1u << 26, header = 8;
        if (const auto variable = reader_.vm.image->symbol("erts_ets_misc_mem_size"))
            if (const auto value = reader_.memory.word(*variable)) return *value;
        std::vector<std::uint64_t> named;
        for (const EtsTable& table : reader_.snapshot.ets)
            if (table.name != TextId::none && table.id == table.name && named.size() < enough)
                named.push_back(table.address);
        for (const Image::StaticWords& part : reader_.vm.image->static_words()) {
            for (std::size_t i = 0; i < part.words(); ++i) {
                const Word array = part.word(i);
                if (array % 8 != 0 || array < header) continue;
                const std::byte* block = reader_.memory.probe(array - header, header);
                if (block == nullptr || (load<Word>(block) & 1) != 0) continue;
                const std::uint64_t size = (load<Word>(block) & block_size_mask) - header;
                if (size < least || size > most || (size & (size - 1)) != 0) continue;
                const std::byte* words = reader_.memory.probe(array, size);
                std::size_t seen = 0;
                for (std::uint64_t k = 0; words != nullptr && k < size; k += 8)
                    seen += std::find(named.begin(), named.end(), load<Word>(words + k)) != named.end();
                if (seen >= needed) return size;
            }
        }
        return {};
    }

    // erts_total_code_size: a symbol, or, where there is none, the word shortly before the code ranges whose value
    // can only be that: close to, but not above, the sum over all modules.
    Count code_bytes() {
        const Vm& vm = reader_.vm;
        if (const auto variable = vm.image->symbol("erts_total_code_size"))
            if (const auto value = reader_.memory.word(*variable)) return *value;
        const std::uint64_t modules = reader_.code_bytes;
        if (modules == 0 || vm.roots.code_ranges == 0) return {};
        for (std::uint64_t back = 8; back <= 256; back += 8) {
            const auto value = reader_.memory.word(vm.roots.code_ranges - back);
            if (value && *value <= modules && *value >= modules / 2) return *value;
        }
        return {};
    }

    Reader& reader_;
    const Offsets& at_;
    const std::vector<AllocatorAt>& allocators_;
    std::array<std::uint64_t, kinds.size()> blocks_{};
    std::uint64_t process_allocated_ = 0, process_used_ = 0;
    std::uint64_t torn_ = 0, first_torn_ = 0;
};

}  // namespace

std::vector<AllocatorAt> find_allocators(const Vm& vm, MemoryReader& memory, std::uint64_t* lost) {
    std::vector<AllocatorAt> found;
    const auto known = [&](std::uint64_t address) {
        return std::any_of(found.begin(), found.end(),
                           [address](const AllocatorAt& a) { return a.address == address; });
    };
    std::vector<AllocatorAt> single;
    for (const Image::StaticWords& part : vm.image->static_words()) {
        for (std::size_t i = 1; i < part.words(); ++i) {
            const Word word = part.word(i);
            if (word == 0 || word % 8 != 0 || vm.image->in_constants(word)) continue;
            std::string_view prefix;
            // ErtsAllocatorInfo_t {int alloc_util, enabled, thr_spec; void* extra} of one that all threads share.
            if (allocator_at(vm, memory, word, prefix)) {
                single.push_back({word, prefix, -1});
                continue;
            }
            // ErtsAllocatorThrSpec_t {int enabled, dd, aix, size; Allctr_t** allctr}.
            const auto size = static_cast<std::uint32_t>(part.word(i - 1) >> 32);
            if (size < 1 || size > most_instances) continue;
            const std::byte* array = memory.probe(word, 8ull * size);
            // All that the array had is lost: the words before it are those of an enabled one, and it has nothing but
            // zeros.
            if (lost != nullptr && array != nullptr && i > 1 &&
                (part.word(i - 2) == 1 || part.word(i - 2) == (1 | Word{1} << 32)) &&
                (part.word(i - 1) & 0xffffffff) < most_types &&
                std::all_of(array, array + 8ull * size, [](std::byte b) { return b == std::byte{0}; }))
                *lost += size;
            if (array == nullptr || !allocator_at(vm, memory, load<Word>(array), prefix) || known(load<Word>(array)))
                continue;
            for (std::uint32_t k = 0; k < size; ++k) {
                const auto address = load<Word>(array + 8ull * k);
                if (known(address)) continue;
                if (allocator_at(vm, memory, address, prefix))
                    found.push_back({address, prefix, static_cast<std::int32_t>(k)});
                else if (lost != nullptr) ++*lost;
            }
        }
    }
    for (const AllocatorAt& allocator : single)
        if (!known(allocator.address)) found.push_back(allocator);
    return found;
}

void read_allocators(Reader& reader) {
    std::uint64_t lost = 0;
    const std::vector<AllocatorAt> allocators = find_allocators(reader.vm, reader.memory, &lost);
    // Those that every VM has unless it was started with `+Muea min` or the like.
    for (const std::string_view kind :
         {"sl_", "std_", "ll_", "eheap_", "ets_", "fix_", "literal_", "binary_", "driver_"})
        if (std::none_of(allocators.begin(), allocators.end(),
                         [kind](const AllocatorAt& a) { return a.prefix == kind; }))
            reader.snapshot.anomalies.add(Anomaly::structure_missing, 0, fmt::format("{}alloc", kind));
    if (lost != 0)
        reader.snapshot.anomalies.add(Anomaly::structure_missing, 0, fmt::format("{} instances of allocators", lost));
    Sums(reader, allocators).run();
}

}  // namespace beamheap::otp
