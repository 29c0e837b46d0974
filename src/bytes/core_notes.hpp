// What the notes of a Linux core image say about the process: threads with registers, mapped files, auxiliary
// vector, program name, the signal that killed it.
//
// Facts: Linux include/uapi/linux/elfcore.h (prstatus, prpsinfo), fs/binfmt_elf.c (NT_FILE, NT_SIGINFO); x86-64.
// gcore (gdb) writes the same notes, at the end of the file: a cut gcore image has none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/elf_image.hpp"

namespace beamheap::bytes {

/// Registers in the order of struct user_regs_struct.
enum class Register : std::uint8_t {
    r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax, rip, cs, eflags, rsp, ss,
    fs_base, gs_base, count_ = 27
};

struct CoreThread {
    std::uint32_t id = 0;      ///< kernel thread id
    std::uint32_t signal = 0;  ///< pr_cursig: the signal that it was taking, 0 for none
    std::array<std::uint64_t, 27> registers{};
    std::uint64_t operator[](Register r) const { return registers[static_cast<std::size_t>(r)]; }
};

/// A file mapping of NT_FILE.
struct CoreFile {
    std::uint64_t start = 0, end = 0;  ///< addresses
    std::uint64_t file_offset = 0;     ///< bytes
    std::string path;
};

struct CoreSignal {
    std::uint32_t number = 0, code = 0;
    std::uint64_t address = 0;  ///< si_addr of SIGSEGV, SIGBUS, SIGILL, SIGFPE
};

struct CoreNotes {
    std::vector<CoreThread> threads;  ///< the faulting one first, as the kernel writes them
    std::vector<CoreFile> files;
    std::string program;    ///< pr_fname: the first 15 bytes of the command's name
    std::string arguments;  ///< pr_psargs: the first 80 bytes of the command line
    std::uint32_t process_id = 0;
    std::optional<CoreSignal> signal;
    std::optional<std::uint64_t> entry;            ///< AT_ENTRY: address of the executable's entry point
    std::optional<std::uint64_t> program_headers;  ///< AT_PHDR: address of its program headers
    /// The file mapped at this address, or null.
    const CoreFile* file_at(std::uint64_t address) const;
};

CoreNotes read_core_notes(const ElfImage& core);

}  // namespace beamheap::bytes
