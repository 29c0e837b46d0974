// SPDX-License-Identifier: Apache-2.0
// ELF files (64-bit, little endian) read with our own bounds checks: executables and core images.
//
// A core is untrusted bytes: it may be cut, sparse, forged. Every offset and size from the file goes through checked
// arithmetic, a table that leaves the file is cut at its end, and nothing is read before it is asked for: a gcore
// image of 2 GB is mapped, and only the pages that a question touches become resident. libelf is not used here.
// Facts: ELF-64 object file format; Linux elf.h; PN_XNUM as in elf(5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"

namespace beamheap::bytes {

using Bytes = std::span<const std::byte>;

/// An unaligned little-endian load; the caller has checked that the bytes are there.
template <class T>
T load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// A stretch of a file that has data; what lies between two of them are holes of a sparse file.
struct FileExtent {
    std::uint64_t offset = 0, size = 0;
};

/// A file mapped read-only; moves, unmaps at the end. Sequential access is not assumed.
class MappedFile {
public:
    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    /// Maps a regular file. Refuses anything else (devices, pipes, folders), which could block or never end.
    static Result<MappedFile> open(const std::string& path);
    /// Maps an open file, which may be closed afterwards; `name` is for sentences.
    static Result<MappedFile> map(int descriptor, const std::string& name);
    Bytes bytes() const { return {data_, size_}; }
    /// In order, without overlap; one for the whole file where the file system does not tell.
    std::vector<FileExtent> data_extents() const;

private:
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    int descriptor_ = -1;  // kept for data_extents()
};

namespace elf {
inline constexpr std::uint16_t type_executable = 2, type_shared = 3, type_core = 4;
inline constexpr std::uint16_t machine_x86_64 = 62, machine_aarch64 = 183;
inline constexpr std::uint32_t segment_load = 1, segment_dynamic = 2, segment_interpreter = 3, segment_note = 4,
                               segment_program_headers = 6, segment_relro = 0x6474e552;
inline constexpr std::uint32_t flag_execute = 1, flag_write = 2, flag_read = 4;
inline constexpr std::uint32_t section_symbols = 2, section_relocations = 4, section_no_bits = 8,
                               section_dynamic_symbols = 11, section_relative_relocations = 19;
inline constexpr std::uint32_t note_gnu_build_id = 3;
inline constexpr std::uint8_t symbol_object = 1;
}  // namespace elf

/// The first bytes of an ELF file of any class and byte order: enough to refuse a foreign one by name.
struct ElfIdentity {
    bool is_elf = false;
    bool is_64_bit = false;
    bool little_endian = false;
    std::uint16_t type = 0;     ///< elf::type_*
    std::uint16_t machine = 0;  ///< elf::machine_*
};
ElfIdentity identify_elf(Bytes head);
/// "x86-64", "arm64", "machine 40": for sentences.
std::string machine_name(std::uint16_t machine);

struct ElfSegment {
    std::uint32_t type = 0, flags = 0;
    std::uint64_t offset = 0, address = 0, file_size = 0, memory_size = 0;
};

struct ElfSection {
    std::string_view name;
    std::uint32_t type = 0, link = 0;
    std::uint64_t flags = 0, address = 0, offset = 0, size = 0;
};

struct ElfNote {
    std::string_view owner;
    std::uint32_t type = 0;
    Bytes description;
};

struct ElfSymbol {
    std::string_view name;
    std::uint64_t address = 0, size = 0;
    std::uint8_t type = 0;
    std::uint16_t section = 0;
};

/// A parsed ELF file. Views (names, contents) live as long as the image.
class ElfImage {
public:
    /// Maps and parses a file. Fails on what is no 64-bit little-endian ELF, with a sentence.
    static Result<ElfImage> open(const std::string& path);
    /// The same of a file that is mapped already.
    static Result<ElfImage> adopt(MappedFile file, std::string name);
    /// Parses bytes that outlive the image (tests, fuzzing); `name` is for sentences.
    static Result<ElfImage> parse(Bytes bytes, std::string name);

    const std::string& name() const { return name_; }
    std::uint16_t type() const { return type_; }
    std::uint16_t machine() const { return machine_; }
    std::uint64_t entry() const { return entry_; }
    Bytes bytes() const { return bytes_; }
    std::span<const ElfSegment> segments() const { return segments_; }
    std::span<const ElfSection> sections() const { return sections_; }
    /// The section of this name, or null.
    const ElfSection* section(std::string_view name) const;
    /// The part of a segment or section that the file holds: shorter than file_size when the file is cut.
    Bytes contents(const ElfSegment& segment) const { return window(segment.offset, segment.file_size); }
    Bytes contents(const ElfSection& section) const;
    /// Where the file has data; see MappedFile.
    std::vector<FileExtent> data_extents() const { return file_.data_extents(); }
    /// The end of the furthest segment or table that the headers speak of: more than bytes().size() in a cut file.
    std::uint64_t declared_size() const { return declared_size_; }
    /// All notes of all PT_NOTE segments, as far as they are whole.
    std::vector<ElfNote> notes() const;
    /// The GNU build id as lower-case hexadecimal; empty where there is none.
    std::string build_id() const;
    /// The symbols of .dynsym and .symtab that are defined in this file.
    std::vector<ElfSymbol> symbols() const;
    /// Lowest address of a PT_LOAD, rounded down to a page: where the loader puts it plus the bias.
    std::uint64_t base_address() const;
    /// File bytes behind a link-time address range, out of PT_LOADs; empty if not wholly in one.
    Bytes at_address(std::uint64_t address, std::uint64_t size) const;

private:
    Status parse_headers();
    Bytes window(std::uint64_t offset, std::uint64_t size) const;

    MappedFile file_;
    Bytes bytes_;
    std::string name_;
    std::uint16_t type_ = 0, machine_ = 0;
    std::uint64_t entry_ = 0;
    std::uint64_t declared_size_ = 0;
    std::vector<ElfSegment> segments_;
    std::vector<ElfSection> sections_;
};

/// The notes inside a block of note data; 4-byte alignment, cut at the first one that is not whole.
std::vector<ElfNote> parse_notes(Bytes data);

}  // namespace beamheap::bytes
