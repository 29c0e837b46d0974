// SPDX-License-Identifier: Apache-2.0
// Steady growth within series of figures: what is a leak is found with its rate, what is none is not.
#include "analyses/diagnosis/trend.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <vector>

using namespace beamheap::analyses;

namespace {

std::vector<TrendPoint> series(std::size_t count, const std::function<double(double)>& value, double every = 1) {
    std::vector<TrendPoint> points;
    for (std::size_t i = 0; i < count; ++i) {
        const double at = static_cast<double>(i) * every;
        points.push_back({at, value(at)});
    }
    return points;
}

double tooth(double at, double period, double height) { return std::fmod(at, period) / period * height; }

}  // namespace

TEST_CASE("a line is found with its rate, its beginning and its ends", "[trend]") {
    const auto points = series(
        120, [](double at) { return 1000 + 3 * at; }, 10);
    const auto found = latest_growth(points);
    REQUIRE(found);
    CHECK(found->per_second == Approx(3));
    CHECK(found->begin == 0);
    CHECK(found->from == Approx(1000));
    CHECK(found->to == Approx(1000 + 3 * 1190));
    CHECK(found->confidence > 0.95);
}

TEST_CASE("what does not grow steadily is no growth", "[trend]") {
    const auto silent = [](const std::function<double(double)>& value) {
        for (std::size_t count : {60u, 90u, 120u, 250u, 360u})
            if (latest_growth(series(count, value))) return false;
        return true;
    };
    CHECK(silent([](double) { return 5; }));                                             // steady
    CHECK(silent([](double at) { return 1000 - at; }));                                  // shrinks
    CHECK(silent([](double at) { return at < 40 ? 10 : 500; }));                         // a step
    CHECK(silent([](double at) { return at < 20 ? 10 : at < 50 ? 200 : 500; }));         // two steps
    CHECK(silent([](double at) { return 1e6 + tooth(at, 7, 1e6); }));                    // collections
    CHECK(silent([](double at) { return 1e6 + tooth(at, 23, 1e6); }));                   // seldom ones
    CHECK(silent([](double at) { return std::min(at * 50, 2000.0); }));                  // a cache up to its bound
    CHECK(silent([](double at) { return 1e5 * (1 - std::exp(-at / 25)); }));             // the same, slower and slower
    CHECK(silent([](double at) { return 100 + (std::fmod(at, 40) < 15 ? 5000 : 0); }));  // bursts
    CHECK(silent([](double at) { return 100 + 50 * std::sin(at / 9); }));                // waves
}

TEST_CASE("a wave that comes back to where it was is no growth, what goes beyond is", "[trend]") {
    constexpr double day = 400;
    const auto wave = [](double at) { return 1000 - 500 * std::cos(at / day * 2 * M_PI); };
    for (std::size_t count = static_cast<std::size_t>(day); count < 1200; count += 10)
        CHECK(!latest_growth(series(count, wave)));
    const auto found = latest_growth(series(1200, [&](double at) { return wave(at) * 0.02 + 3 * at; }));
    REQUIRE(found);
    CHECK(found->per_second == Approx(3).epsilon(0.1));
}

TEST_CASE("growth that begins later has its own rate", "[trend]") {
    const auto found = latest_growth(series(300, [](double at) { return at < 200 ? 50 : 50 + 4 * (at - 200); }));
    REQUIRE(found);
    CHECK(found->per_second == Approx(4).epsilon(0.1));
    CHECK(found->begin == Approx(200).margin(3));
    CHECK(found->from == Approx(50).margin(15));
}

TEST_CASE("growth begins where it began, whatever the window", "[trend]") {
    for (std::size_t count = 200; count < 1000; count += 7) {
        const auto found =
            latest_growth(series(count, [](double at) { return at < 120 ? 900 : 900 + 7 * (at - 120); }));
        if (count < 240 && !found) continue;
        REQUIRE(found);
        CHECK(found->begin == Approx(120).margin(static_cast<double>(count) / 12));
    }
}

TEST_CASE("what is full by now does not grow, however long the window", "[trend]") {
    for (std::size_t count = 200; count < 400; count += 9) {
        const double full = static_cast<double>(count) * 0.7;
        CHECK(!steady_growth(series(count, [&](double at) { return std::min(at, full) * 50; })));
    }
}

TEST_CASE("what an envelope rises by", "[trend]") {
    const auto rise = rise_of_envelope(series(100, [](double at) { return 3 * at + tooth(at, 4, 50); }));
    REQUIRE(rise);
    CHECK(*rise == Approx(3).epsilon(0.05));
    CHECK(!rise_of_envelope(series(5, [](double at) { return at; })));
    CHECK(!rise_of_envelope({}));
}

TEST_CASE("too few points tell nothing", "[trend]") {
    CHECK(!latest_growth(series(least_points - 1, [](double at) { return at; })));
    CHECK(latest_growth(series(least_points, [](double at) { return at; })));
    CHECK(!latest_growth({}));
    CHECK(!steady_growth(std::vector<TrendPoint>(100, TrendPoint{5, 5})));  // no time goes by
}

TEST_CASE("slopes under noise of several kinds", "[trend][slow]") {
    const auto noise = [](double most) {
        return (*rc::gen::inRange(0, 10'001) / 5'000.0 - 1) * most;  // -most to most
    };
    rc::prop("a slope with teeth is found within a tenth", [&] {
        const double rate = *rc::gen::inRange(1, 1000) / 10.0, base = *rc::gen::inRange(0, 1'000'000);
        const auto count = static_cast<std::size_t>(*rc::gen::inRange(60, 400));
        const double rise = rate * static_cast<double>(count);
        // Teeth that are shorter than a part: their lower ends show.
        const double period = *rc::gen::inRange(2, static_cast<int>(count / 12));
        const double height = rise * *rc::gen::inRange(0, 100) / 50.0, shift = *rc::gen::inRange(0, 100);
        const auto points =
            series(count, [&](double at) { return base + rate * at + tooth(at + shift, period, height); });
        const auto found = latest_growth(points);
        RC_ASSERT(found);
        RC_ASSERT(std::abs(found->per_second - rate) < rate / 10);
    });
    rc::prop("what fills to a bound is silent once it is there", [&] {
        const double bound = *rc::gen::inRange(1'000, 1'000'000), full_after = *rc::gen::inRange(1, 45);
        const auto count = static_cast<std::size_t>(*rc::gen::inRange(90, 400));
        const auto points = series(count, [&](double at) { return std::min(bound, at / full_after * bound); });
        RC_ASSERT(!latest_growth(points));
    });
    rc::prop("noise without a slope is silent", [&] {
        const auto count = static_cast<std::size_t>(*rc::gen::inRange(60, 400));
        const auto points = series(count, [&](double) { return 10'000 + noise(1'000); });
        RC_ASSERT(!latest_growth(points));
    });
    rc::prop("bursts are silent", [&] {
        const auto count = static_cast<std::size_t>(*rc::gen::inRange(60, 400));
        const int every = *rc::gen::inRange(5, 200), length = *rc::gen::inRange(1, every);
        const double height = *rc::gen::inRange(1, 1'000'000), shift = *rc::gen::inRange(0, 200);
        const auto points =
            series(count, [&](double at) { return std::fmod(at + shift, every) < length ? 100 + height : 100.0; });
        RC_ASSERT(!latest_growth(points));
    });
    rc::prop("a step is silent", [&] {
        const auto count = static_cast<std::size_t>(*rc::gen::inRange(60, 400));
        const double at_step = *rc::gen::inRange(0, static_cast<int>(count));
        const auto points = series(count, [&](double at) { return (at < at_step ? 100.0 : 900.0) + noise(3); });
        RC_ASSERT(!latest_growth(points));
    });
}
