// SPDX-License-Identifier: Apache-2.0
// Culprits that are told by what names them, or by nothing: the one process in a frame, who has suspended another, who
// has forgotten its callers, memory that nobody is known to have, items of lists.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analyses/heaps/item_names.hpp"
#include "analyses/heaps/put_off.hpp"
#include "analyses/processes/application_starts.hpp"
#include "analyses/processes/named_waits.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace named_test {
namespace {

struct Named : test::MadeNode {
    /// The process added last names another one in its youngest frame.
    void names(std::uint32_t target, std::uint8_t frame = 0) {
        StackSlot held;
        held.kind = StackSlot::Kind::pid;
        held.frame = frame;
        held.pid = {0, target, 0};
        held.process = static_cast<ProcId>(s.processes.size() - 1);
        s.slots.push_back(held);
    }
    /// A process that waits by hand for the one that it names, called by another function.
    Process& asks(std::uint32_t number, std::uint32_t target, std::string_view in = "ask") {
        Process& p = at(number, {function("shop", in, 1), function("shop", "work", 2)});
        names(target);
        return p;
    }
    void relates(LinkKind kind, std::uint32_t target) {
        Link link;
        link.kind = kind;
        link.pid = {0, target, 0};
        link.ref = {7, 7, target};
        s.processes.back().link_range = {static_cast<std::uint32_t>(s.links.size()), 1};
        s.links.push_back(link);
    }
    /// A process in a call to `target`, proved by its monitor.
    void calls(std::uint32_t number, std::uint32_t target, std::string_view name = {}) {
        at(number, {function("gen", "do_call", 4), function("gen_server", "call", 3), function("shop", "buy", 1)},
           name);
        relates(LinkKind::monitors, target);
        holds(s.links.back().ref);
    }
};

}  // namespace

TEST_CASE("a circle that the only process in a frame closes is a deadlock", "[named]") {
    for (const bool closes : {true, false}) {
        Named node;
        node.calls(1, 2, "accounts");
        node.asks(2, closes ? 3 : 4).parent = {0, 3, 0};  // relatives, which tells nothing outside of a circle
        node.calls(3, 1);
        node.idle(4);
        for (std::uint32_t i = 0; i < 20; ++i) node.calls(10 + i, 1);
        const auto found = test::of(node.told(), "wait-cycle");
        REQUIRE(found.size() == (closes ? 1 : 0));
        if (!closes) continue;
        CHECK(found[0].confidence == Confidence::estimate);
        CHECK(found[0].title_alone().starts_with("Deadlock of 3 processes: accounts <0.1.0> waits for <0.2.0> "));
        CHECK(found[0].title_alone().ends_with("; 20 wait behind them"));
    }
    Named guesses;  // of which nothing is proved
    guesses.asks(1, 2).parent = {0, 2, 0};
    guesses.asks(2, 1);
    CHECK(waits(guesses.seal()).cycles.empty());
}

TEST_CASE("who waits by hand waits for the only process that it names, where the two are not related", "[named]") {
    const auto edges = [](auto&& change) {
        Named node;
        node.idle(1, "server");
        node.asks(2, 1);
        change(node);
        return waits(node.seal()).edges;
    };
    const auto plain = edges([](Named&) {});
    REQUIRE(plain.size() == 1);
    CHECK(plain[0].via == "by_hand");
    CHECK(plain[0].confidence == Confidence::estimate);
    CHECK(plain[0].target.process == ProcId{0});
    CHECK(edges([](Named& node) { node.relates(LinkKind::monitors, 1); }).size() == 1);
    CHECK(edges([](Named& node) { node.relates(LinkKind::link, 1); }).empty());
    CHECK(edges([](Named& node) { node.s.processes.back().parent = {0, 1, 0}; }).empty());
    CHECK(edges([](Named& node) { node.s.processes.front().parent = {0, 2, 0}; }).empty());
    CHECK(edges([](Named& node) { node.s.processes.front().state = ProcessState::suspended; }).empty());
    CHECK(edges([](Named& node) { node.idle(3), node.asks(4, 1), node.names(3); }).size() == 1);
    CHECK(edges([](Named& node) {  // a loop takes what comes
              node.s.processes.back().current_function = node.function("shop", "loop", 1);
          })
              .empty());
    CHECK(edges([](Named& node) {  // and a crowd is told by where it is
              for (std::uint32_t i = 0; i < 9; ++i) node.asks(10 + i, 1);
          })
              .empty());
    CHECK(edges([](Named& node) {
              for (std::uint32_t i = 0; i < 8; ++i) node.asks(10 + i, 1);
          }).size() == 9);
}

TEST_CASE("only the youngest frame names, and a process that it names twice is one", "[named]") {
    Named node;
    node.idle(1);
    node.idle(2);
    node.asks(3, 1);
    node.names(1);
    node.names(2, 1);
    node.asks(4, 1);
    node.names(2);
    node.asks(5, 77);  // has ended
    node.asks(6, 6);   // itself
    const std::vector<ProcId> found = only_named(node.seal());
    CHECK(found == std::vector{ProcId::none, ProcId::none, ProcId{0}, ProcId::none, ProcId::none, ProcId::none});
}

TEST_CASE("work that stands still goes before the garbage that it keeps", "[named]") {
    for (const bool rests : {true, false}) {
        Named node;
        for (std::uint32_t i = 0; i < 40; ++i) {
            Process& connection = node.at(100 + i, {node.function("web", "loop", 1)});
            connection.msgq_len = rests ? 0 : 3;
            node.asks(200 + i, 100 + i, "body").parent = {0, 100 + i, 0};
        }
        const auto found = node.told();
        const auto place = test::of(found, "same-place");
        REQUIRE(place.size() == 1);
        CHECK(place[0].title_alone() ==
              "40 of 80 processes (50 %) wait in shop:body/1, called by shop:work/2, most likely each for the process "
              "that it names, which sits in web:loop/1");
        CHECK(place[0].leads == rests);
        CHECK(place[0].severity == FindingSeverity::medium);
    }
}

TEST_CASE("of a node that stops a circle is told as what keeps it from stopping", "[named]") {
    Named node;
    node.at(1,
            {node.function("application_master", "call", 2), node.function("application_controller", "stop_appl", 3)},
            "application_controller");
    node.relates(LinkKind::monitors, 2);
    StackSlot held;
    held.kind = StackSlot::Kind::reference;
    held.words = 3;
    held.ref = node.s.links.back().ref;
    held.process = ProcId{0};
    node.s.slots.push_back(held);
    node.at(2, {node.function("application_master", "terminate_loop", 2)});
    node.names(3);
    node.at(3, {node.function("supervisor", "shutdown", 1)}, "shop_sup");
    node.names(4);
    node.calls(4, 1, "vnode");
    node.s.processes.back().stack =
        node.stack({node.function("gen", "do_call", 4), node.function("gen_server", "call", 3),
                    node.function("application", "start", 2), node.function("db", "open", 1)});
    node.at(5, {node.function("init", "shutdown_loop", 4), node.function("init", "stop", 3)}, "init");
    for (std::uint32_t i = 0; i < 20; ++i) node.idle(10 + i);
    ApplicationStarts starts;
    starts.known = true;
    starts.masters.push_back({"shop", {0, 2, 0}});
    const auto found = node.told([&](Facts& facts) { facts.put(starts); });
    REQUIRE(!found.empty());
    CHECK(found[0].rule == "wait-cycle");
    CHECK(found[0].title_alone() ==
          "Deadlock of 4 processes: the node stops and waits for vnode <0.4.0> to end, which waits for "
          "application_controller <0.1.0> in db:open/1, and that one for the stop");
}

TEST_CASE("a pool all of whose users wait for it themselves is a deadlock", "[named]") {
    for (const bool all : {true, false}) {
        Named node;
        node.idle(1, "pool");
        node.s.processes.back().link_range = {static_cast<std::uint32_t>(node.s.links.size()), 2};
        for (const std::uint32_t user : {2u, 3u}) {
            Link link;
            link.kind = LinkKind::monitors;
            link.pid = {0, user, 0};
            link.ref = {9, 9, user};
            node.s.links.push_back(link);
        }
        node.calls(2, 12);
        node.calls(3, all ? 13 : 4);
        node.at(4, {node.function("shop", "query", 1)});
        for (std::uint32_t i = 0; i < 20; ++i) node.calls(10 + i, 1);
        const auto found = test::of(node.told(), "wait-convoy");
        REQUIRE(found.size() == 1);
        CHECK(found[0].title_alone().starts_with("Deadlock through a pool: ") == all);
        CHECK((found[0].title_alone().find("gives something back, and all of these wait for it, too, through others") !=
               std::string::npos) == all);
        CHECK((found[0].words.find("Make the pool larger") == std::string::npos) == all);
    }
}

TEST_CASE("who has suspended a process is said", "[named]") {
    const auto title = [](bool told, std::uint32_t candidates) {
        Named node;
        node.at(1, {node.function("gen_server", "loop", 7)}, "cart").state = ProcessState::suspended;
        if (told) node.relates(LinkKind::suspended_by, 50);
        for (std::uint32_t i = 0; i < candidates; ++i) node.asks(50 + i, 1, "freeze");
        for (std::uint32_t i = 0; i < 20; ++i) node.calls(10 + i, 1);
        const auto found = test::of(node.told(), "wait-convoy");
        REQUIRE(found.size() == 1);
        return found[0].title_alone();
    };
    CHECK(title(false, 1).ends_with(
        "it is suspended in gen_server:loop/7, most likely by <0.50.0>, which sits in shop:freeze/1"));
    CHECK(title(true, 2).ends_with("it is suspended in gen_server:loop/7, by <0.50.0>, which sits in shop:freeze/1"));
    CHECK(title(false, 2).ends_with("it is suspended in gen_server:loop/7"));
    CHECK(title(false, 0).ends_with("it is suspended in gen_server:loop/7"));
}

TEST_CASE("an owner's only child that stands still is told with the table", "[named]") {
    for (const std::uint32_t children : {1u, 2u}) {
        Named node;
        node.memory("total", 20 * test::mebibyte);
        node.idle(1, "batch");
        for (std::uint32_t i = 0; i < children; ++i)
            node.at(2 + i, {node.function("shop", "export", 3), node.function("shop", "run", 1)}).parent = {0, 1, 0};
        EtsTable table;
        table.owner = {0, 1, 0};
        table.name = node.text("spans");
        table.words = 10 * test::mebibyte / 8;
        table.objects = 100;
        node.s.ets.push_back(table);
        const auto found = test::of(node.told(), "ets-growth");
        REQUIRE(found.size() == 1);
        CHECK(found[0].title_alone().ends_with(
                  "its owner is batch <0.1.0>, which has started <0.2.0>, and that one sits in shop:export/3") ==
              (children == 1));
    }
}

TEST_CASE("memory that nobody is known to have is a finding", "[named]") {
    const auto told = [](std::uint64_t untold, std::uint64_t total, std::string_view allocator,
                         std::uint64_t of_nodes = 0) {
        Named node;
        node.memory("total", total + of_nodes);
        node.memory("processes", total - untold);
        node.s.areas.push_back({node.text("dist_table"), of_nodes, {}});
        AllocatorInstance made;
        made.name = node.text(allocator);
        AllocatorInstance::Line blocks;
        blocks.key = node.text("mbcs blocks size");
        blocks.numbers[0] = untold;
        made.lines.push_back(blocks);
        node.s.allocators.push_back(made);
        return test::of(node.told(), "untold-memory");
    };
    constexpr std::uint64_t mebibyte = test::mebibyte;
    CHECK(told(32 * mebibyte - 1, 64 * mebibyte, "std_alloc").empty());
    CHECK(told(32 * mebibyte, 129 * mebibyte, "std_alloc").empty());
    CHECK(told(32 * mebibyte, 128 * mebibyte, "std_alloc").at(0).severity == FindingSeverity::medium);
    CHECK(told(64 * mebibyte - 1, 100 * mebibyte, "std_alloc").at(0).severity == FindingSeverity::medium);
    CHECK(told(64 * mebibyte, 128 * mebibyte, "std_alloc").at(0).severity == FindingSeverity::high);
    CHECK(told(64 * mebibyte, 128 * mebibyte, "std_alloc").at(0).title_alone() ==
          "64.0 MiB (50 % of the node's memory) belong to no process, table, binary or module: most likely arrays of "
          "atomics or counters, which lie in std_alloc");
    const auto about_nodes = [&](std::uint64_t of_nodes) {
        return told(64 * mebibyte, 128 * mebibyte, "std_alloc", of_nodes).at(0).title_alone();
    };
    CHECK(about_nodes(16 * mebibyte - 1).find("atomics") != std::string::npos);
    CHECK(about_nodes(16 * mebibyte) ==
          "80.0 MiB (56 % of the node's memory) are entries of other nodes whose names this one has met, and the "
          "tables of these");
    CHECK(told(64 * mebibyte, 128 * mebibyte, "driver_alloc").at(0).title_alone() ==
          "64.0 MiB (50 % of the node's memory) are of native code, which has them by driver_alloc: resources of NIFs "
          "such as zlib streams, or data of drivers");
    CHECK(
        told(64 * mebibyte, 128 * mebibyte, "sl_alloc").at(0).title_alone().ends_with("; most of it lies in sl_alloc"));
    CHECK(told(64 * mebibyte, 128 * mebibyte, "eheap_alloc").at(0).title_alone().ends_with("binary or module"));
}

namespace {

// What is told of a gen_server with this State, ten callers and nothing in its queue.
std::vector<PutOff> forgetful(const std::string& state, const std::string& heap, const std::string& more_links = "") {
    const auto process = [](const std::string& pid, std::string_view as, const std::string& more, std::string_view in) {
        return "=proc:" + pid + "\nState: Waiting\nSpawned as: " + std::string(as) +
               "\nSpawned by: <0.1.0>\nMessage queue length: 0\n" + more +
               "Stack+heap: 233\nOldHeap: 0\nProgram counter: 0x1 (" + std::string(in) + " + 8)\n";
    };
    std::string links = more_links, waiting;
    for (int i = 0; i < 10; ++i) {
        const std::string pid = "<0." + std::to_string(100 + i) + ".0>";
        links += (links.empty() ? "{from," : ", {from,") + pid + ",#Ref<0.0.0." + std::to_string(10 + i) + ">}";
        waiting += process(pid, "my:work/1", "", "gen:do_call/4");
    }
    const std::string text =
        test::header() + process("<0.50.0>", "my:feed/0", "Link list: [" + links + "]\n", "gen_server:loop/7") +
        process("<0.51.0>", "my:other/0", "", "my:query/1") + waiting +
        "=proc_stack:<0.50.0>\ny0:N\ny1:A8:infinity\ny2:A2:my\ny3:" + state +
        "\ny4:A4:feed\ny5:P<0.50.0>\n0x00007fad1c217d74:SReturn addr 0x1 (proc_lib:init_p_do_apply/3 + 8)\n"
        "=proc_heap:<0.50.0>\n" +
        heap + "=end\n";
    LoadPlan plan = test::everything();
    plan.terms = true;
    plan.terms_of = MayPutOff();
    const auto dump = test::load(text, plan);
    REQUIRE(dump != nullptr);
    return put_off(*dump);
}

}  // namespace

TEST_CASE("a server that knows nobody who waits for it has forgotten them", "[named]") {
    const auto plain = forgetful("H2000", "2000:t2:A5:state,I1\n");
    REQUIRE(plain.size() == 1);
    CHECK(plain[0].why == PutOff::Why::forgotten);
    CHECK(plain[0].count == 10);
    CHECK(forgetful("A2:ok", "").size() == 1);
    CHECK(forgetful("H2000", "2000:t2:A5:state,P<0.100.0>\n").empty());  // a caller, without its tag
    CHECK(forgetful("H2000", "2000:t2:A5:state,P<0.51.0>\n").empty());   // somebody who may answer
    CHECK(forgetful("H2000", "2000:t2:A5:state,I1\n", "<0.51.0>").empty());
    // A connection answers nobody.
    CHECK(forgetful("H2000", "2000:t2:A5:state,I1\n", "#Port<0.6>").size() == 1);
}

TEST_CASE("items of lists are called by what they say of themselves", "[named]") {
    const auto step = [](const std::string& item, const std::string& heap) {
        const std::string text =
            test::header() + test::process("<0.50.0>") +
            "=proc_stack:<0.50.0>\n0x00007fad1c217d74:SReturn addr 0x1 (my:work/1 + 8)\ny0:" + item +
            "\n=proc_heap:<0.50.0>\n" + heap + "=end\n";
        LoadPlan plan = test::everything();
        plan.terms = true;
        const auto artifact = test::load(text, plan);
        REQUIRE(artifact != nullptr);
        auto terms = artifact->terms(ProcId{0});
        REQUIRE(terms);
        return present::plain_text(artifact->snapshot(), item_step(**terms, (*terms)->root(0), 3));
    };
    CHECK(step("H2000", "2000:t3:A7:handler,A7:my_file,I1\n") == "handler my_file");
    CHECK(step("H2000", "2000:t3:A7:handler,A4:true,I1\n") == "item 3");
    CHECK(step("H2000", "2000:t2:A7:handler,A7:my_file\n") == "item 3");
    CHECK(step("H2000", "2000:t3:I7,A7:my_file,I1\n") == "item 3");
    CHECK(step("I5", "") == "item 3");
    CHECK(step("H2000", "2000:Mf2:H2100:A4:shop,I7\n2100:t2:A4:name,A4:size\n") == "name shop");
    CHECK(step("H2000", "2000:Mf2:H2100:I9,I7\n2100:t2:A2:id,A4:size\n") == "id 9");
    CHECK(step("H2000", "2000:Mf2:H2100:I9,I7\n2100:t2:A3:age,A4:size\n") == "item 3");
}

}  // namespace named_test
