// SPDX-License-Identifier: Apache-2.0
#include "present/secrets/secret_neighbours.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "present/secrets/secret_files.hpp"
#include "present/secrets/secret_forms.hpp"

namespace beamheap::present {
namespace {

using namespace lex;

constexpr std::size_t near_by = 256;

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

bool key_char(char c) { return word(c) || c == '-' || c == '.'; }

// What is around the word at `begin` in its object: up to its brackets, and the tuple in front of its own.
std::string_view object_around(std::string_view text, std::size_t begin, std::size_t end) {
    std::size_t from = begin;
    const std::size_t least = begin > near_by ? begin - near_by : 0;
    while (from > least && text[from - 1] != '{' && text[from - 1] != '}') --from;
    if (from >= 2 && text[from - 1] == '{' && begin - from <= 4) {  // {value,x}: what {name,y} is in front of it?
        std::size_t before = from - 1;
        while (before > least && (text[before - 1] == ' ' || text[before - 1] == '\n')) --before;
        if (before > least && text[before - 1] == ',' && at(text, before - 2) == '}') {
            from = before - 2;
            while (from > least && text[from - 1] != '{') --from;
        }
    }
    std::size_t to = end;
    while (to < text.size() && to - end < near_by && text[to] != '}' && text[to] != '{') ++to;
    return text.substr(from, to - from);
}

// Whether the object has a member of one of these names, and says which value it has.
bool has_member(std::string_view object, bool (*wanted)(std::string_view), bool (*fits)(std::string_view)) {
    for (std::size_t i = 0; i < object.size();) {
        if (!letter(object[i]) || (i != 0 && key_char(object[i - 1]))) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < object.size() && key_char(object[end])) ++end;
        const bool found = wanted(object.substr(i, end - i));
        i = end;
        if (!found) continue;
        std::size_t value = end;
        constexpr std::size_t longest_separator = 12;
        while (value < object.size() && value - end < longest_separator &&
               std::string_view("\"'\\>=:, <~").find(object[value]) != std::string_view::npos)
            ++value;
        if (value == end) continue;
        std::size_t stop = value;
        while (stop < object.size() && key_char(object[stop])) ++stop;
        if (stop != value && fits(object.substr(value, stop - value))) return true;
    }
    return false;
}

bool is_secret(std::string_view name) { return secrecy_of(name) == Secrecy::always; }
bool is_type_of_key(std::string_view member) { return member == "kty"; }
bool any(std::string_view) { return true; }
bool is_cipher(std::string_view member) { return member == "cipher"; }

// Where the bracket stands that the one at `i` closes; `i` where it is too far away.
std::size_t opening_of(std::string_view text, std::size_t i) {
    constexpr std::size_t far = 128;
    std::size_t depth = 0;
    for (std::size_t j = i + 1; j-- > 0 && i - j < far;) {
        if (text[j] == '}' || text[j] == ']') ++depth;
        else if ((text[j] == '{' || text[j] == '[') && --depth == 0) return j;
    }
    return i;
}

}  // namespace

bool names_its_value(std::string_view member) { return one_of(member, {"value", "Value", "VALUE", "val", "content"}); }
bool has_name(std::string_view member) {
    return one_of(member, {"name", "Name", "NAME", "key", "Key", "type", "field", "header", "property"});
}
bool member_of_key(std::string_view member) { return one_of(member, {"k", "d", "p", "q", "dp", "dq", "qi"}); }

bool secret_struct(std::string_view name) {
    if (!name.starts_with("Elixir.")) return false;
    return is_secret(name.substr(name.rfind('.') + 1));
}

Secrecy secrecy_beside(std::string_view text, std::size_t begin, std::size_t end) {
    const std::string_view key = text.substr(begin, end - begin);
    if (const Secrecy known = secrecy_of(key); known != Secrecy::none) return known;
    const char last = begin == 0 ? '\0' : text[begin - 1];
    if (one_of(key, {"code", "key", "auth"}) && (last == '?' || last == '&' || last == '"') && at(text, end) == '=')
        return Secrecy::by_value;
    if (names_its_value(key)) {
        const std::string_view object = object_around(text, begin, end);
        return has_member(object, has_name, is_secret) ? Secrecy::always : Secrecy::none;
    }
    if (key == "key" && has_member(object_around(text, begin, end), is_cipher, any)) return Secrecy::always;
    if (member_of_key(key) && has_member(object_around(text, begin, end), is_type_of_key, any)) return Secrecy::always;
    if (key == "auth" || key == "_auth") {  // of a registry: a name and a password in base64
        std::size_t value = end;
        while (value - end < 8 && std::string_view("\"'\\>=:, <~").find(at(text, value)) != std::string_view::npos &&
               value < text.size())
            ++value;
        std::size_t stop = value;
        while (word(at(text, stop)) || at(text, stop) == '+' || at(text, stop) == '/' || at(text, stop) == '=') ++stop;
        if (stop - value >= 8 && is_credentials(text.substr(value, stop - value))) return Secrecy::always;
    }
    // "api key: x": the two words are a key, and this is the second one.
    if (last != ' ' || begin < 2 || !letter(text[begin - 2])) return Secrecy::none;
    const char next = at(text, end);
    if (next != ':' && next != '=' && !starts(text, end, " = ")) return Secrecy::none;
    std::size_t first = begin - 1;
    while (first != 0 && begin - first < 32 && letter(text[first - 1])) --first;
    std::string both(text.substr(first, begin - 1 - first));
    both.append("_").append(key);
    return secrecy_of(both);
}

std::size_t behind_path(std::string_view text, std::size_t key, std::size_t i) {
    if (at(text, i) != '}' && at(text, i) != ']') return 0;
    const std::size_t opening = opening_of(text, i);
    if (opening == i || opening > key) return 0;
    const std::size_t behind = skip_spaces(text, i + 1);
    if (starts(text, behind, "=>")) return behind + 2;
    const char before = opening == 0 ? '\0' : text[opening - 1];
    return at(text, behind) == ',' && before == '{' ? behind + 1 : 0;
}

bool line_of_protocol(std::string_view text, std::size_t key, std::size_t i) {
    const bool begins = key == 0 || text[key - 1] == '\n' || (key >= 2 && text.substr(key - 2, 2) == "\\n");
    if (!begins) return false;
    std::size_t end = i + 1;
    while (end < text.size() && std::string_view("\\\n\r\" ,").find(text[end]) == std::string_view::npos &&
           text[end] != '\0')
        ++end;
    const std::string_view value = text.substr(i + 1, end - i - 1);
    return value.find_first_of("/(") == std::string_view::npos && looks_secret(value);
}

std::size_t arguments_of_call(std::string_view text, std::size_t key, std::size_t i) {
    if (at(text, i) != ',' || key == 0 || text[key - 1] != ',' || !lower(at(text, key))) return 0;
    const std::size_t list = skip_spaces(text, i + 1);
    if (at(text, list) != '[') return 0;
    std::size_t module = key - 1;  // an atom, with the comma or bracket of its tuple in front of it
    constexpr std::size_t longest = 64;
    while (module != 0 && key - module < longest &&
           (word(text[module - 1]) || std::string_view("'.:").find(text[module - 1]) != std::string_view::npos))
        --module;
    return module != key - 1 && module != 0 && (text[module - 1] == '{' || text[module - 1] == ',') ? list : 0;
}

TextSpan secret_of_command(std::string_view text, std::size_t begin, std::size_t end) {
    struct Row {
        std::string_view program, command;
        unsigned argument;
    };
    if (text.substr(begin, end - begin) == "echo") return secret_of_echo(text, end);
    constexpr std::array rows{Row{"vault", "login", 1},
                              Row{"emqx", "add", 2},
                              Row{"aws configure", "set", 2},
                              Row{"stats", "auth", 1},
                              Row{"mosquitto_passwd", "mosquitto_passwd", 4},
                              Row{"rabbitmqctl", "add_user", 2},
                              Row{"rabbitmqctl", "change_password", 2},
                              Row{"rabbitmqctl", "authenticate_user", 2},
                              Row{"ejabberdctl", "register", 3},
                              Row{"ejabberdctl", "change_password", 3},
                              Row{"htpasswd", "htpasswd", 4}};
    const std::string_view name = text.substr(begin, end - begin);
    for (const Row& row : rows) {
        if (name != row.command) continue;
        const std::size_t from = begin > near_by ? begin - near_by : 0;
        const bool itself = row.program == row.command;
        if (!itself && text.substr(from, begin - from).find(row.program) == std::string_view::npos) continue;
        if (itself && !starts(text, end, " -b ") && !starts(text, end, " -cb ") && !starts(text, end, " -bc "))
            continue;
        std::size_t i = end, word_begin = end;
        for (unsigned n = 0; n < row.argument; ++n) {
            if (at(text, i) != ' ') return {};
            word_begin = i = skip_spaces(text, i);
            while (i < text.size() && std::string_view(" \"'\\\n,;|)]}").find(text[i]) == std::string_view::npos) ++i;
            if (i == word_begin) return {};
        }
        return {word_begin, i};
    }
    return {};
}

std::vector<std::size_t> secret_columns(std::string_view text, std::size_t begin, std::size_t end) {
    std::vector<std::size_t> places;
    const std::size_t close = text.rfind(')', begin);
    std::size_t value = skip_spaces(text, end);
    if (close == std::string_view::npos || begin - close > 4 || at(text, value) != '(') return places;
    const std::size_t open = text.rfind('(', close);
    constexpr std::size_t far = 1024;
    if (open == std::string_view::npos || close - open > far) return places;
    std::string_view columns = text.substr(open + 1, close - open - 1);
    const std::string_view near = text.substr(0, std::min(text.size(), value + far));
    value = skip_spaces(near, value + 1);
    while (!columns.empty()) {
        const std::size_t comma = columns.find(',');
        std::string column(columns.substr(0, comma));
        std::erase_if(column, [](char c) { return !key_char(c); });
        columns.remove_prefix(comma == std::string_view::npos ? columns.size() : comma + 1);
        if (is_secret(column)) places.push_back(value);
        value = skip_element(near, value);
        if (at(near, value) != ',') break;
        value = skip_spaces(near, value + 1);
    }
    return places;
}

namespace {

// The column that a parameter at `i` is compared with, or set to: "users"."token" = $1, password LIKE ?.
std::string_view column_before(std::string_view query, std::size_t i) {
    constexpr std::string_view between = " \t\n=<>!~(\"`]";
    const auto back = [&] {
        while (i != 0 && between.find(query[i - 1]) != between.npos) --i;
        const std::size_t end = i;
        while (i != 0 && key_char(query[i - 1])) --i;
        return query.substr(i, end - i);
    };
    const std::string_view name = back();
    return one_of(name, {"LIKE", "ILIKE", "IN", "ANY", "like", "ilike", "in", "any", "lower", "LOWER"}) ? back() : name;
}

}  // namespace

std::vector<std::uint64_t> secret_parameters(std::string_view query) {
    constexpr std::uint64_t most_parameters = 256;
    std::vector<std::uint64_t> places;
    std::vector<std::size_t> values;
    std::uint64_t marks = 0;
    for (std::size_t i = 0; i < query.size(); ++i) {
        if ((starts(query, i, "VALUES") || starts(query, i, "values")) && values.empty())
            values = secret_columns(query, i, i + 6);
        const bool mark = query[i] == '?';
        if (!mark && (query[i] != '$' || !digit(at(query, i + 1)))) continue;
        std::uint64_t number = mark ? ++marks : 0;
        for (std::size_t j = i + 1; !mark && digit(at(query, j)) && number < most_parameters; ++j)
            number = number * 10 + static_cast<std::uint64_t>(query[j] - '0');
        if (number == 0 || number > most_parameters) continue;
        if (std::ranges::find(values, i) != values.end() || is_secret(column_before(query, i)))
            places.push_back(number - 1);
    }
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
}

std::size_t query_parameter(std::string_view text, std::size_t i) {
    constexpr std::size_t far = 512;
    std::size_t number = 0;
    for (std::size_t j = i + 1; digit(at(text, j)) && number < far; ++j)
        number = number * 10 + static_cast<std::size_t>(text[j] - '0');
    const std::size_t list = text.substr(0, std::min(text.size(), i + far)).find('[', i);
    if (list == std::string_view::npos || number == 0 || number > 32) return text.size();
    const std::string_view near = text.substr(0, std::min(text.size(), list + 4096));
    std::size_t element = skip_spaces(near, list + 1);
    for (; number > 1; --number) {
        element = skip_element(near, element);
        if (at(near, element) != ',') return text.size();
        element = skip_spaces(near, element + 1);
    }
    // Within a text its quotes are escaped.
    return element;
}

}  // namespace beamheap::present
