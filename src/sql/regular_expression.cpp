// SPDX-License-Identifier: Apache-2.0
#include "sql/regular_expression.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace beamheap::sql {
namespace {

using Step = RegularExpression::Step;
using Set = RegularExpression::Set;
using Kind = RegularExpression::Kind;
using Steps = std::vector<Step>;

constexpr char32_t last_character = 0x10FFFF;
constexpr int deepest = 100;

bool of_word(char32_t c) {
    return (c >= '0' && c <= '9') || (lower_case(c) >= 'a' && lower_case(c) <= 'z') || c == '_';
}

void append(Steps& to, const Steps& from) { to.insert(to.end(), from.begin(), from.end()); }
std::int32_t length(const Steps& steps) { return static_cast<std::int32_t>(steps.size()); }

/// Thrown within the parser, and caught where it was called.
struct Unreadable {
    std::string why;
};

/// Steps refer to each other by distances, so that a part of a program is one wherever it stands.
class Parser {
public:
    Parser(std::string_view text, bool both_cases, std::vector<Set>& sets)
        : text_(text), both_cases_(both_cases), sets_(sets) {}
    Steps all() {
        Steps steps = alternatives(0);
        if (at_ < text_.size()) throw Unreadable{"a ) without its ("};
        return steps;
    }

private:
    Steps alternatives(int depth) {
        if (depth > deepest) throw Unreadable{fmt::format("parentheses more than {} deep", deepest)};
        Steps steps = sequence(depth);
        while (take('|')) {
            const Steps other = sequence(depth);
            Steps both{{Kind::split, 1, length(steps) + 2}};
            append(both, steps);
            both.push_back({Kind::jump, length(other) + 1, 0});
            append(both, other);
            steps = bounded(std::move(both));
        }
        return steps;
    }

    Steps sequence(int depth) {
        Steps steps;
        while (at_ < text_.size() && text_[at_] != '|' && text_[at_] != ')') append(steps, repeated(depth));
        return bounded(std::move(steps));
    }

    Steps repeated(int depth) {
        Steps steps = single(depth);
        for (;;) {
            if (take('*')) steps = times(steps, 0, unbounded);
            else if (take('+')) steps = times(steps, 1, unbounded);
            else if (take('?')) steps = times(steps, 0, 1);
            else if (take('{')) steps = counted(steps);
            else return steps;
            take('?');  // as few as will do: whether it is found is the same
        }
    }

    Steps counted(const Steps& steps) {
        const std::size_t least = number();
        std::size_t most = least;
        if (take(',')) most = at_ < text_.size() && text_[at_] != '}' ? number() : unbounded;
        if (!take('}')) throw Unreadable{"a { without its }"};
        if (most < least) throw Unreadable{"{m,n} with a smaller n"};
        return times(steps, least, most);
    }

    static constexpr std::size_t unbounded = static_cast<std::size_t>(-1);
    Steps times(const Steps& steps, std::size_t least, std::size_t most) {
        const std::size_t copies = most == unbounded ? least + 1 : most;
        if (copies * (steps.size() + 2) > RegularExpression::most_steps) throw Unreadable{"it is too large"};
        Steps out;
        for (std::size_t i = 0; i < least; ++i) append(out, steps);
        if (most == unbounded) {
            out.push_back({Kind::split, 1, length(steps) + 2});
            append(out, steps);
            out.push_back({Kind::jump, -(length(steps) + 1), 0});
            return bounded(std::move(out));
        }
        for (std::size_t i = least; i < most; ++i) {
            out.push_back({Kind::split, 1, length(steps) + 1});
            append(out, steps);
        }
        return bounded(std::move(out));
    }

    Steps single(int depth) {
        const std::size_t begun = at_;
        const char32_t c = next_character(text_, at_);
        switch (c) {
            case '(': {
                if (text_.substr(at_).starts_with("?:")) at_ += 2;
                else if (take('?')) throw Unreadable{"(? with something else than :"};
                Steps steps = alternatives(depth + 1);
                if (!take(')')) throw Unreadable{"a ( without its )"};
                return steps;
            }
            case '[': return {{Kind::characters, add(bracket()), 0}};
            case '.': return {{Kind::characters, add({{{'\n', '\n'}}, true}), 0}};
            case '^': return {{Kind::text_begin}};
            case '$': return {{Kind::text_end}};
            case '*':
            case '+':
            case '?':
            case '{': throw Unreadable{fmt::format("{} behind nothing that could be repeated", text_.substr(begun, 1))};
            case '\\': {
                if (take('b')) return {{Kind::word_edge}};
                if (take('B')) return {{Kind::within_word}};
                return {{Kind::characters, add(escaped()), 0}};
            }
            default: return {{Kind::characters, add({{{c, c}}}), 0}};
        }
    }

    Set escaped() {
        if (at_ == text_.size()) throw Unreadable{"a backslash at the end"};
        const char32_t c = next_character(text_, at_);
        switch (c) {
            case 'd':
            case 'D': return {{{'0', '9'}}, c == 'D'};
            case 'w':
            case 'W': return {{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}, c == 'W'};
            case 's':
            case 'S': return {{{'\t', '\r'}, {' ', ' '}}, c == 'S'};
            case 'n': return {{{'\n', '\n'}}};
            case 't': return {{{'\t', '\t'}}};
            case 'r': return {{{'\r', '\r'}}};
            default: break;
        }
        if (of_word(c) && c != '_') throw Unreadable{fmt::format("\\{} is not known", static_cast<char>(c))};
        return {{{c, c}}};
    }

    Set bracket() {
        Set set;
        set.all_but = take('^');
        for (bool first = true;; first = false) {
            if (at_ == text_.size()) throw Unreadable{"a [ without its ]"};
            if (!first && take(']')) return set;
            const std::size_t begun = at_;
            char32_t from = next_character(text_, at_);
            if (from == '\\') {
                const Set part = escaped();
                const bool one =
                    !part.all_but && part.ranges.size() == 1 && part.ranges[0].first == part.ranges[0].second;
                if (!one) {
                    add_part(set, part);
                    continue;
                }
                from = part.ranges[0].first;
            } else if (from == '[' && at_ < text_.size() && text_[at_] == ':') {
                throw Unreadable{fmt::format("{} is not known: \\d, \\w and \\s are", text_.substr(begun, 8))};
            }
            char32_t to = from;
            if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
                ++at_;
                to = next_character(text_, at_);
                if (to == '\\') {
                    const Set part = escaped();
                    to = part.ranges[0].first;
                }
                if (to < from) throw Unreadable{"a range in [] that ends before it begins"};
            }
            set.ranges.push_back({from, to});
        }
    }

    // \D and its like in brackets are what lies between their ranges.
    static void add_part(Set& set, const Set& part) {
        char32_t next = 0;
        for (const auto& [from, to] : part.ranges) {
            if (!part.all_but) set.ranges.push_back({from, to});
            else if (from > next) set.ranges.push_back({next, from - 1});
            next = to + 1;
        }
        if (part.all_but) set.ranges.push_back({next, last_character});
    }

    std::int32_t add(Set set) {
        if (both_cases_) {
            const auto given = set.ranges;
            for (const auto& [from, to] : given)
                for (char32_t c = std::max<char32_t>(from, 'A'); c <= std::min<char32_t>(to, 'Z'); ++c)
                    set.ranges.push_back({lower_case(c), lower_case(c)});
        }
        sets_.push_back(std::move(set));
        return static_cast<std::int32_t>(sets_.size() - 1);
    }

    Steps bounded(Steps steps) {
        if (steps.size() > RegularExpression::most_steps) throw Unreadable{"it is too large"};
        return steps;
    }

    std::size_t number() {
        std::size_t value = 0;
        const std::size_t begun = at_;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
            value = std::min<std::size_t>(value * 10 + static_cast<std::size_t>(text_[at_] - '0'), 1'000'000);
        if (begun == at_) throw Unreadable{"a { without a number"};
        return value;
    }

    bool take(char c) {
        const bool there = at_ < text_.size() && text_[at_] == c;
        at_ += there;
        return there;
    }

    std::string_view text_;
    bool both_cases_;
    std::vector<Set>& sets_;
    std::size_t at_ = 0;
};

/// The steps at which the machine is, each once.
class Places {
public:
    explicit Places(std::size_t steps) : seen_(steps, 0) { list_.reserve(steps); }
    void clear() {
        list_.clear();
        ++round_;
    }
    bool add(std::uint32_t step) {
        if (seen_[step] == round_) return false;
        seen_[step] = round_;
        return true;
    }
    std::vector<std::uint32_t>& list() { return list_; }

private:
    std::vector<std::uint64_t> seen_;
    std::vector<std::uint32_t> list_;
    std::uint64_t round_ = 1;
};

}  // namespace

char32_t lower_case(char32_t c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

char32_t next_character(std::string_view text, std::size_t& at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    const std::size_t more = first >= 0xF0 && first < 0xF5 ? 3u : first >= 0xE0 ? 2u : first >= 0xC2 ? 1u : 0u;
    if (first < 0x80 || more == 0 || first >= 0xF5 || at + more >= text.size()) return ++at, first;
    char32_t value = first & (0x3Fu >> more);
    for (std::size_t i = 1; i <= more; ++i) {
        if ((byte(at + i) & 0xC0) != 0x80) return ++at, first;
        value = value << 6 | (byte(at + i) & 0x3Fu);
    }
    at += more + 1;
    return value;
}

bool RegularExpression::Set::has(char32_t character) const {
    const bool listed = std::ranges::any_of(
        ranges, [&](const auto& range) { return character >= range.first && character <= range.second; });
    return listed != all_but;
}

Result<RegularExpression> RegularExpression::compile(std::string_view text) {
    if (text.size() > most_steps)
        return Error{ErrorCode::usage, fmt::format("REGEXP: an expression has at most {} bytes", most_steps), {}};
    RegularExpression made;
    std::string_view rest = text;
    made.both_cases_ = rest.starts_with("(?i)");
    if (made.both_cases_) rest.remove_prefix(4);
    try {
        made.steps_ = Parser(rest, made.both_cases_, made.sets_).all();
    } catch (const Unreadable& error) {
        return Error{ErrorCode::usage, fmt::format("REGEXP can't read its expression: {}", error.why), {}};
    }
    made.steps_.push_back({Kind::match});
    return made;
}

std::optional<bool> RegularExpression::found_in(std::string_view text, const std::function<bool()>& late) const {
    constexpr std::size_t most_taken = 1 << 18;
    Places now(steps_.size()), next(steps_.size());
    std::vector<std::uint32_t> to_do;
    std::size_t taken = 0;
    char32_t before = 0;
    bool matched = false;
    // Puts `first` among the places, and what can be reached from it without a character.
    const auto reach = [&](Places& places, std::uint32_t first, bool begin, bool end, bool edge) {
        to_do.assign(1, first);
        while (!to_do.empty() && !matched) {
            const std::uint32_t at = to_do.back();
            to_do.pop_back();
            if (!places.add(at)) continue;
            ++taken;
            const Step& step = steps_[at];
            const auto go = [&](std::int32_t by) {
                to_do.push_back(static_cast<std::uint32_t>(static_cast<std::int64_t>(at) + by));
            };
            switch (step.kind) {
                case Kind::characters: places.list().push_back(at); break;
                case Kind::split:
                    go(step.other);
                    go(step.one);
                    break;
                case Kind::jump: go(step.one); break;
                case Kind::text_begin:
                    if (begin) go(1);
                    break;
                case Kind::text_end:
                    if (end) go(1);
                    break;
                case Kind::word_edge:
                    if (edge) go(1);
                    break;
                case Kind::within_word:
                    if (!edge) go(1);
                    break;
                case Kind::match: matched = true; break;
            }
        }
    };
    // Between two characters: what was moved on by the one before, and a new beginning.
    for (std::size_t at = 0;;) {
        const std::size_t here = at;
        const bool end = at == text.size();
        const char32_t character = end ? 0 : next_character(text, at);
        const bool edge = (here != 0 && of_word(before)) != (!end && of_word(character));
        now.clear();
        for (const std::uint32_t each : next.list()) reach(now, each + 1, here == 0, end, edge);
        reach(now, 0, here == 0, end, edge);
        if (matched || end) return matched;
        next.clear();
        for (const std::uint32_t each : now.list()) {
            const Set& set = sets_[static_cast<std::size_t>(steps_[each].one)];
            if (set.has(both_cases_ ? lower_case(character) : character)) next.list().push_back(each);
            taken += set.ranges.size() + 1;
        }
        before = character;
        if (taken > most_taken) {
            taken = 0;
            if (late()) return std::nullopt;
        }
    }
}

}  // namespace beamheap::sql
