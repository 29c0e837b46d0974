// SPDX-License-Identifier: Apache-2.0
// A core image of a VM made up in memory: an executable with constants and data, and a core with the same data and one
// stretch of memory more, which a test fills as the VM would.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "beamheap/snapshot.hpp"
#include "formats/otp/vm/vm.hpp"
#include "support/elf_writer.hpp"

namespace beamheap::test {

/// A file that has a path as long as it lives.
class FileOfMemory {
public:
    explicit FileOfMemory(const Blob& contents) : descriptor_(memfd_create("made", 0)) {
        REQUIRE(::write(descriptor_, contents.bytes().data(), contents.size()) ==
                static_cast<ssize_t>(contents.size()));
    }
    ~FileOfMemory() { ::close(descriptor_); }
    FileOfMemory(const FileOfMemory&) = delete;
    FileOfMemory& operator=(const FileOfMemory&) = delete;
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

/// Fill `constants`, `statics` and `memory`, whose addresses are `constants_at`, ...; then start().
class MadeImage {
public:
    static constexpr std::uint64_t constants_at = 0x400000, statics_at = 0x600000, memory_at = 0x10000000;

    explicit MadeImage(std::uint32_t release = 25) : constants(0x1000), statics(0x1000) {
        vm.layout = *otp::find_layout(release, release < 24 ? otp::Flavour::interpreter : otp::Flavour::jit);
        constants.text(0x100, "Erlang/OTP " + std::to_string(release) + "%s [erts-13.1] [source] [64-bit]" +
                                  (release < 24 ? "" : " [jit%s]"));
        for (std::size_t i = 0; i < 64; ++i)
            statics.word(0xE00 + 8 * i, 0x5EED0000 + i);  // what tells that the data is there
    }

    const otp::Offsets& at() const { return vm.layout.at; }
    /// A text among the executable's constants; its address.
    std::uint64_t constant(std::string_view text) {
        const std::size_t place = 0x200 + texts_;
        constants.text(place, text);
        texts_ += text.size() + 1;
        return constants_at + place;
    }
    /// Opens the image. What the test writes later is not in it.
    otp::Reader& start() {
        namespace elf = bytes::elf;
        ElfWriter program(elf::type_executable), image(elf::type_core);
        program.load(constants_at, constants, elf::flag_read | elf::flag_execute);
        program.segment(elf::segment_load, elf::flag_read | elf::flag_write, statics_at, statics, statics_size);
        if (!symbols.empty()) program.symbols(symbols);
        image.load(statics_at, statics);
        for (auto& [address, contents] : more) image.load(address, contents);
        image.load(memory_at, memory);
        for (auto& [owner, type, note] : notes) image.note(owner, type, note);
        executable_ = std::make_unique<FileOfMemory>(program.write());
        core_ = std::make_unique<FileOfMemory>(image.write());
        auto opened = otp::Image::open(core_->path(), executable_->path());
        REQUIRE(opened);
        image_ = std::move(*opened);
        vm.image = image_.get();
        reader_ = std::make_unique<otp::Reader>(vm, snapshot);
        return *reader_;
    }

    Blob constants, statics, memory;
    std::uint64_t statics_size = 0;  ///< bytes in memory that the executable claims; 0: as many as it has
    std::vector<std::pair<std::string, std::uint64_t>> symbols;  ///< that the executable exports, and their addresses
    std::vector<std::pair<std::uint64_t, Blob>> more;            ///< further stretches of memory, below `memory_at`
    struct Note {
        std::string owner;
        std::uint32_t type;
        Blob contents;
    };
    std::vector<Note> notes;
    otp::Vm vm;
    Snapshot snapshot;

private:
    std::size_t texts_ = 0;
    std::unique_ptr<FileOfMemory> executable_, core_;
    std::unique_ptr<otp::Image> image_;
    std::unique_ptr<otp::Reader> reader_;
};

}  // namespace beamheap::test
