// SPDX-License-Identifier: Apache-2.0
// Rounds of a watch: what of made-up nodes grows, what the system says, what is answered to Prometheus.
#include <sqlite3.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "analyses/diagnosis/growth.hpp"
#include "analyses/processes/process_growth.hpp"
#include "bytes/process_figures.hpp"
#include "cli/watch/growth_teller.hpp"
#include "cli/watch/metrics_listener.hpp"
#include "cli/watch/watch_condition.hpp"
#include "present/growing.hpp"
#include "sql/rounds_file.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

// A node with a named process, a table, and processes without names, at a time.
struct Amounts {
    std::uint64_t workers = 10, messages = 0, used_words = 1000, allocated_words = 2000, rows = 10, total = 50 << 20;
    std::uint64_t named = 0, labelled = 0, tables = 0, persistent = 0, held = 0, used = 0;  // bytes of binary_alloc
    bool names_differ_in_letters = false;
};

// A name that no other number has, with a digit or without.
std::string name_of(std::uint64_t number, bool letters) {
    if (!letters) return "client_" + std::to_string(number);
    std::string name = "client";
    for (; number != 0; number /= 20) name += static_cast<char>('a' + number % 20);
    return name;
}

void add_allocator(Snapshot& s, std::uint64_t held, std::uint64_t used) {
    AllocatorInstance& of = s.allocators.emplace_back();
    of.name = s.texts.intern("binary_alloc");
    of.instance = 1;
    for (const auto& [key, value] :
         {std::pair("mbcs blocks[binary_alloc] size", used), std::pair("mbcs carriers size", held)})
        of.lines.push_back({s.texts.intern(key), {Count(value), Count(), Count()}, TextId::none});
}

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
    for (std::uint32_t i = 0; i < figures.labelled; ++i)
        add(200'000 + i).label =
            s.texts.intern("{conn," + std::to_string(i) + ",\"10.0.0." + std::to_string(i) + "\"}");
    for (std::uint32_t i = 0; i < figures.named; ++i)
        add(300'000 + i).name = s.texts.intern(name_of(i, figures.names_differ_in_letters));
    for (std::uint32_t i = 0; i < figures.tables; ++i) {
        EtsTable& table = s.ets.emplace_back();
        table.owner = {0, 1, 0};
        table.name = s.texts.intern("t_" + std::to_string(i));
        table.objects = 100, table.words = 1000;
    }
    if (figures.persistent != 0) s.node.persistent_terms = figures.persistent;
    if (figures.held != 0) add_allocator(s, figures.held, figures.used);
    EtsTable& table = s.ets.emplace_back();
    table.owner = {0, 1, 0};
    table.name = s.texts.intern("sessions");
    table.objects = figures.rows, table.words = figures.rows * 10;
    s.memory.push_back({s.texts.intern("total"), Count(figures.total), {}});
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) s.index_process(ProcId{i});
    s.seal();
    return s;
}

using At = std::function<void(double, Amounts&)>;

// Rounds from one to another, each so many seconds after the one before.
void go_on(GrowthWatch& watch, std::size_t from, std::size_t to, const At& at, double every = 1,
           std::uint64_t left = 100 << 20) {
    for (std::size_t i = from; i < to; ++i) {
        const double seconds = static_cast<double>(i) * every;
        Amounts figures;
        at(seconds, figures);
        watch.add(node(seconds, figures),
                  {.memory_limit_bytes = Count(left * 10), .memory_left_bytes = Count(left), .limit_of_group = true});
    }
}

std::vector<Growing> watched(std::size_t rounds, const At& at, double every = 1, std::uint64_t left = 100 << 20) {
    GrowthWatch watch;
    go_on(watch, 0, rounds, at, every, left);
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

TEST_CASE("memory of the node that heaps have taken and do not use is no growth", "[watch]") {
    CHECK(watched(100, [](double at, Amounts& f) {
              f.allocated_words = 2000 + times(at, 5000), f.total += times(at, 40000);
          }).empty());
    const auto found = watched(
        100, [](double at, Amounts& f) { f.allocated_words = 2000 + times(at, 5000), f.total += times(at, 120'000); });
    REQUIRE(found.size() == 1);
    CHECK(found[0].key.key == "total");
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

TEST_CASE("of too many names those that have most are followed, groups and sums always", "[watch]") {
    for (const bool letters : {false, true}) {
        GrowthWatch watch;
        go_on(watch, 0, 70, [&](double at, Amounts& f) {
            f.named = 1500, f.names_differ_in_letters = letters;
            f.workers = 10 + times(at, 5), f.messages = times(at, 50);
        });
        const auto found = watch.growing();
        REQUIRE(found.size() == 2);
        CHECK(found[0].key.key == "shop:worker/0");
        CHECK(found[0].per_second == Approx(5));
        CHECK(found[1].key.key == "orders");
        CHECK(found[1].key.measure == "messages");
        CHECK(watch.left_out() == 1501 - 384);
        CHECK(watch.series() < 5000);
        const auto now = watch.now();
        for (const std::string_view sum : {"processes", "messages", "timers", "ports", "total"})
            CHECK(std::ranges::count_if(now, [&](const auto& each) {
                      return each.key->key == sum &&
                             analyses::name_of(each.key->what) == (sum == "total" ? "memory" : "total");
                  }) == 1);
    }
    GrowthWatch watch;
    go_on(watch, 0, 5, [](double, Amounts& f) { f.named = 300; });
    CHECK(watch.left_out() == 0);
}

TEST_CASE("what is left out and comes back has no growth out of nothing", "[watch]") {
    // Each round others have most: none of them grows.
    CHECK(watched(100, [](double at, Amounts& f) {
              f.named = 600 + (times(at, 1) % 2) * 50;
              f.names_differ_in_letters = true;
          }).empty());
}

TEST_CASE("time in which a VM stands still is none of its work", "[watch]") {
    const auto watch_of = [](bool known) {
        GrowthWatch watch;
        for (std::size_t i = 0; i < 160; ++i) {
            if (i == 80 && known) watch.stand_still();
            Amounts figures;
            figures.workers = 10 + 2 * i;
            watch.add(node(static_cast<double>(i) + (i >= 80 ? 600 : 0), figures), {});
        }
        return watch;
    };
    const GrowthWatch watch = watch_of(true);
    CHECK(watch.stood_seconds() == Approx(600));
    const auto found = watch.growing();
    REQUIRE(found.size() == 1);
    CHECK(found[0].per_second == Approx(2).epsilon(0.02));
    CHECK(found[0].since_before);
    CHECK(found[0].since_ms == 1'000'000);
    CHECK(watch.still_rises(found[0]));
    for (const Growing& each : watch_of(false).growing()) CHECK(each.since_ms > 1'600'000);  // the step is none
}

TEST_CASE("a stop that begins a watch, or is shorter than a round, costs nothing", "[watch]") {
    GrowthWatch watch;
    watch.stand_still();
    go_on(watch, 0, 40, [](double, Amounts&) {});
    watch.stand_still();
    go_on(watch, 40, 80, [](double, Amounts&) {});
    CHECK(watch.stood_seconds() == Approx(0));
}

TEST_CASE("what rose within the last hour is told, steadily or not", "[watch]") {
    GrowthWatch watch;
    go_on(
        watch, 0, 100,
        [](double at, Amounts& f) {
            f.total = at < 6000 ? 50 << 20 : 90 << 20;
            f.allocated_words = at < 6000 ? 2000 : 5'000'000;
            f.messages = at < 1000 ? 0 : 500;  // longer ago than that
            f.rows = at < 6000 ? 10 : 12;      // too few
        },
        90);
    CHECK(watch.growing().empty());
    const std::vector<Risen> risen = watch.risen(8);
    REQUIRE(risen.size() == 2);
    CHECK(risen[0].key->key == "total");
    CHECK(risen[0].from == 50 << 20);
    CHECK(risen[0].now == 90 << 20);
    CHECK(risen[0].seconds <= 3600);
    CHECK(risen[1].key->key == "orders");
    CHECK(risen[1].key->measure == "memory");
    CHECK(present::risen_text(risen, present::Syntax::erlang).raw() ==
          "in its last 1 h 00 min the memory of the node rose from 50.0 MiB to 90.0 MiB; process orders: memory from "
          "15.6 "
          "KiB to 38.1 MiB");
    CHECK(present::risen_text({}, present::Syntax::erlang).empty());
}

TEST_CASE("days of rounds have no hole in the last hour", "[watch]") {
    constexpr double hour = 3600;
    const Figures::Key total{GrowthOf::memory, "memory", true, "total"};
    const Figures::Key orders{GrowthOf::process, "messages", false, "orders"};
    const auto add = [&](RoundSeries& series, double at, bool named) {
        Round round{.seconds = at, .complete = true, .figures = {{total, at, {}, false}}};
        if (named) round.figures.push_back({orders, at, {}, false});
        series.add(round);
    };
    SECTION("ten seconds apart") {
        RoundSeries series;
        double youngest = hour, oldest = 0;
        std::size_t unknown = 0;
        for (std::size_t i = 0; i < 60'480; ++i) {
            const double at = static_cast<double>(i) * 10;
            add(series, at, false);
            if (at < hour) continue;
            const auto first = series.first_since(*series.find(total), at - hour);
            if (!first) ++unknown;
            else youngest = std::min(youngest, at - first->at), oldest = std::max(oldest, at - first->at);
        }
        CHECK(unknown == 0);
        CHECK(youngest >= (RoundSeries::kept - 1) * 10);  // what is kept one by one, at least
        CHECK(oldest <= hour);
        const double began = series.time() + 10;
        for (double at = began; at <= began + 300; at += 10) add(series, at, true);
        const auto first = series.first_since(*series.find(orders), series.time() - hour);
        REQUIRE(first);
        CHECK(first->at == began);  // no sooner than it was there
        CHECK(first->value == began);
    }
    SECTION("longer apart than that") {
        RoundSeries series;
        add(series, 0, false);
        CHECK_FALSE(series.first_since(*series.find(total), -hour));
        for (std::size_t i = 1; i < 400; ++i) add(series, static_cast<double>(i) * 2 * hour, false);
        const auto first = series.first_since(*series.find(total), series.time() - hour);
        REQUIRE(first);
        CHECK(series.time() - first->at == 2 * hour);
        CHECK(first->value == first->at);
    }
}

TEST_CASE("a young VM's growth is told with its age, a queue's with its length in an hour", "[watch]") {
    const auto told = [](double age, bool queue) {
        GrowthWatch watch;
        for (std::size_t i = 0; i < 100; ++i) {
            Amounts figures;
            if (queue) figures.messages = 10 * i;
            else figures.workers = 10 + 2 * i;
            watch.add(node(static_cast<double>(i), figures), {.age_seconds = age});
        }
        const auto found = watch.growing();
        REQUIRE(!found.empty());
        return present::growing_text({present::GrowthChange::added, found[0], {}}, present::Syntax::erlang).raw();
    };
    CHECK(told(600, false).find("it may be filling up to a bound, since the VM has run for 10 min") !=
          std::string::npos);
    CHECK(told(7200, false).find("filling up") == std::string::npos);
    const std::string queue = told(600, true);
    CHECK(queue.find("filling up") == std::string::npos);
    CHECK(queue.find(", in an hour 36,9") != std::string::npos);
}

TEST_CASE("what processes did between two moments", "[watch]") {
    Amounts few, more;
    few.workers = 2, more.workers = 3, more.messages = 5, more.allocated_words = 4000;
    Snapshot before = node(0, few), after = node(1, more);
    for (Process& p : before.processes) p.reductions = 100;
    for (Process& p : after.processes) p.reductions = 100;
    after.processes[0].reductions = 350;
    after.processes[1].reductions = 20;  // its pid is another one's
    std::vector<ProcId> all;
    for (std::uint32_t i = 0; i < after.processes.size(); ++i) all.push_back(ProcId{i});
    const auto rows = process_growth(before, after, all);
    REQUIRE(rows.size() == 4);
    CHECK((!rows[0].fresh && rows[0].reductions == 250 && rows[0].messages == 5 && rows[0].memory_bytes == 16000));
    CHECK((rows[1].fresh && rows[1].reductions == 20));
    CHECK((!rows[2].fresh && rows[2].reductions == 0 && rows[2].memory_bytes == 0));
    CHECK((rows[3].fresh && rows[3].reductions == 100 && rows[3].memory_bytes == 3000));
    after.processes[0].memory_bytes = Count();
    CHECK(!process_growth(before, after, all)[0].memory_bytes);
}

TEST_CASE("resident memory that creeps by less than a fiftieth is no growth", "[watch]") {
    const auto grown = [](std::uint64_t a_round) {
        GrowthWatch watch;
        for (std::uint64_t i = 0; i < 100; ++i)
            watch.add(node(static_cast<double>(i), {}), {.resident_bytes = Count((36u << 20) + i * a_round)});
        return watch.growing().size();
    };
    CHECK(grown(5'000) == 0);
    CHECK(grown(20'000) == 1);
}

TEST_CASE("a slow queue is told without a wall, what is slow for its size is not", "[watch]") {
    constexpr std::uint64_t large = 256ull << 30;
    const auto queue = watched(
        100, [](double at, Amounts& f) { f.messages = times(at, 0.5); }, 10, large);
    REQUIRE(queue.size() == 1);
    CHECK(queue[0].key.key == "orders");
    CHECK(queue[0].per_second == Approx(0.5).epsilon(0.02));
    CHECK(!queue[0].wall);
    CHECK(watched(
              100, [](double at, Amounts& f) { f.rows = 1'000'000 + times(at, 0.02); }, 10, large)
              .empty());
    const auto node = watched(
        100, [](double at, Amounts& f) { f.total += times(at, 200); }, 10, large);
    REQUIRE(node.size() == 1);
    CHECK(node[0].key.key == "total");
    CHECK(!node[0].wall);
    CHECK(watched(
              100, [](double at, Amounts& f) { f.total = (50ull << 30) + times(at, 200); }, 10, large)
              .empty());
}

TEST_CASE("what an allocator holds without using it is told where that is what grows", "[watch]") {
    const auto found = watched(100, [](double at, Amounts& f) {
        f.held = (20 << 20) + times(at, 400'000), f.used = (10 << 20) + times(at, 100'000);
    });
    REQUIRE(found.size() == 1);
    CHECK(found[0].key.key == "binary_alloc");
    CHECK(found[0].key.measure == "unused");
    CHECK(found[0].per_second == Approx(300'000).epsilon(0.02));
    CHECK(watched(100,
                  [](double at, Amounts& f) {  // most of it is used
                      f.held = (20 << 20) + times(at, 400'000), f.used = (10 << 20) + times(at, 300'000);
                  })
              .empty());
    CHECK(watched(100,
                  [](double at, Amounts& f) {  // carriers are emptied, and none is added
                      f.held = 90 << 20, f.used = (80 << 20) - times(at, 400'000);
                  })
              .empty());
}

TEST_CASE("names that differ in numbers are one", "[watch]") {
    auto found = watched(80, [](double at, Amounts& f) { f.labelled = 10 + times(at, 2); });
    REQUIRE(found.size() == 1);
    CHECK(found[0].key.what == GrowthOf::process_group);
    CHECK(found[0].key.key == "{conn,_,\"\"}");
    CHECK(found[0].per_second == Approx(2));
    found = watched(80, [](double at, Amounts& f) { f.named = 10 + times(at, 2); });
    REQUIRE(found.size() == 1);
    CHECK(found[0].key.key == "client_<int>");
    CHECK(found[0].key.measure == "processes");
    found = watched(80, [](double at, Amounts& f) { f.tables = 10 + times(at, 2); });
    REQUIRE(found.size() == 1);
    CHECK(found[0].key.key == "t_<int> of orders");
    CHECK(found[0].key.measure == "ets_tables");
    CHECK(watched(80, [](double, Amounts& f) { f.labelled = 50, f.named = 50, f.tables = 50; }).empty());
}

TEST_CASE("persistent terms are counted", "[watch]") {
    const auto found =
        watched(80, [](double at, Amounts& f) { f.persistent = 10 + times(at, 20), f.total += times(at, 80'000); });
    REQUIRE(found.size() == 2);
    CHECK(found[0].key.measure == "persistent_terms");
    CHECK(found[0].per_second == Approx(20));
    CHECK(found[1].key.key == "total");
    CHECK(watched(80, [](double, Amounts& f) { f.persistent = 1000; }).empty());
}

namespace {

// What is told of a watch: a letter for each change, and what was told last.
struct Said {
    GrowthWatch watch;
    cli::GrowthTeller teller;
    std::string changes;
    std::vector<present::ToldGrowth> last;
    void rounds(std::size_t from, std::size_t to, const At& at, std::uint64_t left = 100 << 20) {
        for (std::size_t i = from; i < to; ++i) {
            go_on(watch, i, i + 1, at, 1, left);
            last = teller.after(watch, [](const Growing&) { return present::Text(); });
            for (const auto& each : last)
                if (each.change != present::GrowthChange::kept) changes += present::name_of(each.change).front();
        }
    }
};

}  // namespace

TEST_CASE("what goes on unsteadily is not over, what stops is", "[watch]") {
    Said said;
    const auto steady = [](double at, Amounts& f) { f.messages = times(at, 50); };
    said.rounds(0, 100, steady);
    CHECK(said.changes == "n");
    // In large steps: no window is steady, but it goes on as fast.
    const auto steps = [](double at, Amounts& f) { f.messages = 5000 + times(std::floor((at - 100) / 40), 2000); };
    said.rounds(100, 300, steps);
    CHECK(said.changes == "n");
    REQUIRE(said.last.size() == 1);
    CHECK(said.last[0].growing.now == 5000 + 4 * 2000);
    CHECK(said.last[0].growing.since_ms == 1'000'000);
    const auto full = [](double, Amounts& f) { f.messages = 15000; };
    said.rounds(300, 560, full);
    CHECK(said.changes == "ng");
    CHECK(said.last.empty());
}

TEST_CASE("the beginning of a growth gets no later", "[watch]") {
    Said said;
    const auto late = [](double at, Amounts& f) { f.messages = at < 100 ? 0 : times(at - 100, 50); };
    std::int64_t since = 0;
    for (std::size_t round = 0; round < 700; ++round) {
        said.rounds(round, round + 1, late);
        if (said.last.empty()) continue;
        const std::int64_t now = said.last[0].growing.since_ms;
        if (since == 0) CHECK(std::abs(now - 1'100'000) <= 6'000);
        else CHECK(now <= since);
        since = now;
    }
    CHECK(std::abs(since - 1'100'000) <= 12'000);
    CHECK(said.changes == "n");
}

TEST_CASE("figures of what this round did not find are of this round", "[watch]") {
    Said said;
    said.rounds(0, 100, [](double at, Amounts& f) { f.rows = 10 + times(at, 300), f.total += times(at, 100'000); });
    REQUIRE(said.last.size() == 2);
    REQUIRE(said.last[0].growing.wall);
    said.rounds(100, 105, [](double, Amounts& f) { f.rows = 90'000, f.total = 120 << 20; });
    REQUIRE(said.last.size() == 2);
    CHECK(said.last[0].growing.now == 90'000);
    CHECK(said.last[1].growing.now == 120 << 20);
    CHECK(said.changes == "nn");
}

TEST_CASE("a wall is told again when it is half as far", "[watch]") {
    Said said;
    // 1000 processes are the limit: 490 s are left when it is told, and half of them are gone at 300.
    said.rounds(0, 400, [](double at, Amounts& f) { f.workers = times(at, 1.8); });
    CHECK(said.changes == "nc");
}

TEST_CASE("a wall that there was none of is told when it has come", "[watch]") {
    Said said;
    const auto at = [](double at, Amounts& f) { f.rows = 10 + times(at, 300), f.total += times(at, 100'000); };
    said.rounds(0, 100, at, std::uint64_t{1} << 50);
    CHECK(said.changes == "nn");
    REQUIRE(said.last.size() == 2);
    CHECK_FALSE(said.last[0].growing.wall);
    said.rounds(100, 111, at);
    CHECK(said.changes == "nn");
    said.rounds(111, 130, at);
    CHECK(said.changes == "nncc");
}

TEST_CASE("another rate is told when it lasts", "[watch]") {
    Said said;
    said.rounds(0, 100, [](double at, Amounts& f) { f.messages = times(at, 50); });
    said.rounds(100, 400, [](double at, Amounts& f) { f.messages = 5000 + times(at - 100, 100); });
    CHECK(said.changes == "nc");
    REQUIRE(said.last.size() == 1);
    CHECK(said.last[0].growing.per_second == Approx(100).epsilon(0.1));
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
    CHECK(holds("wall<3d"));
    CHECK(!cli::parse_watch_condition("wall<400d"));
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
    watch.add(node(0, {.held = 2000, .used = 1500}), {});
    const std::vector<present::ToldGrowth> told{
        {present::GrowthChange::added,
         {.key = {GrowthOf::process, "memory", true, "a\"b\\c\nd"}, .per_second = 1.5},
         {}}};
    const std::vector<present::MeasuredVm> vms{{"1", "n@h", &watch, told, {}, present::Redactor({})}};
    const std::string text = present::open_metrics(vms);
    CHECK(text.find(R"(key="a\"b\\)") != std::string::npos);
    CHECK(text.find("\nd\"") == std::string::npos);
    CHECK(text.find("kind=\"binary_alloc_held\"} 2000") != std::string::npos);
    CHECK(text.find("kind=\"binary_alloc_unused\"} 500") != std::string::npos);
    // Only counters end in _total, only histograms in _count.
    for (std::size_t at = 0; (at = text.find("# TYPE ", at)) != text.npos; ++at) {
        const std::string name = text.substr(at + 7, text.find(' ', at + 7) - at - 7);
        CHECK((!name.ends_with("_total") && !name.ends_with("_count")));
    }
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

TEST_CASE("a round's rows are bounded, sums have all of theirs, and each thing has its turn", "[watch]") {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / "beamheap-rounds-test.sqlite";
    std::filesystem::remove(path);
    auto file = sql::RoundsFile::open(path);
    REQUIRE(file);
    std::vector<std::string> names;
    for (int i = 0; i < 1000; ++i) names.push_back("t" + std::to_string(i));
    constexpr int rounds = 41;
    for (int round = 0; round < rounds; ++round) {
        std::vector<sql::RoundFigure> figures{{"total", "messages", "messages", false, double(round), true}};
        for (const std::string& name : names)
            figures.push_back({"ets_table", name, "objects", false, double(round), false});
        REQUIRE(file->add("1", round, figures, {}));
    }
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
    const auto number = [&](const char* query) {
        sqlite3_stmt* statement = nullptr;
        REQUIRE(sqlite3_prepare_v2(database, query, -1, &statement, nullptr) == SQLITE_OK);
        REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
        const int value = sqlite3_column_int(statement, 0);
        sqlite3_finalize(statement);
        return value;
    };
    CHECK(number("SELECT max(n) FROM (SELECT count(*) n FROM watch_figure WHERE round_id > 1 GROUP BY round_id)") ==
          321);
    CHECK(number("SELECT count(*) FROM watch_figure JOIN watch_thing ON id = thing_id WHERE what = 'total'") == rounds);
    CHECK(number("SELECT min(n) FROM (SELECT count(*) n FROM watch_figure GROUP BY thing_id)") >= 1 + (rounds - 1) / 4);
    CHECK(number("SELECT count(*) FROM watch_figure JOIN watch_round ON id = round_id WHERE value <> at_ms") == 0);
    sqlite3_close(database);
    std::filesystem::remove(path);
}
