// What keys name a secret. A key is taken apart into words; its last words say what its value is.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "present/redact.hpp"
#include "present/redact_lex.hpp"

namespace beamheap::present {
namespace {

using namespace lex;

constexpr std::array<std::string_view, 33> secret_words{
    "apikey",   "apikeys", "authorization", "bearer",    "bindpw",  "userinfo",  "cookie",    "cookies",  "credential", "credentials", "cvc",
    "cvv",      "dsn",     "iban",          "jwt",       "passcode", "passphrase", "passwd",      "password",
    "passwords", "passwort", "pincode",     "privkey",   "pwd",      "secret",     "secretkey",   "secrets",
    "setcookie", "ssn",        "token",     "tokens",   "pass",       "psk"};
// Words that are secret behind another one: "api_key", "private_key", "session_id", "pin_code", "card_number".
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> secret_pairs{
    {{"access", "key"}, {"account", "key"}, {"api", "key"}, {"auth", "key"}, {"card", "number"}, {"client", "key"},
     {"deploy", "key"}, {"encryption", "key"}, {"license", "key"}, {"master", "key"}, {"pin", "code"}, {"private", "key"},
     {"secret", "key"}, {"security", "code"}, {"session", "id"}, {"session", "key"}, {"shared", "key"}, {"signing", "key"},
     {"ssh", "key"}, {"storage", "key"}}};
// A key that ends in one of these counts or configures: token_count, password_policy, cookie_max_age.
constexpr std::array<std::string_view, 36> harmless_ends{
    "age",    "algorithm", "backend", "bucket", "count",      "counter", "enabled", "expires", "expiry",
    "fun",    "handler",   "len",     "length", "level",      "limit",   "manager", "max",     "method",
    "min",    "mod",       "module",  "name",   "num",        "path",    "pid",     "policy",  "ref",
    "server", "size",      "state",   "sup",    "supervisor", "timeout", "timer",   "ttl",     "type"};

bool secret_pair(std::string_view first, std::string_view second) {
    if (second == "keys") second = "key";
    return std::ranges::find(secret_pairs, std::pair(first, second)) != secret_pairs.end();
}

}  // namespace

bool sensitive_key(std::string_view key) {
    // Cut into words at _ - . @ and at camelCase humps, lower-cased; only the last two matter at a time.
    if (key.size() < 3 || key.size() > 64) return false;
    bool found = false;
    std::string previous;
    std::string current;
    const auto close = [&] {
        if (current.empty()) return;
        found = found || std::ranges::find(secret_words, current) != secret_words.end() || secret_pair(previous, current);
        previous = std::move(current);
        current.clear();
    };
    for (std::size_t i = 0; i < key.size(); ++i) {
        const char c = key[i];
        if (!letter(c) || (upper(c) && i != 0 && lower(key[i - 1]))) close();
        if (letter(c)) current += upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    }
    close();
    return found && std::ranges::find(harmless_ends, previous) == harmless_ends.end();
}

}  // namespace beamheap::present
