// SPDX-License-Identifier: Apache-2.0
// What the notes of a Linux core image say about the process: threads with registers, mapped files, auxiliary
// vector, program name, the signal that killed it.
//
// Facts: Linux include/uapi/linux/elfcore.h (prstatus, prpsinfo), fs/binfmt_elf.c (NT_FILE, NT_SIGINFO),
// arch/x86 and arch/arm64 (order of registers, NT_ARM_TLS, NT_ARM_PAC_MASK).
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

/// Registers of x86-64 by DWARF's numbers (System V psABI, figure 3.36); rip is the return address's column.
enum class X86 : std::uint8_t {
    rax,
    rdx,
    rcx,
    rbx,
    rsi,
    rdi,
    rbp,
    rsp,
    r8,
    r9,
    r10,
    r11,
    r12,
    r13,
    r14,
    r15,
    rip,
    count_
};
/// Registers of arm64 by DWARF's numbers (AADWARF64): x0 to x30, of which only those with a part of their own have
/// names here, and the stack pointer.
enum class Arm64 : std::uint8_t { x20 = 20, x21 = 21, x23 = 23, frame = 29, link = 30, sp = 31, count_ };

struct CoreThread {
    std::uint32_t id = 0;      ///< kernel thread id
    std::uint32_t signal = 0;  ///< pr_cursig: the signal that it was taking, 0 for none
    std::uint64_t program_counter = 0, stack_pointer = 0;
    /// What thread-local variables are found by (fs base, tpidr_el0); nothing where the core does not hold it.
    std::optional<std::uint64_t> thread_pointer;
    /// General registers by DWARF's numbers of the core's machine; those behind its count are 0.
    std::array<std::uint64_t, 32> registers{};
    std::uint64_t operator[](X86 r) const { return registers[static_cast<std::size_t>(r)]; }
    std::uint64_t operator[](Arm64 r) const { return registers[static_cast<std::size_t>(r)]; }
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
    bool sent = false;          ///< by kill(2), sigqueue(3), tgkill(2), and not by the kernel for what a thread did
    std::uint32_t sender = 0;   ///< si_pid of who sent it; 0: it is not known, as of one outside of a container
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
    /// Bits of a return address that may be its signature (arm64, pointer authentication); nothing: not told.
    std::optional<std::uint64_t> signature_bits;
    /// The file mapped at this address, or null.
    const CoreFile* file_at(std::uint64_t address) const;
};

/// The notes of a core of x86-64 or arm64; of other machines all but the threads.
CoreNotes read_core_notes(const ElfImage& core);

}  // namespace beamheap::bytes
