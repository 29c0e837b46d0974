// SPDX-License-Identifier: Apache-2.0
#include "present/check_report.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/checks/check_config.hpp"
#include "present/render.hpp"
#include "present/spelling.hpp"

using namespace beamheap;
using namespace beamheap::present;
using analyses::FindingSeverity;

namespace {

std::size_t occurrences(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

CheckedFinding finding(FindingSeverity severity, Verdict verdict, std::string title) {
    CheckedFinding f;
    f.rule = "queue-flood";
    f.severity = severity;
    f.verdict = verdict;
    f.title = std::move(title);
    f.subject = "writer";
    f.fingerprint = "0123456789abcdef";
    f.evidence = {"messages in its queue: 12,003"};
    f.next_steps = {"beamheap proc erl_crash.dump writer shows it."};
    return f;
}

CheckReport many(std::size_t count, const std::string& title) {
    CheckReport report;
    report.rules = {"queue-flood", "unexpected-dump"};
    for (std::size_t i = 0; i < count; ++i) {
        if (i % 1000 == 0) {
            report.inputs.push_back({"artifacts/node" + std::to_string(i) + "/erl_crash.dump", {{"path", "x"}}, {}});
            ++report.dumps, ++report.files;
        }
        const auto severity = static_cast<FindingSeverity>(i % 4);
        const Verdict verdict = severity >= FindingSeverity::high ? Verdict::fails : Verdict::reported;
        report.inputs.back().findings.push_back(finding(severity, verdict, title + std::to_string(i)));
        report.inputs.back().findings.back().fingerprint += std::to_string(i);
    }
    return report;
}

}  // namespace

TEST_CASE("outputs keep to their limits with 100,000 findings", "[check][slow]") {
    const std::string title = GENERATE(std::string("plain "), std::string("<&\x01'\"%:,\n|`") + std::string(300, '"'));
    const CheckReport report = many(100'000, title);
    const std::string markdown = check_markdown(report);
    CHECK(markdown.size() <= markdown_limit);
    CHECK(markdown.size() > markdown_limit / 2);
    CHECK(markdown.find(" more\n") != markdown.npos);

    const std::string github = check_github(report);
    for (const std::string_view kind : {"::error ", "::warning ", "::notice "})
        CHECK(occurrences(github, kind) == annotations_limit);
    CHECK(github.find("::error title=beamheap::49,991 more\n") != github.npos);
    CHECK(github.find("::warning title=beamheap::24,991 more\n") != github.npos);

    const std::string junit = check_junit(report);
    CHECK(junit.size() <= report_limit);
    CHECK(junit.find("more findings than this report can hold") != junit.npos);
    const std::string gitlab = check_gitlab(report);
    CHECK(gitlab.size() <= report_limit);
    const auto issues = nlohmann::json::parse(gitlab);
    CHECK(issues.is_array());
    CHECK(issues.size() > 1000);
    // The worst come first: what is cut off is the rest.
    CHECK(issues[0]["severity"] == "critical");
}

TEST_CASE("annotations escape what ends them", "[check]") {
    CheckReport report = many(1, "");
    report.inputs[0].path = "a,b:c%\nd";
    report.inputs[0].findings[0] = finding(FindingSeverity::high, Verdict::fails, "50% of\r\n::error::x, y: z");
    const std::string github = check_github(report);
    CHECK(occurrences(github, "\n") == 1);
    CHECK(github.find("file=a%2Cb%3Ac%25\\nd,title=beamheap%3A queue-flood (high)::50%25 of") != github.npos);
    CHECK(github.starts_with("::error file="));
}

TEST_CASE("what is known or ignored does not fail", "[check]") {
    CheckReport report = many(1, "t");
    report.inputs[0].findings = {finding(FindingSeverity::critical, Verdict::known, "one"),
                                 finding(FindingSeverity::critical, Verdict::ignored, "two")};
    CHECK(check_github(report).empty());
    CHECK(nlohmann::json::parse(check_gitlab(report)).empty());
    const std::string junit = check_junit(report);
    CHECK(junit.find("failures=\"0\"") != junit.npos);
    CHECK(occurrences(junit, "<skipped ") == 2);
    CHECK(spell(report.summary()).raw() ==
          "1 dump in 1 file: no finding at or above high, 1 in the baseline, 1 ignored.");
}

TEST_CASE("a path can't give commands to the build server", "[check]") {
    CheckReport report = many(1, "t");
    report.inputs[0].path = "::set-output name=x::y";
    CHECK(occurrences("\n" + check_text(report), "\n::") == 0);
}

TEST_CASE("configuration is read, or said to be wrong with its line", "[check]") {
    const std::vector<std::string_view> rules{"queue-flood", "idle-garbage", "limit-msgq"};
    const auto config = cli::parse_check_config(R"(
fail-on = ["critical", "processes>90%"]
baseline = "known.json"
[limits]
msgq = 10000
heap = "512MiB"
[[ignore]]
rule = "idle-*"
subject = "tls_connection:*"
until = 2027-01-01
reason = "OPS-12"
[[ignore]]
rule = "queue-flood"
until = "2020-01-01"
)",
                                                "some/.beamheap.toml", rules);
    REQUIRE(config);
    CHECK(config->fail_on.severity == FindingSeverity::critical);
    CHECK(config->fail_on.limits.size() == 3);
    CHECK(config->baseline == "some/known.json");
    REQUIRE(config->ignores.size() == 2);
    CHECK(config->ignores[0].until == "2027-01-01");
    CHECK_FALSE(config->ignores[0].expired("2026-12-31"));
    CHECK(config->ignores[0].expired("2027-01-01"));
    CHECK(config->ignores[1].expired(cli::today()));
    CHECK(config->ignores[0].fits("idle-garbage", "tls_connection:init/1"));
    CHECK_FALSE(config->ignores[0].fits("idle-garbage", "other"));

    struct Wrong {
        std::string_view text;
        std::string_view says;
    };
    for (const Wrong& wrong : {Wrong{"fail-on = \"high\"\nfailon = 1", "c.toml:2: there is no key 'failon'"},
                               {"\n\n[limits]\nmsgs = 4", "c.toml:4: there is no limit on 'msgs'"},
                               {"[limits]\nmsgq = true", "c.toml:2: the limit msgq must be a number"},
                               {"[limits]\nmsgq = -1", "c.toml:2: the limit msgq must be a number"},
                               {"fail-on = 3", "c.toml:1: fail-on must be a text"},
                               {"fail-on = \"hihg\"", "c.toml:1: 'hihg' is neither"},
                               {"[[ignore]]\nsubject = \"x\"", "c.toml:1: this [[ignore]] has no rule"},
                               {"[[ignore]]\nrule = \"queue-flod\"", "c.toml:2: there is no rule 'queue-flod'"},
                               {"[[ignore]]\nrule = \"*\"\nuntil = \"soon\"", "c.toml:3: until: 'soon' is not a date"},
                               {"ignore = 1", "c.toml:1: ignore must be a list"},
                               {"limits = 1", "c.toml:1: limits must be a table"},
                               {"schema = 2", "c.toml:1: schema must be 1"},
                               {"x = = 1", "c.toml:1: "}}) {
        CAPTURE(wrong.text);
        const auto read = cli::parse_check_config(wrong.text, "c.toml", rules);
        REQUIRE_FALSE(read);
        CHECK(read.error().code == ErrorCode::usage);
        CHECK(read.error().message.starts_with(wrong.says));
    }
}

TEST_CASE("a configuration that is no TOML is an error of the file in every build") {
    const std::vector<std::string_view> rules;
    for (const std::string_view text :
         {"[@",    "[.b]",  "[=",     "[", "[[",   "=",        ".",  "[a",        "a.",     "\"",   "[a]\n[@]",
          "a = [", "a = {", "a = {b", "'", "[a].", "a = \"\\", "\\", "a = 1979-", "a = 0x", "a = +"}) {
        INFO(text);
        const auto config = cli::parse_check_config(text, "c.toml", rules);
        REQUIRE(!config);
        CHECK(config.error().message.starts_with("c.toml:"));
    }
    const auto letter = cli::parse_check_config("# \u00e9\nbaseline = \"\u00e9\"\n\u00e9 = 1\n", "c.toml", rules);
    REQUIRE(!letter);
    CHECK(letter.error().message == "c.toml:3: a letter outside of ASCII stands in neither a text nor a comment");
    CHECK(cli::parse_check_config("\xEF\xBB\xBF# \u00e9\nbaseline = \"\u00e9\"\n", "c.toml", rules));
}

TEST_CASE("keys of thousands of parts are refused with their line") {
    const std::vector<std::string_view> rules;
    std::string dotted = "a";
    for (int i = 0; i < 200'000; ++i) dotted += ".a";
    for (const std::string& text :
         {"\n\n" + dotted + " = 1\n", "# a.b\n\n[" + dotted + "]\n", "x = \"\"\n\n[[" + dotted + "]]\n"}) {
        const auto config = cli::parse_check_config(text, "c.toml", rules);
        REQUIRE(!config);
        CHECK(config.error().message == "c.toml:3: a key has more than 16 parts");
    }
    // Dots in texts and comments are no keys.
    const std::string many(40, '.');
    CHECK(cli::parse_check_config("# " + many + "\nbaseline = \"" + many + "\"\n", "c.toml", rules));
    CHECK(cli::parse_check_config("baseline = '" + many + "'\nfail-on = \"\"\"high\"\"\" # " + many + "\n", "c.toml",
                                  rules));
}

TEST_CASE("what several inputs share is told once, with the worst figures", "[check]") {
    CheckReport report;
    for (int i = 0; i < 30; ++i) {
        CheckedFinding shared =
            finding(FindingSeverity::high, Verdict::fails, "queue of " + std::to_string(100 + i % 7));
        shared.count = static_cast<std::uint64_t>(100 + i % 7);
        report.inputs.push_back({"n" + std::to_string(i) + ".dump", {{"path", "x"}}, {shared}});
        ++report.dumps, ++report.files;
    }
    CheckedFinding own = finding(FindingSeverity::medium, Verdict::reported, "its own");
    own.fingerprint = "fedcba9876543210";
    report.inputs[5].findings.push_back(own);
    // Below the baseline it is another thing: it does not fail.
    report.inputs[29].findings[0].verdict = Verdict::known;
    const std::string text = check_text(report), markdown = check_markdown(report), github = check_github(report);
    CHECK(
        text.starts_with("The same in 29 inputs: n0.dump, n1.dump, n2.dump and 26 more\n  high      queue-flood: queue "
                         "of 106\n              as it is in n6.dump\n"));
    CHECK(occurrences(text, "queue of") == 2);
    CHECK(text.find("\nn5.dump\n  medium    queue-flood: its own\n") != text.npos);
    CHECK(text.find("\nn29.dump\n  high      queue-flood: queue of 101 (known)\n") != text.npos);
    CHECK(markdown.find("\n**The same in 29 inputs:** n0.dump, n1.dump, n2.dump and 26 more\n\n- **high** queue-flood: "
                        "queue of 106\n  - as it is in n6.dump\n") != markdown.npos);
    CHECK(markdown.find("more\n\n...") == markdown.npos);
    CHECK(occurrences(github, "::error ") == 1);
    CHECK(github.find("queue of 106%0AThe same in 28 more inputs.%0A->") != github.npos);
    // An input that has it twice is no second input.
    report.inputs = {report.inputs[0]};
    report.inputs[0].findings.push_back(report.inputs[0].findings[0]);
    CHECK(occurrences(check_text(report), "The same in") == 0);
    CHECK(occurrences(check_text(report), "queue of 100") == 2);
}

TEST_CASE("Markdown that is full has the worst sentences, and details of the worst alone", "[check]") {
    CheckReport report;
    report.inputs.push_back({"erl_crash.dump", {{"path", "x"}}, {}});
    for (int i = 0; i < 300; ++i) {
        CheckedFinding each = finding(i % 2 == 0 ? FindingSeverity::medium : FindingSeverity::critical, Verdict::fails,
                                      (i % 2 == 0 ? "least " : "worst ") + std::string(100, 'x'));
        each.fingerprint += std::to_string(i);
        each.evidence.assign(8, std::string(80, 'e'));
        report.inputs[0].findings.push_back(each);
    }
    const std::string markdown = check_markdown(report);
    CHECK(markdown.size() <= markdown_limit);
    CHECK(occurrences(markdown, "worst ") == 150);
    CHECK(occurrences(markdown, "least ") == 150);
    const std::size_t first_least = markdown.find("least ");
    CHECK(markdown.find(std::string(80, 'e')) < first_least);
    CHECK(markdown.find(std::string(80, 'e'), first_least) == markdown.npos);
}
