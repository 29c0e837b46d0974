// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/vm/roots.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/otp/layout/tagged_word.hpp"
#include "formats/otp/vm/code.hpp"

namespace beamheap::otp {
namespace {

using bytes::Bytes;
using bytes::load;
using bytes::MemoryReader;

constexpr std::uint64_t table_alignment = 64;
constexpr std::uint32_t smallest_table = 1u << 10, largest_table = 1u << 27;
constexpr std::uint64_t most_modules = 1u << 20;
constexpr std::uint64_t most_persistent_terms = 1u << 24;
constexpr Word smallest_catches = 256, most_catches = 1u << 24;
constexpr std::uint64_t widest_gap = 8;  // schedulers, where pages of the array are lost
constexpr std::uint64_t most_schedulers = 1024, most_dirty_schedulers = 4096;

using Statics = Image::StaticWords;

class Finder {
public:
    Finder(const Image& image, const Layout& layout)
        : image_(image), layout_(layout), at_(layout.at), memory_(image.space()), statics_(image.static_words()) {}

    Roots run() {
        scan();
        tables();
        code();
        catches();
        values();
        schedulers();
        persistent();
        node();
        return std::move(roots_);
    }

private:
    void found(std::string_view name, std::uint64_t address, std::string_view how) {
        roots_.found.push_back({std::string{name}, true, fmt::format("{}, at {:#x}", how, address)});
    }
    void missing(std::string_view name, std::string_view what) {
        roots_.found.push_back({std::string{name}, false, "not found"});
        roots_.missing.emplace_back(what);
    }

    // One pass over static data for everything that is told by a word of it.
    void scan() {
        for (const Statics& part : statics_) {
            for (std::size_t i = 0; i < part.words(); ++i) {
                const Word w = part.word(i);
                if (w == 0) continue;
                const std::uint64_t address = part.address(i);
                if (image_.in_constants(w)) {
                    named_table(w, address - at_.hash_name);
                    continue;
                }
                if (address % table_alignment == at_.table_slots % table_alignment)
                    slot_table(address - at_.table_slots);
                if (i + 9 <= part.words() && catches_at(part, i)) catches_.push_back(address);
                if (code_ranges_.empty() && i + 12 <= part.words() && ranges_at(part, i))
                    code_ranges_.push_back(address);
            }
        }
    }

    void named_table(Word text, std::uint64_t table) {
        const auto name = memory_.text(text, 16);
        if (!name) return;
        if (*name == "atom_tab") {
            // The table of allocation types has the same name beside it: real ones have entries in mapped segments.
            const auto entries = memory_.word32(table + at_.index_entries);
            const auto segments = memory_.word(table + at_.index_segments);
            if (entries && segments && *entries > 100 && memory_.writable(*segments) && !image_.in_constants(*segments))
                atom_tables_.push_back(table);
        } else if (*name == "module_code") {
            module_tables_.push_back(table);
        } else if (*name == "dist_table") {
            roots_.dist_table = table;
        } else if (*name == "node_table") {
            roots_.node_table = table;
        }
    }

    // ErtsPTab: a power of two of slots, of which some are in use.
    bool slot_table_at(std::uint64_t table) {
        const auto count = memory_.value<std::uint32_t>(table + at_.table_count);
        const auto max = memory_.value<std::uint32_t>(table + at_.table_max);
        const auto slots = memory_.word(table + at_.table_slots);
        return count && max && slots && *slots != 0 && *count <= *max && *max >= smallest_table &&
               *max <= largest_table && (*max & (*max - 1)) == 0;
    }
    // Few in use, many slots, slots that point at things whose first word is a pid or a port.
    void slot_table(std::uint64_t table) {
        if (!slot_table_at(table)) return;
        const auto max = memory_.value<std::uint32_t>(table + at_.table_max);
        const auto slots = memory_.word(table + at_.table_slots);
        const auto invalid = memory_.word(table + at_.table_invalid);
        const Bytes data = memory_.from(*slots, std::uint64_t{*max} * 8);
        std::uint32_t pids = 0, ports = 0, others = 0;
        // Every slot of a table with few elements, a good part of a large one.
        for (std::size_t i = 0; i * 8 + 8 <= data.size() && pids + ports + others < 256; ++i) {
            const Word element = load<Word>(data.data() + 8 * i);
            if (element == 0 || (invalid && element == *invalid)) continue;
            const std::byte* id = (element & 7) == 0 ? memory_.probe(element, 8) : nullptr;
            if (id == nullptr) ++others;
            else if (is_pid(load<Word>(id))) ++pids;
            else if (is_port(load<Word>(id))) ++ports;
            else ++others;
        }
        if (pids > others && pids > ports) process_tables_.push_back(table);
        if (ports > others && ports > pids) port_tables_.push_back(table);
    }

    // Whether n pairs of where a module begins and ends are in order.
    bool in_order(Word modules, Word n) {
        const std::byte* list = memory_.probe(modules, 16 * n);
        if (list == nullptr) return false;
        Word last = 0;
        for (std::uint64_t j = 0; j < n; ++j) {
            const auto start = load<Word>(list + 16 * j), end = load<Word>(list + 16 * j + 8);
            if (start > end || start < last) return false;
            last = end;
        }
        return true;
    }

    // struct ranges r[3] of beam_ranges.c; unused ones are all zero. While code is loaded one of them is being made: it
    // has a new list, whose pairs may not be there yet, beside the length and the middle of the one before
    // (erts_start_staging_ranges).
    bool ranges_at(const Statics& part, std::size_t i) {
        int good = 0, in_the_making = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const Word modules = part.word(i + 4 * k), n = part.word(i + 4 * k + 1), room = part.word(i + 4 * k + 2),
                       mid = part.word(i + 4 * k + 3);
            if (modules == 0 && n == 0) continue;
            if (n > room || room == 0 || room > most_modules) return false;
            const bool middle = mid >= modules && mid < modules + 16 * n && (mid - modules) % 16 == 0;
            if (middle && in_order(modules, n)) ++good;
            else if (memory_.probe(modules, 16 * room) != nullptr) ++in_the_making;
            else return false;
        }
        return good > 0 && in_the_making <= 1;
    }

    // struct bc_pool bccix[3] of beam_catches.c: {free list, high mark, size, catches}, which share one list of
    // catches.
    static bool catches_at(const Statics& part, std::size_t i) {
        for (std::size_t k = 0; k < 3; ++k) {
            const Word mark = part.word(i + 3 * k) >> 32, size = part.word(i + 3 * k + 1) & 0xffffffff,
                       list = part.word(i + 3 * k + 2);
            if (mark == 0 || mark > size || size < smallest_catches || size > most_catches ||
                (size & (size - 1)) != 0 || list == 0 || list % 8 != 0)
                return false;
        }
        return true;
    }
    void catches() {
        const Code code(memory_, layout_, roots_);
        for (const std::uint64_t pools : catches_) {
            const std::byte* pool = memory_.probe(pools + 24ull * roots_.code_index, 24);
            if (pool == nullptr) continue;
            const auto used = load<std::uint32_t>(pool + 4);
            const auto list = load<Word>(pool + 16);
            const std::byte* entries = memory_.probe(list, std::uint64_t{used} * 16);
            std::uint32_t good = 0, bad = 0;  // deleted ones have no address
            for (std::uint32_t n = 0; entries != nullptr && n < used && good + bad < 256; ++n)
                if (const auto pc = load<Word>(entries + 16 * n); pc != 0) ++(code.holds(pc) ? good : bad);
            if (good == 0 || bad * 8 > good) continue;
            roots_.catches = list;
            roots_.catch_count = used;
            found("catches", pools, "by their structure");
            return;
        }
        missing("catches", "catches");
    }

    std::uint64_t choose(std::string_view name, std::string_view symbol, const std::vector<std::uint64_t>& scanned,
                         std::string_view what) {
        const auto address = image_.symbol(symbol);
        if (address) {
            const bool agrees = std::find(scanned.begin(), scanned.end(), *address) != scanned.end();
            // A symbol says where a table is, whatever became of it: zero bytes there are none without entries, which
            // no VM has.
            if (agrees || (symbol != "erts_atom_table" && slot_table_at(*address))) {
                found(name, *address, agrees ? "dynamic symbol, and by its structure" : "dynamic symbol");
            } else {
                roots_.found.push_back(
                    {std::string{name}, false, fmt::format("dynamic symbol, but no such table is at {:#x}", *address)});
                roots_.missing.emplace_back(what);
            }
            return *address;
        }
        if (scanned.size() == 1) {
            found(name, scanned.front(), "by its structure");
            return scanned.front();
        }
        if (scanned.size() > 1)
            found(name, scanned.front(), fmt::format("by its structure, the first of {}", scanned.size()));
        else missing(name, what);
        return scanned.empty() ? 0 : scanned.front();
    }

    void tables() {
        roots_.process_table = choose("process table", "erts_proc", process_tables_, "the process table");
        roots_.port_table = choose("port table", "erts_port", port_tables_, "the port table");
        roots_.atom_table = choose("atom table", "erts_atom_table", atom_tables_, "the atom table");
        for (std::size_t i = 0; i < 3 && module_tables_.size() == 3; ++i) roots_.module_tables[i] = module_tables_[i];
        if (module_tables_.size() == 3) found("module tables", module_tables_.front(), "by name");
        else missing("module tables", "the tables of modules");
        if (roots_.dist_table != 0) found("node tables", roots_.dist_table, "by name");
        else missing("node tables", "the table of other nodes");
    }

    void code() {
        if (code_ranges_.empty()) {
            missing("code ranges", "the loaded code");
            return;
        }
        roots_.code_ranges = code_ranges_.front();
        found("code ranges", roots_.code_ranges, "by their structure");
        if (const auto index = image_.symbol("the_active_code_index")) {
            const auto value = memory_.word32(*index);
            if (value && *value < 3) {
                roots_.code_index = *value;
                found("code index", *index, fmt::format("dynamic symbol ({})", *value));
                return;
            }
        }
        Word most = 0;
        for (std::uint32_t k = 0; k < 3; ++k) {
            const Word modules = memory_.word(roots_.code_ranges + 32 * k).value_or(0);
            const Word n = memory_.word(roots_.code_ranges + 32 * k + 8).value_or(0);
            if (n > most && n <= most_modules && in_order(modules, n)) {
                most = n;
                roots_.code_index = k;
            }
        }
    }

    // Of an executable that exports no such name: nothing sets a process's own frame pointer where frames have none;
    // where they have, it is in the process's stack, or null (no frame yet).
    bool stacks_have_frame_pointers() {
        constexpr std::uint32_t enough = 256;
        if (at_.process_frame_pointer == absent || roots_.process_table == 0) return false;
        const auto max = memory_.value<std::uint32_t>(roots_.process_table + at_.table_max);
        const auto slots = memory_.word(roots_.process_table + at_.table_slots);
        if (!max || !slots) return false;
        const Bytes data = memory_.from(*slots, std::uint64_t{*max} * 8);
        std::uint32_t inside = 0, outside = 0;
        for (std::size_t i = 0; i * 8 + 8 <= data.size() && inside + outside < enough; ++i) {
            const Word process = load<Word>(data.data() + 8 * i);
            if (process == 0 || process % 8 != 0) continue;
            const auto pointer = memory_.word(process + at_.process_frame_pointer);
            const auto stop = memory_.word(process + at_.process_stop),
                       end = memory_.word(process + at_.process_heap_end);
            if (!pointer || *pointer == 0 || !stop || !end) continue;
            ++(*pointer % 8 == 0 && *stop <= *pointer && *pointer < *end ? inside : outside);
        }
        return inside > outside;
    }
    void values() {
        if (const auto layout = image_.symbol("erts_frame_layout"))
            roots_.frame_pointers = memory_.word32(*layout).value_or(0) == 1;
        else roots_.frame_pointers = stacks_have_frame_pointers();
        if (const auto index = image_.symbol("erts_active_bp_index"))
            roots_.breakpoint_index = memory_.word32(*index).value_or(0) & 1;
    }

    // An array of aligned ErtsSchedulerData: element i has number i + 1 and a run queue that points back or is shared.
    bool scheduler_at(std::uint64_t data, std::uint32_t type, std::uint64_t number) {
        const std::byte* p = memory_.probe(data, at_.scheduler_stride);
        if (p == nullptr) return false;
        const std::uint32_t field = type == 0 ? at_.scheduler_number : at_.scheduler_dirty_number;
        if (load<std::uint32_t>(p + at_.scheduler_type) != type || load<Word>(p + field) != number) return false;
        const auto queue = load<Word>(p + at_.scheduler_run_queue);
        return queue % 64 == 0 && memory_.probe(queue, 8) != nullptr;
    }
    // `counted`: by the VM, as far as that is known.
    std::vector<std::uint64_t> scheduler_array(std::uint64_t first, std::uint32_t type, std::uint64_t counted = 0) {
        std::vector<std::uint64_t> all;
        const std::uint64_t most = type == 0 ? most_schedulers : most_dirty_schedulers;
        std::uint64_t gap = 0, lost = 0;
        for (std::uint64_t i = 0; i < most && gap < widest_gap; ++i) {
            if (!scheduler_at(first + i * at_.scheduler_stride, type, i + 1)) {
                ++gap;
                continue;
            }
            all.push_back(first + i * at_.scheduler_stride);
            lost += gap;
            gap = 0;
        }
        if (!all.empty() && counted <= most && counted > all.size() + lost) lost = counted - all.size();
        if (lost != 0) roots_.missing.push_back(fmt::format("{} of {} schedulers", lost, all.size() + lost));
        return all;
    }
    void schedulers() {
        struct Kind {
            std::string_view name, symbol, number;
            std::vector<std::uint64_t>* list;
        };
        const Kind kinds[] = {{"schedulers", "erts_aligned_scheduler_data", "erts_no_schedulers", &roots_.schedulers},
                              {"dirty CPU schedulers", "erts_aligned_dirty_cpu_scheduler_data",
                               "erts_no_dirty_cpu_schedulers", &roots_.dirty_cpu},
                              {"dirty I/O schedulers", "erts_aligned_dirty_io_scheduler_data",
                               "erts_no_dirty_io_schedulers", &roots_.dirty_io}};
        for (std::uint32_t type = 0; type < 3; ++type) {
            const Kind& kind = kinds[type];
            const auto number = image_.symbol(kind.number);
            const std::uint64_t counted = number ? memory_.word(*number).value_or(0) : 0;
            if (const auto variable = image_.symbol(kind.symbol))
                if (const auto array = memory_.word(*variable)) *kind.list = scheduler_array(*array, type, counted);
            if (!kind.list->empty()) {
                found(kind.name, kind.list->front(), fmt::format("dynamic symbol, {}", kind.list->size()));
                continue;
            }
            for (const Statics& part : statics_) {
                for (std::size_t i = 0; i < part.words() && kind.list->empty(); ++i) {
                    const Word w = part.word(i);
                    if (w % 64 == 0 && w != 0 && scheduler_at(w, type, 1))
                        *kind.list = scheduler_array(w, type, counted);
                }
            }
            if (kind.list->empty()) missing(kind.name, kind.name);
            else found(kind.name, kind.list->front(), fmt::format("by their structure, {}", kind.list->size()));
        }
    }

    // erl_bif_persistent.c: {allocated, num_entries, mask} and slots that hold nothing or boxed {Key, Value}.
    bool persistent_at(std::uint64_t table) {
        const std::byte* head = memory_.probe(table, at_.persistent_terms);
        if (head == nullptr) return false;
        const auto room = load<Word>(head + at_.persistent_allocated), used = load<Word>(head + at_.persistent_entries),
                   mask = load<Word>(head + at_.persistent_mask);
        if (room == 0 || (room & (room - 1)) != 0 || room > most_persistent_terms || mask != room - 1 || used > room)
            return false;
        const std::byte* slots = memory_.probe(table + at_.persistent_terms, room * 8);
        if (slots == nullptr) return false;
        std::uint64_t seen = 0;
        for (std::uint64_t i = 0; i < room; ++i) {
            const auto term = load<Word>(slots + 8 * i);
            if (term == layout_.nil) continue;
            const std::byte* pair = is_boxed(term) ? memory_.probe(address_of(term), 24) : nullptr;
            if (pair == nullptr || load<Word>(pair) != (2u << 6)) return false;
            ++seen;
        }
        return seen == used;
    }
    void persistent() {
        for (const Statics& part : statics_) {
            for (std::size_t i = 0; i < part.words(); ++i) {
                const Word w = part.word(i);
                if (w % 8 != 0 || w == 0 || !persistent_at(w)) continue;
                roots_.persistent_terms = w;
                found("persistent terms", w, "by their structure");
                return;
            }
        }
        missing("persistent terms", "persistent terms");
    }

    // erts_this_node and erts_this_dist_entry: a node whose entry is in a variable of its own.
    void node() {
        if (const auto variable = image_.symbol("erts_this_node")) {
            if (const auto node = memory_.word(*variable); node && node_at(*node, 0)) {
                roots_.this_node = *node;
                found("this node", *node, "dynamic symbol");
                return;
            }
        }
        for (const Statics& part : statics_) {
            for (std::size_t i = 0; i < part.words(); ++i) {
                const Word node = part.word(i);
                const auto entry = node_at(node, 0) ? memory_.word(node + at_.node_entry) : std::nullopt;
                if (!entry || !in_statics(*entry)) continue;
                roots_.this_node = node;
                found("this node", node, "by its structure");
                return;
            }
        }
        missing("this node", "the name of this node");
    }
    bool in_statics(Word word) const {
        for (const Statics& part : statics_)
            for (std::size_t i = 0; i < part.words(); ++i)
                if (part.word(i) == word) return true;
        return false;
    }
    bool node_at(Word node, Word entry) {
        if (node == 0 || node % 8 != 0) return false;
        const std::byte* p = memory_.probe(node, at_.node_entry + 8);
        if (p == nullptr || !is_atom(load<Word>(p + at_.node_name))) return false;
        const auto own = load<Word>(p + at_.node_entry);
        if (entry != 0 && own != entry) return false;
        const std::byte* e = memory_.probe(own, at_.entry_name + 8);
        return e != nullptr && load<Word>(e + at_.entry_name) == load<Word>(p + at_.node_name);
    }

    const Image& image_;
    const Layout& layout_;
    const Offsets& at_;
    MemoryReader memory_;
    std::vector<Statics> statics_;
    std::vector<std::uint64_t> process_tables_, port_tables_, atom_tables_, module_tables_, code_ranges_, catches_;
    Roots roots_;
};

}  // namespace

Roots find_roots(const Image& image, const Layout& layout) { return Finder(image, layout).run(); }

}  // namespace beamheap::otp
