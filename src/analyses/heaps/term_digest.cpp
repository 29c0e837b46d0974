// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/term_digest.hpp"

#include <bit>
#include <string>
#include <string_view>
#include <vector>

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t bytes_of_binary = 4096;
constexpr std::uint64_t objects_of_beginning = 32;
constexpr std::uint64_t mark_of_cell = 0xC0115C0115C0115u;

class Digest {
public:
    void add(std::uint64_t number) {
        value_ = (value_ ^ number) * 0x9E3779B97F4A7C15u;
        value_ ^= value_ >> 32;
    }
    void add(std::string_view text) {
        add(text.size());
        for (const char c : text) byte(static_cast<std::uint8_t>(c));
    }
    std::uint64_t value() const { return value_; }

private:
    void byte(std::uint8_t b) { value_ = (value_ ^ b) * 0x100000001B3u; }
    std::uint64_t value_ = 0xCBF29CE484222325u;
};

void add_head(TermSource& terms, ObjectId id, const ObjectHead& head, Digest& digest) {
    digest.add(static_cast<std::uint64_t>(head.kind));
    digest.add(head.elements);
    digest.add(head.size);
    switch (head.kind) {
        case TermKind::float_number: digest.add(std::bit_cast<std::uint64_t>(head.number)); break;
        case TermKind::bignum: digest.add(head.digits); break;
        case TermKind::fun:
        case TermKind::external_fun:
            digest.add(head.module);
            digest.add(head.function);
            digest.add(std::uint64_t{head.index} << 32 | head.uniq);
            break;
        case TermKind::reference:
        case TermKind::external_reference:
            for (unsigned i = 0; i < head.numbers && i < head.words.size(); ++i) digest.add(head.words[i]);
            break;
        case TermKind::external_pid: digest.add(head.pid.number); break;
        case TermKind::heap_binary:
        case TermKind::refc_binary:
        case TermKind::sub_binary: {
            std::string bytes;
            terms.bytes(id, 0, bytes_of_binary, bytes);
            digest.add(bytes);
            break;
        }
        default: break;
    }
}

bool is_cell(const TermSource& terms, ObjectId id) {
    return id.space == ObjectId::Space::heap && terms.graph().kind(id.number) == TermKind::cons;
}

// Of no more than `most` objects; nothing for a term of more, where the `whole` is asked for.
std::optional<std::uint64_t> digest_of(TermSource& terms, const Element& term, std::uint64_t most, bool whole) {
    Digest digest;
    std::vector<Element> left{term};
    std::vector<Element> elements;
    std::uint64_t objects = 0;
    while (!left.empty()) {
        const Element at = left.back();
        left.pop_back();
        switch (at.kind) {
            case ElementKind::nil: digest.add(0); break;
            case ElementKind::small: digest.add(static_cast<std::uint64_t>(at.number)); break;
            case ElementKind::atom: digest.add(at.text); break;
            case ElementKind::pid: digest.add(std::uint64_t{at.pid.number} << 32 | at.pid.serial); break;
            case ElementKind::port: digest.add(at.port.number); break;
            case ElementKind::object: {
                if (++objects > most) return whole ? std::nullopt : std::optional(digest.value());
                // Of a cell, of which there are most, the kind is all that is to be known beside its elements.
                if (is_cell(terms, at.id)) digest.add(mark_of_cell);
                else add_head(terms, at.id, terms.head(at.id), digest);
                elements.clear();
                ElementCursor cursor = terms.elements(at.id);
                for (Element element; terms.next(cursor, element);) elements.push_back(element);
                left.insert(left.end(), elements.rbegin(), elements.rend());
                if (whole && left.size() > most) return std::nullopt;
                break;
            }
            default: return std::nullopt;
        }
    }
    return digest.value();
}

}  // namespace

std::optional<std::uint64_t> term_digest(TermSource& terms, const Element& term, std::uint64_t most) {
    return digest_of(terms, term, most, true);
}

std::optional<std::uint64_t> terms_digest(TermSource& terms, std::span<const Element> all, std::uint64_t most) {
    Digest digest;
    for (const Element& term : all) {
        const auto one = term_digest(terms, term, most);
        if (!one) return std::nullopt;
        digest.add(*one);
    }
    return digest.value();
}

std::optional<std::uint64_t> beginning_digest(TermSource& terms, const Element& term) {
    return digest_of(terms, term, objects_of_beginning, false);
}

}  // namespace beamheap::analyses
