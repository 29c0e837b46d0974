// SPDX-License-Identifier: Apache-2.0
// Files that are written: whole or not at all, never over one that is read; those with a name until then as those
// without.
#include "cli/console/output_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "bytes/read_files.hpp"

using namespace beamheap;
using namespace beamheap::cli;

namespace {

struct Folder {
    Folder() {
        std::array<char, 32> made{"/tmp/beamheap-files.XXXXXX"};
        REQUIRE(::mkdtemp(made.data()) != nullptr);
        path = made.data();
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string file(const std::string& name) const { return path + '/' + name; }
    std::size_t count() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
    }
    std::string path;
};

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

using Create = Result<OutputFile> (*)(const std::string& path, bool overwrite);

}  // namespace

TEST_CASE("a file is there when it is whole, and not before") {
    for (const Create create : {Create(&OutputFile::create), Create(&OutputFile::create_named)}) {
        const Folder folder;
        const std::string path = folder.file("answer");
        {
            auto file = create(path, false);
            REQUIRE(file);
            REQUIRE(file->write("half"));
            CHECK_FALSE(std::filesystem::exists(path));
        }
        CHECK(folder.count() == 0);
        for (const bool overwrite : {false, true}) {
            auto file = create(path, overwrite);
            REQUIRE(file);
            REQUIRE(file->write(overwrite ? "second" : "first"));
            REQUIRE(file->finish());
            CHECK(content(path) == (overwrite ? "second" : "first"));
            CHECK(folder.count() == 1);
        }
        struct stat status {};
        REQUIRE(::stat(path.c_str(), &status) == 0);
        CHECK((status.st_mode & 07777) == 0600);
        const auto refused = create(path, false);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::usage);
    }
}

TEST_CASE("a file that came in between is not written over unasked") {
    for (const Create create : {Create(&OutputFile::create), Create(&OutputFile::create_named)}) {
        const Folder folder;
        const std::string path = folder.file("answer");
        auto file = create(path, false);
        REQUIRE(file);
        REQUIRE(file->write("mine"));
        std::ofstream(path) << "somebody's";
        const Status finished = file->finish();
        REQUIRE_FALSE(finished);
        CHECK(finished.error().code == ErrorCode::usage);
        CHECK(content(path) == "somebody's");
    }
}

TEST_CASE("a file that is read is not written over, by whatever name, though it is read only meanwhile") {
    for (const Create create : {Create(&OutputFile::create), Create(&OutputFile::create_named)}) {
        const Folder folder;
        const std::string path = folder.file("dump"), other = folder.file("other");
        std::ofstream(path) << "precious";
        REQUIRE(::link(path.c_str(), other.c_str()) == 0);
        auto early = create(other, true);
        REQUIRE(early);
        REQUIRE(early->write("lost"));
        bytes::note_read(path, "the input");
        CHECK(bytes::read_as(other) == "the input");
        CHECK_FALSE(early->finish());
        const auto late = create(other, true);
        REQUIRE_FALSE(late);
        CHECK(late.error().message == other + ": is the input, which would be lost");
        CHECK(content(other) == "precious");
    }
}

TEST_CASE("folders, and files that are not there, are none that is read") {
    const Folder folder;
    bytes::note_read(folder.path, "a folder");
    bytes::note_read(folder.file("none"), "nothing");
    CHECK(bytes::read_as(folder.path).empty());
    CHECK(bytes::read_as(folder.file("none")).empty());
}
