// SPDX-License-Identifier: Apache-2.0
#include "analyses/selectors/selectors.hpp"
#include "erlang/elixir_names.hpp"
#include "erlang/erlang_syntax.hpp"

namespace beamheap::analyses {
namespace {

bool is_any(std::string_view part) { return part == "_" || part == "*"; }

Error bad_pattern(std::string_view text, const std::string& why) {
    return {ErrorCode::usage, "'" + std::string(text) + "' is not a function: " + why,
            "write M:F/A, M:F or M; _ or * stands for any part"};
}

// MyApp.Worker.handle_call: the part after the last dot is the function where it begins like one. MyApp.* is every
// module below MyApp, and MyApp itself.
std::size_t elixir_split(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot + 1 == name.size() || name.empty()) return std::string_view::npos;
    const char first = name[0];
    const char after = name[dot + 1];
    const bool module = first >= 'A' && first <= 'Z';
    const bool function = (after >= 'a' && after <= 'z') || after == '_';
    return module && function ? dot : std::string_view::npos;
}

}  // namespace

bool fits_glob(std::string_view text, std::string_view glob) {
    std::size_t t = 0, g = 0;
    std::size_t star = std::string_view::npos, resume = 0;
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            resume = t;
        } else if (g < glob.size() && glob[g] == text[t]) {
            ++g;
            ++t;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*') ++g;
    return g == glob.size();
}

Result<FunctionPattern> parse_function_pattern(std::string_view text) {
    FunctionPattern pattern;
    std::size_t at = 0;
    while (at < text.size() && text[at] == ' ') ++at;
    const std::string_view whole = text.substr(at);
    std::string name;
    std::size_t used = 0;
    bool quoted = false;
    if (!read_name(whole, name, used, quoted)) return bad_pattern(text, "a module's name is missing");
    if (!quoted && whole.starts_with(':')) return bad_pattern(text, "a module's name is missing");
    std::string_view rest = whole.substr(used);
    const std::size_t dot = quoted ? std::string_view::npos : elixir_split(name);
    if (!rest.starts_with(':') && dot != std::string_view::npos) {
        pattern.name = name.substr(dot + 1);
        name.resize(dot);
    }
    pattern.module = name;
    if (rest.starts_with(':')) {
        rest.remove_prefix(1);
        if (!read_name(rest, pattern.name, used, quoted)) return bad_pattern(text, "a function's name is missing");
        rest.remove_prefix(used);
    }
    if (rest.starts_with('/')) {
        rest.remove_prefix(1);
        std::size_t digits = 0;
        std::int64_t arity = 0;
        for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9' && arity < 1000; ++digits)
            arity = arity * 10 + (rest[digits] - '0');
        if (digits != 0) {
            pattern.arity = arity;
            rest.remove_prefix(digits);
        } else if (!rest.empty() && is_any(rest.substr(0, 1))) {
            rest.remove_prefix(1);
        } else {
            return bad_pattern(text, "the number of arguments is missing");
        }
        if (pattern.arity > 255) return bad_pattern(text, "a function has at most 255 arguments");
    }
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (!rest.empty()) return bad_pattern(text, "'" + std::string(rest) + "' is left over");
    if (is_any(pattern.module)) pattern.module = "*";
    if (is_any(pattern.name)) pattern.name = "*";
    return pattern;
}

bool matches(const FunctionPattern& pattern, const Snapshot& snapshot, FunctionId function) {
    if (function == FunctionId::none) return false;
    const Function& f = snapshot.functions[function];
    if (pattern.arity >= 0 && f.arity != static_cast<std::uint64_t>(pattern.arity)) return false;
    const std::string_view module = snapshot.text(f.module);
    std::string_view above = pattern.module;
    if (above.ends_with(".*")) above.remove_suffix(2);
    const auto fits = [&](std::string_view name) { return fits_glob(name, pattern.module) || fits_glob(name, above); };
    const bool module_fits = fits(module) || fits(erlang::without_elixir(module));
    return module_fits && fits_glob(snapshot.text(f.name), pattern.name);
}

std::vector<bool> matching_functions(const FunctionPattern& pattern, const Snapshot& snapshot) {
    std::vector<bool> fits(snapshot.functions.size());
    for (std::size_t i = 0; i < fits.size(); ++i) fits[i] = matches(pattern, snapshot, static_cast<FunctionId>(i));
    return fits;
}

}  // namespace beamheap::analyses
