// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/processes/term_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/otp/vm/binaries.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr std::size_t longest_binary = 64;  // bytes of a binary that are shown
constexpr std::size_t deepest = 256;
constexpr std::size_t longest_string = 4096;
constexpr std::size_t shown_digits = 4;  // words of a bignum; longer ones are not written out

bool plain_atom(std::string_view name) {
    if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
    static constexpr std::string_view reserved[] = {
        "after", "and",   "andalso", "band",   "begin",   "bnot", "bor", "bsl",  "bsr", "bxor",
        "case",  "catch", "cond",    "div",    "else",    "end",  "fun", "if",   "let", "maybe",
        "not",   "of",    "or",      "orelse", "receive", "rem",  "try", "when", "xor"};
    if (std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved)) return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '@';
    });
}

// What is still to be printed: a piece of text, a term, or the rest of a list.
struct Item {
    enum class Kind : std::uint8_t { text, term, tail, tuple, map } kind;
    Word word = 0;
    std::uint64_t at = 0;    // tuple, map: address of the next element
    std::uint64_t left = 0;  // and how many there are
    std::uint64_t keys = 0;  // map: address of the next key
    std::string_view text;
};

class Printer {
public:
    Printer(Reader& reader, std::size_t limit, std::string& out)
        : reader_(reader), limit_(limit), out_(out), start_(out.size()) {}

    void run(Word term) {
        push({Item::Kind::term, term, 0, 0, 0, {}});
        while (!stack_.empty()) {
            if (out_.size() - start_ >= limit_) {
                out_ += "...";
                return;
            }
            const Item item = stack_.back();
            stack_.pop_back();
            switch (item.kind) {
                case Item::Kind::text: out_ += item.text; break;
                case Item::Kind::term: one(item.word); break;
                case Item::Kind::tail: tail(item.word); break;
                case Item::Kind::tuple: elements(item); break;
                case Item::Kind::map: pairs(item); break;
            }
        }
    }

private:
    void push(const Item& item) {
        if (stack_.size() < deepest) stack_.push_back(item);
        else out_ += "...";
    }
    void push_text(std::string_view text) { push({Item::Kind::text, 0, 0, 0, 0, text}); }
    std::optional<Word> word(std::uint64_t address) { return reader_.memory.word(address); }

    void one(Word term) {
        if (is_atom(term)) return atom(term);
        if (is_small(term)) {
            out_ += fmt::format("{}", small_value(term));
            return;
        }
        if (term == reader_.vm.layout.nil) {
            out_ += "[]";
            return;
        }
        if (is_pid(term)) return pid(reader_.pid(term));
        if (is_port(term)) {
            out_ += fmt::format("#Port<0.{}>", reader_.port(term).number);
            return;
        }
        if (is_cons(term)) return list(term);
        if (is_boxed(term)) return boxed(term);
        out_ += '?';
    }

    void pid(const Pid& p) {
        if (p.has()) out_ += fmt::format("<{}.{}.{}>", p.node, p.number, p.serial);
        else out_ += '?';
    }

    void atom(Word term) {
        const auto name = reader_.vm.atoms.text(reader_.memory, atom_index(term));
        if (!name) {
            out_ += '?';
            return;
        }
        if (plain_atom(*name)) {
            out_ += *name;
            return;
        }
        out_ += '\'';
        for (const char c : *name) {
            if (c == '\'' || c == '\\') out_ += '\\';
            if (c == '\n') out_ += "\\n";
            else out_ += c;
        }
        out_ += '\'';
    }

    // As the VM: a proper list of printable ASCII is a string.
    bool string(Word term) {
        std::string text;
        Word rest = term;
        while (is_cons(rest) && text.size() < longest_string) {
            const std::byte* cell = reader_.memory.at(address_of(rest), 16);
            if (cell == nullptr) return false;
            const auto head = load<Word>(cell);
            const std::int64_t c = is_small(head) ? small_value(head) : -1;
            if (c != '\n' && (c < 32 || c > 126)) return false;
            if (c == '"' || c == '\\') text += '\\';
            if (c == '\n') text += "\\n";
            else text += static_cast<char>(c);
            rest = load<Word>(cell + 8);
            if (text.size() > limit_) break;
        }
        if (rest != reader_.vm.layout.nil && !is_cons(rest)) return false;
        out_ += '"';
        out_ += text;
        out_ += rest == reader_.vm.layout.nil ? "\"" : "...";
        return true;
    }

    void list(Word term) {
        if (string(term)) return;
        out_ += '[';
        const std::byte* cell = reader_.memory.at(address_of(term), 16);
        if (cell == nullptr) {
            out_ += "?]";
            return;
        }
        push({Item::Kind::tail, load<Word>(cell + 8), 0, 0, 0, {}});
        push({Item::Kind::term, load<Word>(cell), 0, 0, 0, {}});
    }

    void tail(Word rest) {
        if (rest == reader_.vm.layout.nil) {
            out_ += ']';
            return;
        }
        if (!is_cons(rest)) {
            out_ += '|';
            push_text("]");
            push({Item::Kind::term, rest, 0, 0, 0, {}});
            return;
        }
        out_ += ',';
        const std::byte* cell = reader_.memory.at(address_of(rest), 16);
        if (cell == nullptr) {
            out_ += "?]";
            return;
        }
        push({Item::Kind::tail, load<Word>(cell + 8), 0, 0, 0, {}});
        push({Item::Kind::term, load<Word>(cell), 0, 0, 0, {}});
    }

    void elements(const Item& item) {
        const auto element = word(item.at);
        if (item.left > 1) {
            push({Item::Kind::tuple, 0, item.at + 8, item.left - 1, 0, {}});
            push_text(",");
        } else {
            push_text("}");
        }
        if (element) push({Item::Kind::term, *element, 0, 0, 0, {}});
        else push_text("?");
    }

    void pairs(const Item& item) {
        const auto key = word(item.keys), value = word(item.at);
        if (item.left > 1) {
            push({Item::Kind::map, 0, item.at + 8, item.left - 1, item.keys + 8, {}});
            push_text(",");
        } else {
            push_text("}");
        }
        push({Item::Kind::term, value.value_or(0), 0, 0, 0, {}});
        push_text("=>");
        push({Item::Kind::term, key.value_or(0), 0, 0, 0, {}});
    }

    void boxed(Word term) {
        const std::uint64_t at = address_of(term);
        const auto header = word(at);
        if (!header || !is_header(*header)) {
            out_ += '?';
            return;
        }
        const std::uint64_t arity = header_arity(*header);
        switch (reader_.vm.layout.tags[header_subtag(*header)]) {
            case Tag::tuple:
                if (arity == 0) {
                    out_ += "{}";
                    return;
                }
                out_ += '{';
                push({Item::Kind::tuple, 0, at + 8, arity, 0, {}});
                return;
            case Tag::map: return map(at, *header);
            case Tag::floating:
                if (const auto bits = word(at + 8)) {
                    double value = 0;
                    std::memcpy(&value, &*bits, 8);
                    std::string text = fmt::format("{}", value);
                    if (text.find_first_of(".en") == std::string::npos) text += ".0";
                    out_ += text;
                } else {
                    out_ += '?';
                }
                return;
            case Tag::positive_big:
            case Tag::negative_big:
                return big(at, arity, reader_.vm.layout.tags[header_subtag(*header)] == Tag::negative_big);
            case Tag::reference: return reference(at, arity);
            case Tag::external_pid: return pid(reader_.pid(term));
            case Tag::external_port: {
                const PortName port = reader_.port(term);
                out_ += fmt::format("#Port<{}.{}>", port.node, port.number);
                return;
            }
            case Tag::external_reference: out_ += "#Ref<?>"; return;
            case Tag::fun:
            case Tag::export_fun: out_ += "#Fun<?>"; return;
            case Tag::refc_binary:
            case Tag::heap_binary:
            case Tag::sub_binary:
            case Tag::heap_bits:
            case Tag::sub_bits: return binary(term);
            default: out_ += '?'; return;
        }
    }

    void map(std::uint64_t at, Word header) {
        if ((header >> 6 & 3) != 0) {
            out_ += "#{...}";
            return;
        }
        const auto size = word(at + 8), keys = word(at + 16);
        if (!size || !keys || !is_boxed(*keys)) {
            out_ += size && *size == 0 ? "#{}" : "?";
            return;
        }
        out_ += "#{";
        if (*size == 0) out_ += '}';
        else push({Item::Kind::map, 0, at + 24, *size, address_of(*keys) + 8, {}});
    }

    void big(std::uint64_t at, std::uint64_t digits, bool negative) {
        std::string hex;
        for (std::uint64_t i = std::min<std::uint64_t>(digits, shown_digits); i-- > 0;)
            hex += fmt::format("{:0{}x}", word(at + 8 + 8 * i).value_or(0), hex.empty() ? 1 : 16);
        out_ += fmt::format("{}16#{}{}", negative ? "-" : "", hex, digits > shown_digits ? "..." : "");
    }

    void reference(std::uint64_t at, std::uint64_t arity) {
        const std::byte* p = reader_.memory.at(at, 24);
        if (p == nullptr) {
            out_ += "#Ref<?>";
            return;
        }
        // An ordinary one holds its numbers behind a marker, a magic one points at the binary that has them.
        if (load<std::uint32_t>(p + 8) != 0xffffffffu && arity == 2) {
            p = reader_.memory.at(load<Word>(p + 8) + reader_.at.magic_reference, 12);
            if (p == nullptr) {
                out_ += "#Ref<?>";
                return;
            }
        } else {
            p += 12;
        }
        out_ += fmt::format("#Ref<0.{}.{}.{}>", load<std::uint32_t>(p + 8), load<std::uint32_t>(p + 4),
                            load<std::uint32_t>(p));
    }

    void binary(Word term) {
        const auto bytes = small_binary(reader_.memory, reader_.vm.layout, term, longest_binary);
        if (!bytes) {
            out_ += "<<...>>";
            return;
        }
        const bool text = !bytes->empty() && std::all_of(bytes->begin(), bytes->end(), [](char c) {
            return c >= 32 && c < 127 && c != '"' && c != '\\';
        });
        out_ += "<<";
        if (text) {
            out_ += '"';
            out_ += *bytes;
            out_ += '"';
        } else {
            for (std::size_t i = 0; i < bytes->size(); ++i)
                out_ += fmt::format("{}{}", i == 0 ? "" : ",", static_cast<unsigned char>((*bytes)[i]));
        }
        out_ += ">>";
    }

    Reader& reader_;
    std::size_t limit_;
    std::string& out_;
    std::size_t start_;
    std::vector<Item> stack_;
};

}  // namespace

void append_term(Reader& reader, Word term, std::size_t limit, std::string& out) {
    Printer(reader, limit, out).run(term);
}

std::string term_text(Reader& reader, Word term, std::size_t limit) {
    std::string out;
    append_term(reader, term, limit, out);
    return out;
}

}  // namespace beamheap::otp
