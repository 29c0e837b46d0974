// SPDX-License-Identifier: Apache-2.0
#include "erlang/printed_words.hpp"

#include <algorithm>
#include <vector>

namespace beamheap::erlang {
namespace {

constexpr std::uint64_t boxed = 3, of_reference = 4, of_map = 3, of_cell = 2;
constexpr std::size_t small_digits = 17;  // of the largest integer that is none of the heap's, on 64 bits

bool digit(char c) { return c >= '0' && c <= '9'; }

class Scan {
public:
    Scan(std::string_view text, std::uint32_t word) : text_(text), word_(word == 0 ? 8 : word) {}

    std::uint64_t run() {
        while (at_ < text_.size()) one();
        return words_;
    }

private:
    void one() {
        const char c = text_[at_];
        if (c == '\'' || c == '"') return quoted(c);
        if (starts("<<")) return binary();
        if (starts("#{")) return open('m', of_map, 2);
        if (starts("#Ref<")) return skip_to('>', of_reference);
        if (starts("#Fun<")) return skip_to('>', boxed);
        if (c == '<' || c == '#') return skip_to('>', 0);
        if (c == '{') return open('t', 1, 1);
        if (c == '[') return open('l', 0, 1);
        if (c == '}' || c == ']') return close();
        if (c == ',') return element(1);
        if (digit(c)) return number();
        word();
    }

    bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }

    // Of a container that is not empty, with its first element.
    void open(char kind, std::uint64_t words, std::size_t length) {
        at_ += length;
        words_ += words;
        kinds_.push_back(kind);
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        if (at_ < text_.size() && text_[at_] != '}' && text_[at_] != ']') element(0);
    }
    void close() {
        ++at_;
        if (!kinds_.empty()) kinds_.pop_back();
    }
    void element(std::size_t length) {
        at_ += length;
        if (!kinds_.empty()) words_ += kinds_.back() == 't' ? 1 : of_cell;
    }

    // A string is a list of its characters.
    void quoted(char quote) {
        std::uint64_t characters = 0;
        for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_, ++characters)
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        at_ = std::min(at_ + 1, text_.size());
        if (quote == '"') words_ += of_cell * characters;
    }
    void binary() {
        const std::size_t end = std::min(text_.find(">>", at_), text_.size());
        const std::string_view within = text_.substr(at_ + 2, end - std::min(end, at_ + 2));
        const auto bytes = within.starts_with('"')
                               ? static_cast<std::uint64_t>(within.size())
                               : static_cast<std::uint64_t>(std::ranges::count(within, ',')) + !within.empty();
        words_ += boxed + bytes / word_;
        at_ = std::min(end + 2, text_.size());
    }
    void skip_to(char end, std::uint64_t words) {
        words_ += words;
        const std::size_t found = text_.find(end, at_);
        at_ = found == std::string_view::npos ? text_.size() : found + 1;
    }
    void number() {
        const std::size_t begin = at_;
        bool real = false;
        while (at_ < text_.size() && (digit(text_[at_]) || text_[at_] == '.' || text_[at_] == 'e'))
            real |= text_[at_++] == '.';
        if (real || at_ - begin > small_digits) words_ += boxed;
    }
    // An atom, or what stands between elements.
    void word() {
        constexpr std::string_view ends = "'\"<#{[}],";
        const std::size_t end = text_.find_first_of(ends, at_ + 1);
        at_ = end == std::string_view::npos ? text_.size() : end;
    }

    std::string_view text_;
    std::uint64_t word_;
    std::size_t at_ = 0;
    std::uint64_t words_ = 0;
    std::vector<char> kinds_;  // of the containers that are open
};

}  // namespace

std::uint64_t printed_words(std::string_view text, std::uint32_t word_size) { return Scan(text, word_size).run(); }

}  // namespace beamheap::erlang
