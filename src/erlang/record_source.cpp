// SPDX-License-Identifier: Apache-2.0
#include "erlang/record_source.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace beamheap::erlang {
namespace {

constexpr std::size_t most_source_records = 10'000, most_source_fields = 1'000, most_includes = 1'000;

struct SourceToken {
    enum class Kind : std::uint8_t { end, atom, quoted_text, mark, other } kind = Kind::end;
    std::string_view text;  ///< of an atom or text what is in it, between its quotes as it stands there
};

constexpr bool source_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool source_lower(char c) { return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0xDF; }
constexpr bool source_word(char c) {
    return source_lower(c) || (c >= 'A' && c <= 'Z') || source_digit(c) || c == '_' || c == '@';
}

class SourceTokens {
public:
    explicit SourceTokens(std::string_view text) : text_(text) {}

    SourceToken next() {
        skip_blanks();
        if (at_ >= text_.size()) return {};
        const char c = text_[at_];
        if (c == '\'') return {SourceToken::Kind::atom, quoted()};
        if (c == '"') return {SourceToken::Kind::quoted_text, quoted()};
        const std::size_t begin = at_;
        if (c == '$') {  // a character
            at_ += at_ + 1 < text_.size() && text_[at_ + 1] == '\\' ? 3 : 2;
            at_ = std::min(at_, text_.size());
            return {SourceToken::Kind::other, text_.substr(begin, at_ - begin)};
        }
        if (source_word(c)) {
            while (at_ < text_.size() && source_word(text_[at_])) ++at_;
            const bool number = source_digit(c);
            if (number && at_ + 1 < text_.size() && text_[at_] == '.' && source_digit(text_[at_ + 1])) {
                ++at_;
                while (at_ < text_.size() && source_word(text_[at_])) ++at_;
            }
            return {source_lower(c) ? SourceToken::Kind::atom : SourceToken::Kind::other,
                    text_.substr(begin, at_ - begin)};
        }
        for (const std::string_view two : {"::", "<<", ">>", "->"})
            if (text_.substr(at_).starts_with(two)) return at_ += 2, SourceToken{SourceToken::Kind::mark, two};
        ++at_;
        return {SourceToken::Kind::mark, text_.substr(begin, 1)};
    }

private:
    void skip_blanks() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '%') at_ = std::min(text_.find('\n', at_), text_.size());
            else if (static_cast<unsigned char>(c) <= ' ') ++at_;
            else break;
        }
    }
    std::string_view quoted() {
        const char quote = text_[at_++];
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
        at_ = std::min(at_, text_.size());
        const std::string_view inside = text_.substr(begin, at_ - begin);
        if (at_ < text_.size()) ++at_;
        return inside;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

class SourceReader {
public:
    SourceReader(std::string_view text, std::string_view module) : tokens_(text), module_(module) { take(); }

    SourceRecords run() {
        // Forms begin at the beginning, and behind a full stop.
        while (token_.kind != SourceToken::Kind::end) {
            form();
            while (token_.kind != SourceToken::Kind::end && !is(".")) take();
            if (is(".")) take();
        }
        return std::move(found_);
    }

private:
    void take() { token_ = tokens_.next(); }
    bool is(std::string_view mark) const { return token_.kind == SourceToken::Kind::mark && token_.text == mark; }
    bool accept(std::string_view mark) { return is(mark) && (take(), true); }
    bool is_atom(std::string_view name) const { return token_.kind == SourceToken::Kind::atom && token_.text == name; }
    std::optional<std::string> name() {
        if (token_.kind == SourceToken::Kind::atom) {
            std::string text(token_.text);
            take();
            return text;
        }
        if (!accept("?")) return std::nullopt;
        const bool module = token_.text == "MODULE";
        take();
        if (!module || module_.empty()) return std::nullopt;
        return std::string(module_);
    }

    void form() {
        if (!accept("-")) return;
        if (is_atom("include") || is_atom("include_lib")) {
            take();
            if (accept("(") && token_.kind == SourceToken::Kind::quoted_text && found_.includes.size() < most_includes)
                found_.includes.emplace_back(token_.text);
            return;
        }
        if (!is_atom("record")) return;
        take();
        if (!accept("(")) return;
        RecordType record;
        const auto named = name();
        if (!named || !accept(",") || !accept("{")) return;
        record.name = *named;
        while (!is("}") && record.fields.size() < most_source_fields) {
            const auto field = name();
            if (!field) return;
            record.fields.push_back(*field);
            pass_value();
            if (!accept(",")) break;
        }
        if (is("}") && found_.records.size() < most_source_records) found_.records.push_back(std::move(record));
    }

    // A default and a type: up to the comma or brace that ends the field.
    void pass_value() {
        std::size_t brackets = 0, blocks = 0;
        bool type = false;
        while (token_.kind != SourceToken::Kind::end) {
            if (brackets == 0 && blocks == 0) {
                if (is(",") || is("}") || is(".")) return;
                if (is("::")) type = true;
            }
            if (is("(") || is("[") || is("{") || is("<<")) ++brackets;
            if ((is(")") || is("]") || is("}") || is(">>")) && brackets != 0) --brackets;
            bool fun = false;
            if (token_.kind == SourceToken::Kind::atom && !type) {
                for (const std::string_view word : {"case", "if", "begin", "receive", "try"})
                    if (token_.text == word) ++blocks;
                fun = token_.text == "fun";
                if (token_.text == "end" && blocks != 0) --blocks;
            }
            take();
            if (fun && is("(")) ++blocks;  // fun m:f/1 has no end
        }
    }

    SourceTokens tokens_;
    std::string_view module_;
    SourceToken token_;
    SourceRecords found_;
};

}  // namespace

SourceRecords records_of_source(std::string_view text, std::string_view module) {
    return SourceReader(text, module).run();
}

}  // namespace beamheap::erlang
