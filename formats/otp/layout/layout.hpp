// SPDX-License-Identifier: Apache-2.0
// Where things are in the memory of one release of the emulator: plain data, one row for each flavour of a release.
//
// Readers use offsets and the few encodings that changed between releases from here and never test a release
// number. A row comes from a compiled-in table (otpNN.inc beside it, written by extract_layout from a build's DWARF),
// or from the DWARF of the very executable; either is believed only after layout_check.hpp has proved it on the image.
//
// Flavours differ in few members: the JIT keeps a frame pointer in Process, one more address in what can be called, and
// counters of coverage in the head of a module's code. A few bytes too many shift everything behind them, and what is
// read there looks plausible, so the row of one flavour is never used for another.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace beamheap::otp {

/// Offset of a member that a release does not have.
inline constexpr std::uint32_t absent = 0xFFFFFFFFu;

/// What the header word of a boxed object says, normalised over releases (bits 2-5, erl_term.h of each release).
enum class Tag : std::uint8_t {
    tuple,
    match_state,
    fun_reference,
    positive_big,
    negative_big,
    reference,
    fun,
    floating,
    export_fun,
    refc_binary,
    heap_binary,
    sub_binary,  // until OTP 26: sizes in bytes
    heap_bits,
    sub_bits,
    binary_reference,  // since OTP 27: sizes in bits
    map,
    external_pid,
    external_port,
    external_reference,
    record,
    unknown
};

/// Offsets in bytes from the start of a structure, and sizes of structures (layout_fields.inc says which).
struct Offsets {
#define X(member, structure, path) std::uint32_t member = absent;
#include "formats/otp/layout/layout_fields.inc"
#undef X
};

/// How a local pid or port is packed into a word (erl_term.h, erl_ptab.h).
enum class PidForm : std::uint8_t {
    data28,      ///< until OTP 25: 28 bits of data at bit 4: number 15 bits, serial 13 bits
    shuffled60,  ///< since OTP 26: 60 bits, the table slot in the low ones; undone by the table's masks
};

/// How ErtsMonLnkNode says its type (erl_monitor_link.h). Releases 24 changed it on the way, so the image has the last
/// word: no type in a tree of links is smaller than the first one of a link.
enum class LinkTypes : std::uint8_t {
    until_23,  ///< its own 16 bits; links are 8 and up
    in_24,     ///< its own 16 bits; aliases (8) are new, links are 9 and up
    since_25,  ///< its own 16 bits; monitors of distributed ports (4) are new, aliases are 9, links 10 and up
    since_28,  ///< low 5 bits of the flags, numbers as since_25
};

/// What bits 12 and 19 of a process's state are called (ERTS_PSFLG_*); all others kept their names.
enum class StateNames : std::uint8_t {
    until_23,  ///< UNUSED, SIG_IN_Q
    since_24,  ///< MAYBE_SELF_SIGS, SIG_IN_Q
    since_26,  ///< MSG_SIG_IN_Q, NMSG_SIG_IN_Q
};

/// Which allocation types of fixed size count as memory of processes (fix_core_descr, erl_alloc.types).
enum class FixedTypes : std::uint8_t { until_23, since_24 };

/// Where a function's counters of time and memory per process are (beam_bp.h).
enum class TraceHashes : std::uint8_t {
    by_pointer,  ///< until OTP 26: count, pointer to a hash for each scheduler
    in_row,      ///< OTP 27: the hashes themselves stand behind the count
    blocks,      ///< OTP 29: pointers to them, and their items stand behind their heads
    unknown,     ///< time and memory are not read
};

/// How the emulator runs code: each is a build of its own, with structures of its own.
enum class Flavour : std::uint8_t {
    interpreter,
    jit,   ///< since OTP 24
    hipe,  ///< interpreter with HiPE, until OTP 23
};

/// Whether a row was held against a running VM of its release and flavour.
enum class Proof : std::uint8_t {
    by_vm,        ///< terms, figures, links and tables of a core image equal what the VM said of itself
    from_source,  ///< no such VM was at hand: offsets follow from the source and from the rows beside it
};

/// Encodings that DWARF does not tell. The rows of a release's flavours share one.
struct Forms {
    std::array<Tag, 16> tags{};  ///< by header subtag
    std::uint64_t nil = 0x3b;
    PidForm pid_form = PidForm::shuffled60;
    bool external_pid_two_words = true;     ///< number and serial of an external pid in 32 bits each (OTP 24 and later)
    bool atom_name_is_term = false;         ///< Atom's name is a binary term (OTP 28 and later), else bytes
    bool fun_in_header = false;             ///< a fun's arity and environment size are in its header (OTP 27 and later)
    bool fun_carries_reference = false;     ///< a fun with an environment ends in a boxed FunRef (OTP 27)
    bool empty_tuple_is_literal = true;     ///< {} is one global literal (OTP 24 and later)
    std::uint32_t return_address_back = 1;  ///< bytes to step back from a return address to the call (8: interpreter)
    LinkTypes link_types = LinkTypes::since_25;
    StateNames state_names = StateNames::since_24;
    FixedTypes fixed_types = FixedTypes::since_24;
    TraceHashes trace_hashes = TraceHashes::by_pointer;
    std::uint32_t trap_exit_bit = 22;  ///< in Process.flags
};

struct Layout : Forms {
    std::uint32_t release = 0;  ///< OTP release that this row describes
    Flavour flavour = Flavour::jit;
    Proof proof = Proof::from_source;
    std::string_view source;  ///< where the row comes from, for doctor: "table of OTP 25 without the JIT"
    Offsets at;
};

/// Compiled-in rows, oldest release first, each flavour of a release once.
std::span<const Layout> known_layouts();
/// The row of a release and flavour; null if there is none.
const Layout* find_layout(std::uint32_t release, Flavour flavour);
/// The rows of this flavour that are nearest to a release without a row: the next older one, the next newer one.
std::vector<const Layout*> nearest_layouts(std::uint32_t release, Flavour flavour);

/// Name, structure and path of each member of Offsets, in order: for doctor, DWARF and the developer's tool.
struct FieldName {
    std::string_view member, structure, path;
    std::uint32_t Offsets::*field;
};
std::span<const FieldName> field_names();

}  // namespace beamheap::otp
