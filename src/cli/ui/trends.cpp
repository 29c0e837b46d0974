// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/trends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "model/whole.hpp"
#include "present/sanitise.hpp"
#include "present/units.hpp"

namespace beamheap::cli::ui {
namespace {

using present::PageLine;
using present::PageTable;

constexpr std::size_t rows_followed = 5'000;  // of a table
constexpr std::size_t most_series = 100'000;  // then those are forgotten that have not been read for
constexpr double forgotten_after = 60;        // seconds
constexpr double least_between = 0.05;        // seconds: two pages of one reading are no two readings
constexpr double least_of_rate = 0.2;         // seconds: over less, a rate says nothing
constexpr double flat = 0.02;                 // of the largest: what moves by less stands still
constexpr std::size_t heights = 8;

// A figure that is followed wherever it stands.
struct Followed {
    std::string_view name;   // as in JSON
    std::string_view title;  // of the column of its rate
    bool bytes;
    bool adds_up;         // it only ever grows, so that its bars are of what was added
    std::uint8_t lesser;  // TextColumn::lesser of its column
};
constexpr Followed followed[] = {
    {"msgq_len", "MSGQ/s", false, false, 0},  {"memory_bytes", "MEMORY/s", true, false, 2},
    {"reductions", "REDS/s", false, true, 3}, {"objects", "OBJECTS/s", false, false, 0},
    {"bytes", "BYTES/s", true, false, 1},
};

std::string rate_text(double rate, bool bytes) {
    const std::uint64_t size = whole(std::abs(rate) + 0.5);
    if (size == 0) return {};
    return (rate < 0 ? "-" : "+") + (bytes ? present::human_bytes(size) : present::grouped(size));
}

// Whose figures a row has: the process, or what its first two columns say.
std::string key_of_row(const PageTable& table, std::size_t row, std::optional<std::size_t> pid) {
    if (pid) return std::string(table.text(row, *pid));
    return fmt::format("{}\x1f{}\x1f{}", table.key, table.text(row, 0), table.text(row, 1));
}
std::string key_of(std::string_view whose, std::string_view figure) { return fmt::format("{}\x1f{}", whose, figure); }

}  // namespace

std::string bars_of(std::span<const double> values) {
    if (values.empty()) return {};
    const auto [least, most] = std::ranges::minmax(values);
    if (most <= 0 || most - least <= most * flat) return {};
    // Where all stand high, what moves is their upper part.
    const double floor = least > most / 2 ? least - (most - least) : 0;
    std::string bars;
    for (const double value : values) {
        const double share = (value - floor) / (most - floor);
        const auto height = static_cast<int>(std::clamp(share * heights, 1.0, static_cast<double>(heights)));
        bars += "\xE2\x96";  // U+2581 to U+2588
        bars += static_cast<char>(0x80 + height);
    }
    return bars;
}

void Trends::Series::add(Reading reading) {
    if (count_ != 0 && reading.seconds - last_seconds() < least_between) return;
    if (count_ == readings_.size()) {
        std::rotate(readings_.begin(), readings_.begin() + 1, readings_.end());
        --count_;
    }
    readings_[count_++] = reading;
}

std::optional<double> Trends::Series::rate() const {
    if (count_ < 2) return std::nullopt;
    const Reading& now = readings_[count_ - 1];
    std::size_t before = count_ - 2;
    while (before > 0 && now.seconds - readings_[before].seconds < least_of_rate) --before;
    return (now.value - readings_[before].value) / (now.seconds - readings_[before].seconds);
}

std::string Trends::Series::bars(bool of_rates) const {
    std::vector<double> values;
    for (std::size_t i = of_rates ? 1 : 0; i < count_; ++i)
        values.push_back(of_rates ? std::max(0.0, (readings_[i].value - readings_[i - 1].value) /
                                                      (readings_[i].seconds - readings_[i - 1].seconds))
                                  : readings_[i].value);
    return values.size() < 2 ? std::string() : bars_of(values);
}

void Trends::follow(present::Page& page, double seconds) {
    forget(seconds - forgotten_after);
    std::string pid;
    if (page.kind == "proc")
        for (const present::PageBlock& block : page.blocks)
            for (const PageLine& line : block.lines)
                if (pid.empty() && line.name == "pid") pid = line.process;
    for (present::PageBlock& block : page.blocks) {
        if (block.table) follow(*block.table, seconds);
        else if (!pid.empty()) follow(block, pid, seconds);
    }
}

void Trends::follow(PageTable& table, double seconds) {
    const auto pid = table.column_of("pid");
    const std::size_t columns = table.columns.size();
    if (columns < 2) return;
    for (const Followed& each : followed) {
        const auto column = table.column_of(each.name);
        if (!column || !table.columns[*column].number || table.columns[*column].wide) continue;
        std::vector<std::string> texts(table.rows);
        std::vector<double> rates(table.rows, std::numeric_limits<double>::quiet_NaN());
        std::size_t widest = 0;  // of the rates, behind the bars
        for (std::size_t row = 0; row < std::min(table.rows, rows_followed); ++row) {
            const auto value = table.number(row, *column);
            if (!value) continue;
            Series& series = series_[key_of(key_of_row(table, row, pid), each.name)];
            series.add({seconds, *value});
            const auto rate = series.rate();
            if (!rate) continue;
            rates[row] = *rate;
            texts[row] = rate_text(*rate, each.bytes);
            widest = std::max(widest, texts[row].size());
        }
        if (!each.adds_up)
            for (std::size_t row = 0; row < std::min(table.rows, rows_followed); ++row) {
                const auto value = table.number(row, *column);
                if (!value) continue;
                const std::string bars = series_[key_of(key_of_row(table, row, pid), each.name)].bars(false);
                if (!bars.empty()) texts[row] = fmt::format("{} {:>{}}", bars, texts[row], widest);
            }
        present::PageColumn added{
            .name = std::string(each.name) + "_per_second", .title = std::string(each.title), .number = true};
        added.shape.lesser = each.lesser;
        added.shape.right = true;
        table.append_column(std::move(added), texts, rates);
    }
}

void Trends::follow(present::PageBlock& lines, std::string_view pid, double seconds) {
    for (PageLine& line : lines.lines)
        for (const Followed& each : followed) {
            if (line.name != each.name || !line.has_number) continue;
            Series& series = series_[key_of(pid, each.name)];
            series.add({seconds, line.number});
            const std::string rate = rate_text(series.rate().value_or(0), each.bytes);
            if (!rate.empty()) line.text += fmt::format("  {}/s", rate);
            if (const std::string bars = series.bars(each.adds_up); !bars.empty()) line.text += "  " + bars;
        }
}

void Trends::forget(double before) {
    if (series_.size() < most_series) return;
    std::erase_if(series_, [&](const auto& each) { return each.second.last_seconds() < before; });
    if (series_.size() >= 2 * most_series) series_.clear();
}

}  // namespace beamheap::cli::ui
