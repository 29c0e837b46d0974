// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory/name_codes.hpp"

#include <algorithm>
#include <functional>

#include "analyses/memory/atom_families.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_places = 1 << 16, longest_code = 16, least_rest = 2;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_alnum(char c) { return is_digit(c) || is_small(c) || is_capital(c); }

// The code of a name that has a digit, by either way; of length 0 where it can't be one.
NameCodes::Place place_in(std::string_view name, std::size_t way) {
    const auto first = static_cast<std::size_t>(std::ranges::find_if(name, is_digit) - name.begin());
    if (first == name.size()) return {};
    std::size_t begin = first, end = first;
    while (end < name.size() && is_alnum(name[end])) ++end;
    if (way != 0) {
        while (begin != 0 && is_alnum(name[begin - 1])) --begin;
        if (begin == first || begin + (name.size() - end) < least_rest) return {};
    }
    // With a second number the first is not what makes the names many.
    if (end - begin > longest_code || std::ranges::any_of(name.substr(end), is_digit)) return {};
    const std::string_view code = name.substr(begin, end - begin);
    if (std::ranges::any_of(code, is_small) && std::ranges::any_of(code, is_capital)) return {};
    return {begin, code.size()};
}

std::uint64_t key_of(std::string_view name, NameCodes::Place place) {
    const std::hash<std::string_view> hash;
    return hash(name.substr(0, place.begin)) * 31 + hash(name.substr(place.begin + place.length)) * 17 + place.length;
}

// Its letters, and where they stand.
std::uint64_t form_of(std::string_view code) {
    std::array<char, longest_code> form{};
    std::ranges::transform(code, form.begin(), [](char c) { return is_digit(c) ? '0' : c; });
    return std::hash<std::string_view>()({form.data(), code.size()});
}

// Hexadecimal numbers have patterns of their own (atom_families.hpp).
bool is_hexadecimal(std::string_view code) {
    return std::ranges::all_of(code,
                               [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); });
}

}  // namespace

void NameCodes::add(std::string_view name) {
    for (std::size_t way = 0; way < ways; ++way) {
        const Place place = place_in(name, way);
        if (place.length == 0 || is_hexadecimal(name.substr(place.begin, place.length))) continue;
        auto& places = places_[way];
        const std::uint64_t key = key_of(name, place);
        const auto found = places.size() < most_places ? places.try_emplace(key).first : places.find(key);
        if (found != places.end())
            found->second.forms.set(form_of(name.substr(place.begin, place.length)) % found->second.forms.size());
    }
}

bool NameCodes::any() const {
    return std::ranges::any_of(places_, [](const auto& places) {
        return std::ranges::any_of(places, [](const auto& p) { return p.second.many(); });
    });
}

NameCodes::Place NameCodes::of(std::string_view name) const {
    for (std::size_t way = 0; way < ways; ++way) {
        const Place place = place_in(name, way);
        if (place.length == 0) continue;
        const auto found = places_[way].find(key_of(name, place));
        if (found != places_[way].end() && found->second.many()) return place;
    }
    return {};
}

std::string NameCodes::pattern(std::string_view name) const {
    const Place place = of(name);
    if (place.length == 0) return atom_pattern(name);
    return std::string(name.substr(0, place.begin)) + "<code>" + std::string(name.substr(place.begin + place.length));
}

}  // namespace beamheap::analyses
