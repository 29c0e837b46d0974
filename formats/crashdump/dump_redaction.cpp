// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/dump_redaction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <unordered_set>
#include <utility>

#include "bytes/window.hpp"
#include "formats/crashdump/data_text.hpp"
#include "formats/crashdump/object_words.hpp"
#include "formats/crashdump/scanner.hpp"
#include "formats/crashdump/term_line.hpp"
#include "formats/external_redaction.hpp"

namespace beamheap::crashdump {
namespace {

constexpr std::size_t hashed_prefix = 4096;  // of a large binary: what its filler's hash is of
constexpr std::size_t chunk = 3 * 16384;     // of a filler, before it is encoded
constexpr std::uint64_t first_ideograph = 0x4E00,
                        ideographs = 20902;     // what other characters than those of ASCII become
constexpr std::size_t distinctive = 8;          // characters of a secret that is looked for within names
constexpr std::size_t first_large_digits = 10;  // 2^32 has ten digits

void encode(TermStyle style, std::string_view raw, std::string& out) {
    constexpr std::string_view base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::string_view hexadecimal = "0123456789ABCDEF";
    for (std::size_t i = 0; i < raw.size(); i += style.base64 ? 3 : 1) {
        const auto byte = [&](std::size_t at) { return at < raw.size() ? static_cast<unsigned char>(raw[at]) : 0u; };
        if (!style.base64) {
            out += hexadecimal[byte(i) >> 4];
            out += hexadecimal[byte(i) & 15];
            continue;
        }
        const unsigned bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
        out += base64[bits >> 18];
        out += base64[bits >> 12 & 63];
        out += i + 1 < raw.size() ? base64[bits >> 6 & 63] : '=';
        out += i + 2 < raw.size() ? base64[bits & 63] : '=';
    }
}

constexpr std::string_view letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// `raw` is overwritten: by the hash, and then by 'x'.
void fill(std::span<char> raw, std::uint64_t hash) {
    for (char& c : raw) {
        c = hash != 0 ? letters[hash % letters.size()] : 'x';
        hash /= letters.size();
    }
}

// The same of any size, encoded as the dump writes data, to `put`, piece by piece.
template <class Put>
void put_filler(TermStyle style, std::uint64_t bytes, std::uint64_t hash, Put put) {
    std::string raw, encoded;
    for (std::uint64_t done = 0; done < bytes; done += raw.size()) {
        raw.assign(static_cast<std::size_t>(std::min<std::uint64_t>(bytes - done, chunk)), 'x');
        if (done == 0) fill(raw, hash);
        encoded.clear();
        encode(style, raw, encoded);
        put(std::string_view(encoded));
    }
}

// What stands in a line of terms, and what is to stand there.
class LineEdits {
public:
    using Leaves = std::unordered_set<std::uint64_t>;
    LineEdits(const RedactionRules& rules, const KeyedValues& keyed, RedactionReport& report, TermStyle style,
              std::string_view text, Leaves& leaves)
        : rules_(rules), keyed_(keyed), report_(report), style_(style), text_(text), leaves_(leaves) {}

    /// Another line begins.
    void line(std::size_t begin, TermSection section) {
        line_ = begin;
        walked_.clear(begin);
        walked_.section = section;
    }
    void element(std::size_t begin, std::size_t end) { walked_.elements.emplace_back(begin, end); }
    /// It was walked to its end: what of it is a secret by a key.
    void line_ended() {
        keyed_.secrets_of(text_, walked_, places_);
        for (const std::size_t place : places_) {
            const auto [begin, end] = walked_.elements[place];
            if (std::ranges::find(edits_, begin + 1, &Edit::begin) != edits_.end()) continue;
            ++report_.integers;
            const std::string_view number = text_.substr(begin + 1, end - begin - 1);
            edit(begin + 1, end, other_digits(number, 0));
        }
        if (!places_.empty()) std::ranges::sort(edits_, {}, &Edit::begin);
    }
    void list_cell(std::size_t at) { head_ = leaves_.contains(address(line_)) ? std::string_view::npos : at + 1; }
    // The pairs of a large map are cells, too: what stands in their heads are keys.
    void map_node(std::size_t begin, std::size_t end) {
        for (std::size_t at = text_.find('H', begin); at < end; at = text_.find('H', at + 1))
            if (text_[at - 1] == ',' || text_[at - 1] == ':') leaves_.insert(address(at + 1));
    }
    void integer(std::size_t begin, std::size_t end) {
        const bool head = begin == head_;
        std::uint64_t value = 0;
        const bool small = std::from_chars(text_.data() + begin, text_.data() + end, value).ec == std::errc{};
        const bool printable =
            (value >= 9 && value <= 13) || (value >= 32 && value < 127) || (value >= 160 && value <= 0x10FFFF);
        if (head && small && printable) {
            ++report_.characters;
            const std::uint64_t hash = rules_.hash(text_.substr(line_, begin - line_));
            edit(begin, end,
                 std::to_string(value < 127 ? static_cast<std::uint64_t>(letters[hash % letters.size()])
                                            : first_ideograph + hash % ideographs));
        } else if (end - begin >= first_large_digits && (value > 0xFFFFFFFF || text_[begin] == '-')) {
            ++report_.integers;
            edit(begin, end, other_digits(text_.substr(begin, end - begin), 0));
        }
    }
    // A small integer's line has no room for more words, a large one's must have as many: the first digits stay, and
    // where the rest would carry it over a word's edge, it is all zeros or all nines.
    void big_integer(std::size_t begin, std::size_t end) {
        constexpr std::size_t kept = 2;
        const std::string_view old = text_.substr(begin, end - begin);
        const std::size_t sign = old.starts_with('-') ? 1 : 0;
        const std::uint64_t words = bignum_words(old.substr(sign), rules_.word_bits);
        std::string other = other_digits(old, kept);
        for (const char fill : {'0', '9'})
            if (bignum_words(std::string_view(other).substr(sign), rules_.word_bits) != words)
                std::fill(other.begin() + static_cast<std::ptrdiff_t>(std::min(other.size(), sign + kept)), other.end(),
                          fill);
        ++report_.integers;
        edit(begin, end, std::move(other));
    }
    void atom(std::size_t begin, std::size_t end) {
        std::string name(text_.substr(begin, end - begin));
        if (!hide(name)) return;
        ++report_.atoms;
        edit(begin, end, std::move(name));
    }
    void binary(std::uint64_t bytes, std::size_t begin, std::size_t end) {
        if (bytes == 0) return;
        ++report_.binaries;
        std::string filler;
        filler.reserve(end - begin);
        put_filler(style_, bytes, hash(begin, end), [&](std::string_view piece) { filler += piece; });
        edit(begin, end, std::move(filler));
    }
    // Funs, references, ports and pids of other nodes, messages of other nodes. What can't be taken apart goes as a
    // whole.
    void external(std::uint64_t bytes, std::size_t begin, std::size_t end) {
        std::string raw;
        append_data(style_, text_.substr(begin, end - begin), raw, static_cast<std::size_t>(bytes));
        if (raw.size() == bytes && !redact_external(
                                       raw,
                                       [&](std::span<char> value) {
                                           fill(value, rules_.hash({value.data(), value.size()}));
                                       },
                                       [&](std::span<char> atom) { return hide(atom); }))
            fill(raw, hash(begin, end));
        ++report_.binaries;
        std::string encoded;
        encode(style_, raw, encoded);
        encoded.resize(end - begin, 'A');
        edit(begin, end, std::move(encoded));
    }
    void fragments(std::size_t begin, std::size_t end) {
        if (begin != end) edit(begin, end, std::string(end - begin, 'A'));
    }

    /// The line [begin, end) as it is to be written, appended to `out`.
    void apply(std::size_t begin, std::size_t end, std::string& out) {
        for (const Edit& each : edits_) {
            out.append(text_, begin, each.begin - begin).append(each.text);
            begin = each.end;
        }
        out.append(text_, begin, end - begin);
        edits_.clear();
    }
    void forget() { edits_.clear(); }

    /// Replaces the secrets in an atom's name or in a line of fields; whether there was one.
    bool hide(std::span<char> name) const {
        const std::string_view whole(name.data(), name.size());
        const bool quoted = name.size() > 2 && name.front() == '\'' && name.back() == '\'';  // as the atom table has it
        const std::string_view bare = quoted ? whole.substr(1, whole.size() - 2) : whole;
        if (keyed_.secret_atom(bare)) {
            fill(name.subspan(quoted ? 1 : 0, bare.size()), rules_.hash(bare));
            return true;
        }
        bool found = false;
        if (rules_.secret_parts)
            for (const auto& [begin, end] : rules_.secret_parts(whole)) {
                fill(name.subspan(begin, end - begin), rules_.hash(whole.substr(begin, end - begin)));
                found = true;
            }
        for (const std::string& secret : rules_.secrets) {
            if (secret.size() < distinctive && secret.size() != name.size()) continue;  // it may be a part of any name
            for (std::size_t at = 0;
                 !secret.empty() &&
                 (at = std::string_view(name.data(), name.size()).find(secret, at)) != std::string_view::npos;) {
                std::ranges::fill(name.subspan(at, secret.size()), 'x');
                at += secret.size();
                found = true;
            }
        }
        return found;
    }

private:
    struct Edit {
        std::size_t begin, end;
        std::string text;
    };
    std::uint64_t address(std::size_t at) const {
        std::uint64_t value = 0;
        std::from_chars(text_.data() + at, text_.data() + text_.size(), value, 16);
        return value;
    }
    void edit(std::size_t begin, std::size_t end, std::string text) { edits_.push_back({begin, end, std::move(text)}); }
    std::uint64_t hash(std::size_t begin, std::size_t end) const {
        return rules_.hash(text_.substr(begin, end - begin));
    }
    // As many digits, of which the first `kept` stay; where none does, the first is a 1: as large at most, and no zero.
    std::string other_digits(std::string_view number, std::size_t kept) const {
        std::string digits(number);
        const std::size_t sign = digits.starts_with('-') ? 1 : 0;
        std::uint64_t block = rules_.hash(number);  // each block of digits is made of the one before
        std::uint64_t random = block;
        for (std::size_t i = sign + kept; i < digits.size(); ++i) {
            digits[i] = static_cast<char>('0' + random % 10);
            random = random / 10 != 0 ? random / 10 : block = rules_.hash(fmt::format("{:x}", block));
        }
        if (kept == 0 && digits.size() > sign) digits[sign] = '1';
        return digits;
    }

    const RedactionRules& rules_;
    const KeyedValues& keyed_;
    RedactionReport& report_;
    TermStyle style_;
    std::string_view text_;
    Leaves& leaves_;
    std::vector<Edit> edits_;
    WalkedLine walked_;
    std::vector<std::size_t> places_;
    std::size_t line_ = 0;
    std::size_t head_ = std::string_view::npos;  // where the integer at a list cell's head would begin
};

// The body of the header; afterwards the scanner knows how the dump's lines are written.
std::string_view take_header(Scanner& scanner, const Scanner::Head& head) {
    bool whole = false;
    std::string_view body = scanner.body(head, Scanner::longest_header, whole);
    if (!whole && body.find("System version: ") == body.npos) {
        scanner.header_without_version = true;
        body = scanner.body(head, Scanner::longest_header, whole);
    }
    const std::size_t line = body.find('\n');
    scanner.style.crlf = line != body.npos && line > 0 && body[line - 1] == '\r';
    scanner.style.base64 = head.id >= "0.5";
    return body;
}

class Copy {
public:
    Copy(bytes::Window& window, const RedactionRules& rules, const KeyedValues& keyed,
         const std::function<Status(std::string_view)>& write)
        : window_(window), rules_(rules), keyed_(keyed), write_(write), scanner_(window, anomalies_) {}

    Result<RedactionReport> run() {
        Scanner::Head head;
        if (!scanner_.next(head) || head.row == nullptr || head.row->body != Body::dump_start)
            return Error{ErrorCode::not_recognised, "is not a crash dump",
                         "Only crash dumps can be copied without their values."};
        header(head);
        while (status_ && !report_.complete && !scanner_.ended_inside() && scanner_.next(head)) section(head);
        if (!status_) return status_.error();
        BH_CHECK(Status(window_.status()));
        return report_;
    }

private:
    void put(std::string_view text) {
        if (status_) status_ = write_(text);
    }
    void put_head(const Scanner::Head& head) {
        const bool colon = !head.id.empty() || head.head_bytes > 2 + head.tag.size() + (scanner_.style.crlf ? 1 : 0);
        std::string id(head.id);
        LineEdits::Leaves none;
        report_.atoms += LineEdits(rules_, keyed_, report_, scanner_.style, {}, none).hide(id) ? 1 : 0;
        put(fmt::format("={}{}{}{}", head.tag, colon ? ":" : "", id, line_end()));
    }
    std::string_view line_end() const { return scanner_.style.crlf ? "\r\n" : "\n"; }

    // The slogan is free text of one line or many; the fields behind it are the VM's own.
    void header(const Scanner::Head& head) {
        const std::string_view body = take_header(scanner_, head);
        put_head(head);
        const std::size_t fields = std::min(body.find("System version: "), body.size());
        put(rules_.text(body.substr(0, fields)));
        put(body.substr(fields));
        scanner_.finish(head);
    }

    void section(const Scanner::Head& head) {
        const SectionTag* row = head.row;
        if (row != nullptr && row->body == Body::binary) return binary(head);
        put_head(head);
        if (row != nullptr && (row->body == Body::dump_end || row->body == Body::dump_abort)) {
            report_.complete = row->body == Body::dump_end;
            scanner_.finish(head);
            return;
        }
        if (row != nullptr && row->body == Body::term_lines) return term_lines(head);
        const bool atoms = row != nullptr && row->body == Body::atoms;
        const bool free_text = row == nullptr || row->free_text || head.tag == "proc" || head.tag == "timer";
        LineEdits::Leaves leaves;
        const LineEdits names(rules_, keyed_, report_, scanner_.style, {}, leaves);
        scanner_.stream(head, [&](std::string_view text, bool last) {
            std::size_t at = 0;
            std::string out;
            while (at < text.size()) {
                const std::size_t feed = text.find('\n', at);
                if (feed == text.npos && !last) break;
                const std::size_t end = std::min(feed, text.size());
                std::string line(text.substr(at, end - at));
                const bool hidden = names.hide(line);
                if (atoms) report_.atoms += hidden ? 1 : 0;
                else if (free_text) line = shown(line);
                out += line;
                if (feed != text.npos) out += '\n';
                at = feed == text.npos ? end : feed + 1;
            }
            put(out);
            return at;
        });
    }

    // "Message: {x}": what follows the name of the field is a term.
    std::string shown(std::string_view line) const {
        constexpr std::array<std::string_view, 5> terms{
            "Dictionary: ", "Last calls: ", "Message: ", "Message queue: ", "Process Label: "};
        for (const std::string_view field : terms)
            if (rules_.term && line.starts_with(field))
                return std::string(field).append(rules_.term(line.substr(field.size())));
        return rules_.text(line);
    }

    void term_lines(const Scanner::Head& head) {
        const TermSection section = head.row->terms.value_or(TermSection::heap);
        std::string out;
        LineEdits::Leaves leaves;  // of this heap's large maps
        scanner_.stream(head, [&](std::string_view text, bool last) {
            LineEdits edits(rules_, keyed_, report_, scanner_.style, text, leaves);
            std::size_t at = 0;
            out.clear();
            while (at < text.size()) {
                edits.line(at, section);
                const std::size_t end = LineWalk(scanner_.style, text, at, edits).walk(section);
                if (end == line_incomplete || end == line_malformed) {
                    edits.forget();
                    if (end == line_incomplete && !last) break;
                    const std::size_t feed = text.find('\n', at);
                    if (feed == text.npos && !last) break;
                    ++report_.lines_left_out;
                    at = feed == text.npos ? text.size() : feed + 1;
                    continue;
                }
                edits.line_ended();
                edits.apply(at, end, out);
                at = end;
            }
            put(out);
            return at;
        });
    }

    // Its bytes are not read but for the first: the hash is of these and of the size.
    void binary(const Scanner::Head& head) {
        const Scanner::BinaryLine line = scanner_.skip_binary(head, hashed_prefix);
        if (!line.bytes.has() || scanner_.ended_inside()) {
            ++report_.lines_left_out;
            return;
        }
        put_head(head);
        put(fmt::format("{:X}:", *line.bytes));
        ++report_.binaries;
        const std::uint64_t hash = rules_.hash(fmt::format("{}:{}", *line.bytes, line.first_text));
        put_filler(scanner_.style, *line.bytes, hash, [&](std::string_view piece) { put(piece); });
        put(line_end());
    }

    bytes::Window& window_;
    const RedactionRules& rules_;
    const KeyedValues& keyed_;
    const std::function<Status(std::string_view)>& write_;
    Anomalies anomalies_;
    Scanner scanner_;
    RedactionReport report_;
    Status status_ = ok();
};

// The elements of lines, and the bytes of those that are binaries.
struct Elements : NoObserver {
    WalkedLine line;
    void element(std::size_t begin, std::size_t end) { line.elements.emplace_back(begin, end); }
    void binary(std::uint64_t bytes, std::size_t begin, std::size_t end) {
        line.bytes = bytes;
        line.data_begin = begin;
        line.data_end = end;
    }
};

}  // namespace

Status learn_keyed_values(std::unique_ptr<bytes::Source> source, KeyedValues& found) {
    bytes::Window window(std::move(source));
    Anomalies anomalies;
    Scanner scanner(window, anomalies);
    Scanner::Head head;
    Elements elements;
    while (!scanner.ended_inside() && scanner.next(head)) {
        if (head.row != nullptr && head.row->body == Body::dump_start) static_cast<void>(take_header(scanner, head));
        if (head.row == nullptr || head.row->body != Body::term_lines) {
            if (head.row != nullptr && head.row->body == Body::binary) scanner.skip_binary(head, 0);
            else scanner.finish(head);
            continue;
        }
        const TermSection section = head.row->terms.value_or(TermSection::heap);
        scanner.stream(head, [&](std::string_view text, bool last) {
            std::size_t at = 0;
            while (at < text.size()) {
                elements.line.clear(at);
                elements.line.section = section;
                const std::size_t end = LineWalk(scanner.style, text, at, elements).walk(section);
                const bool whole = end != line_incomplete && end != line_malformed;
                if (whole) found.learn(scanner.style, text, elements.line);
                if (end == line_incomplete && !last) break;
                const std::size_t feed = text.find('\n', at);
                if (!whole && feed == text.npos && !last) break;
                at = whole ? end : feed == text.npos ? text.size() : feed + 1;
            }
            return at;
        });
    }
    return Status(window.status());
}

Result<RedactionReport> redact_dump(std::unique_ptr<bytes::Source> source, const RedactionRules& rules,
                                    const KeyedValues& keyed, const std::function<Status(std::string_view)>& write) {
    bytes::Window window(std::move(source));
    return Copy(window, rules, keyed, write).run();
}

}  // namespace beamheap::crashdump
