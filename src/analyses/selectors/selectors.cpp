// SPDX-License-Identifier: Apache-2.0
#include "analyses/selectors/selectors.hpp"

#include <algorithm>
#include <limits>

#include "analyses/base/sum.hpp"
#include "erlang/elixir_names.hpp"
#include "erlang/erlang_syntax.hpp"
#include "model/characters.hpp"

namespace beamheap::analyses {
namespace {

Error usage(std::string message, std::string advice = {}) {
    return {ErrorCode::usage, std::move(message), std::move(advice)};
}

std::string_view trim(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

// Numbers "A.B.C" or "A,B,C": how many there are (3 is a pid), 0 where `text` is something else.
std::size_t read_numbers(std::string_view text, std::array<std::uint64_t, 3>& numbers) {
    std::size_t count = 0;
    std::size_t at = 0;
    char separator = 0;
    while (count < 3) {
        if (at == text.size() || !is_digit(text[at])) return 0;
        std::uint64_t value = 0;
        for (; at < text.size() && is_digit(text[at]); ++at)
            value = saturating_add(saturating_multiply(value, 10), static_cast<std::uint64_t>(text[at] - '0'));
        numbers[count++] = value;
        while (at < text.size() && text[at] == ' ') ++at;
        if (at == text.size()) return count;
        if ((text[at] != '.' && text[at] != ',') || (separator != 0 && text[at] != separator)) return 0;
        separator = text[at++];
        while (at < text.size() && text[at] == ' ') ++at;
    }
    return 0;
}

// Optimal string alignment (edits and swaps of neighbours), ignoring case; more than `most` comes back as most + 1.
std::size_t distance(std::string_view a, std::string_view b, std::size_t most) {
    if ((a.size() > b.size() ? a.size() - b.size() : b.size() - a.size()) > most) return most + 1;
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        std::size_t best = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = std::min(row[j], before[j - 2] + 1);
            best = std::min(best, row[j]);
        }
        if (best > most) return most + 1;
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

bool contains(std::string_view text, std::string_view part) {
    return std::search(text.begin(), text.end(), part.begin(), part.end(),
                       [](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

std::string listed(const std::vector<std::string>& items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i != 0) text += i + 1 == items.size() ? " or " : ", ";
        text += items[i];
    }
    return text;
}

std::string cut_table_advice(const Snapshot& snapshot) {
    return snapshot.source.process_table_complete
               ? std::string()
               : "the process table of this input is cut short: it may be in the part that is missing";
}

Error no_such_pid(const Snapshot& snapshot, const Pid& wanted) {
    std::string advice;
    const auto add = [&advice](const std::string& sentence) {
        if (sentence.empty()) return;
        if (!advice.empty()) advice += "; ";
        advice += sentence;
    };
    if (wanted.node != 0) {
        const TextId node = snapshot.node_name(wanted.node);
        add("it belongs to " + (node == TextId::none ? "another node" : atom_text(snapshot.text(node))) +
            ", and this input holds the processes of one node");
        return usage("no process " + pid_text(wanted) + " in this input", advice);
    }
    std::vector<std::string> same_number;
    Pid below, above;
    std::uint64_t started = 0;
    for (const Process& process : snapshot.processes) {
        if (process.parent == wanted) ++started;
        if (process.pid.number == wanted.number) {
            if (same_number.size() < 3) same_number.push_back(pid_text(process.pid));
        } else if (process.pid < wanted) {
            if (!below.has() || process.pid > below) below = process.pid;
        } else if (!above.has() || process.pid < above) {
            above = process.pid;
        }
    }
    if (started != 0) add("it had ended; it started " + std::to_string(started) + " of the processes here");
    if (!same_number.empty()) {
        add("did you mean " + listed(same_number) + "?");
    } else {
        std::vector<std::string> neighbours;
        if (below.has()) neighbours.push_back(pid_text(below));
        if (above.has()) neighbours.push_back(pid_text(above));
        if (!neighbours.empty()) add("its neighbours are " + listed(neighbours));
    }
    add(cut_table_advice(snapshot));
    return usage("no process " + pid_text(wanted) + " in this input", advice);
}

Error no_such_name(const Snapshot& snapshot, const std::string& wanted) {
    std::vector<std::string_view> names;
    for (const Process& process : snapshot.processes)
        if (process.name != TextId::none) names.push_back(erlang::without_elixir(snapshot.text(process.name)));
    const std::vector<std::string> near = near_names(erlang::without_elixir(wanted), names, 3);
    std::string advice = near.empty() ? cut_table_advice(snapshot) : "did you mean " + listed(near) + "?";
    return usage("no process is registered as " + atom_text(wanted), std::move(advice));
}

}  // namespace

Result<Quantity> parse_quantity(std::string_view text) {
    const std::string_view whole = trim(text);
    const Error bad = usage("'" + std::string(whole) + "' is not a quantity",
                            "write a number (10000, 10k), a size (512MiB, 2GB) or a share (80%)");
    std::size_t at = 0;
    std::uint64_t integer = 0;
    std::size_t digits = 0;
    for (; at < whole.size() && (is_digit(whole[at]) || (whole[at] == '_' && digits != 0)); ++at) {
        if (whole[at] == '_') continue;
        integer = saturating_add(saturating_multiply(integer, 10), static_cast<std::uint64_t>(whole[at] - '0'));
        ++digits;
    }
    double fraction = 0;
    if (at < whole.size() && whole[at] == '.') {
        double scale = 0.1;
        const std::size_t point = at++;
        for (; at < whole.size() && is_digit(whole[at]); ++at, scale /= 10) fraction += scale * (whole[at] - '0');
        if (at == point + 1) return bad;
    }
    if (digits == 0) return bad;
    std::string suffix;
    for (const char c : trim(whole.substr(at))) suffix += lower(c);
    Quantity quantity;
    if (suffix == "%") {
        quantity.unit = Quantity::Unit::percent;
        quantity.percent = static_cast<double>(integer) + fraction;
        return quantity;
    }
    std::uint64_t base = 1000;
    if (!suffix.empty() && suffix.back() == 'b') {
        quantity.unit = Quantity::Unit::bytes;
        suffix.pop_back();
        if (!suffix.empty() && suffix.back() == 'i') {
            suffix.pop_back();
            base = 1024;
            if (suffix.empty()) return bad;
        }
    }
    std::uint64_t factor = 1;
    if (!suffix.empty()) {
        const std::size_t power = std::string_view("kmgt").find(suffix);
        if (suffix.size() != 1 || power == std::string_view::npos) return bad;
        for (std::size_t i = 0; i <= power; ++i) factor *= base;
    }
    const double part = fraction * static_cast<double>(factor);
    quantity.value = saturating_add(saturating_multiply(integer, factor), static_cast<std::uint64_t>(part + 0.5));
    return quantity;
}

Result<PidOrName> parse_pid_or_name(std::string_view text) {
    const std::string_view whole = trim(text);
    if (whole.empty()) return usage("a process is missing", "write a pid (0.123.0) or a registered name");
    std::string_view rest = whole;
    if (take(rest, "//erl(") && rest.ends_with(")")) rest.remove_suffix(1);  // Gleam's inspect
    const bool hash = take(rest, "#PID");
    bool meant_as_pid = hash;
    if (rest.starts_with('<')) {
        meant_as_pid = true;
        rest.remove_prefix(1);
        if (rest.ends_with(">")) rest.remove_suffix(1);
    } else if (rest.starts_with("pid(")) {
        meant_as_pid = true;
        rest.remove_prefix(4);
        if (rest.ends_with(")")) rest.remove_suffix(1);
    } else if (!rest.empty() && is_digit(rest.front())) {
        meant_as_pid = true;
    }
    PidOrName result;
    if (meant_as_pid) {
        std::array<std::uint64_t, 3> numbers{};
        // 621 alone is <0.621.0> where that is the only one: who knows the snapshot decides.
        if (!hash && std::ranges::all_of(rest, is_digit) && whole.size() == rest.size()) {
            result.name = std::string(rest);
            return result;
        }
        if (read_numbers(trim(rest), numbers) != 3)
            return usage("'" + std::string(whole) + "' is not a whole pid", "a pid has three numbers: 0.123.0");
        for (const std::uint64_t number : numbers)
            if (number >= Pid::none_number)
                return usage("'" + std::string(whole) + "' has a number larger than any pid's");
        result.pid = {static_cast<std::uint32_t>(numbers[0]), static_cast<std::uint32_t>(numbers[1]),
                      static_cast<std::uint32_t>(numbers[2])};
        return result;
    }
    std::size_t used = 0;
    const bool opens_quote = whole.front() == '\'' || whole.front() == '"' ||
                             (whole.size() > 1 && whole[0] == ':' && (whole[1] == '\'' || whole[1] == '"'));
    if (opens_quote) {
        if (!read_name(whole, result.name, used, result.quoted) || used != whole.size())
            return usage("the quotes of " + std::string(whole) + " do not match");
        return result;
    }
    result.name = std::string(whole.front() == ':' && whole.size() > 1 ? whole.substr(1) : whole);
    return result;
}

// 621 of <0.621.0>, where that is the only one.
static Result<ProcId> by_number(const Snapshot& snapshot, const std::string& number) {
    ProcId found = ProcId::none;
    std::uint64_t several = 0;
    for (std::size_t i = 0; i < snapshot.processes.size(); ++i) {
        const Pid& pid = snapshot.processes[i].pid;
        if (pid.node != 0 || std::to_string(pid.number) != number) continue;
        found = static_cast<ProcId>(i);
        ++several;
    }
    if (several == 1) return found;
    return usage("'" + number + "' is not a whole pid, and " +
                     (several == 0 ? "no process has that number" : "several processes have that number"),
                 "a pid has three numbers: 0." + number + ".0");
}

Result<ProcId> resolve(const Snapshot& snapshot, const PidOrName& wanted) {
    if (wanted.pid.has()) {
        const ProcId found = snapshot.find(wanted.pid);
        if (found == ProcId::none) return no_such_pid(snapshot, wanted.pid);
        return found;
    }
    ProcId found = snapshot.find_registered(wanted.name);
    if (found == ProcId::none && !erlang::is_elixir(wanted.name))
        found = snapshot.find_registered(erlang::with_elixir(wanted.name));
    if (found == ProcId::none && std::ranges::all_of(wanted.name, is_digit) && !wanted.quoted)
        return by_number(snapshot, wanted.name);
    if (found == ProcId::none) return no_such_name(snapshot, wanted.name);
    return found;
}

Result<ProcId> resolve(const Snapshot& snapshot, std::string_view text) {
    BH_TRY(const PidOrName wanted, parse_pid_or_name(text));
    return resolve(snapshot, wanted);
}

std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string_view>& candidates,
                                    std::size_t limit) {
    constexpr std::size_t longest = 64;  // longer names are compared by what they contain
    struct Near {
        std::size_t distance;
        std::string_view name;
        bool operator<(const Near& other) const {
            return distance != other.distance ? distance < other.distance : name < other.name;
        }
        bool operator==(const Near& other) const { return name == other.name; }
    };
    std::vector<Near> found;
    for (const std::string_view candidate : candidates) {
        if (candidate.size() <= longest && wanted.size() <= longest) {
            const std::size_t most = std::max<std::size_t>(1, std::min(wanted.size(), candidate.size()) / 3);
            if (const std::size_t apart = distance(wanted, candidate, most); apart <= most) {
                found.push_back({apart, candidate});
                continue;
            }
        }
        const bool within = wanted.size() >= 3 && contains(candidate, wanted);
        if (within || (candidate.size() >= 3 && contains(wanted, candidate))) found.push_back({longest, candidate});
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    std::vector<std::string> names;
    for (const Near& near : found) {
        if (names.size() == limit) break;
        names.emplace_back(near.name);
    }
    return names;
}

}  // namespace beamheap::analyses
