// SPDX-License-Identifier: Apache-2.0
#include "present/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>

#include "analyses/slogan/slogan.hpp"
#include "erlang/elixir_names.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

std::string_view severity_name(Severity severity) {
    switch (severity) {
        case Severity::info: return "info";
        case Severity::data_loss: return "data_loss";
        case Severity::error: break;
    }
    return "error";
}

// Where an oddity was first met: a byte of the file, or an address of the image; empty where it concerns the whole.
Text place_of(const Source& source, Anomaly kind, const Anomalies::Entry& entry) {
    if (entry.first_offset == 0 && !entry.first_detail.empty()) return Text{}.add(entry.first_detail, Content::message);
    const bool address = source.kind.places_are_addresses && kind != Anomaly::truncated;
    Text place = Text{}.add(address ? fmt::format("at address {:#x}", entry.first_offset)
                                    : fmt::format("at byte {}", entry.first_offset));
    if (!entry.first_detail.empty()) place.add(": ").add(entry.first_detail, Content::message);
    return place;
}

Warning warning_of(const Source& source, Anomaly kind, const Anomalies::Entry& entry) {
    const AnomalyKind& row = anomaly_table[static_cast<std::size_t>(kind)];
    const bool once = entry.count == 1;
    Text text = Text{}.add(std::string(row.sentence));
    text.add(once ? " (" : fmt::format(" ({} times; first ", grouped(entry.count)));
    text.add(place_of(source, kind, entry)).add(")");
    return {std::string(row.name), entry.count, std::string(severity_name(row.severity)), std::move(text),
            kind == Anomaly::layout_unproven};
}

}  // namespace

Text death_text(const Node& node) {
    if (node.signal) return spell(analyses::signal_text(*node.signal));
    return node.slogan.empty() ? Text{} : Text{}.add(node.slogan, Content::message);
}

Value death_value(const Node& node) {
    Text text = death_text(node);
    return text.empty() ? Value() : Value(std::move(text));
}

namespace {

Array parts_of(const std::vector<std::string_view>& parts) {
    Array array;
    for (const std::string_view part : parts) array.emplace_back(std::string(part));
    return array;
}

Object plain_source_of(const Snapshot& snapshot) {
    const Source& source = snapshot.source;
    return {{"path", source.path},
            {"format", std::string(format_name(source.kind.format))},
            {"format_version", cells::text(source.format_version)},
            {"otp_release", cells::text(source.otp_release)},
            {"erts_version", cells::text(source.erts_version)},
            {"word_size", source.word_size},
            {"jit", cells::flag(source.jit)},
            {"complete", cells::flag(source.complete)},
            {"truncation", cells::text(source.truncation)},
            {"not_looked_at", parts_of(source.not_looked_at)},
            {"slogan", death_value(snapshot.node)}};
}

struct Readings {
    std::uint64_t stable = 0, moving = 0, running = 0;
};

Readings readings_of(const Snapshot& snapshot) {
    Readings sums;
    for (const Process& process : snapshot.processes) {
        sums.stable += process.reading == RowReading::stable;
        sums.moving += process.reading == RowReading::moving;
        sums.running += process.reading == RowReading::running;
    }
    return sums;
}

std::string_view vm_as_it_stands(VmHalt halt) {
    switch (halt) {
        case VmHalt::stopped:
            return "VM that a signal has stopped (SIGSTOP, or a terminal's): none of its threads runs";
        case VmHalt::traced: return "VM that a debugger has stopped: none of its threads runs";
        case VmHalt::frozen:
            return "VM that is frozen with its control group (a paused container): none of its threads runs";
        case VmHalt::none: break;
    }
    return "running VM";
}

}  // namespace

std::string_view format_name(InputFormat format) {
    switch (format) {
        case InputFormat::crash_dump: return "crash_dump";
        case InputFormat::core: return "core";
        case InputFormat::live: break;
    }
    return "live";
}

std::string time_text(std::int64_t ms) {
    const std::time_t seconds = ms / 1000;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, ms % 1000);
}

Text reading_text(const Snapshot& snapshot) {
    Text text;
    if (!snapshot.source.live) return text;
    const LiveReading& live = *snapshot.source.live;
    const Readings sums = readings_of(snapshot);
    text.add(fmt::format("Process {} is a {}, read {}at {} in {:.0f} ms", live.pid, vm_as_it_stands(live.halt),
                         live.halt == VmHalt::none ? "without stopping it " : "", time_text(live.read_at_ms),
                         std::max(live.took_ms, 1.0)));
    // That none of its processes moved meanwhile is as one expects it.
    if (sums.moving + sums.running != 0)
        text.add(fmt::format(": {}, {} stable", counted(snapshot.processes.size(), "process", "processes"),
                             grouped(sums.stable)));
    if (sums.moving != 0) text.add(fmt::format(", {} moving (figures of several instants)", grouped(sums.moving)));
    if (sums.running != 0) text.add(fmt::format(", {} running (no stack, no terms)", grouped(sums.running)));
    if (live.gone != 0) text.add(fmt::format("; {} ended meanwhile", grouped(live.gone)));
    return text.add(".");
}

Object source_of(const Snapshot& snapshot) {
    Object source = plain_source_of(snapshot);
    if (!snapshot.source.live) return source;
    const LiveReading& live = *snapshot.source.live;
    const Readings sums = readings_of(snapshot);
    source.push_back({"live", Object{{"pid", live.pid},
                                     {"read_at", time_text(live.read_at_ms)},
                                     {"took_ms", live.took_ms},
                                     {"stable", sums.stable},
                                     {"moving", sums.moving},
                                     {"running", sums.running},
                                     {"gone", live.gone},
                                     {"ended", live.ended},
                                     {"halt", live.halt == VmHalt::none ? Value() : Value(name_of(live.halt))}}});
    return source;
}

namespace {

// Of an input that is damaged, that the losses which are told are not all: a part that this verb did not read may lack
// something, too.
Warning rest_not_looked_at(const Source& source) {
    return {.name = "not_looked_at",
            .count = source.not_looked_at.size(),
            .severity = std::string(severity_name(Severity::info)),
            .text = Text{}.add(fmt::format("the input is damaged, and of it these parts were not looked at for this "
                                           "answer: {} (`analyze --full` tells all that is lost)",
                                           fmt::join(source.not_looked_at, ", "))),
            .unasked = true};
}

}  // namespace

std::vector<Warning> warnings_of(const Snapshot& snapshot) {
    std::vector<Warning> warnings;
    // What was lost comes before what is merely odd.
    for (const bool lost : {true, false}) {
        for (std::size_t i = 0; i < anomaly_kinds; ++i) {
            const auto kind = static_cast<Anomaly>(i);
            if (snapshot.anomalies.seen(kind) && (anomaly_table[i].severity != Severity::info) == lost)
                warnings.push_back(warning_of(snapshot.source, kind, snapshot.anomalies[kind]));
        }
    }
    if (snapshot.anomalies.data_lost() && !snapshot.source.not_looked_at.empty())
        warnings.push_back(rest_not_looked_at(snapshot.source));
    return warnings;
}

namespace {

// Texts that what the node is made of is called by: processes, tables, ports, modules, functions, other nodes.
std::vector<bool> names_of_things(const Snapshot& snapshot) {
    std::vector<bool> names(snapshot.texts.size());
    const auto add = [&](TextId id) {
        if (id != TextId::none) names[static_cast<std::size_t>(id)] = true;
    };
    add(snapshot.node.name);
    for (const Process& process : snapshot.processes) add(process.name), add(process.label), add(process.application);
    for (std::size_t i = 0; i < snapshot.functions.size(); ++i) {
        const Function& function = snapshot.functions[static_cast<FunctionId>(i)];
        add(function.module), add(function.name);
    }
    for (const Port& port : snapshot.ports) add(port.name);
    for (const EtsTable& table : snapshot.ets) add(table.name), add(table.id);
    for (const Timer& timer : snapshot.timers) add(timer.receiver_name);
    for (const DistNode& other : snapshot.nodes) add(other.name);
    for (const Module& module : snapshot.modules) add(module.name);
    return names;
}

}  // namespace

RedactOptions redaction(RedactLevel level, const Salt& salt, const Snapshot& snapshot,
                        std::vector<std::string> known_secrets) {
    RedactOptions options{.level = level, .known_secrets = std::move(known_secrets), .private_names = {}, .salt = salt};
    if (level != RedactLevel::full) return options;
    std::vector<bool> of_the_vm(snapshot.texts.size());  // flags of processes are no names
    for (const Process& process : snapshot.processes)
        if (process.internal_state != TextId::none) of_the_vm[static_cast<std::size_t>(process.internal_state)] = true;
    // An atom that nothing is called by may be any word of English, which a sentence needs.
    const std::vector<bool> names = names_of_things(snapshot);
    std::vector<bool> words(snapshot.texts.size());
    for (const TextId atom : snapshot.atoms)
        if (atom != TextId::none) words[static_cast<std::size_t>(atom)] = !names[static_cast<std::size_t>(atom)];
    const auto add_identifiers = [&](std::string_view text) {
        std::ranges::move(identifiers_of(text), std::back_inserter(options.private_names));
    };
    for (std::size_t i = 0; i < snapshot.texts.size(); ++i) {
        const std::string_view text = snapshot.texts[static_cast<TextId>(i)];
        if (of_the_vm[i] || text.size() < 2 || text.size() > 255) continue;
        if (words[i] && !erlang::is_elixir(text)) add_identifiers(text);  // each part of a module's is a name
        else options.private_names.emplace_back(text);
    }
    // A dump that breaks off before its atoms has the slogan's names nowhere else.
    add_identifiers(snapshot.node.slogan);
    return options;
}

}  // namespace beamheap::present
