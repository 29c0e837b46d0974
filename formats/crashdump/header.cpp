// SPDX-License-Identifier: Apache-2.0
// =erl_crash_dump:V, the header: free text of the node (the slogan) up to the line "System version: ", then fields.
// Written by erl_crash_dump_v() in erts/emulator/beam/break.c; the slogan is raw, may hold anything, and may lack
// the newline at its end.
#include <charconv>

#include "formats/crashdump/fields.hpp"
#include "formats/crashdump/readers.hpp"
#include "model/otp_release.hpp"

namespace beamheap::crashdump {
namespace {

struct Header {
    std::string* compiled;
    std::string* taints;
    std::string* thread;
    Count atoms;
};

constexpr Field<Header> header_fields[] = {
    {"Compiled: ", {}, {}, [](Loader&, Header& h, std::string_view v, std::uint64_t) { h.compiled->assign(v); }},
    {"Taints: ", {}, {}, [](Loader&, Header& h, std::string_view v, std::uint64_t) { h.taints->assign(v); }},
    {"Atoms: ", &Header::atoms},
    {"Calling Thread: ", {}, {}, [](Loader&, Header& h, std::string_view v, std::uint64_t) { h.thread->assign(v); }},
};

// What stands between `before` and `after`.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
    const std::size_t begin = text.find(before);
    if (begin == std::string_view::npos) return {};
    const std::size_t from = begin + before.size();
    const std::size_t end = text.find_first_of(after, from);
    return text.substr(from, end == std::string_view::npos ? end : end - from);
}

// Before R13B03 the line names only the emulator's version; the release follows from it.
// Source: the OTP release notes' list of erts versions.
struct ErtsRelease {
    std::string_view erts;
    std::string_view release;
};
constexpr ErtsRelease early_releases[] = {{"5.4", "R10B"},     {"5.5", "R11B"},     {"5.6", "R12B"}, {"5.7.1", "R13B"},
                                          {"5.7.2", "R13B01"}, {"5.7.3", "R13B02"}, {"5.7", "R13A"}};

// OTP's own part of a release's name: private builds put words of their own behind it, as in "R15B02Emilio".
std::string_view classic_release(std::string_view word) {
    const auto digits = [&](std::size_t at) {
        while (at < word.size() && word[at] >= '0' && word[at] <= '9') ++at;
        return at;
    };
    std::size_t end = digits(1);
    if (end < word.size() && (word[end] == 'A' || word[end] == 'B')) end = digits(end + 1);
    if (end + 1 < word.size() && word[end] == '-' && digits(end + 1) > end + 1) end = digits(end + 1);
    return word.substr(0, end);
}

void read_version(Source& source, std::string_view line) {
    source.erts_version = between(line, "erts-", "])");
    if (const std::string_view modern = between(line, "Erlang/OTP ", " "); !modern.empty()) source.otp_release = modern;
    else if (const std::string_view classic = between(line, "Erlang ", " "); classic.starts_with("R"))
        source.otp_release = classic_release(classic);
    else if (const std::string_view emulator = between(line, "emulator version ", " "); !emulator.empty()) {
        source.erts_version = emulator;
        for (const ErtsRelease& known : early_releases) {
            if (!emulator.starts_with(known.erts)) continue;
            source.otp_release = known.release;
            break;
        }
    }
    // "[64-bit halfword]" emulators have 32-bit heap terms, as have those without the mark.
    source.word_size = line.find("[64-bit]") != std::string_view::npos ? 8 : 4;
    source.jit = line.find("[jit") != std::string_view::npos;
}

std::string trimmed(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    return std::string(text);
}

// "scheduler:3"; a dirty scheduler, of which all have the number 0 here, is "scheduler:0".
std::optional<CallingScheduler> calling_scheduler(std::string_view thread) {
    constexpr std::string_view prefix = "scheduler:";
    if (!thread.starts_with(prefix)) return std::nullopt;
    const Count number = parse_decimal(thread.substr(prefix.size()));
    if (!number.has() || *number > 999'999) return std::nullopt;
    if (*number == 0) return CallingScheduler{};
    return CallingScheduler{Scheduler::Kind::normal, static_cast<std::uint32_t>(*number)};
}

}  // namespace

void read_header(Loader& loader, const Section& section, std::string_view body) {
    Source& source = loader.snapshot.source;
    Node& node = loader.snapshot.node;
    source.format_version = section.id;
    Dialect& dialect = loader.dialect;
    dialect.version = 5;
    if (section.id.starts_with("0.")) {
        const Count minor = parse_decimal(section.id.substr(2));
        if (minor.has() && *minor < 5) dialect.version = static_cast<std::uint32_t>(*minor);
        if (!minor.has() || *minor > 5) loader.anomalies().add(Anomaly::newer_format, section.offset, section.id);
    } else {
        loader.anomalies().add(Anomaly::newer_format, section.offset, section.id);
    }

    const char* const begin = body.data();
    node.created = take_line(body);
    const std::size_t version_at = body.find("System version: ");
    std::string_view text = body.substr(0, version_at);
    if (const std::size_t slogan = text.find("Slogan: "); slogan != std::string_view::npos)
        node.slogan = trimmed(text.substr(slogan + 8));
    if (version_at == std::string_view::npos) {
        loader.anomalies().add(Anomaly::unknown_release, section.offset);
        loader.losses.torn_section(section.offset, "=erl_crash_dump lacks its version");  // which each has
        return;
    }
    body.remove_prefix(version_at + 16);
    node.system_version = take_line(body);
    read_version(source, node.system_version);
    dialect.otp = major_of_release(source.otp_release);
    if (dialect.otp == 0) loader.anomalies().add(Anomaly::unknown_release, section.offset, node.system_version);
    dialect.bare_slot_addresses = dialect.otp == 10;
    dialect.latin1_atoms = dialect.otp != 0 && dialect.otp < 16;
    dialect.frames_end_with_return = dialect.otp == 0 || dialect.otp >= 23;

    Header header{&node.compiled, &node.taints, &node.calling_thread, {}};
    const Section rest{section.id, section.offset,
                       section.body_offset + static_cast<std::uint64_t>(body.data() - begin)};
    read_fields(loader, std::span<const Field<Header>>(header_fields), header, rest, body);
    node.atoms = header.atoms;
    node.calling_scheduler = calling_scheduler(node.calling_thread);
}

}  // namespace beamheap::crashdump
