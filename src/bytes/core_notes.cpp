// SPDX-License-Identifier: Apache-2.0
#include "bytes/core_notes.hpp"

#include <algorithm>
#include <span>

namespace beamheap::bytes {
namespace {

constexpr std::uint32_t note_prstatus = 1, note_prpsinfo = 3, note_auxv = 6, note_siginfo = 0x53494749,
                        note_file = 0x46494c45, note_arm_thread_pointer = 0x401, note_arm_signatures = 0x406;
constexpr std::uint64_t aux_program_headers = 3, aux_entry = 9;

std::string fixed_text(Bytes bytes) {
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    std::string copy(text, strnlen(text, bytes.size()));
    while (!copy.empty() && copy.back() == ' ') copy.pop_back();
    return copy;
}

// Where struct elf_prstatus of a machine has what: places in pr_reg, which begins at the same byte everywhere.
struct StatusLayout {
    std::size_t words;  // of pr_reg
    std::size_t program_counter, stack_pointer;
    std::size_t thread_pointer;               // 0: in a note of its own
    std::span<const std::uint8_t> by_number;  // of DWARF; empty: in its order already
};

// struct user_regs_struct of x86-64: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip ...
constexpr std::array<std::uint8_t, static_cast<std::size_t>(X86::count_)> x86_by_number{10, 12, 11, 5, 13, 14, 4, 19, 9,
                                                                                        8,  7,  6,  3, 2,  1,  0, 16};
constexpr StatusLayout status_of_x86{27, 16, 19, 21, x86_by_number};
// struct user_pt_regs of arm64: x0 ... x30 sp pc pstate.
constexpr StatusLayout status_of_arm64{34, 32, 31, 0, {}};

const StatusLayout* status_layout(std::uint16_t machine) {
    if (machine == elf::machine_x86_64) return &status_of_x86;
    return machine == elf::machine_aarch64 ? &status_of_arm64 : nullptr;
}

void read_status(Bytes note, const StatusLayout* layout, CoreNotes& out) {
    constexpr std::size_t pid_at = 32, registers_at = 112;
    if (layout == nullptr || note.size() < registers_at + layout->words * 8) return;
    const auto word = [&](std::size_t i) { return load<std::uint64_t>(note.data() + registers_at + 8 * i); };
    CoreThread thread;
    thread.signal = load<std::uint16_t>(note.data() + 12);
    thread.id = load<std::uint32_t>(note.data() + pid_at);
    thread.program_counter = word(layout->program_counter);
    thread.stack_pointer = word(layout->stack_pointer);
    if (layout->thread_pointer != 0) thread.thread_pointer = word(layout->thread_pointer);
    const std::size_t count =
        layout->by_number.empty() ? static_cast<std::size_t>(Arm64::count_) : layout->by_number.size();
    for (std::size_t i = 0; i < count; ++i)
        thread.registers[i] = word(layout->by_number.empty() ? i : layout->by_number[i]);
    out.threads.push_back(thread);
}

// Notes of further registers follow the status of the thread that they belong to.
void read_thread_pointer(Bytes note, CoreNotes& out) {
    if (note.size() >= 8 && !out.threads.empty()) out.threads.back().thread_pointer = load<std::uint64_t>(note.data());
}

// struct user_pac_mask: for addresses of data, and for those of instructions.
void read_signatures(Bytes note, CoreNotes& out) {
    if (note.size() >= 16 && !out.signature_bits) out.signature_bits = load<std::uint64_t>(note.data() + 8);
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
    // SI_USER (0), SI_QUEUE (-1), SI_TKILL (-6): the same place holds si_pid (siginfo.h).
    const auto code = static_cast<std::int32_t>(signal.code);
    signal.sent = code == 0 || code == -1 || code == -6;
    if (signal.sent) signal.sender = load<std::uint32_t>(note.data() + 16);
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
    const StatusLayout* layout = status_layout(core.machine());
    for (const ElfNote& note : core.notes()) {
        if (note.owner == "LINUX" && core.machine() == elf::machine_aarch64) {
            if (note.type == note_arm_thread_pointer) read_thread_pointer(note.description, notes);
            if (note.type == note_arm_signatures) read_signatures(note.description, notes);
        }
        if (note.owner != "CORE") continue;
        switch (note.type) {
            case note_prstatus: read_status(note.description, layout, notes); break;
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
