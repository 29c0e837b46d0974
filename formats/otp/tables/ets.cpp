// SPDX-License-Identifier: Apache-2.0
// ETS tables (erl_db.c, erl_db_util.h): each normal scheduler keeps the tables that were made on it in a ring.
#include <fmt/format.h>

#include <algorithm>

#include "formats/otp/tables/ets_objects.hpp"
#include "formats/otp/tables/ets_status.hpp"
#include "formats/otp/tables/tables.hpp"
#include "formats/otp/vm/cycle.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr std::size_t most_tables = 1u << 24;
constexpr std::uint32_t cache_line = 64, most_counter_slots = 1024;
constexpr std::uint32_t owned_tables = 6 * 8;  // ErtsPSD.data[ERTS_PSD_ETS_OWNED_TABLES] of all releases
constexpr std::uint32_t next_owned = 16;       // DbTableCommon.owned is behind .all, two pointers
constexpr std::uint32_t counters_head = 16;    // ErtsFlxCtrDecentralizedCtrArray before its cache lines

class EtsReader {
public:
    explicit EtsReader(Reader& reader) : reader_(reader), at_(reader.at) {
        for (const auto* list : {&reader.vm.roots.schedulers, &reader.vm.roots.dirty_cpu, &reader.vm.roots.dirty_io})
            for (const std::uint64_t scheduler : *list)
                if (const auto slot = reader.memory.word32(scheduler + at_.scheduler_counter_slot))
                    last_slot_ = std::max(last_slot_, std::min(*slot, most_counter_slots));
    }

    void run() {
        for (const std::uint64_t scheduler : reader_.vm.roots.schedulers) {
            const auto first = reader_.memory.word(scheduler + at_.scheduler_ets_tables);
            if (!first) continue;
            const std::uint64_t counted = reader_.memory.word(scheduler + at_.scheduler_ets_count).value_or(0);
            Cycle cycle;
            std::uint64_t seen = 0, previous = 0;
            bool followed = true;
            for (std::uint64_t table = *first; table != 0;) {
                const std::byte* p = table % 8 == 0 ? reader_.memory.at(table, at_.ets_hash_size) : nullptr;
                const bool whole = p != nullptr;
                // The smallest kind of table may end a segment.
                if (!whole) p = reader_.memory.at(table, at_.ets_tree_root + 8);
                if (p == nullptr || reader_.snapshot.ets.size() >= most_tables) {
                    reader_.snapshot.anomalies.add(Anomaly::unreadable_memory, table,
                                                   "the rest of a scheduler's ETS tables");
                    followed = false;
                    break;
                }
                // A ring: each table names the one before it as well.
                if (previous != 0 && load<Word>(p + at_.ets_next + 8) != previous) followed = false;
                previous = table;
                ++seen;
                seen_.push_back(table);
                add(table, p, whole);
                table = load<Word>(p + at_.ets_next);
                if (table == 0) followed = false;
                if (table == 0 || table == *first) break;
                if (cycle.closed_by(table)) {
                    reader_.snapshot.anomalies.add(Anomaly::inconsistent_state, table,
                                                   "a list of ETS tables leads back into itself");
                    followed = true;
                    seen = counted;
                    break;
                }
            }
            if (!followed || seen != counted)
                reader_.snapshot.anomalies.add(
                    Anomaly::count_mismatch, scheduler,
                    fmt::format("a scheduler has {} ETS tables, and counts {}", seen, counted));
        }
        check_owners();
    }

private:
    // Each process keeps a ring of the tables that it owns: all of them are in some scheduler's ring, too.
    void check_owners() {
        // A running VM makes and drops tables meanwhile.
        if (reader_.vm.image != nullptr && reader_.vm.image->process() != nullptr) return;
        std::sort(seen_.begin(), seen_.end());
        std::uint64_t lost = 0, first_lost = 0;
        for (const Process& process : reader_.snapshot.processes) {
            const auto specific = reader_.memory.word(process.offset + at_.process_specific);
            const auto first =
                specific && *specific != 0 ? reader_.memory.word(*specific + owned_tables) : std::nullopt;
            Cycle cycle;
            for (std::uint64_t table = first.value_or(0); table != 0;) {
                if (!std::binary_search(seen_.begin(), seen_.end(), table)) {
                    if (lost++ == 0) first_lost = table;
                    break;
                }
                table = reader_.memory.word(table + at_.ets_next + next_owned).value_or(0);
                if (table == *first || cycle.closed_by(table)) break;
            }
        }
        if (lost != 0)
            reader_.snapshot.anomalies.add(Anomaly::count_mismatch, first_lost,
                                           fmt::format("ETS tables of {} processes are in no scheduler's ring", lost));
    }

    /// `whole`: as many bytes are there as the largest kind of table has.
    void add(std::uint64_t address, const std::byte* p, bool whole) {
        const auto bits = load<std::uint32_t>(p + at_.ets_status);
        if ((bits & ets_status::deleted) != 0) return;
        TextTable& texts = reader_.snapshot.texts;
        EtsTable table;
        table.address = address;
        table.owner = reader_.pid(load<Word>(p + at_.ets_owner));
        table.name = reader_.atom(load<Word>(p + at_.ets_name));
        table.id = (bits & ets_status::named) != 0 ? table.name : identifier(load<Word>(p + at_.ets_id));
        const bool hash = (bits & (ets_status::set | ets_status::bag | ets_status::duplicate_bag)) != 0;
        table.type = texts.intern((bits & ets_status::set) != 0             ? "set"
                                  : (bits & ets_status::bag) != 0           ? "bag"
                                  : (bits & ets_status::duplicate_bag) != 0 ? "duplicate_bag"
                                                                            : "ordered_set");
        table.protection = texts.intern((bits & ets_status::is_private) != 0  ? "private"
                                        : (bits & ets_status::is_public) != 0 ? "public"
                                                                              : "protected");
        table.write_concurrency =
            texts.intern((bits & ets_status::automatic) != 0                                    ? "auto"
                         : (bits & (ets_status::fine_locked | ets_status::ca_ordered_set)) != 0 ? "true"
                                                                                                : "false");
        table.read_concurrency = texts.intern((bits & ets_status::frequent_read) != 0 ? "true" : "false");
        // A byte in the newest releases, whose upper three bytes are not its own; never more than one anywhere.
        table.compressed = p[at_.ets_compressed] != std::byte{0};
        if (hash && whole) {
            // As dumps have it: not how often it is fixed, but what it keeps therefore.
            table.fixed = load<Word>(p + at_.ets_fixed) == 0 ? Count(0) : read_ets_deleted(reader_, address);
            table.buckets = load<Word>(p + at_.ets_hash_buckets);
        }
        const std::byte* counters = p + at_.ets_counters;
        if (counters[4] == std::byte{0}) {
            table.objects = load<Word>(counters + 8);
            table.words = (load<Word>(counters + 16) + 7) / 8;
        } else {
            decentralised(load<Word>(counters + 8), table);
        }
        reader_.snapshot.ets.push_back(table);
    }

    // One cache line of counters for every scheduler, and one for all other threads (erl_flxctr.c): the sums count.
    void decentralised(std::uint64_t array, EtsTable& table) {
        const std::uint64_t first = array + counters_head;
        if (first % cache_line != 0) return;
        const std::byte* lines = reader_.memory.at(first, std::uint64_t{last_slot_ + 1} * cache_line);
        if (lines == nullptr) return;
        std::uint64_t objects = 0, bytes = 0;
        for (std::uint32_t slot = 0; slot <= last_slot_; ++slot) {
            objects += load<Word>(lines + std::size_t{slot} * cache_line);
            bytes += load<Word>(lines + std::size_t{slot} * cache_line + 8);
        }
        table.objects = objects;
        table.words = (bytes + 7) / 8;
    }

    TextId identifier(std::uint64_t magic) {
        const std::byte* p = reader_.memory.at(magic + at_.magic_reference, 12);
        if (p == nullptr) return TextId::none;
        return reader_.snapshot.texts.intern(
            reference_text({load<std::uint32_t>(p), load<std::uint32_t>(p + 4), load<std::uint32_t>(p + 8)}));
    }

    Reader& reader_;
    const Offsets& at_;
    std::uint32_t last_slot_ = 0;
    std::vector<std::uint64_t> seen_;  ///< tables, those that are being deleted with them
};

}  // namespace

std::string reference_text(const std::array<std::uint32_t, 3>& numbers) {
    return fmt::format("#Ref<0.{}.{}.{}>", numbers[2], numbers[1], numbers[0]);
}

void read_ets(Reader& reader) { EtsReader(reader).run(); }

}  // namespace beamheap::otp
