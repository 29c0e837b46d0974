// SPDX-License-Identifier: Apache-2.0
// The sections of one process read in windows, with and without a thread that reads ahead.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "bytes/source.hpp"
#include "bytes/window.hpp"
#include "formats/crashdump/heap_pipeline.hpp"
#include "formats/crashdump/heap_reader.hpp"

using namespace beamheap;
using namespace beamheap::crashdump;

namespace {

constexpr std::uint64_t list_begins = 0x7F0000001000;

/// A list, cell after cell, behind a few bytes of something else, with a longer line now and then.
std::string list_text(std::size_t bytes) {
    std::string text = "=proc_heap\n";
    for (std::uint64_t i = 0; text.size() < bytes; ++i) {
        const std::uint64_t address = list_begins + 16 * i;
        if (i % 100'000 == 77'777) text += fmt::format("{:X}:t1:AC8:{}\n", address, std::string(200, 'x'));
        else text += fmt::format("{:X}:lI{}|H{:X}\n", address, i % 1000, address + 16);
    }
    return text + "=end\n";
}

HeapGraph read(const bytes::Source& source, const Extent& extent, bool prefetch) {
    HeapDialect dialect;
    dialect.style.base64 = true;
    dialect.otp = 25;
    HeapReader reader(dialect);
    HeapFacts facts;
    facts.mode = HeapGraph::Mode::values;
    reader.begin(facts);
    TermExtents extents;
    extents.add({0, 0, TermSection::dictionary});
    extents.add(extent);
    std::string buffer;
    REQUIRE(feed_in_windows(source, extents, reader, buffer, prefetch));
    CHECK(reader.damage().bad_lines == 0);
    CHECK(reader.damage().cut_lines == 0);
    reader.finish();
    return reader.take_graph();
}

}  // namespace

TEST_CASE("a giant's section is the same, whoever copies it out of the file", "[windows]") {
    const std::string text = list_text(bytes::Window::worth_prefetching + (std::size_t{1} << 20));
    const auto source = bytes::memory_source(text);
    REQUIRE(source);
    REQUIRE((*source)->seekable());
    const std::size_t begin = text.find('\n') + 1;
    const Extent extent(begin, text.size() - begin - 5, TermSection::heap);
    const HeapGraph plain = read(**source, extent, false), ahead = read(**source, extent, true);
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) - 2;
    CHECK(plain.size() == lines);
    CHECK(ahead.size() == lines);
    CHECK(std::ranges::equal(plain.edges(), ahead.edges()));
    CHECK(plain.total_words() == ahead.total_words());
    for (NodeId node = 0; node < ahead.size(); node += 9'973) CHECK(ahead.origin(node) == plain.origin(node));
    const auto last = static_cast<NodeId>(lines - 1);
    CHECK(ahead.address(last) == list_begins + 16 * std::uint64_t{last});
    CHECK(text.substr(static_cast<std::size_t>(ahead.origin(last)), 12) == fmt::format("{:X}", ahead.address(last)));
}
