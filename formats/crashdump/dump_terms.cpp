// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/dump_terms.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "formats/crashdump/data_text.hpp"
#include "formats/crashdump/digits.hpp"
#include "formats/crashdump/part_of_heap.hpp"

namespace beamheap::crashdump {
namespace {

constexpr std::size_t giant_text = std::size_t{16} << 20;  // bytes; its arrays fill large pages

/// Hexadecimal digits at p, then a colon unless `last`; nullptr where it is not so.
const char* take_hex(const char* p, const char* end, std::uint64_t& value, bool last = false) {
    const char* next = nullptr;
    const bool room = end - p > 16;  // what is read at once
    if (room && read_hex12(p, value) && (p[12] == ':' || (last && (p[12] < 'a' || p[12] > 'f'))))
        return last ? p + 12 : p + 13;
    const HexNumber number = room ? read_hex(p) : HexNumber{0, 0};
    if (number.digits != 0 && number.digits < 16 && (p[number.digits] < 'a' || p[number.digits] > 'f')) {
        value = number.value;
        next = p + number.digits;
    } else {  // of more digits, of small letters, at the end of the text, or none at all
        const auto [behind, error] = std::from_chars(p, end, value, 16);
        if (error != std::errc{}) return nullptr;
        next = behind;
    }
    if (last) return next;
    return next != end && *next == ':' ? next + 1 : nullptr;
}

/// <A.B.C> or <A.B> at p.
const char* take_id(const char* p, const char* end, std::uint64_t (&parts)[3]) {
    if (p == end || *p != '<') return nullptr;
    for (unsigned i = 0; i < 3; ++i) {
        const auto [next, error] = std::from_chars(p + 1, end, parts[i], 10);
        if (error != std::errc{} || next == end) return nullptr;
        p = next;
        if (*p == '>') return p + 1;
        if (*p != '.') return nullptr;
    }
    return nullptr;
}

/// Appends the bytes [from, from + limit) of data of `size` bytes, given its characters from number `first` on, where
/// first is the place of the group that byte `from` is in, or 0.
Bytes decode_range(TermStyle style, std::string_view encoded, std::uint64_t first, std::uint64_t size,
                   std::uint64_t from, std::uint64_t limit, std::string& out) {
    if (from >= size) return Bytes::whole;
    const std::uint64_t wanted = std::min(limit, size - from);
    const std::uint64_t group = style.base64 ? from / 3 * 4 : from * 2;
    const std::uint64_t before = style.base64 ? from % 3 : 0;
    if (group - first >= encoded.size()) return Bytes::absent;
    encoded.remove_prefix(static_cast<std::size_t>(group - first));
    std::string piece;
    append_data(style, encoded.substr(0, static_cast<std::size_t>(encoded_size(style, before + wanted))), piece,
                static_cast<std::size_t>(before + wanted));
    if (piece.size() <= before) return Bytes::absent;
    out.append(piece, static_cast<std::size_t>(before));
    return piece.size() - before == wanted ? Bytes::whole : Bytes::part;
}

}  // namespace

struct DumpTerms::Line {
    char kind = 0;
    char sub = 0;
    std::uint64_t address = 0;
    std::uint64_t number[3] = {};
    std::uint64_t body_place = 0;  ///< of `body`, as origins count
    const char* body = nullptr;
    const char* end = nullptr;  ///< of the text
    std::string_view data(TermStyle style) const {
        const std::uint64_t whole = encoded_size(style, number[0]);
        return {body, static_cast<std::size_t>(std::min<std::uint64_t>(whole, static_cast<std::uint64_t>(end - body)))};
    }
};

Result<std::unique_ptr<DumpTerms>> DumpTerms::read(TermSections& texts, ProcId process, const HeapFacts& facts,
                                                   const HeapDialect& dialect) {
    std::unique_ptr<DumpTerms> terms(new DumpTerms(texts, dialect));
    BH_TRY(terms->sections_, texts.of(process));
    terms->heap_ = texts.take_read(process);
    if (terms->heap_ == nullptr) {
        HeapReader reader(dialect);
        HeapFacts with_values = facts;
        with_values.mode = HeapGraph::Mode::values;
        reader.begin(with_values);
        std::size_t text = 0;
        for (const SectionText& section : terms->sections_) text += section.text().size();
        if (text >= giant_text) reader.expect_giant();
        BH_CHECK(texts.feed(process, reader));
        reader.finish();
        terms->heap_ = std::make_shared<const ReadHeap>(reader.take());
    }
    return terms;
}

Result<std::unique_ptr<DumpTerms>> DumpTerms::read_part(const TermSections& texts, ProcId process,
                                                        const HeapFacts& facts, const HeapDialect& dialect,
                                                        const TermsWanted& wanted,
                                                        std::shared_ptr<const Literals> literals) {
    std::unique_ptr<DumpTerms> terms(new DumpTerms(texts, dialect));
    BH_TRY(terms->sections_, texts.of(process));
    HeapReader reader(dialect);
    HeapFacts with_values = facts;
    with_values.mode = HeapGraph::Mode::values;
    if (!read_part_of_heap(terms->sections_, with_values, wanted, literals.get(), dialect.least_in_part, reader))
        return std::unique_ptr<DumpTerms>();
    terms->in_part_ = true;
    terms->heap_ = std::make_shared<const ReadHeap>(reader.take());
    terms->set_literals(std::move(literals));
    return terms;
}

/// The text from `place` to the end of its section.
std::string_view DumpTerms::text_from(ObjectId::Space space, std::uint64_t place) const {
    if (space == ObjectId::Space::literals)
        return std::string_view(literals_->text).substr(static_cast<std::size_t>(place));
    for (const SectionText& section : sections_) {
        const std::string_view all = section.text();
        const std::uint64_t at = place - section.offset;  // too large of a place before it, too
        if (at < all.size()) return {all.data() + at, all.size() - static_cast<std::size_t>(at)};
    }
    return {};
}

void DumpTerms::count_look() {
    constexpr std::uint32_t looks_between = 1u << 16;  // some 1 to 3 MB of text, where they go through it in order
    if (++looks_ % looks_between != 0) return;
    for (const SectionText& section : sections_) section.body.forget_pages();
}

/// The line of an object that has one, its numbers read as hexadecimal.
DumpTerms::Line DumpTerms::line_of(ObjectId id) {
    count_look();
    const std::uint64_t origin = graph_of(id).origin(id.number);
    const std::string_view text = text_from(id.space, origin);
    Line line;
    const char* p = text.data();
    line.body = p;
    line.end = text.data() + text.size();
    p = take_hex(p, line.end, line.address);
    if (p == nullptr || p == line.end) return line;
    line.kind = *p++;
    unsigned numbers = 0;
    bool last_without_colon = false;
    switch (line.kind) {
        case 't':
        case 'F':
        case 'E': numbers = 1; break;
        case 'M':
            line.sub = p == line.end ? '\0' : *p++;
            numbers = line.sub == 'h' ? 2 : 1;
            break;
        case 'Y':
            line.sub = p == line.end ? '\0' : *p++;
            numbers = line.sub == 'h' ? 1 : 3;
            last_without_colon = line.sub != 'h';
            break;
        case 'P':
        case 'p': --p; break;
        default: break;
    }
    for (unsigned i = 0; i < numbers && p != nullptr; ++i)
        p = take_hex(p, line.end, line.number[i], last_without_colon && i + 1 == numbers);
    if (p == nullptr) line.kind = 0;
    else line.body = p;
    line.body_place = origin + static_cast<std::uint64_t>(line.body - text.data());
    return line;
}

const char* DumpTerms::element(const char* p, const char* end, Element& out) {
    out = {};
    if (p == end) return end;
    switch (*p) {
        case 'H': {
            std::uint64_t address = 0;
            const char* next = take_hex(p + 1, end, address, true);
            if (next == nullptr) return end;
            out = at(address);
            return next;
        }
        case 'N': out.kind = ElementKind::nil; return p + 1;
        case 'I': {
            const auto [next, error] = std::from_chars(p + 1, end, out.number, 10);
            if (error != std::errc{}) return end;
            out.kind = ElementKind::small;
            return next;
        }
        case 'A': {
            std::uint64_t length = 0;
            const char* name = take_hex(p + 1, end, length);
            if (name == nullptr) return end;
            const char* next = name;
            if (!dialect_.style.crlf) {
                next = name + std::min<std::uint64_t>(length, static_cast<std::uint64_t>(end - name));
            } else {
                for (; length != 0 && next < end; --length)
                    next += *next == '\r' && next + 1 != end && next[1] == '\n' ? 2 : 1;
                next = std::min(next, end);
            }
            out.kind = ElementKind::atom;
            out.latin1 = dialect_.latin1_atoms;
            out.text = {name, static_cast<std::size_t>(next - name)};
            return next;
        }
        case 'P': {
            std::uint64_t parts[3] = {};
            const char* next = take_id(p + 1, end, parts);
            if (next == nullptr) return end;
            out.kind = ElementKind::pid;
            out.pid = {static_cast<std::uint32_t>(parts[0]), static_cast<std::uint32_t>(parts[1]),
                       static_cast<std::uint32_t>(parts[2])};
            return next;
        }
        case 'p': {
            std::uint64_t parts[3] = {};
            const char* next = take_id(p + 1, end, parts);
            if (next == nullptr) return end;
            out.kind = ElementKind::port;
            out.port = {static_cast<std::uint32_t>(parts[0]), parts[1]};
            return next;
        }
        default: return p;  // an immediate that the writer has no form for
    }
}

std::unique_ptr<DumpTerms> DumpTerms::of_literals(const TermSections& texts, const HeapDialect& dialect,
                                                  std::shared_ptr<const Literals> literals) {
    std::unique_ptr<DumpTerms> terms(new DumpTerms(texts, dialect));
    terms->heap_ = std::make_shared<const ReadHeap>();
    terms->literals_ = std::move(literals);
    return terms;
}

void DumpTerms::add_pairs(SectionText section, std::vector<PersistentTerms::Entry>& out) {
    pairs_.push_back(std::make_unique<SectionText>(std::move(section)));
    const std::string_view text = pairs_.back()->text();
    const char* p = text.data();
    const char* const end = p + text.size();
    while (p < end) {
        PersistentTerms::Entry entry;
        p = element(p, end, entry.key);
        const bool pair = p < end && *p == '|';
        if (pair) p = element(p + 1, end, entry.value);
        if (pair && (p == end || *p == '\n' || *p == '\r')) out.push_back(entry);
        const void* const next = p < end ? std::memchr(p, '\n', static_cast<std::size_t>(end - p)) : nullptr;
        p = next == nullptr ? end : static_cast<const char*>(next) + 1;
    }
}

Element DumpTerms::at(std::uint64_t address) {
    Element e;
    e.address = address;
    e.kind = ElementKind::object;
    NodeId node = graph().find(address);
    if (node != no_node) {
        e.id = {ObjectId::Space::heap, node};
        return e;
    }
    node = literals_ == nullptr ? no_node : literals_->graph.find(address);
    if (node != no_node) {
        e.id = {ObjectId::Space::literals, node};
        return e;
    }
    e.kind = ElementKind::missing;
    return e;
}

Count DumpTerms::binary_size(std::uint64_t address) const {
    const BinaryPlace* place = texts_.binary(address);
    return place == nullptr ? Count() : Count(place->bytes);
}

Element DumpTerms::root(std::size_t i) {
    const std::uint64_t origin = graph().root_origin(i);
    const std::string_view text = text_from(ObjectId::Space::heap, origin);
    Element out;
    if (text.empty()) return out;
    if (text[0] == 'D' && graph().roots()[i].kind == RootKind::message) return decoded_message(origin);
    if (text[0] == 'S') {
        out.kind = ElementKind::catching;
        const std::string_view line = text.substr(0, text.find('\n'));
        const std::size_t open = line.find('(');
        const std::size_t close = line.rfind(')');
        if (open != std::string_view::npos && close != std::string_view::npos && close > open)
            out.text = line.substr(open + 1, close - open - 1);
        return out;
    }
    element(text.data(), text.data() + text.size(), out);
    return out;
}

ObjectHead DumpTerms::head(ObjectId id) {
    if (id.space == ObjectId::Space::decoded) return decoded_.head(id.number);
    const HeapGraph& graph = graph_of(id);
    const Line line = line_of(id);
    ObjectHead h;
    h.kind = graph.kind(id.number);
    h.address = line.address;
    switch (line.kind) {
        case 'l': h.elements = 2; break;
        case 't': h.elements = line.number[0]; break;
        case 'M':
            h.size = line.number[0];
            h.elements = line.sub == 'f' ? line.number[0] + 1 : line.sub == 'h' ? line.number[1] : line.number[0];
            break;
        case 'F': {
            const char* const end = std::min(line.end, line.body + line.number[0]);
            if (std::from_chars(line.body, end, h.number).ptr != end) h.kind = TermKind::unknown;
            break;
        }
        case 'B': {
            const char* p = line.body;
            while (p != line.end && *p != '\n' && *p != '\r') ++p;
            h.digits = {line.body, static_cast<std::size_t>(p - line.body)};
            break;
        }
        case 'Y':
            h.size = line.sub == 'h' ? line.number[0] : line.number[2];
            if (const BinaryUse* use = line.sub == 'h' ? nullptr : graph.binary_of(id.number)) {
                h.binary = use->address;
                h.offset = use->offset;
            }
            h.bits_lost = line.sub == 's';
            break;
        case 'P':
        case 'p': {
            std::uint64_t parts[3] = {};
            take_id(line.body + 1, line.end, parts);
            const auto node = static_cast<std::uint32_t>(parts[0]);
            h.pid = {node, static_cast<std::uint32_t>(parts[1]), static_cast<std::uint32_t>(parts[2])};
            h.port = {node, parts[1]};
            break;
        }
        case 'E': {
            h.size = line.number[0];
            if (h.kind == TermKind::lost_map || h.kind == TermKind::match_context) break;
            std::uint32_t number = 0;
            if (ObjectHead decoded; external(id, line, decoded, number)) {
                h = decoded;
                h.address = line.address;
            } else {
                h.kind = TermKind::unknown;
            }
            break;
        }
        default: break;
    }
    return h;
}

bool DumpTerms::external(ObjectId id, const Line& line, ObjectHead& head, std::uint32_t& number) {
    const std::uint64_t key = static_cast<std::uint64_t>(id.space) << 32 | id.number;
    if (last_external_ && last_external_->first == key) {  // its head, then its elements are asked for
        head = last_external_->second;
        return true;
    }
    auto found = externals_.find(key);
    if (found == externals_.end()) {
        const external_term::Terms::Mark before = decoded_.mark();
        const Element term = decode(line.data(dialect_.style), {dialect_.node_name, {}});
        if (term.kind == ElementKind::object) {
            head = decoded_.head(term.id.number);
            if (head.kind == TermKind::reference || head.kind == TermKind::external_reference ||
                head.kind == TermKind::external_pid || head.kind == TermKind::external_port) {
                if (!head.node.empty()) head.node = *nodes_.emplace(head.node).first;
                decoded_.forget_since(before);
                last_external_ = {key, head};
                return true;
            }
        }
        found = externals_.emplace(key, term).first;
    }
    if (found->second.kind != ElementKind::object) return false;
    number = found->second.id.number;
    head = decoded_.head(number);
    return true;
}

Element DumpTerms::decode(std::string_view encoded, const external_term::Context& context) {
    std::string bytes;
    // Fragments follow each other as separately padded runs.
    while (!encoded.empty() && bytes.size() < max_decoded_bytes) {
        std::size_t end = dialect_.style.base64 ? encoded.find('=') : std::string_view::npos;
        while (end < encoded.size() && encoded[end] == '=') ++end;
        const std::string_view run = encoded.substr(0, end);
        append_data(dialect_.style, run, bytes, max_decoded_bytes - bytes.size());
        encoded.remove_prefix(run.size());
    }
    bool complete = false;  // what is not, is told by elements of kind unknown
    return decoded_.decode({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, context, complete);
}

Element DumpTerms::decoded_message(std::uint64_t origin) {
    const auto [entry, added] = decoded_messages_.try_emplace(origin);
    if (!added) return entry->second;
    const std::string_view text = text_from(ObjectId::Space::heap, origin + 1);
    const char* p = text.data();
    const char* end = text.data() + text.size();
    std::uint64_t count = 0;
    p = take_hex(p, end, count);
    std::vector<Element> atoms;
    for (; p != nullptr && p != end && *p != 'E' && count != 0; --count) {
        Element atom;
        const char* next = element(p, end, atom);
        if (next == p) break;
        p = next;
        atoms.push_back(atom);
    }
    if (p == nullptr || p == end || *p != 'E') return entry->second;
    std::uint64_t length = 0;
    p = take_hex(p + 1, end, length);
    if (p == nullptr || length == 0) return entry->second;
    const char* stop =
        p + std::min<std::uint64_t>(encoded_size(dialect_.style, length), static_cast<std::uint64_t>(end - p));
    while (stop != end && is_data_character(*stop)) ++stop;
    // Pids in messages from other nodes are this node's where they say its name.
    return entry->second = decode({p, static_cast<std::size_t>(stop - p)}, {dialect_.node_name, atoms});
}

ElementCursor DumpTerms::elements(ObjectId id) {
    if (id.space == ObjectId::Space::decoded) return {id, decoded_.head(id.number).elements, 0};
    const Line line = line_of(id);
    if (line.kind == 'E') {
        ObjectHead decoded;
        std::uint32_t number = 0;
        if (!external(id, line, decoded, number) || decoded.elements == 0) return {id, 0, 0};
        return {{ObjectId::Space::decoded, number}, decoded.elements, 0};
    }
    if (line.kind != 'l' && line.kind != 't' && line.kind != 'M') return {id, 0, 0};
    std::uint64_t count = 2;
    if (line.kind == 't') count = line.number[0];
    if (line.kind == 'M')
        count = line.sub == 'f' ? line.number[0] + 1 : line.sub == 'h' ? line.number[1] : line.number[0];
    return {id, count, line.body_place};
}

bool DumpTerms::next(ElementCursor& cursor, Element& out) {
    if (cursor.left == 0) return false;
    --cursor.left;
    if (cursor.id.space == ObjectId::Space::decoded) {
        out = decoded_.element(cursor.id.number, cursor.place++);
        return true;
    }
    const std::string_view text = text_from(cursor.id.space, cursor.place);
    const char* end = text.data() + text.size();
    const char* p = element(text.data(), end, out);
    if (p != end && (*p == ',' || *p == '|' || *p == ':')) ++p;
    cursor.place += static_cast<std::uint64_t>(p - text.data());
    return true;
}

Bytes DumpTerms::base_bytes(const BinaryUse& use, std::uint64_t from, std::uint64_t limit, std::string& out) {
    if (use.base == BinaryUse::Base::object) {
        const Element base = at(use.address);
        if (base.kind != ElementKind::object) return Bytes::absent;
        const Line line = line_of(base.id);
        if (line.kind != 'Y' || line.sub != 'h') return Bytes::absent;
        return decode_range(dialect_.style, line.data(dialect_.style), 0, line.number[0], use.offset + from, limit,
                            out);
    }
    const BinaryPlace* place = texts_.binary(use.address);
    if (place == nullptr) return Bytes::absent;
    const std::uint64_t start = use.offset + from;
    if (start >= place->bytes) return Bytes::absent;
    const std::uint64_t group = dialect_.style.base64 ? start / 3 : start;
    const std::uint64_t skipped = dialect_.style.base64 ? group * 4 : group * 2;
    const std::uint64_t wanted = std::min(limit, place->bytes - start);
    const auto text =
        texts_.binary_text(*place, skipped, static_cast<std::size_t>(encoded_size(dialect_.style, wanted + 3)));
    if (!text) return Bytes::absent;
    const Bytes got = decode_range(dialect_.style, *text, skipped, place->bytes, start, limit, out);
    return got == Bytes::whole && wanted < limit ? Bytes::part : got;
}

Bytes DumpTerms::bytes(ObjectId id, std::uint64_t from, std::uint64_t limit, std::string& out) {
    if (id.space == ObjectId::Space::decoded) {
        const std::string_view all = decoded_.bytes(id.number);
        const std::uint64_t size = decoded_.head(id.number).size + (decoded_.head(id.number).extra_bits != 0 ? 1 : 0);
        if (from < all.size()) out.append(all.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(limit)));
        return all.size() >= std::min(size, from + limit) ? Bytes::whole : Bytes::part;
    }
    const HeapGraph& graph = graph_of(id);
    const Line line = line_of(id);
    if (line.kind != 'Y') return Bytes::absent;
    if (line.sub == 'h') {
        return decode_range(dialect_.style, line.data(dialect_.style), 0, line.number[0], from, limit, out);
    }
    const BinaryUse* use = graph.binary_of(id.number);
    if (use == nullptr || from >= use->size) return use == nullptr ? Bytes::absent : Bytes::whole;
    return base_bytes(*use, from, std::min(limit, use->size - from), out);
}

}  // namespace beamheap::crashdump
