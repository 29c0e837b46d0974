// SPDX-License-Identifier: Apache-2.0
// What an input is told to be: by its contents, whatever its name; and what is said of files that people hand in by
// mistake.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "formats/format.hpp"
#include "formats/otp/processes/term_format.hpp"
#include "support/dump_text.hpp"
#include "support/made_image.hpp"

using namespace beamheap;

namespace {

Error refused(const std::string& contents) {
    const auto opened = open_artifact_bytes(contents, {});
    REQUIRE_FALSE(opened);
    return opened.error();
}
bool says(const Error& error, std::string_view words) {
    INFO(error.message << " / " << error.advice);
    return error.message.find(words) != std::string::npos || error.advice.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a file that holds a dump, but is none, is told where the dump begins", "[formats]") {
    const std::string dump = test::header() + "=end\n";
    CHECK(open_artifact_bytes(dump, {}));
    const Error behind = refused("log\nlog\n" + dump);
    CHECK(behind.code == ErrorCode::not_recognised);
    CHECK(says(behind, "begins at byte 8"));
    CHECK(says(behind, "tail -c +9"));
    CHECK(says(refused("node  | " + dump), "have something in front of them"));
    // what only names the tag is no dump, and one that follows is found all the same
    CHECK(says(refused("grep =erl_crash_dump: file\n"), "neither a crash dump nor a core image"));
    CHECK(says(refused("x =erl_crash_dump:? =erl_crash_dump: \n" + dump), "begins at byte 38"));
}

TEST_CASE("files of other kinds are called by their name", "[formats]") {
    CHECK(says(refused(""), "is empty"));
    CHECK(says(refused("{\"a\": 1}"), "is JSON"));
    CHECK(says(refused("<html><body>"), "is an HTML page"));
    CHECK(says(refused("BZh91AY&SY"), "bzip2"));
    CHECK(says(refused("version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"));
    CHECK(says(refused("\xef\xbb\xbf" + test::header()), "byte order mark"));
    CHECK(says(refused("just a text\n"), "A crash dump begins with '=erl_crash_dump:'"));
}

TEST_CASE("digits name a process, unless a file is called so", "[formats]") {
    CHECK(process_named("1234") == 1234u);
    CHECK(process_named("pid:1234") == 1234u);
    CHECK(process_named("999999999") == 999'999'999u);
    for (const char* none : {"", "pid:", "1234567890", "12a", "-1", "pid:x", "erl_crash.dump", "pid:1234567890"}) {
        INFO(none);
        CHECK_FALSE(process_named(none));
    }
    namespace fs = std::filesystem;
    const fs::path before = fs::current_path(),
                   folder = fs::temp_directory_path() / ("beamheap-open-" + std::to_string(::getpid()));
    fs::create_directory(folder);
    fs::create_directory(folder / "4711");
    fs::current_path(folder);
    CHECK_FALSE(process_named("4711"));
    CHECK(process_named("pid:4711") == 4711u);
    CHECK(process_named("4712") == 4712u);
    fs::current_path(before);
    fs::remove_all(folder);
}

TEST_CASE("terms of tables are printed from memory, no further than the limit", "[otp][format]") {
    constexpr std::uint64_t M = test::MadeImage::memory_at;
    test::MadeImage made;
    made.memory.resize(0x2000);
    const auto small = [](std::uint64_t value) { return value << 4 | 0xf; };
    const std::uint64_t nil = made.vm.layout.nil;
    // {1, [2, 3 | 4], "ab", 2.5, [1, 2]}
    made.memory.word(0, 5 << 6);
    made.memory.word(8, small(1));
    made.memory.word(16, (M + 0x100) | 1);
    made.memory.word(24, (M + 0x200) | 1);
    made.memory.word(32, (M + 0x300) | 2);
    made.memory.word(40, (M + 0x400) | 1);
    const auto cell = [&](std::uint64_t at, std::uint64_t head, std::uint64_t tail) {
        made.memory.word(at, head);
        made.memory.word(at + 8, tail);
    };
    cell(0x100, small(2), (M + 0x110) | 1);
    cell(0x110, small(3), small(4));
    cell(0x200, small('a'), (M + 0x210) | 1);
    cell(0x210, small('b'), nil);
    made.memory.word(0x300, 1 << 6 | 6 << 2);
    made.memory.put<double>(0x308, 2.5);
    cell(0x400, small(1), (M + 0x410) | 1);
    cell(0x410, small(2), nil);
    otp::Reader& reader = made.start();
    CHECK(otp::term_text(reader, M | 2, 1000) == "{1,[2,3|4],\"ab\",2.5,[1,2]}");
    CHECK(otp::term_text(reader, nil, 1000) == "[]");
    CHECK(otp::term_text(reader, small(7), 1000) == "7");
    CHECK(otp::term_text(reader, (M + 0x100) | 1, 1000) == "[2,3|4]");
    CHECK(otp::term_text(reader, (M + 0x7f0000) | 2, 1000) == "?");
    // cut where so much is printed, with a sign that it is
    CHECK(otp::term_text(reader, (M + 0x400) | 1, 5) == "[1,2]");
    CHECK(otp::term_text(reader, (M + 0x400) | 1, 4) == "[1,2...");
    CHECK(otp::term_text(reader, (M + 0x400) | 1, 1) == "[...");
}

TEST_CASE("whoever waits for a core image may take that back while it is opened, too", "[otp][format]") {
    struct TakenBack {};
    unsigned looks = 0;
    OpenOptions options;
    options.progress = [&](std::uint64_t, std::uint64_t) { ++looks; };
    CHECK_FALSE(open_artifact("/proc/self/exe", options));  // an executable is no core: no step but the first
    CHECK(looks == 1);
    options.progress = [](std::uint64_t, std::uint64_t) { throw TakenBack{}; };
    CHECK_THROWS_AS(open_artifact("/proc/self/exe", options), TakenBack);
}
