// SPDX-License-Identifier: Apache-2.0
#include "present/secrets/secret_places.hpp"

#include <algorithm>
#include <array>

#include "present/secrets/secret_forms.hpp"

namespace beamheap::present {
namespace {

using namespace lex;

enum class Form {
    separate,  // -a SECRET
    attached,  // -pSECRET
    either,
    pair,     // -u name:SECRET
    percent,  // -U name%SECRET
    named,    // /user:name SECRET
    comma,    // -u name,SECRET
};
struct Option {
    std::string_view command;  // how its name begins; empty: any
    std::string_view option;
    Form form;
};
constexpr std::array options{
    Option{"curl", "-U", Form::pair},         Option{"curl", "--proxy-user", Form::pair},
    Option{"mysql", "-p", Form::attached},    Option{"mariadb", "-p", Form::attached},
    Option{"sshpass", "-p", Form::either},    Option{"redis-cli", "-a", Form::separate},
    Option{"ldap", "-w", Form::separate},     Option{"login", "-p", Form::separate},
    Option{"zip", "-P", Form::separate},      Option{"unzip", "-P", Form::separate},
    Option{"7z", "-p", Form::attached},       Option{"smbclient", "-U", Form::percent},
    Option{"rpcclient", "-U", Form::percent}, Option{"mongo", "-p", Form::separate},
    Option{"cqlsh", "-p", Form::separate},    Option{"sqlcmd", "-P", Form::separate},
    Option{"bcp", "-P", Form::separate},      Option{"ipmitool", "-P", Form::separate},
    Option{"snmp", "-c", Form::separate},     Option{"snmp", "-A", Form::separate},
    Option{"snmp", "-X", Form::separate},     Option{"openssl", "-k", Form::separate},
    Option{"openssl", "-K", Form::separate},  Option{"htpasswd", "-b", Form::separate},
    Option{"net", "/user:", Form::named},     Option{"", "/password:", Form::attached},
    Option{"", "/pass:", Form::attached},     Option{"", "-u", Form::pair},
    Option{"", "--user", Form::pair},         Option{"mosquitto", "-P", Form::separate},
    Option{"lftp", "-u", Form::comma},
};

constexpr bool ends_value(char c) { return std::string_view(" \t\n\"'\\,;|)]}>&").find(c) != std::string_view::npos; }
std::size_t value_end(std::string_view text, std::size_t i) {
    while (i < text.size() && !ends_value(text[i])) ++i;
    return i;
}

// Where the next word begins, or the text of the next element: "-u a:b", ["-u","a:b"], [<<"-u">>, <<"a:b">>].
std::size_t next_word(std::string_view text, std::size_t i) {
    if (at(text, i) == '"' || at(text, i) == '\'') {
        ++i;
        if (starts(text, i, ">>")) i += 2;
        i = skip_spaces(text, i);
        if (at(text, i) != ',') return text.size();
        i = skip_spaces(text, i + 1);
        if (starts(text, i, "<<") || (at(text, i) == '~' && letter(at(text, i + 1)))) i += 2;
        return at(text, i) == '"' || at(text, i) == '\'' ? i + 1 : text.size();
    }
    if (at(text, i) != ' ') return text.size();
    i = skip_spaces(text, i);
    if (starts(text, i, "\\\"")) return i + 2;
    return at(text, i) == '\'' ? i + 1 : i;
}

bool command_before(std::string_view text, std::size_t i, std::string_view command) {
    constexpr std::size_t far = 256;
    const std::size_t from = i > far ? i - far : 0;
    const std::string_view near = text.substr(from, i - from);
    for (std::size_t found = near.find(command); found != near.npos; found = near.find(command, found + 1))
        if (found == 0 || !word(near[found - 1])) return true;
    return false;
}

// Of "name:SECRET" what is behind the separator. Numbers are user and group ids, or ports.
TextSpan behind(std::string_view text, std::size_t i, char separator) {
    const std::size_t end = value_end(text, i);
    const std::size_t mark = text.substr(0, end).find(separator, i);
    if (mark == text.npos || mark == i || mark + 1 >= end || at(text, mark + 1) == separator ||
        starts(text, mark, "://"))
        return {};
    const std::string_view value = text.substr(mark + 1, end - mark - 1);
    return std::ranges::all_of(value, digit) ? TextSpan{} : TextSpan{mark + 1, end};
}

// Behind the ends of line and lengths that Redis' protocol has between words: \r\n$7\r\n. As it was where there are
// none.
std::size_t skip_length(std::string_view text, std::size_t i) {
    if (!starts(text, i, "\\r\\n$")) return i;
    std::size_t j = i + 5;
    while (digit(at(text, j))) ++j;
    return starts(text, j, "\\r\\n") ? j + 4 : i;
}

}  // namespace

TextSpan secret_of_option(std::string_view text, std::size_t i) {
    if (i != 0 && std::string_view(" \"'\t\n,[").find(text[i - 1]) == std::string_view::npos) return {};
    for (const Option& row : options) {
        if (!starts(text, i, row.option)) continue;
        std::size_t behind_option = i + row.option.size();
        if (row.form == Form::named) behind_option = value_end(text, behind_option);
        const char next = at(text, behind_option);
        const bool apart = next == ' ' || next == '"' || next == '\'' || (next == '=' && row.option.starts_with("--"));
        if (row.form != Form::pair && starts(text, i, "-pass")) continue;  // -passin: an option by its own name
        if (row.form == Form::attached ? apart || ends_value(next) : !apart && row.form != Form::either) continue;
        if (!row.command.empty() && !command_before(text, i, row.command)) continue;
        const std::size_t value = !apart        ? behind_option
                                  : next == '=' ? behind_option + 1
                                                : next_word(text, behind_option);
        if (row.form == Form::comma) {
            const std::size_t comma = value_end(text, value), stop = value_end(text, comma + 1);
            if (at(text, comma) == ',' && comma != value && stop > comma + 1) return {comma + 1, stop};
            continue;
        }
        if (row.form == Form::pair || row.form == Form::percent) {
            if (const TextSpan span = behind(text, value, row.form == Form::pair ? ':' : '%'); span.begin != span.end)
                return span;
            continue;
        }
        const std::size_t end = value_end(text, value);
        if (value < end && text[value] != '-') return {value, end};
    }
    return {};
}

TextSpan secret_argument(std::string_view text) {
    std::size_t i = starts(text, 0, "<<") || (at(text, 0) == '~' && letter(at(text, 1))) ? 2 : 0;
    if (at(text, i) != '"') return {};
    const std::size_t end = text.find('"', ++i);
    if (end == text.npos || (end + 1 != text.size() && text.substr(end + 1) != ">>")) return {};
    const TextSpan pair = behind(text, i, ':');
    if (starts(text, i, "-p") || starts(text, i, "-P")) i += 2;
    else if (pair.begin != pair.end && std::ranges::all_of(text.substr(i, pair.begin - 1 - i), word)) i = pair.begin;
    else return {};
    return looks_like_password(text.substr(i, end - i)) ? TextSpan{i, end} : TextSpan{};
}

TextSpan secret_of_line(std::string_view text, std::size_t i, std::size_t end) {
    const std::string_view name = text.substr(i, end - i);
    const bool begins = i == 0 || std::string_view("\"'\n").find(text[i - 1]) != std::string_view::npos ||
                        (i >= 2 && (text.substr(i - 2, 2) == "\\n" || text.substr(i - 2, 2) == "\\r"));
    if (name == "IDENTIFIED" && starts(text, end, " BY ")) {
        const std::size_t value = next_word(text, end + 3);
        return {std::min(value, value_end(text, value)), value_end(text, value)};
    }
    if (name == "thin" && at(text, end) == ':') {  // jdbc:oracle:thin:name/x@host
        constexpr std::size_t far = 128;
        const std::string_view near = text.substr(0, std::min(text.size(), end + far));
        const std::size_t slash = near.find_first_of("/@\" ", end), mark = near.find_first_of("@\" ", slash);
        return at(near, slash) == '/' && at(near, mark) == '@' ? TextSpan{slash + 1, mark} : TextSpan{};
    }
    std::size_t value = end;
    if (name == "LOGIN") {  // behind a tag: a1 LOGIN name x
        value = value_end(text, next_word(text, end));
        if (at(text, end) != ' ' || at(text, value) != ' ') return {};
    } else if ((!begins && !(name == "AUTH" && i >= 8 && starts(text, i - 8, "HELLO "))) ||
               (name != "AUTH" && name != "PASS")) {
        return {};
    }
    const std::size_t length = skip_length(text, value);
    value = length != value ? length : next_word(text, value);
    std::size_t stop = value_end(text, value);
    // AUTH name x, of Redis 6, and in its protocol
    if (name == "AUTH" && stop != value) {
        const std::size_t second = skip_length(text, stop) != stop ? skip_length(text, stop) : next_word(text, stop);
        if (second < text.size() && value_end(text, second) > second) {
            const std::string_view scheme = text.substr(value, stop - value);
            if (scheme != "PLAIN" && scheme != "LOGIN") return {value, value_end(text, second)};
        }
    }
    // A password is what the line ends with.
    const bool last = stop >= text.size() || text[stop] == '"' || text[stop] == '\\' || text[stop] == '\n' ||
                      text[stop] == '\'' || text[stop] == ',';
    return value < stop && last ? TextSpan{value, stop} : TextSpan{};
}

TextSpan secret_of_address(std::string_view text, std::size_t begin) {
    constexpr std::size_t longest = 512;
    const std::size_t end = value_end(text.substr(0, std::min(text.size(), begin + longest)), begin);
    struct Hook {
        std::string_view host, path;
    };
    constexpr std::array hooks{Hook{"hooks.slack.com", "/services/"},
                               Hook{"hooks.slack.com", "/workflows/"},
                               Hook{"hooks.slack.com", "/triggers/"},
                               Hook{"discord.com", "/webhooks/"},
                               Hook{"discordapp.com", "/webhooks/"},
                               Hook{"webhook.office.com", "/webhookb2/"},
                               Hook{"api.telegram.org", "/bot"},
                               Hook{"hooks.zapier.com", "/catch/"},
                               Hook{"hook.", "make.com/"},
                               Hook{"events.pagerduty.com", "/integration/"},
                               Hook{"logic.azure.com", "?"}};
    const std::string_view address = text.substr(begin, end - begin);
    for (const Hook& hook : hooks) {
        const std::size_t host = address.find(hook.host);
        if (host == address.npos) continue;
        const std::size_t path = address.find(hook.path, host);
        if (path != address.npos && path + hook.path.size() < address.size())
            return {begin + path + hook.path.size(), end};
    }
    return {};
}

TextSpan secret_of_url(std::string_view text, std::size_t begin, std::size_t& end) {
    constexpr std::string_view ends = "/?#\"'<>,{}[]\\ \t\n@";
    const auto host_end = [&](std::size_t i) {
        while (i < text.size() && ends.find(text[i]) == ends.npos) ++i;
        return i;
    };
    end = host_end(begin);
    // A password may hold an @: the last one before the host's end counts.
    std::size_t at_sign = text.npos;
    while (at(text, end) == '@') {
        at_sign = end;
        end = host_end(end + 1);
    }
    if (at_sign != text.npos && at_sign > begin) return {begin, at_sign};
    end = std::min(end, text.substr(0, end).find(';', begin));  // what follows are settings: sqlserver://h;password=x
    if (std::string_view whole = text.substr(begin, end - begin); whole.ends_with("...")) {
        // Cut before the @ came: what is no port behind a colon is a password.
        whole.remove_suffix(3);
        const std::size_t colon = whole.find(':');
        const bool password = colon != whole.npos && !std::ranges::all_of(whole.substr(colon + 1), digit);
        return password ? TextSpan{begin, begin + whole.size()} : TextSpan{};
    }
    const TextSpan hook = secret_of_address(text, begin);
    if (hook.begin != hook.end) end = hook.end;
    return hook;
}

unsigned secret_element(std::string_view tag) {
    struct Row {
        std::string_view tag;
        unsigned element;
    };
    // rabbit (credentials_obfuscation, internal_user.erl), ssl_internal.hrl (session), public_key (ed_pri)
    constexpr std::array rows{Row{"ed_pri", 3}, Row{"encrypted", 1}, Row{"internal_user", 2}, Row{"plaintext", 1},
                              Row{"session", 6}};
    // A cipher's name, and the key behind it.
    if (tag.starts_with("aes_") || tag.starts_with("chacha20")) return 1;
    const auto* const row = std::ranges::find(rows, tag, &Row::tag);
    return row == rows.end() ? 0 : row->element;
}

bool secret_record(std::string_view tag) {
    // public_key, crypto, ssl (user_lookup_fun), eldap, emqx and RabbitMQ (a client's name and password come last)
    constexpr std::array<std::string_view, 9> records{"BindRequest",      "DSAPrivateKey",       "ECPrivateKey",
                                                      "OneAsymmetricKey", "PrivateKeyInfo",      "RSAPrivateKey",
                                                      "cipher_state",     "mqtt_packet_connect", "user_lookup_fun"};
    return std::ranges::find(records, tag) != records.end() || tag.starts_with("jose_jwk_kty_");
}

// ~F.P.PadModC: a width, a precision and a padding character, each a number or a star (io:fwrite/3).
bool format_of_value(std::string_view text, std::size_t i) {
    if (at(text, i) != '~') return false;
    constexpr std::size_t longest = 12;
    const std::size_t from = ++i;
    while (i - from < longest && (digit(at(text, i)) || at(text, i) == '.' || at(text, i) == '-' ||
                                  at(text, i) == 't' || at(text, i) == 'l' || at(text, i) == '*'))
        ++i;
    return i < text.size() && std::string_view("spwPWxXbBcefgi#+").find(text[i]) != std::string_view::npos &&
           !word(at(text, i + 1));
}

std::size_t format_argument(std::string_view text, std::size_t i) {
    constexpr std::size_t far = 512, longest_argument = 4096;
    // Where the text with the format begins, and how many values it prints before this one.
    std::size_t begin = i;
    while (begin != 0 && i - begin < far && text[begin - 1] != '"') --begin;
    std::size_t before = 0;
    for (std::size_t j = text.find('~', begin); j < i; j = text.find('~', j + 1))
        if (at(text, j + 1) == '~') ++j;
        else if (format_of_value(text, j)) ++before;
    std::size_t end = i;
    while (end < text.size() && end - i < far && text[end] != '"') ++end;
    if (at(text, end) != '"' || text[end - 1] == '\\') return text.size();
    ++end;
    if (starts(text, end, ">>")) end += 2;
    end = skip_spaces(text, end);
    if (at(text, end) != ',') return text.size();
    end = skip_spaces(text, end + 1);
    if (at(text, end) != '[') return text.size();
    std::size_t element = skip_spaces(text, end + 1);
    const std::string_view near = text.substr(0, std::min(text.size(), element + longest_argument));
    for (; before != 0; --before) {
        element = skip_element(near, element);
        if (at(near, element) != ',') return text.size();
        element = skip_spaces(near, element + 1);
    }
    return element;
}

TextSpan secret_of_source(std::string_view text, std::size_t i) {
    constexpr std::size_t far = 128;
    constexpr std::array<std::string_view, 4> networks{"@tcp(", "@tcp6(", "@unix(", "@cloudsql("};
    const bool told = std::ranges::any_of(networks, [&](std::string_view each) { return starts(text, i, each); });
    std::size_t begin = i, colon = i;
    while (begin != 0 && i - begin < far &&
           std::string_view(" \t\n\"'\\,;=(){}[]<>/").find(text[begin - 1]) == std::string_view::npos)
        if (text[--begin] == ':') colon = begin;
    if (colon == i || colon == begin || colon + 1 == i) return {};
    if (told) return {colon + 1, i};
    // What stands behind a host is a port and a path, or a path; a:b@host alone is an address of a person or a node.
    const std::string_view name = text.substr(begin, colon - begin);
    constexpr std::array<std::string_view, 8> schemes{"acct", "im", "mailto", "pres", "sip", "sips", "tel", "xmpp"};
    std::size_t end = i + 1;
    while (word(at(text, end)) || at(text, end) == '.' || at(text, end) == '-') ++end;
    if (end == i + 1 || std::ranges::find(schemes, name) != schemes.end()) return {};
    const bool port = at(text, end) == ':' && digit(at(text, end + 1));
    const bool path = at(text, end) == '/' && letter(at(text, end + 1));
    const std::string_view secret = text.substr(colon + 1, i - colon - 1);
    return (port || path) && looks_secret(secret) ? TextSpan{colon + 1, i} : TextSpan{};
}

TextSpan secret_of_xml(std::string_view text, std::size_t key, std::size_t end) {
    constexpr std::size_t far = 256;
    std::size_t begin = key;
    while (begin != 0 && key - begin < far &&
           (word(text[begin - 1]) || text[begin - 1] == ':' || text[begin - 1] == '-'))
        --begin;
    if (begin == 0 || text[begin - 1] != '<' || (begin >= 2 && text[begin - 2] == '<')) return {};
    const std::size_t behind =
        std::min(text.substr(0, std::min(text.size(), end + far)).find_first_of("<>", end), text.size());
    if (at(text, behind) != '>' || starts(text, behind, ">>")) return {};
    if (constexpr std::string_view data = "<![CDATA["; starts(text, behind + 1, data)) {
        const std::size_t begin = behind + 1 + data.size();
        return {std::min(begin, text.size()), std::min(text.find("]]>", begin), text.size())};
    }
    const std::size_t close = std::min(text.find('<', behind), text.size());
    return close > behind + 1 ? TextSpan{behind + 1, close} : TextSpan{};
}

std::size_t behind_separator(std::string_view text, std::size_t i) {
    constexpr std::size_t longest = 5;
    i = skip_spaces(text, i);
    if (starts(text, i, "<<")) i += 2;
    std::size_t end = i;
    while (end - i < longest && std::string_view("\":= 613258").find(at(text, end)) != std::string_view::npos &&
           end < text.size())
        ++end;
    const std::string_view element = text.substr(i, end - i);
    if (element != "61" && element != "58" && element != "\"=\"" && element != "\":\"" && element != "\": \"") return 0;
    if (starts(text, end, ">>")) end += 2;
    end = skip_spaces(text, end);
    return at(text, end) == ',' ? end + 1 : 0;
}

bool secret_to_end_of_line(std::string_view header) {
    constexpr std::array<std::string_view, 3> names{"authorization", "cookie", "cookies"};
    std::string last;
    for (std::size_t i = header.size(); i-- > 0 && letter(header[i]);)
        last.insert(last.begin(), upper(header[i]) ? static_cast<char>(header[i] - 'A' + 'a') : header[i]);
    return std::ranges::find(names, last) != names.end();
}

bool names_credentials(std::string_view tag) {
    constexpr std::array<std::string_view, 23> tags{"amqp_params_direct",
                                                    "amqp_params_network",
                                                    "auth",
                                                    "authenticate",
                                                    "basic",
                                                    "bind",
                                                    "dn_lookup_bind",
                                                    "other_bind",
                                                    "simple_bind",
                                                    "srp_identity",
                                                    "basic_auth",
                                                    "digest",
                                                    "http_auth",
                                                    "http_basic",
                                                    "log_in",
                                                    "login",
                                                    "plain",
                                                    "proxy_auth",
                                                    "sasl_plain",
                                                    "scram",
                                                    "scram_sha_1",
                                                    "scram_sha_256",
                                                    "scram_sha_512"};
    return std::ranges::find(tags, tag) != tags.end();
}

bool holds_credentials(std::string_view text) {
    if (text.find(':') != text.npos) return true;
    const std::size_t begin = text.find('"');
    if (begin != text.npos) text = text.substr(begin + 1, text.find('"', begin + 1) - begin - 1);
    return is_credentials(text);
}

}  // namespace beamheap::present
