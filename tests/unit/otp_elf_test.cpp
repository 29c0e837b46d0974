// SPDX-License-Identifier: Apache-2.0
// ELF files, core notes and address spaces: whole, cut at every place, and forged.
#include <catch2/catch.hpp>
#include <random>

#include "bytes/address_space.hpp"
#include "bytes/core_notes.hpp"
#include "bytes/elf_image.hpp"
#include "support/elf_writer.hpp"

using namespace beamheap;
using beamheap::test::Blob;
using beamheap::test::ElfWriter;
namespace elf = beamheap::bytes::elf;

namespace {

Blob filled(std::size_t size, std::uint8_t value) {
    Blob blob(size);
    std::memset(blob.data(), value, size);
    return blob;
}

Blob status_note(std::uint32_t thread, std::uint64_t rip) {
    Blob note(336);
    note.put<std::uint16_t>(12, 11);
    note.put<std::uint32_t>(32, thread);
    note.word(112 + 8 * 16, rip);  // struct user_regs_struct
    return note;
}

Blob file_note() {
    Blob note;
    note.word(0, 2);
    note.word(8, 4096);
    const std::uint64_t entries[] = {0x400000, 0x401000, 0, 0x500000, 0x502000, 3};
    for (std::size_t i = 0; i < 6; ++i) note.word(16 + 8 * i, entries[i]);
    note.text(64, std::string_view("/opt/beam.smp\0/lib/libc.so\0", 27));
    return note;
}

Blob sample_core() {
    ElfWriter core(elf::type_core);
    core.load(0x1000, filled(4096, 0x11));
    core.load(0x2000, filled(4096, 0x22));
    core.load(0x9000, filled(4096, 0x33), elf::flag_read);
    core.note("CORE", 1, status_note(4711, 0x401234));
    core.note("CORE", 0x46494c45, file_note());
    Blob auxiliary;
    auxiliary.word(0, 9);
    auxiliary.word(8, 0x400abc);
    core.note("CORE", 6, auxiliary);
    return core.write();
}

std::uint8_t byte_at(bytes::MemoryReader& memory, std::uint64_t address) {
    return memory.value<std::uint8_t>(address).value_or(0xEE);
}

}  // namespace

TEST_CASE("a core's segments and notes are read", "[otp][elf]") {
    const Blob file = sample_core();
    const auto core = bytes::ElfImage::parse(file.bytes(), "core");
    REQUIRE(core);
    CHECK(core->type() == elf::type_core);
    CHECK(core->segments().size() == 4);
    CHECK(core->declared_size() == file.size());
    const bytes::CoreNotes notes = bytes::read_core_notes(*core);
    REQUIRE(notes.threads.size() == 1);
    CHECK(notes.threads[0].id == 4711);
    CHECK(notes.threads[0].signal == 11);
    CHECK(notes.threads[0].program_counter == 0x401234);
    CHECK(notes.threads[0][bytes::X86::rip] == 0x401234);
    REQUIRE(notes.files.size() == 2);
    CHECK(notes.files[0].path == "/opt/beam.smp");
    CHECK(notes.files[1].path == "/lib/libc.so");
    CHECK(notes.files[1].file_offset == 3 * 4096);
    REQUIRE(notes.entry);
    CHECK(*notes.entry == 0x400abc);
    CHECK(notes.file_at(0x500010) == &notes.files[1]);
    CHECK(notes.file_at(0x600000) == nullptr);
}

TEST_CASE("a core without its table of sections is cut", "[otp][elf]") {
    Blob file = sample_core();
    const std::size_t end = file.size();
    file.word(40, end);
    file.put<std::uint16_t>(58, 64);
    file.put<std::uint16_t>(60, 3);
    const auto core = bytes::ElfImage::parse(file.bytes(), "core");
    REQUIRE(core);
    CHECK(core->declared_size() == end + 192);
    CHECK(core->segments().size() == 4);
}

TEST_CASE("a core cut anywhere still parses as far as it goes", "[otp][elf]") {
    const Blob file = sample_core();
    for (std::size_t length = 0; length <= file.size(); ++length) {
        const auto core = bytes::ElfImage::parse(file.bytes().first(length), "cut");
        if (length < 64) {
            CHECK_FALSE(core);
            continue;
        }
        REQUIRE(core);
        CHECK(core->declared_size() == (length < 64 + 56 * 4 ? core->declared_size() : file.size()));
        const bytes::CoreNotes notes = bytes::read_core_notes(*core);
        CHECK(notes.threads.size() <= 1);
        for (const bytes::ElfSegment& segment : core->segments())
            CHECK(core->contents(segment).size() <= segment.file_size);
    }
}

TEST_CASE("random bytes in headers and notes never lead outside the file", "[otp][elf]") {
    std::mt19937 random(7);
    for (int round = 0; round < 3000; ++round) {
        Blob file = sample_core();
        for (int flips = 0; flips < 6; ++flips) {
            const std::size_t head = 64 + 56 * 4;
            const std::size_t at = flips % 2 == 0 ? random() % head : file.size() - 1 - random() % 600;
            file.data()[at] = static_cast<std::byte>(random());
        }
        const auto core = bytes::ElfImage::parse(file.bytes(), "forged");
        if (!core) continue;
        bytes::read_core_notes(*core);
        core->build_id();
        core->symbols();
        bytes::AddressSpace space;
        for (const bytes::ElfSegment& segment : core->segments())
            if (segment.type == elf::segment_load)
                space.add(segment.address, core->contents(segment), bytes::AddressSpace::Origin::core, true);
        space.seal();
        std::uint64_t last = 0;
        for (const auto& segment : space.segments()) {
            CHECK(segment.start >= last);
            CHECK(segment.end > segment.start);
            CHECK(segment.end - segment.start <= file.size());
            last = segment.end;
        }
    }
}

TEST_CASE("foreign files are told apart", "[otp][elf]") {
    CHECK_FALSE(bytes::ElfImage::parse(filled(100, 0).bytes(), "zeros"));
    Blob small = ElfWriter(elf::type_core).write();
    small.put<std::uint8_t>(4, 1);
    const auto narrow = bytes::ElfImage::parse(small.bytes(), "narrow");
    REQUIRE_FALSE(narrow);
    CHECK(narrow.error().code == ErrorCode::not_recognised);
    CHECK(bytes::machine_name(elf::machine_aarch64) == "arm64");
    const Blob arm = ElfWriter(elf::type_core, elf::machine_aarch64).write();
    CHECK(bytes::identify_elf(arm.bytes()).machine == elf::machine_aarch64);
}

TEST_CASE("neighbouring segments are read as one", "[otp][memory]") {
    const Blob file = sample_core();
    const auto core = bytes::ElfImage::parse(file.bytes(), "core");
    REQUIRE(core);
    bytes::AddressSpace space;
    for (const bytes::ElfSegment& segment : core->segments())
        if (segment.type == elf::segment_load)
            space.add(segment.address, core->contents(segment), bytes::AddressSpace::Origin::core,
                      (segment.flags & elf::flag_write) != 0);
    space.seal();
    CHECK(space.segments().size() == 2);
    bytes::MemoryReader memory(space);
    REQUIRE(memory.at(0x1ffc, 8) != nullptr);
    CHECK(memory.word32(0x1ffc) == 0x11111111u);
    CHECK(memory.word32(0x2000) == 0x22222222u);
    CHECK(memory.at(0x2ffc, 8) == nullptr);
    CHECK(memory.at(0x9000, ~0ull) == nullptr);
    CHECK(memory.misses() == 2);
    CHECK(memory.first_miss() == 0x2ffc);
    CHECK(memory.writable(0x1000));
    CHECK_FALSE(memory.writable(0x9000));
    CHECK_FALSE(memory.mapped(0x3000));
    CHECK_FALSE(memory.mapped(0xfff));
}

TEST_CASE("what the process wrote wins over what its files hold", "[otp][memory]") {
    const Blob written = filled(4096, 0xAA), file = filled(4 * 4096, 0xBB), other = filled(2 * 4096, 0xCC);
    bytes::AddressSpace space;
    space.add(0x10000, file.bytes(), bytes::AddressSpace::Origin::file, false);
    space.add(0x11000, written.bytes(), bytes::AddressSpace::Origin::core, true);
    space.add(0x13800, other.bytes(), bytes::AddressSpace::Origin::file, false);
    space.seal();
    bytes::MemoryReader memory(space);
    CHECK(byte_at(memory, 0x10000) == 0xBB);
    CHECK(byte_at(memory, 0x10fff) == 0xBB);
    CHECK(byte_at(memory, 0x11000) == 0xAA);
    CHECK(byte_at(memory, 0x11fff) == 0xAA);
    CHECK(byte_at(memory, 0x12000) == 0xBB);
    CHECK(byte_at(memory, 0x13fff) == 0xBB);
    CHECK(byte_at(memory, 0x14000) == 0xCC);
    CHECK(byte_at(memory, 0x157ff) == 0xCC);
    CHECK(byte_at(memory, 0x15800) == 0xEE);
}

TEST_CASE("what lies in two segments of other protection is read in place where it is contiguous", "[otp][memory]") {
    const Blob blob = filled(3 * 4096, 0x55);
    bytes::AddressSpace space;
    space.add(0x10000, blob.bytes().first(4096), bytes::AddressSpace::Origin::core, true);
    space.add(0x11000, blob.bytes().subspan(4096, 4096), bytes::AddressSpace::Origin::core, false);
    space.add(0x13000, blob.bytes().subspan(8192), bytes::AddressSpace::Origin::core, false);
    space.seal();
    bytes::MemoryReader memory(space);
    CHECK(memory.at(0x10ffc, 8) != nullptr);
    CHECK(memory.from(0x10010, 1u << 20).size() == 8192 - 0x10);
    CHECK(memory.writable(0x10fff));
    CHECK_FALSE(memory.writable(0x11000));
    CHECK(memory.probe(0x11ffc, 8) == nullptr);
    CHECK(memory.probe(0x10000, 3 * 4096) == nullptr);
}

TEST_CASE("texts end inside their segment", "[otp][memory]") {
    Blob blob(16);
    blob.text(0, std::string_view("abc\0", 4));
    blob.text(8, "defghijk");
    bytes::AddressSpace space;
    space.add(0x1000, blob.bytes(), bytes::AddressSpace::Origin::core, true);
    space.seal();
    bytes::MemoryReader memory(space);
    CHECK(memory.text(0x1000) == std::string_view("abc"));
    CHECK_FALSE(memory.text(0x1008));
    CHECK_FALSE(memory.text(0x2000));
}
