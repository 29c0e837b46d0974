// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory/ledger.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "analyses/base/sum.hpp"
#include "analyses/memory/allocators.hpp"
#include "analyses/memory/atom_families.hpp"
#include "analyses/memory/beside_heaps.hpp"
#include "analyses/memory/hidden_binaries.hpp"
#include "analyses/memory/name_families.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/totals.hpp"

namespace beamheap::analyses {
namespace {

using Kind = LedgerOwner::Kind;

// Of a process beside heaps and messages, at most: its structure, and each link and monitor.
constexpr std::uint64_t structure_bytes = 4096, relation_bytes = 128;

constexpr std::size_t index(LedgerArea area) { return static_cast<std::size_t>(area); }

constexpr std::uint64_t without(std::uint64_t whole, std::uint64_t part) { return whole - std::min(whole, part); }

/// Takes parts out of a whole: no part is more than what the others left.
class Share {
public:
    explicit Share(std::uint64_t whole) : left_(whole) {}
    std::uint64_t take(std::uint64_t part) {
        const std::uint64_t taken = std::min(part, left_);
        left_ -= taken;
        return taken;
    }
    std::uint64_t left() const { return left_; }

private:
    std::uint64_t left_;
};

Count area_bytes(const Snapshot& s, std::string_view name) {
    for (const NamedBytes& each : s.areas)
        if (s.text(each.name) == name) return each.bytes;
    return {};
}

Count blocks_of(const Snapshot& s, const AllocatorReport& report, std::string_view name) {
    for (const AllocatorUse& use : report.types)
        if (s.text(use.name) == name) return use.block_bytes;
    return {};
}

class Maker {
public:
    explicit Maker(const LedgerSources& sources)
        : from_(sources), s_(sources.snapshot), word_(s_.source.word_size), allocators_(allocators(s_)) {}

    Ledger make() {
        find_total();
        owners_of_processes();
        processes();
        timers();
        binaries();
        tables();
        code();
        atoms();
        rest();
        carriers();
        outside();
        return finish();
    }

private:
    void add(LedgerArea area, LedgerOwner owner, LedgerItem item, std::uint64_t count, std::uint64_t bytes,
             Confidence sure = Confidence::exact) {
        if (bytes == 0) return;
        ledger_.area_bytes[index(area)] = saturating_add(ledger_.area_bytes[index(area)], bytes);
        ledger_.rows.push_back({area, std::move(owner), item, count, bytes, sure});
    }
    // What the rows of an area leave of what the VM says that it takes.
    void add_untold(LedgerArea area, Count stated) {
        add(area, {}, LedgerItem::untold, 0, without(stated.value_or(0), ledger_.bytes_of(area)));
    }

    // Where =memory is missing (up to R12, or with an allocator switched off), the blocks of all allocators are as
    // much.
    void find_total() {
        ledger_.total_bytes = s_.memory_bytes("total");
        if (ledger_.total_bytes.has()) return;
        if (std::ranges::all_of(allocators_.types, &AllocatorUse::enabled))
            ledger_.total_bytes = allocators_.total.block_bytes;
    }

    // What the VM says of a kind of memory, without what of it is told as another's; else the blocks of its allocator.
    Count stated(std::string_view kind, std::string_view others, std::string_view allocator) const {
        const Count said = s_.memory_bytes(kind);
        if (!said.has()) return blocks_of(s_, allocators_, allocator);
        return without(*said, area_bytes(s_, others).value_or(0));
    }

    // Who a process belongs to, and how many that are.
    void owners_of_processes() {
        enum : std::uint64_t { by_name = 1, by_function = 2 };
        std::unordered_map<std::uint64_t, std::uint32_t> places;
        NameFamilies names;
        for (const Process& p : s_.processes)
            if (p.name != TextId::none) names.look_at(s_.text(p.name));
        std::vector<std::uint32_t> of_name;
        owner_of_.resize(s_.processes.size());
        for (std::size_t i = 0; i < s_.processes.size(); ++i) {
            const Process& p = s_.processes[i];
            const bool named = p.name != TextId::none;
            const std::uint64_t id = named ? names.add(s_.text(p.name)) : index_of(first_call(p));
            const auto [place, fresh] = places.try_emplace((named ? by_name : by_function) << 32 | id,
                                                           static_cast<std::uint32_t>(owners_.size()));
            if (fresh) {
                OwnerOf& owner = owners_.emplace_back();
                owner.first = static_cast<ProcId>(i);
                if (named) of_name.push_back(place->second);
            }
            ++owners_[place->second].count;
            owner_of_[i] = place->second;
        }
        for (std::size_t i = 0; i < of_name.size(); ++i)
            if (names.count(i) > 1) owners_[of_name[i]].form = names.text(i);
        set_apart();
    }

    // One of many that has more than all of the others together is an owner of its own.
    void set_apart() {
        struct Group {
            std::uint64_t bytes = 0, most = 0;
            std::size_t largest = 0;
        };
        std::vector<Group> groups(owners_.size());
        for (std::size_t i = 0; i < s_.processes.size(); ++i) {
            Group& group = groups[owner_of_[i]];
            const std::uint64_t bytes = process_bytes(s_.processes[i], word_).value_or(0);
            group.bytes = saturating_add(group.bytes, bytes);
            if (bytes > group.most) group.most = bytes, group.largest = i;
        }
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (owners_[g].count < 2 || groups[g].most <= groups[g].bytes / 2) continue;
            --owners_[g].count;
            owner_of_[groups[g].largest] = static_cast<std::uint32_t>(owners_.size());
            owners_.push_back({static_cast<ProcId>(groups[g].largest), 1, {}});
        }
        // Who is the first of what is left.
        for (OwnerOf& owner : owners_) owner.first = ProcId::none;
        for (std::size_t i = 0; i < owner_of_.size(); ++i)
            if (OwnerOf& owner = owners_[owner_of_[i]]; owner.first == ProcId::none)
                owner.first = static_cast<ProcId>(i);
    }

    LedgerOwner owner_at(std::uint32_t place) const {
        const OwnerOf& owner = owners_[place];
        if (owner.count == 1) return {.kind = Kind::process, .process = owner.first, .pattern = {}};
        if (!owner.form.empty()) return {.kind = Kind::named, .pattern = owner.form};
        return {.kind = Kind::processes, .function = first_call(s_[owner.first]), .pattern = {}};
    }

    /// Binaries or timers of an owner.
    struct Has {
        std::uint64_t count = 0, bytes = 0;
    };

    void processes() {
        struct Parts {
            std::array<std::uint64_t, static_cast<std::size_t>(LedgerItem::beside) + 1> bytes{};
            std::uint64_t links = 0, monitors = 0;
            std::uint64_t& operator[](LedgerItem item) { return bytes[static_cast<std::size_t>(item)]; }
            bool lower_bound = false, collecting = false;
            // What is used of a heap that is being moved is not yet known.
            Confidence sure(LedgerItem item) const {
                if (item >= LedgerItem::messages || (collecting && item != LedgerItem::stack))
                    return Confidence::estimate;
                return lower_bound ? Confidence::lower_bound : Confidence::exact;
            }
        };
        std::vector<Parts> parts(owners_.size());
        std::vector<std::uint64_t> beside(s_.processes.size());
        for (std::size_t i = 0; i < s_.processes.size(); ++i) {
            const Process& p = s_.processes[i];
            Parts& of = parts[owner_of_[i]];
            const auto bytes = [this](Count words) { return words_to_bytes(words, word_).value_or(0); };
            if (!p.memory_bytes.has()) of.lower_bound = true;
            Share left(process_bytes(p, word_).value_or(0));
            const auto take = [&](LedgerItem item, std::uint64_t part) {
                of[item] = saturating_add(of[item], left.take(part));
            };
            const std::uint64_t used = bytes(used_words(p)), stack = bytes(p.stack_words);
            const std::uint64_t heaps = saturating_add(bytes(p.heap_words), bytes(p.old_heap_words));
            take(LedgerItem::stack, stack);
            if (p.live_words.has()) {
                const std::uint64_t live = bytes(p.live_words);
                take(LedgerItem::live, live);
                take(LedgerItem::garbage, bytes(p.garbage_words));
            } else {
                take(LedgerItem::terms, used);
            }
            // What is allocated for heaps beyond the terms and the stack in them.
            take(LedgerItem::unused, without(heaps, saturating_add(without(used, bytes(p.fragment_words)), stack)));
            const std::uint64_t relations = std::uint64_t{p.links} + p.monitors;
            if (p.msgq_len.value_or(0) != 0)
                take(LedgerItem::messages, without(left.left(), structure_bytes + relations * relation_bytes));
            beside[i] = left.left();
            if (p.state == ProcessState::garbage_collecting) of.collecting = true;
        }
        const std::vector<BesideHeaps> apart = beside_heaps(s_, beside);
        for (std::size_t i = 0; i < apart.size(); ++i) {
            Parts& of = parts[owner_of_[i]];
            const auto put = [&of](LedgerItem item, std::uint64_t bytes) {
                of[item] = saturating_add(of[item], bytes);
            };
            put(LedgerItem::structure, apart[i].structure);
            put(LedgerItem::links, apart[i].links);
            put(LedgerItem::monitors, apart[i].monitors);
            put(LedgerItem::beside, apart[i].other);
            of.links += apart[i].link_count;
            of.monitors += apart[i].monitor_count;
            fixed_told_ = saturating_add(fixed_told_, apart[i].sum());
        }
        for (std::uint32_t i = 0; i < owners_.size(); ++i)
            for (std::size_t n = 0; n < parts[i].bytes.size(); ++n) {
                const auto item = static_cast<LedgerItem>(n);
                const std::uint64_t count = item == LedgerItem::links      ? parts[i].links
                                            : item == LedgerItem::monitors ? parts[i].monitors
                                                                           : owners_[i].count;
                add(LedgerArea::processes, owner_at(i), item, count, parts[i].bytes[n], parts[i].sure(item));
            }
    }

    /// Bytes of binaries by the owner's place.
    using BytesOf = std::map<std::uint32_t, std::uint64_t>;

    // As far as `processes` has room for them: they are no part of any process' memory.
    void timers() {
        const Count all = stated("processes", "process_table", "eheap_alloc");
        Share left(without(all.value_or(0), ledger_.bytes_of(LedgerArea::processes)));
        std::map<std::uint32_t, Has> by_owner;
        Has nobodys;
        for (const TimersOf& each : timer_bytes(s_)) {
            Has& of = each.receiver == ProcId::none ? nobodys : by_owner[owner_of_[index_of(each.receiver)]];
            of.count += each.count;
            const std::uint64_t structures = left.take(each.structures);
            fixed_told_ = saturating_add(fixed_told_, structures);
            of.bytes = saturating_add(of.bytes, saturating_add(structures, left.take(each.messages)));
        }
        for (const auto& [place, of] : by_owner)
            add(LedgerArea::processes, owner_at(place), LedgerItem::timers, of.count, of.bytes, Confidence::estimate);
        add(LedgerArea::processes, {}, LedgerItem::timers, nobodys.count, nobodys.bytes, Confidence::estimate);
        add_untold(LedgerArea::processes, all);
    }

    // A binary is its owner's where one has it alone, else it is shared; who has most of what is shared is not asked.
    void binaries() {
        const Count all = stated("binary", {}, "binary_alloc");
        ledger_.heaps_read = from_.held.has_value();
        if (from_.held) add_held_binaries(all);
        else add_virtual_heaps(all);
        add_queues(all);
        add_untold(LedgerArea::binaries, all);
    }

    void add_held_binaries(Count all) {
        constexpr std::uint32_t persistent = 0xFFFFFFFE, table = 0x80000000;
        std::vector<std::pair<std::uint64_t, std::uint32_t>> held;  // by address: an owner's place, a table's index
        for (const std::span<const HeldBinary> some : {*from_.held, from_.garbage})
            for (const HeldBinary& each : some)
                if (each.named)
                    held.emplace_back(each.reference.address, owner_of_[index_of(each.reference.holder.process())]);
        if (from_.stored != nullptr)
            for (const StoredBinary& each : from_.stored->references)
                held.emplace_back(each.address,
                                  each.table == StoredBinary::persistent_term ? persistent : table | each.table);
        std::ranges::sort(held);
        held.erase(std::unique(held.begin(), held.end()), held.end());
        std::map<std::uint32_t, Has> has;
        Has shared;
        for (std::size_t i = 0; i < held.size();) {
            std::size_t end = i + 1;
            while (end < held.size() && held[end].first == held[i].first) ++end;
            Has& of = end == i + 1 ? has[held[i].second] : shared;
            ++of.count;
            of.bytes = saturating_add(of.bytes, from_.size_of(held[i].first).value_or(0));
            i = end;
        }
        const auto owner = [&](std::uint32_t place) -> LedgerOwner {
            if (place == persistent) return {.kind = Kind::vm, .pattern = "persistent terms"};
            if ((place & table) == 0) return owner_at(place);
            const EtsTable& of = s_.ets[place & ~table];
            return {.kind = Kind::table,
                    .process = s_.find(of.owner),
                    .pattern = std::string(s_.text(of.name != TextId::none ? of.name : of.id))};
        };
        for (const auto& [place, of] : has)
            add(LedgerArea::binaries, owner(place), LedgerItem::binaries, of.count, of.bytes);
        add(LedgerArea::binaries, {}, LedgerItem::shared, shared.count, shared.bytes);
        // Those of which only slices are listed: what the virtual heaps have beyond the others.
        Share left(without(all.value_or(0), ledger_.bytes_of(LedgerArea::binaries)));
        BytesOf hidden;
        for (const HiddenBinaries& each : hidden_binaries(s_, *from_.held, from_.size_of)) {
            std::uint64_t& of = hidden[owner_of_[index_of(each.process)]];
            of = saturating_add(of, each.hidden_bytes);
        }
        add_register_binaries(hidden);
        add_by_size(hidden, left);
    }

    // A process that ran has terms in registers, which a dump leaves out, and its virtual heap counts their binaries:
    // what that has beyond all that its heap refers to.
    void add_register_binaries(BytesOf& hidden) const {
        std::map<ProcId, std::uint64_t> seen;
        for (const HeldBinary& each : *from_.held) {
            std::uint64_t& of = seen[each.reference.holder.process()];
            of = saturating_add(of, from_.size_of(each.reference.address).value_or(each.reference.size));
        }
        for (std::uint32_t i = 0; i < s_.processes.size(); ++i) {
            const Process& p = s_.processes[i];
            const Count words = virtual_heap_words(p);
            if (!p.registers_lost || !words.has()) continue;
            const auto listed = seen.find(ProcId{i});
            const std::uint64_t more =
                without(saturating_multiply(*words, word_), listed == seen.end() ? 0 : listed->second);
            std::uint64_t& of = hidden[owner_of_[i]];
            of = std::max(of, more);
        }
    }

    // Without heaps, by the virtual heaps: sizes of all that a process refers to. Where these are more than all
    // binaries, some are counted for several processes, and the figures say nothing of whom they are.
    void add_virtual_heaps(Count all) {
        BytesOf has;
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < s_.processes.size(); ++i) {
            const Process& p = s_.processes[i];
            const std::uint64_t words =
                saturating_add(p.bin_vheap_words.value_or(0), p.old_bin_vheap_words.value_or(0));
            if (words == 0) continue;
            const std::uint64_t bytes = saturating_multiply(words, word_);
            sum = saturating_add(sum, bytes);
            std::uint64_t& of = has[owner_of_[i]];
            of = saturating_add(of, bytes);
        }
        if (sum > all.value_or(0)) return;
        Share left(*all);
        add_by_size(has, left);
    }

    // How many binaries these are is not known.
    void add_by_size(const BytesOf& has, Share& left) {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
        for (const auto& [place, bytes] : has) order.emplace_back(bytes, place);
        std::ranges::sort(order, std::ranges::greater{});
        for (const auto& [bytes, place] : order)
            add(LedgerArea::binaries, owner_at(place), LedgerItem::binaries, 0, left.take(bytes), Confidence::estimate);
    }

    // What is queued in ports lies in binaries of their drivers.
    void add_queues(Count all) {
        Share left(without(all.value_or(0), ledger_.bytes_of(LedgerArea::binaries)));
        if (left.left() == 0 || s_.ports.empty()) return;
        for (const PortGroup& group : ports(s_).groups)
            add(LedgerArea::binaries, {.kind = Kind::ports, .pattern = group.driver}, LedgerItem::queue, group.count,
                left.take(group.queue_bytes.value().value_or(0)), Confidence::estimate);
    }

    static TextId name_or_id(const EtsTable& table) { return table.name != TextId::none ? table.name : table.id; }

    // ets:info(memory) counts what is in blocks; each object has one of its own.
    void tables() {
        struct Tables {
            std::uint64_t bytes = 0, headers = 0;
            Pid owner;
            bool one_owner = true;
        };
        NameFamilies names;
        for (const EtsTable& table : s_.ets) names.look_at(s_.text(name_or_id(table)));
        std::vector<Tables> has;
        std::uint64_t told = 0;
        for (const EtsTable& table : s_.ets) {
            const ProcId owner = s_.find(table.owner);
            const std::uint64_t scope = owner == ProcId::none ? 0 : owner_of_[index_of(owner)] + std::uint64_t{1};
            const std::size_t place = names.add(s_.text(name_or_id(table)), scope);
            if (place == has.size()) has.push_back({0, 0, table.owner, true});
            Tables& of = has[place];
            const std::uint64_t bytes = words_to_bytes(table.words, word_).value_or(0);
            of.one_owner = of.one_owner && of.owner == table.owner;
            of.bytes = saturating_add(of.bytes, bytes);
            of.headers = saturating_add(of.headers, words_to_bytes(table.objects, word_).value_or(0));
            told = saturating_add(told, bytes);
        }
        const Count all = stated("ets", "ets_misc", "ets_alloc");
        Share left(without(all.value_or(0), told));
        for (std::size_t i = 0; i < has.size(); ++i) {
            const LedgerOwner owner{.kind = Kind::table,
                                    .process = has[i].one_owner ? s_.find(has[i].owner) : ProcId::none,
                                    .pattern = names.text(i)};
            add(LedgerArea::ets, owner, LedgerItem::objects, names.count(i), has[i].bytes);
            add(LedgerArea::ets, owner, LedgerItem::headers, names.count(i), left.take(has[i].headers),
                Confidence::estimate);
        }
        add_untold(LedgerArea::ets, all);
    }

    void code() {
        NameFamilies names;
        for (const Module& module : s_.modules) names.look_at(s_.text(module.name));
        std::vector<std::uint64_t> bytes;
        std::uint64_t sum = 0;
        for (const Module& module : s_.modules) {
            const std::size_t place = names.add(s_.text(module.name));
            if (place == bytes.size()) bytes.push_back(0);
            const std::uint64_t size = saturating_add(module.current_bytes.value_or(0), module.old_bytes.value_or(0));
            bytes[place] = saturating_add(bytes[place], size);
            sum = saturating_add(sum, size);
        }
        for (std::size_t i = 0; i < bytes.size(); ++i)
            add(LedgerArea::code, {.kind = Kind::modules, .pattern = names.text(i)}, LedgerItem::code, names.count(i),
                bytes[i]);
        for (const std::string_view table :
             {"module_table", "export_table", "export_list", "fun_table", "fun_list", "module_refs"})
            add(LedgerArea::code, {.kind = Kind::vm, .pattern = std::string(table)}, LedgerItem::table, 0,
                area_bytes(s_, table).value_or(0));
        const Count literals = blocks_of(s_, allocators_, "literal_alloc");
        const Count loaded = area_bytes(s_, "loaded_code");
        std::uint64_t constants = 0;
        if (literals.has() && loaded.has()) constants = std::min(*literals, without(sum, *loaded));
        Count all = s_.memory_bytes("code");  // which core images don't tell
        if (!all.has()) all = loaded;
        if (all.has()) all = saturating_add(*all, constants);
        add_untold(LedgerArea::code, all);
        if (literals.has())
            add(LedgerArea::persistent_terms, {}, LedgerItem::terms_kept, s_.node.persistent_terms.value_or(0),
                without(*literals - constants, texts_of_atoms().literals),
                loaded.has() ? Confidence::exact : Confidence::estimate);
    }

    struct Texts {
        std::uint64_t bytes = 0, literals = 0;  ///< their characters, and the literals that these are in
    };
    // Texts of atoms lie in chunks, with room for more to come. Where nothing is reserved for them, each is a literal.
    Texts texts_of_atoms() const {
        constexpr std::uint64_t head = 2;  // words
        Texts texts;
        const Count reserved = s_.memory_bytes("atom");
        if (!reserved.has() || reserved != s_.memory_bytes("atom_used")) return texts;
        for (const TextId atom : s_.atoms) {
            const std::uint64_t size = s_.text(atom).size();
            texts.bytes += size;
            texts.literals += (head + (size + word_ - 1) / word_) * word_;
        }
        return texts;
    }

    // What =memory calls atoms is texts and the table, and up to R14 the entries (atom_entry). Since then each entry is
    // a block of ll_alloc beside it, of the smallest size that there is.
    void atoms() {
        constexpr std::uint64_t entry_words = 8;
        const Count said = s_.memory_bytes("atom");
        if (!said.has()) return;
        const bool within = area_bytes(s_, "atom_entry").has();
        const std::uint64_t entries = within ? 0 : saturating_multiply(atom_count(s_).value_or(0), word_ * entry_words);
        const Texts texts = texts_of_atoms();
        const std::uint64_t named = saturating_add(without(*said, texts.bytes), texts.literals);
        const std::uint64_t all = saturating_add(named, std::min(entries, rest_left(named)));
        const std::uint64_t listed = s_.atoms.size();
        Share left(all);
        if (listed != 0 && (from_.atom_families || all >= std::ranges::max(ledger_.area_bytes))) {
            ledger_.families = atom_families(s_);
            for (const AtomFamily& each : ledger_.families->families) {
                // Entries are alike: a family takes as much as it has of all atoms.
                const std::uint64_t part =
                    all / listed * each.count + all % listed * each.count / listed;  // listed is below 2^32
                add(LedgerArea::atoms, {.kind = Kind::atoms, .pattern = each.pattern}, LedgerItem::names, each.count,
                    left.take(part), Confidence::estimate);
            }
        }
        add(LedgerArea::atoms, {}, LedgerItem::names, 0, left.left(), Confidence::estimate);
    }

    // What the total has beyond the areas so far, and `more`.
    std::uint64_t rest_left(std::uint64_t more) const {
        for (std::size_t i = 0; i < index(LedgerArea::vm); ++i) more = saturating_add(more, ledger_.area_bytes[i]);
        return without(ledger_.total_bytes.value_or(0), more);
    }

    // The VM's own tables, as far as the total has room for them.
    void rest() {
        const Count total = ledger_.total_bytes;
        Share left(total.has() ? rest_left(0) : std::numeric_limits<std::uint64_t>::max());
        for (const std::string_view table :
             {"process_table", "port_table", "ets_misc", "bif_timer", "dist_table", "node_table", "register_table",
              "bits_bufs_size", "static", "sys_misc", "link_lh"})
            add(LedgerArea::vm, {.kind = Kind::vm, .pattern = std::string(table)}, LedgerItem::table,
                table == "process_table" ? process_limit(s_).value_or(0) : 0,
                left.take(area_bytes(s_, table).value_or(0)));
        add(LedgerArea::vm, {.kind = Kind::vm, .pattern = "driver_alloc"}, LedgerItem::table, 0,
            left.take(blocks_of(s_, allocators_, "driver_alloc").value_or(0)));
        // References that processes wait with, and the headers of all blocks of fixed size types.
        add(LedgerArea::vm, {.kind = Kind::vm, .pattern = "fix_alloc"}, LedgerItem::table, 0,
            left.take(without(blocks_of(s_, allocators_, "fix_alloc").value_or(0), fixed_told_)), Confidence::estimate);
        if (!total.has()) return;
        add(LedgerArea::vm, {}, LedgerItem::untold, 0, left.left());
        find_untold_allocator(left.left());
    }

    // Blocks of all kinds lie in std_alloc, short-lived ones in sl_alloc; in ll_alloc are the large tables, atoms and
    // code, too, which are told (erts/emulator/beam/erl_alloc.types).
    void find_untold_allocator(std::uint64_t untold) {
        for (const std::string_view name : {"std_alloc", "sl_alloc", "ll_alloc"}) {
            std::uint64_t blocks = blocks_of(s_, allocators_, name).value_or(0);
            if (name == "ll_alloc")
                for (const std::uint64_t told :
                     {area_bytes(s_, "process_table").value_or(0), area_bytes(s_, "port_table").value_or(0),
                      ledger_.bytes_of(LedgerArea::code), ledger_.bytes_of(LedgerArea::atoms)})
                    blocks = without(blocks, told);
            blocks = std::min(blocks, untold);
            if (blocks < untold / 2 || blocks <= ledger_.untold_allocator_bytes) continue;
            ledger_.untold_allocator = name;
            ledger_.untold_allocator_bytes = blocks;
        }
    }

    void carriers() {
        for (const AllocatorUse& use : allocators_.types)
            if (s_.text(use.name) != "sbmbc_alloc")
                add(LedgerArea::carriers, {.kind = Kind::vm, .pattern = std::string(s_.text(use.name))},
                    LedgerItem::free, 0, use.lost_bytes.value_or(0));
    }

    // Machine code that the JIT has written is in no carrier, and among the modules already.
    void outside() {
        if (from_.carriers == nullptr) return;
        const Carriers& c = *from_.carriers;
        add(LedgerArea::outside, {.kind = Kind::vm, .pattern = "native stacks"}, LedgerItem::native, 0,
            c.stack_bytes.value_or(0));
        const std::uint64_t jitted =
            s_.source.jit.value_or(false) ? ledger_.bytes_of(LedgerArea::code) : std::uint64_t{0};
        add(LedgerArea::outside, {}, LedgerItem::native, 0, without(c.other_bytes.value_or(0), jitted),
            Confidence::estimate);
    }

    Ledger finish() {
        for (std::size_t i = 0; i < ledger_areas; ++i) {
            ledger_.sum_bytes = saturating_add(ledger_.sum_bytes, ledger_.area_bytes[i]);
            if (i <= index(LedgerArea::vm))
                ledger_.told_bytes = saturating_add(ledger_.told_bytes, ledger_.area_bytes[i]);
        }
        ledger_.excess_bytes =
            ledger_.total_bytes.has() ? without(ledger_.told_bytes, *ledger_.total_bytes) : std::uint64_t{0};
        sort_rows();
        return std::move(ledger_);
    }

    // Rows of one owner follow each other as they were added, but for binaries', of which each owner has few.
    void sort_rows() {
        std::vector<LedgerRow>& rows = ledger_.rows;
        std::vector<std::uint64_t> of_owner(rows.size());
        std::vector<std::size_t> first(rows.size());
        for (std::size_t i = 0; i < rows.size();) {
            std::size_t end = i;
            std::uint64_t bytes = 0;
            while (end < rows.size() && rows[end].area == rows[i].area && rows[end].owner == rows[i].owner)
                bytes = saturating_add(bytes, rows[end++].bytes);
            for (; i < end; ++i) {
                of_owner[i] = bytes;
                first[i] = end;
            }
        }
        std::vector<std::size_t> order(rows.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
            const bool within_a = rows[a].area <= LedgerArea::vm, within_b = rows[b].area <= LedgerArea::vm;
            if (within_a != within_b) return within_a;
            const std::uint64_t in_a = ledger_.bytes_of(rows[a].area), in_b = ledger_.bytes_of(rows[b].area);
            if (in_a != in_b) return in_a > in_b;
            if (rows[a].area != rows[b].area) return rows[a].area < rows[b].area;
            if (of_owner[a] != of_owner[b]) return of_owner[a] > of_owner[b];
            if (first[a] != first[b]) return first[a] < first[b];
            if (rows[a].bytes != rows[b].bytes) return rows[a].bytes > rows[b].bytes;
            return a < b;
        });
        std::vector<LedgerRow> sorted;
        sorted.reserve(rows.size());
        for (const std::size_t i : order) sorted.push_back(std::move(rows[i]));
        rows = std::move(sorted);
    }

    struct OwnerOf {
        ProcId first = ProcId::none;
        std::uint64_t count = 0;
        std::string form;  // of registered names, where it has several
    };
    const LedgerSources& from_;
    const Snapshot& s_;
    std::uint32_t word_;
    AllocatorReport allocators_;
    std::vector<OwnerOf> owners_;
    std::vector<std::uint32_t> owner_of_;  // by process
    std::uint64_t fixed_told_ = 0;         // of processes and timers: in blocks of fix_alloc, but for their headers
    Ledger ledger_;
};

}  // namespace

Ledger ledger(const LedgerSources& sources) { return Maker(sources).make(); }

std::uint64_t Ledger::untold_bytes(LedgerArea area) const {
    std::uint64_t bytes = 0;
    for (const LedgerRow& row : rows)
        if (row.area == area && row.item == LedgerItem::untold) bytes = saturating_add(bytes, row.bytes);
    return bytes;
}

std::string_view name_of(LedgerArea area) {
    switch (area) {
        case LedgerArea::processes: return "processes";
        case LedgerArea::binaries: return "binaries";
        case LedgerArea::ets: return "ets";
        case LedgerArea::code: return "code";
        case LedgerArea::persistent_terms: return "persistent_terms";
        case LedgerArea::atoms: return "atoms";
        case LedgerArea::vm: return "vm";
        case LedgerArea::carriers: return "carriers";
        case LedgerArea::outside: break;
    }
    return "outside";
}

std::string_view name_of(LedgerItem item) {
    switch (item) {
        case LedgerItem::live: return "live";
        case LedgerItem::garbage: return "garbage";
        case LedgerItem::terms: return "terms";
        case LedgerItem::stack: return "stack";
        case LedgerItem::unused: return "unused";
        case LedgerItem::messages: return "messages";
        case LedgerItem::structure: return "structure";
        case LedgerItem::links: return "links";
        case LedgerItem::monitors: return "monitors";
        case LedgerItem::beside: return "beside_heaps";
        case LedgerItem::timers: return "timers";
        case LedgerItem::binaries: return "binaries";
        case LedgerItem::shared: return "shared_binaries";
        case LedgerItem::queue: return "queue";
        case LedgerItem::objects: return "objects";
        case LedgerItem::headers: return "block_headers";
        case LedgerItem::code: return "code";
        case LedgerItem::terms_kept: return "persistent_terms";
        case LedgerItem::names: return "atoms";
        case LedgerItem::table: return "table";
        case LedgerItem::free: return "free";
        case LedgerItem::native: return "native";
        case LedgerItem::untold: break;
    }
    return "untold";
}

std::string_view name_of(LedgerOwner::Kind kind) {
    switch (kind) {
        case Kind::none: break;
        case Kind::process: return "process";
        case Kind::processes:
        case Kind::named: return "processes";
        case Kind::table: return "table";
        case Kind::modules: return "modules";
        case Kind::atoms: return "atoms";
        case Kind::ports: return "ports";
        case Kind::vm: return "vm";
    }
    return {};
}

}  // namespace beamheap::analyses
