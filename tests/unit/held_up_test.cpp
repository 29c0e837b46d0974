// SPDX-License-Identifier: Apache-2.0
// Who is held up where no list of functions tells for whom: many in one place, programs that were started, and callers
// that a server keeps; on snapshots made by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "analyses/facts/catalogue/application_starts.hpp"
#include "analyses/heaps/put_off.hpp"
#include "analyses/processes/waits.hpp"
#include "analyses/rules/rules.hpp"
#include "present/spelling.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

struct Untold : test::MadeSnapshot {
    std::vector<Finding> found;

    void holds_port(std::uint64_t number) {
        StackSlot held;
        held.kind = StackSlot::Kind::port;
        held.port.number = number;
        held.process = static_cast<ProcId>(s.processes.size() - 1);
        s.slots.push_back(held);
    }
    void program(std::uint64_t number, std::uint32_t owner, std::string_view kind = "external process") {
        Port port;
        port.port.number = number;
        port.connected = {0, owner, 0};
        port.kind = text(kind);
        port.driver = text("/usr/bin/convert -");
        s.ports.push_back(port);
    }
    /// The first finding of a rule; nullptr: none.
    const Finding* first(std::string_view rule, const std::vector<PutOff>& put_off = {}) {
        seal();
        found = test::findings_of(s, [&](Facts& facts) { facts.put(PutOffs{put_off}); });
        return test::first_of(found, rule);
    }
    std::string title(const Finding* finding) {
        return finding == nullptr ? "" : present::plain_text(s, finding->title);
    }
};

// Processes in one place, among others.
struct Place {
    std::uint32_t members = 20, others = 80;
    std::string module = "my", name = "fetched";
    std::string caller = "my";
    std::uint32_t of_one = 15;  // have been started by the same
    bool waits = true;
    std::uint32_t started = 0;  // of them have started one each
    std::string started_in = "render";
    mutable std::string advice;  // its first step

    std::string said() const {
        Untold node;
        const FunctionId in = node.function(module, name, 1);
        for (std::uint32_t i = 0; i < members; ++i) {
            Process& p =
                node.at(100 + i, caller.empty() ? std::vector{in} : std::vector{in, node.function(caller, "work", 2)});
            p.parent = {0, i < of_one ? 5 : 1000 + i, 0};
            if (!waits) p.state = ProcessState::runnable;
        }
        for (std::uint32_t i = 0; i < started; ++i) {
            const std::string_view own = i == 0 ? std::string_view(started_in) : "render";
            node.at(300 + i, {own == "loop" ? node.function("gen_server", own, 7) : node.function("my", own, 1)})
                .parent = {0, 100 + i, 0};
        }
        node.idle(5, "front");
        for (std::uint32_t i = 1 + started; i < others; ++i) node.idle(10'000 + i);
        const Finding* const finding = node.first("same-place");
        if (finding != nullptr) CHECK(finding->severity == FindingSeverity::medium);
        if (finding != nullptr) CHECK(finding->count == Count(members));
        if (finding != nullptr) advice = present::plain_text(node.s, finding->next_steps.front());
        return node.title(finding);
    }
};

}  // namespace

TEST_CASE("many who are in one place, called by the same function, are told with who has started them", "[stalled]") {
    const Place place;
    CHECK(place.said() ==
          "20 of 100 processes (20 %) wait in my:fetched/1, called by my:work/2; front <0.5.0> has started them");
    CHECK(place.advice.starts_with("Look at what my:work/2 waits for there, and who should send it: "));
    Place other;
    SECTION("started by several") {
        other.of_one = 14;
        CHECK(other.said() == "20 of 100 processes (20 %) wait in my:fetched/1, called by my:work/2");
    }
    SECTION("each has started one, which is held up") {
        other.started = 15;
        CHECK(other.said() ==
              "20 of 100 processes (20 %) wait in my:fetched/1, called by my:work/2; those whom they have started sit "
              "in my:render/1");
        other.started = 14;
        CHECK(other.said().ends_with("; front <0.5.0> has started them"));
    }
    SECTION("each has started one, and one of those is elsewhere, or idle") {
        other.started = 15;
        other.started_in = GENERATE("send", "loop");
        CHECK(other.said().ends_with("; front <0.5.0> has started them"));
    }
    SECTION("asleep: they are at rest, unless something ties them together") {
        other.module = "timer";
        other.name = "sleep";
        CHECK(other.said().empty());
        other.started = 15;
        CHECK(other.said().starts_with("20 of 100 processes (20 %) sleep in timer:sleep/1, called by my:work/2"));
    }
}

TEST_CASE("fewer, and those who are there for what comes next, are not told", "[stalled]") {
    Place place;
    SECTION("few") { place.members = 19, place.others = 19; }
    SECTION("among many") { place.others = 81; }
    SECTION("a loop, which nothing has called") { place.caller = ""; }
    SECTION("a loop that proc_lib has called") { place.caller = "proc_lib"; }
    SECTION("a loop of OTP's") { place.module = "gen_server", place.name = "loop"; }
    SECTION("readers of connections") { place.module = "prim_inet"; }
    SECTION("below whom a connection is read") { place.caller = "socket"; }
    SECTION("who does not wait") { place.waits = false; }
    CHECK(place.said().empty());
}

TEST_CASE("beside many who are at rest a crowd is told where one of it was asked, or all have messages", "[stalled]") {
    const auto told = [](std::uint32_t members, std::uint64_t of_one, std::uint64_t of_each, std::uint64_t table = 0) {
        Untold node;
        const std::vector frames{node.function("acks", "await", 2), node.function("shop", "dispatch", 1)};
        for (std::uint32_t i = 0; i < members; ++i) node.at(100 + i, frames).msgq_len = i == 0 ? of_one : of_each;
        for (std::uint32_t i = 0; i < 300; ++i) node.idle(1000 + i);
        node.idle(5, "cache");
        if (table != 0) {
            EtsTable& cache = node.s.ets.emplace_back();
            cache.name = node.text("cache");
            cache.owner = {0, 5, 0};
            cache.words = table >> 3;
            cache.objects = 40'000;
            node.s.memory.push_back({node.text("total"), 2 * table});
        }
        const Finding* const finding = node.first("same-place");
        if (finding != nullptr && table != 0) CHECK(node.found.front().rule == "same-place");
        return node.title(finding);
    };
    CHECK(told(25, 24, 0) ==
          "25 of 326 processes (7.7 %) wait in acks:await/2, called by shop:dispatch/1; one of them, <0.100.0>, has 24 "
          "messages in its queue, and most likely what the others wait for is to come from it");
    CHECK(told(25, 12, 0).empty());  // half of them would be 13
    CHECK(told(19, 24, 0).empty());  // too few
    CHECK(
        told(12, 1, 1).starts_with("12 of 313 processes (3.8 %) wait in acks:await/2, called by shop:dispatch/1, each "
                                   "with messages that it does not take there"));
    CHECK(told(9, 1, 1).empty());
    // A table that may be as large as it is meant to be comes behind.
    CHECK(told(25, 24, 0, 22u << 20).starts_with("25 of 326 processes"));
}

TEST_CASE("who has started a program, and waits for what it says, waits for that", "[stalled]") {
    struct Case {
        bool called = true, own = true, two = false;
        std::string_view kind = "external process";
    };
    const auto edges = [](const Case& each) {
        Untold node;
        std::vector<FunctionId> frames{node.function("my", "convert", 2)};
        if (each.called) frames.push_back(node.function("my", "convert_all", 1));
        node.at(10, frames);
        node.holds_port(7);
        if (each.two) node.holds_port(8);
        node.program(7, each.own ? 10 : 11, each.kind);
        node.program(8, 10, each.kind);
        node.idle(11);
        node.seal();
        const Waits found = waits(node.s);
        if (found.edges.size() == 1) {
            CHECK(found.edges[0].target.port.number == 7);
            CHECK(found.edges[0].via == "by_hand");
            CHECK(found.edges[0].confidence == Confidence::estimate);
        }
        return found.edges.size();
    };
    CHECK(edges({}) == 1);
    CHECK(edges({.called = false}) == 0);  // a loop
    CHECK(edges({.own = false}) == 0);
    CHECK(edges({.two = true}) == 0);
    CHECK(edges({.kind = "linked-in driver"}) == 0);
}

TEST_CASE("those who wait for programs in receives of their own are counted together", "[stalled]") {
    for (const std::uint32_t count : {9u, 10u}) {
        Untold node;
        for (std::uint32_t i = 0; i < count; ++i) {
            node.at(10 + i, {node.function("my", "convert", 2), node.function("my", "convert_all", 1)});
            node.holds_port(100 + i);
            node.program(100 + i, 10 + i);
        }
        for (std::uint32_t i = 0; i < 40; ++i) node.idle(1000 + i);
        const std::string title = node.title(node.first("stuck-servers"));
        CHECK(title == (count == 9 ? ""
                                   : "10 of 50 processes (20 %) wait for 10 programs that they have started; they sit "
                                     "in my:convert/2, called by my:convert_all/1"));
    }
}

namespace {

// A gen_server that keeps its callers, and whom its State names.
std::optional<PutOff> kept(const std::string& state, const std::string& heap, std::size_t callers,
                           std::string_view holder_kind) {
    const auto process = [](const std::string& pid, std::string_view name, std::string_view as, const std::string& more,
                            std::string_view in) {
        return "=proc:" + pid + "\nState: Waiting\n" + std::string(name) + "Spawned as: " + std::string(as) +
               "\nSpawned by: <0.1.0>\n" + more + "Stack+heap: 233\nOldHeap: 0\nProgram counter: 0x1 (" +
               std::string(in) + " + 8)\n";
    };
    std::string links, waiting, queue;
    for (std::size_t i = 0; i < callers; ++i) {
        const std::string pid = "<0." + std::to_string(100 + i) + ".0>";
        const auto at = [i](std::size_t part) { return std::to_string(3000 + i * 30 + part * 10); };
        links += (links.empty() ? "{from," : ", {from,") + pid + ",#Ref<0.0.0." + std::to_string(10 + i) + ">}";
        waiting += process(pid, "", "my:work/1", "", "gen:do_call/4");
        queue += at(0) + ":lH" + at(1) + "|" + (i + 1 < callers ? "H" + at(3) : "N") + "\n" + at(1) + ":t2:P" + pid +
                 ",H" + at(2) + "\n" + at(2) + ":lA5:alias|N\n";
    }
    const std::string text =
        test::header() +
        process("<0.50.0>", "Name: lock\n", "my:lock/0", "Link list: [" + links + "]\n", "gen_server:loop/7") +
        process("<0.51.0>", "", holder_kind, "", "my:query/1") +
        process("<0.52.0>", "", "my:work/1", "", "my:query/1") + waiting +
        "=proc_stack:<0.50.0>\ny0:N\ny1:A8:infinity\ny2:A2:my\ny3:" + state +
        "\ny4:A4:lock\ny5:P<0.50.0>\n0x00007fad1c217d74:SReturn addr 0x1 (proc_lib:init_p_do_apply/3 + "
        "8)\n=proc_heap:<0.50.0>\n" +
        heap + queue + "=end\n";
    LoadPlan plan = test::everything();
    plan.terms = true;
    plan.terms_of = MayPutOff();
    const auto dump = test::load(text, plan);
    REQUIRE(dump != nullptr);
    const std::vector<PutOff> all = put_off(*dump);
    if (all.empty()) return std::nullopt;
    return all.front();
}

}  // namespace

TEST_CASE("of a server that keeps its callers those are told whom its State names beside them", "[stalled]") {
    constexpr std::string_view like = "my:work/1", other = "my:other/0";
    const auto in_fields = [&](std::string_view pid, std::string_view kind, std::size_t callers = 10) {
        return kept("H2000", "2000:t3:A4:lock,P" + std::string(pid) + ",H3000\n", callers, kind);
    };
    const auto in_list = [&](std::string_view kind) {
        return kept("H2000", "2000:t3:A4:pool,H2100,H3000\n2100:lP<0.51.0>|H2110\n2110:lP<0.52.0>|N\n", 10, kind);
    };
    CHECK_FALSE(in_fields("<0.51.0>", other, 9).has_value());
    const auto numbers = [](const std::optional<PutOff>& why) {
        REQUIRE(why.has_value());
        CHECK(why->why == PutOff::Why::kept);
        CHECK(why->count == 10);
        return why->named.size();
    };
    CHECK(numbers(in_fields("<0.51.0>", other)) == 1);  // a field of its own, whatever it is
    CHECK(numbers(in_fields("<0.51.0>", like)) == 1);
    CHECK(numbers(in_list(like)) == 2);                  // of the callers' kind, wherever they stand
    CHECK(numbers(in_list(other)) == 1);                 // only the one of that kind
    CHECK(numbers(in_fields("<0.100.0>", other)) == 0);  // one of the callers
    CHECK(numbers(in_fields("<0.50.0>", other)) == 0);   // itself
    const auto ended = in_fields("<0.99.0>", other);
    CHECK(numbers(ended) == 0);
    CHECK(ended->ended == Pid{0, 99, 0});
    CHECK_FALSE(in_fields("<0.51.0>", other)->ended.has());
}

TEST_CASE("whom a server's State names is said, and what that does", "[stalled]") {
    Untold node;
    node.idle(1, "stock_lock");
    node.at(2, {node.function("my", "query", 1)}, "migrator");
    for (std::uint32_t i = 0; i < 12; ++i) {
        node.at(10 + i, {node.function("gen", "do_call", 4), node.function("gen_server", "call", 3)});
        Link asked;
        asked.pid = {0, 1, 0};
        asked.kind = LinkKind::monitors;
        asked.ref = {1, 2, i};
        node.s.processes.back().link_range = {static_cast<std::uint32_t>(node.s.links.size()), 1};
        node.s.links.push_back(asked);
    }
    PutOff why;
    why.why = PutOff::Why::kept;
    why.server = node.s.find({0, 1, 0});
    why.count = 12;
    const std::string none = "...";
    const auto said = [&](std::string_view what) {
        const Finding* const finding = node.first("wait-convoy", {why});
        const std::string title = node.title(finding);
        CHECK(title ==
              "12 of 14 processes (86 %) wait in gen_server:call/3 for stock_lock <0.1.0>; it " + std::string(what));
        REQUIRE(finding != nullptr);
        CHECK(finding->severity == FindingSeverity::medium);
    };
    said("is idle, and keeps 12 callers in its State, unanswered");
    why.ended = {0, 99, 0};
    said("keeps 12 callers, and beside them <0.99.0>, which has ended");
    why.ended = {};
    why.named = {node.s.find({0, 2, 0})};
    said("keeps 12 callers, and beside them migrator <0.2.0>, which sits in my:query/1");
    const auto flagged = [&](ProcId of) {
        why.flag = StateFlag{Ours("its State > key flow"), std::make_shared<OwnedTerm>()};
        why.flag_of = of;
    };
    flagged(why.named.front());
    said("keeps 12 callers, and beside them migrator <0.2.0>: its State > key flow is " + none);
    flagged(why.server);
    said("is idle, and keeps 12 callers in its State; its State > key flow is " + none);
    why.flag.reset();
    why.flag_of = ProcId::none;
    why.named.push_back(why.server);
    said("keeps 12 callers, and beside them 2 others, one in my:query/1");
    // Two of three wait for the same process.
    node.at(3, {node.function("pdf", "render", 1)}, "renderer");
    const auto waits_for_renderer = [&](std::uint32_t number) {
        node.at(number, {node.function("gen", "do_call", 4), node.function("gen_server", "call", 3)});
        Link asked;
        asked.pid = {0, 3, 0};
        asked.kind = LinkKind::monitors;
        node.s.processes.back().link_range = {static_cast<std::uint32_t>(node.s.links.size()), 1};
        node.s.links.push_back(asked);
    };
    waits_for_renderer(4);
    waits_for_renderer(5);
    why.named = {node.s.find({0, 4, 0}), node.s.find({0, 5, 0})};
    const Finding* const all = node.first("wait-convoy", {why});
    CHECK(
        node.title(all).ends_with("it keeps 12 callers, and beside them 2 others, who wait for renderer <0.3.0>, which "
                                  "sits in pdf:render/1"));
    why.named.push_back(node.s.find({0, 2, 0}));
    CHECK(node.title(node.first("wait-convoy", {why}))
              .ends_with("beside them 3 others, 2 of whom wait for renderer <0.3.0>, which sits in pdf:render/1"));
}

TEST_CASE("a start that hangs in a library is told with the function of the program, and the lock", "[stalled]") {
    const auto title = [](const std::vector<std::pair<std::string, std::string>>& calls, std::size_t inside) {
        Untold node;
        std::vector<FunctionId> frames;
        for (const auto& [module, function] : calls) frames.push_back(node.function(module, function, 1));
        frames.push_back(node.function("application_master", "start_it_old", 4));
        node.at(2, frames);
        for (std::size_t i = 0; i < inside; ++i)
            node.at(static_cast<std::uint32_t>(3 + i),
                    {node.function("my", "leads", 1), node.function("global", "trans", 4)}, i == 0 ? "leader" : "");
        node.seal();
        const std::vector<Finding> found = test::findings_of(node.s, [](Facts& facts) {
            ApplicationStarts starts;
            starts.known = true;
            starts.starting = {"portal"};
            facts.put(starts);
        });
        return node.title(test::first_of(found, "start-blocked"));
    };
    CHECK(title({{"timer", "sleep"}, {"portal_app", "await"}, {"portal_app", "start"}}, 0) ==
          "Application portal has not started: <0.2.0> sits in timer:sleep/1, called by portal_app:await/1");
    // What it does itself needs no caller.
    CHECK(title({{"portal_app", "await"}, {"portal_app", "start"}}, 0) ==
          "Application portal has not started: <0.2.0> sits in portal_app:await/1");
    const std::string wants =
        "Application portal has not started: <0.2.0> sits in global:random_sleep/1, called by ha:init/1; ";
    CHECK(title({{"global", "random_sleep"}, {"global", "set_lock"}, {"ha", "init"}}, 1) ==
          wants + "leader <0.3.0> is the only one who can hold a lock of global");
    for (const std::size_t holders : {0u, 2u})
        CHECK(title({{"global", "random_sleep"}, {"global", "set_lock"}, {"ha", "init"}}, holders) ==
              wants + "it wants a lock of global, and has not been given it");
}
