// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <chrono>
#include <sstream>
#include <string>

#include "analyses/memory/atom_families.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using test::MadeSnapshot;

namespace {

// A fixed sequence of numbers: the same families in every run.
struct Numbers {
    std::uint64_t state = 1;
    std::uint64_t next() {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return state >> 33;
    }
};
std::string hex(std::uint64_t value, std::size_t digits) {
    std::string text;
    for (std::size_t i = 0; i < digits; ++i, value >>= 4) text += "0123456789abcdef"[value & 15];
    return text;
}

}  // namespace

TEST_CASE("what makes one atom differ from the next is replaced", "[atoms]") {
    CHECK(atom_pattern("f1b56df2-ctl-ejabberd@localhost") == "<hex8>-ctl-ejabberd@localhost");
    CHECK(atom_pattern("user_17") == "user_<int>");
    CHECK(atom_pattern("user17x") == "user<int>x");
    CHECK(atom_pattern("10.0.0.12:80") == "<int>.<int>.<int>.<int>:<int>");
    CHECK(atom_pattern("<0.123.0>") == "<<int>.<int>.<int>>");
    CHECK(atom_pattern("s-6f9619ff-8b86-d011-b42d-00c04fc964ff") == "s-<uuid>");
    CHECK(atom_pattern("s-6F9619FF-8B86-D011-B42D-00C04FC964FF!") == "s-<uuid>!");
    CHECK(atom_pattern("DEADBEEF01") == "<hex10>");
    CHECK(atom_pattern("0x7f80aa10") == "0x<hex8>");
    CHECK(atom_pattern("conn_Zk3jQ9xP2mLr7TbV") == "conn_<base64>");
    CHECK(atom_pattern("Zk3jQ9xP2mLr7TbV4h8Q_worker") == "<base64>_worker");
    CHECK(atom_pattern("dQw4w9-WgXcQ_7hG2k") == "<base64>");
    // words at the end of a token stay outside, but for what is too short to be one
    CHECK(atom_pattern("Zk3jQ9xP2mLr7TbV4h8Q_my_worker") == "<base64>_worker");
    CHECK(atom_pattern("Zk3jQ9xP2mLr7TbV4h8Q_the_worker") == "<base64>_the_worker");
    CHECK(atom_pattern("Zk3jQ9xP2mLr7TbV4h8Q_") == "<base64>");
    CHECK(atom_pattern("Zk3jQ9xP2mLr7TbV4h8Q_ab") == "<base64>");
    CHECK(atom_pattern("") == "");
    CHECK(atom_pattern("-handle_call/3-fun-0-") == "-<function>/<int>-fun-<int>-");
    CHECK(atom_pattern("-a/b/12-lc$^1/1-0-") == "-<function>/<int>-lc$^<int>/<int>-<int>-");
    CHECK(atom_pattern("-a/b-") == "-a/b-");
    CHECK(atom_pattern("-1/") == "-<int>/");
    CHECK(atom_pattern("caf\xC3\xA9_1") == "caf\xC3\xA9_<int>");
    // Words are no tokens.
    for (const char* word :
         {"lists", "gen_server", "Elixir.MyApp.UserSessionSupervisor", "handleCallbackFromHTTPServer", "deadbeef",
          "facade", "a", "application_controller", "ThisIsALongCamelCaseName"}) {
        INFO(word);
        CHECK(atom_pattern(word) == word);
    }
    CHECK(atom_pattern("Elixir.Phoenix.LiveView.Utf8Decoder2") == "Elixir.Phoenix.LiveView.Utf<int>Decoder<int>");
}

TEST_CASE("families are counted, newest first", "[atoms]") {
    MadeSnapshot m;
    Numbers random;
    for (int i = 0; i < 2000; ++i) m.s.atoms.push_back(m.text(hex(random.next(), 8) + "-ctl-ejabberd@localhost"));
    for (int i = 100000; i >= 99000; --i) m.s.atoms.push_back(m.text("user_" + std::to_string(i)));
    for (const char* word : {"ok", "error", "sha256", "true"}) m.s.atoms.push_back(m.text(word));
    const AtomFamilies found = atom_families(m.s);
    CHECK(found.exact);
    CHECK(found.atoms == 3005);
    REQUIRE(found.families.size() >= 2);
    // Some of 2,000 random numbers have no letter; they belong to the family all the same. One in 2,500 has no digit.
    CHECK(found.families[0].pattern == "<hex8>-ctl-ejabberd@localhost");
    CHECK(found.families[0].count >= 1995);
    CHECK(found.families[0].count <= 2000);
    CHECK(found.families[0].newest == 0);
    CHECK(found.families[0].oldest >= 1990);
    CHECK(found.families[0].percent == Approx(66.5).epsilon(0.01));
    REQUIRE(found.families[0].examples.size() == 3);
    CHECK(m.s.text(found.families[0].examples[0]) == m.s.text(m.s.atoms[0]));
    CHECK(found.families[1].pattern == "user_<int>");
    CHECK(found.families[1].count == 1001);  // five and six digits are one family
    CHECK(found.families[1].newest == 2000);
    CHECK(found.families[1].oldest == 3000);
    CHECK(m.s.text(found.families[1].examples[0]) == "user_100000");
    for (const AtomFamily& family : found.families) CHECK(family.pattern != "sha<int>");  // alone
    CHECK(found.in_families == found.families[0].count + found.families[1].count);
}

TEST_CASE("all digits join the hexadecimal family of their length only", "[atoms]") {
    MadeSnapshot m;
    for (const char* name : {"n-12345678", "n-1234567", "n-a2345678", "n-b2345678", "n-1234"})
        m.s.atoms.push_back(m.text(name));
    const AtomFamilies found = atom_families(m.s);
    REQUIRE(found.families.size() == 2);
    CHECK(found.families[0].pattern == "n-<hex8>");
    CHECK(found.families[0].count == 3);
    CHECK(m.s.text(found.families[0].examples[0]) == "n-12345678");
    CHECK(found.families[1].pattern == "n-<int>");
    CHECK(found.families[1].count == 2);
}

TEST_CASE("no atoms, odd atoms", "[atoms]") {
    CHECK(atom_families(Snapshot{}).families.empty());
    MadeSnapshot m;
    const std::string bytes(
        "\0\x01\xFF"
        "1",
        4);
    m.s.atoms = {m.s.texts.intern(""), m.s.texts.intern(bytes), m.s.texts.intern(bytes + "2"),
                 m.s.texts.intern(std::string(5000, 'a') + "1"), m.s.texts.intern(std::string(5000, '7'))};
    const AtomFamilies found = atom_families(m.s);
    REQUIRE(found.families.size() == 1);
    CHECK(found.families[0].pattern == std::string("\0\x01\xFF<int>", 8));
}

TEST_CASE("many patterns are bounded, and large families survive", "[atoms]") {
    MadeSnapshot m;
    for (std::uint32_t i = 0; i < 400000; ++i) {
        std::string name;
        if (i % 4 == 0) {
            name = "leak_" + std::to_string(i);
        } else {  // a pattern of its own: letters that say which
            for (std::uint32_t n = i; n != 0; n /= 26) name += static_cast<char>('a' + n % 26);
            name += "-1";
        }
        m.s.atoms.push_back(m.text(name));
    }
    const AtomFamilies found = atom_families(m.s);
    CHECK(!found.exact);
    REQUIRE(!found.families.empty());
    CHECK(found.families[0].pattern == "leak_<int>");
    CHECK(found.families[0].count == 100000);
}

TEST_CASE("adversarial atoms cost time in proportion only", "[atoms]") {
    std::string zigzag;
    while (zigzag.size() < 200000) zigzag += "a1_";
    std::string token;
    while (token.size() < 200000) token += "aB3";
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
        atom_pattern(zigzag);
        atom_pattern(token);
        atom_pattern(std::string(200000, '-'));
    }
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("short hexadecimal numbers are one family where half of many have a letter", "[atoms]") {
    const auto names = [](unsigned count, unsigned step, const std::string& before) {
        MadeSnapshot m;
        for (unsigned i = 0; i < count; ++i) {
            std::ostringstream text;
            text << before << std::hex << std::uppercase << i * step + 16;
            m.s.atoms.push_back(m.text(text.str()));
        }
        return atom_families(m.s);
    };
    const AtomFamilies many = names(70'000, 1, "cart_line_");
    REQUIRE_FALSE(many.families.empty());
    CHECK(many.families[0].pattern == "cart_line_<hex>");
    // Numbers of letters alone are words ("face").
    CHECK(many.families[0].count > 68'000);
    // 60 atoms show nothing.
    for (const AtomFamily& family : names(60, 7, "line_").families)
        CHECK(family.pattern.find("<hex>") == std::string::npos);
    // Numbers with a letter here and there are decimal ones with names beside them.
    MadeSnapshot m;
    for (int i = 0; i < 1'000; ++i) m.s.atoms.push_back(m.text("port_" + std::to_string(i)));
    for (int i = 0; i < 150; ++i) m.s.atoms.push_back(m.text("port_" + std::to_string(i) + "a"));
    const AtomFamilies decimal = atom_families(m.s);
    REQUIRE_FALSE(decimal.families.empty());
    CHECK(decimal.families[0].pattern == "port_<int>");
    CHECK(decimal.families[0].count == 1'000);
}

TEST_CASE("serial numbers of digits and letters are one family where they have many forms", "[atoms]") {
    const auto base36 = [](std::uint64_t value, std::size_t digits) {
        std::string text;
        for (; text.size() < digits; value /= 36)
            text.insert(text.begin(), "0123456789abcdefghijklmnopqrstuvwxyz"[value % 36]);
        return text;
    };
    MadeSnapshot m;
    for (unsigned i = 0; i < 20'000; ++i) m.s.atoms.push_back(m.text("rule0" + base36(i, 4)));
    for (unsigned i = 0; i < 300; ++i) m.s.atoms.push_back(m.text("shard_" + std::to_string(i)));
    const AtomFamilies serial = atom_families(m.s);
    REQUIRE(serial.families.size() == 2);
    CHECK(serial.families[0].pattern == "rule<code>");
    CHECK(serial.families[0].count == 20'000);
    CHECK(serial.families[1].pattern == "shard_<int>");
    CHECK(serial.codes.pattern("rule0zzzz") == "rule<code>");
    CHECK(serial.codes.pattern("rule7") == "rule<int>");

    // A token that begins with a letter stands alone behind other characters.
    MadeSnapshot tokens;
    Numbers numbers;
    for (unsigned i = 0; i < 5'000; ++i) tokens.s.atoms.push_back(tokens.text("page-" + base36(numbers.next(), 6)));
    const AtomFamilies random = atom_families(tokens.s);
    REQUIRE_FALSE(random.families.empty());
    CHECK(random.families[0].pattern == "page-<code>");
    CHECK(random.families[0].count > 3'500);  // one in seven has no digit, and one in fifty is hexadecimal or a number

    // Words behind a number, hexadecimal numbers, and a few names show no codes.
    MadeSnapshot others;
    for (const char* kind : {"pods", "services", "nodes", "jobs", "secrets", "events", "leases", "roles", "volumes"})
        for (unsigned i = 1; i < 12; ++i) others.s.atoms.push_back(others.text("client_v" + std::to_string(i) + kind));
    for (unsigned i = 0; i < 2'000; ++i)
        others.s.atoms.push_back(others.text(hex(numbers.next(), 8) + "-ctl@localhost"));
    for (unsigned i = 0; i < 40; ++i) others.s.atoms.push_back(others.text("few0" + base36(i * 37, 3)));
    for (const AtomFamily& family : atom_families(others.s).families)
        CHECK(family.pattern.find("<code>") == std::string::npos);
}
