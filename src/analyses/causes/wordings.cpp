// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/wordings.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "erlang/error_words.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses {
namespace {

/// A place between braces: "Name:how 20" or "M:F/Args".
struct Place {
    std::string_view name, how;
    std::size_t limit = 0;  // 0: none is given

    explicit Place(std::string_view text) {
        const std::size_t colon = std::min(text.find(':'), text.size());
        name = text.substr(0, colon);
        how = text.substr(std::min(colon + 1, text.size()));
        const std::size_t blank = how.find(' ');
        if (blank == how.npos) return;
        std::from_chars(how.data() + blank + 1, how.data() + how.size(), limit);
        how = how.substr(0, blank);
    }
};

// "(1): [\"syntax error before: \",\"'}'\"]" as OTP 29 prints what the parser says, a list of texts: these, one behind
// the other.
std::string without_list(std::string text) {
    if (!text.ends_with("\"]")) return text;
    // ... or all of it: what stands behind the colon of a row's own pattern
    const std::size_t colon = text.starts_with("[\"") ? 0 : text.find(": [\"");
    if (colon == std::string::npos) return text;
    const std::size_t begin = text.find("[\"", colon);
    text.resize(text.size() - 2);
    text.erase(begin, 2);
    constexpr std::string_view between = "\",\"";
    for (std::size_t at = begin; (at = text.find(between, at)) != std::string::npos;) text.erase(at, between.size());
    return text;
}

class Filler {
public:
    Filler(const erlang::Match& match, const std::shared_ptr<OwnedTerm>& term)
        : match_(match), term_(term), t_(*term) {}

    /// Nothing where one of the places can't be filled.
    std::optional<Sentence> run(Ours words) {
        Sentence made;
        const std::string_view text = words.text();
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t next = std::min(text.find_first_of("[{", at), text.size());
            if (next != at) made.add(words.piece(at, next - at));
            if (next == text.size()) break;
            const std::size_t end = text.find(text[next] == '{' ? '}' : ']', next);
            const Ours inner = words.piece(next + 1, end - next - 1);
            if (const auto part = text[next] == '{' ? place(Place(inner.text())) : choice(inner)) made.add(*part);
            else return std::nullopt;
            at = end + 1;
        }
        return made;
    }

private:
    /// The first of several that can be said; none is no failure.
    std::optional<Sentence> choice(Ours words) {
        for (std::size_t at = 0; at <= words.text().size();) {
            const std::size_t end = std::min(words.text().find('|', at), words.text().size());
            if (auto part = run(words.piece(at, end - at))) return part;
            at = end + 1;
        }
        return Sentence();
    }

    std::optional<Sentence> place(const Place& place) {
        if (place.how.find('/') != place.how.npos) return function(place);
        if (!match_.has(place.name)) return std::nullopt;
        const Element element = match_[place.name];
        const auto limit = [&place](std::size_t otherwise) { return place.limit == 0 ? otherwise : place.limit; };
        if (place.how == "term") return sentence("{}", PrintedTerm{term_, element, limit(120)});
        if (place.how == "number") {
            if (element.kind != ElementKind::small || element.number <= 0) return std::nullopt;
            return sentence("{}", Amount{static_cast<std::uint64_t>(element.number), AmountUnit::plain});
        }
        if (place.how == "atoms") return atoms(element, limit(4));
        if (place.how.empty() && match_.piece(place.name) == nullptr) return plain(element, term_);
        const auto text = text_of(place.name, place.how == "text" ? 200 : 4096);
        if (!text) return std::nullopt;
        using Holds = InputText::Holds;
        if (place.how == "text") return sentence("{}", InputText{*text, Holds::message});
        if (place.how == "library") return sentence("{}", InputText{library_error(*text), Holds::message});
        const Holds holds = place.how == "vm"                          ? Holds::vm
                            : place.how == "name" || place.how.empty() ? Holds::name
                                                                       : Holds::message;
        return sentence("{}", InputText{one_line(without_list(*text), limit(100)), holds});
    }

    /// A text, a piece of one, an atom's.
    std::optional<std::string> text_of(std::string_view name, std::size_t limit) const {
        if (const std::string* piece = match_.piece(name)) return *piece;
        const Element element = match_[name];
        if (TermReader::is_atom(element)) return std::string(element.text);
        return element.kind == ElementKind::nil ? std::nullopt : t_.text(element, limit);
    }

    std::optional<Sentence> atoms(const Element& list, std::size_t most) const {
        std::vector<Sentence> names;
        const auto all = t_.list(list, 100);
        for (const Element& each : all)
            if (TermReader::is_atom(each) && names.size() < most) names.push_back(plain(each, term_));
        if (names.empty()) return std::nullopt;
        Sentence made = joined(names, ", ");
        if (all.size() > names.size()) made.say(" and {} more", Amount{all.size() - names.size(), AmountUnit::count});
        return made;
    }

    std::optional<Sentence> function(const Place& place) const {
        const std::size_t slash = place.how.find('/');
        const auto word = [this](std::string_view name) {
            return match_.has(name) ? text_of(name, 255).value_or("") : std::string(name);
        };
        const std::string_view count = place.how.substr(slash + 1);
        const Element arguments = match_[count];
        std::uint32_t arity = 0;
        if (arguments.kind == ElementKind::small)
            arity = static_cast<std::uint32_t>(std::clamp<std::int64_t>(arguments.number, 0, 255));
        else if (match_.has(count)) arity = static_cast<std::uint32_t>(t_.list(arguments, 255).size());
        else std::from_chars(count.data(), count.data() + count.size(), arity);
        return sentence("{}", FunctionName{word(place.name), word(place.how.substr(0, slash)), arity});
    }

    const erlang::Match& match_;
    const std::shared_ptr<OwnedTerm>& term_;
    TermReader t_;
};

}  // namespace

Sentence said(const erlang::Wording& wording, const erlang::Match& match, const std::shared_ptr<OwnedTerm>& term) {
    return Filler(match, term).run(wording.words()).value_or(Sentence());
}

Sentence plain(const Element& element, const std::shared_ptr<OwnedTerm>& term) {
    if (TermReader::is_atom(element)) return sentence("{}", Atom{std::string(element.text), false});
    if (const auto text = TermReader(*term).text(element, 255); text && element.kind != ElementKind::nil)
        return sentence("{}", InputText{*text, InputText::Holds::name});
    return sentence("{}", PrintedTerm{term, element, 120});
}

std::string one_line(std::string_view text, std::size_t most) {
    // An exception of Elixir within the text of another: the innermost says what went wrong.
    constexpr std::string_view raised = "an exception was raised:", stars = "** (";
    if (const std::size_t at = text.rfind(raised); at != text.npos)
        if (const std::size_t begin = text.find(stars, at); begin != text.npos && begin + stars.size() < text.size()) {
            std::string inner = one_line(text.substr(begin + stars.size()), most + 1);
            if (const std::size_t end = inner.find(") "); end != inner.npos) inner.replace(end, 2, ": ");
            return inner.size() <= most ? inner : one_line(inner, most);
        }
    if (text.find("\x1b[") != text.npos) return one_line(erlang::without_colours(text), most);
    // Elixir says in a last line of long messages what it was given instead: that goes before what it would have taken.
    constexpr std::string_view given = "\nGot: ";
    if (const std::size_t at = text.rfind(given); text.size() > most && at != text.npos) {
        const std::string got = one_line(text.substr(at + 1), most / 2);
        std::string head = one_line(text.substr(0, text.find('\n')), most - most / 2);
        while (head.ends_with(':')) head.pop_back();
        return head + "; " + got;
    }
    std::string lines;
    std::string line;
    const auto take_line = [&] {
        while (!line.empty() && line.front() == ' ') line.erase(0, 1);
        while (!line.empty() && line.back() == ' ') line.pop_back();
        // "(elixir 1.14) lib/..." and "lib/my.ex:3: My.f/1" are frames: what went wrong stands before them.
        const bool frame = !lines.empty() && line.starts_with('(');
        if (!frame && !line.empty()) lines += (lines.empty() ? "" : " ") + line;
        line.clear();
        return !frame;
    };
    bool more = true;
    for (const char c : text) {
        if (!more || lines.size() > most) break;
        if (c == '\n' || c == '\r') more = take_line();
        else if (c == '\t' || (c == ' ' && line.ends_with(' '))) line += line.ends_with(' ') ? "" : " ";
        else line += c;
    }
    if (more) take_line();
    while (lines.ends_with('.') || lines.ends_with(' ')) lines.pop_back();
    if (lines.size() <= most) return lines;
    std::size_t end = most;
    while (end > most - 4 && (static_cast<unsigned char>(lines[end]) & 0xC0) == 0x80) --end;
    return lines.substr(0, end) + "...";
}

std::string library_error(std::string_view text) {
    constexpr std::string_view before = "NIF library";
    if (const std::size_t at = text.find(before); at != text.npos) {
        text.remove_prefix(at + before.size());
        while (!text.empty() && (text.front() == ':' || text.front() == ' ' || text.front() == '\''))
            text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == '\'' || text.back() == '.' || text.back() == '"')) text.remove_suffix(1);
    // "/opt/shop/priv/shop_nif.so: cannot open shared object file: No such file or directory"
    const std::size_t end = text.starts_with('/') ? text.find(": ") : text.npos;
    if (end == text.npos) return one_line(text, 90);
    return path_text(text.substr(0, end), 36) + one_line(text.substr(end), 60);
}

std::string path_text(std::string_view path, std::size_t most) {
    if (path.size() <= most) return one_line(path, most);
    std::size_t begin = path.find('/', path.size() - most);
    if (begin == path.npos) begin = path.size() - most;
    while (begin < path.size() && (static_cast<unsigned char>(path[begin]) & 0xC0) == 0x80) ++begin;
    return "..." + one_line(path.substr(begin), most);
}

}  // namespace beamheap::analyses
