// SPDX-License-Identifier: Apache-2.0
#include "bytes/elf_image.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bytes/cut_files.hpp"
#include "bytes/read_files.hpp"

namespace beamheap::bytes {
namespace {

constexpr std::size_t header_bytes = 64, segment_bytes = 56, section_bytes = 64, symbol_bytes = 24;
constexpr std::uint16_t extended_segment_count = 0xffff;  // PN_XNUM

Error not_elf(const std::string& name, std::string what) {
    return Error{ErrorCode::not_recognised, name + ": " + std::move(what), {}};
}

std::string_view text_at(Bytes table, std::uint64_t offset) {
    if (offset >= table.size()) return {};
    const auto* first = reinterpret_cast<const char*>(table.data()) + offset;
    return {first, strnlen(first, table.size() - offset)};
}

}  // namespace

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) {
        forget_mapping(data_);
        munmap(const_cast<std::byte*>(data_), size_);
    }
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::vector<FileExtent> MappedFile::data_extents() const {
    constexpr std::size_t most = 1u << 20;
    std::vector<FileExtent> extents;
    const auto size = static_cast<off_t>(size_);
    for (off_t at = 0; at < size && extents.size() < most;) {
        const off_t start = lseek(descriptor_, at, SEEK_DATA);
        if (start < 0 && errno == ENXIO) return extents;  // a hole up to the end
        const off_t end = start < 0 ? start : lseek(descriptor_, start, SEEK_HOLE);
        if (start < 0 || end <= start) {
            extents.push_back({static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(size - at)});
            return extents;
        }
        extents.push_back({static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(std::min(end, size) - start)});
        at = end;
    }
    return extents;
}

Result<MappedFile> MappedFile::open(const std::string& path) {
    // O_NONBLOCK: opening a pipe without a writer must not hang.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return Error{ErrorCode::unreadable, path + ": " + std::strerror(errno), {}};
    note_read(descriptor, "an executable that is read");  // unless it is noted as the input
    Result<MappedFile> file = map(descriptor, path);
    ::close(descriptor);
    return file;
}

Result<MappedFile> MappedFile::map(int descriptor, const std::string& name) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return Error{ErrorCode::unreadable, name + ": not a regular file", {}};
    MappedFile file;
    if (status.st_size == 0) return file;
    void* data = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED && errno == ENOMEM)
        return Error{
            ErrorCode::resource_limit,
            fmt::format("{}: too little memory may be used for a file of {} bytes to be mapped", name, status.st_size),
            "Its pages are read when they are looked at; what a limit counts is their addresses (ulimit -v)."};
    if (data == MAP_FAILED) return Error{ErrorCode::unreadable, name + ": " + std::strerror(errno), {}};
    file.size_ = static_cast<std::size_t>(status.st_size);
    file.data_ = static_cast<const std::byte*>(data);
    note_mapping(data, file.size_);
    file.descriptor_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (file.descriptor_ < 0)  // nobody could tell what is stored of a file with holes
        return Error{ErrorCode::resource_limit, name + ": " + std::strerror(errno), {}};
    return file;
}

ElfIdentity identify_elf(Bytes head) {
    ElfIdentity id;
    if (head.size() < 20 || std::memcmp(head.data(), "\177ELF", 4) != 0) return id;
    id.is_elf = true;
    id.is_64_bit = head[4] == std::byte{2};
    id.little_endian = head[5] == std::byte{1};
    id.type = load<std::uint16_t>(head.data() + 16);
    id.machine = load<std::uint16_t>(head.data() + 18);
    if (!id.little_endian) {
        id.type = __builtin_bswap16(id.type);
        id.machine = __builtin_bswap16(id.machine);
    }
    return id;
}

std::string machine_name(std::uint16_t machine) {
    switch (machine) {
        case 3: return "32-bit x86";
        case 20: return "32-bit PowerPC";
        case 21: return "64-bit PowerPC";
        case 22: return "s390";
        case 40: return "32-bit arm";
        case elf::machine_x86_64: return "x86-64";
        case elf::machine_aarch64: return "arm64";
        case 243: return "RISC-V";
        default: return fmt::format("machine {}", machine);
    }
}

Result<ElfImage> ElfImage::open(const std::string& path) {
    BH_TRY(MappedFile file, MappedFile::open(path));
    return adopt(std::move(file), path);
}

Result<ElfImage> ElfImage::adopt(MappedFile file, std::string name) {
    ElfImage image;
    image.bytes_ = file.bytes();
    image.file_ = std::move(file);
    image.name_ = std::move(name);
    BH_CHECK(image.parse_headers());
    return image;
}

Result<ElfImage> ElfImage::parse(Bytes bytes, std::string name) {
    ElfImage image;
    image.bytes_ = bytes;
    image.name_ = std::move(name);
    BH_CHECK(image.parse_headers());
    return image;
}

Bytes ElfImage::window(std::uint64_t offset, std::uint64_t size) const {
    if (offset >= bytes_.size()) return {};
    return bytes_.subspan(offset, std::min<std::uint64_t>(size, bytes_.size() - offset));
}

Bytes ElfImage::contents(const ElfSection& section) const {
    return section.type == elf::section_no_bits ? Bytes{} : window(section.offset, section.size);
}

Status ElfImage::parse_headers() {
    const ElfIdentity id = identify_elf(bytes_);
    if (!id.is_elf) return not_elf(name_, "not an ELF file");
    if (!id.is_64_bit || !id.little_endian)
        return not_elf(name_, fmt::format("an ELF file of {}, which is not supported", machine_name(id.machine)));
    if (bytes_.size() < header_bytes) return not_elf(name_, "an ELF file that ends inside its header");
    type_ = id.type;
    machine_ = id.machine;
    const std::byte* header = bytes_.data();
    entry_ = load<std::uint64_t>(header + 24);
    const auto segment_table = load<std::uint64_t>(header + 32);
    const auto section_table = load<std::uint64_t>(header + 40);
    const auto segment_size = load<std::uint16_t>(header + 54);
    const auto section_size = load<std::uint16_t>(header + 58);
    std::uint64_t segment_count = load<std::uint16_t>(header + 56);
    std::uint64_t section_count = load<std::uint16_t>(header + 60);
    std::uint64_t name_index = load<std::uint16_t>(header + 62);
    const Bytes first_section = section_table == 0 ? Bytes{} : window(section_table, section_bytes);
    if (first_section.size() == section_bytes) {
        if (segment_count == extended_segment_count) segment_count = load<std::uint32_t>(first_section.data() + 44);
        if (section_count == 0) section_count = load<std::uint64_t>(first_section.data() + 32);
        if (name_index == 0xffff) name_index = load<std::uint32_t>(first_section.data() + 40);
    }
    const auto declare = [this](std::uint64_t offset, std::uint64_t size) {
        std::uint64_t end = 0;
        if (__builtin_add_overflow(offset, size, &end)) end = ~0ull;
        declared_size_ = std::max(declared_size_, end);
    };

    if (segment_count != 0 && segment_size != segment_bytes)
        return not_elf(name_, "an ELF file whose program headers have an unknown size");
    declare(segment_table, segment_count * segment_bytes);
    const Bytes segments = window(segment_table, segment_count * segment_bytes);
    segments_.reserve(segments.size() / segment_bytes);
    for (std::size_t at = 0; at + segment_bytes <= segments.size(); at += segment_bytes) {
        const std::byte* p = segments.data() + at;
        ElfSegment segment;
        segment.type = load<std::uint32_t>(p);
        segment.flags = load<std::uint32_t>(p + 4);
        segment.offset = load<std::uint64_t>(p + 8);
        segment.address = load<std::uint64_t>(p + 16);
        segment.file_size = load<std::uint64_t>(p + 32);
        segment.memory_size = load<std::uint64_t>(p + 40);
        declare(segment.offset, segment.file_size);
        segments_.push_back(segment);
    }

    // Sections are a convenience (symbol tables): a file without them, or with broken ones, is read all the same.
    // Those of a core (gcore writes some) say nothing that its segments don't, but they are its end.
    if (section_table != 0 && section_size == section_bytes && section_count <= ~0ull / section_bytes)
        declare(section_table, section_count * section_bytes);
    if (type_ == elf::type_core || section_table == 0 || section_size != section_bytes) return ok();
    std::uint64_t table_bytes = 0;
    if (__builtin_mul_overflow(section_count, section_bytes, &table_bytes)) return ok();
    const Bytes table = window(section_table, table_bytes);
    std::vector<std::uint32_t> names;
    for (std::size_t at = 0; at + section_bytes <= table.size(); at += section_bytes) {
        const std::byte* p = table.data() + at;
        ElfSection section;
        names.push_back(load<std::uint32_t>(p));
        section.type = load<std::uint32_t>(p + 4);
        section.flags = load<std::uint64_t>(p + 8);
        section.address = load<std::uint64_t>(p + 16);
        section.offset = load<std::uint64_t>(p + 24);
        section.size = load<std::uint64_t>(p + 32);
        section.link = load<std::uint32_t>(p + 40);
        sections_.push_back(section);
    }
    if (name_index < sections_.size()) {
        const Bytes text = contents(sections_[name_index]);
        for (std::size_t i = 0; i < sections_.size(); ++i) sections_[i].name = text_at(text, names[i]);
    }
    return ok();
}

const ElfSection* ElfImage::section(std::string_view name) const {
    for (const ElfSection& section : sections_)
        if (section.name == name) return &section;
    return nullptr;
}

std::vector<ElfNote> parse_notes(Bytes data) {
    std::vector<ElfNote> notes;
    std::uint64_t at = 0;
    while (data.size() - at >= 12) {
        const auto owner_size = load<std::uint32_t>(data.data() + at);
        const auto size = load<std::uint32_t>(data.data() + at + 4);
        const std::uint64_t owner = at + 12;
        const std::uint64_t body = owner + ((static_cast<std::uint64_t>(owner_size) + 3) & ~3ull);
        if (body > data.size() || size > data.size() - body) break;
        ElfNote note;
        note.owner = {reinterpret_cast<const char*>(data.data()) + owner, owner_size};
        while (!note.owner.empty() && note.owner.back() == '\0') note.owner.remove_suffix(1);
        note.type = load<std::uint32_t>(data.data() + at + 8);
        note.description = data.subspan(body, size);
        notes.push_back(note);
        at = std::min<std::uint64_t>(data.size(), body + ((static_cast<std::uint64_t>(size) + 3) & ~3ull));
    }
    return notes;
}

std::vector<ElfNote> ElfImage::notes() const {
    std::vector<ElfNote> all;
    for (const ElfSegment& segment : segments_) {
        if (segment.type != elf::segment_note) continue;
        const std::vector<ElfNote> some = parse_notes(contents(segment));
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::string ElfImage::build_id() const {
    std::string text;
    for (const ElfNote& note : notes()) {
        if (note.owner != "GNU" || note.type != elf::note_gnu_build_id || note.description.size() > 64) continue;
        for (const std::byte b : note.description) text += fmt::format("{:02x}", static_cast<unsigned>(b));
        break;
    }
    return text;
}

std::vector<ElfSymbol> ElfImage::symbols() const {
    std::vector<ElfSymbol> symbols;
    for (const ElfSection& section : sections_) {
        if (section.type != elf::section_dynamic_symbols && section.type != elf::section_symbols) continue;
        if (section.link >= sections_.size()) continue;
        const Bytes names = contents(sections_[section.link]);
        const Bytes table = contents(section);
        for (std::size_t at = 0; at + symbol_bytes <= table.size(); at += symbol_bytes) {
            const std::byte* p = table.data() + at;
            ElfSymbol symbol;
            symbol.section = load<std::uint16_t>(p + 6);
            symbol.address = load<std::uint64_t>(p + 8);
            if (symbol.section == 0 || symbol.address == 0) continue;
            symbol.type = static_cast<std::uint8_t>(load<std::uint8_t>(p + 4) & 15);
            symbol.size = load<std::uint64_t>(p + 16);
            symbol.name = text_at(names, load<std::uint32_t>(p));
            symbols.push_back(symbol);
        }
    }
    return symbols;
}

std::uint64_t ElfImage::base_address() const {
    std::uint64_t lowest = ~0ull;
    for (const ElfSegment& segment : segments_)
        if (segment.type == elf::segment_load) lowest = std::min(lowest, segment.address);
    return lowest == ~0ull ? 0 : lowest & ~0xfffull;
}

Bytes ElfImage::at_address(std::uint64_t address, std::uint64_t size) const {
    for (const ElfSegment& segment : segments_) {
        if (segment.type != elf::segment_load || address < segment.address) continue;
        const std::uint64_t from = address - segment.address;
        if (from >= segment.file_size || size > segment.file_size - from) continue;
        std::uint64_t offset = 0;
        if (__builtin_add_overflow(segment.offset, from, &offset)) continue;
        const Bytes found = window(offset, size);
        return found.size() == size ? found : Bytes{};
    }
    return {};
}

}  // namespace beamheap::bytes
