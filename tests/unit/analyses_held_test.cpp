// SPDX-License-Identifier: Apache-2.0
// Who sent a message and what form it has; who holds binaries, and which idle heaps are worth a look.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyses/heaps/messages.hpp"
#include "analyses/heaps/root_places.hpp"
#include "analyses/memory/binary_holders.hpp"
#include "analyses/memory/idle_heaps.hpp"
#include "erlang/owned_term.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::string sent_by(const std::string& message) {
    const auto term = parse_term(message);
    const Sender sender = sender_of(*term, term->term());
    const Sender of_root = sender_of_root(*term, 0);  // nobody recorded one
    CHECK(sender == of_root);
    if (sender.pid.has())
        return "<" + std::to_string(sender.pid.node) + "." + std::to_string(sender.pid.number) + "." +
               std::to_string(sender.pid.serial) + ">";
    return sender.port.has() ? "port " + std::to_string(sender.port.number) : "nobody";
}

std::string form_of(const std::string& message) {
    const auto term = parse_term(message);
    return shape_of(*term, term->term());
}

std::string repeated(std::string_view text, std::size_t times, std::string_view between = ",") {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) (all += i == 0 ? "" : between) += text;
    return all;
}

}  // namespace

TEST_CASE("a message names its sender where OTP says so, and nowhere else", "[messages]") {
    CHECK(sent_by("{'$gen_call',{<0.7.1>,#Ref<0.1.2.3>},get}") == "<0.7.1>");
    CHECK(sent_by("{'$gen_call',{<0.7.1>,[alias|#Ref<0.1.2.3>]},get}") == "<0.7.1>");
    CHECK(sent_by("{system,{<0.7.0>,x},suspend}") == "<0.7.0>");
    CHECK(sent_by("{'$gen_call',<0.7.1>,get}") == "nobody");
    CHECK(sent_by("{'$gen_call',{},get}") == "nobody");
    CHECK(sent_by("{'$gen_cast',{<0.7.1>,get}}") == "nobody");
    CHECK(sent_by("{'$gen_call'}") == "nobody");
    for (const char* tag : {"'EXIT'", "io_request", "ssh_cm"})
        CHECK(sent_by("{" + std::string(tag) + ",<0.8.0>,x,y}") == "<0.8.0>");
    CHECK(sent_by("{'EXIT',#Port<0.5>,normal}") == "port 5");
    CHECK(sent_by("{'DOWN',#Ref<0.1.2.3>,process,<0.9.0>,noproc}") == "<0.9.0>");
    CHECK(sent_by("{'DOWN',#Ref<0.1.2.3>,process,<0.9.0>}") == "nobody");
    CHECK(sent_by("{'DOWN',#Ref<0.1.2.3>,port,#Port<0.6>,normal}") == "port 6");
    for (const char* tag : {"tcp", "tcp_closed", "tcp_error", "tcp_passive", "udp", "udp_error", "sctp"})
        CHECK(sent_by("{" + std::string(tag) + ",#Port<0.4>,x}") == "port 4");
    CHECK(sent_by("{tcpx,#Port<0.4>,x}") == "nobody");
    CHECK(sent_by("{#Port<0.3>,{data,x}}") == "port 3");
    CHECK(sent_by("{#Port<0.3>}") == "nobody");
    CHECK(sent_by("{<0.3.0>,x}") == "nobody");
    CHECK(sent_by("[tcp,#Port<0.4>]") == "nobody");
    CHECK(sent_by("tcp") == "nobody");
}

TEST_CASE("a message's form is its atoms and the types of the rest", "[messages]") {
    const std::map<std::string, std::string> forms{
        {"[]", "[]"},
        {"5", "integer()"},
        {"123456789012345678901234567890", "integer()"},
        {"1.5", "float()"},
        {"'An atom'", "'An atom'"},
        {"<0.7.0>", "pid()"},
        {"#Port<0.7>", "port()"},
        {"#Ref<0.1.2.3>", "reference()"},
        {"<<\"abc\">>", "binary()"},
        {"{}", "{}"},
        {"{a,{b,1},[1,2]}", "{a,{b,integer()},list()}"},
        {"[alias|#Ref<0.1.2.3>]", "[alias|reference()]"},
        {"[a|b]", "[a|b]"},
        {"[a,b|c]", "list()"},  // the tail is a list as well
        {"[1]", "list()"},
        {"{1,{2,{3,{4,{5}}}}}", "{integer(),{integer(),{integer(),{integer(),tuple()}}}}"},
        {"{1,{2,{3,{4,[a|b]}}}}", "{integer(),{integer(),{integer(),{integer(),list()}}}}"},
        {"{1,{2,{3,[a|b]}}}", "{integer(),{integer(),{integer(),[a|b]}}}"},
    };
    for (const auto& [message, form] : forms) {
        INFO(message);
        CHECK(form_of(message) == form);
    }
    CHECK(form_of("{" + repeated("a", 16) + "}") == "{" + repeated("a", 16) + "}");
    CHECK(form_of("{" + repeated("a", 17) + "}") == "{" + repeated("a", 16) + ",...}");
    // four hundred bytes, and no more
    const std::string of99(99, 'x'), four = repeated(of99, 4);
    CHECK(form_of("{" + four + "}") == ("{" + four).substr(0, 400) + "...");
    CHECK(form_of("{" + four.substr(1) + "}") == "{" + four.substr(1) + "}");
    CHECK(form_of("{" + four + ",y,y,y}") == ("{" + four).substr(0, 400) + "...");
}

TEST_CASE("a binary counts once, is seen where any slice shows it, and is held by each holder once", "[binaries]") {
    using Kind = BinaryHolder::Kind;
    const BinaryHolder one(ProcId{1}), two(ProcId{2}), table(Kind::table, 1), terms(Kind::persistent_terms, 0);
    const auto size_of = [](std::uint64_t address) {
        return address == 0x300 ? Count() : Count(address == 0x100 ? 1000 : address == 0x200 ? 5000 : 1000);
    };
    const BinaryReport report = binary_holders(
        {
            {0x100, 100, 50, two},
            {0x100, 120, 30, one},
            {0x100, 140, 60, one},
            {0x100, 300, 0, one},  // 100 to 200
            {0x200, 4990, 100, table},
            {0x200, 9000, 10, terms},
            {0x200, 0, 10, two},  // beyond its end
            {0x300, 10, 90, two},
            {0x300, 5000, 2000, two},  // not listed
            {0x400, 0, 1000, terms},
            {0x400, 0, 1000, table},
            {0x400, 0, 1000, one},
        },
        size_of);
    REQUIRE(report.binaries.size() == 4);
    struct Row {
        std::uint64_t address;
        Count bytes;
        std::uint64_t seen;
        Count pinned;
        std::uint64_t references;
        std::vector<BinaryHolder> holders;
    };
    const Row rows[] = {{0x200, 5000, 20, 4980, 3, {two, table, terms}},
                        {0x300, {}, 2090, {}, 2, {two}},
                        {0x100, 1000, 100, 900, 4, {one, two}},
                        {0x400, 1000, 1000, 0, 3, {one, table, terms}}};
    for (std::size_t i = 0; i < 4; ++i) {
        INFO(i);
        const BinaryHolders& binary = report.binaries[i];
        CHECK(binary.address == rows[i].address);
        CHECK(binary.bytes == rows[i].bytes);
        CHECK(binary.seen_bytes == rows[i].seen);
        CHECK(binary.pinned_bytes == rows[i].pinned);
        CHECK(binary.references == rows[i].references);
        const auto holders = report.holders_of(binary);
        CHECK(std::vector(holders.begin(), holders.end()) == rows[i].holders);
    }
    CHECK(report.bytes == 7000);
    CHECK(report.seen_bytes == 1120);
    CHECK(report.pinned_bytes == 5880);
    CHECK(report.unknown == 1);
    CHECK(binary_holders({}, size_of).binaries.empty());
}

TEST_CASE("garbage keeps a binary, and shows nothing of it", "[binaries]") {
    const BinaryHolder one(ProcId{1}), two(ProcId{2});
    const BinaryReport report =
        binary_holders({{0x100, 0, 0, one, true}, {0x200, 0, 0, one, true}, {0x200, 10, 20, two}},
                       [](std::uint64_t) { return Count(100); });
    REQUIRE(report.binaries.size() == 2);
    CHECK(report.garbage == 1);
    CHECK(report.garbage_bytes == 100);
    CHECK(report.bytes == 100);
    CHECK(report.pinned_bytes == 80);
    const BinaryHolders& dead = report.binaries[0];
    CHECK(dead.references == 0);
    CHECK(dead.garbage_holders == 1);
    CHECK_FALSE(dead.pinned_bytes.has());
    const BinaryHolders& both = report.binaries[1];
    CHECK(both.references == 1);
    CHECK(both.garbage_holders == 1);
    CHECK(both.holders == 2);
    CHECK(both.seen_bytes == 20);
}

TEST_CASE("idle processes are those that wait for whatever comes, with large heaps of one kind", "[idle]") {
    constexpr std::uint64_t kib64 = 8192, mib8 = 1u << 20;  // words
    struct Made : test::MadeSnapshot {
        FunctionId begins = function("shop", "init", 1), loops = function("shop", "loop", 1),
                   other = function("bank", "loop", 1), calls = function("gen", "do_call", 4);
        std::uint32_t number = 1;
        Made() { s.source.word_size = 8; }
        Process& add(FunctionId current, std::uint64_t heap, std::uint64_t old_heap) {
            Process& p = process(number++);
            p.initial_call = begins;
            p.current_function = current;
            p.heap_words = heap;
            p.old_heap_words = old_heap;
            return p;
        }
        std::vector<std::vector<std::uint32_t>> groups() {
            std::vector<std::vector<std::uint32_t>> all;
            for (const IdleGroup& group : idle_groups(seal())) all.push_back(test::numbers(s, group.members));
            return all;
        }
    };
    using Groups = std::vector<std::vector<std::uint32_t>>;
    const auto with = [&](const std::function<void(Made&)>& change) {
        Made made;
        made.add(made.loops, mib8 / 2, mib8 / 2);
        change(made);
        return made.groups();
    };
    CHECK(with([](Made&) {}) == Groups{{1}});
    CHECK(with([](Made& m) { m.s.processes[0].heap_words = mib8 / 2 - 1; }).empty());
    CHECK(with([](Made& m) { m.s.processes[0].state = ProcessState::runnable; }).empty());
    CHECK(with([](Made& m) { m.s.processes[0].sensitive = true; }).empty());
    CHECK(with([](Made& m) { m.s.processes[0].registers_lost = true; }).empty());
    CHECK(with([](Made& m) { m.s.processes[0].current_function = m.calls; }).empty());
    // 64 KiB each
    CHECK(with([](Made& m) { m.add(m.loops, kib64 - 1, 1), m.add(m.loops, kib64 - 1, 0), m.add(m.loops, 0, kib64); }) ==
          Groups{{1, 2, 4}});
    // a tenth of what the node used: of its own sum, or of all heaps
    CHECK(with([](Made& m) { m.s.memory.push_back({m.text("total"), 80 * mib8, {}}); }) == Groups{{1}});
    CHECK(with([](Made& m) { m.s.memory.push_back({m.text("total"), 80 * mib8 + 10, {}}); }).empty());
    CHECK(with([](Made& m) { m.add(m.loops, 9 * mib8, 0).state = ProcessState::running; }) == Groups{{1}});
    CHECK(with([](Made& m) { m.add(m.loops, 9 * mib8 + 10, 0).state = ProcessState::running; }).empty());
    // by where they began and where they are, the largest first
    CHECK(with([](Made& m) { m.add(m.other, 2 * mib8, 0), m.add(m.loops, mib8 / 2, 0); }) == Groups{{2}, {1, 3}});
    CHECK(with([](Made& m) { m.add(m.loops, mib8, 0).initial_call = m.other; }) == Groups{{1}, {2}});
    Made made;
    for (int i = 0; i < 40; ++i) made.add(made.loops, mib8 / 8, mib8 / 8);
    made.add(made.other, 2 * mib8, 0).heap_unused_words = mib8;
    made.s.processes.back().old_heap_unused_words = 0;
    made.s.processes.back().fragment_words = 0;
    const std::vector<IdleGroup> groups = idle_groups(made.seal());
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].heap_bytes == 8 * 10 * mib8);
    CHECK(groups[0].initial_call == made.begins);
    CHECK(groups[0].current_function == made.loops);
    // sixteen of forty, spread evenly, each with a quarter of a MiB of words; then the one with what it uses
    CHECK(test::numbers(made.s, idle_samples(made.s, groups, 100 * mib8)) ==
          std::vector<std::uint32_t>{1, 3, 6, 8, 11, 13, 16, 18, 21, 23, 26, 28, 31, 33, 36, 38, 41});
    CHECK(test::numbers(made.s, idle_samples(made.s, groups, mib8)) == std::vector<std::uint32_t>{1, 3, 6, 8});
    CHECK(test::numbers(made.s, idle_samples(made.s, groups, mib8 - 1)) == std::vector<std::uint32_t>{1, 3, 6});
    CHECK(test::numbers(made.s, idle_samples(made.s, groups, 5 * mib8)).size() == 17);
    CHECK(test::numbers(made.s, idle_samples(made.s, groups, 5 * mib8 - 1)).size() == 16);
    // heaps stand for others of a group that are not much larger
    {
        Made six;
        for (int i = 0; i < 4; ++i) six.add(six.loops, mib8 / 2, 0);
        six.add(six.loops, 4 * mib8 / 2, 0);
        six.add(six.loops, 4 * mib8 / 2 + 1, 0);
        const std::vector<IdleGroup> alike = idle_groups(six.seal());
        REQUIRE(alike.size() == 1);
        const std::vector<ProcId>& all = alike[0].members;
        REQUIRE(all.size() == 6);
        const IdleGroup small = stood_for(six.s, alike[0], {all[0]});
        CHECK(small.members == std::vector<ProcId>(all.begin(), all.begin() + 5));
        CHECK(small.heap_bytes == alike[0].heap_bytes - (4 * mib8 / 2 + 1) * 8);
        CHECK(stood_for(six.s, alike[0], {all[0], all[5]}).members == all);
        CHECK(stood_for(six.s, alike[0], {}).members.empty());
        // what is left is no group
        Made few;
        few.add(few.loops, mib8 / 16, 0);
        few.add(few.loops, 2 * mib8, 0);
        const IdleGroup group = idle_groups(few.seal()).at(0);
        CHECK(stood_for(few.s, group, {group.members[0]}).members.empty());
    }
}

TEST_CASE("roots of a process are of a frame, its dictionary, its messages, or of none of these", "[heaps]") {
    const auto place = [](RootKind kind, std::uint32_t frame = no_frame) {
        Root root;
        root.kind = kind;
        root.frame = frame;
        return place_of(root);
    };
    CHECK(place(RootKind::stack, 7) == 7);
    CHECK(place(RootKind::stack) == PlaceWords::other);
    CHECK(place(RootKind::dictionary) == PlaceWords::dictionary);
    CHECK(place(RootKind::message) == PlaceWords::messages);
    CHECK(place(RootKind::seq_trace_token) == PlaceWords::messages);
    CHECK(place(RootKind::garbage) == PlaceWords::nowhere);
}
