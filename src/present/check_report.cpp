// SPDX-License-Identifier: Apache-2.0
#include "present/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "present/check_places.hpp"
#include "present/glued_text.hpp"
#include "present/json_writer.hpp"
#include "present/sanitise.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

using analyses::FindingSeverity;

bool open_verdict(Verdict verdict) { return verdict == Verdict::fails || verdict == Verdict::reported; }

std::string markdown(std::string_view raw) {
    std::string out;
    append_markdown(raw, out);
    return out;
}

std::string xml(std::string_view raw) {
    std::string out;
    for (const char c : safe_text(raw)) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&apos;"; break;
            default: out += c;
        }
    }
    return out;
}

// https://docs.github.com/actions: data escapes % CR LF, properties besides : and ,
std::string command(std::string_view raw, bool property) {
    std::string out;
    for (const char c : raw) {
        switch (c) {
            case '%': out += "%25"; break;
            case '\r': out += "%0D"; break;
            case '\n': out += "%0A"; break;
            case ':': out += property ? "%3A" : ":"; break;
            case ',': out += property ? "%2C" : ","; break;
            default: out += c;
        }
    }
    return out;
}

Table table_of_groups(const CheckReport& report) {
    using Same = Group;
    Columns<Same> of_groups{
        {{.name = "verdict", .title = "VERDICT", .doc = "fails, reported, known or ignored"},
         [](const Same& g) { return Value(name_of(g.finding().verdict)); }},
        {{.name = "severity", .title = "SEVERITY", .doc = "of the worst of them"},
         [](const Same& g) { return Value(analyses::name_of(g.finding().severity)); }},
        {{.name = "rule", .title = "RULE", .doc = "what it was found by"},
         [](const Same& g) { return Value(g.finding().rule); }},
        {{.name = "inputs", .title = "INPUTS", .unit = Unit::count, .doc = "how many inputs have it"},
         [](const Same& g) { return Value(std::uint64_t{g.places.size()}); }},
        {{.name = "example", .title = "EXAMPLE", .doc = "the input where it is worst"},
         [](const Same& g) { return Value(g.input().path); }},
        {{.name = "title", .title = "TITLE", .doc = "the finding there, in a sentence", .wraps = true},
         [](const Same& g) { return Value(g.finding().title); }},
        {{.name = "fingerprint", .title = "FINGERPRINT", .doc = "what makes them the same"},
         [](const Same& g) { return Value(g.finding().fingerprint); }},
    };
    return table_of(std::move(of_groups), groups_of(report), "nothing found");
}

}  // namespace

std::vector<Place> worst_first(const CheckReport& report) {
    std::vector<Place> places;
    for (const CheckedInput& input : report.inputs)
        for (const CheckedFinding& finding : input.findings) places.push_back({&input, &finding});
    std::ranges::stable_sort(places, [](const Place& a, const Place& b) {
        if (a.finding->verdict != b.finding->verdict) return a.finding->verdict < b.finding->verdict;
        return a.finding->severity > b.finding->severity;
    });
    return places;
}

std::string cut(std::string text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    text.resize(bytes);
    return text + "...";
}

std::string_view name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::fails: return "fails";
        case Verdict::reported: return "reported";
        case Verdict::known: return "known";
        case Verdict::ignored: break;
    }
    return "ignored";
}

std::uint64_t CheckReport::count(Verdict verdict) const {
    std::uint64_t total = 0;
    for (const CheckedInput& input : inputs)
        for (const CheckedFinding& finding : input.findings) total += finding.verdict == verdict;
    return total;
}

analyses::Sentence CheckReport::summary() const {
    using analyses::Amount;
    using analyses::Counted;
    const analyses::InputText level{std::string(analyses::name_of(threshold)), analyses::InputText::Holds::vm};
    analyses::Sentence text =
        analyses::sentence("{} in {}", Counted{dumps, "dump", "dumps"}, Counted{files, "file", "files"});
    const std::uint64_t fails = count(Verdict::fails);
    const bool limits = std::ranges::any_of(rules, [](const std::string& rule) { return rule.starts_with("limit-"); });
    if (fails == 0) text.say(": no finding at or above {}", level);
    else
        text.say(": {} at or above {}{}", Counted{fails, "finding", "findings"}, level,
                 limits ? analyses::Ours(" or over a limit") : analyses::Ours(""));
    if (const std::uint64_t below = count(Verdict::reported); below != 0) text.say(", {} below", Amount{below});
    if (const std::uint64_t known = count(Verdict::known); known != 0) text.say(", {} in the baseline", Amount{known});
    if (const std::uint64_t ignored = count(Verdict::ignored); ignored != 0) text.say(", {} ignored", Amount{ignored});
    return text.say(".");
}

Document check_document(const CheckReport& report) {
    Document document;
    document.kind = "check";
    for (const CheckedInput& input : report.inputs)
        if (!input.source.empty()) document.sources.push_back(input.source);
    document.warnings = report.warnings;
    document.lead.push_back(spell(report.summary()));
    document.members.push_back({.key = "totals",
                                .body = Value(Object{{"files", report.files},
                                                     {"archives", report.archives},
                                                     {"dumps", report.dumps},
                                                     {"fails", report.count(Verdict::fails)},
                                                     {"reported", report.count(Verdict::reported)},
                                                     {"known", report.count(Verdict::known)},
                                                     {"ignored", report.count(Verdict::ignored)},
                                                     {"threshold", analyses::name_of(report.threshold)}})});
    Array rules;
    for (const std::string& rule : report.rules) rules.emplace_back(rule);
    document.members.push_back({.key = "rules", .body = Value(std::move(rules))});
    using Row = Place;
    const auto lines = [](const std::vector<std::string>& from) {
        Array all;
        for (const std::string& line : from) all.emplace_back(line);
        return Value(std::move(all));
    };
    Columns<Row> columns{
        {{.name = "input", .title = "INPUT", .doc = "the dump that it is in"},
         [](const Row& r) { return Value(r.input->path); }},
        {{.name = "verdict", .title = "VERDICT", .doc = "fails, reported, known (baseline) or ignored"},
         [](const Row& r) { return Value(name_of(r.finding->verdict)); }},
        {{.name = "severity", .title = "SEVERITY", .doc = "critical, high, medium or info"},
         [](const Row& r) { return Value(analyses::name_of(r.finding->severity)); }},
        {{.name = "rule", .title = "RULE", .doc = "what it was found by"},
         [](const Row& r) { return Value(r.finding->rule); }},
        {{.name = "title", .title = "TITLE", .doc = "the finding in a sentence", .wraps = true},
         [](const Row& r) { return Value(r.finding->title); }},
        {{.name = "title_parts", .title = "TITLE PARTS", .doc = "that sentence part by part", .wide = true},
         [](const Row& r) { return Value(r.finding->title_parts); }},
        {{.name = "subject", .title = "SUBJECT", .doc = "what it is about, without pids"},
         [](const Row& r) { return Value(r.finding->subject); }},
        {{.name = "pid", .title = "PID", .doc = "the process that it is about"},
         [](const Row& r) { return cells::text(std::string_view(r.finding->pid)); }},
        {{.name = "name", .title = "PROCESS", .doc = "its registered name"},
         [](const Row& r) { return cells::text(std::string_view(r.finding->name)); }},
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "of what the title counts"},
         [](const Row& r) { return Value(r.finding->count); }},
        {{.name = "bytes", .title = "BYTES", .unit = Unit::bytes, .doc = "memory that it is about"},
         [](const Row& r) { return Value(r.finding->bytes); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "the share that the title gives"},
         [](const Row& r) { return cells::percent(r.finding->percent); }},
        {{.name = "fingerprint", .title = "FINGERPRINT", .doc = "the same for the same thing in another dump"},
         [](const Row& r) { return Value(r.finding->fingerprint); }},
        {{.name = "evidence", .title = "EVIDENCE", .doc = "what proves it"},
         [lines](const Row& r) { return lines(r.finding->evidence); }},
        {{.name = "next_steps", .title = "NEXT STEPS", .doc = "what to do"},
         [lines](const Row& r) { return lines(r.finding->next_steps); }},
    };
    document.members.push_back(
        {.key = "findings", .body = table_of(std::move(columns), worst_first(report), "nothing found")});
    document.members.push_back(
        {.key = "groups", .title = "The same in several inputs", .body = table_of_groups(report)});
    document.primary = "findings";
    return document;
}

std::string check_text(const CheckReport& report, std::size_t width) {
    constexpr std::size_t hang = 14;
    std::string text;
    const auto line_behind = [&](std::string safe, std::size_t behind) {
        glue_units(safe);
        text += wrapped(safe, width, behind) + '\n';
    };
    const auto line = [&](std::string safe) { line_behind(std::move(safe), hang); };
    const auto tell = [&](const Group& group) {
        const CheckedFinding& finding = group.finding();
        const std::string mark = open_verdict(finding.verdict) ? "" : fmt::format(" ({})", name_of(finding.verdict));
        line(fmt::format("  {:<8}  {}: {}{}", analyses::name_of(finding.severity), finding.rule,
                         safe_text(finding.title), mark));
        if (finding.verdict != Verdict::fails) return;
        if (group.places.size() > 1) line(fmt::format("{:{}}as it is in {}", "", hang, safe_text(group.input().path)));
        for (const std::string& each : finding.evidence)
            line_behind(std::string(hang, ' ') + safe_text(each), hang + 2);
        for (const std::string& step : finding.steps_to_fold) line("           -> " + step);
    };
    const std::vector<Group> groups = groups_of(report);
    std::vector<std::vector<const Group*>> shared;  // those of one element are in the same inputs
    std::map<std::vector<const CheckedInput*>, std::size_t> of_inputs;
    std::map<const CheckedInput*, std::vector<const Group*>> own;
    for (const Group& group : groups) {
        if (group.places.size() == 1) {
            own[group.places.front().input].push_back(&group);
            continue;
        }
        std::vector<const CheckedInput*> inputs;
        for (const Place& place : group.places) inputs.push_back(place.input);
        const auto [at, fresh] = of_inputs.try_emplace(std::move(inputs), shared.size());
        if (fresh) shared.emplace_back();
        shared[at->second].push_back(&group);
    }
    for (const std::vector<const Group*>& together : shared) {
        const Group& first = *together.front();
        line(fmt::format("The same in {} inputs: {}", grouped(first.places.size()), safe_text(inputs_text(first))));
        for (const Group* group : together) tell(*group);
        text += '\n';
    }
    for (const CheckedInput& input : report.inputs) {
        const auto found = own.find(&input);
        if (found == own.end()) continue;
        // A line that begins with a colon could be a command to the build server.
        text += (input.path.starts_with(':') ? "./" : "") + safe_text(input.path) + '\n';
        // As the input has them, whatever their verdict.
        std::ranges::sort(found->second, {}, [](const Group* group) { return group->places.front().finding; });
        for (const Group* group : found->second) tell(*group);
        text += '\n';
    }
    return text + wrapped(safe_text(spell(report.summary()).raw()), width, 0) + '\n';
}

// The sentences of all come before the details of any: what does not fit are details, then what is least bad.
std::string check_markdown(const CheckReport& report) {
    constexpr std::size_t for_the_end = 256;
    struct Entry {
        std::string head, details;
        std::size_t findings;
    };
    const bool failed = report.count(Verdict::fails) != 0;
    std::string text = fmt::format("### {} beamheap\n\n{}\n",
                                   failed ? ":x:" : ":white_check_mark:", markdown(spell(report.summary()).raw()));
    const std::vector<Group> groups = groups_of(report);
    std::vector<Entry> entries;
    std::size_t size = text.size() + for_the_end;
    std::string heading;
    for (const Group& group : groups) {
        const CheckedFinding& finding = group.finding();
        if (!open_verdict(finding.verdict)) break;
        const bool shared = group.places.size() > 1;
        std::string now = shared ? fmt::format("\n**The same in {} inputs:** {}\n\n", grouped(group.places.size()),
                                               markdown(inputs_text(group)))
                                 : fmt::format("\n**{}**\n\n", markdown(cut(group.input().path, 1024)));
        Entry entry{fmt::format("{}- **{}** {}: {}\n", now == heading ? "" : now, analyses::name_of(finding.severity),
                                markdown(finding.rule), markdown(cut(finding.title, 2048))),
                    {},
                    group.places.size()};
        if (size + entry.head.size() > markdown_limit) break;
        size += entry.head.size();
        heading = std::move(now);
        if (finding.verdict == Verdict::fails) {
            if (shared) entry.details += fmt::format("  - as it is in {}\n", markdown(cut(group.input().path, 1024)));
            for (const std::string& line : finding.evidence)
                entry.details += fmt::format("  - {}\n", markdown(cut(line, 512)));
            for (const std::string& step : finding.next_steps)
                entry.details += fmt::format("  - → {}\n", markdown(cut(step, 512)));
        }
        entries.push_back(std::move(entry));
    }
    std::uint64_t left = report.count(Verdict::fails) + report.count(Verdict::reported);
    for (const Entry& entry : entries) {
        text += entry.head;
        left -= entry.findings;
        if (size + entry.details.size() > markdown_limit) continue;
        size += entry.details.size();
        text += entry.details;
    }
    if (left != 0) text += fmt::format("\n... {} more\n", grouped(left));
    return text;
}

std::string check_junit(const CheckReport& report) {
    // The head counts what follows: the suites are made first.
    std::string suites;
    std::uint64_t tests = 0;
    std::uint64_t failures = 0;
    std::uint64_t left_out = 0;
    for (const CheckedInput& input : report.inputs) {
        std::string cases;
        std::uint64_t suite_tests = 0;
        std::uint64_t suite_failures = 0;
        std::uint64_t suite_skipped = 0;
        const std::string file = xml(cut(input.path, 4096));
        const auto begin = [&](std::string_view rule, std::string_view name) {
            ++suite_tests;
            return fmt::format("    <testcase classname=\"beamheap.{}\" name=\"{}\"", xml(rule), xml(name));
        };
        for (const std::string& rule : report.rules)
            if (!input.source.empty() && suites.size() + cases.size() < report_limit / 2 &&
                std::ranges::find(input.findings, rule, &CheckedFinding::rule) == input.findings.end())
                cases += begin(rule, rule) + "/>\n";
        for (const CheckedFinding& finding : input.findings) {
            std::string text = finding.title;
            for (const std::string& line : finding.evidence) text += "\n" + line;
            for (const std::string& step : finding.next_steps) text += "\n-> " + step;
            std::string body;
            for (std::size_t at = 0; at <= text.size();) {
                const std::size_t end = std::min(text.find('\n', at), text.size());
                body += xml(std::string_view(text).substr(at, end - at)) + '\n';
                at = end + 1;
            }
            const std::string name = fmt::format("{}: {}", finding.rule, cut(finding.subject, 512));
            const bool fits = suites.size() + cases.size() + body.size() + 3 * name.size() + 8 * file.size() + 4096 <
                              report_limit - 4096;
            if (!fits) {
                ++left_out;
                continue;
            }
            cases += begin(finding.rule, name);
            if (finding.verdict == Verdict::fails) {
                ++suite_failures;
                cases += fmt::format(">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                                     analyses::name_of(finding.severity), xml(cut(finding.title, 1024)), body);
            } else if (finding.verdict == Verdict::reported) {
                cases += fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", body);
            } else {
                ++suite_skipped;
                cases += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", name_of(finding.verdict));
            }
        }
        if (cases.empty()) continue;
        suites += fmt::format(
            "  <testsuite name=\"{}\" file=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}  "
            "</testsuite>\n",
            file, file, suite_tests, suite_failures, suite_skipped, cases);
        tests += suite_tests;
        failures += suite_failures;
    }
    if (left_out != 0) {
        ++tests, ++failures;
        suites += fmt::format(
            "  <testsuite name=\"beamheap\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\">\n    <testcase "
            "classname=\"beamheap\" name=\"more findings\">\n      <failure message=\"{} more findings than this "
            "report can hold\"/>\n    </testcase>\n  </testsuite>\n",
            left_out);
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"beamheap\" tests=\"{}\" failures=\"{}\" "
        "errors=\"0\">\n{}</testsuites>\n",
        tests, failures, suites);
}

std::string check_gitlab(const CheckReport& report) {
    constexpr std::size_t for_the_end = 16 * 1024;
    StringSink sink;
    JsonWriter json(sink);
    json.begin_array();
    std::size_t written = 0;
    for (const Place& place : worst_first(report)) {
        const CheckedFinding& finding = *place.finding;
        if (!open_verdict(finding.verdict)) continue;
        const std::string path = cut(place.input->path, 1024);
        const std::string title = cut(finding.title, 2048);
        // What escapes may make of it: six bytes of one.
        written += 6 * (title.size() + path.size()) + 512;
        if (written > report_limit - for_the_end) break;
        json.line();
        json.begin_object();
        json.key("description");
        json.text(title);
        json.key("check_name");
        json.text(finding.rule);
        json.key("fingerprint");
        json.text(analyses::fingerprint(finding.fingerprint, analyses::SubjectKind::node, place.input->path) +
                  finding.fingerprint);
        json.key("severity");
        json.text(finding.severity == FindingSeverity::critical ? "critical"
                  : finding.severity == FindingSeverity::high   ? "major"
                  : finding.severity == FindingSeverity::medium ? "minor"
                                                                : "info");
        json.key("location");
        json.begin_object();
        json.key("path");
        json.text(path);
        json.key("lines");
        json.begin_object();
        json.key("begin");
        json.number(std::uint64_t{1});
        json.end_object();
        json.end_object();
        json.end_object();
    }
    json.line();
    json.end_array();
    return sink.text() + '\n';
}

std::string check_github(const CheckReport& report) {
    std::string text;
    const std::vector<Group> groups = groups_of(report);
    for (const std::string_view kind : {"error", "warning", "notice"}) {
        std::vector<const Group*> of_kind;
        for (const Group& group : groups) {
            if (!open_verdict(group.finding().verdict)) continue;
            const std::string_view own = group.finding().verdict == Verdict::fails           ? "error"
                                         : group.finding().severity == FindingSeverity::info ? "notice"
                                                                                             : "warning";
            if (own == kind) of_kind.push_back(&group);
        }
        const std::size_t shown = of_kind.size() > annotations_limit ? annotations_limit - 1 : of_kind.size();
        for (std::size_t i = 0; i < shown; ++i) {
            const CheckedFinding& finding = of_kind[i]->finding();
            std::string message = cut(safe_text(finding.title), 2048);
            if (const std::size_t others = of_kind[i]->places.size() - 1; others != 0)
                message += fmt::format("\nThe same in {} more {}.", grouped(others), others == 1 ? "input" : "inputs");
            for (const std::string& step : finding.next_steps) message += "\n-> " + cut(safe_text(step), 512);
            text += fmt::format(
                "::{} file={},title={}::{}\n", kind, command(cut(safe_text(of_kind[i]->input().path), 1024), true),
                command(fmt::format("beamheap: {} ({})", finding.rule, analyses::name_of(finding.severity)), true),
                command(message, false));
        }
        if (shown < of_kind.size())
            text += fmt::format("::{} title=beamheap::{} more\n", kind, grouped(of_kind.size() - shown));
    }
    return text;
}

}  // namespace beamheap::present
