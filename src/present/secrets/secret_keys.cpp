// SPDX-License-Identifier: Apache-2.0
// What keys name a secret. A key is taken apart into words; its last words say what its value is.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "present/secrets/redact.hpp"
#include "present/secrets/redact_lex.hpp"
#include "present/secrets/secret_forms.hpp"

namespace beamheap::present {
namespace {

using namespace lex;

constexpr std::array<std::string_view, 86> secret_words{
    "adgangskode", "apikey",       "apikeys",      "authorization",
    "bearer",      "bindpw",       "clave",        "connectionstring",
    "contrasena",  "cookie",       "cookies",      "cred",
    "credential",  "credentials",  "creds",        "csrf",
    "cvc",         "cvv",          "dbpass",       "dsn",
    "haslo",       "heslo",        "htpasswd",     "iban",
    "jelszo",      "jsessionid",   "jwt",          "kennwort",
    "keypass",     "keystorepass", "ldappass",     "losenord",
    "masterauth",  "mnemonic",     "motdepasse",   "mqpass",
    "parola",      "pass",         "passcode",     "passin",
    "passord",     "passout",      "passphrase",   "passw",
    "passwd",      "password",     "passwords",    "passwort",
    "passwrd",     "pgpassword",   "phpsessid",    "pincode",
    "privkey",     "proxypass",    "psk",          "psswd",
    "psw",         "pswd",         "pw",           "pwd",
    "requirepass", "rootpass",     "salasana",     "secret",
    "secretkey",   "secrets",      "senha",        "sessid",
    "sessionid",   "setcookie",    "sharedsecret", "sid",
    "smtppass",    "sqlpass",      "ssn",          "storepass",
    "token",       "tokens",       "totp",         "truststorepass",
    "unsealkey",   "unsealkeys",   "userinfo",     "userpass",
    "wachtwoord",  "xsrf"};
// Words whose value is a secret where it looks like one: {pin,4711}, hmac => <<...>>; not {mac,hmac,sha256}, {pin,17}.
constexpr std::array<std::string_view, 9> code_words{"community", "csc", "cvn", "hmac", "otp",
                                                     "passkey",   "pin", "puk", "salt"};
// Words that are secret behind another one: "api_key", "private_key", "session_id", "pin_code", "card_number".
constexpr std::array<std::pair<std::string_view, std::string_view>, 125> secret_pairs{{{"access", "code"},
                                                                                       {"access", "key"},
                                                                                       {"account", "key"},
                                                                                       {"account", "number"},
                                                                                       {"activation", "code"},
                                                                                       {"admin", "key"},
                                                                                       {"aes", "key"},
                                                                                       {"algolia", "key"},
                                                                                       {"anthropic", "key"},
                                                                                       {"api", "key"},
                                                                                       {"apns", "key"},
                                                                                       {"app", "key"},
                                                                                       {"application", "key"},
                                                                                       {"auth", "code"},
                                                                                       {"auth", "key"},
                                                                                       {"auth", "string"},
                                                                                       {"authentication", "key"},
                                                                                       {"authenticator", "seed"},
                                                                                       {"azure", "key"},
                                                                                       {"backup", "code"},
                                                                                       {"basic", "auth"},
                                                                                       {"bot", "key"},
                                                                                       {"card", "number"},
                                                                                       {"cipher", "key"},
                                                                                       {"client", "assertion"},
                                                                                       {"client", "key"},
                                                                                       {"code", "verifier"},
                                                                                       {"confirmation", "code"},
                                                                                       {"connection", "string"},
                                                                                       {"crypto", "key"},
                                                                                       {"data", "key"},
                                                                                       {"datadog", "key"},
                                                                                       {"de", "passe"},
                                                                                       {"deploy", "key"},
                                                                                       {"device", "code"},
                                                                                       {"dsa", "key"},
                                                                                       {"ecdsa", "key"},
                                                                                       {"ed", "key"},
                                                                                       {"enc", "key"},
                                                                                       {"encryption", "key"},
                                                                                       {"encryption", "salt"},
                                                                                       {"fcm", "key"},
                                                                                       {"firebase", "key"},
                                                                                       {"functions", "key"},
                                                                                       {"google", "key"},
                                                                                       {"hmac", "key"},
                                                                                       {"host", "key"},
                                                                                       {"hotp", "seed"},
                                                                                       {"http", "auth"},
                                                                                       {"ice", "pwd"},
                                                                                       {"identity", "key"},
                                                                                       {"ingest", "key"},
                                                                                       {"ingestion", "key"},
                                                                                       {"integration", "key"},
                                                                                       {"key", "material"},
                                                                                       {"keying", "material"},
                                                                                       {"license", "key"},
                                                                                       {"login", "code"},
                                                                                       {"mac", "key"},
                                                                                       {"magic", "link"},
                                                                                       {"mailgun", "key"},
                                                                                       {"mandrill", "key"},
                                                                                       {"maps", "key"},
                                                                                       {"master", "key"},
                                                                                       {"mfa", "code"},
                                                                                       {"mfa", "seed"},
                                                                                       {"mnemonic", "phrase"},
                                                                                       {"openai", "key"},
                                                                                       {"otp", "code"},
                                                                                       {"otp", "seed"},
                                                                                       {"passport", "number"},
                                                                                       {"personal", "key"},
                                                                                       {"pin", "code"},
                                                                                       {"postmark", "key"},
                                                                                       {"preshared", "key"},
                                                                                       {"private", "exponent"},
                                                                                       {"private", "key"},
                                                                                       {"proxy", "auth"},
                                                                                       {"rapidapi", "key"},
                                                                                       {"recovery", "code"},
                                                                                       {"recovery", "phrase"},
                                                                                       {"recovery", "words"},
                                                                                       {"reset", "code"},
                                                                                       {"reset", "link"},
                                                                                       {"root", "key"},
                                                                                       {"rsa", "key"},
                                                                                       {"saml", "assertion"},
                                                                                       {"saml", "response"},
                                                                                       {"sas", "key"},
                                                                                       {"sas", "url"},
                                                                                       {"secret", "key"},
                                                                                       {"secret", "phrase"},
                                                                                       {"security", "answer"},
                                                                                       {"security", "code"},
                                                                                       {"security", "parameters"},
                                                                                       {"seed", "phrase"},
                                                                                       {"seed", "words"},
                                                                                       {"sendgrid", "key"},
                                                                                       {"sentry", "key"},
                                                                                       {"server", "key"},
                                                                                       {"service", "key"},
                                                                                       {"session", "id"},
                                                                                       {"session", "key"},
                                                                                       {"session", "ticket"},
                                                                                       {"shared", "key"},
                                                                                       {"signing", "key"},
                                                                                       {"signing", "salt"},
                                                                                       {"sms", "code"},
                                                                                       {"ssh", "key"},
                                                                                       {"storage", "key"},
                                                                                       {"stored", "key"},
                                                                                       {"stripe", "key"},
                                                                                       {"subscription", "key"},
                                                                                       {"symmetric", "key"},
                                                                                       {"tls", "key"},
                                                                                       {"totp", "seed"},
                                                                                       {"twilio", "key"},
                                                                                       {"unlock", "code"},
                                                                                       {"unseal", "key"},
                                                                                       {"verification", "code"},
                                                                                       {"wallet", "seed"},
                                                                                       {"webhook", "key"},
                                                                                       {"webhook", "url"},
                                                                                       {"wrapping", "key"},
                                                                                       {"write", "key"}}};
// A key that ends in one of these counts or configures: token_count, password_policy, cookie_max_age.
constexpr std::array<std::string_view, 37> harmless_ends{
    "age",     "algorithm",  "backend", "bucket", "count", "counter", "enabled", "expires", "expiry", "fun",
    "handler", "len",        "length",  "level",  "limit", "manager", "max",     "method",  "min",    "mod",
    "module",  "name",       "num",     "path",   "pid",   "policy",  "ref",     "server",  "size",   "state",
    "sup",     "supervisor", "timeout", "timer",  "ttl",   "type",    "worker"};

// Words that others are written onto: "dbpassword", "clientsecret", "PGPASSWORD".
constexpr std::array<std::string_view, 17> secret_ends{
    "accesskey",  "accountkey", "apikey",     "authkey", "encryptionkey", "masterkey",  "passphrase",
    "passwd",     "password",   "privatekey", "secret",  "secretkey",     "sessionkey", "sharedkey",
    "signingkey", "token",      "pwd"};

// Every word of every text that is printed is looked for here.
static_assert(std::ranges::is_sorted(code_words) && std::ranges::is_sorted(secret_words) &&
              std::ranges::is_sorted(secret_pairs) && std::ranges::is_sorted(harmless_ends));

bool secret_word(std::string_view word) {
    constexpr std::size_t shortest_end = 5;  // no word that people know ends so
    return std::ranges::binary_search(secret_words, word) ||
           (word.size() >= shortest_end &&
            std::ranges::any_of(secret_ends, [&](std::string_view end) { return word.ends_with(end); }));
}

// Words for passwords and secrets in other letters than those of ASCII, as UTF-8: Russian, Ukrainian, Bulgarian, Greek,
// Chinese, Japanese, Korean, Spanish, Polish, Swedish, Portuguese, Turkish, Slovak, Hungarian.
constexpr std::array<std::string_view, 25> foreign_words{
    "пароль",     "Пароль",  "ПАРОЛЬ", "парола",   "Парола",   "лозинка", "секрет",     "Секрет",   "токен",
    "Токен",      "κωδικός", "密码",   "密碼",     "口令",     "密钥",    "パスワード", "비밀번호", "contraseña",
    "Contraseña", "hasło",   "Hasło",  "lösenord", "Lösenord", "şifre",   "jelszó"};

bool secret_pair(std::string_view first, std::string_view second) {
    if (second == "keys" || second == "codes") second.remove_suffix(1);
    return std::ranges::binary_search(secret_pairs, std::pair(first, second));
}

}  // namespace

Secrecy secrecy_of(std::string_view key) {
    constexpr std::size_t shortest_foreign = 6;
    if (key.size() >= shortest_foreign && std::ranges::any_of(key, [](char c) { return (c & 0x80) != 0; }) &&
        std::ranges::any_of(foreign_words, [&](std::string_view word) { return key.find(word) != key.npos; }))
        return key.size() <= 64 ? Secrecy::always : Secrecy::none;
    // Cut into words at _ - . @ and at humps (camelCase, RSAPrivateKey), lower-cased; only the last two matter at a
    // time.
    if (key.size() < 2 || key.size() > 64) return Secrecy::none;
    bool found = false;
    std::string previous;
    std::string current;
    const auto close = [&] {
        if (current.empty()) return;
        found = found || secret_word(current) || secret_pair(previous, current);
        previous = std::move(current);
        current.clear();
    };
    for (std::size_t i = 0; i < key.size(); ++i) {
        const char c = key[i];
        const bool hump = upper(c) && i != 0 && (lower(key[i - 1]) || (upper(key[i - 1]) && lower(at(key, i + 1))));
        if (!letter(c) || hump) close();
        if (letter(c)) current += upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    }
    close();
    if (found)
        return std::ranges::binary_search(harmless_ends, std::string_view(previous)) ? Secrecy::none : Secrecy::always;
    return std::ranges::binary_search(code_words, std::string_view(previous)) ? Secrecy::by_value : Secrecy::none;
}

bool sensitive_key(std::string_view key) { return secrecy_of(key) == Secrecy::always; }

bool looks_like_code(std::string_view value) {
    constexpr std::size_t shortest = 4, longest_number = 10, long_text = 16, far = 256;
    if (starts(value, 0, "<<") && digit(at(value, 2))) return number_list(value, 0).text.size() >= shortest;
    if (at(value, 0) == '[') return digit(at(value, 1)) && number_list(value, 0).text.size() >= shortest;
    constexpr std::string_view marks = "<~:\\\"'";  // of a literal's beginning
    std::size_t begin = 0;
    while (begin < value.size() &&
           (marks.find(value[begin]) != marks.npos || (value[begin] == 'c' && begin != 0 && value[begin - 1] == '~')))
        ++begin;
    std::size_t end = begin;
    while (end < value.size() && end - begin < far &&
           std::string_view(",;&)}]>\"' \t\n|\\").find(value[end]) == std::string_view::npos)
        ++end;
    const std::string_view text = value.substr(begin, end - begin);
    if (!text.empty() && std::ranges::all_of(text, digit))
        return text.size() >= shortest && text.size() <= longest_number;
    constexpr std::array<std::string_view, 6> functions{"sha", "SHA", "md5", "MD5", "hmac", "blake"};
    if (std::ranges::any_of(functions, [&](std::string_view name) { return text.starts_with(name); })) return false;
    const bool literal = begin != 0 && value[0] != ':' && value[0] != '\'';
    return (literal && text.size() >= long_text) || looks_secret(text);
}

}  // namespace beamheap::present
