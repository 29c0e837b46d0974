// SPDX-License-Identifier: Apache-2.0
#include "formats/external_redaction.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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
std::string binary_of(std::initializer_list<int> values) {
    std::string text;
    for (const int value : values) text += static_cast<char>(value);
    return text;
}
const std::string node = binary_of({100, 0, 2}) + "n@";  // ATOM_EXT
const std::string no = binary_of({100, 0, 2}) + "aa";

}  // namespace

TEST_CASE("values in the external format are overwritten in place", "[redact]") {
    const auto same_but = [](const std::string& before, const std::string& after) {
        const Left left = left_of(before);
        CHECK(left.whole);
        CHECK(left.bytes == after);
    };
    const std::string version = binary_of({131});
    same_but(version + binary_of({109, 0, 0, 0, 3}) + "abc", version + binary_of({109, 0, 0, 0, 3}) + "vvv");
    same_but(version + binary_of({107, 0, 2, 104, 105}), version + binary_of({107, 0, 2}) + "vv");
    same_but(version + binary_of({77, 0, 0, 0, 2, 3, 7, 7}), version + binary_of({77, 0, 0, 0, 2, 3}) + "vv");
    same_but(version + binary_of({110, 3, 0, 1, 2, 3}), version + binary_of({110, 3, 0}) + "vv" + binary_of({3}));
    same_but(version + binary_of({104, 2, 97, 65}) + node, version + binary_of({104, 2, 97, 65}) + no);
    // characters are those of lists; the tail is none
    same_but(version + binary_of({108, 0, 0, 0, 2, 97, 65, 98, 0, 0, 4, 0, 97, 66}),
             version + binary_of({108, 0, 0, 0, 2, 97, 'x', 98, 0, 0, 0, 'x', 97, 66}));
    // references, pids and ports of every form keep their numbers
    same_but(version + binary_of({90, 0, 1}) + node + std::string(8, 5),
             version + binary_of({90, 0, 1}) + no + std::string(8, 5));
    same_but(version + binary_of({114, 0, 2}) + node + std::string(9, 5),
             version + binary_of({114, 0, 2}) + no + std::string(9, 5));
    same_but(version + binary_of({88}) + node + std::string(12, 5),
             version + binary_of({88}) + no + std::string(12, 5));
    same_but(version + binary_of({103}) + node + std::string(9, 5),
             version + binary_of({103}) + no + std::string(9, 5));
    same_but(version + binary_of({120}) + node + std::string(12, 5),
             version + binary_of({120}) + no + std::string(12, 5));
    // a fun: what it closes over goes, what it is stays
    const std::string fun_head = binary_of({112, 0, 0, 0, 60, 1}) + std::string(20, 7) + binary_of({0, 0, 0, 1});
    const std::string fun = node + binary_of({97, 1, 97, 2, 103}) + node + std::string(9, 5);
    const std::string fun_left = no + binary_of({97, 1, 97, 2, 103}) + no + std::string(9, 5);
    same_but(version + fun_head + fun + binary_of({109, 0, 0, 0, 1, 65}),
             version + fun_head + fun_left + binary_of({109, 0, 0, 0, 1}) + "v");
    same_but(version + binary_of({116, 0, 0, 0, 1, 97, 1, 109, 0, 0, 0, 1, 65}),
             version + binary_of({116, 0, 0, 0, 1, 97, 1, 109, 0, 0, 0, 1}) + "v");
    // two terms of one message, with and without the version in front, and what a match context is written as
    same_but(version + binary_of({97, 1}) + binary_of({109, 0, 0, 0, 1, 65}),
             version + binary_of({97, 1}) + binary_of({109, 0, 0, 0, 1}) + "v");
    same_but(version, version);
}

TEST_CASE("behind each form of a term the next one is found", "[redact]") {
    const std::string atom = binary_of({119, 1}) + "n", atom_left = binary_of({119, 1}) + "a";
    const auto filled = [](std::size_t n) { return std::string(n, 7); };
    struct Form {
        std::string bytes, left;
    };
    std::vector<Form> forms{
        {binary_of({97}) + filled(1), ""},
        {binary_of({98}) + filled(4), ""},
        {binary_of({99}) + filled(31), ""},
        {binary_of({70}) + filled(8), ""},
        {binary_of({82}) + filled(1), ""},
        {binary_of({104, 0}), ""},
        {binary_of({105, 0, 0, 0, 0}), ""},
        {binary_of({106}), ""},
        {binary_of({116, 0, 0, 0, 0}), ""},
        {binary_of({100, 0, 1}) + "n", binary_of({100, 0, 1}) + "a"},
        {binary_of({118, 0, 1}) + "n", binary_of({118, 0, 1}) + "a"},
        {binary_of({115, 1}) + "n", binary_of({115, 1}) + "a"},
        {atom, atom_left},
        {binary_of({110, 1, 0, 9}), ""},
        {binary_of({111, 0, 0, 0, 2, 0, 9, 9}), binary_of({111, 0, 0, 0, 2, 0}) + "v" + binary_of({9})},
        {binary_of({113}) + atom + atom + binary_of({97, 3}),
         binary_of({113}) + atom_left + atom_left + binary_of({97, 3})},
        {binary_of({117, 0, 0, 0, 1, 103}) + atom + filled(9) + atom + binary_of({97, 1, 97, 2, 97, 3}),
         binary_of({117, 0, 0, 0, 1, 103}) + atom_left + filled(9) + atom_left + binary_of({97, 1, 97, 2, 97, 3})},
        {binary_of({108, 0, 0, 0, 1, 97, 7, 106}), ""},
    };
    // what is of a node: its tag, what is between it and the name, and what follows
    for (const auto& [tag, between, behind] :
         std::vector<std::tuple<int, std::string, std::size_t>>{{101, "", 5},
                                                                {102, "", 5},
                                                                {89, "", 8},
                                                                {120, "", 12},
                                                                {103, "", 9},
                                                                {88, "", 12},
                                                                {114, binary_of({0, 3}), 13},
                                                                {90, binary_of({0, 3}), 16}})
        for (const auto& [name, name_left] :
             {std::pair(atom, atom_left), std::pair(binary_of({115, 1}) + "n", binary_of({115, 1}) + "a"),
              std::pair(binary_of({118, 0, 1}) + "n", binary_of({118, 0, 1}) + "a"),
              std::pair(binary_of({82, 4}), binary_of({82, 4}))})
            forms.push_back({binary_of({tag}) + between + name + filled(behind),
                             binary_of({tag}) + between + name_left + filled(behind)});
    for (const Form& form : forms) {
        INFO("tag " << static_cast<int>(static_cast<unsigned char>(form.bytes[0])));
        const std::string head = binary_of({131, 104, 2}), value = binary_of({109, 0, 0, 0, 1});
        const Left left = left_of(head + form.bytes + value + "s");
        CHECK(left.whole);
        CHECK(left.bytes == head + (form.left.empty() ? form.bytes : form.left) + value + "v");
    }
    // which numbers of a list may be characters
    const auto in_list = [](int code) {
        return left_of(binary_of({131, 108, 0, 0, 0, 1, 97, code, 106})).bytes[7] == 'x';
    };
    for (const int code : {9, 13, 32, 126, 160, 255}) CHECK(in_list(code));
    for (const int code : {8, 14, 31, 127, 159}) CHECK_FALSE(in_list(code));
}

TEST_CASE("bytes that are no terms are told", "[redact]") {
    for (const std::string& text :
         {binary_of({131, 80, 0, 0, 0, 9, 1, 2}), binary_of({131, 109, 0, 0, 0, 9, 1}),
          binary_of({131, 105, 255, 255, 255, 255}), binary_of({131, 116, 255, 255, 255, 255}),
          binary_of({131, 112, 0}), binary_of({131, 90, 255, 255, 97, 1}), binary_of({131, 104, 3, 97, 1})})
        CHECK_FALSE(left_of(text).whole);
    // nothing recurses: a million lists in each other
    std::string deep = binary_of({131});
    for (int i = 0; i < 100000; ++i) deep += binary_of({108, 0, 0, 0, 1});
    CHECK_FALSE(left_of(deep).whole);
}
