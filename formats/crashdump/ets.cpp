// SPDX-License-Identifier: Apache-2.0
// =ets:OWNER and =internal_ets: Description. Written by print_table() in erts/emulator/beam/erl_db.c. Contents are
// not in a dump, but for ordered sets of releases up to R14B01, whose tuples follow as text and are skipped.
#include <charconv>

#include "formats/crashdump/fields.hpp"
#include "formats/crashdump/readers.hpp"

namespace beamheap::crashdump {
namespace {

double read_double(std::string_view value) {
    double number = -1;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
}

// Up to OTP 20 the number of a slot; from 21 on the address of the table, in decimal.
void read_slot(Loader& loader, EtsTable& table, std::string_view value, std::uint64_t) {
    const Count slot = parse_decimal(value);
    if (loader.dialect.otp == 0 || loader.dialect.otp >= 21) table.address = slot.value_or(0);
}
void read_id(Loader& loader, EtsTable& table, std::string_view value, std::uint64_t) { table.id = loader.atom(value); }
void read_name(Loader& loader, EtsTable& table, std::string_view value, std::uint64_t) {
    table.name = loader.atom(value);
}
void read_buckets(Loader& loader, EtsTable& table, std::string_view value, std::uint64_t offset) {
    table.buckets = loader.number(value, offset);
}
void read_fixed(Loader& loader, EtsTable& table, std::string_view value, std::uint64_t offset) {
    table.fixed = value == "false" ? Count(0) : loader.number(value, offset);
}
void read_compressed(Loader&, EtsTable& table, std::string_view value, std::uint64_t) {
    table.compressed = value == "true";
}
void read_ordered(Loader& loader, EtsTable& table, std::string_view, std::uint64_t) {
    if (table.type == TextId::none) table.type = loader.text("ordered_set");
}
void read_avg(Loader&, EtsTable& table, std::string_view value, std::uint64_t) { table.chain_avg = read_double(value); }
void read_dev(Loader&, EtsTable& table, std::string_view value, std::uint64_t) {
    table.chain_std_dev = read_double(value);
}
void read_expected(Loader&, EtsTable& table, std::string_view value, std::uint64_t) {
    table.chain_expected_std_dev = read_double(value);
}

constexpr Field<EtsTable> ets_fields[] = {
    {"Slot: ", {}, {}, read_slot},
    {"Table: ", {}, {}, read_id},
    {"Name: ", {}, {}, read_name},
    {"Buckets: ", {}, {}, read_buckets},
    {"Chain Length Avg: ", {}, {}, read_avg},
    {"Chain Length Max: ", &EtsTable::chain_max},
    {"Chain Length Min: ", &EtsTable::chain_min},
    {"Chain Length Std Dev: ", {}, {}, read_dev},
    {"Chain Length Expected Std Dev: ", {}, {}, read_expected},
    {"Fixed: ", {}, {}, read_fixed},
    {"Ordered set (AVL tree), Elements: ", {}, {}, read_ordered},
    {"Objects: ", &EtsTable::objects},
    {"Words: ", &EtsTable::words},
    {"Type: ", {}, &EtsTable::type},
    {"Protection: ", {}, &EtsTable::protection},
    {"Compressed: ", {}, {}, read_compressed},
    {"Write Concurrency: ", {}, &EtsTable::write_concurrency},
    {"Read Concurrency: ", {}, &EtsTable::read_concurrency},
};

constexpr Always ets_always[] = {{"Slot: "},
                                 {"Table: "},
                                 {"Name: "},
                                 {"Objects: "},
                                 {"Words: "},
                                 {"Type: ", 18},
                                 {"Protection: ", 18},
                                 {"Compressed: ", 18},
                                 {"Write Concurrency: ", 18},
                                 {"Read Concurrency: ", 18}};
// What a table of hashing has, and an ordered set has not.
constexpr Always hash_always[] = {{"Buckets: "},
                                  {"Chain Length Avg: ", 18},
                                  {"Chain Length Max: ", 18},
                                  {"Chain Length Min: ", 18},
                                  {"Chain Length Std Dev: ", 18},
                                  {"Chain Length Expected Std Dev: ", 18},
                                  {"Fixed: ", 18}};

// Either all fields of a table of hashing, or that of an ordered set.
void judge_kind(const Loader& loader, FieldOrder<EtsTable>& order) {
    const bool ordered = order.has("Ordered set (AVL tree), Elements: ");
    for (const Always& field : hash_always)
        if (loader.dialect.otp >= field.since && order.has(field.key) == ordered) order.odd(field.key);
}

void read(Loader& loader, const Section& section, std::string_view body, EtsTable table) {
    FieldOrder<EtsTable> order(ets_fields);
    FieldPlace place;
    const char* const begin = body.data();
    bool contents = false;
    while (!body.empty()) {
        const std::uint64_t offset = section.body_offset + static_cast<std::uint64_t>(body.data() - begin);
        const std::string_view line = take_line(body);
        if (line.empty()) continue;
        if (!contents) loader.look_for_zeros(offset, line);
        if (read_field(loader, std::span<const Field<EtsTable>>(ets_fields), place, table, line, offset)) {
            order.found(place.hint);
            contents = line.starts_with("Ordered set");
            continue;
        }
        if (!contents) loader.unknown_field(offset, line);
    }
    judge_kind(loader, order);
    order.judge(loader, section, ets_always);
    loader.snapshot.ets.push_back(table);
}

}  // namespace

void read_ets(Loader& loader, const Section& section, std::string_view body) {
    EtsTable table;
    if (const auto owner = parse_pid(section.id)) table.owner = *owner;
    else loader.anomalies().add(Anomaly::bad_line, section.offset, section.id);
    read(loader, section, body, table);
}

void read_internal_ets(Loader& loader, const Section& section, std::string_view body) {
    EtsTable table;
    table.internal = true;
    read(loader, section, body, table);
}

}  // namespace beamheap::crashdump
