#include <catch2/catch.hpp>
#include <string>

#include "formats/external_redaction.hpp"

using namespace beamheap;

namespace {

// What is left of the bytes, and whether they could be taken apart: values become "v", atoms "a".
struct Left {
    bool whole = false;
    std::string bytes;
};
Left left_of(std::string bytes) {
    Left left;
    left.whole = redact_external(
        {bytes.data(), bytes.size()}, [](std::span<char> value) { std::fill(value.begin(), value.end(), 'v'); },
        [](std::span<char> atom) {
            std::fill(atom.begin(), atom.end(), 'a');
            return true;
        });
    left.bytes = std::move(bytes);
    return left;
}
std::string bytes(std::initializer_list<int> values) {
    std::string text;
    for (const int value : values) text += static_cast<char>(value);
    return text;
}
const std::string node = bytes({100, 0, 2}) + "n@";  // ATOM_EXT
const std::string no = bytes({100, 0, 2}) + "aa";

}  // namespace

TEST_CASE("values in the external format are overwritten in place", "[redact]") {
    const auto same_but = [](const std::string& before, const std::string& after) {
        const Left left = left_of(before);
        CHECK(left.whole);
        CHECK(left.bytes == after);
    };
    const std::string version = bytes({131});
    same_but(version + bytes({109, 0, 0, 0, 3}) + "abc", version + bytes({109, 0, 0, 0, 3}) + "vvv");
    same_but(version + bytes({107, 0, 2, 104, 105}), version + bytes({107, 0, 2}) + "vv");
    same_but(version + bytes({77, 0, 0, 0, 2, 3, 7, 7}), version + bytes({77, 0, 0, 0, 2, 3}) + "vv");
    same_but(version + bytes({110, 3, 0, 1, 2, 3}), version + bytes({110, 3, 0}) + "vv" + bytes({3}));
    same_but(version + bytes({104, 2, 97, 65}) + node, version + bytes({104, 2, 97, 65}) + no);
    // characters are those of lists; the tail is none
    same_but(version + bytes({108, 0, 0, 0, 2, 97, 65, 98, 0, 0, 4, 0, 97, 66}), version + bytes({108, 0, 0, 0, 2, 97, 'x', 98, 0, 0, 0, 'x', 97, 66}));
    // references, pids and ports of every form keep their numbers
    same_but(version + bytes({90, 0, 1}) + node + std::string(8, 5), version + bytes({90, 0, 1}) + no + std::string(8, 5));
    same_but(version + bytes({114, 0, 2}) + node + std::string(9, 5), version + bytes({114, 0, 2}) + no + std::string(9, 5));
    same_but(version + bytes({88}) + node + std::string(12, 5), version + bytes({88}) + no + std::string(12, 5));
    same_but(version + bytes({103}) + node + std::string(9, 5), version + bytes({103}) + no + std::string(9, 5));
    same_but(version + bytes({120}) + node + std::string(12, 5), version + bytes({120}) + no + std::string(12, 5));
    // a fun: what it closes over goes, what it is stays
    const std::string fun_head = bytes({112, 0, 0, 0, 60, 1}) + std::string(20, 7) + bytes({0, 0, 0, 1});
    const std::string fun = node + bytes({97, 1, 97, 2, 103}) + node + std::string(9, 5);
    const std::string fun_left = no + bytes({97, 1, 97, 2, 103}) + no + std::string(9, 5);
    same_but(version + fun_head + fun + bytes({109, 0, 0, 0, 1, 65}), version + fun_head + fun_left + bytes({109, 0, 0, 0, 1}) + "v");
    same_but(version + bytes({116, 0, 0, 0, 1, 97, 1, 109, 0, 0, 0, 1, 65}), version + bytes({116, 0, 0, 0, 1, 97, 1, 109, 0, 0, 0, 1}) + "v");
    // two terms of one message, with and without the version in front, and what a match context is written as
    same_but(version + bytes({97, 1}) + bytes({109, 0, 0, 0, 1, 65}), version + bytes({97, 1}) + bytes({109, 0, 0, 0, 1}) + "v");
    same_but(version, version);
}

TEST_CASE("bytes that are no terms are told", "[redact]") {
    for (const std::string& text : {bytes({131, 80, 0, 0, 0, 9, 1, 2}), bytes({131, 109, 0, 0, 0, 9, 1}), bytes({131, 105, 255, 255, 255, 255}),
                                    bytes({131, 116, 255, 255, 255, 255}), bytes({131, 112, 0}), bytes({131, 90, 255, 255, 97, 1}), bytes({131, 104, 3, 97, 1})})
        CHECK_FALSE(left_of(text).whole);
    // nothing recurses: a million lists in each other
    std::string deep = bytes({131});
    for (int i = 0; i < 100000; ++i) deep += bytes({108, 0, 0, 0, 1});
    CHECK_FALSE(left_of(deep).whole);
}
