// SPDX-License-Identifier: Apache-2.0
#include "cli/checks/check_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyses/rules/finding.hpp"
#include "cli/tables/node_tables.hpp"
#include "present/sanitise.hpp"
#include "present/units.hpp"
#include "sql/query.hpp"

namespace beamheap::cli {
namespace {

constexpr std::size_t shown_rows = 10;
constexpr std::size_t longest_cell = 200;

sql::Limits limits_of_rules() {
    sql::Limits limits;
    limits.time = std::chrono::seconds(30);
    limits.rows = 100'000;
    limits.answer_bytes = 64u << 20;
    limits.value_bytes = 1u << 20;
    limits.memory_bytes = 512u << 20;
    return limits;
}

std::string cell_text(const present::PlainValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::to_string(*number);
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
    if (const auto* text = std::get_if<std::string>(&value)) {
        if (text->size() <= longest_cell) return present::safe_text(*text);
        std::size_t end = longest_cell;
        while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80) --end;
        return present::safe_text(text->substr(0, end)) + "...";
    }
    return "-";
}

RuleRows rows_of(const Result<std::unique_ptr<sql::Query>>& query) {
    RuleRows found;
    if (!query) {
        found.failure = query.error().message;
        return found;
    }
    const auto answer = (*query)->run([]() -> Result<std::string> {
        return Error{ErrorCode::usage, "check has no dump_id", {}};
    });
    if (!answer) {
        found.failure = answer.error().message;
        return found;
    }
    found.rows = answer->rows();
    const std::size_t width = answer->columns.size();
    for (std::size_t row = 0; row < std::min<std::size_t>(answer->rows(), shown_rows); ++row) {
        std::string line;
        for (std::size_t c = 0; c < width; ++c)
            line += fmt::format("{}{} {}", c == 0 ? "" : ", ", present::safe_text(answer->columns[c]),
                                cell_text(answer->values[row * width + c]));
        found.lines.push_back(std::move(line));
    }
    return found;
}

}  // namespace

Status demand_rules(const CheckConfig& config, const Options& options, Demand& demand) {
    if (config.rules.empty()) return ok();
    NodeModel nobody(options);
    const std::vector<sql::Table> tables = query_tables(nobody);
    for (const SqlRule& rule : config.rules) {
        const auto query = sql::Query::compile(tables, rule.query, limits_of_rules());
        if (!query)
            return Error{ErrorCode::usage,
                         fmt::format("{}:{}: rule {}: {}", config.path, rule.line, rule.name, query.error().message),
                         query.error().advice};
        const Demand own = demand_of(tables, (*query)->uses());
        if (own.any_heaps())
            return Error{
                ErrorCode::usage,
                fmt::format("{}:{}: rule {} asks for what all heaps are to be decoded for", config.path, rule.line,
                            rule.name),
                "check does not decode them: leave out live_words and garbage_words, profile, binary and binary_ref."};
        demand.add(own);
    }
    return ok();
}

std::vector<RuleRows> run_rules(const CheckConfig& config, const Options& options,
                                const std::shared_ptr<Artifact>& artifact, const LoadPlan& plan) {
    NodeModel model(options);
    // Tables are described by a model without an input.
    const std::vector<sql::Table> tables = query_tables(model);
    std::vector<Result<std::unique_ptr<sql::Query>>> queries;
    for (const SqlRule& rule : config.rules)
        queries.push_back(sql::Query::compile(tables, rule.query, limits_of_rules()));
    model.adopt(artifact, plan);
    std::vector<RuleRows> found;
    for (const auto& query : queries) found.push_back(rows_of(query));
    return found;
}

present::CheckedFinding finding_of(const SqlRule& rule, const RuleRows& rows) {
    present::CheckedFinding finding;
    finding.rule = rule.name;
    finding.severity = rule.severity;
    finding.subject = rule.name;
    finding.fingerprint =
        analyses::fingerprint(rule.name, analyses::SubjectKind::node, rows.failure.empty() ? "rows" : "failure");
    if (!rows.failure.empty()) {
        finding.title = fmt::format("{}: the rule can't be run: {}", rule.title, rows.failure);
        finding.next_steps.push_back("Mend the rule's query in the configuration, or give the input what it asks for.");
    } else {
        finding.title = fmt::format("{}: {}", rule.title, present::counted(rows.rows, "row", "rows"));
        finding.count = rows.rows;
        finding.evidence = rows.lines;
        if (rows.rows > rows.lines.size())
            finding.evidence.push_back(fmt::format("... {} more", rows.rows - rows.lines.size()));
        finding.next_steps.push_back("See all rows with the rule's query: `beamheap sql DUMP`");
    }
    finding.title_parts.emplace_back(present::Object{{"kind", "text"}, {"text", finding.title}});
    return finding;
}

}  // namespace beamheap::cli
