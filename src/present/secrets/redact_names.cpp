// SPDX-License-Identifier: Apache-2.0
// Names that are not Erlang/OTP's become x_ and a hash; what OTP names stays readable.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "present/secrets/redact.hpp"
#include "present/secrets/redact_lex.hpp"

namespace beamheap::present {
namespace {

using namespace lex;

#include "present/otp_names.inc"

static_assert(std::ranges::is_sorted(otp_modules));
static_assert(std::ranges::is_sorted(otp_atoms));

// What mask_secrets and mask_values leave behind, and words of a term that are no names.
constexpr std::array<std::string_view, 13> kept_words{
    "float", "integer", "anonymous", "fn", "fun", "in", "PID", "Port", "Ref", "Fun", "utf8", "Reference", "Function"};

bool hashed(std::string_view word) {
    return word.size() == 8 && word.starts_with("x_") &&
           std::ranges::all_of(word.substr(2), [](char c) { return digit(c) || (c >= 'a' && c <= 'f'); });
}

std::string pseudonym(std::string_view name, const Salt& salt) {
    return fmt::format("x_{:06x}", keyed_hash(salt, name) & 0xFFFFFF);
}

bool name_character(char c) { return word(c) || c == '@' || c == '$' || static_cast<unsigned char>(c) >= 0x80; }

bool otp_module(std::string_view name) {
    if (std::ranges::binary_search(otp_modules, name)) return true;
    return !name.empty() && upper(name[0]) && std::ranges::binary_search(otp_atoms, "Elixir." + std::string(name));
}

class NameScan {
public:
    NameScan(std::string_view text, const Salt& salt) : text_(text), salt_(salt) {}

    std::string run() {
        while (i_ < text_.size()) {
            const char c = text_[i_];
            if (c == '"' && atom_quote(text_, i_)) quoted();
            else if (c == '"') keep_to(skip_quoted(text_, i_));
            else if (c == '<' && at(text_, i_ + 1) == '<') keep_to(skip_balanced(text_, i_));
            else if (c == '\'') quoted();
            else if (letter(c) || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80) bare();
            else if (digit(c)) number();
            else out_ += c, ++i_;
        }
        return std::move(out_);
    }

private:
    void keep_to(std::size_t end) {
        out_.append(text_, i_, end - i_);
        i_ = end;
    }
    void number() {
        std::size_t end = i_;
        while (end < text_.size() && (word(text_[end]) || text_[end] == '#')) ++end;
        const std::string_view found = text_.substr(i_, end - i_);
        if (is_number(found)) keep_to(end);
        else emit(found, i_, end);
    }
    // 12, 16#ff, 0x7f and the 0e10 of 1.0e10; 13a236ab is a name that begins with a digit.
    static bool is_number(std::string_view found) {
        const std::size_t letters = found.find_first_not_of("0123456789_");
        if (letters == found.npos || found.find('#') != found.npos || found.starts_with("0x")) return true;
        return found[letters] == 'e' && found.find_first_not_of("0123456789", letters + 1) == found.npos;
    }
    // What stands for the changing part of atoms of one pattern: <hex8>, <int>, <uuid>, <base64>, <function>.
    bool placeholder(std::string_view name, std::size_t begin, std::size_t end) const {
        if (begin == 0 || text_[begin - 1] != '<' || at(text_, end) != '>') return false;
        if (name.starts_with("hex")) return name.find_first_not_of("0123456789", 3) == name.npos;
        return name == "int" || name == "uuid" || name == "base64" || name == "function";
    }
    void quoted() {
        const std::size_t end = skip_quoted(text_, i_);
        std::string_view name = text_.substr(i_ + 1, end - i_ - 1);
        if (name.ends_with(text_[i_])) name.remove_suffix(1);
        emit(name, i_, end);
    }
    void bare() {
        std::size_t end = i_;
        while (end < text_.size() && (word(text_[end]) || text_[end] == '@' || text_[end] == '$' || text_[end] == '?' ||
                                      text_[end] == '!' || static_cast<unsigned char>(text_[end]) >= 0x80))
            ++end;
        emit(text_.substr(i_, end - i_), i_, end);
    }
    void emit(std::string_view name, std::size_t begin, std::size_t end) {
        const bool of_otp = otp_name(name);
        // The function of a module of OTP tells no more than the module.
        const bool too_short = name.size() <= 2 && std::ranges::none_of(name, upper);  // x(0), y(1), ok
        if (of_otp || own_function_ || too_short || placeholder(name, begin, end) || name == "***" ||
            name.starts_with("integer #") || std::ranges::find(kept_words, name) != kept_words.end())
            out_.append(text_, begin, end - begin);
        else out_ += pseudonym(name, salt_);
        i_ = end;
        const char next = at(text_, end);
        own_function_ = false;
        if (next != ':' && next != '.') return;
        // module:function or :module.function, and no Elixir keyword ("name: ")
        const char after = at(text_, end + 1);
        own_function_ = of_otp && (letter(after) || after == '\'' || after == '_' || (next == '.' && after == '"')) &&
                        std::ranges::binary_search(otp_modules, name);
    }

    std::string_view text_;
    const Salt& salt_;
    std::string out_;
    std::size_t i_ = 0;
    bool own_function_ = false;
};

}  // namespace

bool otp_name(std::string_view atom) {
    return hashed(atom) || std::ranges::binary_search(otp_modules, atom) || std::ranges::binary_search(otp_atoms, atom);
}

std::string mask_names(std::string_view text, const Salt& salt) { return NameScan(text, salt).run(); }

std::vector<std::string> name_words(const std::vector<std::string>& names) {
    std::vector<std::string> words;
    for (const std::string& name : names) {
        if (otp_name(name)) continue;
        for (std::size_t i = 0; i < name.size();) {
            std::size_t end = i;
            while (end < name.size() && name_character(name[end])) ++end;
            std::string part = name.substr(i, end - i);
            if (part.size() >= 2 && !std::ranges::all_of(part, digit) && !otp_name(part))
                words.push_back(std::move(part));
            i = end + (end == i ? 1 : 0);
        }
    }
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
}

std::vector<std::string> identifiers_of(std::string_view text) {
    std::vector<std::string> found;
    unsigned depth = 0;  // of braces and brackets: a word within is an atom
    std::string_view before;
    for (std::size_t i = 0, end = 0; i < text.size(); i = end) {
        for (end = i; end < text.size() && name_character(text[end]);) ++end;
        const std::string_view part = text.substr(i, end - i);
        if (part.empty()) {
            const char c = text[end++];
            if (c == '{' || c == '[') ++depth;
            else if ((c == '}' || c == ']') && depth != 0) --depth;
            continue;
        }
        const std::string_view previous = std::exchange(before, part);
        if (digit(part.front()) || std::ranges::none_of(part, letter)) continue;
        const bool upper_within = std::ranges::any_of(part.substr(1), upper) && !std::ranges::all_of(part, upper);
        const bool of_a_path = (i != 0 && text[i - 1] == '/') || (at(text, end) == '/' && !digit(at(text, end + 1)));
        const bool called = previous == "Release" || previous == "application";  // as boot scripts say it
        if (depth != 0 || upper_within || of_a_path || called || part.find_first_of("_@0123456789") != part.npos)
            found.emplace_back(part);
    }
    return found;
}

std::string mask_words(std::string_view text, const std::vector<std::string>& names, const Salt& salt) {
    std::string out;
    bool own_function = false;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && name_character(text[end])) ++end;
        if (end == i) {
            out += text[i++];
            continue;
        }
        const std::string_view found = text.substr(i, end - i);
        // "12 chars #a1b2c3" stands for a value that is hidden already.
        const bool hidden = text.substr(end).starts_with(" #") && i >= 2 && text[i - 1] == ' ' && digit(text[i - 2]);
        if (!own_function && !hidden && std::ranges::binary_search(names, found)) out += pseudonym(found, salt);
        else out += found;
        i = end;
        // The function of a module of OTP, module:function or 'Elixir.Module':function or Module.function
        std::size_t next = end + (at(text, end) == '\'' ? 1 : 0);
        own_function = (at(text, next) == ':' || at(text, next) == '.') && otp_module(found);
        if (own_function) {
            const char after = at(text, next + 1);
            own_function = letter(after) || after == '_' || after == '\'';
        }
    }
    return out;
}

}  // namespace beamheap::present
