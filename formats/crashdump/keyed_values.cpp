// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/keyed_values.hpp"

#include <algorithm>
#include <charconv>

#include "formats/crashdump/data_text.hpp"

namespace beamheap::crashdump {
namespace {

constexpr std::size_t longest_key = 64;
constexpr std::size_t shortest_atom = 3;

/// Where a value stands: in one term with its key, or in the cell of a list behind that of its key.
enum class Beside : std::uint8_t { key, cell };

std::uint64_t address(std::string_view digits) {
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return value;
}
std::string_view name_of_atom(std::string_view element) {
    const std::size_t colon = element.find(':');
    return colon == element.npos ? std::string_view() : element.substr(colon + 1);
}
// 't', 'l', 'f' (a small map), 'Y'; '|' where two terms stand side by side; 0: another one.
char kind(std::string_view text, const WalkedLine& line) {
    if (line.section == TermSection::persistent_terms) return '|';
    if (line.section != TermSection::heap && line.section != TermSection::literals) return 0;
    const std::size_t colon = text.find(':', line.begin);
    if (colon == text.npos || colon + 1 >= text.size()) return 0;
    return text[colon + 1] == 'M' ? (text.substr(colon + 2).starts_with('f') ? 'f' : '\0') : text[colon + 1];
}

}  // namespace

KeyRule KeyedValues::key(std::string_view element) const {
    if (element.starts_with('A')) {
        const std::string_view name = name_of_atom(element);
        return name.empty() || name.size() > longest_key ? KeyRule::none : rule_(name);
    }
    if (!element.starts_with('H')) return KeyRule::none;
    const auto found = keys_.find(address(element.substr(1)));
    return found == keys_.end() ? KeyRule::none : found->second;
}

template <class Tell>
void KeyedValues::values(std::string_view text, const WalkedLine& line, Tell tell) const {
    const auto element = [&](std::size_t i) {
        return text.substr(line.elements[i].first, line.elements[i].second - line.elements[i].first);
    };
    const std::size_t count = line.elements.size();
    const char of = kind(text, line);
    if (count == 0 || of == 0) return;
    if (of == 'f') {
        if (!element(0).starts_with('H')) return;
        const auto keys = tuples_.find(address(element(0).substr(1)));
        if (keys == tuples_.end()) return;
        for (const auto& [place, rule] : keys->second)
            if (place + 1 < count) tell(place + 1, rule, Beside::key);
        return;
    }
    if (of != 't' && of != 'l' && of != '|') return;
    if (const KeyRule rule = key(element(0)); rule != KeyRule::none)
        for (std::size_t i = 1; i < count; ++i) tell(i, rule, Beside::key);
    if (of == 'l' && !after_.empty())
        if (const auto before = after_.find(address(text.substr(line.begin))); before != after_.end())
            tell(0, before->second, Beside::cell);
}

void KeyedValues::learn(TermStyle style, std::string_view text, const WalkedLine& line) {
    const auto element = [&](std::size_t i) {
        return text.substr(line.elements[i].first, line.elements[i].second - line.elements[i].first);
    };
    const char of = kind(text, line);
    if (of == 'Y' && line.bytes >= 2 && line.bytes <= longest_key) {
        std::string name;
        append_data(style, text.substr(line.data_begin, line.data_end - line.data_begin), name,
                    static_cast<std::size_t>(line.bytes));
        if (const KeyRule rule = rule_(name); rule != KeyRule::none) keys_[address(text.substr(line.begin))] = rule;
        return;
    }
    if (of == 'l' && line.elements.size() == 2 && element(1).starts_with('H'))
        if (const KeyRule rule = key(element(0)); rule != KeyRule::none) after_[address(element(1).substr(1))] = rule;
    if (of == 't') {
        std::vector<std::pair<std::size_t, KeyRule>> keys;
        for (std::size_t i = 0; i < line.elements.size(); ++i)
            if (const KeyRule rule = key(element(i)); rule != KeyRule::none) keys.emplace_back(i, rule);
        if (!keys.empty()) tuples_[address(text.substr(line.begin))] = std::move(keys);
    }
    values(text, line, [&](std::size_t i, KeyRule rule, Beside beside) {
        // In a list of atoms each is behind another: [elixir_erl_pass,elixir_erl_try] are modules.
        if (rule != KeyRule::all || beside == Beside::cell || !element(i).starts_with('A')) return;
        const std::string_view name = name_of_atom(element(i));
        if (name.size() >= shortest_atom && rule_(name) == KeyRule::none && !common_(name)) atoms_.emplace(name);
    });
}

void KeyedValues::secrets_of(std::string_view text, const WalkedLine& line, std::vector<std::size_t>& places) const {
    places.clear();
    values(text, line, [&](std::size_t i, KeyRule rule, Beside) {
        constexpr std::size_t least_digits = 4;
        const auto [begin, end] = line.elements[i];
        if (begin == end || text[begin] != 'I') return;
        if (rule == KeyRule::all || end - begin > least_digits) places.push_back(i);
    });
}

}  // namespace beamheap::crashdump
