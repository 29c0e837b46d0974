// Where things are in the memory of one release of the emulator: plain data, one row per release.
//
// Readers use offsets and the few encodings that changed between releases from here and never test a release
// number. A row comes from a compiled-in table (otpNN.inc beside it, written by extract_layout from a build's DWARF),
// or from the DWARF of the very executable; either is believed only after layout_check.hpp has proved it on the image.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

/// How ErtsMonLnkNode says its type.
enum class LinkTypes : std::uint8_t {
    until_23,  ///< its own 16 bits; links are 8 and up
    since_24,  ///< its own 16 bits; distributed ports (4) and aliases (9) are new, links are 10 and up
    since_29,  ///< low 5 bits of the flags, numbers as since_24
};

/// Where a function's counters of time and memory per process are (beam_bp.h).
enum class TraceHashes : std::uint8_t {
    by_pointer,  ///< until OTP 26: count, pointer to a hash for each scheduler
    in_row,      ///< OTP 27: the hashes themselves stand behind the count
    blocks,      ///< OTP 29: pointers to them, and their items stand behind their heads
};

struct Layout {
    std::uint32_t release = 0;  ///< OTP release that this row describes
    std::string_view source;    ///< where the row comes from, for doctor
    Offsets at;
    std::array<Tag, 16> tags{};  ///< by header subtag
    std::uint64_t nil = 0x3b;
    PidForm pid_form = PidForm::shuffled60;
    bool external_pid_two_words = true;     ///< number and serial of an external pid in 32 bits each (OTP 24 and later)
    bool atom_name_is_term = false;         ///< Atom's name is a binary term (OTP 28 and later), else bytes
    bool fun_in_header = false;             ///< a fun's arity and environment size are in its header (OTP 27 and later)
    bool fun_carries_reference = false;     ///< a fun with an environment ends in a boxed FunRef (OTP 27)
    bool empty_tuple_is_literal = true;     ///< {} is one global literal (OTP 24 and later)
    std::uint32_t return_address_back = 1;  ///< bytes to step back from a return address to the call (8: interpreter)
    LinkTypes link_types = LinkTypes::since_24;
    TraceHashes trace_hashes = TraceHashes::by_pointer;
    std::uint32_t trap_exit_bit = 22;  ///< in Process.flags
};

/// Compiled-in rows, oldest release first.
std::span<const Layout> known_layouts();
/// The row of a release, or the nearest one below it (above, if there is none below).
const Layout& layout_for(std::uint32_t release);
/// OTP 23 built with HiPE, which grows Process.
const Layout& layout_of_hipe();

/// Name, structure and path of each member of Offsets, in order: for doctor, DWARF and the developer's tool.
struct FieldName {
    std::string_view member, structure, path;
    std::uint32_t Offsets::*field;
};
std::span<const FieldName> field_names();

}  // namespace beamheap::otp
