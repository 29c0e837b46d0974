#include "bytes/core_notes.hpp"

#include <algorithm>

namespace beamheap::bytes {
namespace {

constexpr std::uint32_t note_prstatus = 1, note_prpsinfo = 3, note_auxv = 6, note_siginfo = 0x53494749,
                        note_file = 0x46494c45;
constexpr std::uint64_t aux_program_headers = 3, aux_entry = 9;

std::string fixed_text(Bytes bytes) {
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    std::string copy(text, strnlen(text, bytes.size()));
    while (!copy.empty() && copy.back() == ' ') copy.pop_back();
    return copy;
}

void read_status(Bytes note, CoreNotes& out) {
    constexpr std::size_t pid_at = 32, registers_at = 112;
    if (note.size() < registers_at + 27 * 8) return;
    CoreThread thread;
    thread.signal = load<std::uint16_t>(note.data() + 12);
    thread.id = load<std::uint32_t>(note.data() + pid_at);
    std::memcpy(thread.registers.data(), note.data() + registers_at, 27 * 8);
    out.threads.push_back(thread);
}

void read_program(Bytes note, CoreNotes& out) {
    constexpr std::size_t pid_at = 24, name_at = 40, name_bytes = 16, arguments_bytes = 80;
    if (note.size() < name_at + name_bytes + arguments_bytes) return;
    out.process_id = load<std::uint32_t>(note.data() + pid_at);
    out.program = fixed_text(note.subspan(name_at, name_bytes));
    out.arguments = fixed_text(note.subspan(name_at + name_bytes, arguments_bytes));
}

void read_files(Bytes note, CoreNotes& out) {
    if (note.size() < 16) return;
    const auto count = load<std::uint64_t>(note.data());
    const auto page = load<std::uint64_t>(note.data() + 8);
    if (count > (note.size() - 16) / 24) return;
    const char* name = reinterpret_cast<const char*>(note.data()) + 16 + 24 * count;
    const char* end = reinterpret_cast<const char*>(note.data()) + note.size();
    for (std::uint64_t i = 0; i < count && name < end; ++i) {
        const std::byte* entry = note.data() + 16 + 24 * i;
        CoreFile file;
        file.start = load<std::uint64_t>(entry);
        file.end = load<std::uint64_t>(entry + 8);
        if (__builtin_mul_overflow(load<std::uint64_t>(entry + 16), page, &file.file_offset)) file.file_offset = ~0ull;
        const std::size_t length = strnlen(name, static_cast<std::size_t>(end - name));
        file.path.assign(name, length);
        name += length + 1;
        out.files.push_back(std::move(file));
    }
}

void read_auxiliary_vector(Bytes note, CoreNotes& out) {
    for (std::size_t at = 0; at + 16 <= note.size(); at += 16) {
        const auto key = load<std::uint64_t>(note.data() + at);
        const auto value = load<std::uint64_t>(note.data() + at + 8);
        if (key == aux_program_headers) out.program_headers = value;
        if (key == aux_entry) out.entry = value;
    }
}

void read_signal(Bytes note, CoreNotes& out) {
    if (note.size() < 24) return;
    CoreSignal signal;
    signal.number = load<std::uint32_t>(note.data());
    signal.code = load<std::uint32_t>(note.data() + 8);
    signal.address = load<std::uint64_t>(note.data() + 16);
    if (signal.number != 0) out.signal = signal;
}

}  // namespace

const CoreFile* CoreNotes::file_at(std::uint64_t address) const {
    for (const CoreFile& file : files)
        if (file.start <= address && address < file.end) return &file;
    return nullptr;
}

CoreNotes read_core_notes(const ElfImage& core) {
    CoreNotes notes;
    for (const ElfNote& note : core.notes()) {
        if (note.owner != "CORE") continue;
        switch (note.type) {
            case note_prstatus: read_status(note.description, notes); break;
            case note_prpsinfo: read_program(note.description, notes); break;
            case note_file: read_files(note.description, notes); break;
            case note_auxv: read_auxiliary_vector(note.description, notes); break;
            case note_siginfo: read_signal(note.description, notes); break;
            default: break;
        }
    }
    return notes;
}

}  // namespace beamheap::bytes
