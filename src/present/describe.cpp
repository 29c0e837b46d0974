#include "present/describe.hpp"

#include <fmt/format.h>

#include "analyses/slogan/slogan.hpp"
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
    if (entry.first_offset == 0 && !entry.first_detail.empty())
        return Text{}.add(entry.first_detail, Content::message);
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

Object source_of(const Snapshot& snapshot) {
    const Source& source = snapshot.source;
    return {{"path", source.path},
            {"format", source.kind.format == InputFormat::crash_dump ? "crash_dump" : "core"},
            {"format_version", cells::text(source.format_version)},
            {"otp_release", cells::text(source.otp_release)},
            {"erts_version", cells::text(source.erts_version)},
            {"word_size", source.word_size},
            {"jit", cells::flag(source.jit)},
            {"complete", cells::flag(source.complete)},
            {"truncation", cells::text(source.truncation)},
            {"slogan", death_value(snapshot.node)}};
}

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
    return warnings;
}

RedactOptions redaction(RedactLevel level, const Snapshot& snapshot, std::vector<std::string> known_secrets) {
    RedactOptions options;
    options.level = level;
    std::string identity = snapshot.node.system_version;
    identity.append(snapshot.text(snapshot.node.name)).append(snapshot.node.created).append(death_text(snapshot.node).raw());
    if (snapshot.ets.empty())
        for (const std::string& secret : known_secrets) identity.append(secret);
    // Addresses differ between any two runs of a VM and are not shown unless asked for.
    for (const EtsTable& table : snapshot.ets) identity.append(fmt::format_int(table.address).str());
    options.salt = {keyed_hash({0x6265616D68656170ull, 1}, identity), keyed_hash({0x6265616D68656170ull, 2}, identity)};
    options.known_secrets = std::move(known_secrets);
    if (level != RedactLevel::full) return options;
    std::vector<bool> of_the_vm(snapshot.texts.size());  // flags of processes are no names
    for (const Process& process : snapshot.processes)
        if (process.internal_state != TextId::none) of_the_vm[static_cast<std::size_t>(process.internal_state)] = true;
    for (std::size_t i = 0; i < snapshot.texts.size(); ++i) {
        const std::string_view text = snapshot.texts[static_cast<TextId>(i)];
        if (!of_the_vm[i] && text.size() >= 2 && text.size() <= 255) options.private_names.emplace_back(text);
    }
    return options;
}

}  // namespace beamheap::present
