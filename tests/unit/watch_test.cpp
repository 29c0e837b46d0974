// SPDX-License-Identifier: Apache-2.0
// Rounds of a watch: what of made-up nodes grows, what the system says, what is answered to Prometheus.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>

#include "analyses/diagnosis/growth.hpp"
#include "bytes/process_figures.hpp"
#include "cli/watch/metrics_listener.hpp"
#include "cli/watch/watch_condition.hpp"
#include "present/growing.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

// A node with a named process, a table, and processes without names, at a time.
struct Amounts {
    std::uint64_t workers = 10, messages = 0, used_words = 1000, allocated_words = 2000, rows = 10, total = 50 << 20;
};

Snapshot node(double seconds, const Amounts& figures) {
    Snapshot s;
    s.source.live = LiveReading{.pid = 1, .read_at_ms = 1'000'000 + static_cast<std::int64_t>(seconds * 1000)};
    s.node.process_limit = 1000, s.node.atom_limit = 10'000, s.node.atoms = 100;
    const auto add = [&](std::uint32_t number) -> Process& {
        Process& p = s.processes.emplace_back();
        p.pid = {0, number, 0};
        p.initial_call = s.functions.intern({s.texts.intern("shop"), s.texts.intern("worker"), 0});
        p.msgq_len = 0, p.memory_bytes = 3000, p.heap_words = 300, p.heap_unused_words = 100, p.old_heap_words = 0;
        p.old_heap_unused_words = 0, p.fragment_words = 0, p.bin_vheap_words = 0, p.old_bin_vheap_words = 0;
        return p;
    };
    Process& named = add(1);
    named.name = s.texts.intern("orders");
    named.msgq_len = figures.messages;
    named.heap_words = figures.allocated_words;
    named.heap_unused_words = figures.allocated_words - figures.used_words;
    named.memory_bytes = figures.allocated_words * 8;
    for (std::uint32_t i = 0; i < figures.workers; ++i) add(100 + i);
    EtsTable& table = s.ets.emplace_back();
    table.owner = {0, 1, 0};
    table.name = s.texts.intern("sessions");
    table.objects = figures.rows, table.words = figures.rows * 10;
    s.memory.push_back({s.texts.intern("total"), Count(figures.total), {}});
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) s.index_process(ProcId{i});
    s.seal();
    return s;
}

std::vector<Growing> watched(std::size_t rounds, const std::function<void(double, Amounts&)>& at) {
    GrowthWatch watch;
    for (std::size_t i = 0; i < rounds; ++i) {
        Amounts figures;
        at(static_cast<double>(i), figures);
        watch.add(
            node(static_cast<double>(i), figures),
            {.memory_limit_bytes = Count(1u << 30), .memory_left_bytes = Count(100 << 20), .limit_of_group = true});
    }
    return watch.growing();
}

std::uint64_t times(double at, double rate) { return static_cast<std::uint64_t>(at * rate); }

}  // namespace

TEST_CASE("a node that does not change grows in nothing", "[watch]") {
    CHECK(watched(200, [](double, Amounts&) {}).empty());
}

TEST_CASE("processes without a name grow as a group, up to their limit", "[watch]") {
    const auto found = watched(100, [](double at, Amounts& f) { f.workers = 10 + times(at, 2); });
    REQUIRE(found.size() == 1);
    CHECK(found[0].key.what == GrowthOf::process_group);
    CHECK(found[0].key.key == "shop:worker/0");
    CHECK(found[0].key.measure == "processes");
    CHECK(found[0].per_second == Approx(2));
    CHECK(found[0].since_before);
    REQUIRE(found[0].wall);
    CHECK(found[0].wall->kind == WallKind::process_limit);
    CHECK(found[0].wall->limit == 1000);
    CHECK(found[0].wall->seconds == Approx((1000 - (10 + 198 + 1)) / 2.0).epsilon(0.02));
    CHECK(found[0].bytes_per_second.value_or(0) == Approx(6000).epsilon(0.05));
}

TEST_CASE("a queue is told by its messages, a table by its rows, the node behind them", "[watch]") {
    auto found = watched(100, [](double at, Amounts& f) {
        f.messages = times(at, 50), f.used_words = 1000 + times(at, 500), f.allocated_words = f.used_words * 2;
    });
    REQUIRE(found.size() == 1);
    CHECK(found[0].key.key == "orders");
    CHECK(found[0].key.measure == "messages");
    CHECK(found[0].per_second == Approx(50));
    found =
        watched(100, [](double at, Amounts& f) { f.rows = times(at, 300), f.total = (50 << 20) + times(at, 1 << 20); });
    REQUIRE(found.size() == 2);
    CHECK(found[0].key.what == GrowthOf::ets_table);
    CHECK(found[0].key.key == "sessions of orders");
    CHECK(found[0].key.measure == "objects");
    CHECK(found[0].per_second == Approx(300));
    REQUIRE(found[0].wall);
    CHECK(found[0].wall->kind == WallKind::group_memory);
    CHECK(found[0].wall->seconds == Approx(100).epsilon(0.02));
    CHECK(found[1].key.key == "total");
}

TEST_CASE("what a heap uses within what it has allocated is no growth", "[watch]") {
    CHECK(watched(100, [](double at, Amounts& f) {
              f.used_words = 1000 + times(at, 500), f.allocated_words = 1'000'000;
          }).empty());
    const auto found = watched(100, [](double at, Amounts& f) {
        f.used_words = 1000 + times(at, 500), f.allocated_words = 2000 + times(at, 600);
    });
    REQUIRE(found.size() == 1);
    CHECK(found[0].key.measure == "memory");
    CHECK(found[0].per_second == Approx(4000));
}

TEST_CASE("long watches keep what was long ago, and no more", "[watch]") {
    GrowthWatch watch;
    for (int i = 0; i < 2000; ++i) {
        Amounts figures;
        figures.workers = 10 + static_cast<std::uint64_t>(i / 4);
        watch.add(node(i, figures), {});
    }
    const auto found = watch.growing();
    REQUIRE(found.size() == 1);
    CHECK(found[0].per_second == Approx(0.25).epsilon(0.02));
    CHECK(found[0].since_before);
    CHECK(watch.rounds() == 2000);
    CHECK(watch.series() < 1000);
}

TEST_CASE("the nearest limit of memory is found", "[watch]") {
    namespace fs = std::filesystem;
    const fs::path root = fs::temp_directory_path() / "beamheap-watch-test";
    fs::remove_all(root);
    const auto write = [&](const std::string& path, const std::string& text) {
        fs::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text;
    };
    write("proc/7/status", "Name:\tbeam.smp\nVmRSS:\t  2048 kB\nVmSwap:\t  16 kB\n");
    write("proc/7/limits",
          "Limit                     Soft Limit           Hard Limit           Units\nMax open files            1024   "
          "              4096                 files\n");
    write("proc/7/fd/0", "");
    write("proc/7/fd/1", "");
    write("proc/meminfo", "MemTotal:       8192 kB\nMemFree:  10 kB\nMemAvailable:    4096 kB\n");
    bytes::ProcessFigures figures = bytes::process_figures(7, root.string());
    CHECK(figures.resident_bytes == 2048u * 1024);
    CHECK(figures.swapped_bytes == 16u * 1024);
    CHECK(figures.descriptors == 2u);
    CHECK(figures.descriptor_limit == 1024u);
    CHECK(figures.limit_bytes == 8192u * 1024);
    CHECK(figures.left_bytes == 4096u * 1024);
    CHECK(!figures.of_group);
    write("proc/7/cgroup", "0::/shop/node\n");
    write("sys/fs/cgroup/shop/node/memory.max", "max\n");
    write("sys/fs/cgroup/shop/node/memory.current", "1000000\n");
    write("sys/fs/cgroup/shop/memory.max", "2000000\n");
    write("sys/fs/cgroup/shop/memory.current", "1500000\n");
    write("sys/fs/cgroup/shop/memory.stat", "anon 1\ninactive_file 500000\n");
    figures = bytes::process_figures(7, root.string());
    CHECK(figures.of_group);
    CHECK(figures.limit_bytes == 2000000u);
    CHECK(figures.left_bytes == 1000000u);
    write("proc/7/cgroup", "5:cpu:/x\n4:memory:/box\n0::/\n");
    write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "3000000\n");
    write("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "2900000\n");
    figures = bytes::process_figures(7, root.string());
    CHECK(figures.left_bytes == 100000u);
    fs::remove_all(root);
    CHECK(!bytes::process_figures(7, root.string()).resident_bytes);
}

TEST_CASE("conditions of a watch", "[watch]") {
    const Growing growing{.key = {GrowthOf::process, "memory", true, "x"}, .wall = Wall{.seconds = 100}};
    const auto holds = [&](std::string_view text) { return (*cli::parse_watch_condition(text)).holds({&growing, 1}); };
    CHECK(!holds(""));
    CHECK(holds("grows(memory)"));
    CHECK(holds("grows(any)"));
    CHECK(!holds("grows(atoms)"));
    CHECK(holds("wall<2m"));
    CHECK(!holds("wall<99"));
    CHECK(!cli::parse_watch_condition("grows()"));
    CHECK(!cli::parse_watch_condition("grows(memory"));
    CHECK(!cli::parse_watch_condition("shrinks(memory)"));
}

TEST_CASE("requests of scrapers", "[watch]") {
    const auto first = [](std::string_view request) {
        const std::string answer = cli::http_answer(request, [] { return std::string("x 1\n"); });
        return answer.substr(0, answer.find("\r\n"));
    };
    CHECK(first("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n") == "HTTP/1.1 200 OK");
    CHECK(first("GET /metrics?a=b HTTP/1.0\r\n\r\n") == "HTTP/1.1 200 OK");
    CHECK(first("GET / HTTP/1.1\r\n\r\n") == "HTTP/1.1 404 Not Found");
    CHECK(first("PUT /metrics HTTP/1.1\r\n\r\n") == "HTTP/1.1 405 Method Not Allowed");
    CHECK(first("\x16\x03\x01") == "HTTP/1.1 400 Bad Request");
    CHECK(first("") == "HTTP/1.1 400 Bad Request");
    const std::string whole = cli::http_answer("GET /metrics HTTP/1.1\r\n\r\n", [] { return std::string("x 1\n"); });
    CHECK(whole.ends_with("Content-Length: 4\r\nConnection: close\r\n\r\nx 1\n"));
    for (const char* address :
         {"0.0.0.0:80", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", "[::]:80", "example.org:80", ""})
        CHECK(!cli::MetricsListener::open(address));
    const auto open = cli::MetricsListener::open("127.0.0.1:0");
    REQUIRE(open);
    CHECK((*open).port() != 0);
}

TEST_CASE("labels of metrics are escaped and redacted", "[watch]") {
    GrowthWatch watch;
    watch.add(node(0, {}), {});
    const std::vector<present::ToldGrowth> told{
        {present::GrowthChange::added,
         {.key = {GrowthOf::process, "memory", true, "a\"b\\c\nd"}, .per_second = 1.5},
         {}}};
    const std::vector<present::MeasuredVm> vms{{"1", "n@h", &watch, told, {}, present::Redactor({})}};
    const std::string text = present::open_metrics(vms);
    CHECK(text.find(R"(key="a\"b\\)") != std::string::npos);
    CHECK(text.find("\nd\"") == std::string::npos);
    CHECK(text.ends_with("# EOF\n"));
}

TEST_CASE("what metrics hide of a VM is known by its own secrets", "[watch]") {
    GrowthWatch watch;
    watch.add(node(0, {}), {});
    const auto grows = [](std::string name) {
        return std::vector<present::ToldGrowth>{
            {present::GrowthChange::added,
             {.key = {GrowthOf::process, "memory", true, std::move(name)}, .per_second = 1},
             {}}};
    };
    const auto knows = [](std::string cookie) {
        present::RedactOptions options;
        options.known_secrets = {std::move(cookie)};
        return present::Redactor(options);
    };
    CHECK(knows("SNIPSNAPWOLFSHEADTWO").apply("of_SNIPSNAPWOLFSHEADONE", present::Content::name) ==
          "of_SNIPSNAPWOLFSHEADONE");  // another's is none to it
    const std::vector<present::ToldGrowth> one = grows("of_SNIPSNAPWOLFSHEADONE"),
                                           two = grows("of_SNIPSNAPWOLFSHEADTWO");
    const std::vector<present::MeasuredVm> vms{{"1", "", &watch, one, {}, knows("SNIPSNAPWOLFSHEADONE")},
                                               {"2", "", &watch, two, {}, knows("SNIPSNAPWOLFSHEADTWO")}};
    const std::string text = present::open_metrics(vms);
    CHECK(text.find("SNIPSNAPWOLFSHEADONE") == std::string::npos);
    CHECK(text.find("SNIPSNAPWOLFSHEADTWO") == std::string::npos);
}
