// SPDX-License-Identifier: Apache-2.0
// Strings, binaries, charlists and big integers of a printed term become placeholders; shape, atoms and pids stay. By
// `full` every number goes: texts are told in small ones, too, as tuples, nested and improper lists of characters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "present/secrets/redact.hpp"
#include "present/secrets/redact_lex.hpp"

namespace beamheap::present {
namespace {

using namespace lex;

constexpr std::string_view masked_string = "\"***\"";

class ValueScan {
public:
    ValueScan(std::string_view text, bool only_nested, const Salt& salt, bool numbers, unsigned quoted = 0)
        : text_(text), only_nested_(only_nested), numbers_(numbers), salt_(salt), quoted_(quoted) {}

    std::string run() {
        while (i_ < text_.size()) {
            const char c = text_[i_];
            if (c == '"' && atom_quote(text_, i_)) i_ = skip_quoted(text_, i_);
            else if (c == '"') string_literal(i_);
            else if (c == '~' && letter(at(text_, i_ + 1)) && at(text_, i_ + 2) == '"') string_literal(i_ + 2);
            else if (c == '\'') quoted_atom();
            else if (c == '<' && at(text_, i_ + 1) == '<') binary_literal();
            else if (c == '#' && letter(at(text_, i_ + 1))) handle();
            else if (c == '<') pid();
            else if (c == '[' && charlist()) continue;
            else if (digit(c) && in_list() && characters_of_list()) continue;
            else if (digit(c)) number();
            else if (word(c) || c == '@') skip_word();
            else bracket(c);
        }
        out_.append(text_, kept_, text_.size() - kept_);
        return std::move(out_);
    }

private:
    void replace(std::size_t end, std::string_view by) {
        out_.append(text_, kept_, i_ - kept_).append(by);
        kept_ = i_ = end;
    }
    std::string hash(std::string_view literal) const {
        return fmt::format("#{:06x}", keyed_hash(salt_, literal) & 0xFFFFFF);
    }
    bool shown() const { return only_nested_ && open_.empty(); }
    bool in_list() const { return !open_.empty() && open_.back() == '[' && !word(at(text_, i_ - 1)); }

    void bracket(char c) {
        if (c == '{' || c == '[') open_ += c;
        if ((c == '}' || c == ']') && !open_.empty()) open_.pop_back();
        ++i_;
    }
    void skip_word() {
        while (i_ < text_.size() && (word(text_[i_]) || text_[i_] == '@')) ++i_;
    }
    // Atoms are kept; in free text a ' is an apostrophe as well, and must not swallow the strings behind it.
    void quoted_atom() {
        if (shown()) ++i_;
        else i_ = skip_quoted(text_, i_);
    }

    // Characters of the literal as it would be read back: an escape counts as one.
    static std::size_t characters(std::string_view inside) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < inside.size(); ++i) {
            if (inside[i] == '\\') {
                ++i;
                if (at(inside, i) == 'x' && at(inside, i + 1) == '{')
                    while (i < inside.size() && inside[i] != '}') ++i;
            } else if ((static_cast<unsigned char>(inside[i]) & 0xC0) == 0x80) {
                continue;
            }
            ++count;
        }
        return count;
    }

    // "12 chars #a1b2c3": a text of a copy is hidden already, and stays as long as it was.
    static bool is_placeholder(std::string_view inside) {
        constexpr std::string_view words = " chars #";
        constexpr std::size_t hash_digits = 6, most_digits = 20;
        const std::size_t digits = inside.find(words);
        if (digits == 0 || digits > most_digits || inside.size() != digits + words.size() + hash_digits) return false;
        const auto hex = [](char c) { return digit(c) || (c >= 'a' && c <= 'f'); };
        return std::ranges::all_of(inside.substr(0, digits), digit) &&
               std::ranges::all_of(inside.substr(digits + words.size()), hex);
    }

    void string_literal(std::size_t quote) {
        const std::size_t end = skip_quoted(text_, quote);
        const std::string_view literal = text_.substr(quote, end - quote);
        const bool closed = literal.size() >= 2 && literal.back() == '"';
        const std::string_view inside = literal.substr(1, literal.size() - (closed ? 2 : 1));
        const bool holds_term = inside.find_first_of("{[") != inside.npos || inside.find("<<") != inside.npos;
        if (inside.empty() || literal == masked_string || is_placeholder(inside) || (shown() && !holds_term)) {
            i_ = end;
            return;
        }
        // A reason that was printed, and then printed as a string: Kernel pid terminated (...) ("{failed,\"...\"}").
        if (shown() && quoted_ < most_quoted) {
            const std::string inner = escaped(ValueScan(unescaped(inside), true, salt_, numbers_, quoted_ + 1).run());
            return replace(end, fmt::format("{}\"{}{}", text_.substr(i_, quote - i_), inner, closed ? "\"" : ""));
        }
        replace(end, fmt::format("\"{} chars {}\"", characters(inside), hash(inside)));
    }

    // <<"abc",0,1:3>>: strings count their bytes, other segments one byte each.
    void binary_literal() {
        const std::size_t end = skip_balanced(text_, i_);
        const std::string_view literal = text_.substr(i_, end - i_);
        const bool closed = literal.size() >= 4 && literal.ends_with(">>");
        const std::string_view inside = literal.substr(2, literal.size() - (closed ? 4 : 2));
        // <<1024 bytes ...>> is a size that was printed in the place of the contents.
        if (inside.empty() || inside == masked_string || described(inside)) {
            i_ = end;
            return;
        }
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < inside.size();) {
            if (inside[i] == '"') {
                const std::size_t stop = skip_quoted(inside, i);
                bytes += string_bytes(inside.substr(i + 1, stop - i - 1));
                i = stop;
            } else if (digit(inside[i])) {
                ++bytes;
                while (i < inside.size() && inside[i] != ',') ++i;
            } else {
                ++i;
            }
        }
        const bool cut = !closed || inside.ends_with("...");
        replace(end, fmt::format("<<{}{} bytes {}>>", cut ? "at least " : "", bytes, hash(inside)));
    }
    static std::size_t string_bytes(std::string_view inside) {
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < inside.size() && inside[i] != '"'; ++i, ++bytes)
            if (inside[i] == '\\') ++i;
        return bytes;
    }
    static bool described(std::string_view inside) {
        std::size_t i = 0;
        while (digit(at(inside, i)) || at(inside, i) == ',') ++i;
        return i != 0 && (starts(inside, i, " byte") || starts(inside, i, " bit"));
    }

    // #Ref<0.1.2.3>, #Port<0.5>, #PID<0.1.2>, #Fun<m.1.2>: their numbers are no values.
    void handle() {
        ++i_;
        skip_word();
        if (at(text_, i_) == '<') pid();
    }
    void pid() {
        std::size_t i = i_ + 1;
        while (i < text_.size() &&
               (word(text_[i]) || std::string_view(".-/'\"").find(text_[i]) != std::string_view::npos))
            ++i;
        i_ = at(text_, i) == '>' ? i + 1 : i_ + 1;
    }

    // Numbers one behind the other, from text_[i] on: how many there are, and how many of them are characters. `i`
    // becomes where they end.
    struct Numbers {
        std::size_t count = 0, characters = 0;
        bool like_text() const { return characters >= 4 && characters * 2 >= count; }
    };
    Numbers numbers_at(std::size_t& i) const {
        Numbers found;
        while (digit(at(text_, i))) {
            std::size_t end = i;
            std::uint64_t point = 0;
            for (; digit(at(text_, end)); ++end)
                if (point < 0x110000) point = point * 10 + static_cast<std::uint64_t>(text_[end] - '0');
            if (point >= 0x110000 || word(at(text_, end)) || at(text_, end) == '.' || at(text_, end) == '#') {
                if (!starts(text_, end, "...")) break;
            }
            found.characters += (point >= 32 && point < 127) || point >= 160 || (point >= 8 && point <= 13) ? 1 : 0;
            ++found.count;
            i = end;
            if (at(text_, end) != ',' && at(text_, end) != '|') break;
            if (!digit(at(text_, end + 1))) break;
            i = end + 1;
        }
        return found;
    }

    // [104,101,108,108,111]: a list of numbers with four or more printable characters, at least half of all, is taken
    // for a text: [72,0,117,0,115,0,104,0], [104,105,106|107].
    bool charlist() {
        if (shown()) return false;
        std::size_t i = i_ + 1;
        const Numbers found = numbers_at(i);
        if (!found.like_text()) return false;
        const std::string digest = hash(text_.substr(i_ + 1, i - i_ - 1));
        if (at(text_, i) == ']') {
            replace(i + 1, fmt::format("\"{} chars {}\"", found.count, digest));
            return true;
        }
        // Keeps the bracket, and what follows: the ellipsis of a cut, other pieces of a text.
        ++i_;
        open_ += '[';
        const bool cut = starts(text_, i, "...") || starts(text_, i, "|...");
        replace(i, fmt::format("\"{} chars {}\"{}", found.count, digest, cut ? "," : ""));
        return true;
    }
    // The same of numbers behind another element: ["ab",104,101,108,108].
    bool characters_of_list() {
        std::size_t i = i_;
        const Numbers found = numbers_at(i);
        if (!found.like_text()) return false;
        replace(i, fmt::format("\"{} chars {}\"", found.count, hash(text_.substr(i_, i - i_))));
        return true;
    }

    // Integers of 2^32 and more are ids, card numbers, keys; smaller ones are counts. Floats and 0x addresses stay.
    void number() {
        std::size_t end = i_;
        std::size_t digits = 0;
        bool plain = true;
        while (end < text_.size() &&
               (word(text_[end]) || text_[end] == '#' || (text_[end] == '.' && digit(at(text_, end + 1))))) {
            digits += digit(text_[end]) ? 1 : 0;
            plain = plain && digit(text_[end]);
            ++end;
        }
        const std::string_view token = text_.substr(i_, end - i_);
        const bool based = token.find('#') != token.npos && digits >= 4 && token.size() > 11;
        const bool big = plain && (digits > 10 || (digits == 10 && token >= "4294967296"));
        if (shown()) i_ = end;
        else if (big || based) replace(end, fmt::format("'integer {}'", hash(token)));
        else if (numbers_ && at(text_, i_ == 0 ? text_.size() : i_ - 1) != '/') small_number(token, end);
        else i_ = end;
    }

    // None has a hash: where each character has one of its own, a text is told by how often each comes.
    void small_number(std::string_view token, std::size_t end) {
        if (token.ends_with('e') && (at(text_, end) == '-' || at(text_, end) == '+'))
            for (++end; digit(at(text_, end));) ++end;
        if (i_ > kept_ && text_[i_ - 1] == '-') --i_;
        replace(end, token.find('.') == token.npos ? "'integer'" : "'float'");
    }

    std::string_view text_;
    bool only_nested_;
    bool numbers_;  // all of them are hidden
    const Salt& salt_;
    unsigned quoted_;  // how many strings this text is inside of
    std::string out_;
    std::size_t i_ = 0;
    std::size_t kept_ = 0;
    std::string open_;  // brackets
};

}  // namespace

std::string mask_values(std::string_view text, bool only_nested, const Salt& salt, bool numbers) {
    return ValueScan(text, only_nested, salt, numbers).run();
}

}  // namespace beamheap::present
