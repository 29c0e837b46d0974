// SPDX-License-Identifier: Apache-2.0
// `check` as SARIF 2.1.0 (OASIS), which GitHub code scanning and editors read: one run, its rules, a result a finding.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "analyses/rules/finding.hpp"
#include "analyses/slogan/slogan.hpp"
#include "beamheap_version.hpp"
#include "present/check_places.hpp"
#include "present/check_report.hpp"
#include "present/json_writer.hpp"
#include "present/spelling.hpp"

namespace beamheap::present {
namespace {

constexpr std::size_t for_the_end = 64 * 1024;  // bytes
constexpr std::size_t longest_path = 1024, longest_line = 2048, longest_description = 1000;

bool is_unreserved(char c) {
    const auto in = [c](char from, char to) { return from <= c && c <= to; };
    return in('a', 'z') || in('A', 'Z') || in('0', '9') ||
           std::string_view("-._~/!$&'()*+,;=@").find(c) != std::string_view::npos;
}

// A path as a URI reference (RFC 3986): relative to the folder in which check ran, as its input was named.
std::string uri_of(std::string_view path) {
    std::string uri = path.starts_with('/') ? "file://" : "";
    for (const char c : path.substr(0, longest_path)) {
        if (is_unreserved(c)) uri += c;
        else uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return uri;
}

std::string_view level_of(const CheckedFinding& finding) {
    if (finding.verdict == Verdict::fails) return "error";
    return finding.severity == analyses::FindingSeverity::info ? "note" : "warning";
}

std::string message_of(const CheckedFinding& finding) {
    std::string text = cut(finding.title, longest_line);
    for (const std::string& line : finding.evidence) text += "\n" + cut(line, longest_line);
    for (const std::string& step : finding.next_steps) text += "\n-> " + cut(step, longest_line);
    return text;
}

class Sarif {
public:
    explicit Sarif(const CheckReport& report) : report_(report), json_(sink_) {
        for (const CheckedInput& input : report.inputs)
            for (const CheckedFinding& finding : input.findings) rules_.emplace(finding.rule, 0);
        std::size_t number = 0;
        for (auto& [rule, index] : rules_) index = number++;
    }

    std::string write() {
        json_.begin_object();
        member("$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json");
        member("version", "2.1.0");
        json_.key("runs");
        json_.begin_array();
        json_.begin_object();
        write_tool();
        write_results();
        json_.end_object();
        json_.end_array();
        json_.end_object();
        return sink_.text() + '\n';
    }

private:
    void member(std::string_view key, std::string_view text) {
        json_.key(key);
        json_.text(text);
    }
    void text_object(std::string_view key, std::string_view text) {
        json_.key(key);
        json_.begin_object();
        member("text", text);
        json_.end_object();
    }

    void write_tool() {
        json_.key("tool");
        json_.begin_object();
        json_.key("driver");
        json_.begin_object();
        member("name", "beamheap");
        member("semanticVersion", BEAMHEAP_VERSION);
        json_.key("rules");
        json_.begin_array();
        for (const auto& [rule, index] : rules_) {
            json_.line();
            json_.begin_object();
            member("id", rule);
            // A rule of somebody's own configuration has no page.
            const analyses::Explanation* const page = analyses::find_explanation(rule);
            text_object("shortDescription", page == nullptr ? std::string_view(rule) : page->title.text());
            if (page != nullptr && !page->paragraphs.empty())
                text_object("fullDescription", cut(spell(page->paragraphs.front()).raw(), longest_description));
            text_object("help", fmt::format("beamheap explain {}", rule));
            json_.end_object();
        }
        json_.end_array();
        json_.end_object();
        json_.end_object();
    }

    void write_results() {
        std::uint64_t left_out = 0;
        json_.key("results");
        json_.begin_array();
        for (const auto& [input, finding] : worst_first(report_)) {
            const std::string message = message_of(*finding);
            // What escapes may make of it: six bytes of one.
            written_ += 6 * message.size() + 3 * std::min(input->path.size(), longest_path) + 1024;
            if (written_ > report_limit - for_the_end) ++left_out;
            else write_result(*input, *finding, message);
        }
        json_.line();
        json_.end_array();
        if (left_out == 0) return;
        json_.key("properties");
        json_.begin_object();
        json_.key("resultsLeftOut");
        json_.number(left_out);
        json_.end_object();
    }

    void write_result(const CheckedInput& input, const CheckedFinding& finding, const std::string& message) {
        json_.line();
        json_.begin_object();
        member("ruleId", finding.rule);
        json_.key("ruleIndex");
        json_.number(static_cast<std::uint64_t>(rules_.at(finding.rule)));
        member("level", level_of(finding));
        text_object("message", message);
        json_.key("locations");
        json_.begin_array();
        json_.begin_object();
        json_.key("physicalLocation");
        json_.begin_object();
        json_.key("artifactLocation");
        json_.begin_object();
        member("uri", uri_of(input.path));
        json_.end_object();
        json_.key("region");
        json_.begin_object();
        json_.key("startLine");
        json_.number(std::uint64_t{1});
        json_.end_object();
        json_.end_object();
        json_.end_object();
        json_.end_array();
        json_.key("partialFingerprints");
        json_.begin_object();
        member("beamheapFinding/v1", finding.fingerprint);
        json_.end_object();
        if (finding.verdict == Verdict::known) member("baselineState", "unchanged");
        if (finding.verdict == Verdict::ignored) {
            json_.key("suppressions");
            json_.begin_array();
            json_.begin_object();
            member("kind", "external");
            json_.end_object();
            json_.end_array();
        }
        json_.end_object();
    }

    const CheckReport& report_;
    StringSink sink_;
    JsonWriter json_;
    std::map<std::string, std::size_t, std::less<>> rules_;  ///< by name, with their places in the list
    std::size_t written_ = 0;
};

}  // namespace

std::string check_sarif(const CheckReport& report) { return Sarif(report).write(); }

}  // namespace beamheap::present
