// SPDX-License-Identifier: Apache-2.0
#include "fuzz/dump_mutator.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace beamheap::fuzz {
namespace {

constexpr std::array<std::string_view, 12> odd_numbers{"0",
                                                       "1",
                                                       "2147483647",
                                                       "2147483648",
                                                       "4294967295",
                                                       "4294967296",
                                                       "9223372036854775807",
                                                       "18446744073709551615",
                                                       "18446744073709551616",
                                                       "FFFFFFFFFFFFFFFF",
                                                       "7FFFFFFFFFFFFFF8",
                                                       "-1"};

/// A dump in lines, each with its end.
class Lines {
public:
    Lines(std::string_view bytes, Random& random) : random_(random) {
        while (!bytes.empty()) {
            const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
            lines_.emplace_back(bytes.substr(0, end));
            bytes.remove_prefix(end);
        }
        if (lines_.empty()) lines_.emplace_back("=erl_crash_dump:0.5\n");
    }

    std::string text() const {
        std::string all;
        for (const std::string& line : lines_) all += line;
        return all;
    }

    void change() {
        using Change = void (Lines::*)();
        constexpr std::array<Change, 14> changes{&Lines::repeat_line,    &Lines::repeat_with_other_value,
                                                 &Lines::drop_lines,     &Lines::move_line,
                                                 &Lines::double_section, &Lines::move_section,
                                                 &Lines::merge_lines,    &Lines::step_number,
                                                 &Lines::odd_number,     &Lines::swap_addresses,
                                                 &Lines::copy_address,   &Lines::cut,
                                                 &Lines::zeros,          &Lines::flip};
        (this->*changes[random_.below(changes.size())])();
    }

private:
    using At = std::ptrdiff_t;
    std::size_t some_line() { return random_.below(lines_.size()); }

    void repeat_line() {
        const std::string line = lines_[some_line()];
        lines_.insert(lines_.begin() + static_cast<At>(some_line()), line);
    }
    // A field comes again, near itself, with what another field has.
    void repeat_with_other_value() {
        const std::size_t at = some_line();
        const std::string &name = lines_[at], &value = lines_[some_line()];
        const std::size_t colon = name.find(':'), other = value.find(':');
        if (colon == name.npos || other == value.npos) return repeat_line();
        const std::string made = name.substr(0, colon) + value.substr(other);
        const std::size_t near = std::min(lines_.size(), at + random_.below(4));
        lines_.insert(lines_.begin() + static_cast<At>(near), made);
    }
    void drop_lines() {
        const std::size_t at = some_line(), count = std::min(lines_.size() - at, 1 + random_.below(8));
        lines_.erase(lines_.begin() + static_cast<At>(at), lines_.begin() + static_cast<At>(at + count));
        if (lines_.empty()) lines_.emplace_back("\n");
    }
    void move_line() {
        const std::size_t from = some_line(), to = some_line();
        std::swap(lines_[from], lines_[to]);
    }
    // The section that a line is in: from its tag to the next one.
    std::pair<std::size_t, std::size_t> some_section() {
        std::size_t begin = some_line();
        while (begin > 0 && !lines_[begin].starts_with("=")) --begin;
        std::size_t end = begin + 1;
        while (end < lines_.size() && !lines_[end].starts_with("=")) ++end;
        return {begin, end};
    }
    void double_section() {
        const auto [begin, end] = some_section();
        const std::vector<std::string> copy(lines_.begin() + static_cast<At>(begin),
                                            lines_.begin() + static_cast<At>(end));
        lines_.insert(lines_.begin() + static_cast<At>(some_section().first), copy.begin(), copy.end());
    }
    void move_section() {
        auto [begin, end] = some_section();
        auto [other, other_end] = some_section();
        if (other < begin) std::swap(begin, other), std::swap(end, other_end);
        if (other < end) return double_section();
        const auto first = lines_.begin();
        std::rotate(first + static_cast<At>(begin), first + static_cast<At>(end), first + static_cast<At>(other_end));
    }
    void merge_lines() {
        const std::size_t at = some_line();
        if (at + 1 >= lines_.size()) return flip();
        lines_[at].pop_back();
        lines_[at] += lines_[at + 1].substr(random_.below(2) == 0 ? 0 : random_.below(lines_[at + 1].size()));
        lines_.erase(lines_.begin() + static_cast<At>(at) + 1);
    }

    static bool is_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); }
    struct Place {
        std::size_t line = 0, at = 0, size = 0;
    };
    // Some run of at least `least` digits, from a line on; of no size where there is none in the next hundred lines.
    Place some_digits(std::size_t least) {
        const std::size_t from = some_line();
        for (std::size_t i = from; i < std::min(lines_.size(), from + 100); ++i) {
            const std::string& line = lines_[i];
            std::size_t at = random_.below(line.size());
            while (at > 0 && is_digit(line[at - 1])) --at;
            for (; at < line.size(); ++at) {
                std::size_t size = 0;
                while (at + size < line.size() && is_digit(line[at + size])) ++size;
                if (size >= least) return {i, at, size};
                at += size;
            }
        }
        return {};
    }
    std::string text_at(const Place& place) { return lines_[place.line].substr(place.at, place.size); }
    void put(const Place& place, std::string_view text) { lines_[place.line].replace(place.at, place.size, text); }

    void step_number() {
        const Place place = some_digits(1);
        const std::string digits = text_at(place);
        const int base = random_.below(2) == 0 ? 10 : 16;
        std::uint64_t value = 0;
        if (digits.empty() ||
            std::from_chars(digits.data(), digits.data() + digits.size(), value, base).ec != std::errc{})
            return odd_number();
        constexpr std::array<std::uint64_t, 6> steps{1, ~std::uint64_t{0}, 8, ~std::uint64_t{7}, 16, 0x1000};
        value = random_.below(8) == 0 ? value * 2 : value + steps[random_.below(steps.size())];
        std::array<char, 24> made{};
        const auto end = std::to_chars(made.data(), made.data() + made.size(), value, base).ptr;
        std::string text(made.data(), end);
        for (char& c : text)
            if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
        put(place, text);
    }
    void odd_number() {
        const Place place = some_digits(1);
        if (place.size == 0) return flip();
        put(place, odd_numbers[random_.below(odd_numbers.size())]);
    }
    void swap_addresses() {
        const Place first = some_digits(8), second = some_digits(8);
        if (first.size == 0 || second.size == 0 || first.line == second.line) return step_number();
        const std::string one = text_at(first), other = text_at(second);
        put(first, other);
        put(second, one);
    }
    void copy_address() {
        const Place from = some_digits(8), to = some_digits(8);
        if (from.size == 0 || to.size == 0) return step_number();
        put(to, text_at(from));
    }

    void cut() {
        std::string& line = lines_[some_line()];
        line.erase(random_.below(line.size()));
        if (line.empty()) line = "\n";
    }
    void zeros() {
        std::string& line = lines_[some_line()];
        line.assign(line.size(), '\0');
    }
    void flip() {
        std::string& line = lines_[some_line()];
        line[random_.below(line.size())] = static_cast<char>(random_.next());
    }

    Random& random_;
    std::vector<std::string> lines_;  // none of them is empty
};

}  // namespace

std::string mutate_dump(std::string_view bytes, std::uint64_t seed, std::size_t most) {
    Random random(seed);
    Lines lines(bytes.substr(0, most), random);
    for (std::size_t left = 1 + random.below(4); left != 0; --left) lines.change();
    std::string made = lines.text();
    if (made.size() > most) made.resize(most);
    return made;
}

std::string mutate_bytes(std::string_view bytes, std::uint64_t seed, std::size_t most) {
    Random random(seed);
    std::string made(bytes.substr(0, most));
    for (std::size_t left = 1 + random.below(6); left != 0; --left) {
        if (made.empty()) made.assign(1 + random.below(64), static_cast<char>(random.below(256)));
        const std::size_t at = random.below(made.size());
        const std::size_t piece = std::min(1 + random.below(random.below(4) == 0 ? 4096 : 16), made.size() - at);
        const std::size_t other = random.below(made.size() - piece + 1);
        switch (random.below(9)) {
            case 0: made[at] = static_cast<char>(made[at] ^ (1 << random.below(8))); break;
            case 1: made[at] = static_cast<char>(random.below(256)); break;
            case 2: {  // a number of 1, 2, 4 or 8 bytes: at an end of what it can be, or one off
                constexpr std::array<std::uint64_t, 6> ends{0, 1, ~std::uint64_t{0}, ~std::uint64_t{0} >> 1, 127, 255};
                std::uint64_t number = ends[random.below(ends.size())] + random.below(3) - 1;
                const bool little = random.below(2) == 0;
                const std::size_t width = std::min(std::size_t{1} << random.below(4), made.size() - at);
                for (std::size_t i = 0; i < width; ++i, number >>= 8)
                    made[little ? at + i : at + width - 1 - i] = static_cast<char>(number & 0xFF);
                break;
            }
            case 3: made[at] = static_cast<char>(made[at] + (random.below(2) == 0 ? 1 : -1)); break;
            case 4: made.erase(at, piece); break;
            case 5: made.insert(other, made.substr(at, piece)); break;
            case 6: std::fill_n(made.begin() + static_cast<std::ptrdiff_t>(at), piece, '\0'); break;
            case 7: made.replace(other, piece, made.substr(at, piece)); break;
            default: made.resize(at); break;
        }
    }
    made.resize(std::min(made.size(), most));
    return made;
}

}  // namespace beamheap::fuzz
