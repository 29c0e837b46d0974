// Secrets by form and by key, in one pass over a printed text.
//
// The pass looks at each word once. A word that is a key ("password") is followed by a separator and a value; the value
// is skipped as a whole, so every byte is looked at a bounded number of times.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "present/redact.hpp"
#include "present/redact_lex.hpp"

namespace beamheap::present {
namespace {

using namespace lex;

constexpr std::array<std::string_view, 23> secret_words{
    "apikey", "apikeys",  "authorization", "cookie",  "cookies",  "credential", "credentials", "dsn",
    "jwt",    "passcode", "passphrase",    "passwd",  "password", "passwords",  "passwort",    "privkey",
    "pwd",    "secret",   "secretkey",     "secrets", "token",    "tokens",     "pass"};
// The second word of "api_key", "private_key", "session_id".
constexpr std::array<std::string_view, 9> key_owners{"access", "api",     "encryption", "master", "private",
                                                     "secret", "session", "shared",     "signing"};
// A key that ends in one of these counts or configures: token_count, password_policy, cookie_max_age.
constexpr std::array<std::string_view, 36> harmless_ends{
    "age",    "algorithm", "backend", "bucket", "count",      "counter", "enabled", "expires", "expiry",
    "fun",    "handler",   "len",     "length", "level",      "limit",   "manager", "max",     "method",
    "min",    "mod",       "module",  "name",   "num",        "path",    "pid",     "policy",  "ref",
    "server", "size",      "state",   "sup",    "supervisor", "timeout", "timer",   "ttl",     "type"};
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

// Tokens that are secrets by their prefix; `tail` is how many characters follow at least.
struct TokenForm {
    std::string_view prefix;
    std::size_t tail;
};
constexpr std::array<TokenForm, 17> token_forms{{{"AKIA", 16},
                                                 {"ASIA", 16},
                                                 {"AIza", 35},
                                                 {"ghp_", 30},
                                                 {"gho_", 30},
                                                 {"ghu_", 30},
                                                 {"ghs_", 30},
                                                 {"ghr_", 30},
                                                 {"github_pat_", 30},
                                                 {"glpat-", 16},
                                                 {"xoxb-", 16},
                                                 {"xoxp-", 16},
                                                 {"xoxa-", 16},
                                                 {"sk_live_", 16},
                                                 {"rk_live_", 16},
                                                 {"sk-ant-", 16},
                                                 {"npm_", 30}}};

constexpr bool token_char(char c) { return word(c) || c == '-'; }

class SecretScan {
public:
    explicit SecretScan(std::string_view text) : text_(text) {}

    std::string run() {
        while (i_ < text_.size()) {
            const char c = text_[i_];
            if (letter(c) && (i_ == 0 || !word(text_[i_ - 1])))
                at_word();
            else if (c == '-' && starts(text_, i_, "-----BEGIN "))
                pem_block();
            else if (c == ':' && starts(text_, i_, "://"))
                url_userinfo();
            else
                ++i_;
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
    }
    // The text was cut here ("...", or it just ends), so that a secret may be shorter than its form.
    bool cut_at(std::size_t i) const { return i >= text_.size() || starts(text_, i, "..."); }

    void at_word() {
        std::size_t end = i_;
        while (end < text_.size() && word(text_[end])) ++end;
        if (secret_token()) return;
        // key-with-hyphens, as in HTTP headers
        std::size_t key_end = end;
        while (at(text_, key_end) == '-' && letter(at(text_, key_end + 1))) {
            ++key_end;
            while (key_end < text_.size() && word(text_[key_end])) ++key_end;
        }
        const std::size_t begin = i_;
        i_ = key_end;
        // What follows the name of the cookie's file is why it could not be read (auth.erl), not the cookie.
        if (text_.substr(0, begin).ends_with("/.erlang.")) return;
        if (sensitive_key(text_.substr(begin, key_end - begin))) value_after_key(begin, key_end);
    }

    bool secret_token() {
        const std::string_view rest = text_.substr(i_);
        if (rest.starts_with("eyJ")) return web_token();
        for (const TokenForm& form : token_forms) {
            if (!rest.starts_with(form.prefix)) continue;
            std::size_t end = i_ + form.prefix.size();
            while (end < text_.size() && token_char(text_[end])) ++end;
            const std::size_t tail = end - i_ - form.prefix.size();
            if (tail < form.tail && !(tail >= 4 && cut_at(end))) continue;
            replace(i_, end, "***");
            return true;
        }
        return false;
    }

    // header.payload.signature, each base64url; the first two are JSON objects and begin with eyJ.
    bool web_token() {
        if (i_ < no_web_token_before_) return false;
        std::size_t end = i_;
        while (end < text_.size() && (token_char(text_[end]) || (text_[end] == '.' && token_char(at(text_, end + 1)))))
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
            if (quote != text_.npos) end = quote;
        }
        replace(i_, end, "***");
    }

    // scheme://user:password@host
    void url_userinfo() {
        const std::size_t begin = i_ + 3;
        std::size_t end = begin;
        while (end < text_.size() &&
               std::string_view("/?#\"'<>,{}[]\\ \t\n@").find(text_[end]) == std::string_view::npos)
            ++end;
        i_ = begin;
        // A password may hold an @: the last one before the host's end counts.
        std::size_t at_sign = text_.npos;
        for (std::size_t j = end; at(text_, j) == '@';) {
            at_sign = j++;
            while (j < text_.size() &&
                   std::string_view("/?#\"'<>,{}[]\\ \t\n@").find(text_[j]) == std::string_view::npos)
                ++j;
            end = j;
        }
        if (at_sign != text_.npos && at_sign > begin) replace(begin, at_sign, "***");
        i_ = std::max(i_, end);
    }

    // Where a tuple begins right before the key: {password, {"password", {<<"password">>, {:password,
    bool opens_tuple(std::size_t key) const {
        std::size_t i = key;
        if (i != 0 && (text_[i - 1] == '"' || text_[i - 1] == '\'' || text_[i - 1] == ':')) --i;
        if (i >= 2 && text_[i - 1] == '<' && text_[i - 2] == '<') i -= 2;
        return i != 0 && text_[i - 1] == '{';
    }

    void value_after_key(std::size_t key, std::size_t end) {
        std::size_t i = end;
        bool quoted = false;
        if (at(text_, i) == '\\' && at(text_, i + 1) == '"')
            i += 2, quoted = true;
        else if (at(text_, i) == '"' || at(text_, i) == '\'')
            ++i, quoted = true;
        if (starts(text_, i, ">>")) i += 2;
        i = skip_spaces(text_, i);
        if (starts(text_, i, "=>")) {
            mask_value(i + 2);
        } else if (at(text_, i) == ':' && at(text_, i + 1) != ':' && at(text_, i + 1) != '/') {
            // "password: x" and "password":"x", but not the function password:check/1
            const char next = at(text_, i + 1);
            if (quoted || next == ' ' || next == '"' || next == '\\') mask_value(i + 1);
        } else if (at(text_, i) == '=' && at(text_, i + 1) != '=') {
            mask_value(i + 1);
        } else if (at(text_, i) == ',' && opens_tuple(key)) {
            while (at(text_, i) == ',') {
                mask_value(i + 1);
                i = skip_spaces(text_, i_);
            }
        }
    }

    // Masks the term (or word) at `i`, unless it tells nothing; afterwards i_ stands behind it.
    void mask_value(std::size_t i) {
        i = skip_spaces(text_, i);
        const char c = at(text_, i);
        if (starts(text_, i, "\\\"")) {  // a string inside of a string
            std::size_t end = text_.find("\\\"", i + 2);
            end = end == text_.npos ? text_.size() : end + 2;
            replace(i, end, "\\\"***\\\"");
        } else if (c == '"') {
            const std::size_t end = skip_quoted(text_, i);
            if (end - i > 2)
                replace(i, end, "\"***\"");
            else
                i_ = end;
        } else if (c == '\'') {
            replace(i, skip_quoted(text_, i), "'***'");
        } else if (c == '~' && letter(at(text_, i + 1)) && at(text_, i + 2) == '"') {
            replace(i, skip_quoted(text_, i + 2), "\"***\"");
        } else if (starts(text_, i, "<<")) {
            const std::size_t end = skip_balanced(text_, i);
            if (end - i > 4)
                replace(i, end, "<<\"***\">>");
            else
                i_ = end;
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
        if (end - open > 2)
            replace(i, end, "'***'");
        else
            i_ = end;
    }

    // An atom, a number, or a word of free text (token=abc, Authorization: Bearer abc).
    void word_value(std::size_t i) {
        std::size_t end = word_end(i);
        std::string_view value = text_.substr(i, end - i);
        const bool scheme = among(auth_schemes, value) && at(text_, end) == ' ';
        if (scheme) {
            i = end + 1;
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
    std::string out_;
    std::size_t i_ = 0;
    std::size_t kept_ = 0;
    std::size_t next_end_ = std::string_view::npos;
    bool no_more_ends_ = false;
    std::size_t no_web_token_before_ = 0;
};

}  // namespace

bool sensitive_key(std::string_view key) {
    // Cut into words at _ - . @ and at camelCase humps, lower-cased; only the last two matter at a time.
    if (key.size() < 3 || key.size() > 64) return false;
    bool found = false;
    std::string previous;
    std::string current;
    const auto close = [&] {
        if (current.empty()) return;
        found = found || among(secret_words, current) ||
                ((current == "key" || current == "keys" || current == "id") && among(key_owners, previous) &&
                 (current != "id" || previous == "session"));
        previous = std::move(current);
        current.clear();
    };
    for (std::size_t i = 0; i < key.size(); ++i) {
        const char c = key[i];
        if (!letter(c) || (upper(c) && i != 0 && lower(key[i - 1]))) close();
        if (letter(c)) current += upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    }
    close();
    return found && !among(harmless_ends, previous);
}

std::string mask_secrets(std::string_view text) { return SecretScan(text).run(); }

}  // namespace beamheap::present
