// SPDX-License-Identifier: Apache-2.0
#include "cli/checks/check_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

// The parser is used with exceptions: without them, version 3.3 goes on behind some errors ("[@", "[.b]") to its own
// assertions. What it asserts is an error of the file for us, in every type of build, so that no file ends the program.
#include "cli/checks/toml_assertion.hpp"
#define TOML_EXCEPTIONS 1
#define TOML_ASSERT(expression) ::beamheap::cli::toml_assertion(static_cast<bool>(expression))
#define TOML_ENABLE_FORMATTERS 0
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include <toml++/toml.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include "analyses/selectors/selectors.hpp"
#include "bytes/read_files.hpp"
#include "bytes/source.hpp"
#include "present/render.hpp"

namespace beamheap::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view config_name = ".beamheap.toml";
constexpr std::size_t config_limit = 1 << 20;
constexpr std::size_t baseline_limit = 256 << 20;

Result<std::string> read_text(const std::string& path, std::size_t limit) {
    BH_TRY(const auto source, bytes::open_source(path, {limit}));
    std::string text;
    std::string piece(64 * 1024, '\0');
    for (;;) {
        BH_TRY(const std::size_t got, source->read(piece));
        if (got == 0) return text;
        text.append(piece, 0, got);
        if (text.size() > limit)
            return Error{ErrorCode::usage, fmt::format("{}: is larger than {} bytes", path, limit), {}};
    }
}

/// Walks the tables of one file; all errors have its name and a line.
class Reader {
public:
    Reader(const std::string& path, const std::vector<std::string_view>& rules) : path_(path), rules_(rules) {}

    Result<CheckConfig> read(const toml::table& root) {
        CheckConfig config;
        config.path = path_;
        BH_CHECK(known_keys(root, {"schema", "fail-on", "baseline", "limits", "ignore", "rule"}));
        if (const toml::node* schema = root.get("schema"); schema != nullptr && schema->value_or(int64_t{0}) != 1)
            return wrong(*schema, "schema must be 1", {});
        if (const toml::node* node = root.get("fail-on")) BH_CHECK(read_fail_on(*node, config.fail_on));
        if (const toml::node* node = root.get("baseline")) {
            BH_TRY(const std::string baseline, text(*node, "baseline"));
            config.baseline = (fs::path(path_).parent_path() / baseline).string();
        }
        if (const toml::node* node = root.get("limits")) {
            if (!node->is_table()) return wrong(*node, "limits must be a table: [limits]", {});
            for (const auto& [key, value] : *node->as_table()) BH_CHECK(read_limit(key.str(), value, config.fail_on));
        }
        if (const toml::node* node = root.get("rule")) {
            if (!node->is_array()) return wrong(*node, "rule must be a list of tables: [[rule]]", {});
            for (const toml::node& each : *node->as_array()) {
                if (!each.is_table()) return wrong(each, "rule must be a list of tables: [[rule]]", {});
                BH_CHECK(read_rule(*each.as_table(), config.rules));
            }
        }
        for (const SqlRule& rule : config.rules) own_.push_back(rule.name);
        if (const toml::node* node = root.get("ignore")) {
            if (!node->is_array()) return wrong(*node, "ignore must be a list of tables: [[ignore]]", {});
            for (const toml::node& each : *node->as_array()) {
                if (!each.is_table()) return wrong(each, "ignore must be a list of tables: [[ignore]]", {});
                BH_TRY(Ignore ignore, read_ignore(*each.as_table()));
                config.ignores.push_back(std::move(ignore));
            }
        }
        return config;
    }

private:
    Error wrong(std::size_t line, std::string_view what, std::string advice) const {
        return {ErrorCode::usage, fmt::format("{}:{}: {}", path_, line, what), std::move(advice)};
    }
    Error wrong(const toml::node& node, std::string_view what, std::string advice) const {
        return wrong(node.source().begin.line, what, std::move(advice));
    }

    Status known_keys(const toml::table& table, std::initializer_list<std::string_view> known) const {
        for (const auto& [key, value] : table) {
            if (std::ranges::find(known, key.str()) != known.end()) continue;
            std::string advice = present::did_you_mean(key.str(), std::vector<std::string_view>(known));
            if (advice.empty()) advice = fmt::format("there are: {}", fmt::join(known, " "));
            return wrong(key.source().begin.line, fmt::format("there is no key '{}'", key.str()), std::move(advice));
        }
        return ok();
    }

    Result<std::string> text(const toml::node& node, std::string_view key) const {
        if (const auto value = node.value_exact<std::string>()) return *value;
        return wrong(node, fmt::format("{} must be a text in quotes", key), {});
    }

    Status read_fail_on(const toml::node& node, analyses::FailOn& fail_on) const {
        const auto add = [&](const toml::node& each) -> Status {
            BH_TRY(const std::string word, text(each, "fail-on"));
            if (const Status added = analyses::add_fail_on(fail_on, word); !added)
                return wrong(each, added.error().message, added.error().advice);
            return ok();
        };
        const toml::array* list = node.as_array();
        if (list == nullptr) return add(node);
        for (const toml::node& each : *list) BH_CHECK(add(each));
        return ok();
    }

    Status read_limit(std::string_view name, const toml::node& node, analyses::FailOn& fail_on) const {
        std::string quantity;
        if (const auto number = node.value_exact<int64_t>(); number && *number >= 0) quantity = fmt::to_string(*number);
        else if (const auto written = node.value_exact<std::string>()) quantity = *written;
        else
            return wrong(
                node, fmt::format("the limit {} must be a number, or a text such as \"512MiB\" or \"80%\"", name), {});
        auto limit = analyses::make_limit(name, quantity);
        if (!limit) return wrong(node, limit.error().message, limit.error().advice);
        fail_on.limits.push_back(std::move(*limit));
        return ok();
    }

    Result<Ignore> read_ignore(const toml::table& table) const {
        BH_CHECK(known_keys(table, {"rule", "subject", "until", "reason"}));
        Ignore ignore;
        ignore.line = table.source().begin.line;
        const toml::node* rule = table.get("rule");
        if (rule == nullptr) return wrong(ignore.line, "this [[ignore]] has no rule", "rule = \"*\" is all of them");
        BH_TRY(ignore.rule, text(*rule, "rule"));
        const auto fits = [&](std::string_view id) { return analyses::fits_glob(id, ignore.rule); };
        if (std::ranges::none_of(rules_, fits) && std::ranges::none_of(own_, fits)) {
            std::string advice = present::did_you_mean(ignore.rule, rules_);
            if (advice.empty()) advice = fmt::format("rules are: {}", fmt::join(rules_, " "));
            return wrong(*rule, fmt::format("there is no rule '{}'", ignore.rule), std::move(advice));
        }
        if (const toml::node* node = table.get("subject")) {
            BH_TRY(ignore.subject, text(*node, "subject"));
        }
        if (const toml::node* node = table.get("reason")) {
            BH_TRY(ignore.reason, text(*node, "reason"));
        }
        if (const toml::node* node = table.get("until")) {
            if (const auto date = node->value_exact<toml::date>()) {
                ignore.until = fmt::format("{:04}-{:02}-{:02}", date->year, date->month, date->day);
            } else {
                BH_TRY(ignore.until, text(*node, "until"));
                if (!is_date(ignore.until))
                    return wrong(*node, fmt::format("until: '{}' is not a date", ignore.until), "write 2027-01-31");
            }
        }
        return ignore;
    }

    Status read_rule(const toml::table& table, std::vector<SqlRule>& rules) const {
        BH_CHECK(known_keys(table, {"name", "title", "severity", "sql"}));
        SqlRule rule;
        rule.line = table.source().begin.line;
        for (const std::string_view key : {"name", "sql"})
            if (table.get(key) == nullptr) return wrong(rule.line, fmt::format("this [[rule]] has no {}", key), {});
        BH_TRY(rule.name, text(*table.get("name"), "name"));
        BH_TRY(rule.query, text(*table.get("sql"), "sql"));
        const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
        if (rule.name.empty() || rule.name.size() > 64 || !std::ranges::all_of(rule.name, fits))
            return wrong(*table.get("name"), "the name of a rule is made of a to z, 0 to 9 and -",
                         "name = \"orders-behind\"");
        const bool twice = std::ranges::find(rules, rule.name, &SqlRule::name) != rules.end();
        if (twice || std::ranges::find(rules_, rule.name) != rules_.end())
            return wrong(*table.get("name"), fmt::format("there is a rule '{}' already", rule.name), {});
        rule.title = rule.name;
        if (const toml::node* node = table.get("title")) {
            BH_TRY(rule.title, text(*node, "title"));
        }
        if (const toml::node* node = table.get("severity")) {
            BH_TRY(const std::string word, text(*node, "severity"));
            const auto severity = analyses::severity_named(word);
            if (!severity)
                return wrong(*node, fmt::format("there is no severity '{}'", word),
                             "there are: critical high medium info");
            rule.severity = *severity;
        }
        rules.push_back(std::move(rule));
        return ok();
    }

    static bool is_date(std::string_view text) {
        constexpr std::string_view shape = "0000-00-00";
        if (text.size() != shape.size()) return false;
        for (std::size_t i = 0; i < shape.size(); ++i)
            if (shape[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
        const int month = (text[5] - '0') * 10 + text[6] - '0';
        const int day = (text[8] - '0') * 10 + text[9] - '0';
        return month >= 1 && month <= 12 && day >= 1 && day <= 31;
    }

    const std::string& path_;
    const std::vector<std::string_view>& rules_;
    std::vector<std::string> own_;  // of this file
};

struct Refused {
    std::size_t line = 0;  // from 1; 0: nothing is refused
    std::string_view what, advice;
};

/// What the parser can't be given. It nests one table in another for each dot of a key and takes them apart by
/// recursion, so that thousands of dots would overflow the stack; it compares letters outside of ASCII in keys with a
/// table that has no row for some of them (undefined behaviour in version 3.3). What stands in texts and comments is
/// passed over. Nesting by brackets is bounded by the parser itself.
Refused refused_before_parsing(std::string_view text) {
    constexpr std::size_t deepest_key = 16;  // beamheap's own keys have two parts
    const std::size_t mark_of_order = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    std::size_t line = 1;
    std::size_t dots = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '\n') {
            ++line;
            dots = 0;
        } else if (c == '#') {
            at = std::min(text.find('\n', at), text.size()) - 1;
        } else if (c == '"' || c == '\'') {
            const std::string mark(text.substr(at, 3) == std::string(3, c) ? 3 : 1, c);
            for (at += mark.size(); at < text.size() && text.substr(at, mark.size()) != mark; ++at) {
                if (text[at] == '\n' && mark.size() == 1) break;  // a text without an end: the parser says so
                if (text[at] == '\\' && c == '"') ++at;
                if (at < text.size() && text[at] == '\n') ++line;
            }
            at += mark.size() - 1;
            if (mark.size() == 1 && at < text.size() && text[at] == '\n') --at;
        } else if (c == '.' && ++dots > deepest_key) {
            return {line, "a key has more than 16 parts",
                    "Write a dot between the parts of a key only, as in limits.msgq = 10000."};
        } else if (static_cast<unsigned char>(c) >= 0x80 && at >= mark_of_order) {
            return {line, "a letter outside of ASCII stands in neither a text nor a comment", "Put it in quotes."};
        } else if (c == ',' || c == '=') {
            dots = 0;
        }
    }
    return {};
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

std::size_t skip_space(std::string_view text, std::size_t at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) ++at;
    return at;
}

}  // namespace

bool Ignore::fits(std::string_view of_rule, std::string_view of) const {
    return analyses::fits_glob(of_rule, rule) && analyses::fits_glob(of, subject);
}

Result<CheckConfig> parse_check_config(std::string_view text, const std::string& path,
                                       const std::vector<std::string_view>& rules) {
    if (const Refused refused = refused_before_parsing(text); refused.line != 0)
        return Error{ErrorCode::usage, fmt::format("{}:{}: {}", path, refused.line, refused.what),
                     std::string(refused.advice)};
    try {
        return Reader(path, rules).read(toml::parse(text, path));
    } catch (const toml::parse_error& error) {
        return Error{
            ErrorCode::usage, fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()), {}};
    } catch (const TomlAssertion&) {
        return Error{ErrorCode::usage, fmt::format("{}: is no TOML", path),
                     "Write keys of letters, digits, - and _, and values behind one =."};
    }
}

Result<CheckConfig> read_check_config(const std::string& path, const std::vector<std::string_view>& rules) {
    std::string found = path;
    if (found.empty()) {
        std::error_code error;
        fs::path folder = fs::current_path(error);
        for (; !error && !folder.empty(); folder = folder.parent_path()) {
            if (fs::is_regular_file(folder / config_name, error)) {
                found = (folder / config_name).string();
                break;
            }
            error.clear();
            if (folder == folder.root_path()) break;
        }
    }
    if (found.empty()) return CheckConfig{};
    bytes::note_read(found, "the configuration");
    BH_TRY(const std::string text, read_text(found, config_limit));
    return parse_check_config(text, found, rules);
}

// In JSON, a quote inside of a text has a backslash before it: `"fingerprint"` followed by a colon is always a key.
Result<std::set<std::string, std::less<>>> read_baseline(const std::string& path) {
    BH_TRY(const std::string json, read_text(path, baseline_limit));
    constexpr std::string_view key = "\"fingerprint\"";
    constexpr std::size_t digits = 16;
    if (json.find("\"beamheap/1\"") == json.npos)
        return Error{ErrorCode::usage, fmt::format("{}: is not what beamheap check --json prints", path),
                     "Make one by: beamheap check PATH --out json=FILE"};
    std::set<std::string, std::less<>> fingerprints;
    for (std::size_t at = json.find(key); at != json.npos; at = json.find(key, at + 1)) {
        std::size_t next = skip_space(json, at + key.size());
        if (next >= json.size() || json[next] != ':') continue;
        next = skip_space(json, next + 1);
        if (next + digits + 1 >= json.size() || json[next] != '"') continue;
        const std::string value = json.substr(next + 1, digits);
        if (json[next + 1 + digits] == '"' && std::ranges::all_of(value, is_hex)) fingerprints.insert(value);
    }
    return fingerprints;
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm date{};
    gmtime_r(&now, &date);
    return fmt::format("{:04}-{:02}-{:02}", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
}

}  // namespace beamheap::cli
