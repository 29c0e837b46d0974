// SPDX-License-Identifier: Apache-2.0
// Reads a selector into postfix order: operator precedence by two stacks, so that nothing recurses over the text.
#include <algorithm>
#include <array>
#include <optional>

#include "analyses/selectors/selectors.hpp"
#include "erlang/erlang_syntax.hpp"
#include "model/characters.hpp"

namespace beamheap::analyses {
namespace {

using Step = Selector::Step;
using Kind = Step::Kind;
using Operator = Step::Operator;

constexpr std::size_t most_steps = 10000;
constexpr std::size_t most_open = 64;

struct Word {
    std::string_view text;
    Kind kind;
    ProcessState state = ProcessState::unknown;
};
constexpr std::array<Word, 16> words{{
    {"all", Kind::all},
    {"processes", Kind::all},
    {"registered", Kind::registered},
    {"sensitive", Kind::sensitive},
    {"supervisors", Kind::supervisors},
    {"orphans", Kind::orphans},
    {"stable", Kind::stable},
    {"moving", Kind::moving},
    {"waiting", Kind::state, ProcessState::waiting},
    {"running", Kind::state, ProcessState::running},
    {"runnable", Kind::state, ProcessState::runnable},
    {"suspended", Kind::state, ProcessState::suspended},
    {"garbage_collecting", Kind::state, ProcessState::garbage_collecting},
    {"exiting", Kind::state, ProcessState::exiting},
    {"free", Kind::state, ProcessState::free},
    {"unknown", Kind::state, ProcessState::unknown},
}};

struct Call {
    std::string_view text;
    Kind kind;
};
constexpr std::array<Call, 8> calls{{
    {"children", Kind::children},
    {"all_children", Kind::all_children},
    {"group", Kind::group},
    {"initial", Kind::initial},
    {"current", Kind::current},
    {"stack", Kind::stack},
    {"in", Kind::in},
    {"module", Kind::module},
}};

// Longest first, so that ">=" is not read as ">".
struct Sign {
    std::string_view text;
    Operator op;
};
constexpr std::array<Sign, 11> signs{{
    {"=/=", Operator::not_equal},
    {"=:=", Operator::equal},
    {">=", Operator::greater_equal},
    {"<=", Operator::less_equal},
    {"=<", Operator::less_equal},
    {"==", Operator::equal},
    {"!=", Operator::not_equal},
    {"/=", Operator::not_equal},
    {">", Operator::greater},
    {"<", Operator::less},
    {"=", Operator::equal},
}};

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Result<Selector> run() {
        bool expect_term = true;
        for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
            if (selector_.steps.size() + waiting_.size() > most_steps) return fail("this selector is too long");
            const char c = text_[at_];
            if (expect_term) {
                if (c == '!' || c == '(') {
                    if (c == '(' && ++open_ > most_open) return fail("too many parentheses are open");
                    waiting_.push_back({c, at_++});
                    continue;
                }
                BH_CHECK(read_term());
                expect_term = false;
                continue;
            }
            if (c == ')') {
                while (!waiting_.empty() && waiting_.back().sign != '(') pop_operator();
                if (waiting_.empty()) return fail("this ')' closes nothing");
                waiting_.pop_back();
                --open_;
                ++at_;
            } else if (c == ',' || c == '&') {
                while (!waiting_.empty() && binds(waiting_.back().sign) >= binds(c)) pop_operator();
                waiting_.push_back({c, at_++});
                expect_term = true;
            } else {
                return fail("expected , (or), & (and) or the end");
            }
        }
        if (expect_term) return fail("a process, a comparison or a word is missing here");
        while (!waiting_.empty()) {
            if (waiting_.back().sign == '(') {
                at_ = waiting_.back().position;
                return fail("this '(' is never closed");
            }
            pop_operator();
        }
        selector_.source = std::string(text_);
        return std::move(selector_);
    }

private:
    struct Waiting {
        char sign;
        std::size_t position;
    };

    static int binds(char sign) {
        switch (sign) {
            case '!': return 3;
            case '&': return 2;
            case ',': return 1;
            default: return 0;
        }
    }

    Error fail(const std::string& what, std::string advice = {}) const {
        return {ErrorCode::usage,
                "selector '" + std::string(text_) + "', column " + std::to_string(at_ + 1) + ": " + what,
                std::move(advice)};
    }
    Error fail(const Error& inner) const { return fail(inner.message, inner.advice); }

    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
    }

    void pop_operator() {
        Step step;
        step.kind = waiting_.back().sign == '!'   ? Kind::negate
                    : waiting_.back().sign == '&' ? Kind::intersect
                                                  : Kind::unite;
        selector_.steps.push_back(std::move(step));
        waiting_.pop_back();
    }

    Status add(Step step) {
        selector_.steps.push_back(std::move(step));
        return ok();
    }

    // How many bytes a pid at the current place takes; 0 where there is none.
    std::size_t pid_length() const {
        const std::string_view rest = text_.substr(at_);
        if (rest.starts_with("<") || rest.starts_with("#PID<")) {
            const std::size_t end = rest.find('>');
            return end == std::string_view::npos ? rest.size() : end + 1;
        }
        if (rest.starts_with("pid(")) {
            const std::size_t end = rest.find(')');
            return end == std::string_view::npos ? rest.size() : end + 1;
        }
        if (!is_digit(rest[0])) return 0;
        std::size_t length = 0;
        char separator = 0;
        for (int part = 0; part < 3; ++part) {
            const std::size_t begin = length;
            while (length < rest.size() && is_digit(rest[length])) ++length;
            if (length == begin) return begin;
            if (part == 2 || length == rest.size()) return length;
            if (separator != 0 && rest[length] != separator) return length;
            separator = rest[length];
            if (separator != '.' && separator != ',') return length;
            ++length;
        }
        return length;
    }

    // What stands between the '(' here and the ')' that closes it; quotes hide parentheses.
    Result<std::string_view> read_argument() {
        const std::size_t begin = ++at_;
        std::size_t depth = 1;
        char quote = 0;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (quote != 0) {
                if (c == '\\' && at_ + 1 < text_.size()) ++at_;
                else if (c == quote) quote = 0;
            } else if (c == '\'' || c == '"') {
                quote = c;
            } else if (c == '(') {
                ++depth;
            } else if (c == ')' && --depth == 0) {
                return text_.substr(begin, at_++ - begin);
            }
        }
        at_ = begin - 1;
        return fail("this '(' is never closed");
    }

    Status read_term() {
        const std::size_t begin = at_;
        Step step;
        if (const std::size_t length = pid_length(); length != 0) {
            step.kind = Kind::process;
            auto pid = parse_pid_or_name(text_.substr(at_, length));
            if (!pid) return fail(pid.error());
            step.process = std::move(*pid);
            at_ += length;
            return add(std::move(step));
        }
        std::string name;
        std::size_t used = 0;
        bool quoted = false;
        if (!read_name(text_.substr(at_), name, used, quoted))
            return fail(text_[at_] == '\'' || text_[at_] == '"' ? "the quotes do not match"
                                                                : "expected a process, a comparison or a word");
        if (quoted || text_[at_] == ':') {
            at_ += used;
            step.kind = Kind::process;
            step.process.name = std::move(name);
            step.process.quoted = true;
            return add(std::move(step));
        }
        at_ += used;
        const std::size_t after_name = at_;
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == '(') return read_call(name, begin);
        if (const auto sign = std::find_if(signs.begin(), signs.end(),
                                           [&](const Sign& s) { return text_.substr(at_).starts_with(s.text); });
            sign != signs.end()) {
            at_ += sign->text.size();
            return read_comparison(name, sign->op, begin);
        }
        at_ = after_name;
        for (const Word& word : words) {
            if (word.text != name) continue;
            step.kind = word.kind;
            step.state = word.state;
            return add(std::move(step));
        }
        if (name.find('*') != std::string::npos) {
            step.kind = Kind::names;
            step.text = std::move(name);
        } else {
            step.kind = Kind::process;
            step.process.name = std::move(name);
        }
        return add(std::move(step));
    }

    Status read_call(const std::string& name, std::size_t begin) {
        const auto call = std::find_if(calls.begin(), calls.end(), [&](const Call& c) { return c.text == name; });
        if (call == calls.end()) {
            at_ = begin;
            return fail("there is no '" + name + "(...)'",
                        "use module, in, children, all_children, group, initial, current or stack");
        }
        const std::size_t open = at_;
        BH_TRY(const std::string_view argument, read_argument());
        const std::size_t after = at_;
        at_ = open + 1;
        Step step;
        step.kind = call->kind;
        if (call->kind == Kind::group) {
            std::size_t used = 0;
            bool quoted = false;
            std::string unquoted;
            const std::size_t first = argument.find_first_not_of(' ');
            if (first == std::string_view::npos) return fail("a group's name is missing");
            const std::string_view inner = argument.substr(first, argument.find_last_not_of(' ') - first + 1);
            step.text =
                read_name(inner, unquoted, used, quoted) && used == inner.size() ? unquoted : std::string(inner);
        } else if (call->kind == Kind::children || call->kind == Kind::all_children) {
            auto process = parse_pid_or_name(argument);
            if (!process) return fail(process.error());
            step.process = std::move(*process);
        } else {
            auto function = parse_function_pattern(argument);
            if (!function) return fail(function.error());
            step.function = std::move(*function);
        }
        at_ = after;
        return add(std::move(step));
    }

    Status read_comparison(const std::string& name, Operator op, std::size_t begin) {
        skip_blanks();
        std::size_t end = text_.find_first_of(",&)", at_);
        if (end == std::string_view::npos) end = text_.size();
        std::string_view right = text_.substr(at_, end - at_);
        while (right.ends_with(' ')) right.remove_suffix(1);
        Step step;
        if (name == "state") {
            const auto word = std::find_if(words.begin(), words.end(),
                                           [&](const Word& w) { return w.kind == Kind::state && w.text == right; });
            if (word == words.end() || (op != Operator::equal && op != Operator::not_equal))
                return fail(
                    "a state is compared by = or != with waiting, running, runnable, suspended, garbage_collecting, "
                    "exiting");
            step.kind = Kind::state;
            step.state = word->state;
            BH_CHECK(add(std::move(step)));
            at_ = end;
            if (op == Operator::equal) return ok();
            Step negation;
            negation.kind = Kind::negate;
            return add(std::move(negation));
        }
        const ProcessColumn* const column = find_process_figure(name);
        if (column == nullptr) {
            at_ = begin;
            std::string known = "state";
            for (const ProcessColumn& each : process_columns())
                if (!each.key.empty()) known += ", " + std::string(each.key);
            return fail("there is no column '" + name + "' to compare", "columns are " + known);
        }
        auto quantity = parse_quantity(right);
        if (!quantity) return fail(quantity.error());
        if (quantity->unit == Quantity::Unit::bytes && column->measure == Measure::count)
            return fail(name + " is a count and has no size in bytes");
        step.kind = Kind::compare;
        step.column = column;
        step.op = op;
        step.quantity = *quantity;
        at_ = end;
        return add(std::move(step));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t open_ = 0;
    std::vector<Waiting> waiting_;
    Selector selector_;
};

}  // namespace

Result<Selector> parse_selector(std::string_view text) { return Parser(text).run(); }

ProcessNeeds Selector::needs() const {
    ProcessNeeds needs;
    for (const Step& step : steps) {
        switch (step.kind) {
            case Kind::children:
            case Kind::all_children:
            case Kind::orphans: needs.links = needs.labels = true; break;
            case Kind::supervisors:
            case Kind::group:
            case Kind::initial: needs.labels = true; break;
            case Kind::sensitive:
            case Kind::in:
            case Kind::stack: needs.stacks = true; break;
            case Kind::module: needs.stacks = needs.labels = true; break;
            case Kind::compare: needs.add(step.column->needs); break;
            default: break;
        }
    }
    return needs;
}

}  // namespace beamheap::analyses
