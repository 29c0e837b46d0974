// SPDX-License-Identifier: Apache-2.0
// Printed terms read back (parse_term). The grammar is what io_lib:print/1 and io_lib:write/1 produce, OTP R10 to 29;
// what they leave out (`_`, `...`) and what is cut off stands as an element of kind `unknown`.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "erlang/erlang_syntax.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap {

class TermParser {
public:
    explicit TermParser(std::string_view text) : text_(text) {}

    std::unique_ptr<OwnedTerm> run() {
        term_->root_ = value(0);
        blanks();
        if (!done()) term_->strange_ = true;  // words that only begin like a term
        return std::move(term_);
    }
    std::unique_ptr<OwnedTerm> run_text() {
        term_->root_ = characters(text_);
        return std::move(term_);
    }

private:
    static constexpr int deepest = 64;

    bool done() const { return at_ >= text_.size(); }
    char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    bool begins(std::string_view with) const { return text_.substr(at_).starts_with(with); }
    bool take(std::string_view what) {
        blanks();
        if (!begins(what)) return false;
        at_ += what.size();
        return true;
    }
    void blanks() {
        while (!done() && (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r')) ++at_;
    }
    static bool digit(char c) { return c >= '0' && c <= '9'; }
    static bool word(char c) {
        return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '@' ||
               static_cast<unsigned char>(c) >= 0x80;
    }
    static Element nil() {
        Element element;
        element.kind = ElementKind::nil;
        return element;
    }
    Element unknown() {
        term_->cut_ = true;
        return {};
    }

    Element value(int level) {
        blanks();
        if (done() || level > deepest) return unknown();
        const char c = peek();
        if (c == '{') return tuple(level);
        if (c == '[') return list(level);
        if (c == '"') return string();
        if (begins("<<")) return binary();
        if (begins("#{")) return map(level);
        if (begins("#Ref<") || begins("#Port<") || begins("#Fun<")) return special();
        if (c == '<' && digit(peek(1))) return pid();
        if (digit(c) || (c == '-' && digit(peek(1)))) return number();
        if (begins("fun ")) at_ += 4;
        if (c == '\'' || (c >= 'a' && c <= 'z'))
            return level > 0 && (words_follow() || is_odd_name()) ? bare() : atom();
        // What init leaves out without a trace, a map or a binary (init.erl up to 25): {a,,b}, [a,].
        if (level > 0 && (c == ',' || c == ']' || c == '}')) return unknown();
        const bool path = begins("./") || begins("../");
        return level > 0 && c != '_' && (c != '.' || path) ? bare() : junk();
    }

    std::size_t end_of_word() const {
        std::size_t end = at_;
        while (end < text_.size() && word(text_[end])) ++end;
        return end;
    }

    // Whether an atom without quotes goes on with a blank and another word: a text that was printed without its own.
    bool words_follow() const {
        const std::size_t end = end_of_word();
        if (end == at_ || end >= text_.size() || text_[end] != ' ') return false;
        const std::size_t next = text_.find_first_not_of(" \n", end);
        return next != std::string_view::npos && word(text_[next]);
    }

    // Whether a name that has more than a word's letters stands alone between delimiters: start_mine.boot, my-module,
    // ./ebin/shop, start().
    bool is_odd_name() const {
        std::size_t end = at_;
        while (end < text_.size() && (word(text_[end]) || std::string_view(".-/()+").find(text_[end]) != text_.npos))
            ++end;
        return end > end_of_word() && end < text_.size() &&
               std::string_view(",]}").find(text_[end]) != std::string_view::npos;
    }

    // Where a text without quotes ends: at a delimiter outside of its own brackets; a comma before a blank is its own.
    std::size_t end_of_text() const {
        std::size_t open = 0, at = at_;
        for (; at < text_.size(); ++at) {
            const char c = text_[at];
            if (c == '[' || c == '{') ++open;
            if ((c == ']' || c == '}') && open-- == 0) return at;
            if (c == ',' && open == 0 && (at + 1 >= text_.size() || text_[at + 1] != ' ')) return at;
        }
        return at;
    }

    // An atom or a text that init printed without its quotes (init.erl up to 25): Elixir.Kernel.CLI, +, X, not set.
    Element bare() {
        const std::size_t end =
            words_follow() ? end_of_text() : std::min(text_.find_first_of(",]}|{[\"\n", at_), text_.size());
        const bool whole =
            end != at_ && end != text_.size() && std::string_view(",]}|").find(text_[end]) != std::string_view::npos;
        if (!whole) return junk();
        const std::string_view name = text_.substr(at_, end - at_);
        at_ = end;
        if (name.find(' ') != std::string_view::npos) return characters(name);
        Element element;
        element.kind = ElementKind::atom;
        element.text = term_->keep(name);
        return element;
    }

    // What is no term up to the next delimiter; always consumes something, but never the delimiter that ends it.
    Element junk() {
        const std::size_t from = at_;
        if (!done() && peek() != '_') term_->strange_ = true;
        while (!done() && std::string_view(",]}|)").find(peek()) == std::string_view::npos) ++at_;
        if (at_ == from && !done()) ++at_;
        return unknown();
    }

    // Whether what begins here with a quote has one that ends it.
    bool has_end_of_quotes() const {
        for (std::size_t at = at_ + 1; at < text_.size(); ++at)
            if (text_[at] == '\\') ++at;
            else if (text_[at] == '\'') return true;
        return false;
    }

    Element atom() {
        std::string name;
        std::size_t used = 0;
        bool quoted = false;
        if (peek() == '\'' && !has_end_of_quotes()) {  // the text ends within it
            at_ = text_.size();
            return unknown();
        }
        if (!read_name(text_.substr(at_), name, used, quoted) || used == 0) return junk();
        // read_name takes dots, for Elixir's sake; a printed plain atom has none.
        if (!quoted) {
            std::size_t end = end_of_word();
            if (end < text_.size() && (text_[end] == '!' || text_[end] == '?'))
                ++end;  // Elixir's, printed without quotes
            name = text_.substr(at_, end - at_);
            used = std::max<std::size_t>(end - at_, 1);
        }
        at_ += used;
        Element element;
        element.kind = ElementKind::atom;
        element.text = term_->keep(name);
        if (peek() == ':' && word(peek(1))) return external_fun(element);
        return element;
    }

    // m:f/a as in `fun m:f/a`: only where it stands alone, as a term.
    Element external_fun(const Element& module) {
        const std::size_t from = at_;
        ++at_;
        const std::size_t end = end_of_word();
        const std::string_view function = text_.substr(at_, end - at_);
        at_ = end;
        std::uint32_t arity = 0;
        if (peek() == '/' && digit(peek(1))) {
            const auto [after, error] = std::from_chars(text_.data() + at_ + 1, text_.data() + text_.size(), arity);
            if (error == std::errc{}) {
                at_ = static_cast<std::size_t>(after - text_.data());
                ObjectHead head;
                head.kind = TermKind::external_fun;
                head.module = module.text;
                head.function = term_->keep(function);
                head.arity = arity;
                return term_->add(head);
            }
        }
        at_ = from;
        junk();
        return module;
    }

    Element number() {
        std::size_t end = at_ + (peek() == '-' ? 1 : 0);
        while (end < text_.size() && digit(text_[end])) ++end;
        const bool real = end + 1 < text_.size() && text_[end] == '.' && digit(text_[end + 1]);
        if (real) {
            ++end;
            while (end < text_.size() && (digit(text_[end]) || text_[end] == 'e' || text_[end] == 'E' ||
                                          ((text_[end] == '-' || text_[end] == '+') && (text_[end - 1] | 0x20) == 'e')))
                ++end;
        }
        const std::string_view digits = text_.substr(at_, end - at_);
        at_ = end;
        Element element;
        ObjectHead head;
        if (real) {
            head.kind = TermKind::float_number;
            head.number = std::strtod(std::string(digits).c_str(), nullptr);
            return term_->add(head);
        }
        const auto [after, error] = std::from_chars(digits.data(), digits.data() + digits.size(), element.number);
        if (error == std::errc{}) {
            element.kind = ElementKind::small;
            return element;
        }
        head.kind = TermKind::bignum;
        head.digits = term_->keep(digits);
        return term_->add(head);
    }

    bool take_number(std::uint64_t& out) {
        const auto [after, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), out);
        if (error != std::errc{}) return false;
        at_ = static_cast<std::size_t>(after - text_.data());
        return true;
    }

    Element pid() {
        const std::size_t from = at_++;
        std::uint64_t node = 0, number = 0, serial = 0;
        const bool whole = take_number(node) && take(".") && take_number(number) && take(".") && take_number(serial) &&
                           take(">") && node <= 0xFFFFFFFFu && number < 0xFFFFFFFFu && serial <= 0xFFFFFFFFu;
        if (!whole) {
            at_ = from;
            return junk();
        }
        Element element;
        element.kind = ElementKind::pid;
        element.pid = {static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(number),
                       static_cast<std::uint32_t>(serial)};
        return element;
    }

    // #Port<0.5>; references and funs keep what can be told of them.
    Element special() {
        const std::size_t end = std::min(text_.find('>', at_), text_.size());
        const std::string_view whole = text_.substr(at_, end - at_);
        const std::string_view inner = whole.substr(std::min(whole.find('<') + 1, whole.size()));
        at_ = std::min(end + 1, text_.size());
        Element element;
        ObjectHead head;
        if (whole.starts_with("#Port<")) {
            std::uint64_t node = 0;
            const auto [dot, error] = std::from_chars(inner.data(), inner.data() + inner.size(), node);
            if (error == std::errc{} && dot != inner.data() + inner.size() && node <= 0xFFFFFFFFu) {
                element.kind = ElementKind::port;
                element.port.node = static_cast<std::uint32_t>(node);
                std::from_chars(dot + 1, inner.data() + inner.size(), element.port.number);
                return element;
            }
            return unknown();
        }
        if (whole.starts_with("#Ref<")) {
            head.kind = TermKind::reference;
            std::vector<std::uint32_t> words;
            for (std::size_t i = 0; i < inner.size();) {
                std::uint64_t number = 0;
                const auto [after, error] = std::from_chars(inner.data() + i, inner.data() + inner.size(), number);
                if (error != std::errc{}) break;
                words.push_back(static_cast<std::uint32_t>(number));
                i = static_cast<std::size_t>(after - inner.data()) + 1;
            }
            if (!words.empty()) words.erase(words.begin());  // the node
            std::reverse(words.begin(), words.end());
            head.numbers = static_cast<unsigned>(std::min(words.size(), head.words.size()));
            std::copy_n(words.begin(), head.numbers, head.words.begin());
            return term_->add(head);
        }
        head.kind = TermKind::fun;
        head.module = term_->keep(inner.substr(0, inner.find('.')));
        return term_->add(head);
    }

    Element tuple(int level) {
        ++at_;
        ObjectHead head;
        head.kind = TermKind::tuple;
        bool closed = false;
        std::vector<Element> elements = sequence("}", level, closed);
        head.elements = elements.size();
        const Element made = term_->add(head);
        term_->object(made).elements = std::move(elements);
        term_->object(made).ends_early = !closed && done();
        return made;
    }

    // Elements up to `close`, to a bar, or to the end of the text. `closed` tells whether it was the first.
    std::vector<Element> sequence(std::string_view close, int level, bool& closed) {
        std::vector<Element> elements;
        while (!(closed = take(close))) {
            if (done()) {
                term_->cut_ = true;
                break;
            }
            if (take("...")) {
                term_->cut_ = true;
                continue;
            }
            if (!elements.empty() && !take(",") && peek() != '|') {
                junk();
                continue;
            }
            if (peek() == '|') break;
            elements.push_back(value(level + 1));
        }
        return elements;
    }

    Element cons(const Element& first, const Element& rest) {
        ObjectHead head;
        head.kind = TermKind::cons;
        head.elements = 2;
        const Element made = term_->add(head);
        term_->object(made).elements = {first, rest};
        return made;
    }

    Element list(int level) {
        ++at_;
        bool closed = false;
        std::vector<Element> elements = sequence("]", level, closed);
        Element tail = nil();
        if (!closed && take("|")) {
            tail = take("...") ? unknown() : value(level + 1);
            while (!done() && !take("]")) junk();
        } else if (!closed) tail = unknown();  // cut
        for (auto element = elements.rbegin(); element != elements.rend(); ++element) tail = cons(*element, tail);
        return tail;
    }

    // The code points between double quotes; `wide` of the text is UTF-8 where it is valid, else Latin-1.
    std::string quoted() {
        std::string text;
        for (++at_; !done() && peek() != '"'; ++at_) {
            if (peek() != '\\' || at_ + 1 >= text_.size()) {
                text += peek();
                continue;
            }
            ++at_;
            switch (peek()) {
                case 'n': text += '\n'; break;
                case 't': text += '\t'; break;
                case 'r': text += '\r'; break;
                case 'e': text += '\x1b'; break;
                case 's': text += ' '; break;
                default: text += peek();
            }
        }
        if (done()) term_->cut_ = true;
        else ++at_;
        return text;
    }

    Element string() { return characters(quoted()); }
    Element characters(std::string_view text) {
        Element tail = nil();
        std::vector<std::uint32_t> codes;
        for (std::size_t i = 0; i < text.size();) {
            const auto first = static_cast<unsigned char>(text[i]);
            const std::size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
            if (first < 0xC2 || i + length > text.size()) {
                codes.push_back(first);
                ++i;
                continue;
            }
            std::uint32_t code = first & (0xFFu >> (length + 1));
            bool valid = true;
            for (std::size_t j = 1; j < length; ++j) {
                const auto next = static_cast<unsigned char>(text[i + j]);
                valid = valid && (next & 0xC0) == 0x80;
                code = code << 6 | (next & 0x3Fu);
            }
            codes.push_back(valid ? code : first);
            i += valid ? length : 1;
        }
        for (auto code = codes.rbegin(); code != codes.rend(); ++code) {
            Element element;
            element.kind = ElementKind::small;
            element.number = *code;
            tail = cons(element, tail);
        }
        return tail;
    }

    Element binary() {
        at_ += 2;
        std::string bytes;
        while (!take(">>") && !done()) {
            if (peek() == '"') {
                bytes += quoted();
                if (take("/utf8")) continue;
            } else if (std::uint64_t byte = 0; digit(peek()) && take_number(byte)) {
                bytes += static_cast<char>(byte & 0xFF);
            } else {
                term_->cut_ |= begins("...");
                ++at_;
            }
        }
        ObjectHead head;
        head.kind = TermKind::heap_binary;
        head.size = bytes.size();
        const Element made = term_->add(head);
        term_->object(made).bytes = term_->keep(bytes);
        return made;
    }

    Element map(int level) {
        at_ += 2;
        std::vector<Element> keys, values;
        while (!take("}")) {
            if (done()) {
                term_->cut_ = true;
                break;
            }
            if (take(",")) continue;
            if (take("...")) {
                term_->cut_ = true;
                continue;
            }
            const std::size_t from = at_;
            const Element key = value(level + 1);
            if (!take("=>")) {
                if (at_ == from) ++at_;
                term_->cut_ = true;
                continue;
            }
            keys.push_back(key);
            values.push_back(value(level + 1));
        }
        ObjectHead keys_head;
        keys_head.kind = TermKind::tuple;
        keys_head.elements = keys.size();
        const Element key_tuple = term_->add(keys_head);
        ObjectHead head;
        head.kind = TermKind::flat_map;
        head.size = keys.size();
        head.elements = keys.size() + 1;
        term_->object(key_tuple).elements = std::move(keys);
        const Element made = term_->add(head);
        values.insert(values.begin(), key_tuple);
        term_->object(made).elements = std::move(values);
        return made;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::unique_ptr<OwnedTerm> term_ = std::make_unique<OwnedTerm>();
};

std::unique_ptr<OwnedTerm> parse_term(std::string_view printed) { return TermParser(printed).run(); }

std::unique_ptr<OwnedTerm> text_term(std::string_view text) { return TermParser(text).run_text(); }

}  // namespace beamheap
