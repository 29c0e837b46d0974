// SPDX-License-Identifier: Apache-2.0
// What an image says of the node as a whole, and its atoms and modules.
#include <fmt/format.h>

#include <algorithm>

#include "formats/compiler_info.hpp"
#include "formats/otp/tables/native.hpp"
#include "formats/otp/tables/tables.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr unsigned index_page_shift = 10;  // INDEX_PAGE_SHIFT (index.h)
constexpr std::uint32_t most_modules = 1u << 20;
constexpr std::uint32_t slot_hash = 8, slot_index = 16;
constexpr std::uint64_t largest_literal_area = 1ull << 32;

// What the kernel says killed the VM.
std::optional<Signal> signal_of(const bytes::CoreNotes& notes) {
    Signal signal;
    signal.number = notes.signal ? notes.signal->number : 0;
    if (signal.number == 0 && !notes.threads.empty()) signal.number = notes.threads.front().signal;
    // SIGSTOP and SIGTRAP are what a debugger stops a living process with.
    if (signal.number == 0 || signal.number == 19 || signal.number == 5) return std::nullopt;
    // Of SIGSEGV and SIGBUS the kernel notes the address, but where they were sent.
    if (notes.signal && (signal.number == 11 || signal.number == 7) &&
        static_cast<std::int32_t>(notes.signal->code) > 0)
        signal.address = notes.signal->address;
    if (notes.signal && notes.signal->sent && notes.process_id != 0) {
        const bool itself = notes.signal->sender == notes.process_id;
        signal.sent = itself ? Signal::Sent::by_itself : Signal::Sent::by_another;
        if (!itself) signal.sender = notes.signal->sender;
    }
    return signal;
}

// The thread that a signal killed is the first one of the notes.
void read_calling_thread(Reader& reader, Node& node) {
    const bytes::CoreThread& thread = reader.vm.image->notes().threads.front();
    const ThreadRole role = ThreadRoles(reader.vm, reader.memory).of(thread);
    node.calling_thread = role.name.empty() ? fmt::format("thread {}", thread.id) : role.name;
    node.calling_scheduler = role.calling;
}

}  // namespace

void read_node(Reader& reader) {
    const Vm& vm = reader.vm;
    const Image& image = *vm.image;
    Source& source = reader.snapshot.source;
    source.kind = image.process() != nullptr ? live_kind : core_kind;
    source.otp_release = fmt::format("{}", image.build().release);
    source.erts_version = image.build().erts_version;
    source.word_size = 8;
    source.jit = image.build().jit;
    source.truncation = image.truncation();
    source.complete = source.truncation.empty();
    source.bytes = image.core() != nullptr ? image.core()->bytes().size() : 0;
    if (!source.truncation.empty()) reader.snapshot.anomalies.add(Anomaly::truncated, source.bytes, source.truncation);
    if (!vm.unproven.empty()) reader.snapshot.anomalies.add(Anomaly::layout_unproven, 0, vm.unproven);

    for (const std::string& what : vm.roots.missing) reader.snapshot.anomalies.add(Anomaly::structure_missing, 0, what);

    if (!vm.code.readable())
        reader.snapshot.anomalies.add(Anomaly::code_missing, 0,
                                      source.complete ? "made without shared anonymous memory, coredump_filter bit 1"
                                                      : "it is behind the place where the image is cut");

    if (vm.code.lost() != 0)
        reader.snapshot.anomalies.add(Anomaly::structure_missing, vm.roots.code_ranges,
                                      fmt::format("{} ranges of loaded code", vm.code.lost()));

    Node& node = reader.snapshot.node;
    if (vm.roots.this_node != 0)
        if (const auto name = reader.memory.word(vm.roots.this_node + reader.at.node_name))
            node.name = reader.atom(*name);
    const std::string_view name = reader.snapshot.text(node.name);
    if (!name.empty()) node.distributed = name != "nonode@nohost";
    node.signal = signal_of(image.notes());
    if (node.signal && !image.notes().threads.empty()) read_calling_thread(reader, node);
    node.system_version = fmt::format("Erlang/OTP {} [erts-{}]{}", source.otp_release, source.erts_version,
                                      image.build().jit ? " [jit]" : "");
    node.atoms = vm.atoms.size();
    node.atom_limit = vm.atoms.limit();
    node.process_limit = vm.processes.max;
    if (vm.ports.max != 0) node.port_limit = vm.ports.max;
    if (vm.roots.persistent_terms != 0)
        if (const auto count = reader.memory.word(vm.roots.persistent_terms + reader.at.persistent_entries))
            node.persistent_terms = *count;
}

void read_atoms(Reader& reader) {
    std::vector<TextId>& atoms = reader.snapshot.atoms;
    const std::uint32_t count = reader.vm.atoms.size();
    std::uint64_t missing = 0;
    for (std::uint32_t i = count; i-- > 0;) {
        const TextId text = reader.atom(Word{i} << 6 | 0x0b);
        if (text != TextId::none) atoms.push_back(text);
        else ++missing;
        if (missing > 1000 && missing > atoms.size()) break;  // a forged table: don't look at millions of them
    }
    if (missing != 0) reader.snapshot.anomalies.add(Anomaly::unreadable_memory, reader.vm.roots.atom_table, "atoms");
}

namespace {

// Whether zeros took no part of a module's header that is known twice: each has functions (module_info/0 at least), the
// first of them right behind the header, and an area of literals ends behind its own head. Code that the image lacks is
// whole here.
bool code_header_whole(Reader& reader, std::uint64_t header) {
    const Offsets& at = reader.at;
    const auto functions = reader.memory.word(header), first = reader.memory.word(header + at.code_functions);
    if (functions && first && (*functions == 0 || *first == 0)) return false;
    const auto area = reader.memory.word(header + at.code_literals);
    const auto end = area && *area != 0 ? reader.memory.word(*area + at.literal_area_end) : std::nullopt;
    return !end || *end >= *area + at.literal_area_start;
}

}  // namespace

namespace {

// BeamCodeHeader begins with the number of functions, then attr_ptr, attr_size, attr_size_on_heap, compile_ptr and
// compile_size (beam_code.h of all releases whose layouts are known): external terms.
void read_versions(Reader& reader, std::uint64_t header, Module& module) {
    constexpr std::uint64_t most_bytes = 16u << 20;  // generated modules (parsers) have 64 KiB and more
    bool whole = true;
    const auto term = [&](std::uint64_t at) {
        const auto place = reader.memory.word(header + at), size = reader.memory.word(header + at + 8);
        whole = whole && place && size && *size <= most_bytes;
        if (!whole || *place == 0 || *size == 0) return std::string_view();
        const std::byte* bytes = reader.memory.at(*place, *size);
        if (bytes == nullptr) return std::string_view();
        return std::string_view(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(*size));
    };
    if (header == 0) return;
    // memory.at() may give a buffer of its own, which the next call fills anew.
    const std::string attributes(term(8));
    const std::string_view compilation = term(32);
    if (whole) module.version = code_version(attributes, compilation);
    if (const std::string_view source = source_of(compilation); !source.empty())
        module.source = reader.snapshot.texts.intern(source);
}

}  // namespace

void read_modules(Reader& reader) {
    const Offsets& at = reader.at;
    const std::uint64_t table = reader.vm.roots.module_tables[reader.vm.roots.code_index];
    if (table == 0) return;
    const auto entries = reader.memory.word32(table + at.index_entries);
    const auto segments = reader.memory.word(table + at.index_segments);
    if (!entries || !segments || *entries > most_modules) {
        reader.snapshot.anomalies.add(Anomaly::inconsistent_state, table, "the module table");
        return;
    }
    std::uint64_t current = 0, old = 0, lost = 0;
    std::vector<std::uint64_t> headers;
    for (std::uint32_t i = 0; i < *entries; ++i) {
        const auto page = reader.memory.word(*segments + 8ull * (i >> index_page_shift));
        const auto entry =
            page ? reader.memory.word(*page + 8ull * (i & ((1u << index_page_shift) - 1))) : std::nullopt;
        const std::byte* p = entry ? reader.memory.at(*entry, at.module_old_length + 4) : nullptr;
        if (p == nullptr) {
            ++lost;
            continue;
        }
        // IndexSlot {HashBucket {next, hvalue}, index} in front; the hash value of a module is the index of its name
        // (module.c).
        const auto name = load<std::uint32_t>(p + at.module_name);
        if (load<std::uint32_t>(p + slot_index) != i || load<std::uint64_t>(p + slot_hash) != name) {
            ++lost;
            continue;
        }
        for (const std::uint32_t header : {at.module_current_header, at.module_old_header}) {
            const auto start = load<Word>(p + header);
            if (start == 0) continue;
            headers.push_back(start);
            if (!code_header_whole(reader, start)) ++lost;
        }
        Module module;
        module.name = reader.atom(Word{load<std::uint32_t>(p + at.module_name)} << 6 | 0x0b);
        const auto size = [&](std::uint32_t header_at, std::uint32_t length_at) -> Count {
            const auto header = load<Word>(p + header_at);
            if (header == 0) return {};
            const auto length = load<std::uint32_t>(p + length_at);
            reader.code_bytes += length;
            // As crash dumps count it (break.c, code_size): code and literals.
            const auto area = reader.memory.word(header + at.code_literals);
            const auto end = area && *area != 0 ? reader.memory.word(*area + at.literal_area_end) : std::nullopt;
            const std::uint64_t literals =
                end && *end > *area + at.literal_area_start ? *end - *area - at.literal_area_start : 0;
            return length + (literals < largest_literal_area ? literals : 0);
        };
        module.current_bytes = size(at.module_current_header, at.module_current_length);
        module.old_bytes = size(at.module_old_header, at.module_old_length);
        if (module.name == TextId::none || (!module.current_bytes.has() && !module.old_bytes.has())) continue;
        if (reader.module_versions) read_versions(reader, load<Word>(p + at.module_current_header), module);
        current += module.current_bytes.value_or(0);
        old += module.old_bytes.value_or(0);
        reader.snapshot.modules.push_back(module);
    }
    // Each loaded range of code is a module's, current or old.
    std::sort(headers.begin(), headers.end());
    for (const Code::Module& range : reader.vm.code.modules())
        if (!std::binary_search(headers.begin(), headers.end(), range.start)) ++lost;
    if (lost != 0)
        reader.snapshot.anomalies.add(Anomaly::count_mismatch, table, fmt::format("{} modules are lost", lost));
    reader.snapshot.node.current_code_bytes = current;
    reader.snapshot.node.old_code_bytes = old;
}

}  // namespace beamheap::otp
