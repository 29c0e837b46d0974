// SPDX-License-Identifier: Apache-2.0
// Reads patterns (pattern.hpp) while the program is compiled. Included by pattern.hpp alone.
#pragma once

#include "erlang/pattern.hpp"

namespace beamheap::erlang {

class PatternParser {
public:
    constexpr PatternParser(Pattern& pattern, std::string_view text) : pattern_(pattern), text_(text) {}

    constexpr void run() {
        if (text_.size() > 0xFFFF) throw "a pattern of more than 65,535 characters";
        pattern_.size_ = 1;  // node 0 stands for "none"
        pattern_.root_ = either(0, true);
        blanks();
        if (at_ != text_.size()) throw "something stands behind the pattern";
    }

private:
    using Kind = Pattern::Kind;
    using Node = Pattern::Node;

    constexpr char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    constexpr void blanks() {
        while (peek() == ' ' || peek() == '\n') ++at_;
    }
    constexpr bool take(std::string_view what) {
        blanks();
        if (!text_.substr(at_).starts_with(what)) return false;
        at_ += what.size();
        return true;
    }
    constexpr void want(std::string_view what, const char* otherwise) {
        if (!take(what)) throw otherwise;
    }
    static constexpr bool small(char c) { return c >= 'a' && c <= 'z'; }
    static constexpr bool capital(char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }
    static constexpr bool digit(char c) { return c >= '0' && c <= '9'; }
    static constexpr bool of_word(char c) { return small(c) || capital(c) || digit(c) || c == '@'; }

    constexpr std::uint8_t add(Node node) {
        if (pattern_.size_ == Pattern::most_nodes) throw "a pattern has at most 63 parts";
        pattern_.nodes_[pattern_.size_] = node;
        return pattern_.size_++;
    }
    constexpr Node& node(std::uint8_t i) { return pattern_.nodes_[i]; }
    /// Puts a child behind the last one of a parent.
    constexpr void append(std::uint8_t parent, std::uint8_t& last, std::uint8_t child) {
        (last == 0 ? node(parent).first : node(last).next) = child;
        last = child;
    }
    static constexpr Node with(Kind kind, std::size_t at = 0, std::size_t length = 0) {
        Node made;
        made.kind = kind;
        made.at = static_cast<std::uint16_t>(at);
        made.length = static_cast<std::uint16_t>(length);
        return made;
    }

    /// P | Q | R; not directly within a list, where a bar begins the tail.
    constexpr std::uint8_t either(int level, bool bars) {
        if (level > Pattern::deepest) throw "a pattern goes at most 24 levels deep";
        const std::uint8_t first = typed(level);
        if (!bars || !take("|")) return first;
        const std::uint8_t made = add(with(Kind::either));
        std::uint8_t last = 0;
        append(made, last, first);
        do append(made, last, typed(level));
        while (take("|"));
        return made;
    }

    /// P = Q, P :: type()
    constexpr std::uint8_t typed(int level) {
        std::uint8_t made = texts(level);
        if (take("=")) {
            const std::uint8_t both = add(with(Kind::both));
            std::uint8_t last = 0;
            append(both, last, made);
            append(both, last, texts(level));
            made = both;
        }
        if (!take("::")) return made;
        blanks();
        const std::size_t from = at_;
        while (of_word(peek())) ++at_;
        const std::uint8_t type = add(with(Kind::typed));
        node(type).number = static_cast<std::uint8_t>(type_of(text_.substr(from, at_ - from)));
        node(type).first = made;
        want("(", "a type ends in ()");
        want(")", "a type ends in ()");
        return type;
    }
    static constexpr Type type_of(std::string_view word) {
        constexpr std::array<std::string_view, 10> words{"any",  "atom",  "pid", "port", "integer",
                                                         "list", "tuple", "map", "text", "known"};
        for (std::size_t i = 0; i < words.size(); ++i)
            if (words[i] == word) return static_cast<Type>(i);
        throw "a type is one of any, atom, pid, port, integer, list, tuple, map, text, known";
    }

    /// "text" ++ Name ++ "text"
    constexpr std::uint8_t texts(int level) {
        const std::uint8_t first = simple(level);
        if (!take("++")) return first;
        std::uint8_t made = first, last = 0;
        if (node(first).kind == Kind::text) {
            last = node(first).first;
        } else {
            made = add(with(Kind::text));
            append(made, last, first);
        }
        do {
            const std::uint8_t more = simple(level);
            const bool was_literal = node(last).kind == Kind::atom, literal = node(more).kind == Kind::text;
            const std::uint8_t piece = literal ? node(more).first : more;
            if (piece == 0 || was_literal == literal) throw "between ++ texts and names stand in turn";
            append(made, last, piece);
        } while (take("++"));
        for (std::uint8_t i = node(made).first; i != 0; i = node(i).next)
            if (node(i).kind != Kind::atom && node(i).kind != Kind::any && node(i).kind != Kind::name)
                throw "between ++ stand texts and names";
        return made;
    }

    constexpr std::uint8_t simple(int level) {
        blanks();
        const char c = peek();
        if (c == '{') return tuple(level);
        if (c == '[') return list(level);
        if (c == '#') return map(level);
        if (c == '"') return text();
        if (c == '(') {
            ++at_;
            const std::uint8_t made = either(level + 1, true);
            want(")", "a parenthesis is not closed");
            return made;
        }
        if (capital(c)) return name();
        if (digit(c) || c == '-') return integer();
        return atom();
    }

    constexpr std::uint8_t tuple(int level) {
        ++at_;
        const std::uint8_t made = add(with(Kind::tuple));
        std::uint8_t last = 0;
        while (!take("}")) {
            if (last != 0) want(",", "elements of a tuple stand between commas");
            if (take("...")) {
                node(made).kind = Kind::open_tuple;
                want("}", "... stands at the end of a tuple");
                break;
            }
            append(made, last, either(level + 1, true));
        }
        return made;
    }

    constexpr std::uint8_t list(int level) {
        ++at_;
        if (take("...")) {
            const std::uint8_t made = add(with(Kind::somewhere));
            want(",", "[..., P, ...] is a list with an element P");
            node(made).first = either(level + 1, false);
            want(",", "[..., P, ...] is a list with an element P");
            want("...", "[..., P, ...] is a list with an element P");
            want("]", "[..., P, ...] is a list with an element P");
            return made;
        }
        const std::uint8_t made = add(with(Kind::list));
        std::uint8_t last = 0;
        while (!take("]")) {
            if (last != 0 && take("|")) {
                node(made).kind = Kind::cells;
                append(made, last, either(level + 1, false));
                want("]", "one pattern stands behind the bar of a list");
                break;
            }
            if (last != 0) want(",", "elements of a list stand between commas");
            append(made, last, either(level + 1, false));
        }
        return made;
    }

    constexpr std::uint8_t map(int level) {
        want("#{", "a map begins with #{");
        const std::uint8_t made = add(with(Kind::map));
        std::uint8_t last = 0;
        while (!take("}")) {
            if (last != 0) want(",", "pairs of a map stand between commas");
            blanks();
            append(made, last, atom());
            want(":=", "key := pattern");
            append(made, last, either(level + 1, true));
        }
        return made;
    }

    /// Without escapes: the characters between the quotes are the text's own.
    constexpr std::uint8_t text() {
        const std::size_t from = ++at_;
        while (at_ < text_.size() && peek() != '"') ++at_;
        if (at_ == text_.size()) throw "a text is not closed";
        ++at_;
        const std::uint8_t made = add(with(Kind::text));
        if (at_ - 1 == from) throw "a text has characters; [] is an empty one";
        const std::uint8_t piece = add(with(Kind::atom, from, at_ - 1 - from));
        node(made).first = piece;
        return made;
    }

    constexpr std::uint8_t name() {
        const std::size_t from = at_;
        while (of_word(peek())) ++at_;
        if (text_[from] == '_') return add(with(Kind::any));
        const std::string_view word = text_.substr(from, at_ - from);
        std::size_t i = 0;
        while (i < pattern_.names_ && pattern_.name(i) != word) ++i;
        if (i == Pattern::most_names) throw "a pattern has at most 12 names";
        if (i == pattern_.names_) {
            pattern_.name_at_[i] = static_cast<std::uint16_t>(from);
            pattern_.name_length_[i] = static_cast<std::uint16_t>(word.size());
            ++pattern_.names_;
        }
        const std::uint8_t made = add(with(Kind::name, from, word.size()));
        node(made).number = static_cast<std::uint8_t>(i);
        return made;
    }

    constexpr std::uint8_t integer() {
        const std::size_t from = at_;
        if (peek() == '-') ++at_;
        if (!digit(peek())) throw "no number stands behind the minus";
        while (digit(peek())) ++at_;
        if (at_ - from > 18) throw "a number of more than 18 digits";
        return add(with(Kind::integer, from, at_ - from));
    }

    constexpr std::uint8_t atom() {
        std::size_t from = at_;
        if (peek() == '\'') {
            from = ++at_;
            while (at_ < text_.size() && peek() != '\'') ++at_;
            if (at_ == text_.size()) throw "a quoted atom is not closed";
            return add(with(Kind::atom, from, at_++ - from));
        }
        if (!small(peek())) throw "no pattern begins so";
        while (of_word(peek())) ++at_;
        return add(with(Kind::atom, from, at_ - from));
    }

    Pattern& pattern_;
    std::string_view text_;
    std::size_t at_ = 0;
};

constexpr Pattern::Pattern(Literal literal) : text_(literal.text) { PatternParser(*this, literal.text).run(); }

}  // namespace beamheap::erlang
