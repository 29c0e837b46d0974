// SPDX-License-Identifier: Apache-2.0
#include "beamheap/code_version.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

using namespace beamheap;

namespace {

std::pair<std::uint64_t, std::uint64_t> halves(const CodeVersion& version) { return {version.high, version.low}; }

}  // namespace

TEST_CASE("a version of code tells apart what differs in one bit, in length, or in where a border lies", "[model]") {
    CHECK_FALSE(code_version("", "").known());
    CHECK(code_version("a", "").known());
    CHECK(code_version("attributes", "compilation") == code_version("attributes", "compilation"));

    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    std::set<std::uint64_t> high, low;
    std::size_t made = 0;
    const auto take = [&](const std::string& attributes, const std::string& compilation) {
        const CodeVersion version = code_version(attributes, compilation);
        seen.insert(halves(version)), high.insert(version.high), low.insert(version.low);
        ++made;
    };
    const std::string text(300, '\0');
    for (std::size_t length = 1; length <= text.size(); ++length) take(text.substr(0, length), "");
    for (std::size_t length = 1; length <= text.size(); ++length) take("", text.substr(0, length));
    for (std::size_t border = 1; border < text.size(); ++border) take(text.substr(border), text.substr(0, border));
    for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
        std::string changed = text;
        changed[bit / 8] = static_cast<char>(1 << bit % 8);
        take(changed, "compilation"), take("attributes", changed);
    }
    CHECK(seen.size() == made);
    CHECK(high.size() == made);
    CHECK(low.size() == made);
}
