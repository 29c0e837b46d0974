// SPDX-License-Identifier: Apache-2.0
// Secrets by form and by key, in one pass over a printed text.
//
// The pass looks at each word once. A word that is a key ("password") is followed by a separator and a value; the value
// is skipped as a whole, so every byte is looked at a bounded number of times. The separator is a term's (=>, :, the
// comma of a tuple), a text's ("password=x", "password is x"), or an option's ("-setcookie x"), and any of these may
// end its literal, so that the value is the next element: ["password=", <<"x">>]. Bytes that are printed as numbers are
// read as the text that they are; as that is at most half as long, so are the texts inside of it.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "present/secrets/redact.hpp"
#include "present/secrets/redact_iolists.hpp"
#include "present/secrets/redact_lex.hpp"
#include "present/secrets/secret_bytes.hpp"
#include "present/secrets/secret_files.hpp"
#include "present/secrets/secret_forms.hpp"
#include "present/secrets/secret_neighbours.hpp"
#include "present/secrets/secret_places.hpp"

namespace beamheap::present {
namespace {

using namespace lex;

// Values that tell nothing.
constexpr std::array<std::string_view, 13> empty_values{"undefined", "nil",      "null", "none",  "true",
                                                        "false",     "infinity", "ok",   "error", "default",
                                                        "disabled",  "not_set",  "no"};
constexpr std::array<std::string_view, 7> auth_schemes{"Bearer", "Basic", "Digest", "Token",
                                                       "bearer", "basic", "token"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
}

constexpr bool token_char(char c) { return word(c) || c == '-'; }

// Both passes, over a text and over what was unpacked of it.
std::string both_passes(std::string_view text, const std::vector<std::string>& known, Unpacking& unpacking);

class SecretScan {
public:
    SecretScan(std::string_view text, const std::vector<std::string>& known, Unpacking& unpacking)
        : text_(text), known_(known), unpacking_(unpacking) {}

    /// What was replaced, once run() has ended.
    std::vector<TextSpan> take_spans() { return std::move(spans_); }

    std::string run() {
        if (const TextSpan secret = secret_argument(text_); secret.begin != secret.end)
            replace(secret.begin, secret.end, "***");
        while (i_ < text_.size()) {
            if (i_ >= argument_) {
                take_argument();
                continue;
            }
            const char c = text_[i_];
            const char last = i_ == 0 ? ' ' : text_[i_ - 1];
            if ((last == '\\' && std::string_view("nrtesbfv").find(c) != std::string_view::npos) ||
                (last == '~' && c == 'n')) {
                ++i_;  // the end of an escape, or of a format's: "\npassword=x" has the key "password"
                if (letter(at(text_, i_))) at_word();
            } else if (c == '%' && hex_digit(at(text_, i_ + 1)) && hex_digit(at(text_, i_ + 2))) {
                i_ += 3;  // of an address: "%22password" has the key "password"
                if (letter(at(text_, i_))) at_word();
            } else if ((letter(c) || foreign(c) || (c == '_' && letter(at(text_, i_ + 1)))) && !word(last)) at_word();
            else if (digit(c) && !word(last) && std::string_view(".#<-+").find(last) == std::string_view::npos)
                at_number();
            else if ((c == '[' && digit(at(text_, i_ + 1))) || (starts(text_, i_, "<<") && digit(at(text_, i_ + 2))))
                at_numbers();
            else if (c == '-' && starts(text_, i_, "-----BEGIN ")) pem_block();
            else if (c == '-' && letter(at(text_, i_ + 1 + (at(text_, i_ + 1) == '-' ? 1 : 0)))) at_option();
            else if (c == '/' && (last == ' ' || last == '"')) at_option();
            else if (c == '$' || (c == '{' && upper(at(text_, i_ + 1)))) at_dollar();
            else if (c == '.' && starts(text_, i_, "...")) at_unknown();
            else if (c == '@') at_sign();
            else if (c == ':' && starts(text_, i_, "://")) url_userinfo();
            else ++i_;
        }
        keep_until(text_.size());
        return std::move(out_);
    }

private:
    void keep_until(std::size_t end) {
        out_.append(text_, kept_, end - kept_);
        kept_ = end;
    }
    // What stands in [begin, end) is replaced.
    void replace(std::size_t begin, std::size_t end, std::string_view by) {
        keep_until(begin);
        out_ += by;
        kept_ = i_ = end;
        spans_.push_back({begin, end});
    }
    // The text was cut here ("...", or it just ends), so that a secret may be shorter than its form.
    bool cut_at(std::size_t i) const { return i >= text_.size() || starts(text_, i, "..."); }

    void at_option() {
        const TextSpan secret = secret_of_option(text_, i_);
        secret.begin != secret.end ? replace(secret.begin, secret.end, "***") : void(++i_);
    }
    // What could not be read of a term: it may be the key of what stands beside it.
    void at_unknown() {
        const char last = before(i_);
        i_ += 3;
        const std::size_t next = skip_spaces(text_, i_);
        const std::size_t value = starts(text_, next, "=>") ? skip_spaces(text_, next + 2) : i_;
        if (value != i_ && (at(text_, value) == '"' || starts(text_, value, "<<"))) mask_value(value);
        else if (at(text_, next) == ',' && (last == '{' || last == ',')) mask_elements(next, true);
    }
    void at_sign() {
        const TextSpan secret = secret_of_source(text_, i_);
        const bool there = secret.begin != secret.end && secret.begin >= kept_;
        there ? replace(secret.begin, secret.end, "***") : void(++i_);
    }
    // Arguments of formats whose secrets are to come: "token: ~s",["x"].
    void wait_for_argument(std::size_t i) {
        if (i >= text_.size() || std::ranges::find(arguments_, i) != arguments_.end()) return;
        arguments_.insert(std::ranges::upper_bound(arguments_, i), i);
        argument_ = arguments_.front();
    }
    void take_argument() {
        const std::size_t argument = arguments_.front();
        arguments_.erase(arguments_.begin());
        argument_ = arguments_.empty() ? text_.npos : arguments_.front();
        if (argument == i_) mask_value(argument);
    }
    void at_dollar() {
        const std::size_t end = end_of_password_hash(text_, i_);
        end != i_ ? replace(i_, end, "***") : void(++i_);
    }

    void at_word() {
        std::size_t end = i_;
        while (end < text_.size() && word(text_[end])) ++end;
        if (secret_token()) return;
        if (end - i_ >= least_packed && packed_word()) return;
        for (const auto find : {&secret_of_line, &secret_of_setting, &secret_of_command})
            if (const TextSpan found = find(text_, i_, end); found.begin != found.end)
                return replace(found.begin, found.end, "***");
        if (text_.substr(i_, end - i_) == "VALUES" || text_.substr(i_, end - i_) == "values")
            for (const std::size_t value : secret_columns(text_, i_, end)) wait_for_argument(value);
        const std::size_t begin = i_;
        if (scheme(text_.substr(begin, end - begin), end)) return;
        // key-with-hyphens, as in HTTP headers; what is no letter of ASCII is one of a word, too
        std::size_t key_end = end;
        while (key_end < text_.size() && (foreign(text_[key_end]) || (key_end != end && word(text_[key_end]))))
            ++key_end;
        while (at(text_, key_end) == '-' && letter(at(text_, key_end + 1)) &&
               end_of_token(text_, key_end + 1) == key_end + 1) {
            ++key_end;
            while (key_end < text_.size() && word(text_[key_end])) ++key_end;
        }
        i_ = key_end;
        // What follows the name of the cookie's file is why it could not be read (auth.erl), not the cookie.
        if (text_.substr(0, begin).ends_with("/.erlang.")) return;
        const std::string_view key = text_.substr(begin, key_end - begin);
        // The signature of an address that may be opened by whoever has it (Azure's sig, Amazon's X-Amz-Signature).
        const bool signature = begin != 0 && (text_[begin - 1] == '?' || text_[begin - 1] == '&') &&
                               (key == "sig" || key.ends_with("Signature") || key.ends_with("signature"));
        const Secrecy secrecy = signature ? Secrecy::always : secrecy_beside(text_, begin, key_end);
        if (secrecy != Secrecy::none) {
            code_ = secrecy == Secrecy::by_value;
            value_after_key(begin, key_end);
            code_ = false;
            return;
        }
        const std::size_t behind = key_end + (at(text_, key_end) == '\'' || at(text_, key_end) == '"' ? 1 : 0);
        if (at(text_, behind) != ',' || char_before(literal_begin(text_, begin)) != '{') return;
        if (const std::size_t list = arguments_of_crypto(text_, begin, key_end); list != 0) return bracket_value(list);
        if (secret_record(key)) mask_elements(behind);
        else if (const unsigned element = secret_element(key); element != 0) element_of_record(behind, element);
        else if (names_credentials(key)) credentials(begin, key_end);
    }

    // The text or bytes that are this element of a tuple, whose first comma is at `comma`.
    void element_of_record(std::size_t comma, unsigned element) {
        constexpr std::size_t far = 4096;
        const std::string_view near = text_.substr(0, std::min(text_.size(), comma + far));
        std::size_t i = skip_spaces(near, comma + 1);
        for (; element > 1; --element) {
            i = skip_element(near, i);
            if (at(near, i) != ',') return;
            i = skip_spaces(near, i + 1);
        }
        const char c = at(text_, i);
        if (c == '"' || c == '[' || starts(text_, i, "<<") || behind_sigil(i) != i) mask_value(i);
    }

    static constexpr std::size_t least_packed = 12;
    // A word of base64 or hexadecimal digits that stands for what has a secret in it.
    bool packed_word() {
        if (i_ != 0 && std::string_view("/+=-.").find(text_[i_ - 1]) != text_.npos) return false;
        const std::size_t end = end_of_base64(text_, i_);
        const std::string_view packed = text_.substr(i_, end - i_);
        const bool plain = packed[0] == 'A' && is_credentials(packed);  // begins with a NUL: SASL PLAIN
        if (!plain && !secret_when_unpacked(unpacked_base64(packed, unpacking_)) &&
            !secret_when_unpacked(unpacked_hex(packed)))
            return false;
        replace(i_, end, "***");
        return true;
    }
    bool secret_when_unpacked(const std::string& text) {
        if (text.empty() || unpacking_.depth == Unpacking::deepest) return false;
        ++unpacking_.depth;
        const bool secret = both_passes(mask_known(text, known_), known_, unpacking_) != text || is_private_key(text);
        --unpacking_.depth;
        return secret;
    }

    // Behind the ~c of ~c"...". Behind the ~s that ends a format no text begins.
    std::size_t behind_sigil(std::size_t i) const {
        const bool sigil = at(text_, i) == '~' && letter(at(text_, i + 1)) && at(text_, i + 2) == '"';
        const bool text = i + 3 < text_.size() && std::string_view(",}])>").find(text_[i + 3]) == text_.npos;
        return sigil && text ? i + 2 : i;
    }

    // {basic,"name","x"}, {proxy_auth,{"name","x"}}, {:basic, "name:x"}: who asks, and with what.
    void credentials(std::size_t key, std::size_t end) {
        if (char_before(literal_begin(text_, key)) != '{') return;
        if (at(text_, end) == '\'' || at(text_, end) == '"') ++end;
        if (at(text_, end) != ',') return;
        constexpr std::size_t far = 256;
        const std::size_t first = skip_spaces(text_, end + 1);
        const std::string_view near = text_.substr(0, std::min(text_.size(), first + far));
        const std::size_t opening = behind_sigil(first);
        const char c = at(text_, opening);
        if (c != '"' && c != '{' && !starts(text_, first, "<<")) return;
        const std::size_t behind =
            skip_spaces(text_, c == '"' ? skip_quoted(near, opening) : skip_balanced(near, first));
        const char next = at(text_, skip_spaces(text_, behind + 1));
        if (text_.substr(key, 5) ==
            "scram")  // what is kept of a password: {scram,<<stored key>>,<<server key>>,<<salt>>,4096}
            key + 5 == end ? mask_elements(end) : mask_value(behind + 1);
        else if (at(text_, behind) == ',' && c != '{' && (next == '"' || next == '<' || next == '~'))
            mask_value(behind + 1);
        else if (at(text_, behind) == '}' && (c == '{' || holds_credentials(text_.substr(first, behind - first))))
            mask_value(first);
    }

    void at_number() {
        if (const std::size_t end = end_of_number_token(text_, i_); end != i_) return replace(i_, end, "'***'");
        if (const std::size_t end = end_of_marked_token(text_, i_); end != i_) return replace(i_, end, "***");
        std::size_t end = i_;
        while (end < text_.size() && word(text_[end])) ++end;
        if (end - i_ < least_packed || !packed_word()) i_ = end;
    }

    void at_numbers() {
        NumberList list = number_list(text_, i_);
        if (const std::size_t behind = behind_public_numbers(text_, i_); behind != 0) return mask_elements(behind);
        if (list.end == 0 || list.text.size() < 4) {
            ++i_;
            return;
        }
        const bool secret = is_plain_message(list.text) || secret_on_the_wire(list.text) ||
                            secret_when_unpacked(list.text) || secret_when_unpacked(packed_text(list.text, unpacking_));
        if (secret) replace(i_, list.end, text_[i_] == '[' ? "\"***\"" : "<<\"***\">>");
        else i_ = list.end;
    }

    bool secret_token() {
        if (starts(text_, i_, "eyJ")) return web_token();
        if (starts(text_, i_, "bot") && digit(at(text_, i_ + 3))) {  // of an address
            const std::size_t number = end_of_number_token(text_, i_ + 3);
            if (number != i_ + 3) replace(i_ + 3, number, "***");
            return number != i_ + 3;
        }
        const std::size_t end = end_of_token(text_, i_);
        if (end == i_) return false;
        replace(i_, end, "***");
        return true;
    }

    // "Bearer x" and "Basic x" where no key stands in front, "PLAIN x" of SMTP, IMAP and XMPP. `end` is behind the
    // scheme.
    bool scheme(std::string_view name, std::size_t end) {
        const bool bearer = name == "Bearer" || name == "bearer" || name == "BEARER";
        if (bearer && starts(text_, end, ", ")) ++end;  // of a list of protocols
        const bool basic = name == "Basic" || name == "basic" || name == "PLAIN" || name == "LOGIN";
        if ((!bearer && !basic) || at(text_, end) != ' ') return false;
        if (bearer && literal_ends(text_, end + 1)) {
            mask_value(end + 1);
            return true;
        }
        const std::size_t stop = word_end(end + 1);
        const std::string_view value = text_.substr(end + 1, stop - end - 1);
        const bool after_mask =
            out_.ends_with("***") && text_.substr(kept_, i_ - kept_).find_first_not_of(" ,;") == text_.npos;
        if (basic ? !is_credentials(value) : !(looks_secret(value) || after_mask || value.size() >= 20)) return false;
        replace(end + 1, stop, "***");
        return true;
    }

    // header.payload.signature, each base64url; the first two are JSON objects and begin with eyJ.
    bool web_token() {
        if (i_ < no_web_token_before_) return false;
        std::size_t end = i_;
        while (end < text_.size() &&
               (token_char(text_[end]) ||
                (text_[end] == '.' && token_char(at(text_, end + (at(text_, end + 1) == '.' ? 2 : 1))))))
            ++end;
        const std::string_view token = text_.substr(i_, end - i_);
        if (token.size() < 16 || (token.find('.') == token.npos && !cut_at(end))) {
            no_web_token_before_ = end;
            return false;
        }
        replace(i_, end, "***");
        return true;
    }

    // From -----BEGIN to the end of -----END ...-----; without an END to the end of the literal or text.
    void pem_block() {
        if (next_end_ == text_.npos || next_end_ < i_)
            next_end_ = no_more_ends_ ? text_.npos : text_.find("-----END", i_);
        std::size_t end = text_.size();
        if (next_end_ != text_.npos) {
            const std::size_t dashes = text_.find("-----", next_end_ + 8);
            end = dashes == text_.npos ? text_.size() : dashes + 5;
        } else {
            no_more_ends_ = true;
            const std::size_t quote = text_.find('"', i_);
            if (quote != text_.npos) end = end_of_base64_lines(text_, quote);
        }
        replace(i_, end, "***");
    }

    // scheme://user:password@host
    void url_userinfo() {
        std::size_t end = i_ += 3;
        const TextSpan secret = secret_of_url(text_, i_, end);
        if (secret.begin != secret.end) replace(secret.begin, secret.end, "***");
        i_ = std::max(i_, end);
    }

    char char_before(std::size_t i) const { return i == 0 ? '\0' : text_[i - 1]; }
    // The first thing before `i` that is no blank.
    char before(std::size_t i) const {
        while (i != 0 && (text_[i - 1] == ' ' || text_[i - 1] == '\n')) --i;
        return char_before(i);
    }
    void value_after_key(std::size_t key, std::size_t end) {
        if (const TextSpan value = code_ ? TextSpan{} : value_of_file(text_, key, end); value.begin != value.end)
            return replace(value.begin, value.end, "***");
        std::size_t i = end;
        bool quoted = false;
        if (at(text_, i) == '\\' && at(text_, i + 1) == '"') i += 2, quoted = true;
        else if (at(text_, i) == '"' || at(text_, i) == '\'') ++i, quoted = true;
        if (quoted && starts(text_, i, "/utf8>>")) i += 5;
        if (starts(text_, i, ">>")) i += 2;
        const std::size_t blanks = i;
        i = skip_spaces(text_, i);
        // -setcookie x and --password x, and each an element of its own
        std::size_t dashes = key;
        while (dashes != 0 && key - dashes < 2 && text_[dashes - 1] == '-') --dashes;
        const bool option = dashes != key && !word(char_before(dashes));
        if (starts(text_, i, "=>")) {
            mask_value(i + 2);
        } else if (const std::size_t path = behind_path(text_, key, i); path != 0) {
            mask_value(path);
        } else if (const std::size_t list = arguments_of_call(text_, literal_begin(text_, key), i); list != 0) {
            bracket_value(list);
        } else if (at(text_, i) == ':' && at(text_, i + 1) != ':' && at(text_, i + 1) != '/') {
            // "password: x" and "password":"x", but not the function password:check/1
            const char next = at(text_, i + 1);
            if (!quoted && next == ' ' && secret_to_end_of_line(text_.substr(key, end - key))) mask_line(i + 2);
            else if (quoted || next == ' ' || next == '"' || next == '\\' || line_of_protocol(text_, key, i))
                mask_value(i + 1);
        } else if (i + 4 < text_.size() && text_.substr(i, 3) == std::string_view("\0\0\0", 3)) {
            mask_value(i + 4);  // a table of AMQP: the length of a text, and the text
        } else if (const TextSpan element = secret_of_xml(text_, key, i); element.begin != element.end) {
            replace(element.begin, element.end, "***");
        } else if (starts(text_, i, "%3D") || starts(text_, i, "%3A")) {  // = and : of an address within an address
            const std::size_t stop = word_end(i + 3);
            const std::size_t next = text_.substr(0, stop).find("%26", i);
            replace(i + 3, std::min(stop, next), "***");
        } else if (std::size_t value = i;
                   quoted && (starts(text_, value, "value=") || starts(text_, ++value, "value="))) {
            mask_value(value + 6);  // <add key="Password" value="x"/>
        } else if (at(text_, i) == '=' && at(text_, i + 1) != '=') {
            mask_value(i + 1);
        } else if (at(text_, i) == ',') {
            after_comma(key, i, quoted, option);
        } else if (at(text_, i) == '|' && char_before(literal_begin(text_, key)) == '[') {
            mask_value(i + 1);  // [password|<<"x">>]
        } else if (at(text_, i) == '{' && quoted && key >= 2 && text_[key - 2] == '#') {
            bracket_value(i);  // #'RSAPrivateKey'{...}
        } else if (option && i != blanks && at(text_, i) != '-') {
            mask_value(i);
        } else if (!quoted && i == blanks + 1) {
            spoken(i, lower(text_[key]) ? text_.substr(key, 4) == "pass" : text_.substr(key, 4) == "PASS");
        }
    }

    // The value of a header in a text: Cookie: a=1; sid=x. What begins like a term is one.
    void mask_line(std::size_t i) {
        std::size_t first = i;
        while (word(at(text_, first))) ++first;
        const std::string_view scheme = text_.substr(i, first - i);
        const bool alone =
            std::string_view(" =;-+/%!.@$").find(at(text_, first)) == std::string_view::npos || first >= text_.size();
        const bool term =
            alone || first == i || among(empty_values, scheme) || (digit(text_[i]) && at(text_, first) != '=');
        if (term || literal_ends(text_, first) || (at(text_, first) == ' ' && literal_ends(text_, first + 1)))
            return mask_value(i);
        std::size_t end = first;
        while (end < text_.size() && std::string_view("\n\"'}]").find(text_[end]) == text_.npos &&
               !starts(text_, end, "...")) {
            if (text_[end] == '\\') {
                if (at(text_, end + 1) != '"') break;
                ++end;
            }
            ++end;
        }
        const bool told = among(auth_schemes, scheme) && at(text_, first) == ' ';
        replace(told ? first + 1 : i, std::min(end, text_.size()), "***");
    }

    // The key is an element. It says what the next ones are where it is the first of its tuple, or of the first
    // element's tuple; where it is an option of a command line; where a separator is the next element; and in the midst
    // of a tuple
    // ({http_header,7,'Authorization',undefined,"x"}) where strings follow.
    void after_comma(std::size_t key, std::size_t i, bool quoted, bool option) {
        const std::size_t begin = literal_begin(text_, key);
        if (option) {
            mask_value(i + 1);
        } else if (char_before(begin) == '{') {
            mask_elements(i);
            if (at(text_, i_) == '}' && begin >= 2 && text_[begin - 2] == '{')
                mask_elements(skip_spaces(text_, i_ + 1));
        } else if (quoted && behind_separator(text_, i + 1) != 0) {
            std::size_t value = behind_separator(text_, i + 1);
            if (const std::size_t blank = skip_spaces(text_, value); starts(text_, blank, "\" \",")) value = blank + 4;
            mask_value(value);
        } else if (before(begin) == ',' || before(begin) == '[') {
            if (!next_of_list(key, i, quoted)) midst_of_tuple(i);
        }
    }
    // [user,"bob",password,"x"]: names and values in turn. Names that are texts are more often a list of names.
    bool next_of_list(std::size_t key, std::size_t comma, bool quoted) {
        const std::size_t value = skip_spaces(text_, comma + 1);
        const std::size_t opening = behind_sigil(value);
        const bool bytes = starts(text_, value, "<<"), text = at(text_, opening) == '"';
        const bool atom = !quoted || text_[key - 1] == '\'' || text_[literal_begin(text_, key)] == ':';
        constexpr std::size_t far = 512;
        const std::string_view near = text_.substr(0, std::min(text_.size(), value + far));
        std::size_t end = skip_element(near, value);
        const bool number = code_ && digit(at(text_, value));
        if (!(bytes || text || number) || (at(near, end) != ']' && at(near, end) != ',')) return false;
        // What it is that these are elements of.
        while (at(near, end) == ',') end = skip_element(near, skip_spaces(near, end + 1));
        if (at(near, end) != ']') return false;
        const std::size_t from = bytes && at(text_, value + 2) == '"' ? value + 3 : opening + 1;
        const std::string_view content = text_.substr(from, word_end(from) - from);
        const std::size_t begin = literal_begin(text_, key);
        const char last =
            before(before(begin) == ',' ? text_.rfind(',', begin) : begin);  // of what comes before the key
        const bool turn = last == '[' || last == '"' || last == '>';
        if (content.ends_with('=') || content.ends_with(':') || (!(atom && turn) && !looks_secret(content)))
            return false;
        mask_value(value);
        return true;
    }
    // All elements that follow the comma at `i`, if one stands there; or the texts among them.
    void mask_elements(std::size_t i, bool texts = false) {
        while (at(text_, i) == ',') {
            const std::size_t next = skip_spaces(text_, i + 1);
            const bool is_text = at(text_, next) == '"' || behind_sigil(next) != next || starts(text_, next, "<<");
            if (texts && !is_text) i_ = std::max(i_, skip_element(text_, next));
            else mask_value(next);
            i = skip_spaces(text_, i_);
        }
        i_ = std::max(i_, std::min(i, text_.size()));
    }
    void midst_of_tuple(std::size_t comma) {
        constexpr std::size_t most_elements = 4, far = 512;  // so far is looked; what is longer is believed
        const std::string_view near = text_.substr(0, std::min(text_.size(), comma + far));
        std::array<std::size_t, most_elements> literals{};
        std::size_t count = 0, i = comma;
        for (std::size_t element = 0; element < most_elements && at(text_, i) == ','; ++element) {
            i = skip_spaces(text_, i + 1);
            const char c = at(text_, i);
            const std::size_t opening = behind_sigil(i);
            if (c == '"' || opening != i || starts(text_, i, "<<") || wrapped_value(text_, i)) literals[count++] = i;
            if (opening >= near.size()) break;
            if (c == '"' || c == '\'' || opening != i) i = skip_quoted(near, opening);
            else if (c == '[' || c == '{' || c == '(' || starts(text_, i, "<<")) i = skip_balanced(near, i);
            else
                while (i < near.size() && std::string_view(",}])").find(near[i]) == std::string_view::npos) ++i;
            i = skip_spaces(text_, i);
        }
        if (at(text_, i) != '}' && i < near.size()) return;
        for (std::size_t n = 0; n < count; ++n) mask_value(literals[n]);
    }

    // Free text: "password for bob is hunter2", "with password hunter2". What people write with such words is more
    // often no secret ("password check failed"), so that the word itself must look like one, or be told as one by "is".
    void spoken(std::size_t i, bool password) {
        constexpr std::size_t most_words = 4;
        bool is = false;
        for (std::size_t n = 0; n < most_words; ++n) {
            std::size_t end = word_end(i);
            std::string_view value = text_.substr(i, end - i);
            while (!value.empty() && std::string_view(".!?:").find(value.back()) != std::string_view::npos &&
                   value.size() > 1)
                value.remove_suffix(1), --end;
            const bool quote =
                value.empty() && (at(text_, i) == '"' || at(text_, i) == '\'' || starts(text_, i, "\\\""));
            if (quote) {
                // PASSWORD 'x' of SQL; a text that was printed by ~p in Elixir's syntax
                const std::size_t from = i + (at(text_, i) == '\\' ? 2 : 1);
                const bool secret = n == 0 && looks_secret(text_.substr(from, word_end(from) - from));
                if (is || secret || (password && n == 0 && at(text_, i) == '\'')) mask_value(i);
                return;
            }
            if (value.empty()) return;
            if (starts(value, 0, "<<") && at(text_, end) == '"') {  // a text that was printed by ~p
                const std::size_t from = end + 1;
                if (looks_secret(text_.substr(from, word_end(from) - from))) mask_value(i);
                return;
            }
            const bool one_word = value.find_first_of("/:<(#%~") == value.npos;
            const bool digits = value.size() >= 4 && std::ranges::all_of(value, digit);
            if (one_word && (looks_secret(value) || (is && digits))) return replace(i, end, "***");
            if (format_of_value(text_, i) && (n == 0 || is)) {
                wait_for_argument(format_argument(text_, i));
                i_ = std::max(i_, end);
                return;
            }
            const bool filler = value == "for" || value == "of" || n == 1;
            is = value == "is" || value == "was" || value == "=" || value == "to";
            if (!filler && !is) return;
            i = end;
            if (at(text_, i) != ' ') return;
            ++i;
        }
    }

    // Masks the term (or word) at `i`, unless it tells nothing; afterwards i_ stands behind it.
    void mask_value(std::size_t i) {
        i = skip_spaces(text_, i);
        const char c = at(text_, i);
        if (inner_list_ends(text_, i)) {
            i_ = i;  // "password=" in [["password="],"x"]: what follows is found where lists are read as texts
        } else if (literal_ends(text_, i)) {
            i_ = i;
            if (const std::size_t next = next_element(text_, i); next < text_.size() && depth_++ == 0) {
                mask_value(next);
                depth_ = 0;
            }
        } else if (c == '$' && digit(at(text_, i + 1))) {  // of a query, whose parameters follow
            wait_for_argument(query_parameter(text_, i));
            i_ = i + 1;
        } else if (format_of_value(text_, i) && behind_sigil(i) == i) {
            wait_for_argument(format_argument(text_, i));
            i_ = i + 1;
        } else if (code_ && !looks_like_code(text_.substr(i))) {
            i_ = i;
        } else if (starts(text_, i, "\\\"")) {  // a string inside of a string
            std::size_t end = text_.find("\\\"", i + 2);
            end = end == text_.npos ? text_.size() : end + 2;
            replace(i, end, "\\\"***\\\"");
        } else if (c == '"' || starts(text_, i, "<<")) {
            literal_value(i);
        } else if (c == ':' && (at(text_, i + 1) == '"' || at(text_, i + 1) == '\'')) {  // an atom of Elixir
            replace(i, skip_quoted(text_, i + 1), "'***'");
        } else if (c == '\'') {
            replace(i, skip_quoted(text_, i), "'***'");
        } else if (behind_sigil(i) != i) {
            replace(i, skip_quoted(text_, i + 2), "\"***\"");
        } else if (c == '#' && letter(at(text_, i + 1))) {
            hash_value(i);
        } else if (c == '<') {  // a pid
            const std::size_t end = text_.find('>', i);
            i_ = end == text_.npos ? text_.size() : end + 1;
        } else if (c == '[' || c == '{' || c == '(' || c == '#' || c == '%') {
            bracket_value(i);
        } else {
            word_value(i);
        }
    }

    // A string or a binary, and behind "Bearer " the next one.
    void literal_value(std::size_t i) {
        const bool binary = text_[i] == '<';
        const std::size_t end = binary ? skip_balanced(text_, i) : skip_quoted(text_, i);
        const std::size_t begin = std::min(i + (binary ? 3 : 1), text_.size());
        const std::size_t next = skip_spaces(text_, end), stop = skip_spaces(text_, word_end(begin));
        const std::string_view only = at(text_, stop) == '"' ? text_.substr(begin, word_end(begin) - begin) : "";
        if (among(auth_schemes, only) && at(text_, next) == ',') return mask_value(next + 1);
        if (end - i > (binary ? 4 : 2)) replace(i, end, binary ? "<<\"***\">>" : "\"***\"");
        else i_ = end;
    }

    // #PID<0.1.2>, #Ref<...>, #Fun<...> stay; #record{...} goes.
    void hash_value(std::size_t i) {
        std::size_t j = i + 1;
        while (j < text_.size() && (word(text_[j]) || text_[j] == '.')) ++j;
        if (at(text_, j) == '<') {
            const std::size_t end = text_.find('>', j);
            i_ = end == text_.npos ? text_.size() : end + 1;
        } else if (at(text_, j) == '{') {
            replace(i, skip_balanced(text_, j), "'***'");
        } else {
            i_ = j;
        }
    }

    void bracket_value(std::size_t i) {
        // %MyApp.Struct{ and #{ and ~( : the bracket is near or this is no term.
        std::size_t open = text_.substr(i, 80).find_first_of("[{(");
        if (open == text_.npos) {
            i_ = i + 1;
            return;
        }
        open += i;
        const std::size_t end = skip_balanced(text_, open);
        if (end - open > 2) replace(i, end, "'***'");
        else i_ = end;
    }

    // An atom, a number, or a word of free text (token=abc, Authorization: Bearer abc).
    void word_value(std::size_t i) {
        if (at(text_, i) == '|' || starts(text_, i, ">\\n") ||
            starts(text_, i, ">-\\n")) {  // a block of YAML begins on the next line
            std::size_t next = i + (at(text_, i + 1) == '-' || at(text_, i + 1) == '+' ? 2 : 1);
            while (at(text_, next) == ' ' || starts(text_, next, "\\n")) next += at(text_, next) == ' ' ? 1 : 2;
            if (next > i + 2) i = next;
        }
        // Some("x") of Rust, b'x' of Python
        if (const std::size_t wrapper = behind_wrapper(text_, i); wrapper != i) return mask_value(wrapper);
        std::size_t end = word_end(i);
        std::string_view value = text_.substr(i, end - i);
        const bool scheme = among(auth_schemes, value) && at(text_, end) == ' ';
        if (scheme) {
            i = end + 1;
            if (literal_ends(text_, i)) return mask_value(i);
            end = word_end(i);
            value = text_.substr(i, end - i);
        }
        if (value.empty() || among(empty_values, value) || value == "fun" || value.starts_with("***")) {
            i_ = std::max(i_, end);
            return;
        }
        const bool atom_or_number = digit(value[0]) || lower(value[0]);
        const bool assigned = i != 0 && text_[i - 1] == '=';
        replace(i, end, atom_or_number && !assigned && !scheme ? "'***'" : "***");
    }
    std::size_t word_end(std::size_t i) const {
        while (i < text_.size() && std::string_view(",;&)}]>\"' \t\n|\\").find(text_[i]) == std::string_view::npos) ++i;
        return i;
    }

    std::string_view text_;
    const std::vector<std::string>& known_;
    Unpacking& unpacking_;
    std::string out_;
    std::vector<TextSpan> spans_;
    std::size_t i_ = 0;
    std::size_t kept_ = 0;
    bool code_ = false;  // the key names what is a secret where it looks like one
    std::vector<std::size_t> arguments_;
    std::size_t argument_ = std::string_view::npos;  // the first of them
    int depth_ = 0;                                  // of literals that ended before the value came
    std::size_t next_end_ = std::string_view::npos;
    bool no_more_ends_ = false;
    std::size_t no_web_token_before_ = 0;
};

}  // namespace

std::vector<TextSpan> secret_spans(std::string_view text, const std::vector<std::string>& known, Unpacking& unpacking) {
    SecretScan scan(text, known, unpacking);
    static_cast<void>(scan.run());
    return scan.take_spans();
}

namespace {

std::string both_passes(std::string_view text, const std::vector<std::string>& known, Unpacking& unpacking) {
    // Elements that are secrets by themselves first: a list of tokens is no text.
    return mask_iolists(SecretScan(text, known, unpacking).run(), known, unpacking);
}

}  // namespace

bool tells_nothing(std::string_view value) { return among(empty_values, value); }

std::string mask_secrets(std::string_view text, const std::vector<std::string>& known) {
    Unpacking unpacking = Unpacking::of(text);
    return both_passes(text, known, unpacking);
}

}  // namespace beamheap::present
