// SPDX-License-Identifier: Apache-2.0
// The fast loop over heap lines against the grammar that it stands in for: the same graph and the same damage, of every
// text, however it is cut, torn, or written by another machine.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "bytes/source.hpp"
#include "formats/crashdump/heap_reader.hpp"
#include "support/places.hpp"

using namespace beamheap;
using namespace beamheap::crashdump;

namespace {

namespace fs = std::filesystem;

std::string slurp(const std::string& path) {
    std::string all;
    auto source = bytes::open_source(path);
    if (!source) return all;
    for (std::string piece(1 << 20, '\0');;) {
        const auto got = (*source)->read(piece);
        if (!got || *got == 0 || all.size() > (16u << 20)) return all;
        all.append(piece, 0, *got);
    }
}

/// Bodies of =proc_heap sections, as far as they are told by line starts: what else stands in them is noise, which is
/// welcome here.
std::vector<std::string> heaps_of(const std::string& dump, std::size_t most) {
    std::vector<std::string> all;
    std::size_t sum = 0;
    for (std::size_t at = dump.find("\n=proc_heap:"); at != std::string::npos && sum < most;
         at = dump.find("\n=proc_heap:", at + 1)) {
        const std::size_t from = dump.find('\n', at + 1), to = dump.find("\n=", at + 1);
        if (from == std::string::npos || to == std::string::npos || to <= from) continue;
        all.push_back(dump.substr(from + 1, to - from));
        sum += all.back().size();
    }
    return all;
}

struct Way {
    bool fast = true;
    unsigned word_bytes = 8;
    std::uint32_t otp = 25;
    HeapGraph::Mode mode = HeapGraph::Mode::values;
    std::size_t piece = std::size_t{1} << 30;
};

struct Read {
    HeapGraph graph;
    HeapDamage damage;
};

Read read(const std::string& text, const Way& way) {
    HeapDialect dialect;
    dialect.otp = way.otp;
    dialect.word_bytes = way.word_bytes;
    dialect.fast_lines = way.fast;
    dialect.node_name = "nonode@nohost";
    HeapReader reader(dialect);
    HeapFacts facts;
    facts.mode = way.mode;
    // The young area is some of the addresses that are written here, by the bottom of the stack.
    facts.heap_words = 50;
    facts.heap_unused_words = 10;
    reader.begin(facts);
    reader.feed(TermSection::stack, "0x00007f0000001198:SReturn addr 0x1000 (m:f/1 + 8)\n", 0, true);
    std::size_t at = 0;
    for (std::size_t size = way.piece;;) {
        const bool last = text.size() - at <= size;
        const std::size_t taken = reader.feed(TermSection::heap, std::string_view(text).substr(at, size), at, last);
        at += taken;
        if (last) break;
        size = taken == 0 ? 2 * size : way.piece;
    }
    reader.finish();
    Read result{{}, reader.damage()};
    result.graph = reader.take_graph();
    return result;
}

/// What differs, in a word; one assertion for all: there are millions of objects.
std::string difference(const Read& a, const Read& b) {
    if (a.graph.size() != b.graph.size())
        return "objects " + std::to_string(a.graph.size()) + ", " + std::to_string(b.graph.size());
    if (a.graph.edges().size() != b.graph.edges().size()) return "references";
    if (a.damage.bad_lines != b.damage.bad_lines || a.damage.first_bad_line != b.damage.first_bad_line ||
        a.damage.bad_bytes != b.damage.bad_bytes)
        return "bad lines";
    if (a.damage.cut_lines != b.damage.cut_lines || a.damage.first_cut_line != b.damage.first_cut_line)
        return "cut lines";
    for (NodeId n = 0; n < a.graph.size(); ++n) {
        const bool values = a.graph.mode() == HeapGraph::Mode::values;
        if (a.graph.kind(n) != b.graph.kind(n) || a.graph.words(n) != b.graph.words(n) ||
            a.graph.address(n) != b.graph.address(n) || a.graph.is_young(n) != b.graph.is_young(n) ||
            (values && a.graph.origin(n) != b.graph.origin(n)))
            return "object " + std::to_string(n);
    }
    const auto [at, other] = std::ranges::mismatch(a.graph.edges(), b.graph.edges());
    if (at != a.graph.edges().end()) return "reference " + std::to_string(at.at());
    if (a.graph.foreign_references() != b.graph.foreign_references()) return "references out of the graph";
    if (a.graph.impossible_references() != b.graph.impossible_references()) return "impossible references";
    return a.graph.binaries().size() == b.graph.binaries().size() ? "" : "binaries";
}

void expect_same(const std::string& text, Way way) {
    Way grammar = way;
    grammar.fast = false;
    const std::string differs = difference(read(text, way), read(text, grammar));
    if (differs.empty()) return;
    INFO(text.substr(0, 3000) << "\n" << way.piece << " bytes a piece, " << way.word_bytes << " a word");
    CHECK(differs == "");
}

/// A text as it is, in pieces, in both modes, of another word size, cut, and with bytes that were changed.
void expect_same_of_all_kinds(const std::string& text, std::mt19937& random) {
    const auto below = [&](std::size_t n) { return n == 0 ? 0 : std::size_t{random()} % n; };
    expect_same(text, {});
    expect_same(text, {.mode = HeapGraph::Mode::sizes});
    expect_same(text, {.otp = 27});
    expect_same(text, {.word_bytes = 4, .otp = 19});
    expect_same(text, {.piece = 1 + below(400)});
    for (int i = 0; i < 4; ++i) {
        const std::size_t from = below(text.size());
        const std::string part = text.substr(from, below(3000));
        expect_same(part, {.piece = 1 + below(300)});
        std::string torn = part;
        static constexpr std::string_view likely = "\n\r:|,HIANPYMFEltfhnc=-0123456789ABCDEF><.a\xff";
        for (std::size_t changes = 1 + below(8); changes != 0 && !torn.empty(); --changes) {
            const std::size_t at = below(torn.size());
            if (below(3) == 0) torn.erase(at, 1 + below(20));
            else if (below(2) == 0) torn.insert(at, 1, likely[below(likely.size())]);
            else torn[at] = likely[below(likely.size())];
        }
        expect_same(torn, {.piece = 1 + below(5000)});
    }
}

}  // namespace

TEST_CASE("common heap lines are read as the grammar reads them", "[heap_lines]") {
    std::mt19937 random(7);
    // Every form once, with its edges: lengths that lie, counts of nothing, digits too many, atoms that hold what ends
    // lines.
    const std::string lines =
        "7F0000001000:lI1|H7F0000001010\n7F0000001010:lH7F0000001020|N\n7F0000001020:t0:\n7F0000001030:t2:A2:ok,I-17\n"
        "7F0000001040:t12:"
        "I1,I2,I3,I4,I5,I6,I7,I8,I9,I10,I11,I12,I13,I14,I15,I16,I17,I18\n"
        "7F0000001050:lA3:a\nb|N\n7F0000001060:lA5:x:|,y|N\n7F0000001070:lP<0.12.0>|p<0.7>\n7F0000001080:F16:1."
        "00000000000000000000e+00\n"
        "7F0000001090:Yh3:YWJj\n7F00000010A0:Yc7F00000020A0:0:1F4\n7F00000010B0:Ys7F00000020A0:A:10\n"
        "7F00000010C0:Mf2:H7F0000001030:I1,H7F0000001040\n7F00000010D0:Mh4:2:H7F00000010E0,N\n7F00000010E0:Mn2:I1,I2\n"
        "7F00000010F0:E24:g1oAA2QADW5vbm9kZUBub2hvc3QAAAAAAAHCVRWeAAE3BfUj\n7F0000001100:E24:"
        "g1oAA2QADW5vbm9kZUBub2hvc3QAAAAAAAHDlRWcAAI3BfUj\n"
        "7F0000001110:B1267650600228229401496703205376\n7F0000001118:P<8.12.0>\n7F0000001119:lP><0.47.0>|"
        "N\n7F000000111A:lP<0.4:7>|N\n7F000000111B:lp<0.4|N\n7F0000001120:lI1234567890123456789|N\n"
        "7F0000001130:lI123456789012345|N\n7F0000001140:lI1234567890123456|N\n7F0000001150:l|\n7F0000001160:Rf12\n"
        "7F0000001170:t@:I1\n7F0000001178:t;:I1\n7F0000001180:tF:N\n7F00:lI1|N\n7F00000011900:lI1|N\n7f0000001190:lI1|"
        "N\n7F0000001191:lI1|H7F0000001193\n"
        "7F00000011A0:lA400:zz|N\n7F00000011A8:lA3FC:zz|N\n7F00000011B0:Yh5:AAAA\n7F00000011B8:Mn11:I1\n7F00000011C0:"
        "Mf0:N:\n7F00000011C8:E1:gw==\n7F00000011D0:E3:g3EA\n"
        "7F00000011D8:lI-|I--3\n7F00000011E0:t2:I1;I2\n7F00000011E8:t2:I1,I2,I3\n7F00000011F0:lI1,I2\n7F00000011F8:"
        "\n\n:\nx\n7F0000001200:lI-1234567890123456789|I-12345678901234567890123456789012345\n7F0000001210:B-" +
        std::string(79, '7') + "\n7F0000001218:B" + std::string(97, '1') + "\n7F0000001220:B16#FF\n7F0000001228:B\n" +
        "7F0000001230:B-\n7F0000001238:lI1|N";
    expect_same(lines, {});
    const Read all = read(lines, {});
    std::size_t young = 0;
    for (NodeId n = 0; n < all.graph.size(); ++n) young += all.graph.is_young(n) ? 1 : 0;
    CHECK((young > 10 && young < all.graph.size()));
    for (std::size_t cut = 0; cut <= lines.size(); cut += 3) {
        expect_same(lines.substr(0, cut), {});
        expect_same(lines.substr(cut), {.piece = 1 + cut % 97});
    }
    for (int i = 0; i < 40; ++i) expect_same_of_all_kinds(lines, random);
}

TEST_CASE("what is known of one heap's addresses is not taken for the next one's", "[heap_lines]") {
    // Chunks are numbered as they come, which here is the other way round in the second heap.
    const std::string first = "7F0000001000:lH7F1100001000|N\n7F1100001000:lI1|N\n7F2200001008:lH7F0000001000|N\n";
    const std::string second =
        "7F2200001008:lI1|N\n7F1100001000:lH7F2200001008|N\n7F0000001000:lH7F1100001000|H7F2200001008\n";
    HeapDialect dialect;
    dialect.otp = 25;
    HeapReader reader(dialect);
    reader.begin({});
    reader.feed(TermSection::heap, first, 0, true);
    CHECK(reader.finish().size() == 3);
    reader.begin({});
    reader.feed(TermSection::heap, second, 0, true);
    const HeapGraph& graph = reader.finish();
    REQUIRE(graph.size() == 3);
    CHECK(graph.address(0) == 0x7F2200001008);
    CHECK(graph.address(2) == 0x7F0000001000);
    CHECK(graph.find(0x7F1100001000) == 1);
    CHECK(graph.edges().size() == 3);
}

TEST_CASE("a damaged reference teaches nothing about the next ones", "[heap_lines]") {
    const std::string good = "7F00000010F0:E24:g1oAA2QADW5vbm9kZUBub2hvc3QAAAAAAAHCVRWeAAE3BfUj\n";
    // Torn within the name of its node: a reader that took it for another node's took the next ones for that, too.
    for (std::size_t at = good.find(":g1o") + 1; at + 1 < good.size(); ++at) {
        std::string torn = good;
        torn[at] = '\x87';
        expect_same(torn + good, {});
        const Read read_of_both = read(torn + good, Way{});
        REQUIRE(read_of_both.graph.size() >= 1);
        const auto last = static_cast<NodeId>(read_of_both.graph.size() - 1);
        CHECK(read_of_both.graph.kind(last) == TermKind::reference);
    }
}

TEST_CASE("bytes that are no digits are no address, zeros included", "[heap_lines]") {
    const std::string good = "7F0000001000:lI1|N\n";
    for (std::size_t at = 0; at < 12; ++at)
        for (unsigned byte = 0; byte < 256; ++byte) {
            std::string other = good;
            other[at] = static_cast<char>(byte);
            expect_same(good + other + good, {});
        }
    std::string zeros = good;
    std::fill(zeros.begin(), zeros.begin() + 8, '\0');
    expect_same(zeros + good + zeros, {});
    expect_same("7F0000001010:lH" + zeros.substr(0, 12) + "|H7F000000100G\n" + good, {});
}

TEST_CASE("heaps of real dumps are read as the grammar reads them", "[heap_lines][slow]") {
    std::mt19937 random(11);
    std::vector<std::string> paths;
    for (const char* name :
         {"fixtures/healthy.dump", "fixtures/convoy.dump", "fixtures/zoo.dump.zst", "fixtures/big_heap.dump.zst"})
        paths.push_back(test::source_dir() + "/" + name);
    for (const auto& entry : fs::directory_iterator(test::source_dir() + "/tests/fuzz/corpus"))
        paths.push_back(entry.path());
    if (const char* corpus = std::getenv("BEAMHEAP_CORPUS"); corpus != nullptr && fs::is_directory(corpus))
        for (const auto& entry : fs::directory_iterator(corpus)) paths.push_back(entry.path());
    std::ranges::sort(paths);  // so that a failure can be met again
    std::size_t heaps = 0;
    for (const std::string& path : paths) {
        INFO(path);
        for (const std::string& heap : heaps_of(slurp(path), 400'000)) {
            expect_same_of_all_kinds(heap, random);
            ++heaps;
        }
    }
    CHECK(heaps > 100);
}

TEST_CASE("slots of a stack of R10B stand under addresses without 0x", "[crashdump]") {
    const auto roots_of = [](std::uint32_t otp) {
        HeapDialect dialect;
        dialect.otp = otp;
        dialect.word_bytes = 4;
        dialect.frames_end_with_return = false;
        HeapReader reader(dialect);
        HeapFacts facts;
        facts.mode = HeapGraph::Mode::values;
        reader.begin(facts);
        const std::string_view text =
            "374a88:SReturn addr 0x2CE718 (group:get_chars_loop/7 + 80)\ny0:N\ny1:A8:infinity\n"
            "374a94:SReturn addr 0x2CDC18 (group:io_request/5 + 48)\ny0:A5:start\n";
        reader.feed(TermSection::stack, text, 0, true);
        reader.finish();
        std::vector<std::uint32_t> frames;
        const std::uint64_t bad = reader.damage().bad_lines;
        const HeapGraph graph = reader.take_graph();
        for (std::size_t i = 0; i < graph.roots().size(); ++i) frames.push_back(graph.roots()[i].frame);
        return std::pair(frames, bad);
    };
    const auto [frames, bad] = roots_of(10);
    CHECK(frames == std::vector<std::uint32_t>{0, 0, 1});
    CHECK(bad == 0);
    CHECK(roots_of(11).second == 2);  // no other release has them
}
