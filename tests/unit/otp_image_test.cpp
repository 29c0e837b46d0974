// SPDX-License-Identifier: Apache-2.0
// How an executable is found for a core image and held against it: addresses, relocations, build ids; and what is
// refused, in which words.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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

constexpr std::string_view version_line =
    "Erlang/OTP 25%s [erts-13.1.5] [source] [64-bit] [smp:%beu:%beu] [jit:ns%s]\n";
constexpr std::uint64_t loaded_at = 0x550000000000ull, linked_at = 0x10000, relro_at = 0x200000, relro_bytes = 0x400,
                        entry_point = 0x10234;

Blob image_words(std::initializer_list<std::uint64_t> values) {
    Blob blob;
    for (const std::uint64_t value : values) blob.word(blob.size(), value);
    return blob;
}

/// A program that is loaded anywhere, of constants and data with relocations; and a core of it.
struct ImageProgram {
    std::string line{version_line};
    std::size_t relocations = 100;  ///< of words in RELRO
    std::size_t wrong = 0;          ///< how many of them the core has otherwise
    std::size_t outside = 0;        ///< relocations of words behind RELRO, which the program has changed since
    std::string build_id;           ///< of the program; empty: none
    std::string id_in_core;         ///< in its first page, which the core has
    std::uint64_t bias = loaded_at;
    std::vector<std::uint64_t> auxiliary;  ///< words of the core's note
    std::vector<std::uint64_t> files;      ///< start, end, page
    std::vector<std::string> paths;
    bool elsewhere = false;  ///< the core's data begins a page before the segment's
    std::string interpreter;

    static Blob id_note(const std::string& id) {
        ElfWriter file(elf::type_shared);
        Blob text;
        text.text(0, id);
        file.note("GNU", 3, text);
        return file.write();
    }
    Blob write_program() const {
        Blob constants(0x2000), table, data(0x1000);
        constants.text(0x100, line + '\0');
        const auto relocation = [&](std::uint64_t where, std::uint64_t addend) {
            const std::size_t at = table.size();
            table.word(at, where);
            table.word(at + 8, 8);  // R_X86_64_RELATIVE
            table.word(at + 16, addend);
        };
        for (std::size_t i = 0; i < relocations; ++i) relocation(relro_at + 8 * i, 0x40 * i + 8);
        for (std::size_t i = 0; i < outside; ++i) relocation(relro_at + relro_bytes + 8 * i, 0x40 * i + 8);
        ElfWriter program(elf::type_shared);
        program.load(linked_at, std::move(constants), elf::flag_read | elf::flag_execute);
        program.load(relro_at, std::move(data));
        program.segment(elf::segment_relro, elf::flag_read, relro_at, Blob(relro_bytes));
        program.segment(elf::segment_program_headers, elf::flag_read, linked_at + 64, Blob(56));
        if (!interpreter.empty()) {
            Blob name;
            name.text(0, interpreter);
            program.segment(elf::segment_interpreter, elf::flag_read, linked_at + 0x300, std::move(name));
        }
        if (!build_id.empty()) {
            Blob text;
            text.text(0, build_id);
            program.note("GNU", 3, text);
        }
        program.section(elf::section_relocations, std::move(table));
        Blob file = program.write();
        file.word(24, entry_point);
        return file;
    }
    Blob write_core() const {
        Blob data(0x2000);
        const std::size_t before = elsewhere ? 0x1000 : 0;
        for (std::size_t i = 0; i < relocations; ++i)
            data.word(before + 8 * i, i < wrong ? 0x1111 : bias + 0x40 * i + 8);
        for (std::size_t i = 0; i < outside; ++i) data.word(before + relro_bytes + 8 * i, 0x2222);
        ElfWriter core(elf::type_core);
        if (!id_in_core.empty()) {
            Blob page = id_note(id_in_core);
            page.resize(0x1000);
            core.load(bias + linked_at, std::move(page), elf::flag_read);
        }
        core.load(bias + relro_at - before, std::move(data));
        if (!auxiliary.empty()) {
            Blob note;
            for (const std::uint64_t word : auxiliary) note.word(note.size(), word);
            core.note("CORE", 6, note);
        }
        if (!files.empty()) {
            Blob note = image_words({files.size() / 3, 4096});
            for (const std::uint64_t word : files) note.word(note.size(), word);
            for (const std::string& path : paths) note.text(note.size(), path + '\0');
            core.note("CORE", 0x46494c45, note);
        }
        return core.write();
    }
    /// The load address, or why it can't be told.
    std::string opened(bool name_it = true) const {
        const FileOfMemory program(write_program()), core(write_core());
        const auto image = Image::open(core.path(), name_it ? program.path() : "");
        if (image) return std::to_string((*image)->bias());
        std::string message = image.error().message + " / " + image.error().advice;
        for (const auto& [path, name] : {std::pair(program.path(), "PROGRAM"), std::pair(core.path(), "CORE")})
            for (std::size_t at = message.find(path); at != message.npos; at = message.find(path))
                message.replace(at, path.size(), name);
        return message;
    }
};

const std::string loaded_well = std::to_string(loaded_at);

}  // namespace

TEST_CASE("an executable fits where nearly all of its relocations are those of the core", "[otp][image]") {
    const std::string unfit =
        "CORE: the core image does not hold the data of PROGRAM: it is of another build, or was made without anonymous "
        "memory (coredump_filter bit 0), or is cut too early / Give the executable that made the core image with "
        "--exe.";
    CHECK(ImageProgram().opened() == loaded_well);
    CHECK(ImageProgram{.wrong = 1}.opened() == loaded_well);
    CHECK(ImageProgram{.wrong = 2}.opened() == unfit);
    CHECK(ImageProgram{.relocations = 99, .wrong = 1}.opened() == unfit);
    CHECK(ImageProgram{.outside = 50}.opened() == loaded_well);  // what the program may change is not asked
    CHECK(ImageProgram{.relocations = 0, .outside = 50}.opened() == unfit);
    const FileOfMemory program(ImageProgram().write_program()), core(ImageProgram{.wrong = 1}.write_core());
    const auto image = Image::open(core.path(), program.path());
    REQUIRE(image);
    REQUIRE((*image)->checks().size() == 2);
    CHECK((*image)->checks()[0].name == "executable");
    CHECK((*image)->checks()[0].detail == program.path() + ", loaded at 0x550000010000: 99 of 100 relocations fit");
    CHECK((*image)->checks()[1].detail == "Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [smp] [jit:ns]");
}

TEST_CASE("where an executable was loaded is told by the notes, or by where its data begins", "[otp][image]") {
    // Each alone, while the data is where no search by pages finds it: that takes the beginning of a segment of the
    // core.
    const auto alone = [](ImageProgram made) {
        made.elsewhere = true;
        return made.opened();
    };
    CHECK(alone({}).find("does not hold the data") != std::string::npos);
    CHECK(alone({.auxiliary = {9, loaded_at + entry_point}}) == loaded_well);
    CHECK(alone({.auxiliary = {3, loaded_at + linked_at + 64}}) == loaded_well);
    CHECK(alone({.auxiliary = {9, loaded_at + entry_point + 8}}) != loaded_well);
    CHECK(alone({.auxiliary = {3, loaded_at + linked_at + 72}}) != loaded_well);
    CHECK(alone({.files = {loaded_at + linked_at, loaded_at + linked_at + 0x2000, 0}, .paths = {"/opt/beam.smp"}}) ==
          loaded_well);
    CHECK(alone({.files = {loaded_at + linked_at, loaded_at + linked_at + 0x2000, 1}, .paths = {"/opt/beam.smp"}}) !=
          loaded_well);
    CHECK(alone({.files = {0x7000000, 0x7001000, 0, loaded_at + linked_at, loaded_at + linked_at + 0x2000, 0},
                 .paths = {"/lib/x.so", "/opt/beam.smp"}}) == loaded_well);
}

TEST_CASE("an executable at a fixed address has most of its data as it was", "[otp][image]") {
    const auto fits = [](std::size_t same, std::size_t changed) {
        Blob constants(0x1000), data(0x1000), memory(0x1000);
        constants.text(0x100, std::string(version_line) + '\0');
        for (std::size_t i = 0; i < same + changed; ++i) {
            data.word(8 * i, 0x9000 + i);
            memory.word(8 * i, i < same ? 0x9000 + i : 1);
        }
        memory.word(0xff8, 77);  // a variable that begins as zero tells nothing
        ElfWriter program(elf::type_executable), core(elf::type_core);
        program.load(0x400000, std::move(constants), elf::flag_read | elf::flag_execute);
        program.load(0x600000, std::move(data));
        core.load(0x600000, std::move(memory));
        const FileOfMemory program_file(program.write()), core_file(core.write());
        return static_cast<bool>(Image::open(core_file.path(), program_file.path()));
    };
    CHECK(fits(10, 0));
    CHECK(fits(7, 3));
    CHECK_FALSE(fits(69, 31));
    CHECK_FALSE(fits(0, 10));
    CHECK_FALSE(fits(0, 0));
}

TEST_CASE("a build id that is another's is told before anything else", "[otp][image]") {
    CHECK(ImageProgram{.build_id = "ab",
                       .id_in_core = "ab",
                       .auxiliary = {3, loaded_at + linked_at + 64},
                       .files = {loaded_at + linked_at, loaded_at + linked_at + 0x2000, 0},
                       .paths = {"/opt/beam.smp"}}
              .opened() == loaded_well);
    CHECK(ImageProgram{.build_id = "ab",
                       .id_in_core = "ac",
                       .auxiliary = {3, loaded_at + linked_at + 64},
                       .files = {loaded_at + linked_at, loaded_at + linked_at + 0x2000, 0},
                       .paths = {"/opt/beam.smp"}}
              .opened() ==
          "CORE: the core image is of another build than PROGRAM (build ids 6163 and 6162) / Give the executable that "
          "made the core image with --exe.");
    CHECK(ImageProgram{.build_id = "ab", .auxiliary = {3, loaded_at + linked_at + 64}}.opened() == loaded_well);
    CHECK(ImageProgram{.id_in_core = "ab",
                       .auxiliary = {3, loaded_at + linked_at + 64},
                       .files = {loaded_at + linked_at, loaded_at + linked_at + 0x2000, 0},
                       .paths = {"/opt/beam.smp"}}
              .opened() == loaded_well);
}

TEST_CASE("an executable that is not given is told by its path, its build id, or that it can't be told",
          "[otp][image]") {
    const std::vector<std::uint64_t> mapped{loaded_at + linked_at, loaded_at + linked_at + 0x2000, 0};
    const std::string copy = " / Copy beam.smp from the machine or container that it ran in and give it with --exe.";
    CHECK(ImageProgram().opened(false) ==
          "CORE: its executable can't be told: the notes that name it are missing / Give the beam.smp that made the "
          "core image with --exe.");
    CHECK(ImageProgram{.files = mapped, .paths = {"/no/such/beam.smp"}}.opened(false) ==
          "CORE: /no/such/beam.smp, which made this core image, was not found" + copy);
    CHECK(ImageProgram{.id_in_core = "ab",
                       .auxiliary = {3, loaded_at + linked_at + 64},
                       .files = mapped,
                       .paths = {"/no/such/beam.smp"}}
              .opened(false) ==
          "CORE: /no/such/beam.smp, which made this core image, was not found (build id 6162)" + copy);
    // The file in which execution began, whatever it is called; else one that is called so.
    const std::vector<std::uint64_t> two{0x7000000, 0x7001000, 0, loaded_at + linked_at, loaded_at + linked_at + 0x2000,
                                         0};
    const std::string other =
        "CORE: a core image of cat, which is not an Erlang VM / If it is one under another name, give its executable "
        "with --exe.";
    CHECK(ImageProgram{.auxiliary = {9, 0x7000010}, .files = two, .paths = {"/bin/cat", "/no/such/beam.smp"}}.opened(
              false) == other);
    CHECK(ImageProgram{.auxiliary = {3, 0x7000010}, .files = two, .paths = {"/bin/cat", "/no/such/beam.smp"}}.opened(
              false) == other);
    CHECK(ImageProgram{.auxiliary = {9, loaded_at + linked_at, 3, 0x7000010},
                       .files = two,
                       .paths = {"/bin/cat", "/no/such/beam"}}
              .opened(false) == "CORE: /no/such/beam, which made this core image, was not found" + copy);
    CHECK(ImageProgram{.files = two, .paths = {"/bin/cat", "/no/such/beam.debug.smp"}}.opened(false) ==
          "CORE: /no/such/beam.debug.smp, which made this core image, was not found" + copy);
    CHECK(ImageProgram{.auxiliary = {9, 0x7000010}, .files = two, .paths = {"/bin/cat", "/x"}}.opened(true) ==
          loaded_well);  // the user knows better
}

TEST_CASE("an executable is taken where it was, and the first place that fits is told", "[otp][image]") {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("made-image-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const auto write = [](const std::filesystem::path& path, const Blob& blob) {
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(blob.bytes().data()), static_cast<std::streamsize>(blob.size()));
    };
    ImageProgram made{.files = {loaded_at + linked_at, loaded_at + linked_at + 0x2000, 0},
                      .paths = {"/no/such/beam.smp"}};
    write(folder / "node.core", made.write_core());
    write(folder / "beam.smp", ImageProgram{.line = "no VM"}.write_program());
    const auto opened = [&] { return Image::open(folder / "node.core", ""); };
    const auto unfit = opened();
    REQUIRE_FALSE(unfit);
    CHECK(unfit.error().message ==
          (folder / "node.core").string() + ": " + (folder / "beam.smp").string() + " is not an Erlang VM");
    write(folder / "node.beam.smp", made.write_program());
    const auto found = opened();
    REQUIRE(found);
    CHECK((*found)->checks()[0].detail.starts_with((folder / "node.beam.smp").string() + ", loaded at"));
    write(folder / "beam.smp", made.write_program());
    const auto first = opened();
    REQUIRE(first);
    CHECK((*first)->checks()[0].detail.starts_with((folder / "beam.smp").string() + ", loaded at"));
    std::filesystem::remove_all(folder);
}

TEST_CASE("what is no core image, or of no VM, is told by what it is", "[otp][image]") {
    const auto refused = [](const Blob& core_blob, const Blob& program_blob) {
        const FileOfMemory core(core_blob), program(program_blob);
        const auto image = Image::open(core.path(), program.path());
        REQUIRE_FALSE(image);
        CHECK(image.error().code == ErrorCode::not_recognised);
        const std::size_t at = image.error().message.find(": ");
        return image.error().message.substr(at + 2);
    };
    const Blob program = ImageProgram().write_program(), core = ImageProgram().write_core();
    CHECK(refused(program, program) == "an ELF program, not a core image");
    CHECK(refused(core, core) == "a core image, where its executable was expected");
    CHECK(refused(ElfWriter(elf::type_core).write(), program) == "a core image without any memory in it");
    Blob of_another = core;
    of_another.put<std::uint16_t>(18, 243);
    CHECK(refused(of_another, program).find("those of x86-64 and arm64 are read") != std::string::npos);
    CHECK(refused(core, ImageProgram{.line = "nothing"}.write_program()).ends_with(" is not an Erlang VM"));
    Blob cut = core;
    cut.resize(cut.size() - 0x1000);
    const FileOfMemory cut_file(cut), program_file(program);
    const auto image = Image::open(cut_file.path(), program_file.path());
    REQUIRE(image);
    CHECK((*image)->truncation() ==
          "the core image ends after " + std::to_string(cut.size()) + " of " + std::to_string(core.size()) + " bytes");
    const FileOfMemory whole(core);
    CHECK((*Image::open(whole.path(), program_file.path()))->truncation().empty());
}

TEST_CASE("the version line is the first that is one, of a release and with an erts", "[otp][image]") {
    const auto build = [](const std::string& text) {
        Blob constants(0x1000);
        constants.text(0x100, text);
        ElfWriter writer(elf::type_executable);
        writer.load(0x400000, std::move(constants), elf::flag_read);
        const Blob file = writer.write();
        const auto program = bytes::ElfImage::parse(file.bytes(), "program");
        REQUIRE(program);
        const auto found = find_build(*program);
        return found ? found->line : std::string("none");
    };
    const std::string zero(1, '\0');
    CHECK(build("Erlang/OTP 24. Erlang/OTP 26%s [erts-14.0]" + zero) == "Erlang/OTP 26 [erts-14.0]");
    CHECK(build("Erlang/OTP " + zero + "Erlang/OTP 27%s [erts-15.0]\nmore" + zero) == "Erlang/OTP 27 [erts-15.0]");
    CHECK(build("Erlang/OTP 0 [erts-1]" + zero) == "none");
    const std::string spaces(20, ' ');
    CHECK(build("Erlang/OTP 26" + spaces.substr(0, 16) + " [erts-1]" + zero) != "none");
    CHECK(build("Erlang/OTP 26" + spaces.substr(0, 17) + " [erts-1]" + zero) == "none");
    CHECK(build("Erlang/OTP 26 [erts-" + std::string(57, '1') + "]" + zero) != "none");
    CHECK(build("Erlang/OTP 26 [erts-" + std::string(58, '1') + "]" + zero) == "none");
    // Constants first: code holds texts, too.
    Blob first(0x1000), second(0x1000);
    first.text(0, "Erlang/OTP 23%s [erts-11.0]" + zero);
    second.text(0, "Erlang/OTP 24%s [erts-12.0]" + zero);
    ElfWriter writer(elf::type_executable);
    writer.load(0x400000, std::move(first), elf::flag_read | elf::flag_execute);
    writer.load(0x500000, std::move(second), elf::flag_read);
    const Blob file = writer.write();
    CHECK(find_build(*bytes::ElfImage::parse(file.bytes(), "program"))->release == 24);
    for (const char* option : {"debug-compiled", "lock-counting", "lock-checking", "valgrind-compiled", "dtrace",
                               "systemtap", "sharing-preserving", "type-assertions"})
        CHECK(parse_build("Erlang/OTP 26 [erts-14.0] [" + std::string(option) + "]")->foreign == option);
    const auto hipe = parse_build("Erlang/OTP 23 [erts-11.0] [hipe]");
    CHECK((hipe->hipe && !hipe->jit && hipe->foreign.empty()));
    CHECK(parse_build("Erlang/OTP 26 [erts-14.0] [x:%d:%s] %abc!")->line == "Erlang/OTP 26 [erts-14.0] [x] !");
}

TEST_CASE("an image's symbols, constants and static data are where they were loaded", "[otp][image]") {
    test::MadeImage made;
    made.memory.resize(0x1000);
    for (const char* name : {"erts_one", "etp_two", "the_three", "other_four", "ert_five"})
        made.symbols.emplace_back(name, 0x600000 + 8 * made.symbols.size());
    made.statics_size = 0x1804;
    made.start();
    const Image& image = *made.vm.image;
    CHECK(image.symbol_count() == 3);
    CHECK(image.symbol("erts_one") == 0x600000u);
    CHECK(image.symbol("etp_two") == 0x600008u);
    CHECK(image.symbol("the_three") == 0x600010u);
    CHECK_FALSE(image.symbol("other_four"));
    CHECK(image.in_constants(0x400000));
    CHECK(image.in_constants(0x400fff));
    CHECK_FALSE(image.in_constants(0x401000));
    CHECK_FALSE(image.in_constants(0x3fffff));
    CHECK_FALSE(image.in_constants(0x600000));
    REQUIRE(image.statics().size() == 1);
    CHECK(image.statics()[0].start == 0x600000);
    CHECK(image.statics()[0].end == 0x601804);
    const auto parts = image.static_words();
    REQUIRE(parts.size() == 1);  // what the core has of it
    CHECK(parts[0].words() == 0x200);
    CHECK(parts[0].address(2) == 0x600010);
    CHECK(parts[0].word(0xE00 / 8 + 5) == 0x5EED0005);
    CHECK_FALSE(image.musl());
    for (const auto& [interpreter, musl] :
         {std::pair("/lib/ld-musl-x86_64.so.1", true), std::pair("/lib64/ld-linux-x86-64.so.2", false)}) {
        ImageProgram of{.interpreter = interpreter};
        const FileOfMemory program(of.write_program()), core(of.write_core());
        const auto opened = Image::open(core.path(), program.path());
        REQUIRE(opened);
        CHECK((*opened)->musl() == musl);
    }
}
