// SPDX-License-Identifier: Apache-2.0
// Core images of arm64 made up in memory: notes, relocations and pages of all sizes, threads and their stacks, and what
// the processor changes in structures.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "bytes/loaded_files.hpp"
#include "bytes/unwinder.hpp"
#include "formats/otp/layout/platform.hpp"
#include "formats/otp/processes/process_table.hpp"
#include "formats/otp/tables/native.hpp"
#include "formats/otp/vm/image.hpp"
#include "support/elf_writer.hpp"
#include "support/made_image.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::Blob;
using beamheap::test::ElfWriter;
using beamheap::test::FileOfMemory;
namespace elf = beamheap::bytes::elf;

namespace {

constexpr std::uint32_t prstatus = 1, auxv = 6, file_names = 0x46494c45, arm_tls = 0x401, arm_pac = 0x406;
constexpr std::uint32_t relative = 1027, relative_of_x86 = 8;
constexpr std::uint64_t bias = 0xaaaa00000000ull, data_at = 0x21f900, stack_at = 0xffff80000000ull;

struct Registers {
    std::uint64_t pc = 0, sp = 0, link = 0, frame = 0, x20 = 0, x21 = 0, x23 = 0;
};

Blob status_note(std::uint32_t thread, const Registers& r) {
    Blob note(392);
    note.put<std::uint16_t>(12, 6);
    note.put<std::uint32_t>(32, thread);
    const std::pair<std::size_t, std::uint64_t> values[] = {{20, r.x20},  {21, r.x21}, {23, r.x23}, {29, r.frame},
                                                            {30, r.link}, {31, r.sp},  {32, r.pc}};
    for (const auto& [number, value] : values) note.word(112 + 8 * number, value);
    return note;
}

Blob words(std::initializer_list<std::uint64_t> values) {
    Blob blob;
    for (const std::uint64_t value : values) blob.word(blob.size(), value);
    return blob;
}

// A program of two segments: constants with the version line, and data whose relocated words lie in RELRO.
struct Program {
    std::uint16_t machine = elf::machine_aarch64;
    std::uint32_t relocation = relative;
    bool packed = false;
    Blob data{0x700};

    Blob write() {
        Blob constants(0x2000), relocations;
        constants.text(0x100, "Erlang/OTP 25%s [erts-13.1.5] [source] [64-bit] [jit%s]");
        for (std::size_t i = 0; i < 32; ++i) {
            const std::uint64_t where = data_at + 0x100 + 8 * i, addend = 0x40 * i;
            if (packed) data.word(0x100 + 8 * i, addend);
            if (packed) continue;
            relocations.word(24 * i, where);
            relocations.word(24 * i + 8, relocation);
            relocations.word(24 * i + 16, addend);
        }
        // An address, and which of the 63 words behind it are relocated as well.
        if (packed) relocations = words({data_at + 0x100, (1ull << 32) - 1});
        ElfWriter program(elf::type_shared, machine);
        program.load(0, std::move(constants), elf::flag_read | elf::flag_execute);
        program.load(data_at, data);
        program.segment(elf::segment_relro, elf::flag_read, data_at, Blob(0x700));
        program.section(packed ? elf::section_relative_relocations : elf::section_relocations, relocations);
        return program.write();
    }
};

// The program's data as the loader left it, in pages of a size, from the beginning of the first.
Blob loaded_data(const Blob& data, std::uint64_t page) {
    const std::uint64_t before = data_at & (page - 1);
    Blob pages((before + data.size() + page - 1) / page * page);
    std::memcpy(pages.data() + before, data.bytes().data(), data.size());
    for (std::size_t i = 0; i < 32; ++i) pages.word(before + 0x100 + 8 * i, bias + 0x40 * i);
    return pages;
}

ElfWriter core_of(const Blob& data, std::uint64_t page) {
    ElfWriter core(elf::type_core, elf::machine_aarch64);
    core.load((data_at & ~(page - 1)) + bias, loaded_data(data, page));
    return core;
}

const Layout& layout_25() {
    const auto rows = known_layouts();
    return *std::find_if(rows.begin(), rows.end(),
                         [](const Layout& row) { return row.release == 25 && row.at.process_frame_pointer != absent; });
}

}  // namespace

TEST_CASE("threads of arm64 are read with the notes that follow them", "[otp][arm64]") {
    ElfWriter writer(elf::type_core, elf::machine_aarch64);
    writer.note("CORE", prstatus,
                status_note(7, {.pc = 0x1000, .sp = 0x2000, .link = 0x3000, .frame = 0x4000, .x20 = 5}));
    writer.note("LINUX", arm_tls, words({0xabc0, 0}));
    writer.note("LINUX", arm_pac, words({0x7f000000000000, 0x7e000000000000}));
    writer.note("CORE", prstatus, status_note(8, {.pc = 0x1004}));
    const Blob file = writer.write();
    const auto core = bytes::ElfImage::parse(file.bytes(), "core");
    REQUIRE(core);
    const bytes::CoreNotes notes = bytes::read_core_notes(*core);
    REQUIRE(notes.threads.size() == 2);
    const bytes::CoreThread& thread = notes.threads[0];
    CHECK(thread.id == 7);
    CHECK(thread.signal == 6);
    CHECK(thread.program_counter == 0x1000);
    CHECK(thread.stack_pointer == 0x2000);
    CHECK(thread[bytes::Arm64::sp] == 0x2000);
    CHECK(thread[bytes::Arm64::link] == 0x3000);
    CHECK(thread[bytes::Arm64::frame] == 0x4000);
    CHECK(thread[bytes::Arm64::x20] == 5);
    CHECK(thread.thread_pointer == 0xabc0u);
    CHECK(notes.signature_bits == 0x7e000000000000u);
    CHECK_FALSE(notes.threads[1].thread_pointer);

    // The same notes in a core of x86-64 are of 27 registers, and other numbers of notes are no registers.
    Blob other = file;
    other.put<std::uint16_t>(18, elf::machine_x86_64);
    const auto x86 = bytes::ElfImage::parse(other.bytes(), "core");
    REQUIRE(x86);
    const bytes::CoreNotes foreign = bytes::read_core_notes(*x86);
    CHECK_FALSE(foreign.signature_bits);
    CHECK(foreign.threads.at(0).program_counter == 0);
}

TEST_CASE("an executable is found in a core with pages of every size", "[otp][arm64]") {
    for (const std::uint64_t page : {4096ull, 16384ull, 65536ull}) {
        for (const bool packed : {false, true}) {
            Program program;
            program.packed = packed;
            const FileOfMemory executable(program.write()), core(core_of(program.data, page).write());
            const auto image = Image::open(core.path(), executable.path());
            INFO(page << (packed ? ", packed" : ""));
            REQUIRE(image);
            CHECK((*image)->bias() == bias);
            CHECK((*image)->build().jit);
        }
    }
}

TEST_CASE("the notes of a kernel with pages of 64 kB tell the executable and its place", "[otp][arm64]") {
    Program program;
    const FileOfMemory executable(program.write());
    ElfWriter writer = core_of(program.data, 65536);
    writer.note("CORE", prstatus, status_note(1, {.pc = bias + 0x1200}));
    writer.note("CORE", auxv, words({6, 65536, 9, bias, 3, bias + 64, 0, 0}));
    // Offsets in pages of the kernel's size: code at the file's beginning, data from its third page on.
    Blob files = words({2, 65536, bias, bias + 0x10000, 0, bias + 0x210000, bias + 0x220000, 0x21});
    const std::string path = executable.path() + '\0';
    files.text(files.size(), path + path);
    writer.note("CORE", file_names, files);
    const FileOfMemory core(writer.write());
    const auto image = Image::open(core.path(), "");  // by the notes alone
    REQUIRE_FALSE(image);                             // ... which name a program that is no Erlang VM by its name
    CHECK(image.error().message.find("is not an Erlang VM") != std::string::npos);
    const auto given = Image::open(core.path(), executable.path());
    REQUIRE(given);
    CHECK((*given)->bias() == bias);
    const bytes::CoreNotes& notes = (*given)->notes();
    REQUIRE(notes.files.size() == 2);
    CHECK(notes.files[1].file_offset == 0x210000);
    CHECK(notes.file_at(notes.threads.at(0).program_counter) == notes.files.data());
    CHECK(notes.program_headers == bias + 64);
}

TEST_CASE("a program whose relocations or machine are not the core's is refused", "[otp][arm64]") {
    Program program;
    program.relocation = relative_of_x86;
    const FileOfMemory core(core_of(program.data, 4096).write()), other_numbers(program.write());
    const auto unfit = Image::open(core.path(), other_numbers.path());
    REQUIRE_FALSE(unfit);
    CHECK(unfit.error().message.find("does not hold the data") != std::string::npos);
    program.machine = elf::machine_x86_64;
    const FileOfMemory other_machine(program.write());
    const auto foreign = Image::open(core.path(), other_machine.path());
    REQUIRE_FALSE(foreign);
    CHECK(foreign.error().message.find("is of arm64, and") != std::string::npos);
}

TEST_CASE("files are known from the dynamic linker where notes name none", "[bytes][arm64]") {
    constexpr std::uint64_t heap = 0x50000, library = 0x70000;
    ElfWriter program(elf::type_shared, elf::machine_aarch64);
    program.load(0, Blob(0x1000));
    program.segment(elf::segment_dynamic, elf::flag_read, 0x400, words({5, 1, 21, 0, 0, 0}));
    const Blob program_file = program.write();
    const auto executable = bytes::ElfImage::parse(program_file.bytes(), "program");
    REQUIRE(executable);
    const auto files = [&](std::uint64_t loop_to) {
        Blob data(0x1000), lists(0x1000);
        const Blob dynamic = words({5, 1, 21, heap, 0, 0});
        std::memcpy(data.data() + 0x400, dynamic.bytes().data(), dynamic.size());
        lists.word(8, heap + 0x100);
        // The executable itself, the library, and one that is mapped nowhere.
        const std::uint64_t links[][4] = {{0x10000, heap + 0x800, 0x10400, heap + 0x200},
                                          {library, heap + 0x810, library + 0x2010, heap + 0x300},
                                          {0x900000, heap + 0x810, 0x900010, loop_to}};
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t k = 0; k < 4; ++k) lists.word(0x100 * (i + 1) + 8 * k, links[i][k]);
        lists.text(0x810, "/lib/libmade.so");
        ElfWriter writer(elf::type_core, elf::machine_aarch64);
        writer.load(0x10000, std::move(data));
        writer.load(heap, std::move(lists));
        writer.segment(elf::segment_load, elf::flag_read, library, Blob(), 0x2000);
        writer.load(library + 0x2000, Blob(0x1000));
        const Blob file = writer.write();
        const auto core = bytes::ElfImage::parse(file.bytes(), "core");
        REQUIRE(core);
        bytes::AddressSpace space;
        for (const bytes::ElfSegment& segment : core->segments())
            space.add(segment.address, core->contents(segment), bytes::AddressSpace::Origin::core, true);
        space.seal();
        return bytes::loaded_files(*executable, 0x10000, *core, space);
    };
    const auto found = files(0);
    REQUIRE(found.size() == 1);
    CHECK(found[0].path == "/lib/libmade.so");
    CHECK(found[0].start == library);
    CHECK(found[0].end == library + 0x3000);
    CHECK(files(heap + 0x200).size() >= 1);  // a list that leads back into itself ends
}

TEST_CASE("stacks of arm64 go on through files that are not here", "[bytes][arm64]") {
    constexpr std::uint64_t library = 0xffff70000000ull, jit = 0xffff60000000ull, signature = 0x2d000000000000ull;
    Program program;
    const FileOfMemory file(program.write());
    const auto executable = bytes::ElfImage::open(file.path());
    REQUIRE(executable);
    const auto stack_of = [&](const Registers& registers, std::initializer_list<std::uint64_t> records) {
        bytes::CoreNotes notes;
        notes.files.push_back({library, library + 0x10000, 0, "/no/such/libmade.so"});
        bytes::CoreThread& thread = notes.threads.emplace_back();
        thread.program_counter = registers.pc;
        thread.stack_pointer = registers.sp;
        thread.registers[29] = registers.frame;
        thread.registers[30] = registers.link;
        thread.registers[31] = registers.sp;
        const Blob stack = words(records);
        bytes::AddressSpace space;
        space.add(stack_at, stack.bytes(), bytes::AddressSpace::Origin::core, true);
        space.seal();
        bytes::Unwinder unwinder(notes, space, *executable, bias);
        const bytes::NativeStack result = unwinder.stack(0);
        std::vector<std::uint64_t> addresses;
        for (const bytes::NativeFrame& frame : result.frames) addresses.push_back(frame.address);
        return std::pair{addresses, result.end};
    };
    using Addresses = std::vector<std::uint64_t>;
    const std::uint64_t inner = library + 0x120, outer = library + 0x800, ours = bias + 0x1204;

    // Interrupted in a function that called others: the register has a return address of its own past.
    const auto plain = stack_of({.pc = inner, .sp = stack_at, .link = library + 0x100, .frame = stack_at},
                                {stack_at + 32, ours, 0, 0, stack_at + 64, outer | signature, 0, 0, 0, 0});
    CHECK(plain.first == Addresses{inner, ours, outer});
    CHECK(plain.second.empty());
    // In a wrapper of a system call, which has no record: its caller is in the register alone.
    const auto leaf = stack_of({.pc = inner, .sp = stack_at, .link = ours | signature, .frame = stack_at},
                               {stack_at + 16, bias + 0x1800, 0, 0});
    CHECK(leaf.first == Addresses{inner, ours, bias + 0x1800});
    // Just behind the record's making the register has what the record has.
    const auto fresh = stack_of({.pc = inner, .sp = stack_at, .link = ours, .frame = stack_at}, {0, ours});
    CHECK(fresh.first == Addresses{inner, ours});
    // Code that a JIT wrote ends the stack, and is told.
    const auto called = stack_of({.pc = inner, .sp = stack_at, .link = inner, .frame = stack_at},
                                 {stack_at + 16, jit, stack_at + 32, ours, 0, 0});
    CHECK(called.first == Addresses{inner, jit});
    CHECK(called.second == "code of no file");
    // Records that lead back, or nowhere.
    CHECK(stack_of({.pc = inner, .frame = stack_at}, {stack_at, ours, 0, 0}).first == Addresses{inner, ours});
    const auto lost = stack_of({.pc = inner, .frame = 8}, {0});
    CHECK(lost.first == Addresses{inner});
    CHECK(lost.second == "in libmade.so, which can't be unwound");
}

TEST_CASE("a thread of arm64 is known by its pointer, or by its stack", "[otp][arm64]") {
    constexpr std::uint64_t schedulers = 0x40000, distance = 0x740;
    const std::uint64_t handles[] = {stack_at + 0xf0c0, stack_at + 0x2f0c0};
    for (const bool pointers : {true, false}) {
        Program program;
        ElfWriter writer = core_of(program.data, 65536);
        // Two schedulers, and a thread of something else between them.
        const std::pair<std::uint64_t, std::uint64_t> threads[] = {{handles[1] - 0x400, handles[1]},
                                                                   {stack_at + 0x1f000, stack_at + 0x1f0c0},
                                                                   {handles[0] - 0x400, handles[0]}};
        std::uint32_t id = 0;
        for (const auto& [pointer, handle] : threads) {
            writer.note("CORE", prstatus, status_note(++id, {.sp = pointer}));
            if (pointers) writer.note("LINUX", arm_tls, words({handle + distance}));
        }
        for (std::uint64_t stack = stack_at; stack < stack_at + 0x30000; stack += 0x10000)
            writer.segment(elf::segment_load, elf::flag_read | elf::flag_write, stack, Blob(), 0x10000);
        const FileOfMemory executable(program.write()), core(writer.write());
        const auto image = Image::open(core.path(), executable.path());
        REQUIRE(image);
        Vm vm;
        vm.image = image->get();
        vm.layout = layout_25();
        Blob data(0x200);
        data.word(vm.layout.at.scheduler_thread, handles[0]);
        data.word(0x100 + vm.layout.at.scheduler_thread, handles[1]);
        bytes::AddressSpace space;
        space.add(schedulers, data.bytes(), bytes::AddressSpace::Origin::core, true);
        space.seal();
        bytes::MemoryReader memory(space);
        vm.roots.schedulers = {schedulers, schedulers + 0x100};
        const ThreadRoles roles(vm, memory);
        const auto& found = (*image)->notes().threads;
        REQUIRE(found.size() == 3);
        INFO((pointers ? "with" : "without") << " thread pointers");
        CHECK(roles.of(found[0]).name == "scheduler:2");
        CHECK(roles.of(found[1]).name.empty());
        CHECK(roles.of(found[2]).name == "scheduler:1");
        CHECK(roles.of(found[2]).scheduler == schedulers);
    }
}

TEST_CASE("the JIT's registers of arm64 say what runs, and where its stack and heap are", "[otp][arm64]") {
    constexpr std::uint64_t memory_at = 0x60000, code = 0xffff60000000ull;
    const std::uint64_t process = memory_at + 0x1000, heap = memory_at + 0x4000, end = memory_at + 0x5000;
    for (const std::uint64_t pc : {code + 0x80, code + 0x10000}) {
        Program program;
        ElfWriter writer = core_of(program.data, 4096);
        writer.note("CORE", prstatus,
                    status_note(1, {.pc = pc, .sp = stack_at, .x20 = end - 64, .x21 = process, .x23 = heap + 128}));
        const FileOfMemory executable(program.write()), core(writer.write());
        const auto image = Image::open(core.path(), executable.path());
        REQUIRE(image);
        Vm vm;
        vm.image = image->get();
        vm.layout = layout_25();
        vm.layout.at = on_platform(vm.layout.at, Platform::arm64);
        Blob data(0x5000);
        const Blob ranges = words({memory_at + 0x100, 1, 4, memory_at + 0x100}), modules = words({code, code + 0x1000});
        std::memcpy(data.data(), ranges.bytes().data(), ranges.size());
        std::memcpy(data.data() + 0x100, modules.bytes().data(), modules.size());
        data.word(0x1000, 0x123);  // a pid
        data.word(0x1000 + vm.layout.at.process_heap, heap);
        data.word(0x1000 + vm.layout.at.process_heap_end, end);
        bytes::AddressSpace space;
        space.add(memory_at, data.bytes(), bytes::AddressSpace::Origin::core, true);
        space.seal();
        bytes::MemoryReader memory(space);
        vm.roots.code_ranges = memory_at;
        vm.code = Code(memory, vm.layout, vm.roots);
        const auto running = running_threads(vm, memory);
        if (pc > code + 0x1000) {
            CHECK(running.empty());
            continue;
        }
        REQUIRE(running.size() == 1);
        CHECK(running[0].process == process);
        CHECK(running[0].stop == end - 64);
        CHECK(running[0].heap_top == heap + 128);
    }
}

TEST_CASE("members move by what a processor and a C library change in front of them", "[otp][arm64][layout]") {
    for (const Layout& row : known_layouts()) {
        const Offsets &x86 = row.at, same = on_platform(x86, Platform::x86_64);
        const Offsets glibc = on_platform(x86, Platform::arm64), musl = on_platform(x86, Platform::arm64_musl);
        INFO(row.source);
        for (const FieldName& name : field_names()) {
            const auto field = name.field;
            CHECK(same.*field == x86.*field);
            if (field == &Offsets::process_frame_pointer) continue;
            CHECK((glibc.*field == absent) == (x86.*field == absent));
            // Without glibc only processes differ; with it they differ by nothing else.
            const bool process = name.structure == "Process";
            CHECK(musl.*field == (process ? glibc.*field : x86.*field));
            if (!process && x86.*field != absent) CHECK((glibc.*field - x86.*field) % 8 == 0);
        }
        const std::uint32_t pointer = x86.process_frame_pointer == absent ? 0 : 8;
        CHECK(glibc.process_frame_pointer == absent);
        CHECK(glibc.process_size == x86.process_size - pointer);
        CHECK(glibc.process_stop == x86.process_stop);
        CHECK(glibc.process_heap == x86.process_heap - pointer);
        CHECK(glibc.ets_type == x86.ets_type + 16);
        CHECK(glibc.port_connected == x86.port_connected + 8);
        CHECK(glibc.entry_name == x86.entry_name + 8);
        CHECK(glibc.run_queue_scheduler == x86.run_queue_scheduler + 16);
        // The queue's own lock alone stands before its lengths where these come before the list of sleepers.
        CHECK(glibc.run_queue_priorities ==
              x86.run_queue_priorities + (x86.run_queue_priorities < x86.run_queue_scheduler ? 8 : 16));
    }
}

TEST_CASE("a row is proved on the platforms of which a VM was read", "[otp][arm64][layout]") {
    for (const Layout& row : known_layouts()) {
        INFO(row.source);
        CHECK(on_platform(row, Platform::x86_64).proof == row.proof);
        CHECK(on_platform(row, Platform::arm64_musl).proof == Proof::from_source);
        const bool own = row.release == 23 ? row.flavour == Flavour::interpreter : row.flavour == Flavour::jit;
        const bool odd = row.release % 2 == 1;  // 23, 25, 27 and 29 are the releases whose arm64 builds were at hand
        CHECK((on_platform(row, Platform::arm64).proof == Proof::by_vm) == (own && odd));
        CHECK(on_platform(row, Platform::arm64).at.process_size == on_platform(row.at, Platform::arm64).process_size);
    }
    CHECK(platform_suffix(Platform::x86_64).empty());
    CHECK(platform_suffix(Platform::arm64) == " for arm64");
}
