// SPDX-License-Identifier: Apache-2.0
#include "formats/external_term.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "model/characters.hpp"

namespace beamheap::external_term {

std::string integer_digits(std::span<const std::uint8_t> little_endian, bool negative) {
    std::size_t size = little_endian.size();
    while (size != 0 && little_endian[size - 1] == 0) --size;
    std::string digits(negative ? "-" : "");
    if (size == 0) return "0";
    if (size > 4096) {
        digits += "16#";
        constexpr std::string_view hex = "0123456789ABCDEF";
        for (std::size_t i = size; i-- > 0;) {
            digits += hex[little_endian[i] >> 4];
            digits += hex[little_endian[i] & 15];
        }
        return digits;
    }
    // Divide by 10^9 again and again, from the most significant part on.
    std::vector<std::uint32_t> parts((size + 3) / 4);
    for (std::size_t i = 0; i < size; ++i) parts[i / 4] |= std::uint32_t{little_endian[i]} << (i % 4 * 8);
    std::vector<std::uint32_t> nines;
    while (!parts.empty()) {
        std::uint64_t rest = 0;
        for (std::size_t i = parts.size(); i-- > 0;) {
            rest = rest << 32 | parts[i];
            parts[i] = static_cast<std::uint32_t>(rest / 1000000000);
            rest %= 1000000000;
        }
        nines.push_back(static_cast<std::uint32_t>(rest));
        while (!parts.empty() && parts.back() == 0) parts.pop_back();
    }
    for (std::size_t i = nines.size(); i-- > 0;) {
        std::string part = std::to_string(nines[i]);
        if (i + 1 != nines.size()) part.insert(0, 9 - part.size(), '0');
        digits += part;
    }
    return digits;
}

namespace {
enum Tag : std::uint8_t {
    new_float_ext = 70,
    bit_binary_ext = 77,
    atom_cache_ref = 82,
    new_pid_ext = 88,
    new_port_ext = 89,
    newer_reference_ext = 90,
    small_integer_ext = 97,
    integer_ext = 98,
    float_ext = 99,
    atom_ext = 100,
    reference_ext = 101,
    port_ext = 102,
    pid_ext = 103,
    small_tuple_ext = 104,
    large_tuple_ext = 105,
    nil_ext = 106,
    string_ext = 107,
    list_ext = 108,
    binary_ext = 109,
    small_big_ext = 110,
    large_big_ext = 111,
    new_fun_ext = 112,
    export_ext = 113,
    new_reference_ext = 114,
    small_atom_ext = 115,
    map_ext = 116,
    fun_ext = 117,
    atom_utf8_ext = 118,
    small_atom_utf8_ext = 119,
    v4_port_ext = 120,
    version = 131,
};
}  // namespace

class Decoder {
public:
    Decoder(Terms& terms, std::span<const std::uint8_t> data, const Context& context)
        : terms_(terms), data_(data), context_(context) {}

    Element run(bool& complete) {
        Element root;
        const bool bare = context_.internals != nullptr;
        if (!bare && (data_.size() < 2 || data_[0] != version)) {
            complete = false;
            return root;
        }
        at_ = bare ? 0 : 1;
        root = term();
        // Containers are opened by term() with their elements not yet read; they are read here, innermost first, so
        // that the bytes are taken in order.
        while (!open_.empty() && !failed_) {
            Open& top = open_.back();
            if (top.left == 0) {
                open_.pop_back();
                continue;
            }
            const std::size_t place = top.next;
            --top.left;
            top.next += top.step;
            const Element element = term();  // may add to open_: `top` is not valid any more
            terms_.elements_[place] = element;
        }
        complete = !failed_;
        return root;
    }

private:
    struct Open {
        std::size_t next;
        std::uint64_t left;
        std::size_t step = 1;
    };

    bool have(std::uint64_t n) {
        if (data_.size() - at_ < n) failed_ = true;
        return !failed_;
    }
    std::uint64_t number(unsigned bytes) {
        if (!have(bytes)) return 0;
        std::uint64_t value = 0;
        for (unsigned i = 0; i < bytes; ++i) value = value << 8 | data_[at_ + i];
        at_ += bytes;
        return value;
    }
    std::string_view text(std::uint64_t n) {
        if (!have(n)) return {};
        const std::string_view view(reinterpret_cast<const char*>(data_.data()) + at_, static_cast<std::size_t>(n));
        at_ += static_cast<std::size_t>(n);
        return view;
    }
    Element small(std::int64_t value) {
        Element e;
        e.kind = ElementKind::small;
        e.number = value;
        return e;
    }
    Element atom(std::uint64_t length, bool latin1) {
        Element e;
        e.kind = ElementKind::atom;
        e.latin1 = latin1;
        e.text = terms_.keep(text(length));
        return e;
    }
    /// An atom where the format must have one. Not term(): nothing here may nest.
    Element atom_here() {
        const std::uint64_t tag = number(1);
        switch (tag) {
            case atom_ext: return atom(number(2), true);
            case small_atom_ext: return atom(number(1), true);
            case atom_utf8_ext: return atom(number(2), false);
            case small_atom_utf8_ext: return atom(number(1), false);
            case atom_cache_ref: return cached_atom(number(1));
            case nil_ext: {  // this node (INTERNAL_LOCAL_NODE, OTP 26 and later)
                if (context_.internals == nullptr) failed_ = true;
                Element e;
                e.kind = ElementKind::atom;
                e.text = context_.node_name;
                return e;
            }
            default: return internal(tag);
        }
    }
    Element cached_atom(std::uint64_t i) {
        return i < context_.atom_cache.size() ? context_.atom_cache[static_cast<std::size_t>(i)] : Element{};
    }
    /// Its name as UTF-8.
    std::string_view name() {
        const Element e = atom_here();
        if (e.kind != ElementKind::atom) failed_ = true;
        // What OTP 21 to 25 write for this node in place of its name (ErtsSecretAtom).
        if (context_.internals != nullptr && e.text == "3RT$") return context_.node_name;
        if (!e.latin1) return e.text;
        return terms_.keep(from_latin1(e.text));
    }
    std::uint32_t integer_here() {
        switch (number(1)) {
            case small_integer_ext: return static_cast<std::uint32_t>(number(1));
            case integer_ext: return static_cast<std::uint32_t>(number(4));
            default: failed_ = true; return 0;
        }
    }
    bool local(std::string_view node) const { return context_.node_name.empty() || node == context_.node_name; }
    Element object(Terms::Object&& o) {
        Element e;
        e.kind = ElementKind::object;
        e.id = {ObjectId::Space::decoded, static_cast<std::uint32_t>(terms_.objects_.size())};
        terms_.objects_.push_back(std::move(o));
        return e;
    }
    /// An object of `count` elements, which are read later.
    Element container(TermKind kind, std::uint64_t count, std::uint64_t size = 0) {
        Terms::Object o;
        o.head.kind = kind;
        o.head.elements = count;
        o.head.size = size;
        o.first = terms_.elements_.size();
        // Every element takes at least a byte.
        if (count > data_.size() - at_ || (elements_ += count) > Terms::max_elements) {
            failed_ = true;
            o.head.elements = 0;
        } else {
            terms_.elements_.resize(o.first + static_cast<std::size_t>(count));
            if (count != 0) open_.push_back({o.first, count});
        }
        return object(std::move(o));
    }
    Element list(std::uint64_t count) {
        // Cells i have their head at first + 2i and their tail, the next cell, behind it; the last tail is a term.
        if (count > data_.size() - at_ || (elements_ += 2 * count) > Terms::max_elements) failed_ = true;
        if (failed_ || count == 0) return {};
        const std::size_t first = terms_.elements_.size();
        terms_.elements_.resize(first + static_cast<std::size_t>(2 * count));
        Element root;
        for (std::uint64_t i = 0; i < count; ++i) {
            Terms::Object cell;
            cell.head.kind = TermKind::cons;
            cell.head.elements = 2;
            cell.first = first + static_cast<std::size_t>(2 * i);
            const Element e = object(std::move(cell));
            if (i == 0) root = e;
            else terms_.elements_[first + static_cast<std::size_t>(2 * i - 1)] = e;
        }
        // The tail is read after all heads: innermost first means that it is opened before them.
        open_.push_back({first + static_cast<std::size_t>(2 * count - 1), 1});
        open_.push_back({first, count, 2});
        return root;
    }
    Element string(std::uint64_t count) {
        const std::string_view characters = text(count);
        if (failed_ || (elements_ += 2 * count) > Terms::max_elements) failed_ = true;
        if (failed_ || count == 0) {
            Element e;
            e.kind = failed_ ? ElementKind::unknown : ElementKind::nil;
            return e;
        }
        const std::size_t first = terms_.elements_.size();
        terms_.elements_.resize(first + static_cast<std::size_t>(2 * count));
        Element root;
        for (std::size_t i = 0; i < count; ++i) {
            Terms::Object cell;
            cell.head.kind = TermKind::cons;
            cell.head.elements = 2;
            cell.first = first + 2 * i;
            const Element e = object(std::move(cell));
            if (i == 0) root = e;
            else terms_.elements_[first + 2 * i - 1] = e;
            terms_.elements_[first + 2 * i] = small(static_cast<unsigned char>(characters[i]));
        }
        terms_.elements_[first + static_cast<std::size_t>(2 * count - 1)].kind = ElementKind::nil;
        return root;
    }
    Element binary(std::uint64_t size, unsigned extra_bits) {
        Terms::Object o;
        o.head.kind = TermKind::heap_binary;
        o.head.size = extra_bits == 0 ? size : size - 1;
        o.head.extra_bits = extra_bits;
        const std::uint64_t there = std::min<std::uint64_t>(size, data_.size() - at_);
        o.bytes = terms_.keep(text(there));
        if (there < size) failed_ = true;
        return object(std::move(o));
    }
    Element big(std::uint64_t size) {
        const bool negative = number(1) != 0;
        const std::string_view bytes = text(size);
        if (failed_) return {};
        const std::span<const std::uint8_t> raw(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
        Terms::Object o;
        o.head.kind = TermKind::bignum;
        o.head.digits = terms_.keep(integer_digits(raw, negative));
        return object(std::move(o));
    }
    Element floating(double value) {
        Terms::Object o;
        o.head.kind = TermKind::float_number;
        o.head.number = value;
        return object(std::move(o));
    }
    Element pid(unsigned creation_bytes) {
        const std::string_view node = name();
        const auto id = static_cast<std::uint32_t>(number(4));
        const auto serial = static_cast<std::uint32_t>(number(4));
        number(creation_bytes);
        if (local(node)) {
            Element e;
            e.kind = ElementKind::pid;
            e.pid = {0, id, serial};
            return e;
        }
        Terms::Object o;
        o.head.kind = TermKind::external_pid;
        o.head.node = node;
        o.head.pid = {0, id, serial};
        return object(std::move(o));
    }
    Element port(unsigned id_bytes, unsigned creation_bytes) {
        const std::string_view node = name();
        const std::uint64_t id = number(id_bytes);
        number(creation_bytes);
        if (local(node)) {
            Element e;
            e.kind = ElementKind::port;
            e.port = {0, id};
            return e;
        }
        Terms::Object o;
        o.head.kind = TermKind::external_port;
        o.head.node = node;
        o.head.port = {0, id};
        return object(std::move(o));
    }
    Element reference(std::uint64_t count, unsigned creation_bytes, bool creation_first) {
        const std::string_view node = name();
        Terms::Object o;
        o.head.kind = local(node) ? TermKind::reference : TermKind::external_reference;
        o.head.node = node;
        if (creation_first) number(creation_bytes);
        if (count > o.head.words.size()) {
            failed_ = true;  // no release writes so many; none is kept, as who prints goes by their number
            count = 0;
        }
        for (unsigned i = 0; i < count && !failed_; ++i) o.head.words[i] = static_cast<std::uint32_t>(number(4));
        o.head.numbers = static_cast<unsigned>(count);
        if (!creation_first) number(creation_bytes);
        return object(std::move(o));
    }
    /// size(4) arity(1) uniq(16) index(4) free(4) module old_index old_uniq pid free variables. Crash dumps overwrite
    /// the variables before writing, so they are not taken for values.
    Element new_fun() {
        const std::size_t start = at_;
        const std::uint64_t size = number(4);
        Terms::Object o;
        o.head.kind = TermKind::fun;
        o.head.arity = static_cast<std::uint32_t>(number(1));
        text(16);
        number(4);
        o.head.free = static_cast<std::uint32_t>(number(4));
        o.head.module = name();
        o.head.index = integer_here();
        o.head.uniq = integer_here();
        if (size >= at_ - start && size <= data_.size() - start) at_ = start + static_cast<std::size_t>(size);
        else at_ = data_.size();
        return object(std::move(o));
    }
    Element old_fun() {
        Terms::Object o;
        o.head.kind = TermKind::fun;
        o.head.free = static_cast<std::uint32_t>(number(4));
        const std::uint64_t creator = number(1);
        if (creator == new_pid_ext) pid(4);
        else if (creator == pid_ext) pid(1);
        else failed_ = true;
        o.head.module = name();
        o.head.index = integer_here();
        o.head.uniq = integer_here();
        at_ = data_.size();  // its variables end with the data
        return object(std::move(o));
    }
    Element external_fun() {
        Terms::Object o;
        o.head.kind = TermKind::external_fun;
        o.head.module = name();
        o.head.function = name();
        o.head.arity = integer_here();
        return object(std::move(o));
    }
    /// One term, containers without their elements.
    Element term() {
        const std::uint64_t tag = number(1);
        if (failed_) return {};
        switch (tag) {
            case small_integer_ext: return small(static_cast<std::int64_t>(number(1)));
            case integer_ext: return small(static_cast<std::int32_t>(number(4)));
            case new_float_ext: return floating(std::bit_cast<double>(number(8)));
            case float_ext: {
                const std::string_view digits = text(31);
                double value = 0;
                std::from_chars(digits.data(), digits.data() + digits.size(), value);
                return floating(value);
            }
            case atom_ext: return atom(number(2), true);
            case small_atom_ext: return atom(number(1), true);
            case atom_utf8_ext: return atom(number(2), false);
            case small_atom_utf8_ext: return atom(number(1), false);
            case atom_cache_ref: return cached_atom(number(1));
            case small_tuple_ext: return container(TermKind::tuple, number(1));
            case large_tuple_ext: return container(TermKind::tuple, number(4));
            case nil_ext: {
                Element e;
                e.kind = ElementKind::nil;
                return e;
            }
            case string_ext: return string(number(2));
            case list_ext: {
                const std::uint64_t count = number(4);
                if (count == 0) failed_ = true;  // no writer makes one
                return list(count);
            }
            case binary_ext: return binary(number(4), 0);
            case bit_binary_ext: {
                const std::uint64_t size = number(4);
                const std::uint64_t bits = number(1);
                return size == 0 ? binary(0, 0) : binary(size, bits >= 8 ? 0 : static_cast<unsigned>(bits));
            }
            case small_big_ext: return big(number(1));
            case large_big_ext: return big(number(4));
            case map_ext: return map(number(4));
            case new_pid_ext: return pid(4);
            case pid_ext: return pid(1);
            case new_port_ext: return port(4, 4);
            case port_ext: return port(4, 1);
            case v4_port_ext: return port(8, 4);
            case newer_reference_ext: return reference(number(2), 4, true);
            case new_reference_ext: return reference(number(2), 1, true);
            case reference_ext: return reference(1, 1, false);
            case new_fun_ext: return new_fun();
            case fun_ext: return old_fun();
            case export_ext: return external_fun();
            default: return internal(tag);
        }
    }
    /// What only the VM that wrote it can read: atoms by index, binaries and references by address.
    Element internal(std::uint64_t tag) {
        Internal out;
        if (context_.internals == nullptr ||
            !context_.internals->read(static_cast<std::uint8_t>(tag), data_.subspan(at_), out) ||
            out.taken > data_.size() - at_) {
            failed_ = true;
            return {};
        }
        at_ += out.taken;
        if (out.atom) return out.element;
        Terms::Object o;
        o.head = out.head;
        o.bytes = out.bytes;
        return object(std::move(o));
    }
    /// As a hash_map whose children are cells [Key|Value], which is what leaves of large maps are.
    Element map(std::uint64_t pairs) {
        if (pairs > (data_.size() - at_) / 2 || (elements_ += 3 * pairs) > Terms::max_elements) failed_ = true;
        if (failed_) return {};
        const std::size_t first = terms_.elements_.size();
        terms_.elements_.resize(first + static_cast<std::size_t>(3 * pairs));
        Terms::Object root;
        root.head.kind = TermKind::hash_map;
        root.head.elements = root.head.size = pairs;
        root.first = first;
        const Element e = object(std::move(root));
        const std::size_t cells = first + static_cast<std::size_t>(pairs);
        for (std::size_t i = 0; i < pairs; ++i) {
            Terms::Object cell;
            cell.head.kind = TermKind::cons;
            cell.head.elements = 2;
            cell.first = cells + 2 * i;
            terms_.elements_[first + i] = object(std::move(cell));
        }
        if (pairs != 0) open_.push_back({cells, 2 * pairs});
        return e;
    }

    Terms& terms_;
    std::span<const std::uint8_t> data_;
    const Context& context_;
    std::size_t at_ = 0;
    std::uint64_t elements_ = 0;
    bool failed_ = false;
    std::vector<Open> open_;
};

Element Terms::tuple(std::span<const Element> elements) {
    Object o;
    o.head.kind = TermKind::tuple;
    o.head.elements = elements.size();
    o.first = elements_.size();
    elements_.insert(elements_.end(), elements.begin(), elements.end());
    Element e;
    e.kind = ElementKind::object;
    e.id = {ObjectId::Space::decoded, static_cast<std::uint32_t>(objects_.size())};
    objects_.push_back(std::move(o));
    return e;
}

Element Terms::decode(std::span<const std::uint8_t> data, const Context& context, bool& complete) {
    return Decoder(*this, data, context).run(complete);
}

void Terms::clear() {
    objects_.clear();
    elements_.clear();
    texts_.clear();
}

void Terms::forget_since(const Mark& mark) {
    objects_.resize(mark.objects);
    elements_.resize(mark.elements);
    texts_.resize(mark.texts);
}

}  // namespace beamheap::external_term
