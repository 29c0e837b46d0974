// SPDX-License-Identifier: Apache-2.0
// Small things of both formats that no larger test would miss: encodings, labels, damaged lines, identifiers.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <optional>

#include "formats/crashdump/data_text.hpp"
#include "formats/crashdump/label_text.hpp"
#include "formats/crashdump/term_sections.hpp"
#include "formats/otp/processes/links.hpp"
#include "formats/otp/tables/tables.hpp"
#include "support/dump_text.hpp"
#include "support/elf_writer.hpp"
#include "support/single_term.hpp"

using namespace beamheap;
using namespace std::string_literals;
using crashdump::TermStyle;
using test::header;
using test::load;
using test::process;

namespace {

std::string data(TermStyle style, std::string_view text, std::size_t limit = 100) {
    std::string out = "<";
    const std::size_t written = crashdump::append_data(style, text, out, limit);
    CHECK(out.size() == written + 1);
    return out.substr(1);
}

}  // namespace

TEST_CASE("data of every length, whole or cut in the middle of a byte", "[crashdump][data]") {
    const TermStyle base64{.base64 = true}, hex{.base64 = false};
    CHECK(data(base64, "") == "");
    CHECK(data(base64, "YQ==") == "a");
    CHECK(data(base64, "YWI=") == "ab");
    CHECK(data(base64, "YWJj") == "abc");
    CHECK(data(base64, "YWJjZA==") == "abcd");
    CHECK(data(base64, "YWJjZ") == "abc");    // six bits are no byte
    CHECK(data(base64, "YWJjZG") == "abcd");  // twelve are one
    CHECK(data(base64, "YWJj-WJj") == "abc");
    CHECK(data(base64, "YWJjZGVm", 4) == "abcd");
    CHECK(data(hex, "616263") == "abc");
    CHECK(data(hex, "61626") == "ab");  // a digit alone is no byte
    CHECK(data(hex, "6") == "");
    CHECK(data(hex, "6x62") == "");
    CHECK(data(hex, "616g") == "a");
    CHECK(data(hex, "616263", 2) == "ab");
    CHECK(crashdump::encoded_size(base64, 0) == 0);
    CHECK(crashdump::encoded_size(base64, 1) == 4);
    CHECK(crashdump::encoded_size(base64, 3) == 4);
    CHECK(crashdump::encoded_size(base64, 4) == 8);
    CHECK(crashdump::encoded_size(hex, 3) == 6);
}

TEST_CASE("labels are printed as the VM would, spaces and all", "[crashdump][label]") {
    const std::string heap =
        "100:lI97|H108\n108:lI32|H110\n110:lI126|N\n"  // "a ~"
        "200:lI97|H208\n208:lI31|N\n210:lI127|N\n"
        "300:t2:A6:worker,I7\n400:Yh3:YSBi\n500:Yh2:AAE=\n600:t1:A3:a b\n700:t0:\n";
    const auto label = [&](std::string_view element) { return crashdump::label_text(heap, element); };
    CHECK(label("H100") == "\"a ~\"");
    CHECK(label("H200") == "[97,31]");
    CHECK(label("H210") == "[127]");
    CHECK(label("H300") == "{worker,7}");
    CHECK(label("H400") == "<<\"a b\">>");
    CHECK(label("H500") == "<<0,1>>");
    CHECK(label("H600") == "{'a b'}");
    CHECK(label("H700") == "{}");
    CHECK(label("A4:name") == "name");
    CHECK(label("N") == "[]");
    CHECK(label("H999").empty());
    // 24 objects are looked up for one
    const auto nested = [](unsigned tuples) {
        std::string lines;
        for (unsigned i = 0; i < tuples; ++i)
            lines += fmt::format("{:X}:t1:H{:X}\n", 0x1000 + 16 * i, 0x1000 + 16 * (i + 1));
        return crashdump::label_text(lines + fmt::format("{:X}:t1:A1:z\n", 0x1000 + 16 * tuples), "H1000");
    };
    CHECK(nested(1) == "{{z}}");
    CHECK(nested(23) == std::string(24, '{') + "z" + std::string(24, '}'));
    CHECK(nested(24) == std::string(24, '{') + "..." + std::string(24, '}'));
}

TEST_CASE("identifiers of the old external format end with a creation of one byte", "[external]") {
    // A tuple of a port and a small integer: what follows the port is read from where it is.
    const std::string node = "d\0\3n@h"s;
    const std::string port = "\x83h\2f"s + node + "\0\0\1\2"s + "\3" + "a\7"s;
    test::SingleTerm old(port, "n@h");
    REQUIRE(old.complete());
    ElementCursor cursor = old.elements(old.term().id);
    Element element;
    REQUIRE(old.next(cursor, element));
    CHECK(element.kind == ElementKind::port);
    CHECK(element.port == PortName{0, 258});
    REQUIRE(old.next(cursor, element));
    CHECK(element.kind == ElementKind::small);
    CHECK(element.number == 7);
    // The same with NEW_PORT_EXT, whose creation has four.
    test::SingleTerm recent("\x83h\2Y"s + node + "\0\0\1\2"s + "\0\0\0\3"s + "a\7"s, "n@h");
    CHECK(recent.complete());
    test::SingleTerm pid("\x83h\2g"s + node + "\0\0\0\x2a"s + "\0\0\0\1"s + "\3" + "a\7"s, "n@h");
    REQUIRE(pid.complete());
    cursor = pid.elements(pid.term().id);
    REQUIRE(pid.next(cursor, element));
    CHECK(element.pid == Pid{0, 42, 1});
    REQUIRE(pid.next(cursor, element));
    CHECK(element.number == 7);
}

TEST_CASE("slots are those of the three youngest frames", "[crashdump]") {
    LoadPlan plan = test::everything();
    plan.slots_of = [](const Snapshot&, FunctionId) { return SlotsWanted::all; };
    std::string stack;
    for (int frame = 1; frame <= 4; ++frame) {
        const std::string n = std::to_string(frame);
        stack += "y0:P<0." + n + ".0>\n0x10" + n + ":SReturn addr 0x1 (m:f" + n + "/0 + 8)\n";
    }
    const auto dump = load(header() + process("<0.2.0>", "Program counter: 0x10 (m:f/0 + 4)\n") +
                               "=proc_stack:<0.2.0>\n" + stack + "=proc_heap:<0.2.0>\n=end\n",
                           plan);
    REQUIRE(dump);
    const Snapshot& s = dump->snapshot();
    CHECK(s.stacks[s.processes[0].stack].size() == 5);
    REQUIRE(s.slots.size() == 3);
    for (std::uint32_t i = 0; i < 3; ++i) {
        CHECK(s.slots[i].frame == i);
        CHECK(s.slots[i].pid == Pid{0, i + 1, 0});
    }
}

TEST_CASE("slots are pids, ports, atoms and references, and no more than was asked for", "[crashdump]") {
    static SlotsWanted wanted = SlotsWanted::all;
    LoadPlan plan = test::everything();
    plan.slots_of = [](const Snapshot&, FunctionId) { return wanted; };
    const auto loaded = [&](const std::string& fields) {
        return load(header() + process("<0.2.0>", fields + "Program counter: 0x10 (m:f/0 + 4)\n") +
                        "=proc_stack:<0.2.0>\n" +
                        "y0:P<0.7.1>\ny1:p<0.6>\ny2:A3:a:b\ny3:H7F10\ny4:H7F20\ny5:H7F30\ny6:H7F40\ny7:I5\ny8:P<0.x>"
                        "\n0x101:SReturn addr 0x1 (m:g/0 + 8)\n" +
                        "y0:P<0.8.0>\ny1:H7F10\n0x102:SReturn addr 0x1 (m:h/0 + 8)\ny0:H7F10\n0x103:SReturn addr 0x1 "
                        "(m:i/0 + 8)\n=proc_heap:<0.2.0>\n" +
                        "7F10:E23:g1oAA3cNbm9ub2RlQG5vaG9zdAAAAAAAAAABAAAAAgAAAAM=\n7F20:P<9.7.0>\n7F30:t1:I1\n7F40:E3:"
                        "gwEB\n=end\n",
                    plan);
    };
    const auto kinds = [](const Snapshot& s) {
        std::string text;
        for (const StackSlot& slot : s.slots)
            text += std::to_string(slot.frame) + "PpAR"[static_cast<int>(slot.kind)] + " ";
        return text;
    };
    auto dump = loaded("Link list: [{from,<0.9.0>,#Ref<0.1.2.3>}]\n");
    REQUIRE(dump);
    const Snapshot* s = &dump->snapshot();
    // those on the heap, of the two youngest frames, follow when the heap is read
    CHECK(kinds(*s) == "0P 0p 0A 1P 0R 0P 1R ");
    REQUIRE(s->slots.size() == 7);
    CHECK(s->slots[0].pid == Pid{0, 7, 1});
    CHECK(s->slots[0].process == ProcId{0});
    CHECK(s->slots[1].port.number == 6);
    CHECK(s->text(s->slots[2].atom) == "a:b");
    CHECK(s->slots[4].words == 3);
    CHECK(s->slots[4].ref == std::array<std::uint32_t, 3>{3, 2, 1});
    CHECK(s->slots[5].pid == Pid{9, 7, 0});

    wanted = SlotsWanted::whom_it_names;
    dump = loaded("Link list: []\n");
    CHECK(kinds(dump->snapshot()) == "0P 0p ");  // who monitors nobody holds no reference of a monitor
    dump = loaded("Link list: [{to,<0.9.0>,#Ref<0.1.2.3>}]\n");
    CHECK(kinds(dump->snapshot()) == "0P 0p 0R 0P ");
    dump = loaded("State: Running\n");
    CHECK(kinds(dump->snapshot()).empty());  // it does not wait
    wanted = SlotsWanted::none;
    dump = loaded("Link list: [{to,<0.9.0>,#Ref<0.1.2.3>}]\n");
    CHECK(kinds(dump->snapshot()).empty());
}

TEST_CASE("messages of other nodes: further fragments are skipped, the token behind them is a root", "[crashdump]") {
    std::uint64_t messages = 0, encoded = 0, bytes = 0, tokens = 0;
    const HeapRequest request{{}, [&](const HeapVisit& visit) {
                                  messages += visit.messages;
                                  encoded += visit.distribution_messages;
                                  bytes += visit.distribution_bytes;
                                  for (const Root root : visit.graph.roots())
                                      tokens += root.kind == RootKind::seq_trace_token;
                              }};
    LoadPlan plan = test::everything();
    plan.heaps = &request;
    const auto dump =
        load(header() + process("<0.2.0>") +
                 "=proc_messages:<0.2.0>\nD0:E3:YWJjZGVm:H100\nD0:E3:YWJj:N\nI7:N\n=proc_stack:<0.2.0>\n" +
                 "=proc_heap:<0.2.0>\n100:t1:I1\n=end\n",
             plan);
    REQUIRE(dump);
    CHECK(messages == 3);
    CHECK(encoded == 2);
    CHECK(bytes == 6);
    CHECK(tokens == 1);
    CHECK(dump->snapshot().anomalies.seen(Anomaly::bad_line) == false);
}

TEST_CASE("a damaged line of a binary is counted, and the next section is read", "[crashdump]") {
    LoadPlan plan = test::everything();
    plan.binaries = true;
    const auto read = [&](const std::string& line) {
        return load(header() + process("<0.2.0>") + "=binary:700\n" + line + "=binary:800\n3:YWJj\n=end\n", plan);
    };
    const auto whole = read("5:aGVsbG8=\n");
    CHECK(whole->binary_bytes(0x700) == Count(5));
    CHECK_FALSE(whole->snapshot().anomalies.seen(Anomaly::bad_line));
    for (const char* line : {"5:aGVsbG8=more\n", "XYZ\n", "5aGVsbG8=\n", ":aGVsbG8=\n", "1000000000001:aGVsbG8=\n"}) {
        INFO(line);
        const auto damaged = read(line);
        REQUIRE(damaged);
        CHECK(damaged->snapshot().anomalies.seen(Anomaly::bad_line));
        CHECK(damaged->binary_bytes(0x800) == Count(3));
        CHECK(damaged->snapshot().source.complete == true);
    }
}

TEST_CASE("of binaries at one address the first counts, in whatever order addresses come, of a file and of a stream",
          "[crashdump]") {
    const std::string text = "AAAABBBBCCCCDDDD";
    const test::TextFile file(text);
    const test::Trickle stream(text, 3);
    for (const bytes::Source* const source :
         {static_cast<const bytes::Source*>(&file), static_cast<const bytes::Source*>(&stream)}) {
        INFO(source->seekable());
        crashdump::TermSections sections(*source);
        const auto add = [&](std::uint64_t address, std::uint64_t bytes, std::uint64_t offset) {
            sections.add_binary({address, bytes, offset}, std::string_view(text).substr(offset, 4));
        };
        add(0x300, 1, 0);
        add(0x100, 2, 4);
        sections.add_binary({0x200, 0, 8}, "");
        add(0x300, 3, 8);
        add(0x100, 3, 12);
        sections.seal();
        CHECK(sections.binaries().size() == 3);
        CHECK(sections.binary(0x150) == nullptr);
        const crashdump::BinaryPlace *first = sections.binary(0x100), *empty = sections.binary(0x200),
                                     *last = sections.binary(0x300);
        REQUIRE((first != nullptr && empty != nullptr && last != nullptr));
        CHECK(first->bytes == 2);
        CHECK(last->bytes == 1);
        CHECK(empty->bytes == 0);
        CHECK(*sections.binary_text(*first, 1, 3) == "BBB");
        CHECK(*sections.binary_text(*last, 0, 2) == "AA");
        if (source->seekable()) continue;
        CHECK(sections.binary_text(*last, 4, 2)->empty());
        CHECK(sections.binary_text({0x400, 5, 2}, 0, 4)->empty());  // none that was kept
    }
}

namespace {

// Memory of one segment, and a VM of OTP 27 over it without atoms.
struct Small {
    Small() { vm.layout = *otp::find_layout(27, otp::Flavour::jit); }
    otp::Reader& reader() {
        space = {};
        space.add(0x700000000000ull, memory.bytes(), bytes::AddressSpace::Origin::core, true);
        space.seal();
        made.emplace(vm, space, snapshot);
        return *made;
    }
    static constexpr std::uint64_t base = 0x700000000000ull;
    otp::Vm vm;
    test::Blob memory{4096};
    bytes::AddressSpace space;
    Snapshot snapshot;
    std::optional<otp::Reader> made;
};

}  // namespace

TEST_CASE("a process without links has none, and no damage", "[otp][links]") {
    Small small;
    std::vector<Link> found;
    const otp::LinkSums none = otp::LinkReader(small.reader()).read({0, 0, 0}, &found);
    CHECK_FALSE(none.damaged);
    CHECK(none.links + none.monitors + none.bytes + found.size() == 0);
    const otp::LinkSums lost = otp::LinkReader(small.reader()).read({0x1000, 0, 0}, &found);
    CHECK(lost.damaged);
    CHECK(found.empty());
}

TEST_CASE("a function whose name can't be read is none", "[otp]") {
    Small small;
    CHECK(small.reader().function({0x4b, 0x8b, 2}) == FunctionId::none);
    CHECK(small.snapshot.functions.size() == 0);
}

TEST_CASE("a peer's channel is the index of its name", "[otp][peers]") {
    Small small;
    const otp::Offsets& at = small.vm.layout.at;
    const std::uint64_t table = 0x100, buckets = 0x400, entry = 0x800;
    small.vm.roots.dist_table = Small::base + table;
    small.memory.put<std::uint32_t>(table + at.hash_shift, 63);  // two buckets
    small.memory.word(table + at.hash_buckets, Small::base + buckets);
    small.memory.word(buckets + 8, Small::base + entry);
    small.memory.word(entry + at.entry_name, 4711u << 6 | 0x0b);
    otp::read_peers(small.reader());
    REQUIRE(small.snapshot.nodes.size() == 1);
    CHECK(small.snapshot.nodes[0].channel == 4711);
    CHECK(small.snapshot.nodes[0].kind == DistNode::Kind::not_connected);
    CHECK(small.snapshot.nodes[0].remote_links == 0);
}

TEST_CASE("each kind of object that a dump writes in other formats is of its kind", "[crashdump][heap]") {
    using namespace std::string_literals;
    const auto encoded = [](const std::string& bytes) {
        static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        std::string out;
        for (std::size_t i = 0; i < bytes.size(); i += 3) {
            std::uint32_t three = 0;
            for (std::size_t j = 0; j < 3; ++j)
                three = three << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0);
            for (std::size_t j = 0; j < 4; ++j) out += j <= bytes.size() - i ? digits[three >> (18 - 6 * j) & 63] : '=';
        }
        return fmt::format("E{:X}:{}", bytes.size(), out);
    };
    const std::string node = "d\0\3n@h"s, creation = "\0\0\0\1"s;
    struct Line {
        std::string line;
        TermKind kind;
        std::uint32_t words;
    };
    const Line lines[] = {
        {"B12345", TermKind::bignum, 2},
        {"B-123456789012345678901234567890", TermKind::bignum, 3},
        {"B16#FFFFFFFFFFFFFFFF", TermKind::bignum, 2},
        {"B16#1FFFFFFFFFFFFFFFF", TermKind::bignum, 3},
        {"B-16#ABCDEFABCDEFABCDEFABCDEFABCDEFABCDEF", TermKind::bignum, 4},
        {encoded("\x83t\0\0\0\2d\0\1aa\1d\0\1ba\2"s), TermKind::flat_map, 8},
        {encoded("\x83t\0\0\0\0"s), TermKind::flat_map, 4},
        {encoded("\x83q"s + "d\0\1md\0\1fa\1"s), TermKind::external_fun, 0},
        {encoded("\x83X"s + node + "\0\0\0\5\0\0\0\0"s + creation), TermKind::external_pid, 0},
        {encoded("\x83g"s + node + "\0\0\0\5\0\0\0\0\1"s), TermKind::external_pid, 0},
        {encoded("\x83Y"s + node + "\0\0\0\5"s + creation), TermKind::external_port, 0},
        {encoded("\x83x"s + node + "\0\0\0\0\0\0\0\5"s + creation), TermKind::external_port, 0},
        {encoded("\x83\x66"s + node + "\0\0\0\5\1"s), TermKind::external_port, 0},
        {encoded("\x83Z\0\3"s + node + creation + "\0\0\0\1\0\0\0\2\0\0\0\3"s), TermKind::reference, 0},
        {encoded("\x83"s), TermKind::match_context, 0},
        {encoded("\x83\x64\0\x09undefined"s), TermKind::lost_map, 3},
    };
    for (const Line& each : lines) {
        INFO(each.line);
        LoadPlan plan = test::everything();
        plan.terms = true;
        const auto artifact =
            test::load(test::header() + test::process("<0.50.0>") +
                           "=proc_stack:<0.50.0>\ny0:H7F00\n=proc_heap:<0.50.0>\n7F00:" + each.line + "\n=end\n",
                       plan);
        REQUIRE(artifact);
        const auto terms = artifact->terms(ProcId{0});
        REQUIRE(terms);
        CHECK(artifact->snapshot().anomalies[Anomaly::bad_line].count == 0);
        REQUIRE((*terms)->graph().size() == 1);
        CHECK((*terms)->graph().kind(NodeId{0}) == each.kind);
        if (each.words != 0) CHECK((*terms)->graph().words(NodeId{0}) == each.words);
    }
}
