// SPDX-License-Identifier: Apache-2.0
#include "present/growing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyses/diagnosis/growth_causes.hpp"
#include "present/describe.hpp"
#include "present/diff.hpp"
#include "present/sanitise.hpp"
#include "present/spelling.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

using analyses::Amount, analyses::AmountUnit, analyses::Growing, analyses::GrowthOf, analyses::InputText,
    analyses::Ours;

struct Per {
    double seconds;
    Ours words;
};
constexpr std::array spans{Per{1, "a second"}, Per{60, "a minute"}, Per{3600, "an hour"}, Per{86400, "a day"}};

// The shortest span in which it grows by a number that says something.
const Per& span_of(double per_second, bool bytes) {
    for (const Per& span : spans)
        if (per_second * span.seconds >= (bytes ? 100.0 * 1024 : 10.0)) return span;
    return spans.back();
}

Amount amount(double value, bool bytes) {
    return {static_cast<std::uint64_t>(std::llround(std::max(0.0, value))),
            bytes ? AmountUnit::bytes : AmountUnit::count};
}

InputText of_vm(std::string text) {
    std::ranges::replace(text, '_', ' ');
    return {std::move(text), InputText::Holds::vm};
}

std::string key_of(const analyses::Figures::Key& key, Syntax syntax) {
    analyses::Growth row;
    row.what = key.what;
    row.key = key.key;
    return key_text(row, syntax);
}

Ours words_of(analyses::WallKind kind) {
    using analyses::WallKind;
    switch (kind) {
        case WallKind::group_memory: return "the memory limit of its control group";
        case WallKind::machine_memory: return "the memory of the machine";
        case WallKind::process_limit: return "the limit of processes";
        case WallKind::port_limit: return "the limit of ports";
        case WallKind::atom_limit: return "the limit of atoms";
        case WallKind::descriptor_limit: break;
    }
    return "the limit of open files";
}

std::string seconds_text(std::int64_t ms) { return time_text(ms).substr(0, 19) + "Z"; }

double rounded(double value) {
    if (value == 0 || !std::isfinite(value)) return 0;
    const double scale = std::pow(10, 4 - std::ceil(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

}  // namespace

std::string_view name_of(GrowthChange change) {
    switch (change) {
        case GrowthChange::added: return "new";
        case GrowthChange::changed: return "changed";
        case GrowthChange::kept: return "kept";
        case GrowthChange::gone: break;
    }
    return "gone";
}

Text growing_text(const ToldGrowth& told, Syntax syntax) {
    const Growing& growing = told.growing;
    const bool node = growing.sum;
    analyses::Sentence who;
    if (growing.key.measure == "unused")
        who = analyses::sentence("memory that {} holds and does not use",
                                 InputText{growing.key.key, InputText::Holds::vm});
    else if (node && growing.key.what == GrowthOf::memory)
        who = analyses::sentence("memory of the node ({})", of_vm(growing.key.key));
    else if (node) who = analyses::sentence("{} of the node", of_vm(std::string(growing.key.measure)));
    else
        who = analyses::sentence("{} {}: {}", of_vm(std::string(analyses::name_of(growing.key.what))),
                                 InputText{key_of(growing.key, syntax), InputText::Holds::name},
                                 of_vm(std::string(growing.key.measure)));
    analyses::Sentence text = who;
    if (told.change == GrowthChange::gone) {
        text.say(" no longer grows steadily, now {}.", amount(static_cast<double>(growing.now), growing.key.bytes));
        return spell(text);
    }
    const Per& span = span_of(growing.per_second, growing.key.bytes);
    text.say(growing.since_before ? analyses::Form<4>(": grows by {} {}, since {} or before, now {}")
                                  : analyses::Form<4>(": grows by {} {}, since {}, now {}"),
             amount(growing.per_second * span.seconds, growing.key.bytes), span.words,
             InputText{seconds_text(growing.since_ms), InputText::Holds::vm},
             amount(static_cast<double>(growing.now), growing.key.bytes));
    if (!growing.key.bytes && growing.bytes_per_second) {
        const Per& of_bytes = span_of(*growing.bytes_per_second, true);
        text.say(", which takes {} {}", amount(*growing.bytes_per_second * of_bytes.seconds, true), of_bytes.words);
    }
    // Who takes them takes fewer than come: what a wall says that is days away is no answer to that.
    if (growing.key.measure == "messages")
        text.say(", in an hour {}", amount(static_cast<double>(growing.now) + growing.per_second * 3600, false));
    Text all = spell(text);
    if (!told.detail.empty()) all.add("; in ").add(told.detail);
    if (growing.wall) {
        const bool bytes = growing.wall->kind == analyses::WallKind::group_memory ||
                           growing.wall->kind == analyses::WallKind::machine_memory;
        const auto ms = static_cast<std::uint64_t>(std::min(growing.wall->seconds, 1e12) * 1000);
        all.add(spell(analyses::sentence("; {} ({}) is reached in {}", words_of(growing.wall->kind),
                                         amount(static_cast<double>(growing.wall->limit), bytes),
                                         Amount{ms, AmountUnit::milliseconds})));
    }
    if (growing.young)
        all.add(spell(
            analyses::sentence("; it may be filling up to a bound, since the VM has run for {} only",
                               Amount{static_cast<std::uint64_t>(*growing.young * 1000), AmountUnit::milliseconds})));
    return all.add(".");
}

Table growing_table(std::span<const ToldGrowth> told, Syntax syntax) {
    using Row = const ToldGrowth*;
    std::vector<Row> rows;
    for (const ToldGrowth& each : told) rows.push_back(&each);
    const auto wall = [](const auto& get) {
        return [get](const Row& r) { return r->growing.wall ? Value(get(*r->growing.wall)) : Value(); };
    };
    Columns<Row> columns{
        {{.name = "change", .title = "CHANGE", .doc = "new, changed, kept, gone: since the line before"},
         [](const Row& r) { return Value(name_of(r->change)); }},
        {{.name = "what", .title = "WHAT", .doc = "process, process_group, ets_table, memory, total, ..."},
         [](const Row& r) { return Value(analyses::name_of(r->growing.key.what)); }},
        {{.name = "key", .title = "KEY", .doc = "which one", .content = Content::name},
         [syntax](const Row& r) { return Value(key_of(r->growing.key, syntax)); }},
        {{.name = "measure", .title = "OF IT", .doc = "what of it grows"},
         [](const Row& r) { return Value(r->growing.key.measure); }},
        {{.name = "unit", .title = "UNIT", .doc = "bytes, or a count", .wide = true},
         [](const Row& r) { return Value(r->growing.key.bytes ? "bytes" : "count"); }},
        {{.name = "per_second", .title = "A SECOND", .holds = Holds::real, .doc = "the rate"},
         [](const Row& r) { return Value(rounded(r->growing.per_second)); }},
        {{.name = "since", .title = "SINCE", .doc = "the time (UTC) from which on it grew at this rate"},
         [](const Row& r) { return Value(time_text(r->growing.since_ms)); }},
        {{.name = "since_before",
          .title = "BEFORE",
          .holds = Holds::flag,
          .doc = "it grew when the watch began",
          .wide = true},
         [](const Row& r) { return Value(r->growing.since_before); }},
        {{.name = "from", .title = "FROM", .unit = Unit::count, .doc = "what it was then", .unit_by = "unit"},
         [](const Row& r) { return Value(r->growing.from); }},
        {{.name = "now", .title = "NOW", .unit = Unit::count, .doc = "what it is", .unit_by = "unit"},
         [](const Row& r) { return Value(r->growing.now); }},
        {{.name = "bytes_per_second",
          .title = "BYTES A SECOND",
          .holds = Holds::real,
          .doc = "of memory that goes with it"},
         [](const Row& r) {
             return r->growing.bytes_per_second ? Value(rounded(*r->growing.bytes_per_second)) : Value();
         }},
        {{.name = "confidence", .title = "CONFIDENCE", .holds = Holds::real, .doc = "from 0 to 1"},
         [](const Row& r) { return Value(std::round(r->growing.confidence * 100) / 100); }},
        {{.name = "wall",
          .title = "WALL",
          .doc = "what it runs into: group_memory, machine_memory, process_limit, port_limit, atom_limit, "
                 "descriptor_limit"},
         wall([](const analyses::Wall& w) { return analyses::name_of(w.kind); })},
        {{.name = "wall_limit", .title = "LIMIT", .holds = Holds::integer, .doc = "where that is"},
         wall([](const analyses::Wall& w) { return w.limit; })},
        {{.name = "wall_left", .title = "LEFT", .holds = Holds::integer, .doc = "how far it is away"},
         wall([](const analyses::Wall& w) { return w.left; })},
        {{.name = "seconds_left", .title = "SECONDS LEFT", .holds = Holds::real, .doc = "until it is reached"},
         wall([](const analyses::Wall& w) { return rounded(w.seconds); })},
        {{.name = "young_seconds",
          .title = "VM'S AGE",
          .holds = Holds::real,
          .doc = "of a VM younger than an hour: it may be filling up to a bound",
          .wide = true},
         [](const Row& r) { return r->growing.young ? Value(rounded(*r->growing.young)) : Value(); }},
        {{.name = "within",
          .title = "IN",
          .doc = "where in its terms that is",
          .content = Content::message,
          .wraps = true},
         [](const Row& r) { return r->detail.empty() ? Value() : Value(r->detail); }},
    };
    return table_of(std::move(columns), std::move(rows), "nothing grows steadily");
}

Text risen_text(std::span<const analyses::Risen> risen, Syntax syntax) {
    constexpr std::size_t most_things = 2;
    constexpr double part = 0.1;  // of what the node's memory rose by
    Text text;
    double node = 0;
    std::size_t things = 0;
    for (const analyses::Risen& each : risen) {
        const bool memory = analyses::is_node_memory(*each.key);
        if (memory && node > 0) continue;  // as the system counts it, or as the VM does
        if (memory) {
            node = each.now - each.from;
            text = spell(
                analyses::sentence("in its last {} the memory of the node rose from {} to {}",
                                   Amount{static_cast<std::uint64_t>(each.seconds * 1000), AmountUnit::milliseconds},
                                   amount(each.from, true), amount(each.now, true)));
        } else if (node > 0 && each.key->bytes && !analyses::is_sum(*each.key) && things < most_things &&
                   each.now - each.from >= node * part) {
            text.add(spell(analyses::sentence(
                "; {} {}: {} from {} to {}", of_vm(std::string(analyses::name_of(each.key->what))),
                InputText{key_of(*each.key, syntax), InputText::Holds::name}, of_vm(std::string(each.key->measure)),
                amount(each.from, true), amount(each.now, true))));
            ++things;
        }
    }
    return text;
}

Table risen_table(std::span<const analyses::Risen> risen, Syntax syntax) {
    using Row = const analyses::Risen*;
    std::vector<Row> rows;
    for (const analyses::Risen& each : risen) rows.push_back(&each);
    Columns<Row> columns{
        {{.name = "what", .title = "WHAT", .doc = "process, process_group, ets_table, memory, total, ..."},
         [](const Row& r) { return Value(analyses::name_of(r->key->what)); }},
        {{.name = "key", .title = "KEY", .doc = "which one", .content = Content::name},
         [syntax](const Row& r) { return Value(key_of(*r->key, syntax)); }},
        {{.name = "measure", .title = "OF IT", .doc = "what of it"},
         [](const Row& r) { return Value(r->key->measure); }},
        {{.name = "unit", .title = "UNIT", .doc = "bytes, or a count", .wide = true},
         [](const Row& r) { return Value(r->key->bytes ? "bytes" : "count"); }},
        {{.name = "seconds", .title = "SECONDS", .holds = Holds::real, .doc = "within which it rose"},
         [](const Row& r) { return Value(rounded(r->seconds)); }},
        {{.name = "from", .title = "FROM", .unit = Unit::count, .doc = "what it was", .unit_by = "unit"},
         [](const Row& r) { return Value(static_cast<std::uint64_t>(r->from)); }},
        {{.name = "now", .title = "NOW", .unit = Unit::count, .doc = "what it is", .unit_by = "unit"},
         [](const Row& r) { return Value(static_cast<std::uint64_t>(r->now)); }},
    };
    return table_of(std::move(columns), std::move(rows), "nothing rose");
}

namespace {

struct Sample {
    std::string labels;
    double value;
};
struct Family {
    std::string_view name, unit, help;
    std::vector<Sample> samples;
};

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n') out += "\\n";
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) out += '?';
        else out += c;
    }
    return out;
}

}  // namespace

std::string memory_kind(const analyses::Figures::Key& key) {
    const bool of_allocator = key.measure == "held" || key.measure == "unused";
    return of_allocator ? fmt::format("{}_{}", key.key, key.measure) : key.key;
}

std::string open_metrics(std::span<const MeasuredVm> vms) {
    Family memory{
        "beamheap_memory_bytes", "bytes", "Memory of the node by kind; resident and swapped are the system's.", {}};
    Family total{
        "beamheap_things", "", "Numbers of the node: processes, messages, ports, timers, atoms, descriptors, ...", {}};
    Family limit{"beamheap_limit", "", "Limits of the node and of the system.", {}};
    Family rounds{"beamheap_rounds", "", "Rounds of the watch so far.", {}};
    Family halted{"beamheap_halted", "", "1 while the VM stands still: stopped, traced or frozen; else 0.", {}};
    Family grows{"beamheap_growth_per_second", "", "What grows steadily, in its unit a second.", {}};
    Family wall{"beamheap_wall_seconds", "seconds", "Seconds until what grows reaches its limit.", {}};
    for (const MeasuredVm& vm : vms) {
        const std::string of_vm = fmt::format("vm=\"{}\",node=\"{}\"", escaped(vm.vm),
                                              escaped(safe_text(vm.redactor.apply(vm.node, Content::name))));
        for (const auto& [key, value, single] : vm.watch->now()) {
            if (key->what == GrowthOf::memory)
                memory.samples.push_back(
                    {fmt::format("{},kind=\"{}\"", of_vm, escaped(safe_text(memory_kind(*key)))), value});
            else if (key->what == GrowthOf::total && !key->bytes && !single)
                total.samples.push_back({fmt::format("{},of=\"{}\"", of_vm, escaped(key->measure)), value});
        }
        const auto add_limit = [&](std::string_view of, const Count& count) {
            if (count.has())
                limit.samples.push_back({fmt::format("{},of=\"{}\"", of_vm, of), static_cast<double>(*count)});
        };
        add_limit("processes", vm.watch->process_limit());
        add_limit("ports", vm.watch->port_limit());
        add_limit("atoms", vm.watch->atom_limit());
        add_limit("descriptors", vm.system.descriptor_limit);
        add_limit("memory_bytes", vm.system.memory_limit_bytes);
        rounds.samples.push_back({of_vm, static_cast<double>(vm.watch->rounds())});
        halted.samples.push_back({of_vm, vm.halted ? 1.0 : 0.0});
        for (const ToldGrowth& each : vm.told) {
            if (each.change == GrowthChange::gone) continue;
            const std::string labels = fmt::format(
                "{},what=\"{}\",key=\"{}\",measure=\"{}\"", of_vm, analyses::name_of(each.growing.key.what),
                escaped(safe_text(vm.redactor.apply(each.growing.key.key, Content::name))), each.growing.key.measure);
            grows.samples.push_back({labels, each.growing.per_second});
            if (each.growing.wall)
                wall.samples.push_back(
                    {fmt::format("{},wall=\"{}\"", labels, analyses::name_of(each.growing.wall->kind)),
                     each.growing.wall->seconds});
        }
    }
    std::string text;
    for (const Family* family : {&memory, &total, &limit, &rounds, &halted, &grows, &wall}) {
        text += fmt::format("# TYPE {} gauge\n", family->name);
        if (!family->unit.empty()) text += fmt::format("# UNIT {} {}\n", family->name, family->unit);
        text += fmt::format("# HELP {} {}\n", family->name, family->help);
        for (const Sample& sample : family->samples)
            text += fmt::format("{}{{{}}} {}\n", family->name, sample.labels, sample.value);
    }
    return text + "# EOF\n";
}

}  // namespace beamheap::present
