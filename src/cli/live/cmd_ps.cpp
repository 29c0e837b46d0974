// SPDX-License-Identifier: Apache-2.0
// ps: the Erlang VMs that run on this machine and in its containers.
#include <fmt/format.h>

#include <algorithm>

#include "cli/frame/commands.hpp"
#include "formats/otp/running_vms.hpp"
#include "present/document.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {
namespace {

using Row = const otp::VmOnMachine*;
using present::Value;

Value text(const std::string& words) { return words.empty() ? Value() : Value(words); }

// "3d 4h", "12m 5s": the two largest units.
std::string since(double seconds) {
    const auto whole = static_cast<std::uint64_t>(seconds);
    if (whole >= 86400) return fmt::format("{}d {}h", whole / 86400, whole / 3600 % 24);
    if (whole >= 3600) return fmt::format("{}h {}m", whole / 3600, whole / 60 % 60);
    return whole >= 60 ? fmt::format("{}m {}s", whole / 60, whole % 60) : fmt::format("{}s", whole);
}

present::Columns<Row> ps_columns() {
    using present::Content, present::Unit;
    return {
        {{.name = "input", .title = "PID", .doc = "of the operating system: INPUT of the other verbs"},
         [](const Row& r) { return Value(std::to_string(r->pid)); }},
        {{.name = "pid", .title = "PID", .doc = "the same as a number", .wide = true},
         [](const Row& r) { return Value(r->pid); }},
        {{.name = "node", .title = "NODE", .doc = "its name; nonode@nohost: not distributed", .content = Content::name},
         [](const Row& r) { return text(r->node); }},
        {{.name = "otp_release", .title = "OTP", .doc = "release"}, [](const Row& r) { return text(r->otp_release); }},
        {{.name = "erts_version", .title = "ERTS", .doc = "version of the emulator", .wide = true},
         [](const Row& r) { return text(r->erts_version); }},
        {{.name = "up", .title = "UP", .doc = "since it was started"},
         [](const Row& r) { return Value(since(r->uptime_seconds)); }},
        {{.name = "uptime_seconds", .title = "UPTIME s", .doc = "the same in seconds", .wide = true},
         [](const Row& r) { return Value(static_cast<std::uint64_t>(r->uptime_seconds)); }},
        {{.name = "user", .title = "USER", .doc = "that it runs as", .lesser = 1},
         [](const Row& r) { return text(r->user); }},
        {{.name = "resident_bytes", .title = "MEMORY", .unit = Unit::bytes, .doc = "resident"},
         [](const Row& r) { return Value(r->resident_bytes); }},
        {{.name = "processes", .title = "PROCESSES", .unit = Unit::count, .doc = "of Erlang"},
         [](const Row& r) { return Value(r->processes); }},
        {{.name = "container", .title = "CONTAINER", .doc = "by its control group; null: none", .lesser = 2},
         [](const Row& r) { return text(r->container); }},
        {{.name = "pid_inside",
          .title = "PID INSIDE",
          .doc = "in its own pid namespace, where that is another",
          .wide = true},
         [](const Row& r) { return r->pid_inside ? Value(*r->pid_inside) : Value(); }},
        {{.name = "problem",
          .title = "PROBLEM",
          .doc = "why it could not be looked into: the right that is missing; null: it was",
          .wide = true},
         [](const Row& r) { return r->problem ? Value(r->problem->message) : Value(); }},
        {{.name = "cure", .title = "CURE", .doc = "of the problem", .wide = true},
         [](const Row& r) { return r->problem ? text(r->problem->advice) : Value(); }},
    };
}

// What keeps VMs from being looked into, each reason once, behind the pids that it is of: as a rule it is one right
// that is missing for all.
std::vector<present::Text> problems(const std::vector<otp::VmOnMachine>& all) {
    struct Problem {
        std::string sentence, pids;
    };
    std::vector<Problem> seen;
    for (const otp::VmOnMachine& each : all) {
        if (!each.problem) continue;
        const std::string pid = std::to_string(each.pid), start = pid + ": ";
        const std::string_view message = each.problem->message;
        const std::string sentence = fmt::format(
            "{}. {}", message.starts_with(start) ? message.substr(start.size()) : message, each.problem->advice);
        const auto known = std::ranges::find(seen, sentence, &Problem::sentence);
        if (known == seen.end()) seen.push_back({sentence, pid});
        else known->pids += ", " + pid;
    }
    std::vector<present::Text> lines;
    for (const Problem& each : seen)
        lines.push_back(present::Text{}.add(fmt::format("{}: {}", each.pids, each.sentence)));
    return lines;
}

}  // namespace

static Status cmd_ps(const Context& context) {
    const std::vector<otp::VmOnMachine> all = otp::running_vms();
    std::vector<Row> rows;
    present::Document document;
    document.kind = context.options().verb;
    for (const otp::VmOnMachine& each : all) rows.push_back(&each);
    document.lead = {present::spell(
        all.empty()
            ? analyses::Sentence(analyses::Ours("No Erlang VM runs here that can be seen."))
            : analyses::sentence("{} here.", analyses::Counted{all.size(), "Erlang VM runs", "Erlang VMs run"}))};
    for (present::Text& problem : problems(all)) document.lead.push_back(std::move(problem));
    document.members.push_back(
        {.key = "rows",
         .body = present::table_of(ps_columns(), std::move(rows), "no Erlang VM runs here that can be seen")});
    return context.print(document);
}

BH_DEFINE_VERB(ps){
    .name = "ps",
    .summary = "the Erlang VMs that run on this machine and in its containers",
    .details =
        "Their pids are INPUT of the other verbs: `beamheap top 1234`, or pid:1234 where a file has that name; the "
        "name of a node\n"
        "is one as well, where one VM is called so. Nothing is stopped and\n"
        "nothing is written: memory is read as it is at that instant. That takes the right to attach to the process; "
        "where it is\n"
        "missing, its row says which, and what would give it.",
    .examples = "ps\ntop 1234\nanalyze pid:1234",
    .alone = true,
    .run = &cmd_ps,
};

}  // namespace beamheap::cli
