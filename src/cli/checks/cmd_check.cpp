// SPDX-License-Identifier: Apache-2.0
// check: a gate for CI over files, folders and archives.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "analyses/diagnosis/diagnose.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/heaps/identities.hpp"
#include "bytes/failed_reads.hpp"
#include "cli/checks/check_config.hpp"
#include "cli/checks/check_rules.hpp"
#include "cli/code/code_lines.hpp"
#include "cli/console/output_file.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/frame/secrets.hpp"
#include "erlang/erlang_syntax.hpp"
#include "formats/format.hpp"
#include "present/check_report.hpp"
#include "present/describe.hpp"
#include "present/findings.hpp"
#include "present/glued_text.hpp"
#include "present/render.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {
namespace {

using analyses::Finding;
using analyses::InputText;
using analyses::Ours;
using present::CheckedFinding;
using present::CheckedInput;
using present::CheckReport;
using present::Content;
using present::RedactLevel;
using present::Verdict;

constexpr std::string_view unexpected_dump = "unexpected-dump";
constexpr std::string_view unreadable_input = "unreadable-input";
constexpr std::string_view damaged_input = "damaged-input";
constexpr std::string_view other_code = "other-code";
constexpr std::array<std::string_view, 7> out_formats{"text", "json", "junit", "md", "github", "gitlab", "sarif"};
// Those of them that are no format of every verb, and so are check's own on the screen, too.
constexpr std::string_view own_formats = "text junit github gitlab sarif";

// Whether a format is read by programs: texts in it are escaped, not made safe for a terminal.
bool is_for_programs(std::string_view format) { return format == "json" || format == "gitlab" || format == "sarif"; }

struct Output {
    std::string format;
    std::string path;
};

Result<std::vector<Output>> outputs_of(const Options& options) {
    std::vector<Output> outputs;
    for (const std::string& word : options.out) {
        const std::size_t sign = word.find('=');
        Output output{word.substr(0, sign), sign == word.npos ? "" : word.substr(sign + 1)};
        if (output.path.empty())
            return Error{ErrorCode::usage, fmt::format("--out: '{}' is not FORMAT=FILE", word),
                         "--out junit=report.xml"};
        if (std::ranges::find(out_formats, output.format) == out_formats.end()) {
            std::string advice = present::did_you_mean(output.format, {out_formats.begin(), out_formats.end()});
            if (advice.empty()) advice = fmt::format("formats are: {}", fmt::join(out_formats, " "));
            return Error{ErrorCode::usage, fmt::format("--out: there is no format '{}'", output.format),
                         std::move(advice)};
        }
        BH_CHECK(may_write(output.path, options.overwrite));
        if (std::ranges::find(outputs, output.path, &Output::path) != outputs.end())
            return Error{ErrorCode::usage, fmt::format("{}: is named by --out twice", output.path),
                         "A file for each format."};
        outputs.push_back(std::move(output));
    }
    return outputs;
}

std::vector<std::string_view> rule_names() {
    std::vector<std::string_view> names;
    for (const analyses::Rule& rule : analyses::rules()) names.push_back(rule.id);
    names.insert(names.end(), {unexpected_dump, unreadable_input, damaged_input, other_code});
    for (const analyses::LimitMetricInfo& metric : analyses::limit_metrics()) names.push_back(metric.rule);
    return names;
}

// That there is a dump at all: a node died in a test that may have passed.
Finding dump_finding(const Snapshot& snapshot, const analyses::Slogan& slogan) {
    const Node& node = snapshot.node;
    Finding finding;
    finding.rule = unexpected_dump;
    finding.severity = analyses::FindingSeverity::medium;
    if (!snapshot.source.kind.report_of_end) {
        finding.title.say("A node left a core image.");
    } else {
        finding.title.say("A node left a crash dump: ");
        if (node.slogan.empty()) finding.title.say("it gives no reason.");
        else finding.title.say("{}", InputText{node.slogan, InputText::Holds::message});
        if (slogan.kind == analyses::SloganKind::requested) finding.title.say(" (somebody asked for it)");
    }
    finding.subject.kind = analyses::SubjectKind::node;
    if (node.signal) finding.subject.text = analyses::signal_text(*node.signal);
    else if (node.slogan.empty()) finding.subject.text = Ours("no slogan");
    else finding.subject.text.say("{}", InputText{node.slogan.substr(0, 200), InputText::Holds::message});
    finding.evidence.push_back(analyses::fact(
        "node", analyses::sentence("{}", InputText{std::string(snapshot.text(node.name)), InputText::Holds::name})));
    if (!node.created.empty())
        finding.evidence.push_back(
            analyses::fact("died", analyses::sentence("{}", InputText{node.created, InputText::Holds::vm})));
    finding.advise("See what happened: `beamheap analyze DUMP`");
    finding.fingerprint = analyses::fingerprint(finding.rule, finding.subject, snapshot);
    return finding;
}

// That what lies here is other code than what the node ran: it was not restarted, or upgraded while it ran.
std::optional<Finding> code_finding(const Snapshot& snapshot, const std::vector<ModuleFile>& files) {
    constexpr std::size_t most_named = 3, most_listed = 20;
    std::vector<const ModuleFile*> others;
    std::size_t unproved = 0;
    for (const ModuleFile& file : files) {
        if (file.match == CodeMatch::differs) others.push_back(&file);
        unproved += file.match == CodeMatch::unproved;
    }
    if (others.empty()) return std::nullopt;
    Finding finding;
    finding.rule = other_code;
    finding.severity = analyses::FindingSeverity::medium;
    finding.count = others.size();
    std::vector<analyses::Sentence> names;
    for (std::size_t i = 0; i < std::min(others.size(), most_named); ++i)
        names.push_back(analyses::sentence("{}", analyses::Atom{others[i]->module, false}));
    finding.title = analyses::sentence("{} of what lies here {} not what the node ran: {}",
                                       analyses::Counted{others.size(), "module", "modules"},
                                       others.size() == 1 ? Ours("is") : Ours("are"), analyses::joined(names, ", "));
    if (others.size() > most_named)
        finding.title.say(" and {} more", analyses::Amount{others.size() - most_named, analyses::AmountUnit::count});
    finding.title.say(".");
    finding.subject.kind = analyses::SubjectKind::node;
    finding.subject.text = analyses::joined(names, ", ");
    for (std::size_t i = 0; i < std::min(others.size(), most_listed); ++i)
        finding.evidence.push_back(
            analyses::fact("differs", analyses::sentence("{}: {}", analyses::Atom{others[i]->module, false},
                                                         InputText{others[i]->path, InputText::Holds::name})));
    if (unproved != 0)
        finding.evidence.push_back(analyses::fact(
            "not proved", analyses::sentence("{}: nothing in them tells their version",
                                             analyses::Counted{unproved, "further module", "further modules"})));
    finding.advise(
        "See each: `beamheap modules DUMP --code PATH`; a node that runs old code is restarted, or upgraded.");
    finding.fingerprint = analyses::fingerprint(finding.rule, finding.subject, snapshot);
    return finding;
}

Finding unreadable_finding(const std::string& name, const Error& error) {
    Finding finding;
    finding.rule = unreadable_input;
    finding.severity = analyses::FindingSeverity::medium;
    // Messages begin with the file, which stands above the finding.
    std::string_view why = error.message;
    if (why.starts_with(name)) why.remove_prefix(std::min(name.size() + 2, why.size()));
    finding.title.say("It can't be read: {}", InputText{std::string(why), InputText::Holds::vm});
    finding.subject = {analyses::SubjectKind::node, analyses::sentence("{}", InputText{name, InputText::Holds::vm})};
    if (!error.advice.empty()) finding.advise("{}", InputText{error.advice, InputText::Holds::vm});
    finding.fingerprint = analyses::fingerprint(finding.rule, finding.subject, Snapshot{});
    return finding;
}

// Whether a loss hides what somebody else made of the input: not where the VM was told to write no more than so much,
// nor in an image, which has losses of its own (pages that no core has, a structure caught in the middle of a change).
bool is_damage(Anomaly kind, const Source& source) {
    if (anomaly_table[static_cast<std::size_t>(kind)].severity == Severity::info) return false;
    if (kind == Anomaly::size_limit_reached || kind == Anomaly::layout_unproven) return false;
    return source.kind.format == InputFormat::crash_dump || kind == Anomaly::truncated ||
           kind == Anomaly::compressed_damage;
}

// That the input is not all that the VM wrote. What is not there can't be found, so that the gate does not pass it.
std::optional<Finding> damage_finding(const Snapshot& snapshot) {
    const Source& source = snapshot.source;
    const Anomalies& met = snapshot.anomalies;
    if (!met.data_lost() && source.complete.value_or(true)) return std::nullopt;
    Finding finding;
    finding.rule = damaged_input;
    finding.severity = analyses::FindingSeverity::medium;
    finding.confidence = analyses::Confidence::lower_bound;
    finding.title.say("It does not hold all that the VM wrote; what is lost may be what was to be found.");
    finding.subject.kind = analyses::SubjectKind::node;
    for (std::size_t i = 0; i < anomaly_kinds; ++i) {
        const AnomalyKind& row = anomaly_table[i];
        if (met.seen(static_cast<Anomaly>(i)) && row.severity != Severity::info)
            finding.evidence.push_back(analyses::fact(
                "lost", analyses::sentence("{}", InputText{std::string(row.sentence), InputText::Holds::vm}),
                analyses::Confidence::lower_bound));
        if (met.seen(static_cast<Anomaly>(i)) && is_damage(static_cast<Anomaly>(i), source))
            finding.severity = analyses::FindingSeverity::high;
    }
    finding.subject.text = Ours("input");
    if (source.loss.bytes != 0) finding.bytes = source.loss.bytes;
    finding.advise("See what is lost, and where: `beamheap analyze --full DUMP`");
    finding.advise(
        "Copy the file once more, whole: the disk, the upload or the archive may have cut it. A VM that is "
        "killed while it writes is given time: ERL_CRASH_DUMP_SECONDS=-1.");
    finding.fingerprint = analyses::fingerprint(finding.rule, finding.subject, snapshot);
    return finding;
}

class Gate {
public:
    /// `demand`: what the configuration's rules need loaded.
    Gate(const Context& context, const CheckConfig& config, analyses::FailOn fail_on,
         std::set<std::string, std::less<>> baseline, Demand demand)
        : options_(context.options()),
          config_(config),
          demand_(std::move(demand)),
          fail_on_(std::move(fail_on)),
          baseline_(std::move(baseline)),
          today_(today()),
          for_people_(context.for_people() ||
                      (present::find_presenter(options_.format) == nullptr && !is_for_programs(options_.format))),
          levels_{options_.redact, in_files_, in_files_} {
        for (CheckReport& report : reports_) {
            report.threshold = fail_on_.severity.value_or(analyses::FindingSeverity::high);
            for (const analyses::Rule& rule : analyses::rules()) report.rules.emplace_back(rule.id);
            report.rules.emplace_back(unexpected_dump);
            report.rules.emplace_back(damaged_input);
            if (!options_.code.empty()) report.rules.emplace_back(other_code);
            for (const SqlRule& rule : config_.rules) report.rules.emplace_back(rule.name);
            for (const analyses::Limit& limit : fail_on_.limits)
                if (const std::string_view rule = analyses::info(limit.metric).rule;
                    std::ranges::find(report.rules, rule) == report.rules.end())
                    report.rules.emplace_back(rule);
        }
        for (const Ignore& ignore : config_.ignores)
            if (ignore.expired(today_))
                warn("expired_ignore",
                     fmt::format("{}:{}: the ignore of {} expired on {}{}{}", config_.path, ignore.line, ignore.rule,
                                 ignore.until, ignore.reason.empty() ? "" : ": ", ignore.reason));
    }

    Status add(std::unique_ptr<bytes::Source> source, const std::string& name) {
        LoadPlan plan;
        analyses::Diagnoser diagnoser({.threads = options_.threads, .sizes = options_.full});
        diagnoser.demand(plan);
        plan_for_secrets(plan, plan.terms_of);
        // Besides what the diagnosis needs.
        demand_.add_to(plan);
        plan_for_identities(plan);
        const bool code = !options_.code.empty() && plan_for_code(options_, plan);
        if (code) plan |= analyses::need::code_versions;
        OpenOptions open_options;
        open_options.executable = options_.executable;
        open_options.threads = options_.threads;
        auto artifact = open_artifact_source(std::move(source), name, open_options);
        if (!artifact) {
            unreadable(name, artifact.error(), true);
            return ok();
        }
        if (const Status loaded = (*artifact)->load(plan); !loaded) {
            unreadable(name, loaded.error(), true);
            return ok();
        }
        analyses::identify_by_terms(**artifact);
        std::optional<Finding> of_code;
        if (code) {
            BH_TRY(const std::unique_ptr<CodeFiles> files, open_code(options_, **artifact));
            add_frame_lines(options_, **artifact, *files, false);
            of_code = code_finding((*artifact)->snapshot(), module_files((*artifact)->snapshot(), *files));
        }
        auto diagnosed = diagnoser.judge(**artifact);
        if (!diagnosed) {
            unreadable(name, diagnosed.error(), true);
            return ok();
        }
        analyses::Diagnosis& diagnosis = *diagnosed;
        const Snapshot& snapshot = (*artifact)->snapshot();
        diagnosis.findings.push_back(dump_finding(snapshot, diagnosis.slogan));
        if (std::optional<Finding> damage = damage_finding(snapshot)) diagnosis.findings.push_back(std::move(*damage));
        if (of_code) diagnosis.findings.push_back(std::move(*of_code));
        for (const analyses::Limit& limit : fail_on_.limits) {
            analyses::LimitVerdict verdict = analyses::check_limit(limit, snapshot, diagnosis.totals);
            if (verdict.finding) diagnosis.findings.push_back(std::move(*verdict.finding));
            if (!verdict.known)
                warn("limit_unknown", fmt::format("{}: the limit {} says nothing: the input does not hold that figure",
                                                  name, limit.text));
        }
        for (present::Warning warning : present::warnings_of(snapshot)) {
            warning.text = present::Text{}.add(name + ": ").add(warning.text);
            for (CheckReport& report : reports_) report.warnings.push_back(warning);
        }
        damaged_ = damaged_ || snapshot.anomalies.data_lost() || !snapshot.source.complete.value_or(true);
        std::ranges::stable_sort(diagnosis.findings, std::ranges::greater(), &Finding::severity);
        const std::vector<std::string> secrets = known_secrets(**artifact);
        const std::shared_ptr<Artifact> shared = std::move(*artifact);
        std::array<std::vector<CheckedFinding>, 3> own;
        for (std::size_t i = 0; i < own.size() && !config_.rules.empty(); ++i)
            own[i] = i == 2 ? own[1] : by_rules(shared, plan, levels_[i]);
        if (const Status read = bytes::failed_read(); !read) {
            unreadable(name, read.error(), true);
            return ok();
        }
        for (std::size_t i = 0; i < reports_.size(); ++i) {
            const present::Redactor redactor(present::redaction(levels_[i], options_.salt, snapshot, secrets));
            const present::Names names(snapshot, syntax(snapshot, i), name);
            CheckedInput input{name, redacted(present::source_of(snapshot), redactor), {}};
            for (const Finding& finding : diagnosis.findings)
                input.findings.push_back(checked(finding, names, redactor));
            std::ranges::move(own[i], std::back_inserter(input.findings));
            std::ranges::stable_sort(input.findings, std::ranges::greater(), &CheckedFinding::severity);
            ++reports_[i].dumps;
            reports_[i].inputs.push_back(std::move(input));
        }
        return ok();
    }

    Status add_all(InputWalk& walk) {
        for (;;) {
            BH_TRY(std::optional<FoundInput> found, walk.next());
            if (!found) return ok();
            BH_CHECK(add(std::move(found->source), found->name));
        }
    }

    /// `dump`: it is a dump or a core, or was to be one. Then it fails whatever --fail-on says: nobody knows what it
    /// would have told.
    void unreadable(const std::string& name, const Error& error, bool dump) {
        bytes::forget_failed_reads();  // the others are whole
        ++unreadable_;
        Finding finding = unreadable_finding(name, error);
        if (dump) finding.severity = analyses::FindingSeverity::high;
        const Snapshot none;
        const present::Names names(none, present::Syntax::erlang, name);
        for (std::size_t i = 0; i < reports_.size(); ++i) {
            const present::Redactor redactor(present::redaction(levels_[i], options_.salt, none, {}));
            reports_[i].inputs.push_back({name, {}, {checked(finding, names, redactor)}});
        }
    }

    void warn(std::string name, std::string text) {
        for (CheckReport& report : reports_) report.warnings.push_back({name, 1, "error", present::Text{}.add(text)});
    }

    void count(const InputCounts& counts) {
        for (CheckReport& report : reports_) report.files = counts.files, report.archives = counts.archives;
    }
    const CheckReport& on_screen() const { return reports_[0]; }
    /// Reports in files: for people, and for machines.
    const CheckReport& in_files(bool for_people) const { return reports_[for_people ? 1 : 2]; }
    bool damaged() const { return damaged_; }
    std::uint64_t unreadable_inputs() const { return unreadable_; }

private:
    // A baseline has fingerprints as they were shown: by --redact full keyed ones.
    Verdict verdict_of(const Finding& finding, const std::string& shown, const Snapshot& snapshot) const {
        return verdict_of(finding.rule, present::plain_text(snapshot, finding.subject.text),
                          baseline_.contains(shown) ? shown : finding.fingerprint, finding.severity,
                          finding.rule.starts_with("limit-") || (finding.rule == unreadable_input &&
                                                                 finding.severity == analyses::FindingSeverity::high));
    }
    Verdict verdict_of(std::string_view rule, const std::string& subject, const std::string& fingerprint,
                       analyses::FindingSeverity severity, bool always) const {
        for (const Ignore& ignore : config_.ignores)
            if (!ignore.expired(today_) && ignore.fits(rule, subject)) return Verdict::ignored;
        if (baseline_.contains(fingerprint)) return Verdict::known;
        return always || severity >= reports_[0].threshold ? Verdict::fails : Verdict::reported;
    }

    // What the configuration's rules find, redacted: queries see texts as the report has them.
    std::vector<CheckedFinding> by_rules(const std::shared_ptr<Artifact>& artifact, const LoadPlan& plan,
                                         RedactLevel level) const {
        Options options = options_;
        options.redact = level;
        const std::vector<RuleRows> found = run_rules(config_, options, artifact, plan);
        std::vector<CheckedFinding> findings;
        for (std::size_t i = 0; i < found.size(); ++i) {
            const SqlRule& rule = config_.rules[i];
            const RuleRows& rows = found[i];
            if (rows.rows == 0 && rows.failure.empty()) continue;
            CheckedFinding finding = finding_of(rule, rows);
            finding.verdict = verdict_of(finding.rule, finding.subject, finding.fingerprint, finding.severity, false);
            findings.push_back(std::move(finding));
        }
        return findings;
    }

    // As `analyze` speaks: Elixir on its nodes where people read it, Erlang where machines do.
    present::Syntax syntax(const Snapshot& snapshot, std::size_t report) const {
        if (options_.syntax) return *options_.syntax;
        const bool people = report == 0 ? for_people_ : report == 1;
        return people ? present::syntax_of(snapshot) : present::Syntax::erlang;
    }

    CheckedFinding checked(const Finding& finding, const present::Names& names,
                           const present::Redactor& redactor) const {
        CheckedFinding out;
        out.rule = finding.rule;
        out.severity = finding.severity;
        out.fingerprint = redactor.apply(finding.fingerprint, Content::fingerprint);
        out.verdict = verdict_of(finding, out.fingerprint, names.snapshot());
        out.title = redactor.apply(present::spell(names, finding.title));
        out.title_parts = redacted(present::sentence_parts(names, finding.title), redactor);
        out.subject = redactor.apply(present::subject_text(names.snapshot(), finding));
        out.pid = names.pid(finding.pid);
        out.name = redactor.apply(names.bare(finding.name), Content::name);
        out.count = finding.count;
        out.bytes = finding.bytes;
        out.percent = finding.percent;
        for (const analyses::Evidence& evidence : finding.evidence)
            out.evidence.push_back(redactor.apply(present::evidence_line(names, evidence)));
        for (const analyses::Sentence& step : finding.next_steps) {
            const present::Text text = present::spell(names, step);
            out.next_steps.push_back(redactor.apply(text));
            out.steps_to_fold.push_back(present::glued_text(text, redactor));
        }
        return out;
    }

    static present::Object redacted(present::Object source, const present::Redactor& redactor) {
        for (auto& [key, value] : source) {
            if (const auto* text = std::get_if<std::string>(&value.data()); text != nullptr && key != "path")
                value = present::Value(redactor.apply(*text, Content::message));
            if (const auto* text = std::get_if<std::shared_ptr<const present::Text>>(&value.data()))
                value = present::Value(redactor.apply(**text));
        }
        return source;
    }

    // The parts of a sentence, which are objects of which only the texts can be the node's.
    static present::Array redacted(const present::Array& parts, const present::Redactor& redactor) {
        present::Array out;
        for (const present::Value& part : parts) {
            present::Object object = *std::get<std::shared_ptr<const present::Object>>(part.data());
            for (auto& [key, value] : object)
                if (const auto* text = std::get_if<std::shared_ptr<const present::Text>>(&value.data()))
                    value = present::Value(redactor.apply(**text));
            out.emplace_back(std::move(object));
        }
        return out;
    }

    const Options& options_;
    const CheckConfig& config_;
    Demand demand_;
    analyses::FailOn fail_on_;
    std::set<std::string, std::less<>> baseline_;
    std::string today_;
    RedactLevel in_files_ = options_.redact_chosen ? options_.redact : RedactLevel::values;
    bool for_people_;                    // whether the screen is
    std::array<RedactLevel, 3> levels_;  // on the screen; in files, for people and for machines
    std::array<CheckReport, 3> reports_;
    bool damaged_ = false;
    std::uint64_t unreadable_ = 0;
};

Result<std::string> rendered(const CheckReport& report, std::string_view format) {
    if (format == "text") return present::check_text(report);
    if (format == "junit") return present::check_junit(report);
    if (format == "md") return present::check_markdown(report);
    if (format == "github") return present::check_github(report);
    if (format == "gitlab") return present::check_gitlab(report);
    if (format == "sarif") return present::check_sarif(report);
    present::RenderOptions options;
    options.format = "json";
    options.redact.level = RedactLevel::none;  // done, with the secrets of each input
    present::StringSink sink;
    BH_CHECK(present::render(present::check_document(report), options, sink));
    return sink.text();
}

Status print(const Context& context, const CheckReport& report) {
    const Options& options = context.options();
    const bool plain_table = options.columns.empty() && options.sort.empty();
    if (present::find_presenter(options.format) == nullptr || (options.format == "md" && plain_table)) {
        BH_TRY(const std::string text, rendered(report, options.format));
        return write_file("-", text, false);
    }
    const present::Document document = present::check_document(report);
    if (!context.for_people() || !plain_table) {
        Options plain = options;
        plain.redact = RedactLevel::none;
        return context.with(plain).print(document);
    }
    std::string text = present::check_text(report, terminal_width());
    const char* github = std::getenv("GITHUB_ACTIONS");
    if (github != nullptr && std::string_view(github) == "true") text += present::check_github(report);
    present::RenderOptions render_options;
    render_options.redact.level = RedactLevel::none;
    render_options.color = wants_color(options.color, is_terminal(STDERR_FILENO));
    render_options.width = terminal_width(STDERR_FILENO);
    render_options.notes = options.verbose;
    FileSink errors(STDERR_FILENO);
    if (!options.quiet) present::render_leading_warnings(document, render_options, errors);
    BH_CHECK(write_file("-", text, false));
    if (!options.quiet) present::render_warnings(document, render_options, errors);
    return ok();
}

}  // namespace

static Status cmd_check(const Context& context) {
    const Options& options = context.options();
    BH_TRY(const std::vector<Output> outputs, outputs_of(options));
    analyses::FailOn fail_on;
    for (const std::string& word : options.fail_on) BH_CHECK(analyses::add_fail_on(fail_on, word));
    BH_TRY(const CheckConfig config, read_check_config(options.config, rule_names()));
    if (!fail_on.severity) fail_on.severity = config.fail_on.severity;
    for (const analyses::Limit& limit : config.fail_on.limits) {
        const bool given =
            std::ranges::find(fail_on.limits, limit.metric, &analyses::Limit::metric) != fail_on.limits.end();
        if (!given) fail_on.limits.push_back(limit);
    }
    std::set<std::string, std::less<>> baseline;
    const std::string& known = options.baseline.empty() ? config.baseline : options.baseline;
    std::error_code ignored;
    // A baseline is made anew by the output that it is (docs/ci.md), and by no other.
    for (const Output& output : outputs)
        if (output.format != "json" && std::filesystem::equivalent(output.path, known, ignored))
            return Error{ErrorCode::usage, fmt::format("{}: is the baseline, which would be lost", output.path),
                         "Name another file; only --out json=FILE makes a baseline."};
    const bool first_run = !known.empty() && !std::filesystem::exists(known, ignored);
    if (!known.empty() && !first_run) {
        BH_TRY(baseline, read_baseline(known));
    }

    Demand demand;
    BH_CHECK(demand_rules(config, options, demand));
    Gate gate(context, config, std::move(fail_on), std::move(baseline), std::move(demand));
    if (first_run)
        gate.warn("baseline_missing",
                  fmt::format("{}: there is no such file yet, so every finding is a new one; --out json={} writes it",
                              known, known));
    bool no_memory = false;
    const auto unreadable = [&](const std::string& name, const Error& error) {
        no_memory |= error.code == ErrorCode::resource_limit;
        const bool absent =
            std::ranges::find(options.inputs, name) != options.inputs.end() && !std::filesystem::exists(name, ignored);
        gate.unreadable(name, error, absent || named_as_dump(name));
    };
    InputWalk walk(options.inputs, unreadable, Wanted::meant_as_dump);
    const Status visited = gate.add_all(walk);
    gate.count(walk.counts());
    const bool gave_up = !visited && visited.error().code != ErrorCode::resource_limit;
    if (gave_up) return visited.error();

    // Before anything is printed: what the walk has found is an input now.
    for (const Output& output : outputs) BH_CHECK(may_write(output.path, options.overwrite));
    BH_CHECK(print(context, gate.on_screen()));
    for (const Output& output : outputs) {
        BH_TRY(const std::string text, rendered(gate.in_files(!is_for_programs(output.format)), output.format));
        BH_CHECK(write_file(output.path, text, options.overwrite));
    }
    BH_CHECK(visited);
    if (const std::uint64_t absent = walk.counts().absent; absent != 0)
        return Error{ErrorCode::unreadable,
                     absent == 1 ? "a path that was to be checked leads to no file"
                                 : fmt::format("{} paths that were to be checked lead to no files", absent),
                     "What is said of the others stands."};
    if (const std::uint64_t fails = gate.on_screen().count(Verdict::fails); fails != 0)
        return Error{ErrorCode::findings, {}, {}};
    if (gate.on_screen().dumps == 0 && (options.require_dump || gate.unreadable_inputs() != 0))
        return Error{
            no_memory ? ErrorCode::resource_limit : ErrorCode::not_recognised,
            gate.unreadable_inputs() == 0 ? "there is no crash dump and no core image here" : "no input could be read",
            {}};
    if (options.strict && gate.damaged())
        return Error{ErrorCode::damaged, "an input is incomplete or damaged", "The warnings say which, and where."};
    return ok();
}

BH_DEFINE_VERB(check){
    .name = "check",
    .arguments = {repeated({"PATH", ArgumentKind::path})},
    .options = "--fail-on --out --baseline --config --require-dump --force",
    .formats = own_formats,
    .summary = "a gate for CI: dumps in files, folders, zip archives and tarballs",
    .details =
        "Exits with 1 if there is a finding at or above --fail-on (high, unless told otherwise), or if a limit is "
        "broken;\n"
        "with 3, once it has judged the others, if a path does not exist.\n"
        "Dumps and cores are told by content; archives are read three deep. .beamheap.toml of this folder, or the "
        "nearest\n"
        "one above it, holds limits, rules of your own and what to ignore. --out writes text, json, junit, md, "
        "github,\n"
        "gitlab or sarif to a file, --format "
        "prints one of them.",
    .examples =
        "check artifacts/ --out junit=beamheap.xml\ncheck logs.zip --fail-on critical --fail-on 'msgq>10000'\n"
        "check . --baseline known.json --require-dump",
    .alone = true,
    .writes = true,
    .run = &cmd_check,
};

}  // namespace beamheap::cli
