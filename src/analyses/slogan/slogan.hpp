// SPDX-License-Identifier: Apache-2.0
// How a node died, as far as the input says it: the slogan of a crash dump or the signal in a core image, explained.
//
// The slogan is the text that the VM, or whoever called erlang:halt/1, gave as the reason for the dump. The VM's own
// are a small set (erts_exit calls that write a dump, in OTP 23, 25 and 27; init.erl's crash/2; kernel's halt calls);
// any other text comes from a program that asked for the dump.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

enum class SloganKind : std::uint8_t {
    unknown,            ///< free text: most likely erlang:halt(Text)
    none,               ///< empty
    out_of_memory,      ///< an allocator was refused memory
    absurd_allocation,  ///< the same, for a size that no node asks for: a bug or a damaged term
    atom_table_full,
    table_full,                 ///< another index table: exports, modules, funs
    boot_failure,               ///< init: boot, -eval, -run, -s failed
    kernel_start_failure,       ///< init: could not start a kernel process
    application_start_failure,  ///< a permanent application did not start
    application_terminated,     ///< a permanent application stopped: restart intensity reached, or it was stopped
    kernel_process_terminated,  ///< another process that init watches over ended
    system_process_terminated,  ///< a process of the VM itself ended
    requested,                  ///< signal, break menu, debugging: somebody wanted the dump
    child_setup,                ///< erl_child_setup, which starts external programs, is gone
    limits,                     ///< a limit of the VM or the system
    distribution_overload,      ///< a message to another node too large to send
    corruption,                 ///< the VM found its own data damaged
    code_server,                ///< the code server called a module that is not loaded
};
/// snake_case name: "out_of_memory".
Ours name_of(SloganKind kind);
/// Whether the node ended since something that it may not run without did not start, or ended.
constexpr bool is_failed_start(SloganKind kind) {
    return kind == SloganKind::boot_failure || kind == SloganKind::kernel_start_failure ||
           kind == SloganKind::application_start_failure || kind == SloganKind::application_terminated ||
           kind == SloganKind::kernel_process_terminated || kind == SloganKind::system_process_terminated;
}

struct Slogan {
    SloganKind kind = SloganKind::unknown;
    Sentence meaning;     ///< one sentence, with the numbers of this slogan
    Sentence purpose;     ///< of refused memory whose type alone says what it was for: "zlib, for data ..."
    Sentence last_words;  ///< of kind unknown: the text, with its full stop where it is whole
    std::vector<Sentence> next_steps;  ///< where to look

    std::string allocator;  ///< "eheap_alloc"
    std::string operation;  ///< "allocate" or "reallocate"
    Count refused_bytes;
    std::string memory_type;  ///< "heap", "binary"
    Count thread;             ///< of allocator slogans that name one (releases before 18)
    std::string table;        ///< "atom_tab"
    Count table_max;
    std::string kernel_process;  ///< "application_controller"
    std::string application;
    std::string reason;                        ///< the term that was given as the reason, strings inside made readable
    std::vector<std::string> failed_children;  ///< supervisors' children on the way to the cause, outermost first
    std::string cause;                         ///< the innermost reason: `reason` without the supervisors around it
    std::string subject;                       ///< pid of a system process that ended, module of the code server, ...
};

/// Reads the text of a slogan. Linear in its length.
Slogan read_slogan(std::string_view slogan);
/// What a signal says.
Slogan read_signal(const Signal& signal);
/// How this node died: its slogan or its signal.
Slogan read_death(const Node& node);

/// "SIGSEGV"; "signal 42" is a number without a name: then empty.
Ours signal_name(std::uint32_t number);
/// "SIGSEGV at address 0x10", "signal 42".
Sentence signal_text(const Signal& signal);
/// Who sent it, of one that another process sent: "process 4711 of the machine".
Sentence sender_text(const Signal& signal);
/// Whether it is a signal by which code that goes wrong ends; the others are sent by somebody.
bool is_crash(const Signal& signal);

/// Byte lists and plain binaries inside a printed term made readable: [97,98] becomes "ab", <<97,98>> becomes
/// <<"ab">>. Only where every number is a printable ASCII character, tab, newline or return, and there are at least
/// two. Text between quotes is left alone.
std::string readable_term(std::string_view printed);

/// A page of `explain`: docs/explain/NAME.md, which the build embeds.
struct Explanation {
    std::string_view name;  ///< "out_of_memory", "queue-flood", "no-dump"
    Ours title;
    std::vector<Sentence> paragraphs;  ///< what it means
    std::vector<Sentence> next;        ///< what to do, one sentence each
};
/// All pages, by name. Made when first asked for.
std::span<const Explanation> explanations();
/// By name ('-' and '_' are the same); null where there is no such page.
const Explanation* find_explanation(std::string_view name);
/// The page for a kind of slogan; null for SloganKind::none.
const Explanation* explanation_of(SloganKind kind);

}  // namespace beamheap::analyses
