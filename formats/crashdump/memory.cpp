// SPDX-License-Identifier: Apache-2.0
// Memory figures of the VM: =memory, =allocated_areas, =allocator:NAME[I], =hash_table:NAME, =index_table:NAME.
// All are open sets of "key: number..." lines, kept as they are; analyses give them meaning.
#include <algorithm>
#include <unordered_set>

#include "formats/crashdump/fields.hpp"
#include "formats/crashdump/readers.hpp"

namespace beamheap::crashdump {
namespace {

// "key: 1 2 3" -> the numbers; false where the value holds anything else.
bool read_numbers(std::string_view value, std::array<Count, 3>& numbers) {
    std::size_t count = 0;
    while (!value.empty()) {
        const std::size_t blank = value.find(' ');
        const Count number = parse_decimal(value.substr(0, blank));
        if (!number.has() || count == numbers.size()) return false;
        numbers[count++] = number;
        value.remove_prefix(blank == std::string_view::npos ? value.size() : blank + 1);
    }
    return count != 0;
}

void read_byte_lines(Loader& loader, const Section& section, std::string_view body, std::vector<NamedBytes>& out) {
    std::unordered_set<TextId> names;  // of this section and of those of its kind before it
    for (const NamedBytes& each : out) names.insert(each.name);
    const char* const begin = body.data();
    while (!body.empty()) {
        const std::uint64_t offset = section.body_offset + static_cast<std::uint64_t>(body.data() - begin);
        const std::string_view line = take_line(body);
        if (line.empty()) continue;
        loader.look_for_zeros(offset, line);
        const std::size_t colon = line.find(": ");
        std::array<Count, 3> numbers;
        if (colon == std::string_view::npos || !read_numbers(line.substr(colon + 2), numbers)) {
            loader.anomalies().add(colon == std::string_view::npos ? Anomaly::bad_line : Anomaly::bad_number, offset,
                                   line);
            continue;
        }
        const TextId name = loader.text(line.substr(0, colon));
        if (!names.insert(name).second) {
            loader.anomalies().add(Anomaly::repeated_field, offset, line);
            continue;
        }
        out.push_back({name, numbers[0], numbers[1]});
    }
}

Count area(const Snapshot& snapshot, std::string_view key) {
    for (const NamedBytes& entry : snapshot.areas)
        if (snapshot.text(entry.name) == key) return entry.bytes;
    return {};
}

// How fast an index grew, up to R11.
void read_rate(Loader&, VmTable&, std::string_view, std::uint64_t) {}

constexpr Field<VmTable> table_fields[] = {
    {"size: ", &VmTable::size},    {"used: ", &VmTable::used},   {"objs: ", &VmTable::objects},
    {"depth: ", &VmTable::depth},  {"limit: ", &VmTable::limit}, {"entries: ", &VmTable::entries},
    {"rate: ", {}, {}, read_rate},
};

constexpr Always vm_hash_always[] = {{"size: "}, {"used: "}, {"objs: "}, {"depth: "}};
constexpr Anywhere index_anywhere[] = {{"used: "}, {"rate: "}};  // it is not where it is now up to R12
constexpr Always index_always[] = {{"size: "}, {"limit: "}, {"entries: ", 13}};

void read_vm_table(Loader& loader, const Section& section, std::string_view body, bool index) {
    VmTable table;
    table.name = loader.text(section.id);
    table.index = index;
    read_fields(loader, std::span<const Field<VmTable>>(table_fields), table, section, body,
                index ? std::span<const Always>(index_always) : vm_hash_always, index_anywhere);
    if (index && section.id == "atom_tab") loader.snapshot.node.atom_limit = table.limit;
    loader.snapshot.vm_tables.push_back(table);
}

}  // namespace

void read_memory(Loader& loader, const Section& section, std::string_view body) {
    read_byte_lines(loader, section, body, loader.snapshot.memory);
}

void read_allocated_areas(Loader& loader, const Section& section, std::string_view body) {
    Snapshot& snapshot = loader.snapshot;
    read_byte_lines(loader, section, body, snapshot.areas);
    // The tables of processes and ports are allocated for their limits: one pointer and one 32-bit number an entry
    // (observed on 23 to 29: 3145728 bytes for a limit of 262144 processes, 786432 for 65536 ports).
    if (snapshot.source.word_size == 8 && (loader.dialect.otp == 0 || loader.dialect.otp >= 17)) {
        if (const Count bytes = area(snapshot, "process_table"); bytes.has()) snapshot.node.process_limit = *bytes / 12;
        if (const Count bytes = area(snapshot, "port_table"); bytes.has()) snapshot.node.port_limit = *bytes / 12;
    }
}

void read_allocator(Loader& loader, const Section& section, std::string_view body) {
    AllocatorInstance allocator;
    std::string_view name = section.id;
    if (const std::size_t bracket = name.rfind('['); bracket != std::string_view::npos && name.ends_with(']')) {
        const Count number = parse_decimal(name.substr(bracket + 1, name.size() - bracket - 2));
        if (number.has() && *number < 1u << 20) {
            allocator.instance = static_cast<std::int32_t>(*number);
            name = name.substr(0, bracket);
        }
    }
    allocator.name = loader.text(name);
    std::unordered_set<TextId> keys;
    read_lines(section, body, [&](std::string_view line, std::uint64_t offset) {
        const std::size_t colon = line.find(": ");
        loader.look_for_zeros(offset, line);
        if (colon == std::string_view::npos) return loader.anomalies().add(Anomaly::bad_line, offset, line);
        AllocatorInstance::Line entry;
        entry.key = loader.text(line.substr(0, colon));
        // "fix type: NAME SIZE USED" stands there for each type of a fixed size.
        if (!keys.insert(entry.key).second && line.substr(0, colon) != "fix type") {
            loader.anomalies().add(Anomaly::repeated_field, offset, line);
            return;
        }
        const std::string_view value = line.substr(colon + 2);
        if (!read_numbers(value, entry.numbers)) {
            entry = {entry.key, {}, loader.text(value)};
            // Two lines in one have a colon. One setting has one, too ("option t: option acul: %d", R16).
            if (!line.starts_with("option ") && value.find(':') != std::string_view::npos)
                loader.anomalies().add(Anomaly::bad_line, offset, line);
        }
        allocator.lines.push_back(entry);
    });
    if (allocator.lines.empty() && name != "instr")
        loader.losses.torn_section(section.offset, "=allocator:" + std::string(section.id));
    loader.snapshot.allocators.push_back(std::move(allocator));
}

void read_hash_table(Loader& loader, const Section& section, std::string_view body) {
    read_vm_table(loader, section, body, false);
}
void read_index_table(Loader& loader, const Section& section, std::string_view body) {
    read_vm_table(loader, section, body, true);
}

}  // namespace beamheap::crashdump
