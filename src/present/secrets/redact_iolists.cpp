// SPDX-License-Identifier: Apache-2.0
// One pass with a stack of open lists. A list that holds something else than text is none of ours, nor is any list
// around it; those that were closed inside of it stay what they are, so that no text is read twice for that.
#include "present/secrets/redact_iolists.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "present/secrets/redact_lex.hpp"

namespace beamheap::present {
namespace {

using namespace lex;

class IolistScan {
public:
    IolistScan(std::string_view text, const std::vector<std::string>& known, Unpacking& unpacking)
        : text_(text), known_(known), unpacking_(unpacking) {}

    std::string run() {
        while (true) {
            if (open_.empty()) {
                const std::size_t next = text_.find('[', i_);
                if (next == text_.npos) break;
                i_ = next;
            }
            if (!element()) give_up();
        }
        out_.append(text_, kept_, text_.npos);
        return std::move(out_);
    }

private:
    /// A literal, a character or an atom: where it stands, and what of the text is its own.
    struct Piece {
        TextSpan source;  // of what is replaced: inside of its quotes, or all of a number
        bool number = false;
        bool atom = false;
        std::size_t flat = 0;  // where its text begins in that of the list
        std::size_t length = 0;
        char character = 0;  // of a number
    };
    struct Open {
        std::size_t pieces;  // how many there were before
        std::size_t closed;
    };
    struct Closed {
        std::size_t first, last;  // of its pieces
    };

    // One step: an element, or the end of a list. False: this is no iolist.
    bool element() {
        i_ = skip_spaces(text_, i_);
        const char c = at(text_, i_);
        if (i_ >= text_.size() || starts(text_, i_, "...")) return cut();
        if (c == '[') {
            open_.push_back({pieces_.size(), closed_.size()});
            ++i_;
            return true;
        }
        if (c == ']') {
            close();
            return open_.empty() || separated();
        }
        if (c == '"') quoted(i_, false);
        else if (c == '~' && letter(at(text_, i_ + 1)) && at(text_, i_ + 2) == '"') quoted(i_ + 2, false);
        else if (c == '\'') quoted(i_, true);
        else if (c == ':' && at(text_, i_ + 1) == '"') quoted(i_ + 1, true);
        else if (starts(text_, i_, "<<")) {
            if (!binary()) return false;
        } else if (digit(c)) number();
        else if (lower(c) || (c == ':' && lower(at(text_, i_ + 1)))) {
            if (!plain_atom()) return false;
        } else return false;
        return separated();
    }
    // Behind an element: a comma, a bar, or what ends the list.
    bool separated() {
        i_ = skip_spaces(text_, i_);
        const char c = at(text_, i_);
        if (c == ',' || c == '|') {
            ++i_;
            return true;
        }
        return c == ']' || i_ >= text_.size() || starts(text_, i_, "...");
    }

    void quoted(std::size_t quote, bool atom) {
        const std::size_t end = skip_quoted(text_, quote);
        const bool closed = end > quote + 1 && text_[end - 1] == text_[quote];
        pieces_.push_back({.source = {quote + 1, end - (closed ? 1 : 0)}, .atom = atom});
        i_ = end;
    }
    bool binary() {
        i_ += 2;
        while (i_ < text_.size() && !starts(text_, i_, ">>")) {
            const char c = text_[i_];
            if (c == '"') quoted(i_, false);
            else if (digit(c)) number();
            else if (c == ',' || c == ' ') ++i_;
            else if (starts(text_, i_, "...")) return true;
            else return false;  // <<1024 bytes>>
        }
        i_ = std::min(i_ + 2, text_.size());
        return true;
    }
    void number() {
        const std::size_t begin = i_;
        std::uint32_t value = 0;
        for (; digit(at(text_, i_)); ++i_)
            if (value < 0x1000000) value = value * 10 + static_cast<std::uint32_t>(text_[i_] - '0');
        pieces_.push_back(
            {.source = {begin, i_}, .number = true, .character = value < 256 ? static_cast<char>(value) : '?'});
    }
    bool plain_atom() {
        if (text_[i_] == ':') ++i_;
        const std::size_t begin = i_;
        while (word(at(text_, i_)) || at(text_, i_) == '@') ++i_;
        pieces_.push_back({.source = {begin, i_}, .atom = true});
        return true;
    }

    void close() {
        ++i_;
        const Open list = open_.back();
        open_.pop_back();
        closed_.resize(list.closed);
        closed_.push_back({list.pieces, pieces_.size()});
        if (open_.empty()) settle();
    }
    // The text ends within lists: what is there of the outermost is a text, too.
    bool cut() {
        const Open outermost = open_.front();
        open_.clear();
        closed_.resize(outermost.closed);
        closed_.push_back({outermost.pieces, pieces_.size()});
        settle();
        return true;
    }
    void give_up() {
        open_.clear();
        settle();
        if (at(text_, i_) == '[') return;
        // A string is passed as a whole: brackets in it are no lists.
        i_ = at(text_, i_) == '"' ? skip_quoted(text_, i_) : std::min(i_ + 1, text_.size());
    }

    // The lists that are complete are read, and forgotten.
    void settle() {
        for (const Closed& list : closed_) read(list);
        closed_.clear();
        pieces_.clear();
    }
    void read(const Closed& list) {
        constexpr std::size_t least_text = 5;
        if (list.last - list.first < 2) return;
        std::string flat;
        bool numbers = true;
        for (std::size_t p = list.first; p < list.last; ++p) {
            Piece& piece = pieces_[p];
            numbers = numbers && piece.number;
            piece.flat = flat.size();
            if (piece.number) flat += piece.character;
            else flat += text_.substr(piece.source.begin, piece.source.end - piece.source.begin);
            piece.length = flat.size() - piece.flat;
            // What is masked ends: the key of what comes next is not part of it.
            if (flat.ends_with("***")) flat += '\n';
            if (piece.length == 1 && flat.back() == ':')
                flat.back() = '=';  // a colon of its own separates a key from its value
        }
        if (numbers || flat.size() < least_text) return;
        std::vector<TextSpan> spans = secret_spans(flat, known_, unpacking_);
        for (const std::string& secret : known_) {
            if (secret.size() < least_text) continue;
            for (std::size_t found = flat.find(secret); found != flat.npos;
                 found = flat.find(secret, found + secret.size()))
                spans.push_back({found, found + secret.size()});
        }
        std::ranges::sort(spans, {}, &TextSpan::begin);
        mask(list, spans);
    }
    void mask(const Closed& list, const std::vector<TextSpan>& spans) {
        std::size_t p = list.first;
        for (const TextSpan& span : spans) {
            while (p < list.last && pieces_[p].flat + pieces_[p].length <= span.begin) ++p;
            for (std::size_t q = p; q < list.last && pieces_[q].flat < span.end; ++q) {
                const Piece& piece = pieces_[q];
                if (piece.number) {
                    std::size_t last = q;
                    while (last + 1 < list.last && pieces_[last + 1].number && pieces_[last + 1].flat < span.end)
                        ++last;
                    replace({piece.source.begin, pieces_[last].source.end}, "\"***\"");
                    q = last;
                } else if (piece.atom && text_[piece.source.begin - 1] != '\'' &&
                           text_[piece.source.begin - 1] != '"') {
                    replace(piece.source, "'***'");
                } else {
                    const std::size_t from = std::max(span.begin, piece.flat) - piece.flat;
                    const std::size_t to = std::min(span.end, piece.flat + piece.length) - piece.flat;
                    if (from < to) replace({piece.source.begin + from, piece.source.begin + to}, "***");
                }
            }
        }
    }
    void replace(TextSpan span, std::string_view by) {
        if (span.begin < kept_) return;  // two secrets of one piece that overlap
        out_.append(text_, kept_, span.begin - kept_).append(by);
        kept_ = span.end;
    }

    std::string_view text_;
    const std::vector<std::string>& known_;
    Unpacking& unpacking_;
    std::string out_;
    std::size_t i_ = 0;
    std::size_t kept_ = 0;
    std::vector<Piece> pieces_;
    std::vector<Open> open_;
    std::vector<Closed> closed_;
};

}  // namespace

std::string mask_iolists(std::string_view text, const std::vector<std::string>& known, Unpacking& unpacking) {
    return IolistScan(text, known, unpacking).run();
}

}  // namespace beamheap::present
