// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <random>

#include "formats/beam/chunks.hpp"
#include "formats/beam/module.hpp"
#include "support/made_module.hpp"

using namespace beamheap;
using namespace beamheap::testing;

namespace {

std::string problem_of(const std::string& bytes) {
    const auto module = beam::read_module(bytes);
    return module ? "none" : module.error().message;
}

// A zlib stream (RFC 1950) of one block that is stored as it is.
std::string zlib_stream(const std::string& plain) {
    std::uint32_t a = 1, b = 0;
    for (const char c : plain) {
        a = (a + static_cast<unsigned char>(c)) % 65521;
        b = (b + a) % 65521;
    }
    const auto size = static_cast<char>(plain.size());
    return std::string("\x78\x01\x01", 3) + size + '\0' + static_cast<char>(~size) + '\xff' + plain + four(b << 16 | a);
}

}  // namespace

TEST_CASE("of a module the places are read where a process may be, with their frames and lines", "[beam]") {
    const auto read = beam::read_module(shop().bytes());
    REQUIRE(read);
    const CodeModule& module = *read;
    CHECK(module.name == "shop");
    CHECK(module.files == std::vector<std::string>{"shop.erl"});
    CHECK(module.has_lines);
    const CodeFunction* total = module.find("total", 1);
    REQUIRE(total != nullptr);
    CHECK(module.find("total", 2) == nullptr);
    CHECK(total->head.line == 10);
    REQUIRE(total->sites == 3);
    const CodeSite* sites = &module.sites[total->first_site];
    CHECK(sites[0].kind == CodeSite::Kind::call);
    CHECK(sites[0].place.line == 20);
    CHECK(sites[0].registers == 2);
    CHECK(sites[0].catches == 0);
    CHECK(module.atoms[module.callees[sites[0].callee].name] == "price");
    CHECK(sites[1].place.line == 30);
    CHECK(sites[1].catches == 2);
    CHECK(sites[2].kind == CodeSite::Kind::wait);
    CHECK(sites[2].place.line == 40);
    CHECK(sites[2].registers == 2);
    CHECK(sites[0].instruction < sites[1].instruction);
    CHECK(sites[1].instruction < sites[2].instruction);
    REQUIRE(total->tails == 1);
    CHECK(module.atoms[module.callees[module.tails[total->first_tail]].name] == "last");
}

TEST_CASE("a fun that is called last leaves no frame, and the loader's dropped line is none", "[beam]") {
    // On line 30 `move` to x0, then a tail call of another module: what waits behind has line 20.
    MadeModule module;
    module.atoms({"shop", "total", "other"});
    module.imports({{3, 2, 1}});
    module.code(op(1, {u(1)}) + op(153, {u(1)}) + op(2, {atom(1), atom(2), u(1)}) + op(1, {u(2)}) +
                    op(12, {u(0), u(1)}) + op(153, {u(2)}) + op(75, {u(1)}) + op(18, {u(0)}) + op(19) + op(1, {u(3)}) +
                    op(64, {x(1), x(0)}) + op(153, {u(3)}) + op(78, {u(1), u(0)}) + op(1, {u(4)}) +
                    op(23, {f(5), x(0)}) + op(21) + op(19) + op(1, {u(5)}) + op(25, {f(4)}),
                6);
    module.lines({10, 20, 30});
    const auto read = beam::read_module(module.bytes());
    REQUIRE(read);
    const CodeFunction* total = read->find("total", 1);
    REQUIRE(total != nullptr);
    REQUIRE(total->sites == 1);
    const CodeSite& wait = read->sites[total->first_site];
    CHECK(wait.kind == CodeSite::Kind::wait);
    CHECK(wait.place.line == 20);
    CHECK(wait.other.line == 30);  // nothing tells that its compiler is OTP 23's or later
    CHECK(total->tails == 2);
}

TEST_CASE("atoms are read in all three forms", "[beam]") {
    const auto names = [](const MadeModule& module) {
        const std::string bytes = module.bytes();
        const auto chunks = beam::Chunks::read(bytes);
        REQUIRE(chunks);
        const auto atoms = beam::read_atoms(*chunks);
        return atoms ? *atoms : std::vector<std::string>{atoms.error().message};
    };
    using List = std::vector<std::string>;
    CHECK(names(MadeModule().atoms({"a", "bc"})) == List{"", "a", "bc"});
    CHECK(names(MadeModule().chunk("Atom", four(1) + "\x01\xe9")) == List{"", "\xc3\xa9"});
    const std::string longest(300, 'x');
    CHECK(names(MadeModule().chunk("AtU8", four(static_cast<std::uint32_t>(-1)) + u(300) + longest)) ==
          List{"", longest});
    CHECK(names(MadeModule().chunk("AtU8", four(2) + "\x01"
                                                     "a\x05"
                                                     "b")) == List{"its atoms end early"});
    CHECK(names(MadeModule().chunk("AtU8", four(0x7fffffff))) == List{"its atoms end early"});
}

TEST_CASE("literals are read packed and plain", "[beam]") {
    const std::string table = four(2) + four(3) +
                              "\x83"
                              "a\x01" +
                              four(2) +
                              "\x83"
                              "j";
    const auto terms = [](const std::string& data) {
        std::string storage;
        const std::string bytes = MadeModule().chunk("LitT", data).bytes();
        const auto chunks = beam::Chunks::read(bytes);
        REQUIRE(chunks);
        const auto found = beam::read_literals(*chunks, storage);
        if (!found) return found.error().message;
        std::string sizes;
        for (const std::string_view term : *found) sizes += std::to_string(term.size()) + ' ';
        return sizes;
    };
    CHECK(terms(four(0) + table) == "3 2 ");
    CHECK(terms(four(static_cast<std::uint32_t>(table.size())) + zlib_stream(table)) == "3 2 ");
    CHECK(terms(four(0) + four(9)) == "its literals end early");
    CHECK(terms(four(100) + "no zlib") == "its literals do not unpack");
    CHECK(terms(four(0xffffffff) + "x") == "its literals are 4294967295 bytes");
}

TEST_CASE("what is no module, or a damaged one, is told in a clause", "[beam]") {
    const std::string whole = shop().bytes();
    CHECK(problem_of(whole) == "none");
    CHECK(problem_of("") == "is no compiled module");
    CHECK(problem_of("#!/usr/bin/env escript") == "is no compiled module");
    CHECK(problem_of(whole.substr(0, whole.size() - 8)) == "ends early");
    CHECK(problem_of(MadeModule().bytes()) == "has no atoms");
    CHECK(problem_of(MadeModule().atoms({"a"}).bytes()) == "has no code");
    CHECK(problem_of(MadeModule().atoms({"a"}).code(op(250), 1).bytes()) ==
          "has an instruction (250) that OTP 29 does not know");
    CHECK(problem_of(MadeModule().atoms({"a"}).code(op(1, {u(9)}), 2).bytes()) ==
          "a label of its code is out of bounds");
    CHECK(problem_of(MadeModule().atoms({"a"}).code(op(7, {u(1), u(3)}), 2).bytes()) ==
          "an import of its code is out of bounds");
    CHECK(problem_of(MadeModule().atoms({"a"}).code("", 0xffffffff).bytes()) == "it has more labels than code");
    CHECK(problem_of(shop().chunk("Line", "").bytes()) == "none");  // the first one counts
    CHECK(problem_of(MadeModule().atoms({"a"}).chunk("Line", four(0)).code("", 1).bytes()) ==
          "its table of lines is damaged");
    // A list within a list, which would nest.
    const std::string list = operand(7, 1);
    CHECK(problem_of(MadeModule().atoms({"a"}).code(op(59, {x(0), f(0), list + u(1) + list}), 2).bytes()) ==
          "a list in its code holds a list");
}

TEST_CASE("no damage of a module does more than a sentence", "[beam]") {
    const std::string whole = shop().bytes();
    std::size_t refused = 0;
    for (std::size_t cut = 0; cut < whole.size(); ++cut) refused += problem_of(whole.substr(0, cut)) != "none";
    CHECK(refused == whole.size());
    std::mt19937 random(7);
    for (int i = 0; i < 20'000; ++i) {
        std::string damaged = whole;
        for (int n = 0; n < 1 + i % 3; ++n) damaged[random() % damaged.size()] = static_cast<char>(random());
        const auto module = beam::read_module(damaged);
        if (!module) continue;
        for (const CodeFunction& function : module->functions) {
            REQUIRE(function.first_site + function.sites <= module->sites.size());
            REQUIRE(function.first_tail + function.tails <= module->tails.size());
            REQUIRE(function.name < module->atoms.size());
        }
        for (const CodeSite& site : module->sites) REQUIRE(site.callee < module->callees.size());
        for (const std::uint32_t tail : module->tails) REQUIRE(tail < module->callees.size());
    }
}
