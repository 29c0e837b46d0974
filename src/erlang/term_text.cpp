// SPDX-License-Identifier: Apache-2.0
#include "erlang/term_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "erlang/erlang_syntax.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::erlang {
namespace {

constexpr std::string_view left_out = "...";
constexpr std::size_t most_elements_shown = 32;  // of one tuple or list

bool is_plain_text(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7F'; });
}

std::string between_quotes(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

/// What is left to write: a term, or text of ours.
struct LeftToWrite {
    Element term;
    std::string_view text;
};

class TextOfTerm {
public:
    TextOfTerm(TermSource& terms, std::size_t limit) : terms_(terms), limit_(limit) {}

    std::string run(const Element& term) {
        left_.push_back({term, {}});
        while (!left_.empty() && out_.size() < limit_) {
            const LeftToWrite next = left_.back();
            left_.pop_back();
            if (!next.text.empty()) out_ += next.text;
            else write(next.term);
        }
        if (!left_.empty()) out_ += left_out;
        return std::move(out_);
    }

private:
    void write(const Element& term) {
        switch (term.kind) {
            case ElementKind::nil: out_ += "[]"; return;
            case ElementKind::small: out_ += fmt::format("{}", term.number); return;
            case ElementKind::atom: out_ += atom_text(term.text); return;
            case ElementKind::pid: out_ += pid_text(term.pid); return;
            case ElementKind::port: out_ += port_text(term.port); return;
            case ElementKind::object: object(term); return;
            default: out_ += left_out;
        }
    }

    void object(const Element& term) {
        const ObjectHead head = terms_.head(term.id);
        switch (head.kind) {
            case TermKind::tuple: return tuple(term.id);
            case TermKind::cons: return list(term);
            case TermKind::bignum: out_ += head.digits.size() <= limit_ ? head.digits : left_out; return;
            case TermKind::float_number: out_ += fmt::format("{}", head.number); return;
            case TermKind::heap_binary:
            case TermKind::refc_binary:
            case TermKind::sub_binary: return binary(term.id);
            default: out_ += left_out;
        }
    }

    void tuple(ObjectId id) {
        std::vector<Element> elements;
        ElementCursor cursor = terms_.elements(id);
        for (Element element; elements.size() < most_elements_shown && terms_.next(cursor, element);)
            elements.push_back(element);
        put("{", elements, cursor.left != 0, "}");
    }

    void list(const Element& term) {
        const TermReader reader(terms_);
        if (const auto text = reader.text(term, limit_); text && !text->empty() && is_plain_text(*text)) {
            out_ += between_quotes(*text);
            return;
        }
        const std::vector<Element> elements = reader.list(term, most_elements_shown);
        put("[", elements, elements.size() == most_elements_shown || !reader.is_proper(term), "]");
    }

    void put(std::string_view open, const std::vector<Element>& elements, bool more, std::string_view close) {
        left_.push_back({{}, close});
        if (more) {
            left_.push_back({{}, left_out});
            if (!elements.empty()) left_.push_back({{}, ","});
        }
        for (std::size_t i = elements.size(); i-- > 0;) {
            left_.push_back({elements[i], {}});
            if (i != 0) left_.push_back({{}, ","});
        }
        out_ += open;
    }

    void binary(ObjectId id) {
        std::string bytes;
        const Bytes had = terms_.bytes(id, 0, limit_, bytes);
        if (had == Bytes::absent) {
            out_ += left_out;
            return;
        }
        out_ += "<<";
        if (!bytes.empty() && is_plain_text(bytes)) {
            out_ += between_quotes(bytes);
        } else {
            for (std::size_t i = 0; i < std::min(bytes.size(), limit_ / 2); ++i)
                out_ += fmt::format("{}{}", i == 0 ? "" : ",", static_cast<unsigned char>(bytes[i]));
        }
        out_ += ">>";
    }

    TermSource& terms_;
    std::size_t limit_;
    std::vector<LeftToWrite> left_;
    std::string out_;
};

}  // namespace

std::string term_text(TermSource& terms, const Element& term, std::size_t limit) {
    return TextOfTerm(terms, limit).run(term);
}

}  // namespace beamheap::erlang
